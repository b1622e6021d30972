//! Pairs of inputs: corners of a range, one factor alone, what lies outside, and what chance brings.

use rand::Rng;
use scumble_registry::{Domain, Factor, LocalMechanism, Result, Stream, Unit};
use std::ops::Range;

/// Two inputs of `perturb` that may not be told apart by more than is claimed. None is one that `encode` refused.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) points: [Option<Vec<f64>>; 2],
    /// The records, where they are not the points themselves.
    pub(crate) records: Option<[Vec<f64>; 2]>,
}

/// How many factors are varied by themselves, and how many pairs chance brings, of each kind.
const ALONE: usize = 32;
const BY_CHANCE: usize = 6;

/// The pairs that are tried at first, the worst known first, for a claim that protects `unit`.
pub(crate) fn candidates(
    local: &dyn LocalMechanism,
    unit: Unit,
    stream: &mut Stream,
) -> Result<(Vec<Pair>, usize)> {
    let mut pairs: Vec<Pair> = local.worst_pairs(unit).into_iter().map(Pair::of_points).collect();
    let (flat, features) = (local.domain().flat(), local.domain().columns().len());
    let varied = match unit {
        Unit::Features => 0..features,
        Unit::Label => features..flat.dim(),
        _ => 0..flat.dim(),
    };
    let factors = Factors::of(flat, varied)?;
    let records = factors.pairs(stream).into_iter().map(|records| Pair::of_records(local, records));
    let outside = factors.outside().map(|records| Pair::of_records(local, records));
    let corner = factors.farthest();
    pairs.push(Pair::of_records(local, corner));
    let known = pairs.len();
    pairs.extend(outside);
    pairs.extend(records);
    // Points of the range that no record need be encoded to: all that is claimed of records holds of them too.
    let range = local.range();
    if unit == Unit::Record && range != *flat {
        let of_range = Factors::of(&range, 0..range.dim())?;
        pairs.push(Pair::of_points(of_range.farthest()));
        pairs.extend(of_range.pairs(stream).into_iter().map(Pair::of_points));
    }
    pairs.retain(|pair| pair.points[0] != pair.points[1]);
    let mut kept: Vec<Pair> = vec![];
    for pair in pairs {
        if !kept.iter().any(|before| before.points == pair.points) {
            kept.push(pair);
        }
    }
    Ok((kept, known))
}

impl Pair {
    fn of_points([one, other]: [Vec<f64>; 2]) -> Self {
        Self { points: [Some(one), Some(other)], records: None }
    }

    fn of_records(local: &dyn LocalMechanism, records: [Vec<f64>; 2]) -> Self {
        let points = records.each_ref().map(|record| local.encode(record).ok());
        let encoded = points.iter().zip(&records).any(|(point, record)| point.as_ref() != Some(record));
        Self { points, records: encoded.then_some(records) }
    }
}

/// A product domain of which some factors are varied and the rest are not.
struct Factors {
    all: Vec<(Range<usize>, Domain)>,
    varied: Vec<usize>,
    start: Vec<f64>,
}

impl Factors {
    fn of(domain: &Domain, varied: Range<usize>) -> Result<Self> {
        let of_each = domain.factors().map(|(at, factor)| Ok((at, Domain::try_from(vec![factor.clone()])?)));
        let all: Vec<(Range<usize>, Domain)> = of_each.collect::<Result<_>>()?;
        let is_varied = |factor: &usize| {
            let at = &all[*factor].0;
            varied.start <= at.start && at.end <= varied.end
        };
        let varied = (0..all.len()).filter(is_varied).collect();
        let [start, _] = domain.l2_farthest();
        Ok(Self { all, varied, start })
    }

    /// The pair in which the factors `at` differ, each by its two points.
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

    /// Both ends far outside, each on its side.
    fn outside(&self) -> impl Iterator<Item = [Vec<f64>; 2]> + '_ {
        [3.0, 1e6].into_iter().map(|times| {
            let beyond = |[one, other]: [Vec<f64>; 2]| {
                let away = |from: &[f64], to: &[f64]| {
                    from.iter().zip(to).map(|(from, to)| to + times * (to - from)).collect::<Vec<f64>>()
                };
                [away(&other, &one), away(&one, &other)]
            };
            self.differing(self.varied.iter().map(|&at| (at, beyond(self.all[at].1.l2_farthest()))))
        })
    }

    /// One factor alone, and then corners and inner points by chance.
    fn pairs(&self, stream: &mut Stream) -> Vec<[Vec<f64>; 2]> {
        let mut alone = self.varied.clone();
        while alone.len() > ALONE {
            alone.swap_remove(stream.gen_range(0..alone.len()));
        }
        let alone = alone.into_iter().map(|at| self.differing([(at, self.all[at].1.l2_farthest())]));
        let mut pairs: Vec<[Vec<f64>; 2]> = alone.collect();
        for inner in [false, true] {
            for _ in 0..BY_CHANCE {
                let by_chance = |stream: &mut Stream, domain: &Domain| {
                    let [one, other] = domain.l2_farthest();
                    match domain.factors().next() {
                        Some((_, Factor::OneHot { levels })) => {
                            let first = stream.gen_range(0..*levels);
                            let second = (first + stream.gen_range(1..*levels)) % levels;
                            [first, second]
                                .map(|level| (0..*levels).map(|at| f64::from(at == level)).collect())
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
