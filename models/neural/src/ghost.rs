//! Norms of per-example gradients without storing the gradients.
//!
//! Let aᵢ be a layer's input for example i, and δᵢ the gradient of the example's loss with respect to the
//! layer's sums W aᵢ + b. The gradient with respect to the weights W is δᵢaᵢᵀ, and with respect to the bias b
//! it is δᵢ. The squared norm of both together is (‖aᵢ‖² + 1)·‖δᵢ‖² (Goodfellow 2015; "ghost clipping" in Li
//! and others 2022). A weighted sum of the examples' gradients is a matrix product. One backward pass is
//! therefore enough for all examples. The gradient of a convolution is a sum over windows. Its norm needs
//! this sum, which is small.

use crate::error::check_length;
use crate::{Connection, Network, Pass, Real, Result};
use scumble_linalg::vectorised;

impl<T: Real> Network<T> {
    /// Adds to `squares` (b) the squared norm of each example's gradient with respect to all parameters.
    ///
    /// Call it after a backward pass from the gradients of the examples' own losses, not of their mean loss.
    ///
    /// It adds to `squares` instead of overwriting them, so that one norm can cover several networks that are
    /// trained together. It sums in `f64` for every number type, because gradients are clipped by these
    /// norms.
    ///
    /// # Errors
    /// [`Error::Order`](crate::Error::Order) before a backward pass, [`Error::Length`](crate::Error::Length)
    /// unless `squares` has one number per example.
    pub fn add_squared_norms(&self, pass: &Pass<T>, squares: &mut [f64]) -> Result<()> {
        pass.check_backward(self.architecture())?;
        check_length("the squared norms", pass.examples(), squares.len())?;
        let (mut gradient, mut patches) = (vec![], vec![]);
        for (index, place) in self.architecture().places().enumerate() {
            let inputs = pass.activations[index].chunks_exact(place.inputs);
            let deltas = pass.deltas[index].chunks_exact(place.outputs);
            for ((square, input), delta) in squares.iter_mut().zip(inputs).zip(deltas) {
                *square += match place.connection {
                    Connection::Dense => (squared_norm(input) + 1.0) * squared_norm(delta),
                    Connection::Convolution(_) | Connection::Transposed(_) => {
                        gradient.resize(place.parameters(), T::zero());
                        place.gradient_of_one(input, delta, &mut gradient, &mut patches);
                        squared_norm(&gradient)
                    }
                };
            }
        }
        Ok(())
    }
}

/// Computes the squared norm in eight parallel sums, which suit the processor's vector units.
fn squared_norm<T: Real>(values: &[T]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let (eights, rest) = values.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for eight in eights {
                for (sum, &value) in sums.iter_mut().zip(eight) {
                    let value: f64 = value.into();
                    *sum += value * value;
                }
            }
            let rest = rest.iter().map(|&value| value.into() * value.into());
            sums.into_iter().chain(rest).sum()
        },
    )
}
