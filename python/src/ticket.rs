//! Tickets: a file that is known by its path. The secret in it never becomes an object of Python's, and so it is in no pickle and no plan.

use crate::errors::Failed;
use pyo3::prelude::*;
use pyo3::types::PyType;
use scumble::custody::{self, AdmittedRecords};
use std::collections::VecDeque;
use std::path::{self, PathBuf};
use std::sync::{Arc, Mutex};

/// The ticket in a file: the secret of one keyed release, which may be made again and is paid for once.
///
/// It is read whenever it is asked: a ticket that was forgotten is gone, and another one in its place is another one.
#[pyclass(frozen, module = "scumble")]
pub(crate) struct Ticket {
    path: PathBuf,
}

/// Admitted records with the absolute path and the name of their ticket.
type Kept = (PathBuf, String, Arc<AdmittedRecords>);

/// The admitted records that this process read last: a process runs many tasks of one release.
static KEPT: Mutex<VecDeque<Kept>> = Mutex::new(VecDeque::new());

/// The number of releases whose admitted records a process keeps.
const MOST_KEPT: usize = 4;

impl Ticket {
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    fn content(&self) -> Result<custody::Ticket, Failed> {
        Ok(custody::Ticket::read(&self.path)?)
    }

    /// The ticket, for a release by the design of this digest, with the records that it admits. Where a
    /// `name` is given, it must be the ticket's.
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
            return wrong("it is another ticket than the one that admitted the records");
        }
        if content.binding().design != digest {
            return wrong("it is for another design");
        }
        let path = path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        let is_own = |kept: &&Kept| kept.0 == path && kept.1 == own;
        // The lock is not waited for: in a child that was forked, nobody may be there to give it back.
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

    /// Its public name, which tells nothing of its secret.
    #[getter]
    fn name(&self) -> Result<String, Failed> {
        Ok(self.content()?.key().name())
    }

    /// What it is for, as JSON.
    fn binding(&self) -> Result<String, Failed> {
        Ok(serde_json::to_string(self.content()?.binding())?)
    }

    /// The file.
    #[getter(path)]
    fn shown_path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Overwrites and removes the file, with the records that it admits: the release can then neither be
    /// repeated nor have its noise taken away by who finds it.
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
