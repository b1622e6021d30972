//! Steps of training a network privately: the autoencoder from 784 pixels to 8 numbers under DP-Adam.

use crate::network::{architecture, limits};
use crate::python::Python;
use crate::threads::{self, THREADS};
use crate::{Contestant, Host, Result, Section, random_bits};
use ndarray::{Array2, s};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::neural::{Initialisation, Loss, Network};
use scumble::private::{NoiseKind, PrivateTraining};
use scumble::sampling::{DiscreteGaussian, Rational};
use std::time::Instant;

/// Python program that times training steps in Opacus, a peer (compared implementation).
const PEER: &str = include_str!("../peers/opacus_autoencoder.py");

/// Number of records. Each step includes every record independently with the same probability, 64 in
/// expectation.
const RECORDS: usize = 60_000;

/// Number of different records among the [`RECORDS`]. Repeated records save memory.
const DIFFERENT: usize = 2_000;

const STEPS: u64 = 20;

/// Returns the mean nanoseconds of a step.
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
        // Measures from the end of the first step to the end of the last.
        |_| {
            last = Instant::now();
            first.get_or_insert(last);
        },
    )?;
    Ok(first.map_or(f64::NAN, |first| (last - first).as_nanos() as f64 / STEPS as f64))
}

/// Creates a contestant that trains on `threads` threads.
pub(crate) fn on(threads: usize, noise: NoiseKind, name: String) -> Result<Contestant> {
    let network = Network::<f32>::new(architecture(), Initialisation::Uniform, 1)?;
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let records = Array2::from_shape_simple_fn((DIFFERENT, 784), || rng.r#gen());
    let (pool, mut seed) = (threads::pool(threads)?, 0);
    Ok(Contestant::new(name, move || {
        seed += 1;
        threads::run(&pool, || steps(&network, &records, noise, seed))
    }))
}

pub(crate) fn autoencoder(host: &Host) -> Result<Section> {
    let noises = [
        (NoiseKind::Exact, "exact noise"),
        (NoiseKind::FloatingPoint, "noise in floating point"),
        (NoiseKind::None, "clipped, without noise"),
    ];
    let all = THREADS.into_iter().rev().flat_map(|threads| noises.map(|noise| (threads, noise)));
    let contestants = all.map(|(threads, (noise, named))| {
        on(threads, noise, format!("scumble, {named}, {}", threads::named(threads)))
    });
    let parameters = architecture().parameters()?;
    let bits = bits(parameters)?;
    let mut limits = limits()?;
    for threads in THREADS {
        limits.push(random_bits::raw_on(threads, bits)?);
    }
    let what = format!(
        "Time of a step of DP-Adam on the network above ({parameters} parameters). A step takes a Poisson \
         sample of {RECORDS} records, 64 in the mean, clips each gradient to norm 1, adds noise of \
         multiplier 1 to their sum, and updates the parameters. Opacus receives a minibatch of 64 and draws \
         noise in floating point. The limits are those of the step above, and the random bits of the noise, \
         {:.1} a parameter.",
        bits / parameters as f64
    );
    let opacus = host.guest(PEER, "Opacus");
    let section = Section::new(what, contestants.collect::<Result<_>>()?).limited_by(limits);
    Ok(section.with_peers(opacus.iter().flat_map(peers)))
}

/// Returns the number of random bits that `draws` bulk draws of discrete Gaussian noise use. The noise is on
/// a lattice, and its standard deviation is 2²⁰ steps of the lattice. No training run has noise of a smaller
/// standard deviation, in these steps.
fn bits(draws: usize) -> Result<f64> {
    let distribution = DiscreteGaussian::new(Rational::new(1 << 20, 1)?)?;
    let mut drawn = vec![0; draws];
    Ok(random_bits::bits_per_draw(1, |rng| distribution.draws(rng).fill(&mut drawn)))
}

/// Contestants (timed methods) of Opacus, one for each method of clipping or noise and each number of
/// threads.
fn peers(opacus: &Python) -> impl Iterator<Item = Contestant> {
    let modes = [
        ("hooks", 1.0, "per-example gradients"),
        ("ghost", 1.0, "ghost clipping"),
        ("ghost", 0.0, "ghost clipping, without noise"),
    ];
    let all = THREADS.into_iter().rev().flat_map(move |threads| modes.map(|mode| (mode, threads)));
    all.map(|((mode, noise, named), threads)| {
        opacus.contestant(
            &format!("Opacus, {named}, {}", threads::named(threads)),
            format!("{mode} {threads} {noise}"),
        )
    })
}
