//! `scumble ledger`: accounting, and durability of charges when a process dies or the disk is full.

use crate::{Files, refused, succeeded};
use std::process::Stdio;
use std::time::Duration;

const CHARGE: &str = "ledger charge --ledger ledger.json --dataset survey --epsilon 0.125";

fn with_ledger(epsilon: &str) -> Files {
    let files = Files::new();
    files.run(&format!("ledger init --ledger ledger.json --dataset survey --epsilon {epsilon} --delta 1e-6"));
    files
}

#[test]
fn charges_add_up_to_the_total_and_no_further() {
    let files = with_ledger("0.25");
    files.run(CHARGE);
    let shown = files.run(&format!("{CHARGE} --what interviews"));
    assert!(shown.contains("survey, the whole record") && shown.contains("interviews"), "{shown}");
    let refused = files.refuses(CHARGE);
    assert!(refused.starts_with("\"survey\": budget for the whole record exceeded: ε = 0.25"), "{refused}");
    assert_eq!(files.spent(), 0.25);
    let shown = files.run("ledger show --ledger ledger.json");
    assert!(shown.lines().last().unwrap().trim_start().starts_with("left"));
}

/// Checks that charges are exact decimals as typed: none of these sums is exact in binary.
#[test]
fn charges_are_the_decimals_that_are_typed() {
    for (epsilon, delta, nats, times) in [
        (["1", "0.1"], ["1e-5", "1e-6"], ["0.3", "0.03"], 10),
        (["3", "0.1"], ["0.3", "0.01"], ["2.1", "0.07"], 30),
        (["1.00000000000000000002", "0.33333333333333333334"], ["3e-300", "1e-300"], ["inf", "inf"], 3),
    ] {
        let files = Files::new();
        let init = "ledger init --ledger ledger.json --dataset";
        files.run(&format!("{init} people --epsilon {} --delta {}", epsilon[0], delta[0]));
        files.run(&format!("{init} halves --nats {}", nats[0]));
        let charge = format!(
            "ledger charge --ledger ledger.json --dataset people --epsilon {} --delta {}",
            epsilon[1], delta[1]
        );
        let tell = format!("ledger charge --ledger ledger.json --dataset halves --nats {}", nats[1]);
        for _ in 1..times {
            files.run(&charge);
            files.run(&tell);
        }
        files.run(&tell);
        let shown = files.run(&charge);
        let spent = shown.lines().rev().nth(2).unwrap();
        assert!(spent.split_whitespace().eq(["spent", epsilon[0], delta[0]]), "{spent}");
        assert!(files.refuses(&charge).contains(&format!("ε = {}", epsilon[0])));
        // Opening the account again with the same total changes nothing; another total is refused.
        files.run(&format!("{init} people --epsilon {} --delta {}", epsilon[0], delta[0]));
        assert!(files.refuses(&format!("{init} people --epsilon 9")).contains("its total cannot change"));
    }
}

#[test]
fn damaged_amounts_are_refused_and_write_nothing() {
    let files = with_ledger("1");
    let before = (files.all(), files.read("ledger.json"));
    for amount in ["-1", "-0.1", "nan", "1e400", "1e-400000", "1e99999999999", "0x1", "1_0", "1,5", ""] {
        for line in [
            "ledger init --ledger ledger.json --dataset other --epsilon",
            "ledger charge --ledger ledger.json --dataset survey --epsilon",
            "ledger charge --ledger ledger.json --dataset survey --epsilon 0.1 --delta",
            "ledger init --ledger ledger.json --dataset halves --nats",
        ] {
            let refused = refused(files.command(line).arg(amount));
            assert!(!refused.contains('\n'), "{amount:?}: {refused}");
        }
    }
    assert_eq!((files.all(), files.read("ledger.json")), before);
}

#[test]
fn nats_have_accounts_of_their_own() {
    let files = with_ledger("1");
    let shown = files.run("ledger init --ledger ledger.json --dataset halves --nats 0.25");
    assert!(
        shown.contains("halves, information about which records were used") && shown.contains("nats"),
        "{shown}"
    );
    files.run("ledger charge --ledger ledger.json --dataset halves --nats 0.125 --what means");
    let refused = files.refuses("ledger charge --ledger ledger.json --dataset halves --nats 0.25");
    assert!(refused.contains("0.125 of 0.25 nats spent, 0.25 requested"), "{refused}");
    assert!(files.refuses(&CHARGE.replace("survey", "halves")).contains("no account for the whole record"));
    let both = files.refuses("ledger init --ledger ledger.json --dataset survey --nats 1");
    assert!(both.contains("cannot have accounts in both nats and ε"), "{both}");
    let shown = files.json("ledger show --ledger ledger.json --json");
    assert_eq!(
        (shown["information"][0]["left"].as_f64(), shown["accounts"][0]["dataset"].as_str()),
        (Some(0.125), Some("survey"))
    );
    for both in ["--nats 1 --epsilon 1", "--nats 1 --unit label --target x", ""] {
        files.refuses(&format!("ledger init --ledger ledger.json --dataset other {both}"));
    }
}

#[test]
fn two_names_that_look_alike_are_not_two_accounts() {
    let files = with_ledger("1");
    for name in ["survey ", " survey", "sur\u{200b}vey", "survey\n", ""] {
        let line = "ledger init --ledger ledger.json --epsilon 1 --dataset";
        let refused = refused(files.command(line).arg(name));
        assert!(refused.contains("is not a valid name for a data set or a label"), "{name:?}: {refused}");
    }
    // The output escapes invisible characters in the text of a charge.
    let (shown, _) = succeeded(files.command(&format!("{CHARGE} --what")).arg("talks\u{1b}\u{202e}"));
    assert!(shown.contains("talks \\u{202e}") && !shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
}

/// Checks that a completed charge does not exit with code 2. A caller that reads code 2 as "try again" would
/// pay twice.
#[cfg(target_os = "linux")]
#[test]
fn a_charge_that_cannot_be_reported_is_no_failed_charge() {
    let files = with_ledger("1");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = files.command(CHARGE).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: the work is complete, but its report could not be printed"),
        "{stderr}"
    );
    assert_eq!(files.spent(), 0.125);
}

#[test]
fn a_label_has_a_name_and_accounts_are_opened_before_the_first_release() {
    let files = Files::new();
    let init = "ledger init --ledger ledger.json --dataset survey --epsilon 1";
    assert!(files.refuses(&format!("{init} --unit label")).ends_with("needs the name of the label column"));
    let shown = files.run(&format!("{init} --unit label --target colour"));
    assert!(shown.contains("survey, the label (label DP) (the label is \"colour\")"), "{shown}");
    files.good();
    let release = |target: &str, output: &str| {
        let mechanism = if target == "colour" {
            "randomized-response --protect label"
        } else {
            "laplace --set protect=label"
        };
        let line = format!(
            "design {mechanism} --target {target} --schema schema.toml --epsilon 0.25 --output {target}.json"
        );
        files.run(&line);
        format!(
            "release --design {target}.json --input data.csv --output {output} --ledger ledger.json \
             --dataset survey"
        )
    };
    files.run(&release("colour", "one.csv"));
    // If the price is the label, the colour is released in the clear.
    assert!(files.refuses(&release("price", "two.csv")).contains("ε = inf"));
    assert!(files.refuses(init).ends_with("open all accounts of a data set before its first release"));
}

#[test]
fn what_is_no_account_is_named() {
    let files = with_ledger("1");
    for (line, expected) in [
        (
            "ledger show --ledger none.json",
            "the ledger none.json: it does not exist; `scumble ledger init` creates it",
        ),
        (
            "ledger show --ledger ledger.json --dataset other",
            "the ledger ledger.json: there is no account for \"other\"",
        ),
        (
            "ledger charge --ledger ledger.json --dataset survey --unit label --epsilon 1",
            "the ledger ledger.json: there is no account for the label (label DP) of \"survey\"",
        ),
        (
            "ledger init --ledger ledger.json --dataset survey --epsilon 2",
            "the ledger ledger.json: \"survey\" already has an account for the whole record, and its \
             total cannot change: it is ε = 1 and δ = 1e-6, not ε = 2 and δ = 0",
        ),
        (
            "ledger charge --ledger ledger.json --dataset survey --epsilon 0",
            "epsilon must be above zero (\"inf\" for no privacy), and 0 is not",
        ),
        (
            "ledger init --ledger schema.toml --dataset survey --epsilon 1",
            "the ledger schema.toml: expected value at line 2 column 1",
        ),
    ] {
        assert_eq!(files.refuses(line), expected);
    }
    let nowhere = files.refuses("ledger init --ledger no/such.json --dataset a --epsilon 1");
    assert!(nowhere.starts_with("no/such.json"));
    assert_eq!(files.spent(), 0.0);
}

#[test]
fn processes_that_charge_at_once_wait_for_each_other() {
    let files = with_ledger("1");
    let children: Vec<_> = (0..12)
        .map(|_| files.command(CHARGE).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
        .collect();
    let granted =
        children.into_iter().filter_map(|mut child| child.wait().unwrap().success().then_some(())).count();
    assert_eq!(granted, 8, "eight times 0.125 is 1");
    assert_eq!(files.spent(), 1.0);
}

/// Checks that the ledger contains every granted charge of a killed process, and stays usable.
#[test]
fn a_charge_survives_its_process() {
    let files = with_ledger("1000");
    let mut granted = 0;
    for attempt in 0..60 {
        let mut child = files.command(CHARGE).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // A charge takes some milliseconds: kills are spread from before its first instruction to after its
        // last.
        std::thread::sleep(Duration::from_micros(150 * attempt));
        child.kill().unwrap();
        granted += u32::from(child.wait().unwrap().success());
        assert!(
            files.spent() >= 0.125 * f64::from(granted),
            "a charge that was granted is not in the ledger"
        );
    }
    files.run(CHARGE);
}

#[cfg(unix)]
#[test]
fn a_full_disk_grants_nothing_and_loses_nothing() {
    let files = with_ledger("1");
    files.run(CHARGE);
    let before = files.read("ledger.json");
    // A maximum file size of zero simulates a full disk.
    let refused = refused(&mut files.on_full_disk(CHARGE, 0));
    assert!(refused.starts_with("ledger.json: "), "{refused}");
    assert_eq!(files.read("ledger.json"), before);
    assert_eq!(files.spent(), 0.125);
    assert_eq!(files.all(), ["ledger.json", "ledger.json.witness", "schema.toml"]);
}
