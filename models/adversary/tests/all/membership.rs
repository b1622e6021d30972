//! Tests of the likelihood-ratio attack on noisy statistics against advantages computed by hand.

use crate::counts::{NoisyCounts, noisy_counts, people, table};
use ndarray::Array2;
use scumble_adversary::membership;
use scumble_core::{Designed, Neighbours, Randomness, Table, Target};

/// Table of `count` records of one level of each column.
fn alike(record: [f64; 5], count: usize) -> Table {
    let records = Array2::from_shape_fn((count, 5), |(_, at)| record[at]);
    Table::new(people().columns().to_vec(), records, Target::None).unwrap()
}

fn mean_advantage(mechanism: &Designed, table: &Table, held_out: &Table, releases: u64) -> f64 {
    let advantage = |seed| membership(mechanism, table, held_out, Randomness::seeded(seed)).unwrap().unwrap();
    (0..releases).map(advantage).sum::<f64>() / releases as f64
}

const FIRST: [f64; 5] = [1.0, 0.0, 0.0, 1.0, 0.0];

/// Two records that differ in k columns move counts by d = √(2k). For Gaussian noise of standard deviation σ,
/// a test is right with probability Φ(d/2σ).
///
/// The mean of 4000 releases, each with advantage 1 or −1, is off by 0.07 with probability 10⁻⁵.
#[test]
fn the_advantage_is_that_of_the_likelihood_ratio() {
    let noisy = |sigma| Designed::curator(NoisyCounts::with_sigma(Neighbours::ReplaceOne, sigma));
    // 2·Φ(1) − 1 and 2·Φ(1/√2) − 1.
    for (other, expected) in
        [([0.0, 1.0, 0.0, 0.0, 1.0], 0.682_689), ([0.0, 0.0, 1.0, 1.0, 0.0], 0.520_500), (FIRST, 0.0)]
    {
        let found = mean_advantage(&noisy(1.0), &alike(FIRST, 20), &alike(other, 7), 4000);
        assert!((found - expected).abs() < 0.07, "seeds 0 to 3999: {found} where {expected} is expected");
    }
    assert_eq!(mean_advantage(&noisy(1e-3), &alike(FIRST, 20), &alike([0.0, 1.0, 0.0, 1.0, 0.0], 7), 5), 1.0);
}

/// At (1, 0.01) the advantage is at most (e − 1 + 0.02)/(e + 1).
#[test]
fn a_guarantee_bounds_it() {
    let mechanism = Designed::curator(noisy_counts(Neighbours::ReplaceOne, 1.0));
    let found = mean_advantage(&mechanism, &table(), &alike(FIRST, 3), 2000);
    assert!((0.05..0.4675).contains(&found), "seeds 0 to 1999: {found}");
}

#[test]
fn there_is_no_number_without_statistics() {
    let identity = Designed::local(scumble_classic::Identity::new(people()));
    let found = membership(&identity, &table(), &table(), Randomness::seeded(1)).unwrap();
    assert_eq!(found, None);
}

#[test]
fn held_out_records_of_another_shape_are_refused() {
    let mechanism = Designed::curator(noisy_counts(Neighbours::ReplaceOne, 1.0));
    let other = Table::new(vec!["x".into()], Array2::zeros((3, 1)), Target::None).unwrap();
    assert!(membership(&mechanism, &table(), &other, Randomness::seeded(1)).is_err());
}
