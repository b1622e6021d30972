//! Releasing record batches.

use crate::{Rows, Writer, schema};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::concat::concat_batches;
use scumble_core::{NoiseKey, Streams};
use scumble_custody::{Result, ShippedDesign};
use scumble_records::{Clipped, Error, OutOfBounds, Reader, Values, stream};
use std::sync::Arc;

/// Where the ids of records come from.
#[derive(Debug, Clone, Copy)]
pub enum Ids<'i> {
    /// This column of the batch, of which the schema need not know.
    Column(&'i str),
    /// These, one a record.
    Given(&'i StringArray),
}

/// The column that [`Ids::Given`] is read as, which no column of a schema can be: it has a name that does not show.
const GIVEN: &str = "\u{1}id";

/// What errors call the records.
const SOURCE: &str = "the table";

/// Releases all records of some batches, in their order and with noise that is drawn in blocks of records: what `scumble release` makes of the
/// same records in a file, bit for bit where `streams` are the same.
///
/// # Errors
/// What is wrong with the first bad row; where there is none; for a design that a curator runs, or that has no schema.
pub fn release(
    design: &ShippedDesign,
    batches: &[RecordBatch],
    streams: &Streams,
    out_of_bounds: OutOfBounds,
    values: Values,
) -> Result<(Vec<RecordBatch>, Vec<Clipped>)> {
    let (local, records) = (design.local()?, design.records()?);
    let decoder = design.decoder()?.with_values(values);
    let Some(first) = batches.first() else {
        return Err(scumble_core::Error::Empty { place: SOURCE.into() }.into());
    };
    let rows = Rows::new(first.schema_ref(), batches.iter().cloned().map(Ok), SOURCE);
    let mut reader = Reader::new(rows, &records.schema, records.target.as_deref(), out_of_bounds)?;
    let mut released = vec![];
    let writer = Writer::new(&mut released);
    let done = stream::release(local, &mut reader, &decoder, streams, writer, |_| Ok(()))?;
    Ok((released, done.clipped))
}

/// Releases a batch with noise that is keyed by the ids of its records: any part of it, in any order and any number of times, gives the same
/// records. Of a batch without rows there is one without rows.
///
/// # Errors
/// As [`release`], and for a record without an id. That ids are unique among all batches is for who has them all to check.
pub fn release_keyed(
    design: &ShippedDesign,
    batch: &RecordBatch,
    ids: Ids,
    key: &NoiseKey,
    out_of_bounds: OutOfBounds,
    values: Values,
) -> Result<(RecordBatch, Vec<Clipped>)> {
    let (local, records) = (design.local()?, design.records()?);
    let decoder = design.decoder()?.with_values(values);
    let with_ids;
    let (batch, column) = match ids {
        Ids::Column(column) => (batch, column),
        Ids::Given(ids) => {
            with_ids = beside(batch, ids).map_err(refuse)?;
            (&with_ids, GIVEN)
        }
    };
    let rows = Rows::new(batch.schema_ref(), std::iter::once(Ok(batch.clone())), SOURCE);
    let reader = Reader::new(rows, &records.schema, records.target.as_deref(), out_of_bounds)?;
    let mut reader = reader.beside(column)?;
    if batch.num_rows() == 0 {
        return Ok((RecordBatch::new_empty(schema(&decoder)), vec![]));
    }
    let mut released = vec![];
    let writer = Writer::new(&mut released);
    let done = stream::release_keyed(local, &mut reader, &decoder, key, writer, |_| Ok(()))?;
    let released = concat_batches(&schema(&decoder), &released).map_err(refuse)?;
    Ok((released, done.clipped))
}

/// The batch with `ids` as one column more.
fn beside(batch: &RecordBatch, ids: &StringArray) -> std::result::Result<RecordBatch, ArrowError> {
    let fields = batch.schema_ref().fields().iter().cloned();
    let fields = fields.chain([Arc::new(Field::new(GIVEN, DataType::Utf8, true))]);
    let ids: Arc<dyn Array> = Arc::new(ids.clone());
    let columns = batch.columns().iter().cloned().chain([ids]);
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns.collect())
}

fn refuse(error: ArrowError) -> Error {
    Error::Unreadable { file: SOURCE.into(), problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
        Int32Array, LargeStringArray, TimestampMicrosecondArray, UInt64Array,
    };
    use scumble_classic::{IDENTITY, LAPLACE};
    use scumble_core::{Brief, Budget, Plugin, Randomness, local};
    use scumble_records::{Schema as Columns, csv};

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

    /// People with ids, sizes and colours, and the same as CSV.
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

    fn keyed(design: &ShippedDesign, batch: &RecordBatch, ids: Ids) -> Result<RecordBatch> {
        let key = NoiseKey::from_bytes([9; 32]);
        Ok(release_keyed(design, batch, ids, &key, OutOfBounds::Clip, Values::Settled)?.0)
    }

    #[test]
    fn batches_of_any_size_are_released_as_the_file_is() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, text) = people(3 * local::BLOCK + 5);
        let records = design.records().unwrap();
        let rows = csv::Rows::new(text.as_bytes(), "people.csv").unwrap();
        let mut reader = Reader::new(rows, &records.schema, None, OutOfBounds::Clip).unwrap();
        let (decoder, streams) = (design.decoder().unwrap(), || Randomness::seeded(4).streams());
        let mut of_file = vec![];
        let writer = Writer::new(&mut of_file);
        let local = design.local().unwrap();
        stream::release(local, &mut reader, &decoder, &streams(), writer, |_| Ok(())).unwrap();
        let of_file = concat_batches(&schema(&decoder), &of_file).unwrap();
        for rows in [100, 1024, 10_000] {
            let starts = (0..people.num_rows()).step_by(rows);
            let parts: Vec<RecordBatch> =
                starts.map(|at| people.slice(at, rows.min(people.num_rows() - at))).collect();
            let (released, _) =
                release(&design, &parts, &streams(), OutOfBounds::Clip, Values::Settled).unwrap();
            assert_eq!(concat_batches(&schema(&decoder), &released).unwrap(), of_file, "{rows} rows");
        }
    }

    #[test]
    fn keyed_by_id_each_part_is_released_as_the_whole() {
        let design = design(&LAPLACE, SCHEMA);
        let (people, _) = people(2 * local::BLOCK + 5);
        let whole = keyed(&design, &people, Ids::Column("id")).unwrap();
        for rows in [1, 7, 1000] {
            for at in (0..people.num_rows()).step_by(rows * 97) {
                let count = rows.min(people.num_rows() - at);
                let part = keyed(&design, &people.slice(at, count), Ids::Column("id")).unwrap();
                assert_eq!(part, whole.slice(at, count));
            }
        }
        let given: StringArray = (0..people.num_rows()).map(|at| Some(format!("p{at}"))).collect();
        assert_eq!(keyed(&design, &people, Ids::Given(&given)).unwrap(), whole);
        let none = keyed(&design, &people.slice(0, 0), Ids::Column("id")).unwrap();
        assert_eq!((none.num_rows(), none.schema()), (0, whole.schema()));
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
            let ids = StringArray::from(vec!["a", "b"]);
            let released = keyed(&design, &batch, Ids::Given(&ids)).unwrap();
            let texts: Vec<String> = (1..6)
                .map(|at| {
                    let column = released.column(at).as_any().downcast_ref::<StringArray>().unwrap();
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
            let sizes = released.column(0).as_any().downcast_ref::<Float64Array>().unwrap();
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
            let error = keyed(&design, &batch, Ids::Column(column)).unwrap_err();
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
        let streams = Randomness::seeded(1).streams();
        let release = |batches: &[RecordBatch]| {
            release(&design, batches, &streams, OutOfBounds::Clip, Values::Settled).unwrap_err().to_string()
        };
        let error = release(&[people.clone(), people.project(&[0, 1]).unwrap()]);
        assert!(error.contains("other columns than the first"), "{error}");
        assert!(release(&[]).contains("the table"));
        assert!(release(&[people.slice(0, 0)]).contains("no records"));
        let bytes: ArrayRef = Arc::new(arrow_array::BinaryArray::from(vec![&b"x"[..]; 4]));
        let batch =
            RecordBatch::try_from_iter([("size", bytes), ("colour", people.column(1).clone())]).unwrap();
        assert!(release(&[batch]).contains("holds values of the type Binary"));
    }
}
