//! Release of the left singular vectors of records, times singular values and heavy-tailed numbers
//! (Dauntless, Algorithm 6).

use crate::secret_matrix::SecretMatrix;
use crate::singular_values::SingularValues;
use ndarray::Array1;
use rand_core::RngCore;
use schemars::JsonSchema;
use scumble_core::{
    Accumulator, Brief, CuratorMechanism, Descriptor, Error, Example, Guarantee, NoiseDistribution, Output,
    Randomness, RecordDomain, Release, Releases, Result, SecretKey, Stream, Table, Unit, collected, in_clear,
    register,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "singular-value-obfuscation";

/// Releases each left singular vector of the features, times its singular value and a heavy-tailed number
/// (Dauntless, Algorithm 6).
///
/// For features X = UΣVᵀ of rank r, the release is X̂ = XVW = UΣW. W is diagonal. Its r diagonal entries are
/// independent, with the density of the paper's equation (22): τ/(1 + τ) on [0, 1] and τ/(1 + τ)·z^−(1+τ) for
/// z > 1, with a parameter τ > 0. The secret key is VW, which maps a record x in the clear to x·VW. The
/// release has r columns, fewer than X if the columns of X are linearly dependent.
///
/// The mechanism claims no privacy. Lemmas 6 and 7 of the paper add δ to the density at each point and not
/// once to the probability of a set. As statements of differential privacy they are false (errata D13).
/// [`obfuscation_delta`] gives the true δ(ε) for two tables that differ in one singular value and have the
/// same left singular vectors. Two tables with different left singular vectors are distinguished with
/// certainty, because each vector is released up to a positive factor.
///
/// ```
/// use scumble_dauntless::{SINGULAR_VALUE_OBFUSCATION, SingularValueObfuscation};
/// use scumble_core::{CuratorMechanism, Randomness};
///
/// let example = (SINGULAR_VALUE_OBFUSCATION.example)()?;
/// let mechanism = SingularValueObfuscation::new(example.brief.domain, 1.0)?;
/// assert!(mechanism.guarantee().claims.is_empty());
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns()[0], "released 1");
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SingularValueObfuscation {
    state: State,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    tau: f64,
}

impl TryFrom<State> for SingularValueObfuscation {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        check_tau(state.tau)?;
        if state.domain.columns().is_empty() {
            return Err(Error::not_applicable(
                NAME,
                "the records have no features, so there are no singular \
                                                    values",
            ));
        }
        Ok(Self { state })
    }
}

/// Checks the parameter τ.
///
/// # Errors
/// [`Error::Parameter`] unless 0 < τ ≤ 1000.
fn check_tau(tau: f64) -> Result<f64> {
    Error::check(NAME, "tau", tau, "above zero and at most 1000", tau > 0.0 && tau <= 1e3)
}

impl SingularValueObfuscation {
    /// Creates the mechanism with heavy-tailed numbers that exceed a large z with a probability proportional
    /// to z^−τ.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 0 < τ ≤ 1000; [`Error::NotApplicable`] if `domain` has no features.
    pub fn new(domain: RecordDomain, tau: f64) -> Result<Self> {
        State { domain, tau }.try_into()
    }
}

/// Computes δ(ε) of Algorithm 6 (Dauntless) with parameter τ = `tau` in closed form, for two tables that
/// differ in one singular value. They have the same left singular vectors and the same other singular values.
/// The differing value of one table is `ratio` times the differing value of the other. δ depends on the order
/// of the two tables, and the result is the larger δ.
///
/// Let ρ be `ratio` or its inverse, whichever is above one, and c = τ/(1 + τ). Let p be the density of the
/// smaller singular value times a heavy-tailed number, and q the density of the larger singular value times a
/// heavy-tailed number.
///
/// - ∫(p − e^ε·q)₊ = c + (c/τ)(1 − a^−τ) − c·e^ε·a/ρ with a = (ρ·e^−ε)^(1/(1+τ)), while e^ε < ρ.
/// - ∫(q − e^ε·p)₊ = c(1 − b/ρ) + (c/τ)(1 − e^ε·b^−τ) with b = (ρ·e^ε)^(1/(1+τ)), while e^ε < ρ^τ.
///
/// Each integral is zero for all other ε.
///
/// A smaller ρ has a smaller δ. If k singular values differ, each by a factor of at most ρ, then k·δ(ε/k) is
/// an upper bound on δ at ε (composition). If left singular vectors differ, δ is one.
///
/// ```
/// // Lemma 6 prints δ = τ/(1 + τ) = 0.0099 at ε = τ·ln 10.
/// let delta = scumble_dauntless::obfuscation_delta(0.01, 10.0, 0.01 * 10f64.ln())?;
/// assert!((delta - 0.0223).abs() < 1e-4);
/// # Ok::<(), scumble_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] unless 0 < τ ≤ 1000; [`Error::Budget`] unless `ratio` is finite and above zero, and
/// ε ≥ 0.
pub fn obfuscation_delta(tau: f64, ratio: f64, epsilon: f64) -> Result<f64> {
    check_tau(tau)?;
    let check = |name, value: f64, range, holds: bool| match holds {
        true => Ok(()),
        false => Err(Error::Budget { name, range, value }),
    };
    check("the ratio of singular values", ratio, "above zero, and finite", ratio > 0.0 && ratio.is_finite())?;
    check("epsilon", epsilon, "zero or more", epsilon >= 0.0)?;
    let (ln_ratio, body) = (ratio.ln().abs(), tau / (1.0 + tau));
    // Logarithms throughout avoid overflow; c/τ is 1/(1 + τ).
    let tail = 1.0 / (1.0 + tau);
    let smaller_delta = if epsilon < ln_ratio {
        let ln_a = (ln_ratio - epsilon) * tail;
        body - tail * (-tau * ln_a).exp_m1() - body * (epsilon + ln_a - ln_ratio).exp()
    } else {
        0.0
    };
    let larger_delta = if epsilon < tau * ln_ratio {
        let ln_b = (ln_ratio + epsilon) * tail;
        -body * (ln_b - ln_ratio).exp_m1() - tail * (epsilon - tau * ln_b).exp_m1()
    } else {
        0.0
    };
    Ok(smaller_delta.max(larger_delta).clamp(0.0, 1.0))
}

/// Largest natural logarithm of a heavy-tailed number. The limit keeps the product of the number and a record
/// finite in floating point. No claim depends on this limit.
const MOST_LN: f64 = 600.0;

/// Draws a heavy-tailed number z, with the density τ/(1 + τ) on [0, 1] and τ/(1 + τ)·z^−(1+τ) for z > 1
/// (Dauntless, equation 22).
fn heavy_tailed(tau: f64, stream: &mut Stream) -> f64 {
    // Uniform on the open interval (0, 1).
    let mut uniform = || ((stream.next_u64() >> 11) as f64 + 0.5) * 2f64.powi(-53);
    if uniform() < tau / (1.0 + tau) { uniform() } else { (-uniform().ln() / tau).min(MOST_LN).exp() }
}

impl CuratorMechanism for SingularValueObfuscation {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let tau = self.state.tau;
        // Both arguments were checked to be in range.
        let delta = obfuscation_delta(tau, 10.0, 1.0).unwrap_or(1.0);
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.extend([
            "the left singular vectors of the features, exactly: tables with different vectors are \
             distinguished with certainty, so there is no differential privacy"
                .to_owned(),
            format!(
                "partial information about the singular values: between two tables, one with a value ten \
                 times larger, δ is {delta:.2e} at ε = 1 (τ = {tau}); the paper's δ (Lemmas 6 and 7) is too \
                 small for small τ (errata D13)"
            ),
            "the column space of the features, and so every linear relation among the records".into(),
            "all records, exactly, to an adversary that knows as many linearly independent records as the \
             release has columns"
                .into(),
            "the number of records, and the number of linearly independent feature columns".into(),
        ]);
        Guarantee { discloses, ..Guarantee::default() }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(&self.state.domain)
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<SecretMatrix>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl SingularValueObfuscation {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let domain = &self.state.domain;
        let SingularValues { left, values, right } =
            SingularValues::new(&domain.projected_features(table)?, NAME)?;
        let mut stream = randomness.streams().stream(0);
        let drawn: Array1<f64> = values.iter().map(|_| heavy_tailed(self.state.tau, &mut stream)).collect();
        let key = SecretMatrix::new(domain, &right * &drawn);
        let noise = NoiseDistribution::Exact { width: values.len() };
        let guarantee = self.guarantee().under(randomness.provenance());
        key.released(table, &left * &(&values * &drawn), noise, guarantee)
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// τ of the heavy-tailed numbers; 1 by default. A smaller τ gives heavier tails.
    tau: Option<f64>,
}

register! {
    /// The plugin `singular-value-obfuscation`.
    pub const SINGULAR_VALUE_OBFUSCATION = {
        name: NAME,
        summary: "the left singular vectors of the features, each times its singular value and a \
                  heavy-tailed number; no privacy claimed",
        paper: "Xiao and Devadas, Dauntless: data augmentation and uniform transformation for learning with \
                scalability and security, Algorithm 6",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: Parameters,
        learn: |Parameters { tau }, brief: &Brief| {
            Ok(State { domain: brief.domain.clone(), tau: tau.unwrap_or(1.0) })
        },
        curator: SingularValueObfuscation::try_from,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Density of equation (22) for a singular value r: the density of α at z/r, divided by r.
    fn density(tau: f64, value: f64, z: f64) -> f64 {
        let at = z / value;
        tau / (1.0 + tau) / value * if at <= 1.0 { 1.0 } else { at.powf(-1.0 - tau) }
    }

    /// Computes δ(ε) by the trapezoidal rule in ln z.
    fn integrated(tau: f64, ratio: f64, epsilon: f64) -> f64 {
        let excess = |one: f64, other: f64| {
            let (low, high, steps) = (-40.0, 40.0 + 30.0 / tau, 4_000_000);
            let width = (high - low) / f64::from(steps);
            let at = |step: i32| {
                let z = (low + width * (f64::from(step) + 0.5)).exp();
                (density(tau, one, z) - epsilon.exp() * density(tau, other, z)).max(0.0) * z
            };
            (0..steps).map(at).sum::<f64>() * width
        };
        excess(1.0, ratio).max(excess(ratio, 1.0))
    }

    #[test]
    fn the_closed_form_is_the_integral() {
        for (tau, ratio, epsilon) in [
            (0.3, 10.0, 0.0),
            (0.3, 10.0, 0.5),
            (0.3, 10.0, 2.0),
            (1.0, 3.0, 0.2),
            (1.0, 3.0, 1.0),
            (4.0, 2.0, 0.1),
            (4.0, 1.5, 1.0),
        ] {
            let (closed, sum) =
                (obfuscation_delta(tau, ratio, epsilon).unwrap(), integrated(tau, ratio, epsilon));
            assert!(
                (closed - sum).abs() < 1e-5,
                "τ = {tau}, ρ = {ratio}, ε = {epsilon}: {closed} is not {sum}"
            );
        }
    }

    /// errata D13: at the printed ε = τ·ln ρ the printed δ is 0.0099 for any ratio.
    #[test]
    fn what_lemma_6_prints_is_less_than_the_truth() {
        let at = |ratio: f64| obfuscation_delta(0.01, ratio, 0.01 * ratio.ln()).unwrap();
        assert!((at(10.0) - 0.0223).abs() < 5e-5, "{}", at(10.0));
        assert!((at(100.0) - 0.0441).abs() < 5e-5, "{}", at(100.0));
        assert!(at(10.0) > 2.0 * 0.01 / 1.01);
    }

    #[test]
    fn a_wider_ratio_and_a_smaller_epsilon_are_told_apart_more_easily() {
        let delta = |ratio, epsilon| obfuscation_delta(0.5, ratio, epsilon).unwrap();
        let ratios = [1.0, 1.5, 4.0, 100.0, 1e300].map(|ratio| delta(ratio, 0.3));
        assert!(ratios.is_sorted() && ratios[0] == 0.0, "{ratios:?}");
        let epsilons = [2.0, 1.0, 0.5, 0.0].map(|epsilon| delta(4.0, epsilon));
        assert!(epsilons.is_sorted() && epsilons[0] < epsilons[3], "{epsilons:?}");
        assert!((delta(4.0, 0.3) - delta(0.25, 0.3)).abs() < 1e-15);
        assert!(obfuscation_delta(0.0, 2.0, 1.0).is_err() && obfuscation_delta(f64::NAN, 2.0, 1.0).is_err());
        assert!(obfuscation_delta(1.0, 0.0, 1.0).is_err() && obfuscation_delta(1.0, 2.0, -1.0).is_err());
    }

    /// P(α ≤ 1) = τ/(1 + τ) and P(α > z) = z^−τ/(1 + τ).
    #[test]
    fn the_numbers_have_the_density_of_equation_22() {
        const SEED: u64 = 5;
        const DRAWS: usize = 200_000;
        let mut stream = Randomness::seeded(SEED).streams().stream(0);
        for tau in [0.2, 1.0, 3.0] {
            let drawn: Vec<f64> = (0..DRAWS).map(|_| heavy_tailed(tau, &mut stream)).collect();
            for at in [0.25, 1.0, 2.0, 10.0] {
                let seen = drawn.iter().filter(|z| **z > at).count() as f64 / DRAWS as f64;
                let expected =
                    if at <= 1.0 { 1.0 - at * tau / (1.0 + tau) } else { f64::powf(at, -tau) / (1.0 + tau) };
                // More than five standard errors.
                assert!(
                    (seen - expected).abs() < 0.006,
                    "seed {SEED}, τ = {tau}: P(α > {at}) is {seen}, not {expected}"
                );
            }
            assert!(drawn.iter().all(|z| *z > 0.0 && z.is_finite()));
        }
        assert!((0..1000).all(|_| heavy_tailed(1e-9, &mut stream).is_finite()));
    }
}
