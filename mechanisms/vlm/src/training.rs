//! Data and results of the training of a model, and training without a guarantee for the volunteers.

use crate::NAME;
use crate::likelihood::Likelihood;
use crate::model::{Bound, Networks, Shape};
use crate::posterior::Posterior;
use ndarray::{Array2, ArrayView2};
use num_traits::Float;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use scumble_core::{Error, Result};
use scumble_neural::{Adam, Batches, Optimiser, Pass};

/// Scale of the noise on latents during training: b of Laplace noise, or the standard deviation of Gaussian
/// noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PosteriorScale {
    /// The scale is fixed.
    Fixed(f64),
    /// The scale is learned. The value is the initial scale.
    Learned(f64),
}

/// Training data and settings. `records` has the d features of n records (n × d), scaled for the encoder. The
/// other fields describe the model and how it is trained.
pub(crate) struct Lesson<'a> {
    pub(crate) records: ArrayView2<'a, f32>,
    pub(crate) likelihood: &'a Likelihood,
    pub(crate) shape: Shape,
    pub(crate) posterior: Posterior<f32>,
    pub(crate) scale: PosteriorScale,
    pub(crate) seed: u64,
}

/// Parameters of training without privacy, which maximises the evidence lower bound by Adam on minibatches
/// (*Learning to Noise*, Section 3.1, stage 1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain {
    pub(crate) epochs: usize,
    pub(crate) batch_size: usize,
    pub(crate) learning_rate: f64,
}

/// Result of training.
pub(crate) struct Trained {
    pub(crate) networks: Networks<f32>,
    /// Scale of the noise on latents at the end of training.
    pub(crate) scale: f64,
}

pub(crate) fn wrong(problem: scumble_neural::Error) -> Error {
    match problem {
        scumble_neural::Error::Interrupted(interrupted) => interrupted.into(),
        problem => Error::parameter(NAME, problem),
    }
}

impl Lesson<'_> {
    pub(crate) fn bound(&self) -> Bound<'_, f32> {
        Bound { records: self.records.view(), likelihood: self.likelihood, posterior: self.posterior }
    }

    /// Trains the model without a privacy guarantee for the volunteers.
    ///
    /// # Errors
    /// [`Error::Diverged`] with the epoch in which the loss or a parameter became infinite or not a number.
    pub(crate) fn plainly(&self, plain: Plain) -> Result<Trained> {
        // The whole training runs within a thread of the pool. Entering the pool for each matrix product
        // would take longer than the product.
        rayon::scope(|_| self.descend(plain))
    }

    fn descend(&self, Plain { epochs, batch_size, learning_rate }: Plain) -> Result<Trained> {
        let (bound, n) = (self.bound(), self.records.nrows());
        let mut networks = self.shape.start(self.seed).map_err(wrong)?;
        let adam = Optimiser::Adam(Adam { learning_rate, ..Adam::default() });
        let mut gradients = networks.each_ref().map(|network| vec![0.0; network.parameters().len()]);
        let [first, second] = &gradients;
        let mut steppers =
            [adam.start(first.len()).map_err(wrong)?, adam.start(second.len()).map_err(wrong)?];
        let (mut log_scale, learns) = match self.scale {
            PosteriorScale::Fixed(scale) => (scale.ln() as f32, false),
            PosteriorScale::Learned(scale) => (scale.ln() as f32, true),
        };
        let mut scale_optimiser = adam.start::<f32>(1).map_err(wrong)?;
        let mut batches = Batches::new(n, batch_size.min(n), self.seed).map_err(wrong)?;
        let mut generator = ChaCha20Rng::seed_from_u64(self.seed);
        generator.set_stream(1);
        let mut passes = [Pass::default(), Pass::default()];
        for epoch in 1..=epochs {
            let mut sum = 0.0;
            for rows in batches.shuffled() {
                let share = 1.0 / rows.len() as f32;
                let found = bound
                    .descend(&networks, log_scale.exp(), rows, share, &mut generator, &mut passes)
                    .map_err(wrong)?;
                sum += found.loss;
                for (((network, gradient), stepper), pass) in
                    networks.iter_mut().zip(&mut gradients).zip(&mut steppers).zip(&passes)
                {
                    network.gradient(pass, gradient).map_err(wrong)?;
                    stepper.step(network.parameters_mut(), gradient).map_err(wrong)?;
                }
                if learns {
                    let mut one = [log_scale];
                    scale_optimiser.step(&mut one, &[share * found.by_log_scale]).map_err(wrong)?;
                    [log_scale] = one;
                }
            }
            if !Bound::is_finite(&networks, sum + log_scale) {
                return Err(Error::Diverged { mechanism: NAME.into(), epoch });
            }
        }
        Ok(Trained { networks, scale: Float::exp(log_scale).into() })
    }
}

/// Converts records to single precision.
pub(crate) fn single(records: &Array2<f64>) -> Array2<f32> {
    records.mapv(|x| x as f32)
}
