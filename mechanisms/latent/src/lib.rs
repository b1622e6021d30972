//! The mechanism of designs that encode a record into a few latents, perturb these, and decode: [`LatentLaplace`].
//!
//! However encoder and decoder came about, the claim depends on the set of latents alone. So mechanisms that learn differently are one
//! mechanism here: one thing to save, to audit and to break.

mod lens;
mod mechanism;

pub use lens::{Lens, Scale};
pub use mechanism::{Aim, LatentLaplace, Level, Parts, VolunteersClaim, predict};
