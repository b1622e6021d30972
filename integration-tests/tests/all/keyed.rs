//! Noise that is keyed by a record has the distribution of noise drawn in blocks, and no noise is used twice.

use scumble::adversary::{Effort, Verdict, same_distribution};
use scumble::core::{
    Brief, Budget, Domain, LocalMechanism, Randomness, RecordDomain, Registry, TargetDomain, local,
};
use scumble::noise::{NoiseKey, release_keyed};
use std::sync::Arc;

const RECORD: [f64; 2] = [0.25, 1.0];

fn domain() -> RecordDomain {
    RecordDomain::new(vec!["a".into(), "b".into()], Domain::unit_box(2), TargetDomain::None).unwrap()
}

fn design(mechanism: &str) -> Arc<dyn LocalMechanism> {
    let registry = Registry::installed().unwrap();
    let brief = Brief::new(domain(), Budget::new(4.0, 1e-5).unwrap());
    scumble_testing::local(registry.get(mechanism).unwrap().design(&Default::default(), &brief).unwrap())
}

/// Releases equal records, one for each id, under one key; returns the rows in one flat vector.
fn keyed(mechanism: &dyn LocalMechanism, key: u8, ids: std::ops::Range<usize>) -> Vec<f64> {
    let (records, ids) = (RECORD.repeat(ids.len()), ids.map(|id| id.to_string()).collect::<Vec<_>>());
    release_keyed(mechanism, &records, &ids, &NoiseKey::from_bytes([key; 32])).unwrap()
}

#[test]
fn nobody_tells_keyed_noise_from_noise_in_blocks() {
    for name in ["laplace", "gaussian"] {
        let mechanism = design(name);
        let streams = Randomness::seeded(5).streams();
        let (mut drawn, mut at) = ([vec![], vec![]], [0_usize; 2]);
        let block = local::BLOCK;
        let draw = |side: usize, _stream: &mut _| {
            if at[side].is_multiple_of(block) {
                let number = at[side] / block;
                drawn[side] = match side {
                    0 => keyed(&*mechanism, 1, number * block..(number + 1) * block),
                    _ => local::release_block(&*mechanism, &RECORD.repeat(block), &streams, number as u64)
                        .unwrap(),
                };
            }
            let row = at[side] % block;
            at[side] += 1;
            Some(drawn[side][row * 2..row * 2 + 2].to_vec())
        };
        let finding = same_distribution(name, "one distribution", draw, Effort::quick());
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
    }
}

/// Pearson's correlation of two samples.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    let (a, b) = (mean(one), mean(other));
    let sum = |f: &dyn Fn(f64, f64) -> f64| one.iter().zip(other).map(|(x, y)| f(x - a, y - b)).sum::<f64>();
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

/// Checks the independence of noise: for n independent pairs the correlation exceeds 5.5/√n with probability
/// 4e-8. A correlation of 0.02 is nearly always detected.
#[test]
fn noise_of_other_ids_and_other_tickets_is_independent() {
    const IDS: usize = 100_000;
    let most = 5.5 / (IDS as f64).sqrt();
    let mechanism = design("laplace");
    let first = |released: Vec<f64>| released.into_iter().step_by(2).collect::<Vec<_>>();
    let one = first(keyed(&*mechanism, 1, 0..IDS));
    for (what, other) in [
        ("the next id", first(keyed(&*mechanism, 1, 1..IDS + 1))),
        ("another ticket", first(keyed(&*mechanism, 2, 0..IDS))),
        ("the other column", keyed(&*mechanism, 1, 0..IDS).into_iter().skip(1).step_by(2).collect()),
    ] {
        let found = correlation(&one, &other);
        assert!(found.abs() < most, "{what}: {found}");
    }
    assert!(correlation(&one, &one) > 0.99);
}

#[test]
fn every_local_mechanism_releases_a_record_alike_in_any_part_and_order() {
    let registry = Registry::installed().unwrap();
    let mut count = 0;
    for plugin in registry.iter() {
        let example = (plugin.example)().unwrap();
        let design = plugin.design(&example.parameters, &example.brief).unwrap();
        let Ok(local) = design.local() else { continue };
        let layout = local.domain().layout();
        let rows = example.table.len().min(9);
        let records: Vec<Vec<f64>> = (0..rows).map(|row| layout.flatten(&example.table, row)).collect();
        let key = NoiseKey::from_bytes([3; 32]);
        let release = |rows: &[usize]| {
            let flat: Vec<f64> = rows.iter().flat_map(|&row| records[row].clone()).collect();
            let ids: Vec<String> = rows.iter().map(usize::to_string).collect();
            release_keyed(local, &flat, &ids, &key).unwrap()
        };
        let all: Vec<usize> = (0..rows).collect();
        let whole = release(&all);
        let width = whole.len() / rows;
        for row in all.iter().rev() {
            assert_eq!(release(&[*row]), whole[row * width..(row + 1) * width], "{}, row {row}", plugin.name);
        }
        count += 1;
    }
    assert!(count >= 8, "{count}");
}
