//! Number of mixed and transformed samples up to which recovery of a record is excluded, within a given error
//! and with a given probability.
//!
//! The module implements Corollary 1 and Theorem 3 of *Dauntless* (Xiao and Devadas), both by Fano's
//! inequality, in bits.
//!
//! The theorems exclude an adversary that recovers a mixed record (the sum of a private and a public record)
//! within the error ε (ℓ₂, over all coordinates together) with probability 1 − δ or more. In [`theorem_3`],
//! the adversary instead recovers the transformation of a record. Such an adversary must know more about the
//! weights of the transformation than the released samples reveal. So it cannot exist while the number of
//! samples is below the budget. Success with a smaller probability is not excluded. This guarantee is not
//! differential privacy.
//!
//! The budget is a number of samples that are all transformed by the same layer, a matrix of random weights.
//! Each sample is the sum of a private record and a public record, both with independent Gaussian
//! coordinates. No record is used in two samples, and the records are independent. Corollary 1 also assumes
//! that the inputs of the layer have one distribution under any two candidates for its inverse, although each
//! candidate implies its own (errata D11). Logarithms have base two (errata D2).
//!
//! [`budget`](Budget::budget) takes the adversary's failure rate as an average over transformations. By
//! Markov's inequality, for any k ≥ 1, the adversary fails more often than kδ for at most one transformation
//! in k. The proof packs weights at a distance Δ, for an error of 2ε and a failure rate of 2kδ. The error
//! probability in Fano's inequality is 1/k plus the probability that the norm of the inverse transformation
//! exceeds a bound c. The budget is maximised over k and c, which determine Δ. The paper's formula sets this
//! error probability to zero (errata D11), which gives a larger budget.

use crate::Result;
use crate::error::check;
use crate::gaussian::quantile;
use crate::search::highest;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::qr::no_pivoting::factor as qr;
use faer::{Mat, Par};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The adversary to be resisted, and the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// ε: the distance within which a recovery counts, in ℓ₂ over all coordinates, in units of the records.
    pub error: f64,
    /// δ: the theorem excludes recovery that succeeds with probability 1 − δ or more.
    pub delta: f64,
    /// d: the number of coordinates of a record.
    pub dim: u64,
    /// β: the weights of the transformation are uniform on [−β, β]; for [`corollary_1`], the weights of its
    /// inverse are.
    pub beta: f64,
    /// τ_a: the variance of each coordinate of the public part of a sample, in squared units of the records.
    pub public_variance: f64,
    /// τ_p: the variance of each coordinate of the private part, in squared units of the records.
    pub private_variance: f64,
}

/// The number of samples that may be released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// The number of samples up to which no adversary succeeds with probability 1 − δ or more, for the δ and
    /// the recovery error of the [`Setting`]. Claims use this number. It is zero if the theorem gives no
    /// positive number.
    pub budget: f64,
    /// The paper's formula, which assumes that the adversary fails equally often for every transformation
    /// (errata D11).
    ///
    /// It is zero where the formula has no solution. No claim uses it.
    pub budget_as_printed: f64,
    /// Δ of the paper's formula: the distance between the candidate weights that the proof packs into [−β,
    /// β], in the units of the weights.
    pub packing_width: f64,
    /// c of the paper's formula: the bound that the norm of the inverse transformation rarely exceeds. `None`
    /// for [`theorem_3`], which needs no such norm.
    pub norm_bound: Option<f64>,
    /// k: the adversary may fail more often than kδ for one transformation in k. This value of k maximises
    /// `budget`, and is one where `budget` is zero.
    pub markov_factor: f64,
}

impl Budget {
    /// Returns whether the theorem excludes nothing: not even one sample may be released. For example, this
    /// is the case if the distance Δ between the candidate weights that the proof packs into [−β, β] is at
    /// least β.
    pub fn is_vacuous(&self) -> bool {
        self.budget < 1.0
    }
}

/// A factor that covers the floating-point error of a budget.
const MARGIN: f64 = 1.0 - 1e-9;

/// The largest value of c²/2dβ² − ln 2d in the search over the norm bound c, for d coordinates and weights in
/// [−β, β]. Larger values change no result in floats.
const MOST_EXCESS: f64 = 64.0;

impl Setting {
    fn check(&self) -> Result<()> {
        let positive =
            |name, value: f64| check(name, value, "above zero, and finite", value > 0.0 && value.is_finite());
        positive("the error", self.error)?;
        let range = "strictly between zero and one half";
        check("delta", self.delta, range, self.delta > 0.0 && self.delta < 0.5)?;
        check("the dimension", self.dim as f64, "one or more", self.dim >= 1)?;
        positive("beta", self.beta)?;
        positive("the private variance", self.private_variance)?;
        let public = self.public_variance;
        check("the public variance", public, "zero or more, and finite", public >= 0.0 && public.is_finite())
    }

    /// τ/τ_p, where τ = τ_a + τ_p is the variance of each coordinate of a sample, and τ_p the variance of its
    /// private part.
    fn mixed_over_private(&self) -> f64 {
        1.0 + self.public_variance / self.private_variance
    }

    /// The distance Δ between the candidate weights that the proof packs into [−β, β], at which 1 −
    /// Φ(2ε·`norm`/(√τ·Δ)) is `share`, for the error ε and the variance τ of a coordinate of a sample. `norm`
    /// is the bound c on the norm of the inverse transformation, or 1 in [`theorem_3`]. Δ is infinite for a
    /// `share` of one half or more.
    fn packing_width(&self, norm: f64, share: f64) -> f64 {
        let deviation = (self.public_variance + self.private_variance).sqrt();
        2.0 * self.error * norm / (deviation * upper_quantile(share))
    }

    /// The bits log₂(β/Δ) that identify one of the candidate weights that the proof packs into [−β, β] at a
    /// distance of Δ = `packing_width`. They are zero if Δ ≥ β.
    fn bits(&self, packing_width: f64) -> f64 {
        (self.beta / packing_width).log2().max(0.0)
    }

    /// The factor k of Markov's inequality that maximises `value`, and the maximum; (1, 0) if the maximum is
    /// not above zero. The search ends at k = 1/(2δ). At larger k, the distance Δ between the candidate
    /// weights of the proof is infinite.
    fn best_markov_factor(&self, value: impl Fn(f64) -> f64) -> (f64, f64) {
        let factor = highest(0.0, (0.5 / self.delta).ln(), |log| value(log.exp())).exp();
        match value(factor) {
            best if best > 0.0 => (factor, best),
            _ => (1.0, 0.0),
        }
    }

    /// The norm c that a d × d matrix of independent weights, each uniform on [−β, β], exceeds with
    /// probability at most 2d·e^(−c²/2dβ²) = e^(−`excess`).
    fn norm(&self, excess: f64) -> f64 {
        let dim = self.dim as f64;
        self.beta * (2.0 * dim * ((2.0 * dim).ln() + excess)).sqrt()
    }
}

/// Corollary 1: number of transformed samples after which no adversary can recover a mixed record.
///
/// The matrix that transforms all samples (the layer) is the inverse of a d × d matrix of independent
/// weights, each uniform on [−β, β]. A transformed sample has one of 2^`output_bits` values (log₂|𝒦| of the
/// whole output: 784 bytes are 6272 bits):
///
/// m = ((1 − P)·d²·log₂(β/Δ) − 1)/(log₂|𝒦| + ½d·log₂(τ/τ_p)), with P = 1/k + 2d·e^(−c²/2dβ²) and
/// kδ = 1 − Φ(2εc/(√τ·Δ)).
///
/// The budget m is maximised over the factor k of Markov's inequality and the norm bound c. They determine Δ,
/// the distance between the candidate weights that the proof packs into [−β, β]. The other symbols are those
/// of [`Setting`], with τ = τ_a + τ_p. In the paper, P is zero and δ = (1 − Φ(2εc/(√τ·Δ)))·(1 −
/// 2d·e^(−c²/2dβ²)). The budget is right to nine digits, rounded down.
///
/// ```
/// use scumble_accounting::pac::{self, Setting};
///
/// let images = Setting {
///     error: 0.001,
///     delta: 0.1,
///     dim: 784,
///     beta: 50.0,
///     public_variance: 1.0,
///     private_variance: 1.0,
/// };
/// let samples = pac::corollary_1(&images, 784.0 * 8.0)?;
/// assert_eq!((samples.budget.floor(), samples.budget_as_printed.floor()), (99.0, 259.0));
/// assert!(pac::corollary_1(&Setting { error: 0.1, ..images }, 784.0 * 8.0)?.is_vacuous());
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) for a number that is not finite and above zero (except a
/// public variance of zero), or for a δ of one half or more.
pub fn corollary_1(setting: &Setting, output_bits: f64) -> Result<Budget> {
    setting.check()?;
    let range = "above zero, and finite";
    check("the bits of the output", output_bits, range, output_bits > 0.0 && output_bits.is_finite())?;
    let dim = setting.dim as f64;
    let revealed_bits = output_bits + dim / 2.0 * setting.mixed_over_private().log2();

    // The norm may exceed its bound only so rarely that δ/(1 − e^−excess) stays below one half.
    let least = -(-2.0 * setting.delta).ln_1p();
    let width_at =
        |excess: f64| setting.packing_width(setting.norm(excess), setting.delta / -(-excess).exp_m1());
    let excess = least + highest(-20.0, MOST_EXCESS.ln(), |log| -width_at(least + log.exp()).ln()).exp();
    let packing_width = width_at(excess);

    let bits_at = |factor: f64, excess: f64| {
        let kept = 1.0 - 1.0 / factor - (-excess).exp();
        let width = setting.packing_width(setting.norm(excess), factor * setting.delta);
        kept.max(0.0) * setting.bits(width)
    };
    let (markov_factor, bits) = setting.best_markov_factor(|factor| {
        bits_at(factor, highest(-20.0, MOST_EXCESS.ln(), |log| bits_at(factor, log.exp())).exp())
    });
    Ok(Budget {
        budget: samples(dim * dim * bits, revealed_bits) * MARGIN,
        budget_as_printed: samples(dim * dim * setting.bits(packing_width), revealed_bits),
        packing_width,
        norm_bound: Some(setting.norm(excess)),
        markov_factor,
    })
}

/// The largest number of coordinates of a record in [`theorem_3`]. For more, drawing the weights would take
/// minutes.
const WIDEST: u64 = 4096;

/// Theorem 3: number of transformed samples after which no adversary can approximate the transformation.
///
/// The transformation maps d coordinates to d′ = `out_dim`, and its weights W (d × d′) are independent and
/// uniform on [−β, β]:
///
/// m = ((1 − 1/k)·d·d′·log₂(β/Δ) − 1)/(d′·H(s̃) − E ½log₂((2πe)^d′·det(τ_p·WᵀW))), with
/// kδ = 1 − Φ(2ε/(√τ·Δ)).
///
/// The budget m is maximised over the factor k of Markov's inequality, which determines Δ, the distance
/// between the candidate weights that the proof packs into [−β, β]. The other symbols are those of
/// [`Setting`], with τ = τ_a + τ_p. In the paper, 1/k is zero. The denominator is the information in a
/// sample. The probability that it is underestimated is at most 10⁻⁶, because both of its terms are replaced
/// by bounds:
///
/// - H(s̃), the entropy of one coordinate s̃ of a transformed sample, is replaced by an upper bound. s̃ is
///   distributed as N(0, τ‖w‖²) with w uniform on [−β, β]^d. The bound is the entropy of the Gaussian
///   distribution with the variance τβ²d/3 of s̃. No distribution with this variance has a larger entropy.
///   The difference is about 0.17/d² bits, because the excess kurtosis of s̃ is 2.4/d.
/// - The logarithm of the determinant has no mean in closed form. Jensen's inequality bounds it from above,
///   which is the wrong side. So W is sampled with a fixed seed, and the lower confidence bound on the mean
///   by Student's t is used.
///
/// Together, the two replacements increase the denominator by 0.4 % at d = d′ = 16, by 0.1 % at d = d′ = 64
/// and by 0.5 % at d = d′ = 784. They increase it by 2 % at d = d′ = 4, and by a fifth at d = d′ = 1 (all at
/// τ_a = τ_p).
///
/// # Errors
/// Same errors as [`corollary_1`] for an invalid `setting`; also
/// [`Error::OutOfRange`](crate::Error::OutOfRange) if d′ does not lie between one and d, or if d exceeds
/// 4096.
pub fn theorem_3(setting: &Setting, out_dim: u64) -> Result<Budget> {
    setting.check()?;
    check(
        "the dimension",
        setting.dim as f64,
        "at most 4096, for its weights are drawn",
        setting.dim <= WIDEST,
    )?;
    let range = "between one and the dimension";
    check("the dimension of the output", out_dim as f64, range, (1..=setting.dim).contains(&out_dim))?;
    let (dim, out) = (setting.dim as f64, out_dim as f64);
    // τ_p, β² and 2πe occur in both terms of the denominator and cancel.
    let sample_bits = out / 2.0 * (setting.mixed_over_private() * dim / 3.0).log2();
    let revealed_bits = sample_bits - mean_log_determinant(setting.dim as usize, out_dim as usize);

    let packing_width = setting.packing_width(1.0, setting.delta);
    let (markov_factor, bits) = setting.best_markov_factor(|factor| {
        (1.0 - 1.0 / factor) * setting.bits(setting.packing_width(1.0, factor * setting.delta))
    });
    Ok(Budget {
        budget: samples(dim * out * bits, revealed_bits) * MARGIN,
        budget_as_printed: samples(dim * out * setting.bits(packing_width), revealed_bits),
        packing_width,
        norm_bound: None,
        markov_factor,
    })
}

/// The number of samples (`needed` − 1)/`revealed_bits`, at least zero. An adversary must know `needed` − 1
/// bits about the transformation, and each sample reveals at most `revealed_bits`.
fn samples(needed: f64, revealed_bits: f64) -> f64 {
    ((needed - 1.0) / revealed_bits).max(0.0)
}

/// The x with 1 − Φ(x) = `share`. It is zero for a share of one half or more.
fn upper_quantile(share: f64) -> f64 {
    if share < 0.5 { -quantile(share) } else { 0.0 }
}

/// The probability that the true mean is below the bound of [`mean_log_determinant`].
const DOUBT: f64 = 1e-6;

/// A lower confidence bound on the mean of ½log₂det(VᵀV), for a `rows` × `columns` matrix V of independent
/// entries that are uniform on [−1, 1].
fn mean_log_determinant(rows: usize, columns: usize) -> f64 {
    let work = 2.0 * rows as f64 * (columns as f64).powi(2);
    let draws = (1.5e10 / work).clamp(8.0, 16384.0) as usize;
    let mut generator = ChaCha20Rng::seed_from_u64(3);
    let mut uniform = || (generator.next_u64() >> 11) as f64 * 2f64.powi(-52) - 1.0;
    let block = qr::recommended_block_size::<f64>(rows, columns);
    let mut reflections = Mat::zeros(block, columns);
    // With a single thread, the result does not depend on the number of cores.
    let scratch = qr::qr_in_place_scratch::<f64>(rows, columns, block, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let log_determinants: Vec<f64> = (0..draws)
        .map(|_| {
            let mut weights = Mat::from_fn(rows, columns, |_, _| uniform());
            let memory = MemStack::new(&mut memory);
            qr::qr_in_place(weights.as_mut(), reflections.as_mut(), Par::Seq, memory, Default::default());
            // The diagonal of the triangular factor: its product is ± the square root of the determinant.
            (0..columns).map(|at| weights[(at, at)].abs().log2()).sum()
        })
        .collect();
    let count = draws as f64;
    let mean = log_determinants.iter().sum::<f64>() / count;
    let squares = log_determinants.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let error = (squares / (count - 1.0) / count).sqrt();
    // There are at least seven degrees of freedom, so the distribution always exists. Without it, the bound
    // would be −∞.
    let quantile = StudentsT::new(0.0, 1.0, count - 1.0)
        .map_or(f64::NEG_INFINITY, |distribution| distribution.inverse_cdf(DOUBT));
    mean + quantile * error
}
