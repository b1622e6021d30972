//! Mechanisms that take part, and their parameters.

use super::combinations::combinations;
use scumble_core::{Plugin, Registry};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A mechanism that takes part.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The plugin.
    pub plugin: Plugin,
    /// Its parameters: an object, or null for the defaults.
    pub parameters: Value,
    /// Parameters that are chosen on volunteers, at each budget anew, among these values.
    pub tune: BTreeMap<String, Vec<Value>>,
    /// Whether it was asked for by its name: then it is an error where it does not apply, and else it is left out.
    pub is_named: bool,
}

impl Candidate {
    /// This plugin with its defaults.
    pub fn new(plugin: Plugin) -> Self {
        Self { plugin, parameters: Value::Null, tune: BTreeMap::new(), is_named: false }
    }

    /// Every registered mechanism that designs quickly, with its defaults.
    pub fn quick(registry: &Registry) -> Vec<Self> {
        let plugins = registry.iter().filter(|plugin| plugin.descriptor.pace == scumble_core::Pace::Quick);
        plugins.map(|plugin| Self::new(*plugin)).collect()
    }

    /// The parameters that were given: an object, with a list where one is chosen.
    pub(super) fn given(&self) -> Value {
        let mut given = match &self.parameters {
            Value::Null => json!({}),
            given => given.clone(),
        };
        if let Value::Object(given) = &mut given {
            given.extend(self.tune.iter().map(|(name, values)| (name.clone(), values.clone().into())));
        }
        given
    }

    /// Those among which one is chosen; of one that is not tuned, itself.
    pub(super) fn options(&self) -> Vec<Self> {
        if self.tune.is_empty() {
            return vec![self.clone()];
        }
        let fixed = self.parameters.as_object().cloned().unwrap_or_default().into_iter().collect();
        let all = combinations(fixed, &self.tune).into_iter();
        let option = |parameters| Value::Object(Map::from_iter(parameters));
        all.map(|parameters| Self { parameters: option(parameters), ..Self::new(self.plugin) }).collect()
    }

    /// What was chosen, where this is one of the options of `tuned`.
    pub(super) fn chosen_of(&self, tuned: &Self) -> BTreeMap<String, Value> {
        let own = self.parameters.as_object().into_iter().flatten();
        let own = own.filter(|(name, _)| tuned.tune.contains_key(*name));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
