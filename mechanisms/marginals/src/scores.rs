//! Gain of measuring columns together: the distance of their counts from an estimate, in whole numbers.

use crate::answers::UNIT;

/// Returns [`UNIT`] times (‖counts − estimate‖₁ − `less`), as a whole number. `less` is a public value, such
/// as the expected noise.
///
/// Adding or removing one record changes the result by at most [`UNIT`]. This bound is exact, because `UNIT`
/// times the estimate is rounded to whole numbers before the distance is computed.
pub(crate) fn distance(counts: &[u64], estimate: impl IntoIterator<Item = f64>, less: f64) -> i64 {
    let unit = UNIT as f64;
    let off = counts.iter().zip(estimate).map(|(count, estimate)| {
        // A cast saturates, far beyond all counts.
        let estimate = (estimate * unit).round() as i64;
        i128::from(*count) * i128::from(UNIT) - i128::from(estimate)
    });
    let sum: u128 = off.map(i128::unsigned_abs).sum();
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
        /// Privacy: for any estimate, adding a record changes the score by at most `UNIT`.
        #[test]
        fn one_record_changes_a_score_by_one_unit(
            counts in prop::collection::vec(0u64..1000, 1..9),
            at in 0usize..9,
            noise in -1e3..1e3f64,
            less in 0.0..100.0,
        ) {
            let estimate = |at: usize| noise * (at as f64 - 3.0) / 7.0;
            let score = |counts: &[u64]| distance(counts, (0..counts.len()).map(estimate), less);
            let mut more = counts.clone();
            more[at % counts.len()] += 1;
            prop_assert!(score(&counts).abs_diff(score(&more)) <= UNIT);
        }
    }

    #[test]
    fn a_distance_is_counted_by_hand() {
        assert_eq!(distance(&[3, 0, 7], [1.0, 0.5, 8.0], 1.0), 16 * 2 + 8 + 16 - 16);
        assert_eq!(distance(&[0], [1e300], 0.0), i64::MAX);
    }
}
