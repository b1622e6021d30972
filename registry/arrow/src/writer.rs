//! Writer of released records as record batches. The *storage type* of a column ([`Held`]) is the type of its
//! values, independent of the file format.

use crate::values::{a_second, held};
use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int64Builder,
    StringBuilder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use scumble_records::{Decoded, Decoder, Error, Held, Result, Stored, WriteRows};
use std::io;
use std::sync::Arc;

/// Arrow schema of the records that `decoder` decodes. No column allows nulls. A column has the type of the
/// `input` column of the same name if that type holds every value of the column's
/// [`Kind`](scumble_records::Kind). If not, the released column has the default type of this kind, such as
/// `Int64`, `Boolean`, `Date32`, `Utf8` or `Float64`.
pub fn schema(decoder: &Decoder, input: Option<&Schema>) -> SchemaRef {
    let field = |(name, own): (&String, Held)| {
        let plain = plain(&own);
        let input_type = input.and_then(|input| input.field_with_name(name).ok()).map(Field::data_type);
        let is_as_input = |data_type: &&DataType| {
            held(data_type).is_some_and(|input| input == own) && can_cast_types(&plain, data_type)
        };
        Field::new(name, input_type.filter(is_as_input).cloned().unwrap_or_else(|| typed(&own)), false)
    };
    let fields: Vec<Field> = decoder.header().iter().zip(decoder.types()).map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, decoder.metadata().collect()))
}

/// Arrow type in which cells of a storage type are first written. A cast then gives the type of the released
/// column.
fn plain(held: &Held) -> DataType {
    match held {
        Held::Double => DataType::Float64,
        Held::Single => DataType::Float32,
        Held::Whole { bits: 64, is_signed: false } => DataType::UInt64,
        Held::Whole { .. } => DataType::Int64,
        Held::Flag => DataType::Boolean,
        Held::Day => DataType::Date32,
        // Ticks since 1970 in UTC, as in an Arrow array of instants.
        Held::Time { .. } => DataType::Int64,
        Held::Decimal { precision, scale } => {
            DataType::Decimal128(*precision, i8::try_from(*scale).unwrap_or(i8::MAX))
        }
        Held::Text => DataType::Utf8,
    }
}

/// Default Arrow type of a released column with the storage type `held`. It applies if the input has no
/// column with the name and the storage type of the released column.
fn typed(held: &Held) -> DataType {
    match held {
        Held::Time { a_second: ticks, .. } => {
            let units =
                [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
            let unit = units.into_iter().find(|unit| a_second(*unit) == *ticks);
            DataType::Timestamp(unit.unwrap_or(TimeUnit::Nanosecond), None)
        }
        held => plain(held),
    }
}

/// Writer of released records as a sequence of batches.
pub struct Writer<'b> {
    batches: &'b mut Vec<RecordBatch>,
    schema: SchemaRef,
}

impl<'b> Writer<'b> {
    /// Creates a writer that appends to `batches`. `schema` is the Arrow [`schema`] of the released records.
    pub fn new(batches: &'b mut Vec<RecordBatch>, schema: SchemaRef) -> Self {
        Self { batches, schema }
    }
}

enum Column {
    Double(Float64Builder),
    Single(Float32Builder),
    Whole(Int64Builder),
    Unsigned(UInt64Builder),
    Flag(BooleanBuilder),
    Day(Date32Builder),
    Decimal(Decimal128Builder, DataType),
    Text(StringBuilder),
}

impl Column {
    fn new(held: &Held) -> Self {
        match plain(held) {
            DataType::Float64 => Self::Double(Float64Builder::new()),
            DataType::Float32 => Self::Single(Float32Builder::new()),
            DataType::UInt64 => Self::Unsigned(UInt64Builder::new()),
            DataType::Int64 => Self::Whole(Int64Builder::new()),
            DataType::Boolean => Self::Flag(BooleanBuilder::new()),
            DataType::Date32 => Self::Day(Date32Builder::new()),
            decimal @ DataType::Decimal128(..) => Self::Decimal(Decimal128Builder::new(), decimal),
            _ => Self::Text(StringBuilder::new()),
        }
    }

    /// Appends a value. Returns `None` if the column cannot hold it.
    fn push(&mut self, stored: Stored) -> Option<()> {
        match (self, stored) {
            (Self::Double(own), Stored::Double(number)) => own.append_value(number),
            (Self::Single(own), Stored::Single(number)) => own.append_value(number),
            (Self::Whole(own), Stored::Whole(whole)) => own.append_value(i64::try_from(whole).ok()?),
            (Self::Unsigned(own), Stored::Whole(whole)) => own.append_value(u64::try_from(whole).ok()?),
            (Self::Flag(own), Stored::Flag(flag)) => own.append_value(flag),
            (Self::Day(own), Stored::Day(day)) => own.append_value(day),
            (Self::Decimal(own, _), Stored::Whole(units)) => own.append_value(units),
            (Self::Text(own), Stored::Text(text)) => own.append_value(text),
            _ => return None,
        }
        Some(())
    }

    fn finish(self) -> Result<ArrayRef> {
        Ok(match self {
            Self::Double(mut own) => Arc::new(own.finish()),
            Self::Single(mut own) => Arc::new(own.finish()),
            Self::Whole(mut own) => Arc::new(own.finish()),
            Self::Unsigned(mut own) => Arc::new(own.finish()),
            Self::Flag(mut own) => Arc::new(own.finish()),
            Self::Day(mut own) => Arc::new(own.finish()),
            Self::Decimal(mut own, decimal) => Arc::new(own.finish().with_data_type(decimal)),
            Self::Text(mut own) => Arc::new(own.finish()),
        })
    }
}

impl WriteRows for Writer<'_> {
    /// One array per column.
    type Block = Vec<ArrayRef>;

    fn maker(&self) -> fn(&Decoded) -> Result<Self::Block> {
        |rows| rows.columns(Column::new, Column::push)?.into_iter().map(Column::finish).collect()
    }

    fn write(&mut self, block: Self::Block) -> Result<()> {
        let failed = |error| Error::Write { source: io::Error::other(error) };
        let types = self.schema.fields().iter().map(|field| field.data_type());
        let arrays = block.iter().zip(types).map(|(array, data_type)| cast(array, data_type).map_err(failed));
        let arrays = arrays.collect::<Result<_>>()?;
        self.batches.push(RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(failed)?);
        Ok(())
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}
