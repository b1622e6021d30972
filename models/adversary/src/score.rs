//! Scores: one number per output, with which an adversary distinguishes two inputs.

use ahash::RandomState as Hashing;
use linfa::traits::Fit;
use linfa::{Dataset, ParamGuard};
use ndarray::Array2;
use scumble_linear::LogisticParams;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// Released output: m values, or `None` if the release was refused.
pub type Output = Option<Vec<f64>>;

/// Function from m values to a number.
type Function<'a> = dyn Fn(&[f64]) -> f64 + Send + Sync + 'a;

/// Number per output: a larger value favours the second of two inputs.
pub(crate) struct Score<'a> {
    /// Name of the score. The text of a finding has it after the word "by".
    pub(crate) name: &'static str,
    function: Box<Function<'a>>,
    refusal_score: f64,
}

impl<'a> Score<'a> {
    pub(crate) fn new(name: &'static str, function: impl Fn(&[f64]) -> f64 + Send + Sync + 'a) -> Self {
        Self { name, function: Box::new(function), refusal_score: 0.0 }
    }

    /// Score that distinguishes refusals from answers.
    fn refusal() -> Self {
        Self { refusal_score: 1.0, ..Self::new("the presence of an answer", |_| 0.0) }
    }

    pub(crate) fn evaluate(&self, output: &Output) -> f64 {
        let score = output.as_ref().map_or(self.refusal_score, |output| (self.function)(output));
        if score.is_nan() { 0.0 } else { score }
    }
}

/// Two scores of an output, for the input points `one` and `other` (m values each). The scores are the
/// output's position along the line between the points, and this position clamped to the points. Clamping
/// suits Laplace noise: an output beyond one of the points favours this point no more than an output at the
/// point does.
pub(crate) fn along(one: Vec<f64>, other: Vec<f64>) -> Vec<Score<'static>> {
    let line: Vec<(f64, f64)> = one.into_iter().zip(other).map(|(x, y)| (x, y - x)).collect();
    let cut_off = line.clone();
    vec![
        Score::new("its position along the line between the two", move |output| {
            output.iter().zip(&line).map(|(o, (x, difference))| (o - x) * difference).sum()
        }),
        Score::new("its position between the two", move |output| {
            let cut = |(o, (x, difference)): (&f64, &(f64, f64))| {
                ((o - x) * difference).clamp(0.0, difference.powi(2))
            };
            output.iter().zip(&cut_off).map(cut).sum()
        }),
    ]
}

/// Scores learned from `one` and `other`, samples of two inputs' outputs of the same width.
pub(crate) fn learned<'a>(one: &[Output], other: &[Output]) -> Vec<Score<'a>> {
    let samples = [one, other].map(|side| side.iter().flatten().map(Vec::as_slice).collect::<Vec<_>>());
    let mut scores = vec![Score::refusal()];
    if samples.iter().any(|side| side.is_empty()) {
        return scores;
    }
    let values = Histograms::learn(&samples, |x| x);
    scores.push(Score::new("histograms of its values", move |output| values.log_ratio(output)));
    let bits = Histograms::learn(&samples, lowest_bit);
    scores.push(Score::new("the lowest bits of its values", move |output| bits.log_ratio(output)));
    let looks: [(&str, Look); 3] = [
        ("its exact values, to the last bit", |output, tell| tell(hash(output.iter().copied()))),
        ("all differences of its values, to the last bit", |output, tell| tell(hash(differences(output)))),
        ("single differences of its values, to the last bit", single_differences),
    ];
    for (name, look) in looks {
        let exact = Exactly::learn(&samples, look);
        scores.push(Score::new(name, move |output| exact.log_ratio(output)));
    }
    scores
}

/// Score of a linear classifier, if its fit succeeds.
pub(crate) fn classifier<'a>(one: &[Output], other: &[Output]) -> Option<Score<'a>> {
    /// Number of records per class. More records hardly change the hyperplane.
    const MOST: usize = 2_000;
    let sides = [one, other].map(|side| side.iter().flatten().take(MOST).collect::<Vec<_>>());
    let width = sides.iter().find_map(|side| side.first())?.len();
    let classes = sides.iter().enumerate().flat_map(|(class, side)| vec![class; side.len()]).collect();
    let values: Vec<f64> = sides.iter().flatten().flat_map(|output| output.iter().copied()).collect();
    let records = Array2::from_shape_vec((values.len() / width.max(1), width), values).ok()?;
    let parameters = LogisticParams::default().max_iterations(20).gradient_tolerance(1e-2).check().ok()?;
    let model = parameters.fit(&Dataset::new(records, classes)).ok()?;
    let direction = model.direction().to_vec();
    Some(Score::new("a linear classifier", move |output| {
        output.iter().zip(&direction).map(|(x, weight)| x * weight).sum()
    }))
}

/// Smoothed logarithm of a ratio of counts. It is zero if both counts are zero.
fn log_ratio(one: f64, other: f64) -> f64 {
    ((other + 0.5) / (one + 0.5)).ln()
}

/// Histograms of single values, combined as if the values were independent given the input.
struct Histograms {
    /// Function of a value whose results are counted.
    feature: fn(f64) -> f64,
    /// For each value of an output: the upper edges of the histogram's cells, and the log ratio of each cell.
    /// The last cell has no upper edge.
    values: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Histograms {
    const CELLS: usize = 64;

    fn learn(samples: &[Vec<&[f64]>; 2], feature: fn(f64) -> f64) -> Self {
        let width = samples.iter().flatten().next().map_or(0, |output| output.len());
        let learn = |at: usize| {
            let [one, other] = samples
                .each_ref()
                .map(|side| side.iter().map(|output| feature(output[at])).collect::<Vec<f64>>());
            let mut pooled = [&one[..], &other[..]].concat();
            pooled.sort_by(f64::total_cmp);
            // Quantiles as edges: a frequent value gets its own cell, together with its near neighbours
            // below.
            let quantiles = (1..Self::CELLS).map(|cell| pooled[cell * pooled.len() / Self::CELLS]);
            let mut edges: Vec<f64> = quantiles.collect();
            edges.dedup();
            let count = |side: &[f64]| {
                let mut counts = vec![0.0; edges.len() + 1];
                side.iter().for_each(|x| counts[Self::cell(&edges, *x)] += 1.0);
                counts
            };
            let ratios = count(&one).into_iter().zip(count(&other)).map(|(one, other)| log_ratio(one, other));
            let ratios = ratios.collect();
            (edges, ratios)
        };
        Self { feature, values: (0..width).map(learn).collect() }
    }

    fn cell(edges: &[f64], x: f64) -> usize {
        edges.partition_point(|edge| *edge < x)
    }

    fn log_ratio(&self, output: &[f64]) -> f64 {
        let cells = self.values.iter().zip(output);
        cells.map(|((edges, ratios), x)| ratios[Self::cell(edges, (self.feature)(*x))]).sum()
    }
}

/// Function that computes features of an output, such as the differences of its values, and passes a hash of
/// each to the callback. Collisions of hashes only blur what is learned.
type Look = fn(&[f64], &mut dyn FnMut(u64));

/// Log ratios of the counts of outputs, or of features of outputs. Two of them count as equal if all their
/// bits are equal.
struct Exactly {
    look: Look,
    ratios: HashMap<u64, f64, Hashing>,
}

impl Exactly {
    fn learn(samples: &[Vec<&[f64]>; 2], look: Look) -> Self {
        let mut counts: HashMap<u64, [f64; 2], Hashing> = HashMap::with_hasher(hashing());
        for (side, outputs) in samples.iter().enumerate() {
            let mut count = |hash| counts.entry(hash).or_default()[side] += 1.0;
            outputs.iter().for_each(|output| look(output, &mut count));
        }
        // Features that occur once are kept. They may be coincidences, but noise of few values may have no
        // others.
        let mut ratios = HashMap::with_capacity_and_hasher(counts.len(), hashing());
        ratios.extend(counts.into_iter().map(|(output, [one, other])| (output, log_ratio(one, other))));
        Self { look, ratios }
    }

    fn log_ratio(&self, output: &[f64]) -> f64 {
        let mut sum = 0.0;
        (self.look)(output, &mut |hash| sum += self.ratios.get(&hash).copied().unwrap_or(0.0));
        sum
    }
}

/// Passes a hash of each difference between two neighbouring values and of its position. Noise that both
/// values share does not hide their difference.
fn single_differences(output: &[f64], tell: &mut dyn FnMut(u64)) {
    for (difference, place) in differences(output).zip(0u32..) {
        tell(hash([difference, place.into()].into_iter()));
    }
}

fn differences(output: &[f64]) -> impl Iterator<Item = f64> {
    output.windows(2).map(|values| values[1] - values[0])
}

fn hash(values: impl Iterator<Item = f64>) -> u64 {
    let mut hasher = hashing().build_hasher();
    values.for_each(|x| hasher.write_u64(x.to_bits()));
    hasher.finish()
}

/// Hash function that is the same in every run.
fn hashing() -> Hashing {
    Hashing::with_seeds(1, 2, 3, 4)
}

/// Exponent of the lowest set bit of a float. If noise was sampled in floats, it discloses information about
/// the number that the noise was added to (Mironov 2012).
fn lowest_bit(x: f64) -> f64 {
    let (bits, exponent) = (x.to_bits() & ((1 << 52) - 1), (x.to_bits() >> 52) & 0x7ff);
    match (x == 0.0, exponent) {
        (true, _) => f64::INFINITY,
        (_, 0) => f64::from(bits.trailing_zeros()) - 1074.0,
        _ => f64::from((bits | 1 << 52).trailing_zeros()) + exponent as f64 - 1075.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_is_the_largest_power_of_two_of_which_it_is_a_multiple() {
        for (x, exponent) in
            [(1.0, 0.0), (-6.0, 1.0), (0.75, -2.0), (1.0 + f64::EPSILON, -52.0), (5e-324, -1074.0)]
        {
            assert_eq!(lowest_bit(x), exponent, "{x}");
        }
    }

    #[test]
    fn what_is_learned_tells_what_can_be_told() {
        let sample = |shift: f64| (0..500).map(|at| Some(vec![f64::from(at % 7) + shift, 1.0])).collect();
        let (one, other): (Vec<Output>, Vec<Output>) = (sample(0.0), sample(3.0));
        for score in learned(&one, &other).iter().chain(&classifier(&one, &other)) {
            let difference = score.evaluate(&Some(vec![9.0, 1.0])) - score.evaluate(&Some(vec![0.0, 1.0]));
            let is_blind = ["the presence of an answer", "the lowest bits of its values"];
            assert!(difference > 1.0 || is_blind.contains(&score.name), "{}: {difference}", score.name);
        }
        let refused: Vec<Output> = vec![None; 500];
        assert_eq!(learned(&one, &refused)[0].evaluate(&None), 1.0);
        assert!(classifier(&one, &refused).is_none());
    }
}
