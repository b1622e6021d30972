//! Marginals: curators that release records drawn from noisy tables of counts.
//!
//! A trusted curator counts the records by the levels of some columns together (a *marginal*) and adds exact
//! noise to the counts. The drawn records have these counts, as nearly as the tables agree. The rest is
//! post-processing. The records are in the schema's own columns, and any model learns from them.
//!
//! | mechanism | tables |
//! |---|---|
//! | [`NOISY_MARGINALS`] | each column with the target, or the named columns |
//! | [`MST`] | pairs along a tree of columns, chosen by their dependence |
//! | [`ADAPTIVE_MARGINALS`] | chosen in rounds, by the errors of the tables so far |
//!
//! [`Tables`] serves curators of other kinds: counts of some of the records, and records from noisy counts.

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
