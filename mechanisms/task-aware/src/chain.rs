//! Chain of encoder, noise, decoder and task, with the gradient of the task's loss.

use ndarray::{Array1, ArrayView2, Axis};
use scumble_core::{DifferentiableTask, Error, Result, Table};
use scumble_neural::{Network, Pass};

/// The networks in training, and buffers for one step.
pub(crate) struct Chain {
    pub(crate) encoder: Network<f64>,
    pub(crate) decoder: Network<f64>,
    pub(crate) gradients: Gradients,
    passes: [Pass<f64>; 2],
}

/// Gradients of a batch's mean loss with respect to all parameters.
pub(crate) struct Gradients {
    pub(crate) encoder: Vec<f64>,
    pub(crate) decoder: Vec<f64>,
    /// Gradient with respect to the Z factors by which the Z latents are multiplied.
    pub(crate) scales: Array1<f64>,
}

impl Chain {
    pub(crate) fn new(encoder: Network<f64>, decoder: Network<f64>) -> Self {
        let gradients = Gradients {
            encoder: vec![0.0; encoder.parameters().len()],
            decoder: vec![0.0; decoder.parameters().len()],
            scales: Array1::zeros(encoder.architecture().outputs()),
        };
        Self { encoder, decoder, gradients, passes: Default::default() }
    }

    /// Computes the mean loss of a `batch` of b records, and stores its gradients in `self`. The decoder's
    /// input is the Z latents of each record (b × Z), times `scales` (Z values), plus `noise` (b × Z).
    pub(crate) fn mean_loss(
        &mut self,
        task: &dyn DifferentiableTask,
        batch: &Table,
        scales: &Array1<f64>,
        noise: ArrayView2<f64>,
    ) -> Result<f64> {
        let [encoder_pass, decoder_pass] = &mut self.passes;
        let latents = self.encoder.forward(batch.records().view(), encoder_pass).map_err(unfit)?.to_owned();
        let noisy = &latents * scales + noise;
        let estimates = self.decoder.forward(noisy.view(), decoder_pass).map_err(unfit)?;
        let (losses, mut slopes) = task.losses(estimates, batch)?;
        slopes /= losses.len() as f64;
        self.decoder.backward(slopes.view(), decoder_pass).map_err(unfit)?;
        self.decoder.gradient(decoder_pass, &mut self.gradients.decoder).map_err(unfit)?;
        let by_noisy = self.decoder.input_gradient(decoder_pass).map_err(unfit)?;
        self.gradients.scales = (&by_noisy * &latents).sum_axis(Axis(0));
        self.encoder.backward((&by_noisy * scales).view(), encoder_pass).map_err(unfit)?;
        self.encoder.gradient(encoder_pass, &mut self.gradients.encoder).map_err(unfit)?;
        Ok(losses.mean().unwrap_or(f64::NAN))
    }
}

pub(crate) fn unfit(problem: scumble_neural::Error) -> Error {
    match problem {
        scumble_neural::Error::Interrupted(interrupted) => interrupted.into(),
        problem => Error::shape(problem.to_string()),
    }
}
