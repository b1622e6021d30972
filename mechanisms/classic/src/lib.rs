//! The baselines: what every other mechanism must beat.
//!
//! | plugin | what it does |
//! |---|---|
//! | `identity` | nothing: records leave as they are |
//! | `laplace` | Laplace noise on every number, from the ℓ₁ diameter of the domain |
//! | `randomized-response` | every level kept or exchanged for another |
//! | `direct` | every column by itself at ε/d: numbers by Laplace, levels by randomised response |
//!
//! All are local, and exact: the noise is an integer on a lattice, and no float error stands behind a claim.

mod direct;
mod identity;
mod laplace;
mod portion;
mod randomized_response;

pub use direct::{DIRECT, direct};
pub use identity::{IDENTITY, Identity};
pub use laplace::{LAPLACE, Laplace};
pub use portion::Protect;
pub use randomized_response::{RANDOMIZED_RESPONSE, RandomizedResponse};
