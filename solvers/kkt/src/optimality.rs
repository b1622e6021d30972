//! KKT residuals of machines, and the refinement of a nearly optimal machine to its last digits.
//!
//! Notation: there are n records xᵢ of d coordinates with signs yᵢ = ±1, d weights α, and a bias β. yᵢ(α·xᵢ +
//! β) is the margin of record i, and ξᵢ ≥ 0 its slack, with yᵢ(α·xᵢ + β) ≥ 1 − ξᵢ. ωᵢ is the multiplier of
//! this constraint. θᵢ, κ and ρ are the penalties of ξᵢ, ½ξᵢ² and ½β².

use crate::interior_point::{cholesky, solve_in_place};
use crate::soft_margin::Machine;
use crate::{Error, Result, SoftMargin};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

/// The position of a record relative to its margin at the optimum: the margin is exceeded, met without slack,
/// or missed. ω is the multiplier of the margin; the other symbols are defined at [`SoftMargin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The margin is exceeded, and its multiplier ω is 0.
    Outside,
    /// The margin yᵢ(α·xᵢ + β) is exactly 1, and its multiplier ω is between 0 and the penalty θ of the
    /// slack.
    Edge,
    /// The margin is missed, and its multiplier ω is θ + κξ, for the penalties θ of the slack ξ and κ of its
    /// square.
    Inside,
}

/// The number of Newton steps for one assignment of a [`Place`] to each record. The KKT conditions are then
/// linear equations, so steps after the first only reduce rounding errors.
const REFINEMENTS: usize = 6;

/// The largest number of assignments of a [`Place`] to each record that [`SoftMargin::polished`] tries.
const MOST_PARTITIONS: usize = 100;

/// The amount by which the margin yᵢ(α·xᵢ + β) of a record may lie on the wrong side of 1. The resulting KKT
/// violation is at most this large.
const ROUNDING: f64 = 1e-12;

/// The largest number of records on the edge (with a margin met without slack) for which
/// [`SoftMargin::polished`] solves the linear KKT equations. Of records in general position with d
/// coordinates, at most d + 1 are on the edge.
const MOST_ON_EDGE: usize = 3000;

/// The number that is added to the diagonal of the Schur complement of the linear KKT equations, relative to
/// its largest diagonal entry. Without this number, the Schur complement is singular if records that meet
/// their margins exactly are equal. The refinement steps remove the effect of the added number.
const REGULAR: f64 = 1e-11;

impl SoftMargin<'_> {
    /// The largest violation of the KKT conditions, for slacks ξᵢ = max(0, 1 − yᵢ(α·xᵢ + β)). ωᵢ are the
    /// multipliers of the margins; the other symbols are defined at [`SoftMargin`].
    ///
    /// The violations are:
    ///
    /// - for α = Σ ωᵢyᵢxᵢ and ρβ = Σ ωᵢyᵢ: the difference of both sides in each coordinate, divided by the
    ///   maximum of 1, |left-hand side| and the sum's |terms|;
    /// - for ωᵢ/θᵢ and yᵢ(α·xᵢ + β) + ξᵢ − 1, which at the optimum are non-negative with one of them zero:
    ///   the absolute value of the smaller number;
    /// - for (θᵢ + κξᵢ − ωᵢ)/θᵢ and ξᵢ: also the absolute value of the smaller number. θᵢ + κξᵢ − ωᵢ is the
    ///   multiplier of ξᵢ ≥ 0, by stationarity in ξ.
    ///
    /// The divisor includes the terms of a sum, because rounding one multiplier changes the sum in proportion
    /// to its term. Margins are not scaled, because the programme requires a margin of 1, and multipliers are
    /// divided by the penalty θᵢ. The conditions are equation 15 of the paper of Farokhi cited at
    /// [`SoftMargin`]. Here ξ follows from the stationarity in ξ, because equation 15b states ξ for θ = 1.
    ///
    /// # Errors
    /// [`Error::Shape`] unless the machine has d weights and n multipliers.
    pub fn kkt_residual(&self, machine: &Machine) -> Result<f64> {
        let (d, n) = (self.records.width(), self.records.len());
        if machine.weights.len() != d || machine.multipliers.len() != n {
            return Err(Error::Shape(format!(
                "a machine of {} weights and {} multipliers does not fit {n} records of {d} values",
                machine.weights.len(),
                machine.multipliers.len()
            )));
        }
        let primal = primal(machine);
        Ok(self.violation(&primal, &machine.multipliers, &self.margins(&primal)))
    }

    /// Solves the programme to a KKT residual of at most `residual`.
    ///
    /// Rounding errors stop the interior point method near the optimum, at a distance that depends on the
    /// data. Its machine is then refined by [`polished`](Self::polished).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless 0 < `residual`; [`Error::Residual`] with the smallest residual found, if
    /// it exceeds `residual`; [`Error::NotConverged`] if no machine was found.
    pub fn proven(&self, residual: f64, max_iterations: u64) -> Result<Machine> {
        if residual.is_nan() || residual <= 0.0 {
            return Err(Error::Parameter { name: "a KKT residual", range: "above zero", value: residual });
        }
        let mut failure = None;
        for tolerance in [1e-11, 1e-9, 1e-7, 1e-5] {
            let machine = match self.solve(tolerance, max_iterations) {
                Ok(machine) => self.polished(machine)?,
                Err(error @ Error::NotConverged { .. }) => {
                    failure = failure.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let found = self.kkt_residual(&machine)?;
            if found <= residual {
                return Ok(machine);
            }
            let least = match failure {
                Some(Error::Residual { found: before, .. }) => found.min(before),
                _ => found,
            };
            failure = Some(Error::Residual { found: least, residual });
        }
        Err(failure.unwrap_or(Error::Residual { found: f64::INFINITY, residual }))
    }

    /// Refines the last digits of a machine whose bias has a penalty (ρ > 0).
    ///
    /// Once it is known which records exceed, meet or miss their margins, the optimum is the solution of
    /// linear equations. The method moves toward this solution. If a record changes between these three
    /// groups on the way, the equations are set up anew. Returns the machine unchanged if polishing does not
    /// improve it.
    ///
    /// # Errors
    /// Same errors as [`kkt_residual`](Self::kkt_residual).
    pub fn polished(&self, machine: Machine) -> Result<Machine> {
        let least = self.kkt_residual(&machine)?;
        let (mut primal, mut multipliers) = (primal(&machine), machine.multipliers.clone());
        let mut best = machine;
        let margins = self.margins(&primal);
        let mut places: Vec<Place> =
            (0..multipliers.len()).map(|i| self.place(i, multipliers[i], margins[i])).collect();
        for _ in 0..MOST_PARTITIONS {
            let (mut aim, mut aimed) = (primal.clone(), multipliers.clone());
            if !self.settle(&places, &mut aim, &mut aimed) {
                break;
            }
            let from = self.margins(&primal);
            let to = self.margins(&aim);
            let turn = (0..places.len())
                .filter_map(|i| {
                    let (share, next) =
                        self.turn(i, places[i], (multipliers[i], aimed[i]), (from[i], to[i]))?;
                    Some((share, i, next))
                })
                .min_by(|one, other| one.0.total_cmp(&other.0));
            let share = turn.map_or(1.0, |turn| turn.0);
            let toward =
                |x: &mut f64, aim: &f64| *x = if share < 1.0 { *x + share * (aim - *x) } else { *aim };
            primal.iter_mut().zip(&aim).for_each(|(x, aim)| toward(x, aim));
            multipliers.iter_mut().zip(&aimed).for_each(|(x, aim)| toward(x, aim));
            let Some((_, i, next)) = turn else {
                let violation = self.violation(&primal, &multipliers, &to);
                if violation < least {
                    best = self.finished(&primal, &multipliers, best.iterations);
                }
                break;
            };
            places[i] = next;
        }
        Ok(best)
    }

    fn violation(&self, primal: &[f64], multipliers: &[f64], margins: &[f64]) -> f64 {
        let d = self.records.width();
        let pull = self.pull(multipliers);
        let terms = self.records.largest(multipliers);
        let stationarity = (0..=d).map(|j| {
            let left = self.curvature(j) * primal[j];
            (left - pull[j]).abs() / left.abs().max(terms[j]).max(1.0)
        });
        let complementarity = (0..margins.len()).map(|i| {
            let slack = (1.0 - margins[i]).max(0.0);
            let theta = self.penalties[i];
            let room = (theta + self.squared_slack_penalty * slack - multipliers[i]) / theta;
            let surplus = margins[i] + slack - 1.0;
            (multipliers[i] / theta).min(surplus).abs().max(room.min(slack).abs())
        });
        let worse = |most: f64, value: f64| if value > most || value.is_nan() { value } else { most };
        stationarity.chain(complementarity).fold(0.0, worse)
    }

    fn place(&self, i: usize, multiplier: f64, margin: f64) -> Place {
        let theta = self.penalties[i];
        let slack = (1.0 - margin).max(0.0);
        let room = theta + self.squared_slack_penalty * slack - multiplier;
        if multiplier / theta < margin + slack - 1.0 {
            Place::Outside
        } else if room / theta > slack {
            Place::Edge
        } else {
            Place::Inside
        }
    }

    /// The fraction of the way from the current point to the solution of the linear KKT equations after which
    /// record `i` leaves its [`Place`], and its next [`Place`]. `None` if the record does not leave it.
    /// `multiplier` and `margin` are pairs of the values at both ends of the way.
    fn turn(
        &self,
        i: usize,
        place: Place,
        multiplier: (f64, f64),
        margin: (f64, f64),
    ) -> Option<(f64, Place)> {
        let until = |(from, to): (f64, f64), end: f64| ((end - from) / (to - from)).clamp(0.0, 1.0);
        let theta = self.penalties[i];
        match place {
            Place::Edge if multiplier.1 < 0.0 => Some((until(multiplier, 0.0), Place::Outside)),
            Place::Edge if multiplier.1 > theta => Some((until(multiplier, theta), Place::Inside)),
            Place::Outside if margin.1 < 1.0 - ROUNDING => Some((until(margin, 1.0), Place::Edge)),
            Place::Inside if margin.1 > 1.0 + ROUNDING => Some((until(margin, 1.0), Place::Edge)),
            _ => None,
        }
    }

    /// Solves the KKT equations, which are linear for the given [`Place`] of each record. Replaces `primal`
    /// and `multipliers`, a nearby point, by the solution. Returns `false` if no solution is found.
    fn settle(&self, places: &[Place], primal: &mut [f64], multipliers: &mut [f64]) -> bool {
        let edge: Vec<usize> = (0..places.len()).filter(|i| places[*i] == Place::Edge).collect();
        if edge.len() > MOST_ON_EDGE {
            return false;
        }
        let size = primal.len();
        let Some(curvature) = self.curvature_inside(places) else { return false };
        // A row yᵢ(xᵢ, 1) for each record xᵢ on the edge, with its sign yᵢ.
        let rows: Vec<Vec<f64>> = edge
            .iter()
            .map(|i| self.records.row(*i).into_iter().map(|x| x * self.signs[*i]).collect())
            .collect();
        let across = Mat::from_fn(size, edge.len(), |j, at| rows[at][j]);
        let softened = solved(&curvature, across.clone());
        let mut schur = product(across.transpose(), softened.as_ref());
        let largest = (0..edge.len()).map(|at| schur[(at, at)]).fold(0.0, f64::max);
        (0..edge.len()).for_each(|at| schur[(at, at)] += REGULAR * largest);
        let Some(schur) = cholesky(schur) else { return false };
        for _ in 0..REFINEMENTS {
            let margins = self.margins(primal);
            for (i, place) in places.iter().enumerate() {
                match place {
                    Place::Outside => multipliers[i] = 0.0,
                    Place::Edge => {}
                    Place::Inside => {
                        multipliers[i] = self.penalties[i] + self.squared_slack_penalty * (1.0 - margins[i])
                    }
                }
            }
            let pull = self.pull(multipliers);
            let missing = Mat::from_fn(size, 1, |j, _| pull[j] - self.curvature(j) * primal[j]);
            let moved = solved(&curvature, missing);
            let short = Mat::from_fn(edge.len(), 1, |at, _| 1.0 - margins[edge[at]]);
            let step = solved(&schur, short - product(across.transpose(), moved.as_ref()));
            let moved = moved + product(softened.as_ref(), step.as_ref());
            (0..size).for_each(|j| primal[j] += moved[(j, 0)]);
            edge.iter().enumerate().for_each(|(at, i)| multipliers[*i] += step[(at, 0)]);
        }
        // After the last step, the multipliers of the records that miss their margins ([`Place::Inside`]) are
        // computed from these margins.
        let margins = self.margins(primal);
        for i in (0..places.len()).filter(|i| places[*i] == Place::Inside) {
            multipliers[i] = self.penalties[i] + self.squared_slack_penalty * (1.0 - margins[i]);
        }
        primal.iter().chain(multipliers.iter()).all(|x| x.is_finite())
    }

    /// The Cholesky factor of R + κ·Σ (xᵢ, 1)(xᵢ, 1)ᵀ over the records xᵢ that miss their margins
    /// ([`Place::Inside`]), where R is diagonal with 1 for each weight and ρ for the bias. κ is the penalty
    /// of squared slacks (notation of [`SoftMargin`]).
    fn curvature_inside(&self, places: &[Place]) -> Option<Mat<f64>> {
        let size = self.records.width() + 1;
        let mut matrix = match self.squared_slack_penalty {
            0.0 => Mat::zeros(size, size),
            kappa => {
                let weights: Vec<f64> =
                    places.iter().map(|place| if *place == Place::Inside { kappa } else { 0.0 }).collect();
                self.records.gram(&weights)
            }
        };
        (0..size).for_each(|at| matrix[(at, at)] += self.curvature(at));
        cholesky(matrix)
    }
}

/// A matrix product on one thread, so that the result is the same for any number of threads.
fn product(left: MatRef<f64>, right: MatRef<f64>) -> Mat<f64> {
    let mut product = Mat::zeros(left.nrows(), right.ncols());
    matmul(product.as_mut(), Accum::Replace, left, right, 1.0, Par::Seq);
    product
}

/// (LLᵀ)⁻¹·`right` for the lower triangle L.
fn solved(triangle: &Mat<f64>, mut right: Mat<f64>) -> Mat<f64> {
    solve_in_place(triangle, right.as_mut());
    right
}

fn primal(machine: &Machine) -> Vec<f64> {
    machine.weights.iter().copied().chain([machine.bias]).collect()
}
