//! Direct feature noising: each column is released separately. It is a benchmark in *Learning to noise*, and
//! in *Task-aware privacy preservation*, which calls it task-agnostic.

use crate::{Laplace, RandomizedResponse};
use scumble_core::{
    Brief, Budget, Composed, Descriptor, Error, Example, Factor, LocalMechanism, NoParameters, Output,
    RecordDomain, Result, TargetDomain, register,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const NAME: &str = "direct";

/// Releases each column and the target separately at ε/d: numbers by [`Laplace`], levels by
/// [`RandomizedResponse`].
///
/// d is the number of columns of the schema: a one-hot group counts as one column, and so does the target.
/// This is the direct feature noising to which *Learning to noise* (Section 4 and E.2) compares its
/// mechanism. Here the bounds of the columns are public; the paper takes them from the data (errata V4). The
/// mechanism is a [`Composed`] of one mechanism per column, and its ε is derived by composition.
///
/// ```
/// use scumble_classic::direct;
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = vec!["height".into(), "weight".into()];
/// let levels = vec!["no".into(), "yes".into()];
/// let people = RecordDomain::new(columns, Domain::unit_box(2), TargetDomain::Class { levels })?;
/// let mechanism = direct(people, 3.0)?;
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 3.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NotApplicable`] if there is no column, or if the features are not separate columns of numbers or
/// levels. [`Error::Budget`] if ε/d rounds to zero.
pub fn direct(domain: RecordDomain, epsilon: f64) -> Result<Composed> {
    let mut columns: Vec<RecordDomain> = vec![];
    for column in domain.each_factor() {
        let (column, factor) = column?;
        if !matches!(factor, Factor::Interval { .. } | Factor::OneHot { .. }) {
            return Err(Error::not_applicable(
                NAME,
                "it releases each column separately, and the domain ties some columns together",
            ));
        }
        columns.push(column);
    }
    if *domain.target() != TargetDomain::None {
        columns.push(domain.without_features());
    }
    if columns.is_empty() {
        return Err(Error::not_applicable(NAME, "there is no column"));
    }
    let epsilon = Budget::pure(epsilon)?.divide(columns.len())?.epsilon();
    let parts = columns.into_iter().map(|column| {
        let has_levels = column.flat().factors().all(|(_, f)| matches!(f, Factor::OneHot { .. }));
        Ok(match (has_levels, column.target()) {
            (true, TargetDomain::None | TargetDomain::Class { .. }) => {
                Arc::new(RandomizedResponse::new(column, epsilon)?) as Arc<dyn LocalMechanism>
            }
            _ => Arc::new(Laplace::new(column, epsilon)?),
        })
    });
    let parts = parts.collect::<Result<_>>()?;
    Composed::over(domain, parts)
}

/// Saved state of `direct`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(with = "scumble_core::number")]
    epsilon: f64,
}

register! {
    /// The plugin `direct`.
    pub const DIRECT = {
        name: NAME,
        summary: "each column released separately at ε/d: numbers by Laplace noise, levels by randomised \
                  response",
        paper: "benchmark in Learning to noise (Section 4, E.2); called task-agnostic in Task-aware privacy \
                preservation",
        descriptor: Descriptor::new(Output::Records),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| {
            Ok(State { domain: brief.domain.clone(), epsilon: brief.budget.epsilon() })
        },
        local: |State { domain, epsilon }| direct(domain, epsilon),
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Domain, LocalMechanism, Unit};

    fn designed(epsilon: f64, target: TargetDomain) -> Composed {
        let features =
            Domain::product([Domain::unit_box(1), Domain::one_hot(3).unwrap(), Domain::unit_box(1)]);
        let columns = ["size", "colour=r", "colour=g", "colour=b", "weight"];
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let domain = RecordDomain::new(columns, features.unwrap(), target).unwrap();
        direct(domain, epsilon).unwrap()
    }

    fn class() -> TargetDomain {
        TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
    }

    #[test]
    fn a_group_is_one_column_and_so_is_the_label() {
        let noise = designed(4.0, class()).noise();
        let variance = |distribution: &scumble_core::NoiseDistribution| match distribution {
            scumble_core::NoiseDistribution::Additive { variance } => variance[0],
            other => panic!("{other:?}"),
        };
        // At ε/4 = 1 each: b = 1, so the variance is 2.
        assert!((variance(&noise.features[0]) - 2.0).abs() < 1e-6);
        assert_eq!(noise.features[1].width(), 3);
        let kept = noise.label_flip().unwrap()[[0, 0]];
        assert!((kept - 1f64.exp() / (1f64.exp() + 1.0)).abs() < 1e-12);
    }

    #[test]
    fn the_epsilon_of_the_parts_never_adds_up_to_more_than_the_budget() {
        for epsilon in [0.1, 0.3, 0.7, 1.0, 3.0] {
            for target in [class(), TargetDomain::None] {
                let spent = designed(epsilon, target).guarantee();
                let spent = spent.local_dp(Unit::Record).unwrap().epsilon;
                assert!(spent <= epsilon && spent > epsilon * (1.0 - 1e-14), "{spent} of {epsilon}");
            }
        }
    }

    #[test]
    fn columns_that_are_tied_together_are_refused() {
        let ball = scumble_testing::records(Domain::l1_ball(2, 1.0).unwrap(), TargetDomain::None);
        let refused = direct(ball, 1.0);
        assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
    }
}
