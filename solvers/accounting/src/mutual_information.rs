//! Mutual information, in nats, between a release and the secret that it is made from, for a known prior of
//! the secret.
//!
//! The module bounds the success of any inference about the secret. It also computes the Gaussian noise that
//! keeps the mutual information at or below a bound (PAC privacy: Xiao and Devadas 2023; Sridhar, Xiao and
//! Devadas 2025).
//!
//! Mutual information is an average over the prior. It gives no bound for a single value of the secret, and
//! none for a worst-case record. The bounds of several releases from the same secret, each with independent
//! noise, add up.

use crate::error::check;
use crate::{Error, Result, search};

/// The divergence KL(Bernoulli(`success`) ‖ Bernoulli(`prior`)), in nats.
///
/// # Errors
/// [`Error::OutOfRange`] if `success` lies outside [0, 1], or `prior` outside (0, 1).
pub fn divergence(success: f64, prior: f64) -> Result<f64> {
    check("the success", success, "between zero and one", (0.0..=1.0).contains(&success))?;
    check_prior(prior)?;
    Ok(between(success, prior))
}

fn between(success: f64, prior: f64) -> f64 {
    let part = |p: f64, q: f64| if p > 0.0 { p * (p / q).ln() } else { 0.0 };
    // The maximum with zero removes rounding errors, because the exact divergence is never negative.
    (part(success, prior) + part(1.0 - success, 1.0 - prior)).max(0.0)
}

fn check_prior(prior: f64) -> Result<()> {
    check("the prior success", prior, "strictly between zero and one", prior > 0.0 && prior < 1.0)
}

/// Upper bound on the success probability of any inference about the secret, after a release with a mutual
/// information of `nats`.
///
/// `prior` is the success probability of the best inference without the release. The bound is the largest s
/// for which KL(Bernoulli(s) ‖ Bernoulli(prior)) is at most `nats`, by the data-processing inequality. The
/// bound is rounded up.
///
/// ```
/// use scumble_accounting::mutual_information;
///
/// // A fair coin and 1/128 nats.
/// let success = mutual_information::posterior_success(1.0 / 128.0, 0.5)?;
/// assert!((success - 0.5624).abs() < 1e-4);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if `nats` is negative, or if `prior` lies outside (0, 1).
pub fn posterior_success(nats: f64, prior: f64) -> Result<f64> {
    check("the mutual information", nats, "zero or more", nats >= 0.0)?;
    check_prior(prior)?;
    // A bound on the rounding error of the divergence: each of its terms is a logarithm times a factor of at
    // most 1.
    let slack = 8.0 * f64::EPSILON * (1.0 - prior.ln());
    Ok(search::least(prior, 1.0, |success| between(success, prior) > nats + slack).unwrap_or(1.0))
}

/// Upper bound ½ Σ ln(1 + λ/σ²), in nats, on the mutual information of a release with independent Gaussian
/// noise.
///
/// The release is a vector, and the sum is over the directions i of an orthonormal basis. λ = `variances[i]`
/// is the variance of the release along direction i before noise is added, under the prior distribution of
/// the secret. σ² = `noise[i]` is the variance of the noise along direction i. The bound holds for any
/// distribution of the release before noise, because a Gaussian has the largest entropy for given variances.
/// The mutual information equals the bound if the release before noise is Gaussian under the prior, with
/// independent components along these directions.
///
/// # Errors
/// [`Error::OutOfRange`] if a variance is negative or not finite.
pub fn gaussian_bound(variances: &[f64], noise: &[f64]) -> Result<f64> {
    variances.iter().chain(noise).try_for_each(|variance| check_variance(*variance))?;
    Ok(variances.iter().zip(noise).map(|(variance, noise)| nats(*variance, *noise)).sum())
}

fn check_variance(variance: f64) -> Result<()> {
    check("a variance", variance, "zero or more, and finite", variance >= 0.0 && variance.is_finite())
}

/// The term ½ ln(1 + λ/σ²) of one direction in [`gaussian_bound`], in nats, for λ = `variance` and σ² =
/// `noise`. It is zero for λ = 0, and infinite for λ > 0 without noise.
fn nats(variance: f64, noise: f64) -> f64 {
    if variance == 0.0 { 0.0 } else { (variance / noise).ln_1p() / 2.0 }
}

/// The noise variances, one for each of `variances`, that keep [`gaussian_bound`] at or below `nats` with the
/// least sum.
///
/// The release is a vector. Let λ, one of `variances`, be its variance before noise along one direction of an
/// orthonormal basis. The noise variance σ² along this direction solves σ²(σ² + λ) = μλ, with one multiplier
/// μ for all directions. This solution is the stationary point of the sum Σσ² under the constraint on
/// [`gaussian_bound`], which is convex in σ². The published noise for PAC privacy, σ² = √λ Σ√λ/(2·nats), has
/// the least sum under the looser bound ½ Σ λ/σ² ≤ `nats`. The sum of the published noise is larger.
///
/// ```
/// use scumble_accounting::mutual_information;
///
/// let noise = mutual_information::noise(&[4.0, 1.0, 0.0], 0.5)?;
/// let sum: f64 = noise.iter().sum();
/// assert!(mutual_information::gaussian_bound(&[4.0, 1.0, 0.0], &noise)? <= 0.5);
/// assert!(sum < (2.0_f64 + 1.0).powi(2) / (2.0 * 0.5));
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if a variance is negative or not finite, or if `nats` is not above zero and finite.
/// [`Error::Unreachable`] if no float is a large enough noise variance.
pub fn noise(variances: &[f64], nats: f64) -> Result<Vec<f64>> {
    variances.iter().try_for_each(|variance| check_variance(*variance))?;
    check("the mutual information", nats, "above zero, and finite", nats > 0.0 && nats.is_finite())?;
    let largest = variances.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 {
        return Ok(vec![0.0; variances.len()]);
    }
    // The computation is in units of the largest variance, so that no square overflows. Positive variances
    // stay positive.
    let varies = |variance: f64, size: f64| if variance > 0.0 { size.max(f64::MIN_POSITIVE) } else { 0.0 };
    let units: Vec<f64> = variances.iter().map(|&variance| varies(variance, variance / largest)).collect();
    let at = |multiplier: f64| -> Vec<f64> {
        let allotted = |unit: &f64| {
            // The root of σ²(σ² + λ) = μλ, in a form that loses no digits.
            2.0 * multiplier * unit
                / (unit + (unit * unit + 4.0 * multiplier * unit).sqrt()).max(f64::MIN_POSITIVE)
        };
        units.iter().map(allotted).collect()
    };
    let holds = |multiplier: f64| {
        let noise = at(multiplier);
        let found: f64 = units.iter().zip(&noise).map(|(unit, noise)| self::nats(*unit, *noise)).sum();
        // Even with the rounding errors of the logarithms, the sum must not exceed `nats`.
        found * (1.0 + 4.0 * f64::EPSILON * (units.len() as f64 + 4.0)) <= nats
    };
    let Some(multiplier) = search::least(f64::MIN_POSITIVE, f64::MAX.sqrt(), holds) else {
        return Err(Error::Unreachable { name: "variance of noise", range: "the floats" });
    };
    let found = variances.iter().zip(at(multiplier));
    Ok(found.map(|(&variance, noise)| varies(variance, noise * largest)).collect())
}

/// Upper bound, in nats, on the mutual information between a secret with equally likely values and a release.
///
/// The release is a point yᵢ, which secret i determines, plus Gaussian noise. The noise is continuous, or on
/// a lattice that contains the points yᵢ of all secrets. `squared[i][j]` is ‖yᵢ − yⱼ‖², in units of the noise
/// variance.
///
/// The bound is −meanᵢ ln meanⱼ e^(−KLᵢⱼ), with means over all secrets i and j (Kolchinsky and Tracey 2017,
/// equation 10). KLᵢⱼ = ‖yᵢ − yⱼ‖²/2 is the Kullback-Leibler divergence between the releases of secrets i and
/// j. The bound never exceeds the logarithm of the number of secrets. The bound of [`gaussian_bound`] can
/// exceed this logarithm.
///
/// ```
/// use scumble_accounting::mutual_information;
///
/// // Four secrets that are far from each other: all is told, and that is ln 4.
/// let distance = |i: i32, j: i32| if i == j { 0.0 } else { 1e4 };
/// let distances: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| distance(i, j)).collect()).collect();
/// assert!((mutual_information::mixture_bound(&distances)? - 4_f64.ln()).abs() < 1e-9);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`] if a squared distance is negative or not finite.
pub fn mixture_bound(squared: &[Vec<f64>]) -> Result<f64> {
    squared.iter().flatten().try_for_each(|square| check_variance(*square))?;
    let row_information = |row: &Vec<f64>| {
        let mean = row.iter().map(|square| (-square / 2.0).exp()).sum::<f64>() / row.len() as f64;
        -mean.ln()
    };
    Ok(squared.iter().map(row_information).sum::<f64>() / squared.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    /// The reference values are from scipy's `brentq` on KL(s ‖ p) = nats, where p is the prior.
    #[test]
    fn success_after_a_release_is_that_of_another_solver() {
        for (nats, prior, expected) in REFERENCE {
            assert_relative_eq!(posterior_success(nats, prior).unwrap(), expected, max_relative = 1e-12);
        }
    }

    const REFERENCE: [(f64, f64, f64); 4] = [
        (1.0 / 128.0, 0.5, 0.5624184814618641),
        (1.0 / 32.0, 0.5, 0.6243444751126811),
        (0.25, 0.1, 0.3643260737076453),
        (1e-4, 0.9, 0.9042158181058142),
    ];

    #[test]
    fn nothing_said_is_nothing_gained_and_much_said_is_all() {
        // The tolerance is the square root of the rounding error of a divergence.
        assert_relative_eq!(posterior_success(0.0, 0.3).unwrap(), 0.3, max_relative = 1e-6);
        // −ln(prior) nats or more can reveal a secret with certainty.
        assert_eq!(posterior_success(2.0, 0.3).unwrap(), 1.0);
        assert!(posterior_success(-f64::ln(0.3) - 1e-6, 0.3).unwrap() < 1.0);
        for (nats, prior) in [(-1.0, 0.5), (f64::NAN, 0.5), (1.0, 0.0), (1.0, 1.0)] {
            assert!(posterior_success(nats, prior).is_err(), "{nats} {prior}");
        }
    }

    /// One direction in closed form: σ² = λ/(e^(2b) − 1) for a bound of b nats.
    #[test]
    fn the_noise_of_one_direction_is_its_closed_form() {
        for (variance, nats) in [(1.0, 0.5), (1e-300, 1.0 / 128.0), (1e300, 3.0), (2.5, 1e-12)] {
            let found = noise(&[variance, 0.0], nats).unwrap();
            assert_relative_eq!(found[0], variance / f64::exp_m1(2.0 * nats), max_relative = 1e-12);
            assert_eq!(found[1], 0.0);
        }
    }

    proptest! {
        /// The noise spends the whole bound and no more. Moving noise from one direction to another increases
        /// its sum. The sum of the published noise is never smaller.
        #[test]
        fn noise_spends_its_nats_and_has_the_least_sum(
            logs in prop::collection::vec(-12.0..12.0_f64, 1..12),
            nats in 1e-4..4.0_f64,
            moved in 0.01..0.5_f64,
        ) {
            let variances: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let found = noise(&variances, nats).unwrap();
            let spent = gaussian_bound(&variances, &found).unwrap();
            prop_assert!(spent <= nats && spent > nats * (1.0 - 1e-9), "{spent} of {nats}");
            let sum: f64 = found.iter().sum();
            let roots: f64 = variances.iter().map(|variance| variance.sqrt()).sum();
            prop_assert!(sum <= roots * roots / (2.0 * nats) * (1.0 + 1e-9));
            if let [first, second, ..] = found[..] {
                let mut other = found.clone();
                other[0] = first * (1.0 - moved);
                let left =
                    spent - gaussian_bound(&variances, &other).unwrap() + super::nats(variances[1], second);
                if left > 0.0 {
                    other[1] = variances[1] / (2.0 * left).exp_m1();
                    prop_assert!(other.iter().sum::<f64>() >= sum * (1.0 - 1e-9));
                }
            }
        }
    }
}
