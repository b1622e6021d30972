//! Warnings on stderr about weak protection.

use crate::Files;

const DESIGN: &str =
    "design noisy-marginals --schema schema.toml --target colour --output design.json --force";

#[test]
fn a_delta_near_one_in_the_number_of_people_is_warned_of() {
    let files = Files::new();
    for (line, expected) in [
        ("--epsilon 1 --delta 0.1 --people 100", "δ = 0.1 is not well below 1/people, 0.01 for 100 people"),
        (
            "--epsilon 1 --delta 1e-5 --people 50000",
            "δ = 1e-5 is not well below 1/people, 2e-5 for 50000 people",
        ),
        ("--epsilon 12 --delta 1e-9 --people 100", "ε = 12 is above 10"),
        (
            "--epsilon 12.00001 --delta 1e-9 --people 100",
            "ε = 12.01 is above 10: a release may be e^12.01 times",
        ),
    ] {
        let notes = files.notes(&format!("{DESIGN} {line}"));
        assert!(notes.starts_with("warning: ") && notes.contains(expected), "{notes}");
    }
    assert_eq!(files.notes(&format!("{DESIGN} --epsilon 10 --delta 1e-6 --people 100000")), "");
    // Without a number of people in the design, the warning appears when the release knows it.
    files.good();
    let gaussian =
        "design gaussian --schema schema.toml --target price --epsilon 1 --output design.json --force";
    let notes = files.notes(&format!("{gaussian} --delta 1e-3"));
    assert!(!notes.contains("warning"), "{notes}");
    let release = "release --design design.json --input data.csv --output released.csv --force";
    assert_eq!(files.notes(release), "");
    let many: String = (0..200).map(|row| format!("{},red,5\n", row % 10)).collect();
    files.write("data.csv", format!("size,colour,price\n{many}"));
    let notes = files.notes(release);
    assert!(
        notes.starts_with("warning: δ = 0.001 is not well below 1/people, 0.005 for 200 people"),
        "{notes}"
    );
}

#[test]
fn a_text_that_spreadsheets_run_is_named_by_column_and_level() {
    let files = Files::new();
    files.write(
        "schema.toml",
        concat!(
            r#"column = [{ name = "@sum", kind = "category", levels = ["=1+1", "-5", "+1"] }, "#,
            r#"{ name = "x", kind = "boolean" }]"#
        ),
    );
    let expected = concat!(
        "warning: a spreadsheet that opens the release may run these texts as formulas: ",
        r#"column "@sum"; column "@sum", level "=1+1""#
    );
    let notes = files.notes("design direct --schema schema.toml --epsilon 1 --output design.json");
    assert_eq!(notes.trim_end(), expected);
    let rows: String =
        (0..60).map(|row| format!("{},{}\n", ["=1+1", "-5", "+1"][row % 3], row % 2)).collect();
    files.write("data.csv", format!("@sum,x\n{rows}"));
    assert!(files.notes("schema data.csv --output draft.toml").contains(r#"column "@sum", level "=1+1""#));
}

#[test]
fn a_person_in_several_rows_is_warned_of_by_name_and_row() {
    let files = Files::new();
    let write = |name: &str, repeated: bool| {
        let person = |row: usize| if repeated && row == 40 { 7 } else { row };
        let rows: String = (0..60).map(|row| format!("{},red,5,{}\n", row % 10, person(row))).collect();
        files.write("data.csv", format!("size,colour,price,{name}\n{rows}"));
    };
    let release = "release --design design.json --input data.csv --output released.csv --force";
    for design in [
        "design direct --schema schema.toml --epsilon 1 --output design.json --force",
        "design mst --schema schema.toml --epsilon 1 --delta 1e-6 --people 60 --output design.json --force",
    ] {
        files.run(design);
        for (name, repeated) in
            [("Patient ID", true), ("user_id", true), ("Patient ID", false), ("region", true)]
        {
            write(name, repeated);
            let notes = files.notes(release);
            let is_warned = repeated && name != "region";
            let expected = format!("warning: data.csv: column {name:?} repeats \"7\" in row 41: ");
            assert_eq!(notes.starts_with(&expected), is_warned, "{name}: {notes}");
            assert!(is_warned || notes.is_empty(), "{notes}");
        }
    }
    // A label whose name contains such a word does not identify people.
    let schema = files.read("schema.toml").replace("colour", "member");
    files.write("schema.toml", schema);
    files.run("design direct --schema schema.toml --epsilon 1 --output design.json --force");
    let data = files.read("data.csv").replace("colour", "member");
    files.write("data.csv", data);
    assert_eq!(files.notes(release), "");
}

/// Twelve numbers and few people: every third number has no question, and its collected values are random.
#[test]
fn columns_that_no_report_asks_about_are_named() {
    let files = Files::new();
    let column = |at: usize| format!("{{ name = \"x{at}\", kind = \"real\", lower = 0, upper = 1 }}, ");
    let columns: String = (0..12).map(column).collect();
    files.write(
        "schema.toml",
        format!(
            "column = [{columns}{{ name = \"colour\", kind = \"category\", levels = [\"red\", \"blue\"] }}]"
        ),
    );
    let design =
        "design pair-response --schema schema.toml --target colour --epsilon 1 --output design.json --force";
    let notes = files.notes(&format!("{design} --people 100"));
    assert!(notes.starts_with("warning: the reports ask about 9 of 13 columns"), "{notes}");
    assert!(notes.trim_end().ends_with(r#"random values in "x2", "x5", "x8", "x11""#), "{notes}");
    assert_eq!(files.notes(&format!("{design} --people 360")), "");
    let notes = files.notes(&format!("{design} --people 360 --set columns=[\"x3\"]"));
    assert!(notes.starts_with("warning: the reports ask about 2 of 13 columns"), "{notes}");
    files.write("data.csv", {
        let row = |row: usize| {
            let values: String =
                (0..12).map(|at| format!("{},", u8::from(at == 3 || row.is_multiple_of(2)))).collect();
            format!("{values}{}\n", if row.is_multiple_of(3) { "red" } else { "blue" })
        };
        let header: String = (0..12).map(|at| format!("x{at},")).collect();
        format!("{header}colour\n{}", (0..600).map(row).collect::<String>())
    });
    files.run(
        "design pair-response --schema schema.toml --target colour --epsilon inf --set \
         columns=[\"x3\"] --set bins=4 \
               --output design.json --force --quiet",
    );
    files.run("release --design design.json --input data.csv --output reports.csv --quiet");
    files.run("collect --design design.json --reports reports.csv --output collected.csv --quiet");
    let collected = files.read("collected.csv");
    let above = |at: usize| {
        let rows = collected.lines().skip(1);
        rows.filter(|row| row.split(',').nth(at).unwrap().parse::<f64>().unwrap() > 0.5).count()
    };
    // Always above one half where it was asked. Elsewhere the levels are uniform, and drawn in equal shares.
    assert_eq!((above(3), above(0)), (600, 300));
}
