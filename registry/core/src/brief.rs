//! What a mechanism is designed from.

use crate::number::short;
use crate::table::Places;
use crate::{Budget, Error, Guarantee, RecordDomain, Result, ShapedBy, Table, Target, TargetDomain, Unit};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// What a mechanism is designed from: where the records lie, whose data may shape the design, what the release is
/// for, and what it may spend.
#[derive(Debug, Clone)]
pub struct Brief {
    /// Where the records lie, from a public schema.
    pub domain: RecordDomain,
    /// Data that may shape the design.
    pub volunteers: Volunteers,
    /// What the release is for.
    pub task: Task,
    /// What it may spend.
    pub budget: Budget,
    /// How many people will release a record, where that is known in public: what is asked of each may depend on it.
    pub people: Option<usize>,
    /// Into how many bins of equal width the bounds of a number are divided where it is counted, by its column's name, as far as a public schema says so: those of a
    /// target that is a number by [`TARGET`](Self::TARGET).
    pub bins: BTreeMap<String, usize>,
}

impl Brief {
    /// The name of the target where columns are named.
    pub const TARGET: &'static str = "target";

    /// A brief without volunteers and without a task.
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

    /// The same brief for a part of the records: some of the columns, with the target or without. Volunteers' data and
    /// the task keep these columns only. Volunteers keep their target all the same: it is what a task is learned from.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a column that is not there, [`Error::NotApplicable`] for a task that is not linear
    /// and of other columns.
    pub fn for_part(&self, domain: RecordDomain) -> Result<Self> {
        let volunteers =
            self.volunteers.try_map(|table| table.part(&domain)?.with_target(table.target().clone()))?;
        let task = match &self.task {
            Task::Linear(k) => {
                Task::Linear(k.select(Axis(1), &Places::of(self.domain.columns()).find(domain.columns())?))
            }
            Task::Unknown => Task::Unknown,
            Task::Differentiable(task) if domain.columns() == self.domain.columns() => {
                Task::Differentiable(task.clone())
            }
            Task::Differentiable(_) => {
                return Err(Error::not_applicable(
                    "the task",
                    "it takes whole records, and not some of their columns",
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

    /// That what a design guarantees costs no more than the budget, where the noise was not made from the budget but from something
    /// else: its ε, for the part of the record that it protects.
    ///
    /// # Errors
    /// [`Error::Parameter`] with both.
    pub fn check_ceiling(&self, plugin: &str, guarantee: &Guarantee) -> Result<()> {
        let units = [Unit::Record, Unit::Features, Unit::Label];
        let epsilon = units.map(|unit| guarantee.cost(unit).0).into_iter().fold(f64::INFINITY, f64::min);
        if epsilon <= self.budget.epsilon() {
            return Ok(());
        }
        let problem = format!(
            "such noise has ε = {} at δ = {:e}, and the budget is ε = {}; an infinite budget takes whatever follows",
            short(epsilon),
            self.budget.delta(),
            self.budget.epsilon()
        );
        Err(Error::parameter(plugin, problem))
    }

    /// The volunteers' records, whatever they are guaranteed, which must be of the domain's shape and lie in it. They may have a target where the
    /// domain has none: a design that leaves the target to another may still learn from the volunteers' what it is for. And they may have none where the
    /// domain has one: such volunteers are *unlabelled* (see [`labelled_volunteers`](Self::labelled_volunteers)).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where there are none, [`Error::Shape`] for another shape, and for a record outside the domain.
    pub fn volunteers_within(&self, plugin: &str) -> Result<&Table> {
        let nobody =
            || Error::not_applicable(plugin, "it learns from volunteers' records, and there are none");
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

    /// The volunteers' records as [`volunteers_within`](Self::volunteers_within), for a design that claims nothing for them.
    ///
    /// # Errors
    /// As there, and [`Error::PrivateVolunteers`] where they are guaranteed privacy.
    pub fn unclaimed_volunteers(&self, plugin: &str) -> Result<&Table> {
        match &self.volunteers {
            Volunteers::Private(_) => Err(Error::PrivateVolunteers { plugin: plugin.into() }),
            _ => self.volunteers_within(plugin),
        }
    }

    /// The volunteers' records as [`unclaimed_volunteers`](Self::unclaimed_volunteers), for a design that learns from their labels.
    ///
    /// # Errors
    /// As there, and [`Error::NotApplicable`] where they have none.
    pub fn labelled_volunteers(&self, plugin: &str) -> Result<&Table> {
        let table = self.unclaimed_volunteers(plugin)?;
        match table.target() {
            Target::None => {
                Err(Error::not_applicable(plugin, "it learns from volunteers' labels, and these have none"))
            }
            _ => Ok(table),
        }
    }

    /// The same brief for so many people.
    pub fn with_people(&self, people: usize) -> Self {
        Self { people: Some(people), ..self.clone() }
    }

    /// The same brief with another budget.
    pub fn with_budget(&self, budget: Budget) -> Self {
        Self { budget, ..self.clone() }
    }
}

/// People whose records may shape a design. The guarantee of a release holds given the design; it says nothing to them.
#[derive(Debug, Clone, Default)]
pub enum Volunteers {
    /// There are none: bounds and parameters are public knowledge.
    #[default]
    None,
    /// Their data are public.
    Public(Table),
    /// They agreed to what the design says of them.
    Consented(Table),
    /// They are guaranteed privacy: a design may only be saved with a central-DP claim for them.
    Private(Table),
}

impl Volunteers {
    /// Their data.
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

    /// What the guarantee of a design that used them says about it.
    pub fn shaped_by(&self) -> ShapedBy {
        match self {
            Self::None => ShapedBy::PublicKnowledge,
            Self::Public(_) => ShapedBy::PublicVolunteers,
            Self::Consented(_) => ShapedBy::ConsentingVolunteers,
            Self::Private(_) => ShapedBy::PrivateVolunteers,
        }
    }
}

/// What a release is for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Task {
    /// Nothing is known.
    #[default]
    Unknown,
    /// The error that counts is ‖K(x̂ − x)‖² for this K (m × d).
    Linear(Array2<f64>),
    /// What counts is a loss with a gradient.
    Differentiable(Arc<dyn DifferentiableTask>),
}

/// A loss l(x̂, x, y) of estimates x̂ of records x with targets y, and its gradient by x̂: what designs that are trained descend.
pub trait DifferentiableTask: Debug + Send + Sync {
    /// The number of features, d.
    fn width(&self) -> usize;

    /// The loss of each estimate (b × d) of a record of `truth` (b records), and its gradient (b × d).
    ///
    /// # Errors
    /// [`Error::Shape`] for estimates, records or targets that it does not take.
    fn losses(&self, estimates: ArrayView2<f64>, truth: &Table) -> Result<(Array1<f64>, Array2<f64>)>;
}
