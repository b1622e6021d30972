//! Exact integer noise on lattices, mechanisms that add this noise, and noise that is determined by a secret
//! key and by a record's id and values.
//!
//! A lattice consists of all integer multiples of a step, which is a power of two. A point of the domain is
//! rounded to the lattice. The sensitivity is bounded for the rounded points, in whole steps. The noise is an
//! exact sample of an integer number of steps. No floating-point error can invalidate a privacy claim.
//!
//! ```
//! use scumble_core::Domain;
//! use scumble_noise::LaplaceNoise;
//!
//! let people = Domain::product([Domain::interval(0.0, 1.0)?, Domain::one_hot(5)?])?;
//! let noise = LaplaceNoise::calibrated(&people, 0.5)?;
//! assert_eq!(noise.scale().round(), 6.0); // (1 + 2)/0.5
//! # Ok::<(), scumble_core::Error>(())
//! ```

mod additive;
mod count;
mod direction;
mod gaussian;
mod keyed;
mod laplace;
mod lattice;
mod running;
mod sum;

pub use additive::{AdditiveNoise, NoiseParameters, NoiseState, Noisy};
pub use count::CountNoise;
pub use direction::RandomDirection;
pub use gaussian::GaussianNoise;
pub use keyed::{Fingerprint, NoiseKey, RecordDigest, id_digest, release_keyed};
pub use laplace::LaplaceNoise;
pub use lattice::Lattice;
pub use running::RunningNoise;
pub use sum::SumNoise;

#[doc(hidden)]
pub use scumble_core;

/// Defines and registers a [`Plugin`](scumble_core::Plugin), like [`scumble_core::register!`]. A plugin is
/// the name and description of a mechanism, with the functions that make it. For a mechanism that adds noise,
/// the field `noise` names the type that implements [`AdditiveNoise`]. This field replaces the fields
/// `descriptor`, `parameters`, `learn` and `local` of [`scumble_core::register!`].
#[macro_export]
macro_rules! register {
    (
        $(#[$docs:meta])*
        pub const $constant:ident = {
            name: $name:expr,
            summary: $summary:expr,
            paper: $paper:expr,
            noise: $noise:ty,
            example: $example:expr $(,)?
        };
    ) => {
        $crate::scumble_core::register! {
            $(#[$docs])*
            pub const $constant = {
                name: $name,
                summary: $summary,
                paper: $paper,
                descriptor: $crate::scumble_core::Descriptor::new(<$noise as $crate::AdditiveNoise>::OUTPUT),
                parameters: $crate::NoiseParameters<<$noise as $crate::AdditiveNoise>::Parameters>,
                learn: $crate::Noisy::<$noise>::learn,
                local: $crate::Noisy::<$noise>::try_from,
                example: $example,
            };
        }
    };
    ($($other:tt)*) => { $crate::scumble_core::register! { $($other)* } };
}

/// Runs the README's examples as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
