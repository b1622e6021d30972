//! What linear designs take from volunteers' records: mean, covariance, and coordinates in which that is the identity.

use faer::{Mat, Side};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, Result};

/// Of the columns' correlations: directions of less than this share of the largest variance are none (ERRATA.md, T4).
const LEAST_VARIANCE: f64 = 1e-12;

/// Records (N × n), with their mean and their covariance, divided by N.
#[derive(Debug, Clone)]
pub struct Sample {
    records: Array2<f64>,
    mean: Array1<f64>,
    covariance: Array2<f64>,
}

impl Sample {
    /// Of these records (N × n).
    ///
    /// # Errors
    /// [`Error::Empty`] where there is none, [`Error::NonFinite`] for a NaN or an infinity.
    pub fn new(records: ArrayView2<f64>) -> Result<Self> {
        let Some(mean) = records.mean_axis(Axis(0)) else {
            return Err(Error::Empty { place: "the volunteers' table".into() });
        };
        if let Some(((row, column), value)) = records.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::NonFinite { row: row + 1, column: (column + 1).to_string(), value: *value });
        }
        let centered = &records - &mean;
        let covariance = centered.t().dot(&centered) / records.nrows() as f64;
        Ok(Self { records: records.to_owned(), mean, covariance })
    }

    /// The records (N × n).
    pub fn records(&self) -> &Array2<f64> {
        &self.records
    }

    /// μ_x (n values).
    pub fn mean(&self) -> &Array1<f64> {
        &self.mean
    }

    /// Σ_xx (n × n).
    pub fn covariance(&self) -> &Array2<f64> {
        &self.covariance
    }

    /// L (n × r) with LLᵀ = Σ_xx, and L⁺ (r × n), of the directions in which records vary: h = L⁺(x − μ) has the covariance I of r
    /// dimensions, and x = μ + Lh.
    pub fn whitening(&self) -> (Array2<f64>, Array2<f64>) {
        // Of correlations: columns may have any units.
        let deviations = self.covariance.diag().mapv(f64::sqrt);
        let inverses = deviations.mapv(|deviation| if deviation > 0.0 { 1.0 / deviation } else { 0.0 });
        let per_column = |values: &Array1<f64>| values.clone().insert_axis(Axis(1));
        let eigen = Eigen::of(&(&self.covariance * &inverses * per_column(&inverses)));
        let largest = eigen.values.first().copied().unwrap_or(0.0);
        let rank = eigen.values.iter().filter(|value| **value > LEAST_VARIANCE * largest).count();
        let (vectors, roots) = eigen.first(rank);
        let roots = roots.mapv(f64::sqrt);
        let (l, inverse) = (&vectors * &roots, &vectors / &roots);
        (l * per_column(&deviations), (inverse * per_column(&inverses)).reversed_axes())
    }

    /// D = Σ_xx Aᵀ(AΣ_xxAᵀ + σ_w²I)⁻¹ (n × Z), which is E's decoder of Proposition 1 in the coordinates of x: the best for `map` A (Z × n) and
    /// noise of the variance σ_w² on each latent, whatever K.
    pub fn best_decoder(&self, map: &Array2<f64>, variance: f64) -> Array2<f64> {
        let with_records = self.covariance.dot(&map.t());
        let own = map.dot(&with_records) + &(Array2::<f64>::eye(map.nrows()) * variance);
        solve_right(&with_records, &own)
    }
}

/// The eigenvalues of a symmetric matrix, largest first, and their vectors, one a column.
pub(crate) struct Eigen {
    pub(crate) values: Array1<f64>,
    pub(crate) vectors: Array2<f64>,
}

impl Eigen {
    /// Of a symmetric matrix (n × n); without values where there is an entry that is no finite number.
    pub(crate) fn of(matrix: &Array2<f64>) -> Self {
        let n = matrix.nrows();
        if n == 0 || matrix.iter().any(|x| !x.is_finite()) {
            return Self { values: Array1::zeros(0), vectors: Array2::zeros((n, 0)) };
        }
        let symmetric = Mat::from_fn(n, n, |i, j| (matrix[[i, j]] + matrix[[j, i]]) / 2.0);
        let Ok(eigen) = symmetric.self_adjoint_eigen(Side::Lower) else {
            return Self { values: Array1::zeros(0), vectors: Array2::zeros((n, 0)) };
        };
        Self {
            values: (0..n).rev().map(|at| eigen.S().column_vector()[at]).collect(),
            vectors: Array2::from_shape_fn((n, n), |(i, j)| eigen.U()[(i, n - 1 - j)]),
        }
    }

    /// The vectors (n × k) and values (k) of the k largest.
    pub(crate) fn first(&self, k: usize) -> (Array2<f64>, Array1<f64>) {
        let k = k.min(self.values.len());
        (self.vectors.slice(ndarray::s![.., ..k]).to_owned(), self.values.slice(ndarray::s![..k]).to_owned())
    }
}

/// X (m × k) with X·`matrix` = `right` (m × k) for a positive semidefinite matrix (k × k), least where there are many.
pub(crate) fn solve_right(right: &Array2<f64>, matrix: &Array2<f64>) -> Array2<f64> {
    let Eigen { values, vectors } = Eigen::of(matrix);
    let largest = values.first().copied().unwrap_or(0.0);
    let inverse = |value: &f64| if *value > 1e-14 * largest { 1.0 / value } else { 0.0 };
    let inverses: Array1<f64> = values.iter().map(inverse).collect();
    (right.dot(&vectors) * &inverses).dot(&vectors.t())
}

/// Σᵢ aᵢ² .
pub(crate) fn squared_norm(vector: ArrayView1<f64>) -> f64 {
    vector.iter().map(|x| x * x).sum()
}
