//! Opening of files, and reading of text files up to a size limit.

use crate::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens `file` for reading.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened or is a folder.
pub fn open_to_read(file: &Path) -> Result<File> {
    let failed = |source| Error::Io { file: file.into(), source };
    let opened = File::open(file).map_err(failed)?;
    // Opening a folder succeeds, and only reading it fails. Refuse the folder here, so that no parser wraps
    // the error.
    if opened.metadata().map_err(failed)?.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    Ok(opened)
}

/// Reads the text of a file of at most `most` bytes.
///
/// # Errors
/// [`Error::Io`] if the file cannot be read or is not UTF-8; [`Error::Unreadable`] if it is longer than
/// `most` bytes.
pub fn read_text(file: &Path, most: u64) -> Result<String> {
    let mut text = String::new();
    let read = open_to_read(file)?.take(most.saturating_add(1)).read_to_string(&mut text);
    match read {
        Ok(length) if length as u64 > most => Err(Error::Unreadable {
            file: file.display().to_string(),
            problem: format!("it is longer than the limit of {most} bytes"),
        }),
        Ok(_) => Ok(text),
        Err(source) => Err(Error::Io { file: file.into(), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.toml");
        std::fs::write(&file, "four").unwrap();
        assert_eq!(read_text(&file, 4).unwrap(), "four");
        let refused = read_text(&file, 3).unwrap_err().to_string();
        assert!(refused.ends_with("schema.toml: it is longer than the limit of 3 bytes"));
        assert!(read_text(folder.path(), 9).is_err());
    }
}
