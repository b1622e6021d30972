//! Mechanisms, local ones and curators', and what they release.

mod accumulator;
mod collector;
mod evidence;
mod halved;
mod key;
mod one_by_one;
mod release;
mod releases;
mod values_in;

pub use accumulator::{Accumulator, Drawing, Outcome, collected, in_blocks};
pub use collector::Collector;
pub use evidence::{Alike, Evidence};
pub use halved::{Halved, Halving};
pub use key::{Key, ReleasedModel, Secret, SecretKey};
pub(crate) use one_by_one::map_records;
pub use release::{Release, Rows, release_local};
pub use releases::Releases;
pub use values_in::ValuesIn;

use crate::{
    Domain, Error, Guarantee, Layout, Noise, Perturbation, Randomness, RecordDomain, Result, Stream, Table,
    Unit,
};
use serde_json::Value;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// A mechanism that releases each record by itself: `encode` into a declared range, `perturb` there, `decode`.
///
/// All privacy is in `perturb`: its distribution may differ between two points of the range by no more than the guarantee says.
/// `encode` never leaves the range, and `decode` is post-processing. Records are in *flat* form: features, then the
/// target's coordinates (see [`RecordDomain`]).
///
/// Nothing of a mechanism is saved but the state that its plugin [builds](crate::Plugin::build) it from.
pub trait LocalMechanism: Any + Debug + Send + Sync {
    /// The records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain;

    /// What a release with fresh randomness guarantees.
    fn guarantee(&self) -> Guarantee;

    /// The set that `encode` never leaves, m coordinates. By default the flat records of the domain.
    fn range(&self) -> Domain {
        self.domain().flat().clone()
    }

    /// The point of the range (m values) for a flat record, which it first projects into the domain. By default no more than that.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity, [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.domain().projected(record)
    }

    /// Randomises a point of the range (m values) in place.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()>;

    /// The flat released record for a point, perturbed or not. By default the point itself.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        Ok(point)
    }

    /// What is released of flat records (d values each), one after the other: `encode`, `perturb` and `decode` of each, as it is by default. What
    /// can do it in one piece, with the same draws, may; nothing else is drawn from `stream` afterwards.
    ///
    /// # Errors
    /// As those.
    fn release_records(&self, records: &[f64], stream: &mut Stream) -> Result<Vec<f64>> {
        map_records(self, records, |_record, point| self.perturb(point, stream))
    }

    /// The shape of what is released. By default that of the domain.
    fn layout(&self) -> Layout {
        self.domain().layout()
    }

    /// The distribution of what is released, given the noise-free view.
    fn noise(&self) -> Noise;

    /// The logarithm of the probability, or its density, with which `perturb` makes `released` of `point` (m values each), up
    /// to a term that is the same for all points. None where the mechanism cannot say.
    ///
    /// No claim depends on it: an audit attacks by it, beside what it learns from samples.
    fn log_likelihood(&self, _point: &[f64], _released: &[f64]) -> Option<f64> {
        None
    }

    /// What `perturb` does, block of coordinates by block, as far as it can be said in these terms; coordinates that are not named are
    /// released unchanged, or in a way that is not described.
    ///
    /// No claim depends on it: an audit holds `perturb` to it, and the claim to what follows from it. That finds faults that samples of
    /// many columns do not show.
    fn perturbation(&self) -> Vec<Perturbation> {
        vec![]
    }

    /// Pairs of points of the range that it takes to be the easiest to distinguish, where records may differ in `unit` alone. An
    /// audit attacks them beside its own.
    fn worst_pairs(&self, _unit: Unit) -> Vec<[Vec<f64>; 2]> {
        vec![]
    }

    /// Output of a release: reports where there is a [`collector`](Self::collector), and records in their own
    /// columns otherwise. A mechanism whose `encode` and `decode` make other records states a [view](Releases::View).
    fn releases(&self) -> Releases {
        match self.collector() {
            Some(collector) => Releases::Reports { values: collector.values_in() },
            None => Releases::Records,
        }
    }

    /// What turns reports into records, where that which leaves of a record is a report: an answer to one question about it. None where a record
    /// leaves, as by default.
    fn collector(&self) -> Option<&dyn Collector> {
        None
    }

    /// Releases `table` (n × d) by [`release_local`], as all local mechanisms do: there is no reason to do it otherwise.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for a table that is not of the domain's shape.
    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Rows> {
        release_local(self, table, randomness)
    }
}

/// A mechanism that somebody trusted runs, who holds all records: what it releases may depend on all of them together.
///
/// Built from a state as a [`LocalMechanism`] is.
pub trait CuratorMechanism: Any + Debug + Send + Sync {
    /// The records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain;

    /// What a release with fresh randomness guarantees.
    fn guarantee(&self) -> Guarantee;

    /// What a release of so many records with fresh randomness guarantees, as far as their number decides it: by default what the design says.
    fn guarantee_of(&self, _records: usize) -> Guarantee {
        self.guarantee()
    }

    /// Begins a release: what is returned takes the records block by block, and then releases. A curator that needs all records at once
    /// returns [`collected`].
    fn start(&self) -> Box<dyn Accumulator + '_>;

    /// Releases `table` (n × d): what [`start`](Self::start) makes of it. There is no reason to do it otherwise.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for a table that is not of the domain's shape.
    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let mut accumulator = self.start();
        in_blocks(&self.domain().layout(), table, |records| accumulator.add(records))?;
        accumulator.release(randomness)?.release()
    }

    /// Output of a release.
    fn releases(&self) -> Releases;

    /// The model in a table that was [released](Self::release), where it is a [model](ReleasedModel): as
    /// [`Key::Model`] had it, bit for bit.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where a release is no model, [`Error::Shape`] for the table of another one,
    /// [`Error::NonFinite`] for a NaN or an infinity.
    fn model_of(&self, _table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        Err(Error::no_model())
    }

    /// Secret key of a release by this mechanism, whose [state](SecretKey::state) was saved.
    ///
    /// # Errors
    /// [`Error::State`] for a state that makes no key of this mechanism.
    fn key_of(&self, _state: &Value) -> Result<Arc<dyn SecretKey>> {
        Err(Error::state("the design's releases have no secret key"))
    }

    /// What an audit attacks it by, beside its releases: nothing by default.
    fn evidence(&self) -> Evidence<'_> {
        Evidence::default()
    }
}

/// Noisy statistics of a table, which a curator's release is made of. No claim depends on this: an audit attacks by it, beside what is released.
pub trait Statistics: Sync {
    /// Statistics of `table` (n × d) as a release would be made of, drawn by themselves.
    ///
    /// # Errors
    /// As [`CuratorMechanism::release`].
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>>;

    /// The logarithm of the probability, or its density, of statistics that [`draw`](Self::draw) gave, were they of `table`, up to a term that is the same
    /// for all tables.
    ///
    /// # Errors
    /// As [`CuratorMechanism::release`], and [`Error::Shape`](crate::Error::Shape) for statistics of another shape.
    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64>;
}

/// Who runs a mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Each person: the record is noisy before it leaves.
    Local,
    /// Somebody who holds all the records.
    Curator,
}

impl Side {
    /// Who that is, as people read it.
    #[must_use]
    pub fn run_by(self) -> &'static str {
        match self {
            Self::Local => "each person",
            Self::Curator => "a curator",
        }
    }
}

/// A designed mechanism, and who runs it: it needs nothing more than a table and randomness to release.
#[derive(Debug, Clone)]
pub enum Designed {
    /// Each person, for one record.
    Local(Arc<dyn LocalMechanism>),
    /// A curator, who holds all records.
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
    /// One that each person runs.
    pub fn local(mechanism: impl LocalMechanism) -> Self {
        Self::Local(Arc::new(mechanism))
    }

    /// One that a curator runs.
    pub fn curator(mechanism: impl CuratorMechanism) -> Self {
        Self::Curator(Arc::new(mechanism))
    }

    /// Who runs it.
    pub fn side(&self) -> Side {
        match self {
            Self::Local(_) => Side::Local,
            Self::Curator(_) => Side::Curator,
        }
    }

    /// The records on which the guarantee holds.
    pub fn domain(&self) -> &RecordDomain {
        match self {
            Self::Local(mechanism) => mechanism.domain(),
            Self::Curator(mechanism) => mechanism.domain(),
        }
    }

    /// What a release with fresh randomness guarantees.
    pub fn guarantee(&self) -> Guarantee {
        match self {
            Self::Local(mechanism) => mechanism.guarantee(),
            Self::Curator(mechanism) => mechanism.guarantee(),
        }
    }

    /// What a release of so many records with fresh randomness guarantees, as far as their number decides it.
    pub fn guarantee_of(&self, records: usize) -> Guarantee {
        match self {
            Self::Local(mechanism) => mechanism.guarantee(),
            Self::Curator(mechanism) => mechanism.guarantee_of(records),
        }
    }

    /// Releases `table` (n × d).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for a table that is not of the domain's shape.
    pub fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        match self {
            Self::Local(mechanism) => {
                Ok(mechanism.release(table, randomness)?.with_key(Key::Design(mechanism.clone())))
            }
            Self::Curator(mechanism) => mechanism.release(table, randomness),
        }
    }

    /// Output of a release.
    pub fn releases(&self) -> Releases {
        match self {
            Self::Local(mechanism) => mechanism.releases(),
            Self::Curator(mechanism) => mechanism.releases(),
        }
    }

    /// The model in a table that was released.
    ///
    /// # Errors
    /// As [`CuratorMechanism::model_of`].
    pub fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        match self {
            Self::Local(_) => Err(Error::no_model()),
            Self::Curator(mechanism) => mechanism.model_of(table),
        }
    }

    /// Secret key of a release, whose [state](SecretKey::state) was saved.
    ///
    /// # Errors
    /// As [`CuratorMechanism::key_of`].
    pub fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        match self {
            Self::Local(_) => Err(Error::state("the releases of a local mechanism have no secret key")),
            Self::Curator(mechanism) => mechanism.key_of(state),
        }
    }

    /// What an audit attacks a curator by; nothing of a local mechanism.
    pub fn evidence(&self) -> Evidence<'_> {
        match self {
            Self::Local(_) => Evidence::default(),
            Self::Curator(mechanism) => mechanism.evidence(),
        }
    }

    /// The mechanism in its own type, if that is `M`.
    pub fn downcast_ref<M: Any>(&self) -> Option<&M> {
        let mechanism: &dyn Any = match self {
            Self::Local(mechanism) => &**mechanism,
            Self::Curator(mechanism) => &**mechanism,
        };
        mechanism.downcast_ref()
    }
}
