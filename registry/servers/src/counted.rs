//! The reports that a server has counted, so that none is counted in two aggregates.

use crate::report::ReportId;
use crate::{Error, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use scumble_custody::sealed;
use std::collections::{BTreeMap, HashMap};

/// Format that this version writes and reads.
const FORMAT: &str = "scumble-counted-reports-1";
const BATCHES: &str = "batches";

/// Reports that a server has counted, by batch. A batch may be aggregated again if its reports and their
/// shares are the same: its share and its noise are then the same too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    batches: HashMap<ReportId, String>,
}

impl Counted {
    /// Text of the file.
    ///
    /// # Errors
    /// [`Error::File`] if the reports cannot be serialized.
    pub fn to_json(&self) -> Result<String> {
        let mut batches: BTreeMap<&str, Vec<&ReportId>> = BTreeMap::new();
        self.batches.iter().for_each(|(id, batch)| batches.entry(batch).or_default().push(id));
        let encoded = batches.into_iter().map(|(batch, mut ids)| {
            ids.sort_unstable();
            (
                batch.to_owned(),
                BASE64_STANDARD.encode(ids.into_iter().flatten().copied().collect::<Vec<_>>()).into(),
            )
        });
        let body = [(BATCHES.to_owned(), serde_json::Value::Object(encoded.collect()))];
        let failed = |problem: serde_json::Error| Error::file("the counted reports", problem.to_string());
        sealed::seal(FORMAT, body.into_iter().collect()).map_err(failed)
    }

    /// Reads the text of a file, which `file` names in errors.
    ///
    /// # Errors
    /// [`Error::File`] for text that is not a list of counted reports.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let wrong = Error::of_file(file);
        let sealed = sealed::open(text, FORMAT).map_err(&wrong)?;
        sealed.check_untouched().map_err(&wrong)?;
        let written: BTreeMap<String, String> = sealed.field(BATCHES).map_err(&wrong)?;
        let mut batches = HashMap::new();
        for (batch, ids) in written {
            let ids = BASE64_STANDARD.decode(ids).map_err(|problem| wrong(problem.to_string()))?;
            let (ids, rest) = ids.as_chunks::<16>();
            if !rest.is_empty() {
                return Err(wrong("it has part of an id".into()));
            }
            batches.extend(ids.iter().map(|id| (*id, batch.clone())));
        }
        Ok(Self { batches })
    }

    /// Number of reports.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Returns whether no report is counted.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Batch in which a report was counted.
    pub(crate) fn batch(&self, id: &ReportId) -> Option<&str> {
        self.batches.get(id).map(String::as_str)
    }

    pub(crate) fn add(&mut self, batch: &str, ids: impl IntoIterator<Item = ReportId>) {
        self.batches.extend(ids.into_iter().map(|id| (id, batch.to_owned())));
    }
}
