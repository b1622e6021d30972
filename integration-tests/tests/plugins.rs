//! The registry from the user's side: the list of plugins, and the conformance of each.

use scumble::compare::Experiment;
use scumble::core::{
    Design, Designed, Error, Example, Pace, Plugin, Randomness, RecordDomain, Registry, Releases, Table,
};
use scumble::suite::tasks;
use scumble_testing::conformance;
use serde_json::{Value, json};
use std::path::Path;

/// Fails if the linker drops a plugin, or if a new plugin is missing from the list.
#[test]
fn the_built_in_plugins_are_these() {
    let registry = Registry::installed().unwrap();
    let names: Vec<&str> = registry.iter().map(|plugin| plugin.name).collect();
    assert_eq!(names, scumble::built_in::NAMES);
}

#[test]
fn every_plugin_conforms() {
    for plugin in Registry::installed().unwrap().iter() {
        conformance::check(plugin).unwrap();
    }
}

/// Composes each mechanism with randomised response for the label, and with another mechanism for one more
/// column.
///
/// A composition releases the output that it states, or is refused with the reason.
#[test]
fn every_composition_releases_what_it_states_or_is_refused() {
    let registry = Registry::installed().unwrap();
    let example = Example::mixed().unwrap();
    let (all, mut composed, mut refused) = (&example.brief.domain, 0, 0);
    let part = |plugin: &Plugin, domain: RecordDomain| {
        let brief = example.brief.for_part(domain)?;
        let records = plugin.parameter_schemas().contains_key("records");
        plugin.design(&if records { json!({ "records": 40 }) } else { Value::Null }, &brief)
    };
    for plugin in registry.iter().filter(|plugin| plugin.descriptor.pace == Pace::Quick) {
        let label = || part(registry.get("randomized-response").unwrap(), all.without_features()).unwrap();
        let weight = || part(registry.get("identity").unwrap(), all.restrict(&[1]).unwrap()).unwrap();
        let features = all.without_target();
        for (own, others) in [
            (features.clone(), vec![label()]),
            (all.restrict(&[0, 2, 3, 4]).unwrap(), vec![weight(), label()]),
        ] {
            let Ok(own) = part(plugin, own) else { continue };
            let parts = std::iter::once(own.clone()).chain(others);
            match Design::composed(all.clone(), parts.collect()) {
                Ok(design) => {
                    let checked = conformance::check_output(&design, &example.table);
                    checked.unwrap_or_else(|problem| panic!("{}: {problem}", plugin.name));
                    composed += 1;
                }
                Err(Error::NotApplicable { reason, .. }) => {
                    let is_row =
                        matches!(own.mechanism().releases(), Releases::Records | Releases::View { .. });
                    assert!(!is_row, "{}: {reason}", plugin.name);
                    refused += 1;
                }
                Err(other) => panic!("{}: {other}", plugin.name),
            }
        }
    }
    assert!(composed >= 20 && refused >= 6, "{composed} compositions, {refused} refused");
}

#[test]
fn every_task_of_the_suite_is_an_experiment_with_a_question_and_the_same_budgets() {
    let registry = Registry::installed().unwrap();
    for task in tasks() {
        let experiment = Experiment::from_toml(task.text, Path::new(task.name)).unwrap();
        assert!(!experiment.candidates(&registry).unwrap().is_empty(), "{}", task.name);
        assert!(task.text.starts_with("# ") && task.about().len() > 10, "{}", task.name);
        assert!(task.text.contains("epsilon = [0.5, 1, 2, 4, 8]\n"), "{}", task.name);
    }
    assert!(tasks().is_sorted_by_key(|task| task.name));
}

#[test]
fn a_mistyped_name_gets_the_nearest() {
    let registry = Registry::installed().unwrap();
    let message = registry.get("randomised-response").unwrap_err().to_string();
    assert_eq!(
        message,
        "there is no mechanism \"randomised-response\"; did you mean \"randomized-response\"?"
    );
}

#[test]
fn a_duplicate_name_is_an_error() {
    let mut registry = Registry::installed().unwrap();
    let variant = *registry.get("laplace").unwrap();
    assert!(registry.add(variant).unwrap_err().to_string().contains("laplace"));
}

/// Integers that a parameter can hold and no machine can satisfy.
const EXTREMES: [u64; 4] = [1 << 31, (1 << 53) + 1, 1 << 62, u64::MAX];

/// Returns the paths of all integers that `schema` describes: names along the path, and "" for the first
/// element of a list.
fn whole_numbers(schema: &Value, root: &Value) -> Vec<Vec<String>> {
    let is_integer = |kind: &Value| {
        kind == "integer" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("integer")))
    };
    if is_integer(&schema["type"]) {
        return vec![vec![]];
    }
    let behind = |step: &str, inner: &Value| -> Vec<Vec<String>> {
        let paths = whole_numbers(inner, root).into_iter();
        paths.map(|path| [vec![step.to_owned()], path].concat()).collect()
    };
    let mut paths = vec![];
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
        paths.extend(whole_numbers(root.pointer(name).unwrap(), root));
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        paths.extend(
            schema[choice].as_array().into_iter().flatten().flat_map(|inner| whole_numbers(inner, root)),
        );
    }
    if schema["items"].is_object() {
        paths.extend(behind("", &schema["items"]));
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        paths.extend(behind(name, inner));
    }
    paths
}

/// Sets `value` at `path` in `parameters`.
fn put(parameters: &mut Value, path: &[String], value: Value) {
    match path {
        [] => *parameters = value,
        [step, rest @ ..] if step.is_empty() => {
            let mut first = Value::Null;
            put(&mut first, rest, value);
            *parameters = json!([first]);
        }
        [step, rest @ ..] => {
            if !parameters.is_object() {
                *parameters = json!({});
            }
            put(&mut parameters[step], rest, value);
        }
    }
}

/// Releases `table`, or fails with an error. It must not panic or take minutes.
fn try_to_release(mechanism: &Designed, table: &Table) {
    let _ = mechanism.guarantee().to_string();
    let _ = mechanism.guarantee_of(usize::MAX).to_string();
    let _ = mechanism.release(table, &mut Randomness::seeded(1));
}

/// Peak virtual memory of this process in KiB; 0 if the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Other parameters for a test of the parameter at `path`, so that the plugin reads it and no training takes
/// long.
fn affordable_parameters(plugin: &Plugin, path: &[String], example: &Value) -> Value {
    let mut parameters = match (plugin.name, &*path[0]) {
        ("vlm", "volunteers") => {
            json!({"volunteers": {"epsilon": 1.0, "epochs": 1.0, "delta": 1e-12}})
        }
        ("vlm", _) => json!({"epochs": 2}),
        _ => example.clone(),
    };
    match (plugin.name, &*path[0]) {
        ("vlm", _) => (parameters["hidden"], parameters["latent_dim"]) = (json!([4]), json!(1)),
        // Here `training` describes the mixing of training records.
        ("dauntless-inference", _) => {}
        (_, "training") => parameters["training"] = json!({"epochs": 2, "task_epochs": 2}),
        _ => {}
    }
    parameters
}

#[test]
fn no_whole_number_that_a_parameter_may_be_takes_all_memory_or_panics() {
    let before = peak();
    let mut tried = 0;
    for plugin in Registry::installed().unwrap().iter() {
        let example = (plugin.example)().unwrap();
        let schema = (plugin.parameters)().to_value();
        for path in whole_numbers(&schema, &schema) {
            // A random seed takes no memory, and the designs of some examples are trained for a while.
            let is_seed = path.last().is_some_and(|name| name == "seed");
            for value in EXTREMES.into_iter().filter(|value| !is_seed || *value == u64::MAX) {
                let mut parameters = affordable_parameters(plugin, &path, &example.parameters);
                put(&mut parameters, &path, value.into());
                tried += 1;
                if let Ok(design) = plugin.design(&parameters, &example.brief) {
                    try_to_release(design.mechanism(), &example.table);
                }
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert!(peak() - before < 6 << 20, "{} KiB at once, and {before} before", peak());
}

/// Collects the paths of all integers in a saved design.
fn numbers_of(saved: &Value, at: &str, found: &mut Vec<String>) {
    match saved {
        Value::Number(number) if number.is_u64() => found.push(at.to_owned()),
        // The first two elements of a list represent all others.
        Value::Array(list) => {
            list.iter()
                .take(2)
                .enumerate()
                .for_each(|(index, value)| numbers_of(value, &format!("{at}/{index}"), found));
        }
        Value::Object(map) => map.iter().for_each(|(name, value)| {
            numbers_of(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
        }),
        _ => {}
    }
}

#[test]
fn no_whole_number_in_a_saved_design_takes_all_memory_or_panics() {
    let before = peak();
    for plugin in Registry::installed().unwrap().iter() {
        let example = (plugin.example)().unwrap();
        let design: Design = plugin.design(&example.parameters, &example.brief).unwrap();
        let saved = design.state();
        let mut places = vec![];
        numbers_of(saved, "", &mut places);
        for place in places {
            for value in EXTREMES {
                let mut forged = saved.clone();
                *forged.pointer_mut(&place).unwrap() = value.into();
                if let Ok(mechanism) = (plugin.build)(&forged) {
                    try_to_release(&mechanism, &example.table);
                }
            }
        }
    }
    assert!(peak() - before < 6 << 20, "{} KiB at once, and {before} before", peak());
}
