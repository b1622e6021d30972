//! `scumble check`: all cells that a release would refuse or clip, and its exit codes.

use crate::Files;

/// Schema with a number, a category and a date.
const SCHEMA: &str = r#"
column = [
    { name = "age", kind = "integer", lower = 0, upper = 110, unit = "years" },
    { name = "city", kind = "category", levels = ["Oslo", "Rome"] },
    { name = "born", kind = "date", lower = "1900-01-01", upper = "2024-12-31" },
]
"#;

/// Writes the schema and 3,000 rows: each 500th has a bad cell in every column.
fn people() -> Files {
    let files = Files::new();
    files.write("people.toml", SCHEMA);
    let rows: String = (1..=3000)
        .map(|row| match row % 500 {
            0 => format!("p{row},old,,31.12.1999\n"),
            1 => format!("p{row},230,Oslo,1999-12-31\n"),
            _ => format!("p{row},41 years,Rome,1999-12-31\n"),
        })
        .collect();
    files.write("people.csv", format!("name,age,city,born\n{rows}"));
    files
}

#[test]
fn all_bad_cells_are_listed_with_exit_code_one() {
    let files = people();
    let output = files.command("check people.csv people.toml").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "error: people.csv: a release by people.toml refuses this file\n");
    for expected in [
        "people.csv: cells that do not fit the schema, in 3000 rows, for the eyes of the owner only\n",
        "\n  \"age\", refused 6 times: is not a whole number; a whole number between 0 and 110 years is \
         needed\n    row 500: \"old\", row 1000: \"old\", row 1500: \"old\", row 2000: \"old\", row 2500: \
         \"old\", …\n",
        "\n  \"age\", clipped 6 times: lies outside the bounds",
        "\n  \"city\", refused 6 times: is missing; declare a replacement by `missing`\n",
        "\n  \"born\", refused 6 times: is not a date in the format of the column",
    ] {
        assert!(stdout.contains(expected), "{expected} in\n{stdout}");
    }
    let json: serde_json::Value = serde_json::from_slice(
        &files.command("check people.csv people.toml --json").output().unwrap().stdout,
    )
    .unwrap();
    assert_eq!((&json["rows"], &json["refused"]), (&3000.into(), &true.into()));
    assert_eq!(json["misfits"].as_array().unwrap().len(), 4);
    assert_eq!(json["misfits"][1]["examples"][0], serde_json::json!({ "row": 1, "value": "230" }));
    // The release refuses the first of these cells.
    files.run("design direct --schema people.toml --epsilon 1 --output design.json");
    let refused = files.refuses("release --design design.json --input people.csv --output released.csv");
    assert!(
        refused.starts_with("people.csv, row 500, column \"age\": \"old\" is not a whole number"),
        "{refused}"
    );
}

#[test]
fn a_file_that_a_release_accepts_gives_exit_code_zero() {
    let files = people();
    let good: String = files
        .read("people.csv")
        .lines()
        .filter(|row| !row.contains("old"))
        .map(|row| format!("{row}\n"))
        .collect();
    files.write("good.csv", good);
    let output = files.run("check good.csv people.toml");
    assert!(output.contains("\"age\", clipped 6 times") && !output.contains("refused"), "{output}");
    files.run("design direct --schema people.toml --epsilon 1 --output design.json");
    files.run("release --design design.json --input good.csv --output released.parquet");
    assert_eq!(
        files.run("check released.parquet people.toml").trim_end(),
        "released.parquet: all cells of 2994 rows fit the schema"
    );
    assert!(files.refuses("check good.csv nowhere.toml").starts_with("nowhere.toml: "));
    files.write("other.csv", "age,town\n1,Oslo\n");
    assert!(files.refuses("check other.csv people.toml").contains("there is no column \"city\""));
}
