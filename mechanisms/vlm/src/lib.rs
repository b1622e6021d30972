//! Learning to noise: a variational autoencoder that maps records to a few latents designed to be noised,
//! after *Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `vlm` | variational Laplace mechanism: latents in an ℓ₁ ball plus exact Laplace noise, decoded or not |
//!
//! The ℓ₁ ball has radius l, and the noise scale 2l/ε. For labels, the registry composes it with
//! `randomized-response` (Section 3.2), as it composes any mechanism.

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

const PAPER: &str = "Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy \
                     (under review), Sections 3.1 and 3.2";
