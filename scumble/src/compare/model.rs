//! The models that a comparison knows by name.
//!
//! A new one is one more [`Learner`] in [`LEARNERS`].

use super::{Error, Result};
use crate::linear::{self, LogisticParams, RidgeParams, ValidLogisticParams, ValidRidgeParams};
use crate::registry::{Release, Table, Target, TargetDomain, nearest_name, number};
use linfa::ParamGuard;
use linfa::traits::{Fit, Predict};
use ndarray::Array1;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Hyper-parameters by name; what is not there is the model's default.
pub type Settings = BTreeMap<String, f64>;

/// What a model learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learns {
    Classes,
    Numbers,
}

/// A kind of model: what it is called, what can be set, and how it learns.
struct Learner {
    name: &'static str,
    title: &'static str,
    learns: Learns,
    settings: &'static [&'static str],
    /// Whether the settings are in their ranges.
    check: fn(&Settings) -> Result<(), linear::Error>,
    /// Fits the release, whose noise it may heed, and predicts the targets (n) of viewed test records (n × d).
    predict: fn(&Settings, &Release, &Table) -> Result<Target>,
}

/// All of them; the first that learns a target is its default.
const LEARNERS: &[Learner] = &[
    Learner {
        name: "logistic",
        title: "logistic regression",
        learns: Learns::Classes,
        settings: &["l2_penalty", "max_iterations", "gradient_tolerance"],
        check: |settings| logistic(settings).map(drop),
        predict: predict_logistic,
    },
    Learner {
        name: "ridge",
        title: "ridge regression",
        learns: Learns::Numbers,
        settings: &["l2_penalty", "max_iterations", "tolerance"],
        check: |settings| ridge(settings).map(drop),
        predict: predict_ridge,
    },
];

fn logistic(settings: &Settings) -> Result<ValidLogisticParams, linear::Error> {
    let mut params = LogisticParams::default();
    for (name, &value) in settings {
        params = match name.as_str() {
            "l2_penalty" => params.l2_penalty(value),
            "max_iterations" => params.max_iterations(whole("max_iterations", value)?.into()),
            _ => params.gradient_tolerance(value),
        };
    }
    params.check()
}

fn predict_logistic(settings: &Settings, release: &Release, test: &Table) -> Result<Target> {
    let dataset: linfa::Dataset<f64, usize, ndarray::Ix1> = release.table.clone().try_into()?;
    Ok(Target::Class(match logistic(settings)?.fit(&dataset) {
        Ok(model) => model.predict(test.records()),
        // Who sees one class predicts it.
        Err(linear::Error::OneClass { .. }) => {
            Array1::from_elem(test.len(), dataset.targets.first().copied().unwrap_or_default())
        }
        Err(error) => return Err(error.into()),
    }))
}

fn ridge(settings: &Settings) -> Result<ValidRidgeParams, linear::Error> {
    let mut params = RidgeParams::default();
    for (name, &value) in settings {
        params = match name.as_str() {
            "l2_penalty" => params.l2_penalty(value),
            "max_iterations" => params.max_iterations(whole("max_iterations", value)?),
            _ => params.tolerance(value),
        };
    }
    params.check()
}

fn predict_ridge(settings: &Settings, release: &Release, test: &Table) -> Result<Target> {
    let dataset: linfa::Dataset<f64, f64, ndarray::Ix1> = release.table.clone().try_into()?;
    Ok(Target::Real(ridge(settings)?.fit(&dataset)?.predict(test.records())))
}

/// # Errors
/// Unless `value` is a whole number, at least one, that fits.
fn whole(name: &'static str, value: f64) -> Result<u32, linear::Error> {
    let range = 1.0..=f64::from(u32::MAX);
    if range.contains(&value) && value.fract() == 0.0 {
        return Ok(value as u32);
    }
    Err(linear::Error::Parameter { name, range: "a whole number, one or more", value })
}

/// A model with its hyper-parameters.
#[derive(Clone, Serialize)]
pub struct Model {
    #[serde(rename = "model", serialize_with = "name")]
    learner: &'static Learner,
    #[serde(rename = "model_parameters")]
    settings: Settings,
}

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// For people: what it is, with the hyper-parameters that were given.
impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.learner.title)?;
        self.settings
            .iter()
            .try_for_each(|(name, &value)| write!(formatter, ", {name} = {}", number::short(value)))
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.settings == other.settings
    }
}

fn name<S: Serializer>(learner: &&'static Learner, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(learner.name)
}

impl Model {
    /// The model of this name, with these hyper-parameters: numbers by name.
    ///
    /// # Errors
    /// [`Error::Data`], which lists what there is, for an unknown name or hyper-parameter, or one that is no number;
    /// [`Error::Model`] for a number out of its range.
    pub fn new(name: &str, settings: &Map<String, Value>) -> Result<Self> {
        let learner = LEARNERS.iter().find(|learner| learner.name == name).ok_or_else(|| {
            let names = LEARNERS.iter().map(|learner| learner.name);
            Error::Data(format!("there is no model {name:?}; {}", nearest_or_all(name, names)))
        })?;
        let mut checked = Settings::new();
        for (key, value) in settings {
            if !learner.settings.contains(&key.as_str()) {
                let there = nearest_or_all(key, learner.settings.iter().copied());
                return Err(Error::Data(format!("the model {name:?} has no parameter {key:?}; {there}")));
            }
            let value = value.as_f64().ok_or_else(|| {
                Error::Data(format!("the model {name:?}: {key} must be a finite number, and {value} is not"))
            })?;
            checked.insert(key.clone(), value);
        }
        (learner.check)(&checked)?;
        Ok(Self { learner, settings: checked })
    }

    /// The first that learns such targets, with its defaults.
    pub fn default_for(target: &TargetDomain) -> Self {
        let fits = LEARNERS.iter().find(|learner| learner.learns == what_is_learned(target));
        Self { learner: fits.unwrap_or(&LEARNERS[0]), settings: Settings::new() }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.learner.name
    }

    /// The hyper-parameters that were given; the others are the defaults.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether it learns such targets.
    pub fn fits(&self, target: &TargetDomain) -> bool {
        self.learner.learns == what_is_learned(target)
    }

    /// Learns from the release, and predicts the targets (n) of test records (n × d) as the release's key views them.
    ///
    /// # Errors
    /// Whatever stops the fit; a released target of another kind.
    pub(super) fn predict(&self, release: &Release, test: &Table) -> Result<Target> {
        (self.learner.predict)(&self.settings, release, test)
    }
}

fn what_is_learned(target: &TargetDomain) -> Learns {
    match target {
        TargetDomain::Class { .. } => Learns::Classes,
        _ => Learns::Numbers,
    }
}

fn nearest_or_all<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = names.clone().collect::<Vec<_>>().join(", ");
    match nearest_name(wanted, names) {
        Some(nearest) => format!("did you mean {nearest:?}? There are {all}"),
        None => format!("there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(name: &str, settings: Value) -> String {
        let Value::Object(settings) = settings else { unreachable!() };
        Model::new(name, &settings).unwrap_err().to_string()
    }

    #[test]
    fn what_there_is_not_is_refused_with_a_list_of_what_there_is() {
        assert_eq!(
            refused("logisitc", json!({})),
            "there is no model \"logisitc\"; did you mean \"logistic\"? There are logistic, ridge"
        );
        assert_eq!(refused("forest", json!({})), "there is no model \"forest\"; there are logistic, ridge");
        assert_eq!(
            refused("ridge", json!({"depth": 3})),
            "the model \"ridge\" has no parameter \"depth\"; there are l2_penalty, max_iterations, tolerance"
        );
        assert!(refused("ridge", json!({"l2_penalty": "much"})).contains("must be a finite number"));
        assert!(refused("ridge", json!({"l2_penalty": -1})).contains("l2_penalty must be"));
        for iterations in [json!(0), json!(1.5), json!(1e300)] {
            assert!(refused("logistic", json!({ "max_iterations": iterations })).contains("a whole number"));
        }
    }

    #[test]
    fn each_model_takes_the_settings_that_it_lists() {
        for learner in LEARNERS {
            for &name in learner.settings {
                let settings = Map::from_iter([(name.to_owned(), json!(2))]);
                let model = Model::new(learner.name, &settings).unwrap();
                assert_eq!(model.settings()[name], 2.0);
            }
        }
        // A setting reaches the model.
        let with = |value: f64| ridge(&Settings::from([("l2_penalty".into(), value)])).unwrap();
        assert_ne!(with(1.0), with(2.0));
    }
}
