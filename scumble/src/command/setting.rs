//! `--set`: parameters of mechanisms.

use super::Failure;
use crate::core::{Error, Plugin, Registry, nearest_name};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A mechanism that the command designs, and its parameters: a JSON object, or null if no parameter is set
/// yet.
pub(super) struct Settable<'a> {
    pub(super) plugin: &'a Plugin,
    pub(super) parameters: &'a mut Value,
}

/// Applies each setting in `texts` to the parameters of the mechanism that it names. A setting without a
/// mechanism's name applies to the first mechanisms of the list, `unnamed` in number.
///
/// # Errors
/// [`Error::UnknownParameter`] if a mechanism does not have the parameter, [`Error::UnknownPlugin`] if no
/// mechanism has the name. Both contain the nearest name. Other errors if a text is not a setting, lacks the
/// name of a mechanism although several are designed, or names a mechanism that the command does not design.
pub(super) fn set(
    registry: &Registry,
    texts: &[String],
    mechanisms: &mut [Settable],
    unnamed: usize,
) -> Result<(), Failure> {
    texts.iter().try_for_each(|text| Setting::parse(text)?.apply(registry, mechanisms, unnamed))
}

/// `PATH=VALUE`. The path may start with the name of a mechanism that the command designs, and continues with
/// names of parameters. Each further name is that of a parameter within the object that the name before it
/// denotes.
struct Setting<'t> {
    text: &'t str,
    path: Vec<&'t str>,
    value: Value,
}

impl<'t> Setting<'t> {
    fn parse(text: &'t str) -> Result<Self, Failure> {
        let Some((path, value)) = text.split_once('=') else {
            return Err(format!("--set {text:?}: KEY=VALUE or NAME.KEY=VALUE is needed").into());
        };
        // 3, true and [1, 2] are JSON values; anything else is text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        Ok(Self { text, path: path.split('.').collect(), value })
    }

    fn apply(&self, registry: &Registry, mechanisms: &mut [Settable], unnamed: usize) -> Result<(), Failure> {
        let (name, rest) = (self.path[0], &self.path[1..]);
        if !rest.is_empty() && mechanisms.iter().any(|mechanism| mechanism.plugin.name == name) {
            let mut own = mechanisms.iter_mut().filter(|mechanism| mechanism.plugin.name == name);
            return own.try_for_each(|mechanism| Ok(mechanism.set(rest, &self.value)?));
        }
        self.check_unnamed(registry, mechanisms, unnamed)?;
        mechanisms
            .iter_mut()
            .take(unnamed)
            .try_for_each(|mechanism| Ok(mechanism.set(&self.path, &self.value)?))
    }

    /// Checks that the setting may omit a mechanism's name, and does not start with the name of a mechanism
    /// that the command does not design.
    fn check_unnamed(
        &self,
        registry: &Registry,
        mechanisms: &[Settable],
        unnamed: usize,
    ) -> Result<(), Failure> {
        let (text, name) = (self.text, self.path[0]);
        let is_parameter =
            mechanisms.iter().any(|settable| settable.plugin.parameter_schemas().contains_key(name));
        match registry.get(name) {
            _ if is_parameter || self.path.len() == 1 => match unnamed {
                0 => Err(format!("--set {text:?}: with several mechanisms, NAME.KEY=VALUE is needed").into()),
                _ => Ok(()),
            },
            Ok(_) => Err(format!("--set {text:?}: the mechanism {name:?} does not take part").into()),
            Err(error) if unnamed == 0 => Err(error.into()),
            // The error about an unknown parameter, with the nearest name, is made when the setting is
            // applied.
            Err(_) => Ok(()),
        }
    }
}

impl Settable<'_> {
    /// Sets the parameter at the end of the path, and creates missing objects on the way.
    fn set(&mut self, path: &[&str], value: &Value) -> Result<(), Error> {
        check_path(self.plugin, path)?;
        let mut place = &mut *self.parameters;
        for name in path {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[*name];
        }
        *place = value.clone();
        Ok(())
    }
}

/// Checks that the path names a parameter within the objects of the plugin's parameters.
///
/// # Errors
/// [`Error::UnknownParameter`] with the nearest name, if no such parameter exists.
fn check_path(plugin: &Plugin, path: &[&str]) -> Result<(), Error> {
    let root = (plugin.parameters)().to_value();
    let mut schema = &root;
    for (at, name) in path.iter().enumerate() {
        let known = properties(&root, schema);
        schema = match known.get(name) {
            Some(schema) => schema,
            None if at > 0 && known.is_empty() && holds_any_names(&root, schema) => return Ok(()),
            None => {
                let nearest = nearest_name(name, known.into_keys());
                let from_above = |name: &str| [&path[..at], &[name]].concat().join(".");
                return Err(Error::UnknownParameter {
                    plugin: plugin.name.into(),
                    name: from_above(name),
                    nearest: nearest.map(|name| from_above(&name)),
                });
            }
        };
    }
    Ok(())
}

/// Collects the properties of an object schema, including referenced and alternative schemas in `root`.
fn properties<'s>(root: &'s Value, schema: &'s Value) -> BTreeMap<&'s str, &'s Value> {
    let own = schema["properties"].as_object().into_iter().flatten();
    let elsewhere = elsewhere(root, schema).flat_map(|part| properties(root, part));
    own.map(|(name, schema)| (name.as_str(), schema)).chain(elsewhere).collect()
}

/// Schemas in `root` that `schema` refers to, or combines.
fn elsewhere<'s>(root: &'s Value, schema: &'s Value) -> impl Iterator<Item = &'s Value> {
    let referred = schema["$ref"].as_str().and_then(|place| root.pointer(place.strip_prefix('#')?));
    let variants =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|keyword| schema[keyword].as_array()).flatten();
    referred.into_iter().chain(variants)
}

/// Returns true if the schema, or one that it refers to or combines, allows any names in an object, such as
/// names of columns.
fn holds_any_names(root: &Value, schema: &Value) -> bool {
    let others = &schema["additionalProperties"];
    *schema == Value::Bool(true)
        || *others == Value::Bool(true)
        || others.is_object()
        || elsewhere(root, schema).any(|part| holds_any_names(root, part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::LAPLACE;
    use crate::fisher_svm::{FISHER_BOUNDED, FISHER_GAUSSIAN};
    use crate::vlm::VLM;

    /// Returns the parameters of `plugins` after the settings in `texts`. A setting without a name applies to
    /// the first `unnamed` plugins.
    fn settled(plugins: &[Plugin], unnamed: usize, texts: &[&str]) -> Result<Vec<Value>, String> {
        let mut registry = Registry::default();
        [LAPLACE, FISHER_BOUNDED, FISHER_GAUSSIAN, VLM]
            .into_iter()
            .for_each(|plugin| registry.add(plugin).unwrap());
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let mut all = vec![Value::Null; plugins.len()];
        let mut mechanisms: Vec<Settable> = plugins
            .iter()
            .zip(&mut all)
            .map(|(plugin, parameters)| Settable { plugin, parameters })
            .collect();
        set(&registry, &texts, &mut mechanisms, unnamed).map_err(|error| error.to_string())?;
        Ok(all)
    }

    #[test]
    fn dots_go_down_into_objects_behind_a_mechanisms_name_or_without_one() {
        let texts = ["volunteers.epsilon=3", "vlm.volunteers.optimiser=sgd", "hidden=[4]", "seed=7"];
        let expected = json!({
            "volunteers": { "epsilon": 3, "optimiser": "sgd" },
            "hidden": [4],
            "seed": 7
        });
        assert_eq!(settled(&[VLM], 1, &texts).unwrap(), [expected]);
        // The later setting wins, and keeps the other parameters of the object.
        let texts = ["volunteers={\"epsilon\":1,\"epochs\":2}", "volunteers.epochs=3"];
        let expected = json!({ "volunteers": { "epsilon": 1, "epochs": 3 } });
        assert_eq!(settled(&[VLM], 1, &texts).unwrap(), [expected]);
        // Columns may have any names, also in a parameter that may be a matrix instead.
        for plugin in [FISHER_BOUNDED, FISHER_GAUSSIAN] {
            let weights = settled(&[plugin], 1, &["weights.body size=2"]).unwrap();
            assert_eq!(weights, [json!({ "weights": { "body size": 2 } })]);
        }
        let ranges = settled(&[FISHER_BOUNDED], 1, &["ranges.size=[0,3]"]).unwrap();
        assert_eq!(ranges, [json!({ "ranges": { "size": [0, 3] } })]);
    }

    #[test]
    fn a_name_is_that_of_all_mechanisms_that_have_it() {
        let all = settled(&[VLM, LAPLACE, VLM], 0, &["vlm.seed=3", "laplace.protect=features"]).unwrap();
        assert_eq!(all, [json!({ "seed": 3 }), json!({ "protect": "features" }), json!({ "seed": 3 })]);
        let all = settled(&[LAPLACE, LAPLACE], 1, &["protect=features"]).unwrap();
        assert_eq!(all, [json!({ "protect": "features" }), Value::Null]);
    }

    #[test]
    fn what_no_mechanism_has_is_refused_with_the_nearest_name() {
        let both = [VLM, LAPLACE];
        for (plugins, unnamed, text, expected) in [
            (&both[..1], 1, "seed", "--set \"seed\": KEY=VALUE or NAME.KEY=VALUE is needed"),
            (
                &both[..1],
                1,
                "sed=3",
                "the mechanism \"vlm\" has no parameter \"sed\"; did you mean \"seed\"?",
            ),
            (
                &both[..1],
                1,
                "volunters.epochs=3",
                "the mechanism \"vlm\" has no parameter \"volunters\"; did you mean \"volunteers\"?",
            ),
            (
                &both[..1],
                1,
                "vlm.volunteers.epoch=3",
                "the mechanism \"vlm\" has no parameter \"volunteers.epoch\"; did you mean \
                 \"volunteers.epochs\"?",
            ),
            (&both[..1], 1, "seed.low=3", "the mechanism \"vlm\" has no parameter \"seed.low\""),
            (
                &both[..1],
                1,
                "laplace.protect=label",
                "--set \"laplace.protect=label\": the mechanism \"laplace\" does not take part",
            ),
            (&both, 0, "seed=3", "--set \"seed=3\": with several mechanisms, NAME.KEY=VALUE is needed"),
            (
                &both,
                0,
                "volunteers.epsilon=3",
                "--set \"volunteers.epsilon=3\": with several mechanisms, NAME.KEY=VALUE is needed",
            ),
            (&both, 0, "lapace.protect=label", "there is no mechanism \"lapace\"; did you mean \"laplace\"?"),
        ] {
            assert_eq!(settled(plugins, unnamed, &[text]).unwrap_err(), expected);
        }
    }
}
