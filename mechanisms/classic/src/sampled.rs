//! Mechanisms that sample k of a record's d attributes uniformly at random and randomise each of them
//! separately.

use crate::answer::{Answer, Kind};
use crate::levels::LevelAnswer;
use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Descriptor, Domain, Error, Example, Factor, Guarantee, LocalMechanism, Moments, Noise,
    NoiseDistribution, Output, Portion, Protect, RecordDomain, Result, Stream, TargetDomain, Unit, register,
};
use scumble_oracles::MOST_LEVELS;
use scumble_sampling::{Rational, uniform_below};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::ops::Range;

/// Samples k of a record's d attributes uniformly at random, and randomises each sampled attribute at ε/k.
/// The deviation of its answer from the attribute's centre is multiplied by the weight d/k.
///
/// Attributes that are not sampled are released as the centre of their possible values (Wang et al. 2019,
/// Algorithm 4 and Section IV-C).
///
/// An attribute is a number or a one-hot group. The answer for a number is a number. The answer for a group
/// comes from the frequency oracle with the smallest variance for its number of levels. It is released as an
/// unbiased estimate of the coordinates of the group. The released coordinates are no longer 0 and 1, and the
/// level with the largest coordinate is not an unbiased answer. A class label must be released as a class, so
/// these mechanisms cannot release it.
///
/// Every released coordinate is unbiased. The choice of attributes does not depend on the record, so the k
/// answers together cost ε. Sampling weakens the dependence between any two released attributes, including a
/// numeric target. The default k minimises the second moments of the answers, which is best for estimates
/// about single attributes. It is 1 at small ε. With k = 1, no two attributes of a record are ever answered
/// together, so the release contains no information about pairs. To learn about pairs, choose a larger k, or
/// release the target by a separate mechanism.
///
/// ```
/// use scumble_classic::SampledNumbers;
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = ["height", "weight", "colour=red", "colour=green", "colour=blue"].map(str::to_owned);
/// let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3)?])?;
/// let people = RecordDomain::new(columns.to_vec(), features, TargetDomain::None)?;
/// let mechanism = SampledNumbers::piecewise(people, 5.0)?;
/// assert_eq!(mechanism.k(), 2); // of three attributes
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 5.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SampledNumbers {
    answer: Kind,
    state: State,
    /// Attributes of the randomised portion of a record; `None` at ε = ∞.
    attributes: Option<Vec<Attribute>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    k: usize,
    portion: Portion,
}

/// Attribute (number or one-hot group) of the randomised portion of a record, and the mechanism that
/// randomises it.
#[derive(Debug, Clone)]
enum Attribute {
    /// A number at coordinate `at`, with the centre and half the width of the interval of its values.
    Number { at: usize, center: f64, half_width: f64, answer: Answer },
    /// A level, in a one-hot group with these coordinates.
    Levels { coordinates: Range<usize>, answer: LevelAnswer },
}

impl Kind {
    fn plugin(self) -> &'static str {
        match self {
            Self::Piecewise => "piecewise",
            Self::OneBit => "duchi",
            Self::Hybrid => "hybrid",
        }
    }

    /// Name and source of the theorem on the answers for numbers. The guarantee cites them.
    fn theorem(self) -> &'static str {
        match self {
            Self::Piecewise => {
                "the piecewise mechanism on a lattice, with odds of exactly e^ε (Wang et al. 2019, Algorithm \
                 2)"
            }
            Self::OneBit => {
                "one bit per number, with odds of exactly e^ε (Duchi, Jordan and Wainwright 2018)"
            }
            Self::Hybrid => {
                "the piecewise mechanism on a lattice or one bit per number, chosen by a coin that is \
                 independent of the record, with odds of exactly e^ε (Wang et al. 2019, Section III-C)"
            }
        }
    }
}

/// Returns the domain of `portion`, the part of a record to randomise, if it consists of attributes that
/// these mechanisms can randomise.
///
/// # Errors
/// [`Error::NotApplicable`] for a class label, for a group with more than [`MOST_LEVELS`] levels, and for
/// coordinates that are neither a number nor a group of levels. The message names the column.
fn checked_set(answer: Kind, portion: &Portion) -> Result<Domain> {
    let set = portion.set(answer.plugin())?;
    let refused = |reason: String| Err(Error::not_applicable(answer.plugin(), reason));
    if portion.protect != Protect::Features && matches!(portion.domain.target(), TargetDomain::Class { .. }) {
        return refused(
            "the label must be released as a class, and an unbiased answer is not a class: protect the \
             features, or use randomized-response for the label"
                .into(),
        );
    }
    for (coordinates, factor) in set.factors() {
        let column = || match portion.domain.columns().get(portion.coordinates().start + coordinates.start) {
            Some(column) => format!("column {column:?}"),
            None => "the label".to_owned(),
        };
        match factor {
            Factor::Interval { .. } => {}
            Factor::OneHot { levels } if *levels as u64 <= MOST_LEVELS => {}
            Factor::OneHot { levels } => {
                return refused(format!(
                    "{} has {levels} levels, and at most {MOST_LEVELS} are allowed",
                    column()
                ));
            }
            _ => {
                return refused(format!(
                    "it answers for each number and group of levels separately, and the domain ties {} to \
                     others",
                    column()
                ));
            }
        }
    }
    Ok(set)
}

/// Returns the attributes, each with an answer at ε/k, where k is the number of sampled attributes; `None` at
/// ε = ∞.
fn attributes(answer: Kind, state: &State, set: &Domain) -> Result<Option<Vec<Attribute>>> {
    let Some(epsilon) = share(state.portion.epsilon, state.k)? else {
        return Ok(None);
    };
    let (number, weight) = (answer_at(answer, epsilon)?, weight(set, state.k));
    let attribute = |(coordinates, factor): (Range<usize>, &Factor)| match *factor {
        Factor::Interval { lower, upper } => Ok(Attribute::Number {
            at: coordinates.start,
            center: lower / 2.0 + upper / 2.0,
            half_width: (upper - lower) / 2.0,
            answer: number,
        }),
        _ => {
            let answer = LevelAnswer::new(coordinates.len(), epsilon, weight)?;
            Ok(Attribute::Levels { coordinates, answer })
        }
    };
    set.factors().map(attribute).collect::<Result<_>>().map(Some)
}

/// Weight d/k of a sampled attribute, if `k` of d attributes are sampled.
fn weight(set: &Domain, k: usize) -> f64 {
    set.factors().count() as f64 / k as f64
}

/// Upper limit for the second moment of an answer. It leaves room in the range of floats for products with
/// the weight d/k and with squared interval widths.
const LARGEST_SQUARE: f64 = 1e200;

/// Returns the ε of each of `k` answers that share `epsilon` equally; `None` at ε = ∞.
fn share(epsilon: f64, k: usize) -> Result<Option<f64>> {
    let share = Budget::pure(epsilon)?.divide(k)?.epsilon();
    Ok(share.is_finite().then_some(share))
}

/// Returns the mechanism that answers for a number at ε = `epsilon`.
fn answer_at(kind: Kind, epsilon: f64) -> Result<Answer> {
    let answer = Answer::new(kind, Rational::floor_of(epsilon)?);
    if answer.worst() < LARGEST_SQUARE {
        return Ok(answer);
    }
    Err(Error::Budget {
        name: "epsilon",
        range: "finite, and large enough to keep answers within the floating-point range",
        value: epsilon,
    })
}

/// Returns the number k of sampled attributes that minimises the second moments d/k·E[w²] of the answers w,
/// summed over the d attributes.
///
/// For a number, E[w²] is taken for a true number at an end of its interval. For a one-hot group, E[w²] is
/// summed over the coordinates of the group. w is measured from the centre of the interval or group. Each
/// E[w²] is divided by the squared distance of the true value from this centre.
fn best_k(kind: Kind, epsilon: f64, set: &Domain) -> Result<usize> {
    let (mut d, mut numbers, mut groups) = (0, 0, BTreeMap::<usize, u32>::new());
    for (_, factor) in set.factors() {
        d += 1;
        match factor {
            Factor::OneHot { levels } => *groups.entry(*levels).or_default() += 1,
            _ => numbers += 1,
        }
    }
    let mut best = (f64::INFINITY, d);
    // If each answer spends less than ε = ½, a smaller k is better.
    let most = (2.0 * epsilon).ceil().min(d as f64).max(1.0) as usize;
    for k in 1..=most {
        let Some(epsilon) = share(epsilon, k)? else {
            continue;
        };
        let mut total =
            if numbers > 0 { f64::from(numbers) * answer_at(kind, epsilon)?.worst() } else { 0.0 };
        for (levels, count) in &groups {
            total += f64::from(*count) * LevelAnswer::new(*levels, epsilon, 1.0)?.relative_second_moment();
        }
        if total / (k as f64) < best.0 {
            best = (total / k as f64, k);
        }
    }
    Ok(best.1)
}

impl SampledNumbers {
    fn build(answer: Kind, state: State) -> Result<Self> {
        let set = checked_set(answer, &state.portion)?;
        let d = set.factors().count();
        if !(1..=d).contains(&state.k) {
            let problem = format!("k must lie between 1 and {d}, and {} does not", state.k);
            return Err(Error::parameter(answer.plugin(), problem));
        }
        let attributes = attributes(answer, &state, &set)?;
        let mechanism = Self { answer, state, attributes };
        mechanism.check_fits()?;
        Ok(mechanism)
    }

    /// Randomises numbers by the piecewise mechanism, and levels by a frequency oracle. Protects the record,
    /// or only the features if the label is a class.
    ///
    /// The number k of sampled attributes minimises the second moments of the answers at this ε.
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn piecewise(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::with(Kind::Piecewise, Portion::for_numbers(domain, epsilon), None)
    }

    /// Randomises numbers by Duchi's mechanism, which answers with one of two numbers. Everything else is the
    /// same as in [`piecewise`](Self::piecewise).
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn duchi(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::with(Kind::OneBit, Portion::for_numbers(domain, epsilon), None)
    }

    /// Randomises numbers by the hybrid mechanism: a coin with a public probability picks the piecewise
    /// mechanism or Duchi's mechanism.
    ///
    /// The largest variance of a hybrid answer is at most the largest variance of a piecewise answer, and at
    /// most that of Duchi's answer. Everything else is the same as in [`piecewise`](Self::piecewise).
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn hybrid(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::with(Kind::Hybrid, Portion::for_numbers(domain, epsilon), None)
    }

    /// Returns a mechanism that randomises the portion `protect` of each record as `self` does; the rest of
    /// the record is released in the clear.
    ///
    /// The number k of sampled attributes minimises the second moments of the answers at this ε.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if records have no such portion, or if it contains a class label or anything
    /// other than numbers and levels. [`Error::Budget`] unless ε > 0.
    pub fn protecting(self, protect: Protect) -> Result<Self> {
        Self::with(self.answer, Portion { protect, ..self.state.portion }, None)
    }

    fn with(answer: Kind, portion: Portion, k: Option<usize>) -> Result<Self> {
        Self::build(answer, State::with(answer, portion, k)?)
    }

    /// Number of attributes answered per record.
    pub fn k(&self) -> usize {
        self.state.k
    }

    /// Checks that released numbers and their squares are finite floats.
    ///
    /// # Errors
    /// [`Error::Budget`] if an answer in the units of its interval, or its square, overflows. (The answer for
    /// a level never overflows, because its ε is rounded down to a multiple of 2⁻⁶².)
    fn check_fits(&self) -> Result<()> {
        let fits = |attribute: &Attribute| match attribute {
            Attribute::Number { center, half_width, answer, .. } => {
                (center.abs() + half_width * self.weight()).powi(2) * answer.worst().max(1.0) < 1e300
            }
            Attribute::Levels { .. } => true,
        };
        if self.attributes.iter().flatten().all(fits) {
            return Ok(());
        }
        let range =
            "large enough to keep answers in the units of the columns within the floating-point range";
        Err(Error::Budget { name: "epsilon", range, value: self.state.portion.epsilon })
    }

    /// Weight d/k of a sampled attribute; zero at ε = ∞, where no answer is weighted.
    fn weight(&self) -> f64 {
        self.attributes.as_ref().map_or(0, Vec::len) as f64 / self.state.k as f64
    }

    /// Returns the joint noise distribution of `attributes`, which have adjacent coordinates.
    ///
    /// For a one-hot group, the distribution contains the mean square of each coordinate, but no mean product
    /// of two coordinates. The product u·u′ of two true coordinates u and u′ of a group is zero. The mean
    /// E\[w·w′ | u, u′\] of the released coordinates w and w′ is therefore not a multiple of u·u′.
    fn distribution(&self, attributes: &[Attribute]) -> NoiseDistribution {
        let pairs = if attributes.iter().all(Attribute::is_number) { self.pairs() } else { 0.0 };
        let moments = attributes.iter().flat_map(|attribute| attribute.moments(self.weight())).collect();
        NoiseDistribution::Unbiased { moments, pairs, lot: 0 }
    }

    /// Ratio of the expected product of two released numbers to the product of the true numbers, each
    /// relative to the centre of its interval.
    ///
    /// Two of d attributes are both among the k sampled attributes with probability k(k − 1)/(d(d − 1)). Each
    /// of the two then has the weight d/k.
    fn pairs(&self) -> f64 {
        let (k, d) = (self.state.k as f64, self.attributes.as_ref().map_or(0, Vec::len) as f64);
        if d > 1.0 { (k - 1.0) * d / (k * (d - 1.0)) } else { 1.0 }
    }
}

impl Attribute {
    /// Coordinates of the attribute in the randomised portion of the record.
    fn coordinates(&self) -> Range<usize> {
        match self {
            Self::Number { at, .. } => *at..at + 1,
            Self::Levels { coordinates, .. } => coordinates.clone(),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number { .. })
    }

    /// Name of the frequency oracle, if the attribute has levels.
    fn oracle(&self) -> Option<String> {
        match self {
            Self::Number { .. } => None,
            Self::Levels { answer, .. } => Some(answer.kind().to_string()),
        }
    }

    /// Replaces the coordinates of a sampled attribute by its answer.
    fn sample(&self, x: &mut [f64], weight: f64, stream: &mut Stream) {
        match self {
            Self::Number { center, half_width, answer, .. } => {
                let answered = weight * answer.sample(place(x[0], *center, *half_width), stream);
                x[0] = center + half_width * answered;
            }
            Self::Levels { answer, .. } => answer.sample(x, stream),
        }
    }

    /// Replaces the coordinates of an attribute that is not sampled by their centre.
    fn leave_out(&self, x: &mut [f64]) {
        match self {
            Self::Number { center, .. } => x[0] = *center,
            Self::Levels { answer, .. } => answer.leave_out(x),
        }
    }

    fn log_likelihood(&self, x: &[f64], released: &[f64], weight: f64) -> f64 {
        match self {
            Self::Number { center, half_width, answer, .. } => {
                // The choice of attributes contains no information about the record. A number that was not
                // sampled equals the centre.
                let answered = place(released[0], *center, *half_width) / weight;
                let x = place(x[0], *center, *half_width);
                if answered == 0.0 { 0.0 } else { answer.log_likelihood(x, answered) }
            }
            Self::Levels { answer, .. } => answer.log_likelihood(x, released),
        }
    }

    /// Second moment of each released coordinate of the attribute about its centre, given its true value.
    fn moments(&self, weight: f64) -> Vec<Moments> {
        match self {
            Self::Number { center, half_width, answer, .. } => {
                let (constant, slope) = answer.moments();
                let constant = weight * constant * half_width.powi(2);
                vec![Moments { center: *center, constant, slope: weight * slope }]
            }
            Self::Levels { coordinates, answer } => vec![answer.moments(); coordinates.len()],
        }
    }
}

impl LocalMechanism for SampledNumbers {
    fn domain(&self) -> &RecordDomain {
        &self.state.portion.domain
    }

    fn guarantee(&self) -> Guarantee {
        let attributes = self.attributes.as_deref().unwrap_or_default();
        let oracles: BTreeSet<String> = attributes.iter().filter_map(Attribute::oracle).collect();
        let mut methods = vec![];
        if attributes.iter().any(Attribute::is_number) {
            methods.push(self.answer.theorem().to_owned());
        }
        if !oracles.is_empty() {
            let oracles: Vec<String> = oracles.into_iter().collect();
            methods.push(format!(
                "levels by {}, with odds of exactly e^ε (Wang et al. 2019, Section IV-C)",
                oracles.join(" or ")
            ));
        }
        let sampling = match (self.state.k, attributes.len()) {
            (1, 1) => String::new(),
            (k, d) if k == d => format!(", for each of {d} attributes at an equal share of ε"),
            (k, d) => format!(
                ", for {k} of {d} attributes sampled uniformly at random, at an equal share of ε each (Wang \
                 et al. 2019, Algorithm 4)"
            ),
        };
        self.state.portion.guarantee(&format!("{}{sampling}", methods.join("; ")))
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.state.portion.slice(point)?;
        let Some(attributes) = &self.attributes else {
            return Ok(());
        };
        let sampled = sample_of(self.state.k, attributes.len(), stream);
        let weight = self.weight();
        for (attribute, is_sampled) in attributes.iter().zip(sampled) {
            let x = &mut portion[attribute.coordinates()];
            if is_sampled { attribute.sample(x, weight, stream) } else { attribute.leave_out(x) }
        }
        Ok(())
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.state.portion.slice_both(point, released)?;
        let weight = self.weight();
        let likelihoods = self.attributes.as_ref()?.iter().map(|attribute| {
            let at = attribute.coordinates();
            attribute.log_likelihood(&point[at.clone()], &released[at], weight)
        });
        Some(likelihoods.sum())
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let portion = &self.state.portion;
        let farthest = portion.set(self.answer.plugin()).map(|set| set.l2_farthest());
        farthest.map_or(vec![], |farthest| portion.worst_pairs(unit, farthest))
    }

    fn noise(&self) -> Noise {
        let (portion, layout) = (&self.state.portion, self.state.portion.domain.layout());
        let (features, target) = (layout.columns.len(), layout.target.width());
        let exact = |width: usize| NoiseDistribution::Exact { width };
        let Some(attributes) = &self.attributes else {
            return Noise { features: vec![exact(features)], target: exact(target) };
        };
        let start = portion.coordinates().start;
        let (feature_attributes, target_attributes) = attributes.split_at(
            attributes.partition_point(|attribute| start + attribute.coordinates().start < features),
        );
        // Adjacent numbers have one joint distribution, and each group has a separate one.
        let runs = feature_attributes.chunk_by(|one, other| one.is_number() && other.is_number());
        let features_distributions = runs.map(|run| self.distribution(run)).collect();
        match portion.protect {
            Protect::Record => {
                Noise { features: features_distributions, target: self.distribution(target_attributes) }
            }
            Protect::Features => Noise { features: features_distributions, target: exact(target) },
            Protect::Label => {
                Noise { features: vec![exact(features)], target: self.distribution(target_attributes) }
            }
        }
    }
}

/// Maps `x` from its interval to [−1, 1].
fn place(x: f64, center: f64, half_width: f64) -> f64 {
    if half_width > 0.0 { (x - center) / half_width } else { 0.0 }
}

/// Samples `k` of `d` attributes uniformly at random, so that every set of `k` is equally likely (Knuth,
/// Algorithm S). An element of the result is true if its attribute is sampled.
fn sample_of(k: usize, d: usize, stream: &mut Stream) -> Vec<bool> {
    let mut needed = k as u64;
    let rest = (1..=d as u64).rev();
    let draws = rest.map(|left| match NonZeroU64::new(left) {
        Some(left) if uniform_below(stream, left) < needed => {
            needed -= 1;
            true
        }
        _ => false,
    });
    draws.collect()
}

impl State {
    /// Creates a state with `k` sampled attributes, or with the number from [`best_k`] if `k` is `None`.
    fn with(answer: Kind, portion: Portion, k: Option<usize>) -> Result<Self> {
        let k = match k {
            Some(k) => k,
            None => best_k(answer, portion.epsilon, &checked_set(answer, &portion)?)?,
        };
        Ok(Self { k, portion })
    }
}

/// Parameters of `piecewise`, `duchi` and `hybrid`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Portion of the record to randomise: "record", "features" or "label". The default is everything except
    /// a class label, which these mechanisms cannot release.
    protect: Option<Protect>,
    /// Number of attributes sampled from each record; each is answered at ε/k. The default is the best k at
    /// this ε for estimates about single attributes. With k = 1, nothing can be learned about the dependence
    /// of two attributes.
    k: Option<usize>,
}

fn learn(answer: Kind, parameters: Parameters, brief: &Brief) -> Result<State> {
    let all = Portion::for_numbers(brief.domain.clone(), brief.budget.epsilon());
    let protect = parameters.protect.unwrap_or(all.protect);
    State::with(answer, Portion { protect, ..all }, parameters.k)
}

register! {
    /// The plugin `piecewise`.
    pub const PIECEWISE = {
        name: "piecewise",
        summary: "k of d attributes sampled at random, each answered at ε/k: numbers by the piecewise \
                  mechanism, levels by a frequency oracle",
        paper: "Wang et al., Collecting and analyzing multidimensional data with local differential privacy \
                (2019)",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| learn(Kind::Piecewise, parameters, brief),
        local: |state| SampledNumbers::build(Kind::Piecewise, state),
        example: Example::mixed,
    };
}

register! {
    /// The plugin `duchi`.
    pub const DUCHI = {
        name: "duchi",
        summary: "k of d attributes sampled at random, each answered at ε/k: numbers by one bit, levels by a \
                  frequency oracle",
        paper: "Duchi, Jordan and Wainwright, Minimax optimal procedures for locally private estimation \
                (2018)",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| learn(Kind::OneBit, parameters, brief),
        local: |state| SampledNumbers::build(Kind::OneBit, state),
        example: Example::mixed,
    };
}

register! {
    /// The plugin `hybrid`.
    pub const HYBRID = {
        name: "hybrid",
        summary: "k of d attributes sampled at random, each answered at ε/k: numbers by piecewise or duchi \
                  at random, levels by a frequency oracle",
        paper: "Wang et al., Collecting and analyzing multidimensional data with local differential privacy \
                (2019), Section III-C",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| learn(Kind::Hybrid, parameters, brief),
        local: |state| SampledNumbers::build(Kind::Hybrid, state),
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Domain;
    use scumble_core::Randomness;
    use scumble_core::TargetDomain;
    use scumble_testing::records;

    fn numbers(d: usize) -> RecordDomain {
        let features = Domain::product((0..d).map(|at| Domain::interval(-1.0, at as f64).unwrap())).unwrap();
        records(features, TargetDomain::None)
    }

    /// Wang et al. 2019, equation 12: k = max(1, min(d, ⌊ε/2.5⌋)) is close to the best.
    #[test]
    fn k_is_about_two_fifths_of_epsilon() {
        for (epsilon, d) in [(0.5, 10), (5.0, 10), (7.5, 10), (12.5, 10), (100.0, 10), (2.0, 1)] {
            let paper = ((epsilon / 2.5) as usize).clamp(1, d);
            for mechanism in [SampledNumbers::piecewise, SampledNumbers::duchi, SampledNumbers::hybrid] {
                let k = mechanism(numbers(d), epsilon).unwrap().k();
                assert!(k.abs_diff(paper) <= 1, "ε = {epsilon}, d = {d}: {k}, and {paper} in the paper");
            }
        }
    }

    #[test]
    fn a_sample_has_k_and_every_attribute_as_often() {
        let mut stream = Randomness::seeded(9).streams().stream(0);
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            let sampled = sample_of(2, 5, &mut stream);
            assert_eq!(sampled.iter().filter(|&&sampled| sampled).count(), 2);
            counts.iter_mut().zip(sampled).for_each(|(count, sampled)| *count += u32::from(sampled));
        }
        // The expected count is 20,000; six standard deviations are 657, less than 5 %.
        assert!(counts.iter().all(|&count| count.abs_diff(20_000) < 657), "seed 9: {counts:?}");
    }

    #[test]
    fn a_number_that_is_not_sampled_is_answered_with_the_centre() {
        let mechanism = SampledNumbers::piecewise(numbers(3), 1.0).unwrap();
        let mut stream = Randomness::seeded(9).streams().stream(0);
        let mut point = mechanism.encode(&[7.0, 7.0, 7.0]).unwrap();
        mechanism.perturb(&mut point, &mut stream).unwrap();
        let centers = [-0.5, 0.0, 0.5];
        assert_eq!(point.iter().zip(centers).filter(|(x, center)| **x == *center).count(), 2, "{point:?}");
    }

    #[test]
    fn a_pair_keeps_the_share_of_its_product_that_the_distribution_says() {
        const SEED: u64 = 4;
        let draws = 400_000;
        let features = Domain::product([(); 3].map(|()| Domain::interval(-1.0, 1.0).unwrap())).unwrap();
        let unit = records(features, TargetDomain::None);
        for (k, expected) in [(1, 0.0), (2, 0.75), (3, 1.0)] {
            let mechanism =
                SampledNumbers::with(Kind::OneBit, Portion::for_numbers(unit.clone(), 6.0), Some(k)).unwrap();
            let NoiseDistribution::Unbiased { pairs, .. } = mechanism.noise().features[0] else {
                panic!("the distribution of answers")
            };
            assert!((pairs - expected).abs() < 1e-12);
            let mut stream = Randomness::seeded(SEED).streams().stream(0);
            let products = (0..draws).map(|_| {
                let mut point = [0.8, -0.5, 0.1];
                mechanism.perturb(&mut point, &mut stream).unwrap();
                point[0] * point[1]
            });
            let mean = products.sum::<f64>() / f64::from(draws);
            // A product is at most 3.1, so six standard errors are 0.03.
            assert!((mean - pairs * 0.8 * -0.5).abs() < 0.03, "seed {SEED}, k = {k}: {mean}");
        }
    }

    #[test]
    fn an_epsilon_whose_answers_would_not_fit_is_refused() {
        assert!(matches!(SampledNumbers::duchi(numbers(1), 1e-150), Err(Error::Budget { .. })));
        let mechanism = SampledNumbers::duchi(numbers(1), 1e-17).unwrap();
        let mut point = [0.5];
        mechanism.perturb(&mut point, &mut Randomness::seeded(1).streams().stream(0)).unwrap();
        assert!(point[0].is_finite());
    }

    #[test]
    fn the_whole_budget_is_claimed_and_no_more() {
        for epsilon in [0.1, 1.0, 7.0] {
            let guarantee = SampledNumbers::piecewise(numbers(4), epsilon).unwrap().guarantee();
            assert_eq!(guarantee.local_dp(Unit::Record).unwrap().epsilon, epsilon);
        }
    }

    #[test]
    fn a_wrong_k_is_refused() {
        for k in [0, 4] {
            let refused = SampledNumbers::with(Kind::OneBit, Portion::for_numbers(numbers(3), 1.0), Some(k));
            assert!(matches!(refused, Err(Error::Parameter { .. })), "{refused:?}");
        }
    }
}
