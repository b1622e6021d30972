//! The command that saves the design of a row.

use super::shuffler::Shuffled;
use super::{Candidate, Comparison};
use scumble_core::{Designed, Protect, ShapedBy};
use scumble_datasets::SchemaAt;
use serde_json::Value;

/// What takes the place of the file of the volunteers, who are a share of the records at random.
pub const VOLUNTEERS: &str = "volunteers.csv";

impl Comparison {
    /// The command that designs this `mechanism` of the candidate, which protects so much of a record at this ε, with its label completed or
    /// not, and perhaps for reports that are shuffled; none where the data have no schema to design by.
    pub(super) fn design_command(
        &self,
        candidate: &Candidate,
        protects: Option<Protect>,
        is_completed: bool,
        epsilon: f64,
        mechanism: &Designed,
        shuffled: Option<Shuffled>,
    ) -> Option<String> {
        let mut words = ["scumble", "design", candidate.plugin.name].map(str::to_owned).to_vec();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        match self.data.schema.as_ref()? {
            SchemaAt::File(file) => option("--schema", file.display().to_string()),
            SchemaAt::Source(name) => option("--data", (*name).to_owned()),
        }
        option("--target", self.data.target.clone());
        if let Some(learning) = self.data.learning {
            option("--task", learning.to_string());
        }
        option("--epsilon", epsilon.to_string());
        if self.delta > 0.0 {
            option("--delta", self.delta.to_string());
        }
        if let Some(less) = protects.filter(|protects| *protects != Protect::Record) {
            option("--protect", less.to_string());
        }
        if is_completed {
            option("--label-share", self.label_share.to_string());
        }
        for (name, value) in candidate.parameters.as_object().into_iter().flatten() {
            option("--set", format!("{name}={}", as_set(value)));
        }
        if mechanism.guarantee().shaped_by == ShapedBy::ConsentingVolunteers {
            option("--volunteers", VOLUNTEERS.into());
            option("--volunteers-are", "consented".into());
        }
        if candidate.plugin.descriptor.reads_people {
            option("--people", self.splitting.released(&self.data).to_string());
        }
        if let Some(Shuffled { people, delta }) = shuffled {
            option("--shuffled", people.to_string());
            option("--shuffled-delta", delta.to_string());
        }
        option("--output", "design.json".into());
        // Only a zero byte cannot be quoted, and no argument has one.
        shlex::try_join(words.iter().map(String::as_str)).ok()
    }
}

/// A parameter's value as `--set` reads it: text unchanged, unless that would be read as something else.
fn as_set(value: &Value) -> String {
    match value {
        Value::String(text) if serde_json::from_str::<Value>(text).is_err() => text.clone(),
        value => value.to_string(),
    }
}
