//! Tests of released models.

use crate::variant::Variant;
use ndarray::{Array1, Array2, array};
use scumble_accounting::gaussian;
use scumble_adversary::{Effort, Verdict, audit};
use scumble_core::{
    Brief, Budget, CentralDp, CuratorMechanism, Designed, Domain, Error, FunctionAxis, Neighbours, Notion,
    Plugin, Randomness, RecordDomain, Release, ReleasedModel, Releases, Table, Target, TargetDomain,
};
use scumble_private_models::{GradientModel, PRIVATE_ADDITIVE, PRIVATE_LOGISTIC, PrivateRidge};
use serde_json::json;

const SEED: u64 = 5;

fn classes(levels: usize) -> TargetDomain {
    TargetDomain::Class { levels: (1..=levels).map(|level| level.to_string()).collect() }
}

/// Records of `dim` numbers, the first from 0 to 10 and the others from 0 to 1.
fn domain(dim: usize, target: TargetDomain) -> RecordDomain {
    let features = [Domain::interval(0.0, 10.0).unwrap(), Domain::unit_box(dim - 1)];
    scumble_testing::records(Domain::product(features).unwrap(), target)
}

/// `n` records, spread evenly.
fn records(n: usize, dim: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, dim), |(row, column)| {
        let uniform = (0.1 + [0.754_877_67, 0.569_840_29][column] * (row + 1) as f64).fract();
        if column == 0 { 10.0 * uniform } else { uniform }
    })
}

fn table(domain: &RecordDomain, records: Array2<f64>, target: Target) -> Table {
    Table::new(domain.columns().to_vec(), records, target).unwrap()
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget::new(epsilon, delta).unwrap()
}

fn released(mechanism: &impl CuratorMechanism, table: &Table) -> Release {
    mechanism.release(table, &mut Randomness::seeded(SEED)).unwrap()
}

fn model(release: &Release) -> &dyn ReleasedModel {
    release.key.model().unwrap()
}

/// Regression of y = 1 + 0.2·x₁ + 2·x₂ with negligible noise, in the units of the encoded record.
#[test]
fn a_ridge_regression_is_released_in_the_units_of_the_encoded_record() {
    let domain = domain(2, TargetDomain::Real { lower: 0.0, upper: 6.0 });
    let x = records(5000, 2);
    let y: Array1<f64> = x.outer_iter().map(|x| 1.0 + 0.2 * x[0] + 2.0 * x[1]).collect();
    let people = table(&domain, x, Target::Real(y));
    let release = released(&PrivateRidge::new(domain.clone(), budget(500.0, 1e-6)).unwrap(), &people);
    assert_eq!(release.table.columns(), ["intercept", "coefficient of x1", "coefficient of x2"]);
    assert_eq!(release.table.target(), &Target::None);
    let off = &release.table.records().row(0) - &array![1.0, 0.2, 2.0];
    assert!(off.iter().all(|off| off.abs() < 0.01), "seed {SEED}: {}", release.table.records());
    // It predicts for records in the clear, with or without a target, and never more than the target's bound.
    let grid = table(&domain, array![[5.0, 0.5], [10.0, 1.0]], Target::None);
    let Target::Real(predicted) = model(&release).predict(&grid).unwrap() else { panic!() };
    assert!((predicted[0] - 3.0).abs() < 0.01 && predicted[1] <= 6.0, "{predicted}");
    assert_eq!(release.key.view(&people).unwrap(), people);
}

/// For the same number of records, a smaller ε gives a more regularised regression.
#[test]
fn less_budget_means_a_smaller_model() {
    let domain = domain(2, TargetDomain::Real { lower: 0.0, upper: 6.0 });
    let x = records(2000, 2);
    let y: Array1<f64> = x.outer_iter().map(|x| 1.0 + 2.0 * x[1]).collect();
    let people = table(&domain, x, Target::Real(y));
    let slope = |epsilon: f64| {
        released(&PrivateRidge::new(domain.clone(), budget(epsilon, 1e-6)).unwrap(), &people).table.records()
            [[0, 2]]
    };
    let (small, large) = (slope(0.05), slope(50.0));
    assert!(small.abs() < 1.7 && (large - 2.0).abs() < 0.1, "seed {SEED}: {small} and {large}");
}

#[test]
fn a_logistic_regression_is_released_for_two_classes_and_for_several() {
    for levels in [2, 3] {
        let domain = domain(2, classes(levels));
        let x = records(4000, 2);
        let labels = x.outer_iter().map(|x| ((x[0] / 10.0 + x[1]) / 2.0 * levels as f64) as usize).collect();
        let people = table(&domain, x, Target::Class(labels));
        let release = released(&GradientModel::logistic(domain, budget(4.0, 1e-6)).unwrap(), &people);
        assert_eq!(release.table.len(), if levels == 2 { 1 } else { levels });
        let scores = model(&release).scores(&people).unwrap();
        assert_eq!(scores.dim(), (4000, levels));
        assert!(scores.outer_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12));
        let (Target::Class(found), Target::Class(truth)) =
            (model(&release).predict(&people).unwrap(), people.target())
        else {
            panic!()
        };
        let right = found.iter().zip(truth).filter(|(found, truth)| found == truth).count() as f64 / 4000.0;
        assert!(right > [0.96, 0.75][levels - 2], "seed {SEED}, {levels} classes: {right}");
    }
}

/// Without its calibration, a clipped descent gives a rare class too small a probability.
#[test]
fn the_probabilities_of_a_rare_class_fit_its_share() {
    let domain_of_classes = domain(2, classes(2));
    let x = records(20_000, 2);
    // One record of ten has the class, more often the larger its first number is.
    let has = |(row, x): (usize, &f64)| usize::from((0.37 * row as f64).fract() < 0.02 * x);
    let labels: Array1<usize> = x.column(0).iter().enumerate().map(has).collect();
    let share = labels.sum() as f64 / 20_000.0;
    assert!((share - 0.1).abs() < 0.01, "{share}");
    let people = table(&domain_of_classes, x, Target::Class(labels));
    let brief = Brief::new(domain_of_classes, budget(1.0, 1e-6));
    for plugin in [PRIVATE_LOGISTIC, PRIVATE_ADDITIVE] {
        let mean = |parameters| {
            let design = plugin.design(&parameters, &brief).unwrap();
            let release = design.mechanism().release(&people, &mut Randomness::seeded(SEED)).unwrap();
            model(&release).scores(&people).unwrap().column(1).mean().unwrap()
        };
        let (calibrated, not) = (mean(json!({})), mean(json!({"calibration_steps": 0})));
        let (off, before) = ((calibrated - share).abs(), (not - share).abs());
        assert!(off < 0.015 && off < before / 2.0, "{}: {calibrated} and {not}, not {share}", plugin.name);
    }
    let number = domain(2, TargetDomain::Real { lower: 0.0, upper: 1.0 });
    let brief = Brief::new(number, budget(1.0, 1e-6));
    let refused = PRIVATE_ADDITIVE.design(&json!({"calibration_steps": 2}), &brief).unwrap_err();
    assert!(refused.to_string().contains("is not calibrated"), "{refused}");
}

/// Returns a design at (1, 0.01), and a design with the share `share` of its noise, bought with a larger ε.
fn with_less_noise<M>(share: f64, design: impl Fn(f64) -> M) -> (M, M) {
    // The μ of (1, 0.01) is 0.49; the μ of (ε, 0.01) is 0.49 divided by `share`.
    let mu = |epsilon: f64| scumble_accounting::gaussian::mu(epsilon, 0.01).unwrap();
    let (mut low, mut high) = (1.0, 100.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if mu(middle) < mu(1.0) / share { low = middle } else { high = middle }
    }
    (design(1.0), design(high))
}

fn is_broken(variant: &Designed, table: &Table) -> bool {
    let effort = Effort { samples: 500_000, ..Effort::quick() };
    let findings = audit("the mechanism", variant, Some(table), effort).unwrap();
    findings.iter().any(|finding| finding.verdict == Verdict::Broken)
}

/// Faulty variants for ‖x‖² = 2: half of the noise, and 0.6 of it.
///
/// The second variant has the noise for records without their intercept, or for a sample about the middle of
/// its bounds. Such noise is half as large on XᵀX and √½ times as large on Xᵀy; 0.6 is between the two.
#[test]
fn noise_for_too_small_a_sensitivity_is_caught_in_a_ridge_regression() {
    let domain = domain(1, TargetDomain::Real { lower: 0.0, upper: 1.0 });
    let x = records(40, 1);
    let y = x.column(0).mapv(|x| x / 10.0);
    let people = table(&domain, x, Target::Real(y));
    for share in [0.5, 0.6] {
        let design = |epsilon| PrivateRidge::new(domain.clone(), budget(epsilon, 0.01)).unwrap();
        let (honest, faulty) = with_less_noise(share, design);
        assert!(is_broken(&Variant::designed(honest, faulty), &people), "{share}");
    }
}

/// Faulty variants of one step on records that consist of the intercept only, so that two different classes,
/// or the two bounds of a number, have opposite gradients of norm C.
///
/// The variants have half of the noise, 0.6 of it, and √½ of it. With 0.6, gradients are as long as a
/// sample's, 0.6·C. With √½, the norm of a record forgets the intercept, so gradients are too long by this
/// factor.
#[test]
fn noise_for_too_small_a_sensitivity_is_caught_in_a_descent() {
    let labels = |row: usize| usize::from(row.is_multiple_of(3));
    let number = TargetDomain::Real { lower: 0.0, upper: 1.0 };
    for (plugin, kind, target) in [
        (PRIVATE_LOGISTIC, classes(2), Target::Class((0..40).map(labels).collect())),
        (PRIVATE_ADDITIVE, classes(2), Target::Class((0..40).map(labels).collect())),
        (PRIVATE_ADDITIVE, number, Target::Real((0..40).map(|row| labels(row) as f64).collect())),
    ] {
        let domain = RecordDomain::new(vec![], Domain::empty(), kind).unwrap();
        let people = table(&domain, Array2::zeros((40, 0)), target);
        for neighbours in ["replace-one", "add-or-remove-one"] {
            let mut parameters =
                json!({"steps": 1, "calibration_steps": 0, "clipping_norm": 0.5, "records": 40});
            parameters["neighbours"] = neighbours.into();
            for share in [0.5, 0.6, 0.707] {
                let design = |epsilon| {
                    let brief = Brief::new(domain.clone(), budget(epsilon, 0.01));
                    let design = plugin.design(&parameters, &brief).unwrap();
                    design.mechanism().downcast_ref::<GradientModel>().unwrap().clone()
                };
                let (honest, faulty) = with_less_noise(share, design);
                let variant = Variant::designed(honest, faulty);
                assert!(is_broken(&variant, &people), "{}, {neighbours}, {share}", plugin.name);
            }
        }
    }
}

/// Under the relation "add or remove one record", the noise is half of that for "replace one record", and the
/// claim for replacing a record has twice the μ. The number of records does not change the descent.
#[test]
fn a_model_hides_whether_a_record_exists() {
    let domain = domain(2, classes(2));
    let brief = Brief::new(domain.clone(), budget(1.0, 1e-6));
    for plugin in [PRIVATE_LOGISTIC, PRIVATE_ADDITIVE] {
        let parameters = json!({"neighbours": "add-or-remove-one", "records": 500});
        let design = plugin.design(&parameters, &brief).unwrap();
        let mechanism = design.mechanism().downcast_ref::<GradientModel>().unwrap();
        let guarantee = mechanism.guarantee();
        assert!(guarantee.discloses.is_empty(), "{:?}", guarantee.discloses);
        let claims: Vec<&CentralDp> = guarantee
            .claims
            .iter()
            .filter_map(|claim| match &claim.notion {
                Notion::CentralDp(dp) => Some(dp),
                _ => None,
            })
            .collect();
        let [added, replaced] = claims[..] else { panic!("{claims:?}") };
        assert_eq!((added.epsilon, added.neighbours), (1.0, Neighbours::AddOrRemoveOne));
        assert_eq!((replaced.delta, replaced.neighbours), (1e-6, Neighbours::ReplaceOne));
        let twice = 2.0 * gaussian::mu(1.0, 1e-6).unwrap();
        let delta = gaussian::delta(twice, replaced.epsilon);
        assert!((delta / 1e-6 - 1.0).abs() < 1e-4, "{replaced:?}: {delta}");
        let drawn = |people: usize| {
            let labels = Target::Class((0..people).map(|row| row % 2).collect());
            let people = table(&domain, records(people, 2), labels);
            mechanism
                .evidence()
                .statistics
                .unwrap()
                .draw(&people, &mut Randomness::seeded(SEED))
                .unwrap()
                .len()
        };
        assert_eq!(drawn(40), drawn(41));
        let refused = plugin.design(&json!({"neighbours": "add-or-remove-one"}), &brief).unwrap_err();
        assert!(refused.to_string().contains("needs records"), "{refused}");
    }
}

/// At knots without records, the noise of a function has nearly the standard deviation that bounds it. At
/// knots with many records, it has less.
#[test]
fn the_noise_of_a_function_is_within_its_bound() {
    const RELEASES: usize = 300;
    let domain = domain(2, classes(2));
    let mut x = records(400, 2);
    x.column_mut(1).mapv_inplace(|x| x / 3.0);
    let labels = x.column(1).mapv(|x| usize::from(x > 1.0 / 6.0));
    let people = table(&domain, x, Target::Class(labels));
    let mut brief = Brief::new(domain, budget(2.0, 1e-6));
    brief.people = Some(400);
    let design = PRIVATE_ADDITIVE.design(&json!({"knots": 6}), &brief).unwrap();
    let functions = |seed: usize| {
        let release = design.mechanism().release(&people, &mut Randomness::seeded(seed as u64)).unwrap();
        model(&release).functions().pop().unwrap()
    };
    let all: Vec<_> = (0..RELEASES).map(functions).collect();
    let bounds = all[0].deviations.clone().unwrap();
    let ratios = (0..6).map(|knot| {
        let values: Array1<f64> = all.iter().map(|function| function.values[[0, knot]]).collect();
        values.std(1.0) / bounds[knot]
    });
    let ratios: Vec<f64> = ratios.collect();
    // The standard deviation of a standard deviation of 300 values is 4 %.
    assert!(ratios.iter().all(|ratio| *ratio < 1.1), "{ratios:?}");
    assert!(ratios[..2].iter().all(|ratio| *ratio < 0.9) && ratios[4] > 0.65, "{ratios:?}");
}

/// A class that depends on whether two numbers are on the same side of their middles, which no sum of
/// functions of one number shows.
#[test]
fn a_pair_of_columns_has_a_function_of_both() {
    let domain = domain(2, classes(2));
    let x = records(4000, 2);
    let labels: Array1<usize> = x.outer_iter().map(|x| usize::from((x[0] > 5.0) == (x[1] > 0.5))).collect();
    let people = table(&domain, x, Target::Class(labels.clone()));
    let mut brief = Brief::new(domain.clone(), budget(4.0, 1e-6));
    brief.people = Some(4000);
    let share = |parameters| {
        let design = PRIVATE_ADDITIVE.design(&parameters, &brief).unwrap();
        let release = design.mechanism().release(&people, &mut Randomness::seeded(SEED)).unwrap();
        let read = design.mechanism().model_of(&release.table).unwrap();
        let Target::Class(found) = read.predict(&people).unwrap() else { panic!() };
        let right = found.iter().zip(&labels).filter(|(found, truth)| found == truth).count();
        (right as f64 / 4000.0, model(&release).functions())
    };
    let (alone, functions) = share(json!({}));
    assert_eq!(functions.len(), 2);
    let (paired, functions) = share(json!({"pairs": [["x1", "x2"]]}));
    assert!(paired > 0.85 && alone < 0.6, "seed {SEED}: {paired} and {alone}");
    let [_, _, both] = &functions[..] else { panic!("{functions:?}") };
    let [FunctionAxis::Number { column, knots }, FunctionAxis::Number { .. }] = &both.axes[..] else {
        panic!("{both:?}")
    };
    assert_eq!((column.as_str(), both.values.dim()), ("x1", (1, knots.len() * knots.len())));
    for (pairs, problem) in [
        (json!([["x1", "x3"]]), "there is no column \"x3\""),
        (json!([["x1", "x1"]]), "\"x1\" is paired with itself"),
        (json!([["x1", "x2"], ["x1", "x2"]]), "twice"),
    ] {
        let refused = PRIVATE_ADDITIVE.design(&json!({"pairs": pairs}), &brief).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}

fn additive(domain: &RecordDomain, people: &Table, bins: Option<usize>) -> Release {
    let mut brief = Brief::new(domain.clone(), budget(4.0, 1e-6));
    brief.people = Some(people.len());
    brief.bins = bins.into_iter().map(|bins| ("x2".to_owned(), bins)).collect();
    let design = PRIVATE_ADDITIVE.design(&json!({}), &brief).unwrap();
    let release = design.mechanism().release(people, &mut Randomness::seeded(SEED)).unwrap();
    // The table of a release is enough to rebuild its model.
    let read = design.mechanism().model_of(&release.table).unwrap();
    assert_eq!(read.scores(people).unwrap(), model(&release).scores(people).unwrap());
    release
}

/// A class that depends on the distance of a number from its middle, where a linear model is no better than a
/// constant.
#[test]
fn an_additive_model_learns_what_rises_and_falls() {
    for levels in [2, 3] {
        let domain = domain(2, classes(levels));
        let x = records(4000, 2);
        let distance = |x: f64| ((2.0 * x - 1.0).abs() * levels as f64) as usize;
        let labels = x.column(1).mapv(|x| distance(x).min(levels - 1));
        let people = table(&domain, x, Target::Class(labels.clone()));
        let share = |release: &Release| {
            let Target::Class(found) = model(release).predict(&people).unwrap() else { panic!() };
            found.iter().zip(&labels).filter(|(found, truth)| found == truth).count() as f64 / 4000.0
        };
        let linear = released(&GradientModel::logistic(domain.clone(), budget(4.0, 1e-6)).unwrap(), &people);
        let (additive, linear) = (share(&additive(&domain, &people, None)), share(&linear));
        assert!(additive > 0.9 && linear < 0.6, "seed {SEED}, {levels} classes: {additive}, {linear}");
    }
}

#[test]
fn an_additive_model_predicts_numbers_within_their_bounds() {
    let domain = domain(2, TargetDomain::Real { lower: 1.0, upper: 5.0 });
    let x = records(4000, 2);
    let y: Array1<f64> = x.outer_iter().map(|x| 3.0 + (x[0] * 0.6).sin() + x[1].powi(4)).collect();
    let people = table(&domain, x, Target::Real(y.clone()));
    let release = additive(&domain, &people, None);
    let Target::Real(found) = model(&release).predict(&people).unwrap() else { panic!() };
    let error = (&found - &y).mapv(|off| off * off).mean().unwrap();
    assert!(error < 0.02 && y.var(0.0) > 0.4, "seed {SEED}: {error} of {}", y.var(0.0));
    assert!(found.iter().all(|value| (1.0..=5.0).contains(value)));
}

/// A number with bins in the schema has a knot at each end of a bin, and one in the middle of the first.
#[test]
fn the_schemas_bins_are_the_knots_of_their_column() {
    let domain = domain(2, classes(2));
    let people = table(&domain, records(100, 2), Target::Class((0..100).map(|row| row % 2).collect()));
    let release = additive(&domain, &people, Some(4));
    let of_column: Vec<_> = release.table.columns().iter().filter(|name| name.starts_with("x2")).collect();
    let knots = [0.0, 0.125, 0.25, 0.5, 0.75, 1.0].map(|knot| format!("x2 at {knot:.4}"));
    assert_eq!(of_column, knots.iter().collect::<Vec<_>>());
    // Names of knots have four digits. With more bins than they can tell apart, a design is refused.
    let mut brief = Brief::new(domain, budget(4.0, 1e-6));
    brief.bins = [("x2".to_owned(), 50_000)].into();
    let refused = PRIVATE_ADDITIVE.design(&json!({}), &brief).unwrap_err();
    assert!(matches!(refused, Error::Shape { .. }), "{refused}");
}

#[test]
fn what_is_no_such_regression_is_refused() {
    let budget = budget(1.0, 1e-6);
    let number = TargetDomain::Real { lower: 0.0, upper: 1.0 };
    let logistic = GradientModel::logistic(domain(2, number.clone()), budget).unwrap_err();
    assert_eq!(
        logistic.to_string(),
        "private-logistic does not apply: it learns a category, and the target is not a category"
    );
    let ridge = PrivateRidge::new(domain(2, classes(2)), budget).unwrap_err();
    assert_eq!(
        ridge.to_string(),
        "private-ridge does not apply: it learns a number, and the target is not a number"
    );
    for refused in [
        GradientModel::logistic(domain(2, classes(2)), Budget::pure(1.0).unwrap()).err(),
        PrivateRidge::new(domain(2, number), Budget::pure(1.0).unwrap()).err(),
    ] {
        assert!(matches!(refused, Some(Error::Budget { name: "delta", .. })), "{refused:?}");
    }
    let refused = |plugin: &Plugin, parameters| {
        let brief = Brief::new(domain(2, classes(2)), budget);
        plugin.design(&parameters, &brief).unwrap_err().to_string()
    };
    for (parameters, expected) in [
        (json!({"steps": 0}), "steps must be from 1 to 100000, and 0 is not"),
        (json!({"clipping_norm": 0.0}), "clipping_norm must be from 0.001 to 1000, and 0 is not"),
        (json!({"learning_rate": -1.0}), "learning_rate must be above zero and at most 1000, and -1 is not"),
    ] {
        for plugin in [PRIVATE_LOGISTIC, PRIVATE_ADDITIVE] {
            let message = refused(&plugin, parameters.clone());
            assert!(message.contains(expected), "{message}");
        }
    }
    for (parameters, expected) in [
        (json!({"momentum": 1.0}), "momentum must be from 0 to 0.99, and 1 is not"),
        (json!({"knots": 1}), "knots must be from 2 to 256, and 1 is not"),
        (json!({"knot": 8}), "has no parameter \"knot\"; did you mean \"knots\"?"),
    ] {
        let message = refused(&PRIVATE_ADDITIVE, parameters);
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_released_model_has_no_target_no_secret_and_no_rows_of_anybody() {
    let ridge =
        PrivateRidge::new(domain(2, TargetDomain::Real { lower: 0.0, upper: 1.0 }), budget(1.0, 1e-6))
            .unwrap();
    let designed = Designed::curator(ridge);
    assert_eq!(designed.releases(), Releases::Model { family: "ridge", learner: "ridge" });
    assert_eq!(designed.guarantee().discloses, ["the number of records"]);
}
