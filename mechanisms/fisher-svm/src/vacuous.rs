//! Bounds that say nothing.

use scumble_registry::Domain;

/// The sentence with which a guarantee says that a Cramér–Rao bound on the squared error over `domain` is vacuous, where it is: where the
/// domain's centre, which is a biased guess, is never so far off (errata F13).
pub(crate) fn vacuous(domain: &Domain, error: f64) -> Option<String> {
    let farthest = domain.squared_radius();
    (error > farthest).then(|| {
        format!(
            "the guess has no bias, without which the bound is vacuous: the centre of the domain is never further off than a squared \
             error of {farthest:.4}, less than is promised"
        )
    })
}
