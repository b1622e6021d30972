//! What sections are made with: the Pythons that take part, a folder for files, and how far times are followed.

use crate::python::{self, Python};
use crate::{Arguments, Contestant, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

/// What sections are made with.
pub(crate) struct Host {
    python: PathBuf,
    /// Each program that was asked for, running where it could be started.
    guests: RefCell<BTreeMap<&'static str, Option<Python>>>,
    missing: RefCell<Vec<String>>,
    /// For files that some contestants read.
    pub(crate) scratch: TempDir,
    /// Whether what grows is timed at its small sizes alone.
    pub(crate) is_small: bool,
}

impl Host {
    /// # Errors
    /// Where there can be no folder for files.
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        Ok(Self {
            python: arguments.python.clone(),
            guests: RefCell::default(),
            missing: RefCell::default(),
            scratch: tempfile::tempdir()?,
            is_small: arguments.small,
        })
    }

    /// The Python that runs `program`, which needs what is named; none where that is missing.
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

    /// What numpy or scikit-learn takes for a task, under a name; none where they are missing.
    pub(crate) fn numpy(&self, name: &str, task: &str) -> Option<Contestant> {
        let numpy = self.guest(python::NOISE_AND_MACHINES, "numpy and scikit-learn")?;
        Some(numpy.contestant(name, task.into()))
    }

    /// Notes what did not take part, and why.
    pub(crate) fn miss(&self, what: &str, problem: &dyn std::error::Error) {
        self.missing.borrow_mut().push(format!("{what} did not take part: {problem}."));
    }

    /// What did not take part.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.missing.borrow().clone()
    }
}
