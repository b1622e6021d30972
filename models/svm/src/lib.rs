//! Support vector machines on standardised features: linear ones for data of any size, Gaussian kernels for
//! small data.
//!
//! The machines follow linfa's traits: a plain struct of hyper-parameters whose `check`
//! ([`linfa::ParamGuard`]) returns its checked counterpart, [`Fit`](linfa::traits::Fit) and
//! [`Predict`](linfa::traits::Predict). For more than two classes, each class has a machine that separates it
//! from all other classes. This crate has no privacy-specific code.
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use scumble_svm::{KernelSvmParams, SvmParams};
//!
//! let x = array![[0.0], [1.0], [2.0], [3.0]];
//! let halves = Dataset::new(x.clone(), array![0, 0, 1, 1]);
//! assert_eq!(SvmParams::default().fit(&halves)?.predict(&x), array![0, 0, 1, 1]);
//!
//! let ends = Dataset::new(x.clone(), array![1, 0, 0, 1]);
//! assert_eq!(KernelSvmParams::default().penalty(100.0).fit(&ends)?.predict(&x), array![1, 0, 0, 1]);
//! # Ok::<(), scumble_svm::Error>(())
//! ```

mod error;
mod kernel;
mod linear;
mod sides;

pub use error::{Error, Result};
pub use kernel::{KernelSvmModel, KernelSvmParams, ValidKernelSvmParams};
pub use linear::{SvmModel, SvmParams, ValidSvmParams};
