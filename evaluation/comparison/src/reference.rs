//! What every row is compared with: what models score that learn from no release.

use super::metric::Subject;
use super::spread::mean_and_sd;
use super::{Metric, Scorer};
use scumble_core::number;
use serde::{Serialize, Serializer};

/// What models learn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LearnsFrom {
    /// What was released of the training records.
    Release,
    /// So many training records in the clear.
    Clean(usize),
    /// The volunteers' records.
    Volunteers,
}

impl LearnsFrom {
    pub(super) fn is_release(&self) -> bool {
        *self == Self::Release
    }
}

/// What is known without a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knows {
    /// Which class is the commonest, or the mean: the baseline.
    Guess,
    /// The volunteers' records.
    Volunteers,
    /// Training records in the clear.
    Clean,
}

/// For people: what it is to have this alone.
impl std::fmt::Display for Knows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Guess => "the baseline",
            Self::Volunteers => "the volunteers alone",
            Self::Clean => "the records in the clear",
        })
    }
}

/// What a row is compared with: the score of a model that learns from no release.
#[derive(Debug, Clone, Serialize)]
pub struct Reference {
    /// What is known.
    pub knows: Knows,
    /// From how many records.
    pub records: usize,
    /// The model.
    #[serde(flatten)]
    pub scorer: Scorer,
    /// Its score.
    pub metric: Metric,
    /// The mean over trials.
    #[serde(serialize_with = "score")]
    pub mean: f64,
    /// The sample standard deviation over trials; NaN for one trial.
    #[serde(serialize_with = "score")]
    pub sd: f64,
    /// Of each trial.
    #[serde(serialize_with = "numbers")]
    pub scores: Vec<f64>,
}

/// A score is null where it is no number, as after an overflow.
pub(super) fn score<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number::to_json(*value).serialize(serializer)
}

/// The same of several.
pub(super) fn numbers<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| number::to_json(*value)))
}

impl Reference {
    pub(super) fn new(
        (knows, records): (Knows, usize),
        scorer: &Scorer,
        metric: Metric,
        scores: Vec<f64>,
    ) -> Self {
        let (mean, sd) = mean_and_sd(&scores);
        Self { knows, records, scorer: scorer.clone(), metric, mean, sd, scores }
    }

    /// For people: what is known, the baseline by what it predicts.
    pub fn named(&self) -> String {
        match (self.knows, self.metric.subject()) {
            (Knows::Guess, Subject::Classes) => "majority-class baseline".into(),
            (Knows::Guess, Subject::Numbers) => "mean baseline".into(),
            (knows, _) => knows.to_string(),
        }
    }
}
