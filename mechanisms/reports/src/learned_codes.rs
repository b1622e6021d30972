//! `learned-codes`: each person reports the code of the person's record together with the label. Clusters are
//! learned from the records of volunteers. The code of a record is the index of the nearest cluster.

use crate::answered::{Answers, answered_by, attributes, draw_records, levels, summed};
use crate::partition::Partition;
use crate::questions::{PEOPLE, Questions};
use ndarray::{Array2, Axis};
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{
    Brief, Collection, Collector, Descriptor, Error, Estimate, Example, Guarantee, LocalMechanism, Output,
    Portion, Protect, RecordDomain, Result, ShapedBy, Table, ValuesIn, register,
};
use scumble_oracles::{Counts, Kind, Oracle};
use serde::{Deserialize, Serialize};

const NAME: &str = "learned-codes";

/// Prior variance of a label's frequency among the records with one code, about its frequency among all
/// records. The unit is p(1 − p), with p = 1/L for L labels. This prior shrinks estimates with large noise;
/// with many people it has hardly any effect.
const CODE_PRIOR: f64 = 0.2;

/// Report of a record's code together with its label, which spends all of ε. The partition of records into
/// codes is learned from the records of volunteers.
///
/// Volunteers need no labels. `collect` draws codes and labels with their estimated frequencies. A drawn
/// record resembles the volunteers' records with the same code. Its numbers are normal about the mean of
/// these records, and its categories have the frequencies of these records.
///
/// ```
/// use scumble_core::{Example, LocalMechanism, Unit};
/// use scumble_reports::LEARNED_CODES;
///
/// let Example { parameters, brief, .. } = (LEARNED_CODES.example)()?;
/// let design = LEARNED_CODES.design(&parameters, &brief)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 1.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LearnedCodes {
    state: State,
    /// Features as [`Attribute`]s (columns with a few discrete levels); the label is a separate attribute.
    features: Vec<Attribute>,
    label: Option<Attribute>,
    questions: Questions,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(with = "scumble_core::number")]
    epsilon: f64,
    partition: Partition,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oracle: Option<Kind>,
    shaped_by: ShapedBy,
}

impl TryFrom<State> for LearnedCodes {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { ref domain, epsilon, ref partition, oracle, .. } = state;
        partition.check(domain)?;
        let (features, label) = attributes(NAME, domain)?;
        let labels = levels(label.as_ref());
        let questions = Questions::new(NAME, vec![partition.codes()], labels, oracle, epsilon)?;
        Ok(Self { features, label, questions, state })
    }
}

/// Returns the default number of codes, computed from the arguments and not from records.
///
/// The rule limits the noise on a label's estimated frequency among the records with one code, for `people`
/// reports. The result is the largest number of codes for which the variance of this noise is at most p(1 −
/// p)/4, with p = 1/`labels`, or at most 1/4 without labels. All codes and all labels are assumed to be
/// equally frequent. Each code needs thirty volunteers.
fn codes(people: usize, volunteers: usize, labels: usize, epsilon: f64) -> usize {
    const NOISE: f64 = 0.25;
    let label_variance = match labels {
        1 => 1.0,
        _ => (1.0 - 1.0 / labels as f64) / labels as f64,
    };
    let is_clear = |codes: &usize| {
        let oracle = Oracle::best((codes * labels) as u64, epsilon);
        oracle.is_ok_and(|oracle| {
            oracle.variance(0.0) / people as f64 * (*codes as f64).powi(2) <= NOISE * label_variance
        })
    };
    (2..=(volunteers / 30).min(1000)).take_while(is_clear).last().unwrap_or(2)
}

impl LearnedCodes {
    /// Frequency oracle that randomises the pair of code and label of a record.
    pub fn oracle(&self) -> &Oracle {
        &self.questions.oracles()[0]
    }

    /// Number of codes.
    pub fn codes(&self) -> usize {
        self.state.partition.codes()
    }

    fn labels(&self) -> usize {
        levels(self.label.as_ref())
    }

    /// Returns the code of an encoded record's features (d).
    pub fn code(&self, features: &[f64]) -> usize {
        self.state.partition.code(features)
    }

    /// Estimates the fraction of the population that has each pair of a code and a label, with confidence
    /// intervals.
    ///
    /// The shape is codes × labels, with one label if records have none. All intervals simultaneously cover
    /// the true fractions with the probability `confidence`. The estimates are unbiased (not shrunk). The
    /// volunteers influence them only through the partition into codes.
    ///
    /// # Errors
    /// [`Error::Shape`] for reports that this mechanism cannot have made; the message names the row.
    /// [`Error::Budget`] unless 0 < `confidence` < 1.
    pub fn frequencies(&self, reports: &Table, confidence: f64) -> Result<Array2<Estimate>> {
        Ok(self.questions.joint(reports, confidence)?.remove(0))
    }

    /// Estimates the fraction of records that have each pair of a code and a label (codes × labels; one label
    /// if records have none). Unlike [`frequencies`](Self::frequencies), it shrinks the estimates to reduce
    /// their noise.
    ///
    /// With labels, the frequency of each code is its frequency among volunteers, which is known without
    /// noise. The label frequencies of each code are estimated from the reports, and shrunk toward the label
    /// frequencies of all codes together. The estimate is a posterior mean. Its model is that a code's
    /// frequency of a label is normal about the frequency over all codes, and that the noise has a known
    /// variance. The frequencies over all codes are shrunk toward equal ones, where noise hides them. Without
    /// labels, the frequencies of codes are estimated from the reports, and shrunk toward the volunteers'
    /// frequencies.
    ///
    /// # Errors
    /// [`Error::Shape`] for reports that this mechanism cannot have made; the message names the row.
    pub fn labels_of_codes(&self, reports: &Table) -> Result<Array2<f64>> {
        self.estimated(&self.questions.sum(reports)?)
    }

    /// Same as [`labels_of_codes`](Self::labels_of_codes), from the counts of the answers.
    fn estimated(&self, counted: &[Counts]) -> Result<Array2<f64>> {
        let oracle = self.oracle();
        let (codes, labels) = (self.codes(), self.labels());
        let joint = Array2::from_shape_vec((codes, labels), counted[0].frequencies(oracle))
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let shares = self.state.partition.shares();
        let answers = counted[0].answers() as f64;
        let total_noise = oracle.total_variance() / answers.max(1.0);
        if labels == 1 {
            let observed: Vec<f64> = joint.iter().copied().collect();
            let shares = shrunk(&observed, shares, total_noise);
            return Array2::from_shape_vec((codes, 1), shares)
                .map_err(|problem| Error::shape(problem.to_string()));
        }
        // The answers about all codes give the labels' shares, with less noise than the answers about each.
        let even = 1.0 / labels as f64;
        let overall = shrunk(&joint.sum_axis(Axis(0)).to_vec(), &vec![even; labels], total_noise);
        let label_variance = even * (1.0 - even);
        let mut rates = Array2::from_shape_fn((codes, labels), |(code, label)| {
            let share = shares[code];
            let noise = oracle.variance(0.0) / answers / share.powi(2) + label_variance / (answers * share);
            let trust = CODE_PRIOR * label_variance / (CODE_PRIOR * label_variance + noise);
            overall[label] + trust * (joint[[code, label]] / share - overall[label])
        });
        for (mut rates, share) in rates.axis_iter_mut(Axis(0)).zip(shares) {
            // More or fewer people than volunteers may have a code, and its rates then add up to more or less
            // than 1.
            if let Some(rates) = rates.as_slice_mut() {
                draw::scaled_to_simplex(rates, *share);
            }
        }
        Ok(rates)
    }
}

/// Shrinks `observed` frequencies toward `believed` frequencies, and projects the result onto the probability
/// simplex. `noise` is the variance of the noise on `observed`, summed over all frequencies.
///
/// The weight of `believed` is the ratio of `noise` to the squared distance between `observed` and
/// `believed`, but at most 1.
fn shrunk(observed: &[f64], believed: &[f64], noise: f64) -> Vec<f64> {
    let off =
        observed.iter().zip(believed).map(|(observed, believed)| (observed - believed).powi(2)).sum::<f64>();
    let trust = (1.0 - noise / off).max(0.0);
    let moved =
        observed.iter().zip(believed).map(|(observed, believed)| believed + trust * (observed - believed));
    let mut shares: Vec<f64> = moved.collect();
    draw::to_simplex(&mut shares, 1.0);
    shares
}

impl Collector for LearnedCodes {
    fn start(&self) -> Box<dyn Collection + '_> {
        summed(&self.questions, |counted| {
            let joint = self.estimated(&counted)?;
            let (labels, width) = (self.labels(), self.state.domain.layout().width());
            let (partition, features, attribute) =
                (self.state.partition.clone(), self.features.clone(), self.label.clone());
            let shares: Vec<f64> = joint.iter().copied().collect();
            Ok(Box::new(move |records, stream| {
                draw_records((records, width), &shares, stream, |level, record, stream| {
                    partition.draw(level / labels, &features, record, stream);
                    if let Some(attribute) = &attribute {
                        attribute.write(level % labels, draw::uniform(stream), record);
                    }
                })
            }))
        })
    }

    fn values_in(&self) -> ValuesIn {
        ValuesIn::TargetInBins
    }

    fn adversary_view(&self, reports: &Table) -> Result<Table> {
        self.questions.adversary_view(reports)
    }
}

impl LocalMechanism for LearnedCodes {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let with_label = if self.label.is_some() { ", and its label" } else { "" };
        let theorem = format!(
            "the record's code, one of {}{with_label}, reported at the whole ε by {} with odds of exactly \
             e^ε, in {} bits; records collected from reports are post-processing",
            self.codes(),
            self.oracle().kind(),
            self.questions.bits()
        );
        let State { domain, epsilon, shaped_by, .. } = &self.state;
        let portion = Portion { domain: domain.clone(), protect: Protect::Record, epsilon: *epsilon };
        Guarantee { shaped_by: *shaped_by, ..portion.guarantee(&theorem) }
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let record = self.state.domain.projected(record)?;
        let code = self.code(&record[..self.state.domain.features().dim()]);
        let label = self.label.as_ref().map_or(0, |label| label.level(&record));
        Ok(self.questions.point(std::iter::once(code), label))
    }

    fn shuffled_levels(&self) -> Option<f64> {
        self.questions.shuffled_levels(self.state.epsilon)
    }

    answered_by!(questions);
}

/// Parameters of `learned-codes`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of codes, from 2 to the number of volunteers. The default follows a public rule from ε, the
    /// number of people (--people, else 10,000), and the numbers of volunteers and labels.
    codes: Option<usize>,
    /// Frequency oracle: "randomized-response", "unary-encoding", "subset-selection" or "hadamard-response".
    /// The default is the oracle with the smallest variance.
    #[schemars(with = "Option<String>")]
    oracle: Option<Kind>,
    /// Random seed for clustering the volunteers' records. The default is 0.
    seed: Option<u64>,
}

fn design(Parameters { codes: requested, oracle, seed }: Parameters, brief: &Brief) -> Result<LearnedCodes> {
    let volunteers = brief.unclaimed_volunteers(NAME)?;
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    let labels = levels(attributes(NAME, &domain)?.1.as_ref());
    let by_rule = || codes(brief.people.unwrap_or(PEOPLE), volunteers.len(), labels, epsilon);
    let codes = requested.unwrap_or_else(by_rule);
    if !(2..=volunteers.len()).contains(&codes) {
        let problem =
            format!("codes must lie between 2 and the {} volunteers, and {codes} does not", volunteers.len());
        return Err(Error::parameter(NAME, problem));
    }
    let partition = Partition::learn(NAME, volunteers.records().view(), codes, seed.unwrap_or(0))?;
    State { domain, epsilon, partition, oracle, shaped_by: brief.volunteers.shaped_by() }.try_into()
}

register! {
    /// The plugin `learned-codes`.
    pub const LEARNED_CODES = {
        name: NAME,
        summary: "report of a record's cluster and label by a frequency oracle; synthetic records from all \
                  reports (needs volunteers for the clusters)",
        paper: "Ye and Barg, Optimal schemes for discrete distribution estimation under locally differential \
                privacy (2018), of learned codes",
        descriptor: Descriptor::new(Output::Reports).needing_volunteers().reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: LearnedCodes::try_from,
        example: || Ok(Example {
            parameters: serde_json::json!({"codes": 4}),
            ..Example::mixed()?.with_public_volunteers()
        }),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_people_volunteers_and_epsilon() {
        let wine = |epsilon| codes(895, 384, 2, epsilon);
        assert_eq!([0.5, 1.0, 2.0, 4.0, f64::INFINITY].map(wine), [2, 4, 10, 12, 12]);
        let mnist = |epsilon| codes(45_000, 15_000, 10, epsilon);
        assert_eq!([1.0, 2.0, 4.0].map(mnist), [16, 37, 116]);
        assert_eq!(codes(1, 10, 2, 0.1), 2);
    }
}
