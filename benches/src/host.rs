//! Resources that all sections of the performance page use: Python processes, a folder for files, and the
//! choice between all sizes and small ones.

use crate::python::{self, Python};
use crate::{Arguments, Contestant, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// Resources that all sections of the page use.
pub(crate) struct Host {
    python: PathBuf,
    /// Python process that runs each peer's program, by the program; `None` if the process could not be
    /// started.
    guests: RefCell<BTreeMap<&'static str, Option<Python>>>,
    missing: RefCell<Vec<String>>,
    /// Folder for files that some contestants read.
    pub(crate) scratch: TempDir,
    /// True if growth is timed at small sizes only.
    pub(crate) is_small: bool,
}

impl Host {
    /// Creates the host.
    ///
    /// # Errors
    /// Returns an error if no folder for files can be created.
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        Ok(Self {
            python: arguments.python.clone(),
            guests: RefCell::default(),
            missing: RefCell::default(),
            scratch: tempfile::tempdir()?,
            is_small: arguments.small,
        })
    }

    /// Returns the Python process that runs `program`, or `None` if the packages in `needs` are missing.
    pub(crate) fn guest(&self, program: &'static str, needs: &str) -> Option<Python> {
        let start = || match Python::start(&self.python, program, needs) {
            Ok(python) => Some(python),
            Err(problem) => {
                self.miss(needs, &*problem);
                None
            }
        };
        self.guests.borrow_mut().entry(program).or_insert_with(start).clone()
    }

    /// Returns a contestant that runs `task` in numpy or scikit-learn, or `None` if these packages are
    /// missing.
    pub(crate) fn numpy(&self, name: &str, task: &str) -> Option<Contestant> {
        let numpy = self.guest(python::NOISE_AND_MACHINES, "numpy and scikit-learn")?;
        Some(numpy.contestant(name, task.into()))
    }

    /// Records a peer that did not take part, and the reason.
    pub(crate) fn miss(&self, what: &str, problem: &dyn std::error::Error) {
        self.missing.borrow_mut().push(format!("{what} did not take part: {problem}."));
    }

    /// Returns the peers that did not take part.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.missing.borrow().clone()
    }
}
