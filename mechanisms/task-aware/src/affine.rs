//! Affine maps as networks.

use ndarray::{Array2, ArrayView1};
use scumble_core::{Error, Result};
use scumble_neural::{Activation, Architecture, Network};

/// Builds the one-layer network x ↦ Mx + c, where M is `matrix` and c is `constant`.
pub(crate) fn affine(matrix: &Array2<f64>, constant: ArrayView1<f64>) -> Result<Network<f64>> {
    let (outputs, inputs) = matrix.dim();
    let architecture = Architecture::new(inputs).layer(outputs, Activation::Identity);
    let parameters = matrix.iter().copied().chain(constant.iter().copied()).collect();
    Network::from_parameters(architecture, parameters).map_err(|problem| Error::shape(problem.to_string()))
}
