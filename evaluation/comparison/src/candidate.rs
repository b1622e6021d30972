//! Mechanisms in a comparison, and their parameters.

use super::combinations::combinations;
use scumble_core::{Plugin, Registry};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Mechanism in a comparison.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Plugin of the mechanism.
    pub plugin: Plugin,
    /// Parameters of the mechanism: an object, or null for the defaults.
    pub parameters: Value,
    /// Candidate values of each parameter whose value is chosen by scores on volunteers' records, separately
    /// at each budget.
    pub tune: BTreeMap<String, Vec<Value>>,
    /// True if the mechanism was requested by name. If such a mechanism does not apply to the data, the
    /// comparison fails. Any other mechanism that does not apply is left out.
    pub is_named: bool,
}

impl Candidate {
    /// Creates a candidate with the plugin's defaults.
    pub fn new(plugin: Plugin) -> Self {
        Self { plugin, parameters: Value::Null, tune: BTreeMap::new(), is_named: false }
    }

    /// Every registered mechanism that is designed quickly ([`Pace::Quick`](scumble_core::Pace::Quick)), with
    /// its default parameters.
    pub fn quick(registry: &Registry) -> Vec<Self> {
        let plugins = registry.iter().filter(|plugin| plugin.descriptor.pace == scumble_core::Pace::Quick);
        plugins.map(|plugin| Self::new(*plugin)).collect()
    }

    /// Given parameters, as a JSON object. A parameter in `tune` has the list of its candidate values.
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

    /// Options to choose from: one candidate for each combination of the values in `tune`. If `tune` is
    /// empty, the only option is the candidate itself.
    pub(super) fn options(&self) -> Vec<Self> {
        if self.tune.is_empty() {
            return vec![self.clone()];
        }
        let fixed = self.parameters.as_object().cloned().unwrap_or_default().into_iter().collect();
        let all = combinations(fixed, &self.tune).into_iter();
        let option = |parameters| Value::Object(Map::from_iter(parameters));
        all.map(|parameters| Self { parameters: option(parameters), ..Self::new(self.plugin) }).collect()
    }

    /// Values of the tuned parameters (the keys of `tuned.tune`) in this candidate, which is one of the
    /// options of the candidate `tuned`.
    pub(super) fn chosen_of(&self, tuned: &Self) -> BTreeMap<String, Value> {
        let own = self.parameters.as_object().into_iter().flatten();
        let own = own.filter(|(name, _)| tuned.tune.contains_key(*name));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}
