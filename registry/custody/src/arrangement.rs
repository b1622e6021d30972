//! Arrangements, which make a design protect the requested part of a record. They are for mechanisms that
//! protect less or more than that part if applied to the whole record.

use scumble_core::{
    Brief, Budget, Design, Error, Guarantee, Notion, Pace, Plugin, Protect, Registry, Result, TargetDomain,
    Unit, Volunteers,
};
use serde_json::Value;

/// Default fraction of ε for the label, if a separate mechanism releases the label.
pub const LABEL_SHARE: f64 = 0.5;

/// Way to use a mechanism in a design, so that the design protects the requested part of a record. All
/// designs and comparisons choose the arrangement by the rule of [`choose`](Self::choose).
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
/// // Alone, the mechanism leaves a class in the clear. To protect the whole record, it releases the
/// // features, and randomised response releases the label.
/// let arrangement = Arrangement::find(&PIECEWISE, &none, &brief, Some(Protect::Record))?;
/// assert_eq!(arrangement, Arrangement::WithLabel);
/// let design = arrangement.design(&Registry::installed()?, &PIECEWISE, &none, &brief, LABEL_SHARE)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 4.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// The mechanism on the whole record, without another mechanism.
    Alone,
    /// The mechanism on the features, and another mechanism on the label: randomised response for a class,
    /// Laplace noise for a number.
    WithLabel,
    /// The mechanism on this part of the record. The rest of the record is released in the clear.
    Part(Protect),
}

/// Requested protection: `requested`, or else the mechanism's own parameter `protect`.
pub fn asked(requested: Option<Protect>, parameters: &Value) -> Option<Protect> {
    requested.or_else(|| serde_json::from_value(parameters.get("protect")?.clone()).ok())
}

/// Part of a record that the guarantee protects. Claims of differential privacy take precedence over other
/// claims.
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
    /// Designs a mechanism of `plugin` for the records that the [`Brief`] describes, so that the design
    /// protects the requested part of a record. That part is `requested`, or else the mechanism's own
    /// parameter `protect`, or else the whole record. If `label_share` is given, a separate mechanism
    /// releases the label at this fraction of ε.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if `label_share` is given and less than the whole record is requested; same
    /// errors as [`find`](Self::find) and [`design`](Self::design).
    pub fn designed(
        registry: &Registry,
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        requested: Option<Protect>,
        label_share: Option<f64>,
    ) -> Result<Design> {
        let (arrangement, alone) = match (label_share, requested) {
            (None, requested) => {
                let protect = asked(requested, parameters).unwrap_or(Protect::Record);
                Self::found(plugin, parameters, brief, Some(protect))?
            }
            (Some(_), None | Some(Protect::Record)) => (Self::WithLabel, None),
            (Some(_), Some(less)) => {
                let reason = format!(
                    "a share of ε for the label needs the whole record to be protected, not the {less} alone"
                );
                return Err(Error::not_applicable(plugin.name, reason));
            }
        };
        match (arrangement, alone) {
            (Self::Alone, Some(alone)) => Ok(alone),
            _ => arrangement.design(registry, plugin, parameters, brief, label_share.unwrap_or(LABEL_SHARE)),
        }
    }

    /// Finds the arrangement by which `plugin` protects the part `protect` of the records that the [`Brief`]
    /// describes. Without `protect`, the arrangement protects as much as possible.
    ///
    /// # Errors
    /// Same errors as [`choose`](Self::choose) and [`Plugin::design`].
    pub fn find(
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        protect: Option<Protect>,
    ) -> Result<Self> {
        Ok(Self::found(plugin, parameters, brief, protect)?.0)
    }

    /// Finds the arrangement, as [`find`](Self::find) does. The search designs the mechanism for `brief`, or
    /// for a brief with a finite ε or of the plugin's example. Also returns this design if it was made for
    /// `brief`.
    fn found(
        plugin: &Plugin,
        parameters: &Value,
        brief: &Brief,
        protect: Option<Protect>,
    ) -> Result<(Self, Option<Design>)> {
        let (alone, is_of_brief) = match plugin.descriptor.pace {
            // At an infinite ε the mechanism's guarantee has no claims, so the mechanism is designed at ε = 1
            // to find the claims of its guarantee. If the parameters set noise that costs more than ε = 1,
            // the design uses the budget of `brief`.
            Pace::Quick if brief.budget.epsilon().is_infinite() => {
                let finite = brief.with_budget(Budget::new(1.0, brief.budget.delta())?);
                (plugin.design(parameters, &finite).or_else(|_| plugin.design(parameters, brief))?, false)
            }
            Pace::Quick => (plugin.design(parameters, brief)?, true),
            // The plugin's example shows the guarantee without minutes of training.
            Pace::Slow => {
                let example = (plugin.example)()?;
                (plugin.design(&example.parameters, &example.brief)?, false)
            }
        };
        let guarantee = alone.mechanism().guarantee();
        let arrangement = Self::choose(plugin.name, &guarantee, brief.domain.target(), protect)?;
        Ok((arrangement, is_of_brief.then_some(alone)))
    }

    /// Chooses the arrangement for the mechanism `name`. `alone` is the guarantee of the mechanism on the
    /// whole record, at a finite ε. The arrangement protects the part `protect` of records with this target,
    /// or as much as possible without `protect`. A mechanism whose guarantee protects nothing gets
    /// [`Alone`](Self::Alone).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the mechanism protects less than `protect`; the message names the
    /// protection to request instead. [`Error::NotApplicable`] also if `protect` is the label and the records
    /// have no target.
    pub fn choose(
        name: &str,
        alone: &Guarantee,
        target: &TargetDomain,
        protect: Option<Protect>,
    ) -> Result<Self> {
        let Some(own) = protected(alone) else {
            return Ok(Self::Alone);
        };
        if *target == TargetDomain::None {
            return match protect {
                Some(Protect::Label) => Err(Error::not_applicable(
                    name,
                    "no column is the target, so the records have no label \
                                                     to protect",
                )),
                _ => Ok(Self::Alone), // the record consists of features only
            };
        }
        let can_be_completed = alone.local_dp(Unit::Features).is_some() && label_mechanism(target).is_some();
        match (protect, own) {
            (None | Some(Protect::Record), Protect::Features) if can_be_completed => Ok(Self::WithLabel),
            (Some(Protect::Record), Protect::Features) => Err(less(name, "features")),
            (Some(Protect::Record), Protect::Label) => Err(less(name, "label")),
            (Some(part), own) if part != own => Ok(Self::Part(part)),
            _ => Ok(Self::Alone),
        }
    }

    /// Part of a record that this arrangement protects. `alone` is the guarantee of the mechanism on the
    /// whole record, at a finite ε.
    pub fn protects(self, alone: &Guarantee) -> Option<Protect> {
        match self {
            Self::Alone => protected(alone),
            Self::WithLabel => Some(Protect::Record),
            Self::Part(part) => Some(part),
        }
    }

    /// Designs a mechanism of `plugin` in this arrangement, at the budget of the [`Brief`]. A separate
    /// mechanism for the label gets the fraction `label_share` of ε, and no part of δ, because it does not
    /// use δ.
    ///
    /// # Errors
    /// [`Error::Budget`] unless `label_share` is strictly between zero and one; same errors as
    /// [`Plugin::design`].
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
                let Some(label_plugin) = label_mechanism(domain.target()) else {
                    return Err(Error::not_applicable(
                        plugin.name,
                        "noise cannot be added to a label of this kind",
                    ));
                };
                let (share, rest) = budget.split(label_share)?;
                let own = brief.for_part(features)?.with_budget(Budget::new(rest.epsilon(), budget.delta())?);
                let own = plugin.design(parameters, &own)?;
                vec![own, other(label_plugin, label, Budget::pure(share.epsilon())?)?]
            }
            Self::Alone | Self::WithLabel | Self::Part(Protect::Record) => {
                return plugin.design(parameters, brief);
            }
        };
        Design::composed(domain.clone(), parts)
    }
}

/// Name of the mechanism that releases a part of the record in the clear.
const IDENTITY: &str = "identity";

/// Name of the mechanism that releases only a label, if there is one for this target.
pub(crate) fn label_mechanism(target: &TargetDomain) -> Option<&'static str> {
    match target {
        TargetDomain::Class { .. } => Some("randomized-response"),
        TargetDomain::Real { .. } => Some("laplace"),
        _ => None,
    }
}

fn less(name: &str, own: &str) -> Error {
    let reason = format!("it protects only the {own}, not the whole record; --protect {own} accepts this");
    Error::not_applicable(name, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_classic::LAPLACE;
    use scumble_core::{Domain, RecordDomain};
    use serde_json::json;

    /// Checks noise of Fisher information 10⁴, which corresponds to ε = 100.
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
