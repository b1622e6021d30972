//! Tests of `fisher-correlated`: the unchanged models, disclosures, claims, and refusals.

use ndarray::{Array1, Array2, Axis};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_core::{
    Brief, Budget, CramerRao, CuratorMechanism, Designed, Domain, Error, Guarantee, Notion, Randomness,
    RecordDomain, Release, Table, Target, TargetDomain, Unit,
};
use scumble_fisher_svm::{FISHER_CORRELATED, FisherCorrelated, KeptModel};
use scumble_kkt::{FittedModel, LinearModel, Loss, Machine, Records, SoftMargin};
use scumble_testing::{records, refuses_changes};
use serde_json::{Value, json};
use std::path::PathBuf;

fn class() -> TargetDomain {
    TargetDomain::Class { levels: vec!["benign".into(), "malignant".into()] }
}

/// A table with the domain from 1 below the least to 1 above the largest value of each column, which these
/// tests may read.
fn table_of(records: Array2<f64>, classes: Vec<usize>) -> (RecordDomain, Table) {
    let columns: Vec<String> = (1..=records.ncols()).map(|at| format!("x{at}")).collect();
    let bounds = records.axis_iter(Axis(1)).map(|column| {
        let (low, high) =
            column.iter().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
        Domain::interval(low - 1.0, high + 1.0).unwrap()
    });
    let domain = RecordDomain::new(columns.clone(), Domain::product(bounds).unwrap(), class()).unwrap();
    (domain, Table::new(columns, records, Target::Class(Array1::from(classes))).unwrap())
}

/// The illustrative example of Section 3.1: fifty records around (0, 0) and fifty around (0, 5), of unit
/// covariance.
fn two_clouds(seed: u64) -> (RecordDomain, Table) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut normal = || (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum::<f64>();
    let records = Array2::from_shape_fn((100, 2), |(row, column)| {
        normal() + if row >= 50 && column == 1 { 5.0 } else { 0.0 }
    });
    table_of(records, (0..100).map(|row| usize::from(row < 50)).collect())
}

fn mechanism(domain: &RecordDomain, variance: f64) -> FisherCorrelated {
    FisherCorrelated::new(domain.clone(), vec![KeptModel::MACHINE], variance).unwrap()
}

fn seeded(mechanism: &FisherCorrelated, table: &Table, seed: u64) -> Release {
    mechanism.release(table, &mut Randomness::seeded(seed)).unwrap()
}

fn fresh(mechanism: &FisherCorrelated, table: &Table) -> Guarantee {
    mechanism.release(table, &mut Randomness::from_os().unwrap()).unwrap().guarantee
}

fn bound(guarantee: &Guarantee) -> &CramerRao {
    let [claim] = &guarantee.claims[..] else { panic!("{guarantee}") };
    assert_eq!(claim.protects, Unit::Features);
    match &claim.notion {
        Notion::CramerRao(bound) => bound,
        other => panic!("{other}"),
    }
}

fn signs(table: &Table) -> Vec<f64> {
    let Target::Class(classes) = table.target() else { panic!("the target is not a class") };
    classes.iter().map(|class| if *class == 1 { 1.0 } else { -1.0 }).collect()
}

/// Equation (2) with θ = 1 and ρ = 0.01.
fn trained(table: &Table) -> Machine {
    let (records, signs) = (Records::new(table.records().view()), signs(table));
    let penalties = vec![1.0; signs.len()];
    let programme = SoftMargin::new(&records, &signs, &penalties).unwrap();
    let programme = programme.bias_penalty(0.01).unwrap().squared_slack_penalty(0.01).unwrap();
    match programme.solve(1e-13, 300) {
        // The smallest gap that double precision reaches.
        Err(scumble_kkt::Error::NotConverged { gap, .. }) if gap < 1e-9 => programme.solve(gap, 300).unwrap(),
        solved => solved.unwrap(),
    }
}

/// α and β of the classifier (p + 1 values), to more digits than the solver's. The solver's multipliers show
/// which records lie on the margin (M) and which beyond it (V). The KKT conditions (15) are then linear
/// equations in α, β and ω on M.
fn coefficients(table: &Table) -> Vec<f64> {
    let (machine, signs, (theta, rho)) = (trained(table), signs(table), (1.0, 0.01));
    let p = table.records().ncols();
    let on_margin: Vec<usize> =
        (0..signs.len()).filter(|i| (1e-4..theta - 1e-4).contains(&machine.multipliers[*i])).collect();
    let beyond = (0..signs.len()).filter(|i| machine.multipliers[*i] >= theta - 1e-4);
    // Columns in units of their largest value, and a last column of ones for β.
    let units: Vec<f64> = table
        .records()
        .axis_iter(Axis(1))
        .map(|column| column.iter().fold(1e-9, |u: f64, x| u.max(x.abs())))
        .collect();
    let scaled = |i: usize, j: usize| if j < p { table.records()[[i, j]] / units[j] } else { 1.0 };
    let size = p + 1 + on_margin.len();
    let mut system = Array2::<f64>::zeros((size, size + 1));
    for j in 0..=p {
        system[[j, j]] = if j < p { units[j].powi(-2) } else { rho };
    }
    for i in beyond {
        for j in 0..=p {
            (0..=p).for_each(|k| system[[j, k]] += rho * scaled(i, j) * scaled(i, k));
            system[[j, size]] += (theta + rho) * signs[i] * scaled(i, j);
        }
    }
    for (m, &i) in on_margin.iter().enumerate() {
        for j in 0..=p {
            system[[j, p + 1 + m]] = -signs[i] * scaled(i, j);
            system[[p + 1 + m, j]] = signs[i] * scaled(i, j);
        }
        system[[p + 1 + m, size]] = 1.0;
    }
    let solution = eliminated(system.outer_iter().map(|row| row.to_vec()).collect());
    (0..=p).map(|j| if j < p { solution[j] / units[j] } else { solution[j] }).collect()
}

/// Solution of n linear equations, n rows of n + 1 values.
fn eliminated(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for at in 0..n {
        let pivot = (at..n).max_by(|i, k| rows[*i][at].abs().total_cmp(&rows[*k][at].abs())).unwrap();
        rows.swap(at, pivot);
        let pivot_row = rows[at].clone();
        for (row, values) in rows.iter_mut().enumerate().filter(|(row, _)| *row != at) {
            let factor = values[at] / pivot_row[at];
            assert!(factor.is_finite(), "equation {row} of {n} has no pivot");
            values.iter_mut().zip(&pivot_row).for_each(|(x, y)| *x -= factor * y);
        }
    }
    (0..n).map(|at| rows[at][n] / rows[at][at]).collect()
}

fn largest_difference(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// Largest difference between the solver's coefficients of the classifiers of two tables.
fn moved(one: &Table, other: &Table) -> f64 {
    let (one, other) = (trained(one), trained(other));
    largest_difference(&one.weights, &other.weights).max((one.bias - other.bias).abs())
}

#[track_caller]
fn keeps_the_classifier(domain: &RecordDomain, table: &Table, variance: f64) {
    for seed in 0..3 {
        let release = seeded(&mechanism(domain, variance), table, seed);
        let size: f64 = (release.table.records() - table.records()).iter().map(|w| w * w).sum();
        assert!(
            size > 0.1 * variance * table.records().len() as f64 * 0.4,
            "there is hardly any noise: {size}"
        );
        assert_eq!(release.table.target(), table.target());
        let moved = moved(table, &release.table);
        assert!(moved < 1e-6, "seed {seed}: the classifier moved by {moved}");
    }
}

#[test]
fn the_classifier_of_two_clouds_is_kept_at_any_size_of_noise() {
    let (domain, table) = two_clouds(1);
    for variance in [1e-3, 100.0, 1e6] {
        keeps_the_classifier(&domain, &table, variance);
        let released = seeded(&mechanism(&domain, variance), &table, 1).table;
        let moved = largest_difference(&coefficients(&table), &coefficients(&released));
        assert!(moved < 1e-8, "m = {variance}: the classifier moved by {moved}");
    }
}

/// The 569 records, unscaled, with class 1 for malignant; `None` without the data.
fn wdbc() -> Option<(RecordDomain, Table)> {
    let folder = std::env::var_os("SCUMBLE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let file = folder.join("wdbc/wdbc.csv");
    let Ok(text) = std::fs::read_to_string(&file) else {
        scumble_testing::missing(file.display());
        return None;
    };
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let classes = rows.iter().map(|row| usize::from(row[1] == 0.0)).collect();
    Some(table_of(Array2::from_shape_fn((rows.len(), 30), |(i, j)| rows[i][j + 2]), classes))
}

#[test]
fn unscaled_wdbc_keeps_its_classifier_and_has_the_bound_of_the_reference() {
    let Some((domain, table)) = wdbc() else { return };
    let clean = coefficients(&table);
    assert!((clean[30] + 5.3470106387496).abs() < 1e-8, "{}", clean[30]);
    for seed in 0..3 {
        let moved = largest_difference(
            &clean,
            &coefficients(&seeded(&mechanism(&domain, 100.0), &table, seed).table),
        );
        assert!(moved < 1e-8, "seed {seed}: the classifier moved by {moved}");
    }
    // From an interior point solver, to 1e-12; the paper prints 28.4·m.
    let guarantee = fresh(&mechanism(&domain, 100.0), &table);
    let error = bound(&guarantee).error();
    assert!((error / 2841.2720034188304 - 1.0).abs() < 1e-9, "{error}");
    let share = 1.0 - error / 2900.0;
    assert!((share - 0.020251033303851626).abs() < 1e-9, "{share}");
    assert!(guarantee.discloses.iter().any(|line| line.contains("0.0203")), "{guarantee}");
}

#[test]
fn what_is_disclosed_is_and_who_knows_the_others_knows_every_support_vector() {
    let (domain, table) = two_clouds(2);
    let released = seeded(&mechanism(&domain, 100.0), &table, 7).table;
    // An adversary trains on the release.
    let seen = trained(&released);
    let b: Vec<f64> =
        seen.multipliers.iter().zip(signs(&released)).map(|(omega, sign)| omega * sign).collect();
    let alpha = Array1::from(seen.weights);
    let (scores, clean) = (released.records().dot(&alpha), table.records().dot(&alpha));
    assert!((scores - clean).iter().all(|off| off.abs() < 1e-6));
    let sum = Array1::from(b.clone()).dot(table.records());
    assert!((sum - &alpha).iter().all(|off| off.abs() < 1e-6));
    // x = x̄ + Σ bw/b over the others, whose noise w the adversary knows (errata F12).
    let noise = released.records() - table.records();
    let support: Vec<usize> = (0..b.len()).filter(|at| b[*at].abs() > 1e-3).collect();
    assert!(support.len() >= 3, "{b:?}");
    for &i in &support {
        for column in 0..2 {
            let others: f64 = (0..b.len()).filter(|j| *j != i).map(|j| b[j] * noise[[j, column]]).sum();
            let found = released.records()[[i, column]] + others / b[i];
            let truth = table.records()[[i, column]];
            assert!((found - truth).abs() < 1e-6 / b[i].abs(), "record {i}: {found} for {truth}");
            assert!(noise[[i, column]].abs() > 1e-3, "there was nothing to find");
        }
    }
}

/// Checks that the least mean squared error of a record, over 20,000 releases, is `error` within 6 %.
#[track_caller]
fn attains(mechanism: &FisherCorrelated, table: &Table, error: f64) {
    let mut squares = Array1::<f64>::zeros(table.len());
    for seed in 0..20_000 {
        let noise = seeded(mechanism, table, seed).table.records() - table.records();
        squares += &noise.mapv(|w| w * w).sum_axis(Axis(1));
    }
    let least = squares.iter().copied().fold(f64::INFINITY, f64::min) / 20_000.0;
    assert!((least / error - 1.0).abs() < 0.06, "seeds 0 to 19,999: {least}, and {error} is claimed");
}

/// The mean squared error over 20,000 releases has a standard error below 1 % of the true value; the
/// tolerance is six of them.
#[test]
fn what_is_released_attains_the_bound_at_the_record_of_the_largest_share() {
    let (domain, table) = table_of(
        ndarray::array![[0.1, 0.9, 0.4], [0.8, 0.2, 0.3], [0.5, 0.6, 0.9], [0.9, 0.1, 0.7], [0.2, 0.8, 0.1]],
        vec![0, 1, 0, 1, 1],
    );
    let mechanism = mechanism(&domain, 4.0);
    let error = bound(&fresh(&mechanism, &table)).error();
    attains(&mechanism, &table, error);
    assert!(error < 4.0 * 2.0 * 0.8, "one of five records has a fifth of all or more");
}

#[test]
fn a_design_has_no_number_from_the_data_and_a_seeded_release_no_claim() {
    let (domain, table) = two_clouds(1);
    let mechanism = mechanism(&domain, 100.0);
    let design = mechanism.guarantee();
    assert!(
        design.claims.is_empty()
            && design.to_string().starts_with("guarantee  squared error of at least 100 "),
        "{design}"
    );
    assert!(design.each_release[0].contains("times 1 − s"), "{design}");
    let release = seeded(&mechanism, &table, 1).guarantee;
    assert!(release.claims.is_empty() && release.each_release.is_empty(), "{release}");
    let fresh = fresh(&mechanism, &table);
    let error = bound(&fresh).error();
    assert!(error > 10.0 && error < 100.0, "{error}");
    assert!(bound(&fresh).information.values().all(|information| *information == f64::INFINITY));
    assert_eq!(fresh.epsilon(), None);
    assert!(!fresh.to_string().contains('ε') && !design.to_string().contains('ε'), "{fresh}");
    for disclosed in ["label", "scores w·x", "Σ bx", "s = 0.", "all other records", "number of records"] {
        assert!(fresh.discloses.iter().any(|line| line.contains(disclosed)), "{disclosed}: {fresh}");
    }
}

#[test]
fn a_bound_beyond_the_domain_is_called_vacuous_and_the_default_is_not() {
    let (domain, table) = two_clouds(1);
    let says = |mechanism: &Designed| {
        let release = mechanism.release(&table, &mut Randomness::from_os().unwrap()).unwrap();
        release.guarantee.to_string().contains("vacuous")
    };
    let radius = domain.features().squared_radius();
    assert!(says(&Designed::curator(mechanism(&domain, 10.0 * radius))));
    assert!(!says(&Designed::curator(mechanism(&domain, 0.9 * radius))));
    let brief = Brief::new(domain, Budget::pure(1.0).unwrap());
    assert!(!says(FISHER_CORRELATED.design(&Value::Null, &brief).unwrap().mechanism()));
}

#[test]
fn a_record_outside_the_domain_is_moved_into_it_before_the_classifier_is_trained() {
    let (domain, table) = two_clouds(1);
    let wild = Table::new(table.columns().to_vec(), table.records() * 3.0, table.target().clone()).unwrap();
    let release = seeded(&mechanism(&domain, 100.0), &wild, 1);
    let inside = domain.projected_features(&wild).unwrap();
    let inside = Table::new(wild.columns().to_vec(), inside, wild.target().clone()).unwrap();
    assert!(moved(&inside, &release.table) < 1e-6);
}

/// Odd tables: levels with numbers, more columns than records, a constant column, classes far apart, and a
/// single class.
#[test]
fn the_classifier_is_kept_of_odd_tables() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut drawn = |q: usize, p: usize| Array2::from_shape_fn((q, p), |_| rng.gen_range(0.0..1.0));
    let alternating = |q: usize| (0..q).map(|row| row % 2).collect::<Vec<usize>>();
    let wide = table_of(drawn(6, 30), alternating(6));
    let mut constant = drawn(40, 5);
    constant.column_mut(2).fill(0.7);
    let constant = table_of(constant, alternating(40));
    let mut separated = drawn(40, 3);
    (0..20).for_each(|row| separated[[2 * row, 1]] += 10.0);
    let separated = table_of(separated, alternating(40));
    let one_class = table_of(drawn(30, 4), vec![1; 30]);
    for (what, (domain, table)) in
        [("wide", wide), ("constant", constant), ("apart", separated), ("one class", one_class)]
    {
        eprintln!("{what}");
        keeps_the_classifier(&domain, &table, 10.0);
    }
    let example = (FISHER_CORRELATED.example)().unwrap();
    keeps_the_classifier(&example.brief.domain, &example.table, 10.0);
}

#[test]
fn a_classifier_that_looks_at_no_feature_is_refused() {
    let variants = ndarray::array![[0.5, 0.5], [0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5]];
    for (records, classes) in [(variants, vec![0, 1, 0, 1]), (Array2::zeros((5, 3)), vec![0, 1, 1, 1, 0])] {
        let (domain, table) = table_of(records, classes);
        let refused = mechanism(&domain, 1.0).release(&table, &mut Randomness::seeded(1)).unwrap_err();
        assert!(refused.to_string().contains("all weights are zero"), "{refused}");
    }
}

#[test]
fn what_has_no_such_model_is_refused() {
    let number = TargetDomain::Real { lower: 0.0, upper: 1.0 };
    let logistic = KeptModel::Logistic { l2_penalty: 1.0 };
    let ridge = KeptModel::Ridge { l2_penalty: 1.0 };
    let softmax = KeptModel::Softmax { l2_penalty: 1.0 };
    let point = Domain::product(vec![Domain::interval(0.5, 0.5).unwrap(); 2]).unwrap();
    let ball = Domain::l2_ball(3, 1.0).unwrap();
    let needs = "needs a label of two or more classes";
    for (features, target, keeps, why) in [
        (Domain::unit_box(3), TargetDomain::None, vec![KeptModel::MACHINE], needs),
        (Domain::unit_box(3), number.clone(), vec![KeptModel::MACHINE], needs),
        (Domain::unit_box(3), number, vec![ridge, softmax], needs),
        (Domain::unit_box(3), TargetDomain::None, vec![ridge], "or a number"),
        (Domain::unit_box(1), class(), vec![KeptModel::MACHINE], "1 combinations of 1 columns"),
        (Domain::unit_box(2), class(), vec![ridge, logistic], "2 combinations of 2 columns"),
        (Domain::unit_box(3), three(), vec![softmax, ridge], "4 combinations of 3 columns"),
        (Domain::unit_box(3), three(), vec![logistic], "3 combinations of 3 columns"),
        (Domain::empty(), class(), vec![KeptModel::MACHINE], "a single point"),
        (ball, class(), vec![KeptModel::MACHINE], "a ball is neither"),
        (point, class(), vec![KeptModel::MACHINE], "a single point"),
    ] {
        let refused = FisherCorrelated::new(records(features, target), keeps, 1.0).unwrap_err();
        assert!(matches!(refused, Error::NotApplicable { .. }), "{refused:?}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let wide =
        FisherCorrelated::new(records(Domain::unit_box(700), three()), vec![softmax], 1.0).unwrap_err();
    assert!(wide.to_string().contains("of 2103 coefficients"), "{wide}");
    let brief = Brief::new(records(Domain::unit_box(700), three()), Budget::pure(1.0).unwrap());
    let design = FISHER_CORRELATED.design(&Value::Null, &brief).unwrap();
    assert_eq!(design.state()["keeps"], json!([{ "model": "ridge", "l2_penalty": 1.0 }]));
    let designed = |features, keeps| FisherCorrelated::new(records(features, class()), keeps, 1.0);
    assert!(designed(Domain::one_hot(2).unwrap(), vec![KeptModel::MACHINE]).is_ok());
    let none = designed(Domain::unit_box(3), vec![]).unwrap_err();
    assert!(matches!(none, Error::Parameter { .. }), "{none:?}");
}

fn three() -> TargetDomain {
    TargetDomain::Class { levels: ["a", "b", "c"].map(String::from).to_vec() }
}

#[test]
fn parameters_out_of_range_are_refused_and_a_saved_one_is_checked_when_it_is_read() {
    let (domain, _) = two_clouds(1);
    let brief = Brief::new(domain, Budget::pure(1.0).unwrap());
    let refused = |parameters: Value| FISHER_CORRELATED.design(&parameters, &brief).unwrap_err().to_string();
    for (model, name, value) in [
        ("support-vector-machine", "theta", 0.0),
        ("support-vector-machine", "rho", -1.0),
        ("ridge", "l2_penalty", 0.0),
        ("huber", "threshold", 1e300),
        ("squared-hinge", "l2_penalty", -1.0),
    ] {
        let refused = refused(json!({ "keeps": [{ "model": model, name: value }] }));
        let one_line = refused.lines().count() == 1;
        assert!(refused.contains(&format!("{name} must be between")) && one_line, "{refused}");
    }
    for variance in [0.0, 1e300] {
        assert!(refused(json!({ "variance": variance })).contains("variance must be between"));
    }
    let machine = json!({ "model": "support-vector-machine", "theta": 2.0 });
    let parameters = json!({ "variance": 7.25, "keeps": [machine] });
    let design = FISHER_CORRELATED.design(&parameters, &brief).unwrap();
    let saved = design.state().to_string();
    let changes =
        [("7.25", "-7.25"), ("\"theta\":2.0", "\"theta\":0.0"), ("support-vector-machine", "softmax")];
    refuses_changes(&FISHER_CORRELATED, &saved, &changes);
}

/// Records of eight numbers in different units, with 80 records of a number, two classes or three classes.
fn mixed_units(target: &str) -> (RecordDomain, Table) {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let records = Array2::from_shape_fn((80, 8), |(_, column)| {
        10f64.powi(column as i32 % 4 - 1) * rng.gen_range(-1.0..1.0) + column as f64
    });
    let score = |row: usize| records[[row, 0]] * 20.0 + records[[row, 1]] + records[[row, 2]] / 10.0;
    let values: Vec<f64> = (0..80).map(|row| score(row) + rng.gen_range(-0.5..0.5)).collect();
    let classes =
        |count: usize| values.iter().map(|y| ((y - 1.0).max(0.0) as usize).min(count - 1)).collect();
    let count = if target == "three" { 3 } else { 2 };
    let (domain, table) = table_of(records, classes(count));
    let (target, values) = match target {
        "number" => (TargetDomain::Real { lower: -30.0, upper: 30.0 }, Target::Real(Array1::from(values))),
        "three" => (three(), table.target().clone()),
        _ => (class(), table.target().clone()),
    };
    let domain = RecordDomain::new(domain.columns().to_vec(), domain.features().clone(), target).unwrap();
    (domain, table.with_target(values).unwrap())
}

/// Weights and biases of every score of a model, by this crate's solvers. Each score has its own model,
/// except for `softmax`.
fn fitted(model: &KeptModel, table: &Table) -> Vec<f64> {
    let solved = |loss: Loss, penalty: f64| -> Vec<f64> {
        let model = LinearModel::new(table.records().view(), loss, penalty).unwrap();
        let FittedModel { weights, biases, .. } = model.solve(1e-9, 200).unwrap();
        weights.into_iter().flatten().chain(biases).collect()
    };
    let scored = |targets: &[f64]| match *model {
        KeptModel::Ridge { l2_penalty } => solved(Loss::Squared(targets), l2_penalty),
        KeptModel::Huber { l2_penalty, threshold } => solved(Loss::Huber { targets, threshold }, l2_penalty),
        KeptModel::Logistic { l2_penalty } => solved(Loss::Logistic(targets), l2_penalty),
        KeptModel::SquaredHinge { l2_penalty } => solved(Loss::SquaredHinge(targets), l2_penalty),
        KeptModel::SupportVectorMachine { .. } => coefficients(&table_with(table, targets)),
        KeptModel::Softmax { .. } => panic!("softmax has no single score"),
    };
    match (model, table.target()) {
        (KeptModel::Softmax { l2_penalty }, Target::Class(classes)) => {
            let (classes, count) = (classes.to_vec(), 1 + classes.iter().max().unwrap());
            solved(Loss::Softmax { classes: &classes, count }, *l2_penalty)
        }
        (_, Target::Class(classes)) => (0..=*classes.iter().max().unwrap())
            .flat_map(|class| {
                scored(&classes.iter().map(|own| if *own == class { 1.0 } else { -1.0 }).collect::<Vec<_>>())
            })
            .collect(),
        (_, Target::Real(values)) => scored(&values.to_vec()),
        (_, other) => panic!("{other:?}"),
    }
}

fn table_with(table: &Table, signs: &[f64]) -> Table {
    let classes: Array1<usize> = signs.iter().map(|sign| usize::from(*sign > 0.0)).collect();
    table.clone().with_target(Target::Class(classes)).unwrap()
}

/// All models of one release, for a number, two classes and three classes. The release is far from the
/// records.
#[test]
fn all_models_of_a_release_are_kept_together() {
    let ridge = KeptModel::Ridge { l2_penalty: 0.5 };
    let huber = KeptModel::Huber { l2_penalty: 2.0, threshold: 0.3 };
    let logistic = KeptModel::Logistic { l2_penalty: 0.7 };
    let hinge = KeptModel::SquaredHinge { l2_penalty: 1.5 };
    let softmax = KeptModel::Softmax { l2_penalty: 0.3 };
    for (target, keeps) in [
        ("number", vec![ridge, huber]),
        ("two", vec![KeptModel::MACHINE, ridge, huber, logistic, hinge, softmax]),
        ("three", vec![softmax, ridge, logistic]),
        ("three", vec![KeptModel::MACHINE, hinge]),
    ] {
        let (domain, table) = mixed_units(target);
        let mechanism = FisherCorrelated::new(domain, keeps.clone(), 400.0).unwrap();
        let released = seeded(&mechanism, &table, 3).table;
        let off = (released.records() - table.records()).mapv(|x| x * x).mean().unwrap();
        assert!(off > 10.0, "there is hardly any noise: {off}");
        for model in &keeps {
            let (was, is) = (fitted(model, &table), fitted(model, &released));
            let largest = was.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let moved = largest_difference(&was, &is) / largest;
            assert!(moved < 1e-8, "{target}: the {model} moved by {moved} of its largest coefficient");
        }
    }
}

/// With k directions of p columns kept and several sums, the mean squared error of the release is m(p − k)(1
/// − Pᵢᵢ) for record i, and least for the largest share. The mean over 20,000 releases has a standard error
/// below 1 % of it; the tolerance is six of them.
#[test]
fn what_is_released_attains_the_bound_of_several_models() {
    let (domain, table) = mixed_units("three");
    let rows: Vec<usize> = (0..12).collect();
    let table = table.select(&rows).unwrap();
    let keeps = vec![KeptModel::Softmax { l2_penalty: 0.3 }, KeptModel::Ridge { l2_penalty: 0.5 }];
    let mechanism = FisherCorrelated::new(domain, keeps, 4.0).unwrap();
    let error = bound(&fresh(&mechanism, &table)).error();
    // Two of three scores of each model leave four of eight directions.
    assert!(error < 4.0 * 4.0 && error > 0.0, "{error}");
    attains(&mechanism, &table, error);
}

/// An adversary that knows all other records computes any record of a ridge regression (errata F12).
#[test]
fn who_knows_the_others_knows_every_record_of_a_ridge_regression() {
    let (domain, table) = mixed_units("number");
    let mechanism = FisherCorrelated::new(domain, vec![KeptModel::Ridge { l2_penalty: 0.5 }], 400.0).unwrap();
    let release = seeded(&mechanism, &table, 3);
    let Target::Real(targets) = release.table.target() else { panic!("the target is not a number") };
    let coefficients = fitted(&KeptModel::Ridge { l2_penalty: 0.5 }, &release.table);
    let scores = release.table.records().dot(&Array1::from(coefficients[..8].to_vec())) + coefficients[8];
    let b = scores - targets;
    let noise = release.table.records() - table.records();
    for record in 0..table.len() {
        for column in 0..8 {
            let others: f64 =
                (0..80).filter(|other| *other != record).map(|other| b[other] * noise[[other, column]]).sum();
            let found = release.table.records()[[record, column]] + others / b[record];
            let off = (found - table.records()[[record, column]]).abs();
            assert!(off < 1e-6 / b[record].abs().min(1.0), "record {record}: off by {off}");
        }
    }
}
