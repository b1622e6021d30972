//! Tests that a release is the same for every input format, output format and number of threads.

use crate::file::{Data, file};
use bytes::Bytes;
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use scumble_classic::Laplace;
use scumble_core::{LocalMechanism, Randomness, local};
use scumble_parquet::{Rows, Writer};
use scumble_records::{
    Clips, Decoded, Decoder, OutOfBounds, ReadRows, Reader, Schema, WriteRows, csv, stream,
};

/// A column of the schema, with its cells in CSV form and in Parquet form.
#[derive(Debug, Clone)]
struct Column {
    toml: String,
    field: &'static str,
    text: Vec<String>,
    data: Data,
}

fn columns() -> impl Strategy<Value = Vec<Column>> {
    let rows = prop_oneof![1..40_usize, 1000..1100_usize, 2000..2500_usize];
    rows.prop_flat_map(|rows| {
        let optional =
            |cell: BoxedStrategy<f64>| prop::collection::vec(prop::option::weighted(0.9, cell), rows);
        let text = |cells: Vec<Option<String>>| cells.into_iter().map(Option::unwrap_or_default).collect();
        let real = |kind: &str| format!("kind = \"real\", lower = -3.0, upper = 7.5, {kind}");
        let numbers = optional((-4.0..8.0).boxed()).prop_map(move |cells| Column {
            toml: real("missing = 0.125"),
            field: "optional double",
            text: text(cells.iter().map(|cell| cell.map(|x| x.to_string())).collect()),
            data: Data::Double(cells),
        });
        let whole = optional((-5..9).prop_map(f64::from).boxed()).prop_map(move |cells| Column {
            toml: real("missing = -1"),
            field: "optional int32",
            text: text(cells.iter().map(|cell| cell.map(|x| x.to_string())).collect()),
            data: Data::Small(cells.into_iter().map(|cell| cell.map(|x| x as i32)).collect()),
        });
        let levels = ["no", "yes", "grün, dunkel", "\"quoted\""];
        let level = optional((0..4).prop_map(f64::from).boxed()).prop_map(move |cells| {
            let cells: Vec<Option<&str>> =
                cells.into_iter().map(|cell| cell.map(|x| levels[x as usize])).collect();
            Column {
                toml: format!("kind = \"category\", levels = {levels:?}, missing = \"yes\""),
                field: "optional binary",
                text: cells.iter().map(|cell| cell.unwrap_or_default().to_owned()).collect(),
                data: Data::Bytes(
                    cells.into_iter().map(|cell| cell.map(|x| x.as_bytes().to_vec())).collect(),
                ),
            }
        });
        let flag = prop::collection::vec(any::<bool>(), rows).prop_map(|cells| Column {
            toml: "kind = \"category\", levels = [\"true\", \"false\"]".into(),
            field: "required boolean",
            text: cells.iter().map(bool::to_string).collect(),
            data: Data::Flags(cells.into_iter().map(Some).collect()),
        });
        prop::collection::vec(prop_oneof![numbers, whole, level, flag], 1..5)
    })
}

fn schema_of(columns: &[Column]) -> Schema {
    let columns = columns.iter().enumerate();
    let columns = columns.map(|(at, column)| format!("{{ name = \"c{at}\", {} }},", column.toml));
    Schema::from_toml(&format!("column = [\n{}\n]", columns.collect::<Vec<_>>().join("\n")), "a schema")
        .unwrap()
}

fn as_csv(columns: &[Column]) -> String {
    let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
    let rows = (0..columns[0].text.len())
        .map(|row| columns.iter().map(|column| quoted(&column.text[row])).collect::<Vec<_>>().join(","));
    std::iter::once(names.join(",")).chain(rows).collect::<Vec<_>>().join("\n")
}

fn as_parquet(columns: &[Column], group: usize) -> Bytes {
    let fields = columns.iter().enumerate().map(|(at, column)| format!("{} c{at};", column.field));
    let data: Vec<Data> = columns.iter().map(|column| column.data.clone()).collect();
    let properties = WriterProperties::builder().set_data_page_row_count_limit(group.div_ceil(3));
    file(&fields.collect::<String>(), &data, group, properties.set_write_batch_size(64).build())
}

fn rows(bytes: Bytes) -> Rows<Bytes> {
    Rows::new(bytes, "data.parquet").unwrap()
}

/// Releases with Laplace noise from a fixed seed, streamed on `threads` threads.
fn released<W: WriteRows + Send>(
    rows: impl ReadRows,
    schema: &Schema,
    target: Option<&str>,
    threads: usize,
    writer: impl FnOnce(&Decoder) -> W + Send,
) -> usize {
    let mechanism = Laplace::new(schema.domain(target).unwrap(), 2.0).unwrap();
    let decoder = schema.decoder(&mechanism.domain().layout(), target);
    let mut reader = Reader::new(rows, schema, target, OutOfBounds::Clip).unwrap();
    let output = writer(&decoder);
    let streams = Randomness::seeded(7).streams();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let done = pool
        .in_place_scope(|_| stream::release(&mechanism, &mut reader, &decoder, &streams, output, |_| Ok(())));
    let done = done.unwrap();
    done.records as usize + done.clipped.iter().map(|clipped| clipped.cells).sum::<usize>()
}

/// Returns the bits of the released values.
fn bits(rows: impl ReadRows, schema: &Schema) -> Vec<u64> {
    let mut reader = Reader::new(rows, schema, None, OutOfBounds::Keep).unwrap();
    let mut records = vec![];
    while let Some(rows) = reader.next_rows(999).unwrap() {
        rows.encode(reader.encoder(), &mut records, &mut Clips::default()).unwrap();
    }
    records.into_iter().map(f64::to_bits).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_release_is_the_same_from_and_to_either_format(
        columns in columns(),
        group in 1..1500_usize,
        threads in 1..4_usize,
        has_target: bool,
    ) {
        let schema = schema_of(&columns);
        let target = (has_target && columns.len() > 1).then_some("c0");
        let text = as_csv(&columns);
        let parquet = as_parquet(&columns, group);
        let (mut from_csv, mut from_parquet, mut to_parquet, mut again) = (vec![], vec![], vec![], vec![]);
        let csv_rows = || csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        let counts = [
            released(csv_rows(), &schema, target, 1, |decoder| {
                csv::Writer::new(&mut from_csv, decoder).unwrap()
            }),
            released(rows(parquet.clone()), &schema, target, threads, |decoder| {
                csv::Writer::new(&mut from_parquet, decoder).unwrap()
            }),
            released(rows(parquet), &schema, target, threads, |decoder| {
                Writer::new(&mut to_parquet, decoder).unwrap()
            }),
            released(csv_rows(), &schema, target, 1, |decoder| Writer::new(&mut again, decoder).unwrap()),
        ];
        prop_assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
        prop_assert!(from_csv == from_parquet, "read from Parquet, the release is another");
        prop_assert!(to_parquet == again, "written as Parquet, the release depends on what it is read from");
        let csv_bits = bits(csv::Rows::new(&from_csv[..], "released.csv").unwrap(), &schema);
        prop_assert_eq!(csv_bits.len(), columns[0].text.len() * schema.domain(None).unwrap().flat().dim());
        prop_assert!(bits(rows(to_parquet.into()), &schema) == csv_bits, "written as Parquet, the release is \
            another");
    }
}

#[test]
fn row_groups_have_the_same_number_of_rows_and_tell_nothing_of_their_making() {
    let text: String = (0..50)
        .map(|at| format!("[[column]]\nname = \"c{at}\"\nkind = \"real\"\nlower = 0.0\nupper = 1.0\n"))
        .collect();
    let schema = Schema::from_toml(&text, "a schema").unwrap();
    let decoder = schema.decoder(&schema.domain(None).unwrap().layout(), None);
    let write = |blocks: usize| {
        let mut bytes = vec![];
        let mut writer = Writer::new(&mut bytes, &decoder).unwrap();
        let make = writer.maker();
        for _ in 0..blocks {
            writer.write(make(&Decoded::new(&decoder, &[0.5; 50 * local::BLOCK])).unwrap()).unwrap();
        }
        writer.write(make(&Decoded::new(&decoder, &[0.5; 50 * 3])).unwrap()).unwrap();
        writer.finish().unwrap();
        Bytes::from(bytes)
    };
    let bytes = write(90);
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
    let groups: Vec<i64> = metadata.row_groups().iter().map(|group| group.num_rows()).collect();
    // Forty blocks of 1024 × 50 cells are the most that fit in 2²¹ cells.
    assert_eq!(groups, [40 * 1024, 40 * 1024, 10 * 1024 + 3]);
    let file = metadata.file_metadata();
    assert_eq!(file.created_by(), Some(concat!("scumble version ", env!("CARGO_PKG_VERSION"))));
    assert!(file.key_value_metadata().is_none());
    assert!(bytes == write(90), "two files of the same records differ");
}
