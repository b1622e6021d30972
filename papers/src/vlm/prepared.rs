//! A prepared trial of data collection: the mechanism of the reproduced figures, and the labels that people
//! release.

use super::collection::{Plan, Subject};
use super::learner::{Released, Rule};
use super::sharing::{Shared, classes_of, flipped};
use crate::{Result, RunOptions};
use ndarray::{Array1, Array2, Axis};
use scumble_core::Randomness;
use serde_json::json;

/// A trial of a [`Subject`]: its plan, the mechanism learned without a guarantee for volunteers, and the
/// people's latents.
pub(super) struct Prepared {
    pub plan: Plan,
    pub shared: Shared,
    /// Latents of the first volunteers. `sharing` and `test` are the latents of the people who share and of
    /// the test records.
    pub places: Array2<f64>,
    pub sharing: Array2<f64>,
    pub test: Array2<f64>,
    sharing_classes: Array1<usize>,
    pub test_classes: Array1<usize>,
    pub seed: u64,
}

impl Prepared {
    /// Prepares the trial `trial`, with the latents of at most `volunteers` volunteers.
    pub fn new(options: &RunOptions, subject: &Subject, trial: usize, volunteers: usize) -> Result<Self> {
        let plan = (subject.plan)(options);
        let data = (subject.data)(options)?;
        let mut stream = options.randomness(subject.name, &[trial as u64]).streams().stream(0);
        let people = data.divided(plan.sizes, &mut stream)?;
        let seed = super::seed_of(options, trial);
        let shared = plan.model.learned(&people.domain, people.volunteers.clone(), f64::INFINITY, seed)?;
        let first: Vec<usize> = (0..people.volunteers.len().min(volunteers)).collect();
        let places = shared.latents(people.volunteers.records().select(Axis(0), &first).view())?;
        let [sharing, test] =
            [&people.sharing, &people.test].map(|table| shared.latents(table.records().view()));
        let [sharing_classes, test_classes] = [&people.sharing, &people.test].map(classes_of);
        Ok(Self { plan, shared, places, sharing: sharing?, test: test?, sharing_classes, test_classes, seed })
    }

    /// Releases labels at a `local` ε, with the random draws of the reproduced figures. Returns the labels,
    /// the matrix that flipped them, and the randomness that releases records afterwards.
    pub fn labels(
        &self,
        options: &RunOptions,
        subject: &Subject,
        trial: usize,
        local: f64,
    ) -> Result<(Array1<usize>, Array2<f64>, Randomness)> {
        let draw = [f64::INFINITY.to_bits(), trial as u64, local.to_bits()];
        let mut randomness = options.randomness(subject.name, &draw);
        let (_, label_epsilon) = self.plan.split(local)?;
        let (labels, flip) =
            flipped(&self.sharing_classes, self.plan.classes, label_epsilon, &mut randomness)?;
        Ok((labels, flip, randomness))
    }
}

/// Accuracy of each trial on test records, if people release labels at `local` ε, as in the figures, and
/// latents in the clear. The further loss of accuracy in the figures is the cost of the noise on latents.
pub(super) fn by_labels_alone(options: &RunOptions, subject: &Subject, local: f64) -> Result<Vec<f64>> {
    let name = format!("{}-labels-alone", subject.name);
    let store = options.finished(&name)?;
    let plan = (subject.plan)(options);
    let one = |trial: usize| {
        let words = json!({
            "of": name, "trial": trial, "local": local, "vlm": plan.model.parameters, "sizes": plan.sizes,
            "seed": options.seed,
            "scumble": env!("CARGO_PKG_VERSION"),
        });
        options.once(&store, &words, || {
            let prepared = Prepared::new(options, subject, trial, 0)?;
            let (labels, flip, _) = prepared.labels(options, subject, trial, local)?;
            let released = Released { records: prepared.sharing, labels, flip };
            let rule = Rule::fit_network(&released, &plan.hidden[0], plan.epochs, prepared.seed)?;
            Ok(rule.accuracy(prepared.test.view(), &prepared.test_classes))
        })
    };
    (0..plan.trials).map(one).collect()
}
