//! Figures 2 to 7 of Dauntless (Xiao and Devadas): a reconstruction attack on mixtures, weighted sums of
//! public and private records. The adversary knows the public part of each mixture and its weight.

use super::data::{Data, classes_of};
use super::{percent, point, within};
use crate::picture::shades;
use crate::report::{Evidence, Finding, Grid};
use crate::rules::{self, Agreement};
use crate::trials::Mean;
use crate::{Layer, Marks, Panel, Picture, Result, RunOptions, Scale, Trial};
use scumble_adversary::{Inversion, TransformationFit};
use scumble_comparison::store::Store;
use scumble_core::{Brief, Budget, Key, Randomness, RecordDomain, Stream, Table};

use ndarray::{Array1, Array2, Axis};
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

/// Weights of the records of a mixture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Weights {
    /// Equal weights, as in Corollary 1 of the paper and by default in `dauntless-mix`.
    Equal,
    /// Uniform on the simplex, as in the paper's experiments.
    Random,
}

/// A figure: its data, the public records, the number of samples (mixtures), the number of records mixed into
/// each sample, their weights, and the paper's statement.
#[derive(Debug, Clone, Copy)]
struct Case {
    figure: u8,
    data: &'static str,
    public: Public,
    samples: usize,
    parts: usize,
    weights: Weights,
    printed: &'static str,
}

/// Case in which half of the digits are public. The paper has no such figure. The number of samples varies.
const BY_SAMPLES: Case = Case {
    figure: 0,
    data: "mnist",
    public: Public::Share(0.5),
    samples: 0,
    parts: 2,
    weights: Weights::Equal,
    printed: "",
};

const CASES: [Case; 6] = [
    Case { figure: 2, public: Public::OtherDigits, samples: 180_000, printed: "essentially fails", ..PAPER },
    Case { figure: 3, samples: 180_000, printed: "about 70 % well-approximated", ..PAPER },
    Case {
        figure: 4,
        public: Public::Share(0.25),
        samples: 180_000,
        printed: "impeded significantly",
        ..PAPER
    },
    Case { figure: 5, samples: 60_000, printed: "more difficult", ..PAPER },
    Case { figure: 6, samples: 60_000, parts: 4, printed: "more difficult still", ..PAPER },
    Case { figure: 7, data: "cifar10", samples: 200_000, printed: "much harder", ..PAPER },
];

/// Common settings of the paper's figures.
const PAPER: Case = Case { weights: Weights::Random, ..BY_SAMPLES };

/// Numbers of samples at which recovery is measured, besides the number that Corollary 1 allows.
const SAMPLES: [usize; 9] = [500, 1000, 1500, 2000, 3000, 5000, 10_000, 20_000, 60_000];

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

/// Outcomes of a case with this number of samples, one for each trial.
struct Outcome {
    case: Case,
    samples: usize,
    /// Number of training images, public and private.
    images: usize,
    found: Vec<Recovered>,
}

impl Outcome {
    fn shares(&self) -> Vec<f64> {
        self.found.iter().map(|found| found.share).collect()
    }

    /// Mean share of recovered images.
    fn share(&self) -> f64 {
        Mean::from_values(&self.shares()).value
    }

    /// Mean of the median distances.
    fn distance(&self) -> f64 {
        Mean::from_values(&self.found.iter().map(|found| found.distance).collect::<Vec<_>>()).value
    }

    fn ours(&self) -> String {
        let [share, distance] = self.cells();
        format!("{share} % recovered, at a median distance of {distance}")
    }

    fn known(&self) -> String {
        match self.case.public {
            Public::Share(share) => format!("{:.0} % of {} images", 100.0 * share, self.images),
            Public::OtherDigits => format!("the digits 6 to 9 and 0 of {} images", self.images),
        }
    }

    /// Share of recovered images in percent, and median distance.
    fn cells(&self) -> [String; 2] {
        [percent(&self.shares()), format!("{:.3}", self.distance())]
    }

    fn row(&self) -> Vec<String> {
        let Case { figure, data, parts, .. } = self.case;
        let samples = format!("{}, {parts} mixed", self.samples);
        let mut row = vec![figure.to_string(), data.into(), self.known(), samples];
        row.extend(self.cells());
        row
    }
}

/// Outcomes of all attacks.
struct Found {
    /// Outcomes of the paper's figures.
    figures: Vec<Outcome>,
    /// Outcomes by number of samples, with equal weights.
    equal: Vec<Outcome>,
    /// Outcomes by number of samples, with random weights.
    random: Vec<Outcome>,
}

/// Attacks of a result, with its store of finished trials.
struct Run<'a> {
    options: &'a RunOptions<'a>,
    name: &'static str,
    store: Option<Store<Trial<Recovered>>>,
}

pub(super) fn figures_2_to_7(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let found = measured(options, name)?;
    Ok(Evidence {
        trials: options.trainings(),
        findings: found.findings(),
        grids: found.grids(),
        notes: notes(),
        picture: found.picture(),
    })
}

/// Runs all attacks. The quick variant has digits only.
fn measured(options: &RunOptions, name: &'static str) -> Result<Found> {
    let digits = Data::load(options, "mnist")?;
    let run = Run { options, name, store: options.finished(name)? };
    let numbers = run.numbers(&digits)?;
    let is_run = |case: &Case| !options.quick || case.data == "mnist";
    let attacks = CASES.iter().filter(|case| is_run(case)).count() + 2 * numbers.len();
    (options.on_start)((attacks * options.trainings()) as u64);
    let mut figures = run.figures("mnist", &digits)?;
    let equal = run.by_samples(&digits, Weights::Equal, &numbers)?;
    let random = run.by_samples(&digits, Weights::Random, &numbers)?;
    drop(digits);
    if !options.quick {
        figures.extend(run.figures("cifar10", &Data::load(options, "cifar10")?)?);
    }
    Ok(Found { figures, equal, random })
}

fn notes() -> Vec<String> {
    vec![
        format!(
            "The adversary has the release and all public records. For each sample it knows the public \
             part, and the weight w of the private part. It regresses samples on public parts and \
             weights, by least squares with weights 1/w². It inverts the fit by the covariance of public \
             records (Wiener). It applies the inverse to {COUNTED} private images, each transformed \
             alone. An image counts as recovered within {WITHIN} of its distance from the mean of the \
             public records; the median distance is in the same unit. The transformation has one layer, \
             by approach 1, with the identity as activation."
        ),
        "The paper's adversary trains a network to predict the public part from the sample, and the \
         paper shows ten images. The private part is noise in the input of this network, which biases \
         it if private images differ from public ones. In the regression of the sample on the public \
         part, the private part is noise in the response, which biases nothing. The figures show that \
         the network learned little, not that little can be learned."
            .into(),
    ]
}

impl Run<'_> {
    /// Numbers of samples of the curves. The first is the number that Corollary 1 allows.
    fn numbers(&self, data: &Data) -> Result<Vec<usize>> {
        let mut stream = self.options.randomness(self.name, &[]).streams().stream(0);
        let [public, private] = parted(data, BY_SAMPLES.public, &mut stream)?;
        let allowed = within::allowed(self.options, data, public, private.len())?;
        let most = if self.options.quick { 2000 } else { usize::MAX };
        let more = SAMPLES.into_iter().filter(|samples| (allowed + 1..=most).contains(samples));
        Ok(std::iter::once(allowed).chain(more).collect())
    }

    /// Outcomes of the figures about `data`, which has this `name`.
    fn figures(&self, name: &str, data: &Data) -> Result<Vec<Outcome>> {
        let own = CASES.into_iter().filter(|case| case.data == name);
        let fewer = if self.options.quick { 30 } else { 1 };
        own.map(|case| self.outcome(data, case, case.samples / fewer)).collect()
    }

    /// Outcomes of mixtures with these `weights`, by number of samples.
    fn by_samples(&self, data: &Data, weights: Weights, numbers: &[usize]) -> Result<Vec<Outcome>> {
        let case = Case { weights, ..BY_SAMPLES };
        numbers.iter().map(|samples| self.outcome(data, case, *samples)).collect()
    }

    fn outcome(&self, data: &Data, case: Case, samples: usize) -> Result<Outcome> {
        let Self { options, name, store } = self;
        let one = |trial: usize| {
            let words = json!({
                "of": name, "figure": case.figure, "weights": case.weights, "samples": samples,
                "trial": trial, "images": options.images, "seed": options.seed,
            });
            let found =
                options.once(store, &words, || attacked(options, name, data, &case, samples, trial))?;
            (options.on_step)();
            Ok(found)
        };
        let found = (0..options.trainings()).map(one).collect::<Result<_>>()?;
        Ok(Outcome { case, samples, images: data.train.len(), found })
    }
}

impl Found {
    fn findings(&self) -> Vec<Finding> {
        let claims = CLAIMS.iter().map(|figures| {
            let relevant = self.figures.iter().filter(|outcome| figures.contains(&outcome.case.figure));
            relevant.collect::<Vec<_>>()
        });
        let findings = claims.filter(|outcomes| !outcomes.is_empty()).map(|outcomes| finding(&outcomes));
        let by_samples = by_samples_finding(&self.equal, &self.random);
        findings.chain(by_samples).chain(within_budget_finding(&self.equal)).collect()
    }

    fn grids(&self) -> Vec<Grid> {
        vec![
            Grid::new(
                "Private images recovered",
                ["figure", "data", "known", "samples", "recovered, %", "median distance"],
                self.figures.iter().map(Outcome::row),
            ),
            Grid::new(
                "Private digits recovered by number of samples, 2 mixed",
                ["samples", "equal weights, %", "distance", "random weights, %", "distance"],
                self.equal.iter().zip(&self.random).map(|(equal, random)| {
                    let mut row = vec![equal.samples.to_string()];
                    row.extend(equal.cells().into_iter().chain(random.cells()));
                    row
                }),
            ),
        ]
    }

    /// Chart of the shares recovered by number of samples, and sheets of private and recovered digits if
    /// images are shown.
    fn picture(&self) -> Picture {
        let layer = |name: &str, look, marks| Layer { name: name.into(), look, marks };
        let curve = |outcomes: &[Outcome]| {
            let points = outcomes.iter().map(|outcome| point(outcome.samples as f64, &outcome.shares()));
            Marks::Curve(points.collect())
        };
        let allowed = self.equal.first().map(|outcome| [outcome.samples as f64, 100.0 * outcome.share()]);
        let chart = Panel {
            title: "Private digits recovered by least squares, half of all digits known".into(),
            across: Scale::logarithmic("samples, 2 mixed"),
            up: Scale::linear("%"),
            layers: vec![
                layer("equal weights", 1, curve(&self.equal)),
                layer("random weights", 2, curve(&self.random)),
                layer("allowed by Corollary 1", 3, Marks::Dots(allowed.into_iter().collect())),
            ],
        };
        Picture {
            title: "Private images and their recovery".into(),
            panels: std::iter::once(chart).chain(self.figures.iter().filter_map(sheet)).collect(),
        }
    }
}

/// Private digits above their recovered versions, from the first trial; `None` without images.
fn sheet(outcome: &Outcome) -> Option<Panel> {
    let first = outcome.found.first().filter(|found| !found.private.is_empty())?;
    if outcome.case.data != "mnist" {
        return None;
    }
    let strips = [("private", &first.private), ("recovered", &first.recovered)];
    let strip = |(look, (name, images)): (usize, (&str, &Vec<String>))| Layer {
        name: name.into(),
        look,
        marks: Marks::Images { width: 28, images: images.clone() },
    };
    Some(Panel {
        title: format!(
            "Figure {}: {}, {} samples, {} mixed",
            outcome.case.figure,
            outcome.known(),
            outcome.samples,
            outcome.case.parts
        ),
        across: Scale::linear(""),
        up: Scale::linear(""),
        layers: strips.into_iter().enumerate().map(strip).collect(),
    })
}

/// Finding on the adversary of Figures 2 to 7 if the number of mixtures keeps to Corollary 1 of the paper.
fn within_budget_finding(equal: &[Outcome]) -> Option<Finding> {
    let outcome = equal.first()?;
    let samples = outcome.samples;
    Some(Finding {
        what: format!(
            "the same adversary if dauntless-mix (ours) keeps to its budget: {samples} samples, 2 mixed"
        ),
        paper: "60000 samples and more".into(),
        ours: outcome.ours(),
        value: Some(100.0 * outcome.share()),
        decision: rules::NOTHING_RECOVERED.on(outcome.share()),
        why: format!("Table 2 states the accuracy from {samples} samples"),
    })
}

/// Finding on the number of samples at which recovery begins.
fn by_samples_finding(equal: &[Outcome], random: &[Outcome]) -> Option<Finding> {
    let allowed = equal.first()?;
    let begins = |name: &str, outcomes: &[Outcome]| {
        let none = outcomes.iter().take_while(|outcome| outcome.share() < rules::NOTHING).last();
        let half = outcomes.iter().find(|outcome| outcome.share() >= rules::HALF);
        let none = none.map_or("at least 1 % from the first".into(), |outcome| {
            format!("less than 1 % up to {}", outcome.samples)
        });
        let half = half.map_or("less than half at all".into(), |outcome| {
            format!("half or more from {}", outcome.samples)
        });
        format!("{name} weights: {none}, {half}")
    };
    Some(Finding {
        what: "recovery by number of samples, 2 mixed, where half of all digits are known".into(),
        paper: "a budget of samples inhibits recovery; more difficult with fewer".into(),
        ours: format!("{}; {}", begins("equal", equal), begins("random", random)),
        value: equal
            .iter()
            .find(|outcome| outcome.share() >= rules::HALF)
            .map(|outcome| outcome.samples as f64),
        decision: rules::BUDGET_PROTECTS.on(allowed.share()),
        why: format!("Corollary 1 allows {} samples", allowed.samples),
    })
}

/// Figures grouped by claim. Figures 4 to 6 share one claim: recovery is harder if less is known, if there
/// are fewer samples, and if more records are mixed into each sample.
const CLAIMS: [&[u8]; 4] = [&[2], &[3], &[4, 5, 6], &[7]];

/// Finding on a claim: recovery of about 70 % in Figure 3, and hardly any recovery in all other figures.
fn finding(outcomes: &[&Outcome]) -> Finding {
    let each = |describe: &dyn Fn(&Outcome) -> String| {
        outcomes.iter().map(|outcome| describe(outcome)).collect::<Vec<_>>().join("; ")
    };
    let most = outcomes.iter().map(|outcome| outcome.share()).fold(0.0, f64::max);
    let is_easy = outcomes.iter().any(|outcome| outcome.case.figure == 3);
    let rule = if is_easy { rules::RECOVERED } else { rules::HARDLY_RECOVERED };
    let decision = rule.on(most);
    Finding {
        what: each(&|outcome| {
            format!(
                "Figure {}: recovery where {} are known, {} samples, {} mixed",
                outcome.case.figure,
                outcome.known(),
                outcome.samples,
                outcome.case.parts
            )
        }),
        paper: each(&|outcome| outcome.case.printed.into()),
        ours: each(&Outcome::ours),
        value: Some(100.0 * most),
        why: match (is_easy, decision.verdict) {
            (true, _) => "least squares recover more images than the paper's network",
            (false, Agreement::Reproduced) => "",
            (false, _) => {
                "the paper's network predicts the public part from the sample, and least squares predict \
                 the sample from the public part"
            }
        }
        .into(),
        decision,
    }
}

/// Releases mixtures, learns the transformation, and applies its inverse to private images.
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
    let alone = sample(&mut stream, private.len(), COUNTED.min(private.len())).into_vec();
    let targets = private.records().select(Axis(0), &alone);
    let mut fit = TransformationFit::new(public.records().view())?;
    for from in (0..samples).step_by(AT_ONCE) {
        let count = AT_ONCE.min(samples - from);
        let Mixed { mixtures, known, hidden } = mixed([&public, &private], case, count, &mut stream);
        fit.add(seen(&data.domain, &key, mixtures)?.view(), known.view(), hidden.view())?;
    }
    let recovered = fit.invert()?.recover(seen(&data.domain, &key, targets.clone())?.view());
    let mean = public.records().mean_axis(Axis(0)).unwrap_or_default();
    let from_mean = (&targets - &mean).map_axis(Axis(1), |row| row.dot(&row).sqrt());
    let mut shares: Vec<f64> = Inversion::distances(recovered.view(), targets.view())
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
        private: shown(&targets),
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

/// Mixtures (m × d), the public part of each (m × d), and the weight of its private part (m values).
struct Mixed {
    mixtures: Array2<f64>,
    known: Array2<f64>,
    hidden: Array1<f64>,
}

/// Mixes equally many public and private records into each of `samples` mixtures.
fn mixed([public, private]: [&Table; 2], case: &Case, samples: usize, stream: &mut Stream) -> Mixed {
    let dim = public.columns().len();
    let (mut mixtures, mut known) = (Array2::zeros((samples, dim)), Array2::zeros((samples, dim)));
    let mut hidden = Array1::zeros(samples);
    for ((mut mixture, mut known), hidden) in
        mixtures.outer_iter_mut().zip(known.outer_iter_mut()).zip(&mut hidden)
    {
        // The public parts come first, so their sum is the known part of the mixture.
        for (at, weight) in weights(case, stream).into_iter().enumerate() {
            let is_public = at < case.parts / 2;
            let side = if is_public { public } else { private };
            mixture.scaled_add(weight, &side.records().row(stream.gen_range(0..side.len())));
            if is_public {
                known.assign(&mixture);
            } else {
                *hidden += weight;
            }
        }
    }
    Mixed { mixtures, known, hidden }
}

/// Draws the weights of the records of a mixture, which add up to one.
fn weights(case: &Case, stream: &mut Stream) -> Vec<f64> {
    let share = |_| match case.weights {
        Weights::Equal => 1.0,
        Weights::Random => -stream.gen_range(f64::MIN_POSITIVE..1.0f64).ln(),
    };
    let shares: Vec<f64> = (0..case.parts).map(share).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
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

    fn recovered(case: &Case, samples: usize) -> Recovered {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        attacked(&options, "made-up", &Data::made_up(400, DIM, 7), case, samples, 0).unwrap()
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

    /// It does not matter whether private classes are known too.
    #[test]
    fn more_is_recovered_from_many_mixtures_than_from_a_handful() {
        for public in [Public::Share(0.5), Public::OtherDigits] {
            for weights in [Weights::Equal, Weights::Random] {
                let case = Case { public, weights, ..PAPER };
                let [many, few] = [recovered(&case, 20_000), recovered(&case, 2)];
                assert!(many.share > 0.95 && many.distance < 0.3, "{} at {}", many.share, many.distance);
                assert!(few.share < 0.2 && few.distance > 0.7, "{} at {}", few.share, few.distance);
                assert_eq!((many.private.len(), many.recovered[0].len()), (SHOWN, DIM));
            }
        }
    }

    /// If private records are zero, the known part is the whole mixture. If public records are zero, the
    /// known part is zero.
    #[test]
    fn what_is_known_of_a_mixture_is_its_public_part() {
        let data = Data::made_up(40, DIM, 2);
        let filled = |value: f64| {
            let records = data.train.records() * 0.0 + value;
            Table::new(data.train.columns().to_vec(), records, data.train.target().clone()).unwrap()
        };
        let [zero, one] = [0.0, 1.0].map(filled);
        let mut stream = Randomness::seeded(1).streams().stream(0);
        for (parts, weights) in [(2, Weights::Random), (4, Weights::Random), (2, Weights::Equal)] {
            let case = Case { parts, weights, ..PAPER };
            let Mixed { mixtures, known, .. } = mixed([&data.train, &zero], &case, 50, &mut stream);
            assert!((&mixtures - &known).iter().all(|x| *x == 0.0) && mixtures.iter().all(|x| *x > 0.0));
            let Mixed { mixtures, known, .. } = mixed([&zero, &data.train], &case, 50, &mut stream);
            assert!(known.iter().all(|x| *x == 0.0) && mixtures.iter().all(|x| *x > 0.0));
            // The weights of a mixture sum to one, and those of its private part are known.
            let Mixed { mixtures, known, hidden } = mixed([&one, &one], &case, 50, &mut stream);
            assert!(mixtures.iter().all(|x| (x - 1.0).abs() < 1e-12));
            assert!(known.column(0).iter().zip(&hidden).all(|(x, w)| (x + w - 1.0).abs() < 1e-12));
            assert_eq!(hidden.iter().all(|w| *w == 0.5), weights == Weights::Equal);
        }
    }
}
