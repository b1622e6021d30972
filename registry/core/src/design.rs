//! Designs. A *design* is a mechanism together with the plugin that made it.

use crate::{
    Designed, Error, LocalMechanism, Notion, RecordDomain, Result, ShapedBy, Table, Unit, Volunteers,
    check_delta, composed,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Mechanism with its origin, the plugin that designed it. The design also notes the kind and number of the
/// volunteers (people whose records may shape a design) whose records the designer had.
/// [`check_volunteers`](Self::check_volunteers) reads these notes.
#[derive(Debug, Clone)]
pub struct Design {
    origin: Origin,
    /// State from which the mechanism can be built again. Nothing else of the mechanism is saved.
    state: Value,
    mechanism: Designed,
    /// Volunteers whose records the designer had. None, if the design was loaded from a file.
    at_hand: AtHand,
}

/// Kind and number of the volunteers whose records the designer had.
#[derive(Debug, Clone, Copy, Default)]
struct AtHand {
    whose: ShapedBy,
    count: usize,
}

impl AtHand {
    fn from_volunteers(volunteers: &Volunteers) -> Self {
        Self { whose: volunteers.shaped_by(), count: volunteers.table().map_or(0, Table::len) }
    }

    /// Volunteers of all parts of a composition. All parts come from one brief, so each has the same
    /// volunteers or none.
    fn merge(parts: &[Design]) -> Self {
        let parts = || parts.iter().map(|part| part.at_hand);
        Self {
            whose: parts().map(|at_hand| at_hand.whose).max().unwrap_or_default(),
            count: parts().map(|at_hand| at_hand.count).max().unwrap_or_default(),
        }
    }
}

/// Saved state of a composition.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComposedState {
    pub(crate) domain: RecordDomain,
    pub(crate) parts: Vec<Value>,
}

/// Plugin that designed a mechanism, or plugins that designed the parts of a composition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the plugin; [`COMPOSED`](Self::COMPOSED) for a composition made by [`Design::composed`].
    pub plugin: String,
    /// Version of the plugin.
    pub plugin_version: String,
    /// Origins of the parts of a composition made by [`Design::composed`]; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Origin>,
}

/// Prints the plugin with its version, and the plugins of the parts with their versions.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.plugin, self.plugin_version)?;
        let parts: Vec<String> = self.parts.iter().map(Self::to_string).collect();
        if parts.is_empty() { Ok(()) } else { write!(formatter, " of {}", parts.join(", ")) }
    }
}

impl Origin {
    /// Name in place of a plugin's name for a composition made by [`Design::composed`].
    pub const COMPOSED: &str = "composed";
}

impl Design {
    /// Design made by a plugin.
    pub(crate) fn by_plugin(
        (plugin, version): (&str, &str),
        state: Value,
        mechanism: Designed,
        volunteers: &Volunteers,
    ) -> Self {
        let origin = Origin { plugin: plugin.into(), plugin_version: version.into(), parts: vec![] };
        Self { at_hand: AtHand::from_volunteers(volunteers), ..Self::built(origin, state, mechanism) }
    }

    /// Design built from a saved state, without volunteers' records.
    pub(crate) fn built(origin: Origin, state: Value, mechanism: Designed) -> Self {
        Self { origin, state, mechanism, at_hand: AtHand::default() }
    }

    /// Composes designs into one for records of `domain`. Each design reads the columns that it was designed
    /// for, and the target if it was designed for one. A single design for all of `domain` is returned
    /// unchanged.
    ///
    /// # Errors
    /// Same errors as [`composed`](crate::composed()). Also the errors of
    /// [`check_volunteers`](Self::check_volunteers) for each part and for the composition.
    pub fn composed(domain: RecordDomain, parts: Vec<Self>) -> Result<Self> {
        let origin = Origin {
            plugin: Origin::COMPOSED.into(),
            plugin_version: env!("CARGO_PKG_VERSION").into(),
            parts: parts.iter().map(|part| part.origin.clone()).collect(),
        };
        // Check part by part: a claim of one part says nothing about the volunteers of another.
        parts.iter().try_for_each(Self::check_volunteers)?;
        let parts = match <[Self; 1]>::try_from(parts) {
            Ok([only]) if *only.mechanism.domain() == domain => return Ok(only),
            Ok([other]) => vec![other],
            Err(parts) => parts,
        };
        let at_hand = AtHand::merge(&parts);
        let (states, mechanisms): (Vec<Value>, _) =
            parts.into_iter().map(|part| (part.state, part.mechanism)).unzip();
        let state = ComposedState { domain: domain.clone(), parts: states };
        let state = serde_json::to_value(state).map_err(Error::state)?;
        let whole = Self { origin, state, mechanism: composed(domain, mechanisms)?, at_hand };
        // Check all together: each part's δ may be small while their sum is not.
        whole.check_volunteers()?;
        Ok(whole)
    }

    /// Origin of the design.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// State from which the mechanism can be built again. Nothing else of the mechanism is saved.
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// Mechanism of the design.
    pub fn mechanism(&self) -> &Designed {
        &self.mechanism
    }

    /// Mechanism of the design, without its origin and state.
    pub fn into_mechanism(self) -> Designed {
        self.mechanism
    }

    /// Local mechanism of the design, which releases record by record.
    ///
    /// # Errors
    /// [`Error::Shape`] for a curator's mechanism.
    pub fn local(&self) -> Result<&dyn LocalMechanism> {
        match &self.mechanism {
            Designed::Local(local) => Ok(&**local),
            Designed::Curator(_) => {
                Err(Error::shape("the design needs a curator, and does not release records one by one"))
            }
        }
    }

    /// Checks that the design may be published although it was made from volunteers' records.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`] if the guarantee has no claim for private volunteers whose records the
    /// designer had. [`Error::DeltaOfVolunteers`] if a claim for n volunteers has δ ≥ 1/n.
    pub fn check_volunteers(&self) -> Result<()> {
        let guarantee = self.mechanism.guarantee();
        let whose = self.at_hand.whose.max(guarantee.shaped_by);
        if whose == ShapedBy::PrivateVolunteers && !guarantee.protects_volunteers() {
            return Err(Error::PrivateVolunteers { plugin: self.origin.plugin.clone() });
        }
        let theirs = guarantee.claims.iter().filter(|claim| claim.protects == Unit::Volunteer);
        let deltas = theirs.filter_map(|claim| match &claim.notion {
            Notion::CentralDp(dp) => Some(dp.delta),
            _ => None,
        });
        let count = self.at_hand.count;
        deltas.filter(|_| count > 0).try_for_each(|delta| check_delta(delta, count))
    }
}
