//! Linear designs with a known answer.

use ndarray::{Array1, Array2, array};
use scumble_core::{
    Brief, Budget, Domain, Error, LocalMechanism, Plugin, Randomness, Table, Target, TargetDomain, Task,
    Volunteers,
};
use scumble_kkt::Waterfilling;
use scumble_task_aware::{
    LatentMechanism, PRIVACY_AGNOSTIC, Sample, SphereLoss, TASK_AGNOSTIC, TASK_AWARE_CLIPPED,
    TASK_AWARE_GAUSSIAN, TASK_AWARE_LINEAR, TASK_AWARE_PRIV_UNIT,
};
use serde_json::json;

/// Records on the axes of four dimensions, at distance two from the middle of a wide box, with mean zero and
/// covariance one.
fn on_the_axes() -> Array2<f64> {
    Array2::from_shape_fn((8, 4), |(row, column)| match row {
        _ if row % 4 != column => 0.0,
        _ => {
            if row < 4 {
                2.0
            } else {
                -2.0
            }
        }
    })
}

fn brief(records: &Array2<f64>, k: Array2<f64>, epsilon: f64) -> Brief {
    let features = Domain::product(vec![Domain::interval(-2.0, 2.0).unwrap(); records.ncols()]).unwrap();
    let domain = scumble_testing::records(features, TargetDomain::None);
    let table = Table::new(domain.columns().to_vec(), records.clone(), Target::None).unwrap();
    let mut brief = Brief::new(domain, Budget::new(epsilon, 0.0).unwrap());
    brief.volunteers = Volunteers::Consented(table);
    brief.task = Task::Linear(k);
    brief
}

fn designed(plugin: &Plugin, parameters: serde_json::Value, brief: &Brief) -> LatentMechanism {
    let design = plugin.design(&parameters, brief).unwrap();
    design.mechanism().downcast_ref::<LatentMechanism>().unwrap().clone()
}

fn loss(mechanism: &LatentMechanism, records: &Array2<f64>, k: &Array2<f64>) -> f64 {
    mechanism.linear_loss(k.view(), records.view()).unwrap().unwrap()
}

/// Theorem 1: the loss is between the losses of the largest centred ball within the records' hull and of the
/// smallest ball around it.
#[test]
fn the_loss_lies_between_the_bounds_of_theorem_1() {
    let records = on_the_axes();
    let eigenvalues = [4.0, 2.0, 1.0, 0.5];
    let k = Array2::from_diag(&Array1::from(eigenvalues.map(f64::sqrt).to_vec()));
    for epsilon in [1.0, 4.0, 16.0, 64.0] {
        let mechanism = designed(&TASK_AWARE_LINEAR, json!({}), &brief(&records, k.clone(), epsilon));
        let at =
            |radius: f64| Waterfilling::new(&eigenvalues, 8.0 * (radius / epsilon).powi(2)).unwrap().loss();
        let found = loss(&mechanism, &records, &k);
        // The lattice increases the noise by about 10⁻⁹.
        assert!(
            at(1.0) <= found && found <= at(2.0) * (1.0 + 1e-8),
            "ε = {epsilon}: {} <= {found} <= {}",
            at(1.0),
            at(2.0)
        );
    }
}

/// No linear design loses less than L(1) (errata T7), however skewed the records are. For the corners of a
/// square and a task of one direction, the design loses L(1).
#[test]
fn no_linear_design_loses_less_than_the_ball_of_radius_one() {
    let corners = array![[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
    let skewed = Array2::from_shape_fn((40, 3), |(row, column)| match (row, column) {
        (39, 0) => 2.0,
        (38, 1) => -2.0,
        _ => 0.05 * ((row * 7 + column * 11) as f64).sin(),
    });
    let wide = array![[1.0, 0.5, 0.0], [0.0, 1.0, 2.0]];
    for (records, k, attained) in [(corners, array![[1.0, 0.0]], true), (skewed, wide, false)] {
        let bound = SphereLoss::new(&Sample::new(records.view()).unwrap(), &k).unwrap();
        for epsilon in [1.0, 4.0, 16.0] {
            let least = bound.least(epsilon).unwrap();
            for (plugin, parameters) in [
                (&TASK_AWARE_LINEAR, json!({})),
                (&PRIVACY_AGNOSTIC, json!({})),
                (&TASK_AGNOSTIC, json!({ "sensitivity": "empirical" })),
            ] {
                let mechanism = designed(plugin, parameters, &brief(&records, k.clone(), epsilon));
                let found = loss(&mechanism, &records, &k);
                assert!(found >= least, "{} loses {found} < {least} at ε = {epsilon}", plugin.name);
                if attained && plugin.name == TASK_AWARE_LINEAR.name {
                    // The lattice increases the noise by about 10⁻⁹.
                    assert!(found <= least * (1.0 + 1e-8), "{found} > {least} at ε = {epsilon}");
                }
            }
        }
    }
}

/// Constant columns need no release, and collinear columns need a single one (errata T4).
#[test]
fn constant_and_collinear_columns_cost_nothing() {
    let plain = Array2::from_shape_fn((20, 1), |(row, _)| (row as f64 / 9.5 - 1.0) * 2.0);
    let with_others = Array2::from_shape_fn((20, 3), |(row, column)| match column {
        0 => plain[[row, 0]],
        1 => 0.5 * plain[[row, 0]],
        _ => 0.25,
    });
    for plugin in [TASK_AWARE_LINEAR, TASK_AWARE_CLIPPED] {
        let alone = designed(&plugin, json!({}), &brief(&plain, array![[1.0]], 2.0));
        let extended = designed(&plugin, json!({}), &brief(&with_others, array![[1.0, 0.0, 0.0]], 2.0));
        assert_eq!(extended.latent_dim(), 1);
        let losses =
            [loss(&alone, &plain, &array![[1.0]]), loss(&extended, &with_others, &array![[1.0, 0.0, 0.0]])];
        assert!((losses[0] / losses[1] - 1.0).abs() < 1e-6, "{}: {losses:?}", plugin.name);
        let estimate = extended.decode(extended.encode(&[1.0, 0.5, 0.25]).unwrap()).unwrap();
        assert!((estimate[2] - 0.25).abs() < 1e-9, "{estimate:?}");
    }
}

#[test]
fn fewer_records_than_columns_have_a_design() {
    let records = array![[0.5, -1.0, 0.0, 1.0], [1.0, 0.25, -0.5, 0.0], [-1.0, 0.5, 0.75, -0.25]];
    let k = Array2::eye(4);
    for plugin in [TASK_AWARE_LINEAR, TASK_AWARE_CLIPPED, TASK_AGNOSTIC] {
        let mechanism = designed(&plugin, json!({}), &brief(&records, k.clone(), 1e6));
        assert!(mechanism.latent_dim() <= 4);
        assert!(loss(&mechanism, &records, &k) < 1e-6, "{}", plugin.name);
    }
}

#[test]
fn a_task_that_ignores_what_varies_needs_no_release() {
    let mut records = on_the_axes();
    records.column_mut(0).fill(1.0);
    for k in [Array2::zeros((2, 4)), array![[1.0, 0.0, 0.0, 0.0]]] {
        for plugin in [TASK_AWARE_LINEAR, TASK_AWARE_CLIPPED] {
            let refused = plugin.design(&json!({}), &brief(&records, k.clone(), 1.0));
            let Err(Error::NotApplicable { reason, .. }) = refused else { panic!("{refused:?}") };
            assert!(reason.contains("ignores every column"), "{reason}");
        }
    }
}

/// More than twelve latents have a box or a ball, and volunteers' latents are still not moved.
#[test]
fn many_latents_have_a_box_or_a_ball() {
    let records =
        Array2::from_shape_fn((60, 16), |(row, column)| ((row * 7 + column * 13) % 29) as f64 / 14.5 - 1.0);
    let mechanism =
        designed(&TASK_AGNOSTIC, json!({"sensitivity": "empirical"}), &brief(&records, Array2::eye(16), 1e5));
    assert_eq!(mechanism.latent_dim(), 16);
    assert!(mechanism.l1_sensitivity() < 32.0, "{}", mechanism.l1_sensitivity());
    assert!(loss(&mechanism, &records, &Array2::eye(16)) < 1e-4);
}

/// With records on a sphere no latent is clipped at the norm of the sphere, and the loss is that of
/// water-filling at the noise for this norm. The design's norm is the best of a grid, so it loses no more
/// than the grid's ratio.
#[test]
fn gaussian_latents_lose_what_water_filling_says() {
    let records = on_the_axes();
    let eigenvalues = [4.0, 2.0, 1.0, 0.5];
    let k = Array2::from_diag(&Array1::from(eigenvalues.map(f64::sqrt).to_vec()));
    for epsilon in [1.0, 4.0, 16.0, 64.0] {
        let budget = Budget::new(epsilon, 1e-6).unwrap();
        let brief = Brief { budget, ..brief(&records, k.clone(), epsilon) };
        let mechanism = designed(&TASK_AWARE_GAUSSIAN, json!({}), &brief);
        // The latents of a record on axis i have the norm 2σᵢ, so all are within 2σ₁.
        let unit = 1.0 / scumble_accounting::gaussian::mu(epsilon, 1e-6).unwrap();
        let losses = (0..400).map(|at| {
            let norm = 0.1 * 1.01_f64.powi(at);
            let filled = Waterfilling::new(&eigenvalues, (2.0 * norm * unit).powi(2)).unwrap();
            let is_whole = filled.sigma_squared().iter().all(|power| 2.0 * power.sqrt() <= norm);
            if is_whole { filled.loss() } else { f64::INFINITY }
        });
        let least = losses.fold(f64::INFINITY, f64::min);
        let found = loss(&mechanism, &records, &k);
        assert!(found < 1.1 * 1.1 * least, "ε = {epsilon}: {found} and {least} without clipping");
    }
}

/// The mean loss of 3,000 releases per record agrees with the closed form within five standard errors. At ε =
/// 16 PrivUnit's error along the latents is far smaller than across them, so a closed form for noise of one
/// variance would not agree.
#[test]
fn the_loss_of_random_directions_is_the_closed_form() {
    let records = on_the_axes();
    let k = Array2::from_diag(&Array1::from(vec![2.0, 1.4, 1.0, 0.7]));
    for epsilon in [2.0, 16.0] {
        let mechanism = designed(&TASK_AWARE_PRIV_UNIT, json!({}), &brief(&records, k.clone(), epsilon));
        let table = Table::new(mechanism.domain().columns().to_vec(), records.clone(), Target::None).unwrap();
        let losses: Vec<f64> = (0..3000)
            .map(|seed| {
                let released = mechanism.release(&table, &mut Randomness::seeded(seed)).unwrap();
                let errors = (released.table.records() - &records).dot(&k.t());
                errors.mapv(|x| x * x).sum() / records.nrows() as f64
            })
            .collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let variance = losses.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / losses.len() as f64;
        let error = 5.0 * (variance / losses.len() as f64).sqrt();
        let expected = loss(&mechanism, &records, &k);
        assert!((mean - expected).abs() < error, "ε = {epsilon}: {mean} ± {error} and {expected}");
    }
}

/// Records at corners of a cube have an ℓ₁ norm that is √n times their ℓ₂ norm. At the same ε and a δ of
/// 10⁻⁶, 64 latents with Gaussian noise then explain more than twice as much as with Laplace noise. Random
/// directions explain more than twice as much again, at δ = 0.
#[test]
fn many_latents_in_a_ball_explain_more_than_many_laplace_latents() {
    let n = 64;
    // The rows of a Hadamard matrix and their negatives.
    let records = Array2::from_shape_fn((2 * n, n), |(row, column)| {
        let sign = f64::from(((row / 2) & column).count_ones() % 2) * 2.0 - 1.0;
        if row % 2 == 0 { sign } else { -sign }
    });
    let k = Array2::eye(n);
    let pure = brief(&records, k.clone(), 8.0);
    let with_delta = Brief { budget: Budget::new(8.0, 1e-6).unwrap(), ..pure.clone() };
    let explained =
        |plugin: &Plugin, brief: &Brief| n as f64 - loss(&designed(plugin, json!({}), brief), &records, &k);
    let laplace = explained(&TASK_AWARE_LINEAR, &pure);
    let gaussian = explained(&TASK_AWARE_GAUSSIAN, &with_delta);
    let directions = explained(&TASK_AWARE_PRIV_UNIT, &pure);
    assert!(laplace > 0.0 && gaussian > 2.0 * laplace, "{gaussian} and {laplace}");
    assert!(directions > 2.0 * gaussian, "{directions} and {gaussian}");
}
