//! Known-plaintext attacks (Xiao and Devadas, Dauntless, Algorithm 1 and Section A.4). The adversary knows
//! some originals of released records, or parts of them. It learns to invert the secret transformation of the
//! release.

use crate::{Error, Result};
use faer::{MatMut, MatRef};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, concatenate, s};
use scumble_classifier::{ClassifierParams, VectorModel};
use scumble_linalg::{gram, solve};

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
    /// Inverse of a [`TransformationFit`].
    Linear(LinearMap),
    /// Neural network.
    Network(VectorModel),
}

/// Affine map from a released record of d′ values to an estimate of its original of d values.
#[derive(Debug, Clone)]
pub struct LinearMap {
    /// Released form of the mean original (d′ values).
    mean: Array1<f64>,
    /// Weights (d′ × d).
    weights: Array2<f64>,
    /// Mean original (d values).
    offset: Array1<f64>,
}

/// Least-squares fit of a secret affine transformation x ↦ x·A + b of d values into d′ values. The originals
/// of the released records are known in part.
///
/// The original of a released record y is a sum k + h. The adversary knows the part k, and the sum w of the
/// weights of the hidden records that make up h. It also knows records with mean μ and covariance Σ that
/// resemble the hidden ones, such as public records. The hidden records may have another mean μ + δ, and
/// another covariance:
///
/// ```text
/// y = (k + w·μ)·A + w·(δ·A) + b + √(w² + f²)·e,   Cov(e) = S
/// ```
///
/// The hidden part is noise in the response y. The regression of y on k and w is therefore unbiased, whatever
/// the second moments of hidden records are. The reverse regression of k on y is biased, because the same
/// noise is in its regressor. Each row has the weight 1/(w² + f²), the reciprocal of its variance (Aitken).
/// The floor f = 10⁻⁵ stands for the rounding of released values.
///
/// The prior of A has independent rows of covariance S/tr(Σ): a record and the noise e then have images of
/// equal size. The prior covariance of δ·A is S/10, and b has a flat prior. The fit is the posterior mean.
/// The inverse is the best linear estimate of a record x ~ (μ, Σ), given its released form (Wiener):
///
/// ```text
/// x̂ = μ + (y − μ·A − b)·(AᵀΣA + (f² + τ)·S)⁻¹·AᵀΣ
/// ```
///
/// τ·S is the posterior covariance of x·A + b, averaged over x. S is the sum of the weighted squares of the
/// residuals and of the prior's deviations, divided by n − d′ − 1 (or by 1, if that is more) for n released
/// records. This is the posterior mean under the flat prior of S (inverse Wishart). No constant depends on
/// the hidden records.
///
/// ```
/// use ndarray::array;
/// use scumble_adversary::{Inversion, TransformationFit};
///
/// // Public records of two columns, and mixtures with hidden records of weights 0 and 1/2.
/// let public = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
/// let known = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]];
/// let mixtures = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.9, 0.6]];
/// let secret = array![[3.0, -1.0], [2.0, 5.0]];
/// let mut fit = TransformationFit::new(public.view())?;
/// fit.add(mixtures.dot(&secret).view(), known.view(), array![0.0, 0.0, 0.0, 0.5].view())?;
/// let recovered = fit.invert()?.recover(mixtures.dot(&secret).view());
/// assert_eq!(Inversion::fraction_within(recovered.view(), mixtures.view(), 1e-5), 1.0);
/// # Ok::<(), scumble_adversary::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TransformationFit {
    /// Mean μ (d values) and covariance Σ (d × d) of records that resemble the hidden ones.
    mean: Array1<f64>,
    covariance: Array2<f64>,
    sums: Option<Sums>,
}

/// Sums over released records. They do not grow with the number of records.
#[derive(Debug, Clone)]
struct Sums {
    /// First released record (d′ values). It is subtracted from all others, to limit rounding errors.
    origin: Array1<f64>,
    count: f64,
    /// Lower triangle of the sum of products of the rows (k + w·μ − μ, w, 1, y)/√(w² + f²): a square matrix
    /// of d + 2 + d′ columns.
    products: Array2<f64>,
}

/// Smallest standard deviation f of the noise of a released record, relative to the noise of weight 1.
const FLOOR: f64 = 1e-5;
/// Prior precision of δ·A, in units of S⁻¹.
const MEAN_PRECISION: f64 = 10.0;
/// Ridge penalty of the sum of squared residuals, relative to the mean sum of squares of a released value. It
/// is larger than rounding errors, and smaller than the variance along a direction in which released records
/// differ.
const RIDGE: f64 = 1e-12;
/// Number of released records whose products are summed at a time.
const AT_ONCE: usize = 1024;

impl TransformationFit {
    /// Creates a fit without any released record. `records` (n × d) have about the mean and the covariance of
    /// the hidden records.
    ///
    /// # Errors
    /// [`Error::Shape`] if `records` is empty; [`Error::NonFinite`] if a value is not finite.
    pub fn new(records: ArrayView2<f64>) -> Result<Self> {
        check_finite("known", records)?;
        let Some(mean) = records.mean_axis(Axis(0)).filter(|mean| !mean.is_empty()) else {
            return Err(Error::shape("there are no known records"));
        };
        let centred = &records - &mean;
        let covariance = centred.t().dot(&centred) / records.nrows() as f64;
        Ok(Self { mean, covariance, sums: None })
    }

    /// Adds m released records of d′ values (m × d′), the known parts of their originals (m × d), and the
    /// weights of the hidden parts (m values). A weight of zero means that the whole original is known.
    ///
    /// # Errors
    /// [`Error::Shape`] if an argument is empty, if their numbers of rows differ, or if a width differs from
    /// the earlier records; [`Error::NonFinite`] if a value is not finite.
    pub fn add(
        &mut self,
        released: ArrayView2<f64>,
        known: ArrayView2<f64>,
        hidden: ArrayView1<f64>,
    ) -> Result<()> {
        check_pairs(released, known)?;
        check_finite("hidden weight", hidden.insert_axis(Axis(1)))?;
        if hidden.len() != known.nrows() {
            return Err(Error::shape(format!(
                "{} hidden weights were given for {} released records",
                hidden.len(),
                known.nrows()
            )));
        }
        let width = self.sums.as_ref().map_or(released.ncols(), |sums| sums.origin.len());
        if [known.ncols(), released.ncols()] != [self.mean.len(), width] {
            return Err(Error::shape(format!(
                "{} values of each record are known from {} released values, and before {} from {width}",
                known.ncols(),
                released.ncols(),
                self.mean.len(),
            )));
        }
        let mut sums = self.sums.take().unwrap_or_else(|| Sums::new(released.row(0), self.mean.len() + 2));
        let batches =
            released.axis_chunks_iter(Axis(0), AT_ONCE).zip(known.axis_chunks_iter(Axis(0), AT_ONCE));
        for ((released, known), hidden) in batches.zip(hidden.axis_chunks_iter(Axis(0), AT_ONCE)) {
            sums.add(&self.weighted_rows(&sums.origin, (released, known, hidden)));
        }
        self.sums = Some(sums);
        Ok(())
    }

    /// Rows (k + w·μ − μ, w, 1, y − `origin`)/√(w² + f²) of released records (m × (d + 2 + d′)).
    fn weighted_rows(
        &self,
        origin: &Array1<f64>,
        (released, known, hidden): (ArrayView2<f64>, ArrayView2<f64>, ArrayView1<f64>),
    ) -> Array2<f64> {
        let dim = self.mean.len();
        let mut rows = Array2::zeros((known.nrows(), dim + 2 + origin.len()));
        let parts = released.outer_iter().zip(known.outer_iter()).zip(hidden);
        for (mut row, ((released, known), &hidden)) in rows.outer_iter_mut().zip(parts) {
            row.slice_mut(s![..dim]).assign(&(&known - &self.mean * (1.0 - hidden)));
            (row[dim], row[dim + 1]) = (hidden, 1.0);
            row.slice_mut(s![dim + 2..]).assign(&(&released - origin));
            row /= hidden.hypot(FLOOR);
        }
        rows
    }

    /// Learns the transformation, and returns the best linear estimate of a record from its released form.
    ///
    /// # Errors
    /// [`Error::Shape`] if no released record was added, or if a matrix of second moments cannot be factored.
    pub fn invert(&self) -> Result<Inversion> {
        Ok(Inversion::Linear(self.learned()?.0))
    }

    /// Estimates the hidden part of each of m released records of d′ values (m × d′), divided by its weight
    /// (m × d). `known` (m × d) and `hidden` (m positive weights) are as in [`add`](Self::add).
    ///
    /// With W, the matrix of the inverse: x̂ = μ + (y − (k + w·μ)·A − b)·W/w.
    ///
    /// # Errors
    /// Same errors as [`invert`](Self::invert).
    pub fn recover_hidden(
        &self,
        released: ArrayView2<f64>,
        known: ArrayView2<f64>,
        hidden: ArrayView1<f64>,
    ) -> Result<Array2<f64>> {
        let (LinearMap { mean, weights, offset }, transformation) = self.learned()?;
        let weight = hidden.insert_axis(Axis(1));
        let beside = &known - &self.mean * &(1.0 - &weight);
        let own = (&released - &mean - beside.dot(&transformation)) / weight;
        Ok(own.dot(&weights) + offset)
    }

    /// Learns the inverse of the transformation, and its matrix A (d × d′).
    fn learned(&self) -> Result<(LinearMap, Array2<f64>)> {
        let Some(Sums { origin, count, products }) = &self.sums else {
            return Err(Error::shape("there are no records to learn the inversion from"));
        };
        let failed = || Error::shape("the inversion cannot be learned: second moments cannot be factored");
        let (dim, inputs) = (self.mean.len(), self.mean.len() + 2);
        let mut precision = products.slice(s![..inputs, ..inputs]).to_owned();
        let mut penalties = precision.diag_mut();
        penalties.slice_mut(s![..dim]).mapv_inplace(|square| square + self.trace());
        penalties[dim] += MEAN_PRECISION;
        let responses = products.slice(s![inputs.., ..inputs]).reversed_axes();
        let right = concatenate![Axis(1), responses, self.moments_alone()];
        let solved = solve(&precision, &right).ok_or_else(failed)?;
        let (coefficients, uncertainty) = solved.view().split_at(Axis(1), origin.len());
        let released = products.slice(s![inputs.., inputs..]);
        let ridge = RIDGE * released.diag().mean().unwrap_or(0.0) + f64::MIN_POSITIVE;
        let mut residuals = &released - &coefficients.t().dot(&responses);
        residuals.diag_mut().mapv_inplace(|square| square + ridge);
        let freedom = (count - origin.len() as f64 - 1.0).max(1.0);
        let noise = residuals * ((FLOOR * FLOOR + uncertainty.diag().sum()) / freedom);
        let transformation = coefficients.slice(s![..dim, ..]);
        let spread = transformation.t().dot(&self.covariance);
        let squares = spread.dot(&transformation) + noise;
        let inverse = LinearMap {
            mean: origin + &coefficients.row(dim + 1),
            weights: solve(&squares, &spread).ok_or_else(failed)?,
            offset: self.mean.clone(),
        };
        Ok((inverse, transformation.to_owned()))
    }

    /// tr(Σ), the prior precision of the rows of A in units of S⁻¹; positive.
    fn trace(&self) -> f64 {
        self.covariance.diag().sum().max(f64::MIN_POSITIVE)
    }

    /// Second moments of the inputs (x − μ, 0, 1) of a record x that is released alone ((d + 2) × (d + 2)).
    fn moments_alone(&self) -> Array2<f64> {
        let dim = self.mean.len();
        let mut moments = Array2::zeros((dim + 2, dim + 2));
        moments.slice_mut(s![..dim, ..dim]).assign(&self.covariance);
        moments[[dim + 1, dim + 1]] = 1.0;
        moments
    }
}

impl Sums {
    fn new(origin: ArrayView1<f64>, inputs: usize) -> Self {
        let width = inputs + origin.len();
        Self { origin: origin.to_owned(), count: 0.0, products: Array2::zeros((width, width)) }
    }

    /// Adds the products of `rows` (m × (d + 2 + d′)).
    fn add(&mut self, rows: &Array2<f64>) {
        let (count, width) = rows.dim();
        let mut products = Array2::zeros((width, width));
        if let (Some(products), Some(rows)) = (products.as_slice_mut(), rows.as_slice()) {
            gram(
                MatMut::from_row_major_slice_mut(products, width, width),
                MatRef::from_row_major_slice(rows, count, width),
            );
        }
        self.products += &products;
        self.count += count as f64;
    }
}

impl Inversion {
    /// Learns an affine map from m released records of d′ values (m × d′) to their known originals of d
    /// values (m × d): a [`TransformationFit`] without hidden parts.
    ///
    /// # Errors
    /// Same errors as [`TransformationFit`]'s methods.
    pub fn linear(released: ArrayView2<f64>, known: ArrayView2<f64>) -> Result<Self> {
        let mut fit = TransformationFit::new(known)?;
        fit.add(released, known, Array1::zeros(known.nrows()).view())?;
        fit.invert()
    }

    /// Learns a map from m released records of d′ values (m × d′) to their known originals of d values (m ×
    /// d). The map is a neural network with the hyper-parameters `params`.
    ///
    /// # Errors
    /// Same errors as [`TransformationFit::add`]; also [`Error::Shape`] with the cause if the training fails.
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
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Records of independent uniform coordinates with mean zero and these `deviations`.
    fn records(n: usize, deviations: &[f64], rng: &mut ChaCha20Rng) -> Array2<f64> {
        Array2::from_shape_fn((n, deviations.len()), |(_, column)| {
            deviations[column] * rng.gen_range(-1.0..1.0) * 3f64.sqrt()
        })
    }

    #[test]
    fn released_records_that_come_in_parts_are_those_that_come_at_once() {
        let known = Array2::from_shape_fn((40, 3), |(i, j)| ((7 * i + 3 * j * j + i * i * j) % 11) as f64);
        let released = known.dot(&array![[2.0, 1.0, 0.0], [0.0, 1.0, -3.0], [1.0, 0.0, 1.0]]) + 100.0;
        let mut fit = TransformationFit::new(known.view()).unwrap();
        for part in [0..3, 3..4, 4..40] {
            let rows = s![part.clone(), ..];
            fit.add(released.slice(rows), known.slice(rows), Array1::zeros(part.len()).view()).unwrap();
        }
        let recovered = fit.invert().unwrap().recover(released.view());
        let distances = Inversion::distances(recovered.view(), known.view());
        assert!(distances.iter().all(|distance| *distance < 1e-6), "{distances}");
    }

    /// Public records of variance 1 and private ones of variance 9 are mixed by halves, and transformed by x
    /// ↦ 2x + 3. For n mixtures, F = n + 1 for A, and the intercept has the variance 1/40 + 1/4n. A recovered
    /// record has the share 1/(1 + 9τ) of the record's deviation. The regression of public parts on released
    /// records would give the share 2·(1/4)/(1/4 + 9/4) = 1/5.
    #[test]
    fn private_second_moments_that_differ_from_public_ones_do_not_bias_the_fit() {
        const N: usize = 40_000;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let (public, private) = (records(N, &[1.0], &mut rng), records(N, &[3.0], &mut rng));
        let released = |records: &Array2<f64>| records * 2.0 + 3.0;
        let mut fit = TransformationFit::new(public.view()).unwrap();
        let mixtures = (&public + &private) / 2.0;
        let known = &public / 2.0;
        fit.add(released(&mixtures).view(), known.view(), Array1::from_elem(N, 0.5).view()).unwrap();
        let recovered = fit.invert().unwrap().recover(released(&array![[0.0], [1.0]]).view());
        let n = N as f64;
        let expected = 1.0 / (1.0 + 9.0 * (1.0 / (n + 1.0) + 1.0 / 40.0 + 1.0 / (4.0 * n)));
        let share = recovered[[1, 0]] - recovered[[0, 0]];
        assert!((share - expected).abs() < 0.02, "{share} for {expected}");
        assert!(recovered[[0, 0]].abs() < 0.1, "{recovered}");
    }

    /// Three mixtures without a hidden part determine a map of two columns, whatever is in the others.
    #[test]
    fn mixtures_of_little_hidden_weight_count_most() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let [public, private] = [0; 2].map(|_| records(300, &[1.0, 2.0], &mut rng));
        let hidden = Array1::from_shape_fn(300, |row| if row < 3 { 0.0 } else { 0.9 });
        let weights = hidden.view().insert_axis(Axis(1));
        let known = &public * &weights.mapv(|weight| 1.0 - weight);
        let secret = array![[3.0, -1.0, 0.5], [2.0, 5.0, 0.0]];
        let released = (&known + &(&private * &weights)).dot(&secret);
        let mut fit = TransformationFit::new(public.view()).unwrap();
        fit.add(released.view(), known.view(), hidden.view()).unwrap();
        let recovered = fit.invert().unwrap().recover(private.dot(&secret).view());
        assert_eq!(Inversion::fraction_within(recovered.view(), private.view(), 1e-2), 1.0);
        let mixed = s![3.., ..];
        let (released, known) = (released.slice(mixed), known.slice(mixed));
        let recovered = fit.recover_hidden(released, known, hidden.slice(s![3..])).unwrap();
        assert_eq!(Inversion::fraction_within(recovered.view(), private.slice(mixed), 1e-2), 1.0);
    }

    #[test]
    fn arguments_of_other_shapes_are_refused() {
        let mut fit = TransformationFit::new(array![[3.0]].view()).unwrap();
        assert!(fit.invert().is_err() && TransformationFit::new(Array2::zeros((0, 2)).view()).is_err());
        fit.add(array![[1.0, 2.0]].view(), array![[3.0]].view(), array![0.5].view()).unwrap();
        let refused = fit.add(array![[1.0]].view(), array![[3.0]].view(), array![0.5].view());
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("1 values of each record are known from 1 released values"), "{refused}");
        let refused = fit.add(array![[1.0, 2.0]].view(), array![[3.0]].view(), array![0.5, 0.5].view());
        assert!(refused.unwrap_err().to_string().contains("2 hidden weights"));
        assert!(fit.add(array![[1.0, 2.0]].view(), array![[3.0]].view(), array![f64::NAN].view()).is_err());
    }
}
