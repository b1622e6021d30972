//! Dauntless: data are mixed and transformed at random before they leave, after *Dauntless: Data Augmentation and Uniform Transformation for
//! Learning with Scalability and Security* (Xiao and Devadas), and each release has a card with its exact guarantee.
//!
//! | plugin | what it does |
//! |---|---|
//! | `dauntless-mix` | public and private records are mixed, labels become random vectors, and a random network transforms what leaves (Algorithm 2) |
//! | `dauntless-inference` | the same, and what is asked of its models is mixed with private records too (Algorithm 3) |
//! | `perfect-secrecy` | what leaves of the records is the identity matrix (Section 5) |
//! | `column-space` | a random orthonormal basis of the space that the columns of the features span (Algorithm 5) |
//! | `multiplicative-dp` | records times a secret Gaussian matrix, with as much noise as central differential privacy needs (Theorem 5) |
//! | `singular-value-obfuscation` | left singular vectors times heavy-tailed numbers (Algorithm 6), which has no guarantee |
//!
//! None of it is differential privacy but `multiplicative-dp`, and no card of the others shows an ε of it.

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

/// The name of the plugin that mixes, by which errors of mixing and transformation call it in `dauntless-inference`, too.
const MIX: &str = "dauntless-mix";
