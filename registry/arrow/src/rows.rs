//! Record batches as rows of cells. An [`Encoder`] selects the columns that are read, and maps their cells to
//! numbers.

use crate::values::{Values, held};
use arrow_array::{RecordBatch, new_empty_array};
use arrow_schema::{ArrowError, DataType, Schema};
use scumble_records::{DESIGN, Encoder, Error, Held, RawRows, ReadRows, Result};

/// The batch that is being read.
struct Opened {
    batch: RecordBatch,
    /// Columns that the encoder reads, with their indices in the batch.
    columns: Vec<(usize, Values)>,
    /// Number of rows of the batch that were returned so far.
    given: usize,
}

/// Record batches of one Arrow schema, read a few rows at a time.
pub struct Rows<B> {
    source: String,
    header: Vec<String>,
    types: Vec<DataType>,
    design: Option<String>,
    batches: B,
    batch: Option<Opened>,
    row: usize,
    seen: u64,
    /// Error in the row after the last returned row. The next call returns it.
    held: Option<Error>,
}

impl<B: Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send> Rows<B> {
    /// Reads `batches` of this Arrow `schema`. `source` names the batches in errors.
    pub fn new(schema: &Schema, batches: B, source: &str) -> Self {
        let header = schema.fields().iter().map(|field| field.name().trim().to_owned()).collect();
        let types = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let design = schema.metadata().get(DESIGN).cloned();
        Self {
            source: source.into(),
            header,
            types,
            design,
            batches,
            batch: None,
            row: 0,
            seen: 0,
            held: None,
        }
    }

    fn refuse(&self, problem: String) -> Error {
        Error::Unreadable { file: self.source.clone(), problem }
    }

    /// Values of the columns that `encoder` reads, with their indices in `batch`.
    fn columns(&self, batch: &RecordBatch, encoder: &Encoder) -> Result<Vec<(usize, Values)>> {
        let column = |place: usize| {
            let name = self.header.get(place).map_or("", String::as_str);
            let found = batch.columns().get(place).filter(|_| batch.num_columns() == self.header.len());
            let Some(array) = found else {
                return Err(self.refuse(format!(
                    "the columns of a batch differ from those of the first batch: {name:?} is missing"
                )));
            };
            let values = Values::from_array(array.as_ref())
                .ok_or_else(|| Error::unsupported(&self.source, name, &values_of(array.data_type())))?;
            Ok((place, values))
        };
        encoder.places().map(column).collect()
    }

    /// Appends the next `most` rows of the batches to `rows`, or fewer if the batches end.
    fn append(&mut self, rows: &mut RawRows, encoder: &Encoder, most: usize) -> Result<()> {
        let mut remaining = most;
        while remaining > 0 {
            let Some(Opened { batch, columns, given }) = &mut self.batch else {
                let Some(batch) = self.batches.next() else { return Ok(()) };
                let batch = batch.map_err(|error| self.refuse(in_one_line(&error)))?;
                let columns = self.columns(&batch, encoder)?;
                self.batch = Some(Opened { batch, columns, given: 0 });
                continue;
            };
            let end = batch.num_rows().min(*given + remaining);
            for row in *given..end {
                self.row += 1;
                for (place, values) in columns.iter() {
                    let taken = values.take(row, |cell| rows.push(encoder, cell))?;
                    taken.ok_or_else(|| Error::Cell {
                        file: self.source.clone(),
                        row: self.row,
                        column: self.header.get(*place).cloned().unwrap_or_default(),
                        value: "a date".into(),
                        problem: "is outside the range of dates".into(),
                    })?;
                }
            }
            remaining -= end - *given;
            *given = end;
            if end == batch.num_rows() {
                self.seen += batch.get_array_memory_size() as u64;
                self.batch = None;
            }
        }
        Ok(())
    }
}

impl<B: Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send> ReadRows for Rows<B> {
    fn source(&self) -> &str {
        &self.source
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>> {
        if let Some(error) = self.held.take() {
            return Err(error);
        }
        let mut rows = RawRows::starting_at(self.row + 1);
        let read = self.append(&mut rows, encoder, most);
        rows.finished(read, encoder, &mut self.held)
    }

    fn bytes(&self) -> u64 {
        self.seen
    }

    fn design(&self) -> Option<&str> {
        self.design.as_deref()
    }

    fn held(&self, place: usize) -> Option<Held> {
        held(self.types.get(place)?)
    }

    fn unsupported(&self, place: usize) -> Option<String> {
        let kind = self.types.get(place)?;
        let is_supported = Values::from_array(new_empty_array(kind).as_ref()).is_some();
        (!is_supported).then(|| values_of(kind))
    }
}

/// Content of a column of an unsupported type.
fn values_of(kind: &DataType) -> String {
    format!("values of the type {kind}")
}

fn in_one_line(error: &ArrowError) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}
