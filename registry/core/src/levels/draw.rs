//! Random levels for synthetic records: in given proportions, and in random order.

use crate::Stream;
use rand::Rng;
use rand::seq::SliceRandom;

/// Draws a number uniformly from [0, 1).
pub fn uniform(stream: &mut Stream) -> f64 {
    stream.r#gen()
}

/// Share of each count in the sum of `counts`. A negative count has share 0. If no count is positive, all
/// shares are equal.
pub fn shares(counts: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let counts: Vec<f64> = counts.into_iter().map(|count| count.max(0.0)).collect();
    let sum: f64 = counts.iter().sum();
    let even = 1.0 / counts.len() as f64;
    counts.iter().map(|count| if sum > 0.0 { count / sum } else { even }).collect()
}

/// Moves `values` to the nearest non-negative values with the sum `total` (in ℓ₂; Held, Wolfe and Crowder
/// 1974). If a value is NaN, all become equal.
///
/// It turns noisy estimates into counts or shares, from which levels can be drawn. Do not apply it to a whole
/// table with a rare level. The noise above zero in the many empty cells of this level would add up to
/// records. Apply it to the sums of the levels first, and then to the cells of each level, with its sum as
/// their `total`.
pub fn to_simplex(values: &mut [f64], total: f64) {
    let mut descending = values.to_vec();
    descending.sort_unstable_by(|one, other| other.total_cmp(one));
    let (mut sum, mut threshold) = (0.0, f64::NAN);
    for (at, value) in descending.iter().enumerate() {
        sum += value;
        let candidate = (sum - total) / (at + 1) as f64;
        if *value >= candidate {
            threshold = candidate;
        }
    }
    let even = total / values.len() as f64;
    for value in values {
        *value = if threshold.is_finite() { (*value - threshold).max(0.0) } else { even };
    }
}

/// Moves `values` to the nearest non-negative values with the same sum, and scales these to the sum `total`.
/// If the sum of `values` is not positive, all become equal.
///
/// It turns noisy estimates of a part of a table into cells with a known sum, such as the share of a label.
/// Scaling leaves empty cells empty, and rare levels rare, unlike a shift of all cells to the known sum
/// ([`to_simplex`]).
pub fn scaled_to_simplex(values: &mut [f64], total: f64) {
    to_simplex(values, values.iter().sum::<f64>().max(0.0));
    let shares = shares(values.iter().copied());
    values.iter_mut().zip(shares).for_each(|(value, share)| *value = share * total);
}

/// Draws `count` levels in random order, with frequencies proportional to `shares`. The number of draws of a
/// level is its expected number, rounded up or down at random. If no share is positive, the levels are
/// equally frequent.
pub fn levels(shares: &[f64], count: usize, stream: &mut Stream) -> Vec<usize> {
    let shares = self::shares(shares.iter().copied());
    // Systematic sampling: the levels divide [0, 1) into intervals as long as their shares. `count` points at
    // equal distances, shifted by one random `offset`, draw the levels of the intervals that contain them.
    let offset = uniform(stream);
    let (mut drawn, mut sum, mut level) =
        (Vec::with_capacity(count), shares.first().copied().unwrap_or(1.0), 0);
    for tooth in 0..count {
        let at = (tooth as f64 + offset) / count as f64;
        while at >= sum && level + 1 < shares.len() {
            level += 1;
            sum += shares[level];
        }
        drawn.push(level);
    }
    drawn.shuffle(stream);
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;
    use proptest::prelude::*;

    #[test]
    fn levels_come_in_their_shares() {
        let mut stream = Randomness::seeded(3).streams().stream(0);
        let count = |shares: &[f64], total: usize, stream: &mut Stream| {
            levels(shares, total, stream).iter().fold(vec![0; shares.len()], |mut counts, &level| {
                counts[level] += 1;
                counts
            })
        };
        assert_eq!(count(&[0.5, 0.0, 0.25, 0.25], 400, &mut stream), [200, 0, 100, 100]);
        assert_eq!(count(&[0.0, 0.0], 100, &mut stream), [50, 50]);
        assert_eq!(count(&[3.0], 7, &mut stream), [7]);
        assert!(levels(&[0.5, 0.5], 0, &mut stream).is_empty());
    }

    #[test]
    fn the_nearest_counts_with_a_given_sum_are_not_negative() {
        for (total, expected) in [(0.0, [0.0; 3]), (1.0, [0.0, 0.0, 1.0]), (4.0, [0.5, 0.5, 3.0])] {
            let mut values = [2.0, 2.0, 4.5];
            to_simplex(&mut values, total);
            assert_eq!(values, expected);
        }
    }

    #[test]
    fn a_part_that_is_scaled_to_its_sum_keeps_its_empty_cells() {
        for (total, expected) in [(2.0, [0.5, 1.5, 0.0]), (0.0, [0.0; 3])] {
            let mut values = [1.1, 3.1, -0.2];
            scaled_to_simplex(&mut values, total);
            approx::assert_abs_diff_eq!(values[..], expected[..], epsilon = 1e-12);
        }
        let mut values = [-1.0, 0.5];
        scaled_to_simplex(&mut values, 3.0);
        assert_eq!(values, [1.5, 1.5]);
    }

    proptest! {
        #[test]
        fn the_nearest_shares_are_none_below_zero_and_add_up(
            values in prop::collection::vec(-50.0..50.0, 1..12), total in 0.0..100.0,
        ) {
            let mut moved = values.clone();
            to_simplex(&mut moved, total);
            prop_assert!(moved.iter().all(|value| *value >= 0.0));
            prop_assert!((moved.iter().sum::<f64>() - total).abs() < 1e-9 * (1.0 + total));
            // All values above zero moved by the same amount, and no other value by less.
            let shifts: Vec<f64> =
                values.iter().zip(&moved).filter(|(_, moved)| **moved > 0.0).map(|(x, y)| y - x).collect();
            if let Some(first) = shifts.first() {
                prop_assert!(shifts.iter().all(|other| (other - first).abs() < 1e-9));
                prop_assert!(values
                    .iter()
                    .zip(&moved)
                    .filter(|(_, y)| **y == 0.0)
                    .all(|(x, _)| x + first <= 1e-9));
            }
        }
    }
}
