//! Privacy accounting: what mechanisms cost together, and how much noise meets a target.
//!
//! | module | what it answers |
//! |---|---|
//! | [`gaussian`] | δ(ε) of the Gaussian mechanism in closed form, and its inverses (Balle and Wang 2018) |
//! | [`renyi`] | ε of Poisson-sampled Gaussian steps by their Rényi divergences, fractional orders included |
//! | [`loss`] | the same by privacy loss distributions: ε and δ from above and from below |
//! | [`Shifted`], [`Together`] | δ(ε) of noise with bounds, given by tables of integers, alone and together |
//! | [`shuffle`] | ε of many local reports that a shuffler mixes: from above for any randomiser, and from below |
//! | [`multiplicative`] | ε of records times a random matrix, with their singular values raised (Dauntless, Theorem 5) |
//! | [`pac`] | how many mixed and transformed samples may leave before recovery is no longer excluded |
//! | [`mutual_information`] | what no inference does better than after a release of so many nats, and the least noise that keeps to them |
//! | [`ceiling`] | what accuracy a classifier of private records can have at most |
//! | [`binomial`] | what counts say of a probability, as of an attack that succeeds or an answer |
//! | [`calibrate`] | the noise, the steps or the sampling rate that meet a target |
//! | [`search`] | the least number at which something holds, which solves for all of these |
//!
//! [`Neighbours`] names the neighbouring relation: add/remove one record, or replace one. ε differs by up to two for
//! the same training; no function here has a default.
//!
//! All of it but tables is said of continuous Gaussian noise on real numbers. What discrete noise on a lattice costs more is for
//! whoever draws it to add.

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
pub use shifted::{Shifted, Together};
