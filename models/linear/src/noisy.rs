//! Weights of ridge regression on features without noise or with noise of known covariance (errors in
//! variables).

use crate::{Error, Result};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd;
use faer::{Mat, MatMut, MatRef, Par};
use ndarray::{Array1, Array2, ArrayBase, Data, Ix2, s};
use scumble_linalg::gram;

/// Checks `noise`, the covariance matrix of the noise in `width` features and the target.
///
/// # Errors
/// [`Error::Noise`] unless `noise` is symmetric and finite, with `width` + 1 rows and columns.
pub(crate) fn check(noise: &Array2<f64>, width: usize) -> Result<()> {
    let refuse = |problem: String| Err(Error::Noise(format!("the noise's covariance {problem}")));
    if noise.dim() != (width + 1, width + 1) {
        return refuse(format!(
            "has {} rows and {} columns, and {width} features and a target need {}",
            noise.nrows(),
            noise.ncols(),
            width + 1
        ));
    }
    for ((row, column), x) in noise.indexed_iter() {
        if !x.is_finite() || (x - noise[[column, row]]).abs() > 1e-9 * (1.0 + x.abs()) {
            return refuse(format!(
                "is not finite and symmetric at row {row} and column {column}, counted from 0"
            ));
        }
    }
    Ok(())
}

/// Returns the weights w (d) that minimise ½wᵀSw − wᵀs + ½·`l2_penalty`·‖w‖².
///
/// S (d × d) is the mean of xxᵀ over the rows x of `records` (n × d), and s (d) is the mean of x·y for the
/// `targets` y (n). For centred data, S and s are covariances. If `noise` ((d + 1) × (d + 1), the target
/// last) is given, the noise's covariances are subtracted from S and s. With n < d, `noise` is ignored.
///
/// Three corrections handle the noise:
///
/// - The subtraction may leave a negative variance in some direction. This variance is set to zero.
/// - The sample covariance of the noise over n records has a relative error of up to 2·√(d/n). If the
///   variances after the subtraction are small, this error would inflate the weights. Each column's penalty
///   therefore grows by 2·√(d/n)·√(noise variance of the column × its total variance).
/// - If s hardly exceeds its noise, one common factor (see `trust_in`) shrinks all weights toward zero.
///
/// # Errors
/// [`Error::Noise`] if S is not finite.
pub(crate) fn weights(
    records: &ArrayBase<impl Data<Elem = f64>, Ix2>,
    targets: &Array1<f64>,
    noise: Option<&Array2<f64>>,
    l2_penalty: f64,
) -> Result<Array1<f64>> {
    // With fewer records than features, the effect of the noise cannot be estimated, so `noise` is ignored.
    if records.nrows() < records.ncols() {
        return weights_of_few(records, targets, l2_penalty);
    }
    let (n, d) = (records.nrows() as f64, records.ncols());
    let seen = products_of_columns(records) / n;
    let mut quadratic = seen.clone();
    let mut products = records.t().dot(targets) / n;
    let mut penalties = Array1::from_elem(d, l2_penalty);
    let mut trust = 1.0;
    if let Some(noise) = noise {
        let added = noise.slice(s![..d, ..d]);
        let spread = 2.0 * (d as f64 / n).sqrt();
        let widths = (0..d).map(|at| (added[[at, at]].max(0.0) * seen[[at, at]]).sqrt());
        penalties += &(spread * widths.collect::<Array1<f64>>());
        quadratic = positive_part(&(&seen - &added))?;
        products -= &noise.slice(s![..d, d]);
        let target_moments = [targets.dot(targets) / n, noise[[d, d]]];
        trust = trust_in(&products, [&seen, &added.to_owned()], target_moments, n)?;
    }
    quadratic.diag_mut().scaled_add(1.0, &penalties);
    Ok(trust * Eigen::new(&quadratic)?.solve(&products))
}

/// XᵀX (d × d) for records X (n × d).
fn products_of_columns(records: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Array2<f64> {
    let d = records.ncols();
    let (records, mut products) = (records.as_standard_layout(), vec![0.0; d * d]);
    let values = records.as_slice().expect("rows that lie one after the other");
    let rows = MatRef::from_row_major_slice(values, records.nrows(), d);
    gram(MatMut::from_column_major_slice_mut(&mut products, d, d), rows);
    Array2::from_shape_fn((d, d), |(row, column)| products[row.min(column) * d + row.max(column)])
}

/// Returns the result of [`weights`] without noise, from an n × n matrix for n records. This is possible
/// because the weights are in the span of the records.
fn weights_of_few(
    records: &ArrayBase<impl Data<Elem = f64>, Ix2>,
    targets: &Array1<f64>,
    l2_penalty: f64,
) -> Result<Array1<f64>> {
    let n = records.nrows() as f64;
    let mut gram = records.dot(&records.t()) / n;
    gram.diag_mut().map_inplace(|x| *x += l2_penalty);
    Ok(records.t().dot(&Eigen::new(&gram)?.solve(&(targets / n))))
}

/// Returns the factor in [0, 1] by which noise in `products`, the covariances of d features with the target,
/// shrinks all weights (James and Stein 1961).
///
/// It is 1 − k/(Σ sⱼ²/vⱼ), or 0 if this is negative, or 1 if k = 0. The sum is over the k eigenvectors with
/// vⱼ > 0 of the observed covariance `seen` (d × d) of the features. Here sⱼ is the component of `products`
/// along eigenvector j, and vⱼ is the part of the variance of sⱼ that comes from the noise.
fn trust_in(
    products: &Array1<f64>,
    [seen, added]: [&Array2<f64>; 2],
    [seen_targets, added_to_targets]: [f64; 2],
    n: f64,
) -> Result<f64> {
    let Eigen { directions, values } = Eigen::new(seen)?;
    let along = directions.t().dot(products);
    let clean_targets = (seen_targets - added_to_targets).max(0.0);
    let ratios = (0..values.len()).filter_map(|at| {
        let direction = directions.column(at);
        let clean = (values[at] - direction.dot(&added.dot(&direction))).max(0.0);
        let variance = (values[at] * seen_targets - clean * clean_targets) / n;
        (variance > 0.0).then(|| along[at] * along[at] / variance)
    });
    let ratios: Vec<f64> = ratios.collect();
    let sum: f64 = ratios.iter().sum();
    Ok(if ratios.is_empty() { 1.0 } else { (1.0 - ratios.len() as f64 / sum).max(0.0) })
}

struct Eigen {
    /// Eigenvectors of a symmetric matrix (d × d), one per column.
    directions: Array2<f64>,
    /// Eigenvalues of the matrix (d), in the order of the eigenvectors.
    values: Array1<f64>,
}

impl Eigen {
    fn new(symmetric: &Array2<f64>) -> Result<Self> {
        let failed = || {
            Error::Noise(
                "the covariance has no eigenvalues: it holds a value that is not a finite number".into(),
            )
        };
        if symmetric.iter().any(|x| !x.is_finite()) {
            return Err(failed());
        }
        let d = symmetric.nrows();
        let flat: Vec<f64> = symmetric.iter().copied().collect();
        let (mut directions, mut values) = (Mat::zeros(d, d), Diag::zeros(d));
        // One thread, so that the result does not depend on the number of threads.
        let scratch = evd::self_adjoint_evd_scratch::<f64>(
            d,
            evd::ComputeEigenvectors::Yes,
            Par::Seq,
            Default::default(),
        );
        let mut memory = MemBuffer::new(scratch);
        evd::self_adjoint_evd(
            MatRef::from_row_major_slice(&flat, d, d),
            values.as_mut(),
            Some(directions.as_mut()),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|_| failed())?;
        Ok(Self {
            directions: Array2::from_shape_fn((d, d), |(row, column)| directions[(row, column)]),
            values: Array1::from_shape_fn(d, |at| values[at]),
        })
    }
}

impl Eigen {
    /// Returns the minimum-norm solution x of Ax = `right`, for the decomposed matrix A.
    ///
    /// A Cholesky factorisation would fail: without a penalty, a constant column leaves a zero eigenvalue.
    fn solve(&self, right: &Array1<f64>) -> Array1<f64> {
        let Self { directions, values } = self;
        let least = f64::EPSILON * values.len() as f64 * values.iter().copied().fold(0.0, f64::max);
        let along = directions.t().dot(right);
        let along = along.iter().zip(values).map(|(x, value)| if *value > least { x / value } else { 0.0 });
        directions.dot(&along.collect::<Array1<f64>>())
    }
}

/// Returns the positive semi-definite matrix nearest to `symmetric`: negative eigenvalues become zero.
fn positive_part(symmetric: &Array2<f64>) -> Result<Array2<f64>> {
    let Eigen { directions, values } = Eigen::new(symmetric)?;
    Ok((&directions * &values.mapv(|value| value.max(0.0))).dot(&directions.t()))
}

#[cfg(test)]
mod tests {
    use crate::{Error, RidgeParams};
    use linfa::Dataset;
    use linfa::traits::{Fit, Predict};
    use ndarray::{Array1, Array2, Ix1, array};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Approximately normal number of mean 0 and variance 1.
    fn normal(rng: &mut ChaCha20Rng) -> f64 {
        (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum()
    }

    /// Clean and noisy records with y = 2·x₁ − x₂ + 1 plus small residuals, for correlated features of
    /// different scales.
    ///
    /// The noise has covariance `noise`. For the features it is 4 times the sum of an all-ones and an
    /// identity matrix; it has covariance 1 with the target.
    fn drawn(n: usize, seed: u64) -> [Dataset<f64, f64, Ix1>; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut clean = Array2::zeros((n, 2));
        let mut targets = Array1::zeros(n);
        let mut seen = Array2::zeros((n, 2));
        let mut seen_targets = Array1::zeros(n);
        for i in 0..n {
            let (a, b) = (normal(&mut rng), normal(&mut rng));
            let x = [3.0 + a, a + 0.7 * b];
            let y = 2.0 * x[0] - x[1] + 1.0 + 0.1 * normal(&mut rng);
            // One common part of all three values makes them correlated.
            let common = normal(&mut rng);
            for j in 0..2 {
                clean[[i, j]] = x[j];
                seen[[i, j]] = x[j] + 2.0 * common + 2.0 * normal(&mut rng);
            }
            targets[i] = y;
            seen_targets[i] = y + 0.5 * common;
        }
        [Dataset::new(clean, targets), Dataset::new(seen, seen_targets)]
    }

    fn noise() -> Array2<f64> {
        array![[8.0, 4.0, 1.0], [4.0, 8.0, 1.0], [1.0, 1.0, 0.25]]
    }

    fn squared_error(
        params: RidgeParams,
        seen: &Dataset<f64, f64, Ix1>,
        clean: &Dataset<f64, f64, Ix1>,
    ) -> f64 {
        let model = params.fit(seen).unwrap();
        (model.predict(&clean.records) - &clean.targets).mapv(|error| error * error).mean().unwrap()
    }

    #[test]
    fn the_true_weights_are_found_through_the_noise() {
        let [_, seen] = drawn(400_000, 1);
        let at = array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
        let model = RidgeParams::default().l2_penalty(0.0).noise_covariance(noise()).fit(&seen).unwrap();
        let y = model.predict(&at);
        assert!((y[1] - y[0] - 2.0).abs() < 0.4, "{y}");
        assert!((y[2] - y[0] + 1.0).abs() < 0.4, "{y}");
        // Without the correction, less than a quarter of the slope is found.
        let y = RidgeParams::default().l2_penalty(0.0).fit(&seen).unwrap().predict(&at);
        assert!(y[1] - y[0] < 0.5, "{y}");
    }

    /// Twenty data sets: the mean gain in squared error is more than five standard errors above zero.
    #[test]
    fn to_know_the_noise_lowers_the_error_on_clean_records() {
        let gains: Vec<f64> = (0..20)
            .map(|seed| {
                let [clean, seen] = drawn(2_000, 100 + seed);
                let plain = squared_error(RidgeParams::default(), &seen, &clean);
                plain - squared_error(RidgeParams::default().noise_covariance(noise()), &seen, &clean)
            })
            .collect();
        let mean = gains.iter().sum::<f64>() / 20.0;
        let error = (gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / 19.0 / 20.0).sqrt();
        assert!(mean > 5.0 * error, "seeds 100 to 119: the gain is {mean} ± {error}");
    }

    /// Fifty records with noise a thousand times the signal: the model must not be much worse than the mean
    /// baseline.
    #[test]
    fn where_nothing_can_be_known_little_is_claimed() {
        let noise: Array2<f64> = 1e6 * Array2::eye(3);
        for seed in 0..10 {
            let [clean, _] = drawn(50, seed);
            let mut rng = ChaCha20Rng::seed_from_u64(seed);
            let records = clean.records.mapv(|x| x + 1e3 * normal(&mut rng));
            let seen = Dataset::new(records, clean.targets.clone());
            let mean = clean.targets.mean().unwrap();
            let mean_error = clean.targets.mapv(|y| (y - mean).powi(2)).mean().unwrap();
            let error = squared_error(RidgeParams::default().noise_covariance(noise.clone()), &seen, &clean);
            assert!(error < 3.0 * mean_error, "seed {seed}: {error}, where the mean has {mean_error}");
        }
    }

    #[test]
    fn no_noise_gives_the_plain_fit() {
        let [clean, _] = drawn(300, 5);
        let plain = RidgeParams::default().fit(&clean).unwrap().predict(&clean.records);
        let aware = RidgeParams::default().noise_covariance(Array2::zeros((3, 3))).fit(&clean).unwrap();
        assert_eq!(plain, aware.predict(&clean.records));
        let nearly = RidgeParams::default().noise_covariance(1e-14 * Array2::eye(3)).fit(&clean).unwrap();
        let difference = plain - nearly.predict(&clean.records);
        assert!(difference.iter().all(|d| d.abs() < 1e-5), "{difference}");
    }

    /// Ten records with twelve features and with two: the weights are (XᵀX/n + λ)⁻¹Xᵀy/n either way.
    #[test]
    fn fewer_records_than_features_give_the_same_weights_by_another_way() {
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let records = Array2::from_shape_fn((10, 12), |_| normal(&mut rng));
        let targets = Array1::from_shape_fn(10, |_| normal(&mut rng));
        let few = super::weights_of_few(&records, &targets, 0.1).unwrap();
        let gradient = records.t().dot(&(records.dot(&few) - &targets)) / 10.0 + 0.1 * &few;
        assert!(gradient.iter().all(|g| g.abs() < 1e-12), "{gradient}");
        let narrow = records.slice(ndarray::s![.., ..2]).to_owned();
        let difference = super::weights_of_few(&narrow, &targets, 0.1).unwrap()
            - super::weights(&narrow, &targets, None, 0.1).unwrap();
        assert!(difference.iter().all(|d| d.abs() < 1e-12), "{difference}");
    }

    #[test]
    fn what_is_no_covariance_of_the_records_is_refused() {
        let [clean, _] = drawn(20, 6);
        for (noise, says) in [
            (Array2::zeros((2, 2)), "2 features and a target need 3"),
            (
                array![[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                "not finite and symmetric at row 0 and column 1",
            ),
            (f64::NAN * Array2::eye(3), "not finite"),
        ] {
            let refused = RidgeParams::default().noise_covariance(noise).fit(&clean).unwrap_err();
            assert!(matches!(refused, Error::Noise(_)) && refused.to_string().contains(says), "{refused}");
        }
    }
}
