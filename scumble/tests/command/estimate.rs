//! `scumble estimate`: estimates are correct, and the design names columns that cannot be estimated before
//! the budget is spent.

use crate::{Files, number, succeeded};
use serde_json::Value;

/// Writes the ages, dates, grades and sizes of 2,000 people, and whether they smoke.
pub(crate) fn people(files: &Files) {
    files.write(
        "people.toml",
        r#"column = [
            { name = "age", kind = "integer", lower = 0, upper = 99 },
            { name = "since", kind = "date", lower = "2020-01-01", upper = "2020-12-31" },
            { name = "grade", kind = "ordered", levels = ["low", "middle", "high"] },
            { name = "size", kind = "real", lower = 0.0, upper = 2.0 },
            { name = "smokes", kind = "boolean" },
        ]"#,
    );
    let row = |row: u32| {
        let grade = ["low", "middle", "high", "high"][row as usize % 4];
        let (age, month, size) = (row % 100, 1 + row % 12, f64::from(row % 21) / 10.0);
        format!("{age},2020-{month:02}-15,{grade},{size},{}\n", row.is_multiple_of(4))
    };
    let rows: String = (0..2000).map(row).collect();
    files.write("people.csv", format!("age,since,grade,size,smokes\n{rows}"));
}

#[test]
fn a_design_says_which_numbers_an_estimate_needs_unrounded() {
    let files = Files::new();
    people(&files);
    let design = "design direct --schema people.toml --epsilon 10 --output design.json";
    let line =
        "scumble estimate needs the numbers of age, since, grade as drawn: release with --values drawn\n";
    assert_eq!(files.notes(design), line);
    let output = files.json(&format!("{design} --force --json"));
    assert_eq!(output["estimable_only"]["drawn"], serde_json::json!(["age", "since", "grade"]));
    let estimate = |values: &str| -> (Value, String) {
        files.run(&format!(
            "release --design design.json --input people.csv --output released.csv --card card.json --seed 5 \
             --force --values {values}"
        ));
        let line = format!(
            "estimate --design design.json --input released.csv --values {values} --confidence 0.999999 \
             --json"
        );
        let (output, notes) = succeeded(&mut files.command(&line));
        (serde_json::from_str(&output).unwrap(), notes)
    };
    let (output, notes) = estimate("settled");
    let columns = |output: &Value| -> Vec<String> {
        let lines = output["estimates"].as_array().unwrap().iter();
        let mut columns: Vec<String> =
            lines.map(|line| line["column"].as_str().unwrap().to_owned()).collect();
        columns.dedup();
        columns
    };
    assert_eq!(columns(&output), ["size", "smokes"]);
    assert!(
        notes.contains("\"age\", \"since\", \"grade\": ") && notes.contains("release with --values drawn"),
        "{notes}"
    );
    let (output, notes) = estimate("drawn");
    assert_eq!((columns(&output).len(), notes.as_str()), (5, ""));
    // True means of these people; one interval in a million misses its mean.
    let truths = [("age", 49.5), ("grade", 1.25), ("size", 0.9985)];
    for (column, truth) in truths {
        let lines = output["estimates"].as_array().unwrap();
        let line = lines.iter().find(|line| line["column"] == column).unwrap();
        assert!((number(&line["lower"])..number(&line["upper"])).contains(&truth), "seed 5: {line}");
    }
}

/// Noise on the number of each level has a known distribution only in a file with these numbers.
#[test]
fn levels_with_additive_noise_are_estimated_from_a_file_in_encoded_units() {
    let files = Files::new();
    people(&files);
    let notes = files.notes("design laplace --schema people.toml --epsilon 20 --output design.json");
    assert!(notes.contains("the numbers of smokes as drawn: release with --values encoded"), "{notes}");
    let estimate = |values: &str| {
        files.run(&format!(
            "release --design design.json --input people.csv --output released.csv --card card.json --seed 6 \
             --force --values {values}"
        ));
        succeeded(&mut files.command(&format!(
            "estimate --design design.json --input released.csv --values {values} --confidence 0.999999 \
             --json"
        )))
    };
    let (_, notes) = estimate("drawn");
    assert!(notes.contains("\"smokes\": ") && notes.contains("release with --values encoded"), "{notes}");
    let (output, notes) = estimate("encoded");
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(notes, "");
    for (column, of, truth) in [("age", "mean", 49.5), ("smokes", "true", 25.0), ("smokes", "false", 75.0)] {
        let lines = output["estimates"].as_array().unwrap();
        let line = lines.iter().find(|line| line["column"] == column && line["of"] == of).unwrap();
        assert!((number(&line["lower"])..number(&line["upper"])).contains(&truth), "seed 6: {line}");
    }
}

#[test]
fn where_all_can_be_estimated_nothing_is_said() {
    let files = Files::new();
    files.good();
    assert_eq!(files.notes("design direct --schema schema.toml --epsilon 2 --output design.json"), "");
    files.write(
        "people.toml",
        crate::SCHEMA.replace("kind = \"real\"", "kind = \"integer\"").replace(".0", ""),
    );
    // Nobody estimates from a curator's release.
    let curator = "design mst --schema people.toml --epsilon 2 --delta 1e-6 --people 60 --output mst.json";
    assert_eq!(files.notes(curator), "");
    let notes = files.notes("design laplace --schema people.toml --epsilon 2 --output laplace.json");
    assert!(notes.contains("numbers of size, price as drawn: release with --values drawn"), "{notes}");
}

#[test]
fn what_a_decoder_completes_from_volunteers_is_not_estimated() {
    let files = Files::new();
    files.good();
    let rows = (0..400).map(|row| format!("{},green,{}\n", 7.0 + f64::from(row % 30) / 10.0, 40 + row % 60));
    files.write("others.csv", format!("size,colour,price\n{}", rows.collect::<String>()));
    let columns = "--columns size,price --schema schema.toml --epsilon 8 --volunteers data.csv \
                   --volunteers-are consented";
    for mechanism in ["task-aware-clipped", "task-aware-linear", "task-agnostic", "privacy-agnostic"] {
        files.run(&format!("design --mechanism {mechanism} {columns} --output design.json --force"));
        files.run(
            "release --design design.json --input others.csv --output released.csv --force --values drawn",
        );
        let why = files.refuses("estimate --design design.json --input released.csv --values drawn");
        assert!(
            why.contains("released.csv: nothing can be estimated: \"size\", \"price\": "),
            "{mechanism}: {why}"
        );
        assert!(why.contains("alters values beyond adding noise"), "{mechanism}: {why}");
    }
    // Beside such a part, columns released with their own noise can be estimated.
    files.run(&format!(
        "design --mechanism task-aware-clipped {columns} --mechanism randomized-response \
         --columns colour --output design.json --force"
    ));
    files.run("release --design design.json --input others.csv --output released.csv --force --seed 3");
    let output = files.json("estimate --design design.json --input released.csv --json");
    let lines = output["estimates"].as_array().unwrap().iter();
    assert!(lines.clone().count() == 2 && lines.clone().all(|line| line["column"] == "colour"), "{output}");
}
