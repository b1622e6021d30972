//! Release of flat records by a local mechanism, one by one.

use super::LocalMechanism;
use crate::Result;

/// Applies `encode`, `change` and `decode` to each record of `records`, which are in flat form: features,
/// then target. `change` receives the record and its encoded point, and may modify the point in place.
pub(crate) fn map_records<M: LocalMechanism + ?Sized>(
    mechanism: &M,
    records: &[f64],
    mut change: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut released = Vec::with_capacity(records.len());
    for record in records.chunks(mechanism.domain().flat().dim().max(1)) {
        let mut point = mechanism.encode(record)?;
        change(record, &mut point)?;
        released.extend(mechanism.decode(point)?);
    }
    Ok(released)
}
