//! Noisy tables of a curator's release, and estimates from them.

use crate::estimate::people;
use crate::{Files, number};
use approx::assert_relative_eq;
use serde_json::{Value, json};

const DESIGN: &str = "design noisy-marginals --schema people.toml --target smokes --people 2000 --output \
                      design.json --force";
const RELEASE: &str = "release --design design.json --input people.csv --output rows.csv --tables \
                       tables.json --force";

/// Ages, days since 1970, grades, sizes and answers of the people in the file.
fn records() -> impl Iterator<Item = (f64, f64, &'static str, f64, bool)> {
    const MIDDLES: [u32; 12] = [14, 45, 74, 105, 135, 166, 196, 227, 258, 288, 319, 349];
    (0..2000_u32).map(|row| {
        let grade = ["low", "middle", "high", "high"][row as usize % 4];
        let day = f64::from(18_262 + MIDDLES[row as usize % 12]);
        (f64::from(row % 100), day, grade, f64::from(row % 21) / 10.0, row.is_multiple_of(4))
    })
}

/// Reads the tables of the file, each with its first column's name, its levels and its counts.
fn tables(files: &Files) -> Vec<(String, Value, Vec<f64>)> {
    let file: Value = serde_json::from_str(&files.read("tables.json")).unwrap();
    assert_eq!((&file["format"], &file["people"]), (&json!("scumble-tables-1"), &json!(2000)));
    let table = |table: &Value| {
        assert_eq!(table["columns"][1]["name"], "smokes");
        assert_eq!(table["columns"][1]["levels"], json!([["false"], ["true"]]));
        let counts = table["counts"].as_array().unwrap().iter().map(number).collect();
        let column = &table["columns"][0];
        (column["name"].as_str().unwrap().to_owned(), column["levels"].clone(), counts)
    };
    file["tables"].as_array().unwrap().iter().map(table).collect()
}

/// Exact counts of the people by the levels of a column, and by their answer.
fn counted(column: &str, levels: &Value) -> Vec<f64> {
    let mut counts = vec![];
    for level in levels.as_array().unwrap() {
        let is_in = |x: f64| {
            let (from, to) = (number(&level["from"]), number(&level["to"]));
            // A real number at an end belongs to the level above, except for the largest.
            from <= x && (x < to || column != "size" && x == to || x == 2.0 && to == 2.0)
        };
        for answer in [false, true] {
            let people = records().filter(|(age, day, grade, size, smokes)| {
                let is_level = match column {
                    "age" => is_in(*age),
                    "since" => is_in(*day),
                    "size" => is_in(*size),
                    _ => level.as_array().unwrap().contains(&json!(grade)),
                };
                is_level && *smokes == answer
            });
            counts.push(people.count() as f64);
        }
    }
    counts
}

#[test]
fn without_noise_the_tables_are_the_counts_of_the_file() {
    let files = Files::new();
    people(&files);
    files.run(&format!("{DESIGN} --epsilon inf --delta 1e-6"));
    files.run(RELEASE);
    let tables = tables(&files);
    assert_eq!(tables.iter().map(|table| &table.0).collect::<Vec<_>>(), ["age", "since", "grade", "size"]);
    for (column, levels, counts) in &tables {
        assert_eq!(*counts, counted(column, levels), "{column}: {levels}");
    }
    let found = files.json("estimate --tables tables.json --evenly --json");
    let found = found["estimates"].as_array().unwrap();
    let value = |column: &str, of: &str| {
        let line = found.iter().find(|line| line["column"] == column && line["of"] == of).unwrap();
        assert_eq!(line["lower"], line["upper"], "{line}");
        number(&line["value"])
    };
    assert_relative_eq!(value("smokes", "true"), 25.0, max_relative = 1e-12);
    assert_relative_eq!(value("grade", "high"), 50.0, max_relative = 1e-12);
    // Every age occurs twenty times.
    assert_relative_eq!(value("age", "mean"), 49.5, max_relative = 1e-9);
}

/// Zeros and missing cells that are kept apart have levels of their own, and no other level has them.
#[test]
fn values_apart_are_levels_of_their_own() {
    let files = Files::new();
    files.write(
        "pay.toml",
        r#"column = [
            { name = "ok", kind = "boolean" },
            { name = "pay", kind = "integer", lower = 0, upper = 1000, scale = "log", zero = "apart",
              missing = "apart" },
        ]"#,
    );
    let pay = |row: u32| match row % 4 {
        0 => String::new(),
        1 => "0".into(),
        _ => (row % 1001).to_string(),
    };
    let rows: String = (0..400_u32).map(|row| format!("{},{}\n", pay(row), row % 3 == 0)).collect();
    files.write("pay.csv", format!("pay,ok\n{rows}"));
    files.run(
        "design noisy-marginals --schema pay.toml --epsilon inf --delta 1e-6 --set marginals=[[\"pay\"]] \
         --output design.json",
    );
    files.run("release --design design.json --input pay.csv --output rows.csv --tables tables.json");
    let file: Value = serde_json::from_str(&files.read("tables.json")).unwrap();
    let [table] = &file["tables"].as_array().unwrap()[..] else { panic!("one table: {file}") };
    let levels = table["columns"][0]["levels"].as_array().unwrap();
    let counts = table["counts"].as_array().unwrap().iter().map(number);
    for (level, count) in levels.iter().zip(counts) {
        let of = |row: &u32| match (level, row % 4) {
            (level, 0) => *level == json!(["missing"]),
            (level, 1) => *level == json!({ "from": 0.0, "to": 0.0 }),
            (level, _) => level.get("from").is_some_and(|from| {
                let pay = f64::from(row % 1001);
                (number(from)..=number(&level["to"])).contains(&pay)
            }),
        };
        assert_eq!((0..400_u32).filter(of).count() as f64, count, "{level}");
    }
    // Missing cells do not count.
    let found = files.json("estimate --tables tables.json --counts --json");
    let missing = found["estimates"].as_array().unwrap().iter().find(|line| line["of"] == "missing").unwrap();
    assert_eq!(number(&missing["value"]), 100.0);
}

/// Noise of 40 releases, 48 or more counts each. Its standard deviation is within 10 % of the stated one,
/// five standard errors.
#[test]
fn the_counts_have_noise_of_the_stated_deviation() {
    let files = Files::new();
    people(&files);
    files.run(&format!("{DESIGN} --epsilon 1 --delta 1e-6"));
    let (mut squares, mut cells, mut stated) = (0.0, 0.0, 0.0);
    for seed in 0..40 {
        files.run(&format!("{RELEASE} --seed {seed}"));
        for (column, levels, counts) in tables(&files) {
            for (noisy, exact) in counts.iter().zip(counted(&column, &levels)) {
                squares += (noisy - exact).powi(2);
                cells += 1.0;
            }
        }
        let file: Value = serde_json::from_str(&files.read("tables.json")).unwrap();
        stated = number(&file["tables"][0]["deviation"]);
        assert_relative_eq!(number(&file["tables"][0]["share"]), 0.25, max_relative = 1e-12);
    }
    let found: f64 = f64::sqrt(squares / cells);
    assert!(cells > 1200.0 && (found / stated - 1.0).abs() < 0.1, "{found} of {stated}");
}

#[test]
fn groups_are_compared_with_intervals() {
    let files = Files::new();
    people(&files);
    files.run(&format!("{DESIGN} --epsilon 4 --delta 1e-6"));
    files.run(&format!("{RELEASE} --seed 1"));
    let line = "estimate --tables tables.json --column grade --by smokes --against false";
    let found = files.json(&format!("{line} --json"));
    // Of those who smoke, all have the grade low; of the others, none has.
    let covers = |group: &str, of: &str, truth: f64| {
        let lines = found["estimates"].as_array().unwrap();
        let line = lines.iter().find(|line| line["group"] == group && line["of"] == of).unwrap();
        assert!(number(&line["lower"]) <= truth && truth <= number(&line["upper"]), "{line}: {truth}");
    };
    covers("true", "low", 100.0);
    covers("false", "high", 200.0 / 3.0);
    covers("true less false", "low", 100.0);
    let (output, notes) = (files.run(line), files.notes(line));
    assert!(output.contains(" of people ") && output.contains("95 % interval"), "{output}");
    assert!(notes.contains("the noise hides the number of people whose \"smokes\" is"), "{notes}");
    // A date is shown as such.
    let shown = files.run("estimate --tables tables.json --column since");
    assert!(shown.contains(" 2020-0") && !shown.contains("1970"), "{shown}");
    let counts = files.json("estimate --tables tables.json --column grade --by smokes --counts --json");
    let low = counts["estimates"].as_array().unwrap().iter().find(|line| line["of"] == "low").unwrap();
    assert_eq!((low["group"].as_str(), low["unit"].as_str()), (Some("false"), Some("people")));
    let wide = files.json("estimate --tables tables.json --column age --population --json");
    let narrow = files.json("estimate --tables tables.json --column age --json");
    let width = |found: &Value| {
        let line = &found["estimates"][0];
        number(&line["upper"]) - number(&line["lower"])
    };
    assert!(width(&wide) > width(&narrow));
}

/// Moments give the counts of levels and the means of numbers that are scaled by their bounds, also by group.
/// There are none of a number on a logarithmic scale.
#[test]
fn moments_are_tables_of_levels_and_means() {
    let files = Files::new();
    people(&files);
    let schema = files.read("people.toml");
    files.write("people.toml", schema.replace("upper = 2.0", "upper = 2.0, scale = \"log\""));
    let design = "design noisy-moments --schema people.toml --output design.json --force --delta 1e-6";
    files.run(&format!("{design} --epsilon inf"));
    files.run(RELEASE);
    let found = files.json("estimate --tables tables.json --by smokes --json");
    let mean = |of: &Value, group: Option<&str>| {
        let lines = of["estimates"].as_array().unwrap();
        let is_mean = |line: &&Value| line["of"] == "mean" && line["group"].as_str() == group;
        number(&lines.iter().find(|line| line["column"] == "age" && is_mean(line)).unwrap()["value"])
    };
    let ages = |smokes: bool| {
        let ages: Vec<f64> = records().filter(|person| person.4 == smokes).map(|person| person.0).collect();
        ages.iter().sum::<f64>() / ages.len() as f64
    };
    for (group, smokes) in [("true", true), ("false", false)] {
        assert_relative_eq!(mean(&found, Some(group)), ages(smokes), epsilon = 1e-4);
    }
    let all = files.json("estimate --tables tables.json --json");
    assert_relative_eq!(mean(&all, None), 49.5, epsilon = 1e-4);
    let columns: Vec<&Value> =
        all["estimates"].as_array().unwrap().iter().map(|line| &line["column"]).collect();
    assert!(columns.contains(&&json!("smokes")) && !columns.contains(&&json!("size")), "{columns:?}");
    files.run(&format!("{design} --epsilon 1"));
    files.run(RELEASE);
    let shown = files.run("estimate --tables tables.json --column age");
    assert!(shown.contains("mean") && !shown.contains("within their levels"), "{shown}");
}

#[test]
fn what_has_no_tables_or_what_they_do_not_say_is_refused() {
    let files = Files::new();
    people(&files);
    files.run(&format!("{DESIGN} --epsilon 4 --delta 1e-6"));
    files.run(RELEASE);
    for (line, expected) in [
        ("--column wage", "no table counts the column \"wage\""),
        ("--column age --by grade", "no table counts \"age\", \"grade\" together"),
        ("--by smokes --against perhaps", "the column \"smokes\" has no level \"perhaps\""),
        ("--column age --quantile 1", "the order of a quantile must lie strictly between 0 and 1"),
    ] {
        let refused = files.refuses(&format!("estimate --tables tables.json {line}"));
        assert!(refused.contains(expected) && refused.lines().count() == 1, "{refused}");
    }
    let refused = files.refuses("estimate --tables people.csv");
    assert!(refused.contains("people.csv: it holds no noisy tables"), "{refused}");
    for design in ["direct --epsilon 1", "gaussian --epsilon 1 --delta 1e-6"] {
        files.run(&format!("design {design} --schema people.toml --output other.json --force"));
        let line =
            "release --design other.json --input people.csv --output other.csv --tables other-tables.json";
        let refused = files.refuses(line);
        assert!(refused.contains("--tables: this mechanism counts no noisy tables"), "{refused}");
        assert!(!files.path("other.csv").exists() && !files.path("other-tables.json").exists());
    }
}
