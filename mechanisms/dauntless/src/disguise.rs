//! Secret key of the owner of a release. The key stores a random seed, from which the random transformation
//! of records and labels can be drawn again. Each class of the label has a random *label vector*.

use crate::bases::Bases;
use crate::transformation::{Shape, Transformation};
use ndarray::{Array1, Array2, s};
use rand_core::{RngCore, SeedableRng};
use scumble_core::{Error, RecordDomain, Result, SecretKey, Stream, Table, Target, TargetDomain};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

/// A transformation of records and labels, stored as the seed from which it is drawn.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Disguise {
    domain: RecordDomain,
    shape: Shape,
    label_dim: usize,
    seed: [u8; 32],
}

/// A drawn transformation of records, with the random label vectors of the classes.
pub(crate) struct Drawn {
    pub(crate) transformation: Transformation,
    pub(crate) bases: Bases,
}

impl Disguise {
    /// Creates a transformation with a new random seed.
    pub(crate) fn fresh(domain: &RecordDomain, shape: &Shape, label_dim: usize, stream: &mut Stream) -> Self {
        let mut seed = [0; 32];
        stream.fill_bytes(&mut seed);
        Self { domain: domain.clone(), shape: shape.clone(), label_dim, seed }
    }

    /// Number of coordinates of a label vector.
    pub(crate) fn label_dim(&self) -> usize {
        self.label_dim
    }

    /// Draws the label vector of each class. Every call returns the same vectors.
    ///
    /// # Errors
    /// Same errors as [`gaussian`](crate::secret_matrix::gaussian).
    pub(crate) fn bases(&self) -> Result<Bases> {
        Bases::draw(classes(self.domain.target()), self.label_dim, &mut Stream::from_seed(self.seed))
    }

    /// Draws the transformation of records and labels. Every call returns the same transformation.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if no invertible matrix of weights is drawn.
    pub(crate) fn drawn(&self) -> Result<Drawn> {
        let mut stream = Stream::from_seed(self.seed);
        stream.set_stream(1);
        Ok(Drawn {
            bases: self.bases()?,
            transformation: self.shape.draw(self.domain.features(), &mut stream)?,
        })
    }

    /// Returns the features (n × d) of a table, projected onto the domain.
    ///
    /// # Errors
    /// [`Error::Shape`] if the columns of `table` do not fit the domain, [`Error::Empty`] if it has no
    /// records, [`Error::NonFinite`] if a value is not finite.
    pub(crate) fn projected(&self, table: &Table) -> Result<Array2<f64>> {
        self.domain.projected_features(table)
    }

    /// Builds the released table: m = `count` records transformed by `drawn`, with `labels`, the vectors of
    /// their labels. `records` returns the records with the given indices (as rows of d columns).
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of labels differs from the number of records.
    pub(crate) fn released(
        &self,
        drawn: &Drawn,
        count: usize,
        records: impl Fn(Range<usize>) -> Array2<f64> + Sync,
        labels: Option<Array2<f64>>,
    ) -> Result<Table> {
        let released = drawn.transformation.apply(count, records);
        let columns = (1..=released.ncols()).map(|at| format!("transformed {at}")).collect();
        Table::new(columns, released, labels.map_or(Target::None, Target::Vector))
    }
}

/// Number of classes of a target; zero if the target has no classes.
pub(crate) fn classes(target: &TargetDomain) -> usize {
    match target {
        TargetDomain::Class { levels } => levels.len(),
        _ => 0,
    }
}

/// Classes of the records of a table; `None` if its target has no classes.
pub(crate) fn labels(table: &Table) -> Option<&Array1<usize>> {
    match table.target() {
        Target::Class(classes) => Some(classes),
        _ => None,
    }
}

/// Returns the label vectors in `predicted`: one for each of `records` records, with `label_dim` coordinates
/// each.
///
/// # Errors
/// [`Error::Shape`] if `predicted` does not consist of vectors, or has another shape.
pub(crate) fn vectors(predicted: &Target, records: usize, label_dim: usize) -> Result<&Array2<f64>> {
    match predicted {
        Target::Vector(vectors) if vectors.dim() == (records, label_dim) => Ok(vectors),
        Target::Vector(vectors) => Err(Error::shape(format!(
            "the predictions are {} × {}, and the released labels are {records} × {label_dim}",
            vectors.nrows(),
            vectors.ncols()
        ))),
        other => Err(Error::shape(format!(
            "the prediction is {}, and the labels were released as vectors",
            other.kind()
        ))),
    }
}

impl SecretKey for Disguise {
    fn view(&self, clean: &Table) -> Result<Table> {
        let records = self.projected(clean)?;
        let drawn = self.drawn()?;
        let labels = labels(clean).map(|classes| drawn.bases.select(classes));
        self.released(&drawn, records.nrows(), |rows| records.slice(s![rows, ..]).to_owned(), labels)
    }

    fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        if *self.domain.target() == TargetDomain::None {
            return Ok(predicted);
        }
        let vectors = vectors(&predicted, clean.len(), self.label_dim)?;
        let bases = self.bases()?;
        Ok(Target::Class(vectors.outer_iter().map(|vector| bases.nearest(vector)).collect()))
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
