//! Gradients compared with central differences, and per-example norms compared with single examples.

use approx::{assert_relative_eq, relative_eq};
use ndarray::{Array1, Array2, Axis, array, s};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_neural::{Activation, Architecture, Error, Initialisation, Loss, Network, Pass, Windows};

/// A network, records, and targets of every kind.
#[derive(Debug, Clone)]
struct Case {
    network: Network<f64>,
    records: Array2<f64>,
    values: Array2<f64>,
    shares: Array2<f64>,
    classes: Array1<usize>,
    flip: Array2<f64>,
}

impl Case {
    fn losses(&self) -> [Loss<'_, f64>; 4] {
        [
            Loss::SquaredError(self.values.view()),
            Loss::CrossEntropy(self.classes.view()),
            Loss::BinaryCrossEntropy(self.shares.view()),
            Loss::FlippedCrossEntropy { seen: self.classes.view(), flip: self.flip.view() },
        ]
    }

    /// Computes the sum of the losses.
    fn loss(&self, loss: Loss<'_, f64>) -> f64 {
        let output = self.network.predict(self.records.view()).unwrap();
        let mut losses = vec![0.0; output.nrows()];
        loss.each(output.view(), Array2::zeros(output.dim()).view_mut(), &mut losses).unwrap();
        losses.iter().sum()
    }

    /// Runs a forward and a backward pass from the sum of the losses.
    fn pass(&self, loss: Loss<'_, f64>) -> Pass<f64> {
        let mut pass = Pass::default();
        let output = self.network.forward(self.records.view(), &mut pass).unwrap();
        let (mut gradient, mut losses) = (Array2::zeros(output.dim()), vec![0.0; output.nrows()]);
        loss.each(output, gradient.view_mut(), &mut losses).unwrap();
        self.network.backward(gradient.view(), &mut pass).unwrap();
        pass
    }

    fn gradient(&self, pass: &Pass<f64>) -> Vec<f64> {
        let mut gradient = vec![f64::NAN; self.network.parameters().len()];
        self.network.gradient(pass, &mut gradient).unwrap();
        gradient
    }

    /// Returns the case with example `example` alone.
    fn only(&self, example: usize) -> Self {
        let rows = s![example..example + 1, ..];
        Self {
            network: self.network.clone(),
            records: self.records.slice(rows).to_owned(),
            values: self.values.slice(rows).to_owned(),
            shares: self.shares.slice(rows).to_owned(),
            classes: self.classes.slice(s![example..example + 1]).to_owned(),
            flip: self.flip.clone(),
        }
    }
}

fn activation() -> impl Strategy<Value = Activation> {
    use Activation::{Identity, Relu, Sigmoid, Tanh};
    prop_oneof![Just(Identity), Just(Relu), Just(Sigmoid), Just(Tanh)]
}

/// Windows of a small image. Some images have pixels that are in no window.
fn windows() -> impl Strategy<Value = Windows> {
    (1..3_usize, 1..3_usize, 1..4_usize, 0..3_usize, 0..3_usize).prop_map(
        |(channels, stride, side, down, across)| Windows {
            height: side + down,
            width: side + across,
            channels,
            side,
            stride,
        },
    )
}

/// Architectures of dense layers, in some cases after a convolution, before a transposed one, or both.
fn architectures() -> impl Strategy<Value = Architecture> {
    let layers = prop::collection::vec((1..7_usize, activation()), 1..4);
    let image = || prop::option::of((windows(), 1..4_usize, activation()));
    (1..6_usize, image(), layers, image()).prop_map(|(inputs, seen, layers, shown)| {
        let start = match seen {
            None => Architecture::new(inputs),
            Some((windows, filters, activation)) => {
                Architecture::new(windows.image().unwrap()).convolution(windows, filters, activation)
            }
        };
        let made =
            layers.into_iter().fold(start, |made, (outputs, activation)| made.layer(outputs, activation));
        match shown {
            None => made,
            Some((windows, filters, activation)) => {
                made.layer(filters * windows.count(), Activation::Tanh).transposed(windows, activation)
            }
        }
    })
}

fn cases() -> impl Strategy<Value = Case> {
    (architectures(), 1..6_usize, any::<u64>()).prop_map(|(architecture, examples, seed)| {
        let (inputs, outputs) = (architecture.inputs, architecture.outputs());
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut flip = Array2::from_shape_simple_fn((outputs, outputs), || rng.gen_range(0.1..1.0));
        flip.outer_iter_mut().for_each(|mut distribution| distribution /= distribution.sum());
        let mut drawn = |columns, low, high| {
            Array2::from_shape_simple_fn((examples, columns), || rng.gen_range(low..high))
        };
        Case {
            records: drawn(inputs, -2.0, 2.0),
            values: drawn(outputs, -2.0, 2.0),
            shares: drawn(outputs, 0.0, 1.0),
            classes: drawn(1, 0.0, outputs as f64).column(0).mapv(|class| class as usize),
            flip,
            // With biases: a ReLU without bias is at its kink after a layer that outputs only zeros.
            network: Network::new(architecture, Initialisation::Uniform, seed).unwrap(),
        }
    })
}

/// Central difference of `f` at 0, or `None` near a kink of a ReLU, where differences of two widths disagree.
fn slope(mut f: impl FnMut(f64) -> f64) -> Option<f64> {
    let mut difference = |width: f64| (f(width) - f(-width)) / (2.0 * width);
    let (wide, narrow) = (difference(1e-5), difference(5e-6));
    ((wide - narrow).abs() <= 1e-7 * wide.abs().max(1.0)).then_some(narrow)
}

proptest! {
    #[test]
    fn gradients_are_central_differences(case in cases()) {
        for loss in case.losses() {
            let mut pass = case.pass(loss);
            for (index, found) in case.gradient(&pass).into_iter().enumerate() {
                let mut moved = case.clone();
                let expected = slope(|by| {
                    moved.network.parameters_mut()[index] = case.network.parameters()[index] + by;
                    moved.loss(loss)
                });
                let is_near =
                    |expected: f64| relative_eq!(found, expected, epsilon = 1e-6, max_relative = 1e-6);
                prop_assert!(expected.is_none_or(is_near), "{found} for {expected:?}");
            }
            let input = case.network.input_gradient(&mut pass).unwrap();
            for (place, &found) in input.indexed_iter() {
                let mut moved = case.clone();
                let expected = slope(|by| {
                    moved.records[place] = case.records[place] + by;
                    moved.loss(loss)
                });
                let is_near =
                    |expected: f64| relative_eq!(found, expected, epsilon = 1e-6, max_relative = 1e-6);
                prop_assert!(expected.is_none_or(is_near), "{found} for {expected:?}");
            }
        }
    }

    #[test]
    fn ghost_norms_and_clipped_sums_are_those_of_examples_one_by_one(case in cases(), clip in 0.1..2.0_f64) {
        for (kind, loss) in case.losses().into_iter().enumerate() {
            let alone: Vec<Vec<f64>> = (0..case.records.nrows())
                .map(|example| {
                    let case = case.only(example);
                    case.gradient(&case.pass(case.losses()[kind]))
                })
                .collect();
            let mut pass = case.pass(loss);
            let mut squares = vec![1.0; alone.len()];
            case.network.add_squared_norms(&pass, &mut squares).unwrap();
            for (square, gradient) in squares.iter().zip(&alone) {
                let expected = 1.0 + gradient.iter().map(|g| g * g).sum::<f64>();
                prop_assert!(
                    relative_eq!(*square, expected, epsilon = 1e-10, max_relative = 1e-10),
                    "{square} for {expected}"
                );
            }
            let weights: Vec<f64> = squares.iter().map(|square| (clip / square.sqrt()).min(1.0)).collect();
            pass.weigh(&weights).unwrap();
            for (index, found) in case.gradient(&pass).into_iter().enumerate() {
                let expected = weights.iter().zip(&alone).map(|(weight, alone)| weight * alone[index]).sum();
                prop_assert!(relative_eq!(found, expected, epsilon = 1e-10, max_relative = 1e-10), "{found} \
                    for {expected}");
            }
            let mut left = vec![0.0; weights.len()];
            case.network.add_squared_norms(&pass, &mut left).unwrap();
            prop_assert!(left.iter().all(|square| square.sqrt() <= clip * (1.0 + 1e-12)));
        }
    }

    #[test]
    fn single_precision_agrees_with_double(case in cases()) {
        let architecture = case.network.architecture().clone();
        let parameters = case.network.parameters().iter().map(|&parameter| parameter as f32).collect();
        let network = Network::<f32>::from_parameters(architecture, parameters).unwrap();
        let rough = network.predict(case.records.mapv(|x| x as f32).view()).unwrap();
        let fine = case.network.predict(case.records.view()).unwrap();
        for (&rough, &fine) in rough.iter().zip(&fine) {
            prop_assert!(relative_eq!(f64::from(rough), fine, epsilon = 1e-5, max_relative = 1e-5), "{rough} \
                for {fine}");
        }
    }
}

#[test]
fn norms_of_a_network_in_single_precision_are_sums_in_double() {
    let architecture = Architecture::new(10_001).layer(1, Activation::Identity);
    let network = Network::<f32>::new(architecture, Initialisation::Uniform, 1).unwrap();
    let mut pass = Pass::default();
    network.forward(Array2::from_elem((1, 10_001), 0.1).view(), &mut pass).unwrap();
    network.backward(Array2::from_elem((1, 1), 0.3).view(), &mut pass).unwrap();
    let mut squares = [0.0];
    network.add_squared_norms(&pass, &mut squares).unwrap();
    let (input, delta) = (f64::from(0.1_f32), f64::from(0.3_f32));
    let expected = (10_001.0 * input * input + 1.0) * delta * delta;
    assert_relative_eq!(squares[0], expected, epsilon = 1e-12, max_relative = 1e-12);
}

fn drawn(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((rows, columns), || rng.gen_range(-1.0..1.0))
}

#[test]
fn networks_in_a_chain_are_one_network() {
    let layers = [(8, Activation::Relu), (3, Activation::Identity), (6, Activation::Tanh)];
    let [first, second, third] = layers;
    let all = Architecture::new(5).layer(first.0, first.1).layer(second.0, second.1).layer(third.0, third.1);
    let whole = Network::<f64>::new(all, Initialisation::Uniform, 3).unwrap();
    let encoder = Architecture::new(5).layer(first.0, first.1).layer(second.0, second.1);
    let (front, back) = whole.parameters().split_at(encoder.parameters().unwrap());
    let encoder = Network::from_parameters(encoder, front.to_vec()).unwrap();
    let decoder =
        Network::from_parameters(Architecture::new(3).layer(third.0, third.1), back.to_vec()).unwrap();

    let (records, output_gradient) = (drawn(7, 5, 1), drawn(7, 6, 2));
    let mut pass = Pass::default();
    let expected = whole.forward(records.view(), &mut pass).unwrap().to_owned();
    whole.backward(output_gradient.view(), &mut pass).unwrap();
    let mut gradient = vec![0.0; whole.parameters().len()];
    whole.gradient(&pass, &mut gradient).unwrap();

    let (mut one, mut two) = (Pass::default(), Pass::default());
    let code = encoder.forward(records.view(), &mut one).unwrap();
    assert_eq!(decoder.forward(code, &mut two).unwrap(), expected);
    decoder.backward(output_gradient.view(), &mut two).unwrap();
    encoder.backward(decoder.input_gradient(&mut two).unwrap(), &mut one).unwrap();
    let mut chained = vec![0.0; gradient.len()];
    let (front, back) = chained.split_at_mut(encoder.parameters().len());
    encoder.gradient(&one, front).unwrap();
    decoder.gradient(&two, back).unwrap();
    assert_eq!(chained, gradient);
    assert_eq!(encoder.input_gradient(&mut one).unwrap(), whole.input_gradient(&mut pass).unwrap());
}

#[test]
fn a_pass_is_used_again_for_minibatches_of_any_size() {
    let architecture = Architecture::new(4).layer(5, Activation::Tanh).layer(2, Activation::Sigmoid);
    let network = Network::<f64>::new(architecture, Initialisation::Glorot, 1).unwrap();
    let (records, output_gradient) = (drawn(9, 4, 1), drawn(9, 2, 2));
    let mut used = Pass::default();
    for rows in [vec![0, 1, 2, 3, 4, 5, 6, 7, 8], vec![8, 2], vec![], vec![5, 5, 1]] {
        let mut fresh = Pass::default();
        let selected = records.select(Axis(0), &rows);
        let output = network.forward_rows(records.view(), &rows, &mut used).unwrap();
        assert_eq!(output, network.forward(selected.view(), &mut fresh).unwrap());
        let output_gradient = output_gradient.select(Axis(0), &rows);
        let mut gradients = [&mut used, &mut fresh].map(|pass| {
            network.backward(output_gradient.view(), pass).unwrap();
            let mut gradient = vec![f64::NAN; network.parameters().len()];
            network.gradient(pass, &mut gradient).unwrap();
            (gradient, network.input_gradient(pass).unwrap().to_owned())
        });
        assert_eq!(gradients[0], gradients[1]);
        gradients[0].0.retain(|number| !number.is_finite());
        assert!(gradients[0].0.is_empty());
    }
}

/// One filter of 2 × 2 on an image of 3 × 3 with one channel, with the four products written out.
#[test]
fn a_convolution_is_a_product_with_each_window() {
    let windows = Windows { height: 3, width: 3, channels: 1, side: 2, stride: 1 };
    let image = array![[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]];
    let parameters = vec![1.0, 10.0, 100.0, 1000.0, 0.5];
    let there = Architecture::new(9).convolution(windows, 1, Activation::Identity);
    let there = Network::from_parameters(there, parameters.clone()).unwrap();
    let seen = there.predict(image.view()).unwrap();
    assert_eq!(seen, array![[5421.5, 6532.5, 8754.5, 9865.5]]);

    // Each corner's value is in one window, the middle pixel in all four.
    let back = Architecture::new(4).transposed(windows, Activation::Identity);
    let back = Network::from_parameters(back, parameters).unwrap();
    let drawn = back.predict(array![[1.0, 2.0, 3.0, 4.0]].view()).unwrap();
    assert_eq!(drawn, array![[1.5, 12.5, 20.5, 103.5, 1234.5, 2040.5, 300.5, 3400.5, 4000.5]]);
}

#[test]
fn windows_that_do_not_fit_are_refused() {
    let windows = Windows { height: 4, width: 4, channels: 1, side: 2, stride: 2 };
    let refused = |inputs: usize, windows: Windows| {
        let made = Architecture::new(inputs).convolution(windows, 3, Activation::Relu);
        made.parameters().unwrap_err().to_string()
    };
    let begin = "the windows of layer 0, counted from 0, do not fit: ";
    assert_eq!(Architecture::new(16).convolution(windows, 3, Activation::Relu).parameters(), Ok(15));
    assert_eq!(
        refused(15, windows),
        format!("{begin}15 values are no image of 4 × 4 pixels with 1 channels")
    );
    let no_window = format!("{begin}no window fits into the image");
    for wrong in
        [Windows { side: 5, ..windows }, Windows { side: 0, ..windows }, Windows { stride: 0, ..windows }]
    {
        // A layer without windows has no output.
        assert!(refused(16, wrong).contains("needs at least one number"), "{}", refused(16, wrong));
        let back = Architecture::new(3).transposed(wrong, Activation::Relu);
        assert_eq!(back.parameters().unwrap_err().to_string(), no_window);
    }
    let back = Architecture::new(5).transposed(windows, Activation::Relu);
    let problem = "5 values are not the same number for each of 4 windows";
    assert_eq!(back.parameters().unwrap_err().to_string(), format!("{begin}{problem}"));
    let endless = Windows { height: usize::MAX, width: usize::MAX, ..windows };
    assert!(Architecture::new(16).convolution(endless, 3, Activation::Relu).parameters().is_err());
    assert!(Architecture::new(16).transposed(endless, Activation::Relu).parameters().is_err());
    let refused = serde_json::from_str::<Network<f64>>(
        r#"{"inputs":4,"layers":[{"outputs":1,"activation":"relu","connection":{"convolution":
            {"height":2,"width":2,"channels":1,"side":3,"stride":1}}}],"parameters":{"float32":""}}"#,
    );
    assert!(refused.unwrap_err().to_string().contains("no window fits into the image"));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let architecture = Architecture::new(4).layer(5, Activation::Tanh).layer(2, Activation::Sigmoid);
    let network = Network::<f64>::new(architecture, Initialisation::Glorot, 1).unwrap();
    let mut pass = Pass::default();
    let early = network.backward(drawn(3, 2, 1).view(), &mut pass).unwrap_err();
    assert_eq!(
        early.to_string(),
        "the pass holds no activations of this network: run its forward pass first"
    );
    let narrow = network.forward(drawn(3, 3, 1).view(), &mut pass).unwrap_err();
    assert_eq!(narrow.to_string(), "the columns of the records must be 4 in number, and are 3");
    let far = network.forward_rows(drawn(3, 4, 1).view(), &[0, 3], &mut pass).unwrap_err();
    assert_eq!(far, Error::Row { row: 3, rows: 3 });

    network.forward(drawn(3, 4, 1).view(), &mut pass).unwrap();
    let mut gradient = vec![0.0; network.parameters().len()];
    let order = Err(Error::Order { what: "gradients", step: "backward" });
    assert_eq!(network.gradient(&pass, &mut gradient), order);
    assert_eq!(network.add_squared_norms(&pass, &mut [0.0; 3]), order);
    assert!(network.backward(drawn(2, 2, 1).view(), &mut pass).is_err());
    assert!(network.backward(drawn(3, 1, 1).view(), &mut pass).is_err());
    network.backward(drawn(3, 2, 1).view(), &mut pass).unwrap();
    assert!(network.gradient(&pass, &mut gradient[1..]).is_err());
    assert!(network.add_squared_norms(&pass, &mut [0.0; 2]).is_err());
    assert!(pass.weigh(&[1.0; 4]).is_err());

    // A new forward pass invalidates the last backward pass, and a pass of another network is invalid.
    network.forward(drawn(3, 4, 1).view(), &mut pass).unwrap();
    assert_eq!(network.gradient(&pass, &mut gradient), order);
    let other =
        Network::<f64>::new(Architecture::new(4).layer(2, Activation::Tanh), Initialisation::He, 1).unwrap();
    assert!(other.backward(drawn(3, 2, 1).view(), &mut pass).is_err());
}

#[test]
fn architectures_are_checked() {
    assert_eq!(Architecture::new(3).parameters(), Err(Error::NoLayers));
    let relu = Activation::Relu;
    assert!(Architecture::new(0).layer(3, relu).parameters().is_err());
    let empty = Architecture::new(3).layer(2, relu).layer(0, relu).parameters().unwrap_err();
    assert_eq!(empty.to_string(), "layer 1, counted from 0, needs at least one number, and has none");
    for inputs in [usize::MAX, usize::MAX / 8] {
        assert_eq!(Architecture::new(inputs).layer(3, relu).parameters(), Err(Error::TooManyParameters));
    }
    let short = Network::from_parameters(Architecture::new(1).layer(1, relu), vec![0.5]).unwrap_err();
    assert_eq!(short.to_string(), "the parameters of the network must be 2 in number, and are 1");
    let infinite =
        Network::from_parameters(Architecture::new(1).layer(1, relu), vec![0.5, f64::NAN]).unwrap_err();
    assert!(matches!(infinite, Error::Parameter { index: 1, .. }));
}

#[test]
fn initial_parameters_lie_within_their_bounds_and_reach_them() {
    let architecture = || Architecture::new(100).layer(300, Activation::Relu);
    let initial =
        |initialisation| Network::<f64>::new(architecture(), initialisation, 7).unwrap().into_parameters();
    let largest = |values: &[f64]| values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for (initialisation, weight, bias) in [
        (Initialisation::Uniform, 0.1, 0.1),
        (Initialisation::Glorot, 0.015_f64.sqrt(), 0.0),
        (Initialisation::He, 0.06_f64.sqrt(), 0.0),
    ] {
        let parameters = initial(initialisation);
        let (weights, biases) = parameters.split_at(30_000);
        for (values, bound) in [(weights, weight), (biases, bias)] {
            assert!((0.95 * bound..=bound).contains(&largest(values)), "{initialisation:?}");
            // The mean of 300 draws or more is within 5 standard deviations at seed 7.
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert!(mean.abs() <= 5.0 * bound / (3.0 * values.len() as f64).sqrt(), "{mean} at seed 7");
        }
        assert_eq!(parameters, initial(initialisation));
    }
}

#[test]
fn an_example_of_weight_zero_leaves_nothing_behind_even_if_it_is_no_number() {
    let architecture = Architecture::new(2).layer(3, Activation::Tanh).layer(1, Activation::Identity);
    let network = Network::<f64>::new(architecture, Initialisation::Uniform, 1).unwrap();
    let gradient = |records: Array2<f64>, weights: &[f64]| {
        let mut pass = Pass::default();
        let outputs = network.forward(records.view(), &mut pass).unwrap().mapv(|_| 1.0);
        network.backward(outputs.view(), &mut pass).unwrap();
        pass.weigh(weights).unwrap();
        let mut gradient = vec![0.0; network.parameters().len()];
        network.gradient(&pass, &mut gradient).unwrap();
        gradient
    };
    let odd = ndarray::array![[0.5, -1.0], [f64::NAN, 1.0], [f64::INFINITY, 0.0]];
    let alone = gradient(ndarray::array![[0.5, -1.0]], &[2.0]);
    for (found, expected) in gradient(odd.clone(), &[2.0, 0.0, 0.0]).into_iter().zip(alone) {
        assert_relative_eq!(found, expected, epsilon = 1e-12, max_relative = 1e-12);
    }
    assert!(gradient(odd, &[2.0, 1.0, 0.0]).into_iter().any(f64::is_nan));
}
