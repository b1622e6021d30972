//! People with several records in a file: a column of ids in the schema.

use crate::{Files, number, refused};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SCHEMA: &str = r#"column = [
    { name = "patient", kind = "id", records_per_person = 5 },
    { name = "ward", kind = "category", levels = ["north", "south"] },
    { name = "pain", kind = "integer", lower = 0, upper = 9 },
    { name = "smokes", kind = "boolean" },
]"#;

const PEOPLE: usize = 160;

/// Writes a schema, and the visits of 160 patients in mixed order. Patient p has 1 + p mod 8 visits, in the
/// north if p is even, and smokes if p is a multiple of 4. `pain` gives the pain of a visit.
fn visits(files: &Files, pain: impl Fn(usize, usize) -> usize) -> usize {
    files.write("visits.toml", SCHEMA);
    let mut rows = vec![];
    for patient in 0..PEOPLE {
        for visit in 0..=patient % 8 {
            let ward = ["north", "south"][patient % 2];
            let (pain, smokes) = (pain(patient, visit), patient.is_multiple_of(4));
            rows.push((visit * 7919 + patient * 104_729, format!("p{patient},{ward},{pain},{smokes}\n")));
        }
    }
    rows.sort_by_key(|(order, _)| order % 1009);
    let text: String = rows.iter().map(|(_, row)| row.as_str()).collect();
    files.write("visits.csv", format!("patient,ward,pain,smokes\n{text}"));
    rows.len()
}

fn design(mechanism: &str, epsilon: &str) -> String {
    format!(
        "design {mechanism} --schema visits.toml --target smokes --epsilon {epsilon} --delta 0.00001 \
         --people {PEOPLE} --output design.json --force"
    )
}

const RELEASE: &str = "release --design design.json --input visits.csv --output released.csv --force";

/// Counts of a file's only table of `column`, with the levels of `smokes` added.
fn counts(files: &Files, column: &str) -> BTreeMap<String, f64> {
    let file: Value = serde_json::from_str(&files.read("tables.json")).unwrap();
    let mut counts = BTreeMap::new();
    let is_of = |table: &&Value| table["columns"][0]["name"] == column;
    for table in file["tables"].as_array().unwrap().iter().filter(is_of) {
        let levels = table["columns"][0]["levels"].as_array().unwrap();
        for (cell, count) in table["counts"].as_array().unwrap().iter().enumerate() {
            *counts.entry(levels[cell / 2].to_string()).or_default() += number(count);
        }
    }
    counts
}

/// Without noise, each person counts for one, whatever the number of their visits.
#[test]
fn each_person_counts_once_in_the_tables_and_in_the_released_rows() {
    let files = Files::new();
    let rows = visits(&files, |patient, visit| (patient + 3 * visit) % 10);
    files.run(&design("noisy-marginals", "inf"));
    let notes = files.notes(&format!("{RELEASE} --tables tables.json --card card.json"));
    // Patients with 6, 7 and 8 visits leave out 1, 2 and 3.
    let left_out = PEOPLE / 8 * 6;
    let expected = format!("{left_out} of {rows} rows are left out: at most 5 of each of {PEOPLE} people");
    assert!(notes.contains(&expected), "{notes}");
    let wards = counts(&files, "ward");
    assert_eq!(wards, [(r#"["north"]"#.into(), 80.0), (r#"["south"]"#.into(), 80.0)].into());
    let released = files.read("released.csv");
    assert_eq!(released.lines().count(), 1 + PEOPLE);
    assert_eq!(released.lines().next().unwrap(), "ward,pain,smokes", "ids are never released");
}

#[test]
fn the_card_and_the_ledger_speak_of_people() {
    let files = Files::new();
    visits(&files, |patient, _| patient % 10);
    files.run("ledger init --ledger ledger.json --dataset visits --epsilon 3 --delta 0.001");
    let charged = format!("{RELEASE} --ledger ledger.json --dataset visits --card card.json");
    for (mechanism, used) in [("private-logistic", 5), ("adaptive-marginals", 5), ("direct", 1)] {
        let card = files.run(&design(mechanism, "0.5"));
        assert!(card.contains("for all records of a person"), "{card}");
        let used_records = match used {
            1 => "each person has one id: one record of a person is used, drawn at random".to_owned(),
            used => format!("each person has one id: at most {used} records of a person are used"),
        };
        assert!(card.contains(&used_records) && !card.contains("contributes one record"), "{card}");
        files.run(&charged);
        let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
        assert_eq!(card["guarantee"]["records_per_person"], used, "{card}");
        let shown = files.run("ledger show --ledger ledger.json");
        assert!(shown.contains(&format!("at most {used} records of a person")), "{shown}");
    }
    // A design for single records would cost a person without bound.
    files.write("visits.toml", SCHEMA.lines().filter(|line| !line.contains("patient")).collect::<String>());
    files.write("visits.csv", files.read("visits.csv").replacen("patient", "visit", 1));
    files.run(&design("direct", "0.5"));
    let spent = files.spent();
    let refusal = refused(&mut files.command(&charged));
    assert!(refusal.contains("people have several records in \"visits\""), "{refusal}");
    assert_eq!(files.spent(), spent);
}

/// A local mechanism releases one record of each person, and another person's records do not change it.
#[test]
fn a_person_reports_one_record_that_no_other_person_changes() {
    let files = Files::new();
    visits(&files, |patient, visit| (patient + visit) % 10);
    files.run(&design("direct", "1"));
    files.run(&format!("{RELEASE} --seed 5"));
    let before = files.read("released.csv");
    assert_eq!(before.lines().count(), 1 + PEOPLE);
    // The ids are new, and the records of patient 7 are other ones.
    visits(&files, |patient, visit| if patient == 7 { 9 - visit } else { (patient + visit) % 10 });
    files.run(&format!("{RELEASE} --seed 5"));
    let after = files.read("released.csv");
    let changed = before.lines().zip(after.lines()).filter(|(one, other)| one != other).count();
    assert!(changed <= 1, "{changed} rows differ");
}

#[test]
fn a_file_whose_people_cannot_be_told_is_refused_and_nothing_is_written() {
    let files = Files::new();
    visits(&files, |patient, _| patient % 10);
    files.run(&design("noisy-marginals", "1"));
    let text = files.read("visits.csv");
    let refusal = |files: &Files| {
        let refusal = refused(&mut files.command(RELEASE));
        assert!(!files.exists("released.csv"), "{refusal}");
        refusal
    };
    files.write("visits.csv", text.replacen("\np", "\n,", 1).replacen(",0,", ",", 1));
    assert!(refusal(&files).contains("row 1"), "{}", refusal(&files));
    files.write("visits.csv", text.replace("patient", "visitor"));
    assert!(refusal(&files).contains("there is no column \"patient\""), "{}", refusal(&files));
    let blank: String = text.lines().map(|line| format!("{}\n", line.replace("p3,", ","))).collect();
    files.write("visits.csv", blank);
    let empty = refusal(&files);
    assert!(empty.contains("column \"patient\": \"\" is not an id"), "{empty}");
    let checked = files.command("check visits.csv visits.toml --json").output().unwrap();
    let checked: Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!((&checked["refused"], &checked["misfits"][0]["column"]), (&json!(true), &json!("patient")));
    let piped = refused(&mut files.command(&RELEASE.replace("visits.csv", "-")));
    assert!(piped.contains("reads the input twice"), "{piped}");
}

/// The split is by person: a model that knows a patient's ward by heart gains nothing.
#[test]
fn a_comparison_counts_people() {
    let files = Files::new();
    visits(&files, |patient, visit| (patient + visit) % 10);
    let line = "compare --input visits.csv --schema visits.toml --target smokes --epsilon 1 --trials 2 \
                --mechanism noisy-marginals --mechanism direct";
    let summary = files.run(line);
    assert!(summary.contains("128 people protected, at most 5 records of each; 32 held-out"), "{summary}");
    let refusal = refused(&mut files.command(&format!("{line} --sample 100")));
    assert!(refusal.contains("would divide the records of a person"), "{refusal}");
}

#[test]
fn a_draft_proposes_the_ids_of_people() {
    let files = Files::new();
    visits(&files, |patient, visit| (patient + visit) % 10);
    let draft = files.run("schema visits.csv");
    assert!(draft.contains("name = \"patient\"\nkind = \"id\""), "{draft}");
}
