//! PAC privacy: a curator who computes a statistic of half of the records, drawn by chance, and adds so much noise that little is told of which half it was.
//!
//! How much noise is found by computing the statistic of many halves: no sensitivity is needed, and a statistic that hardly varies between halves gets little. What is bounded is the mutual information
//! between the half and what leaves ([`MutualInformation`](scumble_core::MutualInformation)), after Xiao and Devadas (CRYPTO 2023) and Sridhar, Xiao and Devadas (S&P 2025).
//!
//! | statistic | what leaves |
//! |---|---|
//! | marginals | records drawn from tables of counts of each feature with the target |
//! | moments | rows by chance that have the means and covariances |
//! | components | the same of the mean and some principal directions |
//! | centres | records drawn from the centres of clusters |
//! | ridge | a ridge regression |
//! | linear machine | a support vector machine |
//! | responses | public records, and what a ridge regression says of each |

mod centers;
mod components;
mod computed;
mod halves;
mod linear;
mod marginals;
mod mechanism;
mod moments;
mod noise;
mod responses;
mod statistic;

pub use halves::halves;
pub use mechanism::{PAC_STATISTICS, PacStatistics};
pub use noise::HidingNoise;
pub use statistic::Statistic;

/// The plugin.
const NAME: &str = "pac-statistics";

/// The README's examples run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
