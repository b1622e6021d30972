//! Noise that is determined by a secret key and by the id and the values of the record. A task of a
//! distributed computation that runs twice then repeats its release, instead of making a second release.

use rand_chacha::ChaCha20Rng;
use rand_core::{OsRng, RngCore, SeedableRng};
use scumble_core::{Error, LocalMechanism, Result, Stream};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Secret key of 32 bytes. It determines the noise of every record of one release.
///
/// The noise of a record is drawn from its own random stream: ChaCha20 under the key SHA-256(secret ‖ id ‖
/// encoded record), where ‖ joins bytes. To an adversary that does not know the secret, the streams of
/// different ids or different records are independent and uniformly random. The privacy claim assumes that
/// ChaCha20 is a pseudorandom generator. It also assumes that SHA-256 is a pseudorandom function for inputs
/// that start with the secret. The secret has a fixed length, and no two pairs of id and record have the same
/// encoding, so different pairs are different inputs.
///
/// The same id with another record draws other noise, because the same noise on both records would disclose
/// their difference. The same id with an equal record draws the same noise, which discloses that both records
/// are equal. Ids must therefore be unique in a release.
///
/// ```
/// use scumble_noise::NoiseKey;
/// use rand_core::RngCore;
///
/// let key = NoiseKey::from_os()?;
/// let first = |id, record: &[f64]| key.stream(id, record).next_u64();
/// assert_eq!(first("a", &[0.5]), first("a", &[0.5]));
/// assert_ne!(first("a", &[0.5]), first("b", &[0.5]));
/// assert_ne!(first("a", &[0.5]), first("a", &[0.25]));
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct NoiseKey([u8; 32]);

impl NoiseKey {
    /// Fresh key from the operating system.
    ///
    /// # Errors
    /// [`Error::Entropy`] if the operating system has no entropy.
    pub fn from_os() -> Result<Self> {
        let mut bytes = [0; 32];
        OsRng
            .try_fill_bytes(&mut bytes)
            .map_err(|problem| Error::Entropy { problem: problem.to_string() })?;
        Ok(Self(bytes))
    }

    /// Key from bytes that [`expose`](Self::expose) returned earlier.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Bytes of the key. Keep them secret: whoever has them can remove the noise.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    /// Public name of the key: 32 hexadecimal digits that distinguish keys and disclose nothing about the
    /// bytes.
    pub fn name(&self) -> String {
        let digest = Sha256::new().chain_update(b"scumble key name").chain_update(self.0).finalize();
        digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Random stream for the noise of the record with this `id`. `record` lists the coordinates of the
    /// encoded record.
    pub fn stream(&self, id: &str, record: &[f64]) -> Stream {
        ChaCha20Rng::from_seed(digest(&self.0, id, record))
    }

    /// Keyed hash of a record's [short digest](RecordDigest::short). A list of these hashes identifies the
    /// records that may be released with this key. A release looks up its records in the list. To an
    /// adversary without the key, the hash discloses nothing about the record.
    pub fn tag(&self, record: &[u8; 16]) -> [u8; 16] {
        // The hash that seeds a stream has the length of the id in the eight bytes after the secret. This
        // hash has the word "admitted" in the same eight bytes. No memory holds an id of the length that this
        // word encodes, so no tag shares its input with the seed of a stream.
        let hash = Sha256::new().chain_update(self.0).chain_update(b"admitted");
        cut(&hash.chain_update(record).finalize().into())
    }
}

/// SHA-256 digest of an id and of the encoded record that it names.
///
/// The digest is computed without noise or a key, so it can confirm a guess of the record. Show it only to
/// the owner of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordDigest([u8; 32]);

impl RecordDigest {
    /// Digests an encoded record, given as the list of its coordinates, with its id.
    pub fn new(id: &str, record: &[f64]) -> Self {
        Self(digest(b"scumble: fingerprint of records.", id, record))
    }

    /// First 16 bytes of the digest.
    pub fn short(&self) -> [u8; 16] {
        cut(&self.0)
    }
}

/// SHA-256 digest of an id without its record, cut to 16 bytes. It serves to detect duplicate ids.
pub fn id_digest(id: &str) -> [u8; 16] {
    cut(&Sha256::new().chain_update(b"scumble id").chain_update(id).finalize().into())
}

fn cut(digest: &[u8; 32]) -> [u8; 16] {
    std::array::from_fn(|at| digest[at])
}

/// SHA-256 of a prefix, an id and a record. The prefix is the secret of a [`NoiseKey`], or a fixed text for a
/// [`RecordDigest`]. The id and the record are each preceded by their length, so that no two pairs of id and
/// record have the same encoding.
fn digest(prefix: &[u8; 32], id: &str, record: &[f64]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(prefix);
    hash.update((id.len() as u64).to_le_bytes());
    hash.update(id);
    hash.update((record.len() as u64).to_le_bytes());
    let mut bytes = [[0; 8]; 32];
    for values in record.chunks(bytes.len()) {
        // Records that differ in the signs of zeros only are equal.
        bytes.iter_mut().zip(values).for_each(|(bytes, value)| *bytes = (value + 0.0).to_le_bytes());
        hash.update(bytes[..values.len()].as_flattened());
    }
    hash.finalize().into()
}

/// Fingerprint of a set of records with their ids: the number of records, and the sum of their SHA-256
/// digests modulo 2²⁵⁶. It does not depend on the order of the records, on the files that contain them, or on
/// the number of tasks that read them. It detects a wrong input that was given by mistake. It does not detect
/// an input that was crafted to have the same fingerprint.
///
/// The fingerprint is computed without noise or a key, so it can confirm a guess of the records. Show it only
/// to the owner of the records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    records: u64,
    /// The sum as four words of 64 bits, the least significant first.
    sum: [u64; 4],
}

impl Fingerprint {
    /// Adds a record to the fingerprint.
    pub fn add(&mut self, record: &RecordDigest) {
        let mut sum = [0; 4];
        for (part, bytes) in sum.iter_mut().zip(record.0.chunks_exact(8)) {
            *part = bytes.iter().rev().fold(0, |part, &byte| part << 8 | u64::from(byte));
        }
        self.merge(&Self { records: 1, sum });
    }

    /// Adds the records of `other`, which another task has read.
    pub fn merge(&mut self, other: &Self) {
        self.records = self.records.wrapping_add(other.records);
        let mut carry = false;
        for (part, other) in self.sum.iter_mut().zip(other.sum) {
            let (sum, one) = part.overflowing_add(other);
            let (sum, two) = sum.overflowing_add(u64::from(carry));
            (*part, carry) = (sum, one || two);
        }
    }

    /// Number of records counted.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// Prints the sum as 64 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sum.iter().rev().try_for_each(|part| write!(formatter, "{part:016x}"))
    }
}

/// Shows the public name in place of the secret bytes.
impl fmt::Debug for NoiseKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("NoiseKey").field(&self.name()).finish()
    }
}

/// Releases `records`, the concatenated coordinates of encoded records. The noise of a record is determined
/// by `key` and by the id and the values of the record. The released value of a record does not depend on the
/// other records or on their order. A repeated release gives the record the same value again.
///
/// # Errors
/// [`Error::Shape`] unless there is one id per record. Also the errors of the mechanism's `release_records`.
pub fn release_keyed(
    mechanism: &dyn LocalMechanism,
    records: &[f64],
    ids: &[impl AsRef<str>],
    key: &NoiseKey,
) -> Result<Vec<f64>> {
    let width = mechanism.domain().flat().dim().max(1);
    if records.len() != ids.len() * width {
        let records = records.len() / width;
        return Err(Error::shape(format!("there are {} ids for {records} records", ids.len())));
    }
    let mut released = Vec::with_capacity(records.len());
    for (record, id) in records.chunks(width).zip(ids) {
        released.extend(mechanism.release_records(record, &mut key.stream(id.as_ref(), record))?);
    }
    Ok(released)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> NoiseKey {
        NoiseKey::from_bytes([7; 32])
    }

    fn first(id: &str, record: &[f64]) -> u64 {
        key().stream(id, record).next_u64()
    }

    #[test]
    fn no_two_pairs_of_id_and_record_share_an_encoding() {
        // The bytes of 0.5 are not printable in an id. The bytes of a short id and a long record could be
        // shifted into each other.
        let one = f64::from_le_bytes(*b"abcdefgh");
        assert_ne!(first("abcdefgh", &[one]), first("", &[one, one]));
        assert_ne!(first("abcdefghabcdefgh", &[]), first("abcdefgh", &[one]));
        assert_ne!(first("a", &[]), first("a\0", &[]));
    }

    #[test]
    fn the_two_zeros_are_one_value() {
        assert_eq!(first("a", &[0.0]), first("a", &[-0.0]));
    }

    #[test]
    fn the_stream_is_that_of_the_definition() {
        // SHA-256 over the secret, lengths, id and record; then ChaCha20 from its first block.
        let mut input = vec![7; 32];
        input.extend(2_u64.to_le_bytes());
        input.extend(b"id");
        input.extend(1_u64.to_le_bytes());
        input.extend(0.25_f64.to_le_bytes());
        let mut expected = ChaCha20Rng::from_seed(Sha256::digest(&input).into());
        assert_eq!(first("id", &[0.25]), expected.next_u64());
    }

    #[test]
    fn another_key_draws_other_noise_and_has_another_name() {
        let other = NoiseKey::from_bytes([8; 32]);
        assert_ne!(other.stream("a", &[0.0]).next_u64(), first("a", &[0.0]));
        assert_ne!(other.name(), key().name());
        assert_ne!(NoiseKey::from_os().unwrap(), NoiseKey::from_os().unwrap());
    }

    #[test]
    fn a_fingerprint_does_not_depend_on_the_order_or_on_who_counts() {
        let records = [("a", [0.0]), ("b", [0.25]), ("c", [1.0])];
        let fingerprint = |order: &[usize]| {
            let mut fingerprint = Fingerprint::default();
            let digest = |&at: &usize| RecordDigest::new(records[at].0, &records[at].1);
            order.iter().map(digest).for_each(|record| fingerprint.add(&record));
            fingerprint
        };
        let (whole, mut parts) = (fingerprint(&[0, 1, 2]), fingerprint(&[2]));
        parts.merge(&fingerprint(&[1, 0]));
        assert_eq!(parts, whole);
        assert_eq!(whole.records(), 3);
        for other in [fingerprint(&[0, 1]), fingerprint(&[0, 1, 1]), fingerprint(&[0, 1, 2, 2])] {
            assert_ne!(other.to_string(), whole.to_string());
        }
    }

    #[test]
    fn the_sum_carries_over_its_parts() {
        let largest = Fingerprint { records: 1, sum: [u64::MAX, u64::MAX, 0, 0] };
        let mut sum = Fingerprint { records: 1, sum: [1, 0, 0, u64::MAX] };
        sum.merge(&largest);
        assert_eq!(sum, Fingerprint { records: 2, sum: [0, 0, 1, u64::MAX] });
    }

    #[test]
    fn a_tag_depends_on_the_secret_the_id_and_every_bit_of_the_record() {
        let tag = |key: &NoiseKey, id, record| key.tag(&RecordDigest::new(id, &[record]).short());
        let own = tag(&key(), "a", 10.0);
        assert_eq!(own, tag(&key(), "a", 10.0));
        let other = NoiseKey::from_bytes([8; 32]);
        for changed in [tag(&other, "a", 10.0), tag(&key(), "b", 10.0), tag(&key(), "a", 10.0_f64.next_up())]
        {
            assert_ne!(own, changed);
        }
        assert_ne!(id_digest("a"), id_digest("b"));
    }

    #[test]
    fn debug_output_does_not_show_the_bytes() {
        let shown = format!("{:?}", key());
        assert_eq!(shown, format!("NoiseKey({:?})", key().name()));
        assert!(!shown.contains("0707") && !shown.contains("7, 7"), "{shown}");
    }
}
