//! Marginals: curators who release records that are drawn from noisy tables of counts.
//!
//! A trusted curator counts how many records have which levels of some columns together (a *marginal*), adds exact noise to the counts, and draws records that have these counts, as near as they
//! fit together. All else is post-processing; the records are in the schema's own columns, and any model learns from them.
//!
//! | mechanism | which tables |
//! |---|---|
//! | [`NOISY_MARGINALS`] | each column with the target, or those that are named |
//! | [`MST`] | pairs along a tree of columns, chosen by how they go together |
//! | [`ADAPTIVE_MARGINALS`] | chosen in rounds, by what the tables so far get wrong |
//!
//! [`Tables`] has what a curator of another kind needs of them: counts of some of the records, and records from noisy counts.

mod adaptive;
mod answers;
mod bins;
mod columns;
mod counts;
mod curator;
mod forest;
mod mst;
mod network;
mod noisy_marginals;
mod program;
mod residuals;
mod scores;
mod selection;
mod tables;

pub use adaptive::{ADAPTIVE_MARGINALS, Workload};
pub use mst::MST;
pub use noisy_marginals::NOISY_MARGINALS;
pub use tables::{Coded, Tables};
