//! Loss functions.

use crate::error::check_length;
use crate::{Error, Real, Result};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Zip};

/// Loss function with the targets of n examples. From a network's outputs o (n examples × k outputs), it
/// computes the loss of each example. It also computes the gradient of this loss with respect to the
/// example's outputs.
#[derive(Debug, Clone, Copy)]
pub enum Loss<'a, T> {
    /// Squared error Σⱼ (oⱼ − tⱼ)² of an example's outputs o, for targets t (n × k).
    SquaredError(ArrayView2<'a, T>),
    /// Cross-entropy ln Σⱼ exp oⱼ − o_c of an example's outputs o and its class c (n class numbers, counted
    /// from 0). The outputs are logits of a softmax.
    CrossEntropy(ArrayView1<'a, usize>),
    /// Binary cross-entropy Σⱼ ln(1 + exp oⱼ) − tⱼoⱼ of an example's outputs o, for targets t in [0, 1] (n ×
    /// k). Each output is the logit of a sigmoid.
    ///
    /// One output of logit o is equivalent to two softmax outputs of logits o/2 and −o/2, because a softmax
    /// depends only on differences of logits. A target may lie strictly between 0 and 1, such as the
    /// brightness of a pixel.
    BinaryCrossEntropy(ArrayView2<'a, T>),
    /// Cross-entropy −ln Σ_y F\[y, ỹ\]·softmax(o)_y of an example's outputs o and its observed class ỹ, which
    /// may differ from its true class y.
    ///
    /// It is the negative log-likelihood of the observed class if the softmax is the distribution of the true
    /// class (equation 8 of *Learning to noise*; "forward correction", Patrini and others 2017). If F is the
    /// identity matrix, it equals the cross-entropy.
    FlippedCrossEntropy {
        /// Observed class ỹ of each example (n class numbers, counted from 0).
        seen: ArrayView1<'a, usize>,
        /// Matrix F (k × k): F\[y, ỹ\] is the probability that the true class y is observed as ỹ.
        flip: ArrayView2<'a, T>,
    },
}

impl<T: Real> Loss<'_, T> {
    /// Returns the number of examples, n.
    pub fn examples(&self) -> usize {
        match self {
            Self::SquaredError(targets) | Self::BinaryCrossEntropy(targets) => targets.nrows(),
            Self::CrossEntropy(classes) | Self::FlippedCrossEntropy { seen: classes, .. } => classes.len(),
        }
    }

    /// Checks that the targets fit a network with `outputs` (k) outputs.
    ///
    /// # Errors
    /// [`Error::Length`] unless the targets have k columns and the flip matrix is k × k, [`Error::Class`] for
    /// a class that is not below k. [`Error::Value`] for a target that is not finite, for a target of the
    /// binary cross-entropy outside [0, 1], and for a flip probability outside [0, 1].
    pub fn check(&self, outputs: usize) -> Result<()> {
        match self {
            Self::SquaredError(targets) | Self::BinaryCrossEntropy(targets) => {
                check_length("the columns of the targets", outputs, targets.ncols())?;
                let bad = targets.indexed_iter().find(|&(_, &target)| !self.allows(target));
                bad.map_or(Ok(()), |((row, column), &target)| Err(self.value(row, column, target)))
            }
            Self::CrossEntropy(classes) => check_classes(*classes, outputs),
            Self::FlippedCrossEntropy { seen, flip } => {
                check_flip(*flip, outputs)?;
                let is_share = |chance: &T| (T::zero()..=T::one()).contains(chance);
                if let Some(((row, column), &chance)) =
                    flip.indexed_iter().find(|(_, chance)| !is_share(chance))
                {
                    let (what, range) = ("the probability of a flip", "in [0, 1]");
                    return Err(Error::Value { what, row, column, range, value: chance.into() });
                }
                check_classes(*seen, outputs)
            }
        }
    }

    /// Writes the loss of each example to `losses` (n). Writes its gradient with respect to the example's row
    /// of `output` (n × k) to the same row of `gradient` (n × k).
    ///
    /// # Errors
    /// [`Error::Length`] if the shapes of the arguments and targets do not fit together. [`Error::Class`] for
    /// a class that is not below k, [`Error::Value`] for a target of the binary cross-entropy outside [0, 1].
    pub fn each(&self, output: ArrayView2<T>, gradient: ArrayViewMut2<T>, losses: &mut [T]) -> Result<()> {
        check_length("the rows of the output", self.examples(), output.nrows())?;
        self.each_at(|row| row, output, gradient, losses)
    }

    /// Computes the losses of b examples as [`each`](Self::each) does. Row i of `output` (b × k) belongs to
    /// row `rows[i]` of the targets.
    ///
    /// # Errors
    /// Same errors as [`each`](Self::each), and [`Error::Row`] for a row that does not exist.
    pub fn each_of(
        &self,
        rows: &[usize],
        output: ArrayView2<T>,
        gradient: ArrayViewMut2<T>,
        losses: &mut [T],
    ) -> Result<()> {
        check_length("the rows of the output", rows.len(), output.nrows())?;
        self.each_at(|index| rows[index], output, gradient, losses)
    }

    /// Computes the mean loss of the examples, and its `gradient` (n × k) with respect to the `output`
    /// (n × k).
    ///
    /// # Errors
    /// Same errors as [`each`](Self::each), and [`Error::NoRecords`] if `output` is empty.
    pub fn mean(&self, output: ArrayView2<T>, gradient: ArrayViewMut2<T>) -> Result<T> {
        check_length("the rows of the output", self.examples(), output.nrows())?;
        self.mean_at(|row| row, output, gradient)
    }

    /// Computes the mean loss of b examples as [`mean`](Self::mean) does. Row i of `output` (b × k) belongs
    /// to row `rows[i]` of the targets.
    ///
    /// # Errors
    /// Same errors as [`mean`](Self::mean), and [`Error::Row`] for a row that does not exist.
    pub fn mean_of(&self, rows: &[usize], output: ArrayView2<T>, gradient: ArrayViewMut2<T>) -> Result<T> {
        check_length("the rows of the output", rows.len(), output.nrows())?;
        self.mean_at(|index| rows[index], output, gradient)
    }

    fn each_at(
        &self,
        row: impl Fn(usize) -> usize,
        output: ArrayView2<T>,
        gradient: ArrayViewMut2<T>,
        losses: &mut [T],
    ) -> Result<()> {
        check_length("the losses", output.nrows(), losses.len())?;
        self.evaluate(row, output, gradient, T::one(), |index, loss| losses[index] = loss)
    }

    fn mean_at(
        &self,
        row: impl Fn(usize) -> usize,
        output: ArrayView2<T>,
        gradient: ArrayViewMut2<T>,
    ) -> Result<T> {
        if output.is_empty() {
            return Err(Error::NoRecords);
        }
        let (share, mut sum) = (T::nearest(1.0 / output.nrows() as f64), T::zero());
        self.evaluate(row, output, gradient, share, |_, loss| sum += loss)?;
        Ok(sum * share)
    }

    /// Calls `found` with the index and the loss of each example, and writes the loss's gradient times
    /// `share` to `gradient`. For the gradient of the mean loss of n examples, `share` is 1/n. `row` maps the
    /// index of an output to the row of its target.
    fn evaluate(
        &self,
        row: impl Fn(usize) -> usize,
        output: ArrayView2<T>,
        mut gradient: ArrayViewMut2<T>,
        share: T,
        mut found: impl FnMut(usize, T),
    ) -> Result<()> {
        check_length("the rows of the gradient", output.nrows(), gradient.nrows())?;
        check_length("the columns of the gradient", output.ncols(), gradient.ncols())?;
        if let Self::SquaredError(targets) | Self::BinaryCrossEntropy(targets) = self {
            check_length("the columns of the targets", output.ncols(), targets.ncols())?;
        }
        if let Self::FlippedCrossEntropy { flip, .. } = self {
            check_flip(*flip, output.ncols())?;
        }
        for (index, (output, gradient)) in output.outer_iter().zip(gradient.outer_iter_mut()).enumerate() {
            let row = row(index);
            if row >= self.examples() {
                return Err(Error::Row { row, rows: self.examples() });
            }
            let loss = match self {
                Self::SquaredError(targets) => squared_error(output, targets.row(row), gradient, share),
                Self::BinaryCrossEntropy(targets) => {
                    let targets = targets.row(row);
                    if let Some(column) = targets.iter().position(|&target| !self.allows(target)) {
                        return Err(self.value(row, column, targets[column]));
                    }
                    binary_cross_entropy(output, targets, gradient, share)
                }
                Self::CrossEntropy(classes) => {
                    cross_entropy(output, class_of(*classes, row, output.len())?, gradient, share)
                }
                Self::FlippedCrossEntropy { seen, flip } => {
                    let seen = class_of(*seen, row, output.len())?;
                    flipped_cross_entropy(output, flip.column(seen), gradient, share)
                }
            };
            found(index, loss);
        }
        Ok(())
    }

    fn allows(&self, target: T) -> bool {
        match self {
            Self::BinaryCrossEntropy(_) => (T::zero()..=T::one()).contains(&target),
            _ => target.is_finite(),
        }
    }

    fn value(&self, row: usize, column: usize, target: T) -> Error {
        let range = match self {
            Self::BinaryCrossEntropy(_) => "in [0, 1]",
            _ => "a finite number",
        };
        Error::Value { what: "the target", row, column, range, value: target.into() }
    }
}

/// Returns the class of the example in row `row`, if it is below `classes`.
fn class_of(all: ArrayView1<usize>, row: usize, classes: usize) -> Result<usize> {
    let class = all[row];
    if class < classes { Ok(class) } else { Err(Error::Class { row, class, classes }) }
}

fn check_classes(all: ArrayView1<usize>, classes: usize) -> Result<()> {
    (0..all.len()).try_for_each(|row| class_of(all, row, classes).map(|_| ()))
}

fn check_flip<T>(flip: ArrayView2<T>, classes: usize) -> Result<()> {
    check_length("the rows of the flips", classes, flip.nrows())?;
    check_length("the columns of the flips", classes, flip.ncols())
}

/// Returns an example's squared error, and writes its gradient times `share` to `gradient`.
fn squared_error<T: Real>(
    output: ArrayView1<T>,
    target: ArrayView1<T>,
    mut gradient: ArrayViewMut1<T>,
    share: T,
) -> T {
    Zip::from(&mut gradient).and(output).and(target).for_each(|gradient, &output, &target| {
        *gradient = output - target;
    });
    let sum = gradient.dot(&gradient);
    gradient.map_inplace(|gradient| *gradient *= share + share);
    sum
}

/// Returns an example's cross-entropy, and writes its gradient times `share` to `gradient`. The largest logit
/// is subtracted from all logits, so that large logits do not overflow.
fn cross_entropy<T: Real>(
    logits: ArrayView1<T>,
    class: usize,
    mut gradient: ArrayViewMut1<T>,
    share: T,
) -> T {
    let largest = logits.iter().copied().fold(T::neg_infinity(), T::max);
    let mut sum = T::zero();
    for (power, &logit) in gradient.iter_mut().zip(logits) {
        *power = (logit - largest).exp();
        sum += *power;
    }
    gradient.map_inplace(|power| *power *= share / sum);
    gradient[class] -= share;
    (largest - logits[class]) + sum.ln()
}

/// Returns the cross-entropy of a flipped label, and writes its gradient times `share` to `gradient`.
/// `chances` (k) holds the probability of each true class to be observed as this example's label. The
/// gradient is the distribution of the true class before its label is known (softmax) minus the distribution
/// given the label. Each of these two distributions subtracts its own largest logit, because the largest
/// logit may belong to a class of probability zero.
fn flipped_cross_entropy<T: Real>(
    logits: ArrayView1<T>,
    chances: ArrayView1<T>,
    mut gradient: ArrayViewMut1<T>,
    share: T,
) -> T {
    let is_possible = |chance: T| chance > T::zero();
    let possible = logits.iter().zip(chances).filter(|&(_, &chance)| is_possible(chance));
    let largest_possible = possible.map(|(&logit, _)| logit).fold(T::neg_infinity(), T::max);
    let largest = logits.iter().copied().fold(T::neg_infinity(), T::max);
    let posterior = |logit: T, chance: T| match is_possible(chance) {
        true => chance * (logit - largest_possible).exp(),
        false => T::zero(),
    };
    let (mut total, mut seen_total) = (T::zero(), T::zero());
    for ((power, &logit), &chance) in gradient.iter_mut().zip(logits).zip(chances) {
        *power = (logit - largest).exp();
        total += *power;
        seen_total += posterior(logit, chance);
    }
    for ((power, &logit), &chance) in gradient.iter_mut().zip(logits).zip(chances) {
        *power = share * (*power / total - posterior(logit, chance) / seen_total);
    }
    (largest - largest_possible) + total.ln() - seen_total.ln()
}

/// Returns an example's binary cross-entropy, and writes its gradient times `share` to `gradient`. It
/// computes ln(1 + eᶻ) as max(z, 0) + ln(1 + e^−|z|), so that large logits z do not overflow.
fn binary_cross_entropy<T: Real>(
    logits: ArrayView1<T>,
    target: ArrayView1<T>,
    gradient: ArrayViewMut1<T>,
    share: T,
) -> T {
    let mut sum = T::zero();
    for ((gradient, &logit), &target) in gradient.into_iter().zip(logits).zip(target) {
        let power = (-logit.abs()).exp();
        let (positive, odds) = if logit > T::zero() { (logit, T::one()) } else { (T::zero(), power) };
        sum += positive - logit * target + power.ln_1p();
        *gradient = share * (odds / (T::one() + power) - target);
    }
    sum
}
