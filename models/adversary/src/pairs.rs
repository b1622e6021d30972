//! Pairs of inputs to attack: corners of the input domain, records that differ in a single factor, records
//! outside the domain, and random points. A local mechanism encodes a record as a point (`encode`), and
//! randomises the point (`perturb`). A *factor* of a domain is an interval, a one-hot group or a ball.

use rand::Rng;
use scumble_core::{Designed, Domain, Factor, LocalMechanism, Result, Stream, Unit};
use std::ops::Range;

/// Two points, inputs of `perturb`, for which the claim must hold. A point is `None` if `encode` refused its
/// record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) points: [Option<Vec<f64>>; 2],
    /// Records that are encoded as the points, if they differ from the points.
    pub(crate) records: Option<[Vec<f64>; 2]>,
}

/// Largest number of factors that are varied one at a time (`ALONE`), and of levels to try in a one-hot group
/// (`LEVELS`). `BY_CHANCE` is the number of random pairs of each kind.
const ALONE: usize = 32;
const LEVELS: usize = 32;
const BY_CHANCE: usize = 6;

/// Pairs of inputs to attack.
pub(crate) struct Candidates {
    /// Pairs that are known to be the easiest to distinguish.
    pub(crate) known: Vec<Pair>,
    /// Pairs of records outside the domain.
    pub(crate) outside: Vec<Pair>,
    pub(crate) others: Vec<Pair>,
    /// Two records at the largest distance (`corner`), and two outside the domain (`beyond`).
    pub(crate) corner: [Vec<f64>; 2],
    pub(crate) beyond: [Vec<f64>; 2],
    /// Factors in which records may differ.
    pub(crate) factors: Factors,
}

impl Candidates {
    /// All pairs.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.known.iter().chain(&self.outside).chain(&self.others)
    }
}

/// Pairs of inputs to attack for a claim that protects `unit`.
pub(crate) fn candidates(local: &dyn LocalMechanism, unit: Unit, stream: &mut Stream) -> Result<Candidates> {
    let (flat, features) = (local.domain().flat(), local.domain().columns().len());
    let varied = match unit {
        Unit::Features => 0..features,
        Unit::Label => features..flat.dim(),
        _ => 0..flat.dim(),
    };
    let factors = Factors::varied(flat, varied)?;
    let pair = |records| Pair::from_records(local, records);
    let mut known: Vec<Pair> = local.worst_pairs(unit).into_iter().map(Pair::from_points).collect();
    let (corner, [beyond, farther]) = (factors.farthest(), [3.0, 1e6].map(|times| factors.outside(times)));
    known.push(pair(corner.clone()));
    let mut others: Vec<Pair> = factors.pairs(stream).into_iter().map(pair).collect();
    // The declared range of `encode` may contain points that `encode` returns for no record. A claim about
    // records must hold for these points too.
    let range = local.range();
    if unit == Unit::Record && range != *flat {
        let range_factors = Factors::varied(&range, 0..range.dim())?;
        known.push(Pair::from_points(range_factors.farthest()));
        others.extend(range_factors.pairs(stream).into_iter().map(Pair::from_points));
    }
    let mut seen: Vec<[Option<Vec<f64>>; 2]> = vec![];
    let mut fresh = |pairs: Vec<Pair>| {
        let is_fresh = |pair: &Pair| {
            let is_new = pair.points[0] != pair.points[1] && !seen.contains(&pair.points);
            if is_new {
                seen.push(pair.points.clone());
            }
            is_new
        };
        pairs.into_iter().filter(is_fresh).collect()
    };
    // Unless `encode` is faulty, it projects records outside the domain to points that are attacked anyway.
    let outside = vec![pair(beyond.clone()), pair(farther)];
    Ok(Candidates { known: fresh(known), others: fresh(others), outside, corner, beyond, factors })
}

impl Pair {
    fn from_points([one, other]: [Vec<f64>; 2]) -> Self {
        Self { points: [Some(one), Some(other)], records: None }
    }

    pub(crate) fn from_records(local: &dyn LocalMechanism, records: [Vec<f64>; 2]) -> Self {
        let points = records.each_ref().map(|record| local.encode(record).ok());
        let encoded = points.iter().zip(&records).any(|(point, record)| point.as_ref() != Some(record));
        Self { points, records: encoded.then_some(records) }
    }
}

/// Factors of a domain. Records may differ in the varied factors, and the other factors are fixed.
pub(crate) struct Factors {
    all: Vec<(Range<usize>, Domain)>,
    varied: Vec<usize>,
    start: Vec<f64>,
}

impl Factors {
    fn varied(domain: &Domain, varied: Range<usize>) -> Result<Self> {
        let factors = domain.factors().map(|(at, factor)| Ok((at, Domain::try_from(vec![factor.clone()])?)));
        let all: Vec<(Range<usize>, Domain)> = factors.collect::<Result<_>>()?;
        let is_varied = |factor: &usize| {
            let at = &all[*factor].0;
            varied.start <= at.start && at.end <= varied.end
        };
        let varied = (0..all.len()).filter(is_varied).collect();
        let [start, _] = domain.l2_farthest();
        Ok(Self { all, varied, start })
    }

    /// Pair of records that differ in the factors `at`; each factor comes with its values in both records.
    fn differing(&self, at: impl IntoIterator<Item = (usize, [Vec<f64>; 2])>) -> [Vec<f64>; 2] {
        let mut pair = [self.start.clone(), self.start.clone()];
        for (factor, points) in at {
            for (point, value) in pair.iter_mut().zip(points) {
                point.splice(self.all[factor].0.clone(), value);
            }
        }
        pair
    }

    fn farthest(&self) -> [Vec<f64>; 2] {
        self.differing(self.varied.iter().map(|&at| (at, self.all[at].1.l2_farthest())))
    }

    /// The record with one varied factor moved to an end of its domain, far outside, or to a random point
    /// within.
    pub(crate) fn moved(&self, record: &[f64], stream: &mut Stream) -> Vec<f64> {
        let mut moved = record.to_vec();
        if self.varied.is_empty() {
            return moved;
        }
        let at = self.varied[stream.gen_range(0..self.varied.len())];
        let [one, other] = self.all[at].1.l2_farthest();
        let share = match stream.gen_range(0..6) {
            0 | 1 => 0.0,
            2 | 3 => 1.0,
            4 => stream.gen_range(0.0..1.0),
            _ => stream.gen_range(-1e6..1e6),
        };
        let between = one.iter().zip(&other).map(|(x, y)| (x + share * (y - x)).clamp(f64::MIN, f64::MAX));
        moved.splice(self.all[at].0.clone(), between);
        moved
    }

    /// Two records outside the domain. In each varied factor, they are beyond its two ends by `times` the
    /// distance between the ends.
    fn outside(&self, times: f64) -> [Vec<f64>; 2] {
        let away = |from: &[f64], to: &[f64]| {
            let away = |(from, to): (&f64, &f64)| (to + times * (to - from)).clamp(f64::MIN, f64::MAX);
            from.iter().zip(to).map(away).collect::<Vec<f64>>()
        };
        let beyond = |[one, other]: [Vec<f64>; 2]| [away(&other, &one), away(&one, &other)];
        self.differing(self.varied.iter().map(|&at| (at, beyond(self.all[at].1.l2_farthest()))))
    }

    /// Pairs of records that differ in one factor. Its value in one record is an end of the factor's domain.
    /// Its value in the other is the other end, a special point such as zero or the centre, or another level.
    /// Pairs of random corners and of random inner points follow.
    fn pairs(&self, stream: &mut Stream) -> Vec<[Vec<f64>; 2]> {
        let mut alone = self.varied.clone();
        while alone.len() > ALONE {
            alone.swap_remove(stream.gen_range(0..alone.len()));
        }
        let mut pairs = vec![];
        for at in alone {
            let domain = &self.all[at].1;
            let [one, other] = domain.l2_farthest();
            let special: Vec<[Vec<f64>; 2]> = match domain.factors().next() {
                Some((_, Factor::Interval { lower, upper })) => {
                    let within = [0.0, lower / 2.0 + upper / 2.0, upper.next_down()];
                    let within = within.into_iter().filter(|x| lower < x && x < upper);
                    within.map(|x| [one.clone(), vec![x]]).collect()
                }
                Some((_, Factor::OneHot { levels })) => {
                    let step = levels.div_ceil(LEVELS).max(1);
                    let tried = (1..*levels).step_by(step);
                    tried.map(|level| [one.clone(), vertex(*levels, level)]).collect()
                }
                _ => vec![[one.clone(), vec![0.0; one.len()]]], // The centre of a ball.
            };
            pairs.push(self.differing([(at, [one, other])]));
            pairs.extend(special.into_iter().map(|values| self.differing([(at, values)])));
        }
        for inner in [false, true] {
            for _ in 0..BY_CHANCE {
                let by_chance = |stream: &mut Stream, domain: &Domain| {
                    let [one, other] = domain.l2_farthest();
                    match domain.factors().next() {
                        Some((_, Factor::OneHot { levels })) => {
                            let first = stream.gen_range(0..*levels);
                            let second = (first + stream.gen_range(1..*levels)) % levels;
                            [first, second].map(|level| vertex(*levels, level))
                        }
                        _ if inner => {
                            let mut between = || {
                                let share: f64 = stream.gen_range(0.0..=1.0);
                                one.iter().zip(&other).map(|(x, y)| x + share * (y - x)).collect()
                            };
                            [between(), between()]
                        }
                        _ if stream.gen_range(0..2) == 0 => [one, other],
                        _ => [other, one],
                    }
                };
                let values: Vec<_> =
                    self.varied.iter().map(|&at| (at, by_chance(stream, &self.all[at].1))).collect();
                pairs.push(self.differing(values));
            }
        }
        pairs
    }
}

fn vertex(levels: usize, level: usize) -> Vec<f64> {
    (0..levels).map(|at| f64::from(at == level)).collect()
}

impl std::fmt::Display for Pair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.records, &self.points) {
            (Some(records), _) => formatter.write_str(&between(records)),
            (None, [Some(one), Some(other)]) => formatter.write_str(&between(&[one.clone(), other.clone()])),
            _ => formatter.write_str("an accepted record from a refused record"),
        }
    }
}

pub(crate) fn between([one, other]: &[Vec<f64>; 2]) -> String {
    format!("{} from {}", shown(one), shown(other))
}

/// Text of a point, with only its first values if it has many.
pub(crate) fn shown(point: &[f64]) -> String {
    const SHOWN: usize = 6;
    let values: Vec<String> = point.iter().take(SHOWN).map(f64::to_string).collect();
    let rest = if point.len() > SHOWN { ", …" } else { "" };
    format!("({}{rest})", values.join(", "))
}

/// Two records at the ends of the domain, in the values that `unit` protects. The other values are from
/// `record` (flat). With a distance `within`, the second record moves towards the first until they are at
/// this distance.
pub(crate) fn ends(mechanism: &Designed, unit: Unit, record: &[f64], within: Option<f64>) -> [Vec<f64>; 2] {
    let [one, mut other] = match unit {
        Unit::Features if !record.is_empty() => {
            let features = mechanism.domain().features();
            features.l2_farthest().map(|end| [&end, &record[features.dim()..]].concat())
        }
        _ => mechanism.domain().flat().l2_farthest(),
    };
    if let Some(within) = within {
        let apart = one.iter().zip(&other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let share = if apart > within { within / apart } else { 1.0 };
        other.iter_mut().zip(&one).for_each(|(x, from)| *x = from + share * (*x - from));
    }
    [one, other]
}
