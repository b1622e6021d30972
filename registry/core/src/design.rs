//! Designs: a mechanism with the plugin that made it.

use crate::{
    Designed, Error, LocalMechanism, Notion, RecordDomain, Result, ShapedBy, Table, Unit, Volunteers,
    check_delta, composed,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Mechanism with its origin, and with the people whose records were at hand when it was designed.
#[derive(Debug, Clone)]
pub struct Design {
    origin: Origin,
    /// Everything that is saved of the mechanism.
    state: Value,
    mechanism: Designed,
    /// People whose records were at hand when it was designed, and their number. Nobody, if it was loaded.
    at_hand: AtHand,
}

/// Volunteers' records that were at hand.
#[derive(Debug, Clone, Copy, Default)]
struct AtHand {
    whose: ShapedBy,
    count: usize,
}

impl AtHand {
    fn from_volunteers(volunteers: &Volunteers) -> Self {
        Self { whose: volunteers.shaped_by(), count: volunteers.table().map_or(0, Table::len) }
    }

    /// Volunteers of designs of one brief. They are the same for all parts, except for a part that was shown
    /// none.
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

/// Plugin that designed a mechanism, or the plugins of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the plugin; [`COMPOSED`](Self::COMPOSED) for a composition made by hand.
    pub plugin: String,
    /// Version of the plugin.
    pub plugin_version: String,
    /// Parts of a composition made by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Origin>,
}

/// Prints the plugin with its version, and those of its parts.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.plugin, self.plugin_version)?;
        let parts: Vec<String> = self.parts.iter().map(Self::to_string).collect();
        if parts.is_empty() { Ok(()) } else { write!(formatter, " of {}", parts.join(", ")) }
    }
}

impl Origin {
    /// Name of the plugin of a composition made by hand.
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

    /// Design built from a saved state. Nobody's records were at hand.
    pub(crate) fn built(origin: Origin, state: Value, mechanism: Designed) -> Self {
        Self { origin, state, mechanism, at_hand: AtHand::default() }
    }

    /// Composes designs into one for records of `domain`. Each design takes the columns, and the target, that
    /// it was designed for. A single design for all of `domain` is returned unchanged.
    ///
    /// # Errors
    /// Same errors as [`composed`](crate::composed()). [`Error::PrivateVolunteers`] for a part that could not
    /// be saved by itself. [`Error::DeltaOfVolunteers`] if all parts together have too large a δ for the
    /// volunteers.
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

    /// Everything that is saved of the mechanism.
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// Mechanism of the design.
    pub fn mechanism(&self) -> &Designed {
        &self.mechanism
    }

    /// Mechanism of the design, without the rest.
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

    /// Checks that the information learned from volunteers may be published with the design.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`] if people whose records are private have no claim.
    /// [`Error::DeltaOfVolunteers`] for a claim with δ ≥ 1/n, for n volunteers.
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
