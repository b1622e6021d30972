//! The passphrase of a secret key, from a file or the environment. It is never on the command line, which
//! other users can read.

use super::Failure;
use crate::custody::key;
use crate::records::read_text;
use clap::Args;
use std::path::PathBuf;

const VARIABLE: &str = "SCUMBLE_PASSPHRASE";

/// Maximum size of a passphrase file, in bytes.
const LONGEST: u64 = 1 << 20;

#[derive(Args, Default)]
pub(super) struct Passphrase {
    /// A file whose first line is the passphrase of the secret key. Without it, the environment's
    /// SCUMBLE_PASSPHRASE is used.
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl Passphrase {
    /// Reads the passphrase.
    ///
    /// # Errors
    /// Returns an error if no passphrase is given, its file cannot be read, or it is too short.
    pub(super) fn read(&self) -> Result<String, Failure> {
        let (passphrase, whose) = match &self.passphrase_file {
            Some(file) => {
                let text = read_text(file, LONGEST)?;
                (text.lines().next().unwrap_or_default().to_owned(), file.display().to_string())
            }
            None => {
                let missing = |_| {
                    format!(
                        "the secret key is encrypted: name a file with its passphrase \
                         (--passphrase-file FILE), or set {VARIABLE}"
                    )
                };
                (std::env::var(VARIABLE).map_err(missing)?, VARIABLE.to_owned())
            }
        };
        key::check_passphrase(&passphrase).map_err(|problem| format!("{whose}: {problem}"))?;
        Ok(passphrase)
    }
}
