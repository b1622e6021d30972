//! Secret of the owner of a release: the seed from which the transformation of labels and records is drawn
//! again.

use crate::bases::Bases;
use crate::transformation::{Shape, Transformation};
use ndarray::{Array1, Array2};
use rand_core::{RngCore, SeedableRng};
use scumble_core::{Error, RecordDomain, Result, SecretKey, Stream, Table, Target, TargetDomain};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A transformation of records and labels, kept as a seed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Disguise {
    domain: RecordDomain,
    shape: Shape,
    label_dim: usize,
    seed: [u8; 32],
}

/// A drawn transformation.
pub(crate) struct Drawn {
    pub(crate) transformation: Transformation,
    pub(crate) bases: Bases,
}

impl Disguise {
    /// Creates a transformation with a fresh seed.
    pub(crate) fn fresh(domain: &RecordDomain, shape: &Shape, label_dim: usize, stream: &mut Stream) -> Self {
        let mut seed = [0; 32];
        stream.fill_bytes(&mut seed);
        Self { domain: domain.clone(), shape: shape.clone(), label_dim, seed }
    }

    /// The number of coordinates of a label.
    pub(crate) fn label_dim(&self) -> usize {
        self.label_dim
    }

    /// Draws the vectors of the classes, the same each time.
    ///
    /// # Errors
    /// Returns an error if no vector can be drawn.
    pub(crate) fn bases(&self) -> Result<Bases> {
        Bases::draw(classes(self.domain.target()), self.label_dim, &mut Stream::from_seed(self.seed))
    }

    /// Draws the transformation, the same each time.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for a transformation that cannot be drawn.
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
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for a table of another shape.
    pub(crate) fn projected(&self, table: &Table) -> Result<Array2<f64>> {
        self.domain.projected_features(table)
    }

    /// Builds the released table: records (m × d) transformed by `drawn`, with the vectors of their labels.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of labels differs from the number of records.
    pub(crate) fn released(
        &self,
        drawn: &Drawn,
        records: &Array2<f64>,
        labels: Option<Array2<f64>>,
    ) -> Result<Table> {
        let released = drawn.transformation.apply(records.view());
        let columns = (1..=released.ncols()).map(|at| format!("transformed {at}")).collect();
        Table::new(columns, released, labels.map_or(Target::None, Target::Vector))
    }
}

/// Number of classes; zero without a label.
pub(crate) fn classes(target: &TargetDomain) -> usize {
    match target {
        TargetDomain::Class { levels } => levels.len(),
        _ => 0,
    }
}

/// Classes of a table, if it has any.
pub(crate) fn labels(table: &Table) -> Option<&Array1<usize>> {
    match table.target() {
        Target::Class(classes) => Some(classes),
        _ => None,
    }
}

/// Predicted vectors for `records` records, with `label_dim` coordinates each.
///
/// # Errors
/// [`Error::Shape`] for a prediction of another kind or shape.
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
        self.released(&drawn, &records, labels(clean).map(|classes| drawn.bases.select(classes)))
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
