//! Writer of released records in the format that the file's name selects.

use crate::is_named_as_parquet;
use crate::writer::{self, Writer};
use scumble_records::{Decoded, Decoder, Result, WriteRows, csv};
use std::io::Write;
use std::path::Path;

/// Writer of released records: Parquet if the name of the file ends with `.parquet`, CSV otherwise.
pub enum FileWriter<W: Write + Send> {
    /// CSV.
    Csv(csv::Writer<W>),
    /// Parquet.
    Parquet(Box<Writer<W>>),
}

/// Block of released records in the format of the file.
pub enum FileBlock {
    /// Lines of CSV.
    Csv(Vec<u8>),
    /// Columns of Parquet.
    Parquet(writer::Block),
}

impl<W: Write + Send> FileWriter<W> {
    /// Begins a file of the records that `decoder` decodes. The name `file` selects the format, and the bytes
    /// are written to `output`.
    ///
    /// # Errors
    /// [`Error::Write`](scumble_records::Error::Write) if `output` fails.
    pub fn new(file: &Path, output: W, decoder: &Decoder) -> Result<Self> {
        Ok(match is_named_as_parquet(file) {
            true => Self::Parquet(Box::new(Writer::new(output, decoder)?)),
            false => Self::Csv(csv::Writer::new(output, decoder)?),
        })
    }
}

impl<W: Write + Send> WriteRows for FileWriter<W> {
    type Block = FileBlock;

    fn maker(&self) -> fn(&Decoded) -> Result<FileBlock> {
        match self {
            Self::Csv(_) => |rows| csv::block(rows).map(FileBlock::Csv),
            Self::Parquet(_) => |rows| writer::block(rows).map(FileBlock::Parquet),
        }
    }

    fn write(&mut self, block: FileBlock) -> Result<()> {
        match (self, block) {
            (Self::Csv(writer), FileBlock::Csv(block)) => writer.write(block),
            (Self::Parquet(writer), FileBlock::Parquet(block)) => writer.write(block),
            _ => Err(scumble_core::Error::shape("a block is not of this file's format").into()),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Csv(writer) => writer.finish(),
            Self::Parquet(writer) => writer.finish(),
        }
    }
}
