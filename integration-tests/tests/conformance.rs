//! The conformance suite rejects faulty variants: each variant here breaks one rule, and the suite names it.

use scumble::core::{
    Brief, Descriptor, Designed, Domain, Error, Example, Guarantee, LocalDp, LocalMechanism, NoParameters,
    Noise, NoiseDistribution, Notion, Output, Pace, Plugin, Randomness, RecordDomain, Result, Rows, Side,
    Stream, Table, Target, local, register, release_local,
};
use scumble_testing::conformance;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};

/// The fault of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Fault {
    None,
    AssumesNothing,
    ClaimsMoreThanItsBudget,
    DropsARecord,
    DrawsFromAClock,
    SharesOneStream,
    ClaimsUnderASeed,
    ForgetsToClip,
    IsNoisyAtInfinity,
    ClaimsAtInfinity,
    NeverApproachesItsView,
    AcceptsNan,
    AcceptsAnEmptyTable,
    AnswersTheSameForAll,
    CountsThreads,
    TakesAnyWidth,
    PublishesAnotherDistribution,
}

/// Uniform noise on the first column: almost no privacy, but a mechanism that can conform.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Variant {
    domain: RecordDomain,
    #[serde(with = "scumble::core::number")]
    epsilon: f64,
    fault: Fault,
}

static CLOCK: AtomicU64 = AtomicU64::new(0);

impl Variant {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn width(&self) -> f64 {
        match self.fault {
            Fault::IsNoisyAtInfinity if self.epsilon.is_infinite() => 1.0,
            Fault::NeverApproachesItsView if self.epsilon.is_finite() => 1.0,
            _ => 1.0 / self.epsilon,
        }
    }
}

impl LocalMechanism for Variant {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        if self.epsilon.is_infinite() && !self.is(Fault::ClaimsAtInfinity) {
            return Guarantee::nothing(&self.domain);
        }
        let surplus = if self.is(Fault::ClaimsMoreThanItsBudget) { 2.0 } else { 1.0 };
        let dp = Notion::LocalDp(LocalDp::pure(self.epsilon * surplus));
        let guarantee = Guarantee::for_records([(dp, "none".to_owned())]);
        let assumes = if self.is(Fault::AssumesNothing) { vec![] } else { guarantee.assumes };
        Guarantee { assumes, ..guarantee }
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Rows> {
        let (n, d) = table.records().dim();
        let accepts = |fault, condition: bool| self.is(fault) && condition;
        if accepts(Fault::AcceptsAnEmptyTable, n == 0)
            || accepts(Fault::AcceptsNan, table.records().iter().any(|x| x.is_nan()))
        {
            return Ok(Rows {
                table: Table::new(
                    table.columns().to_vec(),
                    ndarray::Array2::zeros((n, d)),
                    table.target().clone(),
                )?,
                guarantee: Guarantee::nothing(&self.domain),
                noise: self.noise(),
            });
        }
        let narrower = match self.fault {
            Fault::TakesAnyWidth if d > self.domain.columns().len() => {
                let kept = table.records().slice(ndarray::s![.., ..d - 1]).to_owned();
                Some(Table::new(self.domain.columns().to_vec(), kept, table.target().clone())?)
            }
            _ => None,
        };
        let table = narrower.as_ref().unwrap_or(table);
        let mut release = release_local(self, table, randomness)?;
        if self.is(Fault::DropsARecord) {
            let rows: Vec<usize> = (1..n).collect();
            release.table = release.table.select(&rows)?;
        }
        if self.is(Fault::ClaimsUnderASeed) {
            release.guarantee = self.guarantee();
        }
        if self.is(Fault::SharesOneStream) {
            let rows: Vec<usize> = (0..n).map(|row| row % local::BLOCK).collect();
            release.table = release.table.select(&rows)?;
        }
        if self.is(Fault::AnswersTheSameForAll) {
            release.table = release.table.select(&vec![0; n])?;
        }
        Ok(release)
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        match self.fault {
            Fault::ForgetsToClip => Ok(record.to_vec()),
            _ => self.domain.projected(record),
        }
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        use rand_core::RngCore;
        let bits = match self.fault {
            Fault::CountsThreads => stream.next_u64() / (1 + rayon::current_num_threads() as u64),
            Fault::DrawsFromAClock => CLOCK.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed),
            _ => stream.next_u64(),
        };
        let width = self.width();
        if width > 0.0 {
            point[0] += width * (bits as f64 / u64::MAX as f64 - 0.5);
        }
        Ok(())
    }

    fn noise(&self) -> Noise {
        let layout = self.domain.layout();
        let surplus = if self.is(Fault::PublishesAnotherDistribution) { 2.0 } else { 1.0 };
        Noise {
            features: vec![
                NoiseDistribution::Additive { variance: vec![surplus * self.width().powi(2) / 12.0] },
                NoiseDistribution::Exact { width: layout.columns.len() - 1 },
            ],
            target: NoiseDistribution::Exact { width: layout.target.width() },
        }
    }
}

/// Defines one plugin per fault; other binaries do not register it.
macro_rules! variant {
    ($fault:ident) => {{
        register! {
            /// A faulty plugin.
            pub const FAULTY = {
                name: "variant",
                summary: "faulty on purpose",
                paper: "none",
                descriptor: Descriptor::new(Output::Records),
                parameters: NoParameters,
                learn: |NoParameters {}, brief: &Brief| Result::Ok(Variant {
                    domain: brief.domain.clone(),
                    epsilon: brief.budget.epsilon(),
                    fault: Fault::$fault,
                }),
                local: Result::Ok,
                example: Example::mixed,
            };
        }
        FAULTY
    }};
}

#[track_caller]
fn breaks(plugin: Plugin, rule: &str) {
    let Err(failures) = conformance::check(&plugin) else {
        panic!("the variant that breaks {rule:?} passed")
    };
    let named = failures.sentences().iter().any(|sentence| sentence.starts_with(rule));
    assert!(named, "{rule:?} is not among the broken rules\n{failures}");
}

#[test]
fn the_variant_without_a_fault_conforms() {
    conformance::check(&variant!(None)).unwrap();
}

#[test]
fn each_fault_breaks_its_rule() {
    for (plugin, rule) in [
        (variant!(AssumesNothing), "a local claim states all that every such claim assumes"),
        (variant!(ClaimsMoreThanItsBudget), "claims no more than its budget"),
        (variant!(DropsARecord), "keeps the records' number"),
        (variant!(DrawsFromAClock), "a seed gives the same release"),
        (variant!(SharesOneStream), "no two records share their noise"),
        (variant!(AnswersTheSameForAll), "no two records share their noise"),
        (variant!(AnswersTheSameForAll), "a stream of records is released like their table"),
        (variant!(ClaimsUnderASeed), "a seeded release claims nothing"),
        (variant!(ForgetsToClip), "a record outside the domain releases like its projection"),
        (variant!(ForgetsToClip), "encode never leaves the declared range"),
        (variant!(IsNoisyAtInfinity), "at ε = ∞ it releases its noise-free view"),
        (variant!(ClaimsAtInfinity), "at ε = ∞ it releases its noise-free view"),
        (variant!(NeverApproachesItsView), "at large ε it approaches its noise-free view"),
        (variant!(AcceptsNan), "bad tables are errors"),
        (variant!(AcceptsAnEmptyTable), "bad tables are errors"),
        (variant!(CountsThreads), "the number of threads changes nothing"),
        (variant!(TakesAnyWidth), "bad tables are errors"),
        (variant!(PublishesAnotherDistribution), "it publishes the distribution of its noise"),
    ] {
        breaks(plugin, rule);
    }
}

#[test]
fn an_example_in_which_two_things_could_change_places_unnoticed_is_caught() {
    fn with(change: impl FnOnce(&mut Example)) -> Result<Example> {
        let mut example = Example::mixed()?;
        change(&mut example);
        Ok(example)
    }
    fn with_records(value: impl Fn(usize, usize, f64) -> f64) -> Result<Example> {
        let Example { table, .. } = Example::mixed()?;
        let (n, d) = table.records().dim();
        let records = ndarray::Array2::from_shape_fn((n, d), |(row, column)| {
            value(row, column, table.records()[[row, column]])
        });
        let table = Table::new(table.columns().to_vec(), records, table.target().clone())?;
        with(|example| example.table = table)
    }
    type Symmetric = fn() -> Result<Example>;
    let examples: [(Symmetric, &str); 6] = [
        (
            || {
                with(|example| {
                    let classes = (0..40).map(|row| row % 2).collect();
                    example.table = example.table.clone().with_target(Target::Class(classes)).unwrap();
                })
            },
            "two classes have as many records",
        ),
        (
            || {
                with(|example| {
                    let balanced = example.table.select(&[3, 4]).unwrap();
                    example.brief.volunteers = scumble::core::Volunteers::Public(balanced);
                })
            },
            "two classes have as many records",
        ),
        (
            || {
                with_records(|row, column, x| match column {
                    0 | 1 => x,
                    level => f64::from(u8::from([0, 1, 2, 0, 1][row % 5] == level - 2)),
                })
            },
            "two levels have as many records",
        ),
        (
            || with_records(|row, column, x| if column == 0 { row as f64 / 39.0 } else { x }),
            "\"size\" lie symmetric about the middle",
        ),
        (
            || {
                with_records(|row, column, x| match column {
                    0 | 1 => (row * [1, 7][column] % 40) as f64 / 40.0,
                    _ => x,
                })
            },
            "\"weight\" are those of another column",
        ),
        (
            || {
                with(|example| {
                    let domain = &example.brief.domain;
                    let features = Domain::product([
                        Domain::interval(-1.0, 1.0).unwrap(),
                        Domain::unit_box(1),
                        Domain::one_hot(3).unwrap(),
                    ]);
                    let target = domain.target().clone();
                    example.brief.domain =
                        RecordDomain::new(domain.columns().to_vec(), features.unwrap(), target).unwrap();
                })
            },
            "the bounds of \"size\" lie symmetric about zero",
        ),
    ];
    for (example, says) in examples {
        let mut plugin = variant!(None);
        plugin.example = Box::leak(Box::new(example));
        let failures = conformance::check(&plugin).expect_err("the symmetric example passed").to_string();
        let expected = "no symmetry of its example hides a fault: ";
        assert!(failures.contains(expected) && failures.contains(says), "{says:?} is not in {failures}");
    }
}

#[test]
fn a_plugin_that_says_another_side_or_does_not_design_is_caught() {
    let mut plugin = variant!(None);
    plugin.descriptor.run_by = Side::Curator;
    breaks(plugin, "says of itself what it is");
    plugin.descriptor.pace = Pace::Slow;
    plugin.build = &|_| Err(Error::shape("it never designs"));
    breaks(plugin, "its example designs");
}

#[test]
fn a_parameter_that_nobody_knows_is_caught_when_it_is_accepted() {
    let mut plugin = variant!(None);
    plugin.learn = &|_, brief| {
        let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
        serde_json::to_value(Variant { domain, epsilon, fault: Fault::None }).map_err(Error::state)
    };
    breaks(plugin, "unknown parameters are errors");
}

#[test]
fn a_design_that_hides_its_volunteers_is_caught() {
    let mut plugin = variant!(None);
    plugin.learn = &|_, brief| {
        let records = brief.volunteers.table().map_or(0, Table::len);
        let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon() / (1 + records) as f64);
        serde_json::to_value(Variant { domain, epsilon, fault: Fault::None }).map_err(Error::state)
    };
    breaks(plugin, "a design that volunteers shaped says so");
}

#[test]
fn a_constructor_that_makes_another_mechanism_each_time_is_caught() {
    // A mechanism must follow from its state: each mechanism here is noisier than the previous one.
    static BUILT: AtomicU64 = AtomicU64::new(0);
    let mut plugin = variant!(None);
    plugin.build = &|state| {
        let built = BUILT.fetch_add(1, Ordering::Relaxed);
        let variant: Variant = Error::read_state(state)?;
        Ok(Designed::local(Variant { epsilon: variant.epsilon / (1 + built) as f64, ..variant }))
    };
    breaks(plugin, "a saved design loads and releases the same");
}

#[test]
fn targets_of_every_kind_reach_a_local_mechanism() {
    // `Example::mixed` has a class; the other kinds of target pass through the same flat form.
    let example = Example::mixed().unwrap();
    let domain = |target| {
        let base = &example.brief.domain;
        RecordDomain::new(base.columns().to_vec(), base.features().clone(), target).unwrap()
    };
    use scumble::core::TargetDomain;
    let n = example.table.len();
    let vector = Domain::unit_box(2);
    for (target, values) in [
        (TargetDomain::None, Target::None),
        (TargetDomain::Real { lower: 0.0, upper: 1.0 }, Target::Real(ndarray::Array1::from_elem(n, 0.5))),
        (TargetDomain::Vector { domain: vector }, Target::Vector(ndarray::Array2::from_elem((n, 2), 0.5))),
    ] {
        let table = example.table.clone().with_target(values).unwrap();
        let mechanism = Designed::local(scumble::classic::Laplace::new(domain(target), 1.0).unwrap());
        let release = mechanism.release(&table, &mut Randomness::seeded(1)).unwrap();
        assert_eq!(release.table.target().kind(), table.target().kind());
        assert_ne!(release.table.records(), table.records());
        assert_eq!(release.key.view(&table).unwrap(), table);
    }
}
