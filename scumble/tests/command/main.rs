//! The command as a user meets it: what it prints, what it writes, and what it says of bad input.

mod account;
mod all_mechanisms;
mod audit;
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
mod ledger;
mod list;
mod new_plugin;
mod page;
mod predict;
mod provenance;
mod release;
#[cfg(feature = "reproduce")]
mod reproduce;
mod schema;
mod scikit_learn;
mod shell;
mod solve;
mod suite;
mod ticket;
mod tuning;
mod unchanged;
mod view;
mod warnings;

use std::path::PathBuf;
use std::process::{Command, Output};

fn scumble(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_scumble")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> serde_json::Value {
    let output = scumble(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[track_caller]
fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Exit code 2, nothing on stdout, and one line on stderr, which is returned.
#[track_caller]
fn refusal(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scumble"));
    command.args(arguments);
    refused(command)
}

#[track_caller]
fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    assert_eq!(stderr.lines().count(), 1, "more than a line: {stderr}");
    stderr.trim_end().strip_prefix("error: ").expect("an error says that it is one").to_owned()
}

/// All rows of a comparison: those with differential privacy, then those without.
fn all_rows(outcome: &serde_json::Value) -> Vec<serde_json::Value> {
    ["rows", "without_dp"].iter().flat_map(|name| outcome[name].as_array().unwrap().clone()).collect()
}

/// A folder with a schema, for a test's files.
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

    /// Sixty rows in which price is 8·size + 10, red below 5 cm.
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

    /// The names of all files, sorted.
    fn all(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command with the words of `line`, run in the folder.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scumble"));
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command
    }

    /// Runs a line that must succeed, and returns what it prints.
    #[track_caller]
    fn run(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a line that must be refused, and returns the one line that says why.
    #[track_caller]
    fn refuses(&self, line: &str) -> String {
        refused(self.command(line))
    }
}
