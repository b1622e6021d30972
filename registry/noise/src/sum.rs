//! Exact Laplace noise on sums of numbers.

use ndarray::{ArrayView1, ArrayView2};
use scumble_core::{Budget, Domain, Error, Result, Stream};
use scumble_sampling::{DiscreteLaplace, Rational};

/// Number of equal steps between the two bounds of a number. A rounded number is an integer from 0 to
/// `STEPS`.
const STEPS: u32 = 1 << 12;

/// Discrete Laplace noise on the sums of bounded numbers over all records, for curators, who are trusted with
/// all records.
///
/// The interval between the bounds of a number has 4,096 equal steps, and the number is rounded to a whole
/// number of steps. A sum is therefore an integer number of steps, and so is its noise. If one record of d
/// numbers is replaced by another record, the d sums change by at most 4,096·d steps in total. Noise of the
/// scale 4,096·d/ε steps is therefore ε-differentially private (Dwork, McSherry, Nissim and Smith 2006,
/// Proposition 1).
///
/// ```
/// use ndarray::array;
/// use scumble_core::{Budget, Domain, Randomness};
/// use scumble_noise::SumNoise;
///
/// let noise = SumNoise::calibrated(&Domain::unit_box(2), Budget::pure(f64::INFINITY)?)?;
/// let records = array![[0.5, 0.25], [1.0, 0.75]];
/// let mean = noise.mean(records.view(), &mut Randomness::from_os()?.streams().stream(0));
/// assert_eq!(mean, [0.75, 0.5]); // no noise at ε = ∞
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SumNoise {
    bounds: Vec<(f64, f64)>,
    /// `None` at ε = ∞.
    noise: Option<DiscreteLaplace>,
}

impl SumNoise {
    /// Noise that makes the sums of records in `set` differentially private with the ε of `budget`. The d
    /// numbers of a record have equal shares of this ε.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] unless `set` consists of intervals. [`Error::Budget`] if d is 0 or
    /// ε/(4,096·d) rounds to zero. [`Error::Sampling`] if ε/(4,096·d) is above zero and below 2⁻⁵⁹.
    pub fn calibrated(set: &Domain, budget: Budget) -> Result<Self> {
        let reason = "it takes numbers within bounds, not levels or balls";
        let bounds = set.intervals().ok_or_else(|| Error::not_applicable("noise on sums", reason))?;
        let noise = match budget.divide(bounds.len())?.divide(STEPS as usize)?.epsilon() {
            f64::INFINITY => None,
            step_epsilon => Some(DiscreteLaplace::new(Rational::floor_of(step_epsilon)?.reciprocal()?)?),
        };
        Ok(Self { bounds, noise })
    }

    /// Noisy means of `records` (n records × d numbers), one mean for each of the d numbers. Values outside
    /// their bounds count as the nearest bound.
    pub fn mean(&self, records: ArrayView2<f64>, stream: &mut Stream) -> Vec<f64> {
        let mean = |(column, (lower, upper)): (ArrayView1<f64>, &(f64, f64))| {
            let step = |x: &f64| ((x - lower) / (upper - lower) * f64::from(STEPS)).round() as i128;
            let sum: i128 = column.iter().map(|x| step(x).clamp(0, STEPS.into())).sum();
            let noise = self.noise.as_ref().map_or(0, |noise| noise.sample(stream));
            lower + (sum + noise) as f64 / (f64::from(STEPS) * column.len() as f64) * (upper - lower)
        };
        records.columns().into_iter().zip(&self.bounds).map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use scumble_core::Randomness;

    #[test]
    fn the_noise_of_a_mean_has_the_variance_of_its_scale() {
        const SEED: u64 = 5;
        let (n, d, epsilon, draws) = (50, 2, 0.5, 40_000);
        let noise = SumNoise::calibrated(&Domain::unit_box(d), Budget::pure(epsilon).unwrap()).unwrap();
        let records = Array2::from_elem((n, d), 0.25);
        let mut stream = Randomness::seeded(SEED).streams().stream(0);
        let squares = (0..draws).map(|_| (noise.mean(records.view(), &mut stream)[0] - 0.25).powi(2));
        let seen = squares.sum::<f64>() / draws as f64;
        // 2b² for b = d/(n·ε). The mean square of 40,000 draws has a relative deviation of √(5/40,000) = 1.1
        // %. The tolerance is six deviations.
        let expected = 2.0 * (d as f64 / (n as f64 * epsilon)).powi(2);
        assert!((seen / expected - 1.0).abs() < 0.07, "seed {SEED}: {seen} is not {expected}");
    }

    #[test]
    fn values_outside_of_the_bounds_count_as_the_bounds() {
        let noise =
            SumNoise::calibrated(&Domain::interval(-1.0, 3.0).unwrap(), Budget::pure(f64::INFINITY).unwrap());
        let records = Array2::from_shape_vec((2, 1), vec![-1e300, 7.0]).unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        assert_eq!(noise.unwrap().mean(records.view(), &mut stream), [1.0]);
    }

    #[test]
    fn levels_and_balls_are_refused() {
        for set in [Domain::one_hot(3).unwrap(), Domain::l2_ball(2, 1.0).unwrap()] {
            assert!(matches!(
                SumNoise::calibrated(&set, Budget::pure(1.0).unwrap()),
                Err(Error::NotApplicable { .. })
            ));
        }
    }
}
