//! What of a record a design protects, where a mechanism by itself protects less than is asked for, or more.

use scumble_core::{
    Brief, Budget, Design, Error, Guarantee, Notion, Pace, Plugin, Protect, Registry, Result, TargetDomain,
    Unit, Volunteers,
};
use serde_json::Value;

/// The label's share of ε where none is said.
pub const LABEL_SHARE: f64 = 0.5;

/// How a mechanism comes to protect what is asked for of a record: the one rule for every design and every comparison.
///
/// ```
/// use scumble_classic::PIECEWISE;
/// use scumble_core::{Brief, Budget, Domain, Protect, RecordDomain, Registry, TargetDomain, Unit};
/// use scumble_custody::{Arrangement, LABEL_SHARE};
///
/// let levels = vec!["no".into(), "yes".into()];
/// let people =
///     RecordDomain::new(vec!["height".into()], Domain::unit_box(1), TargetDomain::Class { levels })?;
/// let brief = Brief::new(people, Budget::pure(4.0)?);
/// let none = serde_json::Value::Null;
/// // By itself it leaves a class in the clear: of the whole record it takes the features, and randomised response the label.
/// let arrangement = Arrangement::find(&PIECEWISE, &none, &brief, Some(Protect::Record))?;
/// assert_eq!(arrangement, Arrangement::WithLabel);
/// let design = arrangement.design(&Registry::installed()?, &PIECEWISE, &none, &brief, LABEL_SHARE)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 4.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// By itself: it takes the whole record.
    Alone,
    /// It takes the features, and the label has a mechanism of its own: randomised response for a class, Laplace noise for a number.
    WithLabel,
    /// It takes this part of the record, and the rest is disclosed.
    Part(Protect),
}

/// What is asked for: what is said, else what the mechanism's own parameter `protect` says.
pub fn asked(said: Option<Protect>, parameters: &Value) -> Option<Protect> {
    said.or_else(|| serde_json::from_value(parameters.get("protect")?.clone()).ok())
}

/// What of a record is protected: by differential privacy where any of it is, else by whatever is claimed.
pub fn protected(guarantee: &Guarantee) -> Option<Protect> {
    let by_any = || guarantee.protects(|_| true);
    match guarantee.protects(Notion::is_dp).or_else(by_any)? {
        Unit::Record => Some(Protect::Record),
        Unit::Features => Some(Protect::Features),
        Unit::Label => Some(Protect::Label),
        _ => None,
    }
}

impl Arrangement {
    /// The design by `plugin` that protects what is `said` of the brief's records, or its parameter `protect`, else the whole record;
    /// `label_share` gives the label a mechanism of its own.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for a share of the label where less than the whole record is asked for; else as [`find`](Self::find) and
    /// [`design`](Self::design).
    pub fn designed(
        registry: &Registry,
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        said: Option<Protect>,
        label_share: Option<f64>,
    ) -> Result<Design> {
        let (arrangement, alone) = match (label_share, said) {
            (None, said) => {
                let wanted = asked(said, parameters).unwrap_or(Protect::Record);
                Self::found(plugin, parameters, brief, Some(wanted))?
            }
            (Some(_), None | Some(Protect::Record)) => (Self::WithLabel, None),
            (Some(_), Some(less)) => {
                let reason = format!(
                    "a share of ε for the label is for the whole record, and not for the {less} alone"
                );
                return Err(Error::not_applicable(plugin.name, reason));
            }
        };
        match (arrangement, alone) {
            (Self::Alone, Some(alone)) => Ok(alone),
            _ => arrangement.design(registry, plugin, parameters, brief, label_share.unwrap_or(LABEL_SHARE)),
        }
    }

    /// How `plugin` comes to protect `wanted` of the brief's records; where nothing is wanted, the most that it can.
    ///
    /// # Errors
    /// As [`of`](Self::of), and as [`Plugin::design`].
    pub fn find(plugin: &Plugin, parameters: &Value, brief: &Brief, wanted: Option<Protect>) -> Result<Self> {
        Ok(Self::found(plugin, parameters, brief, wanted)?.0)
    }

    /// The same, with the design by which it was found, if that is of the brief.
    fn found(
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        wanted: Option<Protect>,
    ) -> Result<(Self, Option<Design>)> {
        let (alone, is_of_brief) = match plugin.descriptor.pace {
            // An infinite budget claims nothing: what a mechanism is shows at a finite one; or at any, where its parameters say the noise, which may cost more than
            // that one.
            Pace::Quick if brief.budget.epsilon().is_infinite() => {
                let finite = brief.with_budget(Budget::new(1.0, brief.budget.delta())?);
                (plugin.design(parameters, &finite).or_else(|_| plugin.design(parameters, brief))?, false)
            }
            Pace::Quick => (plugin.design(parameters, brief)?, true),
            // Its example says it without training for minutes.
            Pace::Slow => {
                let example = (plugin.example)()?;
                (plugin.design(&example.parameters, &example.brief)?, false)
            }
        };
        let guarantee = alone.mechanism().guarantee();
        let arrangement = Self::of(plugin.name, &guarantee, brief.domain.target(), wanted)?;
        Ok((arrangement, is_of_brief.then_some(alone)))
    }

    /// How the mechanism `name`, which by itself claims `alone` at a finite ε, comes to protect `wanted` of records with this target;
    /// where nothing is wanted, the most that it can. What claims nothing by itself is left alone.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where it protects less than is wanted, with what to ask for; and where there is no label to protect.
    pub fn of(name: &str, alone: &Guarantee, target: &TargetDomain, wanted: Option<Protect>) -> Result<Self> {
        let Some(own) = protected(alone) else {
            return Ok(Self::Alone);
        };
        if *target == TargetDomain::None {
            return match wanted {
                Some(Protect::Label) => {
                    Err(Error::not_applicable(name, "there is no label to protect: no column is the target"))
                }
                _ => Ok(Self::Alone), // the features are all there is
            };
        }
        let can_be_completed = alone.local_dp(Unit::Features).is_some() && label_mechanism(target).is_some();
        match (wanted, own) {
            (None | Some(Protect::Record), Protect::Features) if can_be_completed => Ok(Self::WithLabel),
            (Some(Protect::Record), Protect::Features) => Err(less(name, "features")),
            (Some(Protect::Record), Protect::Label) => Err(less(name, "label")),
            (Some(part), own) if part != own => Ok(Self::Part(part)),
            _ => Ok(Self::Alone),
        }
    }

    /// What of a record is then protected, where the mechanism by itself claims `alone` at a finite ε.
    pub fn protects(self, alone: &Guarantee) -> Option<Protect> {
        match self {
            Self::Alone => protected(alone),
            Self::WithLabel => Some(Protect::Record),
            Self::Part(part) => Some(part),
        }
    }

    /// The design by `plugin` in this arrangement, at the brief's budget. Of ε a label with a mechanism of its own gets `label_share`,
    /// and of δ nothing, for which its mechanism has no use.
    ///
    /// # Errors
    /// [`Error::Budget`] for a share that is not strictly between zero and one, else as [`Plugin::design`].
    pub fn design(
        self,
        registry: &Registry,
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        label_share: f64,
    ) -> Result<Design> {
        let Brief { domain, budget, .. } = brief;
        let (features, label) = (domain.without_target(), domain.without_features());
        let other = |name: &str, domain, budget| {
            registry.get(name)?.design(&Value::Null, &Brief::new(domain, budget))
        };
        let parts = match self {
            Self::Part(Protect::Features) => {
                let own = plugin.design(parameters, &brief.for_part(features)?)?;
                vec![own, other(IDENTITY, label, *budget)?]
            }
            Self::Part(Protect::Label) => {
                let brief = Brief { volunteers: Volunteers::None, ..brief.for_part(label)? };
                vec![other(IDENTITY, features, *budget)?, plugin.design(parameters, &brief)?]
            }
            Self::WithLabel if budget.epsilon().is_finite() => {
                let Some(of_label) = label_mechanism(domain.target()) else {
                    return Err(Error::not_applicable(
                        plugin.name,
                        "there is no label that could take noise",
                    ));
                };
                let (share, rest) = budget.split(label_share)?;
                let own = brief.for_part(features)?.with_budget(Budget::new(rest.epsilon(), budget.delta())?);
                let own = plugin.design(parameters, &own)?;
                vec![own, other(of_label, label, Budget::pure(share.epsilon())?)?]
            }
            Self::Alone | Self::WithLabel | Self::Part(Protect::Record) => {
                return plugin.design(parameters, brief);
            }
        };
        Design::composed(domain.clone(), parts)
    }
}

/// The mechanism that discloses a part of the record.
const IDENTITY: &str = "identity";

/// The mechanism that releases a label by itself, where one does.
pub(crate) fn label_mechanism(target: &TargetDomain) -> Option<&'static str> {
    match target {
        TargetDomain::Class { .. } => Some("randomized-response"),
        TargetDomain::Real { .. } => Some("laplace"),
        _ => None,
    }
}

fn less(name: &str, own: &str) -> Error {
    let reason = format!("it protects the {own}, and not the whole record; --protect {own} asks for no more");
    Error::not_applicable(name, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_classic::LAPLACE;
    use scumble_core::{Domain, RecordDomain};
    use serde_json::json;

    /// Fisher information of 10⁴ is noise of ε = 100.
    #[test]
    fn an_infinite_budget_takes_whatever_noise_the_parameters_say() {
        let domain = RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap();
        let find = |epsilon: f64| {
            let brief = Brief::new(domain.clone(), Budget::pure(epsilon).unwrap());
            Arrangement::find(&LAPLACE, &json!({ "information": 1e4 }), &brief, Some(Protect::Record))
        };
        assert_eq!(find(f64::INFINITY).unwrap(), Arrangement::Alone);
        assert!(find(1.0).unwrap_err().to_string().contains("the budget is ε = 1"));
    }
}
