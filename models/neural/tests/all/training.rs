//! Tests of networks fitted to examples.

use ndarray::{Array1, Array2, array};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_neural::{
    Activation, Adam, Architecture, Batches, Epoch, Error, Examples, Initialisation, Loss, Network,
    Optimiser, Real, Sgd, Training,
};

/// A hundred numbers in ±π, and their sine.
fn sine<T: Real>() -> (Array2<T>, Array2<T>) {
    let angles = Array1::linspace(-std::f64::consts::PI, std::f64::consts::PI, 100);
    let column = |values: Array1<f64>| values.mapv(T::nearest).insert_axis(ndarray::Axis(1));
    (column(angles.clone()), column(angles.mapv(f64::sin)))
}

fn small<T: Real>(seed: u64) -> Network<T> {
    let architecture = Architecture::new(1)
        .layer(16, Activation::Tanh)
        .layer(16, Activation::Tanh)
        .layer(1, Activation::Identity);
    Network::new(architecture, Initialisation::Glorot, seed).unwrap()
}

fn adam(learning_rate: f64) -> Optimiser {
    Optimiser::Adam(Adam { learning_rate, ..Adam::default() })
}

#[test]
fn a_sine_is_learned() {
    fn learned<T: Real>() -> f64 {
        let (x, y) = sine::<T>();
        let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
        let training = Training { epochs: 500, batch_size: 20, optimiser: adam(0.01), ..Training::default() };
        let network = training.fit(&small(1), examples, None, |_| ()).unwrap();
        examples.mean_loss(&network).unwrap()
    }
    // The mean square of the sine is 0.495.
    let (single, double) = (learned::<f32>(), learned::<f64>());
    assert!(single < 1e-3 && double < 1e-3, "{single} and {double}");
}

#[test]
fn exclusive_or_is_learned_by_either_cross_entropy_and_either_optimiser() {
    let records = array![[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let (classes, shares) = (array![0, 1, 1, 0], array![[0.0], [1.0], [1.0], [0.0]]);
    let sgd = Optimiser::Sgd(Sgd { learning_rate: 0.3, momentum: 0.9, ..Sgd::default() });
    for optimiser in [adam(0.03), sgd] {
        for (loss, outputs) in
            [(Loss::CrossEntropy(classes.view()), 2), (Loss::BinaryCrossEntropy(shares.view()), 1)]
        {
            let architecture =
                Architecture::new(2).layer(8, Activation::Tanh).layer(outputs, Activation::Identity);
            let start = Network::<f64>::new(architecture, Initialisation::Glorot, 1).unwrap();
            let examples = Examples { records: records.view(), loss };
            let training = Training { epochs: 1000, optimiser, ..Training::default() };
            let network = training.fit(&start, examples, None, |_| ()).unwrap();
            let loss = examples.mean_loss(&network).unwrap();
            assert!(loss < 0.01, "{loss}");
            if outputs == 2 {
                assert_eq!(network.classify(records.view()).unwrap(), classes);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_whatever_the_number_of_threads() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let x = Array2::from_shape_simple_fn((150, 300), || rng.gen_range(-1.0_f32..1.0));
    let y = Array2::from_shape_simple_fn((150, 200), || rng.gen_range(-1.0_f32..1.0));
    let architecture = Architecture::new(300).layer(257, Activation::Relu).layer(200, Activation::Identity);
    let start = Network::new(architecture, Initialisation::He, 1).unwrap();
    let learned = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
        let training = Training { epochs: 3, ..Training::default() };
        pool.install(|| training.fit(&start, examples, None, |_| ()).unwrap())
    };
    let alone = learned(1);
    assert_ne!(alone, start);
    for threads in [2, 3, 8] {
        assert!(learned(threads) == alone, "{threads} threads");
    }
}

/// Half a cosine at thirds of its length is 1, ¾ and ¼.
#[test]
fn an_annealed_rate_falls_along_half_a_cosine() {
    let (x, y) = sine::<f64>();
    let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
    let fitted = |start: &Network<f64>, epochs: usize, learning_rate: f64, annealed: bool| {
        let optimiser = Optimiser::Sgd(Sgd { learning_rate, ..Sgd::default() });
        let training = Training { epochs, batch_size: 100, optimiser, annealed, ..Training::default() };
        training.fit(start, examples, None, |_| ()).unwrap()
    };
    let annealed = fitted(&small(1), 3, 0.2, true);
    let by_hand = [0.2, 0.15, 0.05].iter().fold(small(1), |start, &rate| fitted(&start, 1, rate, false));
    let differences = annealed.parameters().iter().zip(by_hand.parameters()).map(|(a, b)| (a - b).abs());
    assert!(differences.fold(0.0, f64::max) < 1e-12);
    assert!(annealed != fitted(&small(1), 3, 0.2, false));
}

#[test]
fn the_best_epoch_on_validation_examples_is_kept() {
    let (x, y) = sine::<f64>();
    let backwards = y.mapv(|y| -y);
    let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
    let validation = Examples { records: x.view(), loss: Loss::SquaredError(backwards.view()) };
    let training = Training {
        epochs: 100,
        batch_size: 20,
        optimiser: adam(0.01),
        patience: Some(3),
        ..Training::default()
    };
    let mut epochs: Vec<Epoch> = vec![];
    let network = training.fit(&small(1), examples, Some(validation), |epoch| epochs.push(epoch)).unwrap();
    let losses: Vec<f64> = epochs.iter().filter_map(|epoch| epoch.validation_loss).collect();
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(validation.mean_loss(&network).unwrap(), least);
    // Training ends three epochs after the best one, and each epoch has its number.
    assert_eq!(losses.iter().position(|&loss| loss == least), losses.len().checked_sub(4));
    assert!(epochs.iter().zip(1..).all(|(epoch, number)| epoch.number == number));
    assert!(epochs[epochs.len() - 1].training_loss < epochs[0].training_loss);
}

#[test]
fn the_training_loss_of_an_epoch_is_that_of_its_minibatches() {
    let (x, y) = sine::<f64>();
    let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
    let still = Optimiser::Sgd(Sgd { learning_rate: 0.0, ..Sgd::default() });
    let training = Training { epochs: 1, batch_size: 64, optimiser: still, ..Training::default() };
    let start = small(1);
    let expected = examples.mean_loss(&start).unwrap();
    let mut found = f64::NAN;
    let end = training.fit(&start, examples, None, |epoch| found = epoch.training_loss).unwrap();
    assert_eq!(end, start);
    assert!((found - expected).abs() < 1e-14, "{found} for {expected}");
}

#[test]
fn what_leaves_the_finite_numbers_is_an_error_with_its_epoch() {
    let (x, y) = sine::<f32>();
    let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
    let optimiser = Optimiser::Sgd(Sgd { learning_rate: 1e6, ..Sgd::default() });
    let architecture = Architecture::new(1).layer(1, Activation::Identity);
    let start = Network::new(architecture, Initialisation::Uniform, 1).unwrap();
    let mut seen = 0;
    let training = Training { batch_size: 100, optimiser, ..Training::default() };
    let error = training.fit(&start, examples, None, |epoch| seen = epoch.number).unwrap_err();
    let Error::Diverged { epoch, what: "the training loss", .. } = error else {
        panic!("{error}");
    };
    assert_eq!(epoch, seen + 1);
    assert!(error.to_string().starts_with("training left the finite numbers in epoch "), "{error}");
}

#[test]
fn what_cannot_be_fitted_is_an_error() {
    let (x, y) = sine::<f64>();
    let fit = |training: Training, x: &Array2<f64>, y: &Array2<f64>| {
        let examples = Examples { records: x.view(), loss: Loss::SquaredError(y.view()) };
        training.fit(&small(1), examples, None, |_| ()).unwrap_err().to_string()
    };
    let training = Training::default();
    assert_eq!(
        fit(Training { batch_size: 0, ..training }, &x, &y),
        "the batch size must be positive, and is 0"
    );
    assert_eq!(
        fit(Training { optimiser: adam(f64::NAN), ..training }, &x, &y),
        "the learning rate must be finite and not negative, and is NaN"
    );
    let momentum = Optimiser::Sgd(Sgd { momentum: 1.0, ..Sgd::default() });
    assert_eq!(
        fit(Training { optimiser: momentum, ..training }, &x, &y),
        "the momentum must be in [0, 1), and is 1"
    );
    assert_eq!(fit(training, &Array2::zeros((0, 1)), &Array2::zeros((0, 1))), "there are no records");
    assert_eq!(fit(training, &x, &Array2::zeros((99, 1))), "the targets must be 100 in number, and are 99");
    let mut broken = x.clone();
    broken[[7, 0]] = f64::NAN;
    assert_eq!(
        fit(training, &broken, &y),
        "the record in row 7 and column 0, counted from 0, must be a finite number, and is NaN"
    );
}

#[test]
fn every_epoch_has_each_record_once_in_a_new_order() {
    let mut batches = Batches::new(1000, 64, 1).unwrap();
    let mut epoch = || batches.shuffled().flatten().copied().collect::<Vec<_>>();
    let (first, second) = (epoch(), epoch());
    assert_ne!(first, second);
    for mut order in [first, second] {
        order.sort_unstable();
        assert!(order.into_iter().eq(0..1000));
    }
}
