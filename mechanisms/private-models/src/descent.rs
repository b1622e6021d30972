//! Gradient descent on noisy sums of clipped gradients, and the calibration of its model.

use crate::lesson::{Lesson, REACH};
use crate::noise::{STEP, SumNoise, rounding};
use crate::schedule::Schedule;
use ndarray::Array2;
use scumble_accounting::gaussian;
use scumble_core::{Budget, Error, Neighbours, RecordDomain, Result, Stream};

/// Noise on the sums of gradients of each step.
#[derive(Debug, Clone)]
pub(crate) struct StepNoise {
    pub(crate) descent: SumNoise,
    pub(crate) calibration: SumNoise,
}

impl StepNoise {
    /// Returns the noise for a model of `outputs` outputs with `features` features each. The sums of two
    /// tables of `domain` that are `neighbours` differ by at most one clipped gradient, or by two if a person
    /// is replaced. All steps of `schedule` together are within `budget`, with those of its calibration.
    ///
    /// # Errors
    /// [`Error::Budget`] for δ = 0, and if the noise would need a σ above 2⁵⁹ lattice steps.
    pub(crate) fn new(
        (outputs, features): (usize, usize),
        schedule: Schedule,
        neighbours: Neighbours,
        domain: &RecordDomain,
        budget: Budget,
    ) -> Result<Self> {
        let last = schedule.calibration(outputs);
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
        let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
        // Compared to continuous noise, noise on a lattice increases μ of Gaussian differential privacy by a
        // few billionths, and by more if the noise is small.
        for margin in [1e-9, 1e-7, 1e-5, 1e-3, 1e-1] {
            let each = mu * (1.0 - margin) / ((schedule.steps + last.steps) as f64).sqrt();
            let noise = |features: usize, schedule: Schedule| {
                let gradients = if neighbours == Neighbours::ReplaceOne { 2.0 } else { 1.0 };
                let dim = outputs * features;
                SumNoise::for_mu(dim, gradients * schedule.clipping_norm + rounding(domain, dim), each)
            };
            let noise = Self { descent: noise(features, schedule)?, calibration: noise(2, last)? };
            let of = |noise: &SumNoise, steps| std::iter::repeat_n(noise.profile(), steps);
            let steps = of(&noise.descent, schedule.steps).chain(of(&noise.calibration, last.steps));
            if steps.reduce(|all, step| all.with(&step)).is_none_or(|all| all.delta(epsilon) <= delta) {
                return Ok(noise);
            }
        }
        Err(Error::Budget {
            name: "epsilon",
            range: "large enough, together with δ, for this number of steps",
            value: epsilon,
        })
    }
}

/// Stage of the training.
enum Stage {
    /// The weights of all features move.
    Descent,
    /// One line per output moves, from the output of the descent's model to a calibrated output.
    Calibration,
}

impl Stage {
    fn noise<'n>(&self, noise: &'n StepNoise) -> &'n SumNoise {
        match self {
            Self::Descent => &noise.descent,
            Self::Calibration => &noise.calibration,
        }
    }
}

/// Model that a descent has learned.
pub(crate) struct Descent {
    /// Weights (outputs × features).
    pub(crate) weights: Array2<f64>,
    /// Factor by which the calibration multiplied the weights of each output.
    pub(crate) factors: Vec<f64>,
    /// Noisy sums of gradients of all steps, in order.
    pub(crate) sums: Vec<f64>,
}

/// Runs gradient descent on noisy sums of gradients, with the steps of `schedule`. Calibrates the mean of the
/// weights over the second half of the steps.
///
/// # Errors
/// Same errors as [`Lesson::gradient`].
pub(crate) fn descend(
    lesson: &mut Lesson,
    schedule: Schedule,
    noise: Option<&StepNoise>,
    stream: &mut Stream,
) -> Result<Descent> {
    let mut sums = vec![];
    let (weights, factors) = trained(lesson, schedule, |stage, gradient| {
        let noisy = match noise {
            Some(noise) => stage.noise(noise).added(&gradient, stream),
            None => gradient.iter().map(|sum| *sum as f64 * STEP).collect(),
        };
        sums.extend_from_slice(&noisy);
        noisy
    })?;
    Ok(Descent { weights, factors, sums })
}

/// Logarithm of the probability density of the noisy sums `sums` of all steps if the training records are
/// those of `lesson`, up to a constant.
///
/// # Errors
/// Same errors as [`Lesson::gradient`].
pub(crate) fn log_likelihood(
    lesson: &mut Lesson,
    schedule: Schedule,
    noise: &StepNoise,
    sums: &[f64],
) -> Result<f64> {
    let (mut total, mut left) = (0.0, sums);
    trained(lesson, schedule, |stage, gradient| {
        let (noisy, rest) = left.split_at(gradient.len().min(left.len()));
        left = rest;
        total += stage.noise(noise).log_likelihood(&gradient, noisy);
        noisy.to_vec()
    })?;
    Ok(total)
}

/// Calibrated weights after all steps, and the factor of the calibration for each output. `noisy` makes of a
/// sum of gradients the noisy sum that a step uses.
fn trained(
    lesson: &mut Lesson,
    schedule: Schedule,
    mut noisy: impl FnMut(Stage, Vec<i128>) -> Vec<f64>,
) -> Result<(Array2<f64>, Vec<f64>)> {
    let (outputs, features) = (lesson.outputs, lesson.basis.width());
    let mut weights = walk(Array2::zeros((outputs, features)), schedule, |weights| {
        Ok(noisy(Stage::Descent, lesson.gradient(weights, schedule.clipping_norm)?))
    })?;
    let last = schedule.calibration(outputs);
    // Each line starts with an intercept of 0 and a slope that does not change the output.
    let start = Array2::from_shape_fn((outputs, 2), |(_, at)| REACH * at as f64);
    let lines = walk(start, last, |lines| {
        Ok(noisy(Stage::Calibration, lesson.gradient_of_lines(&weights, lines, last.clipping_norm)?))
    })?;
    let factors = lines.column(1).mapv(|slope| slope / REACH).to_vec();
    for ((mut weights, line), factor) in weights.outer_iter_mut().zip(lines.outer_iter()).zip(&factors) {
        weights *= *factor;
        weights[0] += line[0];
    }
    Ok((weights, factors))
}

/// Mean of the weights over the second half of the steps of `schedule`, which start at `weights`. Without
/// steps, these are the weights. `noisy_sum` gives the noisy sum of gradients at some weights.
fn walk(
    mut weights: Array2<f64>,
    schedule: Schedule,
    mut noisy_sum: impl FnMut(&Array2<f64>) -> Result<Vec<f64>>,
) -> Result<Array2<f64>> {
    let (mut velocity, mut sum) = (Array2::<f64>::zeros(weights.dim()), Array2::zeros(weights.dim()));
    let rate = schedule.learning_rate / schedule.records as f64;
    for step in 0..schedule.steps {
        let gradient = noisy_sum(&weights)?;
        let next = |(velocity, g): (&mut f64, &f64)| *velocity = schedule.momentum * *velocity - rate * g;
        velocity.iter_mut().zip(&gradient).for_each(next);
        weights += &velocity;
        if step >= schedule.steps / 2 {
            sum += &weights;
        }
    }
    Ok(if schedule.steps == 0 { weights } else { sum / schedule.averaged() as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Domain, TargetDomain};

    /// The noise of each step has μ/√(T + K) for the distance 2C of the descent or 2 of the calibration.
    #[test]
    fn steps_of_the_descent_and_of_the_calibration_share_the_budget_evenly() {
        let rule = Schedule::logistic(1000, 0.5);
        let budget = Budget::new(1.0, 1e-6).unwrap();
        let domain = scumble_testing::records(Domain::unit_box(6), TargetDomain::None);
        let noise = StepNoise::new((1, 7), rule, Neighbours::ReplaceOne, &domain, budget).unwrap();
        let each = gaussian::mu(1.0, 1e-6).unwrap() / ((rule.steps + rule.calibration_steps) as f64).sqrt();
        for (noise, norm) in [(noise.descent, 0.5), (noise.calibration, 1.0)] {
            let ratio = noise.scale() * each / (2.0 * norm);
            assert!((1.0..1.0 + 1e-6).contains(&ratio), "{norm}: {ratio}");
        }
        assert!(rule.calibration_steps > 5);
    }
}
