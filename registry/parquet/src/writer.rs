//! Writing released records as Parquet.

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use scumble_core::local;
use scumble_records::{Cell, Decoder, WriteRows};
use scumble_records::{Error, Result};
use std::io::{self, Write};
use std::sync::Arc;

/// Cells of a row group, in about: what is in memory until it is written.
const CELLS: usize = 1 << 21;

/// Released records as Parquet: numbers as DOUBLE, levels as strings with a dictionary, no nulls, packed by Snappy.
///
/// A row group has as many whole blocks of records as make two million cells, one at least. Nothing in the file says when,
/// where or from what it was made.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    blocks: Vec<Block>,
    most_blocks: usize,
}

/// Released records, column by column.
pub struct Block(Vec<Column>);

enum Column {
    Numbers(Vec<f64>),
    /// Levels, one after the other, and where each ends.
    Levels(String, Vec<usize>),
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file of what `decoder` gives.
    ///
    /// # Errors
    /// [`Error::Write`] where `output` fails.
    pub fn new(output: W, decoder: &Decoder) -> Result<Self> {
        let names = || decoder.header().iter().zip(decoder.is_text());
        let fields = names().map(|(name, is_text)| {
            let physical = if is_text { Physical::BYTE_ARRAY } else { Physical::DOUBLE };
            let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
            let field = field.with_logical_type(is_text.then_some(LogicalType::String)).build();
            field.map(Arc::new).map_err(failed)
        });
        let schema = Type::group_type_builder("schema").with_fields(fields.collect::<Result<_>>()?);
        let schema = schema.build().map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .set_created_by(concat!("scumble version ", env!("CARGO_PKG_VERSION")).into());
        let properties = names().filter(|(_, is_text)| *is_text).fold(properties, |properties, (name, _)| {
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
                    (ColumnWriter::DoubleColumnWriter(writer), Some(Column::Numbers(numbers))) => {
                        writer.write_batch(numbers, None, None)?;
                    }
                    (ColumnWriter::ByteArrayColumnWriter(writer), Some(Column::Levels(text, ends))) => {
                        let text = bytes::Bytes::copy_from_slice(text.as_bytes());
                        let starts = std::iter::once(&0).chain(ends);
                        let levels =
                            starts.zip(ends).map(|(&start, &end)| ByteArray::from(text.slice(start..end)));
                        writer.write_batch(&levels.collect::<Vec<_>>(), None, None)?;
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

impl<W: Write + Send> WriteRows for Writer<W> {
    type Block = Block;

    fn block(decoder: &Decoder, records: &[f64]) -> Result<Block> {
        let empty = |is_text| match is_text {
            true => Column::Levels(String::new(), vec![]),
            false => Column::Numbers(vec![]),
        };
        let mut columns: Vec<Column> = decoder.is_text().map(empty).collect();
        for row in decoder.rows(records) {
            for (column, cell) in columns.iter_mut().zip(row?) {
                match (column, cell) {
                    (Column::Numbers(numbers), Cell::Number(number)) => numbers.push(number),
                    (Column::Levels(text, ends), cell) => {
                        *text += &cell.text();
                        ends.push(text.len());
                    }
                    (Column::Numbers(_), cell) => {
                        return Err(scumble_core::Error::shape(format!(
                            "{:?} was released as a number",
                            cell.text()
                        ))
                        .into());
                    }
                }
            }
        }
        Ok(Block(columns))
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
