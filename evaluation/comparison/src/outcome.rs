//! What a comparison finds, for people and machines.

use super::reference::{Knows, Reference, numbers, score};
use super::scorer::Named;
use super::trust::Trust;
use super::tuned::Tuned;
use super::worth::Worth;
use super::{Metric, Scorer};
use scumble_core::{Guarantee, Notion, Unit, number};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// The parameter under which a row says that its reports are shuffled: its ε is a central one then.
pub(super) const SHUFFLED: &str = "shuffled";

/// The parameter under which a row says what share of ε the label got, where a mechanism of its own releases it.
pub(super) const LABEL_SHARE: &str = "label_share";

/// What came out.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// One row a model or adversary, metric, mechanism with its parameters, and budget, in this order.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// What models score that learn from no release, by model and metric: the baseline, records in the clear, fewer and all, and volunteers alone.
    pub references: Vec<Reference>,
    /// Mechanisms that have nothing to do on such data, and why.
    pub skipped: Vec<Skipped>,
    /// Cells of which a trial failed: their scores are no numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
    /// The score of the majority-class or mean baseline: what learning must beat, and what an adversary learns without a release. By the
    /// first metric.
    #[serde(serialize_with = "score")]
    pub baseline: f64,
    /// The same by every metric.
    #[serde(serialize_with = "scores")]
    pub baselines: BTreeMap<Metric, f64>,
    /// Training records a trial.
    pub train_records: usize,
    /// Test records a trial.
    pub test_records: usize,
    /// Volunteers, whose records designs could learn from: on neither side in any trial.
    pub volunteers: usize,
    /// Those of each trial who are asked which model is right about them, and whose records are not released.
    pub asked: usize,
}

/// A cell: a mechanism at a budget, with a model's score on held-out test records, or an adversary's on those that were released.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The plugin's name.
    pub mechanism: String,
    /// Its parameters, with the label's share of ε where a mechanism of its own releases the label, and a list where they were chosen.
    pub parameters: Value,
    /// The command that saves this design, as a shell reads it; none where the data have no schema. Where volunteers shaped it,
    /// `volunteers.csv` takes the place of a file with their records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// The budget; null for a mechanism that claims no differential privacy whatever it is given.
    #[serde(serialize_with = "epsilon_or_null")]
    pub epsilon: Option<f64>,
    /// The trust model.
    pub trust: Trust,
    /// The model: its name, and its hyper-parameters as far as they were given; or the adversary.
    #[serde(flatten)]
    pub scorer: Scorer,
    /// Its score: `accuracy`, say, or `rmse` in the target's own unit, against targets clipped to their public bounds.
    pub metric: Metric,
    /// The mean over trials.
    #[serde(serialize_with = "score")]
    pub mean: f64,
    /// The sample standard deviation over trials; NaN for one trial.
    #[serde(serialize_with = "score")]
    pub sd: f64,
    /// The bound that the guarantee implies of this score, where it is an adversary's: upper, or of the normalised MSE lower.
    #[serde(serialize_with = "bound", skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// How many trials.
    pub trials: usize,
    /// The score of each.
    #[serde(serialize_with = "numbers")]
    pub scores: Vec<f64>,
    /// How many records in the clear teach the same model as much; none of what is no model's score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
    /// How many records in the clear more than the volunteers alone; none without volunteers who have labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adds: Option<Worth>,
    /// Whether it is better than what is known without a release; none of what is no model's score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// What was chosen of the mechanism and the model, and on whose records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<Tuned>,
    /// The guarantee of a release of as many training records with fresh randomness, with a warning where a claim is void after all.
    #[serde(serialize_with = "guarantee_for_machines")]
    pub guarantee: Guarantee,
    /// The time of all trials, release and model, summed, in seconds. They run side by side, so it is more than the wall
    /// shows; models that learn from one release each count its time.
    pub seconds: f64,
}

/// The better of what is known without a release, the baseline or the volunteers' records, and how likely such scores are if they are no better than that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Against {
    /// What is known.
    pub baseline: Knows,
    /// The corrected resampled t-test's (Nadeau and Bengio 2003), of the scores of the same trials; 1 of one trial.
    pub p_value: f64,
}

impl Row {
    /// Returns whether the release has differential privacy for its records, local, central or through a
    /// shuffler, at a finite ε.
    pub fn has_dp(&self) -> bool {
        let mut claims = self.guarantee.claims.iter().filter(|claim| claim.protects != Unit::Volunteer);
        claims.any(|claim| match &claim.notion {
            Notion::LocalDp(dp) => dp.epsilon.is_finite(),
            Notion::CentralDp(dp) => dp.epsilon.is_finite(),
            Notion::ShuffledDp(dp) => dp.epsilon.is_finite(),
            _ => false,
        })
    }

    /// For people: the mean, and the spread where it is known.
    pub fn shown(&self) -> String {
        let (mean, sd) = (self.metric.shown(self.mean), self.metric.shown(self.sd));
        if self.trials > 1 { format!("{mean} ± {sd}") } else { mean }
    }
}

/// The rows of one model or adversary, and metric: a table, or a chart.
#[derive(Debug, Clone)]
pub struct Scores<'a> {
    /// The model or adversary.
    pub scorer: &'a Scorer,
    /// The metric.
    pub metric: Metric,
    /// One a mechanism with its parameters.
    pub series: Vec<Series<'a>>,
}

/// A mechanism with its parameters, over the budgets.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    /// The mechanism's name, with those of its parameters that tell it from others of that name.
    pub title: String,
    /// A row a budget; one only for a mechanism that claims no differential privacy whatever it is given.
    pub rows: &'a [Row],
}

impl Series<'_> {
    /// Whether it has a budget: whether it claims differential privacy.
    pub fn has_budget(&self) -> bool {
        self.rows.iter().any(|row| row.epsilon.is_some())
    }

    /// Its row at this budget.
    pub fn at(&self, epsilon: f64) -> Option<&Row> {
        self.rows.iter().find(|row| row.epsilon.is_none_or(|of_row| of_row == epsilon))
    }
}

impl Outcome {
    /// All rows as CSV, each with this `warning`.
    pub(crate) fn to_csv(&self, warning: &str) -> String {
        const HEADER: [&str; 25] = [
            "mechanism",
            "parameters",
            "epsilon",
            "model",
            "model_parameters",
            "metric",
            "mean",
            "sd",
            "bound",
            "trials",
            "seconds",
            "tuned",
            "guarantee",
            "design",
            "trust",
            "baseline",
            "p_value",
            "worth",
            "worth_lower",
            "worth_upper",
            "adds",
            "adds_lower",
            "adds_upper",
            "dp",
            "warning",
        ];
        let text = |value: Value| match value {
            Value::String(text) => text,
            Value::Null => String::new(),
            value => value.to_string(),
        };
        let number = |value: f64| text(number::to_json(value));
        let of_worth = |worth: Option<Worth>| match worth {
            Some(Worth { records, lower, upper, .. }) => [records, lower, upper].map(number),
            None => [const { String::new() }; 3],
        };
        let mut writer = csv::Writer::from_writer(vec![]);
        // Only a full disk keeps rows of one length from being written, and this is memory.
        let _ = writer.write_record(HEADER);
        for row in &self.rows {
            let by = Named::from(row.scorer.clone());
            let _ = writer.write_record(
                [
                    row.mechanism.clone(),
                    row.parameters.to_string(),
                    row.epsilon.map_or(String::new(), number),
                    by.model.into(),
                    serde_json::json!(by.model_parameters).to_string(),
                    row.metric.to_string(),
                    number(row.mean),
                    number(row.sd),
                    row.bound.map_or(String::new(), number),
                    row.trials.to_string(),
                    row.seconds.to_string(),
                    row.tuned.iter().map(Tuned::to_string).collect::<Vec<_>>().join("; "),
                    row.guarantee.summary(),
                    row.design.clone().unwrap_or_default(),
                    text(serde_json::json!(row.trust)),
                    row.against.map_or(String::new(), |against| text(serde_json::json!(against.baseline))),
                    row.against.map_or(String::new(), |against| number(against.p_value)),
                ]
                .into_iter()
                .chain(of_worth(row.worth))
                .chain(of_worth(row.adds))
                .chain([row.has_dp().to_string(), warning.to_owned()]),
            );
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// What models score without a mechanism: of nothing, of the volunteers alone, and of all training records in the clear.
    pub fn references(&self, scores: &Scores) -> impl Iterator<Item = &Reference> {
        let (scorer, metric, all) = (scores.scorer.clone(), scores.metric, self.train_records);
        self.references.iter().filter(move |of| {
            of.scorer == scorer && of.metric == metric && (of.knows != Knows::Clean || of.records == all)
        })
    }

    /// The same for people.
    pub fn without_mechanism(&self, scores: &Scores) -> String {
        let shown =
            self.references(scores).map(|of| format!("{} {}", of.named(), scores.metric.shown(of.mean)));
        format!("Without a mechanism: {}.", shown.collect::<Vec<_>>().join("; "))
    }

    /// The rows by model or adversary, and metric.
    pub fn scores(&self) -> Vec<Scores<'_>> {
        let of_one = self.rows.chunk_by(|a, b| a.scorer == b.scorer && a.metric == b.metric);
        of_one
            .map(|rows| {
                let series = rows.chunk_by(|a, b| a.mechanism == b.mechanism && a.parameters == b.parameters);
                let series: Vec<&[Row]> = series.collect();
                let titled = series.iter().map(|own| Series { title: title(own, &series), rows: own });
                Scores { scorer: &rows[0].scorer, metric: rows[0].metric, series: titled.collect() }
            })
            .collect()
    }
}

/// The name of a series, with those of its parameters that are not the same wherever its mechanism takes part.
fn title(own: &[Row], all: &[&[Row]]) -> String {
    let row = &own[0];
    let namesakes = || all.iter().map(|rows| &rows[0]).filter(|other| other.mechanism == row.mechanism);
    let varies = |name: &str| namesakes().any(|other| other.parameters.get(name) != row.parameters.get(name));
    let given = row.parameters.as_object().into_iter().flatten();
    // Whether the label has a mechanism of its own follows from the others.
    let told = given.filter(|(name, _)| *name != LABEL_SHARE && varies(name));
    let told: Vec<String> = told
        .map(|(name, value)| match value {
            Value::Bool(true) => name.clone(),
            Value::String(text) => format!("{name} = {text}"),
            value => format!("{name} = {value}"),
        })
        .collect();
    if told.is_empty() {
        return row.mechanism.clone();
    }
    format!("{}, {}", row.mechanism, told.join(", "))
}

/// A mechanism that does not apply.
#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    /// The plugin's name.
    pub mechanism: String,
    /// Its parameters, as far as they were given.
    pub parameters: Value,
    /// Why.
    pub reason: String,
    /// Whether it learns from volunteers' records, and there were none.
    #[serde(skip)]
    pub lacks_volunteers: bool,
}

/// A cell that failed.
#[derive(Debug, Clone, Serialize)]
pub struct Failed {
    /// The plugin's name; `identity` where a model could not learn from records in the clear.
    pub mechanism: String,
    /// Its parameters, as far as they were given.
    pub parameters: Value,
    /// The budget.
    #[serde(serialize_with = "epsilon_or_null")]
    pub epsilon: Option<f64>,
    /// The first trial that failed, counted from 1.
    pub trial: usize,
    /// Why.
    pub reason: String,
}

/// For people.
impl std::fmt::Display for Failed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.mechanism)?;
        if let Some(epsilon) = self.epsilon {
            write!(formatter, " at ε = {}", in_words(epsilon))?;
        }
        write!(formatter, " failed in trial {}: {}", self.trial, self.reason)
    }
}

fn epsilon_or_null<S: Serializer>(epsilon: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    epsilon.map(number::to_json).serialize(serializer)
}

fn bound<S: Serializer>(bound: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    bound.map(number::to_json).serialize(serializer)
}

fn scores<S: Serializer>(values: &BTreeMap<Metric, f64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(metric, value)| (metric, number::to_json(*value))))
}

fn guarantee_for_machines<S: Serializer>(guarantee: &Guarantee, serializer: S) -> Result<S::Ok, S::Error> {
    guarantee.to_json().serialize(serializer)
}

/// A budget for people: ∞ for none.
pub fn in_words(epsilon: f64) -> String {
    if epsilon.is_infinite() { "∞".into() } else { number::short(epsilon) }
}
