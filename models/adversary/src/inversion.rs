//! Known plaintexts: an adversary who knows what some released records were made of learns to undo a transformation (Dauntless, A.4).

use crate::{Error, Result};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_classifier::{ClassifierParams, VectorModel};

/// What an adversary learned of the way back from released records (n × d′) to what they were made of (n × d).
///
/// ```
/// use ndarray::{Array2, array};
/// use scumble_adversary::Inversion;
///
/// // Three records and the one without features tell all of a linear map of two.
/// let known = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let secret = array![[3.0, -1.0], [2.0, 5.0]];
/// let learned = Inversion::linear(known.dot(&secret).view(), known.view())?;
/// let private = array![[0.3, 0.9]];
/// let recovered = learned.recover(private.dot(&secret).view());
/// assert_eq!(Inversion::fraction_within(recovered.view(), private.view(), 1e-6), 1.0);
/// # Ok::<(), scumble_adversary::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Inversion {
    /// By least squares.
    Linear(LinearMap),
    /// By a network.
    Network(VectorModel),
}

/// An affine map, least in squares of what it misses.
#[derive(Debug, Clone)]
pub struct LinearMap {
    /// Of what goes in (d′ values).
    mean: Array1<f64>,
    /// d′ × d.
    weights: Array2<f64>,
    /// Of what comes out (d values).
    offset: Array1<f64>,
}

/// What is added to the squares' sums, as a share of their mean: less than any direction that is there, more than rounding.
const RIDGE: f64 = 1e-12;

impl Inversion {
    /// Learns an affine map from released records (m × d′) to what is known of what each was made of (m × d).
    ///
    /// # Errors
    /// [`Error::Shape`] for numbers of rows that differ, or none; [`Error::NonFinite`] where they are no numbers.
    pub fn linear(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<Self> {
        check_pairs(released, known)?;
        let nothing = || Error::shape("there is nothing to learn a way back from");
        let mean = released.mean_axis(Axis(0)).ok_or_else(nothing)?;
        let offset = known.mean_axis(Axis(0)).ok_or_else(nothing)?;
        let (inputs, outputs) = (&released - &mean, &known - &offset);
        let squares = inputs.t().dot(&inputs);
        let ridge = RIDGE * squares.diag().mean().unwrap_or(0.0) + f64::MIN_POSITIVE;
        let (width, products) = (squares.nrows(), inputs.t().dot(&outputs));
        let squares = Mat::from_fn(width, width, |i, j| squares[[i, j]] + if i == j { ridge } else { 0.0 });
        let products = Mat::from_fn(width, products.ncols(), |i, j| products[[i, j]]);
        let factor = squares.llt(Side::Lower);
        let factor = factor.map_err(|_| {
            Error::shape("the released records are of no use: their squares cannot be factored")
        })?;
        let weights = factor.solve(&products);
        let weights = Array2::from_shape_fn((width, known.ncols()), |(i, j)| weights[(i, j)]);
        Ok(Self::Linear(LinearMap { mean, weights, offset }))
    }

    /// Learns it by a network of these hyper-parameters.
    ///
    /// # Errors
    /// As [`linear`](Self::linear), and [`Error::Shape`] with what stops the training.
    pub fn network(
        released: ArrayView2<f64>,
        known: ArrayView2<f64>,
        params: ClassifierParams,
    ) -> Result<Self> {
        check_pairs(released, known)?;
        let failed = |problem: scumble_classifier::Error| Error::shape(problem.to_string());
        let pairs = Dataset::new(released.to_owned(), known.to_owned());
        Ok(Self::Network(params.check().and_then(|params| params.fit(&pairs)).map_err(failed)?))
    }

    /// What she takes the originals of released records (n × d′, as many columns as she learned from) for: n × d.
    ///
    /// As everywhere in linfa, records of another width panic.
    pub fn recover(&self, released: ArrayView2<f64>) -> Array2<f64> {
        match self {
            Self::Linear(LinearMap { mean, weights, offset }) => (&released - mean).dot(weights) + offset,
            Self::Network(network) => network.predict(&released.to_owned()),
        }
    }

    /// The ℓ₂ distance of each recovered record (n × d) from the true one.
    pub fn distances(recovered: ArrayView2<f64>, truth: ArrayView2<f64>) -> Array1<f64> {
        (&recovered - &truth).map_axis(Axis(1), |row| row.dot(&row).sqrt())
    }

    /// The share of recovered records (n × d) within ℓ₂ distance `error` of the true ones.
    pub fn fraction_within(recovered: ArrayView2<f64>, truth: ArrayView2<f64>, error: f64) -> f64 {
        let distances = Self::distances(recovered, truth);
        distances.mapv(|distance| f64::from(u8::from(distance <= error))).mean().unwrap_or(0.0)
    }
}

/// # Errors
/// [`Error::Shape`] unless there is one known record a released one, and any; [`Error::NonFinite`] with the first that is no number.
fn check_pairs(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<()> {
    if released.nrows() != known.nrows() || known.is_empty() || released.is_empty() {
        return Err(Error::shape(format!(
            "{} released records stand beside {} known ones",
            released.nrows(),
            known.nrows()
        )));
    }
    check_finite("released", released)?;
    check_finite("known", known)
}

/// # Errors
/// [`Error::NonFinite`] with the first value that is no number.
fn check_finite(what: &str, values: ArrayView2<f64>) -> Result<()> {
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => {
            Err(Error::NonFinite { row: row + 1, column: format!("{what} {}", column + 1), value })
        }
        None => Ok(()),
    }
}
