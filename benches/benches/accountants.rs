//! Time of privacy accounting: for Gaussian noise in closed form, and for DP-SGD by its number of steps.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use scumble::accounting::{Neighbours, Run, gaussian, loss, renyi};
use std::hint::black_box;

fn accountants(criterion: &mut Criterion) {
    let neighbours = Neighbours::AddOrRemoveOne;
    let mut group = criterion.benchmark_group("accountant");
    group.bench_function("gaussian, mu at (1, 1e-5)", |bencher| {
        bencher.iter(|| black_box(gaussian::mu(black_box(1.0), 1e-5)));
    });
    group.sample_size(10);
    for steps in [100, 10_000] {
        let run = Run::new(0.01, 1.0, steps).expect("a run");
        group.bench_function(BenchmarkId::new("DP-SGD by Renyi divergences, steps", steps), |bencher| {
            bencher.iter(|| black_box(renyi::epsilon(&[run], 1e-5, neighbours)));
        });
        group.bench_function(
            BenchmarkId::new("DP-SGD by privacy loss distributions, steps", steps),
            |bencher| {
                bencher.iter(|| black_box(loss::epsilon(&[run], 1e-5, neighbours)));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, accountants);
criterion_main!(benches);
