//! Marginals: curators that release records drawn from noisy tables of counts.
//!
//! A trusted curator counts the records by the levels of some columns together (a *marginal*) and adds
//! exactly sampled noise to the counts. The noisy tables are then made consistent, and records are drawn in
//! proportion to the consistent counts. Both steps are post-processing. The drawn records have the columns of
//! the schema, so any model can be trained on them.
//!
//! | mechanism | tables |
//! |---|---|
//! | [`NOISY_MARGINALS`] | each column with the target, or the named columns |
//! | [`MST`] | pairs along a tree of columns, chosen by their dependence |
//! | [`ADAPTIVE_MARGINALS`] | chosen in rounds, by the errors of the current estimate |
//! | [`TWO_SERVER_MARGINALS`] | those of `NOISY_MARGINALS`, counted by two servers from shares |
//! | [`TABLES`] | named tables of counts and means, without rows, also period after period |
//!
//! Curators that add another kind of noise can use [`Tables`], which counts records, and draws records from
//! noisy counts.

mod adaptive;
mod answers;
mod bins;
mod columns;
mod counts;
mod curator;
mod forest;
mod merging;
mod mst;
mod network;
mod noisy_marginals;
mod pool;
mod program;
mod residuals;
mod scores;
mod selection;
mod statistics;
mod tables;
mod two_servers;

pub use adaptive::{ADAPTIVE_MARGINALS, Workload};
pub use mst::MST;
pub use noisy_marginals::NOISY_MARGINALS;
pub use statistics::TABLES;
pub use tables::{Coded, Tables};
pub use two_servers::TWO_SERVER_MARGINALS;
