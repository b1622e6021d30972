//! Events: learned and chosen on some of the samples, measured on the others.

use crate::score::{Output, Score, classifier, learned};
use scumble_accounting::binomial::{at_least, at_most};

/// What an event is to show of the law P of one output and Q of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Aim {
    /// The largest ln((P(S) − δ)/Q(S)).
    Epsilon { delta: f64 },
    /// The largest P(S) − e^ε·Q(S).
    Delta { epsilon: f64 },
}

impl Aim {
    fn value(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Epsilon { delta } if p > delta => ((p - delta) / q).ln(),
            Self::Epsilon { .. } => f64::NEG_INFINITY,
            Self::Delta { epsilon } => p - epsilon.exp() * q,
        }
    }

    /// What shares p and q promise that so many other samples will show.
    fn promise(self, p: f64, q: f64, measured: usize) -> f64 {
        /// Standard errors between a share and its bound, at the alarms of an audit.
        const ERRORS: f64 = 5.5;
        let unit = ERRORS * ERRORS / measured as f64;
        // Wilson's bounds for rare events, which are those that matter.
        let error = |share: f64| (unit * (share + unit / 4.0)).sqrt();
        self.value((p + unit / 2.0 - error(p)).max(0.0), q + unit / 2.0 + error(q))
    }
}

/// Outputs of two inputs.
pub(crate) struct Samples {
    pub(crate) one: Vec<Output>,
    pub(crate) other: Vec<Output>,
}

/// What an event shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shown {
    /// The lower bound on what was aimed at.
    pub(crate) bound: f64,
    /// What the adversary looked at.
    pub(crate) score: &'static str,
    /// How often the event happened, of the input where it is the more likely, and of the other.
    pub(crate) shares: (f64, f64),
    /// Whether it is more likely for the second input.
    pub(crate) is_of_other: bool,
    /// Whether neither input was ever answered.
    pub(crate) is_mute: bool,
}

/// An event: a score at most so large, or at least.
#[derive(Debug, Clone, Copy)]
struct Event {
    score: usize,
    threshold: f64,
    at_most: bool,
    is_of_other: bool,
}

impl Event {
    fn count(self, outputs: &[Output], scores: &[Score]) -> usize {
        let score = &scores[self.score];
        let happens = |output: &&Output| match self.at_most {
            true => score.of(output) <= self.threshold,
            false => score.of(output) >= self.threshold,
        };
        outputs.iter().filter(happens).count()
    }
}

/// How many thresholds of a score are tried.
const THRESHOLDS: usize = 400;
/// How many samples of a side are learned from, and how many choose, at most.
const LESSONS: usize = 40_000;
const CHOICES: usize = 100_000;

impl Samples {
    /// Outputs of another width, or with what is no number, are none.
    pub(crate) fn new(mut one: Vec<Output>, mut other: Vec<Output>) -> Self {
        let width = one.iter().chain(&other).flatten().map(Vec::len).next().unwrap_or(0);
        for output in one.iter_mut().chain(&mut other) {
            let is_fine = |values: &Vec<f64>| values.len() == width && values.iter().all(|x| x.is_finite());
            if !output.as_ref().is_some_and(is_fine) {
                *output = None;
            }
        }
        Self { one, other }
    }

    /// For each aim, an event and the bound that it shows, which lies above the truth with probability `alarm` at most.
    ///
    /// Of half of the samples some teach scores, beside those given, and others choose the event: on the same ones what was
    /// learned by heart would look best. The rest measure it.
    pub(crate) fn show(&self, given: Vec<Score>, train: bool, aims: &[Aim], alarm: f64) -> Vec<Shown> {
        let all = self.one.len().min(self.other.len());
        let [lessons, n] = [LESSONS, CHOICES].map(|most| most.min(all / 4));
        let part = |from: usize, to: usize| [&self.one[from..to], &self.other[from..to]];
        let [one, other] = part(0, lessons);
        let mut scores = given;
        scores.extend(learned(one, other));
        if train {
            scores.extend(classifier(one, other));
        }
        let (choices, measured) = (part(lessons, lessons + n), all - lessons - n);
        let mut best: Vec<Option<(f64, Event)>> = vec![None; aims.len()];
        for (score, by) in scores.iter().enumerate() {
            let sorted = |outputs: &[Output]| {
                let mut values: Vec<f64> = outputs.iter().map(|output| by.of(output)).collect();
                values.sort_by(f64::total_cmp);
                values
            };
            let sides = choices.map(sorted);
            for (threshold, at_most) in thresholds(&sides) {
                let count = |side: &Vec<f64>| match at_most {
                    true => side.partition_point(|x| *x <= threshold),
                    false => n - side.partition_point(|x| *x < threshold),
                };
                let [p, q] = sides.each_ref().map(count);
                for (aim, best) in aims.iter().zip(&mut best) {
                    for (p, q, is_of_other) in [(p, q, false), (q, p, true)] {
                        let promise = aim.promise(p as f64 / n as f64, q as f64 / n as f64, measured);
                        if !promise.is_nan() && best.is_none_or(|(most, _)| promise > most) {
                            *best = Some((promise, Event { score, threshold, at_most, is_of_other }));
                        }
                    }
                }
            }
        }
        let is_mute = self.one.iter().chain(&self.other).all(Option::is_none);
        let measure = |(aim, best): (&Aim, Option<(f64, Event)>)| {
            let (_, event) = best?;
            let n = measured;
            let counts = part(all - n, all).map(|outputs| event.count(outputs, &scores));
            let [p, q] = if event.is_of_other { [counts[1], counts[0]] } else { counts };
            Some(Shown {
                bound: aim.value(at_least(p, n, alarm / 2.0), at_most(q, n, alarm / 2.0)),
                score: scores[event.score].name,
                shares: (p as f64 / n as f64, q as f64 / n as f64),
                is_of_other: event.is_of_other,
                is_mute,
            })
        };
        aims.iter().zip(best).filter_map(measure).collect()
    }
}

/// Thresholds at quantiles of both sides, and nearer and nearer to their ends; and the side of them on which an event lies.
fn thresholds(sides: &[Vec<f64>; 2]) -> Vec<(f64, bool)> {
    let ranks = |side: &Vec<f64>| {
        let n = side.len();
        let quantiles = (0..THRESHOLDS.min(n)).map(move |at| at * n / THRESHOLDS.min(n));
        let ends = (0..usize::BITS).map(|power| 1 << power).take_while(move |rank| *rank <= n / THRESHOLDS);
        let ends = ends.flat_map(move |rank: usize| [rank, n - rank]);
        quantiles.chain(ends).map(|rank| side[rank]).collect::<Vec<f64>>()
    };
    let mut all = sides.each_ref().map(ranks).concat();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.into_iter().flat_map(|threshold| [(threshold, true), (threshold, false)]).collect()
}
