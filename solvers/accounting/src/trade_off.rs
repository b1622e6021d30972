//! Trade-off functions: the least rate of false negatives of a test between two neighbouring data sets, at
//! each rate of false positives.
//!
//! A test sees a release and guesses which of two neighbours it is of. Let α be its rate of false positives,
//! and f(α) the least rate of false negatives of all tests with this α (Dong, Roth and Su, *Gaussian
//! differential privacy*, 2022). Without information, f(α) = 1 − α. A privacy profile δ(ε) bounds it from
//! below by the lines
//!
//! > f(α) ≥ 1 − δ(ε) − e^ε·α and f(α) ≥ e^−ε·(1 − δ(ε) − α) for each ε ≥ 0
//!
//! (Wasserman and Zhou 2010; Dong, Roth and Su, Proposition 2.12). The largest of them is the bound of the
//! whole profile. As functions of e^ε, and of e^−ε, both lines are concave for a fixed α, because δ is convex
//! in e^ε. So each has one maximum, which is found by golden sections.

use crate::search::peak;

/// Largest ε at which a line is tried.
const FARTHEST: f64 = 800.0;

/// Lower bound on the rate of false negatives of any test with the rate `alpha` of false positives, from a
/// point (ε, δ): max(0, 1 − δ − e^ε·α, e^−ε·(1 − δ − α)).
///
/// ```
/// use scumble_accounting::trade_off;
///
/// // The best test of binary randomised response at ε = ln 3 is wrong in a quarter of cases, either way.
/// assert!((trade_off::of_point(3f64.ln(), 0.0, 0.25) - 0.25).abs() < 1e-15);
/// ```
pub fn of_point(epsilon: f64, delta: f64, alpha: f64) -> f64 {
    if epsilon == f64::INFINITY {
        return 0.0;
    }
    let [first, second] = lines(epsilon, delta, alpha);
    first.max(second).max(0.0)
}

/// The largest bound of several points (ε, δ) of one privacy profile.
pub fn of_points(points: &[(f64, f64)], alpha: f64) -> f64 {
    points.iter().map(|(epsilon, delta)| of_point(*epsilon, *delta, alpha)).fold(0.0, f64::max)
}

/// The two lines of a point (ε, δ) at `alpha`.
fn lines(epsilon: f64, delta: f64, alpha: f64) -> [f64; 2] {
    // Infinity times zero does not occur: ε is finite, and e^ε may be infinite only with α > 0.
    let first = if alpha == 0.0 { 1.0 - delta } else { 1.0 - delta - epsilon.exp() * alpha };
    [first, (-epsilon).exp() * (1.0 - delta - alpha)]
}

/// Lower bound on the rate of false negatives of any test with the rate `alpha` of false positives, from the
/// privacy profile `delta` (δ for each ε ≥ 0). δ must be convex in e^ε, as the least profile of any mechanism
/// is.
///
/// ```
/// use scumble_accounting::{gaussian, trade_off};
///
/// // Gaussian noise with μ = 1: Φ(Φ⁻¹(1 − α) − 1).
/// let bound = trade_off::of_profile(|epsilon| gaussian::delta(1.0, epsilon), 0.5);
/// assert!((bound - 0.15865525393145707).abs() < 1e-12);
/// ```
pub fn of_profile(delta: impl Fn(f64) -> f64, alpha: f64) -> f64 {
    const STEPS: u32 = 90;
    let highest = |line: usize| {
        let value = |epsilon: f64| lines(epsilon, delta(epsilon), alpha)[line];
        value(peak(0.0, FARTHEST, STEPS, value)).max(value(0.0))
    };
    highest(0).max(highest(1)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian;
    use statrs::distribution::{ContinuousCDF, Normal};

    const RATES: [f64; 11] = [0.0, 1e-12, 1e-6, 0.001, 0.05, 0.25, 0.5, 0.75, 0.99, 1.0 - 1e-9, 1.0];

    #[test]
    fn gaussian_noise_has_the_closed_form() {
        let normal = Normal::standard();
        for mu in [0.01, 0.3, 1.0, 3.0, 10.0] {
            for alpha in RATES {
                let bound = of_profile(|epsilon| gaussian::delta(mu, epsilon), alpha);
                let closed = normal.cdf(-normal.inverse_cdf(alpha) - mu);
                assert!((bound - closed).abs() < 1e-9, "{mu} {alpha}: {bound} {closed}");
            }
        }
    }

    /// The profile of binary randomised response has the same bound as its only point at δ = 0. With k levels
    /// and the levels 1 and 2 as neighbours, the trade-off function has three pieces.
    #[test]
    fn randomised_response_has_the_closed_form() {
        for epsilon in [0.1, 1.0, 5.0] {
            let odds = f64::exp(epsilon);
            for alpha in RATES {
                let closed = (1.0 - odds * alpha).max((1.0 - alpha) / odds).max(0.0);
                assert!((of_point(epsilon, 0.0, alpha) - closed).abs() < 1e-12);
                for levels in [2.0, 7.0] {
                    let all = odds + levels - 1.0;
                    let profile = |other: f64| ((odds - other.exp()) / all).max(0.0);
                    // Likelihood ratios e^ε, 1 and e^−ε, in this order.
                    let (first, same) = (1.0 / all, (levels - 2.0) / all);
                    let closed = match alpha {
                        _ if alpha <= first => 1.0 - odds * alpha,
                        _ if alpha <= first + same => 1.0 - odds * first - (alpha - first),
                        _ => (1.0 - alpha) / odds,
                    };
                    let bound = of_profile(profile, alpha);
                    assert!((bound - closed).abs() < 1e-9, "{epsilon} {levels} {alpha}: {bound} {closed}");
                }
            }
        }
    }

    #[test]
    fn a_claim_that_says_nothing_allows_a_perfect_test() {
        for alpha in RATES {
            assert_eq!(of_point(f64::INFINITY, 0.0, alpha), 0.0);
            assert_eq!(of_point(1.0, 1.0, alpha), 0.0);
            assert_eq!(of_profile(|_| 1.0, alpha), 0.0);
            assert!((of_point(0.0, 0.0, alpha) - (1.0 - alpha)).abs() < 1e-15);
        }
    }
}
