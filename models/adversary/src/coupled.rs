//! Tests of a local mechanism's description of its own noise.
//!
//! A local mechanism encodes a record as a point, and perturbs the point. The tests perturb two points with
//! the same random numbers. They measure the distance between encoded records, and the variance of the noise.
//!
//! Samples of many columns do not show that noise is too small, because the most informative outputs are
//! rare. A mechanism with additive noise declares its noise, and the largest distance between points. The
//! noise and the distance can be tested separately, and the claim follows from both.

use crate::Effort;
use crate::finding::{Coupled, CoupledUnit};
use crate::pairs::{Candidates, Pair};
use scumble_accounting::gaussian;
use scumble_core::{DescribedNoise, Distance, LocalDp, LocalMechanism, Perturbation, Stream, Streams};

/// Result of the tests. `broken` is a sentence if they contradict the claim.
pub(crate) struct Found {
    pub(crate) coupled: Option<Coupled>,
    pub(crate) broken: Option<String>,
}

/// Relative rounding tolerance for two sums of floats of the same value.
const ROUNDING: f64 = 1e-9;
/// Number of moves in the search for the two records whose encoded points are farthest apart.
const MOVES: usize = 400;
/// Number of outputs drawn for each pair of points. The likelihoods of an output at both points are compared.
const LOSSES: usize = 200;
/// Number of pairs of points at which the likelihoods of outputs are compared.
const PAIRS_OF_LOSSES: usize = 12;

/// First random stream of these tests. No other draw of an audit uses it.
const STREAM: u64 = 2_000_000;

/// Tests `perturb` against the noise that the mechanism declares, and the claim `dp` against the consequences
/// of this declaration. A claim that holds is called broken with probability at most `effort.false_alarm`.
pub(crate) fn check(
    mechanism: &dyn LocalMechanism,
    dp: &LocalDp,
    candidates: &Candidates,
    streams: &Streams,
    effort: Effort,
) -> Found {
    let declared = mechanism.perturbation();
    let wrong = declared.iter().find_map(|perturbation| misdescribed(perturbation, mechanism.range().dim()));
    if wrong.is_some() {
        return Found { coupled: None, broken: wrong };
    }
    let too_little = || Drifts::seek(mechanism, &declared, candidates, streams, effort);
    let mut blocks: Vec<Block> = declared.iter().filter_map(Block::from_perturbation).collect();
    if !blocks.iter().any(|block| matches!(block.perturbation, Perturbation::Additive(_))) {
        let found = check_stated_losses(mechanism, dp, candidates, streams);
        let broken = found.broken.or_else(too_little);
        return Found { broken, ..found };
    }
    let farther = farthest(mechanism, &blocks, candidates, streams);
    let range = mechanism.range();
    // A random point may be within the bounds of each coordinate, but outside the set of points that the
    // mechanism declares as its range.
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

/// Perturbation of one block of coordinates, and the largest distance found between two points in this block.
struct Block<'a> {
    perturbation: &'a Perturbation,
    distance: Distance,
    /// Largest distance between two points of the block that the mechanism declares, relative to the noise.
    declared: f64,
    found: f64,
}

impl<'a> Block<'a> {
    fn from_perturbation(perturbation: &'a Perturbation) -> Option<Self> {
        let (distance, declared) = match perturbation {
            Perturbation::Additive(noise) => (noise.distance, noise.sensitivity),
            Perturbation::Flip { coordinates, keep } => {
                let other = (1.0 - keep) / (coordinates.len() - 1) as f64;
                (Distance::L1, (keep / other).ln())
            }
            _ => return None,
        };
        Some(Self { perturbation, distance, declared, found: 0.0 })
    }
}

/// Returns a sentence if `perturbation` is not a valid declaration for points of `width` coordinates.
fn misdescribed(perturbation: &Perturbation, width: usize) -> Option<String> {
    let is_positive = |values: &Vec<f64>| values.iter().all(|x| *x > 0.0 && x.is_finite());
    let is_fine = match perturbation {
        Perturbation::Additive(DescribedNoise { coordinates, scales, variances, steps, .. }) => {
            let vectors = [scales, variances, steps];
            coordinates.end <= width
                && vectors.iter().all(|values| values.len() == coordinates.len())
                && vectors.into_iter().all(is_positive)
        }
        Perturbation::Flip { coordinates, keep } => {
            coordinates.end <= width && coordinates.len() > 1 && (0.0..1.0).contains(keep)
        }
        _ => true,
    };
    (!is_fine).then(|| "its declared noise does not describe noise on points of its range".into())
}

/// Releases both points of `pair` with the same random numbers, and records the distance in each block of
/// coordinates.
///
/// # Errors
/// A sentence if the released values do not differ by the difference of the points.
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
        return Ok(()); // Refusals are attacked by samples.
    }
    let mut unlike = None;
    for block in blocks {
        let distance = match block.perturbation {
            Perturbation::Additive(noise) => {
                let places = || noise.coordinates.clone().zip(&noise.scales);
                let why = noise.coordinates.clone().zip(&noise.steps).find_map(|(at, step)| {
                    let most = (noise.coordinates.len() + 2) as f64 * step;
                    let why = unlike_noise([first[at], second[at]], one[at] - other[at], *step, most)?;
                    Some(format!("{why}, at coordinate {}, distinguishing {pair}", at + 1))
                });
                unlike = unlike.or(why);
                noise.distance.measure(places().map(|(at, scale)| (first[at] - second[at]) / scale))
            }
            Perturbation::Flip { coordinates, .. }
                if one[coordinates.clone()] != other[coordinates.clone()] =>
            {
                block.declared
            }
            _ => 0.0,
        };
        block.found = block.found.max(distance);
    }
    unlike.map_or(Ok(()), Err)
}

/// Checks two values released with the same random numbers, from points that differ by `clean` in this
/// coordinate.
///
/// Returns a sentence if the released values do not differ by `clean`, up to a rounding error of `most`, or
/// do not differ by whole multiples of `step`.
fn unlike_noise(released: [f64; 2], clean: f64, step: f64, most: f64) -> Option<String> {
    let difference = released[0] - released[1];
    // Rounding error of floats of this size.
    let lost = released[0].abs().max(released[1].abs()) * 4.0 * f64::EPSILON;
    if (difference - clean).abs() > most + lost {
        return Some(format!(
            "the noise depends on the record: with the same random numbers, released values differ by \
             {difference} and the points differ by {clean}"
        ));
    }
    let steps = difference / step;
    ((steps - steps.round()).abs() * step > lost + ROUNDING * step).then(|| {
        format!(
            "released values do not lie on the declared lattice: with the same random numbers they differ by \
             {steps} steps, and the lowest digits may distinguish the records"
        )
    })
}

/// Search for two records whose encoded points are as far apart as possible, relative to the noise. It starts
/// at `corner` of [`Candidates`], two records of the domain at the largest distance.
fn farthest(
    mechanism: &dyn LocalMechanism,
    blocks: &[Block],
    candidates: &Candidates,
    streams: &Streams,
) -> Option<Pair> {
    let mut chance = streams.stream(STREAM + 1);
    let distance = |pair: &Pair| {
        let [Some(one), Some(other)] = &pair.points else { return f64::NEG_INFINITY };
        let block_distance = |block: &Block| match block.perturbation {
            Perturbation::Additive(noise) => {
                let scaled = noise.coordinates.clone().zip(&noise.scales);
                noise.distance.measure(scaled.map(|(at, scale)| (one[at] - other[at]) / scale))
            }
            _ => 0.0,
        };
        blocks.iter().map(block_distance).sum()
    };
    let mut records = candidates.corner.clone();
    let mut best = Pair::from_records(mechanism, records.clone());
    let mut most = distance(&best);
    for turn in 0..MOVES {
        let mut moved = records.clone();
        moved[turn % 2] = candidates.factors.moved(&records[turn % 2], &mut chance);
        let pair = Pair::from_records(mechanism, moved.clone());
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

/// Total declared and found distances over the blocks with one kind of distance (a variant of [`Distance`]).
/// The kind with the largest ratio of found to declared distance is returned. A block in
/// which no pair differs is not protected by the claim, and is left out.
fn summed(blocks: &[Block]) -> Option<Coupled> {
    let sum_by = |distance: Distance| {
        let moved = || blocks.iter().filter(|block| block.distance == distance && block.found > 0.0);
        Coupled {
            unit: unit(distance),
            declared: distance.measure(moved().map(|block| block.declared)),
            found: distance.measure(moved().map(|block| block.found)),
        }
    };
    let kinds = [Distance::L1, Distance::L2, Distance::Root].map(sum_by);
    let share = |coupled: &Coupled| coupled.found / coupled.declared;
    let kinds = kinds.into_iter().filter(|coupled| coupled.found > 0.0);
    kinds.max_by(|one, other| share(one).total_cmp(&share(other)))
}

/// Returns a sentence if two encoded records have a larger distance than the mechanism declares.
fn too_far(Coupled { unit, declared, found }: &Coupled) -> Option<String> {
    (*found > declared * (1.0 + ROUNDING)).then(|| {
        format!(
            "the sensitivity is too small: two records are encoded {found:.4} apart ({unit}, relative to the \
             noise), and the noise covers at most {declared:.4}"
        )
    })
}

/// Returns a sentence if noise of the declared scale gives a larger privacy loss than `dp` claims.
fn unclaimed(dp: &LocalDp, blocks: &[Block]) -> Option<String> {
    let moved = || blocks.iter().filter(|block| block.found > 0.0);
    if moved().any(|block| block.distance == Distance::Root) {
        return None;
    }
    let total = |distance: Distance| {
        distance.measure(moved().filter(|block| block.distance == distance).map(|block| block.declared))
    };
    let (epsilon, mu) = (total(Distance::L1), total(Distance::L2));
    if mu == 0.0 {
        return (dp.delta == 0.0 && epsilon > dp.epsilon * (1.0 + ROUNDING))
            .then(|| format!("noise of the declared scale spends ε = {epsilon:.4}"));
    }
    let delta = gaussian::delta(mu, dp.epsilon);
    (epsilon == 0.0 && delta > dp.delta * (1.0 + 1e-6)).then(|| {
        format!("noise of the declared scale has μ = {mu:.4}, and so δ({:.4}) = {delta:.3e}", dp.epsilon)
    })
}

/// Compares the claimed ε of `dp` with the largest privacy loss that follows from the likelihood stated by
/// the mechanism, over pairs of inputs and drawn outputs.
fn check_stated_losses(
    mechanism: &dyn LocalMechanism,
    dp: &LocalDp,
    candidates: &Candidates,
    streams: &Streams,
) -> Found {
    let mut stream = streams.stream(STREAM + 2);
    let mut most: Option<(f64, &Pair)> = None;
    // A claim with δ > 0 allows occasional larger losses.
    let pairs = if dp.delta == 0.0 { PAIRS_OF_LOSSES } else { 0 };
    for pair in candidates.pairs().take(pairs) {
        let [Some(one), Some(other)] = &pair.points else { continue };
        for turn in 0..LOSSES {
            let mut released = if turn % 2 == 0 { one.clone() } else { other.clone() };
            if mechanism.perturb(&mut released, &mut stream).is_err() {
                continue;
            }
            let log_likelihood = |point: &[f64]| mechanism.log_likelihood(point, &released);
            let (Some(first), Some(second)) = (log_likelihood(one), log_likelihood(other)) else { continue };
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
        format!("at least ε = {found:.4} is spent by its own stated likelihood, distinguishing {pair}")
    });
    Found { coupled: Some(coupled), broken }
}

/// Sum of test values, each with a mean of at most zero if the mechanism's declaration is correct. A value
/// measures missing noise, or how much more often than declared the levels of one-hot groups are kept.
///
/// The n values are at most 1, have the sum Σ, and have at most the declared variance v = `variance`. By
/// Bennett's inequality exp(λΣ − n·v·(e^λ − 1 − λ)) is a supermartingale for every λ > 0. The mean of this
/// expression over several λ therefore exceeds 1/α with probability at most α, for any α in (0, 1) and any
/// number of looks.
#[derive(Debug, Clone, Copy)]
struct Drift {
    sum: f64,
    variance: f64,
}

impl Drift {
    const RATES: [f64; 10] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2];

    fn is_shown(self, draws: usize, alarm: f64) -> bool {
        let log_capital =
            |rate: &f64| rate * self.sum - draws as f64 * self.variance * (rate.exp_m1() - rate) + alarm.ln();
        let capital: f64 = Self::RATES.iter().map(|rate| log_capital(rate).exp()).sum();
        capital >= Self::RATES.len() as f64
    }
}

/// Sums of test values ([`Drift`]) for each noisy coordinate, for all coordinates of a block together, and
/// for all one-hot groups together.
struct Drifts {
    noise_drifts: Vec<NoiseDrift>,
    level_drift: Drift,
    draws: usize,
    alarm: f64,
}

/// Sums of test values for one block of noise.
struct NoiseDrift {
    noise: DescribedNoise,
    together: Drift,
    alone: Vec<Drift>,
}

impl Drifts {
    /// Smallest number of draws for wide records, unless the audit has fewer samples. For narrow records, the
    /// number of draws is the audit's samples divided by the width of a record.
    const LEAST_DRAWS: usize = 4_000;
    /// Number of draws between two tests of the drifts, or an eighth of the earlier draws if this is more.
    const LOOK: usize = 32;

    /// Draws noise at the points of the pairs in `candidates` until the noise is shown to be smaller than
    /// declared, or the limit on draws is reached. Returns a sentence if the noise is smaller than declared.
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
        let mut drifts = Self::from_perturbations(declared, effort.false_alarm);
        let mut stream = streams.stream(STREAM + 3);
        let most = (effort.samples / width).max(Self::LEAST_DRAWS.min(effort.samples));
        let mut look = Self::LOOK;
        while drifts.draws < most {
            let point = points[drifts.draws % points.len()];
            let mut released = point.clone();
            // A failure is an output, which is attacked by samples.
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

    fn from_perturbations(declared: &[Perturbation], alarm: f64) -> Self {
        let none = |variance: f64| Drift { sum: 0.0, variance };
        let (mut noise_drifts, mut level_drift) = (vec![], none(0.0));
        for perturbation in declared {
            match perturbation {
                Perturbation::Additive(noise) => {
                    let variance = noise.kurtosis - 1.0;
                    noise_drifts.push(NoiseDrift {
                        together: none(variance / noise.scales.len() as f64),
                        alone: vec![none(variance); noise.scales.len()],
                        noise: noise.clone(),
                    });
                }
                Perturbation::Flip { keep, .. } => level_drift.variance += keep * (1.0 - keep),
                _ => {}
            }
        }
        let tests: usize = 1 + noise_drifts.iter().map(|drift| 1 + drift.alone.len()).sum::<usize>();
        Self { noise_drifts, level_drift, draws: 0, alarm: alarm / tests as f64 }
    }

    fn count(&mut self, declared: &[Perturbation], point: &[f64], released: &[f64]) {
        self.draws += 1;
        for NoiseDrift { noise, together, alone } in &mut self.noise_drifts {
            let own = noise.coordinates.clone().zip(&noise.variances).zip(alone);
            let mut lacking = 0.0;
            for ((at, variance), alone) in own {
                let lacks = 1.0 - (released[at] - point[at]).powi(2) / variance;
                alone.sum += lacks;
                lacking += lacks;
            }
            together.sum += lacking / noise.scales.len() as f64;
        }
        for perturbation in declared {
            if let Perturbation::Flip { coordinates, keep } = perturbation {
                let is_kept = point[coordinates.clone()] == released[coordinates.clone()];
                self.level_drift.sum += f64::from(u8::from(is_kept)) - keep;
            }
        }
    }

    fn shown(&self) -> Option<String> {
        let (draws, alarm) = (self.draws, self.alarm);
        for NoiseDrift { noise, together, alone } in &self.noise_drifts {
            let alone = alone.iter().zip(noise.coordinates.clone());
            let alone = alone.map(|(drift, at)| (drift, format!("the noise of coordinate {}", at + 1)));
            let all = (together, format!("the noise of {} coordinates together", noise.scales.len()));
            for (drift, what) in [all].into_iter().chain(alone) {
                if drift.is_shown(draws, alarm) {
                    let share = 1.0 - drift.sum / draws as f64;
                    let spent = noise.sensitivity / share.sqrt();
                    let unit = unit(noise.distance);
                    return Some(format!(
                        "the noise is too small: in {draws} draws {what} has {:.1} % of the declared \
                         variance, and such noise spends {unit} = {spent:.4}, and {:.4} is declared",
                        100.0 * share,
                        noise.sensitivity
                    ));
                }
            }
        }
        self.level_drift.is_shown(draws, alarm).then(|| {
            let more = self.level_drift.sum / draws as f64;
            format!(
                "levels are kept too often: in {draws} draws, a record keeps {more:.4} more levels \
                     than declared"
            )
        })
    }
}

fn width(perturbation: &Perturbation) -> usize {
    match perturbation {
        Perturbation::Additive(noise) => noise.coordinates.len(),
        _ => 1,
    }
}
