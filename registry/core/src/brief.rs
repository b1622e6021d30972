//! Briefs: the inputs from which a plugin designs a mechanism.

use crate::number::short;
use crate::table::Places;
use crate::{Budget, Error, Guarantee, RecordDomain, Result, ShapedBy, Table, Target, TargetDomain, Unit};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// Input from which a plugin designs a mechanism: the domain of the records, the volunteers (people whose
/// records may shape the design), the purpose of the release, and the privacy budget.
#[derive(Debug, Clone)]
pub struct Brief {
    /// Domain of the records, from a public schema.
    pub domain: RecordDomain,
    /// Volunteers' records, which may shape the design.
    pub volunteers: Volunteers,
    /// Purpose of the release.
    pub task: Task,
    /// Privacy budget of the release.
    pub budget: Budget,
    /// Number of people who will release a record, if this number is publicly known. A mechanism that asks
    /// each person one question may choose the questions by this number.
    pub people: Option<usize>,
    /// Number of bins of equal width between the bounds of a numeric column, by column name. Mechanisms that
    /// count values use these numbers. The map lacks a column if the public schema states no number of bins
    /// for it. A numeric target is listed under [`TARGET`](Self::TARGET).
    pub bins: BTreeMap<String, usize>,
}

impl Brief {
    /// Name of the target in [`bins`](Self::bins).
    pub const TARGET: &'static str = "target";

    /// Creates a brief for `domain` and `budget`, with no volunteers, an unknown task, an unknown number of
    /// people and no numbers of bins.
    pub fn new(domain: RecordDomain, budget: Budget) -> Self {
        Self {
            domain,
            volunteers: Volunteers::None,
            task: Task::Unknown,
            budget,
            people: None,
            bins: BTreeMap::new(),
        }
    }

    /// Same brief for only the columns of `domain`, and for the target if `domain` has one. The volunteers'
    /// table and the [`Task`], which is the purpose of the release, keep only these columns. The volunteers'
    /// table always keeps its target, because a design for only the features may learn its [`Task`] from this
    /// target.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if this brief or its volunteers lack a column of `domain`.
    /// [`Error::NotApplicable`] for a [`Task::Differentiable`] if the columns of `domain` differ from the
    /// brief's.
    pub fn for_part(&self, domain: RecordDomain) -> Result<Self> {
        let volunteers =
            self.volunteers.try_map(|table| table.part(&domain)?.with_target(table.target().clone()))?;
        let task = match &self.task {
            Task::Linear(k) => {
                Task::Linear(k.select(Axis(1), &Places::new(self.domain.columns()).find(domain.columns())?))
            }
            Task::Unknown => Task::Unknown,
            Task::Differentiable(task) if domain.columns() == self.domain.columns() => {
                Task::Differentiable(task.clone())
            }
            Task::Differentiable(_) => {
                return Err(Error::not_applicable(
                    "the task",
                    "it takes whole records, not a selection of their columns",
                ));
            }
        };
        Ok(Self {
            domain,
            volunteers,
            task,
            budget: self.budget,
            people: self.people,
            bins: self.bins.clone(),
        })
    }

    /// Checks that the ε of a design's guarantee is at most the ε of the budget. The check matters if a
    /// parameter of the mechanism sets the scale of its noise, because this noise is not calibrated to the
    /// budget. The ε compared is the smallest of the three that [`Guarantee::cost`] gives for the whole
    /// record, the features and the label.
    ///
    /// # Errors
    /// [`Error::Parameter`], with both values of ε, if the ε of the guarantee is larger.
    pub fn check_ceiling(&self, plugin: &str, guarantee: &Guarantee) -> Result<()> {
        let units = [Unit::Record, Unit::Features, Unit::Label];
        let epsilon = units.map(|unit| guarantee.cost(unit).0).into_iter().fold(f64::INFINITY, f64::min);
        if epsilon <= self.budget.epsilon() {
            return Ok(());
        }
        let problem = format!(
            "this noise has ε = {} at δ = {:e}, and the budget is ε = {}; an infinite budget accepts any \
             noise",
            short(epsilon),
            self.budget.delta(),
            self.budget.epsilon()
        );
        Err(Error::parameter(plugin, problem))
    }

    /// Table of the volunteers' records, for public, consenting and private volunteers alike. The records
    /// must have the columns of the domain, and their features must lie in the domain. The records may have a
    /// target if the domain has none: a design for only the features may learn its [`Task`] from this target.
    /// The records may lack a target if the domain has one: the volunteers are then *unlabelled* (see
    /// [`labelled_volunteers`](Self::labelled_volunteers)).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if there are no volunteers. [`Error::Shape`] if a volunteer's features lie
    /// outside the domain. Also the errors of [`Layout::check`](crate::Layout::check) for the volunteers'
    /// table.
    pub fn volunteers_within(&self, plugin: &str) -> Result<&Table> {
        let nobody = || {
            Error::not_applicable(
                plugin,
                "it learns from volunteers' records, and no volunteers are \
                                              given",
            )
        };
        let table = self.volunteers.table().ok_or_else(nobody)?;
        match (self.domain.target(), table.target()) {
            (TargetDomain::None, _) | (_, Target::None) => {
                self.domain.without_target().layout().check(&table.clone().with_target(Target::None)?)?;
            }
            _ => self.domain.layout().check(table)?,
        }
        let features = self.domain.features();
        for (row, record) in table.records().outer_iter().enumerate() {
            let record = record.to_vec();
            if !features.contains(&record) {
                let mut within = record.clone();
                features.project(&mut within)?;
                let at = record.iter().zip(&within).position(|(x, inside)| x != inside).unwrap_or(0);
                let (row, column, value) = (row + 1, &table.columns()[at], record[at]);
                return Err(Error::shape(format!(
                    "the volunteers' row {row}, column {column:?}: {value} lies outside the domain"
                )));
            }
        }
        Ok(table)
    }

    /// Table of the volunteers' records, for a design whose guarantee claims no privacy for the volunteers.
    /// Like [`volunteers_within`](Self::volunteers_within), but refuses private volunteers.
    ///
    /// # Errors
    /// Same errors as [`volunteers_within`](Self::volunteers_within), and [`Error::PrivateVolunteers`] if the
    /// volunteers are [`Volunteers::Private`].
    pub fn unclaimed_volunteers(&self, plugin: &str) -> Result<&Table> {
        match &self.volunteers {
            Volunteers::Private(_) => Err(Error::PrivateVolunteers { plugin: plugin.into() }),
            _ => self.volunteers_within(plugin),
        }
    }

    /// Table of the volunteers' records, for a design that learns from the volunteers' labels. Like
    /// [`unclaimed_volunteers`](Self::unclaimed_volunteers), but refuses volunteers without labels.
    ///
    /// # Errors
    /// Same errors as [`unclaimed_volunteers`](Self::unclaimed_volunteers), and [`Error::NotApplicable`] if
    /// the volunteers have no labels.
    pub fn labelled_volunteers(&self, plugin: &str) -> Result<&Table> {
        let table = self.unclaimed_volunteers(plugin)?;
        match table.target() {
            Target::None => Err(Error::not_applicable(
                plugin,
                "it learns from volunteers' labels, and the volunteers \
                                                   have no labels",
            )),
            _ => Ok(table),
        }
    }

    /// Same brief for `people` people.
    pub fn with_people(&self, people: usize) -> Self {
        Self { people: Some(people), ..self.clone() }
    }

    /// Same brief with another budget.
    pub fn with_budget(&self, budget: Budget) -> Self {
        Self { budget, ..self.clone() }
    }
}

/// People whose records may shape a design. The guarantee of a release treats the design as fixed. The
/// guarantee protects these people only if it has a claim for [`Unit::Volunteer`].
#[derive(Debug, Clone, Default)]
pub enum Volunteers {
    /// No volunteers: the design uses only public knowledge.
    #[default]
    None,
    /// Volunteers whose data are public.
    Public(Table),
    /// Volunteers who agreed to what the design discloses about them.
    Consented(Table),
    /// Volunteers who are guaranteed privacy. A design from their records may be saved only if its guarantee
    /// has a central-DP claim for them.
    Private(Table),
}

impl Volunteers {
    /// Data of the volunteers.
    pub fn table(&self) -> Option<&Table> {
        match self {
            Self::None => None,
            Self::Public(table) | Self::Consented(table) | Self::Private(table) => Some(table),
        }
    }

    fn try_map(&self, map: impl FnOnce(&Table) -> Result<Table>) -> Result<Self> {
        Ok(match self {
            Self::None => Self::None,
            Self::Public(table) => Self::Public(map(table)?),
            Self::Consented(table) => Self::Consented(map(table)?),
            Self::Private(table) => Self::Private(map(table)?),
        })
    }

    /// Value of the field [`shaped_by`](Guarantee::shaped_by) in the guarantee of a design that used these
    /// volunteers' data.
    pub fn shaped_by(&self) -> ShapedBy {
        match self {
            Self::None => ShapedBy::PublicKnowledge,
            Self::Public(_) => ShapedBy::PublicVolunteers,
            Self::Consented(_) => ShapedBy::ConsentingVolunteers,
            Self::Private(_) => ShapedBy::PrivateVolunteers,
        }
    }
}

/// Purpose of a release.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Task {
    /// Unknown purpose.
    #[default]
    Unknown,
    /// Linear task with the matrix K (m linear functions × d features). The error of an estimate x̂ of a
    /// record x is ‖K(x̂ − x)‖².
    Linear(Array2<f64>),
    /// Task with a loss that has a gradient: see [`DifferentiableTask`].
    Differentiable(Arc<dyn DifferentiableTask>),
}

impl Task {
    /// One linear task for several. Each has a matrix K (m × d) and a weight w, and the error of an estimate
    /// x̂ of a record x is Σ w‖K(x̂ − x)‖².
    ///
    /// ```
    /// use scumble_core::Task;
    /// use ndarray::array;
    ///
    /// let Task::Linear(k) = Task::weighted(&[(4.0, array![[1.0, 0.0]]), (1.0, array![[0.0, 3.0]])])? else {
    ///     unreachable!()
    /// };
    /// assert_eq!(k, array![[2.0, 0.0], [0.0, 3.0]]);
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no task, for matrices of different widths, or for a weight that is
    /// negative or not finite.
    pub fn weighted(tasks: &[(f64, Array2<f64>)]) -> Result<Self> {
        if let Some((weight, _)) = tasks.iter().find(|(weight, _)| !(weight.is_finite() && *weight >= 0.0)) {
            let problem = format!("the weight of a task is {weight}, and must be finite and not negative");
            return Err(Error::shape(problem));
        }
        let scaled: Vec<Array2<f64>> = tasks.iter().map(|(weight, k)| k * weight.sqrt()).collect();
        let views: Vec<_> = scaled.iter().map(|k| k.view()).collect();
        let k = ndarray::concatenate(Axis(0), &views);
        Ok(Self::Linear(k.map_err(|_| Error::shape("the matrices of several tasks need the same columns"))?))
    }
}

/// Loss l(x̂, x, y) of estimates x̂ of records x with targets y, and its gradient with respect to x̂. Trained
/// designs minimise it by gradient descent.
pub trait DifferentiableTask: Debug + Send + Sync {
    /// Number of features, d.
    fn width(&self) -> usize;

    /// Losses of the `estimates` (b records × d features) of the b records of `truth`, one loss per record.
    /// Also returns the gradient of each loss with respect to its estimate (b × d).
    ///
    /// # Errors
    /// [`Error::Shape`] for estimates, records or targets that the task does not accept.
    fn losses(&self, estimates: ArrayView2<f64>, truth: &Table) -> Result<(Array1<f64>, Array2<f64>)>;
}
