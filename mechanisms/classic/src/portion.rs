//! The portion of a record that a mechanism randomises; the rest leaves in clear, and the guarantee says so.

use schemars::JsonSchema;
use scumble_registry::{
    Claim, Domain, Error, Guarantee, LocalDp, Notion, RecordDomain, Result, Unit, in_clear,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The portion of a record that is randomised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protect {
    /// Features and label.
    Record,
    /// The features; the label leaves in clear.
    Features,
    /// The label; the features leave in clear.
    Label,
}

impl Protect {
    /// The coordinates of the portion in a flat record.
    pub(crate) fn coordinates(self, domain: &RecordDomain) -> Range<usize> {
        let (features, all) = (domain.columns().len(), domain.flat().dim());
        match self {
            Self::Record => 0..all,
            Self::Features => 0..features,
            Self::Label => features..all,
        }
    }

    /// Where the portion lies.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where `domain` has no such portion.
    pub(crate) fn domain(self, domain: &RecordDomain, mechanism: &str) -> Result<Domain> {
        let portion = match self {
            Self::Record => domain.flat().clone(),
            Self::Features => domain.features().clone(),
            Self::Label => domain.target().as_domain()?,
        };
        if portion.dim() > 0 {
            return Ok(portion);
        }
        let lacking = if self == Self::Label { "label" } else { "feature" };
        Err(Error::not_applicable(mechanism, format!("there is no {lacking} to protect")))
    }

    /// The guarantee that this portion, and nothing else, has ε-local differential privacy by `theorem`.
    pub(crate) fn guarantee(self, domain: &RecordDomain, epsilon: f64, theorem: &str) -> Guarantee {
        if epsilon == f64::INFINITY {
            return Guarantee::nothing(domain);
        }
        let discloses = match self {
            Self::Record => vec![],
            Self::Features => in_clear(domain, Unit::Label),
            Self::Label => in_clear(domain, Unit::Features),
        };
        let protects = match self {
            _ if discloses.is_empty() => Unit::Record, // all there is
            Self::Label => Unit::Label,
            _ => Unit::Features,
        };
        let notion = Notion::LocalDp(LocalDp::pure(epsilon));
        Guarantee {
            claims: vec![Claim { notion, protects, theorem: theorem.into() }],
            discloses,
            assumes: vec![
                "the bounds and levels are public, and were not taken from the data".into(),
                "each person contributes one record".into(),
            ],
            ..Guarantee::default()
        }
    }
}

/// Cuts the portion at `coordinates` out of a point of `width` values.
///
/// # Errors
/// [`Error::Shape`] for a point of another width.
pub(crate) fn cut(point: &mut [f64], coordinates: Range<usize>, width: usize) -> Result<&mut [f64]> {
    let found = point.len();
    match point.get_mut(coordinates) {
        Some(portion) if found == width => Ok(portion),
        _ => Err(Error::shape(format!("a point has {found} values where the range has {width}"))),
    }
}
