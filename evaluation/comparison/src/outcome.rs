//! Outcome of a comparison, as text for people, CSV and JSON.

use super::designed::DesignCall;
use super::evidence::{ENOUGH_TRIALS, LEVEL};
use super::reference::{Knows, Reference};
use super::scorer::Named;
use super::trust::Trust;
use super::tuned::Tuned;
use super::worth::Worth;
use super::{Error, Metric, Scorer, or_null};
use scumble_core::{Claim, Guarantee, Notion, Unit, number};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// Name of the parameter that marks rows with shuffled reports. The ε of such a row is central, not local.
pub(super) const SHUFFLED: &str = "shuffled";

/// Name of the parameter with the label's share of ε, in rows whose label a separate mechanism releases.
pub(super) const LABEL_SHARE: &str = "label_share";

/// Outcome of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// One row per scorer (a model, an adversary or another scored object), metric, mechanism with its
    /// parameters, and budget ε, sorted in this order.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// Scores that need no release, by model and metric. They are the scores of the baseline, of models of
    /// all or fewer training records in the clear, and of models of the volunteers' records.
    pub references: Vec<Reference>,
    /// Mechanisms that do not apply to the data, with the reasons.
    pub skipped: Vec<Skipped>,
    /// Cells (one mechanism at one ε) with a failed trial. The means of their scores are NaN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
    /// Score of the baseline by the first metric. For models, the baseline is the majority class or the mean.
    /// For an adversary, it is the adversary's result without a release. If the released table itself is
    /// scored, the baseline is a table of records spread uniformly over the domain.
    #[serde(with = "or_null")]
    pub baseline: f64,
    /// Scores of the baseline by every metric.
    #[serde(with = "or_null::map")]
    pub baselines: BTreeMap<Metric, f64>,
    /// Number of training records per trial.
    pub train_records: usize,
    /// Number of test records per trial.
    pub test_records: usize,
    /// Number of volunteers. Designs may learn from the volunteers' records. In no trial are these records
    /// training or test records.
    pub volunteers: usize,
    /// Number of people per trial who answer in private validation: they say by randomised response whether a
    /// model is right about them. Their records are not released.
    pub asked: usize,
}

/// Score of a cell (one mechanism at one ε) by one metric.
///
/// It is the score of a model on held-out test records, of an adversary on released records, or of the
/// released table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Name of the plugin.
    pub mechanism: String,
    /// Parameters of the mechanism. A parameter that was chosen among several values has the list of these
    /// values. If a separate mechanism releases the label, the label's share of ε is included.
    pub parameters: Value,
    /// Call that designs the mechanism; `None` if the data have no schema.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub design: Option<DesignCall>,
    /// Budget ε; `None` for a mechanism that never claims differential privacy.
    #[serde(with = "or_null::option")]
    pub epsilon: Option<f64>,
    /// Trust model.
    pub trust: Trust,
    /// Scored object, for example a model with the hyper-parameters that were given, or an adversary.
    #[serde(flatten)]
    pub scorer: Scorer,
    /// Metric of the score. Errors such as `rmse` are in the target's own unit. They compare predictions with
    /// targets that are clipped to their public bounds.
    pub metric: Metric,
    /// Mean over trials.
    #[serde(with = "or_null")]
    pub mean: f64,
    /// Sample standard deviation over trials; NaN for one trial.
    #[serde(with = "or_null")]
    pub sd: f64,
    /// Bound on an adversary's score that the guarantee implies: an upper bound, or a lower bound for the
    /// normalised MSE.
    #[serde(default, with = "or_null::option", skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// Number of trials.
    pub trials: usize,
    /// Score of each trial.
    #[serde(with = "or_null::list")]
    pub scores: Vec<f64>,
    /// Influence of each group of test records on the score of each trial: the first-order change of the
    /// score if the weight of the group's records changes.
    #[serde(skip)]
    pub(super) influences: Vec<Vec<f32>>,
    /// Number of training records in the clear from which the row's model would reach the row's score; `None`
    /// if the score is not a model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
    /// Number of clean records that would improve a model of the volunteers' records as much as the release
    /// does; `None` without volunteers who have labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds: Option<Worth>,
    /// Significance test against the better of two predictions without a release (see [`Against`]); `None` if
    /// the score is not a model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// Choices of mechanism and model parameters, and the records that the choices were made on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<Tuned>,
    /// Guarantee of a release with fresh randomness, for as many records as a trial releases. It has a
    /// warning if a claim is void.
    #[serde(serialize_with = "guarantee_for_machines", deserialize_with = "claims")]
    pub guarantee: Guarantee,
    /// Sum over all trials of the time for the release and the scorer, in seconds. Trials run in parallel, so
    /// the sum exceeds the elapsed time. If several models learn from one release, the row of each model
    /// includes the time of this release.
    pub seconds: f64,
}

/// Reference without a release that a model's score is tested against, and the p-value. The reference is the
/// better of two: the baseline, and a model of the volunteers' records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// Training data of the reference.
    pub baseline: Knows,
    /// Mean difference in score, positive if the row's model is better. It is NaN for a single trial.
    #[serde(with = "or_null")]
    pub gain: f64,
    /// One-sided p-value of the hypothesis that the row's model is not better than the reference, from paired
    /// predictions for the same test records. It is 1 for a single trial.
    pub p_value: f64,
    /// Standard error of the mean difference in score. It accounts for the choice of test records,
    /// also of records in several trials, and for the differences between trials. It is NaN for a single
    /// trial.
    #[serde(with = "or_null")]
    pub standard_error: f64,
    /// Degrees of freedom of the standard error. They are NaN for a single trial.
    #[serde(with = "or_null")]
    pub degrees: f64,
}

impl Row {
    /// Returns true if both rows have the same scorer and metric.
    pub(super) fn is_scored_like(&self, other: &Self) -> bool {
        self.scorer == other.scorer && self.metric == other.metric
    }

    /// Returns true if both rows have the same mechanism and parameters.
    fn is_designed_like(&self, other: &Self) -> bool {
        self.mechanism == other.mechanism && self.parameters == other.parameters
    }

    /// Returns true if the release has differential privacy for its records at a finite ε: local, central or
    /// through a shuffler.
    pub fn has_dp(&self) -> bool {
        let mut claims = self.guarantee.claims.iter().filter(|claim| claim.protects != Unit::Volunteer);
        claims.any(|claim| match &claim.notion {
            Notion::LocalDp(dp) => dp.epsilon.is_finite(),
            Notion::CentralDp(dp) => dp.epsilon.is_finite(),
            Notion::ShuffledDp(dp) => dp.epsilon.is_finite(),
            _ => false,
        })
    }

    /// Text for people: the mean, and the standard deviation if it is known.
    pub fn shown(&self) -> String {
        let (mean, sd) = (self.metric.shown(self.mean), self.metric.shown(self.sd));
        if self.sd.is_finite() { format!("{mean} ± {sd}") } else { mean }
    }
}

/// Rows of one scorer and one metric. They are displayed as one table or chart.
#[derive(Debug, Clone)]
pub struct Scores<'a> {
    /// Scored object, for example a model or an adversary.
    pub scorer: &'a Scorer,
    /// Metric.
    pub metric: Metric,
    /// One series per mechanism with its parameters.
    pub series: Vec<Series<'a>>,
}

/// Rows of one mechanism with fixed parameters at all budgets ε.
#[derive(Debug, Clone)]
pub struct Series<'a> {
    /// Name of the mechanism, with the parameters that distinguish it from others of the same name.
    pub title: String,
    /// One row per budget; a single row for a mechanism that never claims differential privacy.
    pub rows: &'a [Row],
}

impl Series<'_> {
    /// Returns true if the series has budgets, that is, if it claims differential privacy.
    pub fn has_budget(&self) -> bool {
        self.rows.iter().any(|row| row.epsilon.is_some())
    }

    /// Row at the budget `epsilon`. A mechanism without differential privacy has the same row at every
    /// budget.
    pub fn at(&self, epsilon: f64) -> Option<&Row> {
        self.rows.iter().find(|row| row.epsilon.is_none_or(|row_epsilon| row_epsilon == epsilon))
    }
}

impl Outcome {
    /// Reads the JSON form that [`Comparison::to_json`](super::Comparison::to_json) writes. Of a guarantee,
    /// only the claims are read. The calls that design the rows are not read.
    ///
    /// # Errors
    /// [`Error::Data`] for JSON of another form, with the reason.
    pub fn from_json(value: &Value) -> super::Result<Self> {
        let refuse =
            |problem: serde_json::Error| Error::Data(format!("the outcome is not readable: {problem}"));
        let mut outcome = Self::deserialize(value).map_err(refuse)?;
        let mut rows = vec![];
        for name in ["rows", "without_dp"] {
            rows.extend(Vec::<Row>::deserialize(&value[name]).map_err(refuse)?);
        }
        outcome.add(rows);
        Ok(outcome)
    }

    /// Adds rows. A row replaces one with the same mechanism, parameters, ε, scorer and metric.
    pub fn add(&mut self, rows: Vec<Row>) {
        let released = self.train_records as f64;
        for mut row in rows {
            row.worth = row.worth.map(|worth| worth.of(released));
            row.adds = row.adds.map(|adds| adds.of(released));
            let is_alike = |other: &Row| other.is_scored_like(&row) && other.is_designed_like(&row);
            let is_same = |other: &Row| is_alike(other) && other.epsilon == row.epsilon;
            match self.rows.iter().position(is_same) {
                Some(place) => self.rows[place] = row,
                None => {
                    // Rows of a scorer and a metric are neighbours, and so are rows of a mechanism.
                    let after = self.rows.iter().rposition(is_alike);
                    let after =
                        after.or_else(|| self.rows.iter().rposition(|other| other.is_scored_like(&row)));
                    self.rows.insert(after.map_or(self.rows.len(), |place| place + 1), row);
                }
            }
        }
    }

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
        let worth_cells = |worth: Option<Worth>| match worth {
            Some(Worth { records, lower, upper, .. }) => [records, lower, upper].map(number),
            None => [const { String::new() }; 3],
        };
        let mut writer = csv::Writer::from_writer(vec![]);
        // Writing rows of equal length to memory cannot fail.
        let _ = writer.write_record(HEADER);
        for row in &self.rows {
            let by = Named::from(row.scorer.clone());
            let _ = writer.write_record(
                [
                    row.mechanism.clone(),
                    row.parameters.to_string(),
                    row.epsilon.map_or(String::new(), number),
                    by.model.into_owned(),
                    serde_json::json!(by.model_parameters).to_string(),
                    row.metric.to_string(),
                    number(row.mean),
                    number(row.sd),
                    row.bound.map_or(String::new(), number),
                    row.trials.to_string(),
                    row.seconds.to_string(),
                    row.tuned.iter().map(Tuned::to_string).collect::<Vec<_>>().join("; "),
                    row.guarantee.summary(),
                    row.design.as_ref().map(DesignCall::to_string).unwrap_or_default(),
                    text(serde_json::json!(row.trust)),
                    row.against.map_or(String::new(), |against| text(serde_json::json!(against.baseline))),
                    row.against.map_or(String::new(), |against| number(against.p_value)),
                ]
                .into_iter()
                .chain(worth_cells(row.worth))
                .chain(worth_cells(row.adds))
                .chain([row.has_dp().to_string(), warning.to_owned()]),
            );
        }
        String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
    }

    /// Scores that need no mechanism: of the baseline, and of models of the volunteers' records and of all
    /// training records in the clear.
    pub fn references(&self, scores: &Scores) -> impl Iterator<Item = &Reference> {
        let (scorer, metric, all) = (scores.scorer.clone(), scores.metric, self.train_records);
        self.references.iter().filter(move |reference| {
            reference.scorer == scorer
                && reference.metric == metric
                && (reference.knows != Knows::Clean || reference.records == all)
        })
    }

    /// Sentence for people if there is no evidence that a model of the records in the clear is better than
    /// the baseline. A release of these records cannot be better than the baseline either. The result is
    /// `None` for fewer than ten trials, which are too few for this statement.
    pub fn unlearnable(&self, scores: &Scores) -> Option<String> {
        let clean = self.references(scores).find(|reference| reference.knows == Knows::Clean)?;
        let is_better = clean.p_value.is_none_or(|p_value| p_value <= LEVEL);
        (!is_better && clean.scores.len() >= ENOUGH_TRIALS).then(|| {
            format!(
                "This target cannot be learned by {}: without any privacy, a model of all clean records is \
                 not distinguishable from the baseline.",
                scores.scorer
            )
        })
    }

    /// Sentence for people with the mean scores that [`references`](Self::references()) returns.
    pub fn without_mechanism(&self, scores: &Scores) -> String {
        let shown = self
            .references(scores)
            .map(|reference| format!("{} {}", reference.named(), scores.metric.shown(reference.mean)));
        format!("Without a mechanism: {}.", shown.collect::<Vec<_>>().join("; "))
    }

    /// Rows grouped by scorer and metric.
    pub fn scores(&self) -> Vec<Scores<'_>> {
        let groups = self.rows.chunk_by(Row::is_scored_like);
        groups
            .map(|rows| {
                let series = rows.chunk_by(Row::is_designed_like);
                let series: Vec<&[Row]> = series.collect();
                let titled = series.iter().map(|own| Series { title: title(own, &series), rows: own });
                Scores { scorer: &rows[0].scorer, metric: rows[0].metric, series: titled.collect() }
            })
            .collect()
    }
}

/// Title of a series: its mechanism, with the parameters that vary between the series of this mechanism.
fn title(own: &[Row], all: &[&[Row]]) -> String {
    let row = &own[0];
    let namesakes = || all.iter().map(|rows| &rows[0]).filter(|other| other.mechanism == row.mechanism);
    let varies = |name: &str| namesakes().any(|other| other.parameters.get(name) != row.parameters.get(name));
    let given = row.parameters.as_object().into_iter().flatten();
    // The title omits the label's share of ε, which follows from the other parameters.
    let varying = given.filter(|(name, _)| *name != LABEL_SHARE && varies(name));
    let varying: Vec<String> = varying
        .map(|(name, value)| match value {
            Value::Bool(true) => name.clone(),
            Value::String(text) => format!("{name} = {text}"),
            value => format!("{name} = {value}"),
        })
        .collect();
    if varying.is_empty() {
        return row.mechanism.clone();
    }
    format!("{}, {}", row.mechanism, varying.join(", "))
}

/// Mechanism that does not apply to the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Skipped {
    /// Name of the plugin.
    pub mechanism: String,
    /// Parameters that were given.
    pub parameters: Value,
    /// Reason.
    pub reason: String,
    /// True if the mechanism learns from volunteers' records, and there were no volunteers.
    #[serde(skip)]
    pub lacks_volunteers: bool,
}

/// Cell (one mechanism at one ε) with a failed trial.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Failed {
    /// Name of the plugin; `identity` if a model could not learn from records in the clear.
    pub mechanism: String,
    /// Parameters that were given.
    pub parameters: Value,
    /// Budget ε.
    #[serde(with = "or_null::option")]
    pub epsilon: Option<f64>,
    /// First trial that failed, counted from 1.
    pub trial: usize,
    /// Reason.
    pub reason: String,
}

/// Text for people.
impl std::fmt::Display for Failed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.mechanism)?;
        if let Some(epsilon) = self.epsilon {
            write!(formatter, " at ε = {}", in_words(epsilon))?;
        }
        write!(formatter, " failed in trial {}: {}", self.trial, self.reason)
    }
}

/// Reads the claims of a guarantee. Its other fields remain empty.
fn claims<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Guarantee, D::Error> {
    #[derive(Deserialize)]
    struct Claims {
        claims: Vec<Claim>,
    }
    let Claims { claims } = Claims::deserialize(deserializer)?;
    Ok(Guarantee { claims, ..Guarantee::default() })
}

fn guarantee_for_machines<S: Serializer>(guarantee: &Guarantee, serializer: S) -> Result<S::Ok, S::Error> {
    guarantee.to_json().serialize(serializer)
}

/// Text of a budget for people: ∞ for no privacy.
pub fn in_words(epsilon: f64) -> String {
    if epsilon.is_infinite() { "∞".into() } else { number::short(epsilon) }
}
