//! Noise-aware models: the noise that a release describes, and the gain from it.

use linfa::traits::{Fit, Predict};
use ndarray::{Array1, Array2, Axis, concatenate};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::classifier::ClassifierParams;
use scumble::core::{
    Brief, Budget, Domain, Randomness, RecordDomain, Registry, Release, Table, Target, TargetDomain, composed,
};
use scumble::linear::{LogisticParams, RidgeParams};
use scumble::svm::SvmParams;
use serde_json::{Value, json};

const COLUMNS: usize = 3;

/// Draws `n` records of three correlated numbers in [0, 1], with a class or a number that depends on them.
fn drawn(n: usize, seed: u64, target: &TargetDomain) -> Table {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut records = Array2::zeros((n, COLUMNS));
    for mut row in records.outer_iter_mut() {
        let common = rng.gen_range(0.0..0.5);
        row.mapv_inplace(|_: f64| common + rng.gen_range(0.0..0.5));
    }
    let score = records.map_axis(Axis(1), |x| 0.6 * x[0] + 0.4 * (1.0 - x[1]));
    let target = match target {
        // One record in ten has class 1.
        TargetDomain::Class { .. } => {
            Target::Class(score.mapv(|score| usize::from(score + rng.gen_range(-0.05..0.05) > 0.62)))
        }
        _ => Target::Real(score.mapv(|score| score + rng.gen_range(0.0..0.02)).mapv(|y| y.min(1.0))),
    };
    Table::new((1..=COLUMNS).map(|at| format!("x{at}")).collect(), records, target).unwrap()
}

fn released(
    table: &Table,
    target: TargetDomain,
    plugin: &str,
    parameters: Value,
    epsilon: f64,
    seed: u64,
) -> Release {
    let domain = RecordDomain::new(table.columns().to_vec(), Domain::unit_box(COLUMNS), target).unwrap();
    let brief = Brief::new(domain, Budget::new(epsilon, 1e-6).unwrap());
    let design = Registry::installed().unwrap().get(plugin).unwrap().design(&parameters, &brief).unwrap();
    design.mechanism().release(table, &mut Randomness::seeded(seed)).unwrap()
}

fn covariance(table: &Table) -> Array2<f64> {
    let Target::Real(targets) = table.target() else { panic!("a real target") };
    let all = concatenate![Axis(1), table.records().view(), targets.view().insert_axis(Axis(1))];
    let centred = &all - &all.mean_axis(Axis(0)).unwrap();
    centred.t().dot(&centred) / table.len() as f64
}

fn real() -> TargetDomain {
    TargetDomain::Real { lower: 0.0, upper: 1.0 }
}

fn classes() -> TargetDomain {
    TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
}

/// Checks that the covariance of a release minus the covariance of its noise is the covariance of the
/// records.
///
/// The tolerance is six standard errors of 400,000 records. Each entry is a mean of products, with the
/// deviation of the released numbers (weighted numbers, if attributes are sampled).
#[test]
fn the_noise_taken_away_leaves_the_clean_covariance() {
    let table = drawn(400_000, 1, &real());
    for (plugin, parameters) in [
        ("laplace", json!({})),
        ("gaussian", json!({})),
        ("laplace", json!({"protect": "features"})),
        ("piecewise", json!({"k": 2})),
        ("piecewise", json!({"k": 4})),
        ("piecewise", json!({"protect": "label"})),
        ("hybrid", json!({"k": 2})),
        ("identity", json!({})),
    ] {
        let release = released(&table, real(), plugin, parameters.clone(), 4.0, 2);
        let noise = release.noise.covariance(&release.table).unwrap();
        let seen = covariance(&release.table);
        let off = &seen - &noise - covariance(&table);
        for ((i, j), off) in off.indexed_iter() {
            // A fourth moment is about ten squared variances for such noise.
            let error = (10.0 * seen[[i, i]] * seen[[j, j]] / 400_000.0).sqrt();
            assert!(
                off.abs() < 6.0 * error,
                "{plugin} {parameters}, entry {i}, {j}: {off} where ± {error} is usual"
            );
        }
    }
    // With one number per record, no two numbers are released together. One bit contains no information on
    // squares.
    for (plugin, parameters) in [("piecewise", json!({"k": 1})), ("duchi", json!({"k": 4}))] {
        let release = released(&table.select(&[0, 1, 2]).unwrap(), real(), plugin, parameters, 4.0, 3);
        assert!(release.noise.covariance(&release.table).is_none(), "{plugin}");
    }
}

/// Checks that parts of a composition sample their attributes independently: the noise is correlated within a
/// part, and not across parts.
#[test]
fn parts_of_a_composition_have_lots_of_their_own() {
    let table = drawn(200_000, 4, &real());
    let whole = RecordDomain::new(table.columns().to_vec(), Domain::unit_box(COLUMNS), real()).unwrap();
    let part = |domain: RecordDomain, parameters: Value| {
        let brief = Brief::new(domain, Budget::new(4.0, 0.0).unwrap());
        let plugin =
            Registry::installed().unwrap().get("piecewise").unwrap().design(&parameters, &brief).unwrap();
        plugin.into_mechanism()
    };
    let features = part(whole.without_target(), json!({"k": 2}));
    let both = composed(whole.clone(), vec![features, part(whole.without_features(), json!({}))]).unwrap();
    let release = both.release(&table, &mut Randomness::seeded(5)).unwrap();
    let noise = release.noise.covariance(&release.table).unwrap();
    assert_eq!(noise, noise.t());
    assert!((0..COLUMNS).all(|column| noise[[column, COLUMNS]] == 0.0), "{noise}");
    let seen = covariance(&release.table);
    for ((i, j), off) in (&seen - &noise - covariance(&table)).indexed_iter() {
        let error = (10.0 * seen[[i, i]] * seen[[j, j]] / 200_000.0).sqrt();
        assert!(off.abs() < 6.0 * error, "entry {i}, {j}: {off} where ± {error} is usual");
    }
}

/// Checks that knowledge of the noise does not harm a model with few records and much noise, in the target
/// too.
///
/// The mean loss over forty data sets is less than three of its standard errors.
#[test]
fn to_know_the_noise_does_no_harm_where_little_can_be_learned() {
    for (plugin, epsilon) in [("laplace", 1.0), ("laplace", 4.0), ("laplace", 16.0), ("gaussian", 4.0)] {
        let gains: Vec<f64> =
            (0..40).map(|seed| ridge_gain(plugin, epsilon, [400, 400], 300 + seed)).collect();
        let (mean, error) =
            gain(&format!("ridge on 400 records by {plugin} at ε = {epsilon}, in RMSE"), &gains);
        assert!(mean > -3.0 * error, "{plugin} at ε = {epsilon}: a gain of {mean} ± {error}");
    }
}

/// Returns the reduction in RMSE of a ridge regression that knows the noise, on held-out records in the
/// clear.
///
/// `train` and `test` are the numbers of records.
fn ridge_gain(plugin: &str, epsilon: f64, [train, test]: [usize; 2], seed: u64) -> f64 {
    let (train, test) = (drawn(train, seed, &real()), drawn(test, 1_000 + seed, &real()));
    let release = released(&train, real(), plugin, json!({}), epsilon, seed);
    let noise = release.noise.covariance(&release.table).unwrap();
    let dataset: linfa::Dataset<f64, f64, ndarray::Ix1> = release.table.try_into().unwrap();
    let Target::Real(truth) = test.target() else { panic!("a real target") };
    let rmse = |params: RidgeParams| {
        let errors: Array1<f64> = params.fit(&dataset).unwrap().predict(test.records()) - truth;
        errors.mapv(|error| error * error).mean().unwrap().sqrt()
    };
    rmse(RidgeParams::default()) - rmse(RidgeParams::default().noise_covariance(noise))
}

/// Returns the mean of paired gains over data sets, and its standard error.
fn gain(name: &str, gains: &[f64]) -> (f64, f64) {
    let n = gains.len() as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let error = (gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();

    eprintln!("{name}: {mean:.4} ± {error:.4}");
    (mean, error)
}

#[test]
fn ridge_regression_that_knows_the_noise_errs_less_on_clean_records() {
    for (plugin, epsilon) in [("laplace", 4.0), ("gaussian", 8.0)] {
        let gains: Vec<f64> =
            (0..20).map(|seed| ridge_gain(plugin, epsilon, [100_000, 2_000], 10 + seed)).collect();
        let (mean, error) = gain(&format!("ridge on {plugin} at ε = {epsilon}, in RMSE"), &gains);
        assert!(mean > 5.0 * error, "{plugin}: a gain of {mean} ± {error}");
    }
}

#[test]
fn classifiers_that_know_the_flips_find_more_true_labels_at_small_epsilon() {
    let gains: Vec<[f64; 2]> = (0..10)
        .map(|seed| {
            let (train, test) = (drawn(20_000, 100 + seed, &classes()), drawn(4_000, 150 + seed, &classes()));
            let release = released(&train, classes(), "randomized-response", json!({}), 0.5, seed);
            let flip = release.noise.label_flip().unwrap();
            let dataset: linfa::Dataset<f64, usize, ndarray::Ix1> = release.table.try_into().unwrap();
            let Target::Class(truth) = test.target() else { panic!("a class") };
            let share = |predicted: Array1<usize>| {
                let hits = predicted.iter().zip(truth).filter(|(a, b)| a == b).count();
                hits as f64 / truth.len() as f64
            };
            let logistic =
                |params: LogisticParams| share(params.fit(&dataset).unwrap().predict(test.records()));
            let svm = |params: SvmParams| share(params.fit(&dataset).unwrap().predict(test.records()));
            [
                logistic(LogisticParams::default().label_flip(flip.clone()))
                    - logistic(LogisticParams::default()),
                svm(SvmParams::default().label_flip(flip)) - svm(SvmParams::default()),
            ]
        })
        .collect();
    for (at, name) in ["logistic regression", "a linear machine"].into_iter().enumerate() {
        let gains: Vec<f64> = gains.iter().map(|gains| gains[at]).collect();
        let (mean, error) = gain(&format!("{name} on flipped labels at ε = 0.5, in accuracy"), &gains);
        assert!(mean > 5.0 * error, "{name}: a gain of {mean} ± {error}");
    }
}

/// Draws `n` images (8 × 8 pixels) of ten digits. Each digit has a random pattern in [0, 1], and each pixel
/// moves by up to ±1.
fn digits(n: usize, seed: u64) -> (Array2<f64>, Array1<usize>) {
    let mut pattern_rng = ChaCha20Rng::seed_from_u64(10);
    let patterns = Array2::from_shape_simple_fn((10, 64), || pattern_rng.gen_range(0.0..1.0));
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let classes = Array1::from_shape_simple_fn(n, || rng.gen_range(0..10));
    let mut records = patterns.select(Axis(0), classes.as_slice().unwrap());
    records.mapv_inplace(|pixel: f64| (pixel + rng.gen_range(-1.0..1.0)).clamp(0.0, 1.0));
    (records, classes)
}

/// Checks the gain of networks on labels that are correct in 23 % of cases (ten levels, ε = 1). Over five
/// data sets, the mean gain exceeds zero by more than five of its standard errors. It was 0.197 ± 0.008 at
/// the time of writing.
#[test]
fn networks_that_know_the_flips_find_more_digits() {
    let columns: Vec<String> = (1..=64).map(|pixel| format!("p{pixel}")).collect();
    let levels = (0..10).map(|digit| digit.to_string()).collect();
    let domain =
        RecordDomain::new(columns.clone(), Domain::unit_box(64), TargetDomain::Class { levels }).unwrap();
    let brief = Brief::new(domain, Budget::new(1.0, 0.0).unwrap());
    let registry = Registry::installed().unwrap();
    let design = registry.get("randomized-response").unwrap().design(&json!({}), &brief).unwrap();
    let gains: Vec<f64> = (0..5)
        .map(|seed| {
            let ((records, classes), (test, truth)) = (digits(20_000, 200 + seed), digits(2_000, 250 + seed));
            let table = Table::new(columns.clone(), records, Target::Class(classes)).unwrap();
            let release = design.mechanism().release(&table, &mut Randomness::seeded(seed)).unwrap();
            let flip = release.noise.label_flip().unwrap();
            let seen: linfa::Dataset<f64, usize, ndarray::Ix1> = release.table.try_into().unwrap();
            let share = |params: ClassifierParams| {
                let predicted = params.fit(&seen).unwrap().predict(&test);
                predicted.iter().zip(&truth).filter(|(one, other)| one == other).count() as f64 / 2_000.0
            };
            share(ClassifierParams::default().label_flip(flip)) - share(ClassifierParams::default())
        })
        .collect();
    let (mean, error) = gain("a network on flipped digits at ε = 1, in accuracy", &gains);
    assert!(mean > 5.0 * error, "seeds 200 to 204: a gain of {mean} ± {error}");
}
