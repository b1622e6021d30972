//! Logistic and ridge regression on standardised features.
//!
//! Both standardise the features by what they are fitted on, so that one penalty suits columns of any scale: a released
//! column may be a hundred times wider than the clean one. Predictions standardise alike.
//!
//! Both can be told of the noise in what they learn from: logistic regression of a matrix by which labels were flipped, ridge
//! regression of the covariance of what was added to features and target.
//!
//! They follow linfa's traits: a plain struct of hyper-parameters whose `check` ([`linfa::ParamGuard`]) gives its checked
//! counterpart, [`Fit`](linfa::traits::Fit), [`Predict`](linfa::traits::Predict). Nothing here knows of privacy.
//!
//! ```
//! use linfa::prelude::*;
//! use ndarray::array;
//! use scumble_linear::{LogisticParams, RidgeParams};
//!
//! let x = array![[0.0], [1.0], [2.0], [3.0]];
//! let classes = Dataset::new(x.clone(), array![0, 0, 1, 1]);
//! let model = LogisticParams::default().fit(&classes)?;
//! assert_eq!(model.predict(&x), array![0, 0, 1, 1]);
//!
//! let line = Dataset::new(x.clone(), array![1.0, 3.0, 5.0, 7.0]);
//! let model = RidgeParams::default().l2_penalty(0.0).fit(&line)?;
//! assert!((model.predict(&x)[3] - 7.0).abs() < 1e-6);
//! # Ok::<(), scumble_linear::Error>(())
//! ```

mod error;
mod flip;
mod layer;
mod likelihood;
mod logistic;
mod noisy;
mod params;
mod ridge;
mod standardize;

pub use error::{Error, Result, check_not_negative, check_positive, check_records};
pub use flip::{check_flipped_labels, check_label_flip};
pub use logistic::{LogisticModel, LogisticParams, ValidLogisticParams};
pub use ridge::{RidgeModel, RidgeParams, ValidRidgeParams};
pub use standardize::Standardizer;
