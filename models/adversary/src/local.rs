//! Attacks on local differential privacy: by the mechanism's description of its noise, by samples of
//! `perturb`, and by whole releases. A local mechanism encodes a record as a point, and `perturb` randomises
//! the point.

use crate::attack::{Attack, HEAT, all_reached, by_side, keep_best};
use crate::claimed::Claimed;
use crate::finding::{Finding, Verdict};
use crate::pairs::{Candidates, Pair, candidates, shown};
use crate::score::{Output, Score, along};
use crate::{Effort, Result, coupled, releases};
use rand::{Rng, RngCore};
use rayon::prelude::*;
use scumble_core::{Claim, Domain, LocalDp, LocalMechanism, Randomness, Stream, Streams};

/// Largest number of values over all outputs of an input. Longer records are released less often.
const MOST_VALUES: usize = 1 << 23;
/// Largest width of a record. Wider records would exhaust memory.
const WIDEST: usize = 1 << 14;
/// Smallest number of releases of an input. Fewer releases give no useful lower bound.
const LEAST_SAMPLES: usize = 1_000;
/// Share of the false-alarm probability for tests of the declared noise.
const SHARE_OF_DECLARED: f64 = 0.1;

/// Attacks `claim` of the mechanism called `name`. `dp` is the local differential privacy that it states.
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
    let release_seed = randomness.streams().stream(0).next_u64();
    let streams = randomness.streams(); // No release from this seed uses these streams.
    let claimed = Claimed::by(dp);
    let mut chance = streams.stream(0);
    let candidates = candidates(mechanism, claim.protects, &mut chance)?;
    let own = Effort { false_alarm: SHARE_OF_DECLARED * effort.false_alarm, ..effort };
    let declared = coupled::check(mechanism, dp, &candidates, &streams, own);
    let contradicted = |why: String| Finding {
        claimed: Some(dp.epsilon),
        mu_claimed: claimed.mu,
        coupled: declared.coupled,
        verdict: Verdict::Broken,
        because: why,
        ..about.clone()
    };
    if let Some(why) = leaves_range(mechanism, &mut chance)?.or_else(|| declared.broken.clone()) {
        return Ok(contradicted(why));
    }
    let samples = effort.samples.min(MOST_VALUES / width.max(1)).max(LEAST_SAMPLES);
    let Candidates { known, outside, others, corner, beyond, .. } = candidates;
    let attack_pairs = |pairs: Vec<Pair>, first: u64| -> Vec<Attack> {
        let numbered = pairs.into_iter().zip(first..);
        numbered.map(|(pair, number)| attack_pair(mechanism, pair, &claimed, &streams, number)).collect()
    };
    let certain = attack_pairs(known, 1);
    let others = attack_pairs(outside.into_iter().chain(others).collect(), 1 + certain.len() as u64);
    let releases = match corner[0] != corner[1] {
        true => releases::attacks(mechanism, &corner, &beyond, &claimed, release_seed),
        false => vec![],
    };
    let bounds = (certain.len() + others.len() + releases.len()) * claimed.bounds();
    let alarm = (effort.false_alarm - own.false_alarm) / bounds.max(1) as f64;
    let mut field = Field { claimed: &claimed, alarm, certain, others, releases };
    field.attack(effort.pairs, samples);
    let (reached, samples) = all_reached(field.attacks(), alarm);
    Ok(Finding { coupled: declared.coupled, ..claimed.judge(about, samples, alarm, &reached) })
}

/// All attacks on a claim.
struct Field<'a> {
    claimed: &'a Claimed,
    alarm: f64,
    /// Attacks on pairs of inputs that are known to be the easiest to distinguish.
    certain: Vec<Attack<'a>>,
    /// Attacks on other pairs of inputs. Most are dropped early.
    others: Vec<Attack<'a>>,
    /// Attacks on whole releases.
    releases: Vec<Attack<'a>>,
}

impl Field<'_> {
    fn attacks(&self) -> impl Iterator<Item = &Attack<'_>> {
        self.certain.iter().chain(&self.others).chain(&self.releases)
    }

    /// Continues all attacks until `to` outputs of each input are drawn. Returns true if one refutes the
    /// claim, which ends the audit.
    fn advance(&mut self, to: usize) -> bool {
        let Self { claimed, alarm, certain, others, releases } = self;
        let all = certain.par_iter_mut().chain(others).chain(releases);
        all.for_each(|attack| attack.advance(claimed, to, *alarm));
        self.attacks().any(Attack::is_broken)
    }

    /// Runs all attacks on few samples, then the attacks on `pairs` pairs of inputs on all `samples`. The
    /// pairs in `certain` always continue, and count toward `pairs`. Of the pairs in `others`, those with the
    /// largest ratios of observed to claimed value continue. Attacks on whole releases also continue.
    fn attack(&mut self, pairs: usize, samples: usize) {
        if self.advance(HEAT.min(samples)) {
            return;
        }
        keep_best(&mut self.others, self.claimed, pairs.saturating_sub(self.certain.len()));
        self.advance(samples);
    }
}

/// Number of outputs of one input that are drawn together.
const DRAWN_TOGETHER: usize = 64;

/// Attack on a pair of inputs, with the random streams 2·`number` and 2·`number` + 1.
fn attack_pair<'a>(
    mechanism: &'a dyn LocalMechanism,
    pair: Pair,
    claimed: &Claimed,
    streams: &Streams,
    number: u64,
) -> Attack<'a> {
    let (what, given) = (pair.to_string(), pair.scores(mechanism));
    let mut sides = [2 * number, 2 * number + 1].map(|stream| streams.stream(stream));
    let mut drawn = [vec![], vec![]];
    let draw = move |side: usize| -> Output {
        if drawn[side].is_empty() {
            let points = vec![pair.points[side].clone()?; DRAWN_TOGETHER];
            drawn[side] = perturbed(mechanism, points, &mut sides[side]);
        }
        drawn[side].pop().flatten()
    };
    Attack::new(what, claimed, by_side(draw), given)
}

/// Outputs for the `points`, last one first; `None` where the mechanism fails.
fn perturbed(mechanism: &dyn LocalMechanism, mut points: Vec<Vec<f64>>, stream: &mut Stream) -> Vec<Output> {
    let (before, inputs) = (stream.clone(), points.clone());
    if mechanism.perturb_each(&mut points, stream).is_ok() {
        return points.into_iter().rev().map(Some).collect();
    }
    *stream = before;
    let alone = |mut point: Vec<f64>| mechanism.perturb(&mut point, stream).ok().map(|()| point);
    let outputs: Vec<Output> = inputs.into_iter().map(alone).collect();
    outputs.into_iter().rev().collect()
}

impl Pair {
    /// Scores of outputs for an adversary that knows both points and the mechanism.
    fn scores<'m>(&self, mechanism: &'m dyn LocalMechanism) -> Vec<Score<'m>> {
        let [Some(one), Some(other)] = self.points.clone() else {
            return vec![]; // A refusal discloses everything.
        };
        let mut scores = along(one.clone(), other.clone());
        if mechanism.log_likelihood(&one, &one).is_some() {
            scores.push(Score::new("the likelihood stated by the mechanism", move |output| {
                let log_likelihood = |point: &[f64]| mechanism.log_likelihood(point, output).unwrap_or(0.0);
                log_likelihood(&other) - log_likelihood(&one)
            }));
        }
        scores
    }
}

/// Returns a sentence on the fault if `encode` refuses a record of finite numbers, or returns a point outside
/// the set that [`LocalMechanism::range`] declares.
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
                    "encode leaves its declared range, which all claims depend on: {} became {}",
                    shown(&record),
                    shown(&point)
                )));
            }
            Err(error) => {
                return Ok(Some(format!(
                    "a refusal discloses information about the record, and {} is refused: {error}",
                    shown(&record)
                )));
            }
        }
    }
    Ok(None)
}
