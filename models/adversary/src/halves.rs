//! Attacks on claims about the half of the records that a release was made from, by an adversary that knows
//! all records and all halves.

use crate::finding::{Finding, Measure, Verdict};
use crate::{Effort, Result};
use rayon::prelude::*;
use scumble_accounting::binomial::at_least;
use scumble_core::{Claim, Designed, Halved, MutualInformation, Randomness, Table, largest};

/// Largest number of comparisons of a drawn value with the noiseless value of a half, over all draws.
const MOST_LOOKS: usize = 1 << 29;
/// Ratio of all draws to the draws that choose the record whose membership is guessed. The bounds are
/// computed from all other draws.
const LESSONS: usize = 10;
/// Weight of the uniform distribution in the adversary's belief about the drawn half. The posterior has the
/// rest of the weight. The uniform weight bounds the log loss of every draw.
const DOUBT: f64 = 0.01;

/// Attacks the claim `bound` of releases of `table`.
///
/// The noiseless statistics of all halves and the scale of the noise give the posterior of each half after a
/// draw (Bayes). If the mechanism's noise is as declared, no guess is better than a guess by this posterior.
/// Three lower bounds are compared with the claim:
///
/// - the success rate of guesses of the half that was drawn,
/// - the success rate of guesses of membership, for the record that is easiest to guess,
/// - the mean of ln(m·q), where q is the belief in the half that was drawn and m is the number of halves. No
///   belief lifts this mean above the mutual information (Barber and Agakov 2003).
pub(crate) fn attack(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    (claim, bound): (&Claim, &MutualInformation),
    effort: Effort,
) -> Result<Finding> {
    let about =
        Finding { measure: Measure::Nats, claimed: Some(bound.nats), ..Finding::about(name, claim, effort) };
    let Some(halving) = mechanism.evidence().halving else {
        return Ok(about.unattacked(Verdict::NotAttacked, "it does not provide its halves"));
    };
    let draw = |draws: usize| halving.draw(table, draws, &mut Randomness::seeded(effort.seed));
    // Zero draws give the numbers of halves and of values.
    let pilot = draw(0)?;
    let affordable = MOST_LOOKS / (pilot.sets.len() * pilot.scales.len()).max(1);
    let inferred = infer_half(
        &draw(affordable.clamp(effort.samples / 20, effort.samples))?,
        table.len(),
        effort.false_alarm,
    );
    let most = [bound.success(bound.prior.set()), bound.success(bound.prior.membership())];
    let broken =
        inferred.nats > bound.nats || inferred.set.bound > most[0] || inferred.member.bound > most[1];
    let percent = |share: f64| 100.0 * share;
    Ok(Finding {
        lower_bound: Some(inferred.nats.max(0.0)),
        pairs: inferred.sets,
        samples: inferred.counted,
        verdict: if broken { Verdict::Broken } else { Verdict::Holds },
        because: format!(
            "in {} draws, an adversary that knows all records and the {} halves identified the chosen half \
             in {:.1} % (at most {:.1} % by the claim) and the membership of a record in {:.1} % (at most \
             {:.1} %); at least {:.4} nats were disclosed",
            inferred.counted,
            inferred.sets,
            percent(inferred.set.share),
            percent(most[0]),
            percent(inferred.member.share),
            percent(most[1]),
            inferred.nats.max(0.0)
        ),
        ..about
    })
}

/// Success rate of guesses, and a lower bound on its true value.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Guessed {
    /// Success rate in the draws that the bound is computed from.
    pub share: f64,
    /// Lower bound on the probability of success.
    pub bound: f64,
}

impl Guessed {
    fn from_guesses(right: impl Iterator<Item = bool>, alarm: f64) -> Self {
        let (count, trials) = right.fold((0, 0), |(count, all), right| (count + usize::from(right), all + 1));
        Self { share: count as f64 / trials.max(1) as f64, bound: at_least(count, trials, alarm) }
    }
}

/// Information that draws disclose about the half of the records that they were made from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct HalfInference {
    /// Number of halves.
    pub sets: usize,
    /// Number of draws that the bounds are computed from.
    pub counted: usize,
    /// Lower bound on the mutual information, in nats.
    pub nats: f64,
    /// Guesses of the half that was drawn.
    pub set: Guessed,
    /// Guesses of the membership of the record that is easiest to guess.
    pub member: Guessed,
}

/// Attacks the draws of `halved`, each a noisy statistic of a random half of `records` records. The adversary
/// knows all records, all halves, their noiseless statistics and the scale of the noise.
///
/// The posterior of each half after a draw (Bayes) gives the best possible guess, if the noise is as
/// declared. The three bounds of the result all hold with probability at least 1 − `false_alarm`.
pub fn infer_half(halved: &Halved, records: usize, false_alarm: f64) -> HalfInference {
    let alarm = false_alarm / 3.0;
    let sets = halved.sets.len();
    let (lessons, counted) = halved.draws.split_at(halved.draws.len() / LESSONS);
    let is_in = Membership::from_sets(&halved.sets, records);
    let mut hits = vec![0usize; records];
    for (taken, drawn) in lessons {
        let belief = belief(halved, drawn);
        hits.iter_mut()
            .enumerate()
            .for_each(|(record, hits)| *hits += usize::from(is_in.is_guessed(record, *taken, &belief)));
    }
    let easiest = (0..records).max_by_key(|record| hits[*record]).unwrap_or(0);
    // For each draw: the information about the half that was drawn, and whether each of the two guesses is
    // right.
    let attack_draw = |(taken, drawn): &(usize, Vec<f64>)| {
        let belief = belief(halved, drawn);
        let posterior = belief.get(*taken).copied().unwrap_or(0.0);
        let learned = (sets as f64 * ((1.0 - DOUBT) * posterior + DOUBT / sets as f64)).ln();
        (learned, largest(&belief) == *taken, is_in.is_guessed(easiest, *taken, &belief))
    };
    let seen: Vec<(f64, bool, bool)> = counted.par_iter().map(attack_draw).collect();
    HalfInference {
        sets,
        counted: counted.len(),
        nats: mean_at_least(seen.iter().map(|guess| guess.0), [DOUBT.ln(), (sets as f64).ln()], alarm),
        set: Guessed::from_guesses(seen.iter().map(|guess| guess.1), alarm),
        member: Guessed::from_guesses(seen.iter().map(|guess| guess.2), alarm),
    }
}

/// Posterior probability of each half after a draw, under a uniform prior.
fn belief(halved: &Halved, drawn: &[f64]) -> Vec<f64> {
    let log_likelihood = |values: &Vec<f64>| -> f64 {
        let terms =
            drawn.iter().zip(values).zip(&halved.scales).map(|((drawn, value), &scale)| match scale {
                // Without noise, any other value is impossible.
                0.0 if drawn == value => 0.0,
                0.0 => f64::MAX.sqrt(),
                scale => ((drawn - value) / scale).powi(2),
            });
        -terms.sum::<f64>() / 2.0
    };
    let logs: Vec<f64> = halved.values.iter().map(log_likelihood).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Membership of each record (outer) in each half (inner).
struct Membership(Vec<Vec<bool>>);

impl Membership {
    fn from_sets(sets: &[Vec<usize>], records: usize) -> Self {
        let mut is_in = vec![vec![false; sets.len()]; records];
        for (number, set) in sets.iter().enumerate() {
            set.iter().filter(|row| **row < records).for_each(|row| is_in[*row][number] = true);
        }
        Self(is_in)
    }

    /// Returns true if `belief` leads to a right guess of the record's membership in the half that was drawn,
    /// number `taken`.
    fn is_guessed(&self, record: usize, taken: usize, belief: &[f64]) -> bool {
        let Some(is_in) = self.0.get(record) else { return false };
        let inside = belief.iter().zip(is_in).filter(|(_, is_in)| **is_in).map(|(share, _)| share);
        (inside.sum::<f64>() > 0.5) == is_in.get(taken).copied().unwrap_or(false)
    }
}

/// Advantage 2·Pr\[right\] − 1 in the inference of membership in the half that was drawn, over all draws and
/// `rows`.
pub(crate) fn membership_advantage(halved: &Halved, rows: &[usize]) -> f64 {
    let records = rows.iter().max().map_or(0, |last| last + 1);
    let is_in = Membership::from_sets(&halved.sets, records);
    let right = |(taken, drawn): &(usize, Vec<f64>)| {
        let belief = belief(halved, drawn);
        rows.iter().filter(|row| is_in.is_guessed(**row, *taken, &belief)).count()
    };
    let guesses = (halved.draws.len() * rows.len()).max(1);
    2.0 * halved.draws.par_iter().map(right).sum::<usize>() as f64 / guesses as f64 - 1.0
}

/// Lower bound on the mean of values in [`least`, `most`] (Maurer and Pontil 2009, Theorem 4). It is above
/// the truth with probability at most `alarm`.
fn mean_at_least(values: impl Iterator<Item = f64>, [least, most]: [f64; 2], alarm: f64) -> f64 {
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    if n < 2.0 {
        return least;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let log = (2.0 / alarm).ln();
    mean - (2.0 * variance * log / n).sqrt() - 7.0 * (most - least) * log / (3.0 * (n - 1.0))
}
