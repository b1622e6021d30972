//! Upper bounds on the accuracy of classifiers that see only records released under ε-local differential
//! privacy, with K equally common classes.

use crate::error::{check, check_privacy};
use crate::{Result, quadrature};
use std::f64::consts::LN_2;

/// The accuracy of the best classifier of latent vectors that are released with ε-differentially private
/// Laplace noise.
///
/// A latent vector is the vector of d = K/2 numbers that encodes a record, for K = `classes` equally common
/// classes. Each class is at one of the K vertices of the ℓ₁ ball of the latent space. The accuracy A is
/// equation 28 of *Learning to noise*, with noise scale b = 2/ε: A = ∫₀^∞ (1/2b)·exp(−|c − 1|/b)·(1 −
/// exp(−c/b))^(d−1) dc. Here c is the released coordinate on the axis of the true class, which is 1 before
/// noise is added.
///
/// A rises from 1/K, which is chance, at ε = 0 to 1 at ε = ∞. The relative error of the computed A is below
/// 10⁻¹⁰. Equation 10 of the paper writes A as an alternating sum, which loses its digits as K grows (errata
/// V1). The paper argues from a picture that no other placement of the classes gives a higher accuracy
/// (errata V7); the bound of [`best_accuracy`] does not need this argument.
///
/// ```
/// use scumble_accounting::ceiling;
///
/// let accuracy = ceiling::laplace_accuracy(10, 2.0)?;
/// assert!((accuracy - 0.26249600355620123).abs() < 1e-12);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless `classes` is even and at least two, and ε ≥ 0.
pub fn laplace_accuracy(classes: u64, epsilon: f64) -> Result<f64> {
    let (name, count) = ("the number of classes", classes as f64);
    check(name, count, "even, and two or more", classes >= 2 && classes.is_multiple_of(2))?;
    check_privacy(epsilon)?;
    if epsilon.is_infinite() {
        return Ok(1.0);
    }
    let (axes, vertex) = (count / 2.0, epsilon / 2.0);
    // With t = c/b, where c is the integration variable of A, the vertex lies at t = a = ε/2. With u = e^−t,
    // the integral beyond the vertex is ½·(1 − (1 − e^−a)^d)/(d·e^−a).
    let beyond = match axes * (-vertex).exp() {
        0.0 => 1.0, // the limit of the quotient below if its divisor underflows
        share => -(axes * log_of_rest(-vertex)).exp_m1() / share,
    };
    Ok(((beyond + before(axes - 1.0, vertex)) / 2.0).min(1.0))
}

/// ∫₀^a e^−s·(1 − e^(s−a))^(d−1) ds, for a = `vertex` = 1/b and d − 1 = `others`. This is twice the part from
/// c = 0 to c = 1 of the integral A in [`laplace_accuracy`]. The noise has scale b, and the variable of
/// integration is s = (1 − c)/b.
fn before(others: f64, vertex: f64) -> f64 {
    if vertex == 0.0 {
        return 0.0;
    }
    // The integrand is log-concave, so it falls at least as fast as at s = 0. Beyond 45 times the decay
    // length at s = 0, it is negligible.
    let fall = 1.0 + others / vertex.exp_m1();
    let at = |length: f64| {
        let distance = length / fall;
        (others * log_of_rest(distance - vertex) - distance).exp()
    };
    quadrature::from_zero((fall * vertex).min(45.0), 1024, at) / fall
}

/// ln(1 − eˣ), for x ≤ 0.
fn log_of_rest(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// Upper bound e^ε/(e^ε + K − 1) on the accuracy of any classifier of records under ε-local differential
/// privacy, for K equally common classes.
///
/// It holds for any mechanism: each class is predicted at most e^ε times as often for its own records as for
/// the records of another class. Randomised response on the class reaches the bound.
///
/// ```
/// use scumble_accounting::ceiling;
///
/// assert!((ceiling::best_accuracy(10, 2.0)? - 0.4509).abs() < 1e-4);
/// # Ok::<(), scumble_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::OutOfRange`](crate::Error::OutOfRange) unless `classes` is at least two, and ε ≥ 0.
pub fn best_accuracy(classes: u64, epsilon: f64) -> Result<f64> {
    check("the number of classes", classes as f64, "two or more", classes >= 2)?;
    check_privacy(epsilon)?;
    Ok(1.0 / (1.0 + (classes - 1) as f64 * (-epsilon).exp()))
}
