//! The linear soft-margin machine.
//!
//! Notation: there are n records xᵢ of d coordinates with signs yᵢ = ±1, d weights α, and a bias β. yᵢ(α·xᵢ +
//! β) is the margin of record i, and ξᵢ ≥ 0 its slack, with yᵢ(α·xᵢ + β) ≥ 1 − ξᵢ. ωᵢ is the multiplier of
//! this constraint. θᵢ, κ and ρ are the penalties of ξᵢ, ½ξᵢ² and ½β².

use crate::error::{check_signs, not_negative, positive};
use crate::iterate::Iterate;
use crate::records::{Records, dot};
use crate::{Error, Result};

/// The programme min ½‖α‖² + ½ρβ² + Σ (θᵢξᵢ + ½κξᵢ²) over d weights α, a bias β and n slacks ξ.
///
/// The constraints for the n records xᵢ of d coordinates, with signs yᵢ = ±1, are yᵢ(α·xᵢ + β) ≥ 1 − ξᵢ and
/// ξᵢ ≥ 0. θᵢ is the penalty of the slack of record i, κ the penalty of its squared slack, and ρ the penalty
/// of the squared bias. With ρ = κ = 0 the programme is the usual soft margin. With ρ = κ > 0 it is strictly
/// convex (equation 2 of Farokhi, *Privacy-preserving public release of datasets for support vector machine
/// classification*, 2020).
#[derive(Debug, Clone)]
pub struct SoftMargin<'a> {
    pub(crate) records: &'a Records,
    pub(crate) signs: &'a [f64],
    pub(crate) penalties: &'a [f64],
    pub(crate) bias_penalty: f64,
    pub(crate) squared_slack_penalty: f64,
}

/// A solved machine with a bound on the relative error of its objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The weights α (d values).
    pub weights: Vec<f64>,
    /// The bias β.
    pub bias: f64,
    /// ω (n values), the multipliers of the margins, from 0 to θᵢ + κξᵢ (symbols as in [`SoftMargin`]).
    pub multipliers: Vec<f64>,
    /// The objective ½‖α‖² + ½ρβ² + Σ (θᵢξᵢ + ½κξᵢ²) of [`SoftMargin`] with the smallest slacks, ξᵢ = max(0,
    /// 1 − yᵢ(α·xᵢ + β)).
    pub objective: f64,
    /// Upper bound on the excess of the machine's objective over the optimum, as a fraction of the machine's
    /// objective. If the bias has no penalty (ρ = 0), this value is a bound only if the optimal bias is at
    /// most 1 + |β| in absolute value.
    pub duality_gap: f64,
    /// The number of Newton steps.
    pub iterations: u64,
}

impl<'a> SoftMargin<'a> {
    /// Creates the programme of n `records`, n `signs` y of 1 or −1, and n `penalties` θ > 0 of their slacks.
    /// The penalties ρ of the squared bias and κ of the squared slacks are zero.
    ///
    /// # Errors
    /// [`Error::Shape`] unless there are n signs and n penalties. [`Error::Parameter`] for a sign other than
    /// ±1 or a penalty that is not finite and positive. [`Error::NonFinite`] for a record that is not finite.
    pub fn new(records: &'a Records, signs: &'a [f64], penalties: &'a [f64]) -> Result<Self> {
        let n = records.len();
        for (name, length) in [("signs", signs.len()), ("penalties", penalties.len())] {
            if length != n {
                return Err(Error::Shape(format!("there are {length} {name} for {n} records")));
            }
        }
        check_signs(signs)?;
        penalties.iter().try_for_each(|penalty| positive("a penalty", *penalty).map(drop))?;
        match records.first_non_finite() {
            Some(record) => Err(Error::NonFinite { record }),
            None => Ok(Self { records, signs, penalties, bias_penalty: 0.0, squared_slack_penalty: 0.0 }),
        }
    }

    /// Sets ρ, the weight of the penalty ½β² on the bias β.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless the penalty is finite and not negative.
    pub fn bias_penalty(self, bias_penalty: f64) -> Result<Self> {
        Ok(Self { bias_penalty: not_negative("bias_penalty", bias_penalty)?, ..self })
    }

    /// Sets κ, the weight of the penalty ½ξᵢ² on each slack ξᵢ.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless the penalty is finite and not negative.
    pub fn squared_slack_penalty(self, squared_slack_penalty: f64) -> Result<Self> {
        let squared_slack_penalty = not_negative("squared_slack_penalty", squared_slack_penalty)?;
        Ok(Self { squared_slack_penalty, ..self })
    }

    pub(crate) fn constant(&self, bias: f64) -> Machine {
        let (weights, multipliers) = (vec![0.0; self.records.width()], vec![0.0; self.records.len()]);
        Machine { weights, bias, multipliers, objective: 0.0, duality_gap: 0.0, iterations: 0 }
    }

    pub(crate) fn finished(&self, primal: &[f64], multipliers: &[f64], iterations: u64) -> Machine {
        let d = self.records.width();
        let margins = self.margins(primal);
        Machine {
            weights: primal[..d].to_vec(),
            bias: primal[d],
            multipliers: multipliers.to_vec(),
            objective: self.objective(primal, &margins),
            duality_gap: self.gap_of(primal, multipliers, &margins, &self.pull(multipliers)),
            iterations,
        }
    }

    /// The margins yᵢ·(α·xᵢ + β) (n values), for `primal` = (α, β).
    pub(crate) fn margins(&self, primal: &[f64]) -> Vec<f64> {
        self.records.scores(primal).iter().zip(self.signs).map(|(score, sign)| score * sign).collect()
    }

    /// The sum Σ ωᵢyᵢ(xᵢ, 1) over the records xᵢ with signs yᵢ (d + 1 values), for `multipliers` ω.
    pub(crate) fn pull(&self, multipliers: &[f64]) -> Vec<f64> {
        let signed: Vec<f64> = multipliers.iter().zip(self.signs).map(|(omega, sign)| omega * sign).collect();
        self.records.combined(&signed)
    }

    /// The factor of half the square of coordinate `at` of (α, β) in the objective: 1 for a weight, ρ for the
    /// bias.
    pub(crate) fn curvature(&self, at: usize) -> f64 {
        if at < self.records.width() { 1.0 } else { self.bias_penalty }
    }

    /// The multipliers u = θ + κξ − ω of the constraints ξ ≥ 0 (n values), in the notation of [`SoftMargin`]
    /// and [`Iterate`].
    pub(crate) fn rooms(&self, point: &Iterate) -> Vec<f64> {
        let bent = point.slacks.iter().map(|slack| self.squared_slack_penalty * slack);
        bent.zip(self.penalties)
            .zip(&point.multipliers)
            .map(|((bent, theta), omega)| theta + bent - omega)
            .collect()
    }

    fn objective(&self, primal: &[f64], margins: &[f64]) -> f64 {
        let d = self.records.width();
        let missed = margins.iter().zip(self.penalties).map(|(margin, theta)| {
            let slack = (1.0 - margin).max(0.0);
            slack * (theta + self.squared_slack_penalty * slack / 2.0)
        });
        let (weights, bias) = primal.split_at(d);
        dot(weights, weights) / 2.0 + self.bias_penalty * bias[0] * bias[0] / 2.0 + missed.sum::<f64>()
    }

    /// Upper bound on the excess of the objective over the optimum, as a share of the objective. It follows
    /// from the value of the dual problem at the multipliers ω.
    ///
    /// If the bias β has no penalty (ρ = 0), the dual problem requires Σ ωᵢyᵢ = 0 for the signs yᵢ. A
    /// violation is then multiplied by 1 + |β|, which gives a bound if the optimal bias is at most 1 + |β| in
    /// absolute value.
    pub(crate) fn gap_of(&self, primal: &[f64], multipliers: &[f64], margins: &[f64], pull: &[f64]) -> f64 {
        let d = self.records.width();
        let objective = self.objective(primal, margins);
        let bias_term = match self.bias_penalty {
            0.0 => pull[d].abs() * (1.0 + primal[d].abs()),
            rho => pull[d] * pull[d] / (2.0 * rho),
        };
        let pushed = multipliers.iter().zip(self.penalties).map(|(omega, theta)| {
            match self.squared_slack_penalty {
                0.0 => *omega, // never above θ
                kappa => omega - (omega - theta).max(0.0).powi(2) / (2.0 * kappa),
            }
        });
        let bound = pushed.sum::<f64>() - dot(&pull[..d], &pull[..d]) / 2.0 - bias_term;
        (objective - bound) / objective.max(f64::MIN_POSITIVE)
    }
}
