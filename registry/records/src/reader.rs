//! A file's records by a schema: whole, or some rows at a time.

use crate::Result;
use crate::{Clipped, Clips, Encoder, OutOfBounds, RawRows, ReadRows, Schema};
use ndarray::Array2;
use scumble_core::{RecordDomain, Table};

/// A file's records, where they lie by its schema, and what was clipped to get them there.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The encoded records.
    pub table: Table,
    /// Where they lie.
    pub domain: RecordDomain,
    /// What was clipped. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
}

/// Records of a file by a schema, some rows at a time and in bounded memory, whatever the file's format.
///
/// ```
/// use scumble_records::{Clips, OutOfBounds, Reader, Schema, csv};
///
/// let schema = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
/// let schema = Schema::from_toml(schema, "schema.toml")?;
/// let file = csv::Rows::new(&b"id,size\na,1\nb,2\n"[..], "data.csv")?;
/// let mut reader = Reader::new(file, &schema, None, OutOfBounds::Clip)?;
/// let mut records = vec![];
/// while let Some(rows) = reader.next_rows(1)? {
///     rows.encode(reader.encoder(), &mut records, &mut Clips::default())?;
/// }
/// assert_eq!(records, [0.5, 1.0]);
/// # Ok::<(), scumble_records::Error>(())
/// ```
pub struct Reader<'r> {
    rows: Box<dyn ReadRows + 'r>,
    encoder: Encoder,
}

impl<'r> Reader<'r> {
    /// Reads `rows` by `schema`, with `target` as what is to be learned.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](crate::Error::MissingColumn) and [`Error::DuplicateColumn`](crate::Error::DuplicateColumn).
    pub fn new(
        rows: impl ReadRows + 'r,
        schema: &Schema,
        target: Option<&str>,
        out_of_bounds: OutOfBounds,
    ) -> Result<Self> {
        let encoder = schema.encoder(&header(&rows), target, out_of_bounds, rows.source())?;
        Ok(Self { rows: Box::new(rows), encoder })
    }

    /// What encodes the rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// About how many bytes were read.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// The next `most` rows, or as many as there are; none at the end.
    ///
    /// # Errors
    /// As [`ReadRows::next_rows`].
    pub fn next_rows(&mut self, most: usize) -> Result<Option<RawRows>> {
        self.rows.next_rows(&self.encoder, most)
    }

    /// All rows that are left.
    ///
    /// # Errors
    /// As [`next_rows`](Self::next_rows), [`Error::Cell`](crate::Error::Cell) for any other cell that does not fit, and
    /// [`Error::Empty`](scumble_core::Error::Empty).
    pub fn read_all(self) -> Result<Loaded> {
        Ok(self.read(false)?.0)
    }

    /// All rows that are left, and beside them the cells of one `column`, of which the schema need not know: one a record, as text.
    ///
    /// # Errors
    /// As [`read_all`](Self::read_all), [`Error::MissingColumn`](crate::Error::MissingColumn) and
    /// [`Error::DuplicateColumn`](crate::Error::DuplicateColumn).
    pub fn read_all_beside(self, column: &str) -> Result<(Loaded, Vec<String>)> {
        let encoder = self.encoder.beside(column, &header(&self.rows))?;
        Self { encoder, ..self }.read(true)
    }

    /// All rows that are left, and the last cell of each, if that stands beside the record.
    fn read(mut self, is_beside: bool) -> Result<(Loaded, Vec<String>)> {
        let (mut flat, mut clips, mut beside) = (vec![], Clips::default(), vec![]);
        while let Some(rows) = self.next_rows(1024)? {
            rows.encode(&self.encoder, &mut flat, &mut clips)?;
            if is_beside {
                let last = rows.cells().skip(self.encoder.width() - 1).step_by(self.encoder.width());
                beside.extend(last.map(|cell| cell.text().into_owned()));
            }
        }
        let loaded = Loaded {
            table: self.encoder.table(flat)?,
            domain: self.encoder.domain().clone(),
            clipped: self.encoder.clipped(&clips),
        };
        Ok((loaded, beside))
    }
}

/// Reads the matrix (m × d) in a file of finite numbers, whose header names the d `columns` in any order.
///
/// # Errors
/// As [`Reader`].
pub fn read_matrix(rows: impl ReadRows, columns: &[String]) -> Result<Array2<f64>> {
    let numbers = Schema::of_numbers(columns)?;
    Ok(Reader::new(rows, &numbers, None, OutOfBounds::Keep)?.read_all()?.table.records().clone())
}

fn header(rows: &impl ReadRows) -> Vec<&str> {
    rows.header().iter().map(String::as_str).collect()
}
