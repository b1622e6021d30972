//! Life of a ticket, from the check of all records before the release to the removal of its secret. A ticket
//! is the stored secret of a release. With it, the release can be repeated at the cost of one.
//!
//! The ledger records the spent budget. It is charged only after the ticket is on disk. The charge carries
//! the ticket's name and is made under the ledger's lock. If the charge came first, two jobs that start
//! together would be charged twice. A job that fails after the charge and before the ticket is on disk would
//! be charged for nothing.

use crate::{AdmittedRecords, Binding, Digests, Error, Ledger, Result, ShippedDesign, Ticket};
use scumble_core::{Guarantee, Provenance};
use scumble_noise::Fingerprint;
use std::path::Path;

/// Admitted release: a ticket whose release may begin.
#[derive(Debug)]
pub struct Admitted {
    /// The ticket.
    pub ticket: Ticket,
    /// Guarantee of the release.
    pub guarantee: Guarantee,
    /// True if this call charged the ledger. False if an earlier call made the charge for this ticket, or if
    /// there is no ledger.
    pub is_charged: bool,
}

/// Admits a release: draws or reads its ticket in `file`, then charges the ledger in `payer` for it. This
/// order ensures that a charged release can be made. The ledger is charged once for the ticket, however often
/// the function is called.
///
/// `fingerprint` is the fingerprint of the checked records, and `ids` is the name of their id column. `payer`
/// is a ledger and the name of a data set in it. `origin` is the text of the charge in the ledger, such as
/// the plugin of the design and the output file.
///
/// With `digests`, the [tags](AdmittedRecords) of all records are written next to the ticket before the
/// charge. Tasks that read the records again look up these tags. Without `digests`, the caller must check the
/// fingerprint of the released records with [`Ticket::check_released`].
///
/// # Errors
/// Same errors as [`Ticket::draw_or_read`] and [`Ledger::charge_ticket`]; [`Error::RepeatedIds`] if several
/// records share an id; [`Error::Shape`](scumble_core::Error::Shape) for a curator's design or a design
/// without a schema. No secret is drawn for a release that the ledger would refuse.
pub fn admit(
    design: &ShippedDesign,
    fingerprint: &Fingerprint,
    digests: Option<&Digests>,
    file: &Path,
    ids: Option<&str>,
    payer: Option<(&Ledger, &str)>,
    origin: &str,
) -> Result<Admitted> {
    design.local()?;
    let guarantee = design.mechanism().guarantee().under(Provenance::Ticket);
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

/// Overwrites and removes the ticket in `file`, and removes the [tags](AdmittedRecords) of its records. It
/// does not remove copies of the ticket, or old blocks of its file that the file system or the disk still
/// holds.
///
/// # Errors
/// [`Error::Ticket`] for a file that is not a ticket, so that no other file is lost by mistake; [`Error::Io`]
/// if a file cannot be read or removed.
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
