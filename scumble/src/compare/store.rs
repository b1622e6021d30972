//! Finished trials in a file, so that a comparison that was interrupted goes on, and one that was changed does only what is
//! new.
//!
//! The file has one line of JSON a mechanism, budget, trial and model, with its scores by every metric that fits. A line is
//! found by its key: SHA-256 of all that the scores depend on. Lines are only ever added.

use super::{Error, Metric, Result, hexadecimal};
use crate::registry::{self, number};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What a model scored on one trial's release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scored {
    pub(super) scores: BTreeMap<Metric, Score>,
    /// The time of release and model.
    pub(super) seconds: f64,
}

impl Scored {
    /// NaN where it has no such score.
    pub(super) fn score(&self, metric: Metric) -> f64 {
        self.scores.get(&metric).map_or(f64::NAN, |score| score.0)
    }
}

/// A score: null where it is no number, as after an overflow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score(pub(super) f64);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        number::to_json(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Number(#[serde(with = "number")] f64);
        let value = Option::<Number>::deserialize(deserializer)?;
        Ok(Self(value.map_or(f64::NAN, |Number(value)| value)))
    }
}

/// The SHA-256 of all that a line's scores depend on, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Key(String);

impl Key {
    /// # Errors
    /// [`Error::Data`] for a NaN, which cannot be written.
    pub(super) fn of(everything: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_vec(everything);
        let text = text.map_err(|problem| Error::Data(format!("a trial cannot be stored: {problem}")))?;
        Ok(Self(hexadecimal(&Sha256::digest(text))))
    }
}

/// A line as it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    key: Key,
    /// For people: which mechanism, budget, model and trial it is.
    #[serde(borrow)]
    of: std::borrow::Cow<'a, Value>,
    #[serde(flatten)]
    scored: Scored,
}

/// How a line begins.
const BEGINNING: &[u8] = b"{\"key\":\"";

/// A file of finished trials. While it is open nobody else opens it.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    finished: HashMap<Key, Scored>,
    file: Mutex<Appended>,
}

/// The file, and how long it is up to the end of its last whole line.
#[derive(Debug)]
struct Appended {
    file: File,
    length: u64,
}

impl Store {
    /// Opens the file, which is made where there is none. A last line that was torn off is cut away.
    ///
    /// # Errors
    /// [`Error::File`] for a file that another comparison has open, or with the line that is none of ours;
    /// [`registry::Error::Io`].
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |source| registry::Error::Io { file: path.into(), source };
        let refuse = |problem: String| Error::File { file: path.display().to_string(), problem };
        let found = std::fs::metadata(path);
        if found.is_ok_and(|found| !found.is_file()) {
            return Err(refuse("it is no plain file, and no trial is stored there".into()));
        }
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(failed)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => refuse("another comparison is at work on it".into()),
            TryLockError::Error(source) => failed(source).into(),
        })?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(failed)?;
        // Whoever was killed while writing leaves a line without an end. What else has none is somebody's, and stays.
        let torn = bytes.split_off(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1));
        if bytes.is_empty() && !torn.iter().zip(BEGINNING).all(|(found, ours)| found == ours) {
            return Err(refuse("it is no file of finished trials".into()));
        }
        let mut finished = HashMap::new();
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line: Line = serde_json::from_slice(line).map_err(|problem| {
                refuse(format!("line {}: it is no finished trial: {}", at + 1, without_place(&problem)))
            })?;
            finished.insert(line.key, line.scored);
        }
        let length = bytes.len() as u64;
        file.set_len(length).map_err(failed)?;
        Ok(Self { path: path.into(), finished, file: Mutex::new(Appended { file, length }) })
    }

    /// What was scored under this key before, if that has all of these metrics.
    pub(super) fn find(&self, key: &Key, metrics: &[Metric]) -> Option<Scored> {
        let scored = self.finished.get(key)?;
        metrics.iter().all(|metric| scored.scores.contains_key(metric)).then(|| scored.clone())
    }

    /// Adds a line, and hands it to the operating system before it returns.
    ///
    /// # Errors
    /// [`registry::Error::Io`] where it cannot be written; the file is then what it was.
    pub(super) fn add(&self, key: Key, of: &Value, scored: &Scored) -> Result<()> {
        let line = Line { key, of: std::borrow::Cow::Borrowed(of), scored: scored.clone() };
        let failed = |source| registry::Error::Io { file: self.path.clone(), source };
        let mut text = serde_json::to_vec(&line).map_err(|error| failed(io::Error::from(error)))?;
        text.push(b'\n');
        let mut appended = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(source) = appended.file.write_all(&text) {
            // Half a line must not get another behind it.
            let _ = appended.file.set_len(appended.length);
            return Err(failed(source).into());
        }
        appended.length += text.len() as u64;
        Ok(())
    }
}

/// What is wrong, without serde's own line, which is always the first.
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

    fn scored(accuracy: f64) -> Scored {
        Scored { scores: BTreeMap::from([(Metric::Accuracy, Score(accuracy))]), seconds: 0.25 }
    }

    fn key(trial: usize) -> Key {
        Key::of(&trial).unwrap()
    }

    /// A folder with a store of three trials.
    fn three() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let store = Store::open(&path).unwrap();
        for (trial, accuracy) in [0.1 + 0.2, f64::NAN, f64::INFINITY].into_iter().enumerate() {
            store.add(key(trial), &json!({ "trial": trial }), &scored(accuracy)).unwrap();
        }
        (folder, path)
    }

    fn found(path: &Path, trial: usize) -> Option<f64> {
        let scored = Store::open(path).unwrap().find(&key(trial), &[Metric::Accuracy])?;
        Some(scored.scores[&Metric::Accuracy].0)
    }

    #[test]
    fn what_was_added_is_found_to_the_last_bit() {
        let (_folder, path) = three();
        assert_eq!((found(&path, 0), found(&path, 2)), (Some(0.1 + 0.2), Some(f64::INFINITY)));
        assert!(found(&path, 1).unwrap().is_nan());
        assert_eq!(found(&path, 3), None);
        let all = Store::open(&path).unwrap();
        assert!(all.find(&key(0), &[Metric::Accuracy, Metric::MacroF1]).is_none(), "one metric is missing");
    }

    #[test]
    fn a_torn_last_line_is_cut_away_and_written_over() {
        let (_folder, path) = three();
        let whole = fs::read_to_string(&path).unwrap();
        for torn in ["{\"key", "\u{0}\u{0}", "{}"] {
            fs::write(&path, format!("{whole}{torn}")).unwrap();
            drop(Store::open(&path).unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        }
        Store::open(&path).unwrap().add(key(3), &json!({}), &scored(0.5)).unwrap();
        assert_eq!(found(&path, 3), Some(0.5));
    }

    #[test]
    fn a_line_that_is_none_of_ours_is_named() {
        let (_folder, path) = three();
        let whole = fs::read_to_string(&path).unwrap();
        for bad in ["{\"key\n", "\n", "{}\n", "[1]\n", "\u{0}\n", "{\"key\": 1, \"of\": 1}\n"] {
            fs::write(&path, format!("{whole}{bad}")).unwrap();
            let refused = Store::open(&path).unwrap_err().to_string();
            assert!(refused.contains("cells.jsonl: line 4: it is no finished trial"), "{refused}");
            assert!(!refused.contains('\n') && !refused.contains(" line 1"), "{refused}");
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{whole}{bad}"), "nothing is lost");
        }
    }

    #[test]
    fn two_comparisons_do_not_share_a_store_and_what_is_none_stays() {
        let (folder, path) = three();
        let _one = Store::open(&path).unwrap();
        let refused = Store::open(&path).unwrap_err().to_string();
        assert!(refused.ends_with("cells.jsonl: another comparison is at work on it"), "{refused}");
        let empty = folder.path().join("empty");
        // What is somebody else's stays, whether it has lines or not.
        for other in ["", "{}", "size\n1", "{\"key\""] {
            std::fs::write(&empty, other).unwrap();
            let opened = Store::open(&empty);
            assert_eq!(opened.is_ok(), other.is_empty() || other.starts_with("{\"k"), "{other:?}");
            drop(opened);
            let left = if other.starts_with("{\"k") { "" } else { other };
            assert_eq!(std::fs::read_to_string(&empty).unwrap(), left);
        }
        assert!(Store::open(folder.path()).is_err() && Store::open(&folder.path().join("no/a")).is_err());
    }
}
