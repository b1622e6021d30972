//! What was chosen of a mechanism or a model, and on whose records.

use scumble_core::number;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// What was chosen of a row's mechanism or model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuned {
    /// Of which of them.
    pub what: Tunable,
    /// On whose records.
    pub on: TunedOn,
    /// How many people these are.
    pub people: usize,
    /// What was chosen; on volunteers once for all trials.
    pub chosen: Vec<Chosen>,
}

/// What has parameters that are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tunable {
    /// The mechanism, which is designed and released anew for each option.
    Mechanism,
    /// The model, of which all options learn from one release.
    Model,
}

/// Whose records pay for a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunedOn {
    /// Volunteers: options are compared on their records alone, some of them designing, some released and some tested on.
    Volunteers,
    /// People whose records are not released: each says of one option whether it is right about them, by randomised response at the row's own ε.
    /// So nobody pays more than that.
    PrivateValidation,
}

/// An option that was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Its parameters, of those that were chosen among.
    pub parameters: BTreeMap<String, Value>,
    /// In how many trials.
    pub trials: usize,
}

/// For people: what, and on whom.
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
            TunedOn::PrivateValidation => write!(formatter, ", by {} people asked privately", self.people),
        }
    }
}
