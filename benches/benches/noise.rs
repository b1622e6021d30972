//! Exact discrete Laplace noise beside the unsafe floating-point kind, on the same ChaCha stream.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1};
use scumble::sampling::{DiscreteLaplace, Rational};
use std::hint::black_box;

fn laplace(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("laplace");
    group.throughput(Throughput::Elements(1));
    let exact = DiscreteLaplace::new(Rational::new(1 << 30, 1).expect("a fraction")).expect("a scale");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    group.bench_function("exact, scale 2^30 steps", |bencher| {
        bencher.iter(|| black_box(exact.sample(&mut rng)));
    });
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    group.bench_function("unsafe, rand_distr's Exp1 with a random sign", |bencher| {
        bencher.iter(|| {
            let magnitude: f64 = Exp1.sample(&mut rng);
            black_box(if rng.r#gen() { magnitude } else { -magnitude })
        });
    });
    group.finish();
}

criterion_group!(benches, laplace);
criterion_main!(benches);
