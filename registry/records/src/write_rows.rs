//! Output of released records, independent of the file format.

use crate::{Decoded, Result};

/// Table in a file, to which released records are written.
pub trait WriteRows {
    /// A block of rows in the format of the file. Several cores make blocks at the same time.
    type Block: Send;

    /// Function that formats a block of released rows, on any core. Its errors are those of [`Decoded::each`]
    /// and [`Decoded::columns`].
    fn maker(&self) -> fn(&Decoded) -> Result<Self::Block>;

    /// Appends a block.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write) if the output fails.
    fn write(&mut self, block: Self::Block) -> Result<()>;

    /// Writes the rest of the file. Without this call the file is incomplete.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write) if the output fails.
    fn finish(self) -> Result<()>;
}
