//! Files in common formats, from the first draft to a page and a release: semicolons, Latin-1, decimal
//! commas, dates, gzip, and pipes.

use crate::Files;
use std::io::Write;
use std::process::Stdio;

/// Visits to a surgery in the format of a German spreadsheet: 240 rows, in which the temperature determines
/// the illness.
fn visits() -> Vec<u8> {
    let mut text = String::from("Praxis;Besuch am;Größe;Temperatur;Kinder;Raucher;krank\r\n");
    for row in 0u32..240 {
        let noise = (row * 7919 + 13) % 100;
        let temperature = 36.0 + f64::from(noise) / 25.0;
        text += &format!(
            "{};{:02}.{:02}.2023;{};{};{};{};{}\r\n",
            ["Köln", "Düren", "Aachen"][row as usize % 3],
            1 + row % 28,
            1 + row % 12,
            format!("{:.2}", 1.5 + f64::from(row * 31 % 50) / 100.0).replace('.', ","),
            format!("{temperature:.1}").replace('.', ","),
            row * 17 % 5,
            ["true", "false"][(row * 13 % 7) as usize % 2],
            if temperature > 38.0 { "ja" } else { "nein" },
        );
    }
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
}

const HOW: &str = "encoded in Latin-1, columns separated by semicolons and decimal commas";

#[test]
fn from_a_spreadsheet_to_a_page_without_a_question() {
    let files = Files::new();
    files.write("besuche.csv", visits());
    let notes = files.notes("schema besuche.csv --output draft.toml");
    assert!(notes.contains(&format!("besuche.csv: recognised format: {HOW}")), "{notes}");
    let draft = files.read("draft.toml");
    for expected in [
        "levels = [\"Aachen\", \"Düren\", \"Köln\"]",
        "kind = \"date\"\nlower = \"2023-01-01\"\nupper = \"2023-12-31\"\nformat = \"%d.%m.%Y\"",
        "name = \"Größe\"\nkind = \"real\"\nlower = 1.5\nupper = 2.0",
        "name = \"Kinder\"\nkind = \"integer\"\nlower = 0\nupper = 4",
        "name = \"Raucher\"\nkind = \"boolean\"",
        "levels = [\"ja\", \"nein\"]",
    ] {
        assert!(draft.contains(expected), "{expected} in\n{draft}");
    }
    let line = "compare --input besuche.csv --schema draft.toml --target krank --epsilon 2,inf --trials 2 \
                --mechanism direct --mechanism noisy-marginals --html page.html";
    let screen = files.run(line);
    assert!(screen.contains("What to choose: ") && screen.contains("noisy-marginals"), "{screen}");
    assert!(files.read("page.html").contains("krank"));
}

#[test]
fn what_is_released_has_values_of_its_columns() {
    let files = Files::new();
    files.write("besuche.csv", visits());
    files.run("schema besuche.csv --output draft.toml");
    files.write("schema.toml", files.read("draft.toml").replace("draft = true\n", ""));
    files.run("design direct --schema schema.toml --epsilon 1 --output design.json");
    files.run(
        "release --design design.json --input besuche.csv --output released.csv --card card.json --seed 1",
    );
    let released = files.read("released.csv");
    let mut dates = 0;
    for row in released.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let date = jiff::civil::Date::strptime("%d.%m.%Y", cells[1]).unwrap();
        dates += usize::from(date.year() == 2023);
        assert!((0..=4).contains(&cells[4].parse::<i32>().unwrap()), "{row}");
        assert!(["true", "false"].contains(&cells[5]), "{row}");
    }
    assert_eq!(dates, 240);
    let card: serde_json::Value = serde_json::from_str(&files.read("card.json")).unwrap();
    assert_eq!(card["values"], "settled");

    // Rounded and clamped numbers have no known noise distribution; drawn numbers have one.
    let refused = files.command("estimate --design design.json --input released.csv").output().unwrap();
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("\"Kinder\": ") && message.contains("--values drawn"), "{message}");
    files.run("release --design design.json --input besuche.csv --output drawn.csv --values drawn --seed 1");
    let estimates = files.json("estimate --design design.json --input drawn.csv --values drawn --json");
    let children =
        estimates["estimates"].as_array().unwrap().iter().find(|line| line["column"] == "Kinder").unwrap();
    let (lower, upper) = (children["lower"].as_f64().unwrap(), children["upper"].as_f64().unwrap());
    // The mean is 2, and a 95 % interval for it is no wider than about ten times the range.
    assert!(lower < 2.0 && 2.0 < upper && upper - lower < 50.0, "{lower} to {upper}");
    let beyond = files
        .read("drawn.csv")
        .lines()
        .skip(1)
        .filter(|row| {
            let children: f64 = row.split(',').nth(4).unwrap().parse().unwrap();
            !(0.0..=4.0).contains(&children)
        })
        .count();
    assert!(beyond > 100, "noise at ε = 1 takes most out of the bounds: {beyond}");

    // A curator's records are drawn within bins, and still have whole values.
    files.run(
        "design noisy-marginals --schema schema.toml --target krank --epsilon 5 --delta 1e-6 --people \
        240 --output curator.json",
    );
    files.run("release --design curator.json --input besuche.csv --output drawn-records.csv --seed 1");
    let mut counts = [0; 5];
    for row in files.read("drawn-records.csv").lines().skip(1) {
        counts[row.split(',').nth(4).unwrap().parse::<usize>().unwrap()] += 1;
    }
    assert!(counts.iter().all(|count| (20..80).contains(count)), "of 48 each: {counts:?}");
}

#[test]
fn options_and_pipes_take_the_place_of_what_is_recognised() {
    let files = Files::new();
    files.write("besuche.csv", visits());
    let refused = files.command("schema besuche.csv --delimiter comma").output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let refused = files.refuses("schema besuche.csv --delimiter colon");
    assert!(refused.contains("valid are comma, semicolon, tab, bar"));

    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    packed.write_all(&visits()).unwrap();
    files.write("besuche.csv.gz", packed.finish().unwrap());
    assert!(files.notes("schema besuche.csv.gz").contains(&format!("packed by gzip, {HOW}")));
    assert_eq!(files.notes("schema besuche.csv.gz --quiet"), "");

    files.run("design direct --data iris --epsilon 4 --output design.json");
    files.run("schema --data iris --output iris.toml --records iris.csv");
    let mut command = files.command("release --design design.json --input - --output - --seed 5");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(files.read("iris.csv").as_bytes()).unwrap();
    let piped = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&piped.stderr).contains("holds 150 released records"));
    files.run("release --design design.json --input iris.csv --output released.csv --seed 5");
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), files.read("released.csv"));
    let both = "release --design design.json --input iris.csv --output - --json";
    assert!(
        files.refuses(both).starts_with("--output -: records and JSON cannot both go to standard output")
    );
}

#[test]
fn codes_are_regressed_with_a_line_or_classified_where_that_is_said() {
    let files = Files::new();
    let rows: String = (0..90).map(|row| format!("{},{}\n", row % 30, (row % 30) / 10)).collect();
    files.write("codes.csv", format!("x,code\n{rows}"));
    files.write(
        "codes.toml",
        "column = [{ name = \"x\", kind = \"integer\", lower = 0, upper = 29 }, { name = \"code\", kind = \
         \"integer\", lower = 0, upper = 2 }]",
    );
    let line = "compare --input codes.csv --schema codes.toml --target code --mechanism direct --epsilon 4 \
        --trials 2";
    let (regressed, notes) = crate::succeeded(&mut files.command(line));
    assert!(regressed.contains("root mean squared error"));
    assert!(
        notes.contains(
            "\"code\" has 3 distinct integers and is learned as a number; if they are codes of classes, give \
             --task classify"
        ),
        "{notes}"
    );
    let rows = files.json(&format!("{line} --task classify --json"));
    let design = rows["rows"][0]["design"].as_str().unwrap();
    assert!(design.contains("--target code --task classify "), "{design}");
    let designed = files.run(design.strip_prefix("scumble ").unwrap());
    assert!(designed.contains("the whole record"), "{designed}");
}
