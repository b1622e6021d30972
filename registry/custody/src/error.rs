//! What can go wrong with what is kept: designs, keys and ledgers.

use scumble_core::{Unit, number::short, sum_up};
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
    /// A charge that an account cannot bear.
    #[error(
        "{dataset:?} has too little left for {unit}: ε = {} and δ = {} were spent of ε = {} and δ = {}, and ε = {} and δ = {} \
         were asked for{}",
        short(spent.0), short(spent.1), short(total.0), short(total.1), short(asked.0), short(asked.1),
        by_a_hair(&[spent.0, asked.0], total.0)
    )]
    Overdrawn {
        /// The data set.
        dataset: String,
        /// The unit whose account it is.
        unit: Unit,
        /// The charge (ε, δ).
        asked: (f64, f64),
        /// What was spent before.
        spent: (f64, f64),
        /// What may be spent.
        total: (f64, f64),
    },
    /// A charge that an account in nats cannot bear.
    #[error(
        "{dataset:?} has too little left of what may be told of which records were used: {} nats were spent of {}, and {} asked for{}",
        short(*spent), short(*total),
        if asked.is_finite() { format!("{} nats were", short(*asked)) } else { "a release that bounds none was".into() },
        by_a_hair(&[*spent, *asked], *total)
    )]
    Overtold {
        /// The data set.
        dataset: String,
        /// The charge, in nats; infinite for a release that bounds no mutual information.
        asked: f64,
        /// What was spent before.
        spent: f64,
        /// What may be spent.
        total: f64,
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

/// What is said where decimal numbers would have fitted: 0.1 three times, as binary numbers, is more than 0.3.
fn by_a_hair(parts: &[f64], total: f64) -> &'static str {
    let excess = sum_up(parts.iter().copied()) - total;
    if excess > 0.0 && excess < 1e-9 * total {
        return "; as binary numbers they exceed it by a hair, so a hair less fits";
    }
    ""
}
