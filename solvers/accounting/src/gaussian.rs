//! The Gaussian mechanism in closed form: δ(ε) of Balle and Wang (2018), Theorem 8, and its inverses.
//!
//! The mechanism's parameter is μ = Δ/σ, the ℓ₂ sensitivity divided by the standard deviation of the noise.
//! It is the parameter of Gaussian differential privacy (Dong, Roth and Su 2022). Several mechanisms together
//! have μ² = Σμᵢ².

use crate::Result;
use crate::error::{check, check_delta, check_epsilon};
use crate::quadrature;
use crate::search::least;
use statrs::function::erf::erfc_inv;
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// A factor that exceeds one plus the relative error of [`delta`]. The inverses of [`delta`] multiply δ by
/// this factor, so that they never underestimate it.
const MARGIN: f64 = 1.0 + 1e-10;

/// Privacy profile δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) of the Gaussian mechanism, for any ε (also
/// negative) and μ ≥ 0.
///
/// μ is the ℓ₂ sensitivity divided by the standard deviation of the noise. The relative error of the result
/// is below 10⁻¹⁰.
///
/// ```
/// use scumble_accounting::gaussian;
///
/// assert!((gaussian::delta(1.0, 0.0) - 0.3829249225480262).abs() < 1e-15); // the total variation distance
/// ```
pub fn delta(mu: f64, epsilon: f64) -> f64 {
    if mu == 0.0 {
        return (-epsilon.exp_m1()).max(0.0);
    }
    let (middle, half) = (epsilon / mu * FRAC_1_SQRT_2, mu / 2.0 * FRAC_1_SQRT_2);
    let (nearer, farther) = (middle - half, middle + half);
    if farther < 0.0 {
        // An exchange of the two output distributions gives δ(−ε) = 1 − e^−ε·(1 − δ(ε)).
        return 1.0 - epsilon.exp() * (1.0 - delta(mu, -epsilon));
    }
    // Φ(−√2·x) = erfc(x)/2, and e^ε·exp(−farther²) = exp(−nearer²).
    let weight = (-nearer * nearer).exp();
    let twice = if half < 0.0625 {
        weight * fall(middle, half)
    } else if nearer > 0.0 {
        weight * (erfcx(nearer) - erfcx(farther))
    } else {
        libm::erfc(nearer) - weight * erfcx(farther)
    };
    (twice / 2.0).clamp(0.0, 1.0)
}

/// The least ε ≥ 0 at which a Gaussian mechanism has δ(ε) ≤ `delta`. `mu` is μ, the ℓ₂ sensitivity divided by
/// the standard deviation of the noise.
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless μ > 0 is finite and 0 < δ < 1.
pub fn epsilon(mu: f64, delta: f64) -> Result<f64> {
    check("mu", mu, "above zero, and finite", mu > 0.0 && mu.is_finite())?;
    check_delta(delta)?;
    Ok(least(0.0, f64::MAX, |epsilon| self::delta(mu, epsilon) * MARGIN <= delta).unwrap_or(f64::INFINITY))
}

/// The largest μ, the ℓ₂ sensitivity divided by the standard deviation of the noise, at which the Gaussian
/// mechanism is (ε, δ)-differentially private.
///
/// ```
/// use scumble_accounting::gaussian;
///
/// let sigma = 1.0 / gaussian::mu(1.0, 1e-5)?; // for ℓ₂ sensitivity 1
/// assert!((sigma - 3.7306316348159463).abs() < 1e-9);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless ε ≥ 0 is finite and 0 < δ < 1.
pub fn mu(epsilon: f64, delta: f64) -> Result<f64> {
    check_epsilon(epsilon)?;
    check_delta(delta)?;
    // The search is for the least standard deviation 1/μ that satisfies the target, so that its error
    // increases the noise.
    let sigma =
        least(f64::MIN_POSITIVE, f64::MAX, |sigma| self::delta(1.0 / sigma, epsilon) * MARGIN <= delta);
    Ok(sigma.map_or(0.0, |sigma| 1.0 / sigma))
}

/// Φ⁻¹(p), the standard normal quantile, to about ten digits. It is infinite at 0 and 1.
pub fn quantile(p: f64) -> f64 {
    // The quantile of the smaller tail loses no digits near 1.
    if p <= 0.5 { -SQRT_2 * erfc_inv(2.0 * p) } else { SQRT_2 * erfc_inv(2.0 * (1.0 - p)) }
}

/// The argument from which [`erfcx`] uses the continued fraction.
const FAR: f64 = 3.0;

/// e^(x²)·erfc(x). It overflows for x below about −26.6.
fn erfcx(x: f64) -> f64 {
    if x < FAR { (x * x).exp() * libm::erfc(x) } else { 1.0 / ((x + continued(x)) * PI.sqrt()) }
}

/// Laplace's continued fraction c = ½/(x + 1/(x + 3⁄2/(x + …))), with e^(x²)·erfc(x) = 1/(√π·(x + c)). For x
/// of `FAR` or more, sixty terms exceed the precision of doubles.
fn continued(x: f64) -> f64 {
    (1..=60).rev().fold(0.0, |tail, term| 0.5 * f64::from(term) / (x + tail))
}

/// erfcx(`middle` − `half`) − erfcx(`middle` + `half`), for arguments so close that a subtraction would lose
/// digits.
///
/// The difference is the integral of −erfcx′(x) = 2/√π − 2x·erfcx(x) between the two arguments.
fn fall(middle: f64, half: f64) -> f64 {
    let slope = |x: f64| {
        if x < FAR {
            return 2.0 / PI.sqrt() - 2.0 * x * erfcx(x);
        }
        let tail = continued(x);
        2.0 / PI.sqrt() * tail / (x + tail)
    };
    quadrature::about(middle, half, slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use proptest::prelude::*;

    #[test]
    fn erfcx_meets_itself_where_its_two_forms_meet_and_its_asymptote_far_out() {
        let (below, above) = (erfcx(3.0 - 1e-15), erfcx(3.0));
        assert_relative_eq!(below, above, max_relative = 1e-14);
        // Abramowitz and Stegun, table 7.2, and mpmath
        assert_abs_diff_eq!(above, 0.17900115118138995, epsilon = 1e-16);
        let far = erfcx(1e8) * 1e8 * PI.sqrt();
        assert_abs_diff_eq!(far, 1.0, epsilon = 1e-15);
    }

    #[test]
    fn a_small_mu_loses_no_digits() {
        // To first order in μ, δ(ε) = μ·(φ(t) − t·Φ(−t)) with t = ε/μ.
        for mu in [1e-3, 1e-6, 1e-12, 1e-100] {
            for (t, unit) in
                [(0.0, 0.3989422804014327), (1.0, 0.08331547058768628), (5.0, 5.346165533832735e-8)]
            {
                let ratio = delta(mu, t * mu) / (mu * unit);
                assert!((ratio - 1.0).abs() < 5.0 * mu + 1e-12, "μ = {mu}, t = {t}: {ratio}");
            }
        }
    }

    #[test]
    fn both_ways_of_a_difference_agree_where_they_meet() {
        for from in [-0.05, 0.5, 2.9, 3.0, 8.0, 20.0] {
            let (slow, fast) = (erfcx(from) - erfcx(from + 0.12), fall(from + 0.06, 0.06));
            assert!((slow / fast - 1.0).abs() < 1e-11, "{from}: {slow} {fast}");
        }
    }

    proptest! {
        /// δ is the integral of its own derivative: dδ/dε = −e^ε·Φ(−μ/2 − ε/μ).
        #[test]
        fn delta_falls_as_it_should(mu in 0.05..3.0_f64, epsilon in 0.0..8.0_f64) {
            let step = 1e-4 * mu; // the difference quotient is off by (step·ε/μ²)²/6 of the slope
            let slope = (delta(mu, epsilon + step) - delta(mu, epsilon - step)) / (2.0 * step);
            let expected = -epsilon.exp() * libm::erfc((mu / 2.0 + epsilon / mu) * FRAC_1_SQRT_2) / 2.0;
            prop_assert!((slope - expected).abs() < 1e-5 * expected.abs() + 1e-12, "{slope} is not \
                {expected}");
        }

        #[test]
        fn the_inverses_invert_on_the_safe_side(mu in 0.01..5.0_f64, exponent in 1.0..300.0_f64) {
            let target_delta = 10f64.powf(-exponent);
            let found = epsilon(mu, target_delta).unwrap();
            prop_assert!(delta(mu, found) <= target_delta);
            prop_assert!(found == 0.0 || delta(mu, found * (1.0 - 1e-9)) > target_delta);
            if found > 0.0 {
                let back = super::mu(found, target_delta).unwrap();
                prop_assert!((back / mu - 1.0).abs() < 1e-9, "{back} is not {mu}");
            }
        }

        #[test]
        fn below_zero_the_distributions_change_places(mu in 0.1..3.0_f64, epsilon in 0.1..6.0_f64) {
            let expected = 1.0 - (-epsilon).exp() * (1.0 - delta(mu, epsilon));
            prop_assert!((delta(mu, -epsilon) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_budget_is_refused() {
        assert!(mu(-1.0, 0.1).is_err() && mu(1.0, 0.0).is_err() && mu(f64::NAN, 0.1).is_err());
        assert!(epsilon(0.0, 0.1).is_err() && epsilon(1.0, 1.0).is_err());
    }
}
