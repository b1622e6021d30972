//! Exact Gaussian noise that is added to one of several equally likely candidates, and hides the choice.

use scumble_accounting::{mutual_information, search};
use scumble_core::{Error, Result, Stream};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Resolution of the lattice: the standard deviation of the noise on a value is a whole number of lattice
/// steps, from 2³⁰ to 2³¹.
const BITS: i32 = 30;
/// Lower limit, as an exponent of two, for the root mean square of the candidates about their mean, in each
/// value in which they differ. The upper limit for the magnitude of a value has the exponent [`LARGEST`].
const SMALLEST: i32 = -400;
const LARGEST: i32 = 400;
/// Largest distance between two candidates in one value that fits the integers, in units of the noise's
/// standard deviation.
const FARTHEST: f64 = (1u64 << 62) as f64;

/// Independent discrete Gaussian noise on k values that bounds the mutual information between the released
/// values and a secret. The secret is one of m equally likely secrets. Each secret determines a candidate, a
/// vector of k values.
///
/// Each of the k values has a separate lattice, at least 2³⁰ times finer than its noise. The value is rounded
/// to the lattice, and the noise is an integer number of lattice steps. Let Pⱼ be the distribution of the
/// release for candidate j. Let c be the lattice point nearest to the mean of all candidates, and Q the
/// distribution of c with noise. The mutual information is at most the mean of KL(Pⱼ ‖ Q) over j, which holds
/// for any Q. Discrete Gaussian distributions about two lattice points a and c have a divergence of exactly
/// (a − c)²/2σ². The bound is therefore Σᵢ λᵢ/2σᵢ². Here σᵢ is the parameter σ of the noise on value i, and
/// λᵢ is the mean square of value i about cᵢ over the candidates. Among all noise with this bound, σᵢ² =
/// √λᵢ·Σₗ√λₗ/(2·nats) has the least sum of variances (Sridhar, Xiao and Devadas 2025, Theorem 3, without a
/// decomposition of the covariance). The bound is proven and no estimate, because the secret always
/// determines one of these candidates. If `nats` is large, the bound of [`mutual_information::mixture_bound`]
/// is smaller. It then allows all noise to be reduced by a common factor.
///
/// ```
/// use scumble_core::Randomness;
/// use scumble_pac::HidingNoise;
///
/// // Two secrets, and two values of which the second is the same for both.
/// let noise = HidingNoise::calibrated(&[vec![0.0, 5.0], vec![2.0, 5.0]], 0.125)?;
/// assert!((noise.scales()[0] / 2.0 - 1.0).abs() < 1e-6 && noise.scales()[1] == 0.0);
/// let noisy = noise.added(&[2.0, 5.0], &mut Randomness::from_os()?.streams().stream(0));
/// assert_eq!(noisy[1], 5.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HidingNoise {
    /// Noise on each value; `None` if all candidates give the same value.
    per_value: Vec<Option<ValueNoise>>,
    nats: f64,
}

/// Noise on one value.
#[derive(Debug, Clone)]
struct ValueNoise {
    distribution: DiscreteGaussian,
    /// Number of lattice steps per unit of the value.
    unit: f64,
}

impl ValueNoise {
    /// Returns noise whose standard deviation is at least `scale`, with a relative excess of at most 2⁻³⁰.
    fn with_scale(scale: f64) -> Result<Self> {
        let exponent = BITS - (scale.log2().floor() as i32).clamp(SMALLEST, LARGEST);
        let unit = 2f64.powi(exponent);
        let steps = (scale * unit).ceil().max(1.0) as u64;
        Ok(Self { distribution: DiscreteGaussian::new(Rational::new(steps, 1)?)?, unit })
    }

    fn step(&self, value: f64) -> i128 {
        (value * self.unit).round() as i128
    }

    /// Distance between two lattice points, in units of the noise's standard deviation.
    fn distance(&self, one: i128, other: i128) -> f64 {
        one.abs_diff(other) as f64 / self.distribution.scale()
    }
}

impl HidingNoise {
    /// Calibrates noise to a mutual information of at most `nats`, for equally likely `candidates` (m
    /// candidates of k values).
    ///
    /// # Errors
    /// [`Error::Shape`] if there are no candidates, or if a candidate has another length than the first.
    /// [`Error::Parameter`] unless `nats` is above zero and finite. [`Error::NotApplicable`] if a value is
    /// not finite or its magnitude is 2⁴⁰⁰ or more. [`Error::NotApplicable`] also if candidates differ by
    /// more than 2⁶² times the standard deviation of the noise, or if no noise within `nats` was found.
    pub fn calibrated(candidates: &[Vec<f64>], nats: f64) -> Result<Self> {
        let Some(first) = candidates.first() else { return Err(Error::shape("there are no candidates")) };
        candidates
            .iter()
            .try_for_each(|candidate| scumble_core::check_width(first.len(), candidate.len()))?;
        Error::check(crate::NAME, "nats", nats, "above zero and finite", nats > 0.0 && nats.is_finite())?;
        let refuse = |problem: &str| Err(Error::not_applicable(crate::NAME, problem));
        if candidates.iter().flatten().any(|value| !(value.is_finite() && value.abs() < 2f64.powi(LARGEST))) {
            return refuse("a statistic of some half of the records is not a finite number");
        }
        let roots = root_mean_squares(candidates);
        let sum: f64 = roots.iter().sum();
        // Rounding to the lattice changes the mean squares by a few billionths. A small margin therefore
        // suffices to stay within the bound.
        for margin in [1e-9, 1e-7, 1e-5, 1e-3] {
            let scale = |root: &f64| (root * sum / (2.0 * nats)).sqrt() * (1.0 + margin);
            let noise = Self::with_scales(roots.iter().map(scale))?;
            if noise.reach(candidates) > FARTHEST {
                return refuse(
                    "halves of the records differ by more than the integers of exact noise can hold",
                );
            }
            let spent = noise.information_bound(candidates);
            if spent <= nats {
                return Self { nats: spent, ..noise }.sharpened(candidates, nats);
            }
        }
        refuse("no noise was found for this number of nats; a larger one may help")
    }

    fn with_scales(scales: impl Iterator<Item = f64>) -> Result<Self> {
        let value_noise = |scale: f64| (scale > 0.0).then(|| ValueNoise::with_scale(scale)).transpose();
        Ok(Self { per_value: scales.map(value_noise).collect::<Result<_>>()?, nats: 0.0 })
    }

    /// Shrinks all noise by a common factor, if the bound of [`mutual_information::mixture_bound`] allows it.
    fn sharpened(self, candidates: &[Vec<f64>], nats: f64) -> Result<Self> {
        /// Number of nats below which the bound of [`mutual_information::mixture_bound`] is larger than the
        /// bound Σᵢ λᵢ/2σᵢ² to which the noise is already calibrated (see [`HidingNoise`]).
        const FEW: f64 = 0.25;
        if nats < FEW {
            return Ok(self);
        }
        let squared = self.squared(candidates);
        let bound = |factor: f64| {
            let scaled_row = |row: &Vec<f64>| row.iter().map(|square| square / (factor * factor)).collect();
            let scaled: Vec<Vec<f64>> = squared.iter().map(scaled_row).collect();
            mutual_information::mixture_bound(&scaled).unwrap_or(f64::INFINITY)
        };
        let Some(factor) = search::nearly_least(1e-6, 1.0, 1e-6, |factor| bound(factor) <= nats) else {
            return Ok(self);
        };
        let noise = Self::with_scales(self.scales().into_iter().map(|scale| scale * factor * (1.0 + 1e-7)))?;
        let spent = mutual_information::mixture_bound(&noise.squared(candidates)).unwrap_or(f64::INFINITY);
        let fits = spent <= nats && noise.reach(candidates) <= FARTHEST;
        Ok(if fits { Self { nats: spent, ..noise } } else { self })
    }

    /// Squared distances ‖yᵢ − yⱼ‖² between all candidates yᵢ and yⱼ on the lattice (m × m). Each coordinate
    /// is in units of the standard deviation of its noise.
    fn squared(&self, candidates: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let steps: Vec<Vec<i128>> = candidates.iter().map(|candidate| self.steps(candidate)).collect();
        let between = |one: &Vec<i128>, other: &Vec<i128>| {
            let pairs = self.per_value.iter().zip(one.iter().zip(other));
            pairs
                .filter_map(|(noise, (a, b))| noise.as_ref().map(|noise| noise.distance(*a, *b).powi(2)))
                .sum()
        };
        steps.iter().map(|one| steps.iter().map(|other| between(one, other)).collect()).collect()
    }

    fn steps(&self, values: &[f64]) -> Vec<i128> {
        let step = |(noise, value): (&Option<ValueNoise>, &f64)| {
            noise.as_ref().map_or(0, |noise| noise.step(*value))
        };
        self.per_value.iter().zip(values).map(step).collect()
    }

    /// Largest distance between two candidates in one value, in units of the standard deviation of its noise.
    /// Infinite if a value does not fit the integers.
    fn reach(&self, candidates: &[Vec<f64>]) -> f64 {
        let value_reach = |(at, noise): (usize, &ValueNoise)| {
            let values = || candidates.iter().map(move |candidate| candidate[at]);
            let most = values().map(f64::abs).fold(0.0, f64::max);
            if most * noise.unit > 2f64.powi(120) {
                return f64::INFINITY;
            }
            let (least, largest) = values()
                .map(|value| noise.step(value))
                .fold((i128::MAX, i128::MIN), |(least, most), step| (least.min(step), most.max(step)));
            noise.distance(least, largest)
        };
        let noisy = self
            .per_value
            .iter()
            .enumerate()
            .filter_map(|(at, noise)| noise.as_ref().map(|noise| (at, noise)));
        noisy.map(value_reach).fold(0.0, f64::max)
    }

    /// Bound Σᵢ λᵢ/2σᵢ² on the mutual information for `candidates`, computed on the lattice. λᵢ is the mean
    /// square of value i about its centre, and σᵢ the parameter σ of its noise (see [`HidingNoise`]).
    fn information_bound(&self, candidates: &[Vec<f64>]) -> f64 {
        let m = candidates.len() as i128;
        let value_bound = |(at, noise): (usize, &ValueNoise)| {
            let steps: Vec<i128> = candidates.iter().map(|candidate| noise.step(candidate[at])).collect();
            // The lattice point nearest to the mean of the candidates, or its neighbour.
            let first = steps[0];
            let center = first + steps.iter().map(|step| step - first).sum::<i128>() / m;
            steps.iter().map(|step| noise.distance(*step, center).powi(2)).sum::<f64>() / (2.0 * m as f64)
        };
        let noisy = self
            .per_value
            .iter()
            .enumerate()
            .filter_map(|(at, noise)| noise.as_ref().map(|noise| (at, noise)));
        // The factor covers the rounding errors of the sums.
        noisy.map(value_bound).sum::<f64>() * (1.0 + 1e-12)
    }

    /// Upper bound on the mutual information, in nats. It is at most the `nats` of
    /// [`calibrated`](Self::calibrated).
    pub fn nats(&self) -> f64 {
        self.nats
    }

    /// Standard deviation of the noise on each of the k values; zero for a value that is equal in all
    /// candidates and gets no noise.
    pub fn scales(&self) -> Vec<f64> {
        self.per_value
            .iter()
            .map(|noise| noise.as_ref().map_or(0.0, |noise| noise.distribution.scale() / noise.unit))
            .collect()
    }

    /// Adds independent noise to each of the k values of a candidate. `values` must be one of the candidates
    /// of the calibration.
    pub fn added(&self, values: &[f64], stream: &mut Stream) -> Vec<f64> {
        let mut noisy = |(noise, value): (&Option<ValueNoise>, &f64)| match noise {
            Some(noise) => (noise.step(*value) + noise.distribution.sample(stream)) as f64 / noise.unit,
            None => *value,
        };
        self.per_value.iter().zip(values).map(&mut noisy).collect()
    }
}

/// Root mean square of the candidates about their mean, for each value.
fn root_mean_squares(candidates: &[Vec<f64>]) -> Vec<f64> {
    let m = candidates.len() as f64;
    let root_mean_square = |at: usize| {
        // Differences from the first candidate keep the digits in which almost equal values differ.
        let first = candidates[0][at];
        let from_first = || candidates.iter().map(move |candidate| candidate[at] - first);
        let mean = from_first().sum::<f64>() / m;
        let root = (from_first().map(|value| (value - mean).powi(2)).sum::<f64>() / m).sqrt();
        // If a value differs between candidates, its root is above zero.
        if from_first().any(|value| value != 0.0) { root.max(2f64.powi(SMALLEST)) } else { 0.0 }
    };
    (0..candidates[0].len()).map(root_mean_square).collect()
}
