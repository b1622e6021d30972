//! k of d numbers, drawn by lot and answered one by one.

use crate::answer::{Answer, Kind};
use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Error, Example, Factor, Guarantee, Law, LocalMechanism, Moments, Noise, RecordDomain,
    Result, Stream, Unit, register,
};
use scumble_core::{Portion, Protect};
use scumble_sampling::{Rational, uniform_below};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// k of the d numbers of a record, drawn by lot, each answered at ε/k and weighted by d/k; the others are answered with the
/// centre of their interval (Wang et al. 2019, Algorithm 4).
///
/// Every coordinate is unbiased. The lot does not depend on the record, so the k answers together cost ε. How two numbers go
/// together is blurred by the lot, a numeric target with the features too: with k = 1, which is best for each by itself, no two
/// are ever answered together and nothing about pairs can be learned. Then choose a larger k, or a part of its own for the target.
///
/// ```
/// use scumble_classic::SampledNumbers;
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = (1..=10).map(|at| format!("x{at}")).collect();
/// let people = RecordDomain::new(columns, Domain::unit_box(10), TargetDomain::None)?;
/// let mechanism = SampledNumbers::piecewise(people, 5.0)?;
/// assert_eq!(mechanism.k(), 2);
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 5.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct SampledNumbers {
    saved: Saved,
    /// Of each number of the portion: the centre of its interval, and half its width.
    intervals: Vec<(f64, f64)>,
    /// None at ε = ∞.
    answer: Option<Answer>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    answer: Kind,
    k: usize,
    portion: Portion,
}

impl TryFrom<Saved> for SampledNumbers {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        let set = saved.portion.set(saved.answer.plugin())?;
        let intervals = set.factors().map(|(_, factor)| match *factor {
            Factor::Interval { lower, upper } => Ok((lower / 2.0 + upper / 2.0, (upper - lower) / 2.0)),
            _ => Err(Error::not_applicable(
                saved.answer.plugin(),
                "it answers with numbers, and what it should protect holds something else",
            )),
        });
        let intervals: Vec<(f64, f64)> = intervals.collect::<Result<_>>()?;
        if !(1..=intervals.len()).contains(&saved.k) {
            return Err(Error::Parameter {
                plugin: saved.answer.plugin().into(),
                problem: format!("k must lie between 1 and {}, and {} does not", intervals.len(), saved.k),
            });
        }
        let answer = answer_at(saved.answer, saved.portion.epsilon, saved.k)?;
        let mechanism = Self { saved, intervals, answer };
        mechanism.check_fits()?;
        Ok(mechanism)
    }
}

impl From<SampledNumbers> for Saved {
    fn from(mechanism: SampledNumbers) -> Self {
        mechanism.saved
    }
}

impl Kind {
    fn plugin(self) -> &'static str {
        match self {
            Self::Piecewise => "piecewise",
            Self::OneBit => "duchi",
        }
    }
}

/// An answer fits if its square does, with room for weights and units.
const LARGEST_SQUARE: f64 = 1e200;

/// Each of k answers at an equal share of ε; none at ε = ∞.
fn answer_at(kind: Kind, epsilon: f64, k: usize) -> Result<Option<Answer>> {
    match Budget::pure(epsilon)?.divide(k)?.epsilon() {
        f64::INFINITY => Ok(None),
        epsilon => {
            let answer = Answer::new(kind, Rational::floor_of(epsilon)?);
            if answer.worst() < LARGEST_SQUARE {
                return Ok(Some(answer));
            }
            Err(Error::Budget {
                name: "epsilon",
                range: "finite, and large enough for an answer to fit",
                value: epsilon,
            })
        }
    }
}

/// The k with the least second moment d/k·E[w²] at the ends of the interval.
fn best_k(kind: Kind, epsilon: f64, d: usize) -> Result<usize> {
    let mut best = (f64::INFINITY, d);
    // An answer at less than half a nat is worse than a lot.
    let most = (2.0 * epsilon).ceil().min(d as f64).max(1.0) as usize;
    for k in 1..=most {
        match answer_at(kind, epsilon, k)? {
            Some(answer) if answer.worst() / (k as f64) < best.0 => best = (answer.worst() / k as f64, k),
            _ => {}
        }
    }
    Ok(best.1)
}

impl SampledNumbers {
    /// Answers by the piecewise mechanism, for all numbers that can take it: the record, or the features where the label is
    /// a class. k is the best for this ε.
    ///
    /// # Errors
    /// As [`protecting`](Self::protecting).
    pub fn piecewise(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::with(Kind::Piecewise, Portion::of_numbers(domain, epsilon), None)
    }

    /// Answers by Duchi's mechanism: each number by one of two. Else as [`piecewise`](Self::piecewise).
    ///
    /// # Errors
    /// As [`protecting`](Self::protecting).
    pub fn duchi(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::with(Kind::OneBit, Portion::of_numbers(domain, epsilon), None)
    }

    /// The same answers for this portion of each record; the rest leaves in clear. k is the best for this ε.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where there is no such portion, or something other than numbers in it; [`Error::Budget`]
    /// unless ε > 0.
    pub fn protecting(self, protect: Protect) -> Result<Self> {
        Self::with(self.saved.answer, Portion { protect, ..self.saved.portion }, None)
    }

    fn with(answer: Kind, portion: Portion, k: Option<usize>) -> Result<Self> {
        let k = match k {
            Some(k) => k,
            None => best_k(answer, portion.epsilon, portion.set(answer.plugin())?.dim())?,
        };
        Saved { answer, k, portion }.try_into()
    }

    /// How many numbers of a record are answered.
    pub fn k(&self) -> usize {
        self.saved.k
    }

    /// # Errors
    /// [`Error::Budget`] where an answer in the units of its interval, or its square, leaves the floats.
    fn check_fits(&self) -> Result<()> {
        let largest = |&(center, half_width): &(f64, f64)| {
            let worst = self.answer.as_ref().map_or(0.0, Answer::worst);
            (center.abs() + half_width * self.weight()).powi(2) * worst.max(1.0)
        };
        if self.intervals.iter().all(|interval| largest(interval) < 1e300) {
            return Ok(());
        }
        let range = "large enough for answers in the units of the columns to be numbers";
        Err(Error::Budget { name: "epsilon", range, value: self.saved.portion.epsilon })
    }

    /// d/k.
    fn weight(&self) -> f64 {
        self.intervals.len() as f64 / self.saved.k as f64
    }

    /// The laws of these numbers of the portion.
    fn law(&self, numbers: std::ops::Range<usize>) -> Law {
        let Some(answer) = &self.answer else {
            return Law::Exact { width: numbers.len() };
        };
        let (constant, slope) = answer.moments();
        let moments = self.intervals[numbers].iter().map(|&(center, half_width)| Moments {
            center,
            constant: self.weight() * constant * half_width.powi(2),
            slope: self.weight() * slope,
        });
        // Two of d numbers are both among k with probability k(k − 1)/d(d − 1), and each of them weighs d/k then.
        let (k, d) = (self.saved.k as f64, self.intervals.len() as f64);
        let pairs = if d > 1.0 { (k - 1.0) * d / (k * (d - 1.0)) } else { 1.0 };
        Law::Unbiased { moments: moments.collect(), pairs, lot: 0 }
    }
}

#[typetag::serde(name = "sampled-numbers")]
impl LocalMechanism for SampledNumbers {
    fn domain(&self) -> &RecordDomain {
        &self.saved.portion.domain
    }

    fn guarantee(&self) -> Guarantee {
        let how = match self.saved.answer {
            Kind::Piecewise => {
                "the piecewise mechanism on a lattice, with odds of exactly e^ε (Wang et al. 2019, Algorithm 2)"
            }
            Kind::OneBit => "one bit a number, with odds of exactly e^ε (Duchi, Jordan and Wainwright 2018)",
        };
        let of_which = match (self.saved.k, self.intervals.len()) {
            (1, 1) => String::new(),
            (k, d) if k == d => format!(", for each of {d} numbers at an equal share of ε"),
            (k, d) => format!(
                ", for {k} of {d} numbers drawn by lot, at an equal share of ε each (Wang et al. 2019, Algorithm 4)"
            ),
        };
        self.saved.portion.guarantee(&format!("{how}{of_which}"))
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.saved.portion.of(point)?;
        let Some(answer) = &self.answer else {
            return Ok(());
        };
        let drawn = draw_lot(self.saved.k, portion.len(), stream);
        let weight = self.weight();
        for ((x, &(center, half_width)), drawn) in portion.iter_mut().zip(&self.intervals).zip(drawn) {
            let answered =
                if drawn { weight * answer.sample(place(*x, center, half_width), stream) } else { 0.0 };
            *x = center + half_width * answered;
        }
        Ok(())
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.saved.portion.of_both(point, released)?;
        let (answer, weight) = (self.answer.as_ref()?, self.weight());
        let numbers = point.iter().zip(released).zip(&self.intervals);
        // Which were drawn by lot says nothing; a number that was not is the centre.
        let of_each = numbers.map(|((x, released), &(center, half_width))| {
            let answered = place(*released, center, half_width) / weight;
            if answered == 0.0 { 0.0 } else { answer.log_likelihood(place(*x, center, half_width), answered) }
        });
        Some(of_each.sum())
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let portion = &self.saved.portion;
        let farthest = portion.set(self.saved.answer.plugin()).map(|set| set.l2_farthest());
        farthest.map_or(vec![], |farthest| portion.worst_pairs(unit, farthest))
    }

    fn noise(&self) -> Noise {
        let layout = self.saved.portion.domain.layout();
        let (features, target) = (layout.columns.len(), layout.target.width());
        let all = self.intervals.len();
        let (features, target) = match self.saved.portion.protect {
            Protect::Record => (self.law(0..features), self.law(features..all)),
            Protect::Features => (self.law(0..features), Law::Exact { width: target }),
            Protect::Label => (Law::Exact { width: features }, self.law(0..all)),
        };
        Noise { features: vec![features], target }
    }
}

/// Where `x` lies between the ends of its interval, −1 and 1.
fn place(x: f64, center: f64, half_width: f64) -> f64 {
    if half_width > 0.0 { (x - center) / half_width } else { 0.0 }
}

/// Which of `d` are among `k` drawn by lot: every set of k is as likely (Knuth, Algorithm S).
fn draw_lot(k: usize, d: usize, stream: &mut Stream) -> Vec<bool> {
    let mut wanted = k as u64;
    let rest = (1..=d as u64).rev();
    let draws = rest.map(|left| match NonZeroU64::new(left) {
        Some(left) if uniform_below(stream, left) < wanted => {
            wanted -= 1;
            true
        }
        _ => false,
    });
    draws.collect()
}

/// Parameters of `piecewise` and `duchi`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// What is answered at random: "record", "features" or "label". By default all that can: a class label cannot.
    protect: Option<Protect>,
    /// How many numbers of a record are answered, each at ε/k. By default the best for each number by itself at this ε; with 1
    /// nothing can be learned of how two numbers go together.
    k: Option<usize>,
}

fn design(answer: Kind, parameters: Parameters, brief: &Brief) -> Result<SampledNumbers> {
    let all = Portion::of_numbers(brief.domain.clone(), brief.budget.epsilon());
    let protect = parameters.protect.unwrap_or(all.protect);
    SampledNumbers::with(answer, Portion { protect, ..all }, parameters.k)
}

register! {
    /// The plugin `piecewise`.
    pub const PIECEWISE = {
        name: "piecewise",
        summary: "k of d numbers by lot, each answered with a number near it or far from it, at ε/k",
        paper: "Wang et al., Collecting and analyzing multidimensional data with local differential privacy (2019)",
        pace: Quick,
        parameters: Parameters,
        local: |parameters, brief: &Brief| design(Kind::Piecewise, parameters, brief),
        example: Example::numbers,
    };
}

register! {
    /// The plugin `duchi`.
    pub const DUCHI = {
        name: "duchi",
        summary: "k of d numbers by lot, each answered with one bit, at ε/k",
        paper: "Duchi, Jordan and Wainwright, Minimax optimal procedures for locally private estimation (2018)",
        pace: Quick,
        parameters: Parameters,
        local: |parameters, brief: &Brief| design(Kind::OneBit, parameters, brief),
        example: Example::numbers,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Domain;
    use scumble_core::Randomness;
    use scumble_core::TargetDomain;

    fn numbers(d: usize) -> RecordDomain {
        let columns = (1..=d).map(|at| format!("x{at}")).collect();
        let features = Domain::product((0..d).map(|at| Domain::interval(-1.0, at as f64).unwrap())).unwrap();
        RecordDomain::new(columns, features, TargetDomain::None).unwrap()
    }

    /// Wang et al. 2019, equation 12: k = max(1, min(d, ⌊ε/2.5⌋)) is near the best.
    #[test]
    fn k_is_about_two_fifths_of_epsilon() {
        for (epsilon, d) in [(0.5, 10), (5.0, 10), (7.5, 10), (12.5, 10), (100.0, 10), (2.0, 1)] {
            let paper = ((epsilon / 2.5) as usize).clamp(1, d);
            for mechanism in [SampledNumbers::piecewise, SampledNumbers::duchi] {
                let k = mechanism(numbers(d), epsilon).unwrap().k();
                assert!(k.abs_diff(paper) <= 1, "ε = {epsilon}, d = {d}: {k}, and {paper} in the paper");
            }
        }
    }

    #[test]
    fn a_lot_takes_k_and_every_coordinate_as_often() {
        let mut stream = Randomness::seeded(9).streams().stream(0);
        let mut counts = [0; 5];
        for _ in 0..50_000 {
            let drawn = draw_lot(2, 5, &mut stream);
            assert_eq!(drawn.iter().filter(|&&drawn| drawn).count(), 2);
            counts.iter_mut().zip(drawn).for_each(|(count, drawn)| *count += u32::from(drawn));
        }
        // 20,000 expected; six standard deviations are 657, less than 5 %.
        assert!(counts.iter().all(|&count| count.abs_diff(20_000) < 657), "seed 9: {counts:?}");
    }

    #[test]
    fn what_is_not_drawn_is_answered_with_the_centre() {
        let mechanism = SampledNumbers::piecewise(numbers(3), 1.0).unwrap();
        let mut stream = Randomness::seeded(9).streams().stream(0);
        let mut point = mechanism.encode(&[7.0, 7.0, 7.0]).unwrap();
        mechanism.perturb(&mut point, &mut stream).unwrap();
        let centers = [-0.5, 0.0, 0.5];
        assert_eq!(point.iter().zip(centers).filter(|(x, center)| **x == *center).count(), 2, "{point:?}");
    }

    #[test]
    fn a_pair_keeps_the_share_of_its_product_that_the_law_says() {
        const SEED: u64 = 4;
        let draws = 400_000;
        let unit = RecordDomain::new(
            (1..=3).map(|at| at.to_string()).collect(),
            Domain::product([(); 3].map(|()| Domain::interval(-1.0, 1.0).unwrap())).unwrap(),
            TargetDomain::None,
        )
        .unwrap();
        for (k, expected) in [(1, 0.0), (2, 0.75), (3, 1.0)] {
            let mechanism =
                SampledNumbers::with(Kind::OneBit, Portion::of_numbers(unit.clone(), 6.0), Some(k)).unwrap();
            let Law::Unbiased { pairs, .. } = mechanism.law(0..3) else { panic!("the law of answers") };
            assert!((pairs - expected).abs() < 1e-12);
            let mut stream = Randomness::seeded(SEED).streams().stream(0);
            let products = (0..draws).map(|_| {
                let mut point = [0.8, -0.5, 0.1];
                mechanism.perturb(&mut point, &mut stream).unwrap();
                point[0] * point[1]
            });
            let mean = products.sum::<f64>() / f64::from(draws);
            // A product is 3.1 at most, so six standard errors are 0.03.
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
    fn levels_and_a_wrong_k_are_refused() {
        let levels = Domain::product([Domain::unit_box(1), Domain::one_hot(2).unwrap()]).unwrap();
        let columns = vec!["a".into(), "b=1".into(), "b=2".into()];
        let mixed = RecordDomain::new(columns, levels, TargetDomain::None).unwrap();
        assert!(matches!(SampledNumbers::piecewise(mixed, 1.0), Err(Error::NotApplicable { .. })));
        for k in [0, 4] {
            let refused = SampledNumbers::with(Kind::OneBit, Portion::of_numbers(numbers(3), 1.0), Some(k));
            assert!(matches!(refused, Err(Error::Parameter { .. })), "{refused:?}");
        }
    }
}
