//! Differential privacy of records multiplied by a random matrix: Theorem 5 of *Dauntless* (Xiao and
//! Devadas), corrected by errata D1 and D12.
//!
//! The rows of X (n × d) are n records of d numbers, padded with zeros to n × n. With the singular value
//! decomposition X = UΣV of the padded matrix, they are released as X̂W, where X̂ = U(Σ² + v²I)^½V. This
//! raises each singular value s of X to √(s² + v²). The columns α of W (n × d′) are independent, each with a
//! density ∝ exp(ψ(‖α‖²)). L is the Lipschitz constant of ψ as a function of ‖α‖². For neighbours that differ
//! in one record, by at most B in ℓ₂, the release is (ε, δ)-differentially private with
//!
//! ε = d′ε₀(e^ε₀ − 1) + ε₀√(2d′·ln(1/δ̃)), δ = d′(δ₀ + δᵣ) + δ̃, ε₀ = x + 4x(1 + x)·L·r²·ln(32/δ₀)/(n −
//! 2√(n·ln(16/δ₀))), x = B/v,
//!
//! where ‖α‖ exceeds r with probability at most δᵣ. δ₀ is the probability that a column has an unlikely
//! direction, and δ̃ is the term that the composition of the columns adds. The guarantee also holds with ε =
//! d′ε₀, which is less for few columns. The theorem as printed takes the root of a negative number, and the
//! X̂ = U(Σ + vI)V in its statement does not satisfy the proof. All rounding is to the safe side: ε, δ and v
//! are never rounded down.
//!
//! For Gaussian W, X̂W has the same distribution as XW₁ + vW₂, with independent Gaussian W₁ (d × d′) and W₂
//! (n × d′). L·r² is then half the 1 − δᵣ quantile of χ² with n degrees of freedom, for any variance of W.

use crate::error::{check, check_delta, check_epsilon};
use crate::search::{highest, least};
use crate::{Error, Result};
use statrs::function::gamma::gamma_ur;

/// The properties of the distribution of a column α of W that the theorem needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ColumnDistribution {
    /// Independent Gaussian entries, of any variance.
    Gaussian,
    /// A density ∝ exp(ψ(‖α‖²)).
    Radial {
        /// L, the Lipschitz constant of ψ as a function of ‖α‖².
        lipschitz: f64,
        /// r, which ‖α‖ exceeds with probability at most δᵣ.
        radius: f64,
    },
}

/// The three terms of δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deltas {
    /// δ₀: the probability that a column of the random matrix W has an unlikely direction, for which ε₀ need
    /// not hold.
    pub direction: f64,
    /// δᵣ: the probability that a column of the random matrix W is longer than r, the bound on its length in
    /// the formula of ε₀.
    pub radius: f64,
    /// δ̃: the term that the composition of the columns adds.
    pub composition: f64,
}

impl Deltas {
    /// The total δ = d′(δ₀ + δᵣ) + δ̃ of the three terms, for d′ = `columns`, rounded up.
    pub fn total(&self, columns: u64) -> f64 {
        let sum = columns as f64 * (self.direction + self.radius) + self.composition;
        sum * (1.0 + 4.0 * f64::EPSILON)
    }
}

/// The size and the sensitivity of a release. The parameter v, which raises the singular values, is an
/// argument of the methods.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Release {
    sensitivity: f64,
    records: u64,
    columns: u64,
}

/// The guarantee of a release, for a given raise v of the singular values and a given δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Private {
    /// ε, in nats.
    pub epsilon: f64,
    /// The terms of δ. Their total is at most the given δ.
    pub deltas: Deltas,
}

/// A factor that exceeds one by more than the relative rounding errors.
const UP: f64 = 1.0 + 1e-12;

/// The smallest valid value of δ₀ and of δᵣ, two of the terms of δ. Doubles represent it with full precision.
const LEAST_DELTA: f64 = 1e-300;

/// Condition on the number of records in Theorem 5 of *Dauntless*.
const ENOUGH: &str = "more than 4 ln(16/delta0), or the theorem does not apply";

impl Release {
    /// Creates a release of n = `records` records as d′ = `columns` columns.
    ///
    /// Any record may be replaced by one at a distance of at most B = `sensitivity` in ℓ₂.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `sensitivity` is not finite and above zero, or if `records` or `columns` lies
    /// outside 1 to 2^52.
    pub fn new(sensitivity: f64, records: u64, columns: u64) -> Result<Self> {
        check(
            "the sensitivity",
            sensitivity,
            "above zero, and finite",
            sensitivity > 0.0 && sensitivity.is_finite(),
        )?;
        let countable = |count: u64| (1..=1 << 52).contains(&count);
        check("the number of records", records as f64, "one to 2^52", countable(records))?;
        check("the number of columns", columns as f64, "one to 2^52", countable(columns))?;
        Ok(Self { sensitivity, records, columns })
    }

    /// ε₀, the ε of one released column at δ = δ₀ + δᵣ, if the singular values are raised by `v`. δ₀ and δᵣ
    /// are the `direction` and the `radius` of `deltas`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `v`, or the Lipschitz constant or the radius of `distribution`, is not finite
    /// and above zero, or if δ₀ or δᵣ does not lie between 10⁻³⁰⁰ and one; also if the number n of records is
    /// at most 4·ln(16/δ₀), because Theorem 5 of *Dauntless* then does not apply.
    pub fn column_epsilon(&self, v: f64, distribution: ColumnDistribution, deltas: Deltas) -> Result<f64> {
        check("v", v, "above zero, and finite", v > 0.0 && v.is_finite())?;
        Ok(epsilon_at_ratio(self.sensitivity / v, self.spread(distribution, deltas)?))
    }

    /// ε of all columns together, at the δ of [`Deltas::total`], if the singular values are raised by `v`.
    ///
    /// ```
    /// use scumble_accounting::multiplicative::{Deltas, ColumnDistribution, Release};
    ///
    /// let deltas = Deltas { direction: 1e-9, radius: 1e-9, composition: 1e-6 };
    /// let epsilon = Release::new(1.0, 20_000, 784)?.epsilon(1e4, ColumnDistribution::Gaussian, deltas)?;
    /// assert!((epsilon / 0.8507480921108777 - 1.0).abs() < 1e-6);
    /// # Ok::<(), scumble_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same errors as [`column_epsilon`](Self::column_epsilon); also [`Error::OutOfRange`] if the
    /// `composition` term of `deltas` does not lie strictly between zero and one.
    pub fn epsilon(&self, v: f64, distribution: ColumnDistribution, deltas: Deltas) -> Result<f64> {
        check_delta(deltas.composition)?;
        Ok(self.composed_epsilon(self.column_epsilon(v, distribution, deltas)?, deltas.composition))
    }

    /// The least ε at `delta` if the random matrix has Gaussian entries and the singular values are raised by
    /// `v`. The minimum is over all splits of δ into its three terms.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if `v` is not finite and above zero, if δ does not lie between 10⁻²⁸⁰ and one,
    /// or if the records are too few for Theorem 5 of *Dauntless*.
    pub fn gaussian(&self, v: f64, delta: f64) -> Result<Private> {
        check("v", v, "above zero, and finite", v > 0.0 && v.is_finite())?;
        let best = |deltas: Deltas| -self.epsilon(v, self.bounded(deltas), deltas).unwrap_or(f64::INFINITY);
        let deltas = self.best_deltas(delta, best)?;
        Ok(Private { epsilon: self.epsilon(v, ColumnDistribution::Gaussian, deltas)?, deltas })
    }

    /// The least raise v of the singular values with which a release by a Gaussian random matrix is (ε,
    /// δ)-differentially private, and its guarantee. The minimum is over all splits of δ into its three
    /// terms.
    ///
    /// The guarantee also holds for more records, because the ε of one column falls with the number of
    /// records.
    ///
    /// ```
    /// use scumble_accounting::multiplicative::{ColumnDistribution, Release};
    ///
    /// let release = Release::new(1.0, 20_000, 784)?;
    /// let (v, private) = release.least_v(0.85, 2.568e-6)?;
    /// assert!(v < 1e4 && private.epsilon <= 0.85 && private.deltas.total(784) <= 2.568e-6);
    /// # Ok::<(), scumble_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if ε is not finite and above zero, if δ does not lie between 10⁻²⁸⁰ and one, or
    /// if the records are too few for Theorem 5 of *Dauntless*; [`Error::Unreachable`] if no float is a large
    /// enough v.
    pub fn least_v(&self, epsilon: f64, delta: f64) -> Result<(f64, Private)> {
        check_epsilon(epsilon)?;
        check("epsilon", epsilon, "above zero, and finite", epsilon > 0.0)?;
        // Each split of δ has a largest ratio x = B/v of the sensitivity B and the raise v of the singular
        // values.
        let deltas = self.best_deltas(delta, |deltas| match self.spread(self.bounded(deltas), deltas) {
            Ok(spread) => self.largest_ratio(epsilon, deltas.composition, spread).ln(),
            Err(_) => f64::NEG_INFINITY,
        })?;
        let epsilon_at = |v: f64| self.epsilon(v, ColumnDistribution::Gaussian, deltas);
        let meets = |v: f64| epsilon_at(v).is_ok_and(|found| found <= epsilon);
        let spread = self.spread(ColumnDistribution::Gaussian, deltas)?;
        let about = self.sensitivity / self.largest_ratio(epsilon, deltas.composition, spread);
        let v = least(about * (1.0 - 1e-6), about * (1.0 + 1e-6), meets)
            .ok_or(Error::Unreachable { name: "v", range: "the floats" })?;
        Ok((v, Private { epsilon: epsilon_at(v)?, deltas }))
    }

    /// A fast replacement for [`ColumnDistribution::Gaussian`]. Its squared radius is an upper bound on the
    /// (1 − δᵣ)-quantile of χ² with n degrees of freedom, for n records. This bound is enough to choose the
    /// split of δ into its three terms.
    fn bounded(&self, deltas: Deltas) -> ColumnDistribution {
        ColumnDistribution::Radial { lipschitz: 0.5, radius: self.proven_squared_norm(deltas.radius).sqrt() }
    }

    /// The split of `delta` into the terms of [`Deltas`] that has the highest `value`.
    fn best_deltas(&self, delta: f64, value: impl Fn(Deltas) -> f64) -> Result<Deltas> {
        check("delta", delta, "between 1e-280 and one", (1e-280..1.0).contains(&delta))?;
        // A tiny fraction of δ is left unused, so that the rounded terms never sum to more than δ.
        let (delta, columns) = (delta * (1.0 - 1e-12), self.columns as f64);
        let split = |composition: f64, direction: f64| {
            let each = delta * (1.0 - composition) / columns;
            Deltas {
                direction: each * direction,
                radius: each * (1.0 - direction),
                composition: delta * composition,
            }
        };
        let share = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        let best_direction =
            |composition: f64| share(highest(-15.0, 15.0, |logit| value(split(composition, share(logit)))));
        let composition =
            share(highest(-15.0, 15.0, |logit| value(split(share(logit), best_direction(share(logit))))));
        let deltas = split(composition, best_direction(composition));
        check("the number of records", self.records as f64, ENOUGH, value(deltas) > f64::NEG_INFINITY)?;
        Ok(deltas)
    }

    /// The factor 4·L·r²·ln(32/δ₀)/(n − 2√(n·ln(16/δ₀))) in the formula of ε₀ (module documentation), rounded
    /// up. n is the number of records, L and r describe `distribution`, and δ₀ is the `direction` of
    /// `deltas`.
    fn spread(&self, distribution: ColumnDistribution, deltas: Deltas) -> Result<f64> {
        for (name, delta) in [("delta0", deltas.direction), ("the delta of the radius", deltas.radius)] {
            check(name, delta, "at least 1e-300 and below one", (LEAST_DELTA..1.0).contains(&delta))?;
        }
        let (records, unlikely) = (self.records as f64, (16.0 / deltas.direction).ln());
        check("the number of records", records, ENOUGH, records > 4.0 * unlikely * UP)?;
        let bound = match distribution {
            ColumnDistribution::Gaussian => self.squared_norm(deltas.radius) / 2.0,
            ColumnDistribution::Radial { lipschitz, radius } => {
                for (name, value) in [("the Lipschitz constant", lipschitz), ("the radius", radius)] {
                    check(name, value, "above zero, and finite", value > 0.0 && value.is_finite())?;
                }
                lipschitz * radius * radius
            }
        };
        let norm = records - 2.0 * (records * unlikely).sqrt() * UP;
        check("the number of records", records, ENOUGH, norm > 0.0)?;
        Ok(4.0 * bound * (32.0 / deltas.direction).ln() / norm * UP)
    }

    /// Upper bound on the value that a χ² variable exceeds with probability `probability`. Its number of
    /// degrees of freedom is the number of records.
    fn squared_norm(&self, probability: f64) -> f64 {
        let (records, proven) = (self.records as f64, self.proven_squared_norm(probability));
        // For more records than this, the incomplete gamma function has lost its sixth digit.
        if self.records > 100_000_000 {
            return proven;
        }
        let exceeded = |square: f64| gamma_ur(records / 2.0, square / 2.0) * (1.0 + 1e-6);
        least(records, proven, |square| exceeded(square) <= probability).unwrap_or(proven)
    }

    /// A looser bound than [`squared_norm`](Self::squared_norm), in closed form (Laurent and Massart 2000,
    /// Lemma 1).
    fn proven_squared_norm(&self, probability: f64) -> f64 {
        let (records, unlikely) = (self.records as f64, -probability.ln());
        (records + 2.0 * (records * unlikely).sqrt() + 2.0 * unlikely) * UP
    }

    /// ε of all columns together, for ε₀ = `column_epsilon` of each column and δ̃ = `composition`, rounded
    /// up.
    fn composed_epsilon(&self, column_epsilon: f64, composition: f64) -> f64 {
        let columns = self.columns as f64;
        let mean = columns * column_epsilon * column_epsilon.exp_m1();
        let advanced = mean + column_epsilon * (2.0 * columns * -composition.ln()).sqrt();
        advanced.min(columns * column_epsilon) * UP
    }

    /// The largest ratio x = B/v, sensitivity over raise of singular values, at which ε of all columns
    /// together is at most `epsilon`, up to rounding.
    fn largest_ratio(&self, epsilon: f64, composition: f64, spread: f64) -> f64 {
        let exceeds = |column_epsilon: f64| self.composed_epsilon(column_epsilon, composition) > epsilon;
        let column_epsilon = least(0.0, epsilon.max(1.0), exceeds).unwrap_or(epsilon);
        // The solution of spread·x² + (1 + spread)·x = ε₀, without a difference of close numbers.
        let linear = 1.0 + spread;
        2.0 * column_epsilon / (linear + (linear * linear + 4.0 * spread * column_epsilon).sqrt())
    }
}

/// ε₀ = x + `spread`·x(1 + x) of one released column, rounded up. x = `ratio` is the sensitivity over the
/// raise of the singular values, and `spread` the factor of [`Release::spread`].
fn epsilon_at_ratio(ratio: f64, spread: f64) -> f64 {
    (ratio + spread * ratio * (1.0 + ratio)) * UP
}
