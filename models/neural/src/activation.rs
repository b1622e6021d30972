//! Activation functions of layers.

use crate::Real;
use scumble_linalg::vectorised;
use serde::{Deserialize, Serialize};

/// Activation function of a layer's sums z = W x + b, for weights W, input x and bias b. Its derivative is a
/// function of the output, so the sums are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Activation {
    /// The layer's sum z itself.
    Identity,
    /// max(z, 0) for a layer's sum z, with derivative 0 at z = 0.
    Relu,
    /// 1 / (1 + e⁻ᶻ) for a layer's sum z.
    Sigmoid,
    /// tanh z for a layer's sum z.
    Tanh,
}

impl Activation {
    /// Computes the activation of a sum `z`.
    #[inline]
    pub fn value<T: Real>(self, z: T) -> T {
        match self {
            Self::Identity => z,
            // `max` would replace NaN by 0.
            Self::Relu if z < T::zero() => T::zero(),
            Self::Relu => z,
            Self::Sigmoid => T::one() / (T::one() + (-z).exp()),
            Self::Tanh => z.tanh(),
        }
    }

    /// Adds `bias` (one value per output) to every row of `sums` (examples × outputs), and applies the
    /// activation.
    pub(crate) fn apply<T: Real>(self, sums: &mut [T], bias: &[T]) {
        // One loop per activation avoids a branch at every sum.
        match self {
            Self::Identity => each(sums, bias, |z| Self::Identity.value(z)),
            Self::Relu => each(sums, bias, |z| Self::Relu.value(z)),
            Self::Sigmoid => each(sums, bias, |z| Self::Sigmoid.value(z)),
            Self::Tanh => each(sums, bias, |z| Self::Tanh.value(z)),
        }
    }

    /// Multiplies each value of `gradient` by the derivative of the activation, computed from the output at
    /// the same index of `y`.
    pub(crate) fn chain<T: Real>(self, y: &[T], gradient: &mut [T]) {
        match self {
            Self::Identity => {}
            Self::Relu => slopes(y, gradient, |y| if y > T::zero() { T::one() } else { T::zero() }),
            Self::Sigmoid => slopes(y, gradient, |y| y * (T::one() - y)),
            Self::Tanh => slopes(y, gradient, |y| T::one() - y * y),
        }
    }
}

fn each<T: Real>(sums: &mut [T], bias: &[T], activation: impl Fn(T) -> T) {
    vectorised(
        #[inline(always)]
        || {
            for row in sums.chunks_exact_mut(bias.len()) {
                for (sum, &bias) in row.iter_mut().zip(bias) {
                    *sum = activation(*sum + bias);
                }
            }
        },
    );
}

fn slopes<T: Real>(y: &[T], gradient: &mut [T], slope: impl Fn(T) -> T) {
    vectorised(
        #[inline(always)]
        || {
            for (gradient, &y) in gradient.iter_mut().zip(y) {
                *gradient *= slope(y);
            }
        },
    );
}
