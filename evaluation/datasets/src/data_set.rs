//! Encoded records with a target.

use crate::when::day;
use jiff::civil::Date;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_core::{RecordDomain, Table};
use scumble_parquet::open;
use scumble_records::Result;
use scumble_records::{Clipped, Kind, Loaded, OutOfBounds, Reader, Schema};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the public schema of a data set lies, by which mechanisms are designed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaAt {
    /// In this file.
    File(PathBuf),
    /// With the [`Source`](crate::Source) of this name.
    Source(&'static str),
}

/// Encoded records with a target, and how to speak of them.
#[derive(Debug, Clone)]
pub struct DataSet {
    /// The data set's name, or the file's.
    pub name: String,
    /// What is learned: a column's name.
    pub target: String,
    /// The encoded records.
    pub table: Table,
    /// Where they lie, by their schema.
    pub domain: RecordDomain,
    /// Into how many bins numbers are divided where they are counted, as far as the schema says so.
    pub bins: BTreeMap<String, usize>,
    /// Where that schema is; none for images, which have none.
    pub schema: Option<SchemaAt>,
    /// The width of the target's bounds in its own unit; 1 for a class.
    pub target_width: f64,
    /// Whether its schema is a draft, whose bounds were taken from the records: then nothing is guaranteed of them yet.
    pub is_drafted: bool,
    /// What was clipped to the public bounds. It is about the data: for their owner alone.
    pub clipped: Vec<Clipped>,
    /// The first so many records are for training, where the set has a split of its own: given, or by time. The rest are
    /// its test records.
    pub train_records: Option<usize>,
}

impl DataSet {
    /// A file, CSV or Parquet, by its schema, to learn the column `target`.
    ///
    /// # Errors
    /// Whatever is wrong with the file, in a sentence that names file, row, column and value.
    pub fn read(input: &Path, schema: &Path, target: &str) -> Result<Self> {
        let at = SchemaAt::File(schema.into());
        let schema = Schema::read(schema)?;
        let loaded = Reader::new(open(input)?, &schema, Some(target), OutOfBounds::Clip)?.read_all()?;
        Ok(Self { schema: Some(at), ..Self::new(&input.display().to_string(), target, &schema, loaded)? })
    }

    /// The same of so many records of the file, each as likely as any other (Vitter's algorithm R), and how many it has: one pass, in which no more are held.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_sample(
        input: &Path,
        schema: &Path,
        target: &str,
        records: usize,
        seed: u64,
    ) -> Result<(Self, usize)> {
        let at = SchemaAt::File(schema.into());
        let schema = Schema::read(schema)?;
        let reader = Reader::new(open(input)?, &schema, Some(target), OutOfBounds::Clip)?;
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let place = |row: usize| {
            let place = if row < records { row } else { rng.gen_range(0..=row) };
            (place < records).then_some(place)
        };
        let (loaded, count) = reader.read_some(place)?;
        let data = Self::new(&input.display().to_string(), target, &schema, loaded)?;
        Ok((Self { schema: Some(at), ..data }, count))
    }

    /// A file, CSV or Parquet, by its schema, to learn the column `target`, its records in the order of the dates in the column `by`, of which the schema
    /// need not know. The youngest `test_share` of them, in (0, 1), are its test records, one at least on either side. Records of one
    /// date keep the file's order, also where the split parts them.
    ///
    /// # Errors
    /// As [`read`](Self::read), also for what is no date: `2011-12-01`, `2011-12` and `Dec-2011` are some.
    pub fn read_by_time(
        input: &Path,
        schema: &Path,
        target: &str,
        by: &str,
        test_share: f64,
    ) -> crate::Result<Self> {
        let at = SchemaAt::File(schema.into());
        let schema = Schema::read(schema)?;
        let reader = Reader::new(open(input)?, &schema, Some(target), OutOfBounds::Clip)?;
        let (loaded, cells) = reader.read_all_beside(by)?;
        let file = input.display().to_string();
        let dates = (1..).zip(&cells).map(|(row, cell)| day(&file, row, by, cell));
        let dates: Vec<Date> = dates.collect::<crate::Result<_>>()?;
        let mut oldest_first: Vec<usize> = (0..dates.len()).collect();
        oldest_first.sort_by_key(|&row| dates[row]);
        let table = loaded.table.select(&oldest_first)?;
        let records = table.len();
        let test = ((records as f64 * test_share).round() as usize).max(1);
        let data = Self::new(&file, target, &schema, Loaded { table, ..loaded })?;
        let train_records = Some(records.saturating_sub(test).max(1));
        Ok(Self { schema: Some(at), train_records, ..data })
    }

    /// The same data set of no more than `table`, without a split of its own.
    pub fn of(&self, name: String, table: Table) -> Self {
        Self {
            name,
            target: self.target.clone(),
            table,
            domain: self.domain.clone(),
            schema: self.schema.clone(),
            bins: self.bins.clone(),
            target_width: self.target_width,
            is_drafted: self.is_drafted,
            clipped: vec![],
            train_records: None,
        }
    }

    /// What was loaded by `schema`, without a split of its own.
    pub(crate) fn new(name: &str, target: &str, schema: &Schema, loaded: Loaded) -> Result<Self> {
        let target_width = match schema.column(target)?.kind {
            Kind::Real { lower, upper, .. } => upper - lower,
            Kind::Category { .. } => 1.0,
        };
        Ok(Self {
            name: name.into(),
            target: target.into(),
            table: loaded.table,
            domain: loaded.domain,
            schema: None,
            bins: schema.bins(Some(target)),
            target_width,
            is_drafted: schema.is_draft(),
            clipped: loaded.clipped,
            train_records: None,
        })
    }
}
