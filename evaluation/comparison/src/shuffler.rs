//! Local ε of reports that satisfy a given central ε after shuffling.
//!
//! A shuffler permutes the reports of all people at random. The guarantee of the shuffled reports is central,
//! and its ε is at most the local ε of one report.

use super::{Comparison, Result};
use scumble_core::ShuffledDp;

/// Number of people whose reports are shuffled together, and the δ of the central guarantee.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shuffled {
    pub(super) people: u64,
    pub(super) delta: f64,
}

/// Upper limit of the local ε of a report in [`shuffled_epsilons`](Comparison::shuffled_epsilons).
const LARGEST: f64 = 16.0;
/// Reciprocal of the step between values of local ε, which have three decimals.
const DECIMALS: f64 = 1000.0;
/// Factor of a budget that allows for the last digits of a bound.
const BELOW: f64 = 1.0 - 1e-6;

impl Comparison {
    pub(super) fn shuffled(&self) -> Shuffled {
        Shuffled { people: self.splitting.released(&self.data) as u64, delta: self.delta }
    }

    /// Pairs of a finite budget ε and a local ε. The local ε is the largest one, to three decimals, for which
    /// shuffled reports satisfy the budget.
    ///
    /// The list is empty without a shuffler, with private validation (people's answers about models, which
    /// are not shuffled), or if no shuffling bound is known.
    pub(super) fn shuffled_epsilons(&self) -> Result<Vec<(f64, f64)>> {
        let Shuffled { people, delta } = self.shuffled();
        // Answers in private validation are not shuffled.
        let none = self.splitting.validation > 0.0 || ShuffledDp::new(1.0, people, delta, None).is_err();
        if !self.shuffler || none {
            return Ok(vec![]);
        }
        let finite = self.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
        let local = |epsilon: f64| Ok(self.local_epsilon(epsilon, None)?.map(|local| (epsilon, local)));
        finite.filter_map(|epsilon| local(epsilon).transpose()).collect()
    }

    /// Largest local ε, to three decimals, for which shuffled reports satisfy the budget `epsilon`, by any
    /// mechanism or by one with [these levels](scumble_core::LocalMechanism::shuffled_levels). `None` if it
    /// rounds to zero.
    pub(super) fn local_epsilon(&self, epsilon: f64, levels: Option<f64>) -> Result<Option<f64>> {
        let Shuffled { people, delta } = self.shuffled();
        let local = |steps: u32| f64::from(steps) / DECIMALS;
        let high = (LARGEST * DECIMALS) as u32;
        // A central ε never exceeds the local one.
        let (mut low, mut high) = (((epsilon * DECIMALS) as u32).min(high), high);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let holds = ShuffledDp::holds(epsilon * BELOW, (local(middle), people, delta), levels)?;
            if holds { low = middle } else { high = middle }
        }
        Ok((low > 0).then(|| local(low)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Splitting;
    use scumble_datasets::DataSet;

    #[test]
    fn a_local_epsilon_leaves_the_budget_and_the_next_one_more() {
        let wine = Comparison::new(DataSet::wine().unwrap(), vec![]);
        assert!(wine.shuffled_epsilons().unwrap().is_empty(), "nobody shuffles");
        let shuffled = Comparison { shuffler: true, epsilons: vec![0.5, 2.0, f64::INFINITY], ..wine };
        let found = shuffled.shuffled_epsilons().unwrap();
        assert_eq!(found.len(), 2);
        for (epsilon, local) in found {
            let leaves = |local: f64| ShuffledDp::new(local, 1279, 1e-6, None).unwrap().epsilon;
            assert!(
                local > epsilon && leaves(local) <= epsilon && leaves(local + 0.001) > epsilon,
                "{epsilon}: {local}"
            );
        }
        let any = shuffled.local_epsilon(0.5, None).unwrap().unwrap();
        let more = shuffled.local_epsilon(0.5, Some(16.0)).unwrap().unwrap();
        let leaves = |local: f64| ShuffledDp::new(local, 1279, 1e-6, Some(16.0)).unwrap().epsilon;
        assert!(more > any + 0.3 && leaves(more) <= 0.5 && leaves(more + 0.001) > 0.5, "{any} {more}");
        let splitting = Splitting { validation: 0.2, ..Splitting::random(0.2) };
        assert!(Comparison { splitting, ..shuffled.clone() }.shuffled_epsilons().unwrap().is_empty());
        assert!(Comparison { delta: 0.0, ..shuffled }.shuffled_epsilons().unwrap().is_empty());
    }
}
