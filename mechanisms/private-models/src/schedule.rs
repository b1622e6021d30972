//! Public rules for the steps of a gradient descent.

/// Parameters of the gradient descent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    /// Number of gradient steps; each step uses all records.
    pub(crate) steps: usize,
    /// C, the upper limit for the norm of a record's gradient.
    pub(crate) clipping_norm: f64,
    /// Learning rate: the factor by which the mean gradient is multiplied in a step of the weights.
    pub(crate) learning_rate: f64,
    /// Share of the previous step of the weights that is added to the next.
    pub(crate) momentum: f64,
}

impl Schedule {
    /// Schedule of the descent for `records` records, `weights` weights p, and μ-Gaussian differential
    /// privacy. The number of steps is nμ/(3√p) for n records, limited to the range from 10 to 200.
    pub(crate) fn logistic(records: usize, weights: usize, mu: f64) -> Self {
        let steps = records as f64 * mu / (3.0 * (weights as f64).sqrt());
        Self {
            steps: steps.clamp(10.0, 200.0) as usize,
            clipping_norm: 0.5,
            learning_rate: 16.0,
            momentum: 0.0,
        }
    }

    /// Schedule of the descent for `records` records and μ-Gaussian differential privacy.
    ///
    /// The weights move by the learning rate times the mean gradient, and in total by 1/(1 − momentum) times
    /// as much. The sum of these factors over all steps is proportional to nμ for n records. The noise that
    /// all steps together add to a weight then does not depend on the budget. The memory of the momentum is a
    /// tenth of the steps.
    ///
    /// For classes, the sum is nμ. The factor of a step is 20 in a short descent and up to 80 in a long one.
    /// For numbers, the loss is more curved: the sum is nμ/32, and the factor is at most 1 and at most
    /// 15/‖φ‖², where `squared_norm` bounds ‖φ‖² for the features φ of a record. The descent of a larger
    /// factor would not converge.
    pub(crate) fn additive(records: usize, squared_norm: f64, has_classes: bool, mu: f64) -> Self {
        let total = records as f64 * mu;
        let (total, steps, most) = if has_classes {
            let short = total / 20.0;
            (total, short.min((250.0 * short).sqrt()).clamp(10.0, 1000.0), 80.0)
        } else {
            (total / 32.0, (total * 5.0 / 32.0).clamp(50.0, 400.0), (15.0 / squared_norm).min(1.0))
        };
        let steps = steps.floor();
        let momentum = (1.0 - 10.0 / steps).min(0.9);
        let learning_rate = (1.0 - momentum) * (total / steps).min(most);
        Self { steps: steps as usize, clipping_norm: 0.5, learning_rate, momentum }
    }
}
