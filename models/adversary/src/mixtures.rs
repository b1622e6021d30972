//! Reconstruction of the private records in a release of mixtures, by an adversary that knows the public
//! records.

use crate::{Result, TransformationFit};
use ndarray::{Array2, Axis};
use scumble_core::{Designed, Randomness, Table};

/// Measures how well an adversary reconstructs the private part of each mixture in `released`, the release of
/// `table` with the randomness of `seed`.
///
/// The adversary knows the public part of each mixture, and the weight of the private part. It learns the
/// secret transformation from all mixtures, by a [`TransformationFit`].
///
/// The result is the reconstruction R²: 1 − Σ‖x̂ − x‖²/Σ‖x − x̄‖², summed over the mixtures. x denotes the
/// weighted mean of a mixture's private records, and x̂ its reconstruction. x̄ is the mean of all public
/// records, the best estimate without the release. The result is `None` if the mechanism releases no mixtures
/// of public and private records.
///
/// # Errors
/// Same errors as [`Mixtures`](scumble_core::Mixtures) and [`TransformationFit`].
pub fn mixtures_recovered(
    mechanism: &Designed,
    table: &Table,
    released: &Table,
    seed: u64,
) -> Result<Option<f64>> {
    let Some(mixtures) = mechanism.evidence().mixtures else { return Ok(None) };
    let parts = mixtures.parts(table, &mut Randomness::seeded(seed))?;
    let rows: Vec<usize> = (0..parts.hidden.len()).filter(|&row| parts.hidden[row] > 0.0).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let public = mixtures.public()?;
    let mut fit = TransformationFit::new(public.records().view())?;
    fit.add(released.records().view(), parts.known.view(), parts.hidden.view())?;
    let some = |all: &Array2<f64>| all.select(Axis(0), &rows);
    let (released, known, hidden) =
        (some(released.records()), some(&parts.known), parts.hidden.select(Axis(0), &rows));
    let private = (some(&parts.mixtures) - &known) / hidden.view().insert_axis(Axis(1));
    let recovered = fit.recover_hidden(released.view(), known.view(), hidden.view())?;
    let mean = public.records().mean_axis(Axis(0)).unwrap_or_default();
    let squares = |errors: Array2<f64>| errors.iter().map(|error| error * error).sum::<f64>();
    let unread = squares(&private - &mean);
    Ok((unread > 0.0).then(|| 1.0 - squares(&private - &recovered) / unread))
}
