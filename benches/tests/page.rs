//! The command that writes the page, run without Python and without public data sets.

use std::process::{Command, Output};

fn page(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_performance"))
        .args(["--rounds", "1", "--small", "--python", "/there/is/no/python"])
        .args(arguments)
        .env("SCUMBLE_DATA", folder.path())
        .output()
        .unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = page(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the part of a page that begins with this heading.
fn part<'a>(page: &'a str, heading: &str) -> &'a str {
    let begins =
        page.split("\n#").find(|part| part.trim_start_matches('#').trim_start().starts_with(heading));
    begins.unwrap_or_else(|| panic!("there is no {heading:?} in:\n{page}"))
}

/// Returns the rows of a part's table, split into cells.
fn rows(part: &str) -> Vec<Vec<&str>> {
    let lines = part.lines().filter(|line| line.starts_with('|')).skip(2);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn number(cell: &str) -> f64 {
    let number: f64 = cell.parse().unwrap_or_else(|_| panic!("{cell:?} is no number"));
    assert!(number.is_finite(), "{cell}");
    number
}

#[test]
fn every_section_has_times_and_every_absent_guest_is_named() {
    let page = text(&[]);
    // Each section with its number of own rows, and its number of limits.
    let sections = [
        ("Laplace noise", 2, 1),
        ("Gaussian noise", 3, 1),
        ("A release", 5, 2),
        ("A release of a CSV file", 7, 1),
        ("A release of a Parquet file", 5, 1),
        ("Reports of a category", 4, 0),
        ("Estimates from reports of a category", 4, 0),
        ("Reports of whole records", 6, 0),
        ("Whole records of the wines, by a curator", 3, 0),
        ("A ground state", 1, 0),
        ("Accounting for a private training", 2, 0),
        ("A step of training a network", 2, 5),
        ("A step of training a network privately", 6, 7),
    ];
    for (title, ours, limits) in sections {
        let rows = rows(part(&page, &format!("{title}\n")));
        assert!(rows.len() >= ours + limits, "{title}: {rows:?}");
        let is_limit = |row: &&Vec<&str>| row[0].starts_with("*limit:*");
        assert_eq!(rows.iter().filter(is_limit).count(), limits, "{title}: {rows:?}");
        for row in &rows {
            let [_, time, quartiles, rate, ratio] = row[..] else { panic!("{row:?}") };
            let (low, high) = quartiles.split_once(" – ").unwrap();
            for cell in [time, low, high, rate, ratio] {
                assert!(number(cell) > 0.0, "{title}: {row:?}");
            }
        }
        assert_eq!(number(rows[0][4]), 1.0, "{title} compares with its first row");
    }
    let growths = [
        ("With the number of records", 6, 3),
        ("With the number of columns", 6, 3),
        ("With the number of latents", 4, 3),
        ("With the number of threads", 3, 2),
    ];
    for (title, things, sizes) in growths {
        let rows = rows(part(&page, title));
        assert_eq!(rows.len(), things, "{title}: {rows:?}");
        for row in &rows {
            assert_eq!(row.len(), sizes + 2, "{title}: {row:?}");
            assert!(row[1..=sizes].iter().all(|time| number(time) > 0.0), "{title}: {row:?}");
            number(row[sizes + 1]);
        }
    }
    let missing = part(&page, "Missing contestants");
    let guests = [
        "numpy and scikit-learn",
        "diffprivlib",
        "SciPy",
        "dp-accounting",
        "PyTorch",
        "Opacus",
        "dpmm",
        "multi-freq-ldpy",
        "A linear machine on adult",
        "Whole records of adult, by a curator",
    ];
    for guest in guests {
        assert!(missing.contains(&format!("{guest} did not take part: ")), "{guest}: {missing}");
    }
    assert_eq!(missing.contains("OpenDP did not take part"), cfg!(not(feature = "peers")), "{missing}");
}

#[test]
fn a_title_chooses_its_section_alone() {
    let page = text(&["--only", "Laplace noise"]);
    part(&page, "Laplace noise");
    assert!(!page.contains("Gaussian noise") && !page.contains("How cost grows"), "{page}");
}

#[test]
fn words_of_no_title_are_an_error() {
    let output = page(&["--only", "teapot"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: no section title contains \"teapot\"\n");
}
