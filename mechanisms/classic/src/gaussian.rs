//! The Gaussian mechanism on the integers of a lattice.

use crate::portion::{Portion, Protect, TakesNoise};
use scumble_registry::{
    Brief, Budget, Domain, Error, Example, GaussianNoise, Guarantee, LocalDp, LocalMechanism, Mechanism,
    Noise, Perturbation, Randomness, RecordDomain, Release, Result, Stream, Table, Unit, local, register,
};
use serde::{Deserialize, Serialize};

const NAME: &str = "gaussian";

/// Gaussian noise on every number, from Δ₂, the ℓ₂ diameter of the domain, at (ε, δ).
///
/// Δ₂ grows with the root of the number of columns where Δ₁, from which Laplace noise is made, grows with the number itself: for
/// many columns less noise does, at the price of a δ. A one-hot group counts √2, whatever its width. The claim carries the
/// whole curve δ(ε). A class label takes no noise: it leaves in clear unless something else releases it.
///
/// ```
/// use scumble_classic::Gaussian;
/// use scumble_registry::{Budget, Domain, Mechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = (1..=16).map(|at| format!("x{at}")).collect();
/// let people = RecordDomain::new(columns, Domain::unit_box(16), TargetDomain::None)?;
/// let mechanism = Gaussian::new(people, Budget::new(1.0, 1e-5)?)?;
/// assert!((mechanism.scale() - 4.0 * 3.7306316).abs() < 1e-5); // Δ₂ = 4
///
/// let guarantee = mechanism.guarantee();
/// let dp = guarantee.local_dp(Unit::Record).unwrap();
/// assert_eq!((dp.epsilon, dp.delta), (1.0, 1e-5));
/// assert!(dp.curve.unwrap().delta(2.0) < 1e-13); // far less beyond twice the ε
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Gaussian {
    saved: Saved,
    /// None at ε = ∞.
    noise: Option<GaussianNoise>,
}

/// All that a saved one holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    delta: f64,
    portion: Portion,
}

impl TryFrom<Saved> for Gaussian {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        saved.portion.check_takes_noise(NAME)?;
        let set = saved.portion.set(NAME)?;
        let budget = Budget::new(saved.portion.epsilon, saved.delta)?;
        if budget.delta() == 0.0 {
            return Err(Error::not_applicable(NAME, "Gaussian noise promises nothing where δ is zero"));
        }
        let noise = match budget.epsilon() {
            f64::INFINITY => None,
            _ => Some(GaussianNoise::calibrated(&set, budget)?),
        };
        Ok(Self { saved, noise })
    }
}

impl From<Gaussian> for Saved {
    fn from(gaussian: Gaussian) -> Self {
        gaussian.saved
    }
}

impl Gaussian {
    /// Protects all that it can: the record, or the features where the label is a class.
    ///
    /// # Errors
    /// As [`protecting`](Self::protecting).
    pub fn new(domain: RecordDomain, budget: Budget) -> Result<Self> {
        Saved { delta: budget.delta(), portion: Portion::of_numbers(domain, budget.epsilon()) }.try_into()
    }

    /// Noise on this portion of each record; the rest leaves in clear.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where there is no such portion, a class label would need noise, or δ is zero;
    /// [`Error::Budget`] where ε and δ are so small that the noise does not fit the lattice.
    pub fn protecting(protect: Protect, domain: RecordDomain, budget: Budget) -> Result<Self> {
        Saved { delta: budget.delta(), portion: Portion { domain, protect, epsilon: budget.epsilon() } }
            .try_into()
    }

    /// The standard deviation σ of the noise, in units of the encoded record; 0 at ε = ∞.
    pub fn scale(&self) -> f64 {
        self.noise.as_ref().and_then(|noise| noise.scales().first().copied()).unwrap_or(0.0)
    }
}

#[typetag::serde(name = "gaussian")]
impl Mechanism for Gaussian {
    fn domain(&self) -> &RecordDomain {
        &self.saved.portion.domain
    }

    fn guarantee(&self) -> Guarantee {
        let theorem = "the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8), with the domain's ℓ₂ diameter as \
                       sensitivity, and a proven bound on what discrete noise (Canonne, Kamath and Steinke 2020) adds to it";
        let claim = LocalDp::new(self.saved.portion.epsilon, self.saved.delta);
        let claim = match &self.noise {
            Some(noise) => claim.along(noise.curve()),
            None => claim,
        };
        self.saved.portion.guarantee_of(claim, theorem)
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for Gaussian {
    fn range(&self) -> Domain {
        self.domain().flat().clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.domain().projected(record)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.saved.portion.of(point)?;
        match &self.noise {
            Some(noise) => noise.add(portion, stream),
            None => Ok(()),
        }
    }

    fn noise(&self) -> Noise {
        let variance = self.noise.as_ref().and_then(|noise| noise.variances().first().copied());
        self.saved.portion.additive(variance)
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.saved.portion.of_both(point, released)?;
        self.noise.as_ref()?.log_likelihood(point, released).ok()
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let start = self.saved.portion.coordinates().start;
        self.noise.iter().map(|noise| Perturbation::Additive(noise.described(start))).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.saved.portion.worst_pairs(NAME, unit, Domain::l2_farthest)
    }
}

fn design(parameters: TakesNoise, brief: &Brief) -> Result<Gaussian> {
    let domain = brief.domain.clone();
    match parameters.protect {
        Some(protect) => Gaussian::protecting(protect, domain, brief.budget),
        None => Gaussian::new(domain, brief.budget),
    }
}

register! {
    /// The plugin `gaussian`.
    pub const GAUSSIAN = {
        name: NAME,
        summary: "Gaussian noise on every number, from the ℓ₂ diameter of the domain",
        paper: "Balle and Wang, Improving the Gaussian mechanism for differential privacy (2018)",
        side: Local,
        pace: Quick,
        parameters: TakesNoise,
        design: design,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_registry::TargetDomain;

    fn domain(target: TargetDomain) -> RecordDomain {
        let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3).unwrap()]).unwrap();
        let columns = (1..=5).map(|at| format!("x{at}")).collect();
        RecordDomain::new(columns, features, target).unwrap()
    }

    fn class() -> TargetDomain {
        TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
    }

    fn budget(epsilon: f64, delta: f64) -> Budget {
        Budget::new(epsilon, delta).unwrap()
    }

    /// What σ is for an ℓ₂ sensitivity of 1 by an independent solver.
    const SIGMA: f64 = 3.7306316348159463;

    #[test]
    fn the_scale_comes_from_all_that_is_protected() {
        let is = |mechanism: Result<Gaussian>, l2: f64| {
            let ratio = mechanism.unwrap().scale() / (SIGMA * l2);
            assert!((1.0..1.0 + 1e-7).contains(&ratio), "{ratio}");
        };
        let budget = budget(1.0, 1e-5);
        is(Gaussian::new(domain(TargetDomain::None), budget), 2.0); // √(1 + 1 + 2)
        is(Gaussian::new(domain(class()), budget), 2.0);
        let number = || domain(TargetDomain::Real { lower: 0.0, upper: 1.0 });
        is(Gaussian::new(number(), budget), 5f64.sqrt());
        is(Gaussian::protecting(Protect::Label, number(), budget), 1.0);
    }

    #[test]
    fn the_claim_is_the_budget_and_a_point_of_its_curve() {
        let guarantee = Gaussian::new(domain(class()), budget(0.5, 1e-6)).unwrap().guarantee();
        assert_eq!(guarantee.local_dp(Unit::Record), None);
        let dp = guarantee.local_dp(Unit::Features).unwrap();
        assert_eq!((dp.epsilon, dp.delta), (0.5, 1e-6));
        let curve = dp.curve.unwrap();
        assert!(curve.delta(0.5) <= 1e-6 && curve.delta(0.5) > 0.999e-6, "{}", curve.delta(0.5));
    }

    #[test]
    fn without_a_delta_it_does_not_apply() {
        let refused = Gaussian::new(domain(class()), budget(1.0, 0.0));
        assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
    }

    #[test]
    fn a_number_changed_by_hand_is_checked_when_it_is_read() {
        let saved =
            serde_json::to_string(&Gaussian::new(domain(class()), budget(1.5, 1e-6)).unwrap()).unwrap();
        assert!(serde_json::from_str::<Gaussian>(&saved).is_ok());
        for (from, to) in
            [("1.5", "-1.5"), ("1e-6", "2.0"), ("1e-6", "0.0"), ("\"levels\":3", "\"levels\":1")]
        {
            let changed = saved.replace(from, to);
            assert_ne!(changed, saved);
            assert!(serde_json::from_str::<Gaussian>(&changed).is_err(), "{changed} was accepted");
        }
    }
}
