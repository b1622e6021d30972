//! Damaged files and files with false metadata: they give an error in one line or the records, never a panic
//! or unbounded memory.

use crate::file::{Data, file};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::{WriterProperties, WriterVersion};
use scumble_parquet::Rows;
use scumble_records::{OutOfBounds, Reader, Result, Schema};

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0, missing = 1 },
    { name = "colour", kind = "category", levels = ["red", "green"] },
    { name = "count", kind = "real", lower = 0.0, upper = 10.0 },
    { name = "flag", kind = "category", levels = ["true", "false"], missing = "true" },
    { name = "price", kind = "real", lower = 0.0, upper = 10.0 },
]
"#;

/// Counts the records. Stops after some thousands for a file that claims to have many.
fn read(bytes: Bytes, schema: &Schema) -> Result<usize> {
    let mut reader = Reader::new(Rows::new(bytes, "data.parquet")?, schema, None, OutOfBounds::Clip)?;
    let mut records = 0;
    while let Some(rows) = reader.next_rows(16)? {
        rows.encode(reader.encoder(), &mut vec![], &mut Default::default())?;
        records += rows.len(reader.encoder());
        if records > 4096 {
            break;
        }
    }
    Ok(records)
}

fn small(version: WriterVersion, compression: Compression, has_dictionary: bool) -> Vec<u8> {
    let fields = "optional double size; required binary colour (UTF8); required int32 count; optional \
                  boolean flag; required fixed_len_byte_array(3) price (DECIMAL(6,3));";
    let columns = [
        Data::Double((0..40).map(|row| (row % 3 > 0).then_some(f64::from(row) / 4.0)).collect()),
        Data::Bytes((0..40).map(|row| Some([&b"red"[..], b"green"][row % 2].to_vec())).collect()),
        Data::Small((0..40).map(|row| Some(row % 11)).collect()),
        Data::Flags((0..40).map(|row| (row % 4 > 0).then_some(row % 2 == 0)).collect()),
        Data::Fixed((0..40).map(|row| Some(vec![0, row, 7])).collect()),
    ];
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_dictionary_enabled(has_dictionary)
        .set_column_encoding("colour".into(), parquet::basic::Encoding::PLAIN)
        .set_column_encoding("price".into(), parquet::basic::Encoding::PLAIN);
    file(fields, &columns, 25, properties.build()).to_vec()
}

/// Returns the same pages with a footer that claims `rows_per_group` rows per row group.
fn with_rows(bytes: &[u8], rows_per_group: i64) -> Bytes {
    let whole = Bytes::copy_from_slice(bytes);
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&whole).unwrap();
    let groups = metadata
        .row_groups()
        .iter()
        .map(|group| group.clone().into_builder().set_num_rows(rows_per_group).build());
    let file = metadata.file_metadata();
    let file = FileMetaData::new(file.version(), 0, None, None, file.schema_descr_ptr(), None);
    let lying = ParquetMetaData::new(file, groups.collect::<std::result::Result<_, _>>().unwrap());
    let footer = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    let mut written = bytes[..bytes.len() - 8 - footer].to_vec();
    ParquetMetaDataWriter::new(&mut written, &lying).finish().unwrap();
    written.into()
}

#[test]
fn a_footer_that_lies_of_rows_is_found_out() {
    let sizes = Data::Double((0..20).map(|row| Some(f64::from(row))).collect());
    let bytes = file("required double x;", &[sizes], 10, WriterProperties::default());
    let schema = Schema::from_numeric_columns(&["x".into()]).unwrap();
    assert_eq!(read(with_rows(&bytes, 10), &schema).unwrap(), 20);
    let broken = "data.parquet: column \"x\" of its row group 1 cannot be read: it has";
    for (rows_per_group, expected) in [
        (9, format!("{broken} more rows than its footer says")),
        (11, format!("{broken} fewer rows than its footer says")),
        (i64::MAX / 4, format!("{broken} fewer rows than its footer says")),
        (-10, "data.parquet: its footer is not valid Parquet: its row groups do not add up".into()),
    ] {
        assert_eq!(read(with_rows(&bytes, rows_per_group), &schema).unwrap_err().to_string(), expected);
    }
}

/// Wraps a footer in Thrift's compact protocol as a file.
fn with_footer(footer: &[u8]) -> Bytes {
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", footer, &length, b"PAR1"].concat().into()
}

#[test]
fn a_footer_that_is_deep_or_long_is_refused() {
    let schema = Schema::from_numeric_columns(&["x".into()]).unwrap();
    // A million nested groups.
    let group = [0x35, 0, 0x18, 1, b'a', 0x15, 2, 0];
    let leaf = [0x15, 2, 0x25, 0, 0x18, 1, b'a', 0];
    let deep = [
        &[0x15, 2, 0x19, 0xfc, 0xc1, 0x84, 0x3d][..],
        &group.repeat(1_000_000),
        &leaf,
        &[0x16, 0, 0x19, 0x0c, 0],
    ];
    let refused = read(with_footer(&deep.concat()), &schema).unwrap_err().to_string();
    assert!(refused.starts_with("data.parquet: "), "{refused}");
    // A list of two billion columns in eight bytes.
    let long = [0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
    let refused = read(with_footer(&long), &schema).unwrap_err().to_string();
    assert!(refused.starts_with("data.parquet: its footer is not valid Parquet"), "{refused}");
    // A footer of four gigabytes in an empty file.
    let nothing = Bytes::from_static(b"PAR1\xff\xff\xff\xffPAR1");
    assert!(read(nothing, &schema).is_err());
}

/// Changes every byte of some small files in several ways, and cuts the files at every byte.
#[test]
fn no_damage_is_more_than_a_sentence() {
    let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
    for (version, compression, has_dictionary) in [
        (WriterVersion::PARQUET_1_0, Compression::UNCOMPRESSED, true),
        (WriterVersion::PARQUET_2_0, Compression::UNCOMPRESSED, false),
        (WriterVersion::PARQUET_1_0, Compression::SNAPPY, false),
        (WriterVersion::PARQUET_2_0, Compression::SNAPPY, true),
    ] {
        let whole = small(version, compression, has_dictionary);
        assert_eq!(read(whole.clone().into(), &schema).unwrap(), 40);
        let mut refused = 0;
        for at in 0..whole.len() {
            for change in [0x01, 0x80, 0xff, whole[at], whole[at].wrapping_neg(), 0x10] {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                if let Err(error) = read(damaged.into(), &schema) {
                    let sentence = error.to_string();
                    assert!(sentence.starts_with("data.parquet") && !sentence.contains('\n'), "{sentence}");
                    refused += 1;
                }
            }
            assert!(read(whole[..at].to_vec().into(), &schema).is_err(), "cut at {at}");
        }
        assert!(refused > whole.len(), "{refused} of {} changes were seen", 6 * whole.len());
    }
}
