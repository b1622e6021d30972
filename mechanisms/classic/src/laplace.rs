//! The Laplace mechanism on the integers of a lattice.

use crate::portion::{Portion, Protect};
use schemars::JsonSchema;
use scumble_registry::{
    Brief, Claim, CramerRao, Domain, Error, Example, Factor, Guarantee, LaplaceNoise, LocalMechanism,
    Mechanism, Noise, Notion, Perturbation, Randomness, RecordDomain, Release, Result, Stream, Table, Unit,
    local, register,
};
use serde::{Deserialize, Serialize};

const NAME: &str = "laplace";

/// Laplace noise of scale Δ₁/ε on every number, with Δ₁ the ℓ₁ diameter of the domain.
///
/// One-hot groups count 2 each, whatever their width. A class label takes no noise: it leaves in clear unless something
/// else releases it (see [`Composed`](scumble_registry::Composed)).
///
/// ```
/// use scumble_classic::Laplace;
/// use scumble_registry::{Domain, Mechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = vec!["height".into(), "weight".into()];
/// let people = RecordDomain::new(columns, Domain::unit_box(2), TargetDomain::None)?;
/// let mechanism = Laplace::new(people, 0.5)?;
/// assert_eq!(mechanism.scale().round(), 4.0); // Δ₁ = 2
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 0.5);
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Laplace {
    portion: Portion,
    /// Whether it was designed from the information that a released number has, and says so.
    by_information: bool,
    /// None at ε = ∞.
    noise: Option<LaplaceNoise>,
}

/// All that a saved one holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    domain: RecordDomain,
    protect: Protect,
    #[serde(with = "scumble_registry::number")]
    epsilon: f64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    by_information: bool,
}

impl From<Laplace> for Saved {
    fn from(laplace: Laplace) -> Self {
        let Laplace { portion: Portion { domain, protect, epsilon }, by_information, .. } = laplace;
        Self { domain, protect, epsilon, by_information }
    }
}

impl TryFrom<Saved> for Laplace {
    type Error = Error;

    fn try_from(Saved { domain, protect, epsilon, by_information }: Saved) -> Result<Self> {
        Ok(Self { by_information, ..Portion { domain, protect, epsilon }.try_into()? })
    }
}

impl TryFrom<Portion> for Laplace {
    type Error = Error;

    fn try_from(portion: Portion) -> Result<Self> {
        portion.check_takes_noise(NAME)?;
        let set = portion.set(NAME)?;
        let noise = match portion.epsilon {
            f64::INFINITY => None,
            epsilon => Some(LaplaceNoise::calibrated(&set, epsilon)?),
        };
        Ok(Self { portion, by_information: false, noise })
    }
}

impl Laplace {
    /// Protects all that it can: the record, or the features where the label is a class.
    ///
    /// # Errors
    /// As [`protecting`](Self::protecting).
    pub fn new(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Portion::of_numbers(domain, epsilon).try_into()
    }

    /// Noise on this portion of each record; the rest leaves in clear.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where there is no such portion, or a class label would need noise;
    /// [`Error::Budget`] unless ε > 0 (infinity is no noise).
    pub fn protecting(protect: Protect, domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Portion { domain, protect, epsilon }.try_into()
    }

    /// Noise of which a released number has `information` about the true one, per squared unit of the encoded record: b² is
    /// 1/`information`, and ε is what follows, Δ₁/b. It claims the Cramér–Rao error beside ε, so that it stands beside noise that is
    /// designed by its Fisher information at equal terms (Farokhi, Section 3.2).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `information` is finite and above zero, [`Error::NotApplicable`] where no feature takes noise; else as
    /// [`protecting`](Self::protecting).
    pub fn of_information(protect: Protect, domain: RecordDomain, information: f64) -> Result<Self> {
        if !(information > 0.0 && information.is_finite()) {
            let problem = format!("information must be finite and above zero, and {information} is not");
            return Err(Error::Parameter { plugin: NAME.into(), problem });
        }
        let portion = Portion { domain, protect, epsilon: 1.0 };
        if portion.coordinates().start > 0 || portion.domain.columns().is_empty() {
            return Err(Error::not_applicable(NAME, "information is that of features, and none takes noise"));
        }
        let epsilon = portion.set(NAME)?.l1_diameter() * information.sqrt();
        if epsilon == 0.0 {
            let nothing = "all records of the domain are one: there is nothing to hide";
            return Err(Error::not_applicable(NAME, nothing));
        }
        Ok(Self { by_information: true, ..Portion { epsilon, ..portion }.try_into()? })
    }

    /// The scale b = Δ₁/ε of the noise, in units of the encoded record; 0 at ε = ∞.
    pub fn scale(&self) -> f64 {
        self.noise.as_ref().map_or(0.0, LaplaceNoise::scale)
    }
}

#[typetag::serde(name = "laplace")]
impl Mechanism for Laplace {
    fn domain(&self) -> &RecordDomain {
        &self.portion.domain
    }

    fn guarantee(&self) -> Guarantee {
        let theorem = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers, \
                       with the domain's ℓ₁ diameter as sensitivity";
        let mut guarantee = self.portion.guarantee(theorem);
        if let (true, Some(noise), Some(claim)) = (self.by_information, &self.noise, guarantee.claims.first())
        {
            // Of a level there are no neighbouring values: nothing binds the error of one who knows that it is a level.
            let factors = self.portion.domain.features().factors();
            let of_each = factors.flat_map(|(at, factor)| match factor {
                Factor::OneHot { .. } => vec![f64::INFINITY; at.len()],
                _ => vec![noise.information(); at.len()],
            });
            let information = self.portion.domain.columns().iter().cloned().zip(of_each).collect();
            let bound = Claim {
                notion: Notion::CramerRao(CramerRao { information, joint: None }),
                protects: claim.protects,
                theorem: "the bound of Hammersley (1950) and Chapman and Robbins (1951) for lattice noise"
                    .into(),
            };
            guarantee.claims.push(bound);
        }
        guarantee
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for Laplace {
    fn range(&self) -> Domain {
        self.portion.domain.flat().clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.portion.domain.projected(record)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.portion.of(point)?;
        match &self.noise {
            Some(noise) => noise.add(portion, stream),
            None => Ok(()),
        }
    }

    fn noise(&self) -> Noise {
        self.portion.additive(self.noise.as_ref().map(LaplaceNoise::variance))
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.portion.of_both(point, released)?;
        self.noise.as_ref()?.log_likelihood(point, released).ok()
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let start = self.portion.coordinates().start;
        self.noise.iter().map(|noise| Perturbation::Additive(noise.described(start))).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.portion.worst_pairs(NAME, unit, Domain::l1_farthest)
    }
}

/// Parameters of `laplace`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// What takes noise: "record", "features" or "label". By default all that can: a class label cannot.
    protect: Option<Protect>,
    /// The Fisher information that a released number has of the true one, per squared unit of the encoded record: 1/b² for noise of
    /// scale b. By default b is that of the budget; with this the budget is a ceiling for the ε that follows.
    information: Option<f64>,
}

fn design(Parameters { protect, information }: Parameters, brief: &Brief) -> Result<Laplace> {
    let epsilon = brief.budget.epsilon();
    let by_default = Portion::of_numbers(brief.domain.clone(), epsilon);
    let portion = Portion { protect: protect.unwrap_or(by_default.protect), ..by_default };
    let Some(information) = information else {
        return portion.try_into();
    };
    let mechanism = Laplace::of_information(portion.protect, portion.domain, information)?;
    brief.check_ceiling(NAME, &mechanism.guarantee())?;
    Ok(mechanism)
}

register! {
    /// The plugin `laplace`.
    pub const LAPLACE = {
        name: NAME,
        summary: "Laplace noise on every number, from the ℓ₁ diameter of the domain",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)",
        side: Local,
        pace: Quick,
        parameters: Parameters,
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

    fn numeric() -> TargetDomain {
        TargetDomain::Real { lower: 0.0, upper: 1.0 }
    }

    fn class() -> TargetDomain {
        TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
    }

    #[test]
    fn the_scale_comes_from_all_that_is_protected() {
        let scale = |mechanism: Result<Laplace>| (mechanism.unwrap().scale() * 1e6).round() / 1e6;
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
        let mechanism = Laplace::of_information(Protect::Features, domain(class()), information).unwrap();
        assert!((mechanism.scale() - 10.0).abs() < 1e-6);
        let variance = mechanism.noise().feature_variance().unwrap()[0];
        assert!((variance / 200.0 - 1.0).abs() < 1e-6, "{variance}");
        let guarantee = mechanism.guarantee();
        assert!((guarantee.local_dp(Unit::Features).unwrap().epsilon - 0.4).abs() < 1e-9); // Δ₁ = 4
        let Notion::CramerRao(bound) = &guarantee.claims[1].notion else { panic!("{guarantee}") };
        assert!((bound.error() / 200.0 - 1.0).abs() < 1e-9, "{}", bound.error()); // of two numbers
        let saved = serde_json::to_string(&mechanism).unwrap();
        assert_eq!(serde_json::from_str::<Laplace>(&saved).unwrap().guarantee(), guarantee);
    }

    #[test]
    fn the_budget_is_a_ceiling_for_what_information_costs() {
        let brief = |epsilon| Brief::new(domain(class()), scumble_registry::Budget::pure(epsilon).unwrap());
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
        let saved = serde_json::to_string(&Laplace::new(domain(class()), 1.5).unwrap()).unwrap();
        assert!(serde_json::from_str::<Laplace>(&saved).is_ok());
        for (from, to) in [("1.5", "-1.5"), ("\"levels\":3", "\"levels\":1"), ("\"epsilon\"", "\"epsilom\"")]
        {
            let changed = saved.replace(from, to);
            assert_ne!(changed, saved);
            assert!(serde_json::from_str::<Laplace>(&changed).is_err(), "{changed} was accepted");
        }
    }

    #[test]
    fn a_point_of_another_width_is_refused() {
        let mechanism = Laplace::new(domain(TargetDomain::None), 1.0).unwrap();
        assert!(mechanism.perturb(&mut [0.0; 4], &mut Randomness::seeded(1).streams().stream(0)).is_err());
    }
}
