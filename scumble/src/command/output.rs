//! Where records go: a new file, or standard output.

use super::{Failure, complain, new_file, print};
use crate::custody::NewFile;
use crate::parquet::{FileWriter, is_standard};
use crate::records::{self, Decoder};
use scumble_core::text::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

/// Records that are written aside, and appear once all of them are there.
pub(super) struct Output {
    path: PathBuf,
    to: To,
    hash: Sha256,
}

enum To {
    /// Under a name.
    Named(BufWriter<NewFile>),
    /// On standard output, from a file without a name.
    Standard(BufWriter<File>),
}

impl Output {
    /// # Errors
    /// As [`NewFile::create`].
    pub(super) fn create(path: &Path, replace: bool) -> Result<Self, Failure> {
        let to = match is_standard(path) {
            true => To::Standard(BufWriter::new(tempfile::tempfile()?)),
            false => To::Named(BufWriter::new(new_file(path, replace)?)),
        };
        Ok(Self { path: path.into(), to, hash: Sha256::new() })
    }

    /// Writer of records, in the format that the name of the file asks for.
    ///
    /// # Errors
    /// [`records::Error::Write`].
    pub(super) fn writer(&mut self, decoder: &Decoder) -> Result<FileWriter<&mut Self>, Failure> {
        let path = self.path.clone();
        Ok(FileWriter::new(&path, self, decoder)?)
    }

    /// SHA-256 of what was written, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        hexadecimal(&self.hash.clone().finalize())
    }

    /// # Errors
    /// [`records::Error::Write`]; as [`NewFile::commit`].
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

/// Says what was written to `path`: on stderr where the records themselves are on stdout.
///
/// # Errors
/// Where it cannot be printed.
pub(super) fn report(path: &Path, text: &str) -> Result<(), Failure> {
    if is_standard(path) {
        complain(text);
        return Ok(());
    }
    print(text)
}

/// # Errors
/// Where both records and JSON would be printed.
pub(super) fn check_json(path: &Path, as_json: bool) -> Result<(), Failure> {
    match as_json && is_standard(path) {
        true => Err(
            "--output -: the records go to standard output, and so cannot --json; give a file to one of them"
                .into(),
        ),
        false => Ok(()),
    }
}
