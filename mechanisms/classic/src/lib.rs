//! The baselines: what every other mechanism must beat.
//!
//! | plugin | what it does |
//! |---|---|
//! | `identity` | nothing: records leave in the clear |
//! | `laplace` | Laplace noise on every number, from the ℓ₁ diameter of the domain |
//! | `gaussian` | Gaussian noise on every number, from the ℓ₂ diameter of the domain, at (ε, δ) |
//! | `randomized-response` | every level kept or exchanged for another |
//! | `piecewise` | k of d attributes at random: numbers answered with one near them or far from them, levels by a frequency oracle |
//! | `duchi` | the same, but numbers answered with one bit |
//! | `hybrid` | the same, but numbers answered in one of these two ways, as a coin decides |
//! | `direct` | every column by itself at ε/d: numbers by Laplace, levels by randomised response |
//!
//! [`Estimator`] takes means, variances, frequencies and histograms from what they release.
//!
//! All are local, and exact: the noise is an integer on a lattice, and no claim depends on a float error.

mod answer;
mod direct;
mod estimate;
mod gaussian;
mod identity;
mod laplace;
mod levels;
mod randomized_response;
mod sampled;

pub use direct::{DIRECT, direct};
pub use estimate::{Estimator, Of};
pub use gaussian::{GAUSSIAN, Gaussian};
pub use identity::{IDENTITY, Identity};
pub use laplace::{LAPLACE, Laplace};
pub use randomized_response::{RANDOMIZED_RESPONSE, RandomizedResponse};
pub use sampled::{DUCHI, HYBRID, PIECEWISE, SampledNumbers};
