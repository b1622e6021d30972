//! References, with which the score of a release is compared: scores of models that learn from no release.

use super::evidence::Sample;
use super::metric::Subject;
use super::spread::mean_and_sd;
use super::{Metric, Scorer, or_null};
use serde::{Deserialize, Serialize};

/// Training data of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LearnsFrom {
    /// Release of the training records.
    Release,
    /// Given number of training records in the clear.
    Clean(usize),
    /// Volunteers' records.
    Volunteers,
}

impl LearnsFrom {
    pub(super) fn is_release(&self) -> bool {
        *self == Self::Release
    }
}

/// Training data of a [`Reference`]'s model, which learns from no release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knows {
    /// Most frequent class or mean of the training records: the baseline.
    Guess,
    /// Volunteers' records.
    Volunteers,
    /// Training records in the clear.
    Clean,
}

/// Text for people.
impl std::fmt::Display for Knows {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Guess => "the baseline",
            Self::Volunteers => "the volunteers alone",
            Self::Clean => "the clean records",
        })
    }
}

/// Score of a model that learns from no release, for comparison with the scores of releases.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Reference {
    /// Training data of the model.
    pub knows: Knows,
    /// Number of training records; zero for the baseline.
    pub records: usize,
    /// Model.
    #[serde(flatten)]
    pub scorer: Scorer,
    /// Metric of the score.
    pub metric: Metric,
    /// Mean over trials.
    #[serde(with = "or_null")]
    pub mean: f64,
    /// Sample standard deviation over trials; NaN for one trial.
    #[serde(with = "or_null")]
    pub sd: f64,
    /// Score of each trial.
    #[serde(with = "or_null::list")]
    pub scores: Vec<f64>,
    /// Influence of each group of test records on the score of each trial: the first-order change of the
    /// score if the weight of the group's records changes.
    #[serde(skip)]
    pub(super) influences: Vec<Vec<f32>>,
    /// One-sided p-value of the hypothesis that the model is not better than the baseline, from paired
    /// predictions for the same test records; `None` for the baseline itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
}

impl Reference {
    pub(super) fn new(
        (knows, records): (Knows, usize),
        scorer: &Scorer,
        metric: Metric,
        Sample { scores, influences }: Sample,
    ) -> Self {
        let (mean, sd) = mean_and_sd(&scores);
        Self { knows, records, scorer: scorer.clone(), metric, mean, sd, scores, influences, p_value: None }
    }

    /// Text for people: the training data. The baseline is named by its prediction, for example `mean
    /// baseline`.
    pub fn named(&self) -> String {
        match (self.knows, self.metric.subject()) {
            (Knows::Guess, Subject::Classes) => "majority-class baseline".into(),
            (Knows::Guess, Subject::Numbers) => "mean baseline".into(),
            (knows, _) => knows.to_string(),
        }
    }
}
