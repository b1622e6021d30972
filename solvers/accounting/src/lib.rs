//! Privacy accounting: the total privacy loss of mechanisms, and the noise that meets a target.
//!
//! | module | contents |
//! |---|---|
//! | [`gaussian`] | δ(ε) of the Gaussian mechanism in closed form, and its inverses (Balle and Wang 2018) |
//! | [`renyi`] | ε of sampled Gaussian steps by their Rényi divergences, also of fractional orders |
//! | [`loss`] | bounds on ε and δ of composed mechanisms, by privacy loss distributions |
//! | [`Run`], [`Part`] | sampled Gaussian steps; other mechanisms to compose |
//! | [`Shifted`], [`ShiftedComposition`] | δ(ε) of bounded integer noise, single or composed |
//! | [`shuffle`] | ε of many shuffled local reports: an upper bound for any randomiser, and a lower bound |
//! | [`trade_off`] | the error rates of the best test, from a privacy profile |
//! | [`multiplicative`] | ε of records with raised singular values, times a random matrix (Dauntless) |
//! | [`pac`] | the number of mixed and transformed samples up to which recovery is excluded |
//! | [`mutual_information`] | best inference success after a leakage in nats, and the noise for a leakage |
//! | [`ceiling`] | upper bounds on the accuracy of classifiers under ε-local differential privacy |
//! | [`binomial`] | confidence bounds on a probability from counts, such as successes of an attack |
//! | [`calibrate`] | the noise, the steps or the sampling rate that meet a target |
//! | [`search`] | the least number at which a condition holds, and the maximum of a function |
//!
//! [`Neighbours`] names the neighbouring relation: add/remove one record, or replace one. Between the two
//! relations, ε of the same training can differ by a factor of two or more. So no function of this crate has
//! a default relation.
//!
//! The modules on Gaussian noise assume continuous noise on real numbers. The privacy loss of discrete noise
//! on a lattice is larger. The author of a mechanism with such noise must add the difference.

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
mod pair;
mod part;
mod quadrature;
pub mod renyi;
mod sampled;
pub mod search;
mod shifted;
pub mod shuffle;
mod step;
pub mod trade_off;

pub use error::{Error, Result};
pub use part::Part;
pub use sampled::{Neighbours, Run, Sampling};
pub use shifted::{Shifted, ShiftedComposition};
