//! Privacy accounting: the total privacy loss of mechanisms, and the noise that meets a target.
//!
//! | module | contents |
//! |---|---|
//! | [`gaussian`] | δ(ε) of the Gaussian mechanism in closed form, and its inverses (Balle and Wang 2018) |
//! | [`renyi`] | ε of Poisson-sampled Gaussian steps by their Rényi divergences, also of fractional orders |
//! | [`loss`] | upper and lower bounds on ε and δ of these steps, by privacy loss distributions |
//! | [`Shifted`], [`ShiftedComposition`] | δ(ε) of bounded noise from integer tables, alone and composed |
//! | [`shuffle`] | ε of many shuffled local reports: an upper bound for any randomiser, and a lower bound |
//! | [`multiplicative`] | ε of records times a random matrix, singular values raised (Dauntless, Theorem 5) |
//! | [`pac`] | the number of mixed and transformed samples that excludes recovery |
//! | [`mutual_information`] | best inference success for a leakage in nats, and the least noise for it |
//! | [`ceiling`] | upper bounds on the accuracy of classifiers of private records |
//! | [`binomial`] | confidence bounds on a probability from counts, such as successes of an attack |
//! | [`calibrate`] | the noise, the steps or the sampling rate that meet a target |
//! | [`search`] | the least number at which a condition holds, used by all solvers |
//!
//! [`Neighbours`] names the neighbouring relation: add/remove one record, or replace one. ε of the same
//! training differs by a factor of up to two between them, so no function here has a default.
//!
//! All modules except the tables assume continuous Gaussian noise on real numbers. A sampler of discrete
//! noise on a lattice must add the extra loss of the lattice.

pub mod binomial;
pub mod calibrate;
pub mod ceiling;
mod error;
pub mod gaussian;
pub mod loss;
pub mod multiplicative;
pub mod mutual_information;
#[cfg(feature = "pac")]
pub mod pac;
mod quadrature;
pub mod renyi;
mod sampled;
pub mod search;
mod shifted;
pub mod shuffle;

pub use error::{Error, Result};
pub use sampled::{Neighbours, Run};
pub use shifted::{Shifted, ShiftedComposition};
