//! `release` of 10,000 records of 30 numbers, by mechanism, compared with a plain copy of the table.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use scumble::core::{Brief, Budget, Domain, Randomness, RecordDomain, Registry, Table, Target, TargetDomain};
use std::hint::black_box;

const RECORDS: usize = 10_000;
const COLUMNS: usize = 30;

fn release(criterion: &mut Criterion) {
    let columns: Vec<String> = (1..=COLUMNS).map(|at| format!("x{at}")).collect();
    let domain = RecordDomain::new(columns.clone(), Domain::unit_box(COLUMNS), TargetDomain::None);
    let budget = Budget::pure(1.0).expect("an epsilon");
    let brief = Brief::new(domain.expect("a domain"), budget);
    let records = Array2::from_shape_fn((RECORDS, COLUMNS), |(row, column)| {
        ((row * 31 + column * 17) % 1000) as f64 / 999.0
    });
    let table = Table::new(columns, records, Target::None).expect("a table");
    let registry = Registry::installed().expect("plugins");

    let mut group = criterion.benchmark_group("release");
    group.throughput(Throughput::Elements((RECORDS * COLUMNS) as u64)).sample_size(10);
    for plugin in registry.iter() {
        let Ok(design) = plugin.design(&Default::default(), &brief) else {
            continue; // the mechanism does not apply to numbers
        };
        let mut randomness = Randomness::seeded(1);
        group.bench_function(plugin.name, |bencher| {
            bencher.iter(|| black_box(design.mechanism().release(&table, &mut randomness)));
        });
    }
    group.bench_function("a plain copy", |bencher| bencher.iter(|| black_box(table.records().clone())));
    group.finish();
}

criterion_group!(benches, release);
criterion_main!(benches);
