//! Gain of measuring columns together: the distance of their counts from an estimate, in whole numbers.

use crate::answers::UNIT;
use scumble_core::PARTS;

/// Returns [`UNIT`] times (‖counts − estimate‖₁ − `less`), as a whole number, rounded down. `parts` has the
/// counts in units of 1/[`PARTS`]. `less` is a public value, such as the expected noise.
///
/// Adding or removing one person changes the counts by 1 in ℓ₁, and the result by at most [`UNIT`]. This
/// bound is exact, because `UNIT` times the estimate is rounded to whole numbers before the distance is
/// computed.
pub(crate) fn distance(parts: &[u64], estimate: impl IntoIterator<Item = f64>, less: f64) -> i64 {
    let unit = UNIT as f64;
    let off = parts.iter().zip(estimate).map(|(parts, estimate)| {
        // A cast saturates, far beyond all counts.
        let estimate = (estimate * unit).round() as i64;
        i128::from(*parts) * i128::from(UNIT) - i128::from(estimate) * i128::from(PARTS)
    });
    let sum: u128 = off.map(i128::unsigned_abs).sum::<u128>() / u128::from(PARTS);
    let less = (less * unit).round() as i64;
    i64::try_from(sum).unwrap_or(i64::MAX).saturating_sub(less)
}

/// Expected sum of |noise| over `cells` cells, for Gaussian noise with σ = `scale`: σ√(2/π) each.
pub(crate) fn expected_noise(scale: f64, cells: usize) -> f64 {
    scale * cells as f64 * (2.0 / std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Privacy: for any estimate, adding a person of one or two records changes the score by at most
        /// `UNIT`.
        #[test]
        fn one_person_changes_a_score_by_one_unit(
            counts in prop::collection::vec(0u64..1_000_000, 1..9),
            at in 0usize..9,
            first in 0u64..=1024,
            noise in -1e3..1e3f64,
            less in 0.0..100.0,
        ) {
            let estimate = |at: usize| noise * (at as f64 - 3.0) / 7.0;
            let score = |counts: &[u64]| distance(counts, (0..counts.len()).map(estimate), less);
            let mut more = counts.clone();
            more[at % counts.len()] += first;
            more[(at + 1) % counts.len()] += u64::from(PARTS) - first;
            prop_assert!(score(&counts).abs_diff(score(&more)) <= UNIT);
        }
    }

    #[test]
    fn a_distance_is_counted_by_hand() {
        let parts = [3, 0, 7].map(|count| count * u64::from(PARTS));
        assert_eq!(distance(&parts, [1.0, 0.5, 8.0], 1.0), 16 * 2 + 8 + 16 - 16);
        assert_eq!(distance(&[0], [1e300], 0.0), i64::MAX);
    }
}
