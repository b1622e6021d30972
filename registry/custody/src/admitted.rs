//! Admitted records: the records that were checked before the ledger was charged for their release. Each task
//! compares its records with the admitted records, and releases no other record.
//!
//! A distributed engine recomputes a table for each task, and an unstable source may then give other records.
//! A record that changed under the same id would be released with new noise. The process that admits the
//! records therefore writes a keyed tag of each record to a file next to the ticket. (A ticket is the stored
//! secret of the release.) Each task looks up the tags of the records that it is about to release.

use crate::{Error, Existing, NewFile, Readable, Result, Ticket};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use scumble_noise::{NoiseKey, RecordDigest};
use scumble_records::stream::Checked;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

const FORMAT: &str = "scumble-admitted-1";

/// Digests of records and of their ids, 32 bytes per record. They are computed from the records in the clear,
/// so only the owner of the records may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digests(Vec<[[u8; 16]; 2]>);

impl Digests {
    /// Adds records with the [digests](scumble_noise::id_digest) of their ids.
    pub fn add(&mut self, ids: &[[u8; 16]], records: &[RecordDigest]) {
        self.0.extend(ids.iter().zip(records).map(|(id, record)| [*id, record.short()]));
    }

    /// Adds the records of another part of the same table.
    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Number of ids that several records share.
    pub(crate) fn repeated(&self) -> usize {
        let mut counts = HashMap::<_, usize>::with_capacity(self.0.len());
        self.0.iter().for_each(|[id, _]| *counts.entry(id).or_default() += 1);
        counts.values().filter(|count| **count > 1).count()
    }
}

/// Serializes the concatenated digests as base64.
impl Serialize for Digests {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(self.0.as_flattened().as_flattened()))
    }
}

impl<'de> Deserialize<'de> for Digests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let bytes = BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        let (digests, rest) = bytes.as_chunks::<16>();
        let (pairs, odd) = digests.as_chunks::<2>();
        match rest.is_empty() && odd.is_empty() {
            true => Ok(Self(pairs.to_vec())),
            false => Err(D::Error::custom("the digests are incomplete")),
        }
    }
}

/// Result of a task's check of one part of a table. The results of all parts are merged, and then the records
/// are [admitted](crate::admit).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckedPart {
    /// Fingerprint of the records, and the number of cells whose values a release would clip to their bounds.
    pub checked: Checked,
    /// Digests of the records; empty if no column holds ids.
    pub digests: Digests,
}

impl CheckedPart {
    /// Adds the records of another part of the same table.
    pub fn merge(&mut self, other: Self) {
        self.checked.merge(other.checked);
        self.digests.merge(other.digests);
    }
}

/// Tags of all records that a ticket admits. A tag is SHA-256 of the ticket's secret and of a record's
/// digest, truncated to 16 bytes. Without the secret, the tags disclose only the number of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedRecords {
    file: PathBuf,
    /// Tags in ascending order.
    tags: Vec<[u8; 16]>,
}

impl AdmittedRecords {
    /// Path of the file of admitted records that belongs to the ticket in the file `ticket`: the path
    /// `ticket` with `.admitted` appended.
    pub fn path_for(ticket: &Path) -> PathBuf {
        let mut name = ticket.as_os_str().to_owned();
        name.push(".admitted");
        name.into()
    }

    /// Writes the tags of `records` to a file next to the ticket in `file`, readable by the owner only,
    /// unless that file already holds the tags.
    pub(crate) fn keep(file: &Path, ticket: &Ticket, records: &Digests) -> Result<()> {
        let mut tags: Vec<_> = records.0.iter().map(|[_, record]| ticket.key().tag(record)).collect();
        tags.sort_unstable();
        let own = Self { file: Self::path_for(file), tags };
        if Self::read(file, ticket).is_ok_and(|kept| kept == own) {
            return Ok(());
        }
        if own.file.exists() && !own.is_ours()? {
            return Err(Error::Exists {
                file: own.file,
                what: "is not a file of admitted records, and is not \
                                                              overwritten",
            });
        }
        let bytes = [header(ticket).as_bytes(), own.tags.as_flattened()].concat();
        NewFile::create(&own.file, Existing::Replace, Readable::ByOwner)?.finish(&bytes)
    }

    fn is_ours(&self) -> Result<bool> {
        let mut start = vec![];
        let opened =
            File::open(&self.file).and_then(|file| file.take(FORMAT.len() as u64).read_to_end(&mut start));
        opened.map_err(|source| Error::Io { file: self.file.clone(), source })?;
        Ok(start == FORMAT.as_bytes())
    }

    /// Reads the tags of the records that the ticket in `file` admits.
    ///
    /// # Errors
    /// [`Error::Ticket`] if this ticket has admitted no records, or if the file of admitted records is
    /// incomplete, was changed or belongs to another ticket; [`Error::Io`] if the file cannot be read.
    pub fn read(file: &Path, ticket: &Ticket) -> Result<Self> {
        let file = Self::path_for(file);
        let wrong = |problem: &str| Error::Ticket { file: file.clone(), problem: problem.into() };
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => wrong("no records were admitted; admit all of them first"),
            _ => Error::Io { file: file.clone(), source },
        };
        let opened = File::open(&file).map_err(failed)?;
        let (header, records) = (header(ticket), ticket.binding().records);
        let length = records.checked_mul(16).and_then(|tags| tags.checked_add(header.len() as u64));
        if length != Some(opened.metadata().map_err(failed)?.len()) {
            return Err(wrong("it belongs to another ticket, or is incomplete; admit all records again"));
        }
        let mut bytes = vec![];
        opened.take(length.unwrap_or_default()).read_to_end(&mut bytes).map_err(failed)?;
        let tags = bytes.strip_prefix(header.as_bytes()).map(<[u8]>::as_chunks);
        match tags {
            Some((tags, [])) if tags.len() as u64 == records && tags.is_sorted() => {
                Ok(Self { tags: tags.to_vec(), file })
            }
            _ => Err(wrong("it belongs to another ticket, or was changed; admit all records again")),
        }
    }

    /// Checks that all `records` were admitted. `key` is the key of the ticket.
    ///
    /// # Errors
    /// [`Error::NotAdmitted`], with the number of records that were not admitted, if there are any.
    pub fn check(&self, key: &NoiseKey, records: &[RecordDigest]) -> Result<()> {
        let is_unknown = |record: &&RecordDigest| self.tags.binary_search(&key.tag(&record.short())).is_err();
        match records.iter().filter(is_unknown).count() {
            0 => Ok(()),
            unknown => Err(Error::NotAdmitted { file: self.file.clone(), unknown, records: records.len() }),
        }
    }

    /// Removes the file of admitted records of the ticket in `file`, if it belongs to `ticket`.
    pub(crate) fn remove(file: &Path, ticket: &Ticket) -> Result<()> {
        match Self::read(file, ticket) {
            Ok(Self { file, .. }) => fs::remove_file(&file).map_err(|source| Error::Io { file, source }),
            Err(Error::Ticket { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Lines before the tags in the file of admitted records: its format, the name of the ticket's key, and the
/// number of records.
fn header(ticket: &Ticket) -> String {
    format!("{FORMAT}\n{}\n{}\n", ticket.key().name(), ticket.binding().records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Binding;
    use scumble_noise::{Fingerprint, id_digest};

    fn digest(id: usize, value: f64) -> RecordDigest {
        RecordDigest::new(&id.to_string(), &[value])
    }

    /// Creates a ticket for `count` records in a new folder, and the digests of the records.
    fn admitted(count: usize) -> (tempfile::TempDir, PathBuf, Ticket, Digests) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ticket.json");
        let (mut fingerprint, mut digests) = (Fingerprint::default(), Digests::default());
        for id in 0..count {
            let record = digest(id, 10.0);
            fingerprint.add(&record);
            digests.add(&[id_digest(&id.to_string())], &[record]);
        }
        let binding = Binding::new("d".into(), None, Some("id"), &fingerprint);
        let ticket = Ticket::draw_or_read(&file, &binding).unwrap();
        AdmittedRecords::keep(&file, &ticket, &digests).unwrap();
        (folder, file, ticket, digests)
    }

    #[test]
    fn records_are_recognised_and_others_counted() {
        let (_folder, file, ticket, digests) = admitted(100);
        let kept = AdmittedRecords::read(&file, &ticket).unwrap();
        let records: Vec<_> = (0..100).rev().map(|id| digest(id, 10.0)).collect();
        kept.check(ticket.key(), &records).unwrap();
        let one_bit = [digest(3, 10.0_f64.next_up()), digest(100, 10.0), digest(4, 10.0)];
        let error = kept.check(ticket.key(), &one_bit).unwrap_err().to_string();
        assert!(error.contains("2 of 3 records were not admitted") && error.contains("snapshot"), "{error}");
        AdmittedRecords::keep(&file, &ticket, &digests).unwrap();
        assert_eq!(AdmittedRecords::read(&file, &ticket).unwrap(), kept);
        assert_eq!(fs::metadata(&kept.file).unwrap().len(), header(&ticket).len() as u64 + 1600);
    }

    #[cfg(unix)]
    #[test]
    fn their_owner_alone_reads_them() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, file, ..) = admitted(3);
        let mode = fs::metadata(AdmittedRecords::path_for(&file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_file_of_another_ticket_or_a_changed_one_is_refused_and_written_again() {
        let (_folder, file, ticket, digests) = admitted(3);
        let (_other_folder, other_file, ..) = admitted(3);
        let (path, other) = (AdmittedRecords::path_for(&file), AdmittedRecords::path_for(&other_file));
        let whole = fs::read(&path).unwrap();
        let mut swapped = whole.clone();
        let end = swapped.len();
        swapped.copy_within(end - 48..end - 32, end - 16);
        for changed in [fs::read(other).unwrap(), whole[..end - 1].to_vec(), swapped, FORMAT.into()] {
            fs::write(&path, changed).unwrap();
            let error = AdmittedRecords::read(&file, &ticket).unwrap_err().to_string();
            assert!(
                error.contains("ticket.json.admitted") && error.contains("admit all records again"),
                "{error}"
            );
            AdmittedRecords::keep(&file, &ticket, &digests).unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
        fs::write(&path, "years of work").unwrap();
        assert!(AdmittedRecords::keep(&file, &ticket, &digests).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "years of work");
    }

    #[test]
    fn parts_keep_their_digests_as_text() {
        let (_folder, _file, _ticket, digests) = admitted(5);
        let part = CheckedPart { checked: Checked::default(), digests };
        let text = serde_json::to_string(&part).unwrap();
        let mut read: CheckedPart = serde_json::from_str(&text).unwrap();
        assert_eq!((&read, read.digests.repeated()), (&part, 0));
        read.merge(part);
        assert_eq!(read.digests.repeated(), 5);
        for cut in [text.clone(), text.replace(r#""digests":""#, r#""digests":"AAAA"#)] {
            assert_eq!(serde_json::from_str::<CheckedPart>(&cut).is_ok(), cut == text);
        }
    }
}
