//! Dauntless: data are mixed and transformed at random before they leave, after *Dauntless: Data Augmentation and Uniform Transformation for
//! Learning with Scalability and Security* (Xiao and Devadas), and each release says exactly what that promises.
//!
//! | plugin | what it does |
//! |---|---|
//! | `column-space` | a random orthonormal basis of the space that the columns of the features span (Algorithm 5) |
//! | `multiplicative-dp` | records times a secret Gaussian matrix, with as much noise as central differential privacy needs (Theorem 5) |
//! | `singular-value-obfuscation` | left singular vectors times heavy-tailed numbers (Algorithm 6), which promises nothing |
//!
//! None of it is differential privacy but `multiplicative-dp`, and no card of the others shows an ε of it.

mod column_space;
mod multiplicative;
mod obfuscation;
mod secret_matrix;
mod singular_values;

pub use column_space::{COLUMN_SPACE, ColumnSpace};
pub use multiplicative::{MULTIPLICATIVE_DP, MultiplicativeDp};
pub use obfuscation::{SINGULAR_VALUE_OBFUSCATION, SingularValueObfuscation, obfuscation_delta};

/// The README's example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
