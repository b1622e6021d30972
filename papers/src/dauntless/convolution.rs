//! Appendix A.3 of Dauntless (Xiao and Devadas): a convolutional network on photographs that a secret random
//! layer has transformed, dense or a convolution.

use super::data::{Data, classes_of};
use super::mixing::{PHOTOGRAPHS, part};
use super::{against_others, chart, percent, point, share_alike};
use crate::report::{Evidence, Grid};
use crate::rules::{self, Rule};
use crate::{Result, RunOptions};
use ndarray::{Array1, Array2};
use rand::Rng;
use rand_distr::StandardNormal;
use scumble_core::{Stream, Table};
use scumble_linear::Standardizer;
use scumble_neural::{
    Activation, Adam, Architecture, Examples, Initialisation, Loss, Network, Optimiser, Training, Windows,
};
use serde_json::json;

/// Sides of a photograph in pixels.
const SIDE: usize = 32;
/// Number of colours of a pixel.
const COLOURS: usize = 3;
/// Number of filters of the secret convolution, with windows of 3 × 3 pixels. The result has 30 × 30 × 4
/// numbers, about as many as the photograph.
const FILTERS: usize = 4;

/// Records of a learner, and its network.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Case {
    /// Photographs, and a dense network.
    Dense,
    /// Photographs, and a convolutional network.
    Convolutional,
    /// Photographs after a secret dense layer, and a convolutional network.
    AfterDense,
    /// Photographs after a secret convolution, and a convolutional network.
    AfterConvolution,
}

use Case::{AfterConvolution, AfterDense, Convolutional, Dense};

const CASES: [Case; 4] = [Dense, Convolutional, AfterDense, AfterConvolution];

impl Case {
    fn name(self) -> &'static str {
        match self {
            Dense => "images, dense network",
            Convolutional => "images, convolutional network",
            AfterDense => "secret dense layer, convolutional network",
            AfterConvolution => "secret convolution, convolutional network",
        }
    }

    /// Height (and width) and channels of a learner's records.
    fn image(self) -> [usize; 2] {
        match self {
            AfterConvolution => [SIDE - 2, FILTERS],
            _ => [SIDE, COLOURS],
        }
    }

    /// The secret layer, if there is one: without bias or activation, with normal weights. Its outputs have
    /// about the size of its inputs.
    fn secret(self, stream: &mut Stream) -> Result<Option<Network<f32>>> {
        let windows = Windows { height: SIDE, width: SIDE, channels: COLOURS, side: 3, stride: 1 };
        let inputs = SIDE * SIDE * COLOURS;
        let (layer, fan) = match self {
            Dense | Convolutional => return Ok(None),
            AfterDense => (Architecture::new(inputs).layer(inputs, Activation::Identity), inputs),
            AfterConvolution => {
                let layer = Architecture::new(inputs).convolution(windows, FILTERS, Activation::Identity);
                (layer, windows.side * windows.side * COLOURS)
            }
        };
        let mut network = Network::<f32>::new(layer, Initialisation::Glorot, 1)?;
        // The biases come after the weights and stay zero.
        let biases = network.bias(0).map_or(0, |bias| bias.len());
        let weights = network.parameters().len() - biases;
        for weight in &mut network.parameters_mut()[..weights] {
            *weight = stream.sample::<f32, _>(StandardNormal) / (fan as f32).sqrt();
        }
        Ok(Some(network))
    }

    /// The learner's network.
    fn architecture(self, classes: usize) -> Architecture {
        let [mut side, mut channels] = self.image();
        let start = Architecture::new(side * side * channels);
        let relu = Activation::Relu;
        if self == Dense {
            let hidden = super::mixtures::HIDDEN.iter().fold(start, |made, width| made.layer(*width, relu));
            return hidden.layer(classes, Activation::Identity);
        }
        let mut made = start;
        for filters in [32, 64] {
            // Windows of 3 or 4 pixels leave out no pixel at a stride of 2.
            let windows = Windows { height: side, width: side, channels, side: 4 - side % 2, stride: 2 };
            made = made.convolution(windows, filters, relu);
            [side, _] = windows.grid();
            channels = filters;
        }
        made.layer(128, relu).layer(classes, Activation::Identity)
    }
}

/// Photographs with the colours of each pixel together, and their classes.
struct Photographs {
    records: Array2<f32>,
    classes: Array1<usize>,
}

impl Photographs {
    fn of(table: &Table) -> Self {
        let pixels = SIDE * SIDE;
        let records = table.records();
        Self {
            // The records hold one colour after another.
            records: Array2::from_shape_fn(records.dim(), |(row, at)| {
                records[[row, at % COLOURS * pixels + at / COLOURS]] as f32
            }),
            classes: classes_of(table).into(),
        }
    }
}

/// Accuracy on test photographs of one network.
fn accuracy(case: Case, [train, test]: [&Photographs; 2], epochs: usize, stream: &mut Stream) -> Result<f64> {
    let classes = train.classes.iter().max().map_or(0, |most| most + 1);
    let secret = case.secret(stream)?;
    let seen = |photographs: &Photographs| match &secret {
        None => Ok(photographs.records.clone()),
        Some(layer) => layer.predict(photographs.records.view()),
    };
    let [mut seen, mut tested] = [seen(train)?, seen(test)?];
    let standardizer = Standardizer::fit(&seen.mapv(f64::from))?;
    for records in [&mut seen, &mut tested] {
        for mut part in records.axis_chunks_iter_mut(ndarray::Axis(0), 1024) {
            let standard = standardizer.apply(&part.mapv(f64::from));
            part.assign(&standard.mapv(|x| x as f32));
        }
    }
    let training = Training {
        epochs,
        batch_size: 64,
        optimiser: Optimiser::Adam(Adam { learning_rate: 1e-3, ..Adam::default() }),
        seed: stream.r#gen(),
        annealed: true,
        ..Training::default()
    };
    let start = Network::new(case.architecture(classes), Initialisation::He, stream.r#gen())?;
    let examples = Examples { records: seen.view(), loss: Loss::CrossEntropy(train.classes.view()) };
    let network = training.fit(&start, examples, None, |_| ())?;
    Ok(share_alike(&network.classify(tested.view())?, &test.classes))
}

pub(super) fn appendix_a_3(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let data = Data::load(options, "cifar10")?.held_out(PHOTOGRAPHS)?;
    let data = part(options, name, data, [600, 300])?;
    let [train, test] = [&data.train, &data.test].map(Photographs::of);
    let (trials, epochs) = (options.trainings(), if options.quick { 2 } else { 10 });
    (options.on_start)((CASES.len() * trials) as u64);
    let store = options.finished(name)?;
    let measured = |case: Case| -> Result<Vec<f64>> {
        let one = |trial: usize| {
            let words = json!({
                "of": name, "case": case.name(), "trial": trial, "epochs": epochs,
                "records": train.classes.len(), "seed": options.seed
            });
            let found = options.once(&store, &words, || {
                let draw = [CASES.iter().position(|other| *other == case).unwrap_or(0) as u64, trial as u64];
                let mut stream = options.randomness(name, &draw).streams().stream(0);
                accuracy(case, [&train, &test], epochs, &mut stream)
            });
            (options.on_step)();
            found
        };
        (0..trials).map(one).collect()
    };
    let found: Vec<(Case, Vec<f64>)> =
        CASES.into_iter().map(|case| Ok((case, measured(case)?))).collect::<Result<_>>()?;
    let of = |case: Case| found.iter().find(|(other, _)| *other == case).map_or(&[][..], |(_, found)| found);
    let finding = |what: &str, paper: &str, [one, other]: [Case; 2], rule: &Rule| {
        against_others(what.into(), (paper.into(), 0.0), rule, [of(one), of(other)], String::new())
    };
    Ok(Evidence {
        trials,
        findings: vec![
            finding(
                "a convolutional network after a secret dense layer, against a dense network on images",
                "\"no better\"",
                [AfterDense, Dense],
                &rules::NO_BETTER_THAN_DENSE,
            ),
            finding(
                "a convolutional network after a secret convolution, against one on images",
                "\"within a few percent\"",
                [AfterConvolution, Convolutional],
                &rules::A_FEW_PERCENT,
            ),
        ],
        grids: vec![Grid::new(
            "Accuracy on test photographs, in percent, ± a standard deviation",
            ["learner", "accuracy"],
            found.iter().map(|(case, found)| vec![case.name().into(), percent(found)]),
        )],
        notes: vec![
            format!(
                "There are {} training and {} test photographs. The dense network has the layers of Table 3. \
                 The convolutional network has 32 and 64 filters with a stride of 2, and a layer of 128 \
                 units. All have rectified linear units and a softmax, and are trained by Adam for {epochs} \
                 epochs in batches of 64, with a rate that falls to zero. Columns are standardised. The \
                 secret dense layer is a normal matrix of 3,072 × 3,072. The secret convolution has \
                 {FILTERS} normal filters of 3 × 3 pixels. Both have no activation and are drawn anew in \
                 each trial.",
                train.classes.len(),
                test.classes.len()
            ),
            "Neither transformation has a guarantee here. The paper's proofs do not cover a convolution."
                .into(),
        ],
        picture: chart(
            "Convolutional networks on transformed photographs (Appendix A.3)",
            "A learner of transformed photographs",
            "number of the learner in the table",
            found
                .iter()
                .enumerate()
                .map(|(at, (case, found))| (case.name().to_owned(), vec![point((at + 1) as f64, found)])),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    #[test]
    fn a_secret_convolution_keeps_neighbours_together_and_a_dense_layer_does_not() {
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let mut image = Array2::<f32>::zeros((1, SIDE * SIDE * COLOURS));
        image[[0, (5 * SIDE + 7) * COLOURS]] = 1.0;
        let mut changed = |case: Case| {
            let secret = case.secret(&mut stream).unwrap().unwrap();
            assert_eq!(case.architecture(10).inputs, secret.architecture().outputs());
            secret.predict(image.view()).unwrap().iter().filter(|x| **x != 0.0).count()
        };
        // A pixel is in nine windows.
        assert_eq!(changed(AfterConvolution), 9 * FILTERS);
        assert_eq!(changed(AfterDense), SIDE * SIDE * COLOURS);
    }
}
