//! Known plaintexts: an adversary who knows what some released records were made of learns to undo a transformation (Dauntless, A.4).

use crate::{Error, Result};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_classifier::{ClassifierParams, VectorModel};
use scumble_linalg::solve;

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

/// Sums over released records and what they were made of, which is all that least squares needs: pairs may come part by part, and none is
/// kept.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    sums: Option<Sums>,
}

/// Sums of what lies beyond the first part's means, so that little is lost to rounding.
#[derive(Debug, Clone)]
struct Sums {
    count: f64,
    /// The first part's means (d′ and d values), and the sums beyond them.
    origins: [Array1<f64>; 2],
    sums: [Array1<f64>; 2],
    /// d′ × d′.
    squares: Array2<f64>,
    /// d′ × d.
    products: Array2<f64>,
}

impl Pairs {
    /// Adds released records (m × d′) and what is known of what each was made of (m × d).
    ///
    /// # Errors
    /// [`Error::Shape`] for numbers of rows that differ, none, or a part of other widths than the first; [`Error::NonFinite`] where they
    /// are no numbers.
    pub fn add(&mut self, released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<()> {
        check_pairs(released, known)?;
        let sums = self.sums.get_or_insert_with(|| Sums::around(released, known));
        let widths = [sums.origins[0].len(), sums.origins[1].len()];
        if widths != [released.ncols(), known.ncols()] {
            return Err(Error::shape(format!(
                "{} values of each record are known from {} released ones, where it were {} from {} before",
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

    /// The affine map from released records to what they were made of.
    ///
    /// # Errors
    /// [`Error::Shape`] before the first pair, and where the released records are of no use.
    pub fn learn(self) -> Result<Inversion> {
        let Some(Sums { count, origins, sums, squares, products }) = self.sums else {
            return Err(Error::shape("there is nothing to learn a way back from"));
        };
        let [inputs, outputs] = sums.map(|sums| sums / count);
        let mut squares = squares - outer(&inputs, &inputs) * count;
        let products = products - outer(&inputs, &outputs) * count;
        let ridge = RIDGE * squares.diag().mean().unwrap_or(0.0) + f64::MIN_POSITIVE;
        squares.diag_mut().mapv_inplace(|square| square + ridge);
        let weights = solve(&squares, &products).ok_or_else(|| {
            Error::shape("the released records are of no use: their squares cannot be factored")
        })?;
        let [mean, offset] = origins;
        Ok(Inversion::Linear(LinearMap { mean: mean + inputs, weights, offset: offset + outputs }))
    }
}

impl Sums {
    /// None yet, around the means of these.
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

/// What is added to the squares' sums, as a share of their mean: less than any direction that is there, more than rounding.
const RIDGE: f64 = 1e-12;

impl Inversion {
    /// Learns an affine map from released records (m × d′) to what is known of what each was made of (m × d).
    ///
    /// # Errors
    /// As [`Pairs::add`] and [`Pairs::learn`].
    pub fn linear(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<Self> {
        let mut pairs = Pairs::default();
        pairs.add(released, known)?;
        pairs.learn()
    }

    /// Learns it by a network of these hyper-parameters.
    ///
    /// # Errors
    /// As [`Pairs::add`], and [`Error::Shape`] with what stops the training.
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

    /// The estimated originals (n × d) of released records (n × d′, as many columns as it was learned from).
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
            "{} released records were given with {} known ones",
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
        assert!(refused.contains("1 values of each record are known from 1 released ones"), "{refused}");
        assert!(Pairs::default().learn().is_err());
    }
}
