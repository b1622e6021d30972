//! Results equal to PyTorch 2.15 in double precision.

use approx::assert_abs_diff_eq;
use ndarray::{Array2, array};
use scumble_neural::{Activation, Adam, Architecture, Loss, Network, Optimiser, Pass, Sgd, Stepper};

/// Makes four steps from a fixed start with fixed gradients.
fn stepped(optimiser: Optimiser) -> [f64; 3] {
    let mut parameters = [0.5, -1.5, 2.0];
    let mut stepper: Stepper<f64> = optimiser.start(3).unwrap();
    for gradient in [[1.0, -2.0, 0.5], [0.1, 3.0, -0.5], [-1.0, 0.01, 0.0], [2.0, -0.3, 0.25]] {
        stepper.step(&mut parameters, &gradient).unwrap();
    }
    parameters
}

#[test]
fn optimisers_step_as_pytorch_does() {
    let adam = Adam { learning_rate: 0.1, ..Adam::default() };
    assert_abs_diff_eq!(
        stepped(Optimiser::Adam(adam))[..],
        [0.2851358809672608, -1.455045613956203, 1.893080692034329][..],
        epsilon = 1e-14
    );
    let amsgrad =
        Adam { learning_rate: 0.1, beta1: 0.8, beta2: 0.9, epsilon: 1e-3, weight_decay: 0.05, amsgrad: true };
    assert_abs_diff_eq!(
        stepped(Optimiser::Adam(amsgrad))[..],
        [0.293397924781356, -1.4527886753168413, 1.8365000593089094][..],
        epsilon = 1e-14
    );
    let sgd = Sgd { learning_rate: 0.1, ..Sgd::default() };
    assert_abs_diff_eq!(stepped(Optimiser::Sgd(sgd))[..], [0.29, -1.571, 1.975][..], epsilon = 1e-14);
    let momentum = Sgd { momentum: 0.9, weight_decay: 0.05, ..sgd };
    assert_abs_diff_eq!(
        stepped(Optimiser::Sgd(momentum))[..],
        [0.10074046906249995, -1.5330538946875, 1.8500514575][..],
        epsilon = 1e-14
    );
}

/// A parameter among many, on several threads, moves as it would alone.
#[test]
fn a_step_of_many_parameters_is_that_of_each() {
    for amsgrad in [false, true] {
        let optimiser = Optimiser::Adam(Adam { amsgrad, weight_decay: 0.1, ..Adam::default() });
        let count = 100_003;
        let start = |index: usize| (index % 97) as f32 / 10.0 - 4.0;
        let slope = |index: usize, step: usize| ((index * 31 + step * 17) % 101) as f32 / 50.0 - 1.0;
        let mut parameters: Vec<f32> = (0..count).map(start).collect();
        let mut stepper = optimiser.start(count).unwrap();
        for step in 0..3 {
            let gradient: Vec<f32> = (0..count).map(|index| slope(index, step)).collect();
            stepper.step(&mut parameters, &gradient).unwrap();
        }
        for index in [0, 1, 50_000, 50_001, 50_002, count - 1] {
            let (mut alone, mut stepper) = ([start(index)], optimiser.start(1).unwrap());
            for step in 0..3 {
                stepper.step(&mut alone, &[slope(index, step)]).unwrap();
            }
            assert_eq!(alone[0], parameters[index]);
        }
    }
}

/// A network of 3, 4 (tanh), 2 (sigmoid) and 3 logits, whose parameters are tenths.
fn network() -> Network<f64> {
    let architecture = Architecture::new(3)
        .layer(4, Activation::Tanh)
        .layer(2, Activation::Sigmoid)
        .layer(3, Activation::Identity);
    let parameters = (0..35).map(|index| f64::from(index * 37 % 19 - 9) / 10.0).collect();
    Network::from_parameters(architecture, parameters).unwrap()
}

#[test]
fn twenty_steps_of_adam_end_where_those_of_pytorch_do() {
    let mut network = network();
    let (records, classes) = (array![[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], array![2, 0]);
    let loss = Loss::CrossEntropy(classes.view());
    let adam = Optimiser::Adam(Adam { learning_rate: 0.01, ..Adam::default() });
    let mut stepper = adam.start(network.parameters().len()).unwrap();
    let (mut pass, mut gradient) = (Pass::default(), vec![0.0; 35]);
    let mut output_gradient = Array2::zeros((2, 3));
    let mut losses = vec![];
    for step in 0..=20 {
        let output = network.forward(records.view(), &mut pass).unwrap();
        losses.push(loss.mean(output, output_gradient.view_mut()).unwrap());
        network.backward(output_gradient.view(), &mut pass).unwrap();
        network.gradient(&pass, &mut gradient).unwrap();
        if step == 0 {
            // The first gradient, the eleventh, the first of the second layer's bias, and the last.
            let some = [gradient[0], gradient[10], gradient[24], gradient[34]];
            let expected = [0.00443354004682261, 0.00480502430170965, 0.010461176136177, -0.2728367778984053];
            assert_abs_diff_eq!(some[..], expected[..], epsilon = 1e-15);
        }
        if step < 20 {
            stepper.step(network.parameters_mut(), &gradient).unwrap();
        }
    }
    assert_abs_diff_eq!(
        [losses[0], losses[20]][..],
        [1.1483551431436392, 0.8862146487377707][..],
        epsilon = 1e-13
    );
    let sum: f64 = network.parameters().iter().sum();
    assert_abs_diff_eq!(sum, 2.0599928083319288, epsilon = 1e-12);
}
