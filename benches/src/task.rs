//! Training records, for our contestants and for peers.

use crate::Result;
use linfa::Dataset;
use ndarray::Ix1;
use scumble::core::{Table, Target};
use scumble::datasets::{DataSet, folder, source};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

/// Training records and targets, and a description of their files for peers.
pub(crate) struct Task<T> {
    pub(crate) dataset: Rc<Dataset<f64, T, Ix1>>,
    /// Arguments of a peer's program: the paths of the files of records and of targets, both 64-bit numbers,
    /// and the number of columns.
    pub(crate) arguments: String,
}

impl<T> Task<T>
where
    Dataset<f64, T, Ix1>: TryFrom<Table, Error = scumble::core::Error>,
{
    /// Loads the training records of a public data set.
    ///
    /// # Errors
    /// Returns an error if the data set cannot be read.
    pub(crate) fn new(name: &str, scratch: &TempDir) -> Result<Self> {
        let DataSet { table, train_records, .. } = source(name)?.load(&folder())?;
        let rows: Vec<usize> = (0..train_records.unwrap_or(table.len())).collect();
        let table = table.select(&rows)?;
        let targets: Vec<f64> = match table.target() {
            Target::Class(classes) => classes.iter().map(|class| *class as f64).collect(),
            Target::Real(numbers) => numbers.to_vec(),
            Target::None | Target::Vector(_) => {
                return Err(format!("{name}: the target is neither a class nor a number").into());
            }
        };
        let write = |part: &str, values: &mut dyn Iterator<Item = f64>| {
            let file: PathBuf = scratch.path().join(format!("{name}-{part}"));
            fs::write(&file, values.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())?;
            Ok::<_, std::io::Error>(file.display().to_string())
        };
        let width = table.records().ncols();
        let records = write("records", &mut table.records().iter().copied())?;
        let targets = write("targets", &mut targets.iter().copied())?;
        Ok(Self { dataset: Rc::new(table.try_into()?), arguments: format!("{records} {targets} {width}") })
    }

    /// Formats the numbers of records and of columns.
    pub(crate) fn size(&self) -> String {
        format!("{} × {}", self.dataset.records.nrows(), self.dataset.records.ncols())
    }
}
