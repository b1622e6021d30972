//! PAC privacy: a curator computes a statistic over a random half of the records and adds noise that hides
//! which half it was.
//!
//! The statistic is computed for many random halves, and its variation between halves determines the noise.
//! The method needs no sensitivity, and a statistic that hardly varies gets little noise. The guarantee
//! bounds the mutual information between the half and the release
//! ([`MutualInformation`](scumble_core::MutualInformation)), after Xiao and Devadas (CRYPTO 2023) and
//! Sridhar, Xiao and Devadas (S&P 2025).
//!
//! | statistic | release |
//! |---|---|
//! | marginals | records drawn from tables of counts of each feature with the target |
//! | moments | random rows with the noisy means and covariances |
//! | components | random rows with the noisy mean and some noisy principal directions |
//! | centres | records drawn from the noisy centres of clusters |
//! | ridge | a ridge regression |
//! | linear machine | a support vector machine |
//! | responses | public records, each with the output of a ridge regression |

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

/// Name of the plugin.
const NAME: &str = "pac-statistics";

/// The README, whose examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
