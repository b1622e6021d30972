//! Matrix products of a network's training step, without the other work of the step.

use crate::{Contestant, Result, threads};
use ndarray::Array2;
use scumble::neural::{Activation, Architecture, Initialisation, Network, Pass};

/// Side of the square matrices in the large product of [`at_best`]. Its rate of operations is the highest
/// known one.
const LARGE: usize = 1024;

/// Product of an m × k and a k × n matrix in single precision. It is the backward pass of m examples through
/// a layer with k outputs and n inputs.
struct Product {
    layer: Network<f32>,
    pass: Pass<f32>,
}

impl Product {
    fn new([m, k, n]: [usize; 3]) -> Result<Self> {
        let layer =
            Network::new(Architecture::new(n).layer(k, Activation::Identity), Initialisation::Uniform, 1)?;
        let mut pass = Pass::default();
        layer.forward(Array2::ones((m, n)).view(), &mut pass)?;
        layer.backward(Array2::ones((m, k)).view(), &mut pass)?;
        Ok(Self { layer, pass })
    }

    fn make(&mut self) -> Result<()> {
        std::hint::black_box(self.layer.input_gradient(&mut self.pass)?);
        Ok(())
    }
}

/// Returns the shapes [m, k, n] of the matrix products in a training step on `batch` examples. Each is a
/// product of an m × k and a k × n matrix. Each layer has a forward product and one for the gradient of its
/// weights. All layers but the first also have a backward product.
pub(crate) fn step_shapes(architecture: &Architecture, batch: usize) -> Vec<[usize; 3]> {
    let mut width = architecture.inputs;
    let mut shapes = vec![];
    for layer in &architecture.layers {
        let (inputs, outputs) = (std::mem::replace(&mut width, layer.outputs), layer.outputs);
        if !shapes.is_empty() {
            shapes.push([batch, outputs, inputs]);
        }
        shapes.extend([[batch, inputs, outputs], [outputs, batch, inputs]]);
    }
    shapes
}

/// Returns the number of additions and multiplications in products of these shapes.
pub(crate) fn operations(shapes: &[[usize; 3]]) -> f64 {
    shapes.iter().map(|shape| 2.0 * shape.iter().product::<usize>() as f64).sum()
}

/// Creates a contestant that computes only products of these shapes, `times` times.
pub(crate) fn alone(shapes: &[[usize; 3]], times: usize, threads: usize) -> Result<Contestant> {
    let mut products = shapes.iter().copied().map(Product::new).collect::<Result<Vec<_>>>()?;
    let pool = threads::pool(threads)?;
    let name = format!("its products of matrices alone, {}", threads::named(threads));
    Ok(Contestant::timed(name, times, move || {
        threads::run(&pool, || (0..times).try_for_each(|_| products.iter_mut().try_for_each(Product::make)))
    }))
}

/// Creates a contestant that reports the time of as many operations as products of these shapes need, at the
/// rate of a large product.
pub(crate) fn at_best(shapes: &[[usize; 3]], threads: usize) -> Result<Contestant> {
    let large = [LARGE; 3];
    let share = operations(shapes) / operations(&[large]);
    let (mut product, pool) = (Product::new(large)?, threads::pool(threads)?);
    let mut timed = Contestant::timed("", 1, move || threads::run(&pool, || product.make()));
    let name =
        format!("as many operations at the rate of a product of side {LARGE}, {}", threads::named(threads));
    Ok(Contestant::new(name, move || Ok(share * timed.once()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_three_products_a_layer_but_two_for_the_first() {
        let architecture = Architecture::new(5).layer(3, Activation::Relu).layer(2, Activation::Identity);
        let shapes = step_shapes(&architecture, 7);
        assert_eq!(shapes, [[7, 5, 3], [3, 7, 5], [7, 2, 3], [7, 3, 2], [2, 7, 3]]);
        assert_eq!(operations(&shapes), 2.0 * 7.0 * (2.0 * 15.0 + 3.0 * 6.0));
    }
}
