//! The variational autoencoder with noise on its latents (the encoder's output): its networks, and
//! the gradient of its training objective on one minibatch.

use crate::likelihood::Likelihood;
use crate::posterior::Posterior;
use ndarray::ArrayView2;
use num_traits::Float;
use rand::Rng;
use scumble_neural::{Activation, Architecture, Initialisation, Network, Pass, Real, Result, Windows};

/// Encoder and decoder.
pub(crate) type Networks<T> = [Network<T>; 2];

/// Shapes of encoder and decoder. Hidden layers have rectified linear units (*Learning to Noise*, E.4). The
/// decoder has the layers of the encoder in reverse order, with transposed convolutions.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) features: usize,
    /// Windows and number of filters of each convolution, before the hidden layers.
    pub(crate) convolutions: Vec<(Windows, usize)>,
    pub(crate) hidden: Vec<usize>,
    pub(crate) latent_dim: usize,
}

impl Shape {
    /// Creates untrained networks.
    ///
    /// # Errors
    /// [`scumble_neural::Error`] if a layer has width zero.
    pub(crate) fn start<T: Real>(&self, seed: u64) -> Result<Networks<T>> {
        let relu = Activation::Relu;
        let hidden = |from: Architecture, units: &usize| from.layer(*units, relu);
        let seen =
            self.convolutions.iter().fold(Architecture::new(self.features), |from, (windows, filters)| {
                from.convolution(*windows, *filters, relu)
            });
        let coded = seen.outputs();
        let encoder = self.hidden.iter().fold(seen, hidden).layer(self.latent_dim, Activation::Identity);
        let decoder = self.hidden.iter().rev().fold(Architecture::new(self.latent_dim), hidden);
        let decoder = match self.convolutions.split_first() {
            None => decoder.layer(self.features, Activation::Identity),
            Some(((first, _), others)) => others
                .iter()
                .rev()
                .fold(decoder.layer(coded, relu), |from, (windows, _)| from.transposed(*windows, relu))
                .transposed(*first, Activation::Identity),
        };
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let start = Initialisation::Uniform;
        Ok([Network::new(encoder, start, seed ^ 1)?, Network::new(decoder, start, seed ^ 2)?])
    }
}

/// Training objective: minus the evidence lower bound (*Learning to Noise*, equation 6) of n records.
/// `records` has their d features (n × d), scaled for the encoder.
pub(crate) struct Bound<'a, T> {
    pub(crate) records: ArrayView2<'a, T>,
    pub(crate) likelihood: &'a Likelihood,
    pub(crate) posterior: Posterior<T>,
}

/// Loss of a minibatch, and its derivative with respect to the logarithm of the noise's scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descent<T> {
    /// Sum over the records of minus the evidence lower bound, in nats.
    pub(crate) loss: T,
    /// Derivative of `loss` with respect to ln b, where b is the scale of the noise.
    pub(crate) by_log_scale: T,
}

impl<T: Real> Bound<'_, T> {
    /// Runs the records with the indices `rows` forward and backward through both networks, with fresh noise
    /// of scale `scale` (b) on the latents. The two passes (for encoder and decoder) then contain the
    /// gradient of each record's loss, times `share`, with respect to each layer's values before activation.
    ///
    /// # Errors
    /// [`scumble_neural::Error`] if the shapes of the networks do not fit the records.
    pub(crate) fn descend(
        &self,
        [encoder, decoder]: &Networks<T>,
        scale: T,
        rows: &[usize],
        share: T,
        generator: &mut impl Rng,
        [encoder_pass, decoder_pass]: &mut [Pass<T>; 2],
    ) -> Result<Descent<T>> {
        let latents = encoder.architecture().outputs();
        let noise = self.posterior.noise((rows.len(), latents), generator);
        let heads = encoder.forward_rows(self.records, rows, encoder_pass)?.to_owned();
        let means = self.posterior.clip(heads.view());
        let drawn = &means + &noise.mapv(|eta| scale * eta);
        let mut output = decoder.forward(drawn.view(), decoder_pass)?.to_owned();
        let records = self.records.select(ndarray::Axis(0), rows);
        let mut loss = self.likelihood.loss(records.view(), &mut output, share);
        decoder.backward(output.view(), decoder_pass)?;
        let mut slopes = decoder.input_gradient(decoder_pass)?.to_owned();
        // The latents are z = μ + bη, with the means μ, the scale b and noise η of scale 1. `slopes` is
        // the gradient with respect to z, times `share`.
        let through_noise: T = slopes.iter().zip(&noise).map(|(slope, eta)| *slope * *eta).sum();
        let mut by_log_scale = if share > T::zero() { through_noise * scale / share } else { T::zero() };
        for (mean, slope) in means.rows().into_iter().zip(slopes.rows_mut()) {
            let (divergence, change) = self.posterior.divergence(mean, scale, share, slope);
            loss += divergence;
            by_log_scale += change;
        }
        self.posterior.chain(heads.view(), &mut slopes);
        encoder.backward(slopes.view(), encoder_pass)?;
        Ok(Descent { loss, by_log_scale })
    }

    /// Returns whether all parameters of both networks and the loss are finite.
    pub(crate) fn is_finite(networks: &Networks<T>, loss: T) -> bool {
        Float::is_finite(loss) && networks.iter().all(|network| network.check_finite().is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use scumble_core::Domain;
    use scumble_task_aware::{Lens, NoiseKind, Scale};

    /// Compares the gradients of all parameters and of ln b with differences of the loss under the same
    /// noise.
    #[test]
    fn the_gradient_of_the_bound_is_that_of_its_differences() {
        let domain = Domain::product([Domain::unit_box(2), Domain::one_hot(2).unwrap()]).unwrap();
        let number = Scale::Standard { center: 0.5, width: 0.3 };
        let share = Scale::Share { lower: 0.0, upper: 1.0 };
        let lens = Lens::new(vec![number, share, Scale::Level, Scale::Level], &domain).unwrap();
        let likelihood = Likelihood::new(&lens, &domain, 0.4);
        let records = array![[0.4, 0.2, 1.0, 0.0], [-1.3, 0.9, 0.0, 1.0], [2.0, 0.1, 1.0, 0.0]];
        let windows = Windows { height: 2, width: 2, channels: 1, side: 1, stride: 1 };
        for (noise, convolutions) in [
            (NoiseKind::Laplace, vec![]),
            (NoiseKind::Gaussian, vec![]),
            (NoiseKind::Laplace, vec![(windows, 3)]),
        ] {
            let shape = Shape { features: 4, convolutions, hidden: vec![5, 3], latent_dim: 2 };
            let networks: Networks<f64> = shape.start(11).unwrap();
            // A ball that contains some means and not others.
            let mut posterior = Posterior { noise, bound: 1.0 };
            let heads = networks[0].predict(records.view()).unwrap();
            let mut norms: Vec<f64> = heads.outer_iter().map(|row| posterior.norm(row)).collect();
            norms.sort_by(f64::total_cmp);
            assert!(norms[0] + 1e-3 < norms[1], "{norms:?}");
            posterior.bound = 0.5 * (norms[0] + norms[1]);
            check_gradient(&Bound { records: records.view(), likelihood: &likelihood, posterior }, &networks);
        }
    }

    fn check_gradient(bound: &Bound<f64>, networks: &Networks<f64>) {
        let mut passes = [Pass::default(), Pass::default()];
        let mut at = |networks: &Networks<f64>, log_scale: f64| {
            let mut generator = ChaCha20Rng::seed_from_u64(3);
            bound.descend(networks, log_scale.exp(), &[0, 1, 2], 1.0, &mut generator, &mut passes).unwrap()
        };
        let log_scale = -0.7;
        let found = at(networks, log_scale);
        let expected = (at(networks, log_scale + 1e-6).loss - at(networks, log_scale - 1e-6).loss) / 2e-6;
        assert!(
            (found.by_log_scale - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{} {expected}",
            found.by_log_scale
        );

        let mut own = [Pass::default(), Pass::default()];
        let mut generator = ChaCha20Rng::seed_from_u64(3);
        bound.descend(networks, log_scale.exp(), &[0, 1, 2], 1.0, &mut generator, &mut own).unwrap();
        for part in 0..2 {
            let mut gradient = vec![0.0; networks[part].parameters().len()];
            networks[part].gradient(&own[part], &mut gradient).unwrap();
            for (index, found) in gradient.iter().enumerate() {
                let mut moved = |by: f64| {
                    let mut moved = networks.clone();
                    moved[part].parameters_mut()[index] += by;
                    at(&moved, log_scale).loss
                };
                let expected = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!(
                    (found - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "part {part}, {index}: {found} {expected}"
                );
            }
        }
    }
}
