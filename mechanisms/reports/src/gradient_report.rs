//! `gradient-report`: each person reports the direction of the gradient, at the person's record, of the loss
//! of a model. The model was learned from volunteers, people whose records a design may use.

use crate::answered::{self, answered_by, draw_records, summed};
use crate::directions::{DirectionSum, Directions, best, variance};
use crate::label_model::LabelModel;
use crate::partition::Partition;
use crate::questions::PEOPLE;
use crate::step::Step;
use ndarray::{Array2, ArrayView1, s};
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{
    Brief, Collection, Collector, Descriptor, Error, Example, Guarantee, LocalMechanism, Output, Portion,
    Protect, RecordDomain, Result, ShapedBy, Table, ValuesIn, interrupt, register,
};
use scumble_oracles::{MOST_DIMENSIONS, PrivUnit};
use serde::{Deserialize, Serialize};

const NAME: &str = "gradient-report";

/// Candidate numbers of directions along which a gradient is reported, if the parameters do not set this
/// number.
const DIRECTIONS: [usize; 4] = [4, 8, 16, 32];

/// Number of volunteers per direction that the default number of directions requires. To draw features, the
/// volunteers' records are clustered. There is one cluster per `FOR_A_KIND` volunteers, but at least 2 and at
/// most 100 clusters.
const FOR_A_DIRECTION: usize = 8;
const FOR_A_KIND: usize = 30;

/// Report of a clipped gradient of the loss of a model, along a few directions, randomised by [`PrivUnit`].
/// The report spends all of ε.
///
/// A model that predicts the label is learned from volunteers, people whose records a design may use. Each
/// person reports the gradient of this model's loss at the person's record. From the mean of the reports
/// follows one step of the model, to the posterior mean of its coefficients. The prior of the coefficients
/// comes from the volunteers. The noise of the mean of the reports is treated as Gaussian.
///
/// `collect` draws features with the distribution of the volunteers' features, and labels from the model
/// after its step. Any model that learns from these records can therefore learn what this model has learned.
///
/// ```
/// use scumble_core::{Example, LocalMechanism, Unit};
/// use scumble_reports::GRADIENT_REPORT;
///
/// let Example { parameters, brief, .. } = (GRADIENT_REPORT.example)()?;
/// let design = GRADIENT_REPORT.design(&parameters, &brief)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 1.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct GradientReport {
    state: State,
    features: Vec<Attribute>,
    label: Attribute,
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
    model: LabelModel,
    step: Step,
    partition: Partition,
    shaped_by: ShapedBy,
}

impl TryFrom<State> for GradientReport {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { domain, epsilon, candidates, model, step, partition, .. } = &state;
        let (features, label) = attributes(domain)?;
        partition.check(domain)?;
        let width = domain.features().dim();
        model.check(width, label.levels())?;
        step.check(label.levels() * (width + 1))?;
        let reported = Directions::new(NAME, step.dimensions(), *candidates, *epsilon)?;
        Ok(Self { features, label, reported, state })
    }
}

/// Returns the attributes of the features, and of the label.
fn attributes(domain: &RecordDomain) -> Result<(Vec<Attribute>, Attribute)> {
    let (features, label) = answered::attributes(NAME, domain)?;
    let label = label
        .ok_or_else(|| Error::not_applicable(NAME, "records have no target that a model could learn"))?;
    Ok((features, label))
}

impl GradientReport {
    /// PrivUnit oracle that randomises the reports.
    pub fn oracle(&self) -> &PrivUnit {
        self.reported.oracle()
    }

    /// Number of directions in which a gradient is reported.
    pub fn directions(&self) -> usize {
        self.state.step.dimensions()
    }

    /// Returns the volunteers' model after the step that the sum of the reported directions determines.
    fn moved(&self, sum: &DirectionSum) -> Result<LabelModel> {
        let (mean, variance) = self.reported.mean(sum);
        let posterior = self.state.step.posterior(mean.view(), variance);
        let posterior = posterior.ok_or_else(|| Error::shape("the reports do not determine a step"))?;
        Ok(self.state.model.less(&posterior))
    }
}

impl Collector for GradientReport {
    fn start(&self) -> Box<dyn Collection + '_> {
        summed(&self.reported, |sum| {
            let model = self.moved(&sum)?;
            let State { domain, partition, .. } = &self.state;
            let (layout, d, partition) = (domain.layout(), domain.features().dim(), partition.clone());
            let (features, label) = (self.features.clone(), self.label.clone());
            Ok(Box::new(move |records, stream| {
                let (width, shares) = (layout.width(), partition.shares());
                let flat = draw_records((records, width), shares, stream, |kind, record, stream| {
                    partition.draw(kind, &features, record, stream);
                })?;
                let mut flat = Array2::from_shape_vec((records, width), flat)
                    .map_err(|problem| Error::shape(problem.to_string()))?;
                let probabilities = model.probabilities(&model.standardized(flat.slice(s![.., ..d])));
                for (mut record, shares) in flat.outer_iter_mut().zip(probabilities.outer_iter()) {
                    interrupt::check()?;
                    let level = draw::levels(&shares.to_vec(), 1, stream)[0];
                    if let Some(record) = record.as_slice_mut() {
                        label.write(level, draw::uniform(stream), record);
                    }
                }
                Ok(flat.into_raw_vec_and_offset().0)
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

impl LocalMechanism for GradientReport {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let theorem = "the gradient of a volunteer-trained model at a record, clipped, in a few directions, \
                       reported at the whole ε as one of the public directions that follow from a seed: the \
                       directions nearest to it, in a cap of fixed size, have odds of exactly e^ε, in at \
                       most 58 bits (Bhowmick et al. 2018, PrivUnit; Shah et al. 2022, for such codes); the \
                       model's step and collected records are post-processing";
        let State { domain, epsilon, shaped_by, .. } = &self.state;
        let portion = Portion { domain: domain.clone(), protect: Protect::Record, epsilon: *epsilon };
        Guarantee { shaped_by: *shaped_by, ..portion.guarantee(theorem) }
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let record = self.state.domain.projected(record)?;
        let features = ArrayView1::from(&record[..self.state.domain.features().dim()]);
        let gradient = self.state.step.gradient(&self.state.model, features, self.label.level(&record));
        self.reported.point(&gradient.to_vec())
    }

    answered_by!(reported);
}

/// Parameters of `gradient-report`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Number of directions in which a gradient is reported. The default is 4, 8, 16 or 32, at most one for
    /// every eight volunteers. Of these numbers, the default has the largest expected reduction of the
    /// model's error at ε for the number of people (--people, else 10,000).
    directions: Option<usize>,
}

fn design(Parameters { directions }: Parameters, brief: &Brief) -> Result<GradientReport> {
    let volunteers = brief.labelled_volunteers(NAME)?;
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    let (attributes, label) = attributes(&domain)?;
    let most = (volunteers.len() / FOR_A_DIRECTION).max(1);
    let tried = match directions {
        Some(requested) if !(1..MOST_DIMENSIONS).contains(&requested) => {
            let problem = format!(
                "directions must lie between 1 and {}, and {requested} does not",
                MOST_DIMENSIONS - 1
            );
            return Err(Error::parameter(NAME, problem));
        }
        Some(requested) => vec![requested],
        None => DIRECTIONS.map(|requested| requested.min(most)).to_vec(),
    };
    let layout = domain.layout();
    let labels: Vec<usize> =
        (0..volunteers.len()).map(|row| label.level(&layout.flatten(volunteers, row))).collect();
    let features = volunteers.records().view();
    let taught = LabelModel::learn(NAME, features, &labels, label.levels(), &attributes)?;
    let people = brief.people.unwrap_or(PEOPLE).max(1) as f64;
    let oracle = |dimensions: usize| best(NAME, dimensions, epsilon);
    let step = Step::learn(NAME, &taught, features, &labels, &tried, |dimensions| {
        Ok(variance(&oracle(dimensions)?, people))
    })?;
    if let Some(requested) = directions.filter(|requested| *requested > step.dimensions()) {
        let problem = format!(
            "the volunteers' model can be moved in {} directions, and {requested} were requested",
            step.dimensions()
        );
        return Err(Error::parameter(NAME, problem));
    }
    let kinds = (volunteers.len() / FOR_A_KIND).clamp(2, 100);
    State {
        epsilon,
        candidates: oracle(step.dimensions())?.candidates(),
        partition: Partition::learn(NAME, features, kinds, 0)?,
        domain,
        model: taught.model,
        step,
        shaped_by: brief.volunteers.shaped_by(),
    }
    .try_into()
}

register! {
    /// The plugin `gradient-report`.
    pub const GRADIENT_REPORT = {
        name: NAME,
        summary: "PrivUnit report of a model gradient; one aggregated update of a volunteer-trained model",
        paper: "Bhowmick et al., Protection against reconstruction and its applications in private federated \
                learning (2018)",
        descriptor: Descriptor::new(Output::Reports).needing_volunteers().reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: GradientReport::try_from,
        example: || Ok(Example::mixed()?.with_public_volunteers()),
    };
}
