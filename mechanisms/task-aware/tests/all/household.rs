//! Hourly power of a household (Section 5): the losses of an independent implementation, and smaller ones.

use ndarray::{Array1, Array2, ArrayView2, s};
use scumble_core::{
    Brief, Budget, Domain, Plugin, RecordDomain, Table, Target, TargetDomain, Task, Unit, Volunteers,
};
use scumble_task_aware::LatentMechanism;
use scumble_task_aware::{PRIVACY_AGNOSTIC, TASK_AWARE_CLIPPED, TASK_AWARE_LINEAR};
use serde_json::{Value, json};

/// Number of training days. The task K weights day-time hours by 2, and night hours by 1.
const TRAINING_DAYS: usize = 991;

fn days() -> Option<Array2<f64>> {
    let power = match scumble_datasets::household::power(&scumble_datasets::folder()) {
        Ok(power) => power,
        Err(scumble_datasets::Error::Missing { file }) => {
            scumble_testing::missing(file.display());
            return None;
        }
        Err(problem) => panic!("{problem}"),
    };
    let (least, most) = power.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    Some(power.mapv(|x| (x - least) / (most - least)))
}

fn task() -> Array2<f64> {
    Array2::from_diag(&Array1::from_shape_fn(24, |hour| if (8..20).contains(&hour) { 2.0 } else { 1.0 }))
}

fn designed(plugin: &Plugin, parameters: &Value, days: &Array2<f64>, epsilon: f64) -> LatentMechanism {
    let columns: Vec<String> = (0..24).map(|hour| format!("hour {hour}")).collect();
    let domain = RecordDomain::new(columns.clone(), Domain::unit_box(24), TargetDomain::None).unwrap();
    let mut brief = Brief::new(domain, Budget::new(epsilon, 0.0).unwrap());
    let training = days.slice(s![..TRAINING_DAYS, ..]).to_owned();
    brief.volunteers = Volunteers::Consented(Table::new(columns, training, Target::None).unwrap());
    brief.task = Task::Linear(task());
    let design = plugin.design(parameters, &brief).unwrap();
    let mechanism = design.into_mechanism();
    assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, epsilon);
    mechanism.downcast_ref::<LatentMechanism>().unwrap().clone()
}

fn losses(mechanism: &LatentMechanism, days: &Array2<f64>) -> (f64, f64) {
    let loss = |days: ArrayView2<f64>| mechanism.linear_loss(task().view(), days).unwrap().unwrap();
    (loss(days.slice(s![..TRAINING_DAYS, ..])), loss(days.slice(s![TRAINING_DAYS.., ..])))
}

/// Compares with numpy. The variance of the noise is 2(Δ₁/ε)² (errata T1).
#[test]
fn the_papers_designs_lose_what_an_independent_implementation_says() {
    let Some(days) = days() else { return };
    let cases = [
        (&TASK_AWARE_LINEAR, json!({}), 1.0, 5.96948170327985, 1.0717255740270613, 0.8088023583086034),
        (&TASK_AWARE_LINEAR, json!({}), 3.0, 5.96948170327985, 1.0263255508540796, 0.7915425239495023),
        (&TASK_AWARE_LINEAR, json!({}), 5.0, 5.969481703279862, 0.9581619868983665, 0.7600859917865685),
        (&TASK_AWARE_LINEAR, json!({}), 10.0, 5.969481703279862, 0.8084130049291076, 0.6676136758247209),
        (&TASK_AWARE_LINEAR, json!({}), 50.0, 5.628905008532497, 0.4240624846666923, 0.36103421112042733),
        (
            &PRIVACY_AGNOSTIC,
            json!({"latent_dim": 3}),
            5.0,
            13.182162737305273,
            1.029535782912148,
            0.789180499133166,
        ),
        (
            &PRIVACY_AGNOSTIC,
            json!({"latent_dim": 3}),
            10.0,
            13.182162737305273,
            0.9163571977632652,
            0.7311507853863317,
        ),
    ];
    for (plugin, parameters, epsilon, sensitivity, train, test) in cases {
        let mechanism = designed(plugin, &parameters, &days, epsilon);
        let found = losses(&mechanism, &days);
        assert!(
            (mechanism.l1_sensitivity() / sensitivity - 1.0).abs() < 1e-9,
            "{}",
            mechanism.l1_sensitivity()
        );
        assert!(
            (found.0 - train).abs() < 1e-6,
            "{} at ε = {epsilon}: {} and not {train}",
            plugin.name,
            found.0
        );
        // One test day lies outside the volunteers' set, and is moved into it.
        assert!(
            (found.1 - test).abs() < 1e-3,
            "{} at ε = {epsilon}: {} and not {test}",
            plugin.name,
            found.1
        );
    }
}

#[test]
fn clipped_latents_lose_less_at_every_budget() {
    let Some(days) = days() else { return };
    let at_most = [(1.0, 1.046), (3.0, 0.911), (5.0, 0.818), (10.0, 0.716), (50.0, 0.402)];
    for (epsilon, most) in at_most {
        let papers = losses(&designed(&TASK_AWARE_LINEAR, &json!({}), &days, epsilon), &days);
        let ours = losses(&designed(&TASK_AWARE_CLIPPED, &json!({}), &days, epsilon), &days);
        assert!(ours.0 <= most, "at ε = {epsilon}: {}", ours.0);
        assert!(ours.0 < papers.0 && ours.1 < papers.1, "at ε = {epsilon}: {ours:?} and {papers:?}");
    }
}
