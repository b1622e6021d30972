//! Learning to noise: a variational autoencoder maps a record to a few numbers, the *latents*. It is trained
//! to reconstruct the record from latents with noise. *Volunteers* are the people whose records train it. The
//! source is *Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy*.
//!
//! | plugin | what it does |
//! |---|---|
//! | `vlm` | variational Laplace mechanism: ℓ₁-bounded latents plus exact Laplace noise, or their decoding |
//!
//! For an ℓ₁ ball of radius l, the noise has the scale 2l/ε. The plugin protects features only. To protect
//! labels too, compose it with `randomized-response` (*Learning to Noise*, Section 3.2).

mod convolution;
mod design;
mod likelihood;
mod model;
mod posterior;
mod private;
mod requirements;
mod training;
mod validation;

pub use convolution::{Convolution, Filters};
pub use design::{Numbers, Parameters, Released, VLM, design};
pub use private::{Descent, VolunteerGuaranteeParameters};
pub use requirements::{Part, Use, check_shareable, must_be_private};

const NAME: &str = "vlm";

const PAPER: &str = "Learning to Noise: Application-Agnostic Data Sharing with Local Differential Privacy \
                     (under review), Sections 3.1 and 3.2";
