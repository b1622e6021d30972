//! Optimisers: steps along a gradient.

use crate::error::check_length;
use crate::{Error, Real, Result};
use scumble_linalg::vectorised;
use serde::{Deserialize, Serialize};

/// Largest number of parameters that one thread updates at a time.
const AT_A_TIME: usize = 1 << 15;

/// Optimiser and its hyper-parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimiser {
    /// Adam.
    Adam(Adam),
    /// Stochastic gradient descent.
    Sgd(Sgd),
}

/// Adam (Kingma and Ba 2015), with PyTorch's defaults and conventions. The gradient includes the gradient of
/// an ℓ₂ penalty. ε is added to the root of the mean squared gradient after its bias correction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adam {
    /// Learning rate: approximate upper bound on the change of a parameter per step.
    pub learning_rate: f64,
    /// Weight of the previous mean gradient in the new one, in [0, 1).
    pub beta1: f64,
    /// Weight of the previous mean squared gradient in the new one, in [0, 1).
    pub beta2: f64,
    /// Number added to the root of the mean squared gradient.
    pub epsilon: f64,
    /// Weight decay w: adds w·θ to the gradient of a parameter θ, and w·‖θ‖²/2 to the loss.
    pub weight_decay: f64,
    /// Uses the largest mean squared gradient so far instead of the current one (Reddi, Kale and Kumar 2018).
    pub amsgrad: bool,
}

/// Stochastic gradient descent, with PyTorch's conventions: u ← momentum·u + gradient, θ ← θ − rate·u, for a
/// parameter θ and its step direction u.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sgd {
    /// Learning rate: change of a parameter per unit of its gradient.
    pub learning_rate: f64,
    /// Weight of the previous step direction u in the new one, in [0, 1).
    pub momentum: f64,
    /// Weight decay w: adds w·θ to the gradient of a parameter θ, and w·‖θ‖²/2 to the loss.
    pub weight_decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self {
            learning_rate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
            amsgrad: false,
        }
    }
}

impl Default for Sgd {
    fn default() -> Self {
        Self { learning_rate: 1e-2, momentum: 0.0, weight_decay: 0.0 }
    }
}

impl Default for Optimiser {
    fn default() -> Self {
        Self::Adam(Adam::default())
    }
}

/// An optimiser with its state.
#[derive(Debug, Clone)]
pub struct Stepper<T> {
    optimiser: Optimiser,
    /// Number of steps made.
    steps: i32,
    /// Mean gradient of each parameter for Adam, or its step direction u for stochastic gradient descent.
    mean: Vec<T>,
    /// Mean squared gradient of each parameter; empty for stochastic gradient descent.
    square: Vec<T>,
    /// Largest mean squared gradient of each parameter; empty without AMSGrad.
    largest: Vec<T>,
}

impl Optimiser {
    /// Returns the learning rate.
    pub fn learning_rate(&self) -> f64 {
        match self {
            Self::Adam(adam) => adam.learning_rate,
            Self::Sgd(sgd) => sgd.learning_rate,
        }
    }

    /// Checks the hyper-parameters.
    ///
    /// # Errors
    /// [`Error::HyperParameter`] for a hyper-parameter outside its range.
    pub fn check(&self) -> Result<()> {
        let shares = match self {
            Self::Adam(adam) => vec![("beta1", adam.beta1), ("beta2", adam.beta2)],
            Self::Sgd(sgd) => vec![("the momentum", sgd.momentum)],
        };
        let (weight_decay, epsilon) = match self {
            Self::Adam(adam) => (adam.weight_decay, adam.epsilon),
            Self::Sgd(sgd) => (sgd.weight_decay, 0.0),
        };
        let non_negative = [
            ("the learning rate", self.learning_rate()),
            ("the weight decay", weight_decay),
            ("epsilon", epsilon),
        ];
        for (name, value) in non_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::HyperParameter { name, range: "finite and not negative", value });
            }
        }
        for (name, value) in shares {
            if !(0.0..1.0).contains(&value) {
                return Err(Error::HyperParameter { name, range: "in [0, 1)", value });
            }
        }
        Ok(())
    }

    /// Creates the initial state of the optimiser for `parameters` parameters. They may belong to one network
    /// or several, or be any other numbers with a gradient.
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check).
    pub fn start<T: Real>(self, parameters: usize) -> Result<Stepper<T>> {
        self.check()?;
        let (square, largest) = match self {
            Self::Adam(adam) => (parameters, if adam.amsgrad { parameters } else { 0 }),
            Self::Sgd(_) => (0, 0),
        };
        let [mean, square, largest] = [parameters, square, largest].map(|length| vec![T::zero(); length]);
        Ok(Stepper { optimiser: self, steps: 0, mean, square, largest })
    }
}

impl<T: Real> Stepper<T> {
    /// Changes the learning rate to `rate`.
    ///
    /// # Errors
    /// [`Error::HyperParameter`] unless `rate` is finite and not negative.
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<()> {
        let mut optimiser = self.optimiser;
        match &mut optimiser {
            Optimiser::Adam(Adam { learning_rate, .. }) | Optimiser::Sgd(Sgd { learning_rate, .. }) => {
                *learning_rate = rate;
            }
        }
        optimiser.check()?;
        self.optimiser = optimiser;
        Ok(())
    }

    /// Makes one step on `parameters` with their `gradient`.
    ///
    /// # Errors
    /// [`Error::Length`] unless `parameters` and `gradient` have the length passed to [`Optimiser::start`];
    /// [`Error::Interrupted`] if an interrupt was requested.
    pub fn step(&mut self, parameters: &mut [T], gradient: &[T]) -> Result<()> {
        scumble_interrupt::check()?;
        check_length("the parameters to step", self.mean.len(), parameters.len())?;
        check_length("the numbers of the gradient", self.mean.len(), gradient.len())?;
        self.steps = self.steps.saturating_add(1);
        let all = Part {
            parameters,
            gradient,
            mean: &mut self.mean,
            square: &mut self.square,
            largest: &mut self.largest,
        };
        match self.optimiser {
            Optimiser::Adam(adam) => {
                let step = AdamStep::new(adam, self.steps);
                all.in_parts(&|part| step.take(part));
            }
            Optimiser::Sgd(sgd) => all.in_parts(&|part| descend(sgd, part)),
        }
        Ok(())
    }
}

/// A range of parameters, with their gradient and state.
struct Part<'a, T> {
    parameters: &'a mut [T],
    gradient: &'a [T],
    mean: &'a mut [T],
    square: &'a mut [T],
    largest: &'a mut [T],
}

impl<T: Real> Part<'_, T> {
    /// Applies `step` to the whole range, on all threads if the range is large. Each parameter is updated
    /// independently, so the number of threads does not affect the result.
    fn in_parts(self, step: &(impl Fn(Part<'_, T>) + Sync)) {
        if self.parameters.len() <= AT_A_TIME {
            return step(self);
        }
        let half = self.parameters.len() / 2;
        let [parameters, mean, square, largest] = [self.parameters, self.mean, self.square, self.largest]
            .map(|values| {
                let at = half.min(values.len());
                values.split_at_mut(at)
            });
        let gradient = self.gradient.split_at(half);
        let first = Part {
            parameters: parameters.0,
            gradient: gradient.0,
            mean: mean.0,
            square: square.0,
            largest: largest.0,
        };
        let second = Part {
            parameters: parameters.1,
            gradient: gradient.1,
            mean: mean.1,
            square: square.1,
            largest: largest.1,
        };
        rayon::join(|| first.in_parts(step), || second.in_parts(step));
    }
}

/// Constants of step t of Adam. Each is computed in `f64`, and then rounded to `T` once. β₁ and β₂ are the
/// `beta1` and `beta2` of [`Adam`].
struct AdamStep<T> {
    weight_decay: T,
    /// Weight 1 − β₁ of a gradient in the new mean gradient.
    new_mean: T,
    beta2: T,
    /// Weight 1 − β₂ of a squared gradient in the new mean squared gradient.
    new_square: T,
    /// Bias correction 1 / √(1 − β₂ᵗ) of the root of the mean squared gradient at step t.
    root_correction: T,
    epsilon: T,
    /// Learning rate divided by 1 − β₁ᵗ, the bias correction of the mean gradient at step t.
    rate: T,
}

impl<T: Real> AdamStep<T> {
    /// Computes the constants of step `t`, counted from 1.
    fn new(adam: Adam, t: i32) -> Self {
        Self {
            weight_decay: T::nearest(adam.weight_decay),
            new_mean: T::nearest(1.0 - adam.beta1),
            beta2: T::nearest(adam.beta2),
            new_square: T::nearest(1.0 - adam.beta2),
            root_correction: T::nearest((1.0 - adam.beta2.powi(t)).sqrt().recip()),
            epsilon: T::nearest(adam.epsilon),
            rate: T::nearest(adam.learning_rate / (1.0 - adam.beta1.powi(t))),
        }
    }

    /// Updates all parameters of `part` in one pass over memory.
    fn take(&self, part: Part<'_, T>) {
        let Part { parameters, gradient, mean, square, largest } = part;
        let moments = mean.iter_mut().zip(square);
        let all = parameters.iter_mut().zip(gradient).zip(moments);
        vectorised(
            #[inline(always)]
            || {
                if largest.is_empty() {
                    for ((parameter, &gradient), (mean, square)) in all {
                        let square = self.moments(*parameter, gradient, mean, square);
                        self.move_by(parameter, *mean, square);
                    }
                } else {
                    for (((parameter, &gradient), (mean, square)), largest) in all.zip(largest) {
                        let square = self.moments(*parameter, gradient, mean, square);
                        // `max` would drop a NaN.
                        *largest = if *largest > square { *largest } else { square };
                        self.move_by(parameter, *mean, *largest);
                    }
                }
            },
        );
    }

    /// Updates the mean gradient and the mean squared gradient. Returns the mean squared gradient.
    #[inline(always)]
    fn moments(&self, parameter: T, gradient: T, mean: &mut T, square: &mut T) -> T {
        let gradient = gradient + self.weight_decay * parameter;
        *mean += self.new_mean * (gradient - *mean);
        *square = self.beta2 * *square + self.new_square * (gradient * gradient);
        *square
    }

    #[inline(always)]
    fn move_by(&self, parameter: &mut T, mean: T, square: T) {
        *parameter -= self.rate * (mean / (square.sqrt() * self.root_correction + self.epsilon));
    }
}

fn descend<T: Real>(sgd: Sgd, part: Part<'_, T>) {
    let [rate, momentum, weight_decay] = [sgd.learning_rate, sgd.momentum, sgd.weight_decay].map(T::nearest);
    vectorised(
        #[inline(always)]
        || {
            for ((parameter, &gradient), last) in part.parameters.iter_mut().zip(part.gradient).zip(part.mean)
            {
                *last = momentum * *last + (gradient + weight_decay * *parameter);
                *parameter -= rate * *last;
            }
        },
    );
}
