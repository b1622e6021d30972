//! Clipping of each example's own gradient, which is checked on the very numbers that are summed.

use crate::Result;
use scumble_neural::{Network, Pass, Real};

/// Weighs the examples of `passes`, after backward passes from their own losses, so that the gradient of each of the first `examples` has a
/// norm of `clip` at most over all networks together, and the rest none.
///
/// Norms are taken once more of what the weights have left, for weights and products are rounded: what is still too long, and what is
/// no number, is left out. So no error of rounding affects the bound but that of the norms themselves.
pub(crate) fn clip<T: Real, const N: usize>(
    networks: &[Network<T>; N],
    passes: &mut [Pass<T>; N],
    examples: usize,
    clip: f64,
    room: &mut Room<T>,
) -> Result<()> {
    // Weights and products are rounded to nearest, norms a little more: with this they do not come out above the bound.
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

/// Memory of a number an example.
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
