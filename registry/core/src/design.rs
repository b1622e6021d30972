//! Designs: a mechanism, and the plugin that made it.

use crate::{
    Designed, Error, LocalMechanism, Notion, RecordDomain, Result, ShapedBy, Table, Unit, Volunteers,
    check_delta, composed,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A mechanism, who designed it, and whose records were at hand.
#[derive(Debug, Clone)]
pub struct Design {
    origin: Origin,
    /// All that is saved of the mechanism.
    state: Value,
    mechanism: Designed,
    /// Whose records were at hand when it was designed, and how many; nobody's where it was loaded.
    at_hand: AtHand,
}

/// Volunteers' records that were at hand.
#[derive(Debug, Clone, Copy, Default)]
struct AtHand {
    whose: ShapedBy,
    count: usize,
}

impl AtHand {
    fn of(volunteers: &Volunteers) -> Self {
        Self { whose: volunteers.shaped_by(), count: volunteers.table().map_or(0, Table::len) }
    }

    /// Those of designs of one brief, which are the same but where a part was shown none.
    fn of_all(parts: &[Design]) -> Self {
        let parts = || parts.iter().map(|part| part.at_hand);
        Self {
            whose: parts().map(|of| of.whose).max().unwrap_or_default(),
            count: parts().map(|of| of.count).max().unwrap_or_default(),
        }
    }
}

/// What is saved of a composition.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ComposedState {
    pub(crate) domain: RecordDomain,
    pub(crate) parts: Vec<Value>,
}

/// The plugin that designed a mechanism, or the plugins of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The plugin's name; [`COMPOSED`](Self::COMPOSED) for a composition made by hand.
    pub plugin: String,
    /// The plugin's version.
    pub plugin_version: String,
    /// The parts of a composition made by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Origin>,
}

/// The plugin with its version, and those of its parts.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.plugin, self.plugin_version)?;
        let parts: Vec<String> = self.parts.iter().map(Self::to_string).collect();
        if parts.is_empty() { Ok(()) } else { write!(formatter, " of {}", parts.join(", ")) }
    }
}

impl Origin {
    /// What is given in place of a plugin's name where a composition was made by hand.
    pub const COMPOSED: &str = "composed";
}

impl Design {
    /// What a plugin designed.
    pub(crate) fn by_plugin(
        (plugin, version): (&str, &str),
        state: Value,
        mechanism: Designed,
        volunteers: &Volunteers,
    ) -> Self {
        let origin = Origin { plugin: plugin.into(), plugin_version: version.into(), parts: vec![] };
        Self { at_hand: AtHand::of(volunteers), ..Self::built(origin, state, mechanism) }
    }

    /// What was built from a saved state. Nobody's records were at hand.
    pub(crate) fn built(origin: Origin, state: Value, mechanism: Designed) -> Self {
        Self { origin, state, mechanism, at_hand: AtHand::default() }
    }

    /// Designs side by side, as one for records of `domain`: each takes the columns, and the target, that it was designed
    /// for. One design by itself, for all of `domain`, stays what it is.
    ///
    /// # Errors
    /// As [`composed`](crate::composed()); [`Error::PrivateVolunteers`] for a part that could not be saved by itself, [`Error::DeltaOfVolunteers`] where the
    /// parts together cost volunteers too large a δ.
    pub fn composed(domain: RecordDomain, parts: Vec<Self>) -> Result<Self> {
        let origin = Origin {
            plugin: Origin::COMPOSED.into(),
            plugin_version: env!("CARGO_PKG_VERSION").into(),
            parts: parts.iter().map(|part| part.origin.clone()).collect(),
        };
        // Part by part: a claim of one part says nothing to the volunteers of another.
        parts.iter().try_for_each(Self::check_volunteers)?;
        let parts = match <[Self; 1]>::try_from(parts) {
            Ok([only]) if *only.mechanism.domain() == domain => return Ok(only),
            Ok([other]) => vec![other],
            Err(parts) => parts,
        };
        let at_hand = AtHand::of_all(&parts);
        let (states, mechanisms): (Vec<Value>, _) =
            parts.into_iter().map(|part| (part.state, part.mechanism)).unzip();
        let state = ComposedState { domain: domain.clone(), parts: states };
        let state = serde_json::to_value(state).map_err(Error::state)?;
        let whole = Self { origin, state, mechanism: composed(domain, mechanisms)?, at_hand };
        // And of all together: each part's δ is small, and their sum need not be.
        whole.check_volunteers()?;
        Ok(whole)
    }

    /// What designed it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// All that is saved of the mechanism.
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Designed {
        &self.mechanism
    }

    /// The mechanism, for whoever needs no more than it.
    pub fn into_mechanism(self) -> Designed {
        self.mechanism
    }

    /// The mechanism's record-at-a-time view.
    ///
    /// # Errors
    /// [`Error::Shape`] where it is a curator's.
    pub fn local(&self) -> Result<&dyn LocalMechanism> {
        match &self.mechanism {
            Designed::Local(local) => Ok(&**local),
            Designed::Curator(_) => {
                Err(Error::shape("the design is a curator's, and no record is released by itself"))
            }
        }
    }

    /// Whether what was learned from volunteers may be published with the design.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`] where people whose records are private have no claim; [`Error::DeltaOfVolunteers`] for a claim with a δ of one
    /// in their number or more.
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
