//! Tickets: a file that is known by its path. The secret in it never becomes an object of Python's, and so it is in no pickle and no plan.

use crate::errors::Failed;
use pyo3::prelude::*;
use pyo3::types::PyType;
use scumble::custody;
use scumble::registry::NoiseKey;
use std::path::PathBuf;

/// The ticket in a file: the secret of one keyed release, which may be made again and is paid for once.
///
/// It is read whenever it is asked: a ticket that was forgotten is gone, and another one in its place is another one.
#[pyclass(frozen, module = "scumble")]
pub(crate) struct Ticket {
    path: PathBuf,
}

impl Ticket {
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    fn content(&self) -> Result<custody::Ticket, Failed> {
        Ok(custody::Ticket::read(&self.path)?)
    }

    /// Its key, for a release by the design of this digest.
    pub(crate) fn key_for(&self, digest: &str) -> Result<NoiseKey, Failed> {
        let content = self.content()?;
        if content.binding().design != digest {
            let problem = "it is for another design".into();
            return Err(custody::Error::Ticket { file: self.path.clone(), problem }.into());
        }
        Ok(content.key().clone())
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

    /// Overwrites and removes the file: the release can then neither be repeated nor have its noise taken away by who finds it.
    fn forget(&self) -> Result<(), Failed> {
        custody::Ticket::forget(&self.path)?;
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
