//! Dauntless: mechanisms that mix and transform data at random before release, after *Dauntless: Data
//! Augmentation and Uniform Transformation for Learning with Scalability and Security* (Xiao and Devadas).
//! The *card* of a release states its exact guarantee. The owner of a release keeps a secret *key*. The key
//! maps records in the clear to the form of released records, so that a model trained on the release can be
//! applied to them.
//!
//! | plugin | what it does |
//! |---|---|
//! | `dauntless-mix` | mixes and transforms records, and turns labels into random vectors (Algorithm 2) |
//! | `dauntless-inference` | as `dauntless-mix`, and mixes model queries with private records (Algorithm 3) |
//! | `perfect-secrecy` | releases the identity matrix in place of the records (Section 5) |
//! | `column-space` | releases a random orthonormal basis of the column space of the features (Algorithm 5) |
//! | `multiplicative-dp` | multiplies records by a secret Gaussian matrix and adds noise (Theorem 5) |
//! | `singular-value-obfuscation` | multiplies left singular vectors by heavy-tailed numbers (Algorithm 6) |
//!
//! Only `multiplicative-dp` is differentially private; the cards of the other plugins claim no ε.
//! `singular-value-obfuscation` has no guarantee.

mod answers;
mod bases;
mod column_space;
mod disguise;
mod guarantee;
mod inference;
mod mix;
mod mixing;
mod multiplicative;
mod obfuscation;
mod secrecy;
mod secret_matrix;
mod singular_values;
mod state;
mod transformation;

pub use column_space::{COLUMN_SPACE, ColumnSpace};
pub use inference::DAUNTLESS_INFERENCE;
pub use mix::{DAUNTLESS_MIX, Dauntless};
pub use mixing::MixingWeights;
pub use multiplicative::{MULTIPLICATIVE_DP, MultiplicativeDp};
pub use obfuscation::{SINGULAR_VALUE_OBFUSCATION, SingularValueObfuscation, obfuscation_delta};
pub use scumble_neural::Activation;
pub use secrecy::{Improvement, PERFECT_SECRECY, PerfectSecrecy, SecretMap};
pub use transformation::Weights;

/// Name of the plugin `dauntless-mix`. Errors of mixing and transformation contain this name even if the
/// plugin is `dauntless-inference`.
const MIX: &str = "dauntless-mix";
