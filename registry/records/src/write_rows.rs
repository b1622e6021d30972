//! Output of released records, independent of the file format.

use crate::{Decoded, Result};

/// Writer of released records to a table in a file or in memory.
pub trait WriteRows {
    /// A block of rows in the format of the file. Several cores make blocks at the same time.
    type Block: Send;

    /// Function that formats a block of released rows, on any core. It fails with the errors of
    /// [`Decoded::each`] and [`Decoded::columns`].
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
