//! `pair-response`: each person reports the value of one random column together with the label.

use crate::answered::{answered_by, summed};
use crate::dependence::kept;
use crate::questions::{PEOPLE, Questions};
use ndarray::{Array1, Array2, Axis};
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{
    Brief, Collection, Collector, Descriptor, Error, Estimate, Example, Guarantee, LocalMechanism, Output,
    Portion, Protect, RecordDomain, Result, Table, TargetDomain, ValuesIn, interrupt, register,
};
use scumble_oracles::{Counts, Kind, Oracle};
use serde::{Deserialize, Serialize};

const NAME: &str = "pair-response";

/// Smallest and largest number of bins per numeric column that the rule for the default chooses.
const BINS: (usize, usize) = (2, 32);

/// Number of people who answer about a column, if there are few people, and least number of columns that are
/// asked about nevertheless.
const ANSWERS: usize = 30;
const LEAST_COLUMNS: usize = 8;

/// Report of the value of one random column of a record together with its label. The report spends all of ε.
///
/// The column is drawn uniformly at random. Its value is the level of a category, or the bin of a number. The
/// pair of value and label is randomised as one value, and not each of the two separately. The reports
/// therefore preserve the dependence of columns and label, which learning needs. `collect` draws records as
/// if columns were independent given the label (naive Bayes). The more of a column's dependence may be noise,
/// the less of it is kept. If there are fewer than 30 people for each column, reports ask about fewer
/// columns, and the others are drawn uniformly.
///
/// ```
/// use scumble_core::{Example, LocalMechanism, Randomness, Unit, release_local};
/// use scumble_reports::PairResponse;
///
/// let Example { brief, table, .. } = Example::mixed()?;
/// let mechanism = PairResponse::new(brief.domain, 2.0, 2, None)?;
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 2.0);
/// let release = release_local(&mechanism, &table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns(), ["reported question", "reported answer"]);
/// // What models learn from: records in the columns of the schema.
/// let mut stream = Randomness::from_os()?.streams().stream(0);
/// let records = mechanism.collector().unwrap().collect(&release.table, 100, &mut stream)?;
/// assert_eq!(records.columns(), table.columns());
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PairResponse {
    state: State,
    /// Features as [`Attribute`]s (columns with a few discrete levels) that reports ask about; the label is a
    /// separate attribute.
    attributes: Vec<Attribute>,
    /// Features that no report asks about.
    unasked: Vec<Attribute>,
    label: Attribute,
    questions: Questions,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(with = "scumble_core::number")]
    epsilon: f64,
    /// Number of bins of every numeric column.
    bins: usize,
    /// Kind of frequency oracle; `None` picks the kind with the least total variance for each pair of a
    /// column and the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oracle: Option<Kind>,
    /// Indices of the features that reports ask about, in increasing order; `None` for all features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Vec<usize>>,
}

impl TryFrom<State> for PairResponse {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { ref domain, epsilon, bins, oracle, ref asked } = state;
        if !(BINS.0..=1024).contains(&bins) {
            let problem = format!("bins must lie between 2 and 1024, and {bins} does not");
            return Err(Error::parameter(NAME, problem));
        }
        let refuse = |reason: &str| Err(Error::not_applicable(NAME, reason));
        let (attributes, label) = match Attribute::all(NAME, domain, |_| bins)? {
            (_, None) => {
                return refuse("there is no label to report with a column: choose a target column");
            }
            (attributes, _) if attributes.is_empty() => {
                return refuse("there is no column to report with the label");
            }
            (attributes, Some(label)) => (attributes, label),
        };
        let all = || (0..attributes.len()).collect();
        let asked = asked.clone().unwrap_or_else(all);
        if asked.is_empty()
            || !asked.is_sorted_by(|a, b| a < b)
            || asked.last().is_some_and(|last| *last >= attributes.len())
        {
            return Err(Error::parameter(NAME, "columns: name at least one feature, and none twice"));
        }
        let is_asked = |(at, _): &(usize, Attribute)| asked.binary_search(at).is_ok();
        let (attributes, unasked): (Vec<_>, Vec<_>) = attributes.into_iter().enumerate().partition(is_asked);
        let [attributes, unasked] =
            [attributes, unasked].map(|chosen| chosen.into_iter().map(|(_, one)| one).collect::<Vec<_>>());
        let own = attributes.iter().map(Attribute::levels).collect();
        let questions = Questions::new(NAME, own, label.levels(), oracle, epsilon)?;
        Ok(Self { attributes, unasked, label, questions, state })
    }
}

/// Returns the default features that reports of `people` people ask about, of `all` features; `None` for all
/// of them. It is a public rule, which depends on no record.
///
/// With few answers about each column, noise hides all of them. Columns of wide records often depend on each
/// other, and answers about some of them then say much about the others. The features are evenly spaced,
/// because neighbouring columns of a schema are often alike.
fn asked(people: usize, all: usize) -> Option<Vec<usize>> {
    let most = (people / ANSWERS).max(LEAST_COLUMNS);
    (most < all).then(|| (0..most).map(|at| at * all / most).collect())
}

/// Returns the default number of bins per numeric column, computed from the arguments and not from records.
///
/// The result is the largest B with B³ ≤ n/V, within [`BINS`]. Here n is the number of answers about a
/// column, and V/n the variance that their noise adds to the frequencies of all pairs. A model learns from
/// collected records the means of columns given the label. Bins change such a mean by about 1/B, and the
/// noise of more bins adds up in it. That few people answer about a column does not count: its part of the
/// error of a mean is the same for any number of bins.
fn bins(people: usize, questions: usize, labels: Option<usize>, epsilon: f64) -> usize {
    let per_question = people as f64 / questions.max(1) as f64;
    let is_fine = |bins: &usize| {
        let levels = (bins * labels.unwrap_or(*bins)) as u64;
        Oracle::best(levels, epsilon)
            .is_ok_and(|oracle| (*bins as f64).powi(3) <= per_question / oracle.total_variance())
    };
    (BINS.0..=BINS.1).take_while(is_fine).last().unwrap_or(BINS.0)
}

impl PairResponse {
    /// Creates the mechanism with `bins` bins per numeric column. Reports use the kind `oracle` of frequency
    /// oracle; `None` chooses the kind with the least total variance for each pair of a column and the label.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if there is no label or no column, or if no oracle exists for ε and the
    /// number of levels of a pair. [`Error::NotApplicable`] also if a column is neither a number within its
    /// own bounds nor a category. [`Error::Parameter`] if `bins` is out of range.
    pub fn new(domain: RecordDomain, epsilon: f64, bins: usize, oracle: Option<Kind>) -> Result<Self> {
        State { domain, epsilon, bins, oracle, asked: None }.try_into()
    }

    /// Number of bins of each numeric column.
    pub fn bins(&self) -> usize {
        self.state.bins
    }

    /// Frequency oracles, one per column that reports ask about, in the order of the columns. Each oracle
    /// randomises the pair of a column and the label.
    pub fn oracles(&self) -> &[Oracle] {
        self.questions.oracles()
    }

    /// Estimates, for each column that reports ask about, the fraction of the population that has each pair
    /// of a level and a label (levels × labels).
    ///
    /// The levels of a number are its bins. All confidence intervals of one column simultaneously cover the
    /// true fractions with the probability `confidence`.
    ///
    /// # Errors
    /// [`Error::Shape`] for reports that this mechanism cannot have made; the message names the row.
    /// [`Error::Budget`] unless 0 < `confidence` < 1.
    pub fn frequencies(&self, reports: &Table, confidence: f64) -> Result<Vec<Array2<Estimate>>> {
        self.questions.joint(reports, confidence)
    }

    /// Estimates the joint distribution of each column and the label (levels × labels), and the share of each
    /// label.
    ///
    /// All tables have the same shares of labels. These are estimated first, from all answers together,
    /// because no rare label must gain records from the noise in its many cells (see [`draw::to_simplex`]).
    fn distributions(&self, counted: &[Counts]) -> Result<(Vec<Array2<f64>>, Vec<f64>)> {
        let labels = self.label.levels();
        let (mut shares, mut weights) = (Array1::<f64>::zeros(labels), 0.0);
        let mut pairs = vec![];
        for ((counts, oracle), attribute) in counted.iter().zip(self.oracles()).zip(&self.attributes) {
            let joint = Array2::from_shape_vec((attribute.levels(), labels), counts.frequencies(oracle))
                .map_err(|problem| Error::shape(problem.to_string()))?;
            // The answers about each column give an estimate of the labels' shares. The weight of this
            // estimate is the equivalent number of answers without noise.
            let weight = counts.answers() as f64 / (1.0 + oracle.total_variance());
            shares.scaled_add(weight, &joint.sum_axis(Axis(0)));
            weights += weight;
            pairs.push(joint);
        }
        let mut shares = (shares / weights).to_vec();
        draw::to_simplex(&mut shares, 1.0);
        for joint in &mut pairs {
            for (mut of_label, share) in joint.columns_mut().into_iter().zip(&shares) {
                let mut levels = of_label.to_vec();
                draw::scaled_to_simplex(&mut levels, *share);
                of_label.assign(&Array1::from(levels));
            }
        }
        Ok((pairs, shares))
    }
}

impl Collector for PairResponse {
    fn start(&self) -> Box<dyn Collection + '_> {
        summed(&self.questions, |counted| {
            let (pairs, shares) = self.distributions(&counted)?;
            let kept = kept(&counted, self.oracles(), &shares);
            let (attributes, label) = (self.attributes.clone(), self.label.clone());
            let unasked = self.unasked.clone();
            let width = self.state.domain.layout().width();
            Ok(Box::new(move |records, stream| {
                let mut flat = vec![0.0; records * width];
                let mut write = |row: usize, attribute: &Attribute, level: usize, through: f64| {
                    attribute.write(level, through, &mut flat[row * width..][..width]);
                };
                let mut rows: Vec<Vec<usize>> = vec![vec![]; label.levels()];
                for (row, level) in draw::levels(&shares, records, stream).into_iter().enumerate() {
                    interrupt::check()?;
                    rows[level].push(row);
                    write(row, &label, level, draw::uniform(stream));
                }
                for ((attribute, joint), kept) in attributes.iter().zip(&pairs).zip(&kept) {
                    let marginal = joint.sum_axis(Axis(1));
                    interrupt::check()?;
                    for ((rows, share), of_label) in rows.iter().zip(&shares).zip(joint.columns()) {
                        if rows.is_empty() {
                            continue;
                        }
                        let given = &of_label * (kept / share) + &marginal * (1.0 - kept);
                        for (&row, level) in
                            rows.iter().zip(draw::levels(&given.to_vec(), rows.len(), stream))
                        {
                            write(row, attribute, level, draw::uniform(stream));
                        }
                    }
                }
                for attribute in &unasked {
                    interrupt::check()?;
                    let shares = vec![1.0; attribute.levels()];
                    for (row, level) in draw::levels(&shares, records, stream).into_iter().enumerate() {
                        write(row, attribute, level, draw::uniform(stream));
                    }
                }
                Ok(flat)
            }))
        })
    }

    fn values_in(&self) -> ValuesIn {
        ValuesIn::Bins
    }

    fn counted_tables(&self) -> Vec<Vec<usize>> {
        let features = self.attributes.len() + self.unasked.len();
        let asked = self.state.asked.clone().unwrap_or_else(|| (0..features).collect());
        asked.into_iter().map(|at| vec![at, features]).collect()
    }

    fn adversary_view(&self, reports: &Table) -> Result<Table> {
        self.questions.adversary_view(reports)
    }
}

impl LocalMechanism for PairResponse {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let theorem = format!(
            "one pair of {}, a column and the label, drawn uniformly at random and independently of the \
             record, reported at the whole ε by {} with odds of exactly e^ε, in {} bits at most; records \
             collected from reports are post-processing",
            self.attributes.len(),
            self.questions.kinds(),
            self.questions.bits()
        );
        let State { domain, epsilon, .. } = &self.state;
        Portion { domain: domain.clone(), protect: Protect::Record, epsilon: *epsilon }.guarantee(&theorem)
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let record = self.state.domain.projected(record)?;
        let own = self.attributes.iter().map(|attribute| attribute.level(&record));
        Ok(self.questions.point(own, self.label.level(&record)))
    }

    fn shuffled_levels(&self) -> Option<f64> {
        self.questions.shuffled_levels(self.state.epsilon)
    }

    answered_by!(questions);
}

/// Parameters of `pair-response`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of equal-width bins between a number's bounds, 2 to 1024. The default follows a public rule
    /// from ε, the number of people (--people, else 10,000) and the number of columns.
    bins: Option<usize>,
    /// Frequency oracle: "randomized-response", "unary-encoding", "subset-selection" or "hadamard-response".
    /// The default is the oracle with the smallest variance for each pair of a column and the label.
    #[schemars(with = "Option<String>")]
    oracle: Option<Kind>,
    /// Names of the features that reports ask about. Collected records have random values in the others. The
    /// default is all features if there are at least 30 people (--people, else 10,000) for each. Otherwise
    /// the default is evenly spaced features: one for every 30 people, but 8 or more.
    columns: Option<Vec<String>>,
}

fn design(parameters: Parameters, brief: &Brief) -> Result<PairResponse> {
    let Parameters { bins: requested, oracle, columns } = parameters;
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    let people = brief.people.unwrap_or(PEOPLE);
    let features = domain.features().factors().count();
    let place = |name: &String| {
        let unknown = || Error::parameter(NAME, format!("columns: there is no feature {name:?}"));
        domain.feature(name).ok_or_else(unknown)
    };
    let asked = match columns {
        None => asked(people, features),
        Some(names) => {
            let mut places = names.iter().map(place).collect::<Result<Vec<usize>>>()?;
            places.sort_unstable();
            Some(places)
        }
    };
    let questions = asked.as_ref().map_or(features, Vec::len);
    let labels = match domain.target() {
        TargetDomain::Class { levels } => Some(levels.len()),
        _ => None,
    };
    let bins = requested.unwrap_or_else(|| bins(people, questions, labels, epsilon));
    State { domain, epsilon, bins, oracle, asked }.try_into()
}

register! {
    /// The plugin `pair-response`.
    pub const PAIR_RESPONSE = {
        name: NAME,
        summary: "report of one random column and the label by a frequency oracle; synthetic records from \
                  all reports",
        paper: "Wang, Blocki, Li and Jha, Locally differentially private protocols for frequency estimation \
                (2017), of pairs",
        descriptor: Descriptor::new(Output::Reports).reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: PairResponse::try_from,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_people_and_epsilon() {
        // 1,279 people, 11 numbers, two classes: noise limits the bins, and not the few people who answer.
        let wine = |epsilon| bins(1_279, 11, Some(2), epsilon);
        assert_eq!([0.5, 1.0, 2.0, 4.0, 8.0, f64::INFINITY].map(wine), [2, 2, 3, 6, 17, 32]);
        assert_eq!(bins(1_000_000, 10, Some(2), 4.0), 30);
        assert_eq!(bins(1, 10, Some(2), 0.1), 2);
    }

    #[test]
    fn few_people_are_asked_about_few_columns() {
        assert_eq!(asked(1_151, 11), None);
        assert_eq!(asked(455, 30).unwrap(), (0..30).step_by(2).collect::<Vec<_>>());
        assert_eq!(asked(10, 9).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(asked(1, 8), None);
        assert_eq!(asked(300, 31).unwrap(), [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    }
}
