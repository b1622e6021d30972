//! Exact noise on a lattice.

use crate::budget::quotient_up;
use crate::domain::{check_finite, check_width, largest};
use crate::{Domain, Error, Factor, Result, Stream, budget};
use scumble_sampling::{DiscreteLaplace, Rational};

/// All multiples of a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    exponent: i32,
}

impl Lattice {
    /// The multiples of 2^`exponent`.
    ///
    /// # Errors
    /// [`Error::Domain`] unless −1000 ≤ exponent ≤ 0: one-hot coordinates are whole multiples of the step.
    pub fn new(exponent: i32) -> Result<Self> {
        if (-1000..=0).contains(&exponent) {
            return Ok(Self { exponent });
        }
        Err(Error::Domain { needs: "a lattice step between 2^-1000 and 1", given: format!("2^{exponent}") })
    }

    /// The distance of two neighbours.
    pub fn step(self) -> f64 {
        2f64.powi(self.exponent)
    }

    /// `x`/step, exactly (both are floats and the step is a power of two).
    fn units(self, x: f64) -> f64 {
        x / self.step()
    }

    /// The lattice points of `factor` that a record may round to, as bounds on integers.
    fn integer_bounds(self, factor: &Factor) -> Result<IntegerBounds> {
        let whole = |units: f64| {
            if units.abs() < (1i64 << 61) as f64 {
                Ok(units as i64)
            } else {
                Err(Error::Domain {
                    needs: "bounds that fit 61 bits on the lattice",
                    given: format!("{factor:?} with the step {:e}", self.step()),
                })
            }
        };
        Ok(match *factor {
            Factor::Interval { lower, upper } => {
                let (lower, upper) = (whole(self.units(lower).ceil())?, whole(self.units(upper).floor())?);
                // An interval between two lattice points keeps the lower one.
                IntegerBounds::Interval(lower.min(upper), upper)
            }
            Factor::OneHot { .. } => IntegerBounds::OneHot(whole(self.units(1.0))?),
            Factor::L1Ball { radius, .. } => IntegerBounds::L1Ball(whole(self.units(radius).floor())? as u64),
            Factor::L2Ball { dim, radius } => {
                IntegerBounds::L2Ball(dim, whole(self.units(radius).floor())? as u64)
            }
        })
    }
}

/// One factor of a domain, on the integers.
#[derive(Debug, Clone, Copy)]
enum IntegerBounds {
    Interval(i64, i64),
    OneHot(i64),
    L1Ball(u64),
    L2Ball(usize, u64),
}

impl IntegerBounds {
    /// max ‖k − k′‖₁ over the integer points that [`round`](Self::round) can give.
    fn l1_diameter(self) -> u128 {
        match self {
            Self::Interval(lower, upper) => upper.abs_diff(lower).into(),
            Self::OneHot(one) => 2 * one.unsigned_abs() as u128,
            Self::L1Ball(radius) => 2 * u128::from(radius),
            Self::L2Ball(dim, radius) => {
                // ‖·‖₁ ≤ √dim·‖·‖₂, with √dim rounded up at its 20th binary digit.
                let root = ((dim as u128) << 40).isqrt() + 1;
                ((2 * u128::from(radius) * root) >> 20) + 1
            }
        }
    }

    /// Rounds to integers that obey the bounds whatever the floats say: the bound is enforced on the integers.
    fn round(self, units: &[f64], rounded: &mut Vec<i64>) {
        match self {
            Self::Interval(lower, upper) => {
                rounded.push((units[0].round() as i64).clamp(lower, upper));
            }
            Self::OneHot(one) => {
                let level = largest(units);
                rounded.extend((0..units.len()).map(|at| if at == level { one } else { 0 }));
            }
            Self::L1Ball(radius) => {
                let mut left = radius;
                for x in units {
                    // Toward zero, and never more than what is left of the radius.
                    let k = (*x as i64).unsigned_abs().min(left);
                    left -= k;
                    rounded.push(if *x < 0.0 { -(k as i64) } else { k as i64 });
                }
            }
            Self::L2Ball(_, radius) => {
                let mut left = u128::from(radius) * u128::from(radius);
                for x in units {
                    let k = u128::from((*x as i64).unsigned_abs()).min(left.isqrt());
                    left -= k * k;
                    rounded.push(if *x < 0.0 { -(k as i64) } else { k as i64 });
                }
            }
        }
    }
}

/// Discrete Laplace noise on a lattice, calibrated to the ℓ₁ diameter of a domain.
///
/// A point is rounded to the lattice and the domain's bound enforced again on the integers, so that the sensitivity is
/// a statement about integers and no float error stands behind the claim. The noise is an exact integer; the final
/// conversion to `f64` is post-processing. With t = ⌈Δ₁/ε⌉ lattice steps, any two points of the domain differ in
/// their output law by at most e^(Δ₁/t) ≤ e^ε (Dwork, McSherry, Nissim and Smith 2006; on integers: Ghosh,
/// Roughgarden and Sundararajan 2009).
///
/// ```
/// use scumble_registry::{Domain, LaplaceNoise, Randomness};
///
/// let noise = LaplaceNoise::calibrated(&Domain::unit_box(2), 1.0)?;
/// let mut point = [0.25, 0.75];
/// noise.add(&mut point, &mut Randomness::from_os()?.streams().stream(0))?;
/// assert_eq!(noise.scale().round(), 2.0); // the ℓ₁ diameter is 2
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LaplaceNoise {
    lattice: Lattice,
    bounds: Vec<(std::ops::Range<usize>, IntegerBounds)>,
    law: DiscreteLaplace,
}

impl LaplaceNoise {
    /// The noise that gives every record of `domain` this ε, on a lattice some 2³⁰ times finer than its scale.
    ///
    /// # Errors
    /// [`Error::Budget`] unless 0 < ε < ∞, or where ε is so small that the noise does not fit 62 bits; [`Error::Domain`]
    /// for bounds that do not fit 61.
    pub fn calibrated(domain: &Domain, epsilon: f64) -> Result<Self> {
        let scale = domain.l1_diameter() / epsilon;
        let narrowest = domain
            .factors()
            .map(|(_, factor)| factor.l1_diameter())
            .filter(|&width| width > 0.0)
            .fold(1.0, f64::min);
        let widest =
            domain.factors().map(|(_, factor)| factor.l1_diameter().max(factor.largest_magnitude())).sum();
        let exponent = (binary_exponent(scale) - 30)
            .min(binary_exponent(narrowest) - 20)
            .max(binary_exponent(widest) - 59) // where ε is so large that integers would not fit 61 bits
            .clamp(-1000, 0);
        Self::on_lattice(domain, epsilon, Lattice { exponent })
    }

    /// The noise that gives every record of `domain` this ε on a given lattice. A coarse one costs accuracy, never
    /// privacy.
    ///
    /// # Errors
    /// As [`calibrated`](Self::calibrated).
    pub fn on_lattice(domain: &Domain, epsilon: f64, lattice: Lattice) -> Result<Self> {
        budget::check_epsilon(epsilon)?;
        let bounds = domain
            .factors()
            .map(|(at, factor)| Ok((at, lattice.integer_bounds(factor)?)))
            .collect::<Result<Vec<_>>>()?;
        let sensitivity: u128 = bounds.iter().map(|(_, b)| b.l1_diameter()).sum();
        let scale = u64::try_from(sensitivity)
            .ok()
            .and_then(|delta| quotient_up(delta.max(1), epsilon))
            .filter(|&t| t <= 1 << 62)
            .ok_or(Error::Budget {
                name: "epsilon",
                range: "finite, and large enough for the noise to fit 62 bits on the lattice",
                value: epsilon,
            })?;
        Ok(Self { lattice, bounds, law: DiscreteLaplace::new(Rational::new(scale, 1)?)? })
    }

    /// Rounds `point` (d values) to the lattice within the domain, and adds one draw to each coordinate.
    ///
    /// # Errors
    /// [`Error::Shape`] for a point of another width, [`Error::NonFinite`] for a NaN or an infinity.
    pub fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let rounded = self.round(point)?;
        for (x, k) in point.iter_mut().zip(rounded) {
            *x = (i128::from(k) + self.law.sample(stream)) as f64 * self.lattice.step();
        }
        Ok(())
    }

    fn round(&self, point: &[f64]) -> Result<Vec<i64>> {
        check_width(self.bounds.last().map_or(0, |(at, _)| at.end), point.len())?;
        check_finite(point)?;
        let units: Vec<f64> = point.iter().map(|&x| self.lattice.units(x)).collect();
        let mut rounded = Vec::with_capacity(point.len());
        for (at, bounds) in &self.bounds {
            bounds.round(&units[at.clone()], &mut rounded);
        }
        Ok(rounded)
    }

    /// The lattice.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// The scale b of the noise in the units of the domain: the law is ∝ exp(−|x|/b).
    pub fn scale(&self) -> f64 {
        self.law.scale() * self.lattice.step()
    }

    /// The variance of the noise in squared units of the domain, about 2b².
    pub fn variance(&self) -> f64 {
        self.law.variance() * self.lattice.step().powi(2)
    }
}

/// ⌊log₂ x⌋ of a positive float, −1000 for zero.
fn binary_exponent(x: f64) -> i32 {
    (x.log2().floor() as i32).clamp(-1000, 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;
    use proptest::prelude::*;

    fn everything() -> Domain {
        Domain::product([
            Domain::interval(-0.7, 1.3).unwrap(),
            Domain::one_hot(3).unwrap(),
            Domain::l1_ball(4, 1.5).unwrap(),
            Domain::l2_ball(3, 0.3).unwrap(),
        ])
        .unwrap()
    }

    fn integer_diameter(noise: &LaplaceNoise) -> u128 {
        noise.bounds.iter().map(|(_, b)| b.l1_diameter()).sum()
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
        assert!((point[0] - 0.5).abs() < 1e-3, "{point:?}");
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
        /// Privacy: no two inputs, however wild, round to integers further apart than the noise was calibrated for.
        #[test]
        fn integers_never_lie_further_apart_than_the_sensitivity(
            one in prop::collection::vec(prop_oneof![-2.0..2.0_f64, -1e12..1e12_f64], 11),
            two in prop::collection::vec(prop_oneof![-2.0..2.0_f64, -1e12..1e12_f64], 11),
            exponent in -24..=-1_i32,
        ) {
            let lattice = Lattice::new(exponent).unwrap();
            let noise = LaplaceNoise::on_lattice(&everything(), 1.0, lattice).unwrap();
            let (a, b) = (noise.round(&one).unwrap(), noise.round(&two).unwrap());
            let distance: u128 = a.iter().zip(&b).map(|(x, y)| u128::from(x.abs_diff(*y))).sum();
            prop_assert!(distance <= integer_diameter(&noise), "{a:?} and {b:?}");
            prop_assert!(integer_diameter(&noise) as f64 <= noise.law.scale() * 1.0);
        }

        /// Accuracy: a point of the domain moves by less than two lattice steps a coordinate before noise.
        #[test]
        fn rounding_moves_a_point_of_the_domain_by_little(
            point in prop::collection::vec(-2.0..2.0_f64, 11)
        ) {
            let domain = everything();
            let mut point = point;
            domain.project(&mut point).unwrap();
            let noise = LaplaceNoise::calibrated(&domain, 1.0).unwrap();
            for (x, k) in point.iter().zip(noise.round(&point).unwrap()) {
                prop_assert!((x - k as f64 * noise.lattice().step()).abs() < 1e-4, "{x} became {k}");
            }
        }

        #[test]
        fn every_output_lies_on_one_lattice(x in 0.0..1.0_f64, seed in 0u64..1000) {
            let noise = LaplaceNoise::calibrated(&Domain::unit_box(1), 1.0).unwrap();
            let mut point = [x];
            noise.add(&mut point, &mut Randomness::seeded(seed).streams().stream(0)).unwrap();
            let units = point[0] / noise.lattice().step();
            prop_assert_eq!(units, units.round());
        }
    }
}
