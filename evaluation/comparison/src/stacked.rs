//! Combined predictions of a model of the release and a model of the volunteers' records.
//!
//! If volunteers' records have labels, the analyst can learn from these records too. Two models are *stacked*
//! (Wolpert 1992): one learns from the release, and the other from the volunteers' records. The combined
//! prediction is a weighted mean of their class probabilities or numbers. The weight maximises the fit to the
//! volunteers' targets. For this fit, cross-validation predicts each volunteer's target by a model that did
//! not learn from it.

use super::Result;
use super::prediction::{ClassScores, Predicted};
use super::split::interleave;
use ndarray::{Array1, Array2, Axis, Zip};
use scumble_core::{Table, Target};

/// Number of equal steps from 0 to 1 between the candidate weights of the volunteers' model, for classes.
/// Among equally good weights, the largest is used.
const WEIGHTS: usize = 20;
/// Exponents k of the candidate scales 2^(k/2). A scale multiplies class scores before the softmax makes them
/// probabilities.
const SCALES: std::ops::RangeInclusive<i32> = -10..=14;
/// Lower limit to which a smaller probability is raised before its logarithm is taken.
const LEAST: f64 = 1e-6;

/// Smallest number of volunteers for a model of their records.
pub(super) const FEWEST: usize = 10;
/// Number of folds of the cross-validation.
const FOLDS: usize = 5;

/// Cross-validated predictions for `volunteers`, followed by predictions for `records` by a model that
/// learned from all records in `volunteers`.
///
/// `learned` learns from its first table, and predicts the targets of the second.
///
/// # Errors
/// Same errors as `learned`.
pub(super) fn crossed(
    volunteers: &Table,
    records: &Table,
    learned: impl Fn(&Table, &Table) -> Result<Predicted>,
) -> Result<Predicted> {
    let mut order: Vec<usize> = (0..volunteers.len()).collect();
    if let Target::Class(classes) = volunteers.target() {
        interleave(&mut order, classes, 0.0);
    }
    let mut parts = vec![];
    for fold in 0..FOLDS {
        let fold_rows = |is_asked: bool| -> Vec<usize> {
            let placed = order.iter().enumerate().filter(|(place, _)| (place % FOLDS == fold) == is_asked);
            placed.map(|(_, row)| *row).collect()
        };
        let (asked, others) = (fold_rows(true), fold_rows(false));
        let prediction = learned(&volunteers.select(&others)?, &volunteers.select(&asked)?)?;
        parts.push((asked, prediction));
    }
    let full_prediction = learned(volunteers, records)?;
    let behind = (volunteers.len()..volunteers.len() + records.len()).collect();
    parts.push((behind, full_prediction));
    Ok(Predicted::joined(&parts))
}

/// Predictions of two models for the same records: `released` by a model of the release, and `own` by a model
/// of the volunteers' records. The first records are the volunteers' own, with targets `truth`. For each of
/// them, `own` is predicted by a model that did not learn from it.
pub(super) struct Two<'a> {
    pub(super) released: &'a Predicted,
    pub(super) own: &'a Predicted,
    /// Targets of the volunteers.
    pub(super) truth: &'a Target,
}

impl Two<'_> {
    /// Combined predictions for all records after the volunteers.
    ///
    /// For classes, if one model has no scores, the result is the predictions of the model that is right
    /// about more volunteers. In a tie, the volunteers' model is used.
    pub(super) fn stacked(&self) -> Predicted {
        let Self { released, own, truth } = self;
        let both = match (&released.target, &own.target, truth) {
            (Target::Real(released), Target::Real(own), Target::Real(truth)) => {
                Predicted::from_target(Target::Real(numbers(released, own, truth)))
            }
            (Target::Class(predicted), Target::Class(known), Target::Class(truth)) => {
                match (&released.scores, &own.scores) {
                    (Some(release_scores), Some(own_scores)) => classes([release_scores, own_scores], truth),
                    _ => {
                        let right = |predicted: &Array1<usize>| {
                            predicted.iter().zip(truth).filter(|(a, b)| a == b).count()
                        };
                        let best = if right(predicted) > right(known) { released } else { own };
                        Predicted::clone(best)
                    }
                }
            }
            _ => Predicted::clone(released),
        };
        both.without_first(match truth {
            Target::Class(classes) => classes.len(),
            Target::Real(values) => values.len(),
            _ => 0,
        })
    }
}

/// Weighted mean of two models' predicted numbers. The first records are the volunteers', and `truth` has
/// their targets. The weight, in [0, 1], minimises the squared error on these records.
fn numbers(released: &Array1<f64>, own: &Array1<f64>, truth: &Array1<f64>) -> Array1<f64> {
    let (mut product, mut square) = (0.0, 0.0);
    for ((released, own), truth) in released.iter().zip(own).zip(truth) {
        product += (own - released) * (truth - released);
        square += (own - released) * (own - released);
    }
    let weight = if square > 0.0 { (product / square).clamp(0.0, 1.0) } else { 1.0 };
    Zip::from(released).and(own).map_collect(|released, own| released + weight * (own - released))
}

/// Weighted mean of two models' class probabilities. The weight maximises the likelihood of the volunteers'
/// classes `truth`.
fn classes(scores: [&ClassScores; 2], truth: &Array1<usize>) -> Predicted {
    let known = scores.iter().flat_map(|scores| scores.classes.iter().copied());
    let levels = known.chain(truth.iter().copied()).max().map_or(1, |last| last + 1);
    let [released, own] = scores.map(|scores| calibrated(scores, levels, truth));
    let mixed = |weight: usize| {
        let weight = weight as f64 / WEIGHTS as f64;
        &released * (1.0 - weight) + &own * weight
    };
    let best = (0..=WEIGHTS).rev().max_by(|&a, &b| {
        let [a, b] = [(a, a), (b, b)].map(|(weight, at)| (log_likelihood(&mixed(weight), truth), at));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let values = mixed(best.unwrap_or(WEIGHTS));
    let largest = |row: ndarray::ArrayView1<f64>| {
        row.iter()
            .enumerate()
            .fold(
                (0, f64::NEG_INFINITY),
                |best, (at, share)| if *share > best.1 { (at, *share) } else { best },
            )
            .0
    };
    let target = Target::Class(values.axis_iter(Axis(0)).map(largest).collect());
    Predicted { target, scores: Some(ClassScores { classes: (0..levels).collect(), values }) }
}

/// Mean logarithm of the probability of the true class over the volunteers, whose classes are in `truth`.
/// Their probabilities are in the first rows of `shares` (n records × K classes).
fn log_likelihood(shares: &Array2<f64>, truth: &Array1<usize>) -> f64 {
    let logarithms = truth.iter().enumerate().map(|(row, class)| shares[[row, *class]].max(LEAST).ln());
    logarithms.sum::<f64>() / truth.len() as f64
}

/// Probabilities (n records × `levels` classes): the softmax of scaled scores. The scale maximises the
/// likelihood on the volunteers.
///
/// Scores that already are probabilities are first replaced by their logarithms. A class that a model does
/// not know has probability zero.
fn calibrated(scores: &ClassScores, levels: usize, truth: &Array1<usize>) -> Array2<f64> {
    let sums = scores.values.axis_iter(Axis(0)).all(|row| (row.sum() - 1.0).abs() < 1e-6);
    let are_shares = sums && scores.values.iter().all(|value| (0.0..=1.0).contains(value));
    let strength = |value: f64| match (are_shares, value.is_finite()) {
        (true, _) => value.max(LEAST).ln(),
        (false, true) => value,
        (false, false) => 0.0,
    };
    let at_scale = |scale: f64| {
        let mut shares = Array2::zeros((scores.values.nrows(), levels));
        for (from, mut to) in scores.values.axis_iter(Axis(0)).zip(shares.axis_iter_mut(Axis(0))) {
            let scaled: Vec<f64> = from.iter().map(|value| scale * strength(*value)).collect();
            let largest = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scaled.iter().map(|value| (value - largest).exp()).sum();
            for (class, value) in scores.classes.iter().zip(&scaled) {
                to[*class] = (value - largest).exp() / sum;
            }
        }
        shares
    };
    let all = SCALES.map(|power| at_scale(2f64.powf(f64::from(power) / 2.0)));
    let best = all.map(|shares| (log_likelihood(&shares, truth), shares)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| at_scale(1.0), |(_, shares)| shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Predictions for records of two classes, whose true classes are in `truth`. Each is right with
    /// probability `right`, and its scores are proportional to `scale`.
    fn predictions(truth: &[usize], right: f64, scale: f64, rng: &mut ChaCha20Rng) -> Predicted {
        let guesses: Vec<usize> =
            truth.iter().map(|&class| if rng.gen_bool(right) { class } else { 1 - class }).collect();
        let values = Array2::from_shape_fn((truth.len(), 2), |(row, class)| {
            scale * (rng.gen_range(0.5..1.0)) * if guesses[row] == class { 1.0 } else { -1.0 }
        });
        let scores = ClassScores { classes: vec![0, 1], values };
        Predicted { target: Target::Class(guesses.into_iter().collect()), scores: Some(scores) }
    }

    fn right(prediction: &Predicted, truth: &[usize]) -> f64 {
        let Target::Class(prediction) = &prediction.target else { panic!("classes") };
        prediction.iter().zip(truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64
    }

    /// A model of the release improves the predictions if its errors are fewer than the errors of the
    /// volunteers' model, and independent of them. A model with random predictions and large scores does not
    /// worsen them. A model with as many errors as the volunteers' model worsens them by no more than chance
    /// (two standard deviations of 5,000 answers are 0.016).
    #[test]
    fn what_helps_is_taken_and_noise_is_left() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let truth: Vec<usize> = (0..6000).map(|_| rng.gen_range(0..2)).collect();
        let volunteers = Target::Class(truth[..1000].iter().copied().collect());
        let own = predictions(&truth, 0.8, 1.0, &mut rng);
        let alone = right(&own.without_first(1000), &truth[1000..]);
        for (quality, sure, least, most) in
            [(0.9, 1.0, 0.08, 0.2), (0.5, 100.0, -0.01, 0.01), (0.8, 30.0, -0.03, 0.03)]
        {
            let released = predictions(&truth, quality, sure, &mut rng);
            let both = Two { released: &released, own: &own, truth: &volunteers }.stacked();
            let gain = right(&both, &truth[1000..]) - alone;
            assert!((least..most).contains(&gain), "{quality}: {gain}");
        }
        // If the model of the release has no scores, the result has only the predictions of the better model.
        let plain = |quality, rng: &mut ChaCha20Rng| {
            Predicted::from_target(predictions(&truth, quality, 1.0, rng).target)
        };
        for (quality, better) in [(0.95, true), (0.6, false)] {
            let released = plain(quality, &mut rng);
            let both = Two { released: &released, own: &own, truth: &volunteers }.stacked();
            let expected = if better { &released } else { &own };
            assert_eq!(both.target, expected.without_first(1000).target);
        }
    }

    #[test]
    fn numbers_are_mixed_by_least_squares() {
        let truth = Target::Real(array![1.0, 2.0, 3.0]);
        // The model of the release is 1 too high, and the volunteers' model is 3 too low. The best weight of
        // the volunteers' model is a quarter.
        let released = Predicted::from_target(Target::Real(array![2.0, 3.0, 4.0, 11.0]));
        let own = Predicted::from_target(Target::Real(array![-2.0, -1.0, 0.0, 7.0]));
        let both = Two { released: &released, own: &own, truth: &truth }.stacked();
        assert_eq!(both.target, Target::Real(array![10.0]));
        let same = Two { released: &own, own: &own, truth: &truth }.stacked();
        assert_eq!(same.target, Target::Real(array![7.0]));
    }
}
