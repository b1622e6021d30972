//! Convex programmes solved by their Karush-Kuhn-Tucker (KKT) conditions.
//!
//! An interior point method solves the linear soft-margin machine in the space of its weights. It needs no n
//! × n matrix for n records, and columns of different scales need no additional iterations. The method runs
//! in the solver loop of the argmin crate. Newton's method solves models of linear scores, such as ridge and
//! logistic regression. Water-filling, the optimal allocation of power to noisy
//! components, is solved in closed form.
//!
//! ```
//! use ndarray::array;
//! use scumble_kkt::{Records, SoftMargin};
//!
//! // Two points on a line, one of each sign: the margin's edges lie on them.
//! let records = Records::new(array![[0.0], [2.0]].view());
//! let machine = SoftMargin::new(&records, &[-1.0, 1.0], &[10.0, 10.0])?.solve(1e-9, 100)?;
//! assert!((machine.weights[0] - 1.0).abs() < 1e-6 && (machine.bias + 1.0).abs() < 1e-6);
//! assert!((machine.multipliers[0] - 0.5).abs() < 1e-6);
//! # Ok::<(), scumble_kkt::Error>(())
//! ```

mod error;
mod interior_point;
mod iterate;
mod linear_model;
mod optimality;
mod records;
mod soft_margin;
mod waterfilling;

pub use error::{Error, Result};
pub use interior_point::InteriorPoint;
pub use iterate::Iterate;
pub use linear_model::{FittedModel, LinearModel, Loss};
pub use records::Records;
pub use soft_margin::{Machine, SoftMargin};
pub use waterfilling::{Waterfilling, decoding_loss, equal_power_loss};
