//! Numbers of reports that passed, and that were refused for each reason.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Reports that a server took and refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Number of reports that passed.
    pub accepted: u64,
    /// Number of refused reports for each reason, with the line of the first; 0 if the line is not known.
    pub refused: BTreeMap<Refusal, (u64, u64)>,
}

impl Tally {
    pub(crate) fn refuse(&mut self, refusal: Refusal, line: u64) {
        self.refused.entry(refusal).or_insert((0, line)).0 += 1;
    }
}

/// Number of refused reports, and the reasons.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let refused: u64 = self.refused.values().map(|(count, _)| count).sum();
        write!(formatter, "{refused} of {} reports are refused", refused + self.accepted)?;
        for (at, (refusal, (count, line))) in self.refused.iter().enumerate() {
            let mark = if at == 0 { ':' } else { ',' };
            write!(formatter, "{mark} {count} {}", refusal.words())?;
            if *line > 0 {
                write!(formatter, " (first in line {line})")?;
            }
        }
        Ok(())
    }
}

/// Reason for which a server does not count a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Text that is not a report.
    Malformed,
    /// Share that cannot be decrypted: for another server, for another design, or changed.
    Unopened,
    /// Report with the id of an earlier one in the same file.
    Replayed,
    /// Report that was counted in another batch.
    Counted,
    /// Report without a share at the other server, or whose share the other server refuses.
    Unmatched,
    /// Shares that do not add up to the vectors of one record.
    Forged,
}

impl Refusal {
    /// Reason in words, after a number of reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unopened => "not for this server and design, or changed",
            Self::Replayed => "repeated in the file",
            Self::Counted => "counted in an earlier batch",
            Self::Unmatched => "without a share at the other server",
            Self::Forged => "with a false proof",
        }
    }
}
