//! Files that released records are written to, whatever their format.

use crate::{Decoded, Result};

/// Table in a file, to which released records are written.
pub trait WriteRows {
    /// Some rows as the file will have them, which several cores make at once.
    type Block: Send;

    /// Function that makes a block of released rows, on any core. Its errors are those of [`Decoded::each`].
    fn maker(&self) -> fn(&Decoded) -> Result<Self::Block>;

    /// Appends a block.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write).
    fn write(&mut self, block: Self::Block) -> Result<()>;

    /// Writes what is left to write: without it the file is none.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write).
    fn finish(self) -> Result<()>;
}
