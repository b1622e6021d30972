//! Models that a comparison knows by name.
//!
//! To add a model, add a [`Learner`] to [`LEARNERS`].

use super::combinations::combinations;
use super::prediction::{ClassScores, Predicted};
use super::{Error, Result};
use linfa::traits::{Fit, Predict, PredictInplace};
use linfa::{DatasetBase, ParamGuard};
use ndarray::{Array1, Array2, ArrayView2};
use scumble_classifier::{Classifier, ClassifierParams};
use scumble_core::{Release, Table, Target, TargetDomain, TargetLayout, nearest_name, number};
use scumble_linear::{LogisticModel, LogisticParams, RidgeParams};
use scumble_svm::{KernelSvmModel, KernelSvmParams, SvmModel, SvmParams};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Hyper-parameters by name. Missing ones have the model's defaults.
pub type Settings = BTreeMap<String, f64>;

/// Kind of target that a model learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learns {
    Classes,
    Numbers,
}

/// Kind of model: its name, its hyper-parameters, and its functions to learn and predict.
struct Learner {
    name: &'static str,
    title: &'static str,
    learns: Learns,
    settings: &'static [&'static str],
    /// Checks that the settings are in their ranges.
    check: fn(&Settings) -> Result<()>,
    /// Fits the model to the release, and predicts the targets of test records. The test records are given as
    /// they would have been released without noise. Classifiers also return class scores. A noise-aware
    /// learner uses the noise distribution that the release states.
    predict: Predictor,
    /// Function like `predict` for labels that are released as vectors; `None` if the learner does not
    /// support them.
    vectors: Option<Predictor>,
}

type Predictor = fn(&Settings, &Release, &Table) -> Result<Predicted>;

/// [`Learner`] of classes. `$params` converts [`Settings`] to the hyper-parameters of the model. For a
/// noise-aware learner, the method `$setter` of these hyper-parameters sets the probabilities with which the
/// mechanism flips labels.
macro_rules! learner {
    ($name:literal, $title:literal, $settings:ident, $params:ident $(, $setter:ident)?) => {
        Learner {
            name: $name,
            title: $title,
            learns: Learns::Classes,
            settings: $settings,
            check: |settings| Ok($params(settings)?.check().map(drop)?),
            predict: |settings, release, test| {
                let params = $params(settings)?;
                $(
                    let flip = release.noise.label_flip();
                    let params = with_known(params, flip, |own, flip| own.$setter(flip));
                )?
                classes(release, test, |seen| Ok(params.fit(seen)?))
            },
            vectors: None,
        }
    };
}

/// All learners. The first one that learns a kind of target is the default for this kind.
///
/// A noise-aware learner uses the noise distribution in [`Release::noise`]. If it has no use for this
/// distribution, it equals the learner of the same name without `noise-aware`.
const LEARNERS: &[Learner] = &[
    learner!("logistic", "logistic regression", LOGISTIC, logistic),
    learner!("noise-aware-logistic", "noise-aware logistic regression", LOGISTIC, logistic, label_flip),
    learner!("svm", "linear support vector machine", MACHINE, machine),
    learner!("noise-aware-svm", "noise-aware linear support vector machine", MACHINE, machine, label_flip),
    learner!("kernel-svm", "support vector machine with a Gaussian kernel", KERNEL, kernel),
    Learner { vectors: Some(vectors), ..learner!("network", "neural network", NETWORK, network) },
    Learner {
        vectors: Some(vectors),
        ..learner!("noise-aware-network", "noise-aware neural network", NETWORK, network, label_flip)
    },
    Learner {
        name: "ridge",
        title: "ridge regression",
        learns: Learns::Numbers,
        settings: RIDGE,
        check: |settings| Ok(ridge(settings).check().map(drop)?),
        predict: |settings, release, test| numbers(ridge(settings), release, test),
        vectors: None,
    },
    Learner {
        name: "noise-aware-ridge",
        title: "noise-aware ridge regression",
        learns: Learns::Numbers,
        settings: RIDGE,
        check: |settings| Ok(ridge(settings).check().map(drop)?),
        predict: |settings, release, test| {
            let noise = release.noise.covariance(&release.table);
            numbers(with_known(ridge(settings), noise, RidgeParams::noise_covariance), release, test)
        },
        vectors: None,
    },
];

/// Passes `known`, the known noise of a release, to `params` by the method `tell`. Returns `params` unchanged
/// if `known` is `None`.
fn with_known<P, K>(params: P, known: Option<K>, tell: fn(P, K) -> P) -> P {
    match known {
        Some(known) => tell(params, known),
        None => params,
    }
}

/// Borrowed records of a release, and their targets.
type Seen<'a, T> = DatasetBase<ArrayView2<'a, f64>, T>;
type Classes<'a> = Seen<'a, Array1<usize>>;

/// Fitted classifier with a score for each class.
trait Scoring: PredictInplace<Array2<f64>, Array1<usize>> {
    /// Class scores of `records` (n records × d features).
    fn scores(&self, records: &Array2<f64>) -> Result<ClassScores>;
}

/// Implements [`Scoring`] for each model by the model's method `$values`. The macro's input marks a method
/// that may fail by `?`.
macro_rules! scoring {
    ($($model:ty: $values:ident $(($fails:tt))?),*) => {$(
        impl Scoring for $model {
            fn scores(&self, records: &Array2<f64>) -> Result<ClassScores> {
                let values = self.$values(records)$($fails)?;
                Ok(ClassScores { classes: self.classes().to_vec(), values })
            }
        }
    )*};
}
scoring!(LogisticModel: probabilities, SvmModel: decision_values, KernelSvmModel: decision_values);
scoring!(Classifier: probabilities(?));

/// Predicted classes of the test records with their scores, by the model that `fit` learns from the release.
fn classes<M: Scoring>(
    release: &Release,
    test: &Table,
    fit: impl FnOnce(&Classes<'_>) -> Result<M>,
) -> Result<Predicted> {
    let seen: Classes = (&release.table).try_into()?;
    let (classes, scores) = match seen.targets.first() {
        // If the release has only one class, all predictions are this class.
        Some(&only) if seen.targets.iter().all(|class| *class == only) => {
            (Array1::from_elem(test.len(), only), ClassScores::for_one_class(only, test.len()))
        }
        _ => {
            let model = fit(&seen)?;
            (model.predict(test.records()), model.scores(test.records())?)
        }
    };
    Ok(Predicted { target: Target::Class(classes), scores: Some(scores) })
}

/// Predicted vectors of the test records, by a network that learns from the release.
fn vectors(settings: &Settings, release: &Release, test: &Table) -> Result<Predicted> {
    let seen: Seen<Array2<f64>> = (&release.table).try_into()?;
    Ok(Predicted::from_target(Target::Vector(network(settings)?.fit(&seen)?.predict(test.records()))))
}

fn numbers(params: RidgeParams, release: &Release, test: &Table) -> Result<Predicted> {
    let seen: Seen<Array1<f64>> = (&release.table).try_into()?;
    Ok(Predicted::from_target(Target::Real(params.fit(&seen)?.predict(test.records()))))
}

const LOGISTIC: &[&str] = &["l2_penalty", "max_iterations", "gradient_tolerance"];

fn logistic(settings: &Settings) -> Result<LogisticParams> {
    settings.iter().try_fold(LogisticParams::default(), |params, (name, &value)| {
        Ok(match name.as_str() {
            "l2_penalty" => params.l2_penalty(value),
            "max_iterations" => params.max_iterations(whole(name, value)?.into()),
            _ => params.gradient_tolerance(value),
        })
    })
}

const MACHINE: &[&str] = &["penalty", "bias_penalty", "tolerance", "max_iterations"];

fn machine(settings: &Settings) -> Result<SvmParams> {
    settings.iter().try_fold(SvmParams::default(), |params, (name, &value)| {
        Ok(match name.as_str() {
            "penalty" => params.penalty(value),
            "bias_penalty" => params.bias_penalty(value),
            "max_iterations" => params.max_iterations(whole(name, value)?.into()),
            _ => params.tolerance(value),
        })
    })
}

const KERNEL: &[&str] = &["penalty", "width", "tolerance", "max_iterations"];

fn kernel(settings: &Settings) -> Result<KernelSvmParams> {
    settings.iter().try_fold(KernelSvmParams::default(), |params, (name, &value)| {
        Ok(match name.as_str() {
            "penalty" => params.penalty(value),
            "width" => params.width(value),
            "max_iterations" => params.max_iterations(whole(name, value)? as usize),
            _ => params.tolerance(value),
        })
    })
}

const NETWORK: &[&str] =
    &["hidden", "epochs", "batch_size", "learning_rate", "validation_share", "patience", "seed"];

fn network(settings: &Settings) -> Result<ClassifierParams> {
    settings.iter().try_fold(ClassifierParams::default(), |params, (name, &value)| {
        Ok(match name.as_str() {
            // A setting is one number, so the network has one hidden layer of this width.
            "hidden" => params.hidden(vec![whole(name, value)? as usize]),
            "epochs" => params.epochs(whole(name, value)? as usize),
            "batch_size" => params.batch_size(whole(name, value)? as usize),
            "learning_rate" => params.learning_rate(value),
            "validation_share" => params.validation_share(value),
            "patience" => params.patience(whole(name, value)? as usize),
            _ => params.seed(whole(name, value)?.into()),
        })
    })
}

const RIDGE: &[&str] = &["l2_penalty"];

fn ridge(settings: &Settings) -> RidgeParams {
    settings.values().fold(RidgeParams::default(), |params, &value| params.l2_penalty(value))
}

/// Converts a hyper-parameter to a whole number.
///
/// # Errors
/// [`Error::Data`] unless `value` is a whole number of at least one that fits into `u32`.
fn whole(name: &str, value: f64) -> Result<u32> {
    let range = 1.0..=f64::from(u32::MAX);
    if range.contains(&value) && value.fract() == 0.0 {
        return Ok(value as u32);
    }
    Err(Error::Data(format!("{name} must be a whole number, one or more, and {value} is not")))
}

/// Model with its hyper-parameters. Some hyper-parameters may be chosen among several values.
#[derive(Clone)]
pub struct Model {
    learner: &'static Learner,
    settings: Settings,
    tune: BTreeMap<String, Vec<f64>>,
}

impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// Text for people: the model, with the hyper-parameters that were given.
impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.learner.title)?;
        self.settings
            .iter()
            .try_for_each(|(name, &value)| write!(formatter, ", {name} = {}", number::short(value)))?;
        self.tune.iter().try_for_each(|(name, values)| {
            let values = values.iter().map(|&value| number::short(value)).collect::<Vec<_>>();
            write!(formatter, ", {name} among {}", values.join(", "))
        })
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.settings == other.settings && self.tune == other.tune
    }
}

impl Model {
    /// Model called `name`. `settings` has the values of its hyper-parameters by name.
    ///
    /// # Errors
    /// - [`Error::Data`] for an unknown name or hyper-parameter, with the nearest or all valid names.
    /// - [`Error::Data`] for a value that is not a number.
    /// - For a number out of its range: [`Error::Linear`] for a linear model, [`Error::Machine`] for a
    ///   support vector machine, and [`Error::Network`] for a network.
    pub fn new(name: &str, settings: &Map<String, Value>) -> Result<Self> {
        let learner = LEARNERS.iter().find(|learner| learner.name == name).ok_or_else(|| {
            let names = LEARNERS.iter().map(|learner| learner.name);
            Error::Data(format!("there is no model {name:?}; {}", nearest_or_all(name, names)))
        })?;
        let mut checked = Settings::new();
        for (key, value) in settings {
            if !learner.settings.contains(&key.as_str()) {
                let suggestion = nearest_or_all(key, learner.settings.iter().copied());
                return Err(Error::Data(format!(
                    "the model {name:?} has no parameter {key:?}; {suggestion}"
                )));
            }
            let value = value.as_f64().ok_or_else(|| {
                Error::Data(format!("the model {name:?}: {key} must be a finite number, and {value} is not"))
            })?;
            checked.insert(key.clone(), value);
        }
        (learner.check)(&checked)?;
        Ok(Self { learner, settings: checked, tune: BTreeMap::new() })
    }

    /// This model, with hyper-parameters that a comparison chooses among the values in `tune`. It chooses by
    /// scores on volunteers' records, or by private validation ([`validation`](crate::validation)).
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new) for each of the values, and [`Error::Data`] for an empty list.
    pub fn tuned(self, tune: &BTreeMap<String, Vec<Value>>) -> Result<Self> {
        if let Some((name, _)) = tune.iter().find(|(_, values)| values.is_empty()) {
            return Err(Error::Data(format!("the model {self}: the list of values for {name} is empty")));
        }
        let fixed = self.settings.iter().map(|(name, &value)| (name.clone(), value.into()));
        for settings in combinations(fixed.collect(), tune) {
            Self::new(self.name(), &Map::from_iter(settings))?;
        }
        let numbers = |values: &Vec<Value>| values.iter().filter_map(Value::as_f64).collect();
        let tune = tune.iter().map(|(name, values)| (name.clone(), numbers(values))).collect();
        Ok(Self { tune, ..self })
    }

    /// One model for each combination of the values to choose from. The result is the model itself if nothing
    /// is chosen.
    pub fn options(&self) -> Vec<Self> {
        let all = combinations(self.settings.clone(), &self.tune).into_iter();
        all.map(|settings| Self { settings, learner: self.learner, tune: BTreeMap::new() }).collect()
    }

    /// Returns true if at least one hyper-parameter is chosen among several values.
    pub fn is_tuned(&self) -> bool {
        !self.tune.is_empty()
    }

    /// Values that this model has for the hyper-parameters that `tuned` chooses among several values.
    pub(super) fn chosen_of(&self, tuned: &Self) -> BTreeMap<String, Value> {
        let own = self.settings.iter().filter(|(name, _)| tuned.tune.contains_key(*name));
        own.map(|(name, &value)| (name.clone(), number::to_json(value))).collect()
    }

    /// Default model for a kind of target: the first one that learns it, with its defaults.
    pub fn default_for(target: &TargetDomain) -> Self {
        let fits = LEARNERS.iter().find(|learner| learner.learns == what_is_learned(target));
        Self { learner: fits.unwrap_or(&LEARNERS[0]), settings: Settings::new(), tune: BTreeMap::new() }
    }

    /// Name of the model.
    pub fn name(&self) -> &'static str {
        self.learner.name
    }

    /// Hyper-parameters that were given. A hyper-parameter that is chosen has the list of its candidate
    /// values. All hyper-parameters that are not listed have their defaults.
    pub fn settings(&self) -> BTreeMap<String, Value> {
        let given = self.settings.iter().map(|(name, &value)| (name.clone(), number::to_json(value)));
        let lists = self.tune.iter().map(|(name, values)| {
            (name.clone(), values.iter().map(|&value| number::to_json(value)).collect::<Value>())
        });
        given.chain(lists).collect()
    }

    /// Returns true if the model learns this kind of target.
    pub fn fits(&self, target: &TargetDomain) -> bool {
        self.learner.learns == what_is_learned(target)
    }

    /// Returns true if the model can learn from releases whose targets have the layout `released`.
    pub(super) fn learns(&self, released: TargetLayout) -> bool {
        !matches!(released, TargetLayout::Vector { .. }) || self.learner.vectors.is_some()
    }

    /// Learns from the release, and predicts the targets of test records. `test` has these records as they
    /// would have been released without noise. The result has class scores if the model has them.
    ///
    /// # Errors
    /// Any error of the fit, and an error if the released targets are not of the kind that the model learns.
    pub(super) fn predict(&self, release: &Release, test: &Table) -> Result<Predicted> {
        let predict = match (release.table.target(), self.learner.vectors) {
            (Target::Vector(_), Some(vectors)) => vectors,
            _ => self.learner.predict,
        };
        predict(&self.settings, release, test)
    }
}

fn what_is_learned(target: &TargetDomain) -> Learns {
    match target {
        TargetDomain::Class { .. } => Learns::Classes,
        _ => Learns::Numbers,
    }
}

fn nearest_or_all<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = names.clone().collect::<Vec<_>>().join(", ");
    match nearest_name(name, names) {
        Some(nearest) => format!("did you mean {nearest:?}? There are {all}"),
        None => format!("there are {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::prediction::auc;
    use super::*;
    use scumble_core::{Designed, Domain, Randomness, RecordDomain, largest};
    use serde_json::json;

    fn refused(name: &str, settings: Value) -> String {
        let Value::Object(settings) = settings else { unreachable!() };
        Model::new(name, &settings).unwrap_err().to_string()
    }

    #[test]
    fn what_there_is_not_is_refused_with_a_list_of_what_there_is() {
        assert_eq!(
            refused("logisitc", json!({})),
            "there is no model \"logisitc\"; did you mean \"logistic\"? There are logistic, \
             noise-aware-logistic, svm, noise-aware-svm, kernel-svm, network, noise-aware-network, ridge, \
             noise-aware-ridge"
        );
        assert_eq!(
            refused("forest", json!({})),
            "there is no model \"forest\"; there are logistic, noise-aware-logistic, svm, noise-aware-svm, \
             kernel-svm, network, noise-aware-network, ridge, noise-aware-ridge"
        );
        assert_eq!(
            refused("ridge", json!({"depth": 3})),
            "the model \"ridge\" has no parameter \"depth\"; there are l2_penalty"
        );
        assert!(refused("ridge", json!({"l2_penalty": "much"})).contains("must be a finite number"));
        assert!(refused("ridge", json!({"l2_penalty": -1})).contains("l2_penalty must be"));
        for iterations in [json!(0), json!(1.5), json!(1e300)] {
            assert!(refused("logistic", json!({ "max_iterations": iterations })).contains("a whole number"));
        }
    }

    /// Records on a lattice, in `classes` classes by their first coordinate.
    fn lattice(classes: usize) -> Release {
        let levels = (0..classes).map(|class| class.to_string()).collect();
        let target = TargetDomain::Class { levels };
        let domain = RecordDomain::new(vec!["x".into(), "y".into()], Domain::unit_box(2), target).unwrap();
        let records = Array2::from_shape_fn((120, 2), |(row, at)| match at {
            0 => (row / 10) as f64 / 12.0,
            _ => (row % 10) as f64 / 10.0,
        });
        let target = Target::Class((0..120).map(|row| row * classes / 120).collect());
        let table = Table::new(domain.columns().to_vec(), records, target).unwrap();
        let identity = Designed::local(scumble_classic::Identity::new(domain));
        identity.release(&table, &mut Randomness::seeded(1)).unwrap()
    }

    #[test]
    fn every_model_of_classes_has_scores_and_predicts_the_class_with_the_largest() {
        let all = LEARNERS.iter().filter(|learner| learner.learns == Learns::Classes);
        for (learner, classes) in all.flat_map(|learner| [(learner, 2), (learner, 3)]) {
            let release = lattice(classes);
            let model = Model::new(learner.name, &Map::new()).unwrap();
            let prediction = model.predict(&release, &release.table).unwrap();
            let (Target::Class(predicted), Some(scores)) = (&prediction.target, &prediction.scores) else {
                panic!("{}: {prediction:?}", learner.name)
            };
            assert_eq!(scores.classes, (0..classes).collect::<Vec<_>>(), "{}", learner.name);
            for (row, predicted) in scores.values.outer_iter().zip(predicted) {
                assert_eq!(largest(&row.to_vec()), *predicted, "{} of {classes}: {row}", learner.name);
            }
            let Target::Class(truth) = release.table.target() else { unreachable!() };
            let area = auc(scores, truth);
            // No line separates the middle one of three classes from the rest. If the area of the middle
            // class is only ½, the mean area is (1 + ½ + 1)/3.
            assert!(area > 0.8, "{} of {classes}: {area}", learner.name);
        }
    }

    #[test]
    fn a_model_of_one_class_has_scores_that_tell_nothing_and_one_of_numbers_has_none() {
        let release = lattice(2);
        let first = Release { table: release.table.select(&[0, 1, 2]).unwrap(), ..lattice(2) };
        let prediction =
            Model::new("logistic", &Map::new()).unwrap().predict(&first, &release.table).unwrap();
        let Target::Class(truth) = release.table.target() else { unreachable!() };
        assert_eq!(auc(&prediction.scores.unwrap(), truth), 0.5);
        let numbers = Target::Real(release.table.records().column(0).to_owned());
        let release = Release { table: release.table.clone().with_target(numbers).unwrap(), ..release };
        let prediction = Model::new("ridge", &Map::new()).unwrap().predict(&release, &release.table).unwrap();
        assert!(prediction.scores.is_none());
    }

    #[test]
    fn each_model_takes_the_settings_that_it_lists() {
        for learner in LEARNERS {
            for &name in learner.settings {
                let is_share = ["tolerance", "validation_share"].contains(&name);
                let settings = Map::from_iter([(name.to_owned(), json!(if is_share { 0.5 } else { 2.0 }))]);
                let model = Model::new(learner.name, &settings).unwrap();
                assert_eq!(
                    model.settings(),
                    BTreeMap::from([(name.to_owned(), settings[name].as_f64().unwrap().into())])
                );
                assert!(
                    Model::new(learner.name, &Map::from_iter([(name.to_owned(), json!(-1))])).is_err(),
                    "{name}"
                );
            }
        }
        // A setting reaches the model.
        for name in LOGISTIC {
            let with = |value: f64| logistic(&Settings::from([(name.to_string(), value)])).unwrap();
            assert_ne!(with(1.0), with(2.0), "{name}");
        }
        for name in MACHINE {
            let with = |value: f64| machine(&Settings::from([(name.to_string(), value)])).unwrap();
            assert_ne!(with(1.0), with(2.0), "{name}");
        }
        for name in KERNEL {
            let with = |value: f64| kernel(&Settings::from([(name.to_string(), value)])).unwrap();
            assert_ne!(with(1.0), with(2.0), "{name}");
        }
        for name in NETWORK {
            let with = |value: f64| network(&Settings::from([(name.to_string(), value)])).unwrap();
            assert_ne!(with(1.0), with(2.0), "{name}");
        }
        for name in RIDGE {
            let with = |value: f64| ridge(&Settings::from([(name.to_string(), value)]));
            assert_ne!(with(1.0), with(2.0), "{name}");
        }
    }
}
