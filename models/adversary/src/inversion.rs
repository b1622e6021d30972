//! Known-plaintext attacks: an adversary that knows the originals of some released records learns to invert
//! the secret transformation of the release (Xiao and Devadas, Dauntless, Section A.4).

use crate::{Error, Result};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_classifier::{ClassifierParams, VectorModel};
use scumble_linalg::solve;

/// Learned map from n released records of d′ values (n × d′) to their originals of d values (n × d).
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
    /// Affine least-squares map.
    Linear(LinearMap),
    /// Neural network.
    Network(VectorModel),
}

/// Affine map with the least squared error, from a released record of d′ values to its original of d values.
#[derive(Debug, Clone)]
pub struct LinearMap {
    /// Mean of the inputs (d′ values).
    mean: Array1<f64>,
    /// Weights (d′ × d).
    weights: Array2<f64>,
    /// Mean of the outputs (d values).
    offset: Array1<f64>,
}

/// Sums over pairs of released records and originals for least squares. Pairs may arrive in several batches,
/// and are not stored.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    sums: Option<Sums>,
}

/// Sums of deviations from the means of the first batch, to limit rounding errors. An input is a released
/// record of d′ values, and an output is its original of d values.
#[derive(Debug, Clone)]
struct Sums {
    count: f64,
    /// Means of the first batch (d′ values of inputs and d of outputs), and sums of the deviations from these
    /// means.
    origins: [Array1<f64>; 2],
    sums: [Array1<f64>; 2],
    /// Sums of products of the deviations of inputs (d′ × d′).
    squares: Array2<f64>,
    /// Sums of products of the deviations of inputs and outputs (d′ × d).
    products: Array2<f64>,
}

impl Pairs {
    /// Adds m released records of d′ values (m × d′) and their known originals of d values (m × d).
    ///
    /// # Errors
    /// [`Error::Shape`] if `released` or `known` is empty, if their numbers of rows differ, or if a width
    /// differs from the first batch; [`Error::NonFinite`] if a value is not finite.
    pub fn add(&mut self, released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<()> {
        check_pairs(released, known)?;
        let sums = self.sums.get_or_insert_with(|| Sums::around(released, known));
        let widths = [sums.origins[0].len(), sums.origins[1].len()];
        if widths != [released.ncols(), known.ncols()] {
            return Err(Error::shape(format!(
                "{} values of each record are known from {} released values, and before {} from {}",
                known.ncols(),
                released.ncols(),
                widths[1],
                widths[0]
            )));
        }
        let (inputs, outputs) = (&released - &sums.origins[0], &known - &sums.origins[1]);
        sums.count += inputs.nrows() as f64;
        sums.sums[0] += &inputs.sum_axis(Axis(0));
        sums.sums[1] += &outputs.sum_axis(Axis(0));
        general_mat_mul(1.0, &inputs.t(), &inputs, 1.0, &mut sums.squares);
        general_mat_mul(1.0, &inputs.t(), &outputs, 1.0, &mut sums.products);
        Ok(())
    }

    /// Learns the affine map from released records to their originals.
    ///
    /// # Errors
    /// [`Error::Shape`] if no pair was added, or if the covariance matrix of the released records cannot be
    /// factored.
    pub fn learn(self) -> Result<Inversion> {
        let Some(Sums { count, origins, sums, squares, products }) = self.sums else {
            return Err(Error::shape("there are no records to learn the inversion from"));
        };
        let [inputs, outputs] = sums.map(|sums| sums / count);
        let mut squares = squares - outer(&inputs, &inputs) * count;
        let products = products - outer(&inputs, &outputs) * count;
        let ridge = RIDGE * squares.diag().mean().unwrap_or(0.0) + f64::MIN_POSITIVE;
        squares.diag_mut().mapv_inplace(|square| square + ridge);
        let weights = solve(&squares, &products).ok_or_else(|| {
            Error::shape(
                "the inversion cannot be learned: the squares of the released records cannot be \
                          factored",
            )
        })?;
        let [mean, offset] = origins;
        Ok(Inversion::Linear(LinearMap { mean: mean + inputs, weights, offset: offset + outputs }))
    }
}

impl Sums {
    /// Sums without any pair yet, with the means of these records as the origins of later deviations.
    fn around(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Self {
        let origins = [released.mean_axis(Axis(0)), known.mean_axis(Axis(0))].map(Option::unwrap_or_default);
        Self {
            count: 0.0,
            sums: origins.each_ref().map(|origin| Array1::zeros(origin.len())),
            squares: Array2::zeros((released.ncols(), released.ncols())),
            products: Array2::zeros((released.ncols(), known.ncols())),
            origins,
        }
    }
}

fn outer(left: &Array1<f64>, right: &Array1<f64>) -> Array2<f64> {
    left.view().insert_axis(Axis(1)).dot(&right.view().insert_axis(Axis(0)))
}

/// Ridge penalty, relative to the mean of the squared values that it is added to. It is larger than rounding
/// errors, and smaller than the variance along a direction in which released records differ.
const RIDGE: f64 = 1e-12;

impl Inversion {
    /// Learns an affine map from m released records of d′ values (m × d′) to their known originals of d
    /// values (m × d).
    ///
    /// # Errors
    /// Same errors as [`Pairs::add`] and [`Pairs::learn`].
    pub fn linear(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<Self> {
        let mut pairs = Pairs::default();
        pairs.add(released, known)?;
        pairs.learn()
    }

    /// Learns a map from m released records of d′ values (m × d′) to their known originals of d values (m ×
    /// d). The map is a neural network with the hyper-parameters `params`.
    ///
    /// # Errors
    /// Same errors as [`Pairs::add`]; also [`Error::Shape`] with the cause if the training fails.
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

    /// Estimated originals of d values (n × d) of n released records of d′ values (n × d′). The released
    /// records must be as wide as the released records that the map was learned from.
    ///
    /// # Panics
    /// Panics for records of another width, like the models of linfa.
    pub fn recover(&self, released: ArrayView2<f64>) -> Array2<f64> {
        match self {
            Self::Linear(LinearMap { mean, weights, offset }) => (&released - mean).dot(weights) + offset,
            Self::Network(network) => network.predict(&released.to_owned()),
        }
    }

    /// ℓ₂ distance of each of n recovered records of d values (n × d) from its true record.
    pub fn distances(recovered: ArrayView2<f64>, truth: ArrayView2<f64>) -> Array1<f64> {
        (&recovered - &truth).map_axis(Axis(1), |row| row.dot(&row).sqrt())
    }

    /// Share of n recovered records of d values (n × d) within ℓ₂ distance `error` of their true records.
    pub fn fraction_within(recovered: ArrayView2<f64>, truth: ArrayView2<f64>, error: f64) -> f64 {
        let distances = Self::distances(recovered, truth);
        distances.mapv(|distance| f64::from(u8::from(distance <= error))).mean().unwrap_or(0.0)
    }
}

/// Checks pairs of released and known records.
///
/// # Errors
/// [`Error::Shape`] if one of them is empty, or if their numbers of rows differ; [`Error::NonFinite`] with
/// the first value that is not finite.
fn check_pairs(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<()> {
    if released.nrows() != known.nrows() || known.is_empty() || released.is_empty() {
        return Err(Error::shape(format!(
            "{} released records were given with {} known records",
            released.nrows(),
            known.nrows()
        )));
    }
    check_finite("released", released)?;
    check_finite("known", known)
}

/// Checks that `values` are finite.
///
/// # Errors
/// [`Error::NonFinite`] with the first value that is not finite.
fn check_finite(what: &str, values: ArrayView2<f64>) -> Result<()> {
    match values.indexed_iter().find(|(_, value)| !value.is_finite()) {
        Some(((row, column), &value)) => {
            Err(Error::NonFinite { row: row + 1, column: format!("{what} {}", column + 1), value })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, s};

    #[test]
    fn pairs_that_come_in_parts_are_those_that_come_at_once() {
        let known = Array2::from_shape_fn((40, 3), |(i, j)| ((7 * i + 3 * j * j + i * i * j) % 11) as f64);
        let released = known.dot(&array![[2.0, 1.0, 0.0], [0.0, 1.0, -3.0], [1.0, 0.0, 1.0]]) + 100.0;
        let mut pairs = Pairs::default();
        for part in [s![..3, ..], s![3..4, ..], s![4.., ..]] {
            pairs.add(released.slice(part), known.slice(part)).unwrap();
        }
        let recovered = pairs.learn().unwrap().recover(released.view());
        let distances = Inversion::distances(recovered.view(), known.view());
        assert!(distances.iter().all(|distance| *distance < 1e-8), "{distances}");
    }

    #[test]
    fn pairs_of_other_widths_are_refused() {
        let mut pairs = Pairs::default();
        pairs.add(array![[1.0, 2.0]].view(), array![[3.0]].view()).unwrap();
        let refused = pairs.add(array![[1.0]].view(), array![[3.0]].view()).unwrap_err().to_string();
        assert!(refused.contains("1 values of each record are known from 1 released values"), "{refused}");
        assert!(Pairs::default().learn().is_err());
    }
}
