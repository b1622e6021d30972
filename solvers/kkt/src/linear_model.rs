//! Convex models of linear scores, solved by Newton's method.

use crate::error::{check_signs, positive};
use crate::interior_point::{cholesky, solve_in_place};
use crate::records::dot;
use crate::{Error, Records, Result};
use faer::{Mat, MatMut};
use ndarray::{ArrayView2, Axis};

/// Loss of a record as a convex function of its scores, with the targets of n records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loss<'a> {
    /// ½(s − y)² of a score s, for targets y (n values): ridge regression.
    Squared(&'a [f64]),
    /// ½r² for |r| ≤ `threshold`, and `threshold`·(|r| − `threshold`/2) otherwise, for r = s − y (Huber).
    Huber {
        /// Targets y (n values).
        targets: &'a [f64],
        /// Residual above which the loss is linear.
        threshold: f64,
    },
    /// ln(1 + e^{−ys}) of a score s, for signs y of ±1 (n values): logistic regression.
    Logistic(&'a [f64]),
    /// max(0, 1 − ys)² of a score s, for signs y of ±1 (n values).
    SquaredHinge(&'a [f64]),
    /// ln Σ e^{s_k} − s_y of K scores, for classes y below K: multinomial logistic regression.
    Softmax {
        /// Classes y (n values).
        classes: &'a [usize],
        /// Number of classes, K.
        count: usize,
    },
}

impl Loss<'_> {
    /// Number of scores of a record, K; 1 except for [`Softmax`](Self::Softmax).
    fn scores(&self) -> usize {
        match self {
            Self::Softmax { count, .. } => *count,
            _ => 1,
        }
    }

    fn records(&self) -> usize {
        match self {
            Self::Squared(targets)
            | Self::Huber { targets, .. }
            | Self::Logistic(targets)
            | Self::SquaredHinge(targets) => targets.len(),
            Self::Softmax { classes, .. } => classes.len(),
        }
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Logistic(signs) | Self::SquaredHinge(signs) => check_signs(signs),
            Self::Squared(targets) | Self::Huber { targets, .. } => {
                if let Self::Huber { threshold, .. } = self {
                    positive("threshold", *threshold)?;
                }
                match targets.iter().find(|value| !value.is_finite()) {
                    Some(&value) => Err(Error::Parameter { name: "a target", range: "finite", value }),
                    None => Ok(()),
                }
            }
            Self::Softmax { classes, count } => match classes.iter().find(|class| **class >= *count) {
                Some(&class) => Err(Error::Parameter {
                    name: "a class",
                    range: "below their number",
                    value: class as f64,
                }),
                None => Ok(()),
            },
        }
    }

    /// Sum of the losses of all records at their `scores` (K × n), and derivatives of the losses by the
    /// scores (K × n).
    fn at(&self, scores: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
        let each = |loss: &dyn Fn(f64, f64) -> (f64, f64), targets: &[f64]| {
            let (losses, slopes): (Vec<f64>, Vec<f64>) =
                scores[0].iter().zip(targets).map(|(score, target)| loss(*score, *target)).unzip();
            (losses.iter().sum(), vec![slopes])
        };
        match self {
            Self::Squared(targets) => each(&|s, y| (0.5 * (s - y) * (s - y), s - y), targets),
            Self::Huber { targets, threshold } => each(
                &|s, y| {
                    let bounded = (s - y).clamp(-threshold, *threshold);
                    (bounded * (s - y - 0.5 * bounded), bounded)
                },
                targets,
            ),
            Self::Logistic(signs) => each(
                &|s, y| ((-(y * s).abs()).exp().ln_1p() + (-y * s).max(0.0), -y / (1.0 + (y * s).exp())),
                signs,
            ),
            Self::SquaredHinge(signs) => each(
                &|s, y| {
                    let missed = (1.0 - y * s).max(0.0);
                    (missed * missed, -2.0 * y * missed)
                },
                signs,
            ),
            Self::Softmax { classes, .. } => {
                let (mut sum, mut slopes) = (0.0, scores.to_vec());
                for (record, class) in classes.iter().enumerate() {
                    let of = |slopes: &[Vec<f64>]| slopes.iter().map(|row| row[record]).collect::<Vec<_>>();
                    let own = of(&slopes);
                    let largest = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    let total: f64 = own.iter().map(|score| (score - largest).exp()).sum();
                    sum += largest + total.ln() - own[*class];
                    for (at, row) in slopes.iter_mut().enumerate() {
                        row[record] = (own[at] - largest).exp() / total - f64::from(u8::from(at == *class));
                    }
                }
                (sum, slopes)
            }
        }
    }

    /// Absolute second derivative of each record's loss by the scores `one` and `other` (n values), where
    /// `scores` and `slopes` are K × n. The derivative is negative for two different scores.
    fn curvature(&self, scores: &[Vec<f64>], slopes: &[Vec<f64>], [one, other]: [usize; 2]) -> Vec<f64> {
        match self {
            Self::Squared(targets) => vec![1.0; targets.len()],
            Self::Huber { threshold, .. } => {
                slopes[0].iter().map(|slope| f64::from(u8::from(slope.abs() < *threshold))).collect()
            }
            Self::Logistic(_) => slopes[0].iter().map(|slope| slope.abs() * (1.0 - slope.abs())).collect(),
            Self::SquaredHinge(signs) => {
                let pairs = scores[0].iter().zip(*signs);
                pairs.map(|(s, y)| if y * s < 1.0 { 2.0 } else { 0.0 }).collect()
            }
            Self::Softmax { classes, .. } => {
                let share = |at: usize, record: usize| {
                    slopes[at][record] + f64::from(u8::from(at == classes[record]))
                };
                let curvature = |record: usize| match one == other {
                    true => share(one, record) * (1.0 - share(one, record)),
                    false => share(one, record) * share(other, record),
                };
                (0..classes.len()).map(curvature).collect()
            }
        }
    }
}

/// The programme min Σ ℓᵢ(Wxᵢ + β) + ½`l2_penalty`·‖W‖² over weights W (K × d) and biases β (K values) of
/// linear scores of n records xᵢ (d values). ℓᵢ is the [`Loss`] of record i.
///
/// Its optimality conditions are Σ bᵢxᵢᵀ + `l2_penalty`·W = 0 and Σ bᵢ = 0, with bᵢ (K values) the derivative
/// of ℓᵢ by the scores. For [`Loss::Softmax`], which shifts of all biases do not change, the biases sum to 0.
///
/// ```
/// use ndarray::array;
/// use scumble_kkt::{LinearModel, Loss};
///
/// // The line through (0, 1) and (2, 5) has the slope 2; the penalty makes it 2·2/(2 + 2) = 1.
/// let records = array![[0.0], [2.0]];
/// let fitted = LinearModel::new(records.view(), Loss::Squared(&[1.0, 5.0]), 2.0)?.solve(1e-12, 10)?;
/// assert!((fitted.weights[0][0] - 1.0).abs() < 1e-12 && (fitted.biases[0] - 2.0).abs() < 1e-12);
/// assert!((fitted.slopes[0][0] - 1.0).abs() < 1e-12); // 2 instead of 1
/// # Ok::<(), scumble_kkt::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearModel<'a> {
    /// Records less the mean of each column.
    records: Records,
    /// Mean of each column (d values).
    means: Vec<f64>,
    loss: Loss<'a>,
    l2_penalty: f64,
}

/// A solved [`LinearModel`].
#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    /// Weights (K × d).
    pub weights: Vec<Vec<f64>>,
    /// Biases (K values).
    pub biases: Vec<f64>,
    /// Derivatives of each record's loss by its scores (K × n).
    pub slopes: Vec<Vec<f64>>,
    /// Largest violation of the optimality conditions. Each is divided by the sum's largest term.
    pub residual: f64,
}

/// Parameters of a model, in K blocks of d weights and a bias, and what follows from them.
struct Point {
    parameters: Vec<f64>,
    scores: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
    objective: f64,
    gradient: Vec<f64>,
}

/// Number of steps after the requested residual is reached. Each may reduce it to rounding errors.
const LAST_STEPS: usize = 3;

/// Share of the decrease that a step's slope predicts, which the objective must have (Armijo's condition).
const DECREASE: f64 = 1e-4;

impl<'a> LinearModel<'a> {
    /// Creates the programme of `records` (n × d) with the penalty `l2_penalty` > 0.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are as many targets as records, and one or more.
    /// [`Error::NonFinite`] for a record that is not finite. [`Error::Parameter`] for a sign other than ±1, a
    /// target that is not finite, a class that is not below the number of classes, or a threshold or penalty
    /// that is not finite and positive.
    pub fn new(records: ArrayView2<f64>, loss: Loss<'a>, l2_penalty: f64) -> Result<Self> {
        if loss.records() != records.nrows() {
            let message = format!("there are {} targets for {} records", loss.records(), records.nrows());
            return Err(Error::Shape(message));
        }
        loss.check()?;
        let l2_penalty = positive("l2_penalty", l2_penalty)?;
        let Some(means) = records.mean_axis(Axis(0)) else {
            return Err(Error::Shape("there are no records".into()));
        };
        let means = means.to_vec();
        let records = Records::scaled(records, &means, &vec![1.0; means.len()])?;
        match records.first_non_finite() {
            Some(record) => Err(Error::NonFinite { record }),
            None => Ok(Self { records, means, loss, l2_penalty }),
        }
    }

    /// Solves the programme. The residual of the result is at most `residual`, and as small as rounding
    /// permits.
    ///
    /// # Errors
    /// [`Error::Residual`] with the residual found, if it exceeds `residual` after `max_iterations` steps;
    /// [`Error::Loop`] if interrupted.
    pub fn solve(&self, residual: f64, max_iterations: usize) -> Result<FittedModel> {
        let mut point = self.at(vec![0.0; self.loss.scores() * self.size()]);
        let mut last_steps = 0;
        for _ in 0..max_iterations {
            scumble_interrupt::check().map_err(|interrupted| Error::Loop(interrupted.to_string()))?;
            if self.residual(&point) <= residual {
                last_steps += 1;
            }
            match self.improved(&point) {
                Some(next) if last_steps <= LAST_STEPS => point = next,
                _ => break,
            }
        }
        match self.residual(&point) {
            found if found <= residual => Ok(self.fitted(point, found)),
            found => Err(Error::Residual { found, residual }),
        }
    }

    /// Number of weights and biases of a score, d + 1.
    fn size(&self) -> usize {
        self.records.width() + 1
    }

    fn fitted(&self, point: Point, residual: f64) -> FittedModel {
        let blocks = || point.parameters.chunks(self.size());
        let weights: Vec<Vec<f64>> = blocks().map(|block| block[..self.records.width()].to_vec()).collect();
        let biases = blocks().zip(&weights).map(|(block, w)| block[w.len()] - dot(w, &self.means)).collect();
        FittedModel { weights, biases, slopes: point.slopes, residual }
    }

    /// Sum of the biases, if only a penalty on it determines it.
    fn free_sum(&self, parameters: &[f64]) -> f64 {
        match self.loss {
            Loss::Softmax { .. } => parameters.iter().skip(self.records.width()).step_by(self.size()).sum(),
            _ => 0.0,
        }
    }

    fn at(&self, parameters: Vec<f64>) -> Point {
        let d = self.records.width();
        let scores: Vec<Vec<f64>> =
            parameters.chunks(self.size()).map(|block| self.records.scores(block)).collect();
        let (losses, slopes) = self.loss.at(&scores);
        let sum = self.free_sum(&parameters);
        let (mut squares, mut gradient) = (0.0, vec![]);
        for (block, slopes) in parameters.chunks(self.size()).zip(&slopes) {
            let mut own = self.records.combined(slopes);
            own.iter_mut().zip(&block[..d]).for_each(|(slope, weight)| *slope += self.l2_penalty * weight);
            own[d] += sum;
            squares += dot(&block[..d], &block[..d]);
            gradient.extend(own);
        }
        let objective = losses + 0.5 * self.l2_penalty * squares + 0.5 * sum * sum;
        Point { parameters, scores, slopes, objective, gradient }
    }

    /// Largest violation of the optimality conditions, each divided by the largest term of its sum.
    fn residual(&self, point: &Point) -> f64 {
        let blocks = point.parameters.chunks(self.size()).zip(point.gradient.chunks(self.size()));
        let each = blocks.zip(&point.slopes).flat_map(|((block, gradient), slopes)| {
            let terms = self.records.largest(slopes).into_iter().zip(block);
            terms.zip(gradient).map(|((term, parameter), slope)| {
                let size = term.max(self.l2_penalty * parameter.abs());
                if *slope == 0.0 { 0.0 } else { slope.abs() / size }
            })
        });
        // `max` would ignore a NaN.
        each.fold(0.0, |most, x| if most >= x { most } else { x })
    }

    /// Lower triangle of the second derivatives by the parameters.
    fn hessian(&self, point: &Point) -> Mat<f64> {
        let (scores, size) = (self.loss.scores(), self.size());
        let mut hessian = Mat::zeros(scores * size, scores * size);
        for one in 0..scores {
            for other in 0..=one {
                let gram =
                    self.records.gram(&self.loss.curvature(&point.scores, &point.slopes, [one, other]));
                let sign = if one == other { 1.0 } else { -1.0 };
                let free = f64::from(u8::from(matches!(self.loss, Loss::Softmax { .. })));
                for row in 0..size {
                    for column in 0..=row {
                        let mut value = sign * gram[(row, column)];
                        if row == column && row == size - 1 {
                            value += free;
                        } else if row == column && one == other {
                            value += self.l2_penalty;
                        }
                        hessian[(one * size + row, other * size + column)] = value;
                        hessian[(one * size + column, other * size + row)] = value;
                    }
                }
            }
        }
        hessian
    }

    /// A point with a smaller objective or, where rounding hides the decrease, with a smaller residual.
    ///
    /// The step is Newton's. If the Hessian is singular, or no part of the step is an improvement, a multiple
    /// of its diagonal is added.
    fn improved(&self, point: &Point) -> Option<Point> {
        let hessian = self.hessian(point);
        let diagonal: Vec<f64> = (0..hessian.nrows()).map(|at| hessian[(at, at)]).collect();
        let largest = diagonal.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // Scaled to a diagonal of ones, the factors do not depend on the units of the columns.
        let scales: Vec<f64> = diagonal
            .iter()
            .map(|x| if *x > 0.0 { x.sqrt().recip() } else { largest.sqrt().recip() })
            .collect();
        let residual = self.residual(point);
        let dampings = std::iter::once(0.0).chain((0..10).map(|power| 1e-12 * 100f64.powi(power)));
        dampings.into_iter().find_map(|damping| {
            let scaled = Mat::from_fn(hessian.nrows(), hessian.ncols(), |row, column| {
                let damped = if row == column { damping } else { 0.0 };
                hessian[(row, column)] * scales[row] * scales[column] + damped
            });
            let triangle = cholesky(scaled)?;
            let mut step: Vec<f64> =
                point.gradient.iter().zip(&scales).map(|(slope, scale)| -slope * scale).collect();
            let length = step.len();
            solve_in_place(&triangle, MatMut::from_column_major_slice_mut(&mut step, length, 1));
            step.iter_mut().zip(&scales).for_each(|(step, scale)| *step *= scale);
            let predicted = dot(&step, &point.gradient);
            (0..20).map(|halvings| 0.5f64.powi(halvings)).find_map(|share| {
                let moved = point.parameters.iter().zip(&step).map(|(from, step)| from + share * step);
                let next = self.at(moved.collect());
                let falls = next.objective < point.objective
                    && next.objective <= point.objective + DECREASE * share * predicted;
                let rounded = next.objective <= point.objective + 1e-10 * point.objective.abs();
                (falls || (rounded && self.residual(&next) < residual)).then_some(next)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    fn records() -> Array2<f64> {
        Array2::from_shape_fn((60, 3), |(row, column)| {
            let wave = ((row * 7 + column * 11) as f64).sin();
            wave * 10f64.powi(column as i32) + 100.0 * column as f64
        })
    }

    fn targets(records: &Array2<f64>) -> Vec<f64> {
        let noise = |row: usize| ((row * row) as f64).cos() * if row.is_multiple_of(9) { 30.0 } else { 1.0 };
        (0..records.nrows()).map(|row| records[[row, 0]] + 0.1 * records[[row, 1]] + noise(row)).collect()
    }

    fn signs(targets: &[f64]) -> Vec<f64> {
        targets.iter().map(|target| if *target > 10.0 { 1.0 } else { -1.0 }).collect()
    }

    /// The conditions are computed anew from the weights and biases, without any code of this module.
    #[test]
    fn every_model_satisfies_its_optimality_conditions() {
        let records = records();
        let targets = targets(&records);
        let signs = signs(&targets);
        let classes: Vec<usize> = (0..60).map(|row| (row * row) % 3).collect();
        type Slopes<'a> = &'a dyn Fn(&[f64], usize) -> Vec<f64>;
        let models: [(Loss, Slopes); 5] = [
            (Loss::Squared(&targets), &|s, row| vec![s[0] - targets[row]]),
            (Loss::Huber { targets: &targets, threshold: 1.5 }, &|s, row| {
                vec![(s[0] - targets[row]).clamp(-1.5, 1.5)]
            }),
            (Loss::Logistic(&signs), &|s, row| vec![-signs[row] / (1.0 + (signs[row] * s[0]).exp())]),
            (Loss::SquaredHinge(&signs), &|s, row| {
                vec![-2.0 * signs[row] * (1.0 - signs[row] * s[0]).max(0.0)]
            }),
            (Loss::Softmax { classes: &classes, count: 3 }, &|s, row| {
                let total: f64 = s.iter().map(|s| s.exp()).sum();
                let own = |at: usize| if at == classes[row] { 1.0 } else { 0.0 };
                (0..3).map(|at| s[at].exp() / total - own(at)).collect()
            }),
        ];
        for (loss, slopes) in models {
            let fitted = LinearModel::new(records.view(), loss, 0.7).unwrap().solve(1e-11, 100).unwrap();
            let scores = |row: usize| -> Vec<f64> {
                let each = fitted.weights.iter().zip(&fitted.biases);
                each.map(|(w, bias)| dot(w, records.row(row).as_slice().unwrap()) + bias).collect()
            };
            let slopes: Vec<Vec<f64>> = (0..60).map(|row| slopes(&scores(row), row)).collect();
            for (score, weights) in fitted.weights.iter().enumerate() {
                let sum =
                    |term: &dyn Fn(usize) -> f64| (0..60).map(|row| slopes[row][score] * term(row)).sum();
                let bias: f64 = sum(&|_| 1.0);
                assert!(bias.abs() < 1e-9, "{loss:?}: {bias}");
                for (column, weight) in weights.iter().enumerate() {
                    let off: f64 = sum(&|row| records[[row, column]]) + 0.7 * weight;
                    assert!(off.abs() < 1e-8, "{loss:?}, column {column}: {off}");
                }
                for (own, found) in slopes.iter().zip(&fitted.slopes[score]) {
                    assert!((own[score] - found).abs() < 1e-9, "{loss:?}");
                }
            }
        }
    }

    #[test]
    fn models_agree_where_their_losses_do() {
        let records = records();
        let targets = targets(&records);
        let signs = signs(&targets);
        let solved = |loss: Loss, penalty: f64| {
            LinearModel::new(records.view(), loss, penalty).unwrap().solve(1e-11, 100).unwrap().weights
        };
        let close = |one: &[f64], other: &[f64]| {
            one.iter().zip(other).all(|(x, y)| (x - y).abs() < 1e-9 * (1.0 + x.abs()))
        };
        // No residual is above the threshold.
        let ridge = solved(Loss::Squared(&targets), 0.5);
        assert!(close(&ridge[0], &solved(Loss::Huber { targets: &targets, threshold: 1e6 }, 0.5)[0]));
        // Two classes have the weights ±w/2 for the weights w of a logistic regression with half the penalty.
        let classes: Vec<usize> = signs.iter().map(|sign| usize::from(*sign > 0.0)).collect();
        let two = solved(Loss::Softmax { classes: &classes, count: 2 }, 1.0);
        let difference: Vec<f64> = two[1].iter().zip(&two[0]).map(|(one, other)| one - other).collect();
        assert!(close(&difference, &solved(Loss::Logistic(&signs), 0.5)[0]));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        let records = records();
        let refused = |loss: Loss, penalty: f64| {
            LinearModel::new(records.view(), loss, penalty).unwrap_err().to_string()
        };
        let zeros = [0.0; 60];
        assert_eq!(refused(Loss::Squared(&zeros[1..]), 1.0), "there are 59 targets for 60 records");
        assert!(refused(Loss::Squared(&zeros), 0.0).contains("l2_penalty"));
        assert!(refused(Loss::Squared(&[f64::NAN; 60]), 1.0).contains("a target"));
        assert!(refused(Loss::Huber { targets: &zeros, threshold: 0.0 }, 1.0).contains("threshold"));
        assert!(refused(Loss::Logistic(&zeros), 1.0).contains("a sign"));
        assert!(refused(Loss::SquaredHinge(&zeros), 1.0).contains("a sign"));
        assert!(refused(Loss::Softmax { classes: &[2; 60], count: 2 }, 1.0).contains("a class"));
    }
}
