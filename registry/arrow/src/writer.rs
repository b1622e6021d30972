//! Released records as record batches.

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use scumble_records::{Cell, Decoder, Error, Result, WriteRows};
use std::io;
use std::sync::Arc;

/// The Arrow schema of what `decoder` gives: numbers as `Float64`, text as `Utf8`, no nulls. It is that of the Parquet files of releases.
pub fn schema(decoder: &Decoder) -> SchemaRef {
    let kind = |is_text| if is_text { DataType::Utf8 } else { DataType::Float64 };
    let names = decoder.header().iter().zip(decoder.is_text());
    let fields = names.map(|(name, is_text)| Field::new(name, kind(is_text), false));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Released records as batches of some rows each, in their order.
pub struct Writer<'b> {
    batches: &'b mut Vec<RecordBatch>,
}

impl<'b> Writer<'b> {
    /// Appends to these.
    pub fn new(batches: &'b mut Vec<RecordBatch>) -> Self {
        Self { batches }
    }
}

enum Column {
    Numbers(Vec<f64>),
    Text(StringBuilder),
}

impl Column {
    fn push(&mut self, cell: Cell) -> Result<()> {
        match (self, cell) {
            (Self::Numbers(numbers), Cell::Number(number)) => numbers.push(number),
            (Self::Text(text), cell) => text.append_value(cell.text()),
            (Self::Numbers(_), _) => {
                return Err(scumble_core::Error::shape("a column of numbers was released as text").into());
            }
        }
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Numbers(numbers) => Arc::new(Float64Array::from(numbers)),
            Self::Text(mut text) => Arc::new(text.finish()),
        }
    }
}

impl WriteRows for Writer<'_> {
    type Block = RecordBatch;

    fn block(decoder: &Decoder, records: &[f64]) -> Result<RecordBatch> {
        let empty =
            |is_text| if is_text { Column::Text(StringBuilder::new()) } else { Column::Numbers(vec![]) };
        let mut columns: Vec<Column> = decoder.is_text().map(empty).collect();
        for row in decoder.rows(records) {
            for (column, cell) in columns.iter_mut().zip(row?) {
                column.push(cell)?;
            }
        }
        let arrays = columns.into_iter().map(Column::finish).collect();
        RecordBatch::try_new(schema(decoder), arrays)
            .map_err(|error| Error::Write { source: io::Error::other(error) })
    }

    fn write(&mut self, block: RecordBatch) -> Result<()> {
        self.batches.push(block);
        Ok(())
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}
