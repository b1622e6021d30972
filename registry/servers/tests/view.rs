//! Audits of the view of one server: it knows its own noise, so it sees the sums with the noise of the other
//! server alone. Faulty servers are caught.

use scumble_adversary::{Effort, Finding, Verdict, audit};
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Designed, Evidence, Guarantee, Neighbours,
    Notion, Randomness, RecordDomain, Releases, Result, SharedCounts, Statistics, Table, ValuesIn, collected,
};
use scumble_marginals::TWO_SERVER_MARGINALS;
use scumble_testing::{colours_and_sizes, release_of_statistics};

const EPSILON: f64 = 1.0;
const DELTA: f64 = 0.01;

/// Faults of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// No fault: the server must pass.
    None,
    /// Each server adds half of the variance, so that only both together suffice.
    HalfOfTheVariance,
    /// The server answers twice about the same reports, with new noise.
    Again,
    /// The server answers about all reports, and about all but the first with the same noise.
    SameNoise,
    /// The server adds noise to the first table alone.
    OneTable,
}

/// The sums of all reports, as the other server sees them.
#[derive(Debug)]
struct View {
    honest: Designed,
    fault: Fault,
}

impl View {
    fn new(fault: Fault) -> Self {
        let (domain, _) = colours_and_sizes();
        let brief = Brief::new(domain, Budget::new(EPSILON, DELTA).unwrap());
        let parameters = serde_json::json!({ "bins": 2 });
        let honest = TWO_SERVER_MARGINALS.design(&parameters, &brief).unwrap().into_mechanism();
        Self { honest, fault }
    }

    fn shared(&self) -> &dyn SharedCounts {
        self.honest.shared_counts().unwrap()
    }

    /// Number of people in each cell, without the first `without` people.
    fn exact(&self, table: &Table, without: usize) -> Result<Vec<f64>> {
        let (tables, layout) = (self.shared().tables(), self.domain().layout());
        let mut counts = vec![0.0; tables.iter().map(|table| table.len()).sum()];
        for row in without..table.len() {
            let mut start = 0;
            let cells = self.shared().cells(&layout.flat(table, row..row + 1))?;
            for (cell, table) in cells.into_iter().zip(&tables) {
                counts[start + cell] += 1.0;
                start += table.len();
            }
        }
        Ok(counts)
    }

    /// Standard deviation of the noise on a count: √(2·2)/μ for two tables. μ is 0.53252 at ε = 1 and
    /// δ = 0.01.
    fn deviation(&self) -> f64 {
        let whole = 2.0 / 0.532_52;
        if self.fault == Fault::HalfOfTheVariance { whole / 2f64.sqrt() } else { whole }
    }

    fn is_noisy(&self, cell: usize) -> bool {
        self.fault != Fault::OneTable || cell < self.shared().tables()[0].len()
    }
}

impl Statistics for View {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let mut stream = randomness.streams().stream(0);
        let steps = self.shared().steps() as f64;
        let part = if self.fault == Fault::HalfOfTheVariance { 0.5f64.sqrt() } else { 1.0 };
        let mut noise = || -> Result<Vec<f64>> {
            let noise =
                self.shared().noise(&mut stream)?.into_iter().map(|noise| noise as f64 / steps * part);
            Ok(noise.enumerate().map(|(cell, noise)| if self.is_noisy(cell) { noise } else { 0.0 }).collect())
        };
        let noisy =
            |counts: Vec<f64>, noise: &[f64]| counts.into_iter().zip(noise).map(|(a, b)| a + b).collect();
        let first = noise()?;
        let mut drawn: Vec<f64> = noisy(self.exact(table, 0)?, &first);
        let second: Vec<f64> = match self.fault {
            Fault::Again => noisy(self.exact(table, 0)?, &noise()?),
            Fault::SameNoise => noisy(self.exact(table, 1)?, &first),
            _ => vec![],
        };
        drawn.extend(second);
        Ok(drawn)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        const NEVER: f64 = -1e6;
        let all = self.exact(table, 0)?;
        let (first, second) = drawn.split_at(all.len());
        let term = |cell: usize, off: f64| match self.is_noisy(cell) {
            true => -(off / self.deviation()).powi(2) / 2.0,
            false if off.abs() < 1e-6 => 0.0,
            false => NEVER,
        };
        let sum = |drawn: &[f64]| -> f64 {
            drawn.iter().zip(&all).enumerate().map(|(cell, (drawn, count))| term(cell, drawn - count)).sum()
        };
        let of_second = match self.fault {
            Fault::SameNoise => {
                let fewer = self.exact(table, 1)?;
                let is_same =
                    |cell: usize| (second[cell] - fewer[cell] - first[cell] + all[cell]).abs() < 1e-6;
                if (0..all.len()).all(is_same) { 0.0 } else { NEVER }
            }
            _ => sum(second),
        };
        Ok(sum(first) + of_second)
    }
}

impl CuratorMechanism for View {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        let dp = CentralDp::new(EPSILON, DELTA, Neighbours::ReplaceOne);
        Guarantee::for_records([(Notion::CentralDp(dp), "of one server".into())])
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Bins }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| {
            let guarantee = self.guarantee().under(randomness.provenance());
            release_of_statistics(&self.draw(table, randomness)?, guarantee)
        })
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }
}

fn attacked(fault: Fault) -> Finding {
    let view = View::new(fault);
    let (_, people) = colours_and_sizes();
    let effort = Effort { samples: 24_000, ..Effort::quick() };
    audit("one server", &Designed::curator(view), Some(&people), effort).unwrap().remove(0)
}

#[test]
fn a_server_that_knows_its_own_noise_learns_no_more_than_is_claimed() {
    let honest = attacked(Fault::None);
    assert_ne!(honest.verdict, Verdict::Broken, "{honest}");
    assert!(honest.lower_bound.unwrap() > 0.6, "{honest}");
}

#[test]
fn servers_that_are_wrong_on_purpose_are_caught() {
    for fault in [Fault::HalfOfTheVariance, Fault::Again, Fault::SameNoise, Fault::OneTable] {
        let finding = attacked(fault);
        assert_eq!(finding.verdict, Verdict::Broken, "{fault:?}: {finding}");
        assert!(finding.to_string().contains("at least ε = "), "{finding}");
    }
}
