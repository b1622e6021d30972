//! Task-aware local privacy, after Cheng, Tang and Chinchali, *Task-aware privacy preservation for multi-dimensional data*: records are
//! encoded into the few numbers that a task needs, and the budget is spent on these.
//!
//! | plugin | what it does |
//! |---|---|
//! | `privacy-agnostic` | the task's principal components at equal scale, then noise (Section A.7) |
//! | `task-agnostic` | noise on the features themselves, then the best decoder (Section A.7) |
//! | `task-aware-clipped` | linear latents, each clipped to a box of its own that is chosen for the least loss |
//! | `task-aware-linear` | the near-optimal linear encoder of Theorem 1 |

mod clipped;
mod latent;
mod linear;
mod sample;
mod set;
mod task;

pub use clipped::TASK_AWARE_CLIPPED;
pub use latent::{LatentLaplace, Parts};
pub use linear::{PRIVACY_AGNOSTIC, TASK_AGNOSTIC, TASK_AWARE_LINEAR};
pub use sample::Sample;
pub use set::Sensitivity;

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
