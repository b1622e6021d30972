//! Tests of the conversion of each type, and of missing values.

use crate::file::{Data, file};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;
use scumble_parquet::{Rows, open};
use scumble_records::{Loaded, OutOfBounds, Reader, Result, Schema, TextFormat, draft};
use std::path::PathBuf;

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0, unit = "cm" },
    { name = "colour", kind = "category", levels = ["red", "green", "7", "true"] },
]
"#;

fn schema(text: &str) -> Schema {
    Schema::from_toml(text, "schema.toml").unwrap()
}

fn load(fields: &str, columns: &[Data], schema: &Schema, out_of_bounds: OutOfBounds) -> Result<Loaded> {
    let rows = Rows::new(file(fields, columns, 2, WriterProperties::default()), "data.parquet")?;
    Reader::new(rows, schema, None, out_of_bounds)?.read_all()
}

/// Reads the numbers in the column `x` of this type, unchanged.
fn numbers(kind: &str, data: Data) -> Vec<f64> {
    let numbers = Schema::from_numeric_columns(&["x".into()]).unwrap();
    let loaded = load(&kind.replace(" of", " x"), &[data], &numbers, OutOfBounds::Keep).unwrap();
    loaded.table.records().iter().copied().collect()
}

/// Returns the error about the column `colour` of this type, or about the second column.
fn refusal(fields: &str, columns: &[Data]) -> String {
    let refused = load(fields, columns, &schema(SCHEMA), OutOfBounds::Reject).unwrap_err().to_string();
    assert!(!refused.contains('\n'), "{refused}");
    refused
}

#[test]
fn numbers_are_what_they_are_whatever_holds_them() {
    let large = |values: &[i64]| Data::Large(values.iter().copied().map(Some).collect());
    let small = |values: &[i32]| Data::Small(values.iter().copied().map(Some).collect());
    let double = [0.1, -0.0, 1e-300, f64::MAX / 2.0];
    let read = numbers("required double of;", Data::Double(double.map(Some).to_vec()));
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), double.map(f64::to_bits));
    let single = Data::Single(vec![Some(0.1), Some(-2.5)]);
    assert_eq!(numbers("optional float of;", single), [f64::from(0.1_f32), -2.5]);
    assert_eq!(numbers("required int32 of;", small(&[7, -7])), [7.0, -7.0]);
    assert_eq!(numbers("required int32 of (INTEGER(8,true));", small(&[127, -128])), [127.0, -128.0]);
    assert_eq!(numbers("required int32 of (UINT_32);", small(&[-1, 1])), [4_294_967_295.0, 1.0]);
    assert_eq!(
        numbers("required int64 of;", large(&[i64::MAX, i64::MIN])),
        [2f64.powi(63), -(2f64.powi(63))]
    );
    assert_eq!(numbers("required int64 of (UINT_64);", large(&[-1, 5])), [2f64.powi(64), 5.0]);
    assert_eq!(numbers("optional int64 of (DECIMAL(18,2));", large(&[1250, -5])), [12.5, -0.05]);
    assert_eq!(numbers("required int32 of (DECIMAL(9,0));", small(&[1250])), [1250.0]);
    // With more digits than a double holds, the result is the nearest double, as for the same digits in CSV.
    let digits = 123_456_789_012_345_678_901_234_567_i128;
    let fixed =
        Data::Fixed(vec![Some(digits.to_be_bytes().to_vec()), Some((-5_i128).to_be_bytes().to_vec())]);
    let read = numbers("required fixed_len_byte_array(16) of (DECIMAL(38,9));", fixed);
    assert_eq!(read, ["123456789012345678.901234567".parse().unwrap(), -5e-9]);
    let bytes = Data::Bytes(vec![Some(vec![0xff, 0x38])]);
    assert_eq!(numbers("required binary of (DECIMAL(10,1));", bytes), [-20.0]);
    assert_eq!(numbers("optional boolean of;", Data::Flags(vec![Some(true), Some(false)])), [1.0, 0.0]);
    assert_eq!(numbers("required binary of (UTF8);", Data::text(&["1e3", " 2 "])), [1000.0, 2.0]);
}

#[test]
fn levels_are_compared_as_text() {
    let levels = |kind: &str, data: Data| {
        let fields = format!("required double size; {}", kind.replace(" of", " colour"));
        let sizes = Data::Double(vec![Some(5.0)]);
        let loaded = load(&fields, &[sizes, data], &schema(SCHEMA), OutOfBounds::Reject).unwrap();
        loaded.table.records().iter().skip(1).position(|x| *x == 1.0).unwrap()
    };
    for kind in ["required binary of (UTF8);", "optional binary of (ENUM);", "required binary of;"] {
        assert_eq!(levels(kind, Data::text(&["green"])), 1, "{kind}");
    }
    assert_eq!(levels("required int32 of;", Data::Small(vec![Some(7)])), 2);
    assert_eq!(levels("required double of;", Data::Double(vec![Some(7.0)])), 2);
    assert_eq!(levels("required boolean of;", Data::Flags(vec![Some(true)])), 3);
    let fields = "required double size; required boolean colour;";
    assert_eq!(
        refusal(fields, &[Data::Double(vec![Some(5.0)]), Data::Flags(vec![Some(false)])]),
        "data.parquet, row 1, column \"colour\": \"false\" is not a level of the column; the schema has red, \
         green, 7, true"
    );
}

#[test]
fn a_null_is_missing_and_so_is_a_number_that_means_it() {
    let fields = "optional double size; optional binary colour (UTF8);";
    let columns = [
        Data::Double(vec![Some(10.0), None, Some(-999.0), Some(f64::NAN)]),
        Data::Bytes(vec![None, Some(b"?".to_vec()), Some(b"red".to_vec()), Some(b"green".to_vec())]),
    ];
    let missing = SCHEMA
        .replace("\"size\"", "\"size\", missing = 2.5, missing_cells = [\"-999.0\", \"NaN\"]")
        .replace("\"colour\"", "\"colour\", missing = \"green\", missing_cells = [\"?\"]");
    let loaded = load(fields, &columns, &schema(&missing), OutOfBounds::Reject).unwrap();
    let red_or_green = |at: usize| [f64::from(u8::from(at == 0)), f64::from(u8::from(at == 1)), 0.0, 0.0];
    let expected = [(1.0, 1), (0.25, 1), (0.25, 0), (0.25, 1)];
    let expected: Vec<f64> =
        expected.iter().flat_map(|&(size, level)| [size].into_iter().chain(red_or_green(level))).collect();
    assert_eq!(loaded.table.records().iter().copied().collect::<Vec<_>>(), expected);
    // Without a declaration, a null is treated as an empty cell.
    let columns = [Data::Double(vec![Some(1.0), None]), Data::text(&["red", "red"])];
    assert_eq!(
        refusal(fields, &columns),
        "data.parquet, row 2, column \"size\": \"\" is not a number; a number between 0 and 10 cm is needed"
    );
}

#[test]
fn what_does_not_fit_is_named_with_its_row() {
    let fields = "required double size; required binary colour;";
    let last_row_refusal = |size: f64, colour: &[u8]| {
        let sizes = Data::Double(vec![Some(1.0), Some(1.0), Some(size)]);
        let red = || Some(b"red".to_vec());
        refusal(fields, &[sizes, Data::Bytes(vec![red(), red(), Some(colour.to_vec())])])
    };
    for (size, problem) in [
        (11.0, "\"11\" lies outside the bounds; a number between 0 and 10 cm is needed"),
        (f64::NAN, "\"NaN\" is not a finite number; a number between 0 and 10 cm is needed"),
        (f64::INFINITY, "\"inf\" is not a finite number; a number between 0 and 10 cm is needed"),
    ] {
        assert_eq!(
            last_row_refusal(size, b"red"),
            format!("data.parquet, row 3, column \"size\": {problem}")
        );
    }
    assert_eq!(
        last_row_refusal(1.0, b"r\xe9d"),
        "data.parquet, row 3, column \"colour\": \"r\u{fffd}d\" is not UTF-8 text"
    );
    // Of two faulty rows the first is reported, although the second is not text.
    let sizes = Data::Double(vec![Some(f64::NAN), Some(1.0)]);
    let columns = [sizes, Data::Bytes(vec![Some(b"red".to_vec()), Some(vec![0xff])])];
    assert!(
        refusal(fields, &columns)
            .starts_with("data.parquet, row 1, column \"size\": \"NaN\" is not a finite")
    );
    let long = last_row_refusal(1.0, &vec![b'x'; 1 << 20]);
    assert!(
        long.contains("row 3, column \"colour\"") && long.contains("is too long, with 1048576 bytes"),
        "{long}"
    );
    assert!(long.len() < 300);
}

#[test]
fn what_is_not_read_is_named_where_it_is_asked_for() {
    let sizes = || Data::Double(vec![Some(1.0), Some(2.0)]);
    let colours = || Data::text(&["red", "red"]);
    let lists = "optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }";
    let fields = format!("{lists} required double size; required binary colour;");
    let loaded = load(&fields, &[Data::Lists(2), sizes(), colours()], &schema(SCHEMA), OutOfBounds::Clip);
    assert_eq!(loaded.unwrap().table.len(), 2);
    assert_eq!(
        refusal(
            &fields.replace("tags", "colour").replace("binary colour", "binary tags"),
            &[Data::Lists(2), sizes(), colours()]
        ),
        "data.parquet: column \"colour\" holds lists or groups, which are not supported; use numbers, text, \
         booleans or dates"
    );
    let fields = "required double size; required int32 colour (TIME_MILLIS);";
    let refused = refusal(fields, &[sizes(), Data::Small(vec![Some(1); 2])]);
    assert!(
        refused.starts_with(
            "data.parquet: column \"colour\" holds values of the type TIME_MILLIS (INT32), which"
        ),
        "{refused}"
    );
    let fields = "required double size; required fixed_len_byte_array(3) colour;";
    let refused = refusal(fields, &[sizes(), Data::Fixed(vec![Some(vec![1; 3]); 2])]);
    assert!(refused.contains("of the type FIXED_LEN_BYTE_ARRAY, which are not supported"), "{refused}");
    let missing = refusal("required double sizes; required binary colour;", &[sizes(), colours()]);
    assert_eq!(missing, "data.parquet: there is no column \"size\"; did you mean \"sizes\"?");
    let none =
        refusal("required double size; required binary colour;", &[Data::Double(vec![]), Data::text(&[])]);
    assert_eq!(none, "data.parquet holds no records");
}

/// A draft leaves out each column that cannot be read, with the reason, and keeps the others.
#[test]
fn a_draft_leaves_out_what_is_not_read() {
    let lists = "optional group tags (LIST) { repeated group list { optional binary element (UTF8); } }";
    let fields = format!(
        "{lists} required double size; required int32 clock (TIME_MILLIS); required binary hash; required \
         fixed_len_byte_array(3) code;"
    );
    let columns = [
        Data::Lists(3),
        Data::Double(vec![Some(1.5), Some(2.5), Some(9.0)]),
        Data::Small(vec![Some(1); 3]),
        Data::Bytes(vec![Some(vec![0xff, 0xfe]), Some(b"text".to_vec()), Some(vec![0x80])]),
        Data::Fixed(vec![Some(vec![1; 3]); 3]),
    ];
    let rows = Rows::new(file(&fields, &columns, 2, WriterProperties::default()), "data.parquet").unwrap();
    let draft = draft(rows).unwrap();
    for expected in [
        "# \"tags\" is left out: it holds lists or groups, which are not supported.",
        "# \"clock\" is left out: it holds values of the type TIME_MILLIS (INT32), which are not supported.",
        "# \"hash\" is left out: it holds bytes that are not UTF-8 text.",
        "# \"code\" is left out: it holds values of the type FIXED_LEN_BYTE_ARRAY, which are not supported.",
        "name = \"size\"",
    ] {
        assert!(draft.contains(expected), "{expected}\n{draft}");
    }
}

/// Spark writes a timestamp as nanoseconds of a day and a Julian day. 1970-01-01 is the Julian day 2,440,588.
#[test]
fn timestamps_of_spark_are_days() {
    let schema = schema(
        "column = [{ name = \"seen\", kind = \"date\", lower = \"1970-01-01\", upper = \"1970-01-11\" }]",
    );
    let last = 86_399_999_999_999;
    let times = Data::Times(vec![Some((2_440_588, 0)), Some((2_440_593, last)), Some((2_440_598, 1))]);
    let loaded = load("optional int96 seen;", &[times], &schema, OutOfBounds::Reject).unwrap();
    assert_eq!(loaded.table.records().iter().copied().collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
}

#[test]
fn pages_groups_versions_and_packings_change_nothing() {
    let fields =
        "optional double size; required binary colour (UTF8); optional int64 count; optional boolean flag;";
    let rows = 5000_usize;
    let columns = [
        Data::Double((0..rows).map(|row| (row % 7 > 0).then_some(row as f64 / 500.0)).collect()),
        Data::Bytes((0..rows).map(|row| Some([&b"red"[..], b"green"][row % 2].to_vec())).collect()),
        Data::Large((0..rows).map(|row| (row % 5 > 0).then_some(row as i64 % 11)).collect()),
        Data::Flags((0..rows).map(|row| (row % 3 > 0).then_some(row % 2 == 0)).collect()),
    ];
    let schema = schema(
        r#"
        column = [
            { name = "size", kind = "real", lower = 0.0, upper = 10.0, missing = 1 },
            { name = "flag", kind = "category", levels = ["true", "false"], missing = "true" },
            { name = "colour", kind = "category", levels = ["red", "green"] },
            { name = "count", kind = "real", lower = 0.0, upper = 10.0, missing = 3.0 },
        ]
        "#,
    );
    let load = |properties: WriterProperties, group: usize| {
        let rows = Rows::new(file(fields, &columns, group, properties), "data.parquet").unwrap();
        Reader::new(rows, &schema, Some("flag"), OutOfBounds::Reject).unwrap().read_all().map(|all| all.table)
    };
    let plain = load(WriterProperties::builder().set_dictionary_enabled(false).build(), rows).unwrap();
    assert_eq!(plain.len(), rows);
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            for (group, page) in [(rows, 100), (1024, 7), (1000, 1), (3, 1000)] {
                let properties = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_compression(compression)
                    .set_data_page_row_count_limit(page)
                    .set_write_batch_size(page)
                    .set_column_encoding(ColumnPath::from("colour"), Encoding::PLAIN)
                    .set_dictionary_enabled(page > 50)
                    .build();
                let read = load(properties, group).unwrap();
                assert!(read == plain, "{version:?}, {compression}, groups of {group}, pages of {page}");
            }
        }
    }
    // The only encoding of this writer that the reader does not support.
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_encoding(ColumnPath::from("colour"), Encoding::DELTA_BYTE_ARRAY);
    let refused = load(properties.build(), rows).unwrap_err().to_string();
    assert_eq!(
        refused,
        "data.parquet: column \"colour\" of its row group 1 cannot be read: pages encoded as \
         DELTA_BYTE_ARRAY are not supported; use PLAIN or dictionaries"
    );
}

#[test]
fn a_null_in_the_only_column_is_a_row() {
    let values = [Some(1.0), None, Some(3.0), None];
    let bytes = file("optional double x;", &[Data::Double(values.to_vec())], 3, WriterProperties::default());
    let schema =
        schema("column = [{ name = \"x\", kind = \"real\", lower = 0.0, upper = 10.0, missing = 5.0 }]");
    let rows = Rows::new(bytes, "data.parquet").unwrap();
    let table = Reader::new(rows, &schema, None, OutOfBounds::Reject).unwrap().read_all().unwrap().table;
    assert_eq!(table.records().column(0).to_vec(), [0.1, 0.5, 0.3, 0.5]);
}

#[test]
fn blocks_have_the_size_that_is_asked_for_across_row_groups() {
    let sizes = Data::Double((0..100).map(|row| Some(f64::from(row))).collect());
    let bytes = file("required double x;", &[sizes], 7, WriterProperties::default());
    let numbers = Schema::from_numeric_columns(&["x".into()]).unwrap();
    let mut reader =
        Reader::new(Rows::new(bytes, "data.parquet").unwrap(), &numbers, None, OutOfBounds::Keep).unwrap();
    let mut sizes = vec![];
    let mut read = vec![];
    while let Some(rows) = reader.next_rows(16).unwrap() {
        sizes.push(rows.len(reader.encoder()));
        // At sixteen bytes per cell, the memory of a block is known in advance.
        assert!(rows.bytes() <= 16 * 16);
        rows.encode(reader.encoder(), &mut read, &mut Default::default()).unwrap();
    }
    assert_eq!(sizes, [16, 16, 16, 16, 16, 16, 4]);
    assert_eq!(read, (0..100).map(f64::from).collect::<Vec<_>>());
    assert!(reader.next_rows(16).unwrap().is_none());
}

#[test]
fn a_column_beside_comes_also_when_rows_were_read_before() {
    let days = Data::Small((0..40).map(|day| (day != 35).then_some(15309 + day)).collect());
    let sizes = Data::Double((0..40).map(|row| Some(f64::from(row))).collect());
    let bytes = file(
        "required double x; optional int32 day (DATE);",
        &[sizes, days],
        16,
        WriterProperties::default(),
    );
    let numbers = Schema::from_numeric_columns(&["x".into()]).unwrap();
    let mut reader =
        Reader::new(Rows::new(bytes, "data.parquet").unwrap(), &numbers, None, OutOfBounds::Keep).unwrap();
    reader.next_rows(21).unwrap();
    let (loaded, days) = reader.read_all_with_column("day").unwrap();
    assert_eq!(loaded.table.records()[[0, 0]], 21.0);
    assert_eq!((days.len(), days[0].as_str(), days[14].as_str()), (19, "2011-12-22", ""));
}

#[test]
fn a_file_is_opened_by_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let numbers = Schema::from_numeric_columns(&["x".into()]).unwrap();
    let first = |path: PathBuf| {
        let all = Reader::new(open(&path, &TextFormat::default())?, &numbers, None, OutOfBounds::Keep)?
            .read_all()?;
        Ok::<f64, scumble_records::Error>(all.table.records()[[0, 0]])
    };
    let data = file("required double x;", &[Data::Double(vec![Some(1.5)])], 1, WriterProperties::default());
    assert_eq!(first(write("data.csv", &data)).unwrap(), 1.5);
    assert_eq!(first(write("data.txt", b"x\n1.5\n")).unwrap(), 1.5);
    assert_eq!(first(write("x", b"x\n1\n")).unwrap(), 1.0);
    for (name, bytes, expected) in [
        (
            "named.parquet",
            &b"x\n1.5\n"[..],
            "its name ends with .parquet, but its content is not Parquet; if it is CSV, rename it",
        ),
        ("empty.PARQUET", b"", "its name ends with .parquet, but its content is not Parquet"),
        ("secret.parquet", b"PARE....PARE", "it is encrypted Parquet, which is not supported"),
        ("cut", &data[..20], "its footer is not valid Parquet: "),
        ("magic", b"PAR1", "its footer is not valid Parquet: "),
        ("empty.csv", b"", "holds no records"),
    ] {
        let refused = first(write(name, bytes)).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains(expected), "{refused}");
    }
    assert!(
        open(folder.path(), &TextFormat::default())
            .is_err_and(|error| error.to_string().contains("directory"))
    );
}
