//! Figures 2 to 7 of Dauntless (Xiao and Devadas): a reconstruction attack on mixtures, weighted sums of
//! public and private records. The adversary knows the public part of each mixture.

use super::data::{Data, classes_of};
use super::{percent, within};
use crate::picture::shades;
use crate::report::{Agreement, Evidence, Finding, Grid};
use crate::trials::Mean;
use crate::{Error, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use scumble_adversary::{Inversion, Pairs};
use scumble_core::{Brief, Budget, Key, Randomness, RecordDomain, Stream, Table};

use ndarray::{Array2, Axis};
use rand::Rng;
use rand::seq::index::sample;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Choice of the public records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Public {
    /// A share of the records, sampled uniformly at random.
    Share(f64),
    /// All digits except 1 to 5.
    OtherDigits,
}

/// A figure: its data, the public records, the number of samples (mixtures), the number of records mixed into
/// each sample, and the paper's statement.
#[derive(Debug, Clone, Copy)]
struct Case {
    figure: u8,
    data: &'static str,
    public: Public,
    samples: usize,
    parts: usize,
    printed: &'static str,
}

const CASES: [Case; 6] = [
    Case {
        figure: 2,
        data: "mnist",
        public: Public::OtherDigits,
        samples: 180_000,
        parts: 2,
        printed: "essentially fails",
    },
    Case {
        figure: 3,
        data: "mnist",
        public: Public::Share(0.5),
        samples: 180_000,
        parts: 2,
        printed: "about 70 % well-approximated",
    },
    Case {
        figure: 4,
        data: "mnist",
        public: Public::Share(0.25),
        samples: 180_000,
        parts: 2,
        printed: "impeded significantly",
    },
    Case {
        figure: 5,
        data: "mnist",
        public: Public::Share(0.5),
        samples: 60_000,
        parts: 2,
        printed: "more difficult",
    },
    Case {
        figure: 6,
        data: "mnist",
        public: Public::Share(0.5),
        samples: 60_000,
        parts: 4,
        printed: "more difficult still",
    },
    Case {
        figure: 7,
        data: "cifar10",
        public: Public::Share(0.5),
        samples: 200_000,
        parts: 2,
        printed: "much harder",
    },
];

/// Case in which half of the digits are public, with as many mixtures as Corollary 1 of the paper allows. The
/// paper has no such figure.
const WITHIN_BUDGET: Case =
    Case { figure: 0, data: "mnist", public: Public::Share(0.5), samples: 0, parts: 2, printed: "" };

/// Number of images whose recovery is counted, and number of images shown.
const COUNTED: usize = 500;
const SHOWN: usize = 10;

/// Number of mixtures that are made at a time. Only sums over mixtures are kept, so memory need not hold
/// 200,000 images of 3072 values.
const AT_ONCE: usize = 25_000;

/// Largest distance between a private image and its reconstruction at which the private image counts as
/// recovered. It is a share of the private image's distance from the mean of the public records.
const WITHIN: f64 = 0.5;

/// Outcome of a reconstruction attack.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Recovered {
    /// Share of private images that the adversary recovered.
    share: f64,
    /// Median distance of recovered images from private ones, as a share of the private image's distance from
    /// the mean of the public records.
    distance: f64,
    /// Some private images and their recovered versions, if images are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    private: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    recovered: Vec<String>,
}

pub(super) fn figures_2_to_7(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let trials = options.trainings();
    let cases: Vec<Case> = CASES.into_iter().filter(|case| !options.quick || case.data == "mnist").collect();
    (options.on_start)(((cases.len() + 1) * trials) as u64);
    let (mut outcomes, mut rows, mut panels, mut recovered) = (vec![], vec![], vec![], vec![]);
    let mut store = None;
    let mut ours = None;
    for source in ["mnist", "cifar10"] {
        let own: Vec<&Case> = cases.iter().filter(|case| case.data == source).collect();
        if own.is_empty() {
            continue;
        }
        let data = Data::load(options, source)?;
        if store.is_none() {
            store = options.finished(name)?;
        }
        let all = |case: &Case, samples: usize| -> Result<Vec<Recovered>> {
            let one = |trial: usize| {
                let words = json!({
                    "of": name, "figure": case.figure, "samples": samples, "trial": trial,
                    "images": options.images, "seed": options.seed,
                });
                let found =
                    options.once(&store, &words, || attacked(options, name, &data, case, samples, trial))?;
                (options.on_step)();
                Ok::<_, Error>(found)
            };
            (0..trials).map(one).collect()
        };
        if source == WITHIN_BUDGET.data {
            let [public, private] =
                parted(&data, WITHIN_BUDGET.public, &mut options.randomness(name, &[]).streams().stream(0))?;
            let samples = within::allowed(options, &data, public, private.len())?;
            ours = Some(within_budget_finding(samples, &all(&WITHIN_BUDGET, samples)?));
        }
        for case in own {
            let samples = if options.quick { case.samples / 30 } else { case.samples };
            let found = all(case, samples)?;
            let shares: Vec<f64> = found.iter().map(|found| found.share).collect();
            recovered.push([f64::from(case.figure), 100.0 * Mean::from_values(&shares).value]);
            let distance =
                Mean::from_values(&found.iter().map(|found| found.distance).collect::<Vec<_>>()).value;
            rows.push(vec![
                case.figure.to_string(),
                source.into(),
                known(case),
                format!("{samples}, {} mixed", case.parts),
                percent(&shares),
                format!("{distance:.3}"),
            ]);
            outcomes.push(Outcome { case: *case, samples, shares, distance });
            if let (Some(first), "mnist", true) = (found.first(), source, options.images) {
                let strips = [("private", &first.private), ("recovered", &first.recovered)];
                panels.push(Panel {
                    title: format!(
                        "Figure {}: {}, {samples} samples, {} mixed",
                        case.figure,
                        known(case),
                        case.parts
                    ),
                    across: Scale::linear(""),
                    up: Scale::linear(""),
                    layers: strips
                        .into_iter()
                        .enumerate()
                        .map(|(look, (name, images))| Layer {
                            name: name.into(),
                            look,
                            marks: Marks::Images { width: 28, images: images.clone() },
                        })
                        .collect(),
                });
            }
        }
    }
    let claims = CLAIMS.iter().map(|figures| {
        let relevant = outcomes.iter().filter(|outcome| figures.contains(&outcome.case.figure));
        relevant.collect::<Vec<_>>()
    });
    let findings = claims
        .filter(|outcomes| !outcomes.is_empty())
        .map(|outcomes| finding(&outcomes))
        .chain(ours)
        .collect();
    let chart = Panel {
        title: "Private images recovered by least squares".into(),
        across: Scale::linear("figure of the paper"),
        up: Scale::linear("%"),
        layers: vec![Layer { name: "recovered".into(), look: 1, marks: Marks::Dots(recovered) }],
    };
    panels.insert(0, chart);
    Ok(Evidence {
        trials,
        findings,
        grids: vec![Grid {
            title: "Private images recovered".into(),
            header: ["figure", "data", "known", "samples", "recovered, %", "median distance"]
                .map(str::to_owned)
                .to_vec(),
            rows,
        }],
        notes: vec![
            format!(
                "The adversary has the release. For each mixture, it knows the public part with its weights. \
                 It learns an affine map from released samples to public parts by least squares. It doubles \
                 the result, because private parts have the same weight as public ones. It applies the map \
                 to {COUNTED} private images, each transformed alone. An image counts as recovered within \
                 {WITHIN} of its distance from the mean of the public records; the median distance is in the \
                 same unit. The transformation has one layer, by approach 1, with the identity as activation."
            ),
            "The paper's adversary trains a network, and the paper shows ten images. Against a linear map, \
             least squares is the better attack. The figures show that this network learned little, not that \
             little can be learned."
                .into(),
        ],
        picture: Picture { title: "Private images and their recovery (Figures 2 to 6)".into(), panels },
    })
}

/// Finding on the adversary of Figures 2 to 7 if the number of mixtures keeps to Corollary 1 of the paper.
fn within_budget_finding(samples: usize, found: &[Recovered]) -> Finding {
    let values = |get: fn(&Recovered) -> f64| found.iter().map(get).collect::<Vec<f64>>();
    let (shares, distance) =
        (values(|found| found.share), Mean::from_values(&values(|found| found.distance)).value);
    let share = Mean::from_values(&shares).value;
    Finding {
        what: format!(
            "the same adversary if dauntless-mix (ours) keeps to its budget: {samples} samples, 2 mixed"
        ),
        paper: "60000 samples and more".into(),
        ours: format!("{} % recovered, at a median distance of {distance:.2}", percent(&shares)),
        value: Some(100.0 * share),
        verdict: if share < 0.01 { Agreement::Better } else { Agreement::Differs },
        why: format!(
            "less than one in a hundred counts as better; Table 2 states the accuracy from {samples} samples"
        ),
    }
}

fn known(case: &Case) -> String {
    match case.public {
        Public::Share(share) => format!("{:.0} % of all images", 100.0 * share),
        Public::OtherDigits => "the digits 6 to 9 and 0".into(),
    }
}

/// Outcome of a case.
struct Outcome {
    case: Case,
    samples: usize,
    shares: Vec<f64>,
    distance: f64,
}

/// Figures grouped by claim. Figures 4 to 6 share one claim: recovery is harder if less is known, if there
/// are fewer samples, and if more records are mixed into each sample.
const CLAIMS: [&[u8]; 4] = [&[2], &[3], &[4, 5, 6], &[7]];

fn finding(outcomes: &[&Outcome]) -> Finding {
    let each = |describe: &dyn Fn(&Outcome) -> String| {
        outcomes.iter().map(|outcome| describe(outcome)).collect::<Vec<_>>().join("; ")
    };
    let shares: Vec<f64> = outcomes.iter().map(|outcome| Mean::from_values(&outcome.shares).value).collect();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let holds = |(outcome, share): (&&Outcome, &f64)| match outcome.case.figure {
        3 => *share >= 0.6,
        _ => *share < 0.5,
    };
    Finding {
        what: each(&|Outcome { case, samples, .. }| {
            format!(
                "Figure {}: recovery where {} are known, {samples} samples, {} mixed",
                case.figure,
                known(case),
                case.parts
            )
        }),
        paper: each(&|outcome| outcome.case.printed.into()),
        ours: each(&|Outcome { shares, distance, .. }| {
            format!("{} % recovered, at a median distance of {distance:.2}", percent(shares))
        }),
        value: Some(100.0 * most),
        verdict: Agreement::from_claim(outcomes.iter().zip(&shares).all(holds)),
        why: match outcomes.iter().any(|outcome| outcome.case.figure == 3) {
            true => "least squares recovers more images than the paper's network".into(),
            false if most >= 0.5 => {
                "least squares recovers images that the paper's network does not recover".into()
            }
            false => String::new(),
        },
    }
}

/// Releases mixtures, learns the inverse map, and applies it to private images.
fn attacked(
    options: &RunOptions,
    name: &str,
    data: &Data,
    case: &Case,
    samples: usize,
    trial: usize,
) -> Result<Recovered> {
    let mut randomness = options.randomness(name, &[u64::from(case.figure), trial as u64]);
    let mut stream = randomness.streams().stream(0);
    let [public, private] = parted(data, case.public, &mut stream)?;
    let key = transformation(options, &data.domain, &private, &mut randomness)?;
    let mut pairs = Pairs::default();
    for from in (0..samples).step_by(AT_ONCE) {
        let count = AT_ONCE.min(samples - from);
        let (mixed, known) = mixtures(&public, &private, case.parts, count, &mut stream);
        pairs.add(seen(&data.domain, &key, mixed)?.view(), known.view())?;
    }
    let learned = pairs.learn()?;
    let alone = sample(&mut stream, private.len(), COUNTED.min(private.len())).into_vec();
    let private = private.records().select(Axis(0), &alone);
    let recovered = learned.recover(seen(&data.domain, &key, private.clone())?.view()) * 2.0;
    let mean = public.records().mean_axis(Axis(0)).unwrap_or_default();
    let from_mean = (&private - &mean).map_axis(Axis(1), |row| row.dot(&row).sqrt());
    let mut shares: Vec<f64> = Inversion::distances(recovered.view(), private.view())
        .iter()
        .zip(&from_mean)
        .map(|(distance, whole)| distance / whole)
        .collect();
    let share = shares.iter().filter(|share| **share <= WITHIN).count() as f64 / shares.len().max(1) as f64;
    shares.sort_by(f64::total_cmp);
    let most = if options.images { SHOWN } else { 0 };
    let shown = |records: &Array2<f64>| records.outer_iter().take(most).map(shades).collect();
    Ok(Recovered {
        share,
        distance: shares.get(shares.len() / 2).copied().unwrap_or(f64::NAN),
        private: shown(&private),
        recovered: shown(&recovered),
    })
}

/// Draws the key, the secret transformation of a release. It multiplies records by the inverse of a matrix of
/// independent entries, uniform in [−β, β] for some β > 0 (Approach 1 of the paper).
fn transformation(
    options: &RunOptions,
    domain: &RecordDomain,
    private: &Table,
    randomness: &mut Randomness,
) -> Result<Key> {
    let design = options.registry.get("dauntless-mix")?.design(
        &json!({
            "mixed": 1, "samples": 1, "bits": 32, "weights": "inverse-uniform", "most_condition": 1.15e4
        }),
        &Brief::new(domain.without_target(), Budget::pure(1.0)?),
    )?;
    // The release of one record provides the transformation. It then transforms the mixtures whose public
    // parts the adversary knows.
    let first = private.records().select(Axis(0), &[0]);
    let first = Table::new(private.columns().to_vec(), first, scumble_core::Target::None)?;
    Ok(design.mechanism().release(&first, randomness)?.key)
}

/// Splits the training records into public and private records.
fn parted(data: &Data, public: Public, stream: &mut Stream) -> Result<[Table; 2]> {
    match public {
        Public::Share(share) => data.parted(share, stream),
        Public::OtherDigits => {
            let classes = classes_of(&data.train);
            let (private, public): (Vec<usize>, Vec<usize>) =
                (0..classes.len()).partition(|row| (1..=5).contains(&classes[*row]));
            Ok([data.train.select(&public)?, data.train.select(&private)?])
        }
    }
}

/// Mixes equally many public and private records by random weights. Returns the mixtures and the public part
/// of each mixture, one row for each of `samples` mixtures.
fn mixtures(
    public: &Table,
    private: &Table,
    parts: usize,
    samples: usize,
    stream: &mut Stream,
) -> (Array2<f64>, Array2<f64>) {
    let dim = public.columns().len();
    let (mut mixed, mut known) = (Array2::zeros((samples, dim)), Array2::zeros((samples, dim)));
    for (mut mixed, mut known) in mixed.outer_iter_mut().zip(known.outer_iter_mut()) {
        let shares: Vec<f64> =
            (0..parts).map(|_| -stream.gen_range(f64::MIN_POSITIVE..1.0f64).ln()).collect();
        let sum: f64 = shares.iter().sum();
        // The public parts come first, so their sum is the known part of the mixture.
        for (at, share) in shares.iter().enumerate() {
            let side = if at < parts / 2 { public } else { private };
            mixed.scaled_add(share / sum, &side.records().row(stream.gen_range(0..side.len())));
            if at + 1 == parts / 2 {
                known.assign(&mixed);
            }
        }
    }
    (mixed, known)
}

/// Transforms records as the owner of the key would release them.
fn seen(domain: &RecordDomain, key: &Key, records: Array2<f64>) -> Result<Array2<f64>> {
    let table = Table::new(domain.columns().to_vec(), records, scumble_core::Target::None)?;
    Ok(key.view(&table)?.records().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    const DIM: usize = 6;

    fn recovered(samples: usize, parts: usize) -> Recovered {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let case =
            Case { figure: 3, data: "made-up", public: Public::Share(0.5), samples, parts, printed: "" };
        attacked(&options, "made-up", &Data::made_up(400, DIM, 2), &case, samples, 0).unwrap()
    }

    #[test]
    fn an_unmixed_linear_release_is_recovered_whole_from_one_pair_more_than_there_are_columns() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let data = Data::made_up(100, DIM, 2);
        let mut randomness = options.randomness("made-up", &[]);
        let key = transformation(&options, &data.domain, &data.train, &mut randomness).unwrap();
        let private = data.test.records();
        let share = |pairs: usize| {
            let known = data.train.records().select(Axis(0), &(0..pairs).collect::<Vec<_>>());
            let released = seen(&data.domain, &key, known.clone()).unwrap();
            let learned = Inversion::linear(released.view(), known.view()).unwrap();
            let found = learned.recover(seen(&data.domain, &key, private.clone()).unwrap().view());
            Inversion::fraction_within(found.view(), private.view(), 1e-3)
        };
        assert_eq!((share(DIM + 1), share(DIM - 1)), (1.0, 0.0));
    }

    #[test]
    fn more_is_recovered_from_many_mixtures_than_from_a_handful() {
        let [many, few] = [recovered(20_000, 2), recovered(DIM, 2)];
        assert!(many.share > 0.9 && many.distance < 0.4, "{} at {}", many.share, many.distance);
        assert!(few.share < 0.5 && few.distance > 0.6, "{} at {}", few.share, few.distance);
        assert_eq!((many.private.len(), many.recovered[0].len()), (SHOWN, DIM));
    }

    /// If private records are zero, the known part is the whole mixture. If public records are zero, the
    /// known part is zero.
    #[test]
    fn what_is_known_of_a_mixture_is_its_public_part() {
        let data = Data::made_up(40, DIM, 2);
        let zero = Table::new(
            data.train.columns().to_vec(),
            data.train.records() * 0.0,
            data.train.target().clone(),
        );
        let zero = zero.unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        for parts in [2, 4] {
            let (mixed, known) = mixtures(&data.train, &zero, parts, 50, &mut stream);
            assert!((&mixed - &known).iter().all(|x| *x == 0.0) && mixed.iter().all(|x| *x > 0.0));
            let (mixed, known) = mixtures(&zero, &data.train, parts, 50, &mut stream);
            assert!(known.iter().all(|x| *x == 0.0) && mixed.iter().all(|x| *x > 0.0));
            // The shares of a mixture sum to one.
            let (mixed, _) = mixtures(&data.train, &data.train, parts, 50, &mut stream);
            assert!(mixed.iter().all(|x| (0.0..=1.0).contains(x)));
        }
    }
}
