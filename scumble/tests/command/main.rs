//! Tests of the command from a user's view: its output, its files, and its messages about invalid input.

mod account;
mod all_mechanisms;
mod audit;
mod card;
mod check;
mod collect;
mod command_lines;
mod commands;
mod compare;
mod design;
mod documents;
mod estimate;
mod examples;
mod experiment;
mod files;
mod installing;
mod ledger;
mod list;
mod new_plugin;
mod page;
mod people;
mod periods;
mod predict;
mod provenance;
mod release;
#[cfg(feature = "reproduce")]
mod reproduce;
mod schema;
mod scikit_learn;
mod servers;
mod shell;
mod solve;
mod suite;
mod tables;
mod ticket;
mod tuning;
mod unchanged;
mod view;
mod warnings;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Folder of public data: beside the repository, or the folder in `SCUMBLE_DATA`.
fn data() -> PathBuf {
    std::env::var_os("SCUMBLE_DATA").map_or_else(|| workspace().join("../shared/data"), PathBuf::from)
}

/// Returns true if a data set, or a file of it, exists; otherwise reports it as missing.
fn is_there(name: &str) -> bool {
    let exists = data().join(name).exists();
    if !exists {
        scumble_testing::missing(data().join(name).display());
    }
    exists
}

/// Returns the command with the words of `line`.
fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scumble"));
    command.args(line.split_whitespace());
    command
}

/// Runs a line that must succeed, and returns its output.
#[track_caller]
fn run(line: &str) -> String {
    succeeded(&mut command(line)).0
}

#[track_caller]
fn json(line: &str) -> Value {
    serde_json::from_str(&run(line)).unwrap()
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn refusal(line: &str) -> String {
    refused(&mut command(line))
}

/// Runs a command that must succeed, and returns its stdout and stderr.
#[track_caller]
fn succeeded(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{command:?}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

/// Runs a command that must exit with code 2, nothing on stdout, and one line on stderr. Returns this line.
#[track_caller]
fn refused(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(stderr.lines().count(), 1, "more than a line: {stderr}");
    stderr.trim_end().strip_prefix("error: ").expect("an error says that it is one").to_owned()
}

/// Returns all rows of a comparison: first with differential privacy, then without.
fn all_rows(outcome: &Value) -> Vec<Value> {
    ["rows", "without_dp"].iter().flat_map(|name| outcome[name].as_array().unwrap().clone()).collect()
}

/// Removes the times from an outcome, because they differ between runs.
fn timeless(mut outcome: Value) -> Value {
    for name in ["rows", "without_dp"] {
        outcome[name].as_array_mut().unwrap().iter_mut().for_each(|row| row["seconds"] = Value::Null);
    }
    outcome
}

/// Folder with a schema, for a test's files.
struct Files {
    folder: tempfile::TempDir,
}

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0, unit = "cm" },
    { name = "colour", kind = "category", levels = ["red", "green"] },
    { name = "price", kind = "real", lower = 0.0, upper = 100.0, unit = "€" },
]
"#;

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Self { folder };
        files.write("schema.toml", SCHEMA);
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Writes sixty rows in which the price is 8·size + 10, and the colour is red below 5 cm.
    fn good(&self) -> PathBuf {
        let rows = (0..60).map(|row| {
            let size = row as f64 / 6.0;
            format!("{size},{},{}\n", if size < 5.0 { "red" } else { "green" }, 8.0 * size + 10.0)
        });
        self.write("data.csv", format!("size,colour,price\n{}", rows.collect::<String>()))
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Returns the sorted names of all files.
    fn all(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command with the words of `line`, run in the folder.
    fn command(&self, line: &str) -> Command {
        let mut command = command(line);
        command.current_dir(self.folder.path());
        command
    }

    /// Runs a line that must succeed, and returns its stdout.
    #[track_caller]
    fn run(&self, line: &str) -> String {
        succeeded(&mut self.command(line)).0
    }

    /// Runs a line that must succeed, and returns its stderr.
    #[track_caller]
    fn notes(&self, line: &str) -> String {
        succeeded(&mut self.command(line)).1
    }

    /// Runs a line that must succeed, and parses its stdout as JSON.
    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(line)).unwrap()
    }

    /// Returns the spent ε of the ledger's first account.
    fn spent(&self) -> f64 {
        let shown = self.json("ledger show --ledger ledger.json --json");
        shown["accounts"][0]["spent"]["epsilon"].as_f64().unwrap()
    }

    /// Returns the command in a shell in which no file grows beyond `blocks`, as on a full disk.
    #[cfg(unix)]
    fn on_full_disk(&self, line: &str, blocks: u32) -> Command {
        let mut full = Command::new("sh");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        full.current_dir(self.folder.path()).args(["-c", &script, env!("CARGO_BIN_EXE_scumble")]);
        full.args(line.split_whitespace());
        full
    }

    /// Runs a line that must be refused, and returns its error line.
    #[track_caller]
    fn refuses(&self, line: &str) -> String {
        refused(&mut self.command(line))
    }
}
