//! Learning to noise: a variational autoencoder that maps a record to a few numbers (its *latents*), which it
//! is trained to decode after noise is added. The source is *Learning to Noise: Application-Agnostic Data
//! Sharing with Local Differential Privacy*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `vlm` | variational Laplace mechanism: latents in an ℓ₁ ball plus exact Laplace noise, decoded or not |
//!
//! For an ℓ₁ ball of radius l, the noise has the scale 2l/ε. To protect labels too, compose the plugin with
//! `randomized-response` (Section 3.2), as is possible for any plugin.

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
