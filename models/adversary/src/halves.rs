//! Claims about which half of the records a release was made from, attacked by somebody who knows all records and all halves.

use crate::finding::{Finding, Measure, Verdict};
use crate::{Effort, Result};
use rayon::prelude::*;
use scumble_accounting::binomial::at_least;
use scumble_core::{Claim, Designed, Halved, MutualInformation, Randomness, Table, largest};

/// How often a value may be held against a set's, over all draws.
const MOST_LOOKS: usize = 1 << 29;
/// One draw in so many chooses whose membership is guessed; all others count.
const LESSONS: usize = 10;
/// What is mixed into what the adversary believes, so that no draw surprises it without bound.
const DOUBT: f64 = 0.01;

/// Attacks the claim `bound` of releases of `table`.
///
/// Of what each half gives and of how much noise there is follows how likely each is after a draw (Bayes): the best guess there is, if the mechanism's noise is what it says. Three lower bounds are held against what is claimed: how often
/// the set is guessed, how often the membership of the record that is easiest to guess, and the mean of ln(m·q) of what was believed of the set that was taken, which no belief lifts above the mutual information
/// (Barber and Agakov 2003).
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
        return Ok(about.unattacked(Verdict::NotAttacked, "it does not say which halves there are"));
    };
    let draw = |draws: usize| halving.draw(table, draws, &mut Randomness::seeded(effort.seed));
    // Without a draw it says how many halves and values there are.
    let pilot = draw(0)?;
    let affordable = MOST_LOOKS / (pilot.sets.len() * pilot.scales.len()).max(1);
    let told =
        told(&draw(affordable.clamp(effort.samples / 20, effort.samples))?, table.len(), effort.false_alarm);
    let most = [bound.success(bound.prior.set()), bound.success(bound.prior.membership())];
    let broken = told.nats > bound.nats || told.set.bound > most[0] || told.member.bound > most[1];
    let percent = |share: f64| 100.0 * share;
    Ok(Finding {
        lower_bound: Some(told.nats.max(0.0)),
        pairs: told.sets,
        samples: told.counted,
        verdict: if broken { Verdict::Broken } else { Verdict::Holds },
        because: format!(
            "of {} draws, who knows all records and the {} halves told the half that was taken in {:.1} % (at most {:.1} % by the claim), and whether a record is in it in {:.1} % (at most {:.1} %); \
             what was told is at least {:.4} nats",
            told.counted,
            told.sets,
            percent(told.set.share),
            percent(most[0]),
            percent(told.member.share),
            percent(most[1]),
            told.nats.max(0.0)
        ),
        ..about
    })
}

/// How often a guess was right, and a lower bound on how often it is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Guessed {
    /// In these draws.
    pub share: f64,
    /// At least, whatever the draws.
    pub bound: f64,
}

impl Guessed {
    fn of(right: impl Iterator<Item = bool>, alarm: f64) -> Self {
        let (count, trials) = right.fold((0, 0), |(count, all), right| (count + usize::from(right), all + 1));
        Self { share: count as f64 / trials.max(1) as f64, bound: at_least(count, trials, alarm) }
    }
}

/// What draws tell of the half that they were made from.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Told {
    /// How many halves there are.
    pub sets: usize,
    /// How many draws counted.
    pub counted: usize,
    /// At least so many nats of mutual information.
    pub nats: f64,
    /// Which half was taken.
    pub set: Guessed,
    /// Whether a record is in it: that which is easiest to guess.
    pub member: Guessed,
}

/// What draws of halves of so many `records` tell somebody who knows all records, all halves, what each gives and how much noise there is: of that follows how likely each half is after a draw (Bayes), which
/// is the best guess there is, if noise is what it is said to be. No bound is wrong with a larger probability than `false_alarm`, all three together.
pub fn told(halved: &Halved, records: usize, false_alarm: f64) -> Told {
    let alarm = false_alarm / 3.0;
    let sets = halved.sets.len();
    let (lessons, counted) = halved.draws.split_at(halved.draws.len() / LESSONS);
    let is_in = Membership::of(&halved.sets, records);
    let mut hits = vec![0usize; records];
    for (taken, drawn) in lessons {
        let belief = belief(halved, drawn);
        hits.iter_mut()
            .enumerate()
            .for_each(|(record, hits)| *hits += usize::from(is_in.is_guessed(record, *taken, &belief)));
    }
    let easiest = (0..records).max_by_key(|record| hits[*record]).unwrap_or(0);
    // Of each draw: what was learned of the set that was taken, and whether it and a membership were guessed.
    let of_draw = |(taken, drawn): &(usize, Vec<f64>)| {
        let belief = belief(halved, drawn);
        let of_taken = belief.get(*taken).copied().unwrap_or(0.0);
        let learned = (sets as f64 * ((1.0 - DOUBT) * of_taken + DOUBT / sets as f64)).ln();
        (learned, largest(&belief) == *taken, is_in.is_guessed(easiest, *taken, &belief))
    };
    let seen: Vec<(f64, bool, bool)> = counted.par_iter().map(of_draw).collect();
    Told {
        sets,
        counted: counted.len(),
        nats: mean_at_least(seen.iter().map(|of| of.0), [DOUBT.ln(), (sets as f64).ln()], alarm),
        set: Guessed::of(seen.iter().map(|of| of.1), alarm),
        member: Guessed::of(seen.iter().map(|of| of.2), alarm),
    }
}

/// How likely each set is after a draw, beforehand all alike.
fn belief(halved: &Halved, drawn: &[f64]) -> Vec<f64> {
    let log_likelihood = |values: &Vec<f64>| -> f64 {
        let terms =
            drawn.iter().zip(values).zip(&halved.scales).map(|((drawn, value), &scale)| match scale {
                // Without noise another value is out of the question.
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

/// Of each record, which sets it is in.
struct Membership(Vec<Vec<bool>>);

impl Membership {
    fn of(sets: &[Vec<usize>], records: usize) -> Self {
        let mut is_in = vec![vec![false; sets.len()]; records];
        for (number, set) in sets.iter().enumerate() {
            set.iter().filter(|row| **row < records).for_each(|row| is_in[*row][number] = true);
        }
        Self(is_in)
    }

    /// Whether it is guessed rightly that this record is in the set that was taken, or is not.
    fn is_guessed(&self, record: usize, taken: usize, belief: &[f64]) -> bool {
        let Some(is_in) = self.0.get(record) else { return false };
        let inside = belief.iter().zip(is_in).filter(|(_, is_in)| **is_in).map(|(share, _)| share);
        (inside.sum::<f64>() > 0.5) == is_in.get(taken).copied().unwrap_or(false)
    }
}

/// How much more often than by a coin it is guessed whether each of these rows is in the half that was taken: 2·Pr\[right\] − 1, over all draws and rows.
pub(crate) fn membership_advantage(halved: &Halved, rows: &[usize]) -> f64 {
    let records = rows.iter().max().map_or(0, |last| last + 1);
    let is_in = Membership::of(&halved.sets, records);
    let right = |(taken, drawn): &(usize, Vec<f64>)| {
        let belief = belief(halved, drawn);
        rows.iter().filter(|row| is_in.is_guessed(**row, *taken, &belief)).count()
    };
    let guesses = (halved.draws.len() * rows.len()).max(1);
    2.0 * halved.draws.par_iter().map(right).sum::<usize>() as f64 / guesses as f64 - 1.0
}

/// A lower bound on the mean of what lies in a range, by Maurer and Pontil (2009, Theorem 4): above the truth with probability `alarm` at most.
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
