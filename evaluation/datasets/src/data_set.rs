//! Encoded records with a target.

use crate::PackedTable;
use crate::when::day;
use jiff::civil::Date;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_core::{RecordDomain, Table, Target};
use scumble_parquet::open;
use scumble_records::Result;
use scumble_records::{Clipped, Kind, Learning, Loaded, OutOfBounds, Reader, Schema, TextFormat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Where the public schema of a data set lies, by which mechanisms are designed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaAt {
    /// In this file.
    File(PathBuf),
    /// With the [`Source`](crate::Source) of this name.
    Source(&'static str),
}

/// A file of records, and how it is read.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The file: CSV or Parquet.
    pub file: &'a Path,
    /// Its schema.
    pub schema: &'a Path,
    /// The column to learn.
    pub target: &'a str,
    /// How its text is written, as far as that is said.
    pub format: TextFormat,
    /// Whether the target is a class or a number, where its schema leaves that open.
    pub learning: Option<Learning>,
}

impl<'a> Input<'a> {
    /// One that is written and learned as it says itself.
    pub fn new(file: &'a Path, schema: &'a Path, target: &'a str) -> Self {
        Self { file, schema, target, format: TextFormat::default(), learning: None }
    }

    /// Its records, once `read` has read them.
    fn load<T>(&self, read: impl FnOnce(Reader) -> Result<(Loaded, T)>) -> Result<(DataSet, T)> {
        let schema = Schema::read(self.schema)?.for_learning(self.target, self.learning)?;
        let rows = open(self.file, &self.format)?;
        let recognised = rows.recognised();
        let (loaded, beside) = read(Reader::new(rows, &schema, Some(self.target), OutOfBounds::Clip)?)?;
        let data = DataSet {
            schema: Some(SchemaAt::File(self.schema.into())),
            learning: self.learning,
            recognised,
            ..DataSet::loaded(&file_name(self.file), self.target, &schema, loaded)?
        };
        Ok((data, beside))
    }
}

/// Encoded records with a target, and how to speak of them.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The data set's name, or the file's.
    pub name: String,
    /// What is learned: a column's name.
    pub target: String,
    /// The encoded records.
    pub table: PackedTable,
    /// Where they lie, by their schema.
    pub domain: RecordDomain,
    /// Their columns; `None` for images, which have no schema.
    pub columns: Option<Schema>,
    /// Where that schema is; none for images, which have none.
    pub schema: Option<SchemaAt>,
    /// The width of the target's bounds in its own unit; 1 for a class.
    pub target_width: f64,
    /// How many values a target has that is a number, where they are whole and so few that they may be codes of classes.
    pub codes: Option<usize>,
    /// What was said of whether the target is a class or a number.
    pub learning: Option<Learning>,
    /// What was recognised of how its file is written, for people.
    pub recognised: Option<String>,
    /// Whether its records are public: those of the named data sets are, and a file's are not.
    pub is_public: bool,
    /// Whether its schema is a draft, whose bounds were taken from the records: then nothing is guaranteed of them yet.
    pub is_drafted: bool,
    /// What was clipped to the public bounds. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
    /// The first so many records are for training, where the set has a split of its own: given, or by time. The rest are
    /// its test records.
    pub train_records: Option<usize>,
}

impl DataSet {
    /// A file, CSV or Parquet, by its schema.
    ///
    /// # Errors
    /// Whatever is wrong with the file, in a sentence that names file, row, column and value.
    pub fn read(input: &Input) -> Result<Self> {
        Ok(input.load(|reader| Ok((reader.read_all()?, ())))?.0)
    }

    /// The same of so many records of the file, each as likely as any other (Vitter's algorithm R), and how many it has: one pass, in which no more are held.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_sample(input: &Input, records: usize, seed: u64) -> Result<(Self, usize)> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let place = |row: usize| {
            let place = if row < records { row } else { rng.gen_range(0..=row) };
            (place < records).then_some(place)
        };
        input.load(|reader| reader.read_some(place))
    }

    /// A file by its schema, its records in the order of the dates in the column `by`, of which the schema
    /// need not know. The youngest `test_share` of them, in (0, 1), are its test records, one at least on either side. Records of one
    /// date keep the order of the file, also where the split parts them.
    ///
    /// # Errors
    /// As [`read`](Self::read), also for what is no date: `2011-12-01`, `2011-12` and `Dec-2011` are some.
    pub fn read_by_time(input: &Input, by: &str, test_share: f64) -> crate::Result<Self> {
        let (data, cells) = input.load(|reader| reader.read_all_beside(by))?;
        let dates = (1..).zip(&cells).map(|(row, cell)| day(&data.name, row, by, cell));
        let dates: Vec<Date> = dates.collect::<crate::Result<_>>()?;
        let mut oldest_first: Vec<usize> = (0..dates.len()).collect();
        oldest_first.sort_by_key(|&row| dates[row]);
        let table = PackedTable::from(data.table.select(&oldest_first)?);
        let records = table.len();
        let test = ((records as f64 * test_share).round() as usize).max(1);
        Ok(Self { table, train_records: Some(records.saturating_sub(test).max(1)), ..data })
    }

    /// The same data set of no more than `table`, without a split of its own.
    pub fn of(&self, name: String, table: Table) -> Self {
        Self {
            name,
            target: self.target.clone(),
            table: table.into(),
            domain: self.domain.clone(),
            schema: self.schema.clone(),
            columns: self.columns.clone(),
            target_width: self.target_width,
            codes: self.codes,
            learning: self.learning,
            recognised: None,
            is_public: self.is_public,
            is_drafted: self.is_drafted,
            clipped: vec![],
            train_records: None,
        }
    }

    /// Number of bins of the numbers whose schema states it, for mechanisms that count.
    pub fn bins(&self) -> BTreeMap<String, usize> {
        self.columns.as_ref().map(|schema| schema.bins(Some(&self.target))).unwrap_or_default()
    }

    /// What was loaded by `schema`, without a split of its own.
    ///
    /// # Errors
    /// [`MissingColumn`](scumble_records::Error::MissingColumn) for a target that the schema lacks.
    pub fn loaded(name: &str, target: &str, schema: &Schema, loaded: Loaded) -> Result<Self> {
        let kind = &schema.column(target)?.kind;
        let target_width = if kind.levels().is_some() { 1.0 } else { kind.width() };
        let codes = codes(kind, loaded.table.target());
        Ok(Self {
            name: name.into(),
            target: target.into(),
            table: loaded.table.into(),
            domain: loaded.domain,
            schema: None,
            columns: Some(schema.clone()),
            target_width,
            codes,
            learning: None,
            recognised: None,
            is_public: false,
            is_drafted: schema.is_draft(),
            clipped: loaded.clipped,
            train_records: None,
        })
    }
}

/// The name of a file without its folder, which pages and cards need not tell.
fn file_name(file: &Path) -> String {
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// How many values a number has, where they are whole and few.
fn codes(kind: &Kind, target: &Target) -> Option<usize> {
    const FEW: usize = 12;
    let (lower, width) = match kind {
        Kind::Real { lower, upper, .. } => (*lower, upper - lower),
        Kind::Integer { lower, .. } => (*lower as f64, kind.width()),
        _ => return None,
    };
    let Target::Real(values) = target else { return None };
    let mut found = BTreeSet::new();
    for value in values {
        let number = lower + value * width;
        let is_code = (number - number.round()).abs() < 1e-9 * (1.0 + number.abs());
        if !is_code || (found.insert(number.round() as i64) && found.len() > FEW) {
            return None;
        }
    }
    Some(found.len())
}
