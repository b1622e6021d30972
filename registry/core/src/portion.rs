//! Portion of a record that a mechanism randomises. The rest of the record is released in the clear, and the
//! guarantee says so.

use crate::{
    ASSUMED, Claim, Domain, Error, Guarantee, LocalDp, Noise, NoiseDistribution, Notion, RecordDomain,
    Result, TargetDomain, Unit, in_clear,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Portion of a record that is randomised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protect {
    /// Features and label.
    Record,
    /// Features; the label is released in the clear.
    Features,
    /// Label; the features are released in the clear.
    Label,
}

/// Prints the value as it is written in the parameters of a mechanism.
impl fmt::Display for Protect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Record => "record",
            Self::Features => "features",
            Self::Label => "label",
        })
    }
}

/// Portion of each record that a mechanism randomises, with its ε. The saved form has these fields and
/// nothing else.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Portion {
    /// Domain of the whole records.
    pub domain: RecordDomain,
    /// Randomised portion.
    pub protect: Protect,
    /// ε of the portion, in nats.
    #[serde(with = "crate::number")]
    pub epsilon: f64,
}

impl Portion {
    /// Portion to which numeric noise can be added: the whole record, or only the features if the label is a
    /// class.
    pub fn for_numbers(domain: RecordDomain, epsilon: f64) -> Self {
        let protect = match domain.target() {
            TargetDomain::Class { .. } => Protect::Features,
            _ => Protect::Record,
        };
        Self { domain, protect, epsilon }
    }

    /// Coordinates of the portion in a flat record.
    pub fn coordinates(&self) -> Range<usize> {
        let (features, all) = (self.domain.columns().len(), self.domain.flat().dim());
        match self.protect {
            Protect::Record => 0..all,
            Protect::Features => 0..features,
            Protect::Label => features..all,
        }
    }

    /// Domain of the portion.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the records have no such portion.
    pub fn set(&self, mechanism: &str) -> Result<Domain> {
        let set = match self.protect {
            Protect::Record => self.domain.flat().clone(),
            Protect::Features => self.domain.features().clone(),
            Protect::Label => self.domain.target().as_domain()?,
        };
        if set.dim() > 0 {
            return Ok(set);
        }
        let lacking = if self.protect == Protect::Label { "label" } else { "feature" };
        Err(Error::not_applicable(mechanism, format!("the records have no {lacking} to protect")))
    }

    /// Portion of `point`, which has the coordinates of a flat record: features, then target.
    ///
    /// # Errors
    /// [`Error::Shape`] for a point of another width.
    pub fn slice<'p>(&self, point: &'p mut [f64]) -> Result<&'p mut [f64]> {
        let (found, width) = (point.len(), self.domain.flat().dim());
        match point.get_mut(self.coordinates()) {
            Some(portion) if found == width => Ok(portion),
            _ => Err(Error::shape(format!(
                "a point has {found} values, and the range has {width} coordinates"
            ))),
        }
    }

    /// Portions of two points with the coordinates of a flat record (features, then target); `None` if a
    /// point is too short.
    pub fn slice_both<'p>(&self, one: &'p [f64], other: &'p [f64]) -> Option<(&'p [f64], &'p [f64])> {
        let portion = self.coordinates();
        Some((one.get(portion.clone())?, other.get(portion)?))
    }

    /// Pair of flat records (features, then target) with these `portions` and with equal other coordinates.
    /// Empty unless all of the portion belongs to `unit`.
    pub fn worst_pairs(&self, unit: Unit, portions: [Vec<f64>; 2]) -> Vec<[Vec<f64>; 2]> {
        let (features, coordinates) = (self.domain.columns().len(), self.coordinates());
        let may_differ = match unit {
            Unit::Record => true,
            Unit::Features => coordinates.end <= features,
            Unit::Label => coordinates.start >= features,
            _ => false,
        };
        let [rest, _] = self.domain.flat().l2_farthest();
        let within = |portion: Vec<f64>| {
            let mut point = rest.clone();
            point.splice(coordinates.clone(), portion);
            point
        };
        if may_differ { vec![portions.map(within)] } else { vec![] }
    }

    /// Domain of flat records with the portion replaced by `set`.
    pub fn with(&self, set: &Domain) -> Domain {
        let label = || self.domain.target().as_domain();
        let whole = match self.protect {
            Protect::Record => return set.clone(),
            Protect::Features => label().and_then(|label| Domain::product([set.clone(), label])),
            Protect::Label => Domain::product([self.domain.features().clone(), set.clone()]),
        };
        // If the product has too many coordinates or an infinite diameter, the domain of flat records is
        // returned.
        whole.unwrap_or_else(|_| self.domain.flat().clone())
    }

    /// Distribution of a release that adds noise with these `variances` to the coordinates of the portion.
    /// `None` means no noise.
    pub fn additive(&self, variances: Option<Vec<f64>>) -> Noise {
        let (layout, portion) = (self.domain.layout(), self.coordinates());
        let features = layout.columns.len();
        let distribution = |block: Range<usize>| match &variances {
            Some(portion_variances)
                if !block.is_empty() && portion.start <= block.start && block.end <= portion.end =>
            {
                let own = block.start - portion.start..block.end - portion.start;
                NoiseDistribution::Additive { variance: portion_variances[own].to_vec() }
            }
            _ => NoiseDistribution::Exact { width: block.len() },
        };
        Noise {
            features: vec![distribution(0..features)],
            target: distribution(features..features + layout.target.width()),
        }
    }

    /// Checks that noise can be added to all of the portion.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the portion holds a class label, to which numeric noise cannot be added.
    pub fn check_takes_noise(&self, mechanism: &str) -> Result<()> {
        if self.protect != Protect::Features && matches!(self.domain.target(), TargetDomain::Class { .. }) {
            return Err(Error::not_applicable(
                mechanism,
                format!("{mechanism} noise cannot be added to a class label"),
            ));
        }
        Ok(())
    }

    /// Guarantee that this portion, and nothing else, has ε-local differential privacy by `theorem`.
    pub fn guarantee(&self, theorem: &str) -> Guarantee {
        self.guarantee_of(LocalDp::pure(self.epsilon), theorem)
    }

    /// Guarantee that this portion, and nothing else, satisfies `dp` by `theorem`. At ε = ∞ it has no
    /// claim, and discloses the whole record.
    pub fn guarantee_of(&self, dp: LocalDp, theorem: &str) -> Guarantee {
        if self.epsilon == f64::INFINITY {
            return Guarantee::nothing(&self.domain);
        }
        let discloses = match self.protect {
            Protect::Record => vec![],
            Protect::Features => in_clear(&self.domain, Unit::Label),
            Protect::Label => in_clear(&self.domain, Unit::Features),
        };
        let protects = match self.protect {
            _ if discloses.is_empty() => Unit::Record, // the record has nothing else
            Protect::Label => Unit::Label,
            _ => Unit::Features,
        };
        Guarantee {
            claims: vec![Claim { notion: Notion::LocalDp(dp), protects, theorem: theorem.into() }],
            discloses,
            assumes: ASSUMED.map(str::to_owned).to_vec(),
            ..Guarantee::default()
        }
    }
}
