//! Labels as random vectors of c′ coordinates (Dauntless, Algorithm 2, phase 1).

use crate::secret_matrix::gaussian;
use ndarray::{Array1, Array2, ArrayView1, Axis};
use scumble_core::{Result, Stream};

/// Label vectors: one vector of c′ independent standard normal coordinates for each of c classes (c × c′).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bases(Array2<f64>);

impl Bases {
    pub(crate) fn draw(classes: usize, dim: usize, stream: &mut Stream) -> Result<Self> {
        Ok(Self(gaussian(classes, dim, stream)?))
    }

    /// Returns the label vectors (n × c′) of n records with these `classes`.
    pub(crate) fn select(&self, classes: &Array1<usize>) -> Array2<f64> {
        self.0.select(Axis(0), &classes.to_vec())
    }

    /// Returns the class whose label vector is nearest to `vector`.
    pub(crate) fn nearest(&self, vector: ArrayView1<f64>) -> usize {
        let distance = |basis: ArrayView1<f64>| (&basis - &vector).mapv(|x| x * x).sum();
        let distances = self.0.outer_iter().map(distance).enumerate();
        distances.min_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(class, _)| class)
    }
}
