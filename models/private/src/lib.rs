//! Networks trained under central differential privacy: DP-SGD (Abadi and others 2016) and DP-Adam, with exact noise.
//!
//! [`PrivateTraining::fit`] trains networks by noisy steps, [`PrivateTraining::steps_within`] says how many steps a target (ε, δ) allows, and
//! [`PrivateTraining::spent`] what some have cost. The claim is about the networks that come out, and is for every record alike.
//!
//! ```
//! use ndarray::{Array2, array};
//! use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
//! use scumble_neural::{Activation, Architecture, Initialisation, Loss, Network};
//! use scumble_private::{Neighbours, PrivateTraining, Target};
//!
//! let records = Array2::from_shape_fn((500, 3), |(row, column)| ((row + column) % 4) as f32);
//! let start = Network::new(Architecture::new(3).layer(3, Activation::Identity), Initialisation::Uniform, 1)?;
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
//! let spent = training.spent::<f32>(500, learned.parameters().len(), steps, 1e-5, Neighbours::AddOrRemoveOne)?;
//! assert!(spent.epsilon <= 2.0);
//! # Ok::<(), scumble_private::Error>(())
//! ```
//!
//! # Why the claim holds
//!
//! A step releases the sum of the clipped gradients of a Poisson sample, put on a lattice, with noise of integers; all that follows from it,
//! the optimiser and the next step's networks, is post-processing. Let f(S) be the sum of a sample S as the vector of integers that it
//! is. With exact noise, and for all samples S of no more than the capacity, all records x, and all networks:
//!
//! 1. *A record's gradient is its own.* To the last bit it depends on the record, the networks and its own randomness alone, not on the
//!    records beside it, nor on its place among them. Products of matrices are made so (`rows.rs`), which is checked before each training.
//! 2. *It is clipped while it is summed.* A record's share of the gradient is δᵢaᵢᵀ, and both are numbers in memory. After the δᵢ were multiplied
//!    by weights, norms are taken again of just these numbers, in `f64`, and what is not C at most is left out (`clipping.rs`). So ‖gᵢ‖ ≤ C
//!    but for the norms' own rounding: some 10⁻⁹ of it where there are a million parameters.
//! 3. *Sums are nearly additive.* Every number of a sum is rounded k times at most, once a row of a chunk and once a chunk, so it is off by
//!    γₖ·Σ|gᵢ| at most, γₖ = ku/(1 − ku), and the vector by γₖ·(number of records)·C.
//! 4. *Samples are not too large.* One that exceeds the capacity adds nothing. By Chernoff's bound that happens with probability 2⁻¹⁰⁰ a step
//!    at most, and δ pays for it: a millionth of it is kept for (1 + e^ε)·steps·2⁻¹⁰⁰, and [`Error::Delta`] says where that is not enough.
//! 5. *Rounding to the lattice* moves each number by half a step at most.
//!
//! Together ‖f(S ∪ {x}) − f(S)‖₂ ≤ Δ = (C + 2·γₖ·capacity·C)/step + √p, for p parameters (`sensitivity.rs` computes it). Both neighbouring
//! relations depend on this one number: a record that is added or removed brings f(S ∪ {x}) in place of f(S) with probability q, and one replaced
//! brings f(S ∪ {x}) or f(S ∪ {x′}) in place of f(S), both within Δ of it.
//!
//! 6. *Discrete noise is continuous noise, processed.* Draw X from N(c, σ² − r²) for an integer c, and then an integer K with probability
//!    exp(−(K − X)²/2r²)/ρ(X), ρ(X) = Σₖ exp(−(k − X)²/2r²). By Poisson's summation formula ρ(X) = r√2π·(1 ± 2e^(−2π²r²) ± …), with r = 4
//!    within a factor of 1 ± 10⁻¹³⁶ for every X, and were it constant, K − c would have the discrete Gaussian distribution of scale σ. So the noise of
//!    a training is within a factor of e^(±10⁻¹⁰⁰) of what a Gaussian mechanism in real numbers gives, processed further.
//!
//! Hence the accountants' statements for continuous noise hold at the *effective* noise multiplier √(σ² − 16)/Δ, with σ in steps, 2²⁰ or more.
//! [`PrivateTraining::effective_noise_multiplier`] gives it: the README says how much is lost.
//!
//! Data sets that are neighbours list their common records in the same order. [`PrivateTraining::assumes`] says what else is assumed. What
//! `progress` is told, and whether training fails, is the owner's; and how long it takes is not hidden.

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
