//! Errors of volunteers, tasks, parameters and budgets are one sentence, and unusual inputs give the right
//! answer.

use ndarray::{Array1, Array2, Axis, array, concatenate};
use proptest::prelude::*;
use scumble_core::{
    Brief, Budget, Domain, Plugin, Randomness, RecordDomain, Table, Target, TargetDomain, Task, Volunteers,
};
use scumble_task_aware::LatentMechanism;
use scumble_task_aware::{
    PRIVACY_AGNOSTIC, TASK_AGNOSTIC, TASK_AWARE_BOUNDED, TASK_AWARE_CLIPPED, TASK_AWARE_GRADIENT,
    TASK_AWARE_LINEAR,
};
use serde_json::{Value, json};

/// Plugins in closed form that use the task.
const QUICK: [Plugin; 3] = [PRIVACY_AGNOSTIC, TASK_AWARE_CLIPPED, TASK_AWARE_LINEAR];
const TRAINED: [Plugin; 2] = [TASK_AWARE_BOUNDED, TASK_AWARE_GRADIENT];

fn all() -> impl Iterator<Item = Plugin> {
    QUICK.into_iter().chain([TASK_AGNOSTIC]).chain(TRAINED)
}

/// Parameters of a fast design.
fn short(plugin: &Plugin) -> Value {
    match TRAINED.iter().any(|trained| trained.name == plugin.name) {
        true => json!({"training": {"epochs": 3, "steps": 2, "task_epochs": 3}}),
        false => json!({}),
    }
}

fn columns(n: usize) -> Vec<String> {
    (0..n).map(|at| format!("x{at}")).collect()
}

fn domain(n: usize, target: TargetDomain) -> RecordDomain {
    RecordDomain::new(columns(n), Domain::unit_box(n), target).unwrap()
}

/// Brief with `records` as volunteers and the task `k`.
fn brief(records: Array2<f64>, k: Array2<f64>, epsilon: f64) -> Brief {
    let n = records.ncols();
    let mut brief = Brief::new(domain(n, TargetDomain::None), Budget::new(epsilon, 0.0).unwrap());
    brief.volunteers = Volunteers::Consented(Table::new(columns(n), records, Target::None).unwrap());
    brief.task = Task::Linear(k);
    brief
}

/// 40 records of three numbers.
fn records() -> Array2<f64> {
    Array2::from_shape_fn((40, 3), |(row, column)| {
        (0.5 + row as f64 * [0.754_877_67, 0.569_840_29, 0.618_033_99][column]).fract()
    })
}

fn ordinary() -> Brief {
    brief(records(), array![[1.0, 0.5, 0.0]], 2.0)
}

fn designed(plugin: &Plugin, parameters: &Value, brief: &Brief) -> LatentMechanism {
    let design = plugin.design(parameters, brief).unwrap();
    design.mechanism().downcast_ref::<LatentMechanism>().unwrap().clone()
}

/// Returns the one-line error of a refused design.
#[track_caller]
fn refused(plugin: &Plugin, parameters: &Value, brief: &Brief) -> String {
    let message = match plugin.design(parameters, brief) {
        Ok(_) => panic!("{} made a design with {parameters}", plugin.name),
        Err(error) => error.to_string(),
    };
    assert!(!message.contains('\n'), "{message}");
    message
}

/// Checks that a design, if there is one, releases finite numbers, and that an error is one line.
fn is_sound(plugin: &Plugin, parameters: &Value, brief: &Brief, probes: &Table) -> Result<(), TestCaseError> {
    match plugin.design(parameters, brief) {
        Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
        Ok(design) => {
            let release = design.mechanism().release(probes, &mut Randomness::seeded(1)).unwrap();
            let finite = release.table.records().iter().all(|x| x.is_finite());
            prop_assert!(finite, "{} with {parameters}: {:?}", plugin.name, release.table.records());
        }
    }
    Ok(())
}

#[test]
fn constant_and_collinear_columns_change_nothing() {
    let [x, y] = [records().column(0).to_owned(), records().column(1).to_owned()];
    let n = x.len();
    let few = concatenate![Axis(1), x.clone().insert_axis(Axis(1)), y.clone().insert_axis(Axis(1))];
    let constant = Array1::from_elem(n, 0.3);
    let collinear = (&x + &y) / 2.0;
    let [constant, collinear] = [constant, collinear].map(|column| column.insert_axis(Axis(1)));
    let many = concatenate![Axis(1), few, constant, collinear];
    let (k, wide) = (array![[1.0, 0.5]], array![[1.0, 0.5, 0.0, 0.0]]);
    for plugin in QUICK {
        let loss = |records: &Array2<f64>, k: &Array2<f64>| {
            let mechanism = designed(&plugin, &json!({}), &brief(records.clone(), k.clone(), 3.0));
            mechanism.linear_loss(k.view(), records.view()).unwrap().unwrap()
        };
        let (alone, extended) = (loss(&few, &k), loss(&many, &wide));
        assert!((extended / alone - 1.0).abs() < 1e-6, "{}: {extended} and {alone}", plugin.name);
        // The same weights, through the column that depends on the others.
        let reweighted = loss(&many, &array![[0.5, 0.0, 0.0, 1.0]]);
        assert!((reweighted / alone - 1.0).abs() < 1e-6, "{}: {reweighted} and {alone}", plugin.name);
    }
}

#[test]
fn fewer_records_than_columns_are_enough() {
    let few = Array2::from_shape_fn((3, 8), |(row, column)| ((row * 3 + column * 5) % 7) as f64 / 7.0);
    let k = Array2::eye(8);
    let brief = brief(few.clone(), k.clone(), 1000.0);
    for plugin in all() {
        plugin.design(&short(&plugin), &brief).unwrap();
    }
    for plugin in QUICK {
        // Three points lie in a plane: with negligible noise, two latents determine them.
        let mechanism = designed(&plugin, &json!({}), &brief);
        assert!(mechanism.latent_dim() <= 2, "{}: {}", plugin.name, mechanism.latent_dim());
        let loss = mechanism.linear_loss(k.view(), few.view()).unwrap().unwrap();
        assert!(loss < 1e-3, "{}: {loss}", plugin.name);
    }
}

#[test]
fn one_volunteer_teaches_a_linear_design_nothing() {
    let brief = brief(array![[0.25, 0.5, 0.75]], Array2::eye(3), 1.0);
    for plugin in QUICK {
        assert!(refused(&plugin, &json!({}), &brief).contains("do not vary"), "{}", plugin.name);
    }
    // Without a task, the single volunteer's record is the only known one.
    let release = TASK_AGNOSTIC.design(&json!({}), &brief).unwrap();
    let others = Table::new(columns(3), records(), Target::None).unwrap();
    let estimates = release.mechanism().release(&others, &mut Randomness::seeded(1)).unwrap().table;
    let far =
        (estimates.records() - &array![0.25, 0.5, 0.75]).iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(far < 1e-12, "{far}");
}

#[test]
fn one_volunteer_is_no_reason_to_panic() {
    let one = brief(array![[0.25, 0.5, 0.75]], Array2::eye(3), 1.0);
    let probes = Table::new(columns(3), records(), Target::None).unwrap();
    for plugin in TRAINED {
        is_sound(&plugin, &short(&plugin), &one, &probes).unwrap();
    }
}

#[test]
fn a_task_that_ignores_every_column_is_refused() {
    for plugin in QUICK.into_iter().chain(TRAINED) {
        let brief = brief(records(), Array2::zeros((2, 3)), 1.0);
        let message = refused(&plugin, &short(&plugin), &brief);
        assert!(message.contains("the task ignores every column"), "{message}");
    }
    let mut constant = records();
    constant.column_mut(1).fill(0.5);
    for plugin in QUICK {
        let message = refused(&plugin, &json!({}), &brief(constant.clone(), array![[0.0, 1.0, 0.0]], 1.0));
        assert!(message.contains("or the columns that it uses do not vary"), "{message}");
    }
}

#[test]
fn a_task_of_another_width_or_with_an_entry_that_is_no_number_is_refused() {
    for plugin in QUICK.into_iter().chain(TRAINED) {
        let refuses = |k| refused(&plugin, &short(&plugin), &brief(records(), k, 1.0));
        assert_eq!(refuses(Array2::eye(2)), "the task has 2 columns, and the records have 3");
        assert_eq!(
            refuses(array![[1.0, 0.0, 0.0], [0.0, 1.0, f64::NAN]]),
            "the task's row 2, column \"x2\": NaN is not a finite number"
        );
        assert!(refuses(array![[f64::INFINITY, 0.0, 0.0]]).contains("row 1, column \"x0\": inf"));
    }
}

#[test]
fn the_unit_of_a_task_is_of_no_account() {
    for plugin in QUICK {
        let k = array![[1.0, 0.5, 0.25]];
        let scaled = |unit: f64| designed(&plugin, &json!({}), &brief(records(), &k * unit, 2.0));
        let loss =
            |mechanism: LatentMechanism| mechanism.linear_loss(k.view(), records().view()).unwrap().unwrap();
        let plain = loss(scaled(1.0));
        for unit in [1e-300, 1e-10, 1e10, 1e300] {
            let found = loss(scaled(unit));
            assert!((found / plain - 1.0).abs() < 1e-9, "{}: {found} and {plain} at {unit}", plugin.name);
        }
    }
}

#[test]
fn as_many_latents_as_there_are_none_of_are_refused() {
    for plugin in QUICK.into_iter().chain(TRAINED) {
        for latents in [0, 4, 1_000_000_000] {
            let mut parameters = short(&plugin);
            parameters["latent_dim"] = latents.into();
            let message = refused(&plugin, &parameters, &ordinary());
            assert!(message.contains("latent_dim must lie between 1 and"), "{message}");
        }
    }
}

#[test]
fn volunteers_are_needed_who_lie_in_the_domain() {
    let with = |volunteers| Brief { volunteers, ..ordinary() };
    let table = |records| Volunteers::Consented(Table::new(columns(3), records, Target::None).unwrap());
    let mut outside = records();
    outside[[4, 1]] = 1.5;
    for plugin in all() {
        let refuses = |volunteers| refused(&plugin, &short(&plugin), &with(volunteers));
        let none = format!(
            "{} does not apply: it learns from volunteers' records, and no volunteers are given",
            plugin.name
        );
        assert_eq!(refuses(Volunteers::None), none);
        assert_eq!(refuses(table(Array2::zeros((0, 3)))), "the table holds no records");
        assert_eq!(
            refuses(table(outside.clone())),
            "the volunteers' row 5, column \"x1\": 1.5 lies outside the domain"
        );
        let narrow = Table::new(columns(2), Array2::zeros((5, 2)), Target::None).unwrap();
        assert!(refuses(Volunteers::Public(narrow)).contains("2 columns, and the design expects 3"));
    }
}

#[test]
fn a_training_that_leaves_the_finite_numbers_says_in_which_epoch() {
    for (plugin, also) in [
        (TASK_AWARE_GRADIENT, json!({})),
        (TASK_AWARE_BOUNDED, json!({"weight_decay": 1.0})),
        (TASK_AWARE_BOUNDED, json!({})),
        (TASK_AGNOSTIC, json!({})),
        (PRIVACY_AGNOSTIC, json!({})),
    ] {
        for epochs in [1, 5] {
            let mut parameters = also.clone();
            parameters["training"] = json!({"epochs": epochs, "steps": 3, "learning_rate": 1e300});
            let message = refused(&plugin, &parameters, &ordinary());
            let expected =
                format!("the training of {:?} diverged to non-finite numbers in epoch ", plugin.name);
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let training = |value: Value| json!({"training": value});
    for (plugin, parameters, expected) in [
        (TASK_AWARE_GRADIENT, json!({"eta": -0.1}), "eta must be finite and not negative, and -0.1 is not"),
        (TASK_AWARE_GRADIENT, json!({"eta": null}), "invalid type: null"),
        (TASK_AWARE_GRADIENT, json!({"eta": "NaN"}), "invalid type: string"),
        (
            TASK_AWARE_BOUNDED,
            json!({"weight_decay": -1}),
            "weight_decay must be finite and not negative, and -1",
        ),
        (TASK_AWARE_LINEAR, json!({"latent_dim": -1}), "invalid value: integer `-1`"),
        (TASK_AWARE_LINEAR, json!({"latent_dim": 1.5}), "invalid type: floating point"),
        (TASK_AWARE_LINEAR, json!({"sensitivity": "sample"}), "unknown variant `sample`"),
        (TASK_AWARE_CLIPPED, json!({"eta": 1}), "has no parameter \"eta\""),
    ] {
        let message = refused(&plugin, &parameters, &ordinary());
        assert!(message.contains(expected), "{message}");
    }
    for plugin in TRAINED.into_iter().chain([TASK_AGNOSTIC, PRIVACY_AGNOSTIC]) {
        for (parameters, expected) in [
            (json!({"batch_size": 0}), "batch_size must be one or more, and 0 is not"),
            (json!({"epochs": 0}), "epochs must be one or more, and 0 is not"),
            (json!({"steps": 0}), "steps must be one or more, and 0 is not"),
            (json!({"task_epochs": 0}), "task_epochs must be one or more, and 0 is not"),
            (json!({"encoder_hidden": 1_000_000_000_000_u64}), "encoder_hidden must be at most 16384"),
            (json!({"learning_rate": -1e-3}), "learning rate"),
            (json!({"hidden": "sine"}), "unknown variant `sine`"),
            (json!({"epoch": 3}), "unknown field `epoch`"),
        ] {
            let message = refused(&plugin, &training(parameters), &ordinary());
            assert!(message.contains(expected), "{}: {message}", plugin.name);
        }
    }
}

#[test]
fn budgets_from_next_to_nothing_to_all_there_is_have_a_design_or_a_reason() {
    let probes = Table::new(columns(3), records(), Target::None).unwrap();
    for plugin in all() {
        for epsilon in [1e-300, 1e-12, 1e-3, 1e3, 1e12, 1e300, f64::INFINITY] {
            let brief = Brief { budget: Budget::new(epsilon, 0.0).unwrap(), ..ordinary() };
            is_sound(&plugin, &short(&plugin), &brief, &probes).unwrap();
            if epsilon < 1e-100 {
                let message = refused(&plugin, &short(&plugin), &brief);
                assert!(message.contains("large enough for the noise"), "{}: {message}", plugin.name);
            }
        }
    }
}

#[test]
fn labels_of_one_class_teach_nothing() {
    let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let volunteers = Table::new(columns(3), records(), Target::Class(Array1::zeros(40))).unwrap();
    let mut brief = Brief::new(domain(3, target), Budget::new(1.0, 0.0).unwrap());
    brief.volunteers = Volunteers::Consented(volunteers.clone());
    for plugin in QUICK {
        let message = refused(&plugin, &json!({}), &brief);
        assert!(message.contains("the task ignores every column"), "{message}");
    }
    for plugin in TRAINED {
        is_sound(&plugin, &short(&plugin), &brief, &volunteers).unwrap();
    }
}

/// A part of the records that leaves the target to another design is still designed for the target.
#[test]
fn a_design_without_the_target_learns_the_same_task() {
    let classes = records().column(0).iter().map(|x| usize::from(*x > 0.5)).collect();
    let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let volunteers = Table::new(columns(3), records(), Target::Class(classes)).unwrap();
    let mut whole = Brief::new(domain(3, target), Budget::new(1.0, 0.0).unwrap());
    whole.volunteers = Volunteers::Consented(volunteers);
    let part = whole.for_part(whole.domain.without_target()).unwrap();
    for plugin in all() {
        let [with, without] = [&whole, &part].map(|brief| designed(&plugin, &short(&plugin), brief));
        let [one, other] = [&with, &without].map(|design| design.parts().encoder.parameters());
        assert_eq!(one.len(), other.len(), "{}", plugin.name);
        let difference = one.iter().zip(other).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()));
        assert!(difference < 1e-9, "{}: {difference}", plugin.name);
    }
}

#[test]
fn a_saved_design_that_was_changed_by_hand_is_none() {
    let mechanism = designed(&TASK_AWARE_LINEAR, &json!({}), &brief(records(), Array2::eye(3), 50.0));
    let saved = serde_json::to_value(mechanism.parts()).unwrap();
    let read = |saved: Value| (TASK_AWARE_LINEAR.build)(&saved).map_err(|error| error.to_string());
    assert!(read(saved.clone()).is_ok());
    let other = designed(&TASK_AWARE_LINEAR, &json!({"latent_dim": 1}), &ordinary());
    let other = serde_json::to_value(other.parts()).unwrap();
    for (key, value, expected) in [
        ("encoder", other["encoder"].clone(), "the encoder takes 3 numbers and gives 1, and 3 and"),
        ("decoder", other["decoder"].clone(), "the decoder takes 1 numbers and gives 3, and"),
        ("latent", other["latent"].clone(), "the encoder takes 3 numbers and gives"),
        ("epsilon", json!(-1.0), "epsilon must be above zero"),
        ("epsilon", json!(0), "epsilon must be above zero"),
        ("epsilon", json!("nan"), ""),
        ("epsilon", Value::Null, ""),
        ("shaped_by", json!("nobody"), "unknown variant `nobody`"),
        ("noise", json!("loud"), "unknown variant `loud`"),
        ("noise", json!("priv-unit"), "PrivUnit needs latents in one ℓ₂ ball"),
        ("delta", json!(1e-6), "only Gaussian noise spends δ"),
        ("eta", json!(0), "unknown field `eta`"),
    ] {
        let mut changed = saved.clone();
        changed[key] = value;
        let message = read(changed).unwrap_err();
        assert!(message.contains(expected) && !message.contains('\n'), "{key}: {message}");
    }
    for key in ["domain", "encoder", "latent", "decoder", "epsilon", "shaped_by"] {
        let mut changed = saved.clone();
        changed.as_object_mut().unwrap().remove(key);
        assert!(read(changed).unwrap_err().contains(key));
    }
}

/// Numbers of volunteers' records: anywhere in the unit box, at its ends, repeated, or next to an end.
fn in_the_box() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..=1.0_f64,
        prop::sample::select(vec![0.0, -0.0, 1.0, 0.5, 1e-300, 1e-12, 1.0 - f64::EPSILON])
    ]
}

fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        -2.0..2.0_f64,
        prop::sample::select(vec![
            0.0,
            1.0,
            -1e300,
            1e300,
            1e-300,
            5e-324,
            f64::MAX,
            f64::NAN,
            f64::INFINITY
        ])
    ]
}

fn epsilon() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-12.0..12.0_f64).prop_map(|x| x.exp()),
        prop::sample::select(vec![5e-324, 1e-300, 1e-9, 1e9, 1e300, f64::MAX, f64::INFINITY])
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn wild_volunteers_tasks_and_budgets_never_panic(
        n in 1_usize..5,
        cells in prop::collection::vec(in_the_box(), 0..32),
        entries in prop::collection::vec(entry(), 0..12),
        epsilon in epsilon(),
        latents in prop::option::of(0_usize..7),
        in_domain in any::<bool>(),
    ) {
        let table = |values: &[f64]| {
            let rows = values.len() / n;
            Array2::from_shape_vec((rows, n), values[..rows * n].to_vec()).unwrap()
        };
        let brief = brief(table(&cells), table(&entries), epsilon);
        let probes: Vec<f64> = [0.0, 1.0, 0.3].into_iter().cycle().take(n * 4).collect();
        let probes = Table::new(columns(n), table(&probes), Target::None).unwrap();
        for plugin in QUICK.into_iter().chain([TASK_AGNOSTIC]) {
            let mut parameters = json!({});
            if let Some(latents) = latents.filter(|_| plugin.name != TASK_AGNOSTIC.name) {
                parameters["latent_dim"] = latents.into();
            }
            if plugin.name != TASK_AWARE_CLIPPED.name {
                parameters["sensitivity"] = if in_domain { "domain" } else { "empirical" }.into();
            }
            is_sound(&plugin, &parameters, &brief, &probes)?;
        }
    }
}
