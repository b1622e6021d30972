//! Experiments: comparisons described by a file.

use super::check::{check_epsilons, check_trials};
use super::combinations::combinations;
use super::data::misfit;
use super::{Adversary, Candidate, Comparison, Error, Metric, Model, Result, SplitKind, Splitting};
use super::{split::check_part, split::check_share};
use ndarray::Array2;
use scumble_core::text::did_you_mean;
use scumble_core::{Protect, Registry, Task, nearest_name, number};
use scumble_datasets as datasets;
use scumble_datasets::{DataSet, Input};
use scumble_records::{Decimal, Delimiter, Encoding, Learning, TextFormat};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Default share of test records in a split by time. The test records are the most recent ones.
const DEFAULT_TEST_SHARE: f64 = 0.2;

/// Largest number of combinations of the values in `grid` or in `tune`, the lists of parameter values of a
/// mechanism or model. A larger number is assumed to be a mistake.
const MOST_COMBINATIONS: usize = 10_000;

/// Comparison that a TOML file describes. Missing settings have their defaults.
///
/// ```
/// use scumble_comparison::Experiment;
///
/// let text = r#"
///     epsilon = [0.5, 1, inf]
///     trials = 10
///     [[mechanism]]
///     name = "laplace"
///     grid = { protect = ["label", "record"] }
/// "#;
/// let registry = scumble_core::Registry::installed()?;
/// let experiment = Experiment::from_toml(text, "wines.toml".as_ref())?;
/// assert_eq!(experiment.candidates(&registry)?.len(), 2);
/// # Ok::<(), scumble_comparison::Error>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Experiment {
    /// Path of the file. Errors name it, and paths in the file are relative to its folder.
    #[serde(skip)]
    file: PathBuf,
    /// Text of the file.
    #[serde(skip)]
    text: String,
    epsilon: Option<Vec<f64>>,
    delta: Option<f64>,
    trials: Option<usize>,
    seed: Option<u64>,
    protect: Option<Protect>,
    label_share: Option<f64>,
    release_alone: bool,
    shuffler: bool,
    metrics: Option<Vec<Metric>>,
    data: Data,
    split: Option<Split>,
    adversary: Option<Adversary>,
    /// Adds every mechanism with a quick design, even if `mechanism` is not empty.
    all_quick: bool,
    /// Names of mechanisms with a quick design that are left out.
    leave_out: Vec<String>,
    mechanism: Vec<Section>,
    model: Vec<Section>,
}

/// Data set by name, or a file with its schema.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    name: Option<String>,
    input: Option<PathBuf>,
    schema: Option<PathBuf>,
    target: Option<String>,
    delimiter: Option<Delimiter>,
    decimal: Option<Decimal>,
    encoding: Option<Encoding>,
    task: Option<Learning>,
    #[serde(default)]
    drop_missing_target: bool,
    /// Purpose of the release: the rows of the matrix of a linear task. Each has the weights of encoded
    /// columns by name; the weight of another column is zero.
    #[serde(default)]
    task_matrix: Vec<BTreeMap<String, f64>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Split {
    kind: Kind,
    test_share: Option<f64>,
    most_train: Option<usize>,
    most_test: Option<usize>,
    #[serde(default)]
    volunteers: f64,
    #[serde(default)]
    unlabelled: bool,
    #[serde(default)]
    public: bool,
    #[serde(default)]
    validation: f64,
    /// Column of dates, for a split by time: the most recent records are test records.
    by: Option<String>,
    #[serde(default)]
    balance: bool,
    #[serde(default = "yes")]
    stratified: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Random,
    Own,
    Time,
}

/// Entry of the file for a mechanism or a model. `set` fixes parameters. `grid` lists values of a parameter
/// that are all compared. `tune` lists values of a parameter, and the comparison chooses one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    #[serde(default)]
    set: BTreeMap<String, toml::Value>,
    #[serde(default)]
    grid: BTreeMap<String, Vec<toml::Value>>,
    #[serde(default)]
    tune: BTreeMap<String, Vec<toml::Value>>,
}

impl Experiment {
    /// Largest size of an experiment's file, in bytes.
    const LONGEST: u64 = 64 << 20;

    /// Parses an experiment from the TOML `text` of `file`.
    ///
    /// # Errors
    /// [`Error::File`] for invalid TOML, with its line, and for a setting out of range, with its key.
    pub fn from_toml(text: &str, file: &Path) -> Result<Self> {
        let read: Self = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(String::new(), |span| {
                format!("line {}: ", text[..span.start].matches('\n').count() + 1)
            });
            let problem = format!("{place}{}", error.message().replace('\n', " "));
            Error::File { file: file.display().to_string(), problem }
        })?;
        let experiment = Self { file: file.into(), text: text.into(), ..read };
        experiment.check()?;
        Ok(experiment)
    }

    /// Reads an experiment from a file.
    ///
    /// # Errors
    /// [`Error::Io`](scumble_records::Error::Io) if the file cannot be read,
    /// [`Error::Unreadable`](scumble_records::Error::Unreadable) if it is longer than 64 MiB, and the errors
    /// of [`from_toml`](Self::from_toml).
    pub fn read(file: &Path) -> Result<Self> {
        Self::from_toml(&scumble_records::read_text(file, Self::LONGEST)?, file)
    }

    /// Text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Random seed, if the file sets one.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Default path of the file of finished trials, next to the experiment's file.
    pub fn store(&self) -> PathBuf {
        self.file.with_extension("cells.jsonl")
    }

    /// Files that the experiment reads, with its own file first.
    pub fn files(&self) -> Vec<PathBuf> {
        let data_paths = [&self.data.input, &self.data.schema].into_iter().flatten();
        [self.file.clone()].into_iter().chain(data_paths.map(|path| self.resolve(path))).collect()
    }

    /// Loads the data.
    ///
    /// # Errors
    /// [`Error::File`] for an unknown data set, and for one that is missing in the
    /// [folder](datasets::folder) of data sets. It is also the error unless `[data]` is empty or has either
    /// `name`, or `input` with `schema` and `target`.
    /// If the input file or its schema cannot be read, the error is [`Error::DataSet`] for a split by time,
    /// and [`Error::Records`] for any other split.
    pub fn data(&self) -> Result<DataSet> {
        let Data {
            name,
            input,
            schema,
            target,
            delimiter,
            decimal,
            encoding,
            task,
            drop_missing_target,
            task_matrix: _,
        } = &self.data;
        let format = TextFormat { delimiter: *delimiter, decimal: *decimal, encoding: *encoding };
        let is_read = format != TextFormat::default() || task.is_some() || *drop_missing_target;
        match (name, input, schema, target) {
            (None, None, None, None) if !is_read => Ok(DataSet::wine()?),
            (Some(name), None, None, None) if !is_read => {
                let loaded = datasets::source(name).and_then(|source| source.load(&datasets::folder()));
                self.named("[data]", loaded.map_err(Error::from))
            }
            (None, Some(input), Some(schema), Some(target)) => {
                let (file, schema) = (self.resolve(input), self.resolve(schema));
                let input = Input {
                    format,
                    learning: *task,
                    drops_missing_target: *drop_missing_target,
                    ..Input::new(&file, &schema, target)
                };
                match &self.split {
                    Some(Split { kind: Kind::Time, by: Some(by), test_share, .. }) => {
                        let test_share = test_share.unwrap_or(DEFAULT_TEST_SHARE);
                        Ok(DataSet::read_by_time(&input, by, test_share)?)
                    }
                    _ => Ok(DataSet::read(&input)?),
                }
            }
            _ => self.refuse("[data]", "give name, or input with schema and target"),
        }
    }

    /// Mechanisms of the experiment: one candidate for each combination of values in a mechanism's `grid`.
    ///
    /// If the file names no mechanism or sets `all_quick`, every mechanism with a quick design is included,
    /// except for the names in `leave_out`.
    ///
    /// # Errors
    /// [`Error::File`] for an unknown plugin name or parameter.
    pub fn candidates(&self, registry: &Registry) -> Result<Vec<Candidate>> {
        for name in &self.leave_out {
            self.named("leave_out", registry.get(name).map_err(Error::from))?;
        }
        let mut candidates = match self.mechanism.is_empty() || self.all_quick {
            true => Candidate::quick(registry),
            false => vec![],
        };
        candidates.retain(|candidate| !self.leave_out.iter().any(|name| name == candidate.plugin.name));
        for (at, section) in self.mechanism.iter().enumerate() {
            let place = format!("[[mechanism]] number {}", at + 1);
            let plugin = *self.named(&place, registry.get(&section.name).map_err(Error::from))?;
            for parameters in self.named(&place, section.combinations())? {
                let (tune, mut all) = (section.tune(), parameters.clone());
                all.extend(tune.keys().map(|name| (name.clone(), Value::Null)));
                self.named(&place, plugin.check_names(&all).map_err(Error::from))?;
                let parameters = if parameters.is_empty() { Value::Null } else { Value::Object(parameters) };
                candidates.push(Candidate { plugin, parameters, tune, is_named: true });
            }
        }
        Ok(candidates)
    }

    /// Comparison of `candidates` on `data`, with the file's settings.
    ///
    /// # Errors
    /// [`Error::File`] for an unknown model, and for models, metrics or a split that do not fit the data.
    pub fn comparison(&self, data: DataSet, candidates: Vec<Candidate>) -> Result<Comparison> {
        let default = Comparison::new(data, candidates);
        let models = match &self.model[..] {
            [] => default.models,
            sections => self.models(sections, &default.data)?,
        };
        let metrics = self.metrics.clone().unwrap_or(default.metrics);
        if let Some(metric) = metrics.iter().find(|metric| !metric.fits(default.data.domain.target())) {
            return self
                .named("metrics", Err(misfit(&default.data, &format!("the metric {:?}", metric.name()))));
        }
        let splitting = match &self.split {
            None => default.splitting,
            Some(split) => {
                let kind = match split.kind {
                    // Records that were read by time are already split.
                    Kind::Own | Kind::Time => SplitKind::Own,
                    Kind::Random => match split.test_share {
                        Some(test_share) => SplitKind::Random { test_share },
                        None => default.splitting.kind,
                    },
                };
                let splitting = Splitting {
                    most_train: split.most_train,
                    most_test: split.most_test,
                    volunteers: split.volunteers,
                    unlabelled: split.unlabelled,
                    public: split.public,
                    validation: split.validation,
                    balance: split.balance,
                    stratified: split.stratified && matches!(kind, SplitKind::Random { .. }),
                    kind,
                };
                self.named("[split]", splitting.check(&default.data))?;
                splitting
            }
        };
        Ok(Comparison {
            models,
            metrics,
            splitting,
            task: self.task(default.data.domain.columns())?,
            adversary: self.adversary.unwrap_or(default.adversary),
            epsilons: self.epsilon.clone().unwrap_or(default.epsilons),
            delta: self.delta.unwrap_or(default.delta),
            trials: self.trials.unwrap_or(default.trials),
            protect: self.protect,
            label_share: self.label_share.unwrap_or(default.label_share),
            release_alone: self.release_alone,
            shuffler: self.shuffler,
            seed: self.seed.unwrap_or(default.seed),
            ..default
        })
    }

    /// Purpose of the release of records with these encoded columns.
    fn task(&self, columns: &[String]) -> Result<Task> {
        let rows = &self.data.task_matrix;
        let mut matrix = Array2::zeros((rows.len(), columns.len()));
        for (at, (name, weight)) in
            rows.iter().enumerate().flat_map(|(at, row)| row.iter().map(move |one| (at, one)))
        {
            let place = format!("[data] task_matrix, row {}", at + 1);
            match columns.iter().position(|column| column == name) {
                Some(column) if weight.is_finite() => matrix[[at, column]] = *weight,
                Some(_) => {
                    return self
                        .refuse(&place, &format!("{name:?} has the weight {weight}, which is not finite"));
                }
                None => {
                    let near = did_you_mean(&nearest_name(name, columns.iter().map(String::as_str)));
                    return self.refuse(&place, &format!("{name:?} is not an encoded column{near}"));
                }
            }
        }
        Ok(if rows.is_empty() { Task::Unknown } else { Task::Linear(matrix) })
    }

    fn models(&self, sections: &[Section], data: &DataSet) -> Result<Vec<Model>> {
        let mut models = vec![];
        for (at, section) in sections.iter().enumerate() {
            let place = format!("[[model]] number {}", at + 1);
            for settings in self.named(&place, section.combinations())? {
                let model = Model::new(&section.name, &settings);
                let model = self.named(&place, model.and_then(|model| model.tuned(&section.tune())))?;
                if !model.fits(data.domain.target()) {
                    let what = format!("the model {:?}", model.name());
                    return self.named(&place, Err(misfit(data, &what)));
                }
                models.push(model);
            }
        }
        Ok(models)
    }

    /// Checks the settings of the file, without loading the data.
    fn check(&self) -> Result<()> {
        let delta = self.delta.unwrap_or(0.0);
        self.named("delta", check_epsilons(&[1.0], delta))?;
        if let Some(epsilons) = &self.epsilon {
            self.named("epsilon", check_epsilons(epsilons, delta))?;
        }
        if let Some(trials) = self.trials {
            self.named("trials", check_trials(trials))?;
        }
        if let Some(share) = self.label_share {
            self.named("label_share", check_share("label_share", share))?;
        }
        if let Some(adversary) = &self.adversary {
            self.named("[adversary]", adversary.check())?;
        }
        if let Some(split) = &self.split {
            self.named("[split]", check_part("volunteers", split.volunteers))?;
            self.named("[split]", check_part("validation", split.validation))?;
        }
        match &self.split {
            Some(Split { kind: Kind::Own, test_share: Some(_), .. }) => {
                self.refuse("[split]", "test_share is for kind = \"random\" and kind = \"time\"")
            }
            Some(Split { kind: Kind::Random | Kind::Own, by: Some(_), .. }) => {
                self.refuse("[split]", "by is for kind = \"time\"")
            }
            Some(Split { kind: Kind::Time, by: None, .. }) => {
                self.refuse("[split]", "kind = \"time\" needs by, the column of dates")
            }
            Some(Split { kind: Kind::Time, .. }) if self.data.input.is_none() => {
                let problem = "kind = \"time\" is for an input file; data sets by name that are split by \
                               time have kind = \"own\"";
                self.refuse("[split]", problem)
            }
            Some(Split { test_share: Some(share), .. }) => {
                self.named("[split]", check_share("test_share", *share))
            }
            _ => Ok(()),
        }
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.file.parent().map_or(path.into(), |folder| folder.join(path))
    }

    fn refuse<T>(&self, place: &str, problem: &str) -> Result<T> {
        self.named(place, Err(Error::Data(problem.into())))
    }

    /// Adds the file name and `place`, a key or section of the file, to an error.
    fn named<T>(&self, place: &str, result: Result<T>) -> Result<T> {
        result.map_err(|error| Error::File {
            file: self.file.display().to_string(),
            problem: format!("{place}: {error}"),
        })
    }
}

impl Section {
    /// Every combination of one value for each parameter in `grid`, together with the fixed values in `set`.
    fn combinations(&self) -> Result<Vec<Map<String, Value>>> {
        let lists = [("grid", &self.grid), ("tune", &self.tune)];
        for (list, (name, values)) in
            lists.iter().flat_map(|(list, named)| named.iter().map(move |one| (list, one)))
        {
            let refuse = |problem: &str| Err(Error::Data(format!("{:?}: {name} {problem}", self.name)));
            if self.set.contains_key(name) {
                return refuse(&format!("is in set and in {list}"));
            }
            if *list == "tune" && self.grid.contains_key(name) {
                return refuse("is in grid and in tune");
            }
            if values.is_empty() {
                return refuse(&format!("has no values in {list}"));
            }
        }
        for (list, named) in lists {
            let counts = named.values().map(Vec::len);
            if counts.fold(1, usize::saturating_mul) > MOST_COMBINATIONS {
                let name = &self.name;
                return Err(Error::Data(format!(
                    "{name:?}: {list} makes more than {MOST_COMBINATIONS} combinations"
                )));
            }
        }
        let set = self.set.iter().map(|(name, value)| (name.clone(), to_json(value)));
        let all = combinations(set.collect(), &lists_to_json(&self.grid));
        Ok(all.into_iter().map(Map::from_iter).collect())
    }

    /// Candidate values of each parameter in `tune`, for which the comparison chooses a value.
    fn tune(&self) -> BTreeMap<String, Vec<Value>> {
        lists_to_json(&self.tune)
    }
}

fn lists_to_json(lists: &BTreeMap<String, Vec<toml::Value>>) -> BTreeMap<String, Vec<Value>> {
    lists.iter().map(|(name, values)| (name.clone(), values.iter().map(to_json).collect())).collect()
}

/// Converts a TOML value to the JSON value that the command's option `--set` would read from the text of the
/// value. Infinite numbers and dates become text.
fn to_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => number::to_json(*number),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(values) => values.iter().map(to_json).collect(),
        toml::Value::Table(table) => {
            table.iter().map(|(name, value)| (name.clone(), to_json(value))).collect::<Map<_, _>>().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Experiment> {
        Experiment::from_toml(text, Path::new("exp.toml"))
    }

    /// Message of the first error of the experiment, from any stage.
    #[track_caller]
    fn refused(text: &str) -> String {
        let registry = Registry::installed().unwrap();
        let whole = read(text).and_then(|experiment| {
            let candidates = experiment.candidates(&registry)?;
            experiment.comparison(experiment.data()?, candidates)
        });
        let message = whole.unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn what_is_no_experiment_is_refused_in_one_line_that_names_the_place() {
        for (text, expected) in [
            ("epsilonn = [1]", "exp.toml: line 1: unknown field `epsilonn`, expected one of"),
            ("trials = 5\nseed = -1", "exp.toml: line 2: "),
            ("trials = 0", "exp.toml: trials: a comparison needs between 1 and 100000 trials, not 0"),
            ("epsilon = [1, 0]", "exp.toml: epsilon: epsilon must be above zero"),
            ("epsilon = [1, 1.0]", "exp.toml: epsilon: epsilon 1 is listed twice"),
            ("epsilon = [1, 1e400]", "exp.toml: line 1: floating-point number overflowed"),
            ("epsilon = []", "exp.toml: epsilon: a comparison needs one epsilon or more"),
            ("delta = 1", "exp.toml: delta: delta must be zero or more and below one"),
            (
                "protect = \"all\"",
                "exp.toml: line 1: unknown variant `all`, expected one of `record`, `features`, `label`",
            ),
            ("label_share = 1", "exp.toml: label_share: label_share must lie strictly between"),
            ("metrics = [\n\"acuracy\"]", "there is no metric \"acuracy\"; did you mean \"accuracy\"?"),
            ("leave_out = [\"lapace\"]", "exp.toml: leave_out: there is no mechanism \"lapace\""),
            ("metrics = [\"rmse\"]", "exp.toml: metrics: wine quality: the metric \"rmse\" is for numbers"),
            (
                "[data]\nname = \"whine\"",
                "exp.toml: [data]: there is no data set \"whine\" (did you mean \"wine\"?); there are adult,",
            ),
            ("[data]\nname = \"wine\"\ntarget = \"x\"", "exp.toml: [data]: give name, or"),
            ("[data]\ninput = \"a.csv\"", "exp.toml: [data]: give name, or"),
            ("[split]\nkind = \"own\"", "exp.toml: [split]: wine quality: it has no split of its own"),
            ("[split]\nkind = \"own\"\ntest_share = 0.5", "exp.toml: [split]: test_share is for"),
            ("[split]\nkind = \"random\"\ntest_share = 2", "exp.toml: [split]: test_share must lie"),
            (
                "[split]\nkind = \"random\"\nmost_train = 0",
                "exp.toml: [split]: most_train must be one or more",
            ),
            (
                "[split]\nkind = \"random\"\nvolunteers = 1",
                "exp.toml: [split]: volunteers must be zero or more and below one, and 1 is not",
            ),
            ("[split]\nkind = \"random\"\nvolunteers = -0.5", "exp.toml: [split]: volunteers must be"),
            ("[split]\nkind = \"random\"\nvolunteers = nan", "exp.toml: [split]: volunteers must be"),
            ("[split]\nkind = \"random\"\nby = \"day\"", "exp.toml: [split]: by is for kind = \"time\""),
            ("[split]\nkind = \"time\"", "exp.toml: [split]: kind = \"time\" needs by"),
            ("[split]\nkind = \"time\"\nby = \"day\"", "exp.toml: [split]: kind = \"time\" is for an input"),
            ("[split]\nkind = \"random\"\nbalance = 1", "exp.toml: line 3: "),
            ("[split]\ntest_share = 0.5", "exp.toml: line 1: missing field `kind`"),
            (
                "[[mechanism]]\nname = \"identity\"\n[[mechanism]]\nname = \"lapace\"",
                "exp.toml: [[mechanism]] number 2: there is no mechanism \"lapace\"; did you mean \
                 \"laplace\"?",
            ),
            (
                "[[mechanism]]\nname = \"laplace\"\ngrid = { protct = [\"label\"] }",
                "exp.toml: [[mechanism]] number 1: the mechanism \"laplace\" has no parameter \"protct\"; \
                 did you mean \"protect\"?",
            ),
            (
                "[[mechanism]]\nname = \"laplace\"\nset = { protect = \"label\" }\ngrid = { protect = \
                 [\"label\"] }",
                "\"laplace\": protect is in set and in grid",
            ),
            ("[[mechanism]]\nname = \"laplace\"\ngrid = { protect = [] }", "protect has no values in grid"),
            ("[[mechanism]]\nset = { protect = \"label\" }", "exp.toml: line 1: missing field `name`"),
            (
                "[[model]]\nname = \"ridge\"",
                "exp.toml: [[model]] number 1: wine quality: the model \"ridge\" is for numbers",
            ),
            (
                "[[model]]\nname = \"tree\"",
                "exp.toml: [[model]] number 1: there is no model \"tree\"; there are",
            ),
            (
                "[[model]]\nname = \"logistic\"\ngrid = { l2_penalty = [1, inf] }",
                "exp.toml: [[model]] number 1: the model \"logistic\": l2_penalty must be a finite number",
            ),
            ("= 1", "exp.toml: line 1: "),
        ] {
            let message = refused(text);
            assert!(
                message.contains(expected) && message.starts_with("exp.toml: "),
                "{text}\ngives {message}"
            );
        }
        let (a, b) = (vec!["1"; 200].join(","), vec!["2"; 200].join(","));
        let wide = format!(
            "[[model]]\nname = \"logistic\"\ngrid = {{ l2_penalty = [{a}], max_iterations = [{b}] }}"
        );
        assert!(refused(&wide).contains("grid makes more than 10000 combinations"));
    }

    #[test]
    fn what_is_not_there_is_the_default() {
        let registry = Registry::installed().unwrap();
        let candidates = Candidate::quick(&registry);
        let experiment = read("").unwrap();
        let comparison = experiment.comparison(experiment.data().unwrap(), candidates.clone()).unwrap();
        let default = Comparison::new(DataSet::wine().unwrap(), candidates);
        assert_eq!(format!("{comparison:?}"), format!("{default:?}"));
        assert_eq!(experiment.candidates(&registry).unwrap().len(), default.candidates.len());
    }

    #[test]
    fn what_is_to_be_protected_is_said_in_the_file() {
        let registry = Registry::installed().unwrap();
        let experiment = read("protect = \"features\"").unwrap();
        let comparison =
            experiment.comparison(DataSet::wine().unwrap(), Candidate::quick(&registry)).unwrap();
        assert_eq!(comparison.protect, Some(Protect::Features));
    }

    #[test]
    fn a_grid_is_every_combination_beside_what_is_fixed() {
        let text = "[[model]]\nname = \"logistic\"\nset = { gradient_tolerance = 0.01 }\n\
                    grid = { max_iterations = [10, 20], l2_penalty = [0.1, 1.0, 10.0] }";
        let experiment = read(text).unwrap();
        let models = experiment.comparison(DataSet::wine().unwrap(), vec![]).unwrap().models;
        let shown: Vec<String> = models.iter().map(Model::to_string).collect();
        assert_eq!(shown.len(), 6);
        assert_eq!(
            shown[1],
            "logistic regression, gradient_tolerance = 0.01, l2_penalty = 0.1, max_iterations = 20"
        );
    }

    #[test]
    fn paths_are_those_beside_the_file() {
        let text = "[data]\ninput = \"a.csv\"\nschema = \"/b.toml\"\ntarget = \"c\"";
        let experiment = Experiment::from_toml(text, Path::new("far/exp.toml")).unwrap();
        let files = ["far/exp.toml", "far/a.csv", "/b.toml"].map(PathBuf::from);
        assert_eq!(experiment.files(), files);
        assert_eq!(experiment.store(), Path::new("far/exp.cells.jsonl"));
        assert_eq!(read("").unwrap().resolve(Path::new("a.csv")), Path::new("a.csv"));
    }
}
