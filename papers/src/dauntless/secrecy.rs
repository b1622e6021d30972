//! Table 1 of Dauntless (Xiao and Devadas): digits classified by a network that learns from the identity
//! matrix. The mechanism of perfect secrecy releases this matrix in place of the images.

use super::data::{Data, classes_of};
use super::{against_printed, chart, percent, point, share_alike};
use crate::gains::{self, Axis as Budgets};
use crate::report::{Evidence, Finding, Grid};
use crate::rules;
use crate::{CurvePoint, Picture, Result, RunOptions};
use scumble_classifier::ClassifierParams;
use scumble_core::largest;
use scumble_dauntless::{Improvement, PerfectSecrecy, SecretMap};
use scumble_neural::{Activation, Adam, Architecture, Embedding, Loss, Optimiser, Training};

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, Axis};
use serde_json::json;

/// Numbers of classes, with the accuracies that the paper prints in percent: a network on images, and a
/// network under perfect secrecy.
const PRINTED: [(usize, [f64; 2]); 5] =
    [(2, [99.4, 98.3]), (4, [98.2, 94.8]), (6, [97.9, 90.1]), (8, [97.2, 85.6]), (10, [97.0, 82.2])];

const BY_DIGITS: Budgets = Budgets { symbol: "digits", before: false };

pub(super) const HIDDEN: [usize; 3] = [300, 200, 100];

/// Training settings of a network on the identity matrix.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub(super) struct Effort {
    /// Number of images of each class.
    each: usize,
    epochs: usize,
    /// Epochs of the network on images.
    plain_epochs: usize,
    learning_rate: f64,
    /// Learning rate of the embedding table (the first layer's weights, one row per record). Each row changes
    /// once an epoch.
    table_rate: f64,
    /// Factor on the usual initial values of the embedding table (the first layer's weights).
    start: f32,
}

fn effort(options: &RunOptions) -> Effort {
    match options.quick {
        true => Effort {
            each: 300,
            epochs: 20,
            plain_epochs: 10,
            learning_rate: 0.001,
            table_rate: 0.3,
            start: 0.01,
        },
        false => Effort {
            each: 2000,
            epochs: 4,
            plain_epochs: 20,
            learning_rate: 0.0003,
            table_rate: 0.3,
            start: 0.01,
        },
    }
}

/// Accuracies on this number of classes, one for each trial, and the accuracies that the paper prints.
struct Found {
    classes: usize,
    printed: [f64; 2],
    /// Accuracies of the network on images.
    plain: Vec<f64>,
    /// Accuracies of the network on the identity matrix.
    secret: Vec<f64>,
    /// Accuracies of ridge regression on the identity matrix.
    ridge: Vec<f64>,
}

pub(super) fn table_1(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let effort = effort(options);
    let found = measured(options, name, effort)?;
    let header = [
        "digits",
        "images, printed",
        "images",
        "perfect secrecy, printed",
        "perfect secrecy",
        "perfect secrecy, ridge regression (ours)",
    ];
    Ok(Evidence {
        trials: options.trainings(),
        findings: found.iter().flat_map(Found::findings).chain([ridge_finding(&found)]).collect(),
        grids: vec![Grid::new("Accuracy, in percent", header, found.iter().map(Found::row))],
        notes: vec![note(effort)],
        picture: picture(&found),
    })
}

/// Trains on each number of classes.
fn measured(options: &RunOptions, name: &str, effort: Effort) -> Result<Vec<Found>> {
    let data = Data::load(options, "mnist")?;
    let trials = options.trainings();
    (options.on_start)((PRINTED.len() * trials) as u64);
    let store = options.finished(name)?;
    let found = |(classes, printed): (usize, [f64; 2])| -> Result<Found> {
        let mut found = Found { classes, printed, plain: vec![], secret: vec![], ridge: vec![] };
        for trial in 0..trials {
            let mut stream = options.randomness(name, &[classes as u64, trial as u64]).streams().stream(0);
            let data = data.with_classes(classes, effort.each, &mut stream)?;
            let words = json!({
                "of": name, "classes": classes, "trial": trial, "effort": effort, "seed": options.seed
            });
            let map = secret_map(options, name, &data, trial)?;
            let [plain, secret] =
                options.once(&store, &words, || trained(options, &map, &data, effort, trial))?;
            found.plain.push(plain);
            found.secret.push(secret);
            found.ridge.push(by_ridge(&map, &data)?);
            (options.on_step)();
        }
        Ok(found)
    };
    PRINTED.into_iter().map(found).collect()
}

impl Found {
    /// Findings on the printed accuracies.
    fn findings(&self) -> [Finding; 2] {
        let finding = |what: &str, printed: f64, shares: &[f64]| {
            against_printed(
                format!("{} digits, a network on {what}", self.classes),
                printed,
                (&rules::AS_PRINTED, 1.0),
                shares,
                String::new(),
            )
        };
        [
            finding("images", self.printed[0], &self.plain),
            finding("the identity matrix", self.printed[1], &self.secret),
        ]
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.classes.to_string(),
            format!("{:.1}", self.printed[0]),
            percent(&self.plain),
            format!("{:.1}", self.printed[1]),
            percent(&self.secret),
            percent(&self.ridge),
        ]
    }

    fn point(&self, shares: &[f64]) -> CurvePoint {
        point(self.classes as f64, shares)
    }

    fn printed_point(&self, at: usize) -> CurvePoint {
        CurvePoint { x: self.classes as f64, y: self.printed[at], error: 0.0 }
    }
}

/// Finding on the gain of ridge regression over the network, both on the identity matrix.
fn ridge_finding(found: &[Found]) -> Finding {
    let gains = found.iter().map(|found| {
        let gained = found.ridge.iter().zip(&found.secret).map(|(ridge, network)| 100.0 * (ridge - network));
        (found.classes as f64, gained.collect::<Vec<_>>())
    });
    gains::gain_finding(
        &rules::GAINS,
        "ridge regression (ours) on the identity matrix instead of a network: gain in accuracy".into(),
        "a network on the identity matrix",
        ("points", BY_DIGITS),
        &gains.collect::<Vec<_>>(),
    )
}

fn note(effort: Effort) -> String {
    format!(
        "The data are {} images of each digit, sampled uniformly at random, and all test images of these \
         digits. The network has three layers of {HIDDEN:?} rectified linear units. v = 1 is added to \
         singular values. On the identity matrix, the first layer is a table. Adam trains the table for \
         {} epochs at a rate of {}, and the layers behind it at {}. The first weights are {} of the \
         usual ones, because their random values stay in the model of every image. A test image is a \
         weighted sum of rows of the table. A network that is trained in this way is almost linear.",
        effort.each, effort.epochs, effort.table_rate, effort.learning_rate, effort.start
    )
}

fn picture(found: &[Found]) -> Picture {
    let curve = |name: &str, point: fn(&Found) -> CurvePoint| {
        (name.to_owned(), found.iter().map(point).collect::<Vec<_>>())
    };
    let curves = [
        curve("images", |found| found.point(&found.plain)),
        curve("images, printed", |found| found.printed_point(0)),
        curve("perfect secrecy", |found| found.point(&found.secret)),
        curve("perfect secrecy, printed", |found| found.printed_point(1)),
        curve("perfect secrecy, ridge regression (ours)", |found| found.point(&found.ridge)),
    ];
    chart("Handwritten digits under perfect secrecy (Table 1)", "Networks", "digits", curves)
}

fn adam(learning_rate: f64) -> Optimiser {
    Optimiser::Adam(Adam { learning_rate, ..Adam::default() })
}

/// Draws the secret transformation of perfect secrecy for one trial.
fn secret_map(options: &RunOptions, name: &str, data: &Data, trial: usize) -> Result<SecretMap> {
    let mut randomness = options.randomness(name, &[data.train.len() as u64, trial as u64, 1]);
    Ok(PerfectSecrecy::new(data.domain.clone(), 1.0, Improvement::Add)?.map(&data.train, &mut randomness)?)
}

/// Accuracy of one-against-all ridge regression on the identity matrix. All classes are equally frequent, so
/// subtracting their frequencies from the labels does not change which score is largest.
pub(super) fn by_ridge(map: &SecretMap, data: &Data) -> Result<f64> {
    let (classes, truth): (Array1<usize>, Array1<usize>) =
        (classes_of(&data.train).into(), classes_of(&data.test).into());
    let outputs = classes.iter().max().map_or(1, |most| most + 1);
    let labels = Array2::from_shape_fn((classes.len(), outputs), |(row, class)| {
        f64::from(u8::from(classes[row] == class)) - 1.0 / outputs as f64
    });
    let scores = map.apply(&data.test, map.fold(labels.view())?.view())?;
    Ok(share_alike(&scores.map_axis(Axis(1), |scores| largest(&scores.to_vec())), &truth))
}

/// Returns the accuracies of a network on records and of a network on the identity matrix.
fn trained(
    options: &RunOptions,
    map: &SecretMap,
    data: &Data,
    effort: Effort,
    trial: usize,
) -> Result<[f64; 2]> {
    let (classes, truth): (Array1<usize>, Array1<usize>) =
        (classes_of(&data.train).into(), classes_of(&data.test).into());
    let seed = super::seed_of(options, trial);
    let params = ClassifierParams::default()
        .hidden(HIDDEN.to_vec())
        .epochs(effort.plain_epochs)
        .batch_size(128)
        .seed(seed);
    let plain = params.check()?.fit(&Dataset::new(data.train.records().clone(), classes.clone()))?;
    let plain = share_alike(&plain.predict(data.test.records()), &truth);

    let outputs = classes.iter().max().map_or(1, |most| most + 1);
    let rest = HIDDEN[1..]
        .iter()
        .fold(Architecture::new(HIDDEN[0]), |rest, &width| rest.layer(width, Activation::Relu));
    let rest = rest.layer(outputs, Activation::Identity);
    let start = Embedding::<f32>::new(data.train.len(), Activation::Relu, rest, seed)?.scaled(effort.start);
    let training = Training {
        epochs: effort.epochs,
        batch_size: 128,
        optimiser: adam(effort.learning_rate),
        seed,
        ..Training::default()
    };
    let fitted =
        training.fit_identity(start, adam(effort.table_rate), Loss::CrossEntropy(classes.view()), |_| ())?;
    let folded = map.fold(fitted.table().mapv(f64::from).view())?;
    let sums = map.apply(&data.test, folded.view())?.mapv(|sum| sum as f32);
    Ok([plain, share_alike(&fitted.classify_sums(sums.view())?, &truth)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Registry, Target};
    use std::path::Path;

    fn small() -> Effort {
        Effort { epochs: 40, plain_epochs: 20, ..effort(&RunOptions { quick: true, ..nothing() }) }
    }

    fn nothing() -> RunOptions<'static> {
        static REGISTRY: std::sync::LazyLock<Registry> = std::sync::LazyLock::new(Registry::default);
        RunOptions::new(&REGISTRY, Path::new(""))
    }

    #[test]
    fn a_network_of_the_identity_matrix_learns_of_records_that_it_never_saw() {
        let data = Data::made_up(300, 6, 3);
        let map = secret_map(&nothing(), "made-up", &data, 0).unwrap();
        let [plain, secret] = trained(&nothing(), &map, &data, small(), 0).unwrap();
        let ridge = by_ridge(&map, &data).unwrap();
        assert!(plain > 0.9 && secret > 0.9 && ridge > 0.9, "{plain}, {secret} and {ridge}");
    }

    /// Labels repeat in turn, independent of the records. Networks learn nothing from them, on images and on
    /// the identity matrix alike.
    #[test]
    fn labels_that_have_nothing_to_do_with_records_teach_nothing() {
        let mut data = Data::made_up(300, 6, 3);
        let turned = |table: &scumble_core::Table| {
            let labels = (0..table.len()).map(|row| row / 3 % 3).collect();
            table.clone().with_target(Target::Class(labels)).unwrap()
        };
        (data.train, data.test) = (turned(&data.train), turned(&data.test));
        let map = secret_map(&nothing(), "made-up", &data, 0).unwrap();
        for share in trained(&nothing(), &map, &data, small(), 0).unwrap() {
            assert!(share < 0.7, "{share}");
        }
    }
}
