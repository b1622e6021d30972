//! Task-aware local privacy, after Cheng, Tang and Chinchali, *Task-aware privacy preservation for
//! multi-dimensional data*.
//!
//! An encoder maps a record to its *latents*, the few numbers that a task needs. The privacy budget is spent
//! on the latents.
//!
//! | plugin | what it does |
//! |---|---|
//! | `privacy-agnostic` | the task's principal components at equal scale, then noise (Section A.7) |
//! | `task-agnostic` | noise on the features themselves, then the best decoder (Section A.7) |
//! | `task-aware-bounded` | latents in a fixed box, encoder and decoder trained jointly, with fresh noise |
//! | `task-aware-clipped` | linear latents, each clipped to an interval chosen for the least loss |
//! | `task-aware-gaussian` | linear latents, clipped to an ℓ₂ norm, with Gaussian noise |
//! | `task-aware-gradient` | encoder and decoder trained with fresh noise in each epoch (Algorithm 1) |
//! | `task-aware-priv-unit` | linear latents, clipped to an ℓ₂ norm, from a random direction (PrivUnit) |
//! | `task-aware-linear` | the near-optimal linear encoder of Theorem 1 |

mod affine;
mod ball;
mod bounded;
mod chain;
mod clipped;
mod gradient;
mod latent;
mod lens;
mod linear;
mod network_task;
mod noise;
mod sample;
pub mod sensitivity;
mod set;
mod sphere;
mod task;
mod training;

pub use ball::{TASK_AWARE_GAUSSIAN, TASK_AWARE_PRIV_UNIT};
pub use bounded::TASK_AWARE_BOUNDED;
pub use clipped::TASK_AWARE_CLIPPED;
pub use gradient::{TASK_AWARE_GRADIENT, expected_loss};
pub use latent::{Aim, LatentMechanism, Level, Parts, VolunteersClaim, predict};
pub use lens::{Lens, Scale};
pub use linear::{PRIVACY_AGNOSTIC, TASK_AGNOSTIC, TASK_AWARE_LINEAR};
pub use network_task::NetworkTask;
pub use noise::NoiseKind;
pub use sample::Sample;
pub use set::Sensitivity;
pub use sphere::SphereLoss;

const PAPER: &str =
    "Cheng, Tang and Chinchali, Task-aware privacy preservation for multi-dimensional data (2022)";

/// Runs the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
