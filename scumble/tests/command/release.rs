//! `scumble release`: released files, existing files, and cleanup after invalid input.

use crate::{Files, SCHEMA, refused, succeeded};
use scumble::kkt::{LinearModel, Loss};
use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};

const RELEASE: &str = "release --design design.json --input data.csv --output released.csv";

/// Creates a design of `mechanism`, and the sixty good rows.
fn designed(mechanism: &str) -> Files {
    let files = Files::new();
    files.good();
    files.run(&format!("design {mechanism} --schema schema.toml --output design.json"));
    files
}

fn with_ledger(files: &Files, epsilon: f64) {
    files.run(&format!("ledger init --ledger ledger.json --dataset survey --epsilon {epsilon}"));
}

fn many(files: &Files, rows: usize) {
    let rows: String = (0..rows).map(|row| format!("{},red,{}\n", row % 10, row % 100)).collect();
    files.write("data.csv", format!("size,colour,price\n{rows}"));
}

#[test]
fn a_release_has_the_schemas_columns_in_its_order_and_units() {
    let files = designed("identity --epsilon 1");
    files.write("data.csv", "note,price,colour,size\nx,12.5,green,7.5\ny,100,red,0\n");
    let output = files.run(RELEASE);
    assert_eq!(output, "released.csv holds 2 released records: no claim\n");
    assert_eq!(files.read("released.csv"), "size,colour,price\n7.5,green,12.5\n0,red,100\n");
}

#[test]
fn nobody_vanishes_whose_only_cell_is_empty() {
    let files = Files::new();
    let number = "[[column]]\nname = \"x\"\nkind = \"real\"\nlower = 0.0\nupper = 10.0\n";
    let level = "[[column]]\nname = \"x\"\nkind = \"category\"\nlevels = [\"\", \"1\", \"3\"]\n";
    let released = |schema: &str, rows: &str| {
        files.write("schema.toml", schema);
        files.write("data.csv", rows);
        files.run("design identity --schema schema.toml --epsilon 1 --output design.json --force");
        files.run(&format!("{RELEASE} --force"));
        files.read("released.csv")
    };
    let missing = format!("{number}missing = 5.0\n");
    for rows in ["x\n1\n\n3\n", "x\r\n1\r\n\r\n3\r\n", "x\n1\n\"\"\n3", "\n\nx\n1\n \n3\n"] {
        assert_eq!(released(&missing, rows), "x\n1\n5\n3\n", "{rows:?}");
        let levels = released(level, rows);
        assert_eq!(levels, "x\n1\n\"\"\n3\n", "{rows:?}");
        assert_eq!(released(level, &levels), levels, "what was released can be released again");
    }
    assert_eq!(released(&missing, "x\n1\n\n\n"), "x\n1\n5\n5\n");
    // If no cell may be empty, the error names the empty cell.
    files.write("schema.toml", number);
    files.write("data.csv", "x\n1\n\n3\n");
    files.run("design laplace --schema schema.toml --epsilon 1 --output design.json --force");
    let refused = files.refuses(&format!("{RELEASE} --force"));
    assert!(refused.starts_with("data.csv, row 2, column \"x\": \"\" is not a number"), "{refused}");
}

#[test]
fn a_seed_gives_the_same_bytes_whatever_the_number_of_threads() {
    let files = designed("direct --target colour --epsilon 4");
    many(&files, 5000);
    let release = |seed: u32, threads: u32| {
        let mut command = files.command(&format!("{RELEASE} --force --seed {seed}"));
        succeeded(command.env("RAYON_NUM_THREADS", threads.to_string()));
        files.read("released.csv")
    };
    let one = release(1, 1);
    assert_eq!(one.lines().count(), 5001);
    assert!(one == release(1, 2) && one == release(1, 5), "threads change the release");
    assert_ne!(one, release(2, 2));
}

/// Writes the records of data.csv as Parquet too. Both files then hold numbers rounded by scaling to the
/// bounds and back.
fn as_parquet(files: &Files) {
    files.run("design identity --epsilon 1 --schema schema.toml --output as-it-is.json");
    files.run("release --design as-it-is.json --input data.csv --output data.parquet");
    files.run("release --design as-it-is.json --input data.csv --output same.csv");
    std::fs::rename(files.path("same.csv"), files.path("data.csv")).unwrap();
}

#[test]
fn a_release_from_parquet_and_to_it_has_the_values_of_csv() {
    let files = designed("laplace --epsilon 1");
    many(&files, 5000);
    as_parquet(&files);
    let release = |input: &str, output: &str, threads: u32| {
        let line = format!("release --design design.json --input {input} --output {output} --seed 3 --force");
        succeeded(files.command(&line).env("RAYON_NUM_THREADS", threads.to_string()));
    };
    release("data.csv", "a.csv", 1);
    release("data.parquet", "b.csv", 2);
    assert!(files.read("a.csv") == files.read("b.csv"), "read from Parquet, the release is another");
    release("data.csv", "a.parquet", 1);
    release("data.parquet", "b.PARQUET", 2);
    let written = ["a.parquet", "b.PARQUET"].map(|name| std::fs::read(files.path(name)).unwrap());
    assert!(written[0] == written[1], "threads change the file");
    // The released values, through Parquet and back.
    files.run("release --design as-it-is.json --input a.csv --output c.csv");
    files.run("release --design as-it-is.json --input a.parquet --output d.csv");
    assert!(files.read("c.csv") == files.read("d.csv"), "written as Parquet, the release is another");
    for line in files.all() {
        let file = std::fs::read(files.path(&line)).unwrap();
        assert_eq!(file.starts_with(b"PAR1"), line.to_lowercase().ends_with(".parquet"), "{line}");
    }
}

#[test]
fn what_a_file_holds_decides_and_not_its_name() {
    let files = designed("laplace --epsilon 1");
    as_parquet(&files);
    std::fs::rename(files.path("data.parquet"), files.path("named.csv")).unwrap();
    files.run("release --design design.json --input named.csv --output released.csv");
    std::fs::rename(files.path("data.csv"), files.path("named.parquet")).unwrap();
    assert_eq!(
        files.refuses("release --design design.json --input named.parquet --output other.csv"),
        "named.parquet: its name ends with .parquet, but its content is not Parquet; if it is CSV, rename it"
    );
    let whole = std::fs::read(files.path("named.csv")).unwrap();
    with_ledger(&files, 10.0);
    let before = files.all();
    for (file, expected) in [
        (&whole[..whole.len() / 2], "named.csv: its footer is not valid Parquet: "),
        (
            &[&whole[..100], &[0; 64], &whole[164..]].concat(),
            "named.csv: column \"size\" of its row group 1 cannot be read: ",
        ),
    ] {
        files.write("named.csv", file);
        let line = "release --design design.json --input named.csv --output other.csv --ledger ledger.json \
            --dataset survey";
        let refused = files.refuses(line);
        assert!(refused.starts_with(expected), "{refused}");
        assert_eq!(files.all(), before);
    }
    assert_eq!(files.spent(), 0.0);
}

#[test]
fn every_command_that_reads_records_reads_parquet() {
    let files = designed("laplace --epsilon 1");
    as_parquet(&files);
    for line in [
        "compare --input DATA --schema schema.toml --target price --mechanism laplace --epsilon 1 --trials 2 \
         --json",
        "solve svm --input DATA --target colour --positive red --theta 1 --rho 0.01 --json",
        "design task-agnostic --schema schema.toml --epsilon 1 --volunteers DATA --volunteers-are public \
         --output NEW.json",
    ] {
        let output = |file: &str| {
            let line = line.replace("DATA", &format!("data.{file}")).replace("NEW", file);
            let document: Value = match line.ends_with("--json") {
                true => files.json(&line),
                false => {
                    files.run(&line);
                    serde_json::from_str(&files.read(&format!("{file}.json"))).unwrap()
                }
            };
            let text = document.to_string().replace(&format!("data.{file}"), "the data");
            // The whole output except the time.
            text.split("\"seconds\":").next().unwrap().to_owned()
        };
        assert_eq!(output("parquet"), output("csv"), "{line}");
    }
}

#[test]
fn the_card_says_what_this_release_guarantees() {
    let files = designed("laplace --target price --epsilon 2");
    let card = |line: &str| -> Value {
        files.run(&format!("{RELEASE} --force --card card.json {line}"));
        serde_json::from_str(&files.read("card.json")).unwrap()
    };
    let fresh = card("");
    assert_eq!(fresh["guarantee"]["epsilon"], 2.0);
    assert_eq!(fresh["design"]["origin"]["plugin"], "laplace");
    assert_eq!(fresh["noise"]["target"]["distribution"], "additive");
    assert_eq!(fresh["noise"]["columns"], serde_json::json!(["size", "colour=red", "colour=green"]));
    // The file holds the largest level of the colour, so its noise distribution is unknown.
    assert_eq!(fresh["noise"]["features"][1], serde_json::json!({"distribution": "unknown", "width": 2}));
    let design: Value = serde_json::from_str(&files.read("design.json")).unwrap();
    assert_eq!(fresh["design"]["digest"], design["digest"]);
    let seeded = card("--seed 7");
    assert!(
        seeded["guarantee"]["epsilon"].is_null() && seeded["guarantee"]["claims"] == serde_json::json!([])
    );
    assert!(seeded["guarantee"]["discloses"][0].as_str().unwrap().contains("seed"));
}

/// A release file in encoded units keeps the models that its design names, and forms that round integers or
/// replace categories by a level do not. The models are learned from the files alone.
#[test]
fn a_file_in_encoded_units_keeps_the_models_of_its_design() {
    let files = Files::new();
    let number = |name: &str, kind: &str, bounds: &str| {
        format!("[[column]]\nname = \"{name}\"\nkind = \"{kind}\"\n{bounds}\n")
    };
    let schema = [
        number("height", "real", "lower = 0.0\nupper = 10.0"),
        number("answer", "category", "levels = [\"no\", \"yes\"]"),
        number("steps", "integer", "lower = 0\nupper = 100"),
        number("colour", "category", "levels = [\"red\", \"green\", \"blue\"]"),
    ];
    files.write("schema.toml", schema.concat());
    let row = |row: usize| {
        let [height, steps, colour] = [(row * 7) % 11, (row * row * 13) % 101, (row * row / 3) % 3];
        let answer = if height + 4 * colour + row % 3 > 10 { "yes" } else { "no" };
        format!("{height},{answer},{steps},{}\n", ["red", "green", "blue"][colour])
    };
    files.write("data.csv", format!("height,answer,steps,colour\n{}", (0..80).map(row).collect::<String>()));
    files.run(
        "design fisher-correlated --schema schema.toml --target answer --protect features --epsilon 1 \
         --set keeps=[{\"model\":\"ridge\"},{\"model\":\"logistic\"}] --output design.json",
    );
    let weights = |records: Vec<[f64; 5]>, signs: Vec<f64>| -> Vec<f64> {
        let records = ndarray::Array2::from(records);
        let losses = [Loss::Squared(&signs), Loss::Logistic(&signs)];
        let solved = |loss: &Loss| LinearModel::new(records.view(), *loss, 1.0).unwrap().solve(1e-9, 100);
        losses.iter().flat_map(|loss| solved(loss).unwrap().weights).flatten().collect()
    };
    let cells = |file: &str| -> Vec<Vec<String>> {
        let text = files.read(file);
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let sign = |answer: &String| if answer == "yes" { 1.0 } else { -1.0 };
    let of_cells = |file: &str| {
        let rows = &cells(file)[1..];
        let encoded = |row: &Vec<String>| {
            let [height, steps] = [0, 2].map(|at| row[at].parse::<f64>().unwrap());
            let [red, green, blue] = ["red", "green", "blue"].map(|level| f64::from(row[3] == level));
            [height / 10.0, steps / 100.0, red, green, blue]
        };
        weights(rows.iter().map(encoded).collect(), rows.iter().map(|row| sign(&row[1])).collect())
    };
    let of_coordinates = |file: &str| {
        let rows = cells(file);
        assert_eq!(rows[0], ["height", "steps", "colour=red", "colour=green", "colour=blue", "answer"]);
        let encoded = |row: &Vec<String>| [0, 1, 2, 3, 4].map(|at| row[at].parse().unwrap());
        weights(rows[1..].iter().map(encoded).collect(), rows[1..].iter().map(|row| sign(&row[5])).collect())
    };
    let clean = of_cells("data.csv");
    for values in ["settled", "drawn", "encoded"] {
        let notes = files.notes(&format!("{RELEASE} --force --values {values}"));
        let keeps = values == "encoded";
        let released = if keeps { of_coordinates("released.csv") } else { of_cells("released.csv") };
        let most = clean.iter().zip(released).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert_eq!(notes.contains("(--values encoded does)"), !keeps, "{values}: {notes}");
        assert!(if keeps { most < 1e-8 } else { most > 1e-3 }, "{values}: moved by {most}");
    }
}

#[test]
fn clipped_cells_are_told_to_the_owner_alone_and_refused_if_she_is_strict() {
    let files = designed("laplace --epsilon 1");
    files.write("data.csv", "size,colour,price\n99,red,50\n1,red,50\n");
    let notes = files.notes(&format!("{RELEASE} --card card.json"));
    assert!(notes.contains("clipped to the public bounds: 1 of \"size\" to [0, 10]"));
    assert!(!files.read("card.json").contains("clip") && !files.read("released.csv").contains("clip"));
    let refused = files.refuses(&format!("{RELEASE} --strict --force"));
    assert_eq!(
        refused,
        "data.csv, row 1, column \"size\": \"99\" lies outside the bounds; a number between 0 and 10 cm is \
         needed"
    );
    let help = files.run("release --help");
    assert!(help.contains("has such a record"), "{help}");
}

#[test]
fn what_is_there_stays_unless_forced_and_what_is_read_stays_in_any_case() {
    let files = designed("laplace --epsilon 1");
    files.write("released.csv", "mine");
    assert_eq!(files.refuses(RELEASE), "released.csv already exists; --force replaces it");
    assert_eq!(files.read("released.csv"), "mine");
    files.run(&format!("{RELEASE} --force"));
    assert!(files.read("released.csv").starts_with("size,colour,price\n"));
    for (read, line) in [
        ("data.csv", "release --design design.json --input data.csv --output ./data.csv --force"),
        ("design.json", "release --design design.json --input data.csv --output design.json --force"),
        ("data.csv", "release --design design.json --input data.csv --output a.csv --card data.csv --force"),
    ] {
        let before = files.read(read);
        assert!(files.refuses(line).ends_with("this is an input file; refusing to overwrite it"));
        assert_eq!(files.read(read), before);
    }
    let line = "release --design design.json --input data.csv --output a.csv --card ./a.csv";
    assert_eq!(files.refuses(line), "./a.csv: the file is given as two different outputs");
    with_ledger(&files, 1.0);
    for ledger in ["ledger.json", "ledger.json.witness"] {
        let line = format!("{RELEASE} --force --ledger ledger.json --dataset survey")
            .replace("released.csv", ledger);
        assert!(files.refuses(&line).ends_with("this is an input file; refusing to overwrite it"));
    }
    assert_eq!(files.spent(), 0.0);
    files.write("card.json", "mine");
    let line = "release --design design.json --input data.csv --output a.csv --card card.json";
    assert_eq!(files.refuses(line), "card.json already exists; --force replaces it");
    assert!(!files.exists("a.csv"));
}

/// Checks that invalid input gives one line, exit code 2, no output, no temporary file and no charge.
#[test]
fn bad_input_leaves_nothing_behind() {
    let files = designed("laplace --epsilon 1");
    with_ledger(&files, 10.0);
    let before = files.all();
    let header = "size,colour,price\n";
    let good = "1,red,5\n";
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            format!("{header}{}1,red,dear\n", good.repeat(3000)).into(),
            "data.csv, row 3001, column \"price\": \"dear\" is not a number",
        ),
        (
            format!("{header}{good}1,red\n").into(),
            "data.csv, row 2: the row has 2 cells, and the header has 3",
        ),
        (
            format!("{header}{good}1,red,5,6\n").into(),
            "data.csv, row 2: the row has 4 cells, and the header has 3",
        ),
        (format!("{header}{good}1,re").into(), "data.csv, row 2: the row has 2 cells, and the header has 3"),
        (
            format!("{header}{good}1,\"re").into(),
            "data.csv: the file ends in the middle of row 2: a quotation mark is never closed",
        ),
        ("size,price\n1,5\n".into(), "data.csv: there is no column \"colour\""),
        ("size,colour,price,size\n1,red,5,1\n".into(), "data.csv: the column \"size\" occurs twice"),
        (header.into(), "data.csv holds no records"),
        ("".into(), "data.csv holds no records"),
        (
            format!("{header}1,red,{}\n", "9".repeat(10_000_000)).into(),
            "data.csv, row 1, column \"price\": \
             \"999999999999999999999999999999999999999999999999999999999999…\" is too long, with 10000000 \
             bytes",
        ),
        (
            format!("{header}1,red,{}\n", "9".repeat(20_000_000)).into(),
            "data.csv: a row is longer than 16 MiB",
        ),
        (b"PK\x03\x04\0\0\0".to_vec(), "data.csv: "),
    ];
    for (text, expected) in cases {
        files.write("data.csv", text);
        for line in [RELEASE.to_owned(), format!("{RELEASE} --ledger ledger.json --dataset survey")] {
            let refused = files.refuses(&line);
            assert!(refused.starts_with(expected), "{refused}");
            assert!(refused.len() < 400, "{refused}");
            assert_eq!(files.all(), before);
        }
    }
    assert_eq!(files.spent(), 0.0);
}

#[test]
fn the_first_of_two_bad_rows_is_named_whatever_the_number_of_threads() {
    let files = designed("laplace --epsilon 1");
    let good = "1,red,5\n".repeat(2000);
    files.write("data.csv", format!("size,colour,price\n{good}1,red,dear\n{good}{good}{good}1\n"));
    for threads in ["1", "4"] {
        let refused = refused(files.command(RELEASE).env("RAYON_NUM_THREADS", threads));
        assert!(refused.starts_with("data.csv, row 2001, "));
    }
}

#[test]
fn bad_designs_and_places_are_named() {
    let files = designed("laplace --epsilon 1");
    let design = files.read("design.json");
    for (text, expected) in [
        ("size,colour\n1,2\n".to_owned(), "expected value at line 1"),
        ("{}".into(), "it has no \"format\""),
        (design[..design.len() / 2].into(), "EOF while parsing"),
        (
            design.replace("scumble-design-3", "scumble-design-2"),
            "its format is \"scumble-design-2\", and \"scumble-design-3\" is expected; `scumble design` with \
             the same options makes it again",
        ),
        (
            design.replace("scumble-design-3", "another"),
            "its format is \"another\", and \"scumble-design-3\" is expected",
        ),
        (
            design.replace("\"plugin\": \"laplace\"", "\"plugin\": \"staircase\""),
            "there is no mechanism \"staircase\"",
        ),
        (design.replace("\"plugin_version\": \"", "\"plugin_version\": \"9"), "it was designed by"),
        (design.replace("\"epsilon\": 1.0", "\"epsilon\": -1.0"), "epsilon must be above zero"),
        (design.replace("\"epsilon\": 1.0", "\"epsilon\": 0.5"), "it was changed after it was saved"),
        (design.replace("\"upper\": 10.0", "\"upper\": 1000.0"), "it was changed after it was saved"),
        (design.replace("\"upper\": 10.0", "\"upper\": -1.0"), "the bounds 0 and -1"),
        (design.replacen("colour", "color", 1), "its schema does not describe the records"),
    ] {
        assert_ne!(text, design);
        files.write("design.json", text);
        let refused = files.refuses(RELEASE);
        assert!(
            refused.starts_with("design.json: the design cannot be loaded: ") && refused.contains(expected),
            "{refused}"
        );
    }
    files.write("design.json", design);
    for (line, expected) in [
        (RELEASE.replace("design.json", "none.json"), "none.json: "),
        (RELEASE.replace("design.json", "."), ".: "),
        (RELEASE.replace("data.csv", "none.csv"), "none.csv: "),
        (RELEASE.replace("data.csv", "."), ".: "),
        (RELEASE.replace("released.csv", "none/released.csv"), "none/released.csv: "),
        (RELEASE.replace("released.csv", "data.csv/released.csv"), "data.csv/released.csv: "),
        (RELEASE.replace("released.csv", "."), ". is not a plain file"),
        (format!("{RELEASE} --key key.json"), "--key: a local mechanism has no secret"),
        (format!("{RELEASE} --ledger none.json --dataset survey"), "the ledger none.json: it does not exist"),
        (format!("{RELEASE} --ledger ledger.json"), "the following required arguments were not provided"),
    ] {
        let refused = files.refuses(&line);
        assert!(refused.starts_with(expected), "{line}: {refused}");
    }
    #[cfg(target_os = "linux")]
    assert!(
        files
            .refuses(&RELEASE.replace("released.csv", "/proc/released.csv"))
            .starts_with("/proc/released.csv: ")
    );
    assert_eq!(files.all(), ["data.csv", "design.json", "schema.toml"]);
}

#[test]
fn a_ledger_is_charged_before_a_release_and_refuses_one_too_many() {
    let files = designed("laplace --target price --epsilon 1");
    with_ledger(&files, 2.5);
    let release = |output: &str| {
        format!("{RELEASE} --ledger ledger.json --dataset survey").replace("released.csv", output)
    };
    files.run(&release("one.csv"));
    files.run(&release("two.csv"));
    assert_eq!(files.spent(), 2.0);
    assert!(
        files.refuses(&release("three.csv")).starts_with("\"survey\": budget for the whole record exceeded")
    );
    // A seeded release has no guarantee, and costs an infinite ε.
    assert!(files.refuses(&format!("{} --seed 1", release("three.csv"))).contains("ε = inf"));
    assert!(!files.exists("three.csv"));
    assert_eq!(files.spent(), 2.0);
    // A design for the features does not protect the label.
    files.run(
        "design laplace --target colour --protect features --schema schema.toml --epsilon 0.1 --output \
        features.json",
    );
    let refused = files.refuses(&release("three.csv").replace("design.json", "features.json"));
    assert!(refused.contains("ε = inf"), "{refused}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_no_output_and_the_charge() {
    let files = designed("laplace --epsilon 1");
    many(&files, 50_000);
    with_ledger(&files, 10.0);
    let before = files.all();
    // Enough space for the ledger, but not for the release.
    let line = format!("{RELEASE} --ledger ledger.json --dataset survey");
    let refused = refused(&mut files.on_full_disk(&line, 64));
    assert!(refused.starts_with("the output cannot be written: "), "{refused}");
    assert!(refused.ends_with("the ledger was charged, and the charge remains"), "{refused}");
    assert_eq!(files.all(), before);
    assert_eq!(files.spent(), 1.0);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_no_broken_file_and_what_was_charged_stays_charged() {
    let files = designed("laplace --epsilon 1");
    many(&files, 400_000);
    with_ledger(&files, 10.0);
    let before = files.all();
    for (line, charged) in
        [(RELEASE.to_owned(), 0.0), (format!("{RELEASE} --ledger ledger.json --dataset survey"), 1.0)]
    {
        let mut child = files.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        // A temporary file and a charged ledger show that records are being released.
        let is_releasing = || files.all() != before && files.spent() >= charged;
        while !is_releasing() && start.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{line}");
        assert_eq!(files.all(), before, "an interrupted release leaves nothing");
        assert_eq!(files.spent(), charged);
    }
    files.run(RELEASE);
}

/// Uses steps that would take minutes.
#[cfg(unix)]
#[test]
fn an_interrupt_of_a_curator_is_heard_in_the_midst_of_its_work() {
    let files = Files::new();
    files.write("schema.toml", SCHEMA);
    many(&files, 3_000);
    let schema = "--schema schema.toml --target colour --epsilon 1 --delta 1e-6 --people 3000";
    files.run(&format!("design private-logistic {schema} --set steps=100000 --output design.json"));
    with_ledger(&files, 10.0);
    let before = files.all();
    let line = format!("{RELEASE} --ledger ledger.json --dataset survey");
    let mut child = files.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(5), "it took {:?}", asked.elapsed());
    assert_eq!(files.all(), before, "an interrupted release leaves nothing");
    assert_eq!(files.spent(), 0.0);
}

/// Releases a file of 65 MB within 150 MB of memory, on 64 threads. Holding the file and its encoded records
/// would take about 300 MB.
#[cfg(target_os = "linux")]
#[test]
fn memory_grows_neither_with_the_file_nor_with_the_threads() {
    let files = Files::new();
    let columns: Vec<String> = (0..30).map(|column| format!("x{column}")).collect();
    let schema: String = columns
        .iter()
        .map(|name| format!("[[column]]\nname = \"{name}\"\nkind = \"real\"\nlower = 0.0\nupper = 10.0\n"))
        .collect();
    files.write("schema.toml", schema);
    let row = vec!["0.0123456"; 30].join(",") + "\n";
    files.write("data.csv", columns.join(",") + "\n" + &row.repeat(215_000));
    files.run("design identity --schema schema.toml --epsilon 1 --output design.json");
    let peak = peak_of(files.command(RELEASE).env("RAYON_NUM_THREADS", "64"));
    assert!((1_000..150_000).contains(&peak), "{peak} kB");
}

/// Returns the peak memory of a command, in kB.
#[cfg(target_os = "linux")]
pub(crate) fn peak_of(command: &mut std::process::Command) -> u64 {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = kilobytes.and_then(|text| text.split_whitespace().next()?.parse().ok());
        peak = kilobytes.unwrap_or(0).max(peak);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    peak
}

/// Compares the peak memory for a file with that for twice as many records. Holding the records would take 15
/// to 70 MB more.
#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_curator_does_not_grow_with_the_file() {
    let files = Files::new();
    let number =
        |at: usize| format!("[[column]]\nname = \"x{at}\"\nkind = \"real\"\nlower = 0.0\nupper = 10.0\n");
    let category = |name: &str, levels: &str| {
        format!("[[column]]\nname = \"{name}\"\nkind = \"category\"\nlevels = [{levels}]\n")
    };
    let schema: String = (0..4).map(number).collect();
    files.write(
        "schema.toml",
        schema + &category("c", r#""a", "b", "c", "d""#) + &category("y", r#""n", "p""#),
    );
    let row = |at: usize| {
        format!("0.5,{},9.25,{},{},{}\n", at % 10, at % 7, ["a", "b", "d"][at % 3], ["n", "p"][at % 2])
    };
    for (name, records) in [("some.csv", 100_000), ("more.csv", 200_000)] {
        files.write(name, "x0,x1,x2,x3,c,y\n".to_owned() + &(0..records).map(row).collect::<String>());
    }
    for mechanism in [
        "mst --target y",
        "noisy-moments --target y",
        "private-ridge --target x0",
        "private-logistic --set steps=2 --target y",
    ] {
        let schema =
            "--schema schema.toml --epsilon 1 --delta 1e-6 --people 100000 --output design.json --force";
        files.run(&format!("design {mechanism} {schema}"));
        let [some, more] = ["some.csv", "more.csv"].map(|input| {
            let line = format!("release --design design.json --input {input} --output released.csv --force");
            peak_of(files.command(&line).env("RAYON_NUM_THREADS", "2"))
        });
        // With 100,000 more records, 8 MB are 80 bytes each.
        assert!(some > 1_000 && more < some + 8_000, "{mechanism}: {some} and {more} kB");
    }
}

#[test]
fn a_place_that_no_file_can_take_is_refused_before_a_charge() {
    let files = designed("laplace --epsilon 1");
    with_ledger(&files, 10.0);
    for place in ["none/".to_owned(), "x".repeat(300)] {
        let line = format!("{RELEASE} --ledger ledger.json --dataset survey").replace("released.csv", &place);
        assert!(!files.refuses(&line).contains("charged"));
    }
    assert_eq!(files.spent(), 0.0);
}

/// Checks that a release killed at any instruction leaves either no output or a complete one that was
/// charged.
#[test]
fn a_killed_release_was_charged_if_it_is_there() {
    let files = designed("laplace --epsilon 1");
    many(&files, 20_000);
    with_ledger(&files, 1000.0);
    let line = format!("{RELEASE} --ledger ledger.json --dataset survey");
    let mut whole = 0;
    for attempt in 0..25 {
        let mut child = files.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(8 * attempt));
        child.kill().unwrap();
        child.wait().unwrap();
        if files.exists("released.csv") {
            whole += 1;
            assert_eq!(files.read("released.csv").lines().count(), 20_001, "half a release");
            std::fs::remove_file(files.path("released.csv")).unwrap();
        }
        assert!(files.spent() >= f64::from(whole), "{whole} releases, and {} was spent", files.spent());
    }
}

#[test]
fn the_schema_of_the_design_decides_not_the_one_beside_it() {
    let files = designed("identity --epsilon 1");
    files.write("schema.toml", SCHEMA.replace("10.0", "20.0"));
    files.write("data.csv", "size,colour,price\n15,red,5\n");
    files.run(RELEASE);
    assert_eq!(files.read("released.csv"), "size,colour,price\n10,red,5\n");
}

/// Refuses a release too large for memory: the number of records is known only at the release.
#[test]
fn a_release_that_could_not_be_held_is_refused_and_leaves_nothing_in_any_folder() {
    let files = designed("multiplicative-dp --epsilon 1 --delta 1e-6 --set records=200 --set dim=4000000");
    many(&files, 300);
    files.write("passphrase", "correct horse battery staple\n");
    std::fs::create_dir(files.path("keys")).unwrap();
    let before = files.all();
    let refused = files.refuses(&format!("{RELEASE} --key keys/key.json --passphrase-file passphrase"));
    assert!(
        refused.contains("dim, for this number of records, asks for 9600000000 bytes at once"),
        "{refused}"
    );
    assert_eq!(files.all(), before);
    assert_eq!(std::fs::read_dir(files.path("keys")).unwrap().count(), 0);
}
