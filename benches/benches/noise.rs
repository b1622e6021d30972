//! Exact discrete noise compared with unsafe floating-point noise, on the same ChaCha stream.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal};
use scumble::sampling::{DiscreteGaussian, DiscreteLaplace, Rational};
use std::hint::black_box;

fn bench_pair<T, U>(
    criterion: &mut Criterion,
    name: &str,
    exact: impl Fn(&mut ChaCha20Rng) -> T,
    unsafe_one: impl Fn(&mut ChaCha20Rng) -> U,
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    group.bench_function("exact, scale 2^40 steps", |bencher| bencher.iter(|| black_box(exact(&mut rng))));
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    group.bench_function("unsafe, rand_distr", |bencher| bencher.iter(|| black_box(unsafe_one(&mut rng))));
    group.finish();
}

fn noise(criterion: &mut Criterion) {
    let scale = Rational::new(1 << 40, 1).expect("a fraction");
    let laplace = DiscreteLaplace::new(scale).expect("a scale");
    let gaussian = DiscreteGaussian::new(scale).expect("a scale");
    let exponential = |rng: &mut ChaCha20Rng| {
        let magnitude: f64 = Exp1.sample(rng);
        if rng.r#gen() { magnitude } else { -magnitude }
    };
    bench_pair(criterion, "laplace", |rng| laplace.sample(rng), exponential);
    let normal = |rng: &mut ChaCha20Rng| -> f64 { StandardNormal.sample(rng) };
    bench_pair(criterion, "gaussian", |rng| gaussian.sample(rng), normal);
}

criterion_group!(benches, noise);
criterion_main!(benches);
