//! Guarantee of a mechanism that adds noise to the features. It includes the caveat that a Cramér–Rao bound
//! holds only for unbiased reconstructions.

use scumble_core::{CramerRao, Error, Guarantee, Notion, RecordDomain, Result};

/// Returns the d features of `point`, an encoded record: its first d values. The other values are the label.
///
/// # Errors
/// [`Error::Shape`] if `point` does not have as many values as an encoded record of `domain`.
pub(crate) fn features_of<'p>(domain: &RecordDomain, point: &'p mut [f64]) -> Result<&'p mut [f64]> {
    let (found, width) = (point.len(), domain.flat().dim());
    match point.get_mut(..domain.features().dim()) {
        Some(features) if found == width => Ok(features),
        _ => Err(Error::shape(format!("a point has {found} values, and the range has {width}"))),
    }
}

/// Builds the guarantee of a mechanism that adds noise to the features, and releases the label in the clear.
/// `notions` has the claims of the mechanism, each with its theorem. Claims of a Cramér–Rao bound of zero are
/// left out.
pub(crate) fn feature_guarantee(domain: &RecordDomain, mut notions: Vec<(Notion, String)>) -> Guarantee {
    notions.retain(|(notion, _)| !matches!(notion, Notion::CramerRao(bound) if bound.error() == 0.0));
    let without_bias: Vec<String> = notions
        .iter()
        .filter_map(|(notion, _)| match notion {
            Notion::CramerRao(bound) => Some(without_bias(domain, bound)),
            _ => None,
        })
        .collect();
    let mut guarantee = Guarantee::for_features(domain, notions);
    guarantee.assumes.extend(without_bias);
    guarantee
}

/// Caveat of a Cramér–Rao bound over the features of `domain`: a biased guess may have a smaller error. The
/// centre of the domain is such a guess. If its squared error is smaller than the bound for every record, the
/// bound is vacuous (errata F13).
pub(crate) fn without_bias(domain: &RecordDomain, bound: &CramerRao) -> String {
    let farthest = domain.features().squared_radius();
    let vacuous =
        if bound.error() > farthest { ", which is less than the claim: the bound is vacuous" } else { "" };
    let any_guess = match bound.worst_case_error_bound(domain) {
        0.0 => String::new(),
        error => format!(
            "; every guess, biased or not, misses some record of the domain by a squared error of {error:.4} \
             or more on average (van Trees 1968; Le Cam 1973)"
        ),
    };
    format!(
        "the guess is unbiased; the centre of the domain, a biased guess, has a squared error of at most \
         {farthest:.4}{vacuous} (errata F13){any_guess}"
    )
}
