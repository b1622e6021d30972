//! Data collection (Figures 1, 4 and 7 of Learning to Noise): people release records and labels. A classifier
//! learns from them, and classifies records in the clear or released records.

use super::learner::{Released, Rule, choose};
use super::people::{Data, People, Sizes};
use super::sharing::{Model, Shared, classes_of, flipped};
use crate::picture::shades;
use crate::{Error, Result, RunOptions};
use scumble_core::{Brief, Budget, Randomness, Table};

use ndarray::{Array1, Array2, Axis};
use rayon::prelude::*;
use scumble_comparison::store::{Key, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Representation of the records that people release: latents (outputs of an encoder) or features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Latent,
    Features,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::Latent => "latents",
            Self::Features => "features",
        }
    }
}

pub(super) const BOTH: [Level; 2] = [Level::Latent, Level::Features];

/// Records to classify with a model learned from released records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestRecords {
    Clean,
    Private,
}

impl TestRecords {
    /// Phrase for these records, to follow the word "records".
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "in the clear",
            Self::Private => "as released",
        }
    }
}

/// Accuracy on test records, as shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Accuracy {
    /// Accuracy on test records in the clear.
    clean: f64,
    /// Accuracy on test records as they would be released.
    private: f64,
}

/// Accuracies after one release.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Utility {
    latent: Option<Accuracy>,
    features: Accuracy,
    /// First test record of each class, as released and decoded, if the plan asks for images.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
}

impl Utility {
    pub fn accuracy(&self, level: Level, tested: TestRecords) -> f64 {
        let accuracy = match level {
            Level::Latent => self.latent,
            Level::Features => Some(self.features),
        };
        accuracy.map_or(f64::NAN, |accuracy| match tested {
            TestRecords::Clean => accuracy.clean,
            TestRecords::Private => accuracy.private,
        })
    }
}

/// Rows of the first record of each class below `count`.
fn first_of_each(classes: &Array1<usize>, count: usize) -> Vec<usize> {
    (0..count).filter_map(|class| classes.iter().position(|found| *found == class)).collect()
}

fn images(records: &Array2<f64>, rows: &[usize]) -> Vec<String> {
    rows.iter().map(|row| shades(records.row(*row))).collect()
}

/// Mechanism that releases records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum By {
    /// A variational Laplace mechanism, learned with this central ε for its volunteers (people whose records
    /// it is learned from). An infinite ε means no guarantee.
    Learned(f64),
    /// `direct`, which adds noise to each column separately.
    Direct,
}

/// Division of the local ε between a record and its label (Section 3.2 of the paper).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shares {
    /// Records get half of it up to ε = 4, and 0.7 of it above. [`By::Direct`], which divides ε by itself, is
    /// compared too.
    ByBudget,
    /// Records get this share.
    Fixed(f64),
    /// Labels are known, and records get all of it.
    KnownLabels,
}

/// Settings that determine the results, except for the seed.
#[derive(Clone)]
pub(super) struct Plan {
    pub sizes: Sizes,
    pub trials: usize,
    /// Values of the central ε, which protects the volunteers' records when a mechanism is learned from them.
    pub central: Vec<f64>,
    /// Values of the local ε, which protects a released record and its label.
    pub local: Vec<f64>,
    pub model: Model,
    /// Hidden layers of the classifier of latents, and of the classifier of features.
    pub hidden: [Vec<usize>; 2],
    pub classes: usize,
    /// Shows the first test record of each class before and after release. The release is by the first
    /// mechanism without a guarantee for volunteers.
    pub shows_images: bool,
    pub shares: Shares,
    /// Tries only the paper's network as a rule, at every ε, and not [`Rule::Means`].
    pub network_alone: bool,
    /// Maximum number of times that a classifier sees each record.
    pub epochs: usize,
    /// Number of releases by each person who shares: 1, or more to simulate more people.
    pub repeats: usize,
}

impl Plan {
    /// Share of the local ε that a record gets.
    pub fn share(&self, local: f64) -> f64 {
        match self.shares {
            Shares::KnownLabels => 1.0,
            Shares::Fixed(share) => share,
            Shares::ByBudget if local <= 4.0 => 0.5,
            Shares::ByBudget => 0.7,
        }
    }

    pub fn private_labels(&self) -> bool {
        self.shares != Shares::KnownLabels
    }

    /// ε of a record, and ε of its label.
    pub fn split(&self, local: f64) -> Result<(f64, f64)> {
        if local.is_infinite() || !self.private_labels() {
            return Ok((local, f64::INFINITY));
        }
        let (record_budget, label_budget) = Budget::pure(local)?.split(self.share(local))?;
        Ok((record_budget.epsilon(), label_budget.epsilon()))
    }

    fn learns_a_network(&self, local: f64) -> bool {
        self.network_alone || local > MEANS_ALONE
    }

    fn by(&self) -> Vec<By> {
        let learned = self.central.iter().map(|central| By::Learned(*central));
        learned.chain((self.shares == Shares::ByBudget).then_some(By::Direct)).collect()
    }
}

/// A data collection: its data, plan and notes.
pub(super) struct Subject {
    pub name: &'static str,
    pub data: fn(&RunOptions) -> Result<Data>,
    pub plan: fn(&RunOptions) -> Plan,
    /// The accuracy of the majority-class baseline.
    pub chance: f64,
    pub notes: fn(&Plan) -> Vec<String>,
}

impl Subject {
    pub fn collected(&self, options: &RunOptions) -> Result<Collection> {
        Collection::run(options, self.name, &(self.data)(options)?, (self.plan)(options))
    }

    /// Runs the network of volunteers with a central ε without this guarantee, at the least and at the
    /// largest finite local ε.
    pub fn collected_alike(&self, options: &RunOptions) -> Result<Collection> {
        let plan = (self.plan)(options);
        let mut finite = plan.local.iter().copied().filter(|local| local.is_finite());
        let local = [finite.next(), finite.next_back()].into_iter().flatten().collect();
        let model = plan.model.without_guarantee();
        let plan = Plan { model, local, central: vec![f64::INFINITY], shows_images: false, ..plan };
        Collection::run(options, &format!("{}-alike", self.name), &(self.data)(options)?, plan)
    }
}

/// Number of releases at a local ε of at most [`MEANS_ALONE`]. A model is learned from each release
/// separately. At such an ε, the result of a single release depends on its noise more than on everything
/// else.
const RELEASES: usize = 5;

/// Largest local ε at which only [`Rule::Means`] is tried. At such an ε, a network learns less than this
/// rule. From private labels it learns nothing that could be distinguished from chance.
const MEANS_ALONE: f64 = 2.0;

/// Results of every release of a data set.
#[derive(Clone)]
pub(super) struct Collection {
    pub plan: Plan,
    /// Results for each of `by`, each local ε and each trial.
    pub found: Vec<Vec<Vec<Utility>>>,
    pub by: Vec<By>,
    /// Number of test records in each trial.
    pub tests: usize,
    /// First test record of each class in the first trial, if the plan asks for images.
    before: Vec<String>,
}

impl Collection {
    /// Releases, learns and classifies, except for results that the store of `options` already holds. `name`
    /// is the name of `data` in the store.
    pub fn run(options: &RunOptions, name: &str, data: &Data, plan: Plan) -> Result<Self> {
        let by = plan.by();
        let jobs: Vec<Job> = (0..plan.trials)
            .flat_map(|trial| by.iter().map(move |by| (trial, *by)))
            .flat_map(|(trial, by)| plan.local.iter().map(move |local| Job { by, trial, local: *local }))
            .filter(|job| job.by != By::Direct || job.local.is_finite())
            .collect();
        (options.on_start)(jobs.len() as u64);
        let run = Run { options, name, plan: &plan, data, store: options.finished(name)? };
        let before: Vec<Option<Utility>> = jobs.iter().map(|job| run.before(job)).collect::<Result<_>>()?;
        // The mechanism of a trial is learned once, if the store lacks the result of any of its jobs.
        let all: Vec<Vec<Utility>> = chunks(&jobs, &before)
            .into_par_iter()
            .with_max_len(1)
            .map(|(jobs, before)| run.with_one_mechanism(jobs, before))
            .collect::<Result<_>>()?;
        let all = all.concat();
        let utilities = |by: By, local: f64| {
            let these = jobs.iter().zip(&all).filter(move |(job, _)| job.by == by && job.local == local);
            these.map(|(_, found)| found.clone()).collect()
        };
        let found =
            by.iter().map(|by| plan.local.iter().map(|local| utilities(*by, *local)).collect()).collect();
        let test = run.people(0)?.test;
        let shown = if plan.shows_images { first_of_each(&classes_of(&test), plan.classes) } else { vec![] };
        let (tests, before) = (test.len(), images(test.records(), &shown));
        Ok(Self { plan, found, by, tests, before })
    }

    /// Joins collections of the same people, each with one mechanism. `parts` has a row for each mechanism;
    /// rows after the first may lack a local ε.
    pub fn joined(plan: Plan, parts: Vec<Vec<Self>>) -> Self {
        let first = parts.first().into_iter().flatten();
        let local: Vec<f64> = first.clone().flat_map(|part| part.plan.local.clone()).collect();
        let tests = first.map(|part| part.tests).next().unwrap_or(0);
        let by = parts.iter().filter_map(|row| row.first()).flat_map(|part| part.by.clone()).collect();
        let found = parts.into_iter().map(|row| {
            let all: Vec<(f64, Vec<Utility>)> = row
                .into_iter()
                .flat_map(|part| part.plan.local.into_iter().zip(part.found.into_iter().flatten()))
                .collect();
            let at = |local: &f64| all.iter().find(|(other, _)| other == local);
            local.iter().map(|local| at(local).map_or(vec![], |(_, found)| found.clone())).collect()
        });
        let found = found.collect();
        Self { plan: Plan { local, ..plan }, found, by, tests, before: vec![] }
    }

    /// Replaces the results on features by those of another collection with as many trials.
    pub fn with_features_of(mut self, other: &Self) -> Self {
        let both = self.found.iter_mut().flatten().flatten();
        for (found, other) in both.zip(other.found.iter().flatten().flatten()) {
            found.features = other.features;
        }
        self
    }

    /// First test record of each class, in the clear and as released at each local ε, without a guarantee for
    /// volunteers.
    pub fn images(&self) -> Vec<(Option<f64>, &[String])> {
        let learned = self.by.iter().position(|by| *by == By::Learned(f64::INFINITY));
        let released = learned.into_iter().flat_map(|by| {
            let first_images =
                move |at: usize| self.found[by][at].first().map_or(&[][..], |found| &found.images);
            self.plan.local.iter().enumerate().map(move |(at, local)| (Some(*local), first_images(at)))
        });
        std::iter::once((None, &self.before[..]))
            .chain(released)
            .filter(|(_, images)| !images.is_empty())
            .collect()
    }

    /// Accuracy of each trial, as a share, for the mechanism at index `by` and the local ε at index `local`.
    pub fn accuracies(&self, by: usize, local: usize, level: Level, tested: TestRecords) -> Vec<f64> {
        self.found[by][local].iter().map(|found| found.accuracy(level, tested)).collect()
    }
}

/// One release and the models learned from it.
#[derive(Debug, Clone, Copy)]
struct Job {
    by: By,
    trial: usize,
    local: f64,
}

impl Job {
    /// Numbers that determine the random draws of this job.
    fn draw(&self) -> [u64; 3] {
        let by = match self.by {
            By::Learned(central) => central.to_bits(),
            By::Direct => 0,
        };
        [by, self.trial as u64, self.local.to_bits()]
    }
}

/// Groups consecutive jobs of one mechanism and trial, with their earlier results.
fn chunks<'j>(jobs: &'j [Job], before: &'j [Option<Utility>]) -> Vec<(&'j [Job], &'j [Option<Utility>])> {
    let mut rest = before;
    let same = |a: &Job, b: &Job| a.by == b.by && a.trial == b.trial;
    jobs.chunk_by(same)
        .map(|jobs| {
            let (these, others) = rest.split_at(jobs.len());
            rest = others;
            (jobs, these)
        })
        .collect()
}

/// A collection in progress.
struct Run<'a> {
    options: &'a RunOptions<'a>,
    name: &'a str,
    plan: &'a Plan,
    data: &'a Data,
    store: Option<Store<Utility>>,
}

/// Latents and classes of a trial's people, with the learned mechanism that encodes their records.
struct Ready<'a> {
    shared: &'a Shared,
    /// Latents of the people who share, of the people who validate, and of the test records.
    latents: [Array2<f64>; 3],
    classes: [Array1<usize>; 3],
}

impl Run<'_> {
    /// Description of everything on which the result of a job depends.
    fn words(&self, job: &Job) -> Value {
        let Plan { sizes, model, hidden, epochs, .. } = self.plan;
        let by = match job.by {
            By::Learned(central) => json!({
                "vlm": if central.is_finite() { &model.private } else { &model.parameters },
                "central": scumble_core::number::to_json(central),
            }),
            By::Direct => json!("direct"),
        };
        let mut words = json!({
            "of": self.name, "by": by, "trial": job.trial, "local": scumble_core::number::to_json(job.local),
            "sizes": sizes, "hidden": hidden, "epochs": epochs, "shows_images": self.plan.shows_images,
            "share": self.plan.share(job.local), "seed": self.options.seed,
            "scumble": env!("CARGO_PKG_VERSION"),
        });
        if self.plan.network_alone {
            words["rules"] = json!("network");
        }
        if self.plan.repeats > 1 {
            words["repeats"] = json!(self.plan.repeats);
        }
        words
    }

    fn before(&self, job: &Job) -> Result<Option<Utility>> {
        let Some(store) = &self.store else { return Ok(None) };
        Ok(store.find(&Key::from_content(&self.words(job))?).cloned())
    }

    fn with_one_mechanism(&self, jobs: &[Job], before: &[Option<Utility>]) -> Result<Vec<Utility>> {
        let Some(first) = jobs.iter().zip(before).find(|(_, before)| before.is_none()).map(|(job, _)| job)
        else {
            jobs.iter().for_each(|_| (self.options.on_step)());
            return Ok(before.iter().flatten().cloned().collect());
        };
        let people = self.people(first.trial)?;
        let shared = match first.by {
            By::Learned(central) => {
                // All mechanisms of a trial have the same volunteers, initial weights and order of records.
                let seed = super::seed_of(self.options, first.trial);
                Some(self.plan.model.learned(&people.domain, people.volunteers.clone(), central, seed)?)
            }
            By::Direct => None,
        };
        let ready = shared.as_ref().map(|shared| Ready::new(&people, shared)).transpose()?;
        let found = jobs.par_iter().zip(before).with_max_len(1).map(|(job, before)| {
            let found = match (before, &ready) {
                (Some(found), _) => found.clone(),
                (None, Some(ready)) => self.learned(job, ready)?,
                (None, None) => self.direct(job, &people)?,
            };
            if let (None, Some(store)) = (before, &self.store) {
                let words = self.words(job);
                store.add(Key::from_content(&words)?, &words, &found)?;
            }
            (self.options.on_step)();
            Ok(found)
        });
        found.collect()
    }

    fn people(&self, trial: usize) -> Result<People> {
        let mut stream = self.options.randomness(self.name, &[trial as u64]).streams().stream(0);
        self.data.divided(self.plan.sizes, &mut stream)
    }

    /// Accuracies of models learned from latents, and from features decoded from the same latents: the mean
    /// over releases.
    fn learned(&self, job: &Job, ready: &Ready) -> Result<Utility> {
        let mut randomness = self.options.randomness(self.name, &job.draw());
        let count = if job.local > MEANS_ALONE { 1 } else { RELEASES };
        let releases = (0..count).map(|_| self.released_once(job, ready, &mut randomness));
        let releases: Vec<Utility> = releases.collect::<Result<_>>()?;
        let mean =
            |measure: &dyn Fn(&Utility) -> f64| releases.iter().map(measure).sum::<f64>() / count as f64;
        let level_accuracy = |level: Level| Accuracy {
            clean: mean(&|found| found.accuracy(level, TestRecords::Clean)),
            private: mean(&|found| found.accuracy(level, TestRecords::Private)),
        };
        let images = releases.first().map(|found| found.images.clone()).unwrap_or_default();
        Ok(Utility {
            latent: Some(level_accuracy(Level::Latent)),
            features: level_accuracy(Level::Features),
            images,
        })
    }

    fn released_once(&self, job: &Job, ready: &Ready, randomness: &mut Randomness) -> Result<Utility> {
        let (record_epsilon, label_epsilon) = self.plan.split(job.local)?;
        let [sharing, validation, test] = &ready.latents;
        let repeated: Vec<usize> = (0..self.plan.repeats).flat_map(|_| 0..sharing.nrows()).collect();
        let (sharing, classes) =
            (&sharing.select(Axis(0), &repeated), ready.classes[0].select(Axis(0), &repeated));
        let (labels, flip) = flipped(&classes, self.plan.classes, label_epsilon, randomness)?;
        let mut released = |latents| ready.shared.released(latents, record_epsilon, randomness);
        let (shared, asked, tested) = (released(sharing)?, released(validation)?, released(test)?);
        let decoded = |latents: &Array2<f64>| ready.shared.decoded(latents.view());
        let feature_release =
            Released { records: decoded(&shared)?, labels: labels.clone(), flip: flip.clone() };
        let latent_release = Released { records: shared, labels, flip };
        let latent =
            self.accuracy(job, 0, &latent_release, [validation, test], [&asked, &tested], &ready.classes)?;
        let clean = [decoded(validation)?, decoded(test)?];
        let private = [decoded(&asked)?, decoded(&tested)?];
        let features =
            self.accuracy(job, 1, &feature_release, clean.each_ref(), private.each_ref(), &ready.classes)?;
        let keeps_images = self.plan.shows_images && job.trial == 0 && job.by == By::Learned(f64::INFINITY);
        let rows = if keeps_images { first_of_each(&ready.classes[2], self.plan.classes) } else { vec![] };
        Ok(Utility { latent: Some(latent), features, images: images(&private[1], &rows) })
    }

    /// Accuracy of models learned from features with independent noise on each feature.
    fn direct(&self, job: &Job, people: &People) -> Result<Utility> {
        let mut randomness = self.options.randomness(self.name, &job.draw());
        let brief = Brief::new(people.domain.clone(), Budget::pure(job.local)?);
        let design = self.options.registry.get("direct")?.design(&Value::Null, &brief)?;
        let mut released = |table: &Table| design.mechanism().release(table, &mut randomness);
        let (shared, asked, tested) =
            (released(&people.sharing)?, released(&people.validation)?, released(&people.test)?);
        let flip = shared.noise.label_flip().unwrap_or_else(|| Array2::eye(self.plan.classes));
        let feature_release =
            Released { records: shared.table.records().clone(), labels: classes_of(&shared.table), flip };
        let classes = [&people.sharing, &people.validation, &people.test].map(classes_of);
        let clean = [people.validation.records(), people.test.records()];
        let private = [asked.table.records(), tested.table.records()];
        let features = self.accuracy(job, 1, &feature_release, clean, private, &classes)?;
        Ok(Utility { latent: None, features, images: vec![] })
    }

    /// Accuracy on test records of the rules that the people who validate choose. `clean` and
    /// `private` each hold two sets of records: first those of the people who validate, then the test
    /// records.
    fn accuracy(
        &self,
        job: &Job,
        level: usize,
        released: &Released,
        clean: [&Array2<f64>; 2],
        private: [&Array2<f64>; 2],
        [_, validation_classes, test_classes]: &[Array1<usize>; 3],
    ) -> Result<Accuracy> {
        let Plan { hidden, epochs, network_alone, .. } = self.plan;
        let mut rules = if *network_alone { vec![] } else { vec![Rule::fit_means(released)] };
        if self.plan.learns_a_network(job.local) {
            rules.push(Rule::fit_network(released, &hidden[level], *epochs, job.trial as u64 + 1)?);
        }
        let mut answers: Randomness =
            self.options.randomness(self.name, &[job.draw(), [level as u64, 1, 0]].concat());
        let mut chosen_accuracy = |[validation, test]: [&Array2<f64>; 2]| {
            let mut stream = answers.streams().stream(0);
            let chosen = choose(&rules, validation.view(), validation_classes, job.local, &mut stream)?;
            Ok::<_, Error>(chosen.map_or(f64::NAN, |rule| rule.accuracy(test.view(), test_classes)))
        };
        Ok(Accuracy { clean: chosen_accuracy(clean)?, private: chosen_accuracy(private)? })
    }
}

impl<'a> Ready<'a> {
    fn new(people: &People, shared: &'a Shared) -> Result<Self> {
        let tables = [&people.sharing, &people.validation, &people.test];
        let [sharing, validation, test] = tables.map(|table| shared.latents(table.records().view()));
        Ok(Self { shared, latents: [sharing?, validation?, test?], classes: tables.map(classes_of) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    fn tiny(classes: usize) -> Plan {
        Plan {
            sizes: Sizes { volunteers: 300, others: 400, test: 100 },
            trials: 2,
            central: vec![f64::INFINITY, 4.0],
            local: vec![2.0, 20.0, f64::INFINITY],
            model: Model {
                parameters: json!({ "hidden": [16], "latent_dim": 2, "epochs": 40, "learning_rate": 0.005 }),
                private: json!({
                    "hidden": [8], "latent_dim": 2, "volunteers": { "epochs": 2.0, "expected_batch": 300 }
                }),
            },
            hidden: [vec![8], vec![8]],
            classes,
            shares: Shares::ByBudget,
            network_alone: false,
            repeats: 1,
            shows_images: false,
            epochs: 20,
        }
    }

    fn lines(folder: &Path, name: &str) -> usize {
        std::fs::read_to_string(folder.join(name).with_added_extension("jsonl")).unwrap().lines().count()
    }

    #[test]
    fn what_was_found_is_found_again_at_no_cost() {
        let folder = tempfile::tempdir().unwrap();
        let registry = Registry::installed().unwrap();
        let options = RunOptions { store: Some(folder.path()), ..RunOptions::new(&registry, Path::new("")) };
        let data = Data::made_up(4000, 2);
        let all = |collection: &Collection| -> Vec<f64> {
            let found = collection.found.iter().flatten().flatten();
            found.flat_map(|found| [found.features.clean, found.features.private]).collect()
        };
        let found = Collection::run(&options, "made/up", &data, tiny(2)).unwrap();
        // Two central ε at three local ε, and `direct` at two, in two trials.
        assert_eq!(lines(folder.path(), "made/up"), 16);
        assert_eq!(all(&found).len(), 32);
        // With all results in the store nothing is learned, so an empty data set gives the same results.
        let again = Collection::run(&options, "made/up", &Data::made_up(0, 2), tiny(2)).unwrap();
        assert_eq!((all(&again), lines(folder.path(), "made/up")), (all(&found), 16));
        // A run without a store gives the same results. A run with an additional budget computes only the new
        // results.
        let alone = RunOptions { store: None, ..options };
        assert_eq!(all(&Collection::run(&alone, "made/up", &data, tiny(2)).unwrap()), all(&found));
        let more = Plan { central: vec![f64::INFINITY], local: vec![2.0, 3.0], ..tiny(2) };
        Collection::run(&options, "made/up", &data, more).unwrap();
        assert_eq!(lines(folder.path(), "made/up"), 20);
        // The network alone has results of its own, also at small ε.
        let network = Plan { network_alone: true, central: vec![f64::INFINITY], local: vec![2.0], ..tiny(2) };
        Collection::run(&options, "made/up", &data, network).unwrap();
        // One result in each of two trials, and the same number for `direct`.
        assert_eq!(lines(folder.path(), "made/up"), 24);
    }

    /// Each part has one mechanism and one local ε, as in the results of a table whose rows have settings of
    /// their own.
    #[test]
    fn joined_parts_are_the_collection_of_all() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let data = Data::made_up(2000, 2);
        let run = |central: Vec<f64>, local: Vec<f64>| {
            let plan = Plan { central, local, shares: Shares::Fixed(0.5), network_alone: true, ..tiny(2) };
            Collection::run(&options, "made-up", &data, plan).unwrap()
        };
        let (one, other) = (f64::INFINITY, 4.0);
        let together = run(vec![one, other], vec![2.0, 20.0]);
        let parts = vec![
            vec![run(vec![one], vec![2.0]), run(vec![one], vec![20.0])],
            vec![run(vec![other], vec![20.0])],
        ];
        let joined = Collection::joined(together.plan.clone(), parts);
        assert_eq!((&joined.by, joined.tests), (&together.by, together.tests));
        assert_eq!(joined.plan.local, [2.0, 20.0]);
        for level in [Level::Latent, Level::Features] {
            let of = |collection: &Collection, by: usize, local: usize| {
                collection.accuracies(by, local, level, TestRecords::Clean)
            };
            for (by, local) in [(0, 0), (0, 1), (1, 1)] {
                assert_eq!(of(&joined, by, local), of(&together, by, local));
            }
            assert!(of(&joined, 1, 0).is_empty(), "this mechanism has no part at ε = 2");
        }
        let before = joined.accuracies(0, 1, Level::Latent, TestRecords::Clean);
        let features = run(vec![one], vec![20.0, 2.0]);
        let mixed = joined.with_features_of(&features);
        assert_eq!(mixed.accuracies(0, 1, Level::Latent, TestRecords::Clean), before);
        assert_eq!(
            mixed.accuracies(0, 1, Level::Features, TestRecords::Clean),
            features.accuracies(0, 1, Level::Features, TestRecords::Clean)
        );
    }

    /// Seeded. Without noise the two classes are far apart: one record in a thousand is in doubt.
    #[test]
    fn accuracy_rises_with_the_budget() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        let plan = Plan { central: vec![f64::INFINITY], ..tiny(2) };
        let found = Collection::run(&options, "made-up", &Data::made_up(4000, 2), plan).unwrap();
        let mean = |by: usize, local: usize, tested: TestRecords| -> f64 {
            let accuracies = found.accuracies(by, local, Level::Latent, tested);
            accuracies.iter().sum::<f64>() / accuracies.len() as f64
        };
        assert!(
            mean(0, 2, TestRecords::Clean) > 0.95 && mean(0, 1, TestRecords::Clean) > 0.95,
            "{:?}",
            found.found
        );
        assert!(
            mean(0, 0, TestRecords::Private) < 0.75 && mean(0, 1, TestRecords::Private) > 0.9,
            "{:?}",
            found.found
        );
        let direct = found.by.len() - 1;
        assert!(
            found.accuracies(direct, 2, Level::Features, TestRecords::Clean).is_empty(),
            "direct has no ε = ∞"
        );
    }

    /// Learns one mechanism from a few images, and releases once.
    #[test]
    fn digits_are_shown_before_and_after() {
        let folder = scumble_datasets::folder();
        if !folder.join("mnist").exists() {
            scumble_testing::missing(folder.join("mnist").display());
            return;
        }
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, &folder);
        let plan = Plan {
            trials: 1,
            central: vec![f64::INFINITY],
            local: vec![2.0],
            shows_images: true,
            model: Model {
                parameters: json!({ "likelihood": "logit", "hidden": [50], "epochs": 20 }),
                private: Value::Null,
            },
            ..tiny(10)
        };
        let data = Data::digits(&options).unwrap();
        let found = Collection::run(&options, "digits", &data, plan).unwrap();
        let images = found.images();
        assert_eq!(images.iter().map(|(local, _)| *local).collect::<Vec<_>>(), [None, Some(2.0)]);
        for (_, images) in images {
            assert_eq!(images.len(), 10);
            assert!(
                images
                    .iter()
                    .all(|image| image.len() == 784
                        && image.bytes().all(|shade| (b'0'..=b'7').contains(&shade)))
            );
        }
    }
}
