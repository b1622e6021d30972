//! Initial parameters of a network.

use crate::{Architecture, Real};
use rand::Rng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};

/// Distribution of the initial weights and biases, uniform in each layer. For a convolution, transposed or
/// not, the number of inputs is that of a window's values, and the number of outputs that of the filters. A
/// seed gives the same draws in `f32` and `f64`, except for rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initialisation {
    /// Weights and biases within ±1/√inputs, for a layer's number of inputs: PyTorch's default.
    #[default]
    Uniform,
    /// Weights within ±√(6 / (inputs + outputs)), for a layer's numbers of inputs and outputs, and biases
    /// zero (Glorot and Bengio 2010): for tanh and sigmoid.
    Glorot,
    /// Weights within ±√(6 / inputs), for a layer's number of inputs, and biases zero (He and others 2015):
    /// for ReLU.
    He,
}

impl Initialisation {
    /// Draws the `count` parameters of a network.
    pub(crate) fn draw<T: Real>(
        self,
        architecture: &Architecture,
        count: usize,
        generator: &mut ChaCha20Rng,
    ) -> Vec<T> {
        let mut parameters = vec![T::zero(); count];
        for place in architecture.places() {
            let [outputs, inputs] = place.weights.map(|count| count as f64);
            let (weight, bias) = match self {
                Self::Uniform => (inputs.powf(-0.5), inputs.powf(-0.5)),
                Self::Glorot => ((6.0 / (inputs + outputs)).sqrt(), 0.0),
                Self::He => ((6.0 / inputs).sqrt(), 0.0),
            };
            let (weights, biases) = place.both_mut(&mut parameters);
            for (values, bound) in [(weights, weight), (biases, bias)] {
                values.fill_with(|| T::nearest(bound * (2.0 * generator.r#gen::<f64>() - 1.0)));
            }
        }
        parameters
    }
}
