//! Plugin that releases an additive model: a sum of one function of each column.

use crate::basis::{Grids, Side};
use crate::gradient_model::{ADDITIVE, Family, GradientModel, Parameters, State};
use schemars::JsonSchema;
use scumble_core::levels::Attribute;
use scumble_core::{Brief, Descriptor, Error, Example, Output, Result, register, split_parameters};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Parameters of the plugin.
#[derive(Debug, Clone, JsonSchema)]
struct AdditiveParameters {
    /// Number of knots of each number that has no knots in the schema, from 2 to 256. The default follows a
    /// public rule from the number of people and the budget.
    knots: Option<usize>,
    /// Pairs of columns with a function of both, by their names, such as [["age", "sex"]]. By default none.
    pairs: Option<Vec<[String; 2]>>,
    #[schemars(flatten)]
    descent: Parameters,
}

impl<'de> Deserialize<'de> for AdditiveParameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (knots, others): (_, Value) = split_parameters(deserializer, "knots")?;
        let (pairs, descent) = split_parameters(others, "pairs").map_err(D::Error::custom)?;
        Ok(Self { knots, pairs, descent })
    }
}

/// Number of people that the rule for knots assumes if the [`Brief`] does not state it.
const PEOPLE: usize = 1000;

/// Number of knots of a number without bins in the schema: the cube root of 2nμ for n people, from 4 to 64.
fn knots_by_rule(parameters: &Parameters, brief: &Brief) -> Result<usize> {
    let people = parameters.records.or(brief.people).unwrap_or(PEOPLE) as f64;
    Ok((2.0 * people * parameters.mu(brief.budget)?).cbrt().clamp(4.0, 64.0) as usize)
}

/// Knots of the features of `brief`, in units of the encoded record, and its pairs of columns.
///
/// A number with bins in the public schema has a knot at each end of a bin, and one in the middle of the
/// first bin. A value to which the schema gives the first bin for itself, such as zero, then has a knot for
/// itself. All other numbers have as many knots at equal distances as the parameters or a public rule say. A
/// number of a pair has the square root of this number of knots, and at least 3.
fn grids(parameters: &AdditiveParameters, brief: &Brief) -> Result<Grids> {
    let count = parameters.knots.map_or_else(|| knots_by_rule(&parameters.descent, brief), Ok)?;
    Error::check(ADDITIVE, "knots", count, "from 2 to 256", (2..=256).contains(&count))?;
    let (features, _) = Attribute::all(ADDITIVE, &brief.domain, |_| 1)?;
    let own = |feature: &Attribute| {
        let column = &brief.domain.columns()[feature.coordinates().start];
        Some(match brief.bins.get(column) {
            Some(&bins) => {
                let ends = (1..=bins).map(|end| end as f64);
                between(feature, [0.0, 0.5].into_iter().chain(ends).map(|end| end / bins as f64))?
            }
            None => equal(feature, count)?,
        })
    };
    let side = |name: &String| -> Result<Side> {
        let refuse = || Error::parameter(ADDITIVE, format!("pairs: there is no column {name:?}"));
        let feature = brief.domain.feature(name).ok_or_else(refuse)?;
        let coarse = ((count as f64).sqrt() as usize).max(3);
        Ok(Side { feature, knots: equal(&features[feature], coarse).unwrap_or_default() })
    };
    let pair = |[one, other]: &[String; 2]| match one == other {
        true => Err(Error::parameter(ADDITIVE, format!("pairs: {one:?} is paired with itself"))),
        false => Ok([side(one)?, side(other)?]),
    };
    Ok(Grids {
        knots: features.iter().filter_map(own).collect(),
        pairs: parameters.pairs.iter().flatten().map(pair).collect::<Result<_>>()?,
    })
}

/// Knots at `count` equal distances from one bound of a number to the other; `None` for a category.
fn equal(feature: &Attribute, count: usize) -> Option<Vec<f64>> {
    between(feature, (0..count).map(|at| at as f64 / (count - 1) as f64))
}

/// Knots at these shares of the way from one bound of a number to the other; `None` for a category.
fn between(feature: &Attribute, shares: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let (lower, upper) = feature.bounds()?;
    Some(shares.map(|share| lower + (upper - lower) * share).collect())
}

fn design(parameters: AdditiveParameters, brief: &Brief) -> Result<State> {
    let grids = grids(&parameters, brief)?;
    GradientModel::design(Family::Additive(grids), parameters.descent, brief)
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
