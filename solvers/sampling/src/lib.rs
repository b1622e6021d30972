//! Exact integer samplers: given uniform bits, the draws have *precisely* the stated distribution.
//!
//! A floating-point Laplace sample discloses its input in its low bits (Mironov 2012). In this crate every
//! decision is a comparison of integers, so no rounding error changes the distribution. Parameters are
//! [`Rational`]s and results are integers; the caller scales the results to a lattice.
//!
//! | sampler | distribution |
//! |---|---|
//! | [`uniform_below`] | uniform on {0, …, n − 1} |
//! | [`bernoulli`] | true with probability p, for a rational p |
//! | [`bernoulli_exp`] | true with probability exp(−γ), for a rational γ |
//! | [`randomized_response`] | one of K levels; the true level is e^ε times as likely as each other level |
//! | [`Coin`] | heads with the odds a·e^ε : b, for integers a and b; also 64 flips at a time |
//! | [`subset`] | each of n elements independently with probability p, for a rational p |
//! | [`Geometric`] | P(k) ∝ exp(−k/t) on the integers k ≥ 0, for a rational t |
//! | [`DiscreteLaplace`] | P(k) ∝ exp(−\|k\|/t) on the integers, for a rational t |
//! | [`DiscreteGaussian`] | P(k) ∝ exp(−k²/2σ²) on the integers, for a rational σ |
//! | [`Weighted`] | P(k) = wₖ/Σw on {0, …, K − 1}, from a table of integers |
//!
//! The crate makes no privacy claims itself. The samplers do not run in constant time, because all of them
//! use rejection.
//!
//! ```
//! use rand_chacha::{rand_core::SeedableRng, ChaCha20Rng};
//! use scumble_sampling::{DiscreteLaplace, Rational};
//!
//! let mut rng = ChaCha20Rng::seed_from_u64(7);
//! let distribution = DiscreteLaplace::new(Rational::new(5, 2)?)?; // t = 5/2
//! let draws: Vec<i128> = (0..8).map(|_| distribution.sample(&mut rng)).collect();
//! assert!(draws.iter().any(|&k| k != 0));
//! # Ok::<(), scumble_sampling::Error>(())
//! ```

mod bernoulli;
mod bits;
mod coin;
mod curve;
mod discrete_gaussian;
mod discrete_laplace;
mod draws;
mod error;
mod geometric;
mod rational;
mod subset;
mod uniform;
mod weighted;
mod words;
mod ziggurat;

pub use bernoulli::{bernoulli, bernoulli_exp, randomized_response};
pub use coin::Coin;
pub use discrete_gaussian::DiscreteGaussian;
pub use discrete_laplace::{DiscreteLaplace, with_random_sign};
pub use draws::Draws;
pub use error::{Error, Result};
pub use geometric::Geometric;
pub use rational::Rational;
pub use subset::subset;
pub use uniform::uniform_below;
pub use weighted::Weighted;
