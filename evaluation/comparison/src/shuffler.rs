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
        if !self.shuffler || self.splitting.validation > 0.0 || ShuffledDp::new(1.0, people, delta).is_err() {
            return Ok(vec![]);
        }
        let leaves = |steps: u32| -> Result<f64> {
            Ok(ShuffledDp::new(f64::from(steps) / DECIMALS, people, delta)?.epsilon)
        };
        let finite = self.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
        let mut found = vec![];
        for epsilon in finite {
            let (mut low, mut high) = (0, (LARGEST * DECIMALS) as u32);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if leaves(middle)? <= epsilon { low = middle } else { high = middle }
            }
            if low > 0 {
                found.push((epsilon, f64::from(low) / DECIMALS));
            }
        }
        Ok(found)
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
            let leaves = |local: f64| ShuffledDp::new(local, 1279, 1e-6).unwrap().epsilon;
            assert!(
                local > epsilon && leaves(local) <= epsilon && leaves(local + 0.001) > epsilon,
                "{epsilon}: {local}"
            );
        }
        let splitting = Splitting { validation: 0.2, ..Splitting::random(0.2) };
        assert!(Comparison { splitting, ..shuffled.clone() }.shuffled_epsilons().unwrap().is_empty());
        assert!(Comparison { delta: 0.0, ..shuffled }.shuffled_epsilons().unwrap().is_empty());
    }
}
