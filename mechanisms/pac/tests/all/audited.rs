//! The audit: claims hold, the audited lower bounds exceed half of them, and deliberate faults are caught.

use scumble_adversary::{Effort, Finding, Verdict, audit, audit_plugin};
use scumble_core::{
    Accumulator, CuratorMechanism, Designed, Evidence, Example, Guarantee, Halved, Halving, Randomness,
    RecordDomain, Release, Releases, Result, Table, ValuesIn, collected,
};
use scumble_pac::{HidingNoise, PacStatistics, Statistic};

#[test]
fn claims_hold_and_much_of_them_is_seen() {
    for plugin in super::each_statistic() {
        let findings = audit_plugin(&plugin, Effort::quick()).unwrap();
        for finding in findings {
            assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
            let (seen, claimed) = (finding.lower_bound.unwrap(), finding.claimed.unwrap());
            assert!(seen > 0.5 * claimed, "{seen} of {claimed}: {finding}");
        }
    }
}

/// The fault of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// No fault: the variant must pass.
    None,
    /// Noise is calibrated on the first four sets only.
    FewRuns,
    /// σ² is half of the required value.
    Halved,
    /// The first value has no noise.
    Bare,
    /// A second release is made of the set that the first one took, and the leakage of both is counted once.
    TakenTwice,
    /// Centres are released in the order of their number of records in the half, and noise is calibrated for
    /// one fixed order.
    OrderLeaks,
}

/// An honest mechanism with its claim, and a fault.
#[derive(Debug, Clone)]
struct Faulty {
    honest: PacStatistics,
    nats: f64,
    fault: Fault,
}

impl CuratorMechanism for Faulty {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Units }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { halving: Some(self), ..Evidence::default() }
    }
}

impl Faulty {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        self.honest.release(table, randomness)
    }
}

impl Halving for Faulty {
    fn draw(&self, table: &Table, draws: usize, randomness: &mut Randomness) -> Result<Halved> {
        let mut halved = self.honest.draw(table, 0, randomness)?;
        let runs = if self.fault == Fault::FewRuns { 4 } else { halved.values.len() };
        let nats = if self.fault == Fault::Halved { 2.0 * self.nats } else { self.nats };
        let noise = HidingNoise::calibrated(&halved.values[..runs], nats)?;
        if self.fault == Fault::OrderLeaks {
            halved.values.iter_mut().for_each(|values| by_size(values, table));
        }
        halved.scales = noise.scales();
        let mut stream = randomness.streams().stream(7);
        halved.draws = (0..draws)
            .map(|draw| {
                let index = draw * 7919 % halved.values.len();
                let values = &halved.values[index];
                let mut noisy = noise.added(values, &mut stream);
                match self.fault {
                    Fault::Bare => noisy[0] = values[0],
                    Fault::TakenTwice => noisy.extend(noise.added(values, &mut stream)),
                    _ => {}
                }
                (index, noisy)
            })
            .collect();
        match self.fault {
            Fault::Bare => halved.scales[0] = 0.0,
            Fault::TakenTwice => {
                halved.values.iter_mut().for_each(|values| values.extend(values.clone()));
                halved.scales.extend(halved.scales.clone());
            }
            _ => {}
        }
        Ok(halved)
    }
}

/// Sorts centres with their shares, the largest first.
fn by_size(values: &mut Vec<f64>, table: &Table) {
    let width = 1 + table.columns().len() + 2; // two classes
    let mut centers: Vec<Vec<f64>> = values.chunks(width).map(<[f64]>::to_vec).collect();
    centers.sort_by(|one, other| other[0].total_cmp(&one[0]));
    *values = centers.concat();
}

fn finding(fault: Fault, statistic: Statistic) -> Finding {
    let example = Example::mixed().unwrap();
    let nats = 0.125;
    let honest = PacStatistics::new(example.brief.domain, statistic, nats, 64).unwrap();
    let variant = Designed::curator(Faulty { honest, nats, fault });
    audit("the faulty variant", &variant, Some(&example.table), Effort::quick()).unwrap().remove(0)
}

#[test]
fn the_variant_without_a_fault_passes() {
    for statistic in [Statistic::Ridge { ridge: 0.01 }, Statistic::Centers { centers: 3 }] {
        let found = finding(Fault::None, statistic);
        assert_eq!(found.verdict, Verdict::Holds, "{found}");
    }
}

#[test]
fn what_is_wrong_is_caught() {
    for fault in [Fault::FewRuns, Fault::Halved, Fault::Bare, Fault::TakenTwice] {
        let found = finding(fault, Statistic::Ridge { ridge: 0.01 });
        assert_eq!(found.verdict, Verdict::Broken, "{fault:?}: {found}");
        assert!(found.to_string().contains("identified the chosen half"), "{found}");
    }
    let found = finding(Fault::OrderLeaks, Statistic::Centers { centers: 3 });
    assert_eq!(found.verdict, Verdict::Broken, "{found}");
}
