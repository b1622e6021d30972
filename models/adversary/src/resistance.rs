//! Attacks on resistance to recovery. *Resistance to recovery* claims that no adversary recovers a record
//! within a given error, except with limited probability. A *key* is the secret transformation of a release.

use crate::direct::recovery;
use crate::finding::{Finding, Verdict};
use crate::{Effort, Inversion, Result, TransformationFit};
use ndarray::{Array2, Axis, s};
use rand::{Rng, RngCore};
use scumble_core::{
    Claim, Designed, Mixtures, PacResistance, Randomness, RecordDomain, Stream, Table, interrupt,
};

/// Largest number of attempts. More attempts would take minutes.
const MOST_ATTEMPTS: f64 = 2000.0;

/// Attacks the claim `pac` of releases of `table`, by two adversaries.
///
/// The claim is broken if a release has more samples than the number `spent` that the claim states, or if an
/// adversary succeeds too often:
///
/// - The adversary of Algorithm 1 (Xiao and Devadas, Dauntless) knows the public part of each mixture of the
///   release, and the weight of the private part. It learns the transformation by a [`TransformationFit`],
///   and inverts a released mixture. It attacks mechanisms that provide [`Mixtures`].
/// - Another adversary runs the mechanism itself. It learns the inverse transformation of its own release,
///   and applies it to another release. If each release draws a fresh transformation, the result is no better
///   than a guess.
pub(crate) fn attack(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    (claim, pac): (&Claim, &PacResistance),
    effort: Effort,
) -> Result<Finding> {
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
    let each = Effort { false_alarm: effort.false_alarm / 2.0, ..effort };
    let by_key = by_another_key(name, mechanism, table, pac, each);
    let found = match mechanism.evidence().mixtures {
        Some(mixtures) => {
            let by_parts = by_public_parts(name, mechanism, mixtures, table, pac, each);
            joined(attempted(name, by_parts, each), attempted(name, by_key, each))
        }
        None => attempted(name, by_key, each),
    };
    Ok(Finding { claim: claim.to_string(), confidence: 1.0 - effort.false_alarm, ..found })
}

/// The finding of an attack, or that it was not possible.
fn attempted(name: &str, found: Result<Finding>, effort: Effort) -> Finding {
    found.unwrap_or_else(|why| {
        let because = format!("one adversary cannot attack: {why}");
        Finding::about(name, "", effort).unattacked(Verdict::NotAttacked, &because)
    })
}

/// The finding of the more successful of two attacks, with the results of both in its sentence.
fn joined(first: Finding, second: Finding) -> Finding {
    let because = format!("{}; {}", first.because, second.because);
    let strongest = if second.lower_bound > first.lower_bound { second } else { first };
    Finding { because, ..strongest }
}

/// Twice the number of attempts at which success in all attempts refutes the claim. Success in nearly all
/// attempts then also refutes it.
fn attempts(pac: &PacResistance, effort: Effort) -> usize {
    let attempts = 2.0 * (effort.false_alarm.ln() / (1.0 - pac.confidence_gap).ln()).ceil();
    attempts.clamp(1.0, MOST_ATTEMPTS) as usize
}

/// Attack by the public parts and the weights of the mixtures of the attacked release itself.
fn by_public_parts(
    name: &str,
    mechanism: &Designed,
    mixtures: &dyn Mixtures,
    table: &Table,
    pac: &PacResistance,
    effort: Effort,
) -> Result<Finding> {
    let public = mixtures.public()?;
    let mean = public.records().mean_axis(Axis(0)).unwrap_or_default().insert_axis(Axis(0));
    let unlearned = TransformationFit::new(public.records().view())?;
    let (mut shares, mut known) = (vec![], 0);
    let attempt = |stream: &mut Stream| {
        interrupt::check()?;
        let seed = stream.next_u64();
        let released = mechanism.release(table, &mut Randomness::seeded(seed))?.table;
        let parts = mixtures.parts(table, &mut Randomness::seeded(seed))?;
        let mut fit = unlearned.clone();
        fit.add(released.records().view(), parts.known.view(), parts.hidden.view())?;
        let recovered = fit.invert()?.recover(released.records().slice(s![..1, ..]));
        let truth = parts.mixtures.slice(s![..1, ..]);
        let distance = Inversion::distances(recovered.view(), truth)[0];
        shares.push(distance / Inversion::distances(mean.view(), truth)[0]);
        known = released.len();
        Ok(distance)
    };
    let found = recovery(name, pac, attempts(pac, effort), attempt, effort)?;
    shares.sort_by(f64::total_cmp);
    let because = format!(
        "{}, by an inversion learned from the public parts of {known} mixtures of the release, at a median \
         of {:.2} of the distance of the public mean",
        found.because,
        shares.get(shares.len() / 2).copied().unwrap_or(f64::NAN)
    );
    Ok(Finding { because, ..found })
}

/// Attack by the key of another release. The records of that release are all equal, so that the adversary
/// knows the records that its chosen records are mixed with.
fn by_another_key(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    pac: &PacResistance,
    effort: Effort,
) -> Result<Finding> {
    let own = table.select(&vec![0; table.len()])?;
    let attempt = |stream: &mut Stream| {
        interrupt::check()?;
        let seeds = [stream.next_u64(), stream.next_u64()];
        let [own_key, another] = seeds.map(|seed| mechanism.release(&own, &mut Randomness::seeded(seed)));
        let (own_key, another) = (own_key?.key, another?.key);
        let known = made_up(mechanism.domain(), &own, 2 * (own.columns().len() + 1), stream)?;
        let unknown = made_up(mechanism.domain(), &own, 1, stream)?;
        let learned = Inversion::linear(own_key.view(&known)?.records().view(), known.records().view())?;
        let recovered = learned.recover(another.view(&unknown)?.records().view());
        Ok(Inversion::distances(recovered.view(), unknown.records().view())[0])
    };
    let found = recovery(name, pac, attempts(pac, effort), attempt, effort)?;
    let because = format!("{}, by an inversion learned from the key of another release", found.because);
    Ok(Finding { because, ..found })
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
