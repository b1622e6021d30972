//! File of finished trials. An interrupted comparison or reproduction of published results continues from it.
//! After a change of its settings, it runs only trials that the file lacks.
//!
//! The file has one line of JSON per trial. The key of a line is the SHA-256 of all inputs that the trial
//! depends on. Lines are only appended.

use scumble_core::text::hexadecimal;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file is in use by another run, is not a file of finished trials, or has an invalid line.
    #[error("{file}: {problem}")]
    File {
        /// File name.
        file: String,
        /// Problem, with its line.
        problem: String,
    },
    /// The inputs of a trial contain a NaN.
    #[error("a trial cannot be stored: {0}")]
    Key(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

type Result<T> = std::result::Result<T, Error>;

/// SHA-256, in hexadecimal, of all inputs that a trial depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// Computes the key from `everything`, the inputs that a trial depends on.
    ///
    /// # Errors
    /// [`Error::Key`] if `everything` cannot be serialised, for example because of a NaN.
    pub fn from_content(everything: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_vec(everything);
        let text = text.map_err(|problem| Error::Key(problem.to_string()))?;
        Ok(Self(hexadecimal(&Sha256::digest(text))))
    }
}

/// Line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<T> {
    key: Key,
    /// Description of the trial, for people who read the file.
    of: Value,
    #[serde(flatten)]
    found: T,
}

/// Beginning of a line.
const BEGINNING: &[u8] = b"{\"key\":\"";

/// File of finished trials. While it is open, no other run can open it.
#[derive(Debug)]
pub struct Store<T> {
    path: PathBuf,
    finished: HashMap<Key, T>,
    file: Mutex<Appended>,
}

/// File, and its length in bytes up to the end of its last whole line.
#[derive(Debug)]
struct Appended {
    file: File,
    length: u64,
}

impl<T: Clone + Serialize + DeserializeOwned> Store<T> {
    /// Opens the file, or creates it. An incomplete last line is removed.
    ///
    /// # Errors
    /// [`Error::File`] if another run has the file open, if it is not a file of finished trials, or if a line
    /// is invalid. [`Error::Io`] if the file cannot be opened, read or shortened.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::Io { file: path.into(), source };
        let refuse = |problem: String| Error::File { file: path.display().to_string(), problem };
        let found = std::fs::metadata(path);
        if found.is_ok_and(|found| !found.is_file()) {
            return Err(refuse("it is not a regular file, so no trial can be stored in it".into()));
        }
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => refuse("another run is using it".into()),
            TryLockError::Error(source) => failed(source),
        })?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        // A run that was killed while writing leaves a line without an end. Any other file without a line end
        // is not a store, and is not changed.
        let torn = bytes.split_off(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        if bytes.is_empty() && !torn.iter().zip(BEGINNING).all(|(found, ours)| found == ours) {
            return Err(refuse("it is not a file of finished trials".into()));
        }
        let mut finished = HashMap::new();
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line: Line<T> = serde_json::from_slice(line).map_err(|problem| {
                refuse(format!("line {}: it is not a finished trial: {}", at + 1, without_place(&problem)))
            })?;
            finished.insert(line.key, line.found);
        }
        let length = bytes.len() as u64;
        file.set_len(length).map_err(failed)?;
        Ok(Self { path: path.into(), finished, file: Mutex::new(Appended { file, length }) })
    }

    /// Stored result for this key.
    pub fn find(&self, key: &Key) -> Option<&T> {
        self.finished.get(key)
    }

    /// Appends a line, and passes it to the operating system before returning.
    ///
    /// # Errors
    /// [`Error::Io`] if the line cannot be written; the file is then unchanged.
    pub fn add(&self, key: Key, description: &Value, found: &T) -> Result<()> {
        let line = Line { key, of: description.clone(), found: found.clone() };
        let failed = |source| Error::Io { file: self.path.clone(), source };
        let mut text = serde_json::to_vec(&line).map_err(|error| failed(io::Error::from(error)))?;
        text.push(b'\n');
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(source) = appended.file.write_all(&text) {
            // A partial line must not be followed by another.
            let _ = appended.file.set_len(appended.length);
            return Err(failed(source));
        }
        appended.length += text.len() as u64;
        Ok(())
    }
}

/// Message of an error, without serde's own line number. This number is always 1, because each line is parsed
/// separately.
fn without_place(problem: &serde_json::Error) -> String {
    let text = problem.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    text.chars().take(200).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    #[derive(Debug, Clone, Serialize, Deserialize)]
    struct Scored {
        accuracy: f64,
    }

    fn open(path: &Path) -> Result<Store<Scored>> {
        Store::open(path)
    }

    fn key(trial: usize) -> Key {
        Key::from_content(&trial).unwrap()
    }

    /// Folder with a store of three trials.
    fn three() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let store = open(&path).unwrap();
        for (trial, accuracy) in [0.1 + 0.2, 0.5, 1e-300].into_iter().enumerate() {
            store.add(key(trial), &json!({ "trial": trial }), &Scored { accuracy }).unwrap();
        }
        (folder, path)
    }

    fn found(path: &Path, trial: usize) -> Option<f64> {
        open(path).unwrap().find(&key(trial)).map(|scored| scored.accuracy)
    }

    #[test]
    fn what_was_added_is_found_to_the_last_bit() {
        let (_folder, path) = three();
        assert_eq!((found(&path, 0), found(&path, 2)), (Some(0.1 + 0.2), Some(1e-300)));
        assert_eq!(found(&path, 3), None);
    }

    #[test]
    fn a_torn_last_line_is_cut_away_and_written_over() {
        let (_folder, path) = three();
        let whole = fs::read_to_string(&path).unwrap();
        for torn in ["{\"key", "\u{0}\u{0}", "{}"] {
            fs::write(&path, format!("{whole}{torn}")).unwrap();
            drop(open(&path).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        }
        open(&path).unwrap().add(key(3), &json!({}), &Scored { accuracy: 0.5 }).unwrap();
        assert_eq!(found(&path, 3), Some(0.5));
    }

    #[test]
    fn a_line_that_is_none_of_ours_is_named() {
        let (_folder, path) = three();
        let whole = fs::read_to_string(&path).unwrap();
        for bad in ["{\"key\n", "\n", "{}\n", "[1]\n", "\u{0}\n", "{\"key\": 1, \"of\": 1}\n"] {
            fs::write(&path, format!("{whole}{bad}")).unwrap();
            let refused = open(&path).map(|_| ()).unwrap_err().to_string();
            assert!(refused.contains("cells.jsonl: line 4: it is not a finished trial"), "{refused}");
            assert!(!refused.contains('\n') && !refused.contains(" line 1"), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{whole}{bad}"), "nothing is lost");
        }
    }

    #[test]
    fn two_runs_do_not_share_a_store_and_what_is_none_stays() {
        let (folder, path) = three();
        let _one = open(&path).unwrap();
        let refused = open(&path).map(|_| ()).unwrap_err().to_string();
        assert!(refused.ends_with("cells.jsonl: another run is using it"), "{refused}");
        let empty = folder.path().join("empty");
        // A file that belongs to somebody else is not changed, with or without lines.
        for other in ["", "{}", "size\n1", "{\"key\""] {
            std::fs::write(&empty, other).unwrap();
            let opened = open(&empty);
            assert_eq!(opened.is_ok(), other.is_empty() || other.starts_with("{\"k"), "{other:?}");
            drop(opened);
            let left = if other.starts_with("{\"k") { "" } else { other };
            assert_eq!(std::fs::read_to_string(&empty).unwrap(), left);
        }
        assert!(open(folder.path()).is_err() && open(&folder.path().join("no/a")).is_err());
    }
}
