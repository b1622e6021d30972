//! Curator whose releases are made from noisy counts.

use ndarray::{Array2, array};
use scumble_core::{
    Accumulator, Budget, CentralDp, CuratorMechanism, Domain, Error, Evidence, Guarantee, Key, Neighbours,
    Noise, NoiseDistribution, Notion, Randomness, RecordDomain, Release, Releases, Result, Statistics, Table,
    Target, TargetDomain, ValuesIn, collected,
};
use scumble_noise::GaussianNoise;

pub(crate) const EPSILON: f64 = 1.0;
pub(crate) const DELTA: f64 = 0.01;
/// Upper bound on the number of people in any table here.
const MOST: f64 = 64.0;
/// Largest number of released rows.
const ROWS: usize = 32;

/// Two categorical columns, of three levels and of two.
pub(crate) fn people() -> RecordDomain {
    let features = Domain::product([Domain::one_hot(3).unwrap(), Domain::one_hot(2).unwrap()]).unwrap();
    let columns = ["a=0", "a=1", "a=2", "b=0", "b=1"].map(str::to_owned).to_vec();
    RecordDomain::new(columns, features, TargetDomain::None).unwrap()
}

pub(crate) fn table() -> Table {
    let records = array![
        [1.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 0.0, 1.0],
        [1.0, 0.0, 0.0, 1.0, 0.0],
    ];
    Table::new(people().columns().to_vec(), records, Target::None).unwrap()
}

/// Counts of each level with Gaussian noise. The release has as many rows as the noisy counts indicate
/// people, each with one level per column.
#[derive(Debug, Clone)]
pub(crate) struct NoisyCounts {
    domain: RecordDomain,
    neighbours: Neighbours,
    /// Noise that is added.
    noise: Option<GaussianNoise>,
    /// Noise that the claim needs.
    needed: Option<GaussianNoise>,
    /// Releases the records themselves, independent of the statistics.
    leaks: bool,
}

/// Counts with `share` of the standard deviation that the claim needs. Replacing a person changes two counts
/// of each column; adding or removing a person changes one.
pub(crate) fn noisy_counts(neighbours: Neighbours, share: f64) -> NoisyCounts {
    let domain = people();
    let budget = Budget::new(EPSILON, DELTA).unwrap();
    let replace_sigma = GaussianNoise::calibrated(domain.flat(), budget).unwrap().scales()[0];
    let sigma = match neighbours {
        Neighbours::ReplaceOne => replace_sigma,
        Neighbours::AddOrRemoveOne => replace_sigma / 2f64.sqrt(),
    };
    NoisyCounts {
        noise: Some(on_counts(&domain, share * sigma)),
        needed: Some(on_counts(&domain, sigma)),
        domain,
        neighbours,
        leaks: false,
    }
}

impl NoisyCounts {
    /// The same mechanism with rows made from the records themselves.
    pub(crate) fn leaking(self) -> Self {
        Self { leaks: true, ..self }
    }

    /// Noise of standard deviation `sigma`, independent of the claim.
    pub(crate) fn with_sigma(neighbours: Neighbours, sigma: f64) -> Self {
        let noise = Some(on_counts(&people(), sigma));
        Self { needed: noise.clone(), noise, ..noisy_counts(neighbours, 1.0) }
    }
}

/// Noise of standard deviation `sigma` on the count of each level.
fn on_counts(domain: &RecordDomain, sigma: f64) -> GaussianNoise {
    let side = Domain::interval(0.0, MOST).unwrap();
    let counts = Domain::product(vec![side; domain.flat().dim()]).unwrap();
    GaussianNoise::with_scales(&counts, &vec![sigma; counts.dim()]).unwrap()
}

fn counts(table: &Table) -> Vec<f64> {
    table.records().columns().into_iter().map(|column| column.sum()).collect()
}

impl Statistics for NoisyCounts {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let mut counts = counts(table);
        let noise = self.noise.as_ref().ok_or_else(|| Error::shape("there is no noise"))?;
        noise.add(&mut counts, &mut randomness.streams().stream(0))?;
        Ok(counts)
    }

    /// Likelihood under the noise that the claim needs: a faulty variant does not know its fault.
    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let noise = self.needed.as_ref().ok_or_else(|| Error::shape("there is no noise"))?;
        noise.log_likelihood(&counts(table), drawn)
    }
}

impl CuratorMechanism for NoisyCounts {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let dp = CentralDp::new(EPSILON, DELTA, self.neighbours);
        Guarantee::for_records([(Notion::CentralDp(dp), "the Gaussian mechanism".to_owned())])
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Units }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }
}

impl NoisyCounts {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let counts = if self.leaks { counts(table) } else { self.draw(table, randomness)? };
        let rows = (counts[0] + counts[1] + counts[2]).round().clamp(1.0, ROWS as f64) as usize;
        let largest = |from: usize, to: usize| (from..to).max_by(|&a, &b| counts[a].total_cmp(&counts[b]));
        let levels = [largest(0, 3), largest(3, 5)];
        let records = Array2::from_shape_fn((rows, 5), |(_, at)| f64::from(levels.contains(&Some(at))));
        Ok(Release::new(
            Key::None,
            self.guarantee(),
            Noise {
                features: vec![NoiseDistribution::Unknown { width: 5 }],
                target: NoiseDistribution::Exact { width: 0 },
            },
            Table::new(self.domain.columns().to_vec(), records, Target::None)?,
        ))
    }
}
