//! Tickets: files with the secret of a release, which Python knows by their path. The secret never becomes a
//! Python object, so no pickle and no query plan contains it.

use crate::errors::Failed;
use pyo3::prelude::*;
use pyo3::types::PyType;
use scumble::custody::{self, AdmittedRecords};
use std::collections::VecDeque;
use std::path::{self, PathBuf};
use std::sync::{Arc, Mutex};

/// The ticket in a file: the stored secret of one keyed release. With it, the release can be repeated at the
/// cost of one.
///
/// The file is read on every use: a forgotten ticket is gone, and a new file at its path is another ticket.
#[pyclass(frozen, module = "scumble")]
pub(crate) struct Ticket {
    path: PathBuf,
}

/// Admitted records, which are the records that a ticket releases, with the absolute path and the name of the
/// ticket.
type Kept = (PathBuf, String, Arc<AdmittedRecords>);

/// Admitted records that this process read last. They are kept because a process runs many tasks of one
/// release.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// Number of releases whose admitted records a process keeps.
const MOST_KEPT: usize = 4;

impl Ticket {
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    fn content(&self) -> Result<custody::Ticket, Failed> {
        Ok(custody::Ticket::read(&self.path)?)
    }

    /// Returns the ticket and the records that it admits, for a release by the design with this digest. If
    /// `name` is given, it must be the ticket's name.
    pub(crate) fn admitted(
        &self,
        digest: &str,
        name: Option<&str>,
    ) -> Result<(custody::Ticket, Arc<AdmittedRecords>), Failed> {
        let content = self.content()?;
        let wrong = |problem: &str| {
            Err(custody::Error::Ticket { file: self.path.clone(), problem: problem.into() }.into())
        };
        let own = content.key().name();
        if name.is_some_and(|name| name != own) {
            return wrong("another ticket admitted the records");
        }
        if content.binding().design != digest {
            return wrong("it is for another design");
        }
        let path = path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let is_own = |kept: &&Kept| kept.0 == path && kept.1 == own;
        // The lock must not block: after a fork, the thread that would release it may not exist.
        let mut kept = KEPT.try_lock().ok();
        if let Some((.., records)) = kept.as_ref().and_then(|kept| kept.iter().find(is_own)) {
            return Ok((content, Arc::clone(records)));
        }
        let records = Arc::new(AdmittedRecords::read(&self.path, &content)?);
        if let Some(kept) = &mut kept {
            kept.push_back((path, own, Arc::clone(&records)));
            if kept.len() > MOST_KEPT {
                kept.pop_front();
            }
        }
        Ok((content, records))
    }
}

#[pymethods]
impl Ticket {
    #[new]
    fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The public name of the ticket, which reveals nothing about the secret.
    #[getter]
    fn name(&self) -> Result<String, Failed> {
        Ok(self.content()?.key().name())
    }

    /// Returns the binding of the ticket to its design and records, as JSON.
    fn binding(&self) -> Result<String, Failed> {
        Ok(serde_json::to_string(self.content()?.binding())?)
    }

    /// The path of the file.
    #[getter(path)]
    fn shown_path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Overwrites and removes the file, and the list of the records that it admits. The release can then not
    /// be repeated, and its noise cannot be removed with this file.
    fn forget(&self) -> Result<(), Failed> {
        custody::forget(&self.path)?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("Ticket({:?})", self.path.display().to_string())
    }

    fn __fspath__(&self) -> PathBuf {
        self.path.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (PathBuf,)) {
        (py.get_type::<Self>(), (self.path.clone(),))
    }
}
