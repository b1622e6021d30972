//! Choices of parameters of a mechanism or a model, and the records that the choices were made on.

use scumble_core::number;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Choice of parameters of a row's mechanism or model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Mechanism or model whose parameters were chosen.
    pub what: Tunable,
    /// Records that the choice was made on.
    pub on: TunedOn,
    /// Number of people whose records were used for the choice.
    pub people: usize,
    /// Chosen options (combinations of parameter values). A choice on volunteers has one option for all
    /// trials.
    pub chosen: Vec<Chosen>,
}

/// Object with parameters that are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tunable {
    /// Mechanism, which is designed and released anew for each option.
    Mechanism,
    /// Model. All its options learn from one release.
    Model,
}

/// Records that are used for a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunedOn {
    /// Volunteers. Options are compared only on the volunteers' records: some of these shape designs, some
    /// are released, and some are for tests.
    Volunteers,
    /// People whose records are not released. Each person says by randomised response at the row's ε whether
    /// one option is right about them. Nobody spends more than this ε.
    PrivateValidation,
}

/// Chosen option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// Values of the parameters that were chosen.
    pub parameters: BTreeMap<String, Value>,
    /// Number of trials with this choice.
    pub trials: usize,
}

/// Text for people: the choice, and its records.
impl fmt::Display for Tuned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trials: usize = self.chosen.iter().map(|chosen| chosen.trials).sum();
        for (at, Chosen { parameters, trials: own }) in self.chosen.iter().enumerate() {
            let parameters = parameters.iter().map(|(name, value)| match value {
                Value::String(text) => format!("{name} = {text}"),
                value => format!("{name} = {}", value.as_f64().map_or(value.to_string(), number::short)),
            });
            let parameters = parameters.collect::<Vec<_>>().join(", ");
            match (at, *own == trials) {
                (_, true) => formatter.write_str(&parameters)?,
                (0, false) => write!(formatter, "{parameters} in {own} of {trials} trials")?,
                (_, false) => write!(formatter, ", {parameters} in {own}")?,
            }
        }
        match self.on {
            TunedOn::Volunteers => write!(formatter, ", on {} volunteers", self.people),
            TunedOn::PrivateValidation => write!(formatter, ", by private answers of {} people", self.people),
        }
    }
}
