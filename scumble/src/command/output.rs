//! Output of records: a new file, or standard output.

use super::{Failure, complain, new_file, print};
use crate::custody::NewFile;
use crate::parquet::{FileWriter, check_format, is_standard};
use crate::records::{self, Decoder};
use scumble_core::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// Output that is written under a temporary name and appears when all records are written.
pub(super) struct Output {
    path: PathBuf,
    to: To,
    hash: Sha256,
}

enum To {
    /// A file with a name.
    Named(BufWriter<NewFile>),
    /// Standard output, to which a temporary file is copied at the end.
    Standard(BufWriter<File>),
}

impl Output {
    /// Starts the output at `path`.
    ///
    /// # Errors
    /// Same errors as [`NewFile::create`] and [`check_format`], and an error if the temporary file for
    /// standard output cannot be created.
    pub(super) fn create(path: &Path, replace: bool) -> Result<Self, Failure> {
        check_format(path)?;
        let to = match is_standard(path) {
            true => To::Standard(BufWriter::new(tempfile::tempfile()?)),
            false => To::Named(BufWriter::new(new_file(path, replace)?)),
        };
        Ok(Self { path: path.into(), to, hash: Sha256::new() })
    }

    /// Returns a writer of records in the format that the file's name implies.
    ///
    /// # Errors
    /// [`records::Error::Write`] if the start of the file cannot be written.
    pub(super) fn writer(&mut self, decoder: &Decoder) -> Result<FileWriter<'_>, Failure> {
        let path = self.path.clone();
        Ok(FileWriter::new(&path, self, decoder)?)
    }

    /// Returns the SHA-256 of the written bytes, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        hexadecimal(&self.hash.clone().finalize())
    }

    /// Publishes the output: renames the file, or copies it to standard output.
    ///
    /// # Errors
    /// [`records::Error::Write`] if the last bytes cannot be written, or cannot be copied to standard output.
    /// Same errors as [`NewFile::commit`].
    pub(super) fn commit(self) -> Result<(), Failure> {
        let failed = |source| records::Error::Write { source };
        match self.to {
            To::Named(file) => Ok(file.into_inner().map_err(|error| failed(error.into_error()))?.commit()?),
            To::Standard(file) => {
                let mut file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                file.rewind().map_err(failed)?;
                match io::copy(&mut file, &mut io::stdout().lock()) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    copied => Ok(copied.map(|_| ()).map_err(failed)?),
                }
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.to {
            To::Named(file) => file.write(bytes),
            To::Standard(file) => file.write(bytes),
        }?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Named(file) => file.flush(),
            To::Standard(file) => file.flush(),
        }
    }
}

/// Prints a message about the file at `path`. The message goes to stderr if the records are on stdout.
///
/// # Errors
/// Returns an error if the message cannot be printed.
pub(super) fn report(path: &Path, text: &str) -> Result<(), Failure> {
    if is_standard(path) {
        complain(text);
        return Ok(());
    }
    print(text)
}

/// Checks that standard output does not take both records and JSON.
///
/// # Errors
/// Returns an error if standard output would take both records and JSON.
pub(super) fn check_json(path: &Path, as_json: bool) -> Result<(), Failure> {
    match as_json && is_standard(path) {
        true => Err(
            "--output -: records and JSON cannot both go to standard output; give --output a file, or omit \
             --json"
                .into(),
        ),
        false => Ok(()),
    }
}
