//! The random network that transforms records before release (Dauntless, Algorithm 2, phase 3).

use crate::secret_matrix::gaussian;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, MatRef};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use rand_core::RngCore;
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_core::{Domain, Error, Result, Stream, local};
use scumble_neural::Activation;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Distribution of the random weights of a layer of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// The inverse of a matrix of independent uniform entries in [−β, β] for some β > 0 (Dauntless, Section
    /// A.2, Approach 1), as Corollary 1 of Dauntless requires.
    InverseUniform,
    /// Independent uniform entries in [−β, β] for some β > 0 (Dauntless, Section A.2, Approach 2).
    Uniform,
    /// Independent normal entries, as Lemma 1 (Dauntless) requires: it proves that the release does not
    /// distinguish tables X and X·U with a unitary U.
    Gaussian,
}

/// Public description of a transformation: everything but the values of the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shape {
    /// Widths d₁ … d_L of the layers.
    pub(crate) layers: Vec<usize>,
    pub(crate) weights: Weights,
    pub(crate) activation: Activation,
    /// Condition number (largest divided by least singular value) at or above which a matrix is redrawn,
    /// before its inverse becomes the weights of a layer.
    pub(crate) most_condition: f64,
    /// Bits of each released value.
    pub(crate) bits: u32,
}

/// Maximum number of attempts to draw an invertible matrix.
const MOST_DRAWS: usize = 1000;

/// Magnitude at which outputs of the network are clipped. The unit is the standard deviation of an output if
/// the input coordinates are independent and have the largest root mean square that the domain allows.
const WIDEST: f64 = 4.0;

/// The network N_W(x) = σ(… σ(σ(x·W₁)·W₂) …·W_L) with the activation function σ, drawn weights W₁ … W_L, and
/// output values on a grid.
#[derive(Debug, Clone)]
pub(crate) struct Transformation {
    /// Middle of the public domain (d values), which is subtracted from each record.
    center: Array1<f64>,
    /// W₁ … W_L. Each column of W₁ has the ℓ₂ norm 1/s, where s is the largest root mean square of a centred
    /// record's coordinates that the domain allows. Each column of W₂ … W_L has the ℓ₂ norm 1.
    weights: Vec<Array2<f64>>,
    activation: Activation,
    /// Half the number of points of the grid to which outputs are rounded.
    steps: f64,
}

impl Shape {
    /// Draws the weights of a network for records with these `features`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if no invertible matrix is drawn.
    pub(crate) fn draw(&self, features: &Domain, stream: &mut Stream) -> Result<Transformation> {
        // Largest root mean square of the coordinates of a centred record, by the public bounds. For the
        // outputs of a layer, one is assumed.
        let mut spread = (features.squared_radius() / features.dim().max(1) as f64).sqrt();
        let mut inputs = features.dim();
        let mut weights = vec![];
        for &width in &self.layers {
            let mut layer = self.layer(inputs, width, stream)?;
            for mut column in layer.axis_iter_mut(Axis(1)) {
                let size = spread * column.dot(&column).sqrt();
                column.mapv_inplace(|w| if size > 0.0 { w / size } else { 0.0 });
            }
            weights.push(layer);
            (inputs, spread) = (width, 1.0);
        }
        Ok(Transformation {
            center: features.center().into(),
            weights,
            activation: self.activation,
            steps: 2f64.powi(self.bits as i32 - 1),
        })
    }

    fn layer(&self, rows: usize, columns: usize, stream: &mut Stream) -> Result<Array2<f64>> {
        match self.weights {
            Weights::Uniform => Ok(uniform(rows, columns, stream)),
            Weights::Gaussian => gaussian(rows, columns, stream),
            Weights::InverseUniform => {
                let draws = (0..MOST_DRAWS).find_map(|_| self.inverse(&uniform(rows, columns, stream)));
                draws.ok_or_else(|| {
                    let limit = self.most_condition;
                    let reason = format!(
                        "none of {MOST_DRAWS} random matrices had singular values within a factor of {limit}"
                    );
                    Error::not_applicable(crate::MIX, reason)
                })
            }
        }
    }

    /// Returns the inverse of `matrix`; `None` unless the condition number of `matrix` is below
    /// `most_condition`.
    fn inverse(&self, matrix: &Array2<f64>) -> Option<Array2<f64>> {
        let matrix = mat(matrix.view());
        let singular = matrix.singular_values().ok()?;
        let (largest, least) = (singular.first()?, singular.last()?);
        // The comparison is false for NaN, too.
        (*largest < self.most_condition * least).then(|| array(matrix.partial_piv_lu().inverse().as_ref()))
    }

    /// Probability that a matrix of weights is redrawn. It equals the total variation distance between the
    /// distribution of the final matrix and the distribution of a matrix that is never redrawn.
    ///
    /// The probability that a d × d matrix of independent entries has a condition number of d·x or more tends
    /// to 1 − e^(−2/x − 2/x²) as d = `dim` grows (Edelman 1988, for normal entries; Tao and Vu 2010, for
    /// others).
    pub(crate) fn redrawn(&self, dim: usize) -> f64 {
        match self.weights {
            Weights::InverseUniform => {
                let x = self.most_condition / dim as f64;
                -(-2.0 / x - 2.0 / (x * x)).exp_m1()
            }
            _ => 0.0,
        }
    }
}

impl Transformation {
    /// Transforms n = `count` records into released values (n × d_L), where d_L is the width of the last
    /// layer. `records` returns the records with the given indices (m × d). They need not be in memory all at
    /// once.
    pub(crate) fn apply(
        &self,
        count: usize,
        records: impl Fn(Range<usize>) -> Array2<f64> + Sync,
    ) -> Array2<f64> {
        let width = self.weights.last().map_or(self.center.len(), Array2::ncols);
        let mut whole = Array2::zeros((count, width));
        // Blocks of a fixed size make the result independent of the number of threads.
        let blocks: Vec<_> = whole.axis_chunks_iter_mut(Axis(0), local::BLOCK).enumerate().collect();
        blocks.into_par_iter().for_each(|(at, mut into)| {
            let first = at * local::BLOCK;
            into.assign(&self.apply_block(records(first..first + into.nrows())));
        });
        whole
    }

    fn apply_block(&self, records: Array2<f64>) -> Array2<f64> {
        let mut values = records - &self.center;
        for weights in &self.weights {
            values = values.dot(weights);
            values.mapv_inplace(|x| self.activation.value(x));
        }
        values.mapv_inplace(|x| self.on_grid(x / WIDEST));
        values
    }

    /// Returns the point nearest to `x` on a grid of 2^bits points in [−1, 1).
    fn on_grid(&self, x: f64) -> f64 {
        (x * self.steps).round().clamp(-self.steps, self.steps - 1.0) / self.steps
    }
}

/// Draws independent uniform entries in [−1, 1). Entries in [−β, β) for another β would give the same
/// network, because each column of weights is scaled later.
fn uniform(rows: usize, columns: usize, stream: &mut Stream) -> Array2<f64> {
    const STEPS: f64 = (1u64 << 52) as f64;
    Array2::from_shape_simple_fn((rows, columns), || (stream.next_u64() >> 11) as f64 / STEPS - 1.0)
}

/// Converts a `faer` matrix to `ndarray`.
fn array(matrix: MatRef<f64>) -> Array2<f64> {
    Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |(row, column)| matrix[(row, column)])
}

/// Converts an `ndarray` matrix to `faer`.
fn mat(matrix: ArrayView2<f64>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| matrix[[row, column]])
}
