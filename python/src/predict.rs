//! Released models, and their predictions for records in the clear.

use crate::design::{Design, Released, given, rows};
use crate::errors::Failed;
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use scumble::custody::ShippedModel;
use scumble::records::OutOfBounds;
use scumble::records::{TextFormat, stream};
use scumble_arrow::Writer;
use std::path::PathBuf;

/// A model that a design released in place of records.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Model {
    shipped: ShippedModel,
}

#[pymethods]
impl Model {
    /// Reads a model from a file that `scumble release` wrote.
    #[staticmethod]
    fn read(design: &Design, path: PathBuf) -> Result<Self, Failed> {
        let rows = scumble::parquet::open(&path, &TextFormat::WRITTEN)?;
        Ok(Self { shipped: design.shipped().read_model(rows)? })
    }

    /// Reads a model from a released table.
    #[staticmethod]
    fn of_table(design: &Design, released: PyTable) -> Result<Self, Failed> {
        let (batches, _) = released.into_inner();
        Ok(Self { shipped: design.shipped().read_model(rows(&batches)?)? })
    }

    /// The name of the predicted column.
    #[getter]
    fn target(&self) -> &str {
        self.shipped.target()
    }

    /// The classes, in the order of probabilities; empty if the target is a number.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.shipped.classes().to_vec()
    }

    /// Returns the released table that holds the model: the names of its columns, and its rows of numbers.
    fn numbers(&self) -> (Vec<String>, Vec<Vec<f64>>) {
        let table = self.shipped.table();
        let rows = table.records().outer_iter().map(|row| row.to_vec());
        (table.columns().to_vec(), rows.collect())
    }

    /// Predicts for the records of a table, in their order. With `has_probabilities`, the result also has the
    /// probability of each class.
    fn predict(
        &self,
        py: Python,
        records: PyTable,
        has_probabilities: bool,
        strict: bool,
    ) -> Result<Released, Failed> {
        let (batches, _) = records.into_inner();
        let predicted = interruptible(py, || {
            let mut reader = self.shipped.reader(rows(&batches)?, OutOfBounds::strictly(strict))?;
            let decoder = self.shipped.decoder(has_probabilities)?;
            let mut written = vec![];
            let predict = |records: &[f64]| Ok(self.shipped.predict(records, has_probabilities)?);
            let writer = Writer::new(&mut written, scumble_arrow::schema(&decoder, None));
            let streamed = stream::map(&mut reader, &decoder, predict, writer, |_| Ok(()))?;
            Ok((written, String::new(), streamed.clipped))
        });
        given(py, predicted)
    }
}
