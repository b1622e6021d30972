//! `scumble release --ticket`: a job that runs again repeats its release, and pays once.

use crate::Files;
use serde_json::Value;
use std::collections::BTreeSet;

const RELEASE: &str =
    "release --design design.json --input data.csv --output released.csv --ticket ticket.json --id person";
const PAID: &str = "--ledger ledger.json --dataset survey";

fn rows(rows: impl Iterator<Item = usize>) -> String {
    let row = |at: usize| {
        let colour = if at.is_multiple_of(3) { "red" } else { "green" };
        format!("p{at},{},{colour},{}\n", at % 10, at % 100)
    };
    format!("person,size,colour,price\n{}", rows.map(row).collect::<String>())
}

const PEOPLE: usize = 5_000;

fn designed() -> Files {
    let files = Files::new();
    files.write("data.csv", rows(0..PEOPLE));
    files.run("design direct --schema schema.toml --epsilon 2 --output design.json");
    files.run("ledger init --ledger ledger.json --dataset survey --epsilon 10");
    files
}

fn charges(files: &Files) -> usize {
    let shown = files.json("ledger show --ledger ledger.json --json");
    shown["accounts"][0]["charges"].as_array().unwrap().len()
}

/// Returns the secret's text in the ticket.
fn secret(files: &Files) -> String {
    let ticket: Value = serde_json::from_str(&files.read("ticket.json")).unwrap();
    ticket["secret"].as_str().unwrap().to_owned()
}

#[test]
fn a_release_that_is_made_again_is_the_same_and_is_paid_for_once() {
    let files = designed();
    files.run(&format!("{RELEASE} {PAID} --card card.json"));
    let first = files.read("released.csv");
    files.run(&format!("{RELEASE} {PAID} --force"));
    assert_eq!(files.read("released.csv"), first);
    assert_eq!(charges(&files), 1);
    let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
    let assumed = card["guarantee"]["assumes"].to_string();
    assert!(assumed.contains("nobody else reads the secret in the ticket"), "{assumed}");
    // The ledger and the card use the same name of the ticket, and no file contains its secret.
    let name = card["ticket"].as_str().unwrap().to_owned();
    assert!(files.read("ledger.json").contains(&name));
    assert!(files.run("ticket show ticket.json").contains(&name));
    for file in ["card.json", "ledger.json", "released.csv"] {
        assert!(!files.read(file).contains(&secret(&files)), "{file}");
    }
    // Another secret gives another release, which is charged.
    files.run(&format!("{RELEASE} {PAID} --force").replace("ticket.json", "other.json"));
    assert_ne!(files.read("released.csv"), first);
    assert_eq!(charges(&files), 2);
}

#[test]
fn each_record_is_released_alike_whatever_the_order_of_the_rows() {
    let files = designed();
    files.run(RELEASE);
    let lines =
        |files: &Files| files.read("released.csv").lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let first = lines(&files);
    files.write("data.csv", rows((0..PEOPLE).rev()));
    files.run(&format!("{RELEASE} --force"));
    let mut second = lines(&files);
    second.reverse();
    assert_eq!(first, second);
    let different: BTreeSet<&String> = first.iter().collect();
    assert!(different.len() > PEOPLE * 9 / 10, "{} of {PEOPLE}", different.len());
}

#[test]
fn numbers_of_rows_are_ids_where_no_column_has_them() {
    let files = designed();
    let release = RELEASE.replace(" --id person", "");
    files.run(&release);
    let first = files.read("released.csv");
    files.run(&format!("{release} --force"));
    assert_eq!(files.read("released.csv"), first);
    // Other ids give other noise, so the ticket does not apply to them.
    let refused = files.refuses(&format!("{RELEASE} --force"));
    assert!(refused.contains("ids of the column none, and not of \"person\""), "{refused}");
}

#[test]
fn drivers_that_start_together_pay_once_and_release_the_same() {
    let files = designed();
    let outputs = ["one.csv", "two.csv", "three.csv"];
    let drivers = outputs.map(|output| {
        let line = format!("{RELEASE} {PAID}").replace("released.csv", output);
        files.command(&line).stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut driver in drivers {
        assert!(driver.wait().unwrap().success());
    }
    assert_eq!(files.read(outputs[0]), files.read(outputs[1]));
    assert_eq!(files.read(outputs[0]), files.read(outputs[2]));
    assert_eq!(charges(&files), 1);
}

#[test]
fn what_is_wrong_is_found_before_a_secret_is_drawn_or_paid_for() {
    let files = designed();
    let good = rows(0..3);
    for (data, expected) in [
        (good.replace("p1,", "p0,"), "row 2, column \"person\": \"p0\" is the id of two records"),
        (good.replace("p2,", ","), "row 3, column \"person\": \"\" is not an id"),
        (good.replace("person,", "name,"), "there is no column \"person\""),
        (good.replace("person,size", "size,size"), "column \"size\" occurs twice"),
        (good.replace("size,", "sizes,"), "there is no column \"size\""),
        (good.replace(",2\n", ",NaN\n"), "column \"price\""),
        (good.replace("red", "blue"), "column \"colour\": \"blue\""),
        ("person,size,colour,price\n".into(), "no records"),
    ] {
        files.write("data.csv", &data);
        let refused = files.refuses(&format!("{RELEASE} {PAID}"));
        assert!(refused.contains(expected), "{refused}");
        assert!(!files.exists("ticket.json") && !files.exists("released.csv"), "{expected}");
        assert_eq!(charges(&files), 0);
    }
    // No secret is drawn for a release that cannot be paid for.
    files.write("data.csv", &good);
    files.run("design direct --schema schema.toml --epsilon 11 --output design.json --force");
    files.refuses(&format!("{RELEASE} {PAID}"));
    assert!(!files.exists("ticket.json"));
    assert_eq!(charges(&files), 0);
}

#[test]
fn a_ticket_is_for_one_design_and_the_records_it_was_drawn_for() {
    let files = designed();
    files.run(&format!("{RELEASE} {PAID}"));
    let data = files.read("data.csv");
    let refusal = |expected: &str| {
        let refused = files.refuses(&format!("{RELEASE} {PAID} --force"));
        assert!(refused.contains(expected) && !refused.contains(&secret(&files)), "{refused}");
        assert_eq!(charges(&files), 1);
    };
    files.write("data.csv", data.replacen("p7,7,", "p7,8,", 1));
    refusal("other records");
    files.write("data.csv", rows(0..PEOPLE - 1));
    refusal("5000 records, and not for 4999");
    files.write("data.csv", data);
    files.run("design direct --schema schema.toml --epsilon 3 --output design.json --force");
    refusal("another design");
}

/// Runs a paid release, and replaces its input by `changed` between the check and the release. It holds the
/// ledger's witness until the ticket exists, so that the charge waits for the change.
fn release_of_a_changing_file(files: &Files, release: &str, changed: &str) -> std::process::Output {
    let held = std::fs::File::open(files.path("ledger.json.witness")).unwrap();
    held.lock_shared().unwrap();
    let mut command = files.command(&format!("{release} {PAID}"));
    let pipes = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut releasing = pipes.spawn().unwrap();
    while !files.exists("ticket.json") {
        assert!(releasing.try_wait().unwrap().is_none(), "it ended without a ticket");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let aside = files.write("aside.csv", changed);
    std::fs::rename(aside, files.path("data.csv")).unwrap();
    held.unlock().unwrap();
    releasing.wait_with_output().unwrap()
}

#[test]
fn a_file_that_changes_between_the_check_and_the_release_is_not_released() {
    let more = |rows: &str| format!("{rows}p9999,1,red,1\n");
    let other_value = |rows: &str| rows.replacen("p7,7,green,7\n", "p7,7.000000000000001,green,7\n", 1);
    let fewer = |rows: &str| rows.replacen("p7,7,green,7\n", "", 1);
    let changes: [&dyn Fn(&str) -> String; 3] = [&more, &other_value, &fewer];
    for (change, output) in changes.iter().zip(["released.csv", "released.parquet", "-"]) {
        let files = designed();
        let (release, data) = (RELEASE.replace("released.csv", output), files.read("data.csv"));
        let changed = change(&data);
        assert_ne!(changed, data);
        let refused = release_of_a_changing_file(&files, &release, &changed);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), message.lines().count()), (Some(2), 1), "{message}");
        assert!(
            message.contains("data.csv: the records changed between the check and the release"),
            "{message}"
        );
        assert!(message.contains("the ledger was charged, and the charge remains"), "{message}");
        assert!(refused.stdout.is_empty() && !files.exists(output), "{output}");
        assert_eq!(charges(&files), 1);
        // The ticket still belongs to the checked records.
        files.write("data.csv", data);
        files.run(&format!("{RELEASE} {PAID} --force"));
        assert_eq!(charges(&files), 1);
    }
}

#[test]
fn a_forgotten_ticket_repeats_nothing() {
    let files = designed();
    files.run(RELEASE);
    let first = files.read("released.csv");
    let output = files.run("ticket forget ticket.json");
    assert!(output.contains("ticket.json is forgotten"), "{output}");
    assert!(!files.exists("ticket.json"));
    files.run(&format!("{RELEASE} --force"));
    assert_ne!(files.read("released.csv"), first);
    assert!(files.refuses("ticket forget data.csv").contains("data.csv: the ticket cannot be used"));
    assert_eq!(files.read("data.csv"), rows(0..PEOPLE));
}

#[test]
fn a_curator_a_stream_and_a_seed_have_no_ticket() {
    let files = designed();
    let refused = files.refuses(&RELEASE.replace("data.csv", "-"));
    assert!(refused.contains("--ticket reads the input twice and needs a plain file"), "{refused}");
    assert!(files.refuses(&format!("{RELEASE} --seed 1")).contains("--seed"));
    assert!(files.refuses(&RELEASE.replace(" --ticket ticket.json", "")).contains("--ticket"));
    files.run(
        "design noisy-marginals --schema schema.toml --epsilon 2 --delta 1e-6 --output design.json --force",
    );
    let refused = files.refuses(RELEASE);
    assert!(refused.contains("a ticket is for a local mechanism"), "{refused}");
    assert!(!files.exists("ticket.json"));
}
