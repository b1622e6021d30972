//! Gaussian mechanism. Its noise is a random integer number of lattice steps.

use scumble_core::{
    Budget, DescribedNoise, Domain, Example, LocalDp, NoParameters, Protect, RecordDomain, Result, Stream,
};
use scumble_noise::{AdditiveNoise, GaussianNoise, Noisy, register};

/// Gaussian noise on every number for (ε, δ)-differential privacy, scaled to Δ₂, the ℓ₂ diameter of the
/// domain.
///
/// Δ₂ grows with the square root of the number of columns. The ℓ₁ diameter, to which Laplace noise is scaled,
/// grows linearly with this number. For many columns Gaussian noise is therefore smaller than Laplace noise,
/// but its guarantee needs δ > 0. A one-hot group adds 2 to Δ₂², whatever its width. The guarantee contains
/// the whole privacy profile δ(ε) of the noise. A class label receives no noise: it is released in the clear
/// unless another mechanism releases it.
///
/// ```
/// use scumble_classic::Gaussian;
/// use scumble_core::{Budget, Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = (1..=16).map(|at| format!("x{at}")).collect();
/// let people = RecordDomain::new(columns, Domain::unit_box(16), TargetDomain::None)?;
/// let mechanism = Gaussian::new(people, Budget::new(1.0, 1e-5)?)?;
/// assert!((mechanism.scale() - 4.0 * 3.7306316).abs() < 1e-5); // Δ₂ = 4
///
/// let guarantee = mechanism.guarantee();
/// let dp = guarantee.local_dp(Unit::Record).unwrap();
/// assert_eq!((dp.epsilon, dp.delta), (1.0, 1e-5));
/// assert!(dp.profile.unwrap().delta(2.0) < 1e-13); // far less beyond twice the ε
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gaussian(GaussianNoise);

impl AdditiveNoise for Gaussian {
    const NAME: &'static str = "gaussian";
    const THEOREM: &'static str = "the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8), with \
                                   the domain's ℓ₂ diameter as sensitivity, and a proven bound on what \
                                   discrete noise (Canonne, Kamath and Steinke 2020) adds to it";
    type Parameters = NoParameters;

    /// The ε of the budget: the noise spends the whole budget.
    fn epsilon(_parameters: &NoParameters, _set: &Domain, budget: &Budget) -> Result<f64> {
        budget.check_for_gaussian(Self::NAME)?;
        Ok(budget.epsilon())
    }

    fn calibrate(_parameters: &NoParameters, set: &Domain, budget: Budget) -> Result<Self> {
        Ok(Self(GaussianNoise::calibrated(set, budget)?))
    }

    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.0.add(point, stream)
    }

    fn add_to_all<'p>(&self, points: impl Iterator<Item = &'p mut [f64]>, stream: &mut Stream) -> Result<()> {
        self.0.add_to_all(points, stream)
    }

    fn described(&self) -> DescribedNoise {
        self.0.described(0)
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.0.log_likelihood(point, released).ok()
    }

    /// Claim at `epsilon` and `delta`, with the whole privacy profile δ(ε) of the noise.
    fn local_dp(&self, epsilon: f64, delta: f64) -> LocalDp {
        LocalDp::new(epsilon, delta).along(self.0.profile())
    }
}

register! {
    /// The plugin `gaussian`.
    pub const GAUSSIAN = {
        name: Gaussian::NAME,
        summary: "Gaussian noise on every number, scaled to the ℓ₂ diameter of the domain",
        paper: "Balle and Wang, Improving the Gaussian mechanism for differential privacy (2018)",
        noise: Gaussian,
        example: Example::mixed,
    };
}

impl Gaussian {
    /// Protects the record, or only the features if the label is a class.
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn new(domain: RecordDomain, budget: Budget) -> Result<Noisy<Self>> {
        Noisy::new(None, domain, budget, NoParameters {})
    }

    /// Adds noise to the portion `protect` of each record; the rest of the record is released in the clear.
    ///
    /// # Errors
    /// [`scumble_core::Error::NotApplicable`] if records have no such portion, if a class label would need
    /// noise, or if δ is zero. [`scumble_core::Error::Budget`] if ε and δ are so small that the noise does
    /// not fit the integers of the lattice.
    pub fn protecting(protect: Protect, domain: RecordDomain, budget: Budget) -> Result<Noisy<Self>> {
        Noisy::new(Some(protect), domain, budget, NoParameters {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Brief, Error, LocalMechanism, TargetDomain, Unit};

    fn domain(target: TargetDomain) -> RecordDomain {
        let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3).unwrap()]).unwrap();
        scumble_testing::records(features, target)
    }

    fn class() -> TargetDomain {
        TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
    }

    fn budget(epsilon: f64, delta: f64) -> Budget {
        Budget::new(epsilon, delta).unwrap()
    }

    /// σ for an ℓ₂ sensitivity of 1, from an independent solver.
    const SIGMA: f64 = 3.7306316348159463;

    #[test]
    fn the_scale_comes_from_all_that_is_protected() {
        let is = |mechanism: Result<Noisy<Gaussian>>, l2: f64| {
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
    fn the_claim_is_the_budget_and_a_point_of_its_profile() {
        let guarantee = Gaussian::new(domain(class()), budget(0.5, 1e-6)).unwrap().guarantee();
        assert_eq!(guarantee.local_dp(Unit::Record), None);
        let dp = guarantee.local_dp(Unit::Features).unwrap();
        assert_eq!((dp.epsilon, dp.delta), (0.5, 1e-6));
        let profile = dp.profile.unwrap();
        assert!(profile.delta(0.5) <= 1e-6 && profile.delta(0.5) > 0.999e-6, "{}", profile.delta(0.5));
    }

    #[test]
    fn without_a_delta_it_does_not_apply() {
        let refused = Gaussian::new(domain(class()), budget(1.0, 0.0));
        assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
    }

    #[test]
    fn a_number_changed_by_hand_is_checked_when_it_is_read() {
        let brief = Brief::new(domain(class()), budget(1.5, 1e-6));
        let saved = GAUSSIAN.design(&serde_json::Value::Null, &brief).unwrap().state().to_string();
        let changes = [("1.5", "-1.5"), ("1e-6", "2.0"), ("1e-6", "0.0"), ("\"levels\":3", "\"levels\":1")];
        scumble_testing::refuses_changes(&GAUSSIAN, &saved, &changes);
    }
}
