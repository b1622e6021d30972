//! Exact Gaussian noise on counts. The noise is a whole number of *lattice steps*, and the step is a power of
//! two.

use crate::gaussian::profile;
use crate::lattice::Spread;
use scumble_core::{Error, Neighbours, PARTS, PrivacyProfile, Result, Stream};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Discrete Gaussian noise on the cells of tables of counts. Each person adds 1 to a table: all of it to one
/// cell, or shares of it to the cells of several records. Counts are whole numbers of 1/[`PARTS`].
///
/// The noise is an exact integer number of lattice steps. The step is the power of two about 2³⁰ times
/// smaller than the scale of the noise, or 1/[`PARTS`] if this power is larger. Each count is therefore a
/// whole number of steps. A person of m records changes at most m cells of a table, by 1 in ℓ₁ and at most 1
/// in ℓ₂. Replacing a person changes at most 2m cells, by at most 2 in ℓ₁ and √2 in ℓ₂. The privacy profile
/// δ(ε) of one table follows from the bound of [`GaussianNoise`](crate::GaussianNoise) for such points.
///
/// ```
/// use scumble_core::{Neighbours, Randomness};
/// use scumble_noise::CountNoise;
///
/// let noise = CountNoise::with_scale(20.0)?;
/// let mut stream = Randomness::from_os()?.streams().stream(0);
/// let noisy = noise.add(&[103 * 1024, 7 * 1024, 0], &mut stream);
/// assert!(noisy.iter().zip([103.0, 7.0, 0.0]).all(|(noisy, count)| (noisy - count).abs() < 300.0));
/// // Of three tables.
/// let one = noise.profile(Neighbours::ReplaceOne, 1);
/// assert!((one.with(&one).with(&one).epsilon(1e-6) / 0.49297 - 1.0).abs() < 1e-4);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct CountNoise {
    distribution: DiscreteGaussian,
    /// Number of lattice steps that equal a count of 1.
    unit: f64,
}

impl CountNoise {
    /// Noise x, in counts, with a probability proportional to exp(−x²/2σ²). The scale σ is at least `scale`,
    /// and exceeds `scale` by at most one lattice step.
    ///
    /// # Errors
    /// [`Error::Budget`] if `scale` is not between 2⁻⁴⁰ and 2⁴⁰ counts.
    pub fn with_scale(scale: f64) -> Result<Self> {
        if !(2f64.powi(-40)..=2f64.powi(40)).contains(&scale) {
            let range = "between 2^-40 and 2^40 counts";
            return Err(Error::Budget { name: "a scale of noise on counts", range, value: scale });
        }
        // The scale σ is a whole number of lattice steps, of at least 31 bits. A lattice step is at most one
        // part of a count.
        let exponent = (30 - scale.log2().floor() as i32).max(PARTS.ilog2() as i32);
        let unit = 2f64.powi(exponent);
        let distribution = DiscreteGaussian::new(Rational::new((scale * unit).ceil() as u64, 1)?)?;
        Ok(Self { distribution, unit })
    }

    /// Scale σ of the noise, in counts. The noise x has a probability proportional to exp(−x²/2σ²).
    pub fn scale(&self) -> f64 {
        self.distribution.scale() / self.unit
    }

    /// Number of lattice steps that equal a count of 1, a power of two.
    pub fn steps(&self) -> u128 {
        self.unit as u128
    }

    /// Draws the noise of one count, in lattice steps.
    pub fn draw(&self, stream: &mut Stream) -> i128 {
        self.distribution.sample(stream)
    }

    /// Returns counts with noise. `parts` has the exact counts, in units of 1/[`PARTS`]. Each count gets an
    /// independent draw.
    pub fn add(&self, parts: &[u64], stream: &mut Stream) -> Vec<f64> {
        let step = self.unit as i128 / i128::from(PARTS);
        let noisy = |parts: &u64| {
            let exact = i128::from(*parts) * step + self.draw(stream);
            exact as f64 / self.unit
        };
        parts.iter().map(noisy).collect()
    }

    /// Logarithm of the probability that exact counts become `noisy`, up to an additive constant that depends
    /// on neither of them. `parts` has the exact counts, in units of 1/[`PARTS`].
    pub fn log_likelihood(&self, parts: &[u64], noisy: &[f64]) -> f64 {
        let count = |parts: u64| parts as f64 / f64::from(PARTS);
        let squares = parts.iter().zip(noisy).map(|(parts, noisy)| (noisy - count(*parts)).powi(2));
        -squares.sum::<f64>() / (2.0 * self.scale().powi(2))
    }

    /// Privacy profile δ(ε) of the noisy counts of one table of people with at most `records_per_person`
    /// records each.
    pub fn profile(&self, neighbours: Neighbours, records_per_person: u16) -> PrivacyProfile {
        let people = match neighbours {
            Neighbours::AddOrRemoveOne => 1.0,
            Neighbours::ReplaceOne => 2.0,
        };
        let precision = self.distribution.scale().powi(-2);
        let spread = Spread {
            squared_distance: people * precision * self.unit * self.unit,
            distance: people * precision * self.unit,
            differing: people * f64::from(records_per_person) * precision,
        };
        profile(spread, 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GaussianNoise;
    use approx::assert_relative_eq;
    use scumble_core::{Budget, Domain, Randomness};

    /// Replacing a record turns a vertex of a one-hot group into another vertex.
    #[test]
    fn a_table_costs_what_a_group_of_one_record_costs() {
        let groups = Domain::product([Domain::one_hot(5).unwrap(), Domain::one_hot(3).unwrap()]).unwrap();
        let record_noise = GaussianNoise::calibrated(&groups, Budget::new(1.0, 1e-6).unwrap()).unwrap();
        let noise = CountNoise::with_scale(record_noise.scales()[0]).unwrap();
        let table = noise.profile(Neighbours::ReplaceOne, 1);
        assert_relative_eq!(table.with(&table).epsilon(1e-6), 1.0, max_relative = 1e-6);
        // Under add/remove one record μ² is half of its value under replacement.
        let one = noise.profile(Neighbours::AddOrRemoveOne, 1);
        assert_relative_eq!(one.mu() * 2f64.sqrt(), table.mu(), max_relative = 1e-9);
    }

    #[test]
    fn noise_has_its_variance_and_no_count_is_favoured() {
        for scale in [0.3, 7.0, 3e6] {
            let noise = CountNoise::with_scale(scale).unwrap();
            assert!((1.0..1.0 + 1e-6).contains(&(noise.scale() / scale)), "{scale}");
            let mut stream = Randomness::seeded(5).streams().stream(0);
            let counts = vec![1000 * u64::from(PARTS); 20_000];
            let off: Vec<f64> = noise.add(&counts, &mut stream).iter().map(|noisy| noisy - 1000.0).collect();
            // 20,000 draws: five standard errors of the variance are 5 %, false with probability 6·10⁻⁷.
            let variance = off.iter().map(|x| x * x).sum::<f64>() / off.len() as f64;
            assert!((variance / (scale * scale) - 1.0).abs() < 0.05, "{scale}: {variance}");
        }
    }

    #[test]
    fn scales_out_of_range_are_refused() {
        for scale in [0.0, f64::NAN, -1.0, 1e-15, f64::INFINITY] {
            assert!(CountNoise::with_scale(scale).is_err(), "{scale}");
        }
    }
}
