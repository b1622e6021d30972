//! Parquet reader, a few rows at a time.

use crate::column::{Column, Meaning, Values, held};
use crate::footer::is_shallow;
use crate::pages::Bounded;
use crate::zones::zone_of;
use bytes::Bytes;
use parquet::basic::Repetition;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescriptor;
use scumble_records::{DESIGN, Encoder, Error, Held, RawRows, ReadRows, Result};
use std::sync::Arc;

/// Parquet file, read a few rows at a time. For each column that the encoder reads, memory holds a page and
/// its dictionary. Other columns are not read.
pub struct Rows<R: ChunkReader> {
    file: Arc<Bounded<R>>,
    source: String,
    header: Vec<String>,
    metadata: ParquetMetaData,
    /// For each column of the header, its index among the leaf columns; `None` for lists and groups.
    leaves: Vec<Option<usize>>,
    /// Index of the current row group. `row_in_group` is the number of its rows returned so far.
    group: usize,
    row_in_group: usize,
    /// Number of rows of the file returned so far.
    row: usize,
    /// Error in the row that follows the last returned row. The next call returns it.
    held: Option<Error>,
    /// Open columns of the current row group. `places` holds their indices in the header.
    columns: Vec<Column>,
    places: Vec<usize>,
}

impl<R: ChunkReader + 'static> Rows<R> {
    /// Reads the footer of `file`. `source` names the file in errors.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a file that is not Parquet, or uses unsupported Parquet features.
    pub fn new(file: R, source: &str) -> Result<Self> {
        let refuse = |problem: String| Error::Unreadable { file: source.into(), problem };
        let file = Arc::new(Bounded(file));
        let invalid = |problem: &str| refuse(format!("its footer is not valid Parquet: {problem}"));
        let footer = footer_of(&*file).map_err(|error| invalid(&in_one_line(&error)))?;
        if !is_shallow(&footer) {
            return Err(invalid("its schema is damaged, or nested too deeply"));
        }
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&*file);
        let metadata = metadata.map_err(|error| invalid(&in_one_line(&error)))?;
        let rows = metadata.row_groups().iter().map(|group| usize::try_from(group.num_rows()));
        let rows = rows.collect::<std::result::Result<Vec<_>, _>>().ok();
        let rows = rows.and_then(|rows| rows.into_iter().try_fold(0, usize::checked_add));
        let footer_rows = usize::try_from(metadata.file_metadata().num_rows()).ok();
        if rows.is_none() || rows != footer_rows {
            return Err(invalid("its row groups do not add up"));
        }
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let mut leaves = vec![None; fields.len()];
        for (leaf, column) in schema.columns().iter().enumerate() {
            let root = schema.get_column_root_idx(leaf);
            let is_flat = fields.get(root).is_some_and(|field| {
                let info = field.get_basic_info();
                field.is_primitive() && info.has_repetition() && info.repetition() != Repetition::REPEATED
            });
            if is_flat && column.max_def_level() <= 1 {
                leaves[root] = Some(leaf);
            }
        }
        let header = fields.iter().map(|field| field.name().trim().to_owned()).collect();
        Ok(Self {
            file,
            source: source.into(),
            header,
            metadata,
            leaves,
            group: 0,
            row_in_group: 0,
            row: 0,
            held: None,
            columns: vec![],
            places: vec![],
        })
    }

    fn refuse(&self, problem: String) -> Error {
        Error::Unreadable { file: self.source.clone(), problem }
    }

    /// Error about a column's values in the current row group.
    fn damaged(&self, place: usize, problem: &str) -> Error {
        let column = self.header.get(place).map_or("", String::as_str);
        self.refuse(format!(
            "column {column:?} of its row group {} cannot be read: {problem}",
            self.group + 1
        ))
    }

    fn rows_of_group(&self) -> usize {
        let groups = self.metadata.row_groups();
        groups.get(self.group).map_or(0, |group| usize::try_from(group.num_rows()).unwrap_or(0))
    }

    /// Opens the columns that `encoder` reads in the current row group, at the next row to return.
    fn open(&mut self, encoder: &Encoder) -> Result<()> {
        self.columns.clear();
        self.places = encoder.places().collect();
        for &place in &self.places {
            let column = self.column(place)?;
            self.columns.push(column);
        }
        // Skip the rows that were already returned. They exist only if the encoder changes within a row
        // group.
        let mut behind = self.row_in_group;
        while behind > 0 {
            let some = behind.min(1024);
            self.read(some)?;
            behind -= some;
        }
        Ok(())
    }

    /// Meaning of the values of the column at this index of the header.
    fn meaning(&self, place: usize, column: &ColumnDescriptor) -> std::result::Result<Meaning, String> {
        let name = self.header.get(place).map_or("", String::as_str);
        Meaning::from_descriptor(column, || zone_of(self.metadata.file_metadata().key_value_metadata(), name))
    }

    fn column(&self, place: usize) -> Result<Column> {
        let name = self.header.get(place).map_or("", String::as_str);
        let unsupported = |what: &str| Error::unsupported(&self.source, name, what);
        let Some(leaf) = self.leaves.get(place).copied().flatten() else {
            return Err(unsupported(NESTED));
        };
        let schema = self.metadata.file_metadata().schema_descr();
        let group = self.metadata.row_groups().get(self.group);
        let chunk = group.and_then(|group| group.columns().get(leaf));
        let (Some(column), Some(chunk)) = (schema.columns().get(leaf), chunk) else {
            return Err(self.damaged(place, "it is missing"));
        };
        let meaning = self.meaning(place, column).map_err(|kind| unsupported(&values_of(&kind)))?;
        let opened = Column::open(&self.file, column, chunk, meaning, self.rows_of_group());
        opened.map_err(|error| self.damaged(place, &in_one_line(&error)))
    }

    /// Reads the next `most` rows of the current row group, which has at least `most` rows left.
    fn read(&mut self, most: usize) -> Result<Vec<Values>> {
        let read: Vec<_> = self.columns.iter_mut().map(|column| column.read(most)).collect();
        let read = self.places.iter().zip(read).map(|(&place, read)| match read {
            Ok((rows, values)) if rows == most => Ok(values),
            Ok(_) => Err(self.damaged(place, "it has fewer rows than its footer says")),
            Err(error) => Err(self.damaged(place, &in_one_line(&error))),
        });
        read.collect()
    }

    /// Checks that the columns of a row group end where the footer states, so that no row is lost.
    ///
    /// # Errors
    /// An error if a column has more rows than the footer states, or cannot be read.
    fn check_end(&mut self) -> Result<()> {
        let more: Vec<_> = self.columns.iter_mut().map(|column| column.read(1)).collect();
        for (&place, more) in self.places.iter().zip(more) {
            match more {
                Ok((0, _)) => {}
                Ok(_) => return Err(self.damaged(place, "it has more rows than its footer says")),
                Err(error) => return Err(self.damaged(place, &in_one_line(&error))),
            }
        }
        Ok(())
    }

    /// Appends the next `most` rows to `rows`, or fewer at the end of the file.
    fn append(&mut self, rows: &mut RawRows, encoder: &Encoder, most: usize) -> Result<()> {
        let mut remaining = most;
        while remaining > 0 && self.group < self.metadata.num_row_groups() {
            let left = self.rows_of_group() - self.row_in_group;
            if left == 0 {
                self.check_end()?;
                self.columns.clear();
                self.group += 1;
                self.row_in_group = 0;
                continue;
            }
            if self.columns.is_empty() || !encoder.places().eq(self.places.iter().copied()) {
                self.open(encoder)?;
            }
            let some = remaining.min(left);
            let mut columns = self.read(some)?;
            for _ in 0..some {
                self.row += 1;
                for (values, &place) in columns.iter_mut().zip(&self.places) {
                    let cell = values.next(encoder.longest_look()).map_err(|misfit| Error::Cell {
                        file: self.source.clone(),
                        row: self.row,
                        column: self.header.get(place).cloned().unwrap_or_default(),
                        value: misfit.value,
                        problem: misfit.problem,
                    })?;
                    rows.push(encoder, cell)?;
                }
            }
            self.row_in_group += some;
            remaining -= some;
        }
        Ok(())
    }
}

impl<R: ChunkReader + 'static> ReadRows for Rows<R> {
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

    fn design(&self) -> Option<&str> {
        let metadata = self.metadata.file_metadata().key_value_metadata();
        metadata.into_iter().flatten().find(|pair| pair.key == DESIGN)?.value.as_deref()
    }

    fn held(&self, place: usize) -> Option<Held> {
        let leaf = self.leaves.get(place).copied().flatten()?;
        let column = self.metadata.file_metadata().schema_descr().columns().get(leaf)?;
        held(column, &self.meaning(place, column).ok()?)
    }

    fn unsupported(&self, place: usize) -> Option<String> {
        let Some(leaf) = self.leaves.get(place).copied().flatten() else { return Some(NESTED.into()) };
        let column = self.metadata.file_metadata().schema_descr().columns().get(leaf)?;
        self.meaning(place, column).err().map(|kind| values_of(&kind))
    }

    fn bytes(&self) -> u64 {
        let total = self.metadata.file_metadata().num_rows().max(1) as u128;
        (u128::from(self.file.len()) * self.row as u128 / total) as u64
    }
}

/// Content of a nested column.
const NESTED: &str = "lists or groups";

/// Content of a column of an unsupported type.
fn values_of(kind: &str) -> String {
    format!("values of the type {kind}")
}

/// Reads the footer, which is followed by its length and four letters at the end of the file.
fn footer_of(file: &impl ChunkReader) -> parquet::errors::Result<Bytes> {
    let short = || ParquetError::EOF("the file is shorter than declared".into());
    let end = file.len().checked_sub(8).ok_or_else(short)?;
    let tail = file.get_bytes(end, 8)?;
    let length = tail.first_chunk().map_or(0, |length| u32::from_le_bytes(*length));
    let start = end.checked_sub(length.into()).ok_or_else(short)?;
    file.get_bytes(start, length as usize)
}

fn in_one_line(error: &ParquetError) -> String {
    let text = match error {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => text.clone(),
        other => other.to_string(),
    };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}
