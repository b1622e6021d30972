//! Baseline mechanisms, to which every other mechanism is compared.
//!
//! | plugin | mechanism |
//! |---|---|
//! | `identity` | none: records are released in the clear |
//! | `laplace` | Laplace noise on every number, scaled to the ℓ₁ diameter of the domain |
//! | `gaussian` | Gaussian noise on every number, scaled to the ℓ₂ diameter of the domain, at (ε, δ) |
//! | `randomized-response` | each level of a category kept, or exchanged for another |
//! | `piecewise` | k of d attributes: numbers by answers likely near them, levels by frequency oracles |
//! | `duchi` | like `piecewise`, but each number answered with one bit |
//! | `hybrid` | like `piecewise`, but a coin picks `piecewise` or `duchi` for each number |
//! | `direct` | d columns separately, at ε/d: numbers by Laplace noise, levels by randomised response |
//!
//! [`Estimator`] estimates means, variances, frequencies and histograms from the releases.
//!
//! All mechanisms are local: each record is randomised without knowledge of the others. They draw noise
//! exactly, as a whole number of lattice steps. Floating-point errors therefore cannot invalidate a privacy
//! claim.

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
pub use estimate::{Estimator, Variable};
pub use gaussian::{GAUSSIAN, Gaussian};
pub use identity::{IDENTITY, Identity};
pub use laplace::{LAPLACE, Laplace};
pub use randomized_response::{RANDOMIZED_RESPONSE, RandomizedResponse};
pub use sampled::{DUCHI, HYBRID, PIECEWISE, SampledNumbers};
