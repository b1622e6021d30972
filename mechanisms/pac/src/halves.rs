//! Random halves of the records.

use rand::seq::SliceRandom;
use scumble_core::Stream;

/// Draws `sets` sets of row indices of a table with `records` rows. The sets come in pairs: a uniformly
/// random half, and all other rows. Each row is therefore in exactly half of the sets, whatever is drawn. The
/// indices in a set are in ascending order. If the number of records is odd, one set of each pair has one
/// more row than the other.
pub fn halves(records: usize, sets: usize, stream: &mut Stream) -> impl Iterator<Item = Vec<usize>> {
    let mut rows: Vec<usize> = (0..records).collect();
    let pair = move |_| {
        rows.shuffle(stream);
        let (half, rest) = rows.split_at(records / 2);
        [half, rest].map(|half| {
            let mut half = half.to_vec();
            half.sort_unstable();
            half
        })
    };
    (0..sets / 2).flat_map(pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    #[test]
    fn every_row_is_in_half_of_the_sets() {
        for records in [4, 7, 100] {
            let mut stream = Randomness::seeded(3).streams().stream(0);
            let sets: Vec<Vec<usize>> = halves(records, 32, &mut stream).collect();
            assert_eq!(sets.len(), 32);
            for row in 0..records {
                assert_eq!(sets.iter().filter(|set| set.contains(&row)).count(), 16, "{row} of {records}");
            }
            assert!(sets.iter().all(|set| set.len().abs_diff(records - set.len()) <= 1));
        }
    }
}
