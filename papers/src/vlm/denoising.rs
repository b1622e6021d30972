//! A learner that accounts for the noise of released latents (outputs of an encoder): from noisy latents, it
//! learns a classifier of latents without noise.

use super::collection::{Collection, Level, Plan, Subject, TestRecords};
use super::figures::{DIGITS, RULES, finite};
use super::joining::points;
use super::learner::Released;
use super::prepared::Prepared;
use super::{SEEDED, curve, panel, percent, shown};
use crate::report::Evidence;
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Panel, Picture, Result, RunOptions};
use scumble_core::largest;
use scumble_neural::{Activation, Adam, Architecture, Batches, Initialisation, Network, Optimiser, Pass};

use ndarray::{Array2, ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Maximum number of volunteers whose latents are the candidates for other people's latents before noise.
const VOLUNTEERS: usize = 4000;

/// Training of the network of latents: epochs, batch size and hidden units.
const EPOCHS: usize = 20;
const BATCH: usize = 128;
const HIDDEN: usize = 50;

/// Accuracy on test records, as shares.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Found {
    clean: f64,
    private: f64,
}

pub(super) fn denoising(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let collection = DIGITS.collected(options)?;
    let found = measured(options, name, &collection.plan)?;
    let both =
        [TestRecords::Clean, TestRecords::Private].map(|tested| Comparison::new(&collection, &found, tested));
    Ok(Evidence {
        trials: collection.plan.trials,
        findings: both.iter().map(Comparison::finding).collect(),
        grids: both.iter().map(Comparison::grid).collect(),
        notes: notes(),
        picture: Picture {
            title: "Learning from released digits with knowledge of the noise".into(),
            panels: both.iter().map(Comparison::panel).collect(),
        },
    })
}

/// Runs all trials, except for those that the store holds. A trial has a result for each finite local ε.
fn measured(options: &RunOptions, name: &str, plan: &Plan) -> Result<Vec<Vec<Found>>> {
    let store = options.finished(name)?;
    let one = |trial: usize| {
        let words = json!({
            "of": name, "trial": trial, "vlm": plan.model.parameters,
            "sizes": plan.sizes, "seed": options.seed,
            "learner": [VOLUNTEERS, EPOCHS, BATCH, HIDDEN],
            "local": plan.local.iter().filter(|local| local.is_finite()).collect::<Vec<_>>(),
            "scumble": env!("CARGO_PKG_VERSION"),
        });
        options.once(&store, &words, || run_trial(options, &DIGITS, trial))
    };
    (0..plan.trials).map(one).collect()
}

/// Accuracies on `tested` records of learners with and without knowledge of the noise.
struct Comparison {
    tested: TestRecords,
    /// Each finite local ε, and the accuracy of each trial: with knowledge of the noise, then without it.
    rows: Vec<(f64, Vec<f64>, Vec<f64>)>,
}

impl Comparison {
    fn new(collection: &Collection, found: &[Vec<Found>], tested: TestRecords) -> Self {
        let accuracy = |found: &Found| match tested {
            TestRecords::Clean => found.clean,
            TestRecords::Private => found.private,
        };
        let row = |(place, (at, local)): (usize, (usize, f64))| {
            let ours: Vec<f64> = found.iter().map(|trial| accuracy(&trial[place])).collect();
            (local, ours, collection.accuracies(0, at, Level::Latent, tested))
        };
        Self { tested, rows: finite(collection).enumerate().map(row).collect() }
    }

    fn finding(&self) -> Finding {
        let rows = self.rows.iter();
        let gains: Vec<(f64, Mean)> =
            rows.map(|(local, ours, others)| (*local, Mean::from_differences(ours, others))).collect();
        Finding {
            what: format!(
                "a learner that knows the noise against one that does not, records {}",
                self.tested.name()
            ),
            paper: "denoising gains (later version)".into(),
            ours: points(&gains),
            value: gains.iter().map(|(_, gain)| 100.0 * gain.value).reduce(f64::max),
            decision: rules::CLAIMED_GAIN.on_gains(gains.iter().map(|(_, gain)| gain.in_errors())),
            why: "± a standard error; both learn from the same releases of latents, at central ε = ∞".into(),
        }
    }

    fn grid(&self) -> Grid {
        let rows = self.rows.iter();
        Grid::new(
            format!("accuracy on records {}, %, ± a standard deviation", self.tested.name()),
            ["local ε", "knows the noise", "does not (Figures 1 and 4)"],
            rows.map(|(local, ours, others)| vec![shown(*local), percent(ours), percent(others)]),
        )
    }

    fn panel(&self) -> Panel {
        let local: Vec<f64> = self.rows.iter().map(|(local, ..)| *local).collect();
        let layers = vec![
            curve("knows the noise".into(), 0, &local, |at| self.rows[at].1.clone()),
            curve("does not".into(), 1, &local, |at| self.rows[at].2.clone()),
        ];
        panel(&format!("records {}", self.tested.name()), "accuracy, %, ± a standard deviation", layers)
    }
}

fn notes() -> Vec<String> {
    vec![
        format!(
            "The later version (arXiv 2010.12464v3) adds a denoising approach to learning, without \
             published code. In our version, the possible values of a released latent are the latents of \
             {VOLUNTEERS} volunteers, weighted by the likelihood of the noise. No label of the \
             volunteers is used. A network of {HIDDEN} units predicts the class of each possible value. \
             It learns from released latents and flipped labels, by their likelihood under the noise and \
             the flips ({EPOCHS} epochs). A released test record gets the class of the network's mean \
             prediction over its possible values."
        ),
        RULES.into(),
        SEEDED.into(),
    ]
}

/// Runs one trial at each finite local ε, on the releases of the reproduced figures.
fn run_trial(options: &RunOptions, subject: &Subject, trial: usize) -> Result<Vec<Found>> {
    let prepared = Prepared::new(options, subject, trial, VOLUNTEERS)?;
    let Prepared { plan, shared, places, sharing, test, test_classes, seed, .. } = &prepared;
    let finite: Vec<f64> = plan.local.iter().copied().filter(|local| local.is_finite()).collect();
    let one = |local: &f64| -> Result<Found> {
        let (labels, flip, mut randomness) = prepared.labels(options, subject, trial, *local)?;
        let (record_epsilon, _) = plan.split(*local)?;
        let records = shared.released(sharing, record_epsilon, &mut randomness)?;
        let scale = shared.noise_scale(record_epsilon);
        let learned = Learned::new(places, &Released { records, labels, flip }, scale, *seed)?;
        let released = shared.released(test, record_epsilon, &mut randomness)?;
        let right = |predicted: Array2<f64>| {
            let found = predicted.outer_iter().map(|odds| largest(&odds.to_vec()));
            let right = found.zip(test_classes).filter(|(found, class)| found == *class).count();
            right as f64 / test_classes.len().max(1) as f64
        };
        Ok(Found {
            clean: right(learned.odds(test.view())?),
            private: right(learned.odds_of_released(released.view())?),
        })
    };
    finite.par_iter().map(one).collect()
}

/// A network that classifies latents without noise, learned from released latents.
struct Learned<'a> {
    network: Network<f64>,
    places: &'a Array2<f64>,
    scale: f64,
}

impl<'a> Learned<'a> {
    /// Minimises the mean over people of the loss −ln Σ_c P(label | c) Σ_j wⱼ P(c | candidate j) with classes
    /// c. Here wⱼ is the probability that candidate j is the person's latent before noise, given the released
    /// latent. The candidates are the rows of `places`, and the noise is Laplace noise of scale `scale`.
    fn new(places: &'a Array2<f64>, released: &Released, scale: f64, seed: u64) -> Result<Self> {
        let classes = released.flip.nrows();
        let architecture = Architecture::new(places.ncols())
            .layer(HIDDEN, Activation::Relu)
            .layer(classes, Activation::Identity);
        let network = Network::new(architecture, Initialisation::Uniform, seed)?;
        let mut learned = Self { network, places, scale };
        let mut stepper =
            Optimiser::Adam(Adam::default()).start::<f64>(learned.network.parameters().len())?;
        let mut batches = Batches::new(released.labels.len(), BATCH, seed)?;
        let (mut pass, mut gradient) = (Pass::default(), vec![0.0; learned.network.parameters().len()]);
        for epoch in 0..EPOCHS {
            // Full learning rate for the first half of the epochs, then a linear decrease.
            let left = 2.0 * (EPOCHS - epoch) as f64 / EPOCHS as f64;
            stepper.set_learning_rate(Adam::default().learning_rate * left.min(1.0))?;
            let drawn: Vec<Vec<usize>> = batches.shuffled().map(<[usize]>::to_vec).collect();
            for people in drawn {
                let weights = learned.weights(released.records.select(Axis(0), &people).view());
                let predicted = softmax(learned.network.forward(places.view(), &mut pass)?);
                let slopes = slopes(
                    &weights,
                    &predicted,
                    &released.flip,
                    people.iter().map(|at| released.labels[*at]),
                );
                learned.network.backward(slopes.view(), &mut pass)?;
                learned.network.gradient(&pass, &mut gradient)?;
                stepper.step(learned.network.parameters_mut(), &gradient)?;
            }
        }
        Ok(learned)
    }

    /// Probability that each candidate is the latent before noise of each released latent. The result has one
    /// row for each released latent, and one column for each candidate.
    fn weights(&self, released: ArrayView2<f64>) -> Array2<f32> {
        let mut weights = Array2::<f32>::zeros((released.nrows(), self.places.nrows()));
        let weigh = |latent: ArrayView1<f64>, mut weights: ndarray::ArrayViewMut1<f32>| {
            let distances: Vec<f64> = self
                .places
                .outer_iter()
                .map(|place| place.iter().zip(&latent).map(|(a, b)| (a - b).abs()).sum::<f64>() / self.scale)
                .collect();
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let odds: Vec<f64> = distances.iter().map(|distance| (least - distance).exp()).collect();
            let sum: f64 = odds.iter().sum();
            weights.iter_mut().zip(&odds).for_each(|(weight, odds)| *weight = (odds / sum) as f32);
        };
        weights
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .zip(released.axis_iter(Axis(0)).into_par_iter())
            .for_each(|(weights, latent)| weigh(latent, weights));
        weights
    }

    /// Probability of each class, in columns, for each of `latents` without noise, in rows.
    fn odds(&self, latents: ArrayView2<f64>) -> Result<Array2<f64>> {
        Ok(softmax(self.network.predict(latents)?.view()))
    }

    /// Probability of each class, in columns, for each of `released` latents, in rows. It is the mean over
    /// the candidates, weighted by their probabilities.
    fn odds_of_released(&self, released: ArrayView2<f64>) -> Result<Array2<f64>> {
        let predicted = self.odds(self.places.view())?.mapv(|x| x as f32);
        Ok(self.weights(released).dot(&predicted).mapv(f64::from))
    }
}

/// Softmax of each row of `logits`.
fn softmax(logits: ArrayView2<f64>) -> Array2<f64> {
    let mut shares = logits.to_owned();
    for mut row in shares.outer_iter_mut() {
        let most = row.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        row.mapv_inplace(|x| (x - most).exp());
        let sum = row.sum();
        row /= sum;
    }
    shares
}

/// Gradient of the mean loss of n people with respect to the logits of K classes at the m candidates (m × K).
/// `weights` (n × m) are the probabilities of the candidates for each person. `predicted` (m × K) has the
/// network's class probabilities at the candidates.
fn slopes(
    weights: &Array2<f32>,
    predicted: &Array2<f64>,
    flip: &Array2<f64>,
    labels: impl Iterator<Item = usize>,
) -> Array2<f64> {
    let at_places = weights.dot(&predicted.mapv(|x| x as f32));
    let mut factors = Array2::<f32>::zeros(at_places.dim());
    for ((mut factors, at), label) in factors.outer_iter_mut().zip(at_places.outer_iter()).zip(labels) {
        let flip = flip.column(label);
        let whole: f64 = at.iter().zip(flip).map(|(at, flip)| f64::from(*at) * flip).sum();
        factors.iter_mut().zip(flip).for_each(|(factor, flip)| *factor = -(flip / whole) as f32);
    }
    let people = weights.nrows().max(1) as f64;
    let mut slopes = weights.t().dot(&factors).mapv(|x| f64::from(x) / people);
    for (mut slopes, predicted) in slopes.outer_iter_mut().zip(predicted.outer_iter()) {
        let mean = slopes.dot(&predicted);
        slopes.zip_mut_with(&predicted, |slope, predicted| *slope = predicted * (*slope - mean));
    }
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    /// Checks that the network learns the class of each of two candidates. It must be more certain of the
    /// class than the flipped labels are. Noise moves one latent in eight to the other candidate, and one
    /// label in eight is flipped.
    #[test]
    fn a_place_has_the_class_of_those_who_may_have_been_there() {
        let places = array![[0.0], [10.0]];
        let class = |row: usize| row / 8 % 2;
        let released = |row: usize| if row.is_multiple_of(8) { 1 - class(row) } else { class(row) };
        let records = Array2::from_shape_fn((8000, 1), |(row, _)| 10.0 * released(row) as f64);
        let labels =
            Array1::from_shape_fn(8000, |row| if row % 8 == 1 { 1 - class(row) } else { class(row) });
        let flip = array![[0.875, 0.125], [0.125, 0.875]];
        let learned = Learned::new(&places, &Released { records, labels, flip }, 5.0, 1).unwrap();
        let odds = learned.odds(places.view()).unwrap();
        assert!(odds[[0, 0]] > 0.85 && odds[[1, 1]] > 0.85, "{odds}");
    }

    #[test]
    fn odds_of_where_a_latent_was_are_those_of_laplace_noise() {
        let places = array![[0.0, 0.0], [1.0, 1.0]];
        let network =
            Network::new(Architecture::new(2).layer(2, Activation::Identity), Initialisation::Uniform, 1)
                .unwrap();
        let learned = Learned { network, places: &places, scale: 2.0 };
        let weights = learned.weights(array![[0.0, 0.0], [0.5, 0.5]].view());
        assert!((weights[[0, 0]] / weights[[0, 1]] - 1f32.exp()).abs() < 1e-5, "{weights}");
        assert!((weights[[1, 0]] - 0.5).abs() < 1e-6);
    }

    /// Mean loss of people with these `labels`.
    fn loss(weights: &Array2<f32>, logits: &Array2<f64>, flip: &Array2<f64>, labels: &[usize]) -> f64 {
        let at_places = weights.mapv(f64::from).dot(&softmax(logits.view()));
        let each = at_places.outer_iter().zip(labels).map(|(at, label)| -at.dot(&flip.column(*label)).ln());
        each.sum::<f64>() / labels.len() as f64
    }

    #[test]
    fn slopes_are_those_of_the_loss() {
        let weights = array![[0.25f32, 0.75], [0.5, 0.5], [1.0, 0.0]];
        let flip = array![[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]];
        let (logits, labels) = (array![[0.3, -0.2, 1.0], [0.0, 0.5, -1.0]], [0, 2, 1]);
        let found = slopes(&weights, &softmax(logits.view()), &flip, labels.into_iter());
        for at in [(0, 0), (0, 2), (1, 1)] {
            let moved = |by: f64| {
                let mut logits = logits.clone();
                logits[at] += by;
                loss(&weights, &logits, &flip, &labels)
            };
            let expected = (moved(1e-4) - moved(-1e-4)) / 2e-4;
            assert!((found[at] - expected).abs() < 1e-6, "{at:?}: {} and {expected}", found[at]);
        }
    }
}
