//! Claims of local differential privacy, attacked by samples of `perturb`, and of whole releases.

use crate::claimed::{Claimed, Reached};
use crate::event::Samples;
use crate::finding::{Finding, Verdict};
use crate::pairs::{Candidates, Pair, candidates, shown};
use crate::score::{Output, Score, along};
use crate::{Effort, Result, releases};
use rand::{Rng, RngCore};
use rayon::prelude::*;
use scumble_registry::{Claim, Domain, LocalDp, LocalMechanism, Randomness, Streams};

/// Values of all outputs of a side at most: longer records are released less often.
const MOST_VALUES: usize = 1 << 23;
/// Wider records would take all memory.
const WIDEST: usize = 1 << 14;
/// Fewer releases of an input show nothing.
const LEAST_SAMPLES: usize = 1_000;
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
    let about = Finding::about(name, claim, effort);
    let width = mechanism.range().dim().max(mechanism.domain().flat().dim());
    if width > WIDEST {
        return Ok(about.unattacked(Verdict::NotAttacked, "its records are too wide to be attacked"));
    }
    let mut randomness = Randomness::seeded(effort.seed);
    let of_releases = randomness.streams().stream(0).next_u64();
    let streams = randomness.streams(); // no release from this seed has them
    let claimed = Claimed::by(dp);
    let mut chance = streams.stream(0);
    let candidates = candidates(mechanism, claim.protects, &mut chance)?;
    let (records, outside) = (candidates.corner.clone(), candidates.beyond.clone());
    let pairs = chosen(mechanism, &claimed, candidates, effort.pairs, &streams);
    let samples = effort.samples.min(MOST_VALUES / width.max(1)).max(LEAST_SAMPLES);
    let alarm = effort.false_alarm / ((pairs.len() + releases::ATTACKS) * claimed.bounds()) as f64;
    let attack = |(number, pair): (usize, &Pair)| {
        let outputs = Samples::of(mechanism, pair, samples, &streams, 1_000_000 + 2 * number as u64);
        (pair.to_string(), claimed.attack(&outputs, pair.scores(mechanism), true, alarm))
    };
    let mut reached: Vec<(String, Reached)> = pairs.par_iter().enumerate().map(attack).collect();
    if records[0] != records[1] {
        let attacks = releases::attacks(mechanism, &records, &outside, dp.epsilon, of_releases)?;
        let attacks = attacks.into_par_iter();
        let attacks = attacks.map(|(what, outputs)| (what, claimed.attack(&outputs, vec![], true, alarm)));
        reached.extend(attacks.collect::<Vec<_>>());
    }
    let finding = claimed.judge(about, samples, alarm, &reached);
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
    candidates: Candidates,
    count: usize,
    streams: &Streams,
) -> Vec<Pair> {
    let Candidates { known: mut pairs, mut outside, others, .. } = candidates;
    let count = count.max(pairs.len());
    outside.extend(others);
    let trial = (MOST_VALUES / 8 / mechanism.range().dim().max(1)).clamp(LEAST_SAMPLES, TRIAL);
    let mut ranked: Vec<(f64, Pair)> = outside
        .into_par_iter()
        .enumerate()
        .map(|(number, pair)| {
            let outputs = Samples::of(mechanism, &pair, trial, streams, 1 + 2 * number as u64);
            let reached = claimed.attack(&outputs, pair.scores(mechanism), false, TRIAL_ALARM);
            (reached.share(claimed), pair)
        })
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    pairs.extend(ranked.into_iter().map(|(_, pair)| pair));
    pairs.truncate(count);
    pairs
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
                    "encode leaves the range that it declares, on which all claims rest: {} became {}",
                    shown(&record),
                    shown(&point)
                )));
            }
            Err(error) => {
                return Ok(Some(format!(
                    "whether a record is refused says something of it, and {} is: {error}",
                    shown(&record)
                )));
            }
        }
    }
    Ok(None)
}
