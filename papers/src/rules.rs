//! Rules that decide the verdicts of all results. They are fixed here, before any run.

use scumble_core::number::short;
use serde::{Deserialize, Serialize};
use std::fmt;

use Agreement::{Better, Differs, Refuted, Reproduced};

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Our outcome agrees with the claim.
    Reproduced,
    /// Our outcome is better than the claim.
    Better,
    /// Our outcome differs from the claim.
    Differs,
    /// The claim concerns privacy and is false. An attack or a counterexample that ran here does what the
    /// claim excludes, so no run can reproduce it.
    Refuted,
}

impl fmt::Display for Agreement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Reproduced => "reproduced",
            Self::Better => "better",
            Self::Differs => "differs",
            Self::Refuted => "refuted",
        })
    }
}

/// Rule that decides a verdict, in most cases by one number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rule {
    /// The number or the condition, in words.
    of: &'static str,
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// The first verdict if the number keeps to the bound, else the second.
    Bound(Bound, [Agreement; 2]),
    /// `Better` above the tolerance, `Differs` below minus the tolerance, and `Reproduced` between them.
    Near(f64),
    /// `Reproduced` if the condition holds, else `Differs`.
    Condition,
    /// The verdict does not depend on a run.
    Fixed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    AtMost(f64),
    Below(f64),
    AtLeast(f64),
    Above(f64),
    /// The absolute value is at most this.
    Within(f64),
}

/// Verdict on a claim, and the rule that decided it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The verdict.
    pub verdict: Agreement,
    /// The rule in words.
    pub rule: String,
}

impl Bound {
    fn holds(self, number: f64) -> bool {
        match self {
            Self::AtMost(limit) => number <= limit,
            Self::Below(limit) => number < limit,
            Self::AtLeast(limit) => number >= limit,
            Self::Above(limit) => number > limit,
            Self::Within(limit) => number.abs() <= limit,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(formatter, "at most {}", short(*limit)),
            Self::Below(limit) => write!(formatter, "below {}", short(*limit)),
            Self::AtLeast(limit) => write!(formatter, "at least {}", short(*limit)),
            Self::Above(limit) => write!(formatter, "above {}", short(*limit)),
            Self::Within(limit) => write!(formatter, "from -{0} to {0}", short(*limit)),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.of;
        match self.limit {
            Limit::Bound(bound, [holds, fails]) => {
                write!(formatter, "{holds} if {of} is {bound}, else {fails}")
            }
            Limit::Near(most) => {
                let least = short(if most == 0.0 { 0.0 } else { -most });
                let most = short(most);
                write!(
                    formatter,
                    "{Better} if {of} is above {most}, {Differs} below {least}, else {Reproduced}"
                )
            }
            Limit::Condition => write!(formatter, "{Reproduced} if {of}, else {Differs}"),
            Limit::Fixed => formatter.write_str(of),
        }
    }
}

impl Rule {
    /// Rule for a claim that holds within the bound.
    const fn holds(of: &'static str, bound: Bound) -> Self {
        Self { of, limit: Limit::Bound(bound, [Reproduced, Differs]) }
    }

    /// Rule for a claim about privacy or an attack, which is refuted outside of the bound.
    const fn claim(of: &'static str, bound: Bound) -> Self {
        Self { of, limit: Limit::Bound(bound, [Reproduced, Refuted]) }
    }

    /// Rule for an alternative of ours, which is better within the bound.
    const fn ours(of: &'static str, bound: Bound) -> Self {
        Self { of, limit: Limit::Bound(bound, [Better, Differs]) }
    }

    const fn near(of: &'static str, tolerance: f64) -> Self {
        Self { of, limit: Limit::Near(tolerance) }
    }

    const fn condition(of: &'static str) -> Self {
        Self { of, limit: Limit::Condition }
    }

    const fn fixed(of: &'static str) -> Self {
        Self { of, limit: Limit::Fixed }
    }

    /// Decides by `number`. A NaN is outside of every bound and tolerance, and fulfils no condition.
    pub(crate) fn on(&self, number: f64) -> Decision {
        let verdict = match self.limit {
            Limit::Bound(bound, verdicts) => verdicts[usize::from(!bound.holds(number))],
            Limit::Near(most) if number > most => Better,
            Limit::Near(most) if number >= -most => Reproduced,
            Limit::Condition if number == 1.0 => Reproduced,
            Limit::Fixed => Reproduced,
            Limit::Near(_) | Limit::Condition => Differs,
        };
        Decision { verdict, rule: self.to_string() }
    }

    /// Decides by whether the condition holds.
    pub(crate) fn on_condition(&self, holds: bool) -> Decision {
        self.on(f64::from(u8::from(holds)))
    }

    /// Decides by gains in standard errors under several conditions.
    pub(crate) fn on_gains(&self, gains: impl Iterator<Item = f64> + Clone) -> Decision {
        let ahead = gains.clone().filter(|errors| *errors > CLEAR).count();
        let behind = gains.filter(|errors| *errors < -CLEAR).count();
        // As many gains as losses differ from no gain anywhere.
        let number = if ahead == behind && ahead > 0 { f64::NAN } else { ahead as f64 - behind as f64 };
        self.on(number)
    }
}

/// All rules.
#[cfg(test)]
pub(crate) const ALL: [Rule; 74] = [
    GAINS,
    CLAIMED_GAIN,
    SAME_NUMBER,
    AS_PRINTED,
    BY_PROOF,
    MIXED_AS_PRINTED,
    COST_AS_PRINTED,
    NO_OBVIOUS_DROP,
    LEAST_EPSILON,
    SAME_ANSWERS,
    DEFENDS,
    ABOVE_THEOREM,
    NO_DROP,
    NO_BETTER_THAN_DENSE,
    A_FEW_PERCENT,
    LONGER_AS_PRINTED,
    RECOVERED,
    HARDLY_RECOVERED,
    BUDGET_PROTECTS,
    NOTHING_RECOVERED,
    SAME_LINE,
    SAME_MACHINE,
    SAME_MODELS,
    AS_ITS_KERNEL,
    FULL_NOISE_SAVES,
    IN_PRINTED_DIGITS,
    NEARER_EACH_TIME,
    AMONG_DRAWS,
    ALWAYS_BETTER,
    NEARS_CLEAN,
    MOVES_NO_FASTER,
    CLEAR_GAIN,
    MEETS_BOUND,
    NO_NEARER_GUESS,
    ABOVE_BOUNDS,
    WITHIN_CEILING,
    IN_REGION,
    ERROR_BOUND,
    NO_CLAIM,
    LESS_ERROR,
    SUM_AS_PRINTED,
    LEAKS_AS_STATED,
    SMALL_LOSS,
    STATED_EPSILON,
    ALWAYS_CLOSER,
    IN_INTERVAL,
    LEAST_AT_THREE,
    ALWAYS_LEAST,
    PRINTED_IMPROVEMENT,
    TRAINED_IMPROVEMENT,
    PUBLISHED_LOSS,
    EVERY_HOUR,
    LESS_LOSS,
    ALWAYS_LESS_LOSS,
    FAR_LARGER_LOSS,
    WORSE_AT_MOST,
    BETTER_AT_MOST,
    AT_CHANCE,
    ABOVE_CHANCE,
    RISES,
    LATENTS_AHEAD,
    LATENTS_NOT_AHEAD,
    FEATURES_AHEAD,
    LEVELS_ALIKE,
    COST_RISES,
    COSTS,
    NEGLIGIBLE_COST,
    BELOW_CEILINGS,
    CONSIDERABLE,
    READ_OFF,
    ASKED_ACCURACY,
    COLUMNS_HELP,
    BETWEEN,
    HARDLY_A_GAIN,
];

/// Number of standard errors above which a gain counts in [`Rule::on_gains`].
const CLEAR: f64 = 2.0;

// Several papers.

/// Our releases against others at several budgets.
pub(crate) const GAINS: Rule = Rule::near(AHEAD, 0.0);
/// A gain that the paper claims at several budgets.
pub(crate) const CLAIMED_GAIN: Rule = Rule::holds(AHEAD, Bound::Above(0.0));
const AHEAD: &str = "the number of budgets with a gain above two standard errors, less the number with such \
    a loss,";
/// Equal numbers of a closed form.
pub(crate) const SAME_NUMBER: Rule =
    Rule::holds("the relative difference of the two numbers", Bound::Below(1e-6));
/// Accuracies as printed, where the paper prints no deviations.
pub(crate) const AS_PRINTED: Rule = Rule::near("our accuracy less the printed one, in points,", 2.0);
pub(crate) const BY_PROOF: Rule = Rule::fixed("by proof, not by a run");

// Dauntless.

pub(crate) const MIXED_AS_PRINTED: Rule = Rule::near(
    "our accuracy less the printed one, divided by the larger of one point and two printed deviations,",
    1.0,
);
pub(crate) const COST_AS_PRINTED: Rule =
    Rule::near("our gain by the transformation less the printed one, in points,", 3.0);
pub(crate) const NO_OBVIOUS_DROP: Rule =
    Rule::holds("the accuracy less that in the clear, as shares,", Bound::Above(-0.05));
pub(crate) const LEAST_EPSILON: Rule =
    Rule::holds("the least ε without an obvious drop (five points)", Bound::AtMost(1.0));
pub(crate) const SAME_ANSWERS: Rule =
    Rule::holds("the accuracy less that of the model asked directly, as shares,", Bound::AtLeast(-0.05));
pub(crate) const DEFENDS: Rule = Rule::claim(
    "the agreement that a surrogate loses against one from the model asked directly, as a share,",
    Bound::AtLeast(0.1),
);
pub(crate) const ABOVE_THEOREM: Rule =
    Rule::claim("the error of the estimate divided by the theorem's", Bound::Above(1.0));
pub(crate) const LONGER_AS_PRINTED: Rule =
    Rule::near("log₂ of the printed ratio of iterations divided by ours", 1.0);
pub(crate) const NO_DROP: Rule = Rule::holds("the difference, in points,", Bound::AtLeast(-0.3));
pub(crate) const NO_BETTER_THAN_DENSE: Rule = Rule::holds("the difference, in points,", Bound::AtMost(1.0));
pub(crate) const A_FEW_PERCENT: Rule = Rule::holds("the difference, in points,", Bound::AtLeast(-5.0));
/// Share of recovered images below which nothing counts as recovered.
pub(crate) const NOTHING: f64 = 0.01;
/// Share from which recovery refutes the statement that it is hard.
pub(crate) const HALF: f64 = 0.5;
pub(crate) const RECOVERED: Rule = Rule::claim("the largest share of recovered images", Bound::AtLeast(0.6));
pub(crate) const HARDLY_RECOVERED: Rule =
    Rule::claim("the largest share of recovered images", Bound::Below(HALF));
pub(crate) const BUDGET_PROTECTS: Rule = Rule::claim(
    "the share of images recovered from the samples that Corollary 1 allows",
    Bound::Below(NOTHING),
);
pub(crate) const NOTHING_RECOVERED: Rule = Rule::ours("the share of recovered images", Bound::Below(NOTHING));

// Fisher information.

pub(crate) const SAME_LINE: Rule = Rule::holds("the largest change of a coefficient", Bound::Below(1e-6));
pub(crate) const SAME_MACHINE: Rule =
    Rule::holds("the largest change of a coefficient, as a share of the largest one,", Bound::Below(1e-6));
pub(crate) const FULL_NOISE_SAVES: Rule =
    Rule::ours("the largest share of the objective that is saved, in percent,", Bound::Above(1.0));
pub(crate) const AS_ITS_KERNEL: Rule =
    Rule::near("the accuracy less that of the machine with the kernel itself, in points,", 2.0);
pub(crate) const SAME_MODELS: Rule = Rule::holds(
    "the largest change of a coefficient of a model, as a share of its largest,",
    Bound::Below(1e-8),
);
pub(crate) const IN_PRINTED_DIGITS: Rule =
    Rule::holds("the difference of the two bounds", Bound::Within(0.05));
pub(crate) const NEARER_EACH_TIME: Rule =
    Rule::holds("the largest rise of the distance from one λ to the next", Bound::Below(0.0));
pub(crate) const AMONG_DRAWS: Rule = Rule::holds(
    "the share of draws with a smaller bound than the printed one, less one half,",
    Bound::Within(0.495),
);
pub(crate) const ALWAYS_BETTER: Rule = Rule::condition(
    "Gaussian noise is worse by over three standard errors at no λ, and better by over three at some λ",
);
pub(crate) const NEARS_CLEAN: Rule = Rule::holds(
    "the distance from the value without noise at the largest λ, divided by the larger of three standard \
     errors and a hundredth of the distance at the smallest λ,",
    Bound::AtMost(1.0),
);
/// Power of Tr V in the bounds of Propositions 2.3 and 2.11 on the movement of a model. V is the covariance
/// of the noise on a record.
pub(crate) const OF_NOISE: f64 = 0.5;
/// Amount by which a fitted power may exceed the power of the bound.
pub(crate) const SLACK: f64 = 0.05;
pub(crate) const MOVES_NO_FASTER: Rule =
    Rule::holds("the power of Tr V, less three standard errors,", Bound::AtMost(OF_NOISE + SLACK));
pub(crate) const CLEAR_GAIN: Rule = Rule::near("our gain in standard errors", 3.0);
pub(crate) const MEETS_BOUND: Rule = Rule::holds(
    "the relative distance from the bound beyond three standard errors, at any λ,",
    Bound::AtMost(1e-6),
);
pub(crate) const NO_NEARER_GUESS: Rule =
    Rule::claim("the number of λ with a squared error below the bound", Bound::AtMost(0.0));
pub(crate) const ABOVE_BOUNDS: Rule =
    Rule::holds("the least squared error divided by its bound", Bound::AtLeast(1.0));
pub(crate) const WITHIN_CEILING: Rule =
    Rule::holds("the success beyond its bound and three standard errors, at any λ,", Bound::AtMost(0.0));
pub(crate) const IN_REGION: Rule =
    Rule::claim("the exact ε divided by the printed one, at any δ,", Bound::AtMost(1.0));
pub(crate) const ERROR_BOUND: Rule =
    Rule::claim("the error of a guess divided by the printed bound", Bound::AtLeast(1.0));

// PAC privacy.

pub(crate) const NO_CLAIM: Rule = Rule::fixed("the paper claims nothing that a run can contradict");
pub(crate) const LESS_ERROR: Rule =
    Rule::ours("the paper's error divided by ours, at any bound,", Bound::Above(1.0));
pub(crate) const SUM_AS_PRINTED: Rule =
    Rule::near("the natural logarithm of the printed sum divided by ours", 0.182);
pub(crate) const LEAKS_AS_STATED: Rule =
    Rule::claim("the leakage that the attack proves, in nats,", Bound::AtMost(0.5));
pub(crate) const SMALL_LOSS: Rule = Rule::holds("the loss, in points,", Bound::Below(10.0));

// Reshaped noise.

pub(crate) const STATED_EPSILON: Rule =
    Rule::claim("the ε of two private windows divided by the stated one", Bound::AtMost(1.0));

// Task-aware.

pub(crate) const ALWAYS_CLOSER: Rule =
    Rule::holds("the number of distances with a lower probability", Bound::AtMost(0.0));
pub(crate) const IN_INTERVAL: Rule = Rule::holds(
    "the distance of a loss from the interval, as a share of its end and at any ε,",
    Bound::AtMost(1e-9),
);
pub(crate) const LEAST_AT_THREE: Rule =
    Rule::holds("the number of settings with the least loss at another Z", Bound::AtMost(0.0));
pub(crate) const ALWAYS_LEAST: Rule =
    Rule::holds("the number of points at which another approach loses less", Bound::AtMost(0.0));
pub(crate) const PRINTED_IMPROVEMENT: Rule =
    Rule::holds("the difference of the two improvements, as shares,", Bound::Within(0.002));
pub(crate) const TRAINED_IMPROVEMENT: Rule =
    Rule::near("our improvement less the printed one, as shares,", 0.05);
pub(crate) const PUBLISHED_LOSS: Rule =
    Rule::near("the published loss less ours, as a share of the published one,", 0.03);
pub(crate) const EVERY_HOUR: Rule =
    Rule::holds("the number of day-time hours without a lower error", Bound::AtMost(0.0));
pub(crate) const LESS_LOSS: Rule =
    Rule::ours("the number of parts (training, test) without a smaller loss", Bound::AtMost(0.0));
pub(crate) const ALWAYS_LESS_LOSS: Rule =
    Rule::holds("the number of budgets without a smaller loss", Bound::AtMost(0.0));
pub(crate) const FAR_LARGER_LOSS: Rule = Rule::holds("the least ratio of the losses", Bound::AtLeast(2.0));
pub(crate) const WORSE_AT_MOST: Rule =
    Rule::holds("the share of budgets with a larger loss, on both parts,", Bound::Above(0.5));
pub(crate) const BETTER_AT_MOST: Rule =
    Rule::ours("the share of budgets with a smaller loss, in each case,", Bound::Above(0.5));

// Learning to Noise.

pub(crate) const AT_CHANCE: Rule =
    Rule::holds("the distance from chance at any local ε, in standard errors,", Bound::AtMost(3.0));
pub(crate) const ABOVE_CHANCE: Rule =
    Rule::holds("the least accuracy above chance, in standard errors,", Bound::Above(2.0));
pub(crate) const RISES: Rule = Rule::holds("the least rise, in standard errors,", Bound::Above(3.0));
const LATENTS_GAIN: &str = "the gain of latents, in standard errors,";
pub(crate) const LATENTS_AHEAD: Rule = Rule::holds(LATENTS_GAIN, Bound::Above(2.0));
pub(crate) const LATENTS_NOT_AHEAD: Rule = Rule::holds(LATENTS_GAIN, Bound::AtMost(2.0));
pub(crate) const FEATURES_AHEAD: Rule = Rule::holds(LATENTS_GAIN, Bound::Below(-2.0));
pub(crate) const LEVELS_ALIKE: Rule = Rule::holds(LATENTS_GAIN, Bound::Within(2.0));
pub(crate) const COST_RISES: Rule =
    Rule::holds("the rise of the cost, in standard errors,", Bound::Above(2.0));
pub(crate) const COSTS: Rule = Rule::holds("the cost, in standard errors,", Bound::Above(2.0));
pub(crate) const NEGLIGIBLE_COST: Rule =
    Rule::holds("the cost less two standard errors, as a share,", Bound::Below(0.02));
pub(crate) const BELOW_CEILINGS: Rule =
    Rule::holds("the accuracy beyond its ceiling and three standard errors", Bound::AtMost(0.0));
pub(crate) const CONSIDERABLE: Rule = Rule::holds("the largest drop, as a share,", Bound::Above(0.05));
pub(crate) const READ_OFF: Rule = Rule::near("our accuracy less the one read off a chart, as shares,", 0.05);
pub(crate) const ASKED_ACCURACY: Rule =
    Rule::ours("the accuracy less the one asked for, as shares,", Bound::AtLeast(0.0));
pub(crate) const COLUMNS_HELP: Rule =
    Rule::holds("the gain by all columns, in standard errors,", Bound::Above(3.0));
pub(crate) const BETWEEN: Rule = Rule::condition(
    "every gain is positive and less than the gain by all columns, and one exceeds two standard errors",
);
pub(crate) const HARDLY_A_GAIN: Rule = Rule::holds("the largest gain, as a share,", Bound::AtMost(0.01));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_decides_and_says_how() {
        let verdicts = |rule: Rule, numbers: &[f64]| -> Vec<Agreement> {
            numbers.iter().map(|number| rule.on(*number).verdict).collect()
        };
        assert_eq!(verdicts(HARDLY_RECOVERED, &[0.49, 0.5, f64::NAN]), [Reproduced, Refuted, Refuted]);
        assert_eq!(
            HARDLY_RECOVERED.to_string(),
            "reproduced if the largest share of recovered images is below 0.5, else refuted"
        );
        assert_eq!(
            verdicts(AS_PRINTED, &[2.1, 2.0, -2.0, -2.1, f64::NAN]),
            [Better, Reproduced, Reproduced, Differs, Differs]
        );
        assert_eq!(verdicts(LEVELS_ALIKE, &[-2.0, 2.5, -2.5]), [Reproduced, Differs, Differs]);
        assert_eq!([true, false].map(|holds| BETWEEN.on_condition(holds).verdict), [Reproduced, Differs]);
        assert_eq!(verdicts(BY_PROOF, &[f64::NAN]), [Reproduced]);
    }

    #[test]
    fn gains_count_from_two_standard_errors() {
        let gains = |rule: Rule, gains: &[f64]| rule.on_gains(gains.iter().copied()).verdict;
        assert_eq!(gains(GAINS, &[2.1, -2.0, 0.0]), Better);
        assert_eq!(gains(GAINS, &[1.0, -1.0]), Reproduced);
        assert_eq!([gains(GAINS, &[3.0, -3.0]), gains(GAINS, &[-3.0])], [Differs; 2]);
        assert_eq!([gains(CLAIMED_GAIN, &[3.0]), gains(CLAIMED_GAIN, &[1.0])], [Reproduced, Differs]);
    }
}
