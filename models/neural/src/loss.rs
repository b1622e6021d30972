//! How far outputs are from what they should be.

use crate::error::check_length;
use crate::{Error, Real, Result};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Zip};

/// How far outputs (n × k) are from what they should be, which it holds: a loss an example, and its gradient with respect to the
/// example's outputs.
#[derive(Debug, Clone, Copy)]
pub enum Loss<'a, T> {
    /// Σⱼ (oⱼ − tⱼ)² from targets t (n × k).
    SquaredError(ArrayView2<'a, T>),
    /// ln Σⱼ exp oⱼ − o_c for the class c (n, counted from 0): the outputs are logits of a softmax.
    CrossEntropy(ArrayView1<'a, usize>),
    /// Σⱼ ln(1 + exp oⱼ) − tⱼoⱼ from shares t in [0, 1] (n × k): each output is the logit of a sigmoid. One output does what two of
    /// a softmax do, with half of the weights, for only their difference matters; and a share may lie between, as of a pixel.
    BinaryCrossEntropy(ArrayView2<'a, T>),
    /// −ln Σ_y F\[y, ỹ\]·softmax(o)_y for the class ỹ as it was seen, where labels were flipped: the likelihood of what was seen, in
    /// which the softmax is the distribution of true classes (equation 8 of *Learning to noise*; "forward correction", Patrini and others
    /// 2017). It is the cross-entropy where nothing was flipped.
    FlippedCrossEntropy {
        /// ỹ of each example (n, counted from 0).
        seen: ArrayView1<'a, usize>,
        /// F (k × k): with what probability the class of a row, the true one, is seen as that of a column.
        flip: ArrayView2<'a, T>,
    },
}

impl<T: Real> Loss<'_, T> {
    /// n.
    pub fn examples(&self) -> usize {
        match self {
            Self::SquaredError(targets) | Self::BinaryCrossEntropy(targets) => targets.nrows(),
            Self::CrossEntropy(classes) | Self::FlippedCrossEntropy { seen: classes, .. } => classes.len(),
        }
    }

    /// # Errors
    /// For `outputs` (k) a row: [`Error::Length`] for targets of another width, [`Error::Class`] for a class that is not below k,
    /// [`Error::Value`] for a target that is no finite number, or no share where one must be, and for a probability of a flip
    /// that is none.
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

    /// Each example's loss (n), and the `gradient` (n × k) of each with respect to its own `output` (n × k).
    ///
    /// # Errors
    /// [`Error::Length`] where shapes do not fit, and else as [`check`](Self::check).
    pub fn each(&self, output: ArrayView2<T>, gradient: ArrayViewMut2<T>, losses: &mut [T]) -> Result<()> {
        check_length("the rows of the output", self.examples(), output.nrows())?;
        self.each_at(|row| row, output, gradient, losses)
    }

    /// As [`each`](Self::each) where the outputs (b × k) are those of some `rows` (b) of the targets.
    ///
    /// # Errors
    /// As [`each`](Self::each), and [`Error::Row`] for a row that is not there.
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

    /// The mean loss of the examples, and its `gradient` (n × k) with respect to the `output` (n × k).
    ///
    /// # Errors
    /// As [`each`](Self::each), and [`Error::NoRecords`] where there are none.
    pub fn mean(&self, output: ArrayView2<T>, gradient: ArrayViewMut2<T>) -> Result<T> {
        check_length("the rows of the output", self.examples(), output.nrows())?;
        self.mean_at(|row| row, output, gradient)
    }

    /// As [`mean`](Self::mean) where the outputs (b × k) are those of some `rows` (b) of the targets.
    ///
    /// # Errors
    /// As [`mean`](Self::mean), and [`Error::Row`] for a row that is not there.
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

    /// Hands out each example's loss, and writes its gradient times `share`. `row` says which target an output has.
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

/// The class of this row.
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

/// An example's loss; its gradient is written times `share`.
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

/// As [`squared_error`]. Nothing is raised to a power above zero, so that no logit is too large.
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

/// As [`squared_error`], where `chances` (k) say with what probability each class is seen as this one was. The gradient is the prior
/// of the true class less its posterior. Each has its own largest logit, for a class that is never seen so may have the largest of all.
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
    let (mut of_all, mut of_seen) = (T::zero(), T::zero());
    for ((power, &logit), &chance) in gradient.iter_mut().zip(logits).zip(chances) {
        *power = (logit - largest).exp();
        of_all += *power;
        of_seen += posterior(logit, chance);
    }
    for ((power, &logit), &chance) in gradient.iter_mut().zip(logits).zip(chances) {
        *power = share * (*power / of_all - posterior(logit, chance) / of_seen);
    }
    (largest - largest_possible) + of_all.ln() - of_seen.ln()
}

/// As [`squared_error`]. ln(1 + eᶻ) = max(z, 0) + ln(1 + e^−|z|), so that no logit is too large.
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
