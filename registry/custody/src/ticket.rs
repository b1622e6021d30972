//! Tickets. A ticket is the stored secret of one release, which determines the noise of every record. With
//! it, a job that runs again repeats the release at the cost of one.
//!
//! A ticket is bound to records, not to files. It holds a fingerprint of encoded records and their ids. Many
//! tasks can add up the fingerprints of their records in any order. A ticket bound to the path, size and
//! digest of a file would refuse the same records in another file format. It would also accept a file that is
//! read again with another decimal separator, which gives other records.

use crate::{Error, Existing, NewFile, Readable, Result, check_private, sealed};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use scumble_noise::{Fingerprint, NoiseKey};
use scumble_records::read_text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

const FORMAT: &str = "scumble-ticket-1";

/// Upper bound on the size of a ticket file, in bytes.
const LONGEST: u64 = 1 << 20;

const BINDING: [&str; 5] = ["design", "dataset", "ids", "records", "fingerprint"];
const SECRET: &str = "secret";

/// Purpose of a ticket: one release of specific records by a specific design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Digest of the design.
    pub design: String,
    /// Name of the data set in the ledger that is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// Name of the id column. `None` if row numbers are the ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<String>,
    /// Number of records.
    pub records: u64,
    /// Fingerprint of the records and their ids, in hexadecimal digits.
    pub fingerprint: String,
}

impl Binding {
    /// Creates the binding of a ticket for records with this fingerprint.
    pub fn new(design: String, dataset: Option<&str>, ids: Option<&str>, fingerprint: &Fingerprint) -> Self {
        Self {
            design,
            dataset: dataset.map(str::to_owned),
            ids: ids.map(str::to_owned),
            records: fingerprint.records(),
            fingerprint: fingerprint.to_string(),
        }
    }

    /// Describes the first difference to another binding, if there is one.
    fn difference(&self, other: &Self) -> Option<String> {
        let named = |name: &Option<String>| match name {
            Some(name) => format!("{name:?}"),
            None => "none".into(),
        };
        if self.design != other.design {
            return Some("it is for another design".into());
        }
        if self.dataset != other.dataset {
            let (own, asked) = (named(&self.dataset), named(&other.dataset));
            return Some(format!("it is for the data set {own}, and not for {asked}"));
        }
        if self.ids != other.ids {
            let (own, asked) = (named(&self.ids), named(&other.ids));
            return Some(format!("it is for ids of the column {own}, and not of {asked}"));
        }
        if self.records != other.records {
            return Some(format!("it is for {} records, and not for {}", self.records, other.records));
        }
        (self.fingerprint != other.fingerprint)
            .then(|| "it is for other records: some value or id was changed".into())
    }
}

/// Stored secret of a release, drawn once, with its purpose. Anyone with the secret can remove the noise from
/// the release. Only the owner can read the file of a ticket. [`forget`](crate::forget) removes the file when
/// the release is finished.
///
/// ```
/// use scumble_noise::{Fingerprint, RecordDigest};
/// use scumble_custody::{Binding, Ticket};
///
/// let mut records = Fingerprint::default();
/// records.add(&RecordDigest::new("7", &[0.5]));
/// let binding = Binding::new("the design's digest".into(), Some("survey"), None, &records);
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("ticket.json");
/// let ticket = Ticket::draw_or_read(&path, &binding)?;
/// assert_eq!(Ticket::draw_or_read(&path, &binding)?.key(), ticket.key());
///
/// records.add(&RecordDigest::new("8", &[0.25]));
/// let other = Binding::new("the design's digest".into(), Some("survey"), None, &records);
/// assert!(Ticket::draw_or_read(&path, &other).is_err());
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ticket {
    key: NoiseKey,
    binding: Binding,
}

impl Ticket {
    /// Reads the ticket in the file at `path`, which must be for `binding`. If the file does not exist, draws
    /// a new ticket and writes it to disk, readable by the owner only. Concurrent processes all get the same
    /// ticket.
    ///
    /// # Errors
    /// [`Error::Ticket`] for a ticket with another purpose, or a file that is not a ticket;
    /// [`Error::Readable`] for a file that other users of the machine can read; [`Error::Io`] if the file
    /// cannot be read or written.
    pub fn draw_or_read(path: &Path, binding: &Binding) -> Result<Self> {
        if !fs::exists(path).map_err(|source| Error::Io { file: path.into(), source })? {
            let drawn = Self { key: NoiseKey::from_os()?, binding: binding.clone() };
            match drawn.write(path) {
                // Another process was faster, so its ticket is used.
                Err(Error::Exists { .. }) => {}
                written => return written.map(|()| drawn),
            }
        }
        let ticket = Self::read(path)?;
        match ticket.binding.difference(binding) {
            Some(problem) => Err(wrong(path, problem)),
            None => Ok(ticket),
        }
    }

    fn write(&self, path: &Path) -> Result<()> {
        let body = serde_json::to_value(&self.binding).and_then(serde_json::from_value::<Map<_, _>>);
        let text = body.and_then(|mut body| {
            body.insert(SECRET.into(), Value::String(BASE64_STANDARD.encode(self.key.expose())));
            sealed::seal(FORMAT, body)
        });
        let text = text.map_err(|error| wrong(path, error.to_string()))?;
        NewFile::create(path, Existing::Keep, Readable::ByOwner)?.finish(text.as_bytes())
    }

    /// Reads a ticket that another process drew.
    ///
    /// # Errors
    /// [`Error::Ticket`] for a file that is not a ticket or was changed by hand; [`Error::Readable`] for a
    /// file that other users of the machine can read; [`Error::Io`] if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        check_private(path)?;
        Self::open(path)
    }

    fn open(path: &Path) -> Result<Self> {
        Self::from_json(&read_text(path, LONGEST)?).map_err(|problem| wrong(path, problem))
    }

    fn from_json(text: &str) -> std::result::Result<Self, String> {
        let sealed = sealed::open(text, FORMAT)?;
        let binding = sealed.part(&BINDING)?;
        let secret: String = sealed.field(SECRET)?;
        sealed.check_untouched()?;
        // The error must not disclose text of the secret.
        let secret = BASE64_STANDARD.decode(secret).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let secret = secret.ok_or("its secret is not 32 bytes as base64")?;
        Ok(Self { key: NoiseKey::from_bytes(secret), binding })
    }

    /// Key from which the noise of the records is drawn.
    pub fn key(&self) -> &NoiseKey {
        &self.key
    }

    /// Purpose of the ticket.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Checks that the records released from the file or table `place` are the ticket's records. Call it
    /// before anybody sees the release.
    ///
    /// # Errors
    /// [`Error::Changed`] if the released records differ from the records for which the ticket was drawn.
    pub fn check_released(&self, released: &Fingerprint, place: &str) -> Result<()> {
        let Binding { records, fingerprint, .. } = &self.binding;
        match released.records() == *records && released.to_string() == *fingerprint {
            true => Ok(()),
            false => Err(Error::Changed { place: place.into() }),
        }
    }

    /// Overwrites the ticket in the file at `path`, removes the file, and returns the ticket.
    pub(crate) fn destroy(path: &Path) -> Result<Self> {
        let ticket = Self::open(path)?;
        let failed = |source| Error::Io { file: path.into(), source };
        let length = fs::metadata(path).map_err(failed)?.len();
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.write_all(&vec![b' '; length as usize]).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        fs::remove_file(path).map_err(failed)?;
        Ok(ticket)
    }
}

fn wrong(path: &Path, problem: impl Into<String>) -> Error {
    Error::Ticket { file: path.into(), problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_noise::RecordDigest;

    fn binding() -> Binding {
        let mut records = Fingerprint::default();
        records.add(&RecordDigest::new("1", &[0.5]));
        Binding::new("d".into(), Some("survey"), Some("id"), &records)
    }

    #[test]
    fn a_ticket_is_drawn_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket.json");
        let drawn = Ticket::draw_or_read(&path, &binding()).unwrap();
        assert_eq!(Ticket::draw_or_read(&path, &binding()).unwrap().key(), drawn.key());
        assert_eq!(Ticket::read(&path).unwrap().binding(), &binding());
        let other = Ticket::draw_or_read(&folder.path().join("other.json"), &binding()).unwrap();
        assert_ne!(other.key(), drawn.key());
    }

    #[test]
    fn drivers_that_start_together_all_have_one_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket.json");
        let keys: Vec<NoiseKey> = std::thread::scope(|scope| {
            let drivers: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Ticket::draw_or_read(&path, &binding()).unwrap().key().clone()))
                .collect();
            drivers.into_iter().map(|driver| driver.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[cfg(unix)]
    #[test]
    fn its_owner_alone_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket.json");
        Ticket::draw_or_read(&path, &binding()).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_ticket_for_something_else_is_refused_with_what_differs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket.json");
        Ticket::draw_or_read(&path, &binding()).unwrap();
        let change = |change: fn(&mut Binding)| {
            let mut other = binding();
            change(&mut other);
            Ticket::draw_or_read(&path, &other).unwrap_err().to_string()
        };
        for (error, expected) in [
            (change(|other| other.design = "e".into()), "another design"),
            (change(|other| other.dataset = None), "the data set \"survey\", and not for none"),
            (change(|other| other.ids = None), "the column \"id\", and not of none"),
            (change(|other| other.records = 2), "for 1 records, and not for 2"),
            (change(|other| other.fingerprint = "0".into()), "other records"),
        ] {
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn other_records_than_those_that_were_checked_are_not_released() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = Ticket::draw_or_read(&folder.path().join("ticket.json"), &binding()).unwrap();
        let released = |records: &[(&str, f64)]| {
            let mut fingerprint = Fingerprint::default();
            records.iter().for_each(|(id, value)| fingerprint.add(&RecordDigest::new(id, &[*value])));
            ticket.check_released(&fingerprint, "people.csv")
        };
        released(&[("1", 0.5)]).unwrap();
        for other in [&[("1", 0.5_f64.next_up())][..], &[("2", 0.5)], &[("1", 0.5), ("2", 0.5)], &[]] {
            let error = released(other).unwrap_err().to_string();
            assert!(error.starts_with("people.csv: the records changed"), "{error}");
        }
    }

    #[test]
    fn neither_debug_output_nor_an_error_shows_the_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ticket.json");
        let ticket = Ticket::draw_or_read(&path, &binding()).unwrap();
        let secret = BASE64_STANDARD.encode(ticket.key().expose());
        assert!(!format!("{ticket:?}").contains(&secret));
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&secret));
        for changed in [text.replace("survey", "census"), text.replace(&secret, &secret[4..])] {
            fs::write(&path, changed).unwrap();
            let error = Ticket::read(&path).unwrap_err();
            assert!(!format!("{error} {error:?}").contains(&secret[4..]), "{error:?}");
        }
    }
}
