//! A network's representations of digits, released as inputs of the network's last layers.

use super::BY_EPSILON;
use super::noise::{BOTH, Noise};
use super::reshape::{Reshaping, coordinate_wise, largest_loss};
use crate::gains::{curve, gain_finding};
use crate::report::Evidence;
use crate::rules;
use crate::task::classes_of;
use crate::trials::Mean;
use crate::{Agreement, Finding, Grid, Panel, Picture, Result, RunOptions, Scale, reported};
use scumble_core::Table;
use scumble_datasets::source;
use scumble_neural::{
    Activation, Adam, Architecture, Examples, Initialisation, Loss, Network, Optimiser, Pass, Training,
};

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

const CLASSES: usize = 10;

/// Units of the encoder's layers, and of the classifier's layers.
const HIDDEN: usize = 512;
const BEHIND: [usize; 2] = [10, 32];

/// Weight decay of the classifier and its encoder.
const WEIGHT_DECAY: f64 = 1e-4;

/// Number of representations at which the classifier's Jacobian is computed.
const JACOBIANS: usize = 500;

/// Number of test images whose representations are compared in pairs.
const PAIRED: usize = 2500;

/// Compared releases: four of the paper's, then ours.
const RELEASES: [&str; 5] = [
    "Laplace noise",
    "Laplace noise, reshaped",
    "PrivUnit",
    "PrivUnit, reshaped",
    "randomized-response (ours)",
];

/// Numbers of training images, test images and epochs.
#[derive(Debug, Clone, Copy, Serialize)]
struct Sizes {
    train: usize,
    test: usize,
    epochs: usize,
}

fn sizes(options: &RunOptions) -> Sizes {
    match options.quick {
        true => Sizes { train: 5000, test: 500, epochs: 4 },
        false => Sizes { train: 60_000, test: 2500, epochs: 40 },
    }
}

fn budgets(options: &RunOptions) -> Vec<f64> {
    if options.quick { vec![1.0, 5.0, 10.0] } else { vec![0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0] }
}

fn dimensions(options: &RunOptions) -> &'static [usize] {
    if options.quick { &[16] } else { &[16, 32, 64] }
}

/// Outcome of a trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Found {
    /// Accuracy without noise. All accuracies are shares of the test images.
    clean: f64,
    /// Accuracies at each budget and for each noise: without reshaping, with reshaping, and with reshaping
    /// plus post-processing. The post-processing leaves out directions along which the classifier hardly
    /// changes.
    released: Vec<[[f64; 3]; 2]>,
    /// Largest privacy loss (log odds) of coordinate-wise noise between two images, divided by the claimed ε.
    /// The first value is for test images; the second is for test images together with their negatives (1
    /// minus each pixel).
    losses: [f64; 2],
    /// Share of the variance of public representations along directions that the classifier sees
    /// ([`Reshaping::seen()`]). It sees a direction if the singular value of its Jacobian along it is above a
    /// hundredth of the largest one.
    seen: f64,
}

impl Found {
    /// Gain of accuracy `which` in [`Found::released`] over the one without reshaping, at a budget.
    fn gain(&self, at: usize, noise: Noise, which: usize) -> f64 {
        let accuracies = self.released[at][noise as usize];
        accuracies[which] - accuracies[0]
    }

    /// Highest accuracy of the paper's releases at a budget.
    fn best(&self, at: usize) -> f64 {
        self.released[at].iter().flat_map(|accuracies| &accuracies[..2]).copied().fold(0.0, f64::max)
    }
}

pub(super) fn digits(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let (budgets, dimensions, trials) = (budgets(options), dimensions(options), options.trainings());
    let digits = source("mnist")?.load(options.folder)?;
    let first_of_test = digits.train_records.unwrap_or(digits.table.len());
    let store = options.finished(name)?;
    // The full variant also trains the widest representation without weight decay.
    let without_decay = dimensions.last().filter(|_| !options.quick);
    (options.on_start)(((dimensions.len() + without_decay.iter().len()) * trials) as u64);
    let one = |dim: usize, trial: usize, weight_decay: f64| -> Result<Found> {
        let words = json!({
            "of": name, "dim": dim, "trial": trial, "sizes": sizes(options), "begins": "autoencoder",
            "also": "without unseen", "weight_decay": weight_decay, "budgets": budgets, "seed": options.seed,
        });
        let found = options.once(&store, &words, || {
            let mut stream = options.randomness(name, &[dim as u64, trial as u64]).streams().stream(0);
            let mut part = |rows: std::ops::Range<usize>, most: usize| {
                let mut rows: Vec<usize> = rows.collect();
                rows.shuffle(&mut stream);
                rows.truncate(most);
                digits.table.select(&rows)
            };
            let train = part(0..first_of_test, sizes(options).train)?;
            let test = part(first_of_test..digits.table.len(), sizes(options).test)?;
            found(options, name, [&train, &test], dim, trial, weight_decay)
        });
        (options.on_step)();
        found
    };
    let run_trials =
        |dim: usize, weight_decay: f64| (0..trials).map(|trial| one(dim, trial, weight_decay)).collect();
    let all: Vec<Vec<Found>> =
        dimensions.iter().map(|dim| run_trials(*dim, WEIGHT_DECAY)).collect::<Result<_>>()?;
    let without: Option<Vec<Found>> = without_decay.map(|dim| run_trials(*dim, 0.0)).transpose()?;
    let mut evidence = evidence(options, &all, trials)?;
    let note = without_decay.zip(without).map(|(dim, found)| no_decay_note(options, *dim, &found));
    evidence.notes.extend(note);
    Ok(evidence)
}

/// Trains the networks, releases the test images, and classifies the released representations.
fn found(
    options: &RunOptions,
    name: &str,
    [train, test]: [&Table; 2],
    dim: usize,
    trial: usize,
    weight_decay: f64,
) -> Result<Found> {
    let seed = options.seed.wrapping_mul(1000).wrapping_add(trial as u64);
    let [encoder, classifier] = trained(train, dim, sizes(options).epochs, weight_decay, seed)?;
    let seen = |table: &Table| -> Result<Array2<f64>> {
        Ok(encoder.predict(table.records().mapv(|x| x as f32).view())?.mapv(f64::from))
    };
    let (public, private) = (seen(train)?, seen(test)?);
    let truth = classes_of(test);
    let right = |representations: ArrayView2<f64>| -> Result<f64> {
        let found = classifier.classify(representations.mapv(|x| x as f32).view())?;
        let right = found.iter().zip(&truth).filter(|(found, class)| found == class).count();
        Ok(right as f64 / truth.len().max(1) as f64)
    };
    let some = public.slice(s![..public.nrows().min(JACOBIANS), ..]);
    let reshaping = Reshaping::new(jacobian(&classifier, some)?.view(), public.view())?;
    let before = |representations: &Array2<f64>| reshaping.before(representations.view());
    let released = budgets(options).into_par_iter().map(|epsilon| {
        let mut accuracies = [[0.0; 3]; 2];
        for (noise, accuracies) in BOTH.into_iter().zip(&mut accuracies) {
            let randomness = |reshaped: bool| {
                let draws = [dim as u64, trial as u64, epsilon.to_bits(), noise as u64, u64::from(reshaped)];
                options.randomness(name, &draws)
            };
            let plain = noise.plain(public.view(), private.clone(), epsilon, &mut randomness(false))?;
            let noisy =
                noise.plain(before(&public).view(), before(&private), epsilon, &mut randomness(true))?;
            let back = reshaping.after(noisy.view());
            let seen = reshaping.after_without_unseen(noisy);
            *accuracies = [right(plain.view())?, right(back.view())?, right(seen.view())?];
        }
        Ok(accuracies)
    });
    let released: Vec<[[f64; 3]; 2]> = released.collect::<Result<_>>()?;
    let scales = coordinate_wise(reshaping.before(public.view()).view());
    let paired = reshaping.before(private.slice(s![..private.nrows().min(PAIRED), ..]));
    let negatives = test.records().slice(s![..paired.nrows(), ..]).mapv(|x| 1.0 - x as f32);
    let negatives = reshaping.before(encoder.predict(negatives.view())?.mapv(f64::from).view());
    let both = concatenate(Axis(0), &[paired.view(), negatives.view()])
        .map_err(|problem| scumble_core::Error::shape(problem.to_string()))?;
    let losses = [&paired, &both].map(|images| largest_loss(&scales, images.view()));
    Ok(Found { clean: right(private.view())?, released, losses, seen: reshaping.seen(public.view()) })
}

/// Trains a classification network and cuts it at its representation. Returns the encoder and the classifier.
fn trained(
    train: &Table,
    dim: usize,
    epochs: usize,
    weight_decay: f64,
    seed: u64,
) -> Result<[Network<f32>; 2]> {
    let pixels = train.columns().len();
    let encoder = Architecture::new(pixels)
        .layer(HIDDEN, Activation::Relu)
        .layer(HIDDEN, Activation::Relu)
        .layer(dim, Activation::Identity);
    let architecture = encoder
        .clone()
        .layer(BEHIND[0], Activation::Relu)
        .layer(BEHIND[1], Activation::Relu)
        .layer(CLASSES, Activation::Identity);
    let mut start = Network::<f32>::new(architecture, Initialisation::Uniform, seed)?;
    let training = |epochs: usize, weight_decay: f64| Training {
        epochs,
        batch_size: 128,
        optimiser: Optimiser::Adam(Adam { weight_decay, ..Adam::default() }),
        annealed: true,
        seed,
        ..Training::default()
    };
    let classes = classes_of(train);
    let records = train.records().mapv(|x| x as f32);
    // An autoencoder is trained first, and its encoder initialises the network.
    let mirrored = encoder
        .clone()
        .layer(HIDDEN, Activation::Relu)
        .layer(HIDDEN, Activation::Relu)
        .layer(pixels, Activation::Identity);
    let images = Examples { records: records.view(), loss: Loss::BinaryCrossEntropy(records.view()) };
    let mirrored = Network::<f32>::new(mirrored, Initialisation::Uniform, seed)?;
    let mirrored = training(epochs / 2, 0.0).fit(&mirrored, images, None, |_| ())?;
    let encoder_len = encoder.parameters()?;
    start.parameters_mut()[..encoder_len].copy_from_slice(&mirrored.parameters()[..encoder_len]);
    let examples = Examples { records: records.view(), loss: Loss::CrossEntropy(classes.view()) };
    let network = training(epochs, weight_decay).fit(&start, examples, None, |_| ())?;
    let behind = &network.architecture().layers[encoder.layers.len()..];
    let classifier =
        behind.iter().fold(Architecture::new(dim), |part, layer| part.layer(layer.outputs, layer.activation));
    let (encoder_part, classifier_part) = network.parameters().split_at(encoder_len);
    Ok([
        Network::from_parameters(encoder, encoder_part.to_vec())?,
        Network::from_parameters(classifier, classifier_part.to_vec())?,
    ])
}

/// Derivatives of all K outputs of a network with respect to its D inputs, at n records. The result is nK ×
/// D: n rows for the first output, then n rows for the second, and so on.
fn jacobian(network: &Network<f32>, records: ArrayView2<f64>) -> Result<Array2<f64>> {
    let records = records.mapv(|x| x as f32);
    let (n, outputs) = (records.nrows(), network.architecture().outputs());
    let mut all = Array2::zeros((n * outputs, records.ncols()));
    let mut pass = Pass::default();
    for output in 0..outputs {
        network.forward(records.view(), &mut pass)?;
        let one_hot = Array2::from_shape_fn((n, outputs), |(_, at)| if at == output { 1.0 } else { 0.0 });
        network.backward(one_hot.view(), &mut pass)?;
        let slopes = network.input_gradient(&mut pass)?.mapv(f64::from);
        all.slice_mut(s![output * n..(output + 1) * n, ..]).assign(&slopes);
    }
    Ok(all)
}

/// Accuracy in each trial if a person's own device answers with the class, by randomised response at ε.
fn answered(found: &[Found], epsilon: f64) -> Result<Vec<f64>> {
    found.iter().map(|found| reported::answered(found.clean, CLASSES, epsilon)).collect()
}

/// Shows the mean and the standard deviation of percentages.
fn shown(values: &[f64]) -> String {
    let mean = Mean::from_values(values);
    format!("{:.1} ± {:.1}", mean.value, mean.error * (values.len() as f64).sqrt())
}

/// Outcomes of all trials with representations of `dim` numbers.
struct Trials<'a> {
    dim: usize,
    budgets: &'a [f64],
    found: &'a [Found],
    /// Accuracies of our alternative ([`answered`]) at each budget and in each trial.
    ours: Vec<Vec<f64>>,
}

impl<'a> Trials<'a> {
    fn new(dim: usize, budgets: &'a [f64], found: &'a [Found]) -> Result<Self> {
        let ours = budgets.iter().map(|epsilon| answered(found, *epsilon)).collect::<Result<_>>()?;
        Ok(Self { dim, budgets, found, ours })
    }

    fn percent(&self, value: impl Fn(&Found) -> f64) -> Vec<f64> {
        self.found.iter().map(|found| 100.0 * value(found)).collect()
    }

    fn by_budget(&self, values: impl Fn(usize) -> Vec<f64>) -> Vec<(f64, Vec<f64>)> {
        self.budgets.iter().enumerate().map(|(at, epsilon)| (*epsilon, values(at))).collect()
    }

    /// Gains in accuracy ([`Found::gain`]) at each budget, in points.
    fn gains(&self, noise: Noise, which: usize) -> Vec<(f64, Vec<f64>)> {
        self.by_budget(|at| self.percent(|found| found.gain(at, noise, which)))
    }

    /// Accuracies of a release at a budget, in percent. `which` is its index in [`RELEASES`].
    fn accuracies(&self, at: usize, which: usize) -> Vec<f64> {
        match which {
            4 => self.ours[at].iter().map(|right| 100.0 * right).collect(),
            _ => self.percent(|found| found.released[at][which / 2][which % 2]),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let reshaped = BOTH.map(|noise| self.reshaping_finding(noise));
        reshaped.into_iter().chain([self.answer_finding()]).collect()
    }

    /// Finding that reshaping improves the accuracy with this noise.
    fn reshaping_finding(&self, noise: Noise) -> Finding {
        let dim = self.dim;
        let mut improves = gain_finding(
            &rules::CLAIMED_GAIN,
            format!("{} with reshaping against without, {dim} numbers: gain in accuracy", noise.name()),
            "reshaping improves it",
            ("points", BY_EPSILON),
            &self.gains(noise, 1),
        );
        if improves.decision.verdict == Agreement::Differs {
            let left_out = self
                .gains(noise, 2)
                .into_iter()
                .map(|(epsilon, gains)| format!("{:+.1} at ε = {epsilon}", Mean::from_values(&gains).value));
            improves.why += &format!(
                "; if the directions that the classifier does not see in public representations are left \
                 out after the release, the gains are {} points; the noise along them is √1000 times as \
                 wide, and may activate units that no public representation activates",
                left_out.collect::<Vec<_>>().join(", ")
            );
        }
        improves
    }

    /// Finding on the accuracy of our alternative against the best of the paper's releases.
    fn answer_finding(&self) -> Finding {
        let dim = self.dim;
        let ahead = self.by_budget(|at| {
            let each = self.found.iter().zip(&self.ours[at]);
            each.map(|(found, ours)| 100.0 * (ours - found.best(at))).collect()
        });
        gain_finding(
            &rules::GAINS,
            format!("the class by randomized-response (ours) instead of {dim} numbers: gain in accuracy"),
            "the best of the paper's releases",
            ("points", BY_EPSILON),
            &ahead,
        )
    }

    fn grid(&self) -> Grid {
        let dim = self.dim;
        let title = format!(
            "accuracy on test images, %, ± a standard deviation: {dim} numbers, with an accuracy of {} % \
             without noise; the classifier sees {} % of their variance",
            shown(&self.percent(|found| found.clean)),
            shown(&self.percent(|found| found.seen))
        );
        let rows = self.budgets.iter().enumerate().map(|(at, epsilon)| {
            let accuracies = (0..RELEASES.len()).map(|which| shown(&self.accuracies(at, which)));
            std::iter::once(epsilon.to_string()).chain(accuracies).collect()
        });
        Grid::new(title, std::iter::once("ε").chain(RELEASES), rows)
    }

    fn panel(&self) -> Panel {
        let dim = self.dim;
        let layers = RELEASES.iter().enumerate().map(|(which, name)| {
            curve(name, which, self.by_budget(|at| self.accuracies(at, which)).into_iter())
        });
        Panel {
            title: format!("{dim} numbers"),
            across: Scale::linear("ε"),
            up: Scale::linear("accuracy, %"),
            layers: layers.collect(),
        }
    }
}

fn evidence(options: &RunOptions, all: &[Vec<Found>], trials: usize) -> Result<Evidence> {
    let budgets = budgets(options);
    let each = dimensions(options).iter().zip(all).map(|(dim, found)| Trials::new(*dim, &budgets, found));
    let each: Vec<Trials> = each.collect::<Result<_>>()?;
    Ok(Evidence {
        trials,
        findings: each.iter().flat_map(Trials::findings).chain([claim()]).collect(),
        grids: each.iter().map(Trials::grid).collect(),
        notes: notes(options).into_iter().chain([coordinates_note(all)]).collect(),
        picture: Picture {
            title: "Digits, released for a public classifier".into(),
            panels: each.iter().map(Trials::panel).collect(),
        },
    })
}

/// Finding on the claim that reshaped noise has the stated ε, which holds by proof.
fn claim() -> Finding {
    Finding {
        what: "ε of Laplace noise and of PrivUnit with reshaping".into(),
        paper: "ε".into(),
        ours: "ε, for every record".into(),
        value: Some(1.0),
        decision: rules::BY_PROOF.on(1.0),
        why: "by proof: the maps before the ball and after the noise are public; the noise is that of the \
            ball, into which every record is moved (errata J1)"
            .into(),
    }
}

/// Note on the effect of weight decay on reshaping, at the largest budget.
fn no_decay_note(options: &RunOptions, dim: usize, found: &[Found]) -> String {
    let budgets = budgets(options);
    let at = budgets.len() - 1;
    let gain = |noise: Noise, which: usize| {
        let each = found.iter().map(|found| format!("{:+.1}", 100.0 * found.gain(at, noise, which)));
        each.collect::<Vec<_>>().join(", ")
    };
    format!(
        "Reshaping needs a classifier that ignores all that its task does not need. With {dim} numbers and \
         without weight decay, reshaping changes accuracy by {} points with Laplace noise and by {} with \
         PrivUnit, at ε = {}. Each value is of one training. The classifier does not see some directions in \
         public representations, but noise reaches it along them, √1000 times as wide as elsewhere. If these \
         directions are left out after the release, which costs nothing, reshaping changes accuracy by {} \
         and by {}.",
        gain(Noise::Laplace, 1),
        gain(Noise::PrivUnit, 1),
        budgets[at],
        gain(Noise::Laplace, 2),
        gain(Noise::PrivUnit, 2)
    )
}

/// Note on the measured privacy loss of the coordinate-wise variants, whose claim does not hold.
fn coordinates_note(all: &[Vec<Found>]) -> String {
    let most = |which: usize| all.iter().flatten().map(|found| found.losses[which]).fold(0.0, f64::max);
    format!(
        "Coordinate-wise noise, which moves nothing into any set, has no ε (errata J1). For two test \
         images, its log odds are up to {:.2} times the claimed ε. For two of these images and their \
         negatives, they are up to {:.2} times this ε. A ratio above 1 needs two records that are far apart \
         in most coordinates at once.",
        most(0),
        most(1)
    )
}

fn notes(options: &RunOptions) -> Vec<String> {
    let Sizes { train, test, epochs } = sizes(options);
    vec![
        format!(
            "The protocol is that of the published code at 5c2f3f7 and its README. A network has two layers \
             of {HIDDEN}, the representation, and a classifier of {BEHIND:?} and ten units. It is trained on \
             {train} public images for {epochs} epochs of Adam with a weight decay of {WEIGHT_DECAY}. The \
             encoder starts as the encoder of an autoencoder of {} epochs. Each of {test} test images is \
             released once. The paper's autoencoder is a variational one, and both are trained for up to 100 \
             epochs.",
            epochs / 2
        ),
        format!(
            "The radius contains nine tenths of the public representations, as in the code. The Jacobian is \
             that of all ten outputs at {JACOBIANS} public representations. Our noise is exact: on a lattice \
             in the ℓ₁ ball, and PrivUnit among finitely many directions (Shah et al. 2022) instead of the \
             code's on the sphere."
        ),
        "Our accuracy has a closed form: the class that a person answers, right or wrong, is kept with \
         probability e^ε/(e^ε + 9). No mechanism with this ε lets a private record of ten equally frequent \
         classes be classified with a higher accuracy. So the answer loses only the network's errors without \
         noise."
            .into(),
    ]
}
