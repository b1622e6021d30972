//! Plugin that releases an additive model: a sum of one function of each column.

use crate::gradient_model::{ADDITIVE, Family, GradientModel, Parameters, State};
use schemars::JsonSchema;
use scumble_accounting::gaussian;
use scumble_core::levels::Attribute;
use scumble_core::{Brief, Descriptor, Error, Example, Output, Result, register, split_parameters};
use serde::{Deserialize, Deserializer};

/// Parameters of the plugin.
#[derive(Debug, Clone, JsonSchema)]
struct AdditiveParameters {
    /// Number of knots of each number that has no knots in the schema, from 2 to 256. The default follows a
    /// public rule from the number of people and the budget.
    knots: Option<usize>,
    #[schemars(flatten)]
    descent: Parameters,
}

impl<'de> Deserialize<'de> for AdditiveParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (knots, descent) = split_parameters(deserializer, "knots")?;
        Ok(Self { knots, descent })
    }
}

/// Number of people that the rule for knots assumes if the [`Brief`] does not state it.
const PEOPLE: usize = 1000;

/// Number of knots of a number without bins in the schema: the cube root of 2nμ for n people, from 4 to 64.
fn knots_by_rule(brief: &Brief) -> usize {
    let mu = gaussian::mu(brief.budget.epsilon(), brief.budget.delta()).unwrap_or(f64::INFINITY);
    let people = brief.people.unwrap_or(PEOPLE) as f64;
    (2.0 * people * mu).cbrt().clamp(4.0, 64.0) as usize
}

/// Knots of each number among the features of `brief`, in units of the encoded record.
///
/// A number with bins in the public schema has a knot at each end of a bin, and one in the middle of the
/// first bin. A value to which the schema gives the first bin for itself, such as zero, then has a knot for
/// itself. All other numbers have `count` knots at equal distances.
fn knots(brief: &Brief, count: Option<usize>) -> Result<Vec<Vec<f64>>> {
    let count = count.unwrap_or_else(|| knots_by_rule(brief));
    Error::check(ADDITIVE, "knots", count, "from 2 to 256", (2..=256).contains(&count))?;
    let (features, _) = Attribute::all(ADDITIVE, &brief.domain, |_| 1)?;
    let own = |feature: &Attribute| {
        let (lower, upper) = feature.bounds()?;
        let shares: Vec<f64> = match brief.bins.get(&brief.domain.columns()[feature.coordinates().start]) {
            Some(&bins) => {
                let ends = (1..=bins).map(|end| end as f64);
                [0.0, 0.5].into_iter().chain(ends).map(|end| end / bins as f64).collect()
            }
            None => (0..count).map(|at| at as f64 / (count - 1) as f64).collect(),
        };
        Some(shares.into_iter().map(|share| lower + (upper - lower) * share).collect())
    };
    Ok(features.iter().filter_map(own).collect())
}

fn design(parameters: AdditiveParameters, brief: &Brief) -> Result<State> {
    let knots = knots(brief, parameters.knots)?;
    GradientModel::design(Family::Additive { knots }, parameters.descent, brief)
}

register! {
    /// The plugin `private-additive`.
    pub const PRIVATE_ADDITIVE = {
        name: ADDITIVE,
        summary: "an additive model, one function of each column, in place of the records, by descent on \
                  noisy sums of clipped gradients",
        paper: "Hastie and Tibshirani, Generalized additive models (1986), by the descent of \
                private-logistic",
        descriptor: Descriptor::new(Output::Model).reading_people(),
        parameters: AdditiveParameters,
        learn: |parameters, brief: &Brief| design(parameters, brief),
        curator: GradientModel::try_from,
        example: Example::mixed,
    };
}
