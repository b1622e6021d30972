//! The command of a row designs the guarantee of this row.

use crate::Files;
use serde_json::Value;

/// Writes forty rows of two numbers, a price that is linear in one of them, and a colour. The file's name
/// needs quoting in a shell.
fn people(files: &Files) {
    let rows = (0..40).map(|row| {
        let (size, weight) = (row as f64 / 4.0, f64::from(row * 7 % 40) / 4.0);
        format!("{size},{weight},{},{}\n", if size < 5.0 { "red" } else { "green" }, 8.0 * size + 10.0)
    });
    files.write("my data.csv", format!("size,weight,colour,price\n{}", rows.collect::<String>()));
    let number = |name: &str, upper: f64| {
        format!("{{ name = \"{name}\", kind = \"real\", lower = 0.0, upper = {upper:.1} }}")
    };
    let colour = "{ name = \"colour\", kind = \"category\", levels = [\"red\", \"green\"] }";
    let schema = |target: &str| {
        format!("column = [\n{},\n{},\n{target},\n]", number("size", 10.0), number("weight", 10.0))
    };
    files.write("colour schema.toml", schema(colour));
    files.write("price schema.toml", schema(&number("price", 100.0)));
    std::fs::copy(files.path("my data.csv"), files.path("volunteers.csv")).unwrap();
}

/// Returns the rows of a comparison by one model, one per mechanism and budget.
fn compared(files: &Files, target: &str, more: &str) -> Vec<Value> {
    let mut command = files.command(&format!("compare --trials 1 --json --target {target} {more}"));
    command.args(["--input", "my data.csv", "--schema", &format!("{target} schema.toml")]);
    let outcome: Value = serde_json::from_str(&crate::succeeded(&mut command).0).unwrap();
    let rows = crate::all_rows(&outcome).into_iter();
    rows.filter(|row| row["model"] != "adversary").collect()
}

/// Runs `command`, split into words like in a shell, and returns the guarantee of the saved design.
fn designed(files: &Files, command: &str) -> Value {
    let words = shlex::split(command).unwrap();
    assert_eq!((words[0].as_str(), words[1].as_str()), ("scumble", "design"));
    crate::succeeded(files.command("").args(&words[1..]).arg("--force"));
    files.json("describe --design design.json --json")["guarantee"].clone()
}

#[test]
fn the_command_of_a_row_designs_what_the_row_claims() {
    let files = Files::new();
    people(&files);
    for (target, more, least) in [
        ("colour", "--epsilon 2,inf --set piecewise.k=1", 12 + 8),
        ("colour", "--epsilon 2 --volunteers 0.5 --label-share 0.25 --delta 1e-9", 16),
        ("price", "--epsilon 2 --volunteers 0.5 --label-share 0.25", 14),
        ("colour", "--epsilon 2 --protect label", 4),
        ("price", "--epsilon 2 --protect features --delta 0 --mechanism laplace --mechanism direct", 2),
    ] {
        let rows = compared(&files, target, more);
        assert!(rows.len() >= least, "{} rows with {more}", rows.len());
        for row in rows {
            let command = row["design"].as_str().unwrap();
            assert_eq!(designed(&files, command), row["guarantee"], "{command}");
            let protects = row["guarantee"]["claims"][0]["protects"].as_str().unwrap_or("record");
            let asked = command.contains(&format!("--protect {protects}"));
            assert_eq!(asked, protects != "record", "what protects less says so: {command}");
        }
    }
}
