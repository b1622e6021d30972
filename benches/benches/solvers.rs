//! Times of numerical solvers by the size of their problem: ℓ₁ sensitivities, water-filling, and a linear
//! support vector machine. For the ground state, whose square is a noise density of least Fisher information,
//! times are by λ. The density minimises the sum of its Fisher information and λ times its second moment.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use linfa::Dataset;
use linfa::traits::Fit;
use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::kkt::Waterfilling;
use scumble::schrodinger::GroundState;
use scumble::svm::SvmParams;
use scumble::task_aware::sensitivity::{linear_over_box, over_points};
use std::hint::black_box;

fn numbers(rows: usize, columns: usize) -> Array2<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

fn sensitivity(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("l1 sensitivity");
    for latents in [2, 6, 10] {
        let map = numbers(latents, 30);
        let widths = Array1::ones(30);
        group.bench_function(
            BenchmarkId::new("of a map on a box of 30 columns, latents", latents),
            |bencher| {
                bencher.iter(|| black_box(linear_over_box(map.view(), widths.view())));
            },
        );
        let points = numbers(10_000, latents);
        group.bench_function(BenchmarkId::new("of 10,000 points, latents", latents), |bencher| {
            bencher.iter(|| black_box(over_points(points.view())));
        });
    }
    group.finish();
}

fn water_filling(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("water-filling");
    for directions in [10, 100, 1_000] {
        let eigenvalues: Vec<f64> = (1..=directions).map(|at| 1.0 / at as f64).collect();
        group.bench_function(BenchmarkId::new("directions", directions), |bencher| {
            bencher.iter(|| black_box(Waterfilling::new(&eigenvalues, 0.5)));
        });
    }
    group.finish();
}

fn ground_state(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ground state");
    for lambda in [0.0, 1.0, 1e6] {
        group.bench_function(BenchmarkId::new("lambda", lambda), |bencher| {
            bencher.iter(|| black_box(GroundState::new(lambda, 1.0, -1.0, 2.0)));
        });
    }
    group.finish();
}

fn machine(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("linear machine of 30 columns");
    group.sample_size(10);
    for records in [1_000, 10_000] {
        let points = numbers(records, 30);
        let classes =
            points.outer_iter().map(|point| usize::from(point.sum() > 0.0)).collect::<Array1<usize>>();
        let dataset = Dataset::new(points, classes);
        group.bench_function(BenchmarkId::new("records", records), |bencher| {
            bencher.iter(|| black_box(SvmParams::default().fit(&dataset)));
        });
    }
    group.finish();
}

criterion_group!(benches, sensitivity, water_filling, ground_state, machine);
criterion_main!(benches);
