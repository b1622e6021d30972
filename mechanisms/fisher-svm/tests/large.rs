//! Time and memory at the size of Adult, 48,842 records of 100 numbers. The test runs alone in its process,
//! whose memory it reads.

use ndarray::{Array1, Array2};
use scumble_core::{CuratorMechanism, Domain, Randomness, Table, Target, TargetDomain};
use scumble_fisher_svm::{CorrelatedNoise, FisherCorrelated, KeptModel};
use scumble_testing::peak_memory;
use std::time::Instant;

const RECORDS: usize = 48_842;
const COLUMNS: usize = 100;

/// A pseudorandom number in [0, 1).
fn scattered(at: usize) -> f64 {
    let mixed = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn noise_for_adult_takes_a_second_and_a_release_no_second_and_third_copy_of_the_data() {
    let records =
        Array2::from_shape_fn((RECORDS, COLUMNS), |(row, column)| scattered(row * COLUMNS + column));
    let score = |row: usize| records.row(row).iter().take(5).sum::<f64>();
    let classes: Array1<usize> =
        (0..RECORDS).map(|row| usize::from(score(row) + 0.5 * scattered(row + 7) > 2.75)).collect();
    let levels = vec!["no".to_owned(), "yes".to_owned()];
    let domain = scumble_testing::records(Domain::unit_box(COLUMNS), TargetDomain::Class { levels });
    let table = Table::new(domain.columns().to_vec(), records, Target::Class(classes)).unwrap();

    // The noise alone needs little memory in addition to the records.
    let b: Vec<f64> = (0..RECORDS).map(|at| scattered(at) - 0.5).collect();
    let noise = CorrelatedNoise::new(vec![b], vec![vec![1.0; COLUMNS]], 100.0).unwrap();
    let mut values = table.records().iter().copied().collect::<Vec<f64>>();
    let before = peak_memory();
    let start = Instant::now();
    noise.add(&mut values, &Randomness::seeded(1).streams()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    if let (Some(before), Some(after)) = (before, peak_memory()) {
        println!("noise: {seconds:.3} s, and {:.1} MB beside the records", after - before);
        assert!(after - before < 20.0, "the noise took {} MB", after - before);
    }
    // It takes a second on an idle machine; this machine may be busy.
    assert!(seconds < 5.0, "the noise took {seconds} s");
    drop(values);

    let mechanism = FisherCorrelated::new(domain, vec![KeptModel::MACHINE], 100.0).unwrap();
    let start = Instant::now();
    let release = mechanism.release(&table, &mut Randomness::seeded(1)).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(release.table.len(), RECORDS);
    if let Some(peak) = peak_memory() {
        println!("release: {seconds:.1} s, and {peak:.0} MB at most, the table's own 39 MB with it");
        assert!(peak < 200.0, "the release took {peak} MB");
    }
}
