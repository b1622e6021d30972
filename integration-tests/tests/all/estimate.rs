//! Estimates of the people behind a release: every interval that an estimator returns covers the true value.

use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::classic::{Estimator, Variable};
use scumble::core::{
    Brief, Budget, Designed, Domain, Estimate, Example, Factor, Guarantee, Layout, LocalMechanism, Noise,
    NoiseDistribution, Plugin, Randomness, RecordDomain, Registry, Result, Stream, Table, Target,
    TargetDomain, composed, local,
};

const SEED: u64 = 31;
const PEOPLE: usize = 4000;
const TARGET: &str = "the target";
/// An interval misses the true value with probability 10⁻⁶: with some 500 intervals, one miss in 2,000 runs.
const CONFIDENCE: f64 = 1.0 - 1e-6;

/// Draws people near the upper bounds and at the later levels. The people of examples, and so volunteers, are
/// near the lower bounds.
fn people(domain: &RecordDomain) -> Table {
    let mut rng = ChaCha20Rng::seed_from_u64(SEED);
    let mut flat = vec![];
    for _ in 0..PEOPLE {
        let mut record = vec![0.0; domain.flat().dim()];
        for (coordinates, factor) in domain.flat().factors() {
            match factor {
                Factor::Interval { lower, upper } => {
                    record[coordinates.start] =
                        lower + (upper - lower) * rng.gen_range(0.0f64..1.0).powf(0.25);
                }
                Factor::OneHot { levels } => {
                    let share = rng.gen_range(0.0f64..1.0).powf(0.5);
                    record[coordinates.start + (share * *levels as f64) as usize] = 1.0;
                }
                _ => coordinates.for_each(|at| record[at] = rng.gen_range(0.0..1.0)),
            }
        }
        flat.extend(domain.projected(&record).unwrap());
    }
    domain.layout().table_of(flat).unwrap()
}

/// Returns the names of the estimated columns. Checks that each interval covers the mean of the released
/// people.
#[track_caller]
fn estimated(what: &str, mechanism: &dyn LocalMechanism, clean: &Table) -> Vec<String> {
    let release = mechanism.release(clean, &mut Randomness::seeded(SEED)).unwrap();
    let estimator = Estimator::new(mechanism, &release.table, &release.noise, CONFIDENCE).unwrap();
    let mut covered = vec![];
    let mut check = |name: &str, estimate: Estimate, truth: f64| {
        assert!(
            estimate.lower <= truth && truth <= estimate.upper,
            "seed {SEED}, {what}: {name} is {truth}, and {estimate:?} was estimated"
        );
        covered.push(name.to_owned());
    };
    for name in release.table.columns() {
        if let Ok(estimate) = estimator.mean(name.as_str()) {
            let place = clean.columns().iter().position(|column| column == name).unwrap();
            check(name, estimate, clean.records().column(place).mean().unwrap());
        }
    }
    match clean.target() {
        Target::Class(classes) => {
            for (class, estimate) in estimator.histogram(Variable::Target).into_iter().flatten().enumerate() {
                let count = classes.iter().filter(|own| **own == class).count();
                check(TARGET, estimate, count as f64 / clean.len() as f64);
            }
        }
        Target::Real(values) => {
            if let Ok(estimate) = estimator.mean(Variable::Target) {
                check(TARGET, estimate, values.mean().unwrap());
            }
        }
        _ => {}
    }
    covered
}

fn design(plugin: &Plugin, example: &Example, epsilon: f64) -> Option<Designed> {
    let budget = Budget::new(epsilon, example.brief.budget.delta()).unwrap();
    let brief = Brief { budget, ..example.brief.clone() };
    Some(plugin.design(&example.parameters, &brief).ok()?.into_mechanism())
}

#[test]
fn intervals_cover_the_people_by_every_mechanism_that_answers() {
    let registry = Registry::installed().unwrap();
    let (mut answering, mut silent) = (vec![], vec![]);
    for plugin in registry.iter() {
        let example = (plugin.example)().unwrap();
        for epsilon in [1.0, 8.0] {
            let Some(Designed::Local(local)) = design(plugin, &example, epsilon) else { continue };
            if local.collector().is_some() {
                continue; // reports are not records; a file of reports is collected
            }
            let what = format!("{} at ε = {epsilon}", plugin.name);
            let mut answered = estimated(&what, &*local, &people(local.domain()));
            answered.retain(|name| name != TARGET); // some mechanisms release the label separately
            if answered.is_empty() { &mut silent } else { &mut answering }.push(plugin.name);
        }
    }
    for plugin in ["laplace", "piecewise", "duchi", "hybrid", "direct", "randomized-response", "identity"] {
        assert!(answering.contains(&plugin), "{plugin} is not estimated from");
    }
    for plugin in ["task-aware-clipped", "task-aware-linear", "task-agnostic", "privacy-agnostic", "vlm"] {
        assert!(silent.contains(&plugin) && !answering.contains(&plugin), "{plugin}: {silent:?}");
    }
}

/// Three numbers: one is released halfway to 0.3, one is released at most at 0.8, and one has its own noise.
/// The mechanism declares additive noise for all three.
#[derive(Debug, Clone)]
struct Drawn {
    domain: RecordDomain,
}

const VARIANCE: f64 = 0.01;

impl LocalMechanism for Drawn {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::nothing(&self.domain)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let half = (3.0 * VARIANCE).sqrt();
        point.iter_mut().for_each(|x| *x += stream.gen_range(-half..half));
        Ok(())
    }

    fn decode(&self, mut point: Vec<f64>) -> Result<Vec<f64>> {
        point[0] = 0.3 + 0.5 * (point[0] - 0.3);
        point[1] = point[1].min(0.8);
        Ok(point)
    }

    fn noise(&self) -> Noise {
        let variance = vec![VARIANCE; 3];
        let target = NoiseDistribution::Exact { width: 0 };
        Noise { features: vec![NoiseDistribution::Additive { variance }], target }
    }
}

fn columns(names: &[&str]) -> RecordDomain {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let features = Domain::unit_box(names.len());
    RecordDomain::new(names, features, TargetDomain::None).unwrap()
}

#[test]
fn what_a_mechanism_says_of_its_noise_is_not_believed() {
    let mechanism = Drawn { domain: columns(&["halfway", "walled", "own"]) };
    assert_eq!(local::keeps_values(&mechanism).unwrap(), [false, false, true]);
    assert_eq!(estimated("a shrinking decoder", &mechanism, &people(mechanism.domain())), ["own"]);
}

#[test]
fn the_columns_of_a_composition_that_stay_are_estimated() {
    let registry = Registry::installed().unwrap();
    let plugin = registry.get("task-aware-clipped").unwrap();
    let example = (plugin.example)().unwrap();
    let Some(learned) = design(plugin, &example, 8.0) else { panic!("it has an example") };
    let own = columns(&["own"]);
    let brief = Brief::new(own.clone(), Budget::new(1.0, 0.0).unwrap());
    let laplace = registry.get("laplace").unwrap().design(&Default::default(), &brief).unwrap();
    let example_domain = learned.domain();
    let features = Domain::product([example_domain.features().clone(), own.features().clone()]).unwrap();
    let names = example_domain.columns().iter().chain(own.columns()).cloned().collect();
    let domain = RecordDomain::new(names, features, example_domain.target().clone()).unwrap();
    let Designed::Local(whole) = composed(domain, vec![learned, laplace.into_mechanism()]).unwrap() else {
        panic!("both are local")
    };
    let mut answered = estimated("a composition", &*whole, &people(whole.domain()));
    answered.retain(|name| name != TARGET); // in the clear: the example protects the features
    assert_eq!(answered, ["own"]);
}

/// Checks which values `decode` keeps: a range with distant ends, and levels with a single altered one.
#[test]
fn values_are_kept_whatever_their_units() {
    #[derive(Debug, Clone)]
    struct Merging {
        domain: RecordDomain,
    }

    impl LocalMechanism for Merging {
        fn domain(&self) -> &RecordDomain {
            &self.domain
        }

        fn guarantee(&self) -> Guarantee {
            Guarantee::nothing(&self.domain)
        }

        fn perturb(&self, _point: &mut [f64], _stream: &mut Stream) -> Result<()> {
            Ok(())
        }

        /// Merges the last of 40 levels into the previous one, and rounds the number to `f32`.
        fn decode(&self, mut point: Vec<f64>) -> Result<Vec<f64>> {
            point[0] = f64::from(point[0] as f32);
            point[39] += point[40];
            point[40] = 0.0;
            Ok(point)
        }

        fn noise(&self) -> Noise {
            let features = vec![NoiseDistribution::Exact { width: 41 }];
            Noise { features, target: NoiseDistribution::Exact { width: 0 } }
        }

        fn layout(&self) -> Layout {
            self.domain.layout()
        }
    }

    let number = Domain::interval(1e6, 3e6).unwrap();
    let features = Domain::product([number, Domain::one_hot(40).unwrap()]).unwrap();
    let names = (0..41).map(|at| format!("x{at}")).collect();
    let mechanism = Merging { domain: RecordDomain::new(names, features, TargetDomain::None).unwrap() };
    let kept = local::keeps_values(&mechanism).unwrap();
    let expected: Vec<bool> = (0..41).map(|at| at < 39).collect();
    assert_eq!(kept, expected);
    let records =
        Array2::from_shape_fn((9, 41), |(_, at)| if at == 0 { 2e6 } else { f64::from(u8::from(at == 40)) });
    let table = Table::new(mechanism.domain.columns().to_vec(), records, Target::None).unwrap();
    let release = mechanism.release(&table, &mut Randomness::seeded(SEED)).unwrap();
    let estimator = Estimator::new(&mechanism, &release.table, &release.noise, 0.9).unwrap();
    assert!(estimator.mean("x0").is_ok() && estimator.mean("x39").is_err() && estimator.mean("x40").is_err());
    let means: Array1<f64> = release.table.records().mean_axis(ndarray::Axis(0)).unwrap();
    assert_eq!(means[39], 1.0);
}
