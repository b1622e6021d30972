//! Statistics of the records of volunteers (people whose records shape a design), for linear designs: mean,
//! covariance, and whitened coordinates.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use scumble_core::{Error, Result};
use scumble_linalg::Eigen;

/// Least ratio of an eigenvalue of the correlation matrix to the largest eigenvalue. Directions with a
/// smaller ratio count as directions in which records do not vary (errata T4).
const LEAST_VARIANCE: f64 = 1e-12;

/// N records of n features, with their mean and their covariance (normalised by N).
#[derive(Debug, Clone)]
pub struct Sample {
    records: Array2<f64>,
    mean: Array1<f64>,
    covariance: Array2<f64>,
}

impl Sample {
    /// Computes the statistics of `records` (N × n).
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no records, [`Error::NonFinite`] if a value is a NaN or an infinity.
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

    /// Returns the records (N × n).
    pub fn records(&self) -> &Array2<f64> {
        &self.records
    }

    /// Returns the mean μ_x (n values).
    pub fn mean(&self) -> &Array1<f64> {
        &self.mean
    }

    /// Returns the covariance Σ_xx (n × n).
    pub fn covariance(&self) -> &Array2<f64> {
        &self.covariance
    }

    /// Computes L (n × r) with LLᵀ = Σ_xx, the covariance, and the pseudoinverse L⁺ (r × n), for the r
    /// directions in which records vary. For a record x and the mean μ, the whitened record h = L⁺(x − μ) has
    /// covariance I (r × r), and x = μ + Lh.
    pub fn whitening(&self) -> (Array2<f64>, Array2<f64>) {
        // Use correlations, because columns may have any units.
        let deviations = self.covariance.diag().mapv(f64::sqrt);
        let inverses = deviations.mapv(|deviation| if deviation > 0.0 { 1.0 / deviation } else { 0.0 });
        let per_column = |values: &Array1<f64>| values.clone().insert_axis(Axis(1));
        let (values, vectors) = eigen(&(&self.covariance * &inverses * per_column(&inverses)));
        let largest = values.first().copied().unwrap_or(0.0);
        let rank = values.iter().filter(|value| **value > LEAST_VARIANCE * largest).count();
        let vectors = vectors.slice(ndarray::s![.., ..rank]).to_owned();
        let roots = values.slice(ndarray::s![..rank]).mapv(f64::sqrt);
        let (l, inverse) = (&vectors * &roots, &vectors / &roots);
        (l * per_column(&deviations), (inverse * per_column(&inverses)).reversed_axes())
    }

    /// Computes D = Σ_xx Aᵀ(AΣ_xxAᵀ + σ_w²I)⁻¹ (n × Z), the decoder E of Proposition 1 (Cheng, Tang and
    /// Chinchali) in the coordinates of the records x. Σ_xx is their covariance. The encoder's `map` is A (Z
    /// × n), and each latent has noise of `variance` σ_w². D minimises E‖K(x̂ − x)‖² for every matrix K.
    pub fn best_decoder(&self, map: &Array2<f64>, variance: f64) -> Array2<f64> {
        let with_records = self.covariance.dot(&map.t());
        let own = map.dot(&with_records) + &(Array2::<f64>::eye(map.nrows()) * variance);
        solve_right(&with_records, &own)
    }
}

/// Computes the eigenvalues (n) of a symmetric matrix (n × n) in descending order, and their eigenvectors as
/// columns. Returns no values if an entry is not finite.
pub(crate) fn eigen(matrix: &Array2<f64>) -> (Array1<f64>, Array2<f64>) {
    let symmetric = (matrix + &matrix.t()) / 2.0;
    match Eigen::new(&symmetric).map(Eigen::falling) {
        Some(found) => (found.values().clone(), found.vectors().clone()),
        None => (Array1::zeros(0), Array2::zeros((matrix.nrows(), 0))),
    }
}

/// Solves X·`matrix` = `right` for X (m × k), with a positive semidefinite `matrix` (k × k) and `right` (m ×
/// k). Returns the solution of least norm.
pub(crate) fn solve_right(right: &Array2<f64>, matrix: &Array2<f64>) -> Array2<f64> {
    let (values, vectors) = eigen(matrix);
    let largest = values.first().copied().unwrap_or(0.0);
    let inverse = |value: &f64| if *value > 1e-14 * largest { 1.0 / value } else { 0.0 };
    let inverses: Array1<f64> = values.iter().map(inverse).collect();
    (right.dot(&vectors) * &inverses).dot(&vectors.t())
}

/// Computes Σᵢ aᵢ².
pub(crate) fn squared_norm(vector: ArrayView1<f64>) -> f64 {
    vector.iter().map(|x| x * x).sum()
}
