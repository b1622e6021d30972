//! Combinations of parameter values.

use std::collections::BTreeMap;

/// Every combination of one value for each name in `varied`, together with the values in `fixed`. The first
/// name varies slowest.
pub(super) fn combinations<V: Clone>(
    fixed: BTreeMap<String, V>,
    varied: &BTreeMap<String, Vec<V>>,
) -> Vec<BTreeMap<String, V>> {
    varied.iter().fold(vec![fixed], |combinations, (name, values)| {
        let with = |combination: &BTreeMap<String, V>, value: &V| {
            let mut combination = combination.clone();
            combination.insert(name.clone(), value.clone());
            combination
        };
        let each = combinations.iter();
        each.flat_map(|combination| values.iter().map(move |value| with(combination, value))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_all_with_what_is_fixed() {
        let varied = BTreeMap::from([("a".into(), vec![1, 2]), ("b".into(), vec![3, 4, 5])]);
        let all = combinations(BTreeMap::from([("c".to_owned(), 9)]), &varied);
        let all: Vec<Vec<i32>> = all.into_iter().map(|one| one.into_values().collect()).collect();
        assert_eq!(all, [[1, 3, 9], [1, 4, 9], [1, 5, 9], [2, 3, 9], [2, 4, 9], [2, 5, 9]]);
        assert_eq!(combinations(BTreeMap::from([("c".to_owned(), 9)]), &BTreeMap::new()).len(), 1);
    }
}
