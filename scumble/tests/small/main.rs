//! The command without default features: it releases CSV, and names the feature of everything that it lacks.
//! Run by `cargo test -p scumble --no-default-features --test small`.
#![cfg(not(any(feature = "evaluation", feature = "parquet")))]

use std::path::Path;
use std::process::{Command, Output};

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0 },
    { name = "colour", kind = "category", levels = ["red", "green"] },
]
"#;

fn run(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scumble"));
    command.current_dir(folder).args(line.split_whitespace()).output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a line that must print nothing but one line on stderr, with exit code 2. Returns this line.
#[track_caller]
fn refuses(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{line}: {stderr}");
    assert!(output.stdout.is_empty());
    stderr.trim_end().to_owned()
}

/// Folder with a schema, 400 records, and a ledger.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..400).map(|row| format!("{},{}\n", row % 10, ["red", "green"][row % 2])).collect();
    std::fs::write(folder.path().join("schema.toml"), SCHEMA).unwrap();
    std::fs::write(folder.path().join("data.csv"), format!("size,colour\n{rows}")).unwrap();
    succeeds(folder.path(), "ledger init --ledger ledger.json --dataset data --epsilon 4");
    folder
}

#[test]
fn it_designs_releases_collects_and_accounts() {
    let folder = folder();
    let folder = folder.path();
    succeeds(folder, "schema data.csv --output draft.toml");
    succeeds(
        folder,
        "design pair-response --schema schema.toml --target colour --epsilon 4 --people 400 --output d.json",
    );
    succeeds(
        folder,
        "release --design d.json --input data.csv --output reports.csv --card card.json --ledger ledger.json \
         --dataset data",
    );
    let collected = succeeds(folder, "collect --design d.json --reports reports.csv --output collected.csv");
    assert_eq!(collected, "collected.csv holds 400 records collected from 400 reports\n");
    let account = succeeds(folder, "account gaussian --epsilon 1 --delta 1e-5 --sensitivity 1");
    assert!(account.contains("sigma = 3.7306"), "{account}");
    // Every mechanism is in this build.
    assert_eq!(succeeds(folder, "list").lines().count(), scumble::built_in::NAMES.len() + 1);
}

#[test]
fn a_missing_subcommand_names_its_feature_and_is_absent_from_help() {
    let folder = folder();
    let help = succeeds(folder.path(), "--help");
    for name in ["compare", "audit", "suite"] {
        assert!(!help.contains(&format!("\n  {name} ")), "{help}");
        for line in [name.to_owned(), format!("{name} --help"), format!("{name} --quick wine")] {
            assert_eq!(
                refuses(folder.path(), &line),
                "error: this build lacks the feature evaluation; add it by: cargo install --path scumble \
                 --features evaluation"
            );
        }
    }
    let page = "release --design d.json --input data.csv --output released.csv --card card.html";
    for line in
        ["schema --data wine", page, "design laplace --data wine --target quality --epsilon 1 --output d"]
    {
        assert!(refuses(folder.path(), line).contains("lacks the feature evaluation"));
    }
    assert!(refuses(folder.path(), "reproduce").contains("lacks the feature reproduce"));
}

#[test]
fn parquet_is_refused_before_a_charge() {
    let folder = folder();
    let folder = folder.path();
    succeeds(folder, "design direct --schema schema.toml --epsilon 4 --output d.json");
    let release = "release --design d.json --ledger ledger.json --dataset data --card card.json";
    let before = std::fs::read(folder.join("ledger.json")).unwrap();
    std::fs::write(folder.join("data.parquet"), "PAR1PAR1").unwrap();
    for (files, named) in [
        ("--input data.csv --output released.parquet", "released.parquet"),
        ("--input data.parquet --output released.csv", "data.parquet"),
    ] {
        assert_eq!(
            refuses(folder, &format!("{release} {files}")),
            format!(
                "error: {named}: this build reads and writes CSV only; use CSV, or build with the feature \
                 parquet for Parquet"
            )
        );
    }
    assert_eq!(std::fs::read(folder.join("ledger.json")).unwrap(), before);
    assert!(!folder.join("released.csv").exists() && !folder.join("card.json").exists());
}
