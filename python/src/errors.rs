//! Errors as the exceptions that Python users expect: `KeyError` for an unknown name, `ValueError` for
//! invalid input.

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyPermissionError};
use scumble::{compare, core, custody, datasets, records};
use std::io;

pyo3::import_exception!(scumble._errors, InvalidInput);
pyo3::import_exception!(scumble._errors, InvalidRecords);
pyo3::import_exception!(scumble._errors, NotAdmitted);
pyo3::import_exception!(scumble._errors, NotApplicable);
pyo3::import_exception!(scumble._errors, Overdrawn);
pyo3::import_exception!(scumble._errors, UnknownName);
pyo3::import_exception!(scumble._errors, WrongTicket);

/// Visibility of the values of table cells in error messages. They are hidden if the message goes to the log
/// of a machine that does not belong to the owner of the data.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cells {
    Shown,
    Hidden,
}

/// Error of this package, converted from an error of any other crate.
pub(crate) struct Failed(PyErr);

impl From<Failed> for PyErr {
    fn from(failed: Failed) -> Self {
        failed.0
    }
}

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl Failed {
    /// Creates an error for invalid input, described in one sentence.
    pub(crate) fn input(problem: impl Into<String>) -> Self {
        Self(InvalidInput::new_err(problem.into()))
    }

    /// Creates an error for a release that failed after the ledger was charged.
    pub(crate) fn after_charge(error: &custody::Error) -> Self {
        Self(InvalidRecords::new_err(format!("{error}; the ledger was charged, and the charge remains")))
    }

    pub(crate) fn from_custody(error: custody::Error, cells: Cells) -> Self {
        match error {
            custody::Error::Records(error) if cells == Cells::Hidden => error.without_value().into(),
            custody::Error::Records(error) => error.into(),
            custody::Error::Core(error) => error.into(),
            custody::Error::Io { ref source, .. } => Self(file_error(source, error.to_string())),
            error @ (custody::Error::Overdrawn { .. } | custody::Error::Overtold { .. }) => {
                Self(Overdrawn::new_err(error.to_string()))
            }
            error @ custody::Error::Readable { .. } => Self(PyPermissionError::new_err(error.to_string())),
            error @ (custody::Error::Changed { .. } | custody::Error::RepeatedIds { .. }) => {
                Self(InvalidRecords::new_err(error.to_string()))
            }
            error @ custody::Error::NotAdmitted { .. } => Self(NotAdmitted::new_err(error.to_string())),
            error @ custody::Error::Ticket { .. } => Self(WrongTicket::new_err(error.to_string())),
            error => Self::input(error.to_string()),
        }
    }
}

/// Converts an error of the operating system about a file.
fn file_error(source: &io::Error, text: String) -> PyErr {
    match source.kind() {
        io::ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
        _ => PyOSError::new_err(text),
    }
}

impl From<custody::Error> for Failed {
    fn from(error: custody::Error) -> Self {
        Self::from_custody(error, Cells::Shown)
    }
}

impl From<records::Error> for Failed {
    fn from(error: records::Error) -> Self {
        let text = error.to_string();
        Self(match error {
            records::Error::MissingColumn { .. } => UnknownName::new_err(text),
            records::Error::Io { source, .. } | records::Error::Write { source } => file_error(&source, text),
            records::Error::Interrupted => PyKeyboardInterrupt::new_err(text),
            records::Error::Core(error) => return error.into(),
            _ => InvalidRecords::new_err(text),
        })
    }
}

impl From<core::Error> for Failed {
    fn from(error: core::Error) -> Self {
        let text = error.to_string();
        Self(match error {
            core::Error::UnknownPlugin { .. } | core::Error::UnknownParameter { .. } => {
                UnknownName::new_err(text)
            }
            core::Error::NotApplicable { .. } => NotApplicable::new_err(text),
            core::Error::Interrupted(_) => PyKeyboardInterrupt::new_err(text),
            _ => InvalidInput::new_err(text),
        })
    }
}

impl From<compare::Error> for Failed {
    fn from(error: compare::Error) -> Self {
        match error {
            compare::Error::Core(error) => error.into(),
            error => Self::input(error.to_string()),
        }
    }
}

impl From<datasets::Error> for Failed {
    fn from(error: datasets::Error) -> Self {
        Self::input(error.to_string())
    }
}

impl From<serde_json::Error> for Failed {
    fn from(error: serde_json::Error) -> Self {
        Self::input(error.to_string())
    }
}
