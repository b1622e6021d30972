//! Errors about designs, keys and ledgers in files.

use crate::{Amount, NoAmount};
use scumble_core::Unit;
use std::path::PathBuf;

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Errors about designs, keys and ledgers in files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A state of a horizon of several periods that cannot be used.
    #[error("{file}: {problem}")]
    State {
        /// File of the state.
        file: String,
        /// Description of the problem, in one line.
        problem: String,
    },
    /// A file that cannot be opened, read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// An existing file at the path of a new file.
    #[error("{} {what}", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
        /// Reason why the existing file is not overwritten.
        what: &'static str,
    },
    /// A file with a secret that other users of the machine can access.
    #[error(
        "{}: this secret is open to other users of the machine (mode {mode:03o}); run `chmod 600 {}`",
        file.display(), file.display()
    )]
    Readable {
        /// The file.
        file: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// A saved design that cannot be used.
    #[error("{file}: the design cannot be loaded: {problem}")]
    Design {
        /// The file.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// A saved key that cannot be used.
    #[error("{file}: the key cannot be used: {problem}")]
    Key {
        /// The file.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// A released model that cannot be used.
    #[error("{file}: the model cannot be used: {problem}")]
    Model {
        /// The file.
        file: String,
        /// Description of the problem.
        problem: String,
    },
    /// A ticket that cannot be used.
    #[error("{}: the ticket cannot be used: {problem}", file.display())]
    Ticket {
        /// The file.
        file: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// A release by a design other than the given design.
    #[error(
        "{origin}: it was released by another design (digest {}…), not by this one (digest {}…)",
        abridged(found),
        abridged(own)
    )]
    OtherDesign {
        /// File, table or card that carries the digest.
        origin: String,
        /// Digest found in the release.
        found: String,
        /// Digest of the given design.
        own: String,
    },
    /// Records that changed between the check and the release.
    #[error(
        "{place}: the records changed between the check and the release, so no record is released; release a \
         file or a table that does not change"
    )]
    Changed {
        /// The file or table.
        place: String,
    },
    /// Records that were not admitted: they are not among the records that were checked before the ledger was
    /// charged.
    #[error(
        "{}: {unknown} of {records} records were not admitted, or changed since, so no record is released; \
         release from a snapshot (checkpoint, persist, Parquet)",
        file.display()
    )]
    NotAdmitted {
        /// File of the admitted records.
        file: PathBuf,
        /// Number of records that were not admitted.
        unknown: usize,
        /// Number of records that the task compared.
        records: usize,
    },
    /// Ids that several records share.
    #[error("column {column:?}: {repeated} ids occur in more than one record; each record needs its own id")]
    RepeatedIds {
        /// Name of the id column.
        column: String,
        /// Number of shared ids.
        repeated: usize,
    },
    /// A mechanism whose design cannot be saved.
    #[error("the design of {plugin:?} cannot be saved: {problem}")]
    Unsaveable {
        /// Name of the plugin.
        plugin: String,
        /// Reason.
        problem: String,
    },
    /// A ledger that cannot be used.
    #[error("the ledger {}: {problem}", file.display())]
    Ledger {
        /// File of the ledger.
        file: PathBuf,
        /// Description of the problem.
        problem: String,
    },
    /// Noisy tables that are none.
    #[error("the tables: {0}")]
    Tables(#[from] scumble_tables::Error),
    /// Text or a number that is not an amount of ε, δ or nats.
    #[error(transparent)]
    Amount(#[from] NoAmount),
    /// A charge that exceeds the budget of an account.
    #[error(
        "{dataset:?}: budget for {unit} exceeded: ε = {} and δ = {} of ε = {} and δ = {} spent, ε = {} and δ \
         = {} requested",
        spent.0, spent.1, total.0, total.1, asked.0, asked.1
    )]
    Overdrawn {
        /// Name of the data set.
        dataset: String,
        /// Protected unit of the account, such as the whole record.
        unit: Unit,
        /// The charge (ε, δ).
        asked: Box<(Amount, Amount)>,
        /// Amount spent before (ε, δ).
        spent: Box<(Amount, Amount)>,
        /// Budget of the account (ε, δ).
        total: Box<(Amount, Amount)>,
    },
    /// A charge that exceeds the budget of an account in nats.
    #[error(
        "{dataset:?}: mutual-information budget exceeded: {spent} of {total} nats spent, {}",
        if asked.is_finite() {
            format!("{asked} requested")
        } else {
            "and this release claims no bound".into()
        }
    )]
    Overtold {
        /// Name of the data set.
        dataset: String,
        /// The charge, in nats; infinite for a release that does not bound mutual information.
        asked: Box<Amount>,
        /// Amount spent before, in nats.
        spent: Box<Amount>,
        /// Budget of the account, in nats.
        total: Box<Amount>,
    },
    /// An error in a file of records, or in a schema.
    #[error(transparent)]
    Records(scumble_records::Error),
    /// An error in a design, or in its release.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
}

/// Maps the I/O error of a file of records to [`Error::Io`], as for any other file.
impl From<scumble_records::Error> for Error {
    fn from(error: scumble_records::Error) -> Self {
        match error {
            scumble_records::Error::Io { file, source } => Self::Io { file, source },
            other => Self::Records(other),
        }
    }
}

/// First digits of a digest.
fn abridged(digest: &str) -> String {
    digest.chars().take(12).collect()
}
