//! Aggregate shares: sums of a server's shares with its noise, and the counts that two of them make.

use crate::report::Task;
use crate::role::Role;
use crate::{Error, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use prio::codec::{Decode, Encode};
use prio::field::Field128;
use scumble_custody::sealed;
use serde::{Deserialize, Serialize};
use std::io::Cursor;

/// Format that this version writes and reads.
const FORMAT: &str = "scumble-aggregate-share-1";
/// Bytes of a field element.
const BYTES: usize = 16;

/// Share of noisy counts that one server made from a batch of reports. It discloses nothing without the share
/// of the other server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AggregateShare {
    pub(crate) server: Role,
    /// Digest of the design.
    pub(crate) design: String,
    /// Digest of the ids of the reports.
    pub(crate) batch: String,
    /// Number of reports.
    pub(crate) reports: u64,
    /// Field elements, in little-endian order, as base64.
    share: String,
}

impl AggregateShare {
    pub(crate) fn new(
        task: &Task,
        server: Role,
        (batch, reports): (String, u64),
        share: &[Field128],
    ) -> Result<Self> {
        let share = BASE64_STANDARD.encode(bytes_of(share)?);
        Ok(Self { server, design: task.digest.clone(), batch, reports, share })
    }

    /// Number of reports.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// Text of the file.
    ///
    /// # Errors
    /// [`Error::File`] if the share cannot be serialized.
    pub fn to_json(&self) -> Result<String> {
        let failed = |problem: serde_json::Error| Error::file("the share", problem.to_string());
        let body = serde_json::to_value(self).and_then(serde_json::from_value).map_err(failed)?;
        sealed::seal(FORMAT, body).map_err(failed)
    }

    /// Reads the text of a file, which `file` names in errors.
    ///
    /// # Errors
    /// [`Error::File`] for text that is not an aggregate share.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        let wrong = Error::of_file(file);
        let sealed = sealed::open(text, FORMAT).map_err(&wrong)?;
        sealed.check_untouched().map_err(&wrong)?;
        sealed.part(&["server", "design", "batch", "reports", "share"]).map_err(&wrong)
    }

    fn elements(&self) -> Option<Vec<Field128>> {
        let bytes = BASE64_STANDARD.decode(&self.share).ok()?;
        let (chunks, rest) = bytes.as_chunks::<BYTES>();
        let element = |chunk: &[u8; BYTES]| Field128::decode(&mut Cursor::new(&chunk[..])).ok();
        chunks.iter().map(element).collect::<Option<Vec<_>>>().filter(|_| rest.is_empty())
    }
}

/// Bytes of field elements, one after the other.
pub(crate) fn bytes_of(elements: &[Field128]) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(BYTES * elements.len());
    for element in elements {
        element.encode(&mut bytes).map_err(|problem| Error::file("the share", problem.to_string()))?;
    }
    Ok(bytes)
}

/// Field element of a whole number of steps.
pub(crate) fn element(steps: i128) -> Field128 {
    let size = Field128::from(steps.unsigned_abs());
    if steps < 0 { -size } else { size }
}

/// Noisy counts, in steps, of the reports of two aggregate shares, and the number of reports.
///
/// # Errors
/// [`Error::Apart`] for shares of other designs, batches or the same server, or whose sums are not counts.
pub fn unshard(task: &Task, shares: [&AggregateShare; 2]) -> Result<(Vec<i128>, u64)> {
    let [one, other] = shares;
    let apart = |problem| Err(Error::Apart { problem });
    if one.server == other.server {
        return apart("both are from one server");
    }
    if [one, other].iter().any(|share| share.design != task.digest) {
        return apart("they are of another design");
    }
    if (&one.batch, one.reports) != (&other.batch, other.reports) {
        return apart("the servers counted different reports");
    }
    let (Some(one_share), Some(other_share)) = (one.elements(), other.elements()) else {
        return apart("one does not consist of field elements");
    };
    if one_share.len() != task.cells() || other_share.len() != task.cells() {
        return apart("one does not have an element for each cell");
    }
    let modulus_less_one = u128::from(-Field128::from(1));
    let signed = |element: Field128| match u128::from(element) {
        small if small <= modulus_less_one / 2 => small as i128,
        large => -((modulus_less_one - large) as i128) - 1,
    };
    let counts: Vec<i128> =
        one_share.into_iter().zip(other_share).map(|(one, other)| signed(one + other)).collect();
    // Shares that do not cancel add up to a random field element, which exceeds any count with its noise.
    let most = task.shared.steps().saturating_mul(1 << 48);
    if counts.iter().any(|count| count.unsigned_abs() > most) {
        return apart("their sums are not counts, so that one was changed");
    }
    Ok((counts, one.reports))
}
