//! `direction-report`: each person reports which way its record lies from the volunteers' mean, with its label.

use crate::answered::{answered_by, attributes, levels};
use crate::directions::{Directions, best, variance};
use crate::frame::Frame;
use crate::questions::PEOPLE;
use ndarray::{Array1, Array2, s};
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{
    Brief, Collector, Descriptor, Error, Example, Guarantee, LocalMechanism, Output, Portion, Protect,
    RecordDomain, Result, ShapedBy, Stream, Table, ValuesIn, check_width, interrupt, register, size,
};
use scumble_oracles::{MOST_DIMENSIONS, PrivUnit, project_to_simplex};
use serde::{Deserialize, Serialize};

const NAME: &str = "direction-report";

/// The variance of a label's mean about that of all, over the variance of records in the same direction, as one direction is expected to say before any other does.
const OF_LABELS: f64 = 0.05;

/// The variance of the noise on how far the means of two labels lie apart, over that of records, averaged over directions: there are as many of these as keep it below.
const NOISE: f64 = 0.12;

/// Volunteers teach the principal directions of records; each person reports where its record lies along a few of them, seen from the volunteers' mean and clipped, together with
/// its label, by [`PrivUnit`] at all of ε. What many reports tell is the share of each label and the mean of its records.
///
/// Nothing is asked about the labels of volunteers. Where records have no label there is one mean: who knows the label of each person takes the reports of each apart.
/// Records are collected by drawing labels, and of each label records that differ from its mean as volunteers differ from theirs, less what the labels' means differ by.
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
    /// Of the features, and of the label if there is one.
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
    /// Of which a report names one.
    candidates: usize,
    frame: Frame,
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

/// How many coordinates are reported: for each label how often it is had, and the sum of its records along each direction; without labels the sum of all.
fn width(dimensions: usize, labels: usize) -> usize {
    if labels > 1 { labels * (dimensions + 1) } else { dimensions }
}

/// What reports tell of the people with one label.
#[derive(Debug, Clone, PartialEq)]
pub struct OfLabel {
    /// The share of people that has it.
    pub share: f64,
    /// The mean of their records, clipped, along each direction, from the volunteers' mean; shrunk toward that as far as noise demands.
    pub mean: Array1<f64>,
}

impl DirectionReport {
    /// How a person answers.
    pub fn oracle(&self) -> &PrivUnit {
        self.reported.oracle()
    }

    fn labels(&self) -> usize {
        levels(self.label.as_ref())
    }

    /// Where an encoded record's features (d) lie from the volunteers' mean, along each direction, clipped.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of features.
    pub fn coordinates(&self, features: &[f64]) -> Result<Array1<f64>> {
        check_width(self.state.domain.features().dim(), features.len())?;
        Ok(self.state.frame.coordinates(features))
    }

    /// The length at which coordinates are clipped.
    pub fn clipping_norm(&self) -> f64 {
        self.state.frame.clipping_norm()
    }

    /// The variance of volunteers' records along each direction.
    pub fn variances(&self) -> &Array1<f64> {
        self.state.frame.variances()
    }

    /// What these reports tell of each label, in its order; where there is none, of all.
    ///
    /// # Errors
    /// [`Error::Shape`] for reports that the mechanism does not make, naming the row.
    pub fn of_labels(&self, reports: &Table) -> Result<Vec<OfLabel>> {
        let State { frame, .. } = &self.state;
        let (sums, noise) = self.reported.mean(reports)?;
        let variances = frame.variances();
        let (per_share, per_sum) = (frame.share_weight(self.labels()), frame.sum_weight(self.labels()));
        let shrunk = |sums: Array1<f64>, share: f64| {
            if share == 0.0 {
                return Array1::zeros(sums.len());
            }
            let (mean, noise) = (sums / (per_sum * share), noise / (per_sum * share).powi(2));
            // By how large a share of the variance the mean lies from that of all, as what is wide and so little noisy tells it (moments weighted by variances).
            let weights = variances.dot(variances);
            let beyond =
                mean.iter().zip(variances).map(|(x, variance)| variance * (x * x - noise)).sum::<f64>();
            let told = weights / variances.fold(0.0, |most: f64, variance| most.max(variance * variance));
            let of_mean = (OF_LABELS + told * (beyond / weights).max(0.0)) / (1.0 + told);
            mean * variances.mapv(|variance| of_mean * variance / (of_mean * variance + noise))
        };
        if self.labels() == 1 {
            return Ok(vec![OfLabel { share: 1.0, mean: shrunk(sums, 1.0) }]);
        }
        let block = frame.dimensions() + 1;
        let mut shares: Vec<f64> = (0..self.labels()).map(|label| sums[label * block] / per_share).collect();
        project_to_simplex(&mut shares);
        let of = |(label, share): (usize, f64)| {
            let sums = sums.slice(s![label * block + 1..(label + 1) * block]).to_owned();
            OfLabel { share, mean: shrunk(sums, share) }
        };
        Ok(shares.into_iter().enumerate().map(of).collect())
    }
}

impl Collector for DirectionReport {
    fn collect(&self, reports: &Table, records: usize, stream: &mut Stream) -> Result<Table> {
        let State { domain, frame, .. } = &self.state;
        let layout = domain.layout();
        size::check_held(NAME, "records", &[records, layout.width()], 8)?;
        let found = self.of_labels(reports)?;
        let centers: Vec<Vec<f64>> = found.iter().map(|of| self.center(&of.mean)).collect();
        let shares: Vec<f64> = found.iter().map(|of| of.share).collect();
        let of_all = |of: &dyn Fn(&OfLabel) -> Array1<f64>| {
            found
                .iter()
                .map(|label| of(label) * label.share)
                .fold(Array1::zeros(frame.dimensions()), |sum, x| sum + x)
        };
        let mean = of_all(&|label| label.mean.clone());
        let within = frame.within(&of_all(&|label| (&label.mean - &mean).mapv_into(|x| x * x)));
        let mut flat = Array2::zeros((records, layout.width()));
        for (mut record, level) in flat.outer_iter_mut().zip(draw::levels(&shares, records, stream)) {
            interrupt::check()?;
            if let Some(record) = record.as_slice_mut() {
                within.draw_about(&centers[level], &self.features, record, stream);
                if let Some(attribute) = &self.label {
                    attribute.write(level, draw::uniform(stream), record);
                }
            }
        }
        layout.table(flat.view())
    }

    fn values_in(&self) -> ValuesIn {
        ValuesIn::TargetInBins
    }

    fn told(&self, reports: &Table) -> Result<Table> {
        self.reported.told(reports)
    }
}

impl DirectionReport {
    /// The record (d) at these coordinates: of a category, shares of its levels.
    fn center(&self, mean: &Array1<f64>) -> Vec<f64> {
        let mut center = self.state.frame.record(mean);
        for attribute in self.features.iter().filter(|attribute| !attribute.is_number()) {
            project_to_simplex(&mut center[attribute.coordinates()]);
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
        let beside = if self.label.is_some() { ", with its label" } else { "" };
        let theorem = format!(
            "where a record lies from the volunteers' mean along {} of their principal directions, clipped{beside}, answered at all of ε by one of the public directions that follow from \
             a seed: those of a cap of fixed size, which are nearest to it, have odds of exactly e^ε, in 58 bits at most (Bhowmick et al. 2018, PrivUnit; Shah et al. 2022, of such codes); \
             means, and records that are collected about them, are post-processing",
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
        let Some(label) = &self.label else { return self.reported.point(along.to_vec()) };
        let block = frame.dimensions() + 1;
        let mut point = vec![0.0; width(frame.dimensions(), label.levels())];
        let own = &mut point[label.level(&record) * block..][..block];
        own[0] = frame.share_weight(label.levels());
        own[1..].iter_mut().zip(along).for_each(|(value, along)| *value = along);
        self.reported.point(point)
    }

    answered_by!(reported);
}

/// Parameters of `direction-report`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Along how many of the volunteers' principal directions, 50 at most, a record is reported. By default as many as a public rule of ε, of how many people there are (--people, else
    /// 10,000), and of how many labels says, and at most one for every eight volunteers.
    directions: Option<usize>,
    /// The share of volunteers whose records are so far from their mean that they are clipped, from 0 to below 1: with more of them there is less noise, and means are nearer to the
    /// volunteers' than they should be. By default 0.1.
    clipped: Option<f64>,
}

/// The share of volunteers who are clipped where nothing is said of it.
const CLIPPED: f64 = 0.1;

/// Volunteers for each direction.
const FOR_A_DIRECTION: usize = 8;

/// How many directions by the public rule, of those along which volunteers have these variances (the largest first): as many as keep the noise below [`NOISE`] where all labels are had
/// equally often. Where records have none, people are taken for two groups whose reports are kept separate.
fn by_rule(people: usize, labels: usize, epsilon: f64, variances: &[f64]) -> usize {
    let is_clear = |dimensions: &usize| {
        let here = &variances[..*dimensions];
        let (all, inverse) =
            (here.iter().sum::<f64>(), here.iter().map(|variance| 1.0 / variance).sum::<f64>());
        // A coordinate's noise is as many times what is reported as the sum of the variances; over each of them, on average.
        let spread = all * inverse / *dimensions as f64;
        let of_a_mean = match labels {
            1 => 2.0 * spread,
            _ => (labels * labels) as f64 * spread * (1.0 + 1.0 / *dimensions as f64),
        };
        let oracle = best(NAME, width(*dimensions, labels), epsilon);
        oracle.is_ok_and(|oracle| 2.0 * of_a_mean * variance(&oracle, people.max(1) as f64) <= NOISE)
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
    let taught = Frame::learn(NAME, volunteers.records().view())?;
    let most = taught.dimensions().min((volunteers.len() / FOR_A_DIRECTION).max(1));
    let most = (1..=most).take_while(|wanted| width(*wanted, labels) < MOST_DIMENSIONS).last().unwrap_or(1);
    let wanted = directions.unwrap_or_else(|| {
        by_rule(brief.people.unwrap_or(PEOPLE), labels, epsilon, &taught.variances().to_vec()[..most])
    });
    if !(1..=most).contains(&wanted) {
        let problem = format!(
            "directions must lie between 1 and {most}, for these volunteers and labels, and {wanted} does not"
        );
        return Err(Error::parameter(NAME, problem));
    }
    let frame = taught.along(wanted, clipped, volunteers.records().view());
    let candidates = best(NAME, width(wanted, labels), epsilon)?.candidates();
    State { domain, epsilon, candidates, frame, shaped_by: brief.volunteers.shaped_by() }.try_into()
}

register! {
    /// The plugin `direction-report`.
    pub const DIRECTION_REPORT = {
        name: NAME,
        summary: "volunteers teach principal directions; where a record lies along them and its label reported together; records are collected about the means of labels",
        paper: "Asi, Feldman and Talwar, Optimal algorithms for mean estimation under local differential privacy (2022), with PrivUnit among finitely many directions",
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
        assert_eq!([1.0, 2.0, 4.0, 8.0].map(digits), [1, 4, 19, 50]);
        // Of directions that are less and less wide the noise counts for more.
        let narrower: Vec<f64> = (1..=50).map(|at| 1.0 / f64::from(at)).collect();
        assert_eq!(by_rule(10_700, 1, 1.0, &narrower), 24);
        assert_eq!(by_rule(1, 2, 0.1, &alike), 1);
    }
}
