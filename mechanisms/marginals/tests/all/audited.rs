//! Audits: claims hold and are nearly tight, and faulty variants are detected.

use scumble_accounting::gaussian;
use scumble_adversary::{Effort, Finding, Verdict, audit, audit_plugin};
use scumble_core::{
    Accumulator, CentralDp, CuratorMechanism, Designed, Evidence, Guarantee, Neighbours, Notion, PARTS,
    Randomness, RecordDomain, Release, Releases, Result, Statistics, Table, ValuesIn, collected,
};
use scumble_marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS};
use scumble_noise::CountNoise;
use scumble_testing::{colours_and_sizes, release_of_statistics};

/// The audited lower bound is smaller if a part of the budget pays for choices, which four records do not
/// need.
#[test]
fn claims_hold_and_much_of_them_is_seen() {
    for (plugin, least) in [(NOISY_MARGINALS, 0.5), (MST, 0.1), (ADAPTIVE_MARGINALS, 0.3)] {
        for finding in audit_plugin(&plugin, Effort { samples: 24_000, ..Effort::quick() }).unwrap() {
            assert_ne!(finding.verdict, Verdict::Broken, "{finding}");
            let (seen, claimed) = (finding.lower_bound.unwrap(), finding.claimed.unwrap());
            assert!(seen >= least * claimed, "{}: {seen} of {claimed}", plugin.name);
        }
    }
}

const EPSILON: f64 = 1.0;
const DELTA: f64 = 0.01;

/// Faults of [`ByHand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// No fault: the honest variant must pass.
    None,
    /// A replaced record changes two cells of a table; only one is counted.
    OneCell,
    /// The rarest level is chosen without noise, and nothing is paid.
    FreeChoice,
    /// A number's bins meet at the sample's median.
    Quantiles,
    /// Tables are adjusted to exact counts after the noise.
    ExactTotals,
    /// Both tables have the same noise.
    Reused,
}

/// Two tables of counts, of a colour with three levels and of a size in two bins, written by hand.
#[derive(Debug, Clone)]
struct ByHand {
    domain: RecordDomain,
    fault: Fault,
}

impl ByHand {
    fn new(fault: Fault) -> Self {
        Self { domain: colours_and_sizes().0, fault }
    }

    /// Noise for both tables: two cells of each differ.
    fn noise(&self) -> CountNoise {
        let cells: f64 = if self.fault == Fault::OneCell { 2.0 } else { 4.0 };
        CountNoise::with_scale(cells.sqrt() / gaussian::mu(EPSILON, DELTA).unwrap() * (1.0 + 1e-6)).unwrap()
    }

    /// Returns the counts of both tables, and the values published with them in the clear.
    fn counts(&self, table: &Table) -> Result<([Vec<u64>; 2], Vec<f64>)> {
        let records = self.domain.projected_features(table)?;
        let mut sizes = records.column(3).to_vec();
        sizes.sort_unstable_by(f64::total_cmp);
        let edge = if self.fault == Fault::Quantiles { sizes[sizes.len() / 2] } else { 0.5 };
        let mut colours = vec![0; 3];
        let mut bins = vec![0; 2];
        for record in records.outer_iter() {
            let colour = (0..3).find(|level| record[*level] == 1.0).unwrap_or(0);
            colours[colour] += 1;
            bins[usize::from(record[3] >= edge)] += 1;
        }
        let rarest = (0..3).min_by_key(|level| colours[*level]).unwrap_or(0);
        let published = match self.fault {
            Fault::FreeChoice => vec![rarest as f64],
            Fault::Quantiles => vec![edge],
            Fault::ExactTotals => vec![(colours[0] + colours[1]) as f64],
            _ => vec![],
        };
        Ok(([colours, bins], published))
    }
}

/// The counts in parts of a person, as [`CountNoise`] takes them.
fn parts(counts: &[u64]) -> Vec<u64> {
    counts.iter().map(|count| count * u64::from(PARTS)).collect()
}

impl Statistics for ByHand {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let ([colours, bins], published) = self.counts(table)?;
        let mut stream = randomness.streams().stream(0);
        let mut drawn = self.noise().add(&parts(&colours), &mut stream);
        match self.fault {
            Fault::Reused => {
                let same: Vec<f64> = bins
                    .iter()
                    .zip(&drawn)
                    .zip(&colours)
                    .map(|((bin, noisy), exact)| *bin as f64 + noisy - *exact as f64)
                    .collect();
                drawn.extend(same);
            }
            _ => drawn.extend(self.noise().add(&parts(&bins), &mut stream)),
        }
        if self.fault == Fault::ExactTotals {
            let off = (drawn[0] + drawn[1] - published[0]) / 2.0;
            drawn[0] -= off;
            drawn[1] -= off;
        }
        Ok(drawn.into_iter().chain(published).collect())
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        const NEVER: f64 = -1e6;
        let ([colours, bins], published) = self.counts(table)?;
        let noise = self.noise();
        let differs = published.iter().zip(&drawn[5..]).any(|(own, drawn)| (own - drawn).abs() > 1e-9);
        let mut likelihood =
            noise.log_likelihood(&parts(&colours), &drawn[..3]) + if differs { NEVER } else { 0.0 };
        if self.fault == Fault::Reused {
            let difference = |at: usize| drawn[at] - colours[at] as f64 - (drawn[3 + at] - bins[at] as f64);
            likelihood += if difference(0).abs() > 1e-6 || difference(1).abs() > 1e-6 { NEVER } else { 0.0 };
        } else {
            likelihood += noise.log_likelihood(&parts(&bins), &drawn[3..5]);
        }
        Ok(likelihood)
    }
}

impl CuratorMechanism for ByHand {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let dp = CentralDp::new(EPSILON, DELTA, Neighbours::ReplaceOne);
        Guarantee::for_records([(Notion::CentralDp(dp), "by hand".into())])
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Bins }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }
}

impl ByHand {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let guarantee = self.guarantee().under(randomness.provenance());
        release_of_statistics(&self.draw(table, randomness)?, guarantee)
    }
}

fn attacked(fault: Fault) -> Finding {
    let by_hand = ByHand::new(fault);
    let (_, people) = colours_and_sizes();
    let designed = Designed::curator(by_hand);
    audit("tables by hand", &designed, Some(&people), Effort { samples: 24_000, ..Effort::quick() })
        .unwrap()
        .remove(0)
}

#[test]
fn tables_that_are_wrong_on_purpose_are_caught() {
    let honest = attacked(Fault::None);
    assert_ne!(honest.verdict, Verdict::Broken, "{honest}");
    assert!(honest.lower_bound.unwrap() > 0.6, "{honest}");
    for fault in [Fault::OneCell, Fault::FreeChoice, Fault::Quantiles, Fault::ExactTotals, Fault::Reused] {
        let finding = attacked(fault);
        assert_eq!(finding.verdict, Verdict::Broken, "{fault:?}: {finding}");
        assert!(finding.to_string().contains("at least ε = "), "{finding}");
    }
}
