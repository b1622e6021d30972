//! Encoded records with a target.

use crate::PackedTable;
use crate::when::day;
use jiff::civil::Date;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_core::{RecordDomain, Table, Target};
use scumble_noise::NoiseKey;
use scumble_parquet::open;
use scumble_records::Result;
use scumble_records::{Chosen, Clipped, Kind, Learning, Loaded, OutOfBounds, Reader, Schema, TextFormat};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Location of a data set's public schema. Mechanisms are designed for the columns and bounds of this schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaAt {
    /// A file.
    File(PathBuf),
    /// The schema of the [`Source`](crate::Source) with this name.
    Source(&'static str),
    /// The value `schema` of a program in Python.
    Python,
}

/// A file of records, and the way to read it.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// The file: CSV or Parquet.
    pub file: &'a Path,
    /// The file of its schema.
    pub schema: &'a Path,
    /// The column to learn.
    pub target: &'a str,
    /// The text format of the file, such as its delimiter. Properties that it does not state are recognised
    /// from the file.
    pub format: TextFormat,
    /// Classification or regression, if the schema permits both.
    pub learning: Option<Learning>,
    /// Drops rows whose target is missing.
    pub drops_missing_target: bool,
}

impl<'a> Input<'a> {
    /// Creates an input with the default text format and the kind of learning in its schema.
    pub fn new(file: &'a Path, schema: &'a Path, target: &'a str) -> Self {
        Self {
            file,
            schema,
            target,
            format: TextFormat::default(),
            learning: None,
            drops_missing_target: false,
        }
    }

    /// Refuses a schema with a column of people's ids. `what` names what would mix the records of people.
    fn refuse_people(&self, what: &str) -> Result<()> {
        match Schema::read(self.schema)?.person() {
            None => Ok(()),
            Some(person) => Err(scumble_records::Error::Schema {
                file: self.schema.display().to_string(),
                problem: format!(
                    "{what} would divide the records of a person (the ids are in {:?})",
                    person.name
                ),
            }),
        }
    }

    /// Loads the data set from the records that `read` reads by the schema. Returns it with the second value
    /// that `read` returns.
    fn load<T>(&self, read: impl FnOnce(Reader) -> Result<(Loaded, T)>) -> Result<(DataSet, T)> {
        let schema = Schema::read(self.schema)?.for_learning(self.target, self.learning)?;
        let rows = open(self.file, &self.format)?;
        let recognised = rows.recognised();
        let reader = Reader::new(rows, &schema, Some(self.target), OutOfBounds::Clip)?;
        let (loaded, extra) =
            read(if self.drops_missing_target { reader.without_missing_targets() } else { reader })?;
        let data = DataSet {
            schema: Some(SchemaAt::File(self.schema.into())),
            learning: self.learning,
            recognised,
            ..DataSet::loaded(&file_name(self.file), self.target, &schema, loaded)?
        };
        Ok((data, extra))
    }
}

/// Encoded records with a target, and their description.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The name of the data set, or of the file.
    pub name: String,
    /// The name of the target column.
    pub target: String,
    /// The encoded records.
    pub table: PackedTable,
    /// The domain of the records, from their schema.
    pub domain: RecordDomain,
    /// The schema of the columns; `None` for images, which have no schema.
    pub columns: Option<Schema>,
    /// The location of the schema; `None` for images, which have no schema.
    pub schema: Option<SchemaAt>,
    /// Difference of the target's bounds in the target's own unit; 1 for a class.
    pub target_width: f64,
    /// Number of different values of a numeric target. It is `None` unless all values are whole numbers and
    /// at most 12 different ones occur. Such values may be codes of classes.
    pub codes: Option<usize>,
    /// The kind of learning, classification or regression, that the input of [`read`](DataSet::read) states;
    /// `None` if it follows from the schema.
    pub learning: Option<Learning>,
    /// Description of the text format that was recognised in the file, for display.
    pub recognised: Option<String>,
    /// True if the records are public. Records of a [`Source`](crate::Source) are public, and records of a
    /// user's file are not.
    pub is_public: bool,
    /// True if the schema is a draft, with bounds taken from the records. No guarantee holds for the records
    /// then.
    pub is_drafted: bool,
    /// The cells that were clipped to the public bounds. They depend on the data, so only the data owner may
    /// see them.
    pub clipped: Vec<Clipped>,
    /// Number of rows that were dropped because their target is missing, for the data owner only.
    pub dropped: usize,
    /// All records of people, if they have several. `table` then has one record of each person.
    pub people: Option<Arc<PeopleRecords>>,
    /// Number of training records, if the data set has its own split. The training records come first, and
    /// all other records are test records.
    pub train_records: Option<usize>,
}

/// Records of people of whom several records may count.
#[derive(Debug, Clone)]
pub struct PeopleRecords {
    records: PackedTable,
    /// Rows of each person that count, with their shares.
    people: Vec<Chosen>,
}

impl PeopleRecords {
    /// Records of these `people`, with their [shares](Table::shares). A person is a row of
    /// [`DataSet::table`].
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) for a person who does not exist.
    pub fn of(&self, people: &[usize]) -> scumble_core::Result<Table> {
        let missing = || scumble_core::Error::shape(format!("there are {} people", self.people.len()));
        let own = people.iter().map(|person| self.people.get(*person).ok_or_else(missing));
        let own = own.collect::<scumble_core::Result<Vec<_>>>()?;
        let (rows, shares): (Vec<usize>, Vec<u16>) = own.into_iter().flatten().copied().unzip();
        self.records.select(&rows)?.with_shares(shares)
    }
}

impl DataSet {
    /// Reads a CSV or Parquet file by its schema.
    ///
    /// # Errors
    /// Any error of the file, with file, row, column and value.
    pub fn read(input: &Input) -> Result<Self> {
        let Some(column) = Schema::read(input.schema)?.person().cloned() else {
            return Ok(input.load(|reader| Ok((reader.read_all()?, ())))?.0);
        };
        let key = NoiseKey::from_bytes([0; 32]);
        let (data, people) = input.load(|reader| reader.read_people(&column, &key))?;
        let one: Vec<usize> = people.iter().filter_map(|own| Some(own.first()?.0)).collect();
        let table = data.table.select(&one)?.into();
        Ok(Self { people: Some(Arc::new(PeopleRecords { records: data.table, people })), table, ..data })
    }

    /// Reads a uniform sample of `records` records of the file (Vitter's algorithm R), and the file's number
    /// of records. The function reads the file once and holds at most `records` records.
    ///
    /// # Errors
    /// Same errors as [`read`](Self::read).
    pub fn read_sample(input: &Input, records: usize, seed: u64) -> Result<(Self, usize)> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let place = |row: usize| {
            let place = if row < records { row } else { rng.gen_range(0..=row) };
            (place < records).then_some(place)
        };
        input.refuse_people("a sample of records")?;
        input.load(|reader| reader.read_some(place))
    }

    /// Reads a file by its schema, with the records sorted by the dates in the column `by`.
    ///
    /// The schema need not contain `by`. The most recent share `test_share` of the records, in (0, 1), are
    /// test records. At least one record is a training record, and at least one is a test record. Records of
    /// one date keep the order of the file, even if the split separates them.
    ///
    /// # Errors
    /// Same errors as [`read`](Self::read), and an error for a cell that is not a date. Valid dates are
    /// `2011-12-01`, `2011-12` and `Dec-2011`.
    pub fn read_by_time(input: &Input, by: &str, test_share: f64) -> crate::Result<Self> {
        input.refuse_people("a split by time")?;
        let (data, cells) = input.load(|reader| reader.read_all_with_column(by))?;
        let dates = (1..).zip(&cells).map(|(row, cell)| day(&data.name, row, by, cell));
        let dates: Vec<Date> = dates.collect::<crate::Result<_>>()?;
        let mut oldest_first: Vec<usize> = (0..dates.len()).collect();
        oldest_first.sort_by_key(|&row| dates[row]);
        let table = PackedTable::from(data.table.select(&oldest_first)?);
        let records = table.len();
        let test = ((records as f64 * test_share).round() as usize).max(1);
        Ok(Self { table, train_records: Some(records.saturating_sub(test).max(1)), ..data })
    }

    /// Creates a data set with the records of `table`, and with the same target, schema and domain as this
    /// one. It has no split.
    pub fn with_table(&self, name: String, table: Table) -> Self {
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
            dropped: 0,
            people: None,
            train_records: None,
        }
    }

    /// Number of bins of each numeric column, by the column's name, if the schema states one. Mechanisms that
    /// count values in bins use these numbers.
    pub fn bins(&self) -> BTreeMap<String, usize> {
        self.columns.as_ref().map(|schema| schema.bins(Some(&self.target))).unwrap_or_default()
    }

    /// Creates a data set from records that were loaded by `schema`, without a split.
    ///
    /// # Errors
    /// [`MissingColumn`](scumble_records::Error::MissingColumn) if the schema lacks the target.
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
            dropped: loaded.dropped,
            people: None,
            train_records: None,
        })
    }
}

/// The name of a file without its folder, which pages and cards should not disclose.
fn file_name(file: &Path) -> String {
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Number of different values of a numeric target; `None` unless all values are whole numbers and at most 12
/// different ones occur.
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
