//! Writer of released records in the format that the file's name selects.

use crate::check_format;
#[cfg(feature = "parquet")]
use crate::{
    is_named_as_parquet,
    writer::{self, Writer},
};
use scumble_records::{Decoded, Decoder, Result, WriteRows, csv};
use std::io::Write;
use std::path::Path;

/// Writer of released records: Parquet if the name of the file ends with `.parquet`, CSV otherwise.
pub enum FileWriter<'o> {
    /// CSV.
    Csv(csv::Writer<Box<dyn Write + Send + 'o>>),
    /// Parquet.
    #[cfg(feature = "parquet")]
    Parquet(Box<Writer<'o>>),
}

/// Block of released records in the format of the file.
pub enum FileBlock {
    /// Lines of CSV.
    Csv(Vec<u8>),
    /// Columns of Parquet.
    #[cfg(feature = "parquet")]
    Parquet(writer::Block),
}

impl<'o> FileWriter<'o> {
    /// Begins a file of the records that `decoder` decodes. The name `file` selects the format, and the bytes
    /// are written to `output`.
    ///
    /// # Errors
    /// [`Error::Write`](scumble_records::Error::Write) if `output` fails. Same errors as [`check_format`].
    pub fn new(file: &Path, output: impl Write + Send + 'o, decoder: &Decoder) -> Result<Self> {
        check_format(file)?;
        let output: Box<dyn Write + Send + 'o> = Box::new(output);
        #[cfg(feature = "parquet")]
        if is_named_as_parquet(file) {
            return Ok(Self::Parquet(Box::new(Writer::new(output, decoder)?)));
        }
        Ok(Self::Csv(csv::Writer::new(output, decoder)?))
    }
}

impl WriteRows for FileWriter<'_> {
    type Block = FileBlock;

    fn maker(&self) -> fn(&Decoded) -> Result<FileBlock> {
        match self {
            Self::Csv(_) => |rows| csv::block(rows).map(FileBlock::Csv),
            #[cfg(feature = "parquet")]
            Self::Parquet(_) => |rows| writer::block(rows).map(FileBlock::Parquet),
        }
    }

    fn write(&mut self, block: FileBlock) -> Result<()> {
        match (self, block) {
            (Self::Csv(writer), FileBlock::Csv(block)) => writer.write(block),
            #[cfg(feature = "parquet")]
            (Self::Parquet(writer), FileBlock::Parquet(block)) => writer.write(block),
            #[cfg(feature = "parquet")]
            _ => Err(scumble_core::Error::shape("a block is not of this file's format").into()),
        }
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Csv(writer) => writer.finish(),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer) => writer.finish(),
        }
    }
}
