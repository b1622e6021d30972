//! `scumble collect`: records from reports, and refused reports.

use crate::Files;

const COLLECT: &str = "collect --design design.json --reports reports.csv --output collected.csv";

/// Creates a design of pairs with the colour, and the reports of 3,000 people. People who are red have a
/// price of at least 50.
fn reported() -> Files {
    let files = Files::new();
    files.good();
    let row = |at: usize| match at % 2 {
        0 => format!("{},red,{}\n", at % 10, 50 + at % 50),
        _ => format!("{},green,{}\n", at % 10, at % 50),
    };
    let rows: String = (0..3000).map(row).collect();
    files.write("data.csv", format!("size,colour,price\n{rows}"));
    files.run(
        "design pair-response --schema schema.toml --target colour --epsilon 6 --people 3000 --output \
        design.json",
    );
    files.run("release --design design.json --input data.csv --output reports.csv");
    files
}

#[test]
fn reports_become_records_in_the_schemas_columns() {
    let files = reported();
    let reports = files.read("reports.csv");
    assert_eq!(reports.lines().next(), Some("reported question,reported answer"));
    assert_eq!(reports.lines().count(), 3001);
    let output = files.run(COLLECT);
    let expected = "collected.csv holds 3000 records collected from 3000 reports\nThe rows keep these \
                    tables: size × colour, price × colour; other relations may be lost or reversed.\n";
    assert_eq!(output, expected);
    let collected = files.read("collected.csv");
    let mut lines = collected.lines();
    assert_eq!(lines.next(), Some("size,colour,price"));
    let dear = |colour: &str| {
        let prices = collected.lines().skip(1).filter_map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[1] == colour).then(|| cells[2].parse::<f64>().unwrap())
        });
        let prices: Vec<f64> = prices.collect();
        prices.iter().filter(|price| **price > 50.0).count() as f64 / prices.len() as f64
    };
    assert!(dear("red") > 0.8 && dear("green") < 0.2, "{} of red, {} of green", dear("red"), dear("green"));
}

/// Compares the peak memory for a file of reports with that for three times as many. Holding the reports and
/// the collected records would take 30 MB more.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_reports() {
    let files = reported();
    let reports = files.read("reports.csv");
    let (header, rows) = reports.split_once('\n').unwrap();
    let peak = |times: usize| {
        files.write("reports.csv", format!("{header}\n{}", rows.repeat(times)));
        crate::release::peak_of(files.command(&format!("{COLLECT} --force")).env("RAYON_NUM_THREADS", "2"))
    };
    let (fewer, more) = (peak(100), peak(300));
    assert!(more < fewer + 10_000, "{fewer} kB for 300,000 reports, {more} kB for 900,000");
}

#[test]
fn a_seed_and_a_number_of_records_are_heeded_and_an_output_is_kept() {
    let files = reported();
    let json = files.json(&format!("{COLLECT} --records 70 --seed 3 --json"));
    assert_eq!((&json["records"], &json["reports"]), (&70.into(), &3000.into()));
    let first = files.read("collected.csv");
    assert_eq!(first.lines().count(), 71);
    assert!(files.refuses(&format!("{COLLECT} --records 70")).contains("collected.csv"));
    files.run(&format!("{COLLECT} --records 70 --seed 3 --force"));
    assert_eq!(files.read("collected.csv"), first);
}

#[test]
fn what_is_no_report_is_refused_with_its_row_and_writes_nothing() {
    let files = reported();
    let mut lines: Vec<String> = files.read("reports.csv").lines().map(str::to_owned).collect();
    for (wrong, message) in [
        ("2,0", "question 2, counted from 0, does not exist"),
        ("0,999", "gives no such answer"),
        ("0,-1", "not a whole number"),
        ("0,0.5", "not a whole number"),
        ("0,red", "not a number"),
    ] {
        let kept = std::mem::replace(&mut lines[5], wrong.to_owned());
        files.write("reports.csv", lines.join("\n"));
        let refused = files.refuses(COLLECT);
        assert!(refused.contains(" 5") && refused.contains(message), "{wrong}: {refused}");
        assert!(!files.exists("collected.csv"));
        lines[5] = kept;
    }
    files.write("reports.csv", lines.join("\n"));
    let refused = files.refuses(&format!("{COLLECT} --records 99999999999999999"));
    assert!(refused.contains("records"), "{refused}");
    files.run("design laplace --schema schema.toml --epsilon 1 --output design.json --force");
    assert!(files.refuses(COLLECT).contains("laplace releases records, not reports"));
}

#[test]
fn there_is_nothing_to_view() {
    let refused = reported().refuses("view --design design.json --input data.csv --output view.csv");
    assert!(refused.contains("use a model of the collected records on records in the clear"), "{refused}");
}
