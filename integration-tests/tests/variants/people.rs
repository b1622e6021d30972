//! Curators of people with several records, and variants that count a person for more than one record.

use scumble::adversary::{Effort, Verdict, audit};
use scumble::core::{
    Accumulator, Brief, Budget, CuratorMechanism, Designed, Evidence, Example, Guarantee, Outcome, PARTS,
    Plugin, Randomness, RecordDomain, Releases, Result, Statistics, Table,
};
use scumble::marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS, TABLES};
use scumble::private_models::{NOISY_MOMENTS, PRIVATE_ADDITIVE, PRIVATE_LOGISTIC, PRIVATE_RIDGE};
use std::sync::Arc;

/// Largest number of records of a person.
const MOST: u16 = 5;

/// Fault of a variant.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Each record has the whole weight of a person.
    WeightsForgotten,
    /// The person's records have four times the weight of a person: the person is over the bound.
    OverTheBound,
}

/// A curator's mechanism that counts the records of a person wrongly.
#[derive(Debug, Clone)]
struct Variant {
    honest: Arc<dyn CuratorMechanism>,
    fault: Fault,
}

struct Counting<'v> {
    honest: Box<dyn Accumulator + 'v>,
    fault: Fault,
}

impl Accumulator for Counting<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.honest.add(records)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        match self.fault {
            Fault::None => self.honest.add_shares(records, shares),
            Fault::WeightsForgotten => self.honest.add(records),
            Fault::OverTheBound => self.honest.add_shares(records, &fourfold(shares)),
        }
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        self.honest.release(randomness)
    }
}

impl CuratorMechanism for Variant {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Counting { honest: self.honest.start(), fault: self.fault })
    }

    fn releases(&self) -> Releases {
        self.honest.releases()
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }
}

impl Variant {
    /// The table that the honest mechanism sees in place of `table`.
    fn counted(&self, table: &Table) -> Result<Table> {
        let Some(shares) = table.shares() else { return Ok(table.clone()) };
        let records = Table::new(table.columns().to_vec(), table.records().clone(), table.target().clone())?;
        match self.fault {
            Fault::None => Ok(table.clone()),
            Fault::WeightsForgotten => Ok(records),
            Fault::OverTheBound => records.with_shares(fourfold(shares)),
        }
    }

    fn honest(&self) -> &dyn Statistics {
        self.honest.evidence().statistics.expect("these mechanisms release from statistics")
    }
}

impl Statistics for Variant {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        self.honest().draw(&self.counted(table)?, randomness)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        self.honest().log_likelihood(&self.counted(table)?, drawn)
    }
}

fn fourfold(shares: &[u16]) -> Vec<u16> {
    shares.iter().map(|share| (4 * share).min(PARTS)).collect()
}

/// The mechanism at ε = 1 and δ = 0.01, for people of up to [`MOST`] records, with the example's records.
fn designed(plugin: &Plugin) -> (Arc<dyn CuratorMechanism>, Example) {
    let example = (plugin.example)().unwrap();
    let domain = example.brief.domain.clone().with_records_per_person(Some(MOST)).unwrap();
    let brief = Brief { domain, budget: Budget::new(1.0, 0.01).unwrap(), ..example.brief.clone() };
    let design = plugin.design(&example.parameters, &brief).unwrap();
    let Designed::Curator(curator) = design.mechanism().clone() else { panic!("{} is local", plugin.name) };
    assert_eq!(curator.records_per_person(), Some(MOST), "{}", plugin.name);
    (curator, example)
}

fn verdict(curator: impl Into<Designed>, example: &Example) -> Verdict {
    let effort = Effort { samples: 30_000, pairs: 3, ..Effort::quick() };
    let findings = audit("the mechanism", &curator.into(), Some(&example.table), effort).unwrap();
    let is_broken = findings.iter().any(|finding| finding.verdict == Verdict::Broken);
    if is_broken { Verdict::Broken } else { Verdict::Holds }
}

/// A canary person has five equal records, which count for one in the honest mechanism.
#[test]
fn a_person_who_counts_for_more_than_one_record_is_caught() {
    for plugin in [
        NOISY_MARGINALS,
        ADAPTIVE_MARGINALS,
        MST,
        TABLES,
        NOISY_MOMENTS,
        PRIVATE_RIDGE,
        PRIVATE_LOGISTIC,
        PRIVATE_ADDITIVE,
    ] {
        let (honest, example) = designed(&plugin);
        let faults = [Fault::None, Fault::WeightsForgotten, Fault::OverTheBound];
        let found = faults.map(|fault| {
            let variant = Variant { honest: honest.clone(), fault };
            verdict(Designed::curator(variant), &example)
        });
        assert_eq!(found, [Verdict::Holds, Verdict::Broken, Verdict::Broken], "{}", plugin.name);
    }
}
