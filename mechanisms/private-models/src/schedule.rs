//! Public rules for the steps of a gradient descent.

/// Parameters of the gradient descent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// Public number of records, by which the sum of gradients is divided.
    pub(crate) records: usize,
    /// Number of gradient steps; each step uses all records.
    pub(crate) steps: usize,
    /// C, the upper limit for the norm of a record's gradient.
    pub(crate) clipping_norm: f64,
    /// Learning rate: the factor by which the mean gradient is multiplied in a step of the weights.
    pub(crate) learning_rate: f64,
    /// Share of the previous step of the weights that is added to the next.
    pub(crate) momentum: f64,
    /// Number of steps of the [`calibration`](Self::calibration).
    pub(crate) calibration_steps: usize,
    /// Factor of a step of the calibration, before its upper limit.
    pub(crate) calibration_factor: f64,
}

impl Schedule {
    /// Schedule of a logistic regression for `records` records n and μ-Gaussian differential privacy: the sum
    /// of [`for_classes`](Self::for_classes) is 2nμ.
    pub(crate) fn logistic(records: usize, mu: f64) -> Self {
        Self::for_classes(records, mu, 2.0, 0.5)
    }

    /// Schedule of an additive model for `records` records n and μ-Gaussian differential privacy.
    ///
    /// For classes, the sum of [`for_classes`](Self::for_classes) is ¾·nμ, and C = 1. For numbers, the loss
    /// is more curved: the sum is nμ/32, and the factor of a step is at most 1 and at most 15/‖φ‖², where
    /// `squared_norm` bounds ‖φ‖² for the features φ of a record. The descent of a larger factor would not
    /// converge.
    pub(crate) fn additive(records: usize, squared_norm: f64, has_classes: bool, mu: f64) -> Self {
        if has_classes {
            return Self::for_classes(records, mu, 0.75, 1.0);
        }
        let total = records as f64 * mu;
        let steps = (total * 5.0 / 32.0).clamp(50.0, 400.0);
        Self::by_factor(records, steps, total / 32.0, (15.0 / squared_norm).min(1.0))
    }

    /// Schedule for classes. The factors of all steps, times 2C for C = `clipping_norm`, add up to `share`
    /// times nμ for n = `records`. This product is 5 for a step in a short descent and up to 80 in a long
    /// one. A short descent with larger factors would not settle: the intercept, whose noise is small, would
    /// still swing at its end.
    fn for_classes(records: usize, mu: f64, share: f64, clipping_norm: f64) -> Self {
        let total = share * records as f64 * mu;
        let steps = (total / 5.0).min((12.5 * total).sqrt()).clamp(10.0, 1000.0);
        let rule = Self::by_factor(records, steps, total, 80.0);
        Self {
            clipping_norm,
            learning_rate: rule.learning_rate / (2.0 * clipping_norm),
            calibration_steps: rule.steps.isqrt(),
            calibration_factor: records as f64 * mu / 25.0,
            ..rule
        }
    }

    /// Schedule with a number of steps. Each has the same factor, `total` divided by the number of steps, and
    /// `most` at most.
    ///
    /// The weights move by the learning rate times the mean gradient, and in total by 1/(1 − momentum) times
    /// as much, which is the factor of a step. If the sum of the factors is proportional to nμ for n records,
    /// the noise that all steps together add to a weight does not depend on the budget. The memory of the
    /// momentum is a tenth of the steps.
    fn by_factor(records: usize, steps: f64, total: f64, most: f64) -> Self {
        let steps = steps.floor();
        let momentum = (1.0 - 10.0 / steps).min(0.9);
        let learning_rate = (1.0 - momentum) * (total / steps).min(most);
        let (steps, clipping_norm) = (steps as usize, 0.5);
        Self {
            records,
            steps,
            clipping_norm,
            learning_rate,
            momentum,
            calibration_steps: 0,
            calibration_factor: 0.0,
        }
    }

    /// Schedule of the calibration of a model with `outputs` outputs. Each of its steps uses all records.
    ///
    /// Clipped gradients give a model that separates classes, and whose logits are too large and misplaced,
    /// most of all for a rare class. The calibration moves one line per output, from the output to the
    /// logit. Its features are 1 and a number in [−1, 1], so that clipping at most halves a gradient.
    pub(crate) fn calibration(&self, outputs: usize) -> Self {
        // The curvature of the logistic loss is at most 1/4 for two classes, and 1/2 for several.
        let most = if outputs == 1 { 8.0 } else { 4.0 };
        Self {
            records: self.records,
            steps: self.calibration_steps,
            clipping_norm: 1.0,
            learning_rate: self.calibration_factor.min(most) / 2.0,
            momentum: 0.5,
            calibration_steps: 0,
            calibration_factor: 0.0,
        }
    }

    /// Number of steps, at the end, over which the weights are averaged.
    pub(crate) fn averaged(&self) -> usize {
        self.steps - self.steps / 2
    }

    /// Upper bound on the standard deviation of a released weight, for noise with a standard deviation of 1
    /// on the gradient sums, if the loss is quadratic and the descent does not diverge. A direction of the
    /// weights in which the loss is flat has this standard deviation (proof:
    /// `guide/equations/private-additive.md`).
    pub(crate) fn noise_gain(&self) -> f64 {
        let mut velocity = self.learning_rate / self.records as f64;
        // Response of the weights, `lag` steps after a unit of noise, and the sums of responses.
        let (mut response, mut sums) = (0.0, vec![0.0]);
        for lag in 0..self.steps {
            response += velocity;
            velocity *= self.momentum;
            sums.push(sums[lag] + response);
        }
        let first = self.steps - self.averaged();
        let of_step = |step: usize| sums[self.steps - step] - sums[first.saturating_sub(step)];
        let squares: f64 = (0..self.steps).map(|step| of_step(step).powi(2)).sum();
        squares.sqrt() / self.averaged().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a factor of 10 or more per step, the accuracy of a short descent on WDBC fell by 4 to 10 points.
    #[test]
    fn a_short_descent_has_small_steps_that_add_up_to_its_total() {
        for total in [50.0, 100.0, 200.0, 400.0, 800.0, 3200.0, 50_000.0] {
            let rule = Schedule::for_classes(1000, total / 1000.0, 1.0, 0.5);
            let factor = rule.learning_rate / (1.0 - rule.momentum);
            assert!((factor * rule.steps as f64 / total - 1.0).abs() < 1e-9, "{total}: {rule:?}");
            assert!(factor < if total <= 400.0 { 6.0 } else { 80.0 }, "{total}: {rule:?}");
        }
    }
}
