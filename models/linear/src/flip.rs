//! Checks of label flips whose probabilities are known.

use crate::{Error, Result};
use ndarray::{Array1, Array2};

/// Checks a matrix of label-flip probabilities. Its entry \[y, ỹ\] is the probability that class y is
/// observed as ỹ.
///
/// # Errors
/// [`Error::Noise`] unless `flip` (K × K) is square with K ≥ 2, and each row is a probability distribution.
pub fn check_label_flip(flip: &Array2<f64>) -> Result<()> {
    let refuse = |problem: String| Err(Error::Noise(format!("the matrix of flipped labels {problem}")));
    if !flip.is_square() || flip.nrows() < 2 {
        return refuse(format!(
            "has {} rows and {} columns, and needs as many as there are classes",
            flip.nrows(),
            flip.ncols()
        ));
    }
    for (class, row) in flip.outer_iter().enumerate() {
        if !row.iter().all(|p| (0.0..=1.0).contains(p)) || (row.sum() - 1.0).abs() > 1e-9 {
            return refuse(format!("has a row of class {class} that is not a distribution: {row}"));
        }
    }
    Ok(())
}

/// Checks that `labels` (n) are classes of the matrix `flip` (K × K).
///
/// # Errors
/// [`Error::Noise`] for a label that is not below K.
pub fn check_flipped_labels(labels: &Array1<usize>, flip: &Array2<f64>) -> Result<()> {
    let classes = flip.nrows();
    match labels.iter().find(|label| **label >= classes) {
        Some(label) => Err(Error::Noise(format!(
            "a label is {label}, and the matrix of flipped labels has {classes} classes"
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogisticParams;
    use linfa::Dataset;
    use linfa::traits::{Fit, Predict};
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Matrix of flips that keep a label with probability `keep`, and else replace it by any other uniformly.
    fn flip(classes: usize, keep: f64) -> Array2<f64> {
        let other = (1.0 - keep) / (classes - 1) as f64;
        Array2::from_shape_fn((classes, classes), |(y, seen)| if y == seen { keep } else { other })
    }

    /// `n` records of two features with log-odds 3·x₁ − 2·x₂ − 2, and their labels after the flips.
    fn drawn(n: usize, seed: u64, flip: &Array2<f64>) -> Dataset<f64, usize, ndarray::Ix1> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let x = Array2::from_shape_fn((n, 2), |_| rng.gen_range(-2.0_f64..2.0));
        let seen = x.outer_iter().map(|row| {
            let odds = (3.0 * row[0] - 2.0 * row[1] - 2.0).exp();
            let class = usize::from(rng.gen_bool(odds / (1.0 + odds)));
            usize::from(rng.gen_bool(flip[[class, 1]]))
        });
        let seen = seen.collect();
        Dataset::new(x, seen)
    }

    #[test]
    fn labels_that_were_not_flipped_give_the_plain_fit() {
        let identity = Array2::eye(2);
        let dataset = drawn(500, 1, &identity);
        let params = LogisticParams::default().gradient_tolerance(1e-8);
        let plain = params.clone().fit(&dataset).unwrap().probabilities(&dataset.records);
        let aware = params.label_flip(identity).fit(&dataset).unwrap().probabilities(&dataset.records);
        assert!((plain - aware).iter().all(|difference| difference.abs() < 1e-5));
    }

    /// The true weights are (3, −2). A fit without the flips finds less than half of the first weight.
    #[test]
    fn the_true_weights_are_found_through_the_flips() {
        let flip = flip(2, 0.75);
        let dataset = drawn(40_000, 2, &flip);
        let plain = LogisticParams::default().fit(&dataset).unwrap().direction();
        let aware = LogisticParams::default().label_flip(flip).fit(&dataset).unwrap().direction();
        assert!((&aware - &array![3.0, -2.0]).iter().all(|off| off.abs() < 0.4), "{aware}");
        assert!(plain[0] < 1.0, "{plain}");
    }

    #[test]
    fn one_seen_class_is_no_error_where_flips_are_known() {
        let dataset = Dataset::new(array![[0.0], [1.0], [2.0]], array![1, 1, 1]);
        let model = LogisticParams::default().label_flip(flip(2, 0.9)).fit(&dataset).unwrap();
        assert_eq!(model.predict(&dataset.records), array![1, 1, 1]);
    }

    #[test]
    fn what_is_no_matrix_of_flips_is_refused() {
        let dataset = drawn(20, 3, &Array2::eye(2));
        for (matrix, says) in [
            (array![[0.5, 0.5]], "as many as there are classes"),
            (array![[0.5, 0.4], [0.5, 0.5]], "class 0 that is not a distribution"),
            (array![[1.5, -0.5], [0.5, 0.5]], "class 0 that is not a distribution"),
            (array![[1.0, 0.0], [f64::NAN, 1.0]], "class 1 that is not a distribution"),
        ] {
            let refused = LogisticParams::default().label_flip(matrix).fit(&dataset).unwrap_err().to_string();
            assert!(refused.contains(says), "{refused}");
        }
        let three = Dataset::new(array![[0.0], [1.0]], array![0, 2]);
        let refused =
            LogisticParams::default().label_flip(Array2::eye(2)).fit(&three).unwrap_err().to_string();
        assert_eq!(refused, "a label is 2, and the matrix of flipped labels has 2 classes");
    }
}
