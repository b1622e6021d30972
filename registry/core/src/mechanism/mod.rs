//! Mechanisms and their releases. A *mechanism* is a randomised algorithm with a guarantee. Each person runs
//! a *local* mechanism on their own record. A trusted curator runs any other mechanism on all records.

mod accumulator;
mod collector;
mod evidence;
mod halved;
mod horizon;
mod key;
mod mixtures;
mod one_by_one;
mod release;
mod releases;
mod shared_counts;
mod values_in;

pub use accumulator::{Accumulator, Draw, Drawing, Outcome, PeriodTables, accumulate, collected, in_blocks};
pub use collector::{Collection, Collector};
pub use evidence::{Alike, Evidence};
pub use halved::{Halved, Halving};
pub use horizon::Horizon;
pub use key::{FunctionAxis, Key, ModelFunction, ReleasedModel, Secret, SecretKey};
pub use mixtures::{MixtureParts, Mixtures};
pub(crate) use one_by_one::map_records;
pub use release::{Release, Rows, release_local};
pub use releases::Releases;
pub use shared_counts::{SharedCounts, SharedTable};
pub use values_in::ValuesIn;

use crate::{
    Domain, Error, Guarantee, Layout, Noise, Perturbation, Randomness, RecordDomain, Result, Stream, Table,
    Unit,
};
use serde_json::Value;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Mechanism that releases each record separately, in three steps. `encode` maps the record to a point of a
/// declared set, the *range*. `perturb` randomises the point. `decode` turns it into a released record.
///
/// All privacy comes from `perturb`: the distributions of its output for two points of the range differ by no
/// more than the guarantee says. `encode` never leaves the range, and `decode` is post-processing. Records
/// are in *flat* form: features, then the target's coordinates (see [`RecordDomain`]).
///
/// Only the state from which the plugin [builds](crate::Plugin::build) the mechanism is saved.
pub trait LocalMechanism: Any + Debug + Send + Sync {
    /// Domain of the records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain;

    /// Guarantee of a release with fresh randomness.
    fn guarantee(&self) -> Guarantee;

    /// Set of the points that `encode` may return. By default the domain of flat records.
    fn range(&self) -> Domain {
        self.domain().flat().clone()
    }

    /// Projects a flat record into the domain and maps it to a point of the [`range`](Self::range). By
    /// default it only projects.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.domain().projected(record)
    }

    /// Randomises a point of the [`range`](Self::range) in place.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()>;

    /// Randomises `points` of the range in place, one after the other. By default it applies
    /// [`perturb`](Self::perturb) to each. An override gives the same result for the same `stream`.
    ///
    /// # Errors
    /// Errors of `perturb`.
    fn perturb_each(&self, points: &mut [Vec<f64>], stream: &mut Stream) -> Result<()> {
        points.iter_mut().try_for_each(|point| self.perturb(point, stream))
    }

    /// Turns a point that `encode` or `perturb` made into a flat released record. By default the record is
    /// the point.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        Ok(point)
    }

    /// Releases `records`, which are in flat form (features, then target), one after the other. By default it
    /// applies `encode`, `perturb` and `decode` to each. An override may process all records together, if it
    /// gives the same result for the same `stream`. The caller draws nothing else from `stream` afterwards.
    ///
    /// # Errors
    /// Errors of `encode`, `perturb` and `decode`.
    fn release_records(&self, records: &[f64], stream: &mut Stream) -> Result<Vec<f64>> {
        map_records(self, records, |_record, point| self.perturb(point, stream))
    }

    /// Columns and kind of target of a release. By default those of the domain's records.
    fn layout(&self) -> Layout {
        self.domain().layout()
    }

    /// Distribution of a release, given its noise-free [`view`](crate::local::view).
    fn noise(&self) -> Noise;

    /// Logarithm of the probability, or its density, with which `perturb` turns `point` into the point
    /// `released`. It may omit a term that is the same for all points. `None` if the mechanism cannot compute
    /// it.
    ///
    /// No claim depends on it. An audit attacks with it, in addition to what it learns from samples.
    fn log_likelihood(&self, _point: &[f64], _released: &[f64]) -> Option<f64> {
        None
    }

    /// Description of `perturb`, one entry per block of coordinates, as far as [`Perturbation`] can express
    /// it. Coordinates in no entry are released unchanged, or in a way that is not described.
    ///
    /// No claim depends on it. An audit compares `perturb` with the description, and the claim with the
    /// privacy cost that follows from the description. With many columns, these two comparisons find noise
    /// that is too small for the claim. Samples of outputs do not show it, because the most informative
    /// outputs are rare.
    fn perturbation(&self) -> Vec<Perturbation> {
        vec![]
    }

    /// Number of levels of randomised response whose reports have, through a shuffler, at most the privacy of
    /// this mechanism's, at the same local ε (`scumble_accounting::shuffle`). `None`, the default, if only
    /// the bound for any mechanism is known.
    fn shuffled_levels(&self) -> Option<f64> {
        None
    }

    /// Pairs of points of the range that differ only in `unit` and whose outputs are the easiest to
    /// distinguish. The mechanism may return any such pairs, or none. An audit attacks them in addition to
    /// its own pairs.
    fn worst_pairs(&self, _unit: Unit) -> Vec<[Vec<f64>; 2]> {
        vec![]
    }

    /// Kind of output: by default reports if there is a [`collector`](Self::collector), otherwise records in
    /// their own columns. A mechanism whose `encode` and `decode` map records to another space returns a
    /// [view](Releases::View) instead.
    fn releases(&self) -> Releases {
        match self.collector() {
            Some(collector) => Releases::Reports { values: collector.values_in() },
            None => Releases::Records,
        }
    }

    /// Collector that draws records from reports. A report is an answer to one question about a record.
    /// `None`, the default, if a release does not consist of reports.
    fn collector(&self) -> Option<&dyn Collector> {
        None
    }

    /// Releases `table` (n records × d features) by [`release_local`], like all local mechanisms. There is no
    /// reason to override it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the columns or the target do not fit the domain,
    /// [`Error::Empty`](crate::Error::Empty) if there are no records,
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Rows> {
        release_local(self, table, randomness)
    }
}

/// Mechanism run by a trusted curator, who holds all records. Its release may depend on all records together.
///
/// Only the state from which the plugin [builds](crate::Plugin::build) the mechanism is saved.
pub trait CuratorMechanism: Any + Debug + Send + Sync {
    /// Domain of the records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain;

    /// Guarantee of a release with fresh randomness.
    fn guarantee(&self) -> Guarantee;

    /// Guarantee of a release of the given number of records with fresh randomness. It has also the claims
    /// whose numbers, such as ε, depend on the number of records. By default it equals
    /// [`guarantee`](Self::guarantee).
    fn guarantee_of(&self, _records: usize) -> Guarantee {
        self.guarantee()
    }

    /// Begins a release. The returned accumulator takes the records block by block, and then releases. A
    /// curator that needs all records at once returns [`collected`].
    fn start(&self) -> Box<dyn Accumulator + '_>;

    /// Releases `table` (n records × d features) through [`start`](Self::start). There is no reason to
    /// override it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the columns or the target do not fit the domain,
    /// [`Error::Empty`](crate::Error::Empty) if there are no records,
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let mut accumulator = self.start();
        accumulate(&self.domain().layout(), table, &mut *accumulator)?;
        accumulator.release(randomness)?.of_people(self.records_per_person()).release()
    }

    /// Kind of output of the mechanism.
    fn releases(&self) -> Releases;

    /// Largest number of records of a person that a release uses: that of the domain if the mechanism takes
    /// [shares](Accumulator::add_shares), else one. `None` if each record is a person's only one. There is no
    /// reason to override it.
    fn records_per_person(&self) -> Option<u16> {
        let takes_shares = || self.start().add_shares(&[], &[]).is_ok();
        self.domain().records_per_person().map(|most| if most > 1 && takes_shares() { most } else { 1 })
    }

    /// Periods for which the guarantee holds together; `None`, the default, for a single release. The records
    /// of each period are released by [`Accumulator::release_period`], in the order of the periods.
    fn horizon(&self) -> Option<Horizon> {
        None
    }

    /// Rebuilds a released [model](ReleasedModel) from the table of its coefficients. The result equals the
    /// model in the [`Key::Model`] of the same release bit for bit.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the mechanism does not release models. [`Error::Shape`] if the table does
    /// not have the shape of a model's coefficients. [`Error::NonFinite`] for a NaN or an infinity.
    fn model_of(&self, _table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        Err(Error::no_model())
    }

    /// Secret key of a release by this mechanism, from its saved [state](SecretKey::state).
    ///
    /// # Errors
    /// [`Error::State`] if the state is not that of a key of this mechanism.
    fn key_of(&self, _state: &Value) -> Result<Arc<dyn SecretKey>> {
        Err(Error::state("the design's releases have no secret key"))
    }

    /// Evidence that an audit uses to attack the mechanism, in addition to its releases. Empty by default.
    fn evidence(&self) -> Evidence<'_> {
        Evidence::default()
    }

    /// The counts from which two servers make the release, each from shares that hide the records. `None`,
    /// the default, for a mechanism of a trusted curator.
    fn shared_counts(&self) -> Option<&dyn SharedCounts> {
        None
    }
}

/// Noisy statistics of a table, from which a curator's release is made. No claim depends on this trait; an
/// audit attacks through it, in addition to releases.
pub trait Statistics: Sync {
    /// Draws only the statistics of `table` (n records × d features), in the same way as a release does.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`].
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>>;

    /// Logarithm of the probability, or its density, with which [`draw`](Self::draw) returns the statistics
    /// `drawn` for `table`. It may omit a term that is the same for all tables.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::release`], and [`Error::Shape`](crate::Error::Shape) for statistics
    /// of another shape.
    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64>;
}

/// Party that runs a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Each person, who randomises their own record before sending it.
    Local,
    /// A curator, who holds all the records.
    Curator,
    /// Two servers, which each hold shares of the records. One server's shares show nothing alone.
    TwoServers,
}

impl Side {
    /// Readable name of the party.
    #[must_use]
    pub fn run_by(self) -> &'static str {
        match self {
            Self::Local => "each person",
            Self::Curator => "a curator",
            Self::TwoServers => "two servers",
        }
    }
}

/// Designed mechanism, with the party that runs it. A release needs only a table and randomness in addition.
#[derive(Debug, Clone)]
pub enum Designed {
    /// Mechanism that each person runs on their own record.
    Local(Arc<dyn LocalMechanism>),
    /// Mechanism that a curator runs on all records, or two servers on shares of them.
    Curator(Arc<dyn CuratorMechanism>),
}

impl From<Arc<dyn LocalMechanism>> for Designed {
    fn from(mechanism: Arc<dyn LocalMechanism>) -> Self {
        Self::Local(mechanism)
    }
}

impl<M: LocalMechanism> From<M> for Designed {
    fn from(mechanism: M) -> Self {
        Self::local(mechanism)
    }
}

impl From<Arc<dyn CuratorMechanism>> for Designed {
    fn from(mechanism: Arc<dyn CuratorMechanism>) -> Self {
        Self::Curator(mechanism)
    }
}

impl Designed {
    /// Mechanism that each person runs.
    pub fn local(mechanism: impl LocalMechanism) -> Self {
        Self::Local(Arc::new(mechanism))
    }

    /// Mechanism that a curator runs.
    pub fn curator(mechanism: impl CuratorMechanism) -> Self {
        Self::Curator(Arc::new(mechanism))
    }

    /// Mechanism that two servers run, with [shared counts](CuratorMechanism::shared_counts). One party that
    /// holds all records may run it too, as a curator.
    pub fn two_servers(mechanism: impl CuratorMechanism) -> Self {
        Self::curator(mechanism)
    }

    /// Party that runs the mechanism.
    pub fn side(&self) -> Side {
        match self {
            Self::Local(_) => Side::Local,
            Self::Curator(mechanism) if mechanism.shared_counts().is_some() => Side::TwoServers,
            Self::Curator(_) => Side::Curator,
        }
    }

    /// The counts from which two servers make the release; `None` for a mechanism of other parties.
    pub fn shared_counts(&self) -> Option<&dyn SharedCounts> {
        match self {
            Self::Local(_) => None,
            Self::Curator(mechanism) => mechanism.shared_counts(),
        }
    }

    /// Domain of the records on which the guarantee holds.
    pub fn domain(&self) -> &RecordDomain {
        match self {
            Self::Local(mechanism) => mechanism.domain(),
            Self::Curator(mechanism) => mechanism.domain(),
        }
    }

    /// Guarantee of a release with fresh randomness.
    pub fn guarantee(&self) -> Guarantee {
        match self {
            Self::Local(mechanism) => mechanism.guarantee(),
            Self::Curator(mechanism) => mechanism.guarantee(),
        }
        .of_people(self.records_per_person())
    }

    /// [`guarantee`](Self::guarantee) with a claim at this `delta` for the output of a shuffler, which mixes
    /// the reports of `people` people.
    ///
    /// # Errors
    /// Same errors as [`Guarantee::shuffled`].
    pub fn shuffled(&self, people: u64, delta: f64) -> Result<Guarantee> {
        let levels = match self {
            Self::Local(mechanism) => mechanism.shuffled_levels(),
            Self::Curator(_) => None,
        };
        self.guarantee().shuffled(people, delta, levels)
    }

    /// Guarantee of a release of `records` records with fresh randomness. It has also the claims whose
    /// numbers, such as ε, depend on the number of records.
    pub fn guarantee_of(&self, records: usize) -> Guarantee {
        match self {
            Self::Local(mechanism) => mechanism.guarantee(),
            Self::Curator(mechanism) => mechanism.guarantee_of(records),
        }
        .of_people(self.records_per_person())
    }

    /// Periods for which the guarantee of a curator's mechanism holds together.
    pub fn horizon(&self) -> Option<Horizon> {
        match self {
            Self::Local(_) => None,
            Self::Curator(mechanism) => mechanism.horizon(),
        }
    }

    /// Largest number of records of a person that a release uses. `None` if each record is a person's only
    /// one. Of people with several, a local mechanism uses one.
    pub fn records_per_person(&self) -> Option<u16> {
        match self {
            Self::Local(mechanism) => mechanism.domain().records_per_person().map(|_| 1),
            Self::Curator(mechanism) => mechanism.records_per_person(),
        }
    }

    /// Releases `table` (n records × d features).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the columns or the target do not fit the domain,
    /// [`Error::Empty`](crate::Error::Empty) if there are no records,
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity.
    pub fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        match self {
            Self::Local(mechanism) => {
                Ok(mechanism.release(table, randomness)?.with_key(Key::Design(mechanism.clone())))
            }
            Self::Curator(mechanism) => mechanism.release(table, randomness),
        }
    }

    /// Kind of output of the mechanism.
    pub fn releases(&self) -> Releases {
        match self {
            Self::Local(mechanism) => mechanism.releases(),
            Self::Curator(mechanism) => mechanism.releases(),
        }
    }

    /// Rebuilds a released model from the table of its coefficients.
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::model_of`].
    pub fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        match self {
            Self::Local(_) => Err(Error::no_model()),
            Self::Curator(mechanism) => mechanism.model_of(table),
        }
    }

    /// Secret key of a release, from its saved [state](SecretKey::state).
    ///
    /// # Errors
    /// Same errors as [`CuratorMechanism::key_of`].
    pub fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        match self {
            Self::Local(_) => Err(Error::state("the releases of a local mechanism have no secret key")),
            Self::Curator(mechanism) => mechanism.key_of(state),
        }
    }

    /// Evidence that an audit uses to attack a curator; empty for a local mechanism.
    pub fn evidence(&self) -> Evidence<'_> {
        match self {
            Self::Local(_) => Evidence::default(),
            Self::Curator(mechanism) => mechanism.evidence(),
        }
    }

    /// Mechanism as a value of its concrete type `M`; `None` if it has another type.
    pub fn downcast_ref<M: Any>(&self) -> Option<&M> {
        let mechanism: &dyn Any = match self {
            Self::Local(mechanism) => &**mechanism,
            Self::Curator(mechanism) => &**mechanism,
        };
        mechanism.downcast_ref()
    }
}
