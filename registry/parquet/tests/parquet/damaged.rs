//! Files that were damaged, or lie: a sentence, or the records; no panic, and no memory without bound.

use crate::file::{Data, file};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use scumble_parquet::Rows;
use scumble_registry::{OutOfBounds, Reader, Result, Schema};

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0, missing = 1 },
    { name = "colour", kind = "category", levels = ["red", "green"] },
    { name = "count", kind = "real", lower = 0.0, upper = 10.0 },
    { name = "flag", kind = "category", levels = ["true", "false"], missing = "true" },
    { name = "price", kind = "real", lower = 0.0, upper = 10.0 },
]
"#;

/// How many records there are; of a file that says that they are many, the first thousands.
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
    let fields = "optional double size; required binary colour (UTF8); required int32 count; optional boolean flag; \
                  required fixed_len_byte_array(3) price (DECIMAL(6,3));";
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

/// Every byte of some small files, each changed in several ways, and every way to cut them.
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
