//! Mechanisms, and what they release.

use crate::{
    Claim, Domain, Guarantee, Key, Layout, Noise, Perturbation, Randomness, RecordDomain, Result, Stream,
    Table, TargetLayout, Unit,
};
use dyn_clone::DynClone;
use std::any::Any;
use std::fmt::Debug;

/// A designed mechanism: it needs nothing more than a table and randomness to release.
///
/// Implementations are saved and loaded through `typetag`, under the name in `#[typetag::serde(name = "…")]`. Whatever
/// is read from a file must be checked again: deserialise through the constructor (`#[serde(try_from = "…")]`).
#[typetag::serde(tag = "kind")]
pub trait Mechanism: Any + DynClone + Debug + Send + Sync {
    /// The records on which the guarantee holds.
    fn domain(&self) -> &RecordDomain;

    /// What a release with fresh randomness promises.
    fn guarantee(&self) -> Guarantee;

    /// What a release of so many records with fresh randomness promises, as far as their number decides it: by default what the design says.
    fn guarantee_of(&self, _records: usize) -> Guarantee {
        self.guarantee()
    }

    /// Releases `table` (n × d). A local mechanism calls [`local::release`](crate::local::release).
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Empty`](crate::Error::Empty) or [`Error::NonFinite`](crate::Error::NonFinite) for a table that is not of the domain's shape.
    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release>;

    /// The record-at-a-time view of a mechanism that needs no other record.
    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        None
    }

    /// The kind of target that a release has: by default that of the domain. One that is of another kind is read by
    /// [`Key::read`](crate::Key::read).
    fn released_target(&self) -> TargetLayout {
        self.domain().layout().target
    }

    /// Whether the record in a released row is made of the one in that row of the table, as it mostly is; where several records make one it is not.
    fn keeps_rows(&self) -> bool {
        true
    }

    /// Two tables that `claim`, one of its own, says are released with one law, made of the records of `table`: by them an audit attacks an
    /// ambiguity set. None where it has none to offer.
    fn alike(&self, _claim: &Claim, _table: &Table) -> Option<[Table; 2]> {
        None
    }
}

dyn_clone::clone_trait_object!(Mechanism);

/// A mechanism that releases each record by itself: `encode` into a declared range, `perturb` there, `decode`.
///
/// All privacy is in `perturb`: its law may differ between two points of the range by no more than the guarantee says.
/// `encode` never leaves the range, and `decode` is post-processing. Records are in *flat* form: features, then the
/// target's coordinates (see [`RecordDomain`]).
pub trait LocalMechanism: Mechanism {
    /// The set that `encode` never leaves, m coordinates.
    fn range(&self) -> Domain;

    /// The point of the range (m values) for a flat record, which it first projects into the domain.
    ///
    /// # Errors
    /// [`Error::NonFinite`](crate::Error::NonFinite) for a NaN or an infinity, [`Error::Shape`](crate::Error::Shape) for a wrong width.
    fn encode(&self, record: &[f64]) -> Result<Vec<f64>>;

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

    /// The shape of what is released. By default that of the domain.
    fn layout(&self) -> Layout {
        self.domain().layout()
    }

    /// The law of what is released, given the noise-free view.
    fn noise(&self) -> Noise;

    /// The logarithm of the probability, or its density, with which `perturb` makes `released` of `point` (m values each), up
    /// to a term that is the same for all points. None where the mechanism cannot say.
    ///
    /// No claim rests on it: an audit attacks by it, beside what it learns from samples.
    fn log_likelihood(&self, _point: &[f64], _released: &[f64]) -> Option<f64> {
        None
    }

    /// What `perturb` does, block of coordinates by block, as far as it can be said in these terms; coordinates that are not named leave
    /// as they are, or in a way that is not described.
    ///
    /// No claim rests on it: an audit holds `perturb` to it, and the claim to what follows from it. That finds faults that samples of
    /// many columns do not show.
    fn perturbation(&self) -> Vec<Perturbation> {
        vec![]
    }

    /// Pairs of points of the range that it takes to be the easiest to tell apart, where records may differ in `unit` alone. An
    /// audit attacks them beside its own.
    fn worst_pairs(&self, _unit: Unit) -> Vec<[Vec<f64>; 2]> {
        vec![]
    }
}

/// What leaves the house, and what stays.
#[derive(Debug)]
pub struct Release {
    /// The released table.
    pub table: Table,
    /// What this very release promises: the design's guarantee, or less (a seed voids it).
    pub guarantee: Guarantee,
    /// The law of the released table given the noise-free view.
    pub noise: Noise,
    /// What turns clean records into ones on which a model of the released table can be used.
    pub key: Key,
}
