//! Step of private training of an autoencoder of 784 numbers, on all cores: clips gradients, adds noise, and
//! updates parameters.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::neural::{Activation, Architecture, Initialisation, Loss, Network};
use scumble::private::{NoiseKind, PrivateTraining};
use std::time::{Duration, Instant};

/// Number of records. Each step samples 64 of them in expectation.
const RECORDS: usize = 2_000;
const PIXELS: usize = 784;

fn autoencoder() -> Network<f32> {
    let coder = Architecture::new(PIXELS).layer(400, Activation::Relu).layer(8, Activation::Identity);
    let both = coder.layer(400, Activation::Relu).layer(PIXELS, Activation::Identity);
    Network::new(both, Initialisation::Uniform, 1).expect("a network")
}

/// Returns the time of `steps` training steps. One step before them allocates memory, and is not timed.
fn steps(start: &Network<f32>, records: &Array2<f32>, noise: NoiseKind, steps: u64) -> Duration {
    let (mut first, mut last) = (None, Instant::now());
    let training = PrivateTraining { noise, ..PrivateTraining::default() };
    let trained = training.fit(
        [start],
        RECORDS,
        steps + 1,
        |[network], rows, [pass]| {
            let output = network.forward_rows(records.view(), rows, pass)?;
            let (mut gradient, mut losses) = (Array2::zeros(output.dim()), vec![0.0; rows.len()]);
            Loss::SquaredError(records.view()).each_of(rows, output, gradient.view_mut(), &mut losses)?;
            network.backward(gradient.view(), pass)?;
            Ok(losses.into_iter().map(f64::from).sum())
        },
        &mut ChaCha20Rng::seed_from_u64(1),
        |_| {
            last = Instant::now();
            first.get_or_insert(last);
        },
    );
    trained.expect("a training");
    first.map_or(Duration::ZERO, |first| last - first)
}

fn step(criterion: &mut Criterion) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let records = Array2::from_shape_simple_fn((RECORDS, PIXELS), || rng.r#gen());
    let network = autoencoder();

    let mut group = criterion.benchmark_group("a private step");
    group.throughput(Throughput::Elements(network.parameters().len() as u64));
    let noises = [
        ("exact noise", NoiseKind::Exact),
        ("noise in floating point", NoiseKind::FloatingPoint),
        ("clipped, without noise", NoiseKind::None),
    ];
    for (name, noise) in noises {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|count| steps(&network, &records, noise, count));
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
