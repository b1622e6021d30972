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

/// Prices, shares and counts with signs and separators are numbers, from the draft to a release that keeps
/// them: plain numbers are written.
#[test]
fn signs_and_separators_belong_to_numbers_in_both_decimal_formats() {
    for (header, row, note) in [
        ("price,share,count,y", "\"$1,2{}4.50\",{} %,12 {}04,{}", ""),
        (
            "price;share;count;y",
            "1.2{}4,50 $;{},0 %;12'{}04;{}",
            "columns separated by semicolons and decimal commas",
        ),
    ] {
        let files = Files::new();
        let line =
            |at: usize| (0..3).fold(row.to_owned(), |row, _| row.replacen("{}", &(at % 10).to_string(), 1));
        let rows = (0..60).map(|at| line(at).replacen("{}", ["no", "yes"][at / 7 % 2], 1) + "\n");
        files.write("prices.csv", format!("{header}\n{}", rows.collect::<String>()));
        let notes = files.notes("schema prices.csv --output draft.toml");
        assert!(notes.contains(note), "{notes}");
        let draft = files.read("draft.toml");
        for expected in [
            "name = \"price\"\nkind = \"real\"\nlower = 1204.0\nupper = 1296.0\nunit = \"$\"",
            "upper = 9\nunit = \"%\"",
            "lower = 12000\nupper = 12920\nunit = \"\"",
        ] {
            assert!(draft.contains(expected), "{expected} in\n{draft}");
        }
        files.write("schema.toml", draft.replace("draft = true\n", ""));
        files.run(
            "design randomized-response --schema schema.toml --target y --protect label --epsilon 1 --output \
             design.json",
        );
        files.run("release --design design.json --input prices.csv --output released.csv");
        let released = files.read("released.csv");
        assert!(released.lines().nth(4).is_some_and(|row| row.starts_with("1234.5,3,12304,")), "{released}");
        // A sign that the schema does not declare is refused, and so is a comma between two digits.
        files.write("schema.toml", files.read("schema.toml").replace("\"$\"", "\"€\""));
        files.run(
            "design randomized-response --schema schema.toml --target y --protect label --epsilon 1 --output \
             design.json --force",
        );
        let refused =
            files.refuses("release --design design.json --input prices.csv --output again.csv --quiet");
        assert!(
            refused.contains("has a sign other than the column's; declare it as the `unit`"),
            "{refused}"
        );
    }
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

/// Rows without a target are left out of a comparison, and counted on stderr.
#[test]
fn rows_without_a_target_are_left_out_where_that_is_asked_for() {
    let files = Files::new();
    let row = |row: usize| {
        format!("{},{}\n", row % 10, if row.is_multiple_of(4) { "" } else { ["a", "b"][row % 10 / 5] })
    };
    let all: String = (0..200).map(row).collect();
    files.write("all.csv", format!("x,y\n{all}"));
    files.write("own.csv", format!("x,y\n{}", (0..200).filter(|at| at % 4 > 0).map(row).collect::<String>()));
    let schema = "column = [{ name = \"x\", kind = \"real\", lower = 0.0, upper = 9.0 }, \
                  { name = \"y\", kind = \"category\", levels = [\"a\", \"b\"] }]";
    files.write("own.toml", schema);
    let compare = |input: &str| {
        let line = format!(
            "compare --input {input} --schema own.toml --target y --mechanism direct --epsilon 2 --trials 2 \
             --json"
        );
        files.command(&line)
    };
    let (whole, notes) = crate::succeeded(&mut compare("all.csv --drop-missing-target"));
    assert!(notes.contains("all.csv: 50 rows without \"y\" are left out"), "{notes}");
    let rows = |json: &str| crate::timeless(serde_json::from_str(json).unwrap())["rows"].clone();
    assert_eq!(rows(&whole), rows(&crate::succeeded(&mut compare("own.csv")).0));
    assert!(
        crate::refused(&mut compare("all.csv"))
            .starts_with("all.csv, row 1, column \"y\": \"\" is not a level")
    );
}

/// A level that is a number is found in CSV as in Parquet, however it is spelled.
#[test]
fn numeric_levels_may_be_spelled_in_several_ways() {
    let files = Files::new();
    files.write("codes.toml", "column = [{ name = \"code\", kind = \"category\", levels = [\"1\", \"2\"] }]");
    files.write("codes.csv", "code\n1.0\n2\n2.00\n");
    files.run("design direct --schema codes.toml --epsilon 1 --output design.json");
    files.run("release --design design.json --input codes.csv --output released.csv");
    let released = files.read("released.csv");
    assert!(released.lines().skip(1).all(|level| ["1", "2"].contains(&level)), "{released}");
}
