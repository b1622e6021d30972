//! Steps of training a network privately: the autoencoder of 784 pixels to 8 numbers under DP-Adam.

use crate::network::{THREADS, architecture, on};
use crate::python::Python;
use crate::{Contestant, Result, Section};
use ndarray::{Array2, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::ThreadPoolBuilder;
use scumble::neural::{Initialisation, Loss, Network};
use scumble::private::{NoiseKind, PrivateTraining};
use std::time::Instant;

/// The same in Opacus.
pub(crate) const PEER: &str = include_str!("../peers/opacus_autoencoder.py");

/// Of so many records 64 are expected in a step, each drawn by itself.
const RECORDS: usize = 60_000;

/// Of which so many are different, so that they need less memory.
const DIFFERENT: usize = 2_000;

const STEPS: u64 = 50;

/// The mean nanoseconds of a step.
fn steps(start: &Network<f32>, records: &Array2<f32>, noise: NoiseKind, seed: u64) -> Result<f64> {
    let mut output_gradient = Array2::zeros((0, 784));
    let (mut losses, mut different) = (vec![], vec![]);
    let (mut first, mut last) = (None, Instant::now());
    PrivateTraining { noise, ..PrivateTraining::default() }.fit(
        [start],
        RECORDS,
        STEPS + 1,
        |[network], rows, [pass]| {
            different.clear();
            different.extend(rows.iter().map(|row| row % DIFFERENT));
            losses.resize(rows.len(), 0.0);
            if output_gradient.nrows() < rows.len() {
                output_gradient = Array2::zeros((rows.len(), 784));
            }
            let mut output_gradient = output_gradient.slice_mut(s![..rows.len(), ..]);
            let output = network.forward_rows(records.view(), &different, pass)?;
            let loss = Loss::SquaredError(records.view());
            loss.each_of(&different, output, output_gradient.view_mut(), &mut losses)?;
            network.backward(output_gradient.view(), pass)?;
            Ok(losses.iter().copied().map(f64::from).sum())
        },
        &mut ChaCha20Rng::seed_from_u64(seed),
        // From the end of the first step to that of the last.
        |_| {
            last = Instant::now();
            first.get_or_insert(last);
        },
    )?;
    Ok(first.map_or(f64::NAN, |first| (last - first).as_nanos() as f64 / STEPS as f64))
}

pub(crate) fn autoencoder() -> Result<Section> {
    let network = Network::<f32>::new(architecture(), Initialisation::Uniform, 1)?;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let records = Array2::from_shape_simple_fn((DIFFERENT, 784), || rng.r#gen());
    let noises = [
        (NoiseKind::Exact, "exact noise"),
        (NoiseKind::FloatingPoint, "noise in floating point"),
        (NoiseKind::None, "clipped, without noise"),
    ];
    let mut contestants = vec![];
    for threads in THREADS.into_iter().rev() {
        for (noise, named) in noises {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
            let (network, records, mut seed) = (network.clone(), records.clone(), 0);
            contestants.push(Contestant::new(format!("scumble, {named}, {}", on(threads)), move || {
                seed += 1;
                // An error crosses threads as text.
                pool.install(|| steps(&network, &records, noise, seed).map_err(|error| error.to_string()))
                    .map_err(Into::into)
            }));
        }
    }
    Ok(Section {
        title: "A step of training a network privately".into(),
        what: format!(
            "A step of DP-Adam on the network above ({} parameters): a Poisson sample of 64 of {RECORDS} expected, each gradient clipped to norm 1, \
             noise of multiplier 1 on their sum, and all parameters moved. Opacus is given its minibatch of 64, and its noise is in floating point.",
            network.parameters().len()
        ),
        contestants,
    })
}

/// Those that take part in Python.
pub(crate) fn peers(opacus: &Python) -> impl Iterator<Item = Contestant> {
    let modes = [
        ("hooks", 1.0, "per-example gradients"),
        ("ghost", 1.0, "ghost clipping"),
        ("ghost", 0.0, "ghost clipping, without noise"),
    ];
    let all = THREADS.into_iter().rev().flat_map(move |threads| modes.map(|mode| (mode, threads)));
    all.map(|((mode, noise, named), threads)| {
        opacus.contestant(&format!("Opacus, {named}, {}", on(threads)), format!("{mode} {threads} {noise}"))
    })
}
