//! What can go wrong with what is kept: designs, keys and ledgers.

use crate::{Amount, NoAmount};
use scumble_core::Unit;
use std::path::PathBuf;

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with designs, keys and ledgers in files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be opened, read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file that is where a new one should be.
    #[error("{} is {what}", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
        /// What it is, and what becomes of it.
        what: &'static str,
    },
    /// A secret in a file that is open to other users of the machine.
    #[error(
        "{}: this secret is open to other users of the machine (mode {mode:03o}); run `chmod 600 {}`",
        file.display(), file.display()
    )]
    Readable {
        /// The file.
        file: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A saved design that cannot be used.
    #[error("{file}: the design cannot be loaded: {problem}")]
    Design {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A saved key that cannot be used.
    #[error("{file}: the key cannot be used: {problem}")]
    Key {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A released model that cannot be used.
    #[error("{file}: the model cannot be used: {problem}")]
    Model {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A ticket that cannot be used.
    #[error("{}: the ticket cannot be used: {problem}", file.display())]
    Ticket {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A release of another design than the one that is to read it.
    #[error(
        "{origin}: released by another design, with the digest {}…, and not by this one, {}…",
        abridged(found),
        abridged(own)
    )]
    OtherDesign {
        /// What carries the digest: a file, a table or a card.
        origin: String,
        /// The digest that it carries.
        found: String,
        /// The digest of the design.
        own: String,
    },
    /// Records that another reading of the same source gave when they were released.
    #[error(
        "{place}: the records changed between the check and the release, so none is released; release a file or \
         a table that stays as it is"
    )]
    Changed {
        /// The file or table.
        place: String,
    },
    /// Records for whose release nobody has paid.
    #[error(
        "{}: {unknown} of {records} records were not admitted, or changed since, so none is released; release \
         from a snapshot (checkpoint, persist, Parquet)",
        file.display()
    )]
    NotAdmitted {
        /// The file of admitted records.
        file: PathBuf,
        /// The number of records that were not admitted.
        unknown: usize,
        /// The number of records in the part of the table.
        records: usize,
    },
    /// Ids that several records have.
    #[error(
        "column {column:?}: {repeated} ids are those of two records or more; each record needs one of its own"
    )]
    RepeatedIds {
        /// The column of ids.
        column: String,
        /// The number of such ids.
        repeated: usize,
    },
    /// A mechanism whose design cannot be written.
    #[error("the design of {plugin:?} cannot be saved: {problem}")]
    Unsaveable {
        /// The plugin.
        plugin: String,
        /// Why.
        problem: String,
    },
    /// A ledger that cannot be used.
    #[error("the ledger {}: {problem}", file.display())]
    Ledger {
        /// The ledger's file.
        file: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Text or a number that is no amount of ε, δ or nats.
    #[error(transparent)]
    Amount(#[from] NoAmount),
    /// A charge that an account cannot bear.
    #[error(
        "{dataset:?} has too little left for {unit}: ε = {} and δ = {} were spent of ε = {} and δ = {}, \
         and ε = {} and δ = {} were asked for",
        spent.0, spent.1, total.0, total.1, asked.0, asked.1
    )]
    Overdrawn {
        /// The data set.
        dataset: String,
        /// The unit whose account it is.
        unit: Unit,
        /// The charge (ε, δ).
        asked: Box<(Amount, Amount)>,
        /// What was spent before.
        spent: Box<(Amount, Amount)>,
        /// What may be spent.
        total: Box<(Amount, Amount)>,
    },
    /// A charge that an account in nats cannot bear.
    #[error(
        "{dataset:?}: mutual-information budget exceeded: {spent} of {total} nats spent, {}",
        if asked.is_finite() { format!("{asked} requested") } else { "and this release bounds none".into() }
    )]
    Overtold {
        /// The data set.
        dataset: String,
        /// The charge, in nats; infinite for a release that bounds no mutual information.
        asked: Box<Amount>,
        /// What was spent before.
        spent: Box<Amount>,
        /// What may be spent.
        total: Box<Amount>,
    },
    /// A file of records, or a schema.
    #[error(transparent)]
    Records(scumble_records::Error),
    /// A design, or a release by it.
    #[error(transparent)]
    Core(#[from] scumble_core::Error),
}

/// A file that cannot be read is one, whatever it holds.
impl From<scumble_records::Error> for Error {
    fn from(error: scumble_records::Error) -> Self {
        match error {
            scumble_records::Error::Io { file, source } => Self::Io { file, source },
            other => Self::Records(other),
        }
    }
}

/// The first digits of a digest.
fn abridged(digest: &str) -> String {
    digest.chars().take(12).collect()
}
