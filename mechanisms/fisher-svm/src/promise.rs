//! What noise on the features promises.

use crate::weights::center;
use scumble_registry::{
    Claim, CramerRao, Domain, Error, Factor, Guarantee, LocalDp, Notion, RecordDomain, Result, TargetDomain,
    Unit, in_clear,
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

/// The guarantee of noise on the features alone: these claims, and the label in clear.
pub(crate) fn of_features(domain: &RecordDomain, notions: Vec<(Notion, String)>) -> Guarantee {
    let claim = |(notion, theorem)| Claim { notion, protects: protected(domain), theorem };
    Guarantee {
        claims: notions.into_iter().map(claim).collect(),
        discloses: in_clear(domain, Unit::Label),
        assumes: vec![
            "the bounds and levels are public, and were not taken from the data".into(),
            "each person contributes one record".into(),
            "the order of the records says nothing of them: they are released in the order in which they come".into(),
        ],
        ..Guarantee::default()
    }
}

/// The claim of a Cramér–Rao error by `theorem`, with what it does not say: a guess with a bias may do better, and a bound that is
/// beyond the domain's own size says nothing (errata F13).
pub(crate) fn cramer_rao(bound: CramerRao, theorem: &str, features: &Domain) -> (Notion, String) {
    let (error, farthest) = (bound.error(), squared_radius(features));
    let vacuous = if error > farthest {
        format!(
            "; it binds unbiased guesses alone and is vacuous here, for whoever guesses the centre of the domain errs by \
             {farthest:.4} at most"
        )
    } else {
        format!(
            "; it binds unbiased guesses alone, and whoever guesses the centre of the domain errs by {farthest:.4} at most"
        )
    };
    (Notion::CramerRao(bound), format!("{theorem}{vacuous}"))
}

/// A claim of (ε, δ).
pub(crate) fn local_dp(claim: LocalDp, theorem: String) -> (Notion, String) {
    (Notion::LocalDp(claim), theorem)
}

/// The largest squared distance of a record from the centre of the domain.
pub(crate) fn squared_radius(domain: &Domain) -> f64 {
    let middle = center(domain);
    let of = |factor: &Factor, middle: &[f64]| match factor {
        // From (1/K, …, 1/K) to a level.
        Factor::OneHot { .. } => 1.0 - middle.first().copied().unwrap_or(0.0),
        _ => (factor.l2_diameter() / 2.0).powi(2),
    };
    domain.factors().map(|(at, factor)| of(factor, &middle[at])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_is_that_of_the_farthest_record() {
        let domain = Domain::product([Domain::interval(-1.0, 3.0).unwrap(), Domain::one_hot(4).unwrap()]);
        assert_eq!(squared_radius(&domain.unwrap()), 4.0 + 0.75);
    }
}
