//! Noise on a sum of clipped gradients.

use crate::sensitivity::Lattice;
use crate::{NoiseKind, PrivateTraining, Result};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use scumble_neural::Real;
use scumble_sampling::{DiscreteGaussian, Rational};

/// Number of coordinates of a sum whose noise comes from one random stream.
const BLOCK: usize = 1 << 14;

/// Random streams of one training: one for the sample of each step, and one for each block of coordinates of
/// the step's noise.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    key: [u8; 32],
}

impl Streams {
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Random stream of a step's sample.
    pub fn sample(&self, step: u32) -> ChaCha20Rng {
        self.stream(step, 0)
    }

    fn stream(&self, step: u32, part: u32) -> ChaCha20Rng {
        let mut rng = ChaCha20Rng::from_seed(self.key);
        rng.set_stream(u64::from(step) << 32 | u64::from(part));
        rng
    }
}

/// Noise added to a sum.
#[derive(Debug, Clone)]
pub(crate) enum Noise {
    /// Rounds each coordinate to the lattice and adds an integer number of lattice steps from this
    /// distribution.
    Exact(DiscreteGaussian, Lattice),
    /// Adds floating-point Gaussian noise of this standard deviation to each coordinate.
    FloatingPoint(f64),
    /// Adds nothing.
    None,
}

impl Noise {
    pub fn new(training: &PrivateTraining) -> Result<Self> {
        Ok(match training.noise {
            NoiseKind::Exact => {
                let lattice = Lattice::for_training(training);
                Self::Exact(DiscreteGaussian::new(Rational::new(lattice.scale, 1)?)?, lattice)
            }
            NoiseKind::FloatingPoint => Self::FloatingPoint(training.noise_deviation()),
            NoiseKind::None => Self::None,
        })
    }

    /// Adds the noise to `sum`, then multiplies the noisy sum by `share`.
    ///
    /// Every block of coordinates has its own random stream, so the result does not depend on the number of
    /// threads.
    pub fn add<T: Real>(&self, sum: &mut [T], share: f64, streams: &Streams, step: u32) {
        sum.par_chunks_mut(BLOCK).enumerate().for_each(|(at, block)| {
            // The cast is exact, because no memory has room for 2³² blocks.
            self.add_to_block(block, share, &mut streams.stream(step, at as u32 + 1));
        });
    }

    fn add_to_block<T: Real>(&self, block: &mut [T], share: f64, rng: &mut ChaCha20Rng) {
        match self {
            Self::Exact(distribution, lattice) => {
                let mut draws = [0; BLOCK];
                let draws = &mut draws[..block.len()];
                distribution.draws(rng).fill(draws);
                let (per_unit, unit) = (1.0 / lattice.step, lattice.step * share);
                scumble_linalg::vectorised(
                    #[inline(always)]
                    || {
                        for (value, &draw) in block.iter_mut().zip(&*draws) {
                            // `rounded`, `draw` and their sum are integers below 2⁵³, so only the rounding to
                            // the lattice is inexact.
                            let rounded = (Into::<f64>::into(*value) * per_unit).round_ties_even();
                            *value = T::nearest((rounded + draw as f64) * unit);
                        }
                    },
                );
            }
            Self::FloatingPoint(deviation) => {
                for value in block {
                    let draw: f64 = StandardNormal.sample(rng);
                    *value = T::nearest((Into::<f64>::into(*value) + deviation * draw) * share);
                }
            }
            Self::None => {
                let share = T::nearest(share);
                block.iter_mut().for_each(|value| *value *= share);
            }
        }
    }
}
