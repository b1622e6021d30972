//! What a comparison finds, for people and machines.

use crate::registry::{Guarantee, number};
use serde::Serialize;
use serde_json::Value;

/// What came out.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// One row a mechanism and budget.
    pub rows: Vec<Row>,
    /// Mechanisms that have nothing to do on such data, and why.
    pub skipped: Vec<Skipped>,
    /// The score of always guessing the commonest class or the mean of the training records: what learning must beat.
    #[serde(serialize_with = "score")]
    pub blind_guess: f64,
    /// Training records a trial.
    pub train_records: usize,
    /// Test records a trial.
    pub test_records: usize,
}

/// A cell: a mechanism at a budget, with the model's score on clean test records.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The plugin's name.
    pub mechanism: String,
    /// Its parameters, with the label's share of ε where randomised response releases the label.
    pub parameters: Value,
    /// The budget; null for a mechanism that claims no differential privacy whatever it is given.
    #[serde(serialize_with = "epsilon_or_null")]
    pub epsilon: Option<f64>,
    /// The model.
    pub model: &'static str,
    /// Its score: `accuracy`, or `rmse` in the target's own unit, against targets clipped to their public bounds.
    pub metric: &'static str,
    /// The mean over trials.
    #[serde(serialize_with = "score")]
    pub mean: f64,
    /// The sample standard deviation over trials.
    #[serde(serialize_with = "score")]
    pub sd: f64,
    /// How many trials.
    pub trials: usize,
    /// What a release with fresh randomness promises.
    #[serde(serialize_with = "guarantee_for_machines")]
    pub guarantee: Guarantee,
    /// The time of all trials, summed, in seconds. They run side by side, so it is more than the wall shows.
    pub seconds: f64,
}

/// A mechanism that does not apply.
#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    /// The plugin's name.
    pub mechanism: String,
    /// Why.
    pub reason: String,
}

fn epsilon_or_null<S: serde::Serializer>(epsilon: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    epsilon.map(number::to_json).serialize(serializer)
}

/// A score is null where it is no number, as after an overflow.
fn score<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number::to_json(*value).serialize(serializer)
}

fn guarantee_for_machines<S: serde::Serializer>(
    guarantee: &Guarantee,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    guarantee.to_json().serialize(serializer)
}
