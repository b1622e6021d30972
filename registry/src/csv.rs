//! Reading a CSV file by its schema.

use crate::schema::{Clipped, Encoder};
use crate::{Error, RecordDomain, Result, Schema, Table};
use std::fs::File;
use std::io::Read;
use std::path::Path;

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

/// Reads `file` by `schema`, with `target` as what is to be learned.
///
/// # Errors
/// [`Error::Io`] where it cannot be opened, else as [`read`].
pub fn read_file(file: &Path, schema: &Schema, target: Option<&str>) -> Result<Loaded> {
    let opened = File::open(file).map_err(|source| Error::Io { file: file.into(), source })?;
    read(opened, &file.display().to_string(), schema, target)
}

/// Reads CSV by `schema`; `source` names it in errors.
///
/// # Errors
/// [`Error::Csv`] for what is no CSV, [`Error::MissingColumn`] and [`Error::DuplicateColumn`] for its header,
/// [`Error::RowLength`] and [`Error::Cell`] for its rows, [`Error::Empty`] where it has none.
pub fn read(input: impl Read, source: &str, schema: &Schema, target: Option<&str>) -> Result<Loaded> {
    // A row of another length is ours to name, so the parser lets it pass.
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(input);
    let unreadable = |error: csv::Error| Error::Csv { file: source.into(), problem: error.to_string() };
    let header = reader.headers().map_err(unreadable)?.clone();
    let names: Vec<&str> = header.iter().map(str::trim).collect();
    if let [only] = names[..]
        && let Some(separator) = only.chars().find(|c| [';', '\t', '|'].contains(c))
    {
        return Err(Error::Csv {
            file: source.into(),
            problem: format!("its columns seem to be separated by {separator:?}, and commas are read"),
        });
    }
    let mut encoder: Encoder = schema.encoder(&names, target, source)?;
    let mut flat = vec![];
    let mut record = csv::StringRecord::new();
    let mut row = 0;
    while reader.read_record(&mut record).map_err(unreadable)? {
        row += 1;
        flat.extend(encoder.encode(row, record.iter())?);
    }
    Ok(Loaded { table: encoder.table(flat)?, domain: encoder.domain().clone(), clipped: encoder.clipped() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let text = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
        Schema::from_toml(text, "schema.toml").unwrap()
    }

    fn message(bytes: &[u8]) -> String {
        let message = read(bytes, "data.csv", &schema(), None).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn a_file_is_read_by_its_header() {
        let loaded = read(&b"id,size\na,1\nb,3\n"[..], "data.csv", &schema(), None).unwrap();
        assert_eq!(*loaded.table.records(), ndarray::array![[0.5], [1.0]]);
        assert_eq!(loaded.clipped[0].cells, 1);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        assert!(read(&b"\xef\xbb\xbfsize\n1\n"[..], "data.csv", &schema(), None).is_ok());
    }

    #[test]
    fn bad_files_get_one_line() {
        assert_eq!(message(b"size\n"), "data.csv holds no records");
        assert!(message(b"").contains("there is no column \"size\""));
        assert!(message(b"size,size\n1,2\n").contains("twice"));
        assert!(message(b"id;size\n1;2\n").contains("separated by ';'"));
        assert!(message(b"size\n1\n1,2\n").contains("row 2: it has 2 cells"));
        assert!(message(b"size\n\xff\xfe\n").contains("UTF-8"));
        let missing = read_file(Path::new("no/such.csv"), &schema(), None).unwrap_err();
        assert!(missing.to_string().starts_with("no/such.csv: "), "{missing}");
    }
}
