//! Claims of local differential privacy, attacked by samples of `perturb`, and of whole releases.

use crate::claimed::{Claimed, Reached};
use crate::event::Samples;
use crate::finding::{Finding, Verdict};
use crate::pairs::{Pair, candidates};
use crate::score::{Output, Score, along};
use crate::{Effort, Result};
use rand::Rng;
use rayon::prelude::*;
use scumble_registry::{Claim, Domain, LocalDp, LocalMechanism, Randomness, Streams, local};

/// Values of all outputs of a side at most: longer records are released less often.
const MOST_VALUES: usize = 1 << 24;
/// How often each input of a candidate is released, and how sure its bound is: it only ranks.
const TRIAL: usize = 2_000;
const TRIAL_ALARM: f64 = 0.05;

/// Attacks `claim`, whose notion is `dp`, of a mechanism called `name`.
pub(crate) fn attack(
    name: &str,
    mechanism: &dyn LocalMechanism,
    claim: &Claim,
    dp: &LocalDp,
    effort: Effort,
) -> Result<Finding> {
    let streams = Randomness::seeded(effort.seed).streams();
    let claimed = Claimed::by(dp);
    let mut chance = streams.stream(0);
    let (candidates, known) = candidates(mechanism, claim.protects, &mut chance)?;
    let pairs = chosen(mechanism, &claimed, candidates, known, effort.pairs, &streams);
    let samples = effort.samples.min(MOST_VALUES / mechanism.range().dim().max(1)).max(TRIAL);
    // Beside each pair by itself, records among others, at two distances.
    let alarm = effort.false_alarm / ((pairs.len() + DISTANCES.len()) * claimed.bounds()) as f64;
    let mut reached: Vec<(String, Reached)> = pairs
        .par_iter()
        .enumerate()
        .map(|(number, pair)| {
            let outputs = Samples::of(mechanism, pair, samples, &streams, 1_000_000 + 2 * number as u64);
            (pair.to_string(), claimed.attack(&outputs, pair.scores(mechanism), true, alarm))
        })
        .collect();
    if let Some(records) = pairs.iter().find_map(|pair| pair.as_records(mechanism)) {
        for distance in DISTANCES {
            let outputs = among_others(mechanism, &records, distance, samples, effort.seed)?;
            let what = format!("{}, {distance} rows from a known record", between(&records));
            reached.push((what, claimed.attack(&outputs, vec![], true, alarm)));
        }
    }
    let finding = claimed.judge(Finding::about(name, claim, effort), samples, &reached);
    Ok(match leaves_range(mechanism, &mut chance)? {
        Some(why) => Finding { verdict: Verdict::Broken, because: why, ..finding },
        None => finding,
    })
}

/// The pairs that are worth many samples: those that are known to be worst, and of the others those of which a few samples
/// show most.
fn chosen(
    mechanism: &dyn LocalMechanism,
    claimed: &Claimed,
    mut candidates: Vec<Pair>,
    known: usize,
    count: usize,
    streams: &Streams,
) -> Vec<Pair> {
    let others = candidates.split_off(known.min(candidates.len()));
    let mut ranked: Vec<(f64, Pair)> = others
        .into_par_iter()
        .enumerate()
        .map(|(number, pair)| {
            let outputs = Samples::of(mechanism, &pair, TRIAL, streams, 1 + 2 * number as u64);
            let reached = claimed.attack(&outputs, pair.scores(mechanism), false, TRIAL_ALARM);
            let excess = reached.excess(claimed).map_or(f64::NEG_INFINITY, |(excess, ..)| excess);
            (excess, pair)
        })
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    candidates.extend(ranked.into_iter().map(|(_, pair)| pair));
    candidates.truncate(count.max(known));
    candidates
}

impl Samples {
    /// Each point of the pair perturbed `count` times, from the streams `stream` and `stream` + 1.
    fn of(mechanism: &dyn LocalMechanism, pair: &Pair, count: usize, streams: &Streams, stream: u64) -> Self {
        let [one, other] =
            [(&pair.points[0], stream), (&pair.points[1], stream + 1)].map(|(point, stream)| {
                let mut stream = streams.stream(stream);
                let draw = |_| -> Output {
                    let mut point = point.clone()?;
                    mechanism.perturb(&mut point, &mut stream).ok()?;
                    Some(point)
                };
                (0..count).map(draw).collect()
            });
        Self::new(one, other)
    }
}

impl Pair {
    /// What an adversary who knows the two points and the mechanism looks at.
    fn scores<'p>(&'p self, mechanism: &'p dyn LocalMechanism) -> Vec<Score<'p>> {
        let [Some(one), Some(other)] = &self.points else {
            return vec![]; // a refusal gives all away
        };
        let mut scores = along(one, other);
        if mechanism.log_likelihood(one, one).is_some() {
            scores.push(Score::new("the likelihood that the mechanism states", |output| {
                let of = |point| mechanism.log_likelihood(point, output).unwrap_or(0.0);
                of(other) - of(one)
            }));
        }
        scores
    }

    /// The flat records, where there are any.
    fn as_records(&self, mechanism: &dyn LocalMechanism) -> Option<[Vec<f64>; 2]> {
        let records = match &self.records {
            Some(records) => records.clone(),
            None => [self.points[0].clone()?, self.points[1].clone()?],
        };
        records.iter().all(|record| mechanism.domain().flat().contains(record)).then_some(records)
    }
}

impl std::fmt::Display for Pair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.records, &self.points) {
            (Some(records), _) => formatter.write_str(&between(records)),
            (None, [Some(one), Some(other)]) => formatter.write_str(&between(&[one.clone(), other.clone()])),
            _ => formatter.write_str("a record from one that is refused"),
        }
    }
}

fn between([one, other]: &[Vec<f64>; 2]) -> String {
    /// A record of many values is shown by the first.
    const SHOWN: usize = 6;
    let shown = |point: &[f64]| {
        let values: Vec<String> = point.iter().take(SHOWN).map(|x| format!("{x}")).collect();
        let rest = if point.len() > SHOWN { ", …" } else { "" };
        format!("({}{rest})", values.join(", "))
    };
    format!("{} from {}", shown(one), shown(other))
}

/// How many rows lie between a record and one that the adversary knows: the next, and the one at the same place of the next
/// block. Noise that they share can be taken off.
const DISTANCES: [usize; 2] = [1, local::BLOCK];

/// What is released of each of `records` less what is released of a known one, `distance` rows further on.
fn among_others(
    mechanism: &dyn LocalMechanism,
    records: &[Vec<f64>; 2],
    distance: usize,
    samples: usize,
    seed: u64,
) -> Result<Samples> {
    let known = &records[0];
    // Records that share noise are told apart in few.
    let rows = (2 * samples.min(1 << 14)).next_multiple_of(2 * distance);
    let is_known = |row: usize| row / distance % 2 == 1;
    let released = |record: &Vec<f64>, seed: u64| -> Result<Vec<Output>> {
        let flat: Vec<f64> =
            (0..rows).flat_map(|row| if is_known(row) { known.clone() } else { record.clone() }).collect();
        let flat = ndarray::Array2::from_shape_vec((rows, record.len()), flat);
        let Ok(flat) = flat else {
            return Ok(vec![]);
        };
        let table = mechanism.domain().layout().table(flat.view())?;
        let released = mechanism.release(&table, &mut Randomness::seeded(seed))?.table;
        let (layout, rows) = (mechanism.layout(), released.len());
        let beside = |row: usize| {
            let (own, others) = (layout.flatten(&released, row), layout.flatten(&released, row + distance));
            own.iter().zip(others).map(|(x, y)| x - y).collect()
        };
        let own = (0..rows.saturating_sub(distance)).filter(|row| !is_known(*row));
        Ok(own.map(|row| Some(beside(row))).collect())
    };
    // A table that is refused for one record and not for the other gives the record away.
    match (released(&records[0], seed), released(&records[1], seed.wrapping_add(1))) {
        (Err(error), Err(_)) => Err(error),
        (one, other) => {
            let refused = vec![None; rows / 2];
            Ok(Samples::new(one.unwrap_or(refused.clone()), other.unwrap_or(refused)))
        }
    }
}

/// A sentence where `encode` leaves the range that it declares, or refuses a record of finite numbers.
fn leaves_range(mechanism: &dyn LocalMechanism, chance: &mut impl Rng) -> Result<Option<String>> {
    const RECORDS: usize = 2_000;
    let (flat, range) = (mechanism.domain().flat(), mechanism.range());
    let inside = Domain::l2_farthest(flat);
    for _ in 0..RECORDS {
        let record: Vec<f64> = (0..flat.dim())
            .map(|at| {
                let (one, other) = (inside[0][at], inside[1][at]);
                match chance.gen_range(0..8) {
                    0 => 0.0,
                    1 => one,
                    2 => other,
                    3 => one + chance.gen_range(-2.0..3.0) * (other - one),
                    4 => chance.gen_range(-1.0..1.0) * 10f64.powi(chance.gen_range(0..300)),
                    5 => chance.gen_range(-1.0..1.0) * 10f64.powi(-chance.gen_range(0..320)),
                    6 => f64::from_bits(one.to_bits() ^ 1),
                    _ => chance.gen_range(0.0..1.0),
                }
            })
            .map(|x| if x.is_finite() { x } else { 1.0 })
            .collect();
        match mechanism.encode(&record) {
            Ok(point) if range.contains(&point) => {}
            Ok(point) => {
                return Ok(Some(format!(
                    "encode leaves the range that it declares, on which all claims rest: {record:?} became {point:?}"
                )));
            }
            Err(error) => {
                return Ok(Some(format!(
                    "whether a record is refused says something of it, and {record:?} is: {error}"
                )));
            }
        }
    }
    Ok(None)
}
