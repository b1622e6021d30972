//! Attacks on resistance to recovery, by an adversary that has the key of another release. *Resistance to
//! recovery* claims that no adversary recovers a record within a given error, except with limited
//! probability. A *key* is the secret transformation of a release.

use crate::direct::recovery;
use crate::finding::{Finding, Verdict};
use crate::{Effort, Error, Inversion, Result};
use ndarray::Array2;
use rand::{Rng, RngCore};
use scumble_core::{Claim, Designed, PacResistance, Randomness, RecordDomain, Stream, Table};

/// Largest number of attempts. More attempts would take minutes.
const MOST_ATTEMPTS: f64 = 2000.0;

/// Attacks the claim `pac` of releases of `table`.
///
/// The claim is broken if a release has more samples than the number `spent` that the claim states. An
/// adversary that runs the mechanism itself knows the transformation of its own release. It learns the
/// inverse transformation from the images of chosen records. It then applies the inverse to another release,
/// of a record that it does not know. If each release draws a fresh transformation, the result is no better
/// than a guess.
pub(crate) fn attack(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    (claim, pac): (&Claim, &PacResistance),
    effort: Effort,
) -> Result<Finding> {
    // The adversary's own records are all equal, so that it knows the records that its chosen records are
    // mixed with.
    let own = table.select(&vec![0; table.len()])?;
    let released = mechanism.release(table, &mut Randomness::seeded(effort.seed))?.table.len();
    if released as f64 > pac.spent {
        return Ok(Finding {
            verdict: Verdict::Broken,
            because: format!(
                "{released} samples are released, and {} are counted against the budget",
                pac.spent
            ),
            ..Finding::about(name, claim, effort)
        });
    }
    let attempt = |stream: &mut Stream| {
        let seeds = [stream.next_u64(), stream.next_u64()];
        let [own_key, another] = seeds.map(|seed| mechanism.release(&own, &mut Randomness::seeded(seed)));
        let (own_key, another) = (own_key?.key, another?.key);
        let known = made_up(mechanism.domain(), &own, 2 * (own.columns().len() + 1), stream)?;
        let unknown = made_up(mechanism.domain(), &own, 1, stream)?;
        let learned = Inversion::linear(own_key.view(&known)?.records().view(), known.records().view())?;
        let recovered = learned.recover(another.view(&unknown)?.records().view());
        Ok(Inversion::distances(recovered.view(), unknown.records().view())[0])
    };
    // Twice the number of attempts at which success in all attempts refutes the claim. Success in nearly all
    // attempts then also refutes it.
    let attempts = 2.0 * (effort.false_alarm.ln() / (1.0 - pac.confidence_gap).ln()).ceil();
    let found = recovery(name, pac, attempts.clamp(1.0, MOST_ATTEMPTS) as usize, attempt, effort);
    let refused = |why: Error| format!("it cannot be attacked with the key of another release: {why}");
    match found {
        Ok(found) => Ok(Finding {
            claim: claim.to_string(),
            because: format!("{}, by an inversion learned from the key of another release", found.because),
            ..found
        }),
        Err(why) => Ok(Finding::about(name, claim, effort).unattacked(Verdict::NotAttacked, &refused(why))),
    }
}

/// Random records of the domain, `records` of them, with the target of the first record of `like`.
fn made_up(domain: &RecordDomain, like: &Table, records: usize, stream: &mut Stream) -> Result<Table> {
    let features = domain.features();
    let (center, radius) = (features.center(), features.squared_radius().sqrt());
    let mut values = Array2::zeros((records, center.len()));
    for mut row in values.outer_iter_mut() {
        let mut point: Vec<f64> =
            center.iter().map(|middle| middle + radius * stream.gen_range(-1.0..=1.0)).collect();
        features.project(&mut point)?;
        row.assign(&ndarray::ArrayView1::from(&point));
    }
    let target = like.select(&vec![0; records])?.target().clone();
    Table::new(like.columns().to_vec(), values, target)
}
