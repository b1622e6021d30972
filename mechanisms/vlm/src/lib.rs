//! Learning to noise: records become a few latents that a variational autoencoder learned to be noised, after *Learning to Noise:
//! Application-Agnostic Data Sharing with Local Differential Privacy*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `vlm` | the variational Laplace mechanism: latents within an ℓ₁ ball of radius l with exact Laplace noise of scale 2l/ε, released undecoded or decoded |
//!
//! With labels it is composed with `randomized-response` (Section 3.2), by the registry as anything else is.

mod design;
mod likelihood;
mod model;
mod posterior;
mod private;
mod requirements;
mod training;
mod validation;

pub use design::{Numbers, Parameters, Released, VLM, design};
pub use private::{Descent, NeighboursParameter, VolunteerGuaranteeParameters};
pub use requirements::{Part, Use, check_shareable, must_be_private};

const NAME: &str = "vlm";

const PAPER: &str = "Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy (under review), Sections 3.1 and 3.2";
