//! Dauntless: data are mixed and transformed at random before they leave, after *Dauntless: Data Augmentation and Uniform Transformation for
//! Learning with Scalability and Security* (Xiao and Devadas), and each release says exactly what that promises.
//!
//! | plugin | what it does |
//! |---|---|
//! | `dauntless-mix` | public and private records are mixed, labels become random vectors, and a random network transforms what leaves |
//! | `dauntless-inference` | the same, and what is asked of its models is mixed with private records too |
//! | `perfect-secrecy` | what leaves of the records is the identity matrix |
//!
//! None of it is differential privacy but `multiplicative-dp`, and no card of the others shows an ε of it.

mod bases;
mod disguise;
mod inference;
mod mix;
mod mixing;
mod promise;
mod secrecy;
mod transformation;

pub use inference::DAUNTLESS_INFERENCE;
pub use mix::{DAUNTLESS_MIX, Dauntless};
pub use mixing::MixingWeights;
pub use secrecy::{Improvement, PERFECT_SECRECY, PerfectSecrecy, SecretMap};
pub use transformation::{Activation, Weights};
