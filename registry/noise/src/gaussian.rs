//! Exact Gaussian noise on a lattice, which consists of all multiples of its step. The step is a power of
//! two.

use crate::Lattice;
use crate::lattice::{IntegerDomain, Spread, WIDEST_IN_BULK, information};
use scumble_accounting::{gaussian, search};
use scumble_core::{
    Budget, DescribedNoise, Distance, Domain, Error, PrivacyProfile, Result, Stream, check_width,
};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Discrete Gaussian noise on a lattice, calibrated to the ℓ₂ diameter of a domain, or with a separate scale
/// for each coordinate.
///
/// A point is rounded to the [`Lattice`], and the domain's bound is enforced again on the integers. The noise
/// of a coordinate is an exact integer k with the distribution ∝ exp(−k²/2σ²), where σ is its scale in
/// lattice steps (Canonne, Kamath and Steinke 2020). The privacy profile δ(ε) is proven for this
/// distribution, not for the continuous one. Let P and Q be the output distributions of two points. In
/// coordinate j the points are Δⱼ lattice steps apart, and the noise has the scale σⱼ in steps. Then
///
/// δ(ε) ≤ e^(Σ 1/8σⱼ²)·δ_μ(ε − Σ |Δⱼ|/2σⱼ²), with μ² = Σ Δⱼ²/σⱼ². Here δ_μ is the privacy profile of
/// continuous Gaussian noise of scale 1 at sensitivity μ (Balle and Wang 2018, Theorem 8). The sums are over
/// the coordinates in which the points differ.
///
/// The factor e^(Σ 1/8σⱼ²) relates P to continuous noise. Take one coordinate with noise of the scale σ. The
/// probability that the noise is the integer k is at most e^(1/8σ²) times the probability that continuous
/// Gaussian noise of this scale is within half a step of k. Three facts show this bound. The normaliser Σᵢ
/// e^(−i²/2σ²) over all integers i is at least σ√2π, by Poisson's summation. The mean of e^(−ku/σ²) over −½ ≤
/// u ≤ ½ is at least 1. For these u, e^(−u²/2σ²) is at least e^(−1/8σ²). The shift Σ |Δⱼ|/2σⱼ² accounts for
/// the privacy loss ln P/Q. In coordinate j, the loss of continuous noise is linear in the output, with slope
/// Δⱼ/σⱼ². If the output moves by at most half a step in each coordinate, the loss changes by at most the
/// shift. The usual lattice has 2³⁰ steps per standard deviation. On this lattice and for a hundred
/// coordinates, factor and shift together cost as much privacy as an increase of μ by a few billionths of μ.
///
/// ```
/// use scumble_core::{Budget, Domain, Randomness};
/// use scumble_noise::GaussianNoise;
///
/// let noise = GaussianNoise::calibrated(&Domain::unit_box(4), Budget::new(1.0, 1e-5)?)?;
/// let mut point = [0.25, 0.75, 0.5, 1.0];
/// noise.add(&mut point, &mut Randomness::from_os()?.streams().stream(0))?;
/// assert!((noise.scales()[0] / (2.0 * 3.7306316348) - 1.0).abs() < 1e-6); // the ℓ₂ diameter is 2
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GaussianNoise {
    points: IntegerDomain,
    distributions: Distributions,
    profile: PrivacyProfile,
}

/// Noise distributions of the coordinates.
#[derive(Debug, Clone)]
enum Distributions {
    /// One distribution for all coordinates.
    One(DiscreteGaussian),
    /// The coordinates may have different distributions. `distinct` has each distribution once, and `indices`
    /// has the index of each coordinate's distribution in `distinct`.
    Each { distinct: Vec<DiscreteGaussian>, indices: Vec<usize> },
}

impl Distributions {
    fn at(&self, coordinate: usize) -> &DiscreteGaussian {
        match self {
            Self::One(distribution) => distribution,
            Self::Each { distinct, indices } => &distinct[indices[coordinate]],
        }
    }
}

impl GaussianNoise {
    /// Noise that gives every record of `domain` local differential privacy with the ε and δ of `budget`. The
    /// lattice is about 2³⁰ times finer than the standard deviation.
    ///
    /// # Errors
    /// [`Error::Budget`] unless ε is finite and δ above zero, or if the noise would need a scale above 2⁵⁹
    /// lattice steps. [`Error::Domain`] if a bound of `domain` is not below 2⁶¹ lattice steps.
    pub fn calibrated(domain: &Domain, budget: Budget) -> Result<Self> {
        let mu = largest_mu(budget)?;
        Self::on_lattice(domain, budget, Lattice::for_noise(domain, domain.l2_diameter() / mu))
    }

    /// Noise on `lattice` that gives every record of `domain` local differential privacy with the ε and δ of
    /// `budget`. A coarse lattice costs accuracy, never privacy.
    ///
    /// # Errors
    /// Same errors as [`calibrated`](Self::calibrated).
    pub fn on_lattice(domain: &Domain, budget: Budget, lattice: Lattice) -> Result<Self> {
        largest_mu(budget)?;
        let points = IntegerDomain::new(domain, lattice)?;
        let profile_at = |sigma: u64| Some(profile(points.spread_alike(precision(sigma))?, domain.dim()));
        let meets = |sigma| {
            profile_at(sigma).is_some_and(|profile| profile.delta(budget.epsilon()) <= budget.delta())
        };
        let sigma = search::least_integer(1, 1 << 59, meets);
        let Some((sigma, profile)) = sigma.and_then(|sigma| Some((sigma, profile_at(sigma)?))) else {
            return Err(Error::Budget {
                name: "epsilon",
                range: "finite, and large enough with its δ for the noise to fit 59 bits on the lattice",
                value: budget.epsilon(),
            });
        };
        Ok(Self { points, distributions: Distributions::One(distribution(sigma)?), profile })
    }

    /// Noise with a separate scale σ for each coordinate. `scales` has one value per coordinate, in the units
    /// of `domain`. Each σ is at least this value, and exceeds it by at most one lattice step. The lattice is
    /// about 2³⁰ times finer than the smallest scale.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there is one scale per coordinate. [`Error::Budget`] for a scale that is not
    /// finite, not above zero, or above 2⁵⁹ lattice steps. [`Error::Domain`] if a bound of `domain` is not
    /// below 2⁶¹ lattice steps.
    pub fn with_scales(domain: &Domain, scales: &[f64]) -> Result<Self> {
        check_width(domain.dim(), scales.len())?;
        let refused = |value: f64| Error::Budget {
            name: "a scale of Gaussian noise",
            range: "finite and above zero, and within 2^28 of the least of them",
            value,
        };
        if let Some(&value) = scales.iter().find(|scale| !(**scale > 0.0 && scale.is_finite())) {
            return Err(refused(value));
        }
        let least = scales.iter().copied().fold(f64::INFINITY, f64::min);
        let lattice = Lattice::for_noise(domain, if scales.is_empty() { 1.0 } else { least });
        let points = IntegerDomain::new(domain, lattice)?;
        let sigmas = scales.iter().map(|&scale| match (scale / lattice.step()).ceil() {
            sigma if sigma <= (1u64 << 59) as f64 => Ok(sigma as u64),
            _ => Err(refused(scale)),
        });
        let sigmas: Vec<u64> = sigmas.collect::<Result<_>>()?;
        let precisions: Vec<f64> = sigmas.iter().copied().map(precision).collect();
        let profile = profile(points.spread(&precisions).ok_or_else(|| refused(least))?, sigmas.len());
        let mut distinct = sigmas.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let indices = sigmas.iter().map(|sigma| distinct.partition_point(|other| other < sigma)).collect();
        let distinct = distinct.into_iter().map(distribution).collect::<Result<_>>()?;
        Ok(Self { points, distributions: Distributions::Each { distinct, indices }, profile })
    }

    /// Rounds `point` to the lattice within the domain, and adds an independent draw of noise to each
    /// coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] if the width of the point differs from the width of the domain. [`Error::NonFinite`]
    /// for a NaN or an infinity.
    pub fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let mut coordinates = 0..self.points.dim();
        self.points.add(point, || coordinates.next().map_or(0, |at| self.distributions.at(at).sample(stream)))
    }

    /// Adds noise to points, one after the other, with the same draws as [`add`](Self::add). The draws are
    /// made in bulk if all coordinates have the same distribution. Draw nothing else from `stream`
    /// afterwards, because bulk draws may consume more of it than they use.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub fn add_to_all<'p>(
        &self,
        mut points: impl Iterator<Item = &'p mut [f64]>,
        stream: &mut Stream,
    ) -> Result<()> {
        match &self.distributions {
            Distributions::One(distribution) if distribution.scale() <= WIDEST_IN_BULK => {
                let mut draws = distribution.draws(stream);
                self.points.add_to_all(points, |noise| draws.fill(noise))
            }
            _ => points.try_for_each(|point| self.add(point, stream)),
        }
    }

    /// Logarithm of the probability that `point` becomes `released`, up to an additive constant that depends
    /// on neither of them. Both have one value per coordinate of the domain.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Result<f64> {
        let distances = self.points.displacement(point, released)?;
        let squares = distances
            .iter()
            .enumerate()
            .map(|(at, steps)| (steps / self.distributions.at(at).scale()).powi(2));
        Ok(-squares.sum::<f64>() / 2.0)
    }

    /// Privacy profile δ(ε) of this noise.
    pub fn profile(&self) -> PrivacyProfile {
        self.profile
    }

    /// Description of the noise that [`add`](Self::add) adds to a point. The first coordinate of the domain
    /// has the number `start` in the description.
    pub fn described(&self, start: usize) -> DescribedNoise {
        let (dim, step) = (self.points.dim(), self.lattice().step());
        let least = (0..dim).map(|at| self.distributions.at(at).variance()).fold(f64::INFINITY, f64::min);
        DescribedNoise {
            coordinates: start..start + dim,
            distance: Distance::L2,
            scales: self.scales(),
            sensitivity: self.profile.mu(),
            variances: self.variances(),
            kurtosis: 3.0 + 1.0 / least, // the continuous distribution has 3
            steps: vec![step; dim],
        }
    }

    /// Lattice of the noise.
    pub fn lattice(&self) -> Lattice {
        self.points.lattice()
    }

    /// Scale σ of each coordinate's noise, in the units of the domain. The noise x has a probability
    /// proportional to exp(−x²/2σ²).
    pub fn scales(&self) -> Vec<f64> {
        self.map_coordinates(|distribution| distribution.scale() * self.lattice().step())
    }

    /// Variance of each coordinate's noise, in squared units of the domain. It is about σ² for noise of the
    /// scale σ.
    pub fn variances(&self) -> Vec<f64> {
        self.map_coordinates(|distribution| distribution.variance() * self.lattice().step().powi(2))
    }

    /// Information of each released coordinate about the true coordinate, in inverse squared units of the
    /// domain, rounded up. No unbiased estimate of a true coordinate has a variance below the inverse of its
    /// information (Hammersley 1950; Chapman and Robbins 1951). For noise of the scale σ on a lattice of step
    /// s, the inverse is s²/(e^(s²/σ²) − 1). It tends to σ² as the lattice becomes finer.
    ///
    /// The information is the χ² divergence of the output distributions of two neighbouring lattice points,
    /// divided by their squared distance. Let P and Q be the output distributions of the neighbouring points
    /// 0 and 1 (in steps), and let σ be the scale of the noise in steps. Then Q/P at the integer k is e^((2k
    /// − 1)/2σ²). Its mean square under P is e^(1/σ²), because the sum over all integers k of e^(−(k −
    /// 2)²/2σ²) equals the sum of e^(−k²/2σ²). It follows that χ² = e^(1/σ²) − 1. The noise of different
    /// coordinates is independent. The covariance matrix of an unbiased estimate is therefore at least, in
    /// the Loewner order, the diagonal matrix of these inverses.
    pub fn information(&self) -> Vec<f64> {
        let step = self.lattice().step();
        self.map_coordinates(|distribution| information(distribution.scale().powi(-2).exp_m1(), step))
    }

    fn map_coordinates(&self, statistic: impl Fn(&DiscreteGaussian) -> f64) -> Vec<f64> {
        (0..self.points.dim()).map(|at| statistic(self.distributions.at(at))).collect()
    }
}

fn distribution(sigma: u64) -> Result<DiscreteGaussian> {
    Ok(DiscreteGaussian::new(Rational::new(sigma, 1)?)?)
}

/// Largest μ for which μ-Gaussian differential privacy implies the ε and δ of `budget`.
///
/// # Errors
/// [`Error::Budget`] unless ε is finite and δ above zero.
fn largest_mu(budget: Budget) -> Result<f64> {
    let (epsilon, delta) = (budget.epsilon(), budget.delta());
    let refused = if epsilon.is_finite() {
        Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta }
    } else {
        Error::Budget { name: "epsilon", range: "finite for Gaussian noise", value: epsilon }
    };
    gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)
}

/// Weight 1/σ² of a coordinate in a [`Spread`], which bounds weighted distances between points. Here σ is
/// `sigma`, the scale of the coordinate's noise in lattice steps.
fn precision(sigma: u64) -> f64 {
    (sigma as f64).powi(-2)
}

/// Upper bound on the privacy profile δ(ε) of noise on `dim` coordinates. The [`Spread`] bounds the weighted
/// distances between any two points. A coordinate has the weight 1/σ², where σ is the scale of its noise in
/// lattice steps. The bound is stated in the documentation of [`GaussianNoise`]. Its sums are rounded up.
pub(crate) fn profile(
    Spread { squared_distance, distance, differing }: Spread,
    dim: usize,
) -> PrivacyProfile {
    // A sum of `dim` positive terms has at most `dim` rounding errors.
    let up = 1.0 + 1e-12 + 4.0 * f64::EPSILON * dim as f64;
    let distance = distance.min((squared_distance * differing).sqrt());
    PrivacyProfile::gaussian(squared_distance.sqrt() * up, distance / 2.0 * up, differing / 8.0 * up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;
    use scumble_core::Randomness;

    fn budget(epsilon: f64, delta: f64) -> Budget {
        Budget::new(epsilon, delta).unwrap()
    }

    #[test]
    fn on_a_fine_lattice_it_is_the_analytic_gaussian_mechanism() {
        for (epsilon, delta, sigma) in
            [(0.5, 1e-5, 7.031826675582517), (1.0, 1e-5, 3.7306316348159463), (1.0, 1e-9, 5.495266157238276)]
        {
            let noise = GaussianNoise::calibrated(&Domain::unit_box(9), budget(epsilon, delta)).unwrap();
            let ratio = noise.scales()[0] / (3.0 * sigma);
            assert!((1.0..1.0 + 1e-7).contains(&ratio), "({epsilon}, {delta}): {ratio}");
        }
    }

    /// δ(ε) of discrete noise on one coordinate, summed over all integers (Canonne, Kamath and Steinke 2020,
    /// Theorem 7).
    fn exact_delta(sigma: f64, sensitivity: i64, epsilon: f64) -> f64 {
        let reach = (40.0 * sigma) as i64 + sensitivity;
        let weight = |k: i64| (-0.5 * (k as f64 / sigma).powi(2)).exp();
        let total: f64 = (-reach..=reach).map(weight).sum();
        let excess = (-reach..=reach).map(|k| (weight(k) - epsilon.exp() * weight(k - sensitivity)).max(0.0));
        excess.sum::<f64>() / total
    }

    /// Privacy: on any lattice, however coarse, the claimed δ is no less than that of the added integers.
    #[test]
    fn the_claimed_profile_is_no_less_than_the_exact_one() {
        let domain = Domain::interval(0.0, 1.0).unwrap();
        for exponent in [0, -1, -2, -4, -8] {
            let lattice = Lattice::new(exponent).unwrap();
            for (epsilon, delta) in [(0.3, 1e-3), (1.0, 1e-5), (4.0, 1e-7), (12.0, 1e-2)] {
                let noise = GaussianNoise::on_lattice(&domain, budget(epsilon, delta), lattice).unwrap();
                for at in [0.0, 0.5 * epsilon, epsilon, 1.5 * epsilon] {
                    let exact = exact_delta(noise.distributions.at(0).scale(), 1 << -exponent, at);
                    let claimed = noise.profile().delta(at);
                    assert!(
                        exact <= claimed,
                        "step 2^{exponent}: δ({at}) is {exact}, and {claimed} is claimed"
                    );
                }
                let exact = exact_delta(noise.distributions.at(0).scale(), 1 << -exponent, epsilon);
                assert!(
                    exact <= delta,
                    "step 2^{exponent}: δ({epsilon}) is {exact}, beyond the budget of {delta}"
                );
                if exponent == -8 {
                    assert!(exact > 0.7 * delta, "δ({epsilon}) is {exact} of {delta}: too much noise");
                }
            }
        }
    }

    /// The same property in two coordinates, where discrete noise is not round.
    #[test]
    fn the_claimed_profile_holds_in_two_coordinates() {
        let domain = Domain::unit_box(2);
        for exponent in [0, -1, -2] {
            let lattice = Lattice::new(exponent).unwrap();
            let noise = GaussianNoise::on_lattice(&domain, budget(1.0, 1e-4), lattice).unwrap();
            let (sigma, one) = (noise.distributions.at(0).scale(), 1i64 << -exponent);
            let reach = (12.0 * sigma) as i64;
            let weight = |k: i64| (-0.5 * (k as f64 / sigma).powi(2)).exp();
            let total: f64 = (-reach..=reach).map(weight).sum();
            let mut exact = 0.0;
            for (i, j) in (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j))) {
                exact += (weight(i) * weight(j) - 1f64.exp() * weight(i - one) * weight(j - one)).max(0.0);
            }
            exact /= total * total;
            assert!(exact <= 1e-4, "step 2^{exponent}: δ(1) is {exact}");
        }
    }

    /// The same property if the coordinates have different scales.
    #[test]
    fn the_claimed_profile_holds_for_unequal_scales() {
        let domain = Domain::unit_box(2);
        for scales in [[0.7, 0.7], [0.3, 2.0], [1.5, 0.4]] {
            let noise = GaussianNoise::with_scales(&domain, &scales).unwrap();
            let mu = scales.iter().map(|scale| scale.powi(-2)).sum::<f64>().sqrt();
            for epsilon in [0.1, 1.0, 3.0] {
                let continuous = scumble_accounting::gaussian::delta(mu, epsilon);
                let claimed = noise.profile().delta(epsilon);
                assert!((1.0..1.0 + 1e-6).contains(&(claimed / continuous)), "{scales:?}: {claimed}");
            }
            for (got, scale) in noise.scales().iter().zip(scales) {
                assert!((1.0..1.0 + 1e-8).contains(&(got / scale)), "{got} for {scale}");
            }
        }
    }

    #[test]
    fn a_group_counts_its_two_least_scales() {
        let noise = GaussianNoise::with_scales(&Domain::one_hot(3).unwrap(), &[0.5, 3.0, 1.0]).unwrap();
        let closed = scumble_accounting::gaussian::delta((4.0 + 1.0_f64).sqrt(), 1.0);
        assert_relative_eq!(noise.profile().delta(1.0), closed, max_relative = 1e-6);
    }

    #[test]
    fn each_coordinate_is_drawn_with_its_own_scale() {
        const DRAWS: usize = 20_000;
        let scales = [0.25, 4.0, 1.0];
        let noise = GaussianNoise::with_scales(&Domain::unit_box(3), &scales).unwrap();
        let mut stream = Randomness::seeded(5).streams().stream(0);
        let mut squares = [0.0; 3];
        for _ in 0..DRAWS {
            let mut point = [0.5; 3];
            noise.add(&mut point, &mut stream).unwrap();
            squares.iter_mut().zip(point).for_each(|(sum, x)| *sum += (x - 0.5_f64).powi(2));
        }
        for ((sum, variance), scale) in squares.iter().zip(noise.variances()).zip(scales) {
            assert_relative_eq!(variance, scale * scale, max_relative = 1e-6);
            // A mean of n squares has a relative standard error of √(2/n) = 0.01.
            let ratio = sum / DRAWS as f64 / variance;
            assert!((ratio - 1.0).abs() < 0.05, "{ratio} for {scale}");
        }
    }

    /// Compares with the bound of Hammersley, Chapman and Robbins, summed over all integers.
    #[test]
    fn the_information_is_the_divergence_of_neighbours() {
        for sigma in [0.5, 1.0, 3.0, 20.0] {
            let noise = GaussianNoise {
                points: IntegerDomain::new(&Domain::unit_box(1), Lattice::new(-3).unwrap()).unwrap(),
                distributions: Distributions::One(
                    DiscreteGaussian::new(Rational::new((2.0 * sigma) as u64, 2).unwrap()).unwrap(),
                ),
                profile: PrivacyProfile::pure(1.0),
            };
            let weight = |k: i64| (-0.5 * (k as f64 / sigma).powi(2)).exp();
            let reach = (40.0 * sigma) as i64 + 2;
            let total: f64 = (-reach..=reach).map(weight).sum();
            let mean_square: f64 =
                (1 - reach..=reach).map(|k| weight(k - 1).powi(2) / weight(k).max(f64::MIN_POSITIVE)).sum();
            let exact = (mean_square / total - 1.0) * 64.0;
            assert!((noise.information()[0] / exact - 1.0).abs() < 1e-6, "σ = {sigma}: {exact}");
        }
        // On a fine lattice the information is 1/σ².
        let fine = GaussianNoise::with_scales(&Domain::unit_box(1), &[3.0]).unwrap().information()[0];
        assert!((9.0 * fine - 1.0).abs() < 1e-8 && fine * 9.0 > 1.0 - 1e-8, "{fine}");
    }

    #[test]
    fn scales_that_are_none_or_too_unlike_are_refused() {
        let domain = Domain::unit_box(2);
        for scales in [[0.0, 1.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0], [1e-3, 1e15]] {
            let refused = GaussianNoise::with_scales(&domain, &scales);
            assert!(matches!(refused, Err(Error::Budget { .. })), "{scales:?}: {refused:?}");
        }
        assert!(GaussianNoise::with_scales(&domain, &[1.0]).is_err());
    }

    #[test]
    fn a_budget_without_delta_or_noise_that_does_not_fit_is_refused() {
        let domain = Domain::unit_box(1);
        for (epsilon, delta) in [(1.0, 0.0), (f64::INFINITY, 1e-5), (1e-300, 1e-300)] {
            let refused = GaussianNoise::calibrated(&domain, budget(epsilon, delta));
            assert!(matches!(refused, Err(Error::Budget { .. })), "({epsilon}, {delta}): {refused:?}");
        }
    }

    proptest! {
        #[test]
        fn every_output_lies_on_one_lattice(x in -1e3..1e3_f64, seed in 0u64..1000) {
            let noise = GaussianNoise::calibrated(&Domain::unit_box(1), budget(1.0, 1e-6)).unwrap();
            let mut point = [x];
            noise.add(&mut point, &mut Randomness::seeded(seed).streams().stream(0)).unwrap();
            let units = point[0] / noise.lattice().step();
            prop_assert_eq!(units, units.round());
        }
    }
}
