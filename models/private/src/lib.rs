//! Networks trained under central differential privacy: DP-SGD (Abadi and others 2016) and DP-Adam, with
//! noise that is sampled exactly.
//!
//! [`PrivateTraining::fit`] trains networks by noisy gradient steps. [`PrivateTraining::steps_within`]
//! computes the number of steps that a target (ε, δ) allows, and [`PrivateTraining::spent`] the privacy loss
//! of a number of steps. The (ε, δ) guarantee covers the trained networks and holds for every record.
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
//! Each step draws a Poisson sample of the records and releases the sum of their clipped gradients. The sum
//! is rounded to multiples of a lattice step, and an integer number of lattice steps is added to each
//! coordinate as noise. Everything computed from that sum, such as the optimiser and the next step's
//! networks, is post-processing. Let f(S) be the rounded sum for a sample S, in lattice steps: a vector of
//! integers. With [`NoiseKind::Exact`], the following holds for all samples S within the capacity (item 4),
//! all records x and all networks:
//!
//! 1. *A record's gradient does not depend on other records.* To the last bit, it is a function of the
//!    record, the networks and randomness drawn for this record. It does not depend on the records in the
//!    same pass, or on its position among them. Matrix products are arranged accordingly (`rows.rs`), and
//!    every training checks this before its first step.
//! 2. *The summed numbers are clipped.* In a layer with input aᵢ, record i contributes δᵢaᵢᵀ to the gradient,
//!    where δᵢ is its gradient with respect to the layer's sums. Both factors are stored in memory. After the
//!    δᵢ are multiplied by clipping weights, the norms are computed again from the stored numbers, in `f64`.
//!    Every gradient with a norm above the clipping norm C is dropped (`clipping.rs`). Hence every gradient
//!    gᵢ in the sum has ‖gᵢ‖ ≤ C, up to the rounding of its computed norm: a relative error of about 10⁻⁹ for
//!    a million parameters.
//! 3. *Sums are nearly additive.* The gradients are summed in chunks of at most 96 rows, and then the sums of
//!    the chunks are added. Every coordinate of the sum is rounded k times at most, once per row of a chunk
//!    and once per chunk. The error of the coordinate is at most γₖ·Σ|gᵢ| over the values gᵢ of the gradients
//!    in this coordinate, with γₖ = ku/(1 − ku) for unit roundoff u. The norm of the errors of all
//!    coordinates is at most γₖ·(number of records)·C.
//! 4. *Samples are not too large.* A sample with more records than a fixed capacity adds nothing to the sum.
//!    By Chernoff's bound this happens with probability 2⁻¹⁰⁰ per step at most. A millionth of δ is reserved
//!    for it, and must be at least (1 + e^ε)·(number of steps)·2⁻¹⁰⁰. [`Error::Delta`] reports a δ for which
//!    the reserve is smaller.
//! 5. *Rounding to the lattice* moves each coordinate by half a lattice step at most.
//!
//! Together, ‖f(S ∪ {x}) − f(S)‖₂ ≤ Δ = (C + 2·γₖ·capacity·C)/(lattice step) + √p, for p parameters
//! (`sensitivity.rs` computes it). The bound Δ is enough for both neighbouring relations. Let q be the
//! sampling rate. If a record x is added, then with probability q it is sampled, and f(S ∪ {x}) replaces
//! f(S); removing x does the reverse. If x′ replaces x, then with probability q, f(S ∪ {x′}) replaces f(S ∪
//! {x}), and both are within Δ of f(S).
//!
//! 6. *Discrete noise is post-processed continuous noise.* Let σ be the scale of the discrete noise in
//!    lattice steps, 2²⁰ or more. Draw X from N(c, σ² − r²) for an integer c and a number r < σ. Then draw an
//!    integer K with probability exp(−(K − X)²/2r²)/ρ(X), where ρ(X) = Σₖ exp(−(k − X)²/2r²). By Poisson's
//!    summation formula, ρ(X) = r√2π·(1 ± 2e^(−2π²r²) ± …). For r = 4 this is constant within a factor of 1 ±
//!    10⁻¹³⁶ for every X. If ρ were constant, K − c would have the discrete Gaussian distribution of scale σ.
//!    The output probabilities of a training are therefore within a factor of e^(±10⁻¹⁰⁰) of those of a
//!    post-processed Gaussian mechanism in real numbers.
//!
//! Hence the results of privacy accounting for continuous noise hold at the *effective* noise multiplier √(σ²
//! − 16)/Δ. [`PrivateTraining::effective_noise_multiplier`] computes it. The README lists how much smaller it
//! is than the configured noise multiplier.
//!
//! Neighbouring data sets list their common records in the same order. [`PrivateTraining::assumes`] returns
//! the other assumptions. The guarantee covers neither the values passed to `progress` nor the error of a
//! failed training: both are for the data owner only. It does not cover the running time either.

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
