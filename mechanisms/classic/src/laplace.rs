//! Laplace mechanism. Its noise is a random integer number of lattice steps.

use schemars::JsonSchema;
use scumble_core::{
    Budget, Claim, CramerRao, DescribedNoise, Domain, Error, Example, Factor, Notion, Portion, Protect,
    RecordDomain, Result, Stream, Unit,
};
use scumble_noise::{AdditiveNoise, LaplaceNoise, Noisy, register};
use serde::{Deserialize, Serialize};

/// Laplace noise of scale Δ₁/ε on every number, where Δ₁ is the ℓ₁ diameter of the domain.
///
/// A one-hot group adds 2 to Δ₁, whatever its width. A class label receives no noise: it is released in the
/// clear unless another mechanism releases it (see [`Composed`](scumble_core::Composed)).
///
/// ```
/// use scumble_classic::Laplace;
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = vec!["height".into(), "weight".into()];
/// let people = RecordDomain::new(columns, Domain::unit_box(2), TargetDomain::None)?;
/// let mechanism = Laplace::new(people, 0.5)?;
/// assert_eq!(mechanism.scale().round(), 4.0); // Δ₁ = 2
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 0.5);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Laplace {
    noise: LaplaceNoise,
    by_information: bool,
}

/// Parameters of `laplace`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Fisher information of a released number about the true number, per squared unit of the encoded record
    /// (a schema scales each numeric column to [0, 1]). Noise of scale b has the Fisher information 1/b². By
    /// default, b follows from the budget. If this parameter is given, ε follows from it, and the budget is
    /// an upper limit for this ε.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    information: Option<f64>,
}

impl AdditiveNoise for Laplace {
    const NAME: &'static str = "laplace";
    const THEOREM: &'static str = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, \
                                   Proposition 1) on integers, with the domain's ℓ₁ diameter as sensitivity";
    type Parameters = Parameters;

    /// Δ₁·√`information` if the parameter `information` is given, else the ε of the budget. Δ₁ is the ℓ₁
    /// diameter of `set`.
    fn epsilon(parameters: &Parameters, set: &Domain, budget: &Budget) -> Result<f64> {
        let Some(information) = parameters.information else { return Ok(budget.epsilon()) };
        let fits = information > 0.0 && information.is_finite();
        Error::check(Self::NAME, "information", information, "finite and above zero", fits)?;
        match set.l1_diameter() * information.sqrt() {
            0.0 => {
                let nothing = "the domain has only one record, so there is nothing to hide";
                Err(Error::not_applicable(Self::NAME, nothing))
            }
            epsilon => Ok(epsilon),
        }
    }

    fn calibrate(parameters: &Parameters, set: &Domain, budget: Budget) -> Result<Self> {
        let noise = LaplaceNoise::calibrated(set, budget.epsilon())?;
        Ok(Self { noise, by_information: parameters.information.is_some() })
    }

    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.noise.add(point, stream)
    }

    fn add_to_all<'p>(&self, points: impl Iterator<Item = &'p mut [f64]>, stream: &mut Stream) -> Result<()> {
        self.noise.add_to_all(points, stream)
    }

    fn described(&self) -> DescribedNoise {
        self.noise.described(0)
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.noise.log_likelihood(point, released).ok()
    }

    /// Claim about the Cramér–Rao error of the features, if the parameter `information` determined the noise.
    fn additional_claims(&self, portion: &Portion, unit: Unit) -> Vec<Claim> {
        if !self.by_information {
            return vec![];
        }
        // The values of a level are only 0 and 1, with none in between. The Cramér–Rao bound therefore does
        // not limit the error of an adversary that knows that the column contains levels.
        let per_column = portion.domain.features().factors().flat_map(|(at, factor)| match factor {
            Factor::OneHot { .. } => vec![f64::INFINITY; at.len()],
            _ => vec![self.noise.information(); at.len()],
        });
        let information = portion.domain.columns().iter().cloned().zip(per_column).collect();
        vec![Claim {
            notion: Notion::CramerRao(CramerRao { information, joint: None }),
            protects: unit,
            theorem: "the bound of Hammersley (1950) and Chapman and Robbins (1951) for lattice noise".into(),
        }]
    }
}

register! {
    /// The plugin `laplace`.
    pub const LAPLACE = {
        name: Laplace::NAME,
        summary: "Laplace noise on every number, scaled to the ℓ₁ diameter of the domain",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis \
                (2006)",
        noise: Laplace,
        example: Example::mixed,
    };
}

impl Laplace {
    /// Protects the record, or only the features if the label is a class.
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn new(domain: RecordDomain, epsilon: f64) -> Result<Noisy<Self>> {
        Noisy::new(None, domain, Budget::pure(epsilon)?, Parameters::default())
    }

    /// Adds noise to the portion `protect` of each record; the rest of the record is released in the clear.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if records have no such portion, or if a class label would need noise.
    /// [`Error::Budget`] unless ε > 0 (ε = ∞ adds no noise).
    pub fn protecting(protect: Protect, domain: RecordDomain, epsilon: f64) -> Result<Noisy<Self>> {
        Noisy::new(Some(protect), domain, Budget::pure(epsilon)?, Parameters::default())
    }

    /// Adds noise to the portion `protect` of each record. A released number then has the Fisher information
    /// `information` about the true number.
    ///
    /// `information` is per squared unit of the encoded record, in which a schema scales each numeric column
    /// to [0, 1]. The noise has the scale b with b² = 1/`information`, and ε = Δ₁/b, where Δ₁ is the ℓ₁
    /// diameter of the portion. The guarantee claims both ε and the Cramér–Rao error. The mechanism can
    /// therefore be compared to other noise that is designed to have a given Fisher information (Farokhi
    /// 2020, Section 3.2).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `information` is finite and above zero. [`Error::NotApplicable`] if the
    /// portion has only one possible value. Also the errors of [`protecting`](Self::protecting).
    pub fn with_information(protect: Protect, domain: RecordDomain, information: f64) -> Result<Noisy<Self>> {
        let parameters = Parameters { information: Some(information) };
        Noisy::new(Some(protect), domain, Budget::pure(f64::INFINITY)?, parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use scumble_core::{Brief, LocalMechanism, Randomness, TargetDomain};

    fn domain(target: TargetDomain) -> RecordDomain {
        let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3).unwrap()]).unwrap();
        scumble_testing::records(features, target)
    }

    fn numeric() -> TargetDomain {
        TargetDomain::Real { lower: 0.0, upper: 1.0 }
    }

    fn class() -> TargetDomain {
        TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
    }

    #[test]
    fn the_scale_comes_from_all_that_is_protected() {
        let scale = |mechanism: Result<Noisy<Laplace>>| (mechanism.unwrap().scale() * 1e6).round() / 1e6;
        assert_eq!(scale(Laplace::new(domain(TargetDomain::None), 2.0)), 2.0); // (1 + 1 + 2)/2
        assert_eq!(scale(Laplace::new(domain(class()), 2.0)), 2.0);
        assert_eq!(scale(Laplace::new(domain(numeric()), 2.0)), 2.5);
        assert_eq!(scale(Laplace::protecting(Protect::Label, domain(numeric()), 2.0)), 0.5);
    }

    #[test]
    fn a_label_in_clear_is_disclosed_and_not_claimed() {
        let guarantee = Laplace::new(domain(class()), 1.0).unwrap().guarantee();
        assert_eq!(guarantee.local_dp(Unit::Record), None);
        assert_eq!(guarantee.local_dp(Unit::Features).unwrap().epsilon, 1.0);
        assert!(guarantee.discloses[0].contains("label"), "{guarantee}");
        let whole = Laplace::new(domain(numeric()), 1.0).unwrap().guarantee();
        assert!(whole.discloses.is_empty() && whole.local_dp(Unit::Record).is_some(), "{whole}");
    }

    #[test]
    fn equal_information_is_twice_the_variance_of_gaussian_noise() {
        let information = 1e-2; // √λ for λ = 10⁻⁴
        let mechanism = Laplace::with_information(Protect::Features, domain(class()), information).unwrap();
        assert!((mechanism.scale() - 10.0).abs() < 1e-6);
        let variance = mechanism.noise().feature_variance().unwrap()[0];
        assert!((variance / 200.0 - 1.0).abs() < 1e-6, "{variance}");
        let guarantee = mechanism.guarantee();
        assert!((guarantee.local_dp(Unit::Features).unwrap().epsilon - 0.4).abs() < 1e-9); // Δ₁ = 4
        let Notion::CramerRao(bound) = &guarantee.claims[1].notion else { panic!("{guarantee}") };
        assert!((bound.error() / 200.0 - 1.0).abs() < 1e-9, "{}", bound.error()); // of two numbers
    }

    #[test]
    fn the_budget_is_a_ceiling_for_what_information_costs() {
        let brief = |epsilon| Brief::new(domain(class()), scumble_core::Budget::pure(epsilon).unwrap());
        let parameters = serde_json::json!({ "information": 1e-2 });
        assert!(LAPLACE.design(&parameters, &brief(0.5)).is_ok());
        assert!(LAPLACE.design(&parameters, &brief(f64::INFINITY)).is_ok());
        let refused = LAPLACE.design(&parameters, &brief(0.3)).unwrap_err().to_string();
        assert!(refused.contains("ε = 0.4 ") && refused.contains("0.3"), "{refused}");
        for (information, protect) in [(0.0, "features"), (f64::MAX, "label"), (-1.0, "features")] {
            let parameters = serde_json::json!({ "information": information, "protect": protect });
            assert!(LAPLACE.design(&parameters, &brief(f64::INFINITY)).is_err());
        }
    }

    #[test]
    fn a_class_label_takes_no_noise() {
        for protect in [Protect::Label, Protect::Record] {
            let refused = Laplace::protecting(protect, domain(class()), 1.0);
            assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
        }
    }

    #[test]
    fn a_number_changed_by_hand_is_checked_when_it_is_read() {
        let brief = Brief::new(domain(class()), Budget::pure(1.5).unwrap());
        let saved = LAPLACE.design(&serde_json::Value::Null, &brief).unwrap().state().to_string();
        let changes = [("1.5", "-1.5"), ("\"levels\":3", "\"levels\":1"), ("\"epsilon\"", "\"epsilom\"")];
        scumble_testing::refuses_changes(&LAPLACE, &saved, &changes);
    }

    #[test]
    fn a_point_of_another_width_is_refused() {
        let mechanism = Laplace::new(domain(TargetDomain::None), 1.0).unwrap();
        assert!(mechanism.perturb(&mut [0.0; 4], &mut Randomness::seeded(1).streams().stream(0)).is_err());
    }
}
