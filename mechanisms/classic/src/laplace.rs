//! The Laplace mechanism on the integers of a lattice.

use crate::portion::{Portion, Protect, TakesNoise};
use scumble_registry::{
    Brief, Domain, Error, Example, Guarantee, LaplaceNoise, LocalMechanism, Mechanism, Noise, Randomness,
    RecordDomain, Release, Result, Stream, Table, Unit, local, register,
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
#[serde(try_from = "Portion", into = "Portion")]
pub struct Laplace {
    portion: Portion,
    /// None at ε = ∞.
    noise: Option<LaplaceNoise>,
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
        Ok(Self { portion, noise })
    }
}

impl From<Laplace> for Portion {
    fn from(laplace: Laplace) -> Self {
        laplace.portion
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
        self.portion.guarantee(theorem)
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

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.portion.worst_pairs(NAME, unit, Domain::l1_farthest)
    }
}

fn design(parameters: TakesNoise, brief: &Brief) -> Result<Laplace> {
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    match parameters.protect {
        Some(protect) => Laplace::protecting(protect, domain, epsilon),
        None => Laplace::new(domain, epsilon),
    }
}

register! {
    /// The plugin `laplace`.
    pub const LAPLACE = {
        name: NAME,
        summary: "Laplace noise on every number, from the ℓ₁ diameter of the domain",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)",
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
