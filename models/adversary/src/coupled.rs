//! What a local mechanism says of its own noise, held against what it does: two points perturbed by the same random numbers, how far
//! apart records are encoded, and how much noise there is.
//!
//! Samples of many columns do not show noise that is too small, for the outputs that tell most are rare. But a mechanism that adds noise
//! says how much, and for points that lie how far apart; each of the three can be found out by itself, and the claim follows from them.

use crate::Effort;
use crate::finding::{Coupled, CoupledUnit};
use crate::pairs::{Candidates, Pair};
use scumble_accounting::gaussian;
use scumble_core::{DescribedNoise, Distance, LocalDp, LocalMechanism, Perturbation, Stream, Streams};

/// What was found out: a sentence where it contradicts the claim.
pub(crate) struct Found {
    pub(crate) coupled: Option<Coupled>,
    pub(crate) broken: Option<String>,
}

/// Two sums of floats that are the same number differ by no more than such a share.
const ROUNDING: f64 = 1e-9;
/// How often the search for records that are farther apart moves one of them.
const MOVES: usize = 400;
/// How often each pair is released to compare likelihoods.
const LOSSES: usize = 200;
/// The pairs of which that is done.
const PAIRS_OF_LOSSES: usize = 12;

/// The streams of these checks, which no other draw of an audit has.
const STREAM: u64 = 2_000_000;

/// Holds `perturb` to what the mechanism declares of it, and the claim `dp` to what follows. Of claims that hold one is called broken with
/// probability `effort.false_alarm` at most.
pub(crate) fn check(
    mechanism: &dyn LocalMechanism,
    dp: &LocalDp,
    candidates: &Candidates,
    streams: &Streams,
    effort: Effort,
) -> Found {
    let declared = mechanism.perturbation();
    let wrong = declared.iter().find_map(|of| misdescribed(of, mechanism.range().dim()));
    if wrong.is_some() {
        return Found { coupled: None, broken: wrong };
    }
    let too_little = || Drifts::seek(mechanism, &declared, candidates, streams, effort);
    let mut blocks: Vec<Block> = declared.iter().filter_map(Block::of).collect();
    if !blocks.iter().any(|block| matches!(block.of, Perturbation::Additive(_))) {
        let found = of_stated_losses(mechanism, dp, candidates, streams);
        let broken = found.broken.or_else(too_little);
        return Found { broken, ..found };
    }
    let farther = farthest(mechanism, &blocks, candidates, streams);
    let range = mechanism.range();
    // Chance brings points that lie within the bounds of a range and not in it.
    let is_of_range = |pair: &&Pair| {
        pair.records.is_some() || pair.points.iter().flatten().all(|point| range.contains(point))
    };
    let mut unlike = None;
    for pair in candidates.pairs().chain(&farther).filter(is_of_range) {
        if let Err(why) = couple(mechanism, &mut blocks, pair, &mut streams.stream(STREAM)) {
            unlike = unlike.or(Some(why));
        }
    }
    let coupled = summed(&blocks);
    let too_far = coupled.as_ref().and_then(too_far);
    let broken = too_far.or_else(|| unclaimed(dp, &blocks)).or_else(too_little).or(unlike);
    Found { coupled, broken }
}

/// What `perturb` does to some coordinates, and how far apart points were found that it is done to.
struct Block<'a> {
    of: &'a Perturbation,
    distance: Distance,
    /// The largest distance that is declared, relative to the noise.
    declared: f64,
    found: f64,
}

impl<'a> Block<'a> {
    fn of(of: &'a Perturbation) -> Option<Self> {
        let (distance, declared) = match of {
            Perturbation::Additive(noise) => (noise.distance, noise.sensitivity),
            Perturbation::Flip { coordinates, keep } => {
                let other = (1.0 - keep) / (coordinates.len() - 1) as f64;
                (Distance::L1, (keep / other).ln())
            }
            _ => return None,
        };
        Some(Self { of, distance, declared, found: 0.0 })
    }
}

/// A sentence where a description cannot be one.
fn misdescribed(of: &Perturbation, width: usize) -> Option<String> {
    let is_positive = |values: &Vec<f64>| values.iter().all(|x| *x > 0.0 && x.is_finite());
    let is_fine = match of {
        Perturbation::Additive(DescribedNoise { coordinates, scales, variances, steps, .. }) => {
            let of_each = [scales, variances, steps];
            coordinates.end <= width
                && of_each.iter().all(|of| of.len() == coordinates.len())
                && of_each.into_iter().all(is_positive)
        }
        Perturbation::Flip { coordinates, keep } => {
            coordinates.end <= width && coordinates.len() > 1 && (0.0..1.0).contains(keep)
        }
        _ => true,
    };
    (!is_fine).then(|| "what it says of its noise does not describe noise on points of its range".into())
}

/// How far apart what is released of both points lies, in each block of coordinates, where both take the same random numbers.
///
/// # Errors
/// A sentence where it does not differ by what the points differ by.
fn couple(
    mechanism: &dyn LocalMechanism,
    blocks: &mut [Block],
    pair: &Pair,
    stream: &mut Stream,
) -> std::result::Result<(), String> {
    let [Some(one), Some(other)] = &pair.points else { return Ok(()) };
    let mut same = stream.clone();
    let (mut first, mut second) = (one.clone(), other.clone());
    if mechanism.perturb(&mut first, stream).is_err() || mechanism.perturb(&mut second, &mut same).is_err() {
        return Ok(()); // of refusals samples tell
    }
    let mut unlike = None;
    for block in blocks {
        let apart = match block.of {
            Perturbation::Additive(noise) => {
                let places = || noise.coordinates.clone().zip(&noise.scales);
                let why = noise.coordinates.clone().zip(&noise.steps).find_map(|(at, step)| {
                    let most = (noise.coordinates.len() + 2) as f64 * step;
                    let why = unlike_noise([first[at], second[at]], one[at] - other[at], *step, most)?;
                    Some(format!("{why}, at coordinate {}, from {pair}", at + 1))
                });
                unlike = unlike.or(why);
                noise.distance.of(places().map(|(at, scale)| (first[at] - second[at]) / scale))
            }
            Perturbation::Flip { coordinates, .. }
                if one[coordinates.clone()] != other[coordinates.clone()] =>
            {
                block.declared
            }
            _ => 0.0,
        };
        block.found = block.found.max(apart);
    }
    unlike.map_or(Ok(()), Err)
}

/// A sentence where two values, released by the same random numbers of two that lie `clean` apart, do not lie as far apart on the lattice of
/// this step, to which rounding moves them by `most` in all.
fn unlike_noise(released: [f64; 2], clean: f64, step: f64, most: f64) -> Option<String> {
    let apart = released[0] - released[1];
    // What floats lose of large numbers.
    let lost = released[0].abs().max(released[1].abs()) * 4.0 * f64::EPSILON;
    if (apart - clean).abs() > most + lost {
        return Some(format!(
            "the noise depends on the record: by the same random numbers an adversary gets values that differ by {apart} where the points \
             differ by {clean}"
        ));
    }
    let steps = apart / step;
    ((steps - steps.round()).abs() * step > lost + ROUNDING * step).then(|| {
        format!(
            "released values do not lie on the lattice that is declared: by the same random numbers they differ by {steps} steps, and the \
             lowest digits may tell the one from the other"
        )
    })
}

/// Records of which the encoded points lie farther apart than those of the pairs that are known, if a search finds any.
fn farthest(
    mechanism: &dyn LocalMechanism,
    blocks: &[Block],
    candidates: &Candidates,
    streams: &Streams,
) -> Option<Pair> {
    let mut chance = streams.stream(STREAM + 1);
    let distance = |pair: &Pair| {
        let [Some(one), Some(other)] = &pair.points else { return f64::NEG_INFINITY };
        let of_block = |block: &Block| match block.of {
            Perturbation::Additive(noise) => {
                let scaled = noise.coordinates.clone().zip(&noise.scales);
                noise.distance.of(scaled.map(|(at, scale)| (one[at] - other[at]) / scale))
            }
            _ => 0.0,
        };
        blocks.iter().map(of_block).sum()
    };
    let mut records = candidates.corner.clone();
    let mut best = Pair::of_records(mechanism, records.clone());
    let mut most = distance(&best);
    for turn in 0..MOVES {
        let mut moved = records.clone();
        moved[turn % 2] = candidates.factors.moved(&records[turn % 2], &mut chance);
        let pair = Pair::of_records(mechanism, moved.clone());
        let reached = distance(&pair);
        if reached > most {
            (best, most, records) = (pair, reached, moved);
        }
    }
    most.is_finite().then_some(best)
}

fn unit(distance: Distance) -> CoupledUnit {
    match distance {
        Distance::L1 => CoupledUnit::Epsilon,
        Distance::L2 => CoupledUnit::Mu,
        _ => CoupledUnit::Deviations,
    }
}

/// All blocks whose distance is of one kind together: of the kind in which most of what is declared is found. Blocks that no pair moves
/// are not of what is protected.
fn summed(blocks: &[Block]) -> Option<Coupled> {
    let of_kind = |distance: Distance| {
        let moved = || blocks.iter().filter(|block| block.distance == distance && block.found > 0.0);
        Coupled {
            unit: unit(distance),
            declared: distance.of(moved().map(|block| block.declared)),
            found: distance.of(moved().map(|block| block.found)),
        }
    };
    let kinds = [Distance::L1, Distance::L2, Distance::Root].map(of_kind);
    let share = |coupled: &Coupled| coupled.found / coupled.declared;
    let kinds = kinds.into_iter().filter(|coupled| coupled.found > 0.0);
    kinds.max_by(|one, other| share(one).total_cmp(&share(other)))
}

/// A sentence where points lie farther apart than the noise was made for.
fn too_far(Coupled { unit, declared, found }: &Coupled) -> Option<String> {
    (*found > declared * (1.0 + ROUNDING)).then(|| {
        format!(
            "the sensitivity is too small: two records are encoded {found:.4} apart ({unit}, relative to the noise), and the noise was made for \
             {declared:.4} at most"
        )
    })
}

/// A sentence where the noise that is declared costs more than is claimed.
fn unclaimed(dp: &LocalDp, blocks: &[Block]) -> Option<String> {
    let moved = || blocks.iter().filter(|block| block.found > 0.0);
    if moved().any(|block| block.distance == Distance::Root) {
        return None;
    }
    let of_kind = |distance: Distance| {
        distance.of(moved().filter(|block| block.distance == distance).map(|block| block.declared))
    };
    let (epsilon, mu) = (of_kind(Distance::L1), of_kind(Distance::L2));
    if mu == 0.0 {
        return (dp.delta == 0.0 && epsilon > dp.epsilon * (1.0 + ROUNDING))
            .then(|| format!("noise of the scale that it declares spends ε = {epsilon:.4}"));
    }
    let delta = gaussian::delta(mu, dp.epsilon);
    (epsilon == 0.0 && delta > dp.delta * (1.0 + 1e-6)).then(|| {
        format!(
            "noise of the scale that it declares has μ = {mu:.4}, and so δ({:.4}) = {delta:.3e}",
            dp.epsilon
        )
    })
}

/// The largest privacy loss by the likelihood that the mechanism states, over pairs and outputs.
fn of_stated_losses(
    mechanism: &dyn LocalMechanism,
    dp: &LocalDp,
    candidates: &Candidates,
    streams: &Streams,
) -> Found {
    let mut stream = streams.stream(STREAM + 2);
    let mut most: Option<(f64, &Pair)> = None;
    // Where δ is claimed too, losses may be larger now and then.
    let pairs = if dp.delta == 0.0 { PAIRS_OF_LOSSES } else { 0 };
    for pair in candidates.pairs().take(pairs) {
        let [Some(one), Some(other)] = &pair.points else { continue };
        for turn in 0..LOSSES {
            let mut released = if turn % 2 == 0 { one.clone() } else { other.clone() };
            if mechanism.perturb(&mut released, &mut stream).is_err() {
                continue;
            }
            let of = |point: &[f64]| mechanism.log_likelihood(point, &released);
            let (Some(first), Some(second)) = (of(one), of(other)) else { continue };
            let loss = (first - second).abs();
            if most.is_none_or(|(most, _)| loss > most) {
                most = Some((loss, pair));
            }
        }
    }
    let Some((found, pair)) = most else { return Found { coupled: None, broken: None } };
    let coupled = Coupled { unit: CoupledUnit::Epsilon, declared: dp.epsilon, found };
    let is_broken = found > dp.epsilon * (1.0 + ROUNDING) + ROUNDING;
    let broken = is_broken.then(|| {
        format!("at least ε = {found:.4} is spent by the likelihood that it states itself, of {pair}")
    });
    Found { coupled: Some(coupled), broken }
}

/// Sums of numbers that are at most 1 and, where what is declared is so, have a mean of zero at most and this variance at most: how much
/// noise lacks, or how often more than declared a level is kept. By Bennett's inequality exp(λΣ − n·v·(e^λ − 1 − λ)) is a
/// supermartingale for every λ > 0, so that the mean of some exceeds 1/α with probability α at most, whenever it is looked at.
#[derive(Debug, Clone, Copy)]
struct Drift {
    sum: f64,
    variance: f64,
}

impl Drift {
    const RATES: [f64; 10] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2];

    fn is_shown(self, draws: usize, alarm: f64) -> bool {
        let of_rate =
            |rate: &f64| rate * self.sum - draws as f64 * self.variance * (rate.exp_m1() - rate) + alarm.ln();
        let capital: f64 = Self::RATES.iter().map(|rate| of_rate(rate).exp()).sum();
        capital >= Self::RATES.len() as f64
    }
}

/// Drifts of each coordinate of noise and each group of levels, and of all of a block together.
struct Drifts {
    of_noise: Vec<NoiseDrift>,
    of_levels: Drift,
    draws: usize,
    alarm: f64,
}

/// Of one block of noise.
struct NoiseDrift {
    noise: DescribedNoise,
    together: Drift,
    alone: Vec<Drift>,
}

impl Drifts {
    /// The values that are drawn; and how often all of them are at least.
    const LEAST_DRAWS: usize = 4_000;
    /// The test looks at what it has after so many draws, or an eighth of those before.
    const LOOK: usize = 32;

    /// Draws noise at points of the candidates until it is clear that there is less than declared, or as much as is worth drawing; a
    /// sentence where there is less.
    fn seek(
        mechanism: &dyn LocalMechanism,
        declared: &[Perturbation],
        candidates: &Candidates,
        streams: &Streams,
        effort: Effort,
    ) -> Option<String> {
        let points: Vec<&Vec<f64>> =
            candidates.pairs().flat_map(|pair| pair.points.iter().flatten()).take(64).collect();
        let width: usize = declared.iter().map(width).sum();
        if width == 0 || points.is_empty() {
            return None;
        }
        let mut drifts = Self::of(declared, effort.false_alarm);
        let mut stream = streams.stream(STREAM + 3);
        let most = (effort.samples / width).max(Self::LEAST_DRAWS.min(effort.samples));
        let mut look = Self::LOOK;
        while drifts.draws < most {
            let point = points[drifts.draws % points.len()];
            let mut released = point.clone();
            // A failure is an output, of which samples tell.
            mechanism.perturb(&mut released, &mut stream).ok()?;
            drifts.count(declared, point, &released);
            if drifts.draws >= look || drifts.draws == most {
                look = drifts.draws + Self::LOOK.max(drifts.draws / 8);
                if let Some(why) = drifts.shown() {
                    return Some(why);
                }
            }
        }
        None
    }

    fn of(declared: &[Perturbation], alarm: f64) -> Self {
        let none = |variance: f64| Drift { sum: 0.0, variance };
        let (mut of_noise, mut of_levels) = (vec![], none(0.0));
        for of in declared {
            match of {
                Perturbation::Additive(noise) => {
                    let variance = noise.kurtosis - 1.0;
                    of_noise.push(NoiseDrift {
                        together: none(variance / noise.scales.len() as f64),
                        alone: vec![none(variance); noise.scales.len()],
                        noise: noise.clone(),
                    });
                }
                Perturbation::Flip { keep, .. } => of_levels.variance += keep * (1.0 - keep),
                _ => {}
            }
        }
        let tests: usize = 1 + of_noise.iter().map(|of| 1 + of.alone.len()).sum::<usize>();
        Self { of_noise, of_levels, draws: 0, alarm: alarm / tests as f64 }
    }

    fn count(&mut self, declared: &[Perturbation], point: &[f64], released: &[f64]) {
        self.draws += 1;
        for NoiseDrift { noise, together, alone } in &mut self.of_noise {
            let own = noise.coordinates.clone().zip(&noise.variances).zip(alone);
            let mut lacking = 0.0;
            for ((at, variance), alone) in own {
                let lacks = 1.0 - (released[at] - point[at]).powi(2) / variance;
                alone.sum += lacks;
                lacking += lacks;
            }
            together.sum += lacking / noise.scales.len() as f64;
        }
        for of in declared {
            if let Perturbation::Flip { coordinates, keep } = of {
                let is_kept = point[coordinates.clone()] == released[coordinates.clone()];
                self.of_levels.sum += f64::from(u8::from(is_kept)) - keep;
            }
        }
    }

    fn shown(&self) -> Option<String> {
        let (draws, alarm) = (self.draws, self.alarm);
        for NoiseDrift { noise, together, alone } in &self.of_noise {
            let alone = alone.iter().zip(noise.coordinates.clone());
            let alone = alone.map(|(drift, at)| (drift, format!("the noise of coordinate {}", at + 1)));
            let all = (together, format!("the noise of {} coordinates together", noise.scales.len()));
            for (drift, what) in [all].into_iter().chain(alone) {
                if drift.is_shown(draws, alarm) {
                    let share = 1.0 - drift.sum / draws as f64;
                    let spent = noise.sensitivity / share.sqrt();
                    let unit = unit(noise.distance);
                    return Some(format!(
                        "the noise is too small: in {draws} draws {what} has {:.1} % of the variance that is declared, and such noise spends \
                         {unit} = {spent:.4} where {:.4} is declared",
                        100.0 * share,
                        noise.sensitivity
                    ));
                }
            }
        }
        self.of_levels.is_shown(draws, alarm).then(|| {
            let more = self.of_levels.sum / draws as f64;
            format!("levels are kept too often: in {draws} draws {more:.4} more of them in a record than is declared")
        })
    }
}

fn width(of: &Perturbation) -> usize {
    match of {
        Perturbation::Additive(noise) => noise.coordinates.len(),
        _ => 1,
    }
}
