//! Randomised response: each level of a category is kept, or exchanged for another.

use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Descriptor, Domain, Error, Example, Factor, Guarantee, LocalMechanism, Noise,
    NoiseDistribution, Output, Perturbation, Portion, Protect, RecordDomain, Result, Stream, TargetDomain,
    Unit, register,
};
use scumble_sampling::{Rational, randomized_response};
use serde::Deserialize;
use std::num::NonZeroU64;
use std::ops::Range;

const NAME: &str = "randomized-response";

/// Keeps the level of a one-hot group of K levels with probability e^ε/(e^ε + K − 1). Otherwise it picks one
/// of the other K − 1 levels with equal probability.
///
/// If the protected portion of the record (record, features or label) has g groups, each is randomised at
/// ε/g. The mechanism refuses a portion that contains a number.
///
/// ```
/// use scumble_classic::RandomizedResponse;
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, TargetDomain};
///
/// let levels = vec!["no".into(), "yes".into()];
/// let answers = RecordDomain::new(vec![], Domain::empty(), TargetDomain::Class { levels })?;
/// let mechanism = RandomizedResponse::new(answers, 1.0)?;
/// let flip = mechanism.noise().label_flip().unwrap()[[0, 0]];
/// assert!((flip - 1f64.exp() / (1f64.exp() + 1.0)).abs() < 1e-15);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RandomizedResponse {
    portion: Portion,
    /// Coordinates of each one-hot group within the protected portion of a record.
    groups: Vec<Range<usize>>,
    /// ε of one group; `None` at ε = ∞.
    group_epsilon: Option<Rational>,
}

impl TryFrom<Portion> for RandomizedResponse {
    type Error = Error;

    fn try_from(portion: Portion) -> Result<Self> {
        let set = portion.set(NAME)?;
        if !is_categorical(&set) {
            // In the features and in the whole record, the coordinates of the columns come first. A portion
            // that is the label has no column.
            let first = set.factors().find(|(_, factor)| !matches!(factor, Factor::OneHot { .. }));
            let column = first.filter(|_| portion.protect != Protect::Label);
            let column = column.and_then(|(place, _)| portion.domain.columns().get(place.start));
            let place = column.map_or("the target".to_owned(), |column| format!("the column {column:?}"));
            return Err(Error::not_applicable(
                NAME,
                format!("it answers with levels, but the protected portion contains numbers: {place}"),
            ));
        }
        if portion.protect != Protect::Features
            && matches!(portion.domain.target(), TargetDomain::Vector { .. })
        {
            return Err(Error::not_applicable(NAME, "its label must be a class, not a vector"));
        }
        let groups: Vec<Range<usize>> = set.factors().map(|(coordinates, _)| coordinates).collect();
        let group_epsilon = match Budget::pure(portion.epsilon)?.divide(groups.len())?.epsilon() {
            f64::INFINITY => None,
            epsilon => Some(Rational::floor_of(epsilon)?),
        };
        Ok(Self { portion, groups, group_epsilon })
    }
}

fn is_categorical(domain: &Domain) -> bool {
    domain.factors().all(|(_, factor)| matches!(factor, Factor::OneHot { .. }))
}

/// Returns the portion of a record to protect by default. It is the whole record if this consists of levels
/// only, else the label if it is a class, else the features.
fn all_that_can(domain: &RecordDomain) -> Protect {
    match domain.target() {
        _ if is_categorical(domain.flat()) => Protect::Record,
        TargetDomain::Class { .. } => Protect::Label,
        _ => Protect::Features,
    }
}

impl RandomizedResponse {
    /// Protects the whole record if it consists of levels only, else the label if it is a class, else the
    /// features.
    ///
    /// # Errors
    /// Same errors as [`protecting`](Self::protecting).
    pub fn new(domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Self::protecting(all_that_can(&domain), domain, epsilon)
    }

    /// Randomises the portion `protect` of each record; the rest of the record is released in the clear.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if records have no such portion, or if it contains a number.
    /// [`Error::Budget`] unless ε > 0.
    pub fn protecting(protect: Protect, domain: RecordDomain, epsilon: f64) -> Result<Self> {
        Portion { domain, protect, epsilon }.try_into()
    }

    /// Returns the noise distribution of a group of `levels` levels.
    fn distribution(&self, levels: usize) -> NoiseDistribution {
        let Some(epsilon) = self.group_epsilon.filter(|_| levels > 0) else {
            return NoiseDistribution::Exact { width: levels };
        };
        // Dividing by e^ε avoids overflow.
        let other = (-epsilon.to_f64()).exp();
        let keep = 1.0 / (1.0 + (levels - 1) as f64 * other);
        NoiseDistribution::Flip { levels, keep }
    }
}

impl LocalMechanism for RandomizedResponse {
    fn domain(&self) -> &RecordDomain {
        &self.portion.domain
    }

    fn guarantee(&self) -> Guarantee {
        let theorem = "randomised response (Warner 1965; K levels: Kairouz, Oh and Viswanath 2014), every \
                       group at an equal share of ε";
        self.portion.guarantee(theorem)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.portion.slice(point)?;
        let Some(epsilon) = self.group_epsilon else {
            return Ok(());
        };
        for group in &self.groups {
            let group = &mut portion[group.clone()];
            let Some(levels) = NonZeroU64::new(group.len() as u64) else {
                continue; // unreachable: a group has two levels or more
            };
            // A valid point has exactly one 1 in each group. A group without a 1 counts as the first level.
            let truth = group.iter().position(|&x| x == 1.0).unwrap_or(0);
            let answer = randomized_response(stream, truth as u64, levels, epsilon);
            group.fill(0.0);
            group[answer as usize] = 1.0;
        }
        Ok(())
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.portion.slice_both(point, released)?;
        let kept = self.groups.iter().filter(|group| point[(*group).clone()] == released[(*group).clone()]);
        Some(kept.count() as f64 * self.group_epsilon?.to_f64())
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let start = self.portion.coordinates().start;
        let flips = |group: &Range<usize>| match self.distribution(group.len()) {
            NoiseDistribution::Flip { keep, .. } => {
                Some(Perturbation::Flip { coordinates: group.start + start..group.end + start, keep })
            }
            _ => None,
        };
        self.groups.iter().filter_map(flips).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let farthest = self.portion.set(NAME).map(|set| set.l2_farthest());
        farthest.map_or(vec![], |farthest| self.portion.worst_pairs(unit, farthest))
    }

    fn noise(&self) -> Noise {
        let layout = self.portion.domain.layout();
        let features = match self.portion.protect {
            Protect::Label => vec![NoiseDistribution::Exact { width: layout.columns.len() }],
            _ => {
                let factors = self.portion.domain.features().factors();
                factors.map(|(group, _)| self.distribution(group.len())).collect()
            }
        };
        let width = layout.target.width();
        let target = match self.portion.protect {
            Protect::Features => NoiseDistribution::Exact { width },
            _ => self.distribution(width),
        };
        Noise { features, target }
    }
}

/// Parameters of `randomized-response`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Portion of the record to randomise: "record", "features" or "label". The default is the record if it
    /// consists of levels only, else the label if it is a class, else the features.
    protect: Option<Protect>,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<Portion> {
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    let protect = parameters.protect.unwrap_or_else(|| all_that_can(&domain));
    Ok(Portion { domain, protect, epsilon })
}

register! {
    /// The plugin `randomized-response`.
    pub const RANDOMIZED_RESPONSE = {
        name: NAME,
        summary: "each level kept or replaced by another one at random",
        paper: "Warner, Randomized response: a survey technique for eliminating evasive answer bias (1965)",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: learn,
        local: RandomizedResponse::try_from,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;
    use scumble_core::Unit;
    use scumble_testing::records;

    fn class(levels: usize) -> TargetDomain {
        TargetDomain::Class { levels: (0..levels).map(|level| level.to_string()).collect() }
    }

    #[test]
    fn groups_share_epsilon_and_never_exceed_it() {
        let groups = Domain::product([Domain::one_hot(3).unwrap(), Domain::one_hot(4).unwrap()]).unwrap();
        let mechanism = RandomizedResponse::new(records(groups, class(2)), 0.3).unwrap();
        let each = mechanism.group_epsilon.unwrap().to_f64();
        assert!(scumble_core::sum_up([each; 3]) <= 0.3 && each > 0.1 - 1e-12, "{each}");
        assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 0.3);
    }

    #[test]
    fn a_portion_with_numbers_is_refused() {
        let numbers = records(Domain::unit_box(2), class(2));
        let refused = RandomizedResponse::protecting(Protect::Features, numbers.clone(), 1.0);
        assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
        let labels = RandomizedResponse::new(numbers, 1.0).unwrap();
        assert_eq!(labels.portion.protect, Protect::Label);
        assert!(labels.guarantee().discloses[0].contains("features"));
    }

    #[test]
    fn the_published_distribution_is_the_one_of_the_answers() {
        let mechanism = RandomizedResponse::new(records(Domain::empty(), class(3)), 1.2).unwrap();
        let matrix = mechanism.noise().label_flip().unwrap();
        let ratio = matrix[[0, 0]] / matrix[[1, 0]];
        assert!((ratio.ln() - 1.2).abs() < 1e-12, "the odds are e^{}", ratio.ln());
        let draws = 200_000;
        let mut stream = Randomness::seeded(3).streams().stream(0);
        let kept = (0..draws)
            .filter(|_| {
                let mut point = [0.0, 1.0, 0.0];
                mechanism.perturb(&mut point, &mut stream).unwrap();
                point == [0.0, 1.0, 0.0]
            })
            .count() as f64;
        // The tolerance is 4.9 standard deviations, a false-alarm rate of 10⁻⁶. An ε that is 5 % off moves
        // the count by 13.
        let p = matrix[[1, 1]];
        let deviation = (kept - draws as f64 * p) / (draws as f64 * p * (1.0 - p)).sqrt();
        assert!(deviation.abs() < 4.9, "seed 3: kept {kept} of {draws}, {deviation} deviations off");
    }

    #[test]
    fn a_large_epsilon_keeps_every_level() {
        for epsilon in [1e6, f64::INFINITY] {
            let mechanism = RandomizedResponse::new(records(Domain::empty(), class(3)), epsilon).unwrap();
            let mut stream = Randomness::seeded(3).streams().stream(0);
            for _ in 0..1000 {
                let mut point = [0.0, 0.0, 1.0];
                mechanism.perturb(&mut point, &mut stream).unwrap();
                assert_eq!(point, [0.0, 0.0, 1.0]);
            }
        }
    }
}
