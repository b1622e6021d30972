//! Releases of files in a stream. The times of reading, adding noise and writing are compared with the time
//! of the whole release.

use crate::{Contestant, Host, Result, Section, memory, records, threads};
use scumble::core::{Design, LocalMechanism, Randomness, RecordDomain, Table};
use scumble::parquet::{self, FileWriter};
use scumble::records::{Decoder, OutOfBounds, ReadRows, Reader, Schema, csv, stream};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// Number of records in the files of the sections in this module.
const RECORDS: usize = 20_000;
const COLUMNS: usize = 30;
const VALUES: usize = RECORDS * COLUMNS;

/// The same records in three forms: a CSV file, a Parquet file, and an encoded table.
pub(crate) struct Files {
    schema: Schema,
    csv: String,
    table: Table,
    folder: TempDir,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Csv,
    Parquet,
}

impl Format {
    fn writer<'o>(self, output: &'o mut Vec<u8>, decoder: &Decoder) -> Result<FileWriter<'o>> {
        let name = match self {
            Self::Csv => "released.csv",
            Self::Parquet => "released.parquet",
        };
        Ok(FileWriter::new(name.as_ref(), output, decoder)?)
    }
}

impl Files {
    fn new() -> Result<Self> {
        Self::with_size(RECORDS, COLUMNS)
    }

    fn with_size(records: usize, columns: usize) -> Result<Self> {
        let schema = schema(columns)?;
        let csv = text(records, columns);
        let table = csv::read(csv.as_bytes(), "the CSV file", &schema, None)?.table;
        let files = Self { schema, csv, table, folder: tempfile::tempdir()? };
        fs::write(files.parquet(), files.written(Format::Parquet, &files.table)?)?;
        Ok(files)
    }

    /// Creates the files for a release from Parquet to Parquet, in Rust and in Python.
    pub(crate) fn for_parquet(records: usize, columns: usize) -> Result<Self> {
        let files = Self::with_size(records, columns)?;
        fs::write(files.folder.path().join("schema.toml"), schema_text(columns)?)?;
        Ok(files)
    }

    /// Returns the arguments of the peer's program for `task` on these files.
    pub(crate) fn arguments(&self, task: &str) -> String {
        format!("{task} {} {}", self.parquet().display(), self.folder.path().join("schema.toml").display())
    }

    pub(crate) fn domain(&self) -> Result<RecordDomain> {
        Ok(self.schema.domain(None)?)
    }

    /// Releases the Parquet file, and returns the released file in memory.
    pub(crate) fn parquet_released(&self, design: &Design) -> Result<Vec<u8>> {
        self.released(Format::Parquet, design)
    }

    fn parquet(&self) -> std::path::PathBuf {
        self.folder.path().join("records.parquet")
    }

    fn size(&self, format: Format) -> Result<usize> {
        Ok(match format {
            Format::Csv => self.csv.len(),
            Format::Parquet => usize::try_from(fs::metadata(self.parquet())?.len())?,
        })
    }

    fn reader(&self, format: Format) -> Result<Reader<'_>> {
        let rows: Box<dyn ReadRows + '_> = match format {
            Format::Csv => Box::new(csv::Rows::new(self.csv.as_bytes(), "the CSV file")?),
            Format::Parquet => parquet::open(&self.parquet(), &Default::default())?,
        };
        Ok(Reader::new(rows, &self.schema, None, OutOfBounds::Clip)?)
    }

    /// Releases the file of the given `format`, and returns the released file in memory.
    fn released(&self, format: Format, design: &Design) -> Result<Vec<u8>> {
        let local = local(design)?;
        let decoder = self.schema.decoder(&local.layout(), None);
        // The capacity is about the size of the output. A growing vector would be copied, on a single thread.
        let (mut reader, mut output) =
            (self.reader(format)?, Vec::with_capacity(20 * self.table.records().len()));
        let streams = Randomness::from_os()?.streams();
        let writer = format.writer(&mut output, &decoder)?;
        stream::release(local, &mut reader, &decoder, &streams, writer, |_| Ok(()))?;
        Ok(output)
    }

    /// Writes a table as a file in memory.
    fn written(&self, format: Format, table: &Table) -> Result<Vec<u8>> {
        let decoder: Decoder = self.schema.decoder(&self.schema.domain(None)?.layout(), None);
        let mut output = vec![];
        stream::write(table, &decoder, format.writer(&mut output, &decoder)?)?;
        Ok(output)
    }
}

pub(crate) fn csv_section(_: &Host) -> Result<Section> {
    let files = Arc::new(Files::new()?);
    let crate_alone = files.clone();
    let bytes_alone = Contestant::timed("the `csv` crate, reading cells as bytes alone", VALUES, move || {
        let mut reader = ::csv::Reader::from_reader(crate_alone.csv.as_bytes());
        let (mut record, mut bytes) = (::csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record)? {
            bytes += record.as_slice().len();
        }
        Ok(bytes)
    });
    let crate_parsing = files.clone();
    let numbers =
        Contestant::timed("the `csv` crate, and the standard library's `parse`, alone", VALUES, move || {
            let mut reader = ::csv::Reader::from_reader(crate_parsing.csv.as_bytes());
            let (mut record, mut sum) = (::csv::StringRecord::new(), 0.0);
            while reader.read_record(&mut record)? {
                for cell in &record {
                    sum += cell.parse::<f64>()?;
                }
            }
            Ok(sum)
        });
    Ok(section(Format::Csv, &files)?.with_peers([bytes_alone, numbers]))
}

pub(crate) fn parquet_section(_: &Host) -> Result<Section> {
    section(Format::Parquet, &Arc::new(Files::new()?))
}

/// Builds a section that compares the whole release with its parts: reading, adding noise and writing.
fn section(format: Format, files: &Arc<Files>) -> Result<Section> {
    let mut contestants = vec![];
    for name in ["laplace", "identity"] {
        contestants.push(whole(files.clone(), format, name, &format!("scumble, `{name}`"))?);
    }
    let reading = files.clone();
    contestants.push(Contestant::timed("scumble, reading and encoding alone", VALUES, move || {
        Ok(stream::check(&mut reading.reader(format)?, |_| Ok(()))?)
    }));
    let (design, releasing, mut randomness) = (design("laplace")?, files.clone(), Randomness::from_os()?);
    let released = design.mechanism().release(&files.table, &mut randomness)?.table;
    contestants.push(Contestant::timed("scumble, `laplace` from table to table alone", VALUES, move || {
        Ok(design.mechanism().release(&releasing.table, &mut randomness)?)
    }));
    let output = files.written(format, &released)?.len();
    let writing = files.clone();
    contestants.push(Contestant::timed("scumble, writing what was released alone", VALUES, move || {
        writing.written(format, &released)
    }));
    let what = format!(
        "Time per value of a file of {RECORDS} records of {COLUMNS} numbers with about six digits. The file \
         is in memory or in the system's cache, and the output goes to memory. A release reads the file, \
         encodes it by public bounds, adds noise, and writes the fewest digits that read back to the same \
         number. The limit copies the bytes of both files, {:.1} and {:.1} a value.",
        files.size(format)? as f64 / VALUES as f64,
        output as f64 / VALUES as f64
    );
    let limit = memory::moved("a plain copy that moves as many bytes", files.size(format)? + output, VALUES);
    Ok(Section::new(what, contestants).limited_by(vec![limit]).concluding(slowest_part))
}

/// Sentences with the time of reading, noise and writing as parts of the time of a release, and the slowest
/// part. `medians` has the median times of the contestants of [`section`], in their order.
fn slowest_part(medians: &[f64]) -> String {
    let &[whole, _, reading, releasing, writing, ..] = medians else { return String::new() };
    let parts = [("reading", reading), ("noise", releasing), ("writing", writing)];
    let slowest = parts.into_iter().max_by(|one, other| one.1.total_cmp(&other.1)).map_or("", |part| part.0);
    let shares = parts.map(|(_, part)| 100.0 * part / whole);
    format!(
        "Timed alone, reading and encoding take {:.0} % of the time of `laplace`, the release from table to \
         table {:.0} %, and writing {:.0} %. The slowest part is {slowest}.",
        shares[0], shares[1], shares[2]
    )
}

/// Creates a contestant that releases a CSV file by `laplace` on `threads` threads.
pub(crate) fn csv_on(threads: usize) -> Result<Contestant> {
    let (files, design, pool) = (Files::new()?, design("laplace")?, threads::pool(threads)?);
    Ok(Contestant::timed("", 1, move || threads::run(&pool, || files.released(Format::Csv, &design))))
}

fn whole(files: Arc<Files>, format: Format, name: &str, named: &str) -> Result<Contestant> {
    let design = design(name)?;
    Ok(Contestant::timed(named, VALUES, move || files.released(format, &design)))
}

fn design(name: &str) -> Result<Design> {
    records::design_in(name, schema(COLUMNS)?.domain(None)?)
}

fn local(design: &Design) -> Result<&dyn LocalMechanism> {
    Ok(design.local()?)
}

fn schema(columns: usize) -> Result<Schema> {
    Ok(Schema::from_toml(&schema_text(columns)?, "the schema")?)
}

fn schema_text(columns: usize) -> Result<String> {
    let mut text = String::new();
    for column in 1..=columns {
        writeln!(text, "[[column]]\nname = \"x{column}\"\nkind = \"real\"\nlower = 0.0\nupper = 100.0")?;
    }
    Ok(text)
}

/// Returns the text of a CSV file whose numbers have up to two digits before the point and four after it.
fn text(records: usize, columns: usize) -> String {
    let row = |cell: &dyn Fn(usize) -> String| (1..=columns).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let mut text = row(&|column| format!("x{column}"));
    for at in 0..records {
        text += &row(&|column| format!("{}.{:04}", (at + column) % 100, (at * 31 + column * 17) % 10_000));
    }
    text
}
