//! Networks trained under central differential privacy: DP-SGD (Abadi and others 2016) and DP-Adam, with
//! exact noise.
//!
//! [`PrivateTraining::fit`] trains networks by noisy steps. [`PrivateTraining::steps_within`] computes the
//! number of steps that a target (ε, δ) allows, and [`PrivateTraining::spent`] the privacy loss of a number
//! of steps. The guarantee covers the trained networks and holds for every record.
//!
//! ```
//! use ndarray::{Array2, array};
//! use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
//! use scumble_neural::{Activation, Architecture, Initialisation, Loss, Network};
//! use scumble_private::{Neighbours, PrivateTraining, Target};
//!
//! let records = Array2::from_shape_fn((500, 3), |(row, column)| ((row + column) % 4) as f32);
//! let start =
//!     Network::new(Architecture::new(3).layer(3, Activation::Identity), Initialisation::Uniform, 1)?;
//!
//! let training = PrivateTraining { expected_batch: 20, ..PrivateTraining::default() };
//! let target = Target { epsilon: 2.0, delta: 1e-5, neighbours: Neighbours::AddOrRemoveOne };
//! let steps = training.steps_within::<f32>(500, start.parameters().len(), target)?;
//! // A guarantee is for randomness that nobody knows: from the operating system, not from a seed.
//! let mut randomness = ChaCha20Rng::seed_from_u64(1);
//! let [learned] = training.fit(
//!     [&start],
//!     500,
//!     steps,
//!     |[network], rows, [pass]| {
//!         let output = network.forward_rows(records.view(), rows, pass)?;
//!         let (mut gradient, mut losses) = (Array2::zeros(output.dim()), vec![0.0; rows.len()]);
//!         Loss::SquaredError(records.view()).each_of(rows, output, gradient.view_mut(), &mut losses)?;
//!         network.backward(gradient.view(), pass)?;
//!         Ok(losses.into_iter().map(f64::from).sum())
//!     },
//!     &mut randomness,
//!     |_| (),
//! )?;
//! let spent =
//!     training.spent::<f32>(500, learned.parameters().len(), steps, 1e-5, Neighbours::AddOrRemoveOne)?;
//! assert!(spent.epsilon <= 2.0);
//! # Ok::<(), scumble_private::Error>(())
//! ```
//!
//! # Why the claim holds
//!
//! A step releases the sum of the clipped gradients of a Poisson sample, rounded to a lattice, with integer
//! noise. Everything computed from that sum, such as the optimiser and the next step's networks, is
//! post-processing. Let f(S) be the sum of a sample S as an integer vector. With exact noise, the following
//! holds for all samples S within the capacity, all records x and all networks:
//!
//! 1. *A record's gradient is its own.* To the last bit it depends on the record, the networks and its own
//!    randomness alone. It does not depend on the records in the same pass, or on its position among them.
//!    Matrix products are arranged accordingly (`rows.rs`), and every training checks this before its first
//!    step.
//! 2. *It is clipped while it is summed.* A record's share of the gradient is δᵢaᵢᵀ, and both factors are
//!    numbers in memory. After the δᵢ are multiplied by weights, the norms are computed again from these
//!    numbers, in `f64`. Every gradient with a norm above C is dropped (`clipping.rs`). Hence ‖gᵢ‖ ≤ C up to
//!    the norms' own rounding: a relative error of about 10⁻⁹ for a million parameters.
//! 3. *Sums are nearly additive.* Every number of a sum is rounded k times at most, once per row of a chunk
//!    and once per chunk. Its error is at most γₖ·Σ|gᵢ|, with γₖ = ku/(1 − ku), and the error of the vector
//!    at most γₖ·(number of records)·C.
//! 4. *Samples are not too large.* A sample that exceeds the capacity adds nothing. By Chernoff's bound this
//!    happens with probability 2⁻¹⁰⁰ per step at most, and δ pays for it: a millionth of δ is reserved for
//!    (1 + e^ε)·steps·2⁻¹⁰⁰. [`Error::Delta`] reports a δ for which this is not enough.
//! 5. *Rounding to the lattice* moves each number by half a step at most.
//!
//! Together, ‖f(S ∪ {x}) − f(S)‖₂ ≤ Δ = (C + 2·γₖ·capacity·C)/step + √p, for p parameters (`sensitivity.rs`
//! computes it). Both neighbouring relations depend on this one number. With probability q, adding or
//! removing a record replaces f(S) by f(S ∪ {x}) or the reverse. Replacing a record replaces f(S) by
//! f(S ∪ {x}) or f(S ∪ {x′}), both within Δ of it.
//!
//! 6. *Discrete noise is continuous noise, processed.* Draw X from N(c, σ² − r²) for an integer c, and then
//!    an integer K with probability exp(−(K − X)²/2r²)/ρ(X), ρ(X) = Σₖ exp(−(k − X)²/2r²). By Poisson's
//!    summation formula, ρ(X) = r√2π·(1 ± 2e^(−2π²r²) ± …), for r = 4 within a factor of 1 ± 10⁻¹³⁶ for every
//!    X. If ρ were constant, K − c would have the discrete Gaussian distribution of scale σ. The noise of a
//!    training is therefore within a factor of e^(±10⁻¹⁰⁰) of a post-processed Gaussian mechanism in real
//!    numbers.
//!
//! Hence the accountants' results for continuous noise hold at the *effective* noise multiplier √(σ² − 16)/Δ,
//! with σ in steps, 2²⁰ or more. [`PrivateTraining::effective_noise_multiplier`] computes it; the README
//! lists the loss.
//!
//! Neighbouring data sets list their common records in the same order. [`PrivateTraining::assumes`] returns
//! the other assumptions. The values passed to `progress`, and the failure of a training, are for the data
//! owner only. Running time is not protected.

mod clipping;
mod cost;
mod error;
mod noise;
mod parameters;
mod rows;
mod sensitivity;
#[cfg(test)]
mod tests;
mod training;

pub use cost::Spent;
pub use error::{Error, Result};
pub use parameters::{NoiseKind, PrivateTraining};
pub use scumble_accounting::Neighbours;
pub use scumble_accounting::calibrate::Target;
pub use training::Step;
