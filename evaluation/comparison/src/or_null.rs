//! Scores in JSON: null for a NaN, and the texts `inf` and `-inf` for infinite values. Each module is for
//! `#[serde(with = "…")]`.

use scumble_core::number;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that [`scumble_core::number`] reads.
#[derive(Deserialize)]
struct Number(#[serde(with = "number")] f64);

fn value(number: Option<Number>) -> f64 {
    number.map_or(f64::NAN, |Number(value)| value)
}

pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number::to_json(*value).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(value(Option::deserialize(deserializer)?))
}

/// A list of scores.
pub(super) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| number::to_json(*value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let numbers: Vec<Option<Number>> = Vec::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(value).collect())
    }
}

/// Scores by metric.
pub(super) mod map {
    use super::*;
    use crate::Metric;
    use std::collections::BTreeMap;

    type Scores = BTreeMap<Metric, f64>;

    pub(crate) fn serialize<S: Serializer>(values: &Scores, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(values.iter().map(|(metric, value)| (metric, number::to_json(*value))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scores, D::Error> {
        let numbers: BTreeMap<Metric, Option<Number>> = BTreeMap::deserialize(deserializer)?;
        Ok(numbers.into_iter().map(|(metric, number)| (metric, value(number))).collect())
    }
}

/// A number, or `None`, which is null.
pub(super) mod option {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(number::to_json).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map(|Number(value)| value))
    }
}
