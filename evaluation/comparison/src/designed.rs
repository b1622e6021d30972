//! Call that makes the design of a row (one score of the outcome): a shell command, or a call in Python.

use super::shuffler::Shuffled;
use super::{Candidate, Comparison};
use scumble_core::{Designed, Protect, ShapedBy, Task, number};
use scumble_datasets::SchemaAt;
use scumble_records::Learning;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;

/// Placeholder file name for the volunteers' records in design commands. A comparison selects its volunteers
/// among the data set's records, so the volunteers' records have no file of their own.
const VOLUNTEERS: &str = "volunteers.csv";

/// Placeholder file name for the matrix of a task in design commands.
const TASK_MATRIX: &str = "task.csv";

/// Sentence that explains the placeholder file names in design commands; `None` if `commands` have none.
pub fn placeholders(commands: &str) -> Option<String> {
    let meanings = [(VOLUNTEERS, "your volunteers' records"), (TASK_MATRIX, "the matrix of your task")];
    let found = meanings.iter().filter(|(file, _)| commands.contains(file));
    let meant: Vec<String> =
        found.map(|(file, what)| format!("{file} stands for a file of {what}")).collect();
    (!meant.is_empty()).then(|| format!("{}.", meant.join(", and ")))
}

/// Options of the command about numbers of people.
const OF_PEOPLE: [&str; 3] = ["--people", "--shuffled", "--shuffled-delta"];

/// Shell command that draws records from the reports of a design, for mechanisms that release reports.
pub const COLLECT: &str = "scumble collect --design design.json --reports reports.csv --output collected.csv";

/// Arguments of the design of a row.
///
/// It prints as a shell command that saves the design, or as a call in Python if the schema is a value there.
/// For a design that learns from volunteers' records, the text has a placeholder for these records, and so it
/// has for the matrix of a task.
#[derive(Debug, Clone)]
pub struct DesignCall {
    /// Location of the schema.
    pub schema: SchemaAt,
    /// Name of the plugin.
    pub mechanism: &'static str,
    /// Parameters of the mechanism.
    pub parameters: Map<String, Value>,
    /// Column to learn.
    pub target: String,
    /// Kind of learning, if the target can be a class or a number.
    pub task: Option<Learning>,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Protected part of a record, if less than the whole.
    pub protect: Option<Protect>,
    /// The label's share of ε, if a separate mechanism releases the label.
    pub label_share: Option<f64>,
    /// True if the design learns from volunteers' records for a linear task, whose matrix is given.
    pub has_task_matrix: bool,
    /// Privacy status of the volunteers from whose records the design learns, as the command names it; `None`
    /// if it learns from nobody's.
    pub volunteers_are: Option<&'static str>,
    /// Number of people, if the design depends on it.
    pub people: Option<usize>,
    /// Number of shuffled reports and δ of the claim through the shuffler, if there is one.
    pub shuffled: Option<(u64, f64)>,
}

impl Serialize for DesignCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for DesignCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = match &self.schema {
            SchemaAt::File(file) => ["--schema".to_owned(), file.display().to_string()],
            SchemaAt::Source(name) => ["--data".to_owned(), (*name).to_owned()],
            SchemaAt::Python => return self.write_python(formatter),
        };
        let mut words = ["scumble", "design", self.mechanism].map(str::to_owned).to_vec();
        words.extend(schema);
        let options = self.options().into_iter().map(|(name, value)| {
            let value = value.as_f64().map_or_else(|| as_set(&value), |number| number.to_string());
            [format!("--{}", name.replace('_', "-")), value]
        });
        // Numbers of people follow the volunteers.
        let (people, others): (Vec<_>, Vec<_>) = options.partition(|[name, _]| OF_PEOPLE.contains(&&**name));
        words.extend(others.into_iter().flatten());
        for (name, value) in &self.parameters {
            words.extend(["--set".to_owned(), format!("{name}={}", as_set(value))]);
        }
        if self.has_task_matrix {
            words.extend(["--task-matrix", TASK_MATRIX].map(str::to_owned));
        }
        if let Some(status) = self.volunteers_are {
            words.extend(["--volunteers", VOLUNTEERS, "--volunteers-are", status].map(str::to_owned));
        }
        words.extend(people.into_iter().flatten());
        words.extend(["--output", "design.json"].map(str::to_owned));
        // Only a zero byte cannot be quoted, and no argument contains one.
        formatter.write_str(&shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default())
    }
}

impl DesignCall {
    /// Options by name, as the command and Python name them.
    pub fn options(&self) -> Vec<(&'static str, Value)> {
        let options: [(&str, Option<Value>); 9] = [
            ("target", Some(self.target.clone().into())),
            ("task", self.task.map(|task| task.to_string().into())),
            ("epsilon", Some(number::to_json(self.epsilon))),
            ("delta", (self.delta > 0.0).then(|| self.delta.into())),
            ("protect", self.protect.map(|protect| protect.to_string().into())),
            ("label_share", self.label_share.map(Value::from)),
            ("people", self.people.map(Value::from)),
            ("shuffled", self.shuffled.map(|(people, _)| people.into())),
            ("shuffled_delta", self.shuffled.map(|(_, delta)| delta.into())),
        ];
        options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn write_python(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "scumble.design({:?}, schema=schema", self.mechanism)?;
        let options = self.options();
        let parameters = self.parameters.iter().map(|(name, value)| (name.as_str(), value));
        for (name, value) in options.iter().map(|(name, value)| (*name, value)).chain(parameters) {
            write!(formatter, ", {name}={}", in_python(name, value))?;
        }
        if self.has_task_matrix {
            formatter.write_str(", task_matrix=task_matrix")?;
        }
        if let Some(status) = self.volunteers_are {
            write!(formatter, ", volunteers=volunteers, volunteers_are={status:?}")?;
        }
        formatter.write_str(")")
    }
}

/// Value as a Python expression.
fn in_python(name: &str, value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        Value::String(text) if name == "epsilon" => format!("float({text:?})"),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| in_python("", item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, field)| format!("{}: {}", Value::from(name.as_str()), in_python("", field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    }
}

impl Comparison {
    /// Call that designs `candidate` at `epsilon` and protects the part `protects` of a record.
    ///
    /// `mechanism` is the designed mechanism. Its guarantee tells whether the call needs volunteers' records.
    /// If `is_completed` is true, the call adds a separate mechanism for the label. `shuffled` states the
    /// number of shuffled reports and the central δ. The result is `None` if the data have no schema.
    pub(super) fn design_call(
        &self,
        candidate: &Candidate,
        protects: Option<Protect>,
        is_completed: bool,
        epsilon: f64,
        mechanism: &Designed,
        shuffled: Option<Shuffled>,
    ) -> Option<DesignCall> {
        let reads_people = candidate.plugin.descriptor.reads_people;
        let volunteers_are = match mechanism.guarantee().shaped_by {
            ShapedBy::ConsentingVolunteers => Some("consented"),
            ShapedBy::PublicVolunteers => Some("public"),
            ShapedBy::PublicKnowledge | ShapedBy::PrivateVolunteers => None,
        };
        Some(DesignCall {
            schema: self.data.schema.clone()?,
            mechanism: candidate.plugin.name,
            parameters: candidate.parameters.as_object().cloned().unwrap_or_default(),
            target: self.data.target.clone(),
            task: self.data.learning,
            epsilon,
            delta: self.delta,
            protect: protects.filter(|protects| *protects != Protect::Record),
            label_share: is_completed.then_some(self.label_share),
            has_task_matrix: volunteers_are.is_some() && matches!(self.task, Task::Linear(_)),
            volunteers_are,
            people: reads_people.then(|| self.splitting.released(&self.data)),
            shuffled: shuffled.map(|Shuffled { people, delta }| (people, delta)),
        })
    }
}

/// Parameter value in the form that `--set` reads. Text has no quotes, unless it would be read as another
/// JSON value.
fn as_set(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        value => value.to_string(),
    }
}
