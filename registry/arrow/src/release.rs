//! Release of record batches.
//!
//! A *release* is the output of a privacy mechanism for all records. A *design* is a mechanism with its
//! parameters, and may hold a schema of the records' columns. A *curator* is trusted with all records, and
//! its mechanism may use them together. A *report* is a person's randomised answer to one question about
//! their record.

use crate::{Rows, Writer, schema};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use scumble_core::{Randomness, Streams};
use scumble_custody::{CheckedPart, Digests, Error as Refused, PeriodState, Result, ShippedDesign};
use scumble_noise::{NoiseKey, RecordDigest};
use scumble_records::{Clipped, Error, Loaded, OutOfBounds, People, ReadRows, Reader, Values, stream};
use std::sync::Arc;

/// Name of the records in errors.
const SOURCE: &str = "the table";

/// Records of `batches` that count, if the schema of `design` has a column of people's ids; `None` if each
/// record is a person's only one. Each call makes another choice. `state` is that of
/// the period before, of a design with a horizon.
///
/// # Errors
/// Same errors as [`ShippedDesign::people`].
pub fn people(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    randomness: &mut Randomness,
    state: Option<&PeriodState>,
) -> Result<Option<Arc<People>>> {
    let is_admitted = |id: &[u8; 16]| state.is_none_or(|state| state.admits(id, design));
    design.people(rows(batches)?, randomness, is_admitted, |_| Ok(()))
}

/// Reader of the records in `batches`, which share one Arrow schema. The column schema of `design` decides
/// how the reader encodes the records.
///
/// # Errors
/// An error if there is no batch, if `design` has no schema, or if the columns do not fit this schema.
pub fn reader<'b>(
    design: &ShippedDesign,
    batches: &'b [RecordBatch],
    out_of_bounds: OutOfBounds,
) -> Result<Reader<'b>> {
    design.reader(rows(batches)?, out_of_bounds)
}

fn rows(batches: &[RecordBatch]) -> Result<Rows<impl Iterator<Item = Batch> + Send + '_>> {
    let Some(first) = batches.first() else {
        return Err(scumble_core::Error::Empty { place: SOURCE.into() }.into());
    };
    Ok(Rows::new(first.schema_ref(), batches.iter().cloned().map(Ok), SOURCE))
}

type Batch = std::result::Result<RecordBatch, arrow_schema::ArrowError>;

/// Reader for [`release_keyed`], whose noise depends on a secret key and the ids of the records. It also
/// reads the column `ids`, or else the schema's column of people's ids, if there is one.
fn keyed_reader<'b>(
    design: &ShippedDesign,
    batches: &'b [RecordBatch],
    ids: Option<&str>,
    out_of_bounds: OutOfBounds,
) -> Result<Reader<'b>> {
    let reader = reader(design, batches, out_of_bounds)?;
    let person = design.person()?;
    Ok(match ids.or(person.as_ref().map(|person| person.name.as_str())) {
        Some(column) => reader.with_ids(column)?,
        None => reader,
    })
}

/// Releases all records of `batches`, in order, with noise drawn in blocks of records. For the same records
/// in a file, the command `scumble release` has the same distribution of results. With the same `randomness`,
/// both results are equal bit for bit. Also returns the number of clipped cells per column: cells outside the
/// public bounds, which were moved to a bound.
///
/// # Errors
/// The error of the first faulty row. An error if there are no rows, if `design` has no schema, or if its
/// mechanism needs a curator.
pub fn release(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    randomness: &mut Randomness,
    out_of_bounds: OutOfBounds,
    values: Values,
) -> Result<(Vec<RecordBatch>, Vec<Clipped>)> {
    let local = design.local()?;
    let people = people(design, batches, randomness, None)?;
    let mut reader = reader(design, batches, out_of_bounds)?.of_people(people);
    let decoder = design.release_decoder(&reader, values)?;
    let (schema, streams) = (schema(&decoder, schema_of(batches)), randomness.streams());
    written(schema, |writer| stream::release(local, &mut reader, &decoder, &streams, writer, |_| Ok(())))
}

/// Releases batches with noise that is derived from `key`, each record's id in the column `ids`, and the
/// record's values. With a column of ids, a record gets the same released values whatever other records are
/// in `batches`, in any order of the records, and in every repetition. Without a column of ids, the ids are
/// the row numbers in `batches`, counted from 1. The batches must then be the whole table. If no batch has
/// rows, the result is one batch without rows.
///
/// `on_records` receives a digest of each released record with its id, block by block. Before the caller
/// discloses the release, it must check that these are the records that [`check`] read. A ticket, the stored
/// secret of a release, has a fingerprint of the checked records.
/// [`Ticket::check_released`](scumble_custody::Ticket::check_released) compares this fingerprint with the
/// fingerprint of the released records. Alternatively, the caller can look up each digest in
/// [`AdmittedRecords`](scumble_custody::AdmittedRecords), the list of the records that may be released.
///
/// # Errors
/// Same errors as [`release`], except that batches may be empty. Also an error for a record without an id.
/// This function does not check that ids are unique in the whole table; [`check`] does.
pub fn release_keyed(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    ids: Option<&str>,
    key: &NoiseKey,
    out_of_bounds: OutOfBounds,
    values: Values,
    on_records: impl FnMut(&[RecordDigest]) + Send,
) -> Result<(Vec<RecordBatch>, Vec<Clipped>)> {
    let local = design.local()?;
    let mut reader = keyed_reader(design, batches, ids, out_of_bounds)?;
    let decoder = design.release_decoder(&reader, values)?;
    let schema = schema(&decoder, schema_of(batches));
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok((vec![RecordBatch::new_empty(schema)], vec![]));
    }
    written(schema, |writer| {
        stream::release_keyed(local, &mut reader, &decoder, key, writer, on_records, |_| Ok(()))
    })
}

/// Arrow schema of the release of a table with the Arrow schema `input`.
///
/// # Errors
/// An error if `design` has no schema, if its mechanism needs a curator, or if the columns of `input` do not
/// fit its schema. Any error of the mechanism.
pub fn released_schema(design: &ShippedDesign, input: &SchemaRef, values: Values) -> Result<SchemaRef> {
    let batches = [RecordBatch::new_empty(input.clone())];
    let reader = reader(design, &batches, OutOfBounds::Clip)?;
    Ok(schema(&design.release_decoder(&reader, values)?, Some(input)))
}

/// Reads all records of `batches` and releases nothing. Checks that [`release_keyed`] would succeed, and that
/// ids are unique among these batches. Returns the fingerprint of the records (their number and the sum of
/// their digests). Also returns the number of cells per column that the release would clip, that is, move to
/// a public bound. Also returns digests of the records and their ids, if `ids` is given. The results for
/// parts of a table can be [merged](CheckedPart::merge).
///
/// # Errors
/// Same errors as [`release_keyed`], and an error for an id that two records share.
pub fn check(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    ids: Option<&str>,
    out_of_bounds: OutOfBounds,
) -> Result<CheckedPart> {
    design.local()?;
    let mut reader = keyed_reader(design, batches, ids, out_of_bounds)?;
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(CheckedPart::default());
    }
    let mut digests = Digests::default();
    let checked = stream::check_ids(&mut reader, |ids, records| digests.add(ids, records), |_| Ok(()))?;
    Ok(CheckedPart { checked, digests })
}

/// Maps the records to the output space of `design`, without noise, with numbers in the form `values`. A
/// model that learned from a release reads records in this space. No guarantee covers the result.
///
/// # Errors
/// Same errors as [`release`].
pub fn view(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    out_of_bounds: OutOfBounds,
    values: Values,
) -> Result<(Vec<RecordBatch>, Vec<Clipped>)> {
    let local = design.local()?;
    let mut reader = reader(design, batches, out_of_bounds)?;
    let decoder = design.view_decoder(&reader, values)?;
    let schema = schema(&decoder, schema_of(batches));
    written(schema, |writer| stream::view(local, &mut reader, &decoder, writer, |_| Ok(())))
}

/// Draws `records` records from the reports of many people, or as many records as reports if `records` is
/// `None`. Drawing them is post-processing of the reports, so the privacy guarantee holds whatever the
/// randomness in `streams`.
///
/// # Errors
/// An error if the mechanism of `design` needs a curator or releases no reports. An error if `reports` lack
/// the columns of the design's reports, carry the digest of another design, or are empty. An error if
/// `records` is 0.
pub fn collect(
    design: &ShippedDesign,
    reports: &[RecordBatch],
    records: Option<usize>,
    streams: Streams,
) -> Result<Vec<RecordBatch>> {
    let local = design.local()?;
    let Some(collector) = local.collector() else {
        let plugin = &design.origin().plugin;
        let problem = format!("{plugin} releases records, not reports, so there is nothing to collect");
        return Err(Error::Unreadable { file: "the design".into(), problem }.into());
    };
    let rows = rows(reports)?;
    rows.design().map_or(Ok(()), |found| design.check_released(found, SOURCE))?;
    let (drawing, _) = stream::collect(collector, rows, records, streams, |_| Ok(()))?;
    let decoder = design.decoder_of(drawing.layout())?;
    let mut written = vec![];
    let output = Writer::new(&mut written, schema(&decoder, None));
    stream::write_drawn(&drawing, &decoder, output, |_| Ok(()))?;
    Ok(written)
}

/// Reads all records of `batches` as a table, encoded by `schema`, which need not belong to a design.
///
/// # Errors
/// The error of the first faulty row; an error if there are no rows.
pub fn read(
    schema: &scumble_records::Schema,
    target: Option<&str>,
    batches: &[RecordBatch],
    out_of_bounds: OutOfBounds,
) -> Result<Loaded> {
    Ok(Reader::new(rows(batches)?, schema, target, out_of_bounds)?.read_all()?)
}

fn schema_of(batches: &[RecordBatch]) -> Option<&arrow_schema::Schema> {
    batches.first().map(|batch| &**batch.schema_ref())
}

fn written(
    schema: SchemaRef,
    write: impl FnOnce(Writer) -> scumble_records::Result<stream::Streamed>,
) -> Result<(Vec<RecordBatch>, Vec<Clipped>)> {
    let mut batches = vec![];
    let streamed = write(Writer::new(&mut batches, schema))?;
    Ok((batches, streamed.clipped))
}

/// Concatenates batches.
///
/// # Errors
/// An error if there is no batch, if the batches have different schemas, or if they are too long for one
/// batch.
pub fn joined(batches: &[RecordBatch]) -> Result<RecordBatch> {
    let schema = match batches.first() {
        Some(first) => first.schema(),
        None => return Err(scumble_core::Error::Empty { place: SOURCE.into() }.into()),
    };
    concat_batches(&schema, batches)
        .map_err(|error| Refused::from(Error::Unreadable { file: SOURCE.into(), problem: error.to_string() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
        Int32Array, LargeStringArray, StringArray, TimestampMicrosecondArray, UInt64Array,
    };
    use arrow_schema::DataType;
    use scumble_classic::{IDENTITY, LAPLACE};
    use scumble_core::{Brief, Budget, Plugin, Randomness, local};
    use scumble_noise::Fingerprint;
    use scumble_records::{Schema as Columns, csv};
    use std::sync::Arc;

    const SCHEMA: &str = "column = [
        { name = \"size\", kind = \"real\", lower = -10.0, upper = 10.0 },
        { name = \"colour\", kind = \"category\", levels = [\"red\", \"green\"] },
    ]";

    fn design(plugin: &Plugin, schema: &str) -> ShippedDesign {
        let schema = Columns::from_toml(schema, "schema.toml").unwrap();
        let brief = Brief::new(schema.domain(None).unwrap(), Budget::pure(2.0).unwrap());
        let design = plugin.design(&Default::default(), &brief).unwrap();
        ShippedDesign::for_records(design, schema, None).unwrap()
    }

    /// People with ids, sizes and colours, as a batch and as CSV.
    fn people(count: usize) -> (RecordBatch, String) {
        let size = |at: usize| (at % 41) as f64 / 2.0 - 10.0;
        let colour = |at: usize| if at.is_multiple_of(3) { "red" } else { "green" };
        let columns: [(&str, ArrayRef); 3] = [
            ("id", Arc::new((0..count).map(|at| Some(format!("p{at}"))).collect::<StringArray>())),
            ("colour", Arc::new((0..count).map(colour).map(Some).collect::<DictionaryArray<Int8Type>>())),
            ("size", Arc::new(Float64Array::from_iter_values((0..count).map(size)))),
        ];
        let text: String = (0..count).map(|at| format!("p{at},{},{}\n", colour(at), size(at))).collect();
        (RecordBatch::try_from_iter(columns).unwrap(), format!("id,colour,size\n{text}"))
    }

    fn keyed(design: &ShippedDesign, batch: &RecordBatch, ids: Option<&str>) -> Result<RecordBatch> {
        let (key, batches) = (NoiseKey::from_bytes([9; 32]), std::slice::from_ref(batch));
        joined(&release_keyed(design, batches, ids, &key, OutOfBounds::Clip, Values::Settled, |_| ())?.0)
    }

    #[test]
    fn batches_of_any_size_are_released_as_the_file_is() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, text) = people(3 * local::BLOCK + 5);
        let rows = csv::Rows::new(text.as_bytes(), "people.csv").unwrap();
        let mut reader = design.reader(rows, OutOfBounds::Clip).unwrap();
        let (decoder, streams) = (design.decoder().unwrap(), || Randomness::seeded(4).streams());
        let mut file_batches = vec![];
        let input = schema_of(std::slice::from_ref(&people)).cloned();
        let input_schema = schema(&decoder, input.as_ref());
        let writer = Writer::new(&mut file_batches, input_schema.clone());
        let local = design.local().unwrap();
        stream::release(local, &mut reader, &decoder, &streams(), writer, |_| Ok(())).unwrap();
        let file_batches = concat_batches(&input_schema, &file_batches).unwrap();
        for rows in [100, 1024, 10_000] {
            let starts = (0..people.num_rows()).step_by(rows);
            let parts: Vec<RecordBatch> =
                starts.map(|at| people.slice(at, rows.min(people.num_rows() - at))).collect();
            let (released, _) =
                release(&design, &parts, &mut Randomness::seeded(4), OutOfBounds::Clip, Values::Settled)
                    .unwrap();
            assert_eq!(concat_batches(&input_schema, &released).unwrap(), file_batches, "{rows} rows");
        }
    }

    #[test]
    fn keyed_by_id_each_part_is_released_as_the_whole() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, _) = people(2 * local::BLOCK + 5);
        let whole = keyed(&design, &people, Some("id")).unwrap();
        for rows in [1, 7, 1000] {
            for at in (0..people.num_rows()).step_by(rows * 97) {
                let count = rows.min(people.num_rows() - at);
                let part = keyed(&design, &people.slice(at, count), Some("id")).unwrap();
                assert_eq!(part, whole.slice(at, count));
            }
        }
        let none = keyed(&design, &people.slice(0, 0), Some("id")).unwrap();
        assert_eq!((none.num_rows(), none.schema()), (0, whole.schema()));
    }

    #[test]
    fn parts_of_a_table_are_checked_one_by_one_as_the_whole_is() {
        let design = design(&LAPLACE, &SCHEMA.replace("upper = 10.0", "upper = 9.0"));
        let (people, _) = people(local::BLOCK + 5);
        let checked = |batches: &[RecordBatch]| check(&design, batches, Some("id"), OutOfBounds::Clip);
        let whole = checked(std::slice::from_ref(&people)).unwrap();
        let mut parts = checked(&[people.slice(700, people.num_rows() - 700)]).unwrap();
        parts.merge(checked(&[people.slice(0, 0)]).unwrap());
        parts.merge(checked(&[people.slice(300, 400), people.slice(0, 300)]).unwrap());
        assert_eq!(parts.checked, whole.checked);
        let mut released = Fingerprint::default();
        let (_, clipped) = release_keyed(
            &design,
            std::slice::from_ref(&people),
            Some("id"),
            &NoiseKey::from_bytes([1; 32]),
            OutOfBounds::Clip,
            Values::Settled,
            |records| records.iter().for_each(|record| released.add(record)),
        )
        .unwrap();
        assert_eq!(released, whole.checked.fingerprint);
        assert_eq!((whole.checked.clipped.len(), whole.checked.clipped), (1, clipped));
        let twice = checked(&[people.slice(0, 9), people.slice(8, 3)]).unwrap_err().to_string();
        assert!(twice.contains("row 10, column \"id\": \"p8\" is the id of two records"), "{twice}");
    }

    #[test]
    fn a_view_is_the_release_without_its_noise() {
        let design = design(&IDENTITY, SCHEMA);
        let (people, _) = people(50);
        let (viewed, _) =
            view(&design, std::slice::from_ref(&people), OutOfBounds::Clip, Values::Drawn).unwrap();
        assert_eq!(joined(&viewed).unwrap(), keyed(&design, &people, None).unwrap());
    }

    #[test]
    fn records_of_a_release_are_not_collected() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, _) = people(5);
        let error = collect(&design, &[people], None, Randomness::seeded(1).streams()).unwrap_err();
        assert!(error.to_string().contains("releases records, not reports"), "{error}");
    }

    #[test]
    fn values_of_every_type_that_is_read_mean_what_they_mean_in_a_file() {
        let design = design(
            &IDENTITY,
            "column = [
                { name = \"size\", kind = \"real\", lower = -10.0, upper = 10.0 },
                { name = \"day\", kind = \"category\", levels = [\"1970-01-02\", \"1969-12-31\"] },
                { name = \"time\", kind = \"category\", levels = [\"1970-01-01T00:00:01.5\", \"never\"] },
                { name = \"price\", kind = \"category\", levels = [\"-0.05\", \"0.05\"] },
                { name = \"member\", kind = \"category\", levels = [\"true\", \"false\"] },
                { name = \"code\", kind = \"category\", levels = [\"18446744073709551615\", \"7\"] },
            ]",
        );
        let rest: [(&str, ArrayRef); 5] = [
            ("day", Arc::new(Date32Array::from(vec![1, -1]))),
            ("time", Arc::new(TimestampMicrosecondArray::from(vec![1_500_000; 2]))),
            ("price", Arc::new(Decimal128Array::from(vec![-5; 2]).with_precision_and_scale(4, 2).unwrap())),
            ("member", Arc::new(BooleanArray::from(vec![true, false]))),
            ("code", Arc::new(UInt64Array::from(vec![u64::MAX, 7]))),
        ];
        let sizes: [ArrayRef; 4] = [
            Arc::new(Float32Array::from(vec![2.0, -3.0])),
            Arc::new(Int32Array::from(vec![2, -3])),
            Arc::new(LargeStringArray::from(vec!["2", " -3.0 "])),
            Arc::new(StringArray::from(vec!["2e0", "-3"])),
        ];
        for size in sizes {
            let batch = RecordBatch::try_from_iter([("size", size)].into_iter().chain(rest.clone())).unwrap();
            let released = keyed(&design, &batch, None).unwrap();
            let texts: Vec<String> = (1..6)
                .map(|at| {
                    let column = arrow_cast::cast(released.column(at), &DataType::Utf8).unwrap();
                    let column = column.as_any().downcast_ref::<StringArray>().unwrap();
                    format!("{} {}", column.value(0), column.value(1))
                })
                .collect();
            assert_eq!(
                texts,
                [
                    "1970-01-02 1969-12-31",
                    "1970-01-01T00:00:01.5 1970-01-01T00:00:01.5",
                    "-0.05 -0.05",
                    "true false",
                    "18446744073709551615 7"
                ]
            );
            // An unchanged column has the type of its input.
            assert_eq!(released.column(0).data_type(), batch.column(0).data_type());
            let sizes = arrow_cast::cast(released.column(0), &DataType::Float64).unwrap();
            let sizes = sizes.as_any().downcast_ref::<Float64Array>().unwrap();
            assert_eq!(sizes.values()[..], [2.0, -3.0]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_and_without_its_value_where_asked() {
        let design = design(&LAPLACE, SCHEMA);
        let batch = |ids: [Option<&str>; 2], colours: [&str; 2], sizes: [Option<f64>; 2]| {
            let columns: [(&str, ArrayRef); 3] = [
                ("id", Arc::new(StringArray::from(ids.to_vec()))),
                ("colour", Arc::new(StringArray::from(colours.to_vec()))),
                ("size", Arc::new(Float64Array::from(sizes.to_vec()))),
            ];
            RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
                .unwrap()
        };
        let (ids, colours, sizes) = ([Some("a"), Some("b")], ["red", "green"], [Some(1.0), Some(2.0)]);
        for (batch, column, expected) in [
            (batch([Some("a"), None], colours, sizes), "id", "row 2, column \"id\""),
            (batch(ids, ["red", "secret"], sizes), "id", "row 2, column \"colour\": \"secret\""),
            (batch(ids, colours, [Some(f64::NAN), None]), "id", "row 1, column \"size\""),
            (batch(ids, colours, [Some(1.0), None]), "id", "row 2, column \"size\""),
            (batch(ids, colours, sizes), "ids", "there is no column \"ids\"; did you mean \"id\"?"),
            (batch(ids, colours, sizes).project(&[0, 1]).unwrap(), "id", "there is no column \"size\""),
        ] {
            let error = keyed(&design, &batch, Some(column)).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
            let scumble_custody::Error::Records(error) = error else { panic!("{error}") };
            let hidden = error.without_value().to_string();
            assert!(!hidden.contains("secret") && !hidden.contains("NaN"), "{hidden}");
            assert!(hidden.contains(expected.split(':').next().unwrap()), "{hidden}");
        }
    }

    #[test]
    fn lists_are_refused_and_so_are_batches_that_differ() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, _) = people(4);
        let release = |batches: &[RecordBatch]| {
            let mut randomness = Randomness::seeded(1);
            let released = release(&design, batches, &mut randomness, OutOfBounds::Clip, Values::Settled);
            released.unwrap_err().to_string()
        };
        let error = release(&[people.clone(), people.project(&[0, 1]).unwrap()]);
        assert!(error.contains("differ from those of the first batch"), "{error}");
        assert!(release(&[]).contains("the table"));
        assert!(release(&[people.slice(0, 0)]).contains("no records"));
        let bytes: ArrayRef = Arc::new(arrow_array::BinaryArray::from(vec![&b"x"[..]; 4]));
        let batch =
            RecordBatch::try_from_iter([("size", bytes), ("colour", people.column(1).clone())]).unwrap();
        assert!(release(&[batch]).contains("holds values of the type Binary"));
    }
}
