//! Releases over time: a horizon of several periods with one guarantee.

use crate::{Files, number, refused};
use serde_json::{Value, json};

const SCHEMA: &str = r#"column = [
    { name = "patient", kind = "id", records_per_person = 3 },
    { name = "ward", kind = "category", levels = ["north", "south"] },
    { name = "pain", kind = "integer", lower = 0, upper = 9 },
]"#;

const DESIGN: &str = "design tables --schema visits.toml --epsilon 1 --delta 0.00001 --horizon 4 --set \
                      counts=[[\"ward\"]] --set means=[[\"pain\",\"ward\"]] --output design.json --force";

/// Writes 200 visits of new patients in a period, with twice as many in the north and a mean pain of
/// `period`.
fn visits(files: &Files, period: usize) {
    let row = |row: usize| {
        let ward = if row.is_multiple_of(3) { "south" } else { "north" };
        format!("p{period}-{row},{ward},{}\n", period - 1 + row % 3)
    };
    let rows: String = (0..300).map(row).collect();
    files.write("visits.csv", format!("patient,ward,pain\n{rows}"));
}

fn release(period: usize) -> String {
    format!(
        "release --design design.json --input visits.csv --period {period} --state state.json --output \
         totals.json --of-period alone.json --force"
    )
}

fn run(files: &Files, line: &str) -> String {
    let mut command = files.command(line);
    command.env("SCUMBLE_PASSPHRASE", "correct horse");
    crate::succeeded(&mut command).0
}

fn refusal(files: &Files, line: &str) -> String {
    let mut command = files.command(line);
    command.env("SCUMBLE_PASSPHRASE", "correct horse");
    refused(&mut command)
}

fn counts(files: &Files, name: &str, table: usize) -> Vec<f64> {
    let file: Value = serde_json::from_str(&files.read(name)).unwrap();
    file["tables"][table]["counts"].as_array().unwrap().iter().map(number).collect()
}

/// Without noise, totals are sums over the periods, and a mean follows from the three ends of its number.
#[test]
fn totals_add_up_and_each_period_has_its_own_tables() {
    let files = Files::new();
    files.write("visits.toml", SCHEMA);
    files.run(&DESIGN.replace("epsilon 1", "epsilon inf"));
    for period in 1..=2 {
        visits(&files, period);
        run(&files, &release(period));
    }
    assert_eq!(counts(&files, "totals.json", 0), [400.0, 200.0]);
    assert_eq!(counts(&files, "alone.json", 0), [200.0, 100.0]);
    let estimates = |name: &str| {
        let found = files.json(&format!("estimate --tables {name} --column pain --by ward --json"));
        let estimates = found["estimates"].as_array().unwrap().iter();
        estimates.map(|line| (number(&line["value"]) * 1e4).round() / 1e4).collect::<Vec<_>>()
    };
    // In the north two thirds of the visits have a pain of `period`, and a third of `period` + 1.
    assert_eq!(estimates("alone.json"), [2.5, 1.0]);
    assert_eq!(estimates("totals.json"), [2.0, 0.5]);
}

#[test]
fn a_period_is_released_once_and_in_its_order_and_charged_once() {
    let files = Files::new();
    files.write("visits.toml", SCHEMA);
    files.run(DESIGN);
    visits(&files, 1);
    let other = refusal(&files, &release(2));
    assert!(other.contains("the state of period 1 is missing"), "{other}");
    let plain = refusal(&files, "release --design design.json --input visits.csv --output totals.json");
    assert!(plain.contains("a horizon of 4 periods"), "{plain}");
    files.run("ledger init --ledger ledger.json --dataset visits --epsilon 2 --delta 0.001");
    let charged = |period| format!("{} --ledger ledger.json --dataset visits", release(period));
    run(&files, &charged(1));
    let spent = files.spent();
    assert!(spent > 1.0 && spent < 2.0, "the cost of a replaced person: {spent}");
    let first = files.read("state.json");
    assert!(!first.contains("p1-0") && !first.contains("counts"), "the state is encrypted");
    visits(&files, 2);
    run(&files, &charged(2));
    assert_eq!(files.spent(), spent, "later periods cost nothing");
    let totals = files.read("totals.json");
    for (period, expected) in [(2, "period 2 is already released"), (4, "period 3 comes next")] {
        let refused = refusal(&files, &charged(period));
        assert!(refused.contains(expected), "{refused}");
    }
    // An older state does not help: the ledger knows the last period.
    let newer = files.read("state.json");
    files.write("state.json", &first);
    let again = refusal(&files, &charged(2));
    assert!(again.contains("already released, and an older state"), "{again}");
    assert_eq!(files.read("totals.json"), totals, "a refused period writes nothing");
    assert_eq!(files.read("state.json"), first);
    files.write("state.json", newer);
    for period in 3..=4 {
        visits(&files, period);
        run(&files, &charged(period));
    }
    visits(&files, 5);
    let late = refusal(&files, &charged(5));
    assert!(late.contains("all 4 periods of the horizon are released"), "{late}");
}

/// A person with records in more periods than designed does not count in later ones.
#[test]
fn people_count_in_as_many_periods_as_the_claim_says() {
    let files = Files::new();
    files.write("visits.toml", SCHEMA);
    files.run(&format!("{} --set periods_per_person=2", DESIGN.replace("epsilon 1", "epsilon inf")));
    let mut alone = vec![];
    for period in 1..=3 {
        // Ten patients come in every period, and ten are new.
        let row = |row: usize| match row {
            0..10 => format!("regular{row},north,3\n"),
            row => format!("p{period}-{row},south,3\n"),
        };
        files.write("visits.csv", format!("patient,ward,pain\n{}", (0..20).map(row).collect::<String>()));
        run(&files, &release(period));
        alone.push(counts(&files, "alone.json", 0));
    }
    assert_eq!(json!(alone), json!([[10.0, 10.0], [10.0, 10.0], [0.0, 10.0]]));
}
