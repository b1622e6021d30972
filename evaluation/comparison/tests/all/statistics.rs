//! Comparison of a curator whose releases are made from noisy statistics, and have half as many rows as the
//! input.

use ndarray::{Array1, Array2};
use scumble_comparison::{Candidate, Comparison, Knows, Metric, Outcome, Splitting};
use scumble_core::{
    Accumulator, Budget, CentralDp, CuratorMechanism, Descriptor, Designed, Domain, Error, Evidence, Example,
    Guarantee, Key, Neighbours, NoParameters, Noise, NoiseDistribution, Notion, Output, Plugin, Randomness,
    RecordDomain, Release, Releases, Result, Side, Statistics, Table, Target, ValuesIn, collected,
};
use scumble_datasets::DataSet;
use scumble_noise::GaussianNoise;
use serde_json::{Value, json};

/// Upper bound on any sum in a comparison.
const MOST: f64 = 65536.0;

/// Sum of each column with Gaussian noise. A release has the noisy mean of each class's share in half as many
/// rows.
#[derive(Debug, Clone)]
struct NoisySums {
    domain: RecordDomain,
    epsilon: f64,
    delta: f64,
    noise: Option<GaussianNoise>,
}

const NOISY_SUMS: Plugin = Plugin {
    name: "noisy-sums",
    summary: "noisy sums of columns",
    paper: "a test",
    version: "0",
    descriptor: Descriptor::new(Output::Synthetic).run_by(Side::Curator),
    parameters: &|| schemars::schema_for!(NoParameters),
    learn: &|_, brief| Ok(json!([brief.domain, brief.budget])),
    build: &|state| Ok(Designed::curator(NoisySums::new(state)?)),
    example: &Example::mixed,
};

impl NoisySums {
    fn new(state: &Value) -> Result<Self> {
        let (domain, budget): (RecordDomain, Budget) = Error::read_state(state)?;
        let sigma = GaussianNoise::calibrated(domain.flat(), budget)?.scales()[0];
        let sums = Domain::product(vec![Domain::interval(0.0, MOST)?; domain.flat().dim()])?;
        let noise = GaussianNoise::with_scales(&sums, &vec![sigma; sums.dim()])?;
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        Ok(Self { domain, epsilon, delta, noise: Some(noise) })
    }

    fn noise(&self) -> Result<&GaussianNoise> {
        self.noise.as_ref().ok_or_else(|| Error::shape("there is no noise"))
    }

    fn sums(&self, table: &Table) -> Vec<f64> {
        let layout = self.domain.layout();
        let mut sums = vec![0.0; layout.width()];
        for row in 0..table.len() {
            sums.iter_mut().zip(layout.flatten(table, row)).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

impl Statistics for NoisySums {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let mut sums = self.sums(table);
        self.noise()?.add(&mut sums, &mut randomness.streams().stream(0))?;
        Ok(sums)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        self.noise()?.log_likelihood(&self.sums(table), drawn)
    }
}

impl CuratorMechanism for NoisySums {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let dp = CentralDp::new(self.epsilon, self.delta, Neighbours::ReplaceOne);
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

impl NoisySums {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let sums = self.draw(table, randomness)?;
        let (rows, columns) = (table.len() / 2, self.domain.columns().len());
        let records = Array2::from_shape_fn((rows, columns), |(_, at)| sums[at] / table.len() as f64);
        let classes = Array1::from_shape_fn(rows, |row| row % 2);
        Ok(Release::new(
            Key::None,
            self.guarantee(),
            Noise {
                features: vec![NoiseDistribution::Unknown { width: columns }],
                target: NoiseDistribution::Unknown { width: self.domain.layout().target.width() },
            },
            Table::new(self.domain.columns().to_vec(), records, Target::Class(classes))?,
        ))
    }
}

fn run(metrics: Vec<Metric>, trials: usize) -> Outcome {
    let comparison = Comparison {
        epsilons: vec![1.0, 8.0],
        metrics,
        trials,
        splitting: Splitting { most_train: Some(200), ..Splitting::random(0.2) },
        ..Comparison::new(DataSet::wine().unwrap(), vec![Candidate::new(NOISY_SUMS)])
    };
    comparison.run(|_| (), || ()).unwrap()
}

/// The margin is five standard errors: a claim that holds fails this test once in some millions.
#[test]
fn membership_is_within_its_bound_and_seen_where_the_budget_is_large() {
    let outcome = run(vec![Metric::Accuracy, Metric::Membership], 30);
    let rows: Vec<_> = outcome.rows.iter().filter(|row| row.metric == Metric::Membership).collect();
    let [tight, loose] = rows[..] else { panic!("two budgets make two rows: {rows:?}") };
    // (e^ε − 1 + 2δ)/(e^ε + 1) at ε = 1 and δ = 10⁻⁶.
    assert!((tight.bound.unwrap() - 0.462_117).abs() < 1e-5, "{tight:?}");
    for row in [tight, loose] {
        let error = row.sd / (row.trials as f64).sqrt();
        assert!(row.mean <= row.bound.unwrap() + 5.0 * error, "{row:?}");
    }
    assert!(loose.mean > 0.15 && loose.mean > tight.mean, "{} and {}", loose.mean, tight.mean);
}

#[test]
fn a_release_of_other_rows_is_scored_as_a_table_and_by_models_and_by_no_adversary_that_knows_its_rows() {
    let metrics: Vec<Metric> =
        Metric::fitting(DataSet::wine().unwrap().domain.target()).filter(|m| !m.is_of_audit()).collect();
    let outcome = run(metrics.clone(), 2);
    assert_eq!(outcome.rows.len(), 2 * metrics.len());
    for row in &outcome.rows {
        let knows_rows = [Metric::Recovered, Metric::Advantage, Metric::UnbiasedError].contains(&row.metric);
        assert_eq!(row.mean.is_nan(), knows_rows, "{row:?}");
        if row.metric.is_of_table() {
            assert!((0.0..=1.0).contains(&row.mean) && row.bound.is_none(), "{row:?}");
        }
    }
}

/// Variant of [`NOISY_SUMS`] without noise at large budgets. A release without noise fails.
const FAILING: Plugin = Plugin {
    name: "failing-sums",
    build: &|state| {
        let made = NoisySums::new(state)?;
        let noise = made.noise.filter(|_| made.epsilon < 4.0);
        Ok(Designed::curator(NoisySums { noise, ..made }))
    },
    ..NOISY_SUMS
};

#[test]
fn a_cell_that_fails_is_no_number_and_the_rest_goes_on() {
    let with = |epsilons: &[f64]| Comparison {
        epsilons: epsilons.to_vec(),
        trials: 3,
        ..Comparison::new(DataSet::wine().unwrap(), vec![Candidate::new(FAILING)])
    };
    let outcome = with(&[1.0, 8.0]).run(|_| (), || ()).unwrap();
    let [failed] = &outcome.failed[..] else { panic!("one cell: {:?}", outcome.failed) };
    assert_eq!((&*failed.mechanism, failed.epsilon, failed.trial), ("failing-sums", Some(8.0), 1));
    assert!(failed.reason.contains("there is no noise"), "{failed:?}");
    let accuracies: Vec<_> = outcome.rows.iter().filter(|row| row.metric == Metric::Accuracy).collect();
    let [finished, failed] = accuracies[..] else { panic!("two budgets make two rows") };
    assert!(finished.mean.is_finite() && finished.worth.is_some());
    assert!(failed.mean.is_nan() && failed.worth.is_none() && failed.against.unwrap().p_value == 1.0);
    // If every cell fails, the run is an error.
    let refused = with(&[8.0]).run(|_| (), || ()).unwrap_err().to_string();
    assert!(refused.contains("there is no noise"), "{refused}");
}

/// With volunteers who have labels, an uninformative release adds nothing. Records in the clear are worth
/// themselves, and add the number that the volunteers lack.
#[test]
fn worth_is_counted_in_records_and_from_the_volunteers_on() {
    let identity = Candidate::new(scumble_classic::IDENTITY);
    let run = |volunteers: f64| {
        let comparison = Comparison {
            epsilons: vec![1.0],
            metrics: vec![Metric::Accuracy],
            trials: 10,
            splitting: Splitting { volunteers, ..Splitting::random(0.2) },
            ..Comparison::new(DataSet::wine().unwrap(), vec![identity.clone(), Candidate::new(NOISY_SUMS)])
        };
        comparison.run(|_| (), || ()).unwrap()
    };
    let without = run(0.0);
    let [clean, noise] = &without.rows[..] else { panic!("two rows") };
    assert_eq!(clean.worth.unwrap().records, 1279.0);
    assert!(noise.worth.unwrap().upper < 40.0 && clean.adds.is_none());
    assert_eq!(
        (clean.against.unwrap().baseline, noise.against.unwrap().p_value > 0.01),
        (Knows::Guess, true)
    );
    let sizes = without
        .references
        .iter()
        .filter(|reference| reference.knows == Knows::Clean)
        .map(|reference| reference.records);
    assert!(sizes.eq([20, 40, 80, 160, 320, 640, 1279]));
    let with = run(0.1);
    let alone = with.references.iter().find(|reference| reference.knows == Knows::Volunteers).unwrap();
    assert_eq!(alone.records, 128);
    let [clean, noise] = &with.rows[..] else { panic!("two rows") };
    assert!(clean.adds.unwrap().records > 100.0, "{clean:?}");
    assert!((noise.mean - alone.mean).abs() < 0.02 && noise.adds.unwrap().lower < 50.0, "{noise:?}");
    assert_eq!(noise.against.unwrap().baseline, Knows::Volunteers);
}
