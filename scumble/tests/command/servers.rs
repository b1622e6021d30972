//! A release by two servers, in separate processes, from people's reports to released records.

use crate::{Files, number, refused};
use serde_json::Value;
use std::fs;

const SCHEMA: &str = r#"column = [
    { name = "ward", kind = "category", levels = ["north", "south", "west"] },
    { name = "pain", kind = "integer", lower = 0, upper = 9 },
    { name = "left", kind = "category", levels = ["no", "yes"] },
]"#;

const REPORT: &str = "report --design design.json --input visits.csv --key-a a.public --key-b b.public \
                      --output-a to-a --output-b to-b";
const FIRST: &str = "aggregate --server a --design design.json --key a.key --other b.public --reports to-a \
                     --send from-a --force";
const SECOND: &str = "aggregate --server b --design design.json --key b.key --other a.public --reports to-b \
                      --received from-a --send from-b --share b.share --counted b.counted --force";
const THIRD: &str = "aggregate --server a --design design.json --key a.key --other b.public --reports to-a \
                     --received from-b --share a.share --counted a.counted --force";
const UNSHARD: &str = "unshard --design design.json --share-a a.share --share-b b.share --output \
                       released.csv --tables tables.json --card card.json --force";

/// Files of both servers and of 200 people: two thirds of the pains are below 5, and those who left are in
/// the south.
fn files(epsilon: &str) -> Files {
    let files = Files::new();
    files.write("visits.toml", SCHEMA);
    let row = |row: usize| match row % 3 {
        0 => "south,7,yes\n".to_owned(),
        1 => format!("north,{},no\n", row % 5),
        _ => format!("west,{},no\n", row % 4),
    };
    files.write("visits.csv", format!("ward,pain,left\n{}", (0..200).map(row).collect::<String>()));
    for server in ["a", "b"] {
        files.run(&format!("server-key --output {server}.key --public {server}.public"));
    }
    files.run(&format!(
        "design two-server-marginals --schema visits.toml --target left --epsilon {epsilon} --delta 0.00001 \
         --people 200 --set bins=2 --output design.json"
    ));
    files
}

fn counts(files: &Files, table: usize) -> Vec<f64> {
    let file: Value = serde_json::from_str(&files.read("tables.json")).unwrap();
    file["tables"][table]["counts"].as_array().unwrap().iter().map(number).collect()
}

#[test]
fn without_noise_the_released_tables_are_those_of_the_people() {
    let files = files("inf");
    for line in [REPORT, FIRST, SECOND, THIRD, UNSHARD] {
        files.run(line);
    }
    // North, south and west, each without and with people who left.
    assert_eq!(counts(&files, 0), [67.0, 0.0, 0.0, 67.0, 66.0, 0.0]);
    assert_eq!(counts(&files, 1), [133.0, 0.0, 0.0, 67.0]);
    let released = files.read("released.csv");
    assert_eq!(
        released.lines().filter(|line| line.starts_with("south") && line.ends_with("yes")).count(),
        67
    );
}

/// One device in a hundred is dishonest, server b fails midway, and both steps are repeated: the counts are
/// those of the honest devices, with the noise of both servers once.
#[test]
fn dishonest_devices_and_a_server_that_fails_change_nothing() {
    let files = files("4");
    files.run(REPORT);
    let lines = |name: &str| files.read(name).lines().map(str::to_owned).collect::<Vec<_>>();
    let (mut for_a, mut for_b) = (lines("to-a"), lines("to-b"));
    // The second device sends the first one's share again, the third sends text, and one sends twice.
    for_a[1] = for_a[0].clone();
    for_b[2] = "{\"id\": \"three\"}".into();
    for_a.push(for_a[9].clone());
    for_b.push(for_b[9].clone());
    files.write("to-a", for_a.join("\n") + "\n");
    files.write("to-b", for_b.join("\n") + "\n");
    let (_, notes) = crate::succeeded(&mut files.command(FIRST));
    assert!(
        notes.contains("to-a: 2 of 201 reports are refused: 2 repeated in the file (first in line 2)"),
        "{notes}"
    );
    #[cfg(unix)]
    {
        let pipe = files.path("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut waiting = files.command(&SECOND.replace("to-b", "pipe")).spawn().unwrap();
        let writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        waiting.kill().unwrap();
        waiting.wait().unwrap();
        drop(writer);
        for name in ["from-b", "b.share", "b.counted"] {
            assert!(!files.path(name).exists(), "{name}");
        }
    }
    let (_, notes) = crate::succeeded(&mut files.command(SECOND));
    assert!(
        notes.contains(
            "to-b: 3 of 201 reports are refused: 1 malformed (first in line 3), 1 repeated \
             in the file (first \
             in line 201), 1 without a share at the other server (first in line 2)"
        ),
        "{notes}"
    );
    let first = files.read("b.share");
    files.run(SECOND);
    assert_eq!(files.read("b.share"), first);
    files.run(THIRD);
    files.run(UNSHARD);
    let card: Value = serde_json::from_str(&files.read("card.json")).unwrap();
    assert_eq!(number(&card["records"]), 198.0);
    let text = card["guarantee"].to_string();
    assert!(
        text.contains("\"held_by\":\"two-servers\"") && text.contains("the claim is computational"),
        "{text}"
    );
    // Records 1 and 2 are left out. Two tables at ε = 4 have noise with σ = 2.6 from each server: seven
    // deviations of the noise of both.
    let exact = [66.0, 0.0, 0.0, 67.0, 65.0, 0.0];
    let deviation = 2f64.sqrt() * 2.6;
    for (noisy, exact) in counts(&files, 0).into_iter().zip(exact) {
        assert!((noisy - exact).abs() < 7.0 * deviation, "{noisy} {exact}");
    }
    // The same reports in a smaller batch are refused, so that no difference of two aggregates is released.
    files.write("to-a", for_a[..100].join("\n") + "\n");
    files.run(FIRST);
    let refusal = refused(&mut files.command(SECOND));
    assert!(refusal.contains("counted in an earlier batch"), "{refusal}");
}

#[test]
fn wrong_files_are_refused_in_one_line() {
    let files = files("1");
    files.run(REPORT);
    files.run(FIRST);
    let refuses = |line: &str, words: &str| {
        let refusal = refused(&mut files.command(line));
        assert!(refusal.contains(words) && refusal.trim().lines().count() == 1, "{line}: {refusal}");
    };
    refuses("release --design design.json --input visits.csv --output x", "the design is for two servers");
    refuses(
        &SECOND.replace("--key b.key", "--key a.key").replace("a.public", "b.public"),
        "from-a: it is not from",
    );
    refuses(&SECOND.replace("a.public", "b.public"), "it is this server's own");
    refuses(
        &SECOND.replace("to-b", "to-a"),
        "200 not for this server and design, or changed (first in line 1)",
    );
    refuses(
        &SECOND.replace("--received from-a", "--received to-b"),
        "to-b: it is not a message between servers",
    );
    refuses(&SECOND.replace(" --send from-b", ""), "the step of server b takes --received, --send");
    refuses(&THIRD.replace(" --received from-b", ""), "the first step of server a takes --send");
    refuses(&REPORT.replace("b.public", "a.public"), "this is the key of server a too");
    refuses(&REPORT.replace("--output-b to-b", "--output-b visits.csv"), "this is an input file");
    refuses("server-key --output a.key --public c.public", "a.key already exists");
    files.run(
        "design noisy-marginals --schema visits.toml --target left --epsilon 1 --delta 0.00001 --people 200 \
         --output other.json",
    );
    refuses(
        &REPORT.replace("design.json", "other.json").replace("to-", "other-"),
        "noisy-marginals is not for two servers",
    );
    files.write("none.csv", "ward,pain,left\n");
    refuses(&REPORT.replace("visits.csv", "none.csv").replace("to-", "other-"), "none.csv holds no records");
    let held = fs::File::open(files.path("b.key")).unwrap();
    held.lock().unwrap();
    refuses(SECOND, "b.key: another step of this server is running");
    drop(held);
    files.run(SECOND);
    files.run(THIRD);
    let changed = files.read("a.share").replacen("\"reports\": 200", "\"reports\": 201", 1);
    files.write("a.share", changed);
    refuses(UNSHARD, "a.share: it was changed after it was saved");
    refuses(&UNSHARD.replace("--share-a a.share", "--share-a b.share"), "both are from one server");
}
