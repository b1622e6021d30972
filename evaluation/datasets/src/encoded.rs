//! Encoding of rows of cells into a data set.

use crate::{DataSet, Result};
use ndarray::Array1;
use scumble_core::{Table, Target};
use scumble_records::{Clips, Encoder, Kind, Loaded, OutOfBounds, Schema};

/// Encoder of successive rows whose cells are in the order of a schema's columns. The rows may come from
/// several files.
pub(crate) struct Encoded<'s> {
    schema: &'s Schema,
    target: &'static str,
    out_of_bounds: OutOfBounds,
    encoder: Encoder,
    flat: Vec<f64>,
    records: usize,
    clips: Clips,
}

impl<'s> Encoded<'s> {
    /// Creates an encoder without rows. `file` names the file of the first rows, for errors.
    pub fn new(schema: &'s Schema, target: &'static str, file: &str) -> Result<Self> {
        Self::with(schema, target, file, OutOfBounds::Clip)
    }

    /// Creates an encoder without rows. `file` names the file of the first rows, for errors. `out_of_bounds`
    /// says how the encoder treats numbers outside their bounds.
    pub fn with(
        schema: &'s Schema,
        target: &'static str,
        file: &str,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        let encoder = encoder(schema, target, file, out_of_bounds)?;
        Ok(Self { schema, target, out_of_bounds, encoder, flat: vec![], records: 0, clips: Clips::default() })
    }

    /// Sets the name of the file from which the following rows come.
    pub fn next_file(&mut self, file: &str) -> Result<()> {
        self.encoder = encoder(self.schema, self.target, file, self.out_of_bounds)?;
        Ok(())
    }

    /// Appends data row `row` of the file, counted from 1.
    ///
    /// # Errors
    /// An error of a cell, with the file, the row, the column and the value.
    pub fn push<'c>(&mut self, row: usize, cells: impl IntoIterator<Item = &'c str>) -> Result<()> {
        self.flat.extend(self.encoder.encode(row, cells, &mut self.clips)?);
        self.records += 1;
        Ok(())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.records
    }

    /// The data set of all appended rows.
    ///
    /// # Errors
    /// [`Error::Empty`](scumble_core::Error::Empty) if there are no rows.
    pub fn data_set(self, name: &str) -> Result<DataSet> {
        let loaded = Loaded {
            domain: self.encoder.domain().clone(),
            clipped: self.encoder.clipped(&self.clips),
            table: self.encoder.table(self.flat)?,
            dropped: 0,
        };
        Ok(DataSet::loaded(name, self.target, self.schema, loaded)?)
    }
}

fn encoder(schema: &Schema, target: &str, file: &str, out_of_bounds: OutOfBounds) -> Result<Encoder> {
    let header: Vec<&str> = schema.columns().iter().map(|column| column.name.as_str()).collect();
    Ok(schema.encoder(&header, Some(target), out_of_bounds, file)?)
}

/// Converts the features and a real target of an encoded table to the units of `schema`.
pub(crate) fn measured(schema: &Schema, target: &str, encoded: &Table) -> Result<Table> {
    let bounds = schema.columns().iter().filter_map(|column| match column.kind {
        Kind::Real { lower, upper, .. } => Some((column.name.as_str(), lower, upper - lower)),
        _ => None,
    });
    let (target_bounds, feature_bounds): (Vec<_>, Vec<_>) = bounds.partition(|(name, ..)| *name == target);
    let widths: Array1<f64> = feature_bounds.iter().map(|(_, _, width)| *width).collect();
    let lower: Array1<f64> = feature_bounds.iter().map(|(_, lower, _)| *lower).collect();
    let target = match (encoded.target(), target_bounds.first()) {
        (Target::Real(values), Some((_, lower, width))) => Target::Real(values * *width + *lower),
        (target, _) => target.clone(),
    };
    Ok(Table::new(encoded.columns().to_vec(), encoded.records() * &widths + &lower, target)?)
}
