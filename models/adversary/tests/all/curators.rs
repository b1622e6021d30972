//! Curator mechanisms attacked by releases of tables: a noisy sum, and noise that records share.

use ndarray::{Array2, array};
use scumble_adversary::{Effort, Finding, Measure, Verdict, audit};
use scumble_core::{
    Accumulator, CentralDp, CramerRao, CuratorMechanism, Designed, Domain, Guarantee, Key, Neighbours, Noise,
    NoiseDistribution, Notion, Randomness, RecordDomain, Release, Releases, Result, SecretKey, Table, Target,
    TargetDomain, collected,
};
use scumble_sampling::{DiscreteGaussian, DiscreteLaplace, Rational};

const STEPS: f64 = (1u64 << 20) as f64;

/// One number per record, in [0, 1].
fn people() -> RecordDomain {
    RecordDomain::new(vec!["x".into()], Domain::unit_box(1), TargetDomain::None).unwrap()
}

fn table() -> Table {
    let records = array![[0.1], [0.5], [0.9], [0.3], [0.6], [0.2]];
    Table::new(vec!["x".into()], records, Target::None).unwrap()
}

struct NoKey {}

impl SecretKey for NoKey {
    fn view(&self, clean: &Table) -> Result<Table> {
        Ok(clean.clone())
    }

    fn state(&self) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::Value::Null)
    }
}

/// Release with noise that the records share.
fn release(mechanism: &Designed, records: Array2<f64>) -> Result<Release> {
    let table = Table::new(vec!["x".into()], records, Target::None)?;
    Ok(Release::new(
        Key::secret(NoKey {}, &table),
        mechanism.guarantee(),
        Noise {
            features: vec![NoiseDistribution::Shared { width: 1 }],
            target: NoiseDistribution::Exact { width: 0 },
        },
        table,
    ))
}

/// Sum of all records with Laplace noise, as a table of one row.
#[derive(Debug, Clone)]
struct NoisySum {
    domain: RecordDomain,
    /// Scale of the noise.
    scale: f64,
    neighbours: Neighbours,
    /// One row per record, as if their number were public.
    row_each: bool,
}

impl CuratorMechanism for NoisySum {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let dp = CentralDp::new(1.0, 0.0, self.neighbours);
        Guarantee::for_records([(Notion::CentralDp(dp), "the Laplace mechanism".to_owned())])
    }

    fn releases(&self) -> Releases {
        Releases::with_key(self.domain())
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl NoisySum {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let distribution = DiscreteLaplace::new(Rational::floor_of(self.scale * STEPS)?)?;
        let sum: f64 = table.records().iter().map(|x| (x.clamp(0.0, 1.0) * STEPS).round()).sum();
        let noisy = (sum + distribution.sample(&mut randomness.streams().stream(0)) as f64) / STEPS;
        let rows = if self.row_each { table.len() } else { 1 };
        release(&Designed::curator(self.clone()), Array2::from_elem((rows, 1), noisy))
    }
}

fn attack(mechanism: &Designed) -> Finding {
    let effort = Effort { samples: 400_000, ..Effort::quick() };
    audit("curator", mechanism, Some(&table()), effort).unwrap().remove(0)
}

#[test]
fn a_noisy_sum_keeps_its_claim_and_its_broken_variants_are_caught() {
    for neighbours in [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne] {
        let attacked = |scale, row_each| {
            attack(&Designed::curator(NoisySum { domain: people(), scale, neighbours, row_each }.clone()))
        };
        let honest = attacked(1.0, false);
        assert_eq!(honest.verdict, Verdict::Holds, "{honest}");
        assert!(honest.lower_bound.unwrap() > 0.75, "{honest}");
        for scale in [0.5f64.sqrt(), 0.8] {
            let finding = attacked(scale, false);
            assert_eq!(finding.verdict, Verdict::Broken, "noise of scale {scale} passed: {finding}");
        }
        // The number of rows discloses who was added or removed, but nothing about who was replaced.
        let tells = neighbours == Neighbours::AddOrRemoveOne;
        assert_eq!(attacked(1.0, true).verdict == Verdict::Broken, tells);
    }
}

/// Gaussian noise of variance `variance` whose sum over the records, weighted by `weights`, is zero. Such
/// noise leaves a support vector machine unchanged (errata F8).
#[derive(Debug, Clone)]
struct SharedNoise {
    domain: RecordDomain,
    weights: Vec<f64>,
    variance: f64,
    /// Claimed variance.
    claimed: f64,
}

impl CuratorMechanism for SharedNoise {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let information = [("x".to_owned(), 1.0 / self.claimed)].into();
        let bound = Notion::CramerRao(CramerRao { information, joint: None });
        Guarantee::for_records([(bound, "Cramér and Rao".to_owned())])
    }

    fn releases(&self) -> Releases {
        Releases::with_key(self.domain())
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl SharedNoise {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let distribution = DiscreteGaussian::new(Rational::floor_of(self.variance.sqrt() * STEPS)?)?;
        let mut stream = randomness.streams().stream(0);
        let drawn: Vec<f64> =
            (0..table.len()).map(|_| distribution.sample(&mut stream) as f64 / STEPS).collect();
        let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(x, y)| x * y).sum::<f64>();
        let along = dot(&drawn, &self.weights) / dot(&self.weights, &self.weights);
        let noisy =
            (0..table.len()).map(|row| table.records()[[row, 0]] + drawn[row] - along * self.weights[row]);
        release(
            &Designed::curator(self.clone()),
            Array2::from_shape_vec((table.len(), 1), noisy.collect()).unwrap(),
        )
    }
}

fn shared(variance: f64, claimed: f64) -> Finding {
    let weights = vec![1.0, -2.0, 0.5, 1.0, 0.7, -0.2];
    attack(&Designed::curator(SharedNoise { domain: people(), weights, variance, claimed }.clone()))
}

/// Least remaining share of a variance of 0.04 along the weights: that of the second record.
const LEFT: f64 = 0.04 * (1.0 - 4.0 / (1.0 + 4.0 + 0.25 + 1.0 + 0.49 + 0.04));

#[test]
fn a_cramer_rao_claim_holds_for_who_knows_nothing_and_the_finding_says_what_others_reach() {
    let finding = shared(0.04, LEFT);
    assert_eq!((finding.verdict, finding.measure), (Verdict::Holds, Measure::Precision), "{finding}");
    // The audited bound is near: the claim is not far too small.
    assert!(finding.lower_bound.unwrap() > 0.75 * finding.claimed.unwrap(), "{finding}");
    // An adversary that knows the other records knows their noise, and so this record's noise.
    assert!(
        finding.because.contains("about 0.0000 for an adversary that knows the other records"),
        "{finding}"
    );
}

#[test]
fn a_cramer_rao_claim_beyond_the_noise_is_caught() {
    for (variance, claimed) in [(0.02, LEFT), (0.04, 1.3 * LEFT)] {
        let finding = shared(variance, claimed);
        assert_eq!(finding.verdict, Verdict::Broken, "{finding}");
    }
}

#[test]
fn a_bound_beyond_the_domain_is_called_vacuous() {
    let finding = shared(9.0, 0.3);
    assert!(finding.because.contains("the claim is vacuous"), "{finding}");
    assert!(!shared(0.04, LEFT).because.contains("vacuous"));
}
