//! Ground states of stationary Schrödinger equations in a box, which give the densities of least Fisher
//! information.
//!
//! The density γ of noise n on an interval that minimises (Fisher information)/ϑ + λ·(second moment), for
//! weights ϑ > 0 and λ ≥ 0, is γ = w². Here w(n) is the ground state, the solution of least μ, of −w″/ϑ +
//! (λ/4)·n²·w = μ·w. The minimum is 4μ (Theorem 2.6 and Corollary 2.7 of Farokhi, *Privacy-preserving public
//! release of datasets for support vector machine classification*, 2020; derived at [`GroundState`]).
//!
//! ```
//! use scumble_schrodinger::GroundState;
//!
//! // Far from the bounds it is a Gaussian, of variance 1/√(λϑ).
//! let wide = GroundState::new(1.0, 1.0, -40.0, 40.0)?;
//! assert!((wide.mu() - 0.5).abs() < 1e-12 && (wide.variance() - 1.0).abs() < 1e-12);
//! // Without a price on the second moment it is a squared cosine.
//! let cosine = GroundState::new(0.0, 1.0, -1.0, 1.0)?;
//! assert!((cosine.density(0.5) - 0.5).abs() < 1e-12);
//! assert!((cosine.fisher_information() - std::f64::consts::PI.powi(2)).abs() < 1e-11);
//! # Ok::<(), scumble_schrodinger::Error>(())
//! ```

pub mod airy;
mod axis;
mod box_ground_state;
mod conjugate;
mod error;
mod ground_state;
mod quadrature;
mod shooting;
mod sweep;

pub use box_ground_state::BoxGroundState;
pub use error::{Error, Result};
pub use ground_state::GroundState;
