//! The life of a ticket: from the check of all records, before the first is released, until the secret is forgotten.

use crate::{AdmittedRecords, Binding, Digests, Error, Ledger, Result, ShippedDesign, Ticket};
use scumble_core::{Guarantee, Provenance};
use scumble_noise::Fingerprint;
use std::path::Path;

/// A release by a ticket that may begin.
#[derive(Debug)]
pub struct Admitted {
    /// The ticket.
    pub ticket: Ticket,
    /// What the release guarantees.
    pub guarantee: Guarantee,
    /// Whether the ledger was charged now: else it had been for this ticket, or none pays.
    pub is_charged: bool,
}

/// Draws the ticket in `file` for the checked records with this fingerprint, whose ids are those of the
/// column `ids`, or reads it where it is there; then has the ledger charge it to the data set of this name,
/// once however often it is asked: in this order, so that what was charged can be released. `origin` says in
/// the ledger what was released, and to where.
///
/// With `digests`, the [tags](AdmittedRecords) of all records are kept beside the ticket before the charge:
/// tasks that read the records again look them up. Without them the caller compares the fingerprint of what
/// it releases ([`Ticket::check_released`]).
///
/// # Errors
/// As [`Ticket::draw_or_read`] and [`Ledger::charge_ticket`]; [`Error::RepeatedIds`]; for a design that a
/// curator runs, or that has no schema. A secret is not drawn for a release that cannot be paid for.
pub fn admit(
    design: &ShippedDesign,
    fingerprint: &Fingerprint,
    digests: Option<&Digests>,
    file: &Path,
    ids: Option<&str>,
    payer: Option<(&Ledger, &str)>,
    origin: &str,
) -> Result<Admitted> {
    let guarantee = design.local()?.guarantee().under(Provenance::Ticket);
    let target = design.records()?.target.as_deref();
    let repeated = digests.map_or(0, Digests::repeated);
    if repeated > 0 {
        return Err(Error::RepeatedIds { column: ids.unwrap_or_default().into(), repeated });
    }
    if let (Some((ledger, dataset)), false) = (payer, file.exists()) {
        ledger.check_release(dataset, &guarantee, target)?;
    }
    let dataset = payer.map(|(_, dataset)| dataset);
    let binding = Binding::new(design.digest()?, dataset, ids, fingerprint);
    let ticket = Ticket::draw_or_read(file, &binding)?;
    if let Some(digests) = digests {
        AdmittedRecords::keep(file, &ticket, digests)?;
    }
    let is_charged = match payer {
        Some((ledger, dataset)) => {
            ledger.charge_ticket(dataset, &guarantee, target, origin, &ticket.key().name())?
        }
        None => false,
    };
    Ok(Admitted { ticket, guarantee, is_charged })
}

/// Overwrites the ticket in `file` and removes it, with the [tags](AdmittedRecords) beside it. Copies, and old blocks that
/// a file system or a disk keeps, are not reached.
///
/// # Errors
/// [`Error::Ticket`] for a file that is no ticket, so that no other is lost by mistake; [`Error::Io`].
pub fn forget(file: &Path) -> Result<Ticket> {
    let ticket = Ticket::destroy(file)?;
    AdmittedRecords::remove(file, &ticket)?;
    Ok(ticket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_noise::RecordDigest;
    use std::fs;

    #[test]
    fn a_forgotten_ticket_is_gone_with_its_records_and_no_other_file_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["ticket.json", "thesis.txt"].map(|name| folder.path().join(name));
        let mut records = Fingerprint::default();
        records.add(&RecordDigest::new("1", &[0.5]));
        let binding = Binding::new("d".into(), None, Some("id"), &records);
        let ticket = Ticket::draw_or_read(&file, &binding).unwrap();
        let mut digests = Digests::default();
        digests.add(&[scumble_noise::id_digest("1")], &[RecordDigest::new("1", &[0.5])]);
        AdmittedRecords::keep(&file, &ticket, &digests).unwrap();
        fs::write(&other, "years of work").unwrap();
        assert!(forget(&other).is_err());
        forget(&file).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&other).unwrap(), "years of work");
    }

    #[cfg(unix)]
    #[test]
    fn a_ticket_that_others_can_read_is_refused_but_forgotten() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ticket.json");
        let binding = Binding::new("d".into(), None, None, &Fingerprint::default());
        Ticket::draw_or_read(&file, &binding).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        for refused in [Ticket::read(&file), Ticket::draw_or_read(&file, &binding)] {
            assert!(matches!(refused, Err(Error::Readable { mode: 0o644, .. })), "{refused:?}");
        }
        forget(&file).unwrap();
        assert!(!file.exists());
    }
}
