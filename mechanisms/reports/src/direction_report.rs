//! `direction-report`: each person reports the direction of the person's record from the volunteers' mean,
//! with the label. Volunteers are people whose records a design may use.

use crate::answered::{Answers, answered_by, attributes, draw_records, levels, summed};
use crate::directions::{DirectionSum, Directions, best, variance};
use crate::principal_basis::PrincipalBasis;
use crate::questions::PEOPLE;
use ndarray::{Array1, s};
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{
    Brief, Collection, Collector, Descriptor, Error, Example, Guarantee, LocalMechanism, Output, Portion,
    Protect, RecordDomain, Result, ShapedBy, Table, ValuesIn, check_width, register,
};
use scumble_oracles::{MOST_DIMENSIONS, PrivUnit};
use serde::{Deserialize, Serialize};

const NAME: &str = "direction-report";

/// Prior value of the ratio of two variances along a principal direction: the variance of the labels' mean
/// records about the volunteers' mean, divided by the variance of all records. The prior value has the same
/// weight as the estimate of this ratio from one direction.
const LABEL_PRIOR: f64 = 0.05;

/// Upper limit for the noise of the difference between the mean records of two labels.
///
/// The noise is the variance of the estimated difference along a direction, divided by the variance of
/// records along this direction, averaged over directions. The default number of directions is the largest
/// number that keeps the noise within this limit.
const NOISE: f64 = 0.12;

/// Report of a record's coordinates along the volunteers' principal directions together with its label,
/// randomised by [`PrivUnit`].
///
/// The principal directions are learned from the volunteers' records. Each person reports the coordinates of
/// the person's record along a few directions, together with the label. The report spends all of ε. The
/// coordinates are relative to the volunteers' mean, and their vector is clipped to a maximum length. From
/// many reports, the frequency of each label and the mean of the records with this label are estimated.
///
/// Volunteers need no labels. For records without a label, one mean of all records is estimated. If each
/// person's label is public and not in the record, collect the reports of each label separately. `collect`
/// draws labels, and for each label it draws records around the mean of this label. The covariance of these
/// records is the volunteers' covariance, less the variance of the labels' means along each direction.
///
/// ```
/// use scumble_core::{Example, LocalMechanism, Unit};
/// use scumble_reports::DIRECTION_REPORT;
///
/// let Example { parameters, brief, .. } = (DIRECTION_REPORT.example)()?;
/// let design = DIRECTION_REPORT.design(&parameters, &brief)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 1.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DirectionReport {
    state: State,
    /// Features as [`Attribute`]s (columns with a few discrete levels); the label is a separate attribute.
    features: Vec<Attribute>,
    label: Option<Attribute>,
    reported: Directions,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(with = "scumble_core::number")]
    epsilon: f64,
    /// Number of PrivUnit's candidate vectors; a report names one of them.
    candidates: usize,
    frame: PrincipalBasis,
    shaped_by: ShapedBy,
}

impl TryFrom<State> for DirectionReport {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { domain, epsilon, candidates, frame, .. } = &state;
        frame.check(domain)?;
        let (features, label) = attributes(NAME, domain)?;
        let width = width(frame.dimensions(), levels(label.as_ref()));
        let reported = Directions::new(NAME, width, *candidates, *epsilon)?;
        Ok(Self { features, label, reported, state })
    }
}

/// Number of coordinates of the vector that a person reports.
///
/// With labels, each label has a block of one coordinate for the frequency of the label, and one coordinate
/// per direction for the sum of the records with this label. Without labels there is one coordinate per
/// direction, for the sum of all records.
fn width(dimensions: usize, labels: usize) -> usize {
    if labels > 1 { labels * (dimensions + 1) } else { dimensions }
}

/// Estimates about the people who have the same label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelEstimate {
    /// Estimated fraction of people with this label.
    pub share: f64,
    /// Estimated mean of the clipped coordinates of the records of people with this label, one value per
    /// direction, relative to the volunteers' mean. The estimate is shrunk toward the volunteers' mean, and
    /// more strongly for larger noise.
    pub mean: Array1<f64>,
}

impl DirectionReport {
    /// PrivUnit oracle that randomises the reports.
    pub fn oracle(&self) -> &PrivUnit {
        self.reported.oracle()
    }

    fn labels(&self) -> usize {
        levels(self.label.as_ref())
    }

    /// Returns the clipped coordinates of an encoded record's features (d) along each direction, relative to
    /// the volunteers' mean.
    ///
    /// # Errors
    /// [`Error::Shape`] if `features` does not have d values.
    pub fn coordinates(&self, features: &[f64]) -> Result<Array1<f64>> {
        check_width(self.state.domain.features().dim(), features.len())?;
        Ok(self.state.frame.coordinates(features))
    }

    /// Largest length of a vector of coordinates; a longer vector is shortened to this length.
    pub fn clipping_norm(&self) -> f64 {
        self.state.frame.clipping_norm()
    }

    /// Variance of the volunteers' coordinates along each direction, in the scale of
    /// [`coordinates`](Self::coordinates) before clipping.
    pub fn variances(&self) -> &Array1<f64> {
        self.state.frame.variances()
    }

    /// For each level of the label, in the order of levels, estimates the fraction of people with this label
    /// and the mean coordinates of their records. Without a label, returns one estimate for all people.
    ///
    /// # Errors
    /// [`Error::Shape`] for reports that this mechanism cannot have made; the message names the row.
    pub fn label_estimates(&self, reports: &Table) -> Result<Vec<LabelEstimate>> {
        Ok(self.estimated(&self.reported.sum(reports)?))
    }

    /// Same as [`label_estimates`](Self::label_estimates), from the sum of the reported directions.
    fn estimated(&self, sum: &DirectionSum) -> Vec<LabelEstimate> {
        let State { frame, .. } = &self.state;
        let (sums, noise) = self.reported.mean(sum);
        let variances = frame.variances();
        let (per_share, per_sum) = (frame.share_weight(self.labels()), frame.sum_weight(self.labels()));
        let shrunk = |sums: Array1<f64>, share: f64| {
            if share == 0.0 {
                return Array1::zeros(sums.len());
            }
            let (mean, noise) = (sums / (per_sum * share), noise / (per_sum * share).powi(2));
            // Estimate of the variance of the label's mean about the volunteers' mean, divided by the
            // variance of records. Directions of large variance have more weight, because the noise is
            // relatively smaller along them.
            let weights = variances.dot(variances);
            let beyond =
                mean.iter().zip(variances).map(|(x, variance)| variance * (x * x - noise)).sum::<f64>();
            let effective_directions =
                weights / variances.fold(0.0, |most: f64, variance| most.max(variance * variance));
            let mean_share = (LABEL_PRIOR + effective_directions * (beyond / weights).max(0.0))
                / (1.0 + effective_directions);
            mean * variances.mapv(|variance| mean_share * variance / (mean_share * variance + noise))
        };
        if self.labels() == 1 {
            return vec![LabelEstimate { share: 1.0, mean: shrunk(sums, 1.0) }];
        }
        let block = frame.dimensions() + 1;
        let mut shares: Vec<f64> = (0..self.labels()).map(|label| sums[label * block] / per_share).collect();
        draw::to_simplex(&mut shares, 1.0);
        let estimate = |(label, share): (usize, f64)| {
            let sums = sums.slice(s![label * block + 1..(label + 1) * block]).to_owned();
            LabelEstimate { share, mean: shrunk(sums, share) }
        };
        shares.into_iter().enumerate().map(estimate).collect()
    }
}

impl Collector for DirectionReport {
    fn start(&self) -> Box<dyn Collection + '_> {
        summed(&self.reported, |sum| {
            let State { domain, frame, .. } = &self.state;
            let found = self.estimated(&sum);
            let centers: Vec<Vec<f64>> = found.iter().map(|estimate| self.center(&estimate.mean)).collect();
            let shares: Vec<f64> = found.iter().map(|estimate| estimate.share).collect();
            let weighted_sum = |statistic: &dyn Fn(&LabelEstimate) -> Array1<f64>| {
                found
                    .iter()
                    .map(|label| statistic(label) * label.share)
                    .fold(Array1::zeros(frame.dimensions()), |sum, x| sum + x)
            };
            let mean = weighted_sum(&|label| label.mean.clone());
            let within = frame.within(&weighted_sum(&|label| (&label.mean - &mean).mapv_into(|x| x * x)));
            let width = domain.layout().width();
            let (features, attribute) = (self.features.clone(), self.label.clone());
            Ok(Box::new(move |records, stream| {
                draw_records((records, width), &shares, stream, |level, record, stream| {
                    within.draw_about(&centers[level], &features, record, stream);
                    if let Some(attribute) = &attribute {
                        attribute.write(level, draw::uniform(stream), record);
                    }
                })
            }))
        })
    }

    fn values_in(&self) -> ValuesIn {
        ValuesIn::TargetInBins
    }

    fn adversary_view(&self, reports: &Table) -> Result<Table> {
        self.reported.adversary_view(reports)
    }
}

impl DirectionReport {
    /// Converts the coordinates `mean` along the directions into the d features of an encoded record. The
    /// features of a category are the frequencies of its levels, which are not negative and add up to 1.
    fn center(&self, mean: &Array1<f64>) -> Vec<f64> {
        let mut center = self.state.frame.record(mean);
        for attribute in self.features.iter().filter(|attribute| !attribute.is_number()) {
            draw::to_simplex(&mut center[attribute.coordinates()], 1.0);
        }
        center
    }
}

impl LocalMechanism for DirectionReport {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let State { domain, epsilon, frame, shaped_by, .. } = &self.state;
        let with_label = if self.label.is_some() { ", with its label" } else { "" };
        let theorem = format!(
            "the record's deviation from the volunteers' mean along {} of their principal directions, \
             clipped{with_label}, reported at the whole ε as one of the public directions that follow from a \
             seed: the directions nearest to it, in a cap of fixed size, have odds of exactly e^ε, in at \
             most 58 bits (Bhowmick et al. 2018, PrivUnit; Shah et al. 2022, for such codes); means, and \
             records collected around them, are post-processing",
            frame.dimensions()
        );
        let portion = Portion { domain: domain.clone(), protect: Protect::Record, epsilon: *epsilon };
        Guarantee { shaped_by: *shaped_by, ..portion.guarantee(&theorem) }
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let record = self.state.domain.projected(record)?;
        let frame = &self.state.frame;
        let along = frame.coordinates(&record[..self.state.domain.features().dim()]);
        let along = along * frame.sum_weight(self.labels());
        let Some(label) = &self.label else { return self.reported.point(&along.to_vec()) };
        let block = frame.dimensions() + 1;
        let mut point = vec![0.0; width(frame.dimensions(), label.levels())];
        let own = &mut point[label.level(&record) * block..][..block];
        own[0] = frame.share_weight(label.levels());
        own[1..].iter_mut().zip(along).for_each(|(value, along)| *value = along);
        self.reported.point(&point)
    }

    answered_by!(reported);
}

/// Parameters of `direction-report`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of the volunteers' principal directions along which a record is reported, at most 50. There is
    /// at most one direction for every eight volunteers. The default follows a public rule from ε, the number
    /// of people (--people, else 10,000) and the number of labels.
    directions: Option<usize>,
    /// Share of the volunteers whose coordinates form a vector longer than the clipping norm, in [0, 1). A
    /// larger share means less noise, but moves the estimated means toward the volunteers' mean. The default
    /// is 0.1.
    clipped: Option<f64>,
}

/// Default fraction of volunteers whose coordinates are clipped.
const CLIPPED: f64 = 0.1;

/// Number of volunteers required for each principal direction, if more than one is used.
const FOR_A_DIRECTION: usize = 8;

/// Returns the default number of principal directions. `variances` are the variances of the volunteers'
/// coordinates along the principal directions that may be used, the largest first.
///
/// The result is the largest number that keeps the noise of the difference between the mean records of two
/// labels within [`NOISE`], if all labels are equally frequent. Without labels, the rule assumes two equally
/// large groups of people, and limits the noise of the difference between the mean records of both groups.
fn by_rule(people: usize, labels: usize, epsilon: f64, variances: &[f64]) -> usize {
    let is_clear = |dimensions: &usize| {
        let used = &variances[..*dimensions];
        let (all, inverse) =
            (used.iter().sum::<f64>(), used.iter().map(|variance| 1.0 / variance).sum::<f64>());
        // The noise of each coordinate is proportional to the sum of the variances. `spread` is this sum
        // divided by the variance of each direction, averaged over directions.
        let spread = all * inverse / *dimensions as f64;
        let mean_spread = match labels {
            1 => 2.0 * spread,
            _ => (labels * labels) as f64 * spread * (1.0 + 1.0 / *dimensions as f64),
        };
        let oracle = best(NAME, width(*dimensions, labels), epsilon);
        oracle.is_ok_and(|oracle| 2.0 * mean_spread * variance(&oracle, people.max(1) as f64) <= NOISE)
    };
    (1..=variances.len()).take_while(is_clear).last().unwrap_or(1)
}

fn design(Parameters { directions, clipped }: Parameters, brief: &Brief) -> Result<DirectionReport> {
    let clipped = clipped.unwrap_or(CLIPPED);
    if !(0.0..1.0).contains(&clipped) {
        let problem = format!("clipped must lie between 0 and below 1, and {clipped} does not");
        return Err(Error::parameter(NAME, problem));
    }
    let volunteers = brief.unclaimed_volunteers(NAME)?;
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    let labels = levels(attributes(NAME, &domain)?.1.as_ref());
    let taught = PrincipalBasis::learn(NAME, volunteers.records().view())?;
    let most = taught.dimensions().min((volunteers.len() / FOR_A_DIRECTION).max(1));
    let most =
        (1..=most).take_while(|requested| width(*requested, labels) < MOST_DIMENSIONS).last().unwrap_or(1);
    let requested = directions.unwrap_or_else(|| {
        by_rule(brief.people.unwrap_or(PEOPLE), labels, epsilon, &taught.variances().to_vec()[..most])
    });
    if !(1..=most).contains(&requested) {
        let problem = format!(
            "directions must lie between 1 and {most}, for these volunteers and labels, and {requested} \
             does not"
        );
        return Err(Error::parameter(NAME, problem));
    }
    let frame = taught.along(requested, clipped, volunteers.records().view());
    let candidates = best(NAME, width(requested, labels), epsilon)?.candidates();
    State { domain, epsilon, candidates, frame, shaped_by: brief.volunteers.shaped_by() }.try_into()
}

register! {
    /// The plugin `direction-report`.
    pub const DIRECTION_REPORT = {
        name: NAME,
        summary: "PrivUnit report of a record's principal components and label; synthetic records around \
                  estimated class means (needs volunteers)",
        paper: "Asi, Feldman and Talwar, Optimal algorithms for mean estimation under local differential \
                privacy (2022), with PrivUnit among finitely many directions",
        descriptor: Descriptor::new(Output::Reports).needing_volunteers().reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: DirectionReport::try_from,
        example: || Ok(Example::mixed()?.with_public_volunteers()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_follow_people_labels_and_epsilon() {
        let alike = [0.2; 50];
        let nines = |epsilon| by_rule(10_700, 1, epsilon, &alike);
        let digits = |epsilon| by_rule(15_000, 10, epsilon, &alike);
        assert_eq!([0.1, 0.5, 1.0].map(nines), [1, 12, 48]);
        assert_eq!([1.0, 2.0, 4.0, 8.0].map(digits), [1, 4, 18, 50]);
        // If the directions become narrower, the noise counts for more.
        let narrower: Vec<f64> = (1..=50).map(|at| 1.0 / f64::from(at)).collect();
        assert_eq!(by_rule(10_700, 1, 1.0, &narrower), 24);
        assert_eq!(by_rule(1, 2, 0.1, &alike), 1);
    }
}
