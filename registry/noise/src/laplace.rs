//! Exact Laplace noise on a lattice, which consists of all multiples of its step. The step is a power of two.

use crate::Lattice;
use crate::lattice::{IntegerDomain, WIDEST_IN_BULK, information};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use scumble_core::{DescribedNoise, Distance, Domain, Error, Result, Stream, check_epsilon};
use scumble_sampling::{DiscreteLaplace, Rational};

/// Discrete Laplace noise on a lattice, calibrated to the ℓ₁ diameter of a domain.
///
/// A point is rounded to the [`Lattice`], and the domain's bound is enforced again on the integers. The
/// sensitivity is therefore computed on integers, and no float error affects the privacy claim. The noise is
/// an exact integer number of steps. The final conversion to `f64` is post-processing. Let Δ₁ ≥ 1 be an upper
/// bound on the ℓ₁ distance of two rounded points in lattice steps. Let t = ⌈Δ₁/ε⌉ be the scale of the noise
/// in steps. The output distributions of any two points differ by a factor of at most e^(Δ₁/t) ≤ e^ε (Dwork,
/// McSherry, Nissim and Smith 2006; on integers: Ghosh, Roughgarden and Sundararajan 2009).
///
/// ```
/// use scumble_core::{Domain, Randomness};
/// use scumble_noise::LaplaceNoise;
///
/// let noise = LaplaceNoise::calibrated(&Domain::unit_box(2), 1.0)?;
/// let mut point = [0.25, 0.75];
/// noise.add(&mut point, &mut Randomness::from_os()?.streams().stream(0))?;
/// assert_eq!(noise.scale().round(), 2.0); // the ℓ₁ diameter is 2
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LaplaceNoise {
    points: IntegerDomain,
    distribution: DiscreteLaplace,
}

impl LaplaceNoise {
    /// Noise that gives every record of `domain` local differential privacy with `epsilon`. The lattice is
    /// about 2³⁰ times finer than the scale of the noise.
    ///
    /// # Errors
    /// [`Error::Budget`] unless 0 < ε < ∞, and for an ε so small that the scale would exceed 2⁵⁹ lattice
    /// steps. [`Error::Domain`] if a bound of `domain` is not below 2⁶¹ lattice steps.
    pub fn calibrated(domain: &Domain, epsilon: f64) -> Result<Self> {
        Self::on_lattice(domain, epsilon, Lattice::for_noise(domain, domain.l1_diameter() / epsilon))
    }

    /// Noise on `lattice` that gives every record of `domain` local differential privacy with `epsilon`. A
    /// coarse lattice costs accuracy, never privacy.
    ///
    /// # Errors
    /// Same errors as [`calibrated`](Self::calibrated).
    pub fn on_lattice(domain: &Domain, epsilon: f64, lattice: Lattice) -> Result<Self> {
        check_epsilon(epsilon)?;
        let points = IntegerDomain::new(domain, lattice)?;
        let scale = u64::try_from(points.l1_diameter())
            .ok()
            .and_then(|delta| quotient_up(delta.max(1), epsilon))
            .filter(|&t| t <= 1 << 59)
            .ok_or(Error::Budget {
                name: "epsilon",
                range: "finite, and large enough for the noise to fit 59 bits on the lattice",
                value: epsilon,
            })?;
        Ok(Self { points, distribution: DiscreteLaplace::new(Rational::new(scale, 1)?)? })
    }

    /// Rounds `point` to the lattice within the domain, and adds an independent draw of noise to each
    /// coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width of the point differs from the width of the domain. [`Error::NonFinite`]
    /// for a NaN or an infinity.
    pub fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.points.add(point, || self.distribution.sample(stream))
    }

    /// Adds noise to points, one after the other. The draws equal the draws of [`add`](Self::add), but are
    /// made in bulk. Draw nothing else from `stream` afterwards, because bulk draws may consume more of it
    /// than they use.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub fn add_to_all<'p>(
        &self,
        points: impl Iterator<Item = &'p mut [f64]>,
        stream: &mut Stream,
    ) -> Result<()> {
        if self.distribution.scale() > WIDEST_IN_BULK {
            return points.into_iter().try_for_each(|point| self.add(point, stream));
        }
        let mut draws = self.distribution.draws(stream);
        self.points.add_to_all(points, |noise| draws.fill(noise))
    }

    /// Logarithm of the probability that `point` becomes `released`, up to an additive constant that depends
    /// on neither of them. Both have one value per coordinate of the domain.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Result<f64> {
        let distances = self.points.displacement(point, released)?;
        Ok(-distances.iter().map(|steps| steps.abs()).sum::<f64>() / self.distribution.scale())
    }

    /// Description of the noise that [`add`](Self::add) adds to a point. The first coordinate of the domain
    /// has the number `start` in the description.
    pub fn described(&self, start: usize) -> DescribedNoise {
        let (dim, step) = (self.points.dim(), self.lattice().step());
        DescribedNoise {
            coordinates: start..start + dim,
            distance: Distance::L1,
            scales: vec![self.scale(); dim],
            sensitivity: self.points.l1_diameter() as f64 / self.distribution.scale(),
            variances: vec![self.variance(); dim],
            kurtosis: 6.0 + 1.0 / self.distribution.variance(), // the continuous distribution has 6
            steps: vec![step; dim],
        }
    }

    /// Lattice of the noise.
    pub fn lattice(&self) -> Lattice {
        self.points.lattice()
    }

    /// Scale b of the noise in the units of the domain. The noise x has a probability proportional to
    /// exp(−|x|/b).
    pub fn scale(&self) -> f64 {
        self.distribution.scale() * self.lattice().step()
    }

    /// Information of a released coordinate about the true coordinate, in inverse squared units of the
    /// domain, rounded up. No unbiased estimate of the true coordinate has a variance below the inverse of
    /// the information (Hammersley 1950; Chapman and Robbins 1951). Except for the effect of the lattice,
    /// noise of the scale b has the information 1/b². The inverse, b², is half of the noise's variance.
    ///
    /// The information is the χ² divergence of the output distributions of two neighbouring lattice points,
    /// divided by their squared distance. Let r = e^(−1/t) for noise with a scale of t lattice steps. The
    /// ratio of the two distributions is r on one side of the two points and 1/r on the other side. It
    /// follows that χ² = (1 − r)²/r = 4 sinh²(1/(2t)).
    pub fn information(&self) -> f64 {
        information(4.0 * (0.5 / self.distribution.scale()).sinh().powi(2), self.lattice().step())
    }

    /// Variance of the noise in squared units of the domain, about 2b² for noise of the scale b.
    pub fn variance(&self) -> f64 {
        self.distribution.variance() * self.lattice().step().powi(2)
    }
}

/// ⌈`numerator`/`epsilon`⌉, exactly; `None` if it does not fit 64 bits.
fn quotient_up(numerator: u64, epsilon: f64) -> Option<u64> {
    (BigRational::from(BigInt::from(numerator)) / BigRational::from_float(epsilon)?)
        .ceil()
        .to_integer()
        .to_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use proptest::prelude::*;
    use scumble_core::Randomness;

    /// Compares with the bound of Hammersley, Chapman and Robbins, summed over all integers.
    #[test]
    fn the_information_is_the_divergence_of_neighbours() {
        for epsilon in [0.25, 1.0, 4.0] {
            let noise =
                LaplaceNoise::on_lattice(&Domain::unit_box(1), epsilon, Lattice::new(-2).unwrap()).unwrap();
            let t = noise.distribution.scale();
            let weight = |k: i64| (-(k as f64).abs() / t).exp();
            let reach = (30.0 * t) as i64;
            let total: f64 = (-reach..=reach).map(weight).sum();
            let mean_square: f64 = (-reach..=reach).map(|k| weight(k - 1).powi(2) / weight(k)).sum();
            let exact = (mean_square / total - 1.0) * 16.0;
            assert!((noise.information() / exact - 1.0).abs() < 1e-6, "t = {t}: {exact}");
            assert_abs_diff_eq!(noise.information() * noise.variance() / 2.0, 1.0, epsilon = 1e-9);
        }
    }

    #[test]
    fn laplace_scale_is_sensitivity_over_epsilon() {
        for epsilon in [0.01, 0.5, 1.0, 8.0, 1e4] {
            let noise = LaplaceNoise::calibrated(&Domain::unit_box(12), epsilon).unwrap();
            let ratio = noise.scale() * epsilon / 12.0;
            assert!((1.0..1.0 + 1e-8).contains(&ratio), "ε = {epsilon}: {ratio}");
            let variance = noise.variance() / (2.0 * (12.0 / epsilon).powi(2));
            assert!((variance - 1.0).abs() < 1e-8, "ε = {epsilon}: {variance}");
        }
    }

    #[test]
    fn an_epsilon_without_a_scale_is_refused() {
        for epsilon in [0.0, f64::NAN, f64::INFINITY, 1e-300] {
            let refused = LaplaceNoise::calibrated(&Domain::unit_box(1), epsilon);
            assert!(refused.is_err(), "ε = {epsilon} was accepted");
        }
    }

    #[test]
    fn a_column_that_cannot_vary_needs_no_noise_to_speak_of() {
        let noise = LaplaceNoise::calibrated(&Domain::interval(0.5, 0.5).unwrap(), 1.0).unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let mut point = [0.5];
        noise.add(&mut point, &mut stream).unwrap();
        assert_abs_diff_eq!(point[0], 0.5, epsilon = 1e-3);
    }

    #[test]
    fn a_point_of_another_width_or_without_numbers_is_an_error() {
        let noise = LaplaceNoise::calibrated(&Domain::unit_box(2), 1.0).unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        assert!(noise.add(&mut [0.5], &mut stream).is_err());
        for bad in [f64::NAN, f64::INFINITY] {
            let refused = noise.add(&mut [0.5, bad], &mut stream);
            assert!(matches!(refused, Err(Error::NonFinite { .. })), "{bad} became noise");
        }
    }

    proptest! {
        #[test]
        fn every_output_lies_on_one_lattice(x in 0.0..1.0_f64, seed in 0u64..1000) {
            let noise = LaplaceNoise::calibrated(&Domain::unit_box(1), 1.0).unwrap();
            let mut point = [x];
            noise.add(&mut point, &mut Randomness::seeded(seed).streams().stream(0)).unwrap();
            let units = point[0] / noise.lattice().step();
            prop_assert_eq!(units, units.round());
        }

        #[test]
        fn a_quotient_is_rounded_up(numerator in 1u64..1 << 50, epsilon in 1e-3..100.0_f64) {
            let quotient = quotient_up(numerator, epsilon).unwrap();
            let (q, e, n) = (
                BigInt::from(quotient),
                BigRational::from_float(epsilon).unwrap(),
                BigRational::from(BigInt::from(numerator)),
            );
            prop_assert!(e.clone() * q.clone() >= n && e * (q - 1) < n);
        }
    }
}
