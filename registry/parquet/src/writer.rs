//! Parquet writer of released records.

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use scumble_core::local;
use scumble_records::{Decoded, Decoder, Error, Held, Result, Stored, WriteRows};
use std::io::{self, Write};
use std::sync::Arc;

/// Approximate number of cells in a row group, which is in memory until it is written.
const CELLS: usize = 1 << 21;

/// Writer of released records as Parquet, with features that every reader supports.
///
/// Pages have version 1 and hold plain values in the storage type of each column. Text has a dictionary, and
/// Snappy compresses all pages. The file has no nulls and no statistics. Noise does not compress, so the
/// writer tries no other encodings.
///
/// A row group has as many whole blocks of 1024 records as fit in 2²¹ cells (about two million), and at least
/// one block. The file carries the digest of its design, which is the mechanism with its parameters. The file
/// does not disclose when, where or from which records it was made.
pub struct Writer<'o> {
    file: SerializedFileWriter<Box<dyn Write + Send + 'o>>,
    blocks: Vec<Block>,
    most_blocks: usize,
}

/// Released records, column by column.
pub struct Block(Vec<Column>);

enum Column {
    Doubles(Vec<f64>),
    Singles(Vec<f32>),
    Small(Vec<i32>),
    Large(Vec<i64>),
    Flags(Vec<bool>),
    Decimals(Vec<FixedLenByteArray>),
    /// Concatenated texts, and the end of each.
    Texts(String, Vec<usize>),
}

impl Column {
    fn new(held: &Held) -> Self {
        match physical(held) {
            Physical::DOUBLE => Self::Doubles(vec![]),
            Physical::FLOAT => Self::Singles(vec![]),
            Physical::INT32 => Self::Small(vec![]),
            Physical::BOOLEAN => Self::Flags(vec![]),
            Physical::FIXED_LEN_BYTE_ARRAY => Self::Decimals(vec![]),
            Physical::BYTE_ARRAY => Self::Texts(String::new(), vec![]),
            _ => Self::Large(vec![]),
        }
    }

    /// Appends a value. `None` if the column cannot hold it.
    fn push(&mut self, stored: Stored) -> Option<()> {
        match (self, stored) {
            (Self::Doubles(own), Stored::Double(number)) => own.push(number),
            (Self::Singles(own), Stored::Single(number)) => own.push(number),
            // Parquet stores an unsigned number as the signed number with the same bits.
            (Self::Small(own), Stored::Whole(whole)) => own.push(whole as i32),
            (Self::Large(own), Stored::Whole(whole)) => own.push(whole as i64),
            (Self::Small(own), Stored::Day(day)) => own.push(day),
            (Self::Flags(own), Stored::Flag(flag)) => own.push(flag),
            (Self::Decimals(own), Stored::Whole(units)) => own.push(units.to_be_bytes().to_vec().into()),
            (Self::Texts(own, ends), Stored::Text(text)) => {
                *own += &text;
                ends.push(own.len());
            }
            _ => return None,
        }
        Some(())
    }
}

/// Physical Parquet type of a storage type.
fn physical(held: &Held) -> Physical {
    match held {
        Held::Double => Physical::DOUBLE,
        Held::Single => Physical::FLOAT,
        Held::Whole { bits: 64, .. } | Held::Time { .. } => Physical::INT64,
        Held::Whole { .. } | Held::Day => Physical::INT32,
        Held::Flag => Physical::BOOLEAN,
        Held::Decimal { .. } => Physical::FIXED_LEN_BYTE_ARRAY,
        Held::Text => Physical::BYTE_ARRAY,
    }
}

/// Logical Parquet type of a storage type. `None` for numbers and flags that need no logical type.
fn logical(held: &Held) -> Option<LogicalType> {
    match held {
        Held::Double | Held::Single | Held::Flag | Held::Whole { bits: 32 | 64, is_signed: true } => None,
        Held::Whole { bits, is_signed } => Some(LogicalType::integer(*bits as i8, *is_signed)),
        Held::Day => Some(LogicalType::Date),
        Held::Time { a_second, .. } => {
            let unit = match a_second {
                1_000 => TimeUnit::MILLIS,
                1_000_000 => TimeUnit::MICROS,
                _ => TimeUnit::NANOS,
            };
            Some(LogicalType::timestamp(false, unit))
        }
        Held::Decimal { precision, scale } => {
            Some(LogicalType::decimal((*scale).into(), (*precision).into()))
        }
        Held::Text => Some(LogicalType::String),
    }
}

impl<'o> Writer<'o> {
    /// Begins a file of the records that `decoder` decodes.
    ///
    /// # Errors
    /// [`Error::Write`] if `output` fails.
    pub fn new(output: impl Write + Send + 'o, decoder: &Decoder) -> Result<Self> {
        Self::start(Box::new(output), decoder)
    }

    fn start(output: Box<dyn Write + Send + 'o>, decoder: &Decoder) -> Result<Self> {
        let columns = || decoder.header().iter().zip(decoder.types());
        let fields = columns().map(|(name, held)| {
            let field = Type::primitive_type_builder(name, physical(&held));
            let field = field.with_repetition(Repetition::REQUIRED).with_logical_type(logical(&held));
            let field = match held {
                Held::Decimal { precision, scale } => {
                    field.with_length(16).with_precision(precision.into()).with_scale(scale.into())
                }
                _ => field,
            };
            field.build().map(Arc::new).map_err(failed)
        });
        let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_>>()?);
        let schema = schema.build().map_err(failed)?;
        let pairs = decoder.metadata().map(|(key, value)| KeyValue::new(key, value));
        let metadata: Vec<KeyValue> = pairs.collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .set_key_value_metadata(Some(metadata).filter(|pairs| !pairs.is_empty()))
            .set_created_by(concat!("scumble version ", env!("CARGO_PKG_VERSION")).into());
        let texts = columns().filter(|(_, held)| *held == Held::Text);
        let properties = texts.fold(properties, |properties, (name, _)| {
            properties.set_column_dictionary_enabled(ColumnPath::new(vec![name.clone()]), true)
        });
        let file = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties.build()));
        let most_blocks = CELLS / decoder.header().len().max(1) / local::BLOCK;
        Ok(Self { file: file.map_err(failed)?, blocks: vec![], most_blocks: most_blocks.max(1) })
    }

    fn write_group(&mut self) -> std::result::Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            for Block(columns) in &self.blocks {
                match (column.untyped(), columns.get(at)) {
                    (ColumnWriter::DoubleColumnWriter(writer), Some(Column::Doubles(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::FloatColumnWriter(writer), Some(Column::Singles(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::Int32ColumnWriter(writer), Some(Column::Small(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::Int64ColumnWriter(writer), Some(Column::Large(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::BoolColumnWriter(writer), Some(Column::Flags(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Some(Column::Decimals(own))) => {
                        writer.write_batch(own, None, None)?;
                    }
                    (ColumnWriter::ByteArrayColumnWriter(writer), Some(Column::Texts(text, ends))) => {
                        let text = bytes::Bytes::copy_from_slice(text.as_bytes());
                        let starts = std::iter::once(&0).chain(ends);
                        let texts =
                            starts.zip(ends).map(|(&start, &end)| ByteArray::from(text.slice(start..end)));
                        writer.write_batch(&texts.collect::<Vec<_>>(), None, None)?;
                    }
                    _ => return Err(ParquetError::General("a block is not of this file".into())),
                }
            }
            column.close()?;
            at += 1;
        }
        group.close()?;
        self.blocks.clear();
        Ok(())
    }
}

/// Converts released rows to columns.
pub(crate) fn block(rows: &Decoded) -> Result<Block> {
    rows.columns(Column::new, Column::push).map(Block)
}

impl WriteRows for Writer<'_> {
    type Block = Block;

    fn maker(&self) -> fn(&Decoded) -> Result<Block> {
        block
    }

    fn write(&mut self, block: Block) -> Result<()> {
        self.blocks.push(block);
        if self.blocks.len() == self.most_blocks {
            self.write_group().map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if !self.blocks.is_empty() {
            self.write_group().map_err(failed)?;
        }
        self.file.close().map_err(failed)?;
        Ok(())
    }
}

fn failed(error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    };
    Error::Write { source }
}
