//! What noise on the features promises.

use scumble_registry::{
    Claim, Domain, Error, Guarantee, Notion, RecordDomain, Result, TargetDomain, Unit, in_clear,
};

/// The unit that noise on the features protects: all there is, or all but the label.
pub(crate) fn protected(domain: &RecordDomain) -> Unit {
    match domain.target() {
        TargetDomain::None => Unit::Record,
        _ => Unit::Features,
    }
}

/// The features of a point of the flat domain, d of its values.
///
/// # Errors
/// [`Error::Shape`] for a point of another width.
pub(crate) fn features_of<'p>(domain: &RecordDomain, point: &'p mut [f64]) -> Result<&'p mut [f64]> {
    let (found, width) = (point.len(), domain.flat().dim());
    match point.get_mut(..domain.features().dim()) {
        Some(features) if found == width => Ok(features),
        _ => Err(Error::shape(format!("a point has {found} values where the range has {width}"))),
    }
}

/// The guarantee of noise on the features alone: these claims with their theorems, but for bounds of nothing, and the label in clear.
pub(crate) fn of_features(domain: &RecordDomain, mut notions: Vec<(Notion, String)>) -> Guarantee {
    notions.retain(|(notion, _)| !matches!(notion, Notion::CramerRao(bound) if bound.error() == 0.0));
    let mut assumes: Vec<String> = ASSUMED.map(str::to_owned).to_vec();
    assumes.extend(notions.iter().filter_map(|(notion, _)| match notion {
        Notion::CramerRao(bound) => Some(without_bias(domain.features(), bound.error())),
        _ => None,
    }));
    let claim = |(notion, theorem)| Claim { notion, protects: protected(domain), theorem };
    Guarantee {
        claims: notions.into_iter().map(claim).collect(),
        discloses: in_clear(domain, Unit::Label),
        assumes,
        ..Guarantee::default()
    }
}

/// What every promise about records rests on.
pub(crate) const ASSUMED: [&str; 3] = [
    "the bounds and levels are public, and were not taken from the data",
    "each person contributes one record",
    "the order of the records says nothing of them: they are released in the order in which they come",
];

/// What a Cramér–Rao bound over `domain` does not say: a guess with a bias may do better, and where the domain's centre is never so far
/// off, the bound says nothing (errata F13).
pub(crate) fn without_bias(domain: &Domain, bound: f64) -> String {
    let farthest = domain.squared_radius();
    let vacuous = if bound > farthest { ", less than is promised: the bound is vacuous" } else { "" };
    format!(
        "the guess has no bias; the centre of the domain, which has one, is never further off than a squared error of \
         {farthest:.4}{vacuous}"
    )
}
