//! Events (sets of outputs), learned and chosen on earlier outputs, for bets on later outputs.

use crate::betting::Aim;
use crate::score::{Output, Score, classifier, learned};

/// Outputs drawn from each of two inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    pub(crate) one: Vec<Output>,
    pub(crate) other: Vec<Output>,
}

/// Event that an output's score is at most, or at least, a threshold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    /// Index of the score among all scores of the attack.
    pub(crate) score: usize,
    threshold: f64,
    at_most: bool,
    /// True if the event is more likely for the second input.
    pub(crate) is_of_other: bool,
    /// Frequencies in the outputs that the event was chosen on: for the input where it is more likely, and
    /// for the other input.
    pub(crate) shares: [f64; 2],
}

impl Event {
    pub(crate) fn happens(self, score: f64) -> bool {
        match self.at_most {
            true => score <= self.threshold,
            false => score >= self.threshold,
        }
    }
}

impl Aim {
    /// Expected value of the quantity to be bounded ([`Aim`]) after `outputs` further outputs. The event has
    /// the frequencies `p` and `q` in the outputs of the two inputs.
    fn projected(self, p: f64, q: f64, outputs: usize) -> f64 {
        /// Standard errors between a frequency and its bound, at the false-alarm rates of an audit.
        const ERRORS: f64 = 5.5;
        let unit = ERRORS * ERRORS / outputs as f64;
        // Wilson's bounds are accurate for rare events, which matter most.
        let error = |share: f64| (unit * (share + unit / 4.0)).sqrt();
        let least = (p + unit / 2.0 - error(p)).max(0.0);
        self.value(least, (q + unit / 2.0 + error(q)).min(1.0))
    }
}

/// Number of thresholds tried for each score.
const THRESHOLDS: usize = 400;
/// Largest numbers of outputs of each input: for learning scores (`LESSONS`), and for choosing events
/// (`CHOICES`).
const LESSONS: usize = 40_000;
const CHOICES: usize = 40_000;
/// Smallest number of outputs of each input from which a linear classifier is learned as a score.
const LEAST_FOR_CLASSIFIER: usize = 4_000;

impl Samples {
    /// Number of outputs of each input kept for learning and choosing.
    pub(crate) const KEPT: usize = LESSONS + CHOICES;

    /// Turns outputs with a different number of values than `width`, or with non-finite values, into
    /// refusals.
    pub(crate) fn with_width(mut self, width: usize) -> Self {
        for output in self.one.iter_mut().chain(&mut self.other) {
            let is_fine = |values: &Vec<f64>| values.len() == width && values.iter().all(|x| x.is_finite());
            if !output.as_ref().is_some_and(is_fine) {
                *output = None;
            }
        }
        self
    }

    /// Number of values of the first output, if any.
    pub(crate) fn width(&self) -> Option<usize> {
        self.one.iter().chain(&self.other).flatten().map(Vec::len).next()
    }

    pub(crate) fn len(&self) -> usize {
        self.one.len().min(self.other.len())
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.one.extend(more.one);
        self.other.extend(more.other);
    }

    /// Learns scores on half of the outputs, and chooses an event on the other half for each aim (quantity to
    /// be bounded).
    ///
    /// The choice is among events of the `given` scores and of the learned ones; the given scores have the
    /// first indices. For each aim, it takes the event with the largest expected value of the aim's quantity
    /// after `ahead` further outputs. If the choice uses more outputs, their number replaces `ahead`. A
    /// separate half is needed because memorised scores would look best on the outputs that they were learned
    /// from.
    pub(crate) fn choose<'a>(
        &self,
        given: &[Score<'a>],
        aims: &[Aim],
        ahead: usize,
    ) -> (Vec<Score<'a>>, Vec<Option<Event>>) {
        let all = self.len();
        let lessons = LESSONS.min(all / 2);
        let n = CHOICES.min(all - lessons);
        let part = |from: usize, to: usize| [&self.one[from..to], &self.other[from..to]];
        let [one, other] = part(0, lessons);
        let mut scores = learned(one, other);
        if lessons >= LEAST_FOR_CLASSIFIER {
            scores.extend(classifier(one, other));
        }
        let choices = part(all - n, all);
        let mut best: Vec<Option<(f64, Event)>> = vec![None; aims.len()];
        for (score, by) in given.iter().chain(&scores).enumerate() {
            let sorted = |outputs: &[Output]| {
                let mut values: Vec<f64> = outputs.iter().map(|output| by.evaluate(output)).collect();
                values.sort_unstable_by(f64::total_cmp);
                values
            };
            let sides = choices.map(sorted);
            for (threshold, at_most) in thresholds(&sides) {
                let share = |side: &Vec<f64>| {
                    let count = match at_most {
                        true => side.partition_point(|x| *x <= threshold),
                        false => n - side.partition_point(|x| *x < threshold),
                    };
                    count as f64 / n as f64
                };
                let [p, q] = sides.each_ref().map(share);
                for (aim, best) in aims.iter().zip(&mut best) {
                    for (p, q, is_of_other) in [(p, q, false), (q, p, true)] {
                        let projected = aim.projected(p, q, ahead.max(n));
                        if !projected.is_nan() && best.is_none_or(|(most, _)| projected > most) {
                            let event = Event { score, threshold, at_most, is_of_other, shares: [p, q] };
                            *best = Some((projected, event));
                        }
                    }
                }
            }
        }
        // Frequencies of 0 and 1 in few outputs are smoothed.
        let smooth = |share: f64| (share * n as f64 + 0.5) / (n as f64 + 1.0);
        let smoothed = |event: Event| Event { shares: event.shares.map(smooth), ..event };
        let best = best.into_iter().map(|best| best.map(|(_, event)| smoothed(event)));
        (scores, best.collect())
    }
}

/// Thresholds at quantiles of both inputs' scores, denser toward the ends. Each is returned twice: with true
/// for the event "score at most the threshold", and with false for "score at least the threshold".
fn thresholds(sides: &[Vec<f64>; 2]) -> Vec<(f64, bool)> {
    let ranks = |side: &Vec<f64>| {
        let n = side.len();
        let quantiles = (0..THRESHOLDS.min(n)).map(move |at| at * n / THRESHOLDS.min(n));
        let ends = (0..usize::BITS).map(|power| 1 << power).take_while(move |rank| *rank <= n / THRESHOLDS);
        let ends = ends.flat_map(move |rank: usize| [rank, n - rank]);
        quantiles.chain(ends).map(|rank| side[rank]).collect::<Vec<f64>>()
    };
    let mut all = sides.each_ref().map(ranks).concat();
    all.sort_unstable_by(f64::total_cmp);
    all.dedup();
    all.into_iter().flat_map(|threshold| [(threshold, true), (threshold, false)]).collect()
}
