//! Clipping of per-example gradients, verified on the very numbers that are summed.

use crate::Result;
use scumble_neural::{Network, Pass, Real};

/// Multiplies each example's gradient in `passes` by a weight, so that its norm over all networks together is
/// at most `clip`.
///
/// Call it after backward passes from the examples' own losses, not from their mean loss. The first
/// `examples` rows are clipped. All later rows are padding and get weight zero.
///
/// Weights and products are rounded. The function therefore computes the norms again from the weighted
/// numbers. It drops a gradient that is still too long or is not a number. The only rounding error that
/// affects the bound `clip` is the error of the recomputed norms.
pub(crate) fn clip<T: Real, const N: usize>(
    networks: &[Network<T>; N],
    passes: &mut [Pass<T>; N],
    examples: usize,
    clip: f64,
    room: &mut Room<T>,
) -> Result<()> {
    // Weights, products and norms have rounding errors. This margin keeps the norms of the clipped gradients
    // within `clip`, so that the second call of `weigh` does not drop the gradients.
    let margin = 1.0 - 4.0 * Into::<f64>::into(T::epsilon()) - 1e-9;
    room.weigh(networks, passes, examples, |square| {
        let norm = square.sqrt();
        if norm <= clip {
            T::one()
        } else if norm.is_finite() {
            T::nearest(clip / norm * margin)
        } else {
            T::zero()
        }
    })?;
    let square = clip * clip;
    room.weigh(networks, passes, examples, |found| if found <= square { T::one() } else { T::zero() })
}

/// Reusable buffers: one squared norm and one weight per example.
#[derive(Debug, Clone)]
pub(crate) struct Room<T> {
    squares: Vec<f64>,
    weights: Vec<T>,
}

impl<T> Default for Room<T> {
    fn default() -> Self {
        Self { squares: vec![], weights: vec![] }
    }
}

impl<T: Real> Room<T> {
    fn weigh<const N: usize>(
        &mut self,
        networks: &[Network<T>; N],
        passes: &mut [Pass<T>; N],
        examples: usize,
        weight: impl Fn(f64) -> T,
    ) -> Result<()> {
        let rows = passes.first().map_or(0, Pass::examples);
        self.squares.clear();
        self.squares.resize(rows, 0.0);
        for (network, pass) in networks.iter().zip(passes.iter()) {
            network.add_squared_norms(pass, &mut self.squares)?;
        }
        self.weights.clear();
        self.weights.extend(self.squares.iter().map(|&square| weight(square)));
        self.weights.iter_mut().skip(examples).for_each(|weight| *weight = T::zero());
        for pass in passes {
            pass.weigh(&self.weights)?;
        }
        Ok(())
    }
}
