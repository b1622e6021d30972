//! What comes between the check of all records and the first that is released by a ticket.

use crate::{AdmittedRecords, Binding, Digests, Error, Ledger, Result, ShippedDesign, Ticket};
use scumble_core::{Fingerprint, Guarantee, Provenance};
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

/// Draws the ticket in `file` for the checked records with this fingerprint, whose ids are those of the column `ids`,
/// or reads it where it is there; then has the ledger charge it to the data set of this name, once however often it is
/// asked: in this order, so that what was charged can be released. `origin` says in the ledger what was released, and
/// to where.
///
/// With `digests`, the [tags](AdmittedRecords) of all records are kept beside the ticket before the charge: tasks that
/// read the records again look them up. Without them the caller compares the fingerprint of what it releases
/// ([`Ticket::check_released`]).
///
/// # Errors
/// As [`Ticket::draw_or_read`] and [`Ledger::charge_ticket`]; [`Error::RepeatedIds`]; for a design that a curator runs,
/// or that has no schema. A secret is not drawn for a release that cannot be paid for.
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
