//! Shell command that makes the design of a row (one score of the outcome) and saves it.

use super::shuffler::Shuffled;
use super::{Candidate, Comparison};
use scumble_core::{Designed, Protect, ShapedBy};
use scumble_datasets::SchemaAt;
use serde_json::Value;

/// Placeholder file name for the volunteers' records in design commands. A comparison selects its volunteers
/// among the data set's records, so the volunteers' records have no file of their own.
pub const VOLUNTEERS: &str = "volunteers.csv";

/// Shell command that draws records from the reports of a design, for mechanisms that release reports.
pub const COLLECT: &str = "scumble collect --design design.json --reports reports.csv --output collected.csv";

impl Comparison {
    /// Shell command that designs `candidate` at `epsilon` and protects the part `protects` of a record.
    ///
    /// `mechanism` is the designed mechanism. Its guarantee tells whether the command needs volunteers'
    /// records. If `is_completed` is true, the command adds a separate mechanism for the label. `shuffled`
    /// states the number of shuffled reports and the central δ. The result is `None` if the data have no
    /// schema.
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
        // Only a zero byte cannot be quoted, and no argument contains one.
        shlex::try_join(words.iter().map(String::as_str)).ok()
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
