//! Models that the noise of `fisher-correlated` leaves unchanged, and their linear invariants.

use ndarray::Array2;
use schemars::JsonSchema;
use scumble_core::{Error, RecordDomain, Result, Target, TargetDomain};
use scumble_kkt::{LinearModel, Loss, Records, SoftMargin};
use serde::{Deserialize, Serialize};
use std::fmt;

pub(crate) const NAME: &str = "fisher-correlated";

/// Largest residual of the optimality conditions of a computed model. In the conditions of the released
/// records, this model has the same residual.
const RESIDUAL: f64 = 1e-9;
const MOST_ITERATIONS: u64 = 200;

/// A convex model of linear scores s = wᵀx + β, with weights w and a bias β. A label of two classes has the
/// signs −1 (first level) and +1; with more classes, models other than `softmax` separate each class (+1)
/// from the others (−1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeptModel {
    /// min ½‖w‖² + ½ρ(β² + ‖ξ‖²) + θ Σξᵢ with slacks ξᵢ ≥ max(0, 1 − yᵢsᵢ) (Farokhi, equation 2).
    SupportVectorMachine {
        /// θ, the penalty for a missed margin; 1 by default.
        #[serde(default = "one")]
        theta: f64,
        /// ρ, the penalty for the squared bias and for squared slacks; 0.01 by default.
        #[serde(default = "a_hundredth")]
        rho: f64,
    },
    /// min ½ Σ (sᵢ − yᵢ)² + ½λ‖w‖² for numbers or signs yᵢ.
    Ridge {
        /// λ; 1 by default.
        #[serde(default = "one")]
        l2_penalty: f64,
    },
    /// min Σ h(sᵢ − yᵢ) + ½λ‖w‖² for numbers or signs yᵢ, with h(r) = ½r² up to |r| = δ, and then linear.
    Huber {
        /// λ; 1 by default.
        #[serde(default = "one")]
        l2_penalty: f64,
        /// δ, in units of the target; 1 by default.
        #[serde(default = "one")]
        threshold: f64,
    },
    /// min Σ ln(1 + e^{−yᵢsᵢ}) + ½λ‖w‖² for signs yᵢ.
    Logistic {
        /// λ; 1 by default.
        #[serde(default = "one")]
        l2_penalty: f64,
    },
    /// min Σ max(0, 1 − yᵢsᵢ)² + ½λ‖w‖² for signs yᵢ.
    SquaredHinge {
        /// λ; 1 by default.
        #[serde(default = "one")]
        l2_penalty: f64,
    },
    /// min Σ (ln Σₖ e^{sᵢₖ} − sᵢ at the record's class) + ½λ‖W‖², with a score for each class.
    Softmax {
        /// λ; 1 by default.
        #[serde(default = "one")]
        l2_penalty: f64,
    },
}

/// Largest number of coefficients of `softmax`. Its solver needs a matrix of this many rows and columns.
const MOST_COEFFICIENTS: usize = 2000;

/// Number of coefficients of `softmax`: a bias and a weight for each column, for each class.
fn coefficients(domain: &RecordDomain) -> usize {
    match domain.target() {
        TargetDomain::Class { levels } => levels.len() * (domain.columns().len() + 1),
        _ => 0,
    }
}

fn one() -> f64 {
    1.0
}

fn a_hundredth() -> f64 {
    0.01
}

/// Prints the model in words.
impl fmt::Display for KeptModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SupportVectorMachine { theta, rho } => {
                write!(formatter, "support vector machine (θ = {theta}, ρ = {rho})")
            }
            Self::Ridge { l2_penalty } => write!(formatter, "ridge regression (λ = {l2_penalty})"),
            Self::Huber { l2_penalty, threshold } => {
                write!(formatter, "Huber regression (λ = {l2_penalty}, δ = {threshold})")
            }
            Self::Logistic { l2_penalty } => write!(formatter, "logistic regression (λ = {l2_penalty})"),
            Self::SquaredHinge { l2_penalty } => {
                write!(formatter, "machine with squared hinge loss (λ = {l2_penalty})")
            }
            Self::Softmax { l2_penalty } => {
                write!(formatter, "multinomial logistic regression (λ = {l2_penalty})")
            }
        }
    }
}

/// Vectors that the noise W (q × p) must leave unchanged: Wa = 0 for each weight vector a (p values), and Wᵀb
/// = 0 for each vector b of the derivatives of all records' losses by a score (q values).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invariants {
    /// Weights of each score.
    pub weights: Vec<Vec<f64>>,
    /// Derivatives of the records' losses by each score.
    pub slopes: Vec<Vec<f64>>,
}

impl KeptModel {
    /// The support vector machine of Farokhi's equation (2) with θ = 1 and ρ = 0.01.
    pub const MACHINE: Self = Self::SupportVectorMachine { theta: 1.0, rho: 0.01 };

    /// Model that is kept if none is given: the machine of Farokhi for two classes, `softmax` for more, and
    /// `ridge` for a number, or if `softmax` has too many coefficients.
    pub(crate) fn default_for(domain: &RecordDomain) -> Self {
        match domain.target() {
            TargetDomain::Class { levels } if levels.len() == 2 => Self::MACHINE,
            TargetDomain::Class { .. } if coefficients(domain) <= MOST_COEFFICIENTS => {
                Self::Softmax { l2_penalty: 1.0 }
            }
            TargetDomain::None => Self::MACHINE,
            _ => Self::Ridge { l2_penalty: 1.0 },
        }
    }

    /// Checks parameters and whether the model fits the domain.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a parameter out of range. [`Error::NotApplicable`] if the model needs classes
    /// and the target has none, or for `softmax` with too many coefficients.
    pub(crate) fn check(&self, domain: &RecordDomain) -> Result<()> {
        let check = |name: &str, value: f64| {
            Error::check(NAME, name, value, "between 1e-9 and 1e9", (1e-9..=1e9).contains(&value))
        };
        match *self {
            Self::SupportVectorMachine { theta, rho } => {
                check("theta", theta)?;
                check("rho", rho)?;
            }
            Self::Huber { l2_penalty, threshold } => {
                check("l2_penalty", l2_penalty)?;
                check("threshold", threshold)?;
            }
            Self::Ridge { l2_penalty }
            | Self::Logistic { l2_penalty }
            | Self::SquaredHinge { l2_penalty }
            | Self::Softmax { l2_penalty } => {
                check("l2_penalty", l2_penalty)?;
            }
        }
        match (self, domain.target()) {
            (Self::Softmax { .. }, TargetDomain::Class { .. })
                if coefficients(domain) > MOST_COEFFICIENTS =>
            {
                Err(Error::not_applicable(
                    NAME,
                    format!(
                        "a {self} of {} coefficients takes too long, and at most {MOST_COEFFICIENTS} are \
                         solved; ridge regression has no such limit",
                        coefficients(domain)
                    ),
                ))
            }
            (_, TargetDomain::Class { levels }) if levels.len() > 1 => Ok(()),
            (Self::Ridge { .. } | Self::Huber { .. }, TargetDomain::Real { .. }) => Ok(()),
            _ => Err(Error::not_applicable(
                NAME,
                format!("a {self} needs a label of two or more classes{}", self.or_number()),
            )),
        }
    }

    fn or_number(&self) -> &'static str {
        match self {
            Self::Ridge { .. } | Self::Huber { .. } => ", or a number",
            _ => "",
        }
    }

    /// Largest number of independent weight vectors of the model. The scores of all classes sum to a constant
    /// for `softmax` and for `ridge`.
    pub(crate) fn directions(&self, target: &TargetDomain) -> usize {
        match (self, target) {
            (Self::Softmax { .. } | Self::Ridge { .. }, TargetDomain::Class { levels }) => levels.len() - 1,
            (_, TargetDomain::Class { levels }) if levels.len() > 2 => levels.len(),
            _ => 1,
        }
    }

    /// Fits the model to `records` (q × p) with a `target` of `classes` classes (0 for a number).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the solver fails, or if the model does not depend on the features.
    pub(crate) fn invariants(
        &self,
        records: &Array2<f64>,
        target: &Target,
        classes: usize,
    ) -> Result<Invariants> {
        let found = match (self, target) {
            (Self::Softmax { l2_penalty }, Target::Class(of)) => {
                let of = of.to_vec();
                let loss = Loss::Softmax { classes: &of, count: classes };
                let mut all = self.linear(records, loss, *l2_penalty)?;
                // Both sum to zero over the classes, so the last ones follow from the others.
                all.weights.pop();
                all.slopes.pop();
                all
            }
            (_, Target::Class(of)) => {
                let mut all = Invariants::default();
                // Two classes have one score, for the second of them. Ridge regression is linear in the
                // signs, which sum to a constant over the classes, so the last class follows from the others.
                let follows = usize::from(matches!(self, Self::Ridge { .. }) && classes > 2);
                for class in usize::from(classes == 2)..classes - follows {
                    let sign = |own: &usize| if *own == class { 1.0 } else { -1.0 };
                    let own = self.scored(records, &of.iter().map(sign).collect::<Vec<f64>>())?;
                    all.weights.extend(own.weights);
                    all.slopes.extend(own.slopes);
                }
                all
            }
            (_, Target::Real(values)) => self.scored(records, &values.to_vec())?,
            (_, other) => {
                let kind = other.kind();
                return Err(Error::shape(format!("the target is {kind}, and a class or a number is needed")));
            }
        };
        let largest = |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0, |m: f64, x| m.max(x.abs()));
        // Below this limit, the scores of all records are close to zero compared with margins of 1. Then
        // rounding errors determine the direction of the weights.
        if largest(&mut found.weights.iter().flatten()) * largest(&mut records.iter()) < 1e-9 {
            return Err(Error::not_applicable(
                NAME,
                format!(
                    "the {self} of these records uses none of their features (all weights are zero), so \
                     keeping it is meaningless"
                ),
            ));
        }
        Ok(found)
    }

    /// Fits a model of one score to `targets`, which are numbers or signs (q values).
    fn scored(&self, records: &Array2<f64>, targets: &[f64]) -> Result<Invariants> {
        match *self {
            Self::SupportVectorMachine { theta, rho } => self.machine(records, targets, theta, rho),
            Self::Ridge { l2_penalty } => self.linear(records, Loss::Squared(targets), l2_penalty),
            Self::Huber { l2_penalty, threshold } => {
                self.linear(records, Loss::Huber { targets, threshold }, l2_penalty)
            }
            Self::Logistic { l2_penalty } => self.linear(records, Loss::Logistic(targets), l2_penalty),
            Self::SquaredHinge { l2_penalty } => {
                self.linear(records, Loss::SquaredHinge(targets), l2_penalty)
            }
            Self::Softmax { .. } => Err(Error::shape("softmax has a score for each class")),
        }
    }

    fn machine(&self, records: &Array2<f64>, signs: &[f64], theta: f64, rho: f64) -> Result<Invariants> {
        let unsolved = |error| self.unsolved(error);
        let penalties = vec![theta; signs.len()];
        let examples = Records::new(records.view());
        let programme = SoftMargin::new(&examples, signs, &penalties).map_err(unsolved)?;
        let programme = programme.bias_penalty(rho).map_err(unsolved)?;
        let programme = programme.squared_slack_penalty(rho).map_err(unsolved)?;
        let machine = programme.proven(RESIDUAL, MOST_ITERATIONS).map_err(unsolved)?;
        let slopes = machine.multipliers.iter().zip(signs).map(|(omega, sign)| omega * sign).collect();
        Ok(Invariants { weights: vec![machine.weights], slopes: vec![slopes] })
    }

    fn linear(&self, records: &Array2<f64>, loss: Loss, l2_penalty: f64) -> Result<Invariants> {
        let unsolved = |error| self.unsolved(error);
        let programme = LinearModel::new(records.view(), loss, l2_penalty).map_err(unsolved)?;
        let fitted = programme.solve(RESIDUAL, MOST_ITERATIONS as usize).map_err(unsolved)?;
        Ok(Invariants { weights: fitted.weights, slopes: fitted.slopes })
    }

    fn unsolved(&self, error: scumble_kkt::Error) -> Error {
        Error::not_applicable(NAME, format!("the {self} of the records was not found: {error}"))
    }
}
