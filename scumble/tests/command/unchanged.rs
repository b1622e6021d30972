//! Unchanged values are written with their original text, cell by cell.

use crate::Files;

/// Schema with a column of each kind, in bounds whose width no binary fraction divides; the label is
/// protected.
const SCHEMA: &str = r#"
column = [
    { name = "x", kind = "real", lower = 0.0, upper = 100000.0, missing = 3.0 },
    { name = "lon", kind = "real", lower = -180.0, upper = 180.0 },
    { name = "share", kind = "real", lower = 0.0, upper = 1000.0 },
    { name = "count", kind = "integer", lower = -7, upper = 9999 },
    { name = "day", kind = "date", lower = "1999-12-31", upper = "2024-02-29" },
    { name = "since", kind = "date", lower = "1999-12-31", upper = "2024-02-29", format = "%d.%m.%Y" },
    { name = "until", kind = "date", lower = "1999-12-31", upper = "2024-02-29", format = "%Y-%d-%m" },
    { name = "flag", kind = "boolean" },
    { name = "grade", kind = "ordered", levels = ["low", "mid", "top"] },
    { name = "town", kind = "category", levels = ["Oslo", "Rome", "São Paulo"] },
    { name = "y", kind = "boolean" },
]
"#;
const HEADER: &str = "x,lon,share,count,day,since,until,flag,grade,town,y";

/// Returns 2,000 rows with digits that change when scaled to [0, 1] and back, and with several spellings of a
/// number.
fn rows() -> Vec<String> {
    let row = |at: usize| {
        let x = [format!("{at}"), format!("{at}.0"), format!("{at}.50"), format!("{at}e1")][at % 4].clone();
        let lon = format!("{:.6}", -180.0 + 0.179_913 * at as f64);
        let share = format!("{:.2}", 0.07 * at as f64);
        let (year, month, day) = (at % 24, 1 + at % 12, 1 + at % 28);
        let days = format!(
            "20{year:02}-{month:02}-{day:02},{day:02}.{month:02}.20{year:02},20{year:02}-{day:02}-{month:02}"
        );
        let flag = ["yes", "no", "TRUE", "0"][at % 4];
        let (grade, town) = (["low", "mid", "top"][at % 3], ["Oslo", "Rome", "São Paulo"][at % 3]);
        let sign = if at.is_multiple_of(5) && at > 7 { "+" } else { "" };
        format!("{x},{lon},{share},{sign}{},{days},{flag},{grade},{town}", at as i64 - 7)
    };
    (0..2000).map(row).collect()
}

/// Returns the rows of a CSV file without their last cell.
fn without_label(text: &str) -> Vec<String> {
    text.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
}

fn written(files: &Files, rows: &[String]) {
    files.write("own.toml", SCHEMA);
    let rows: String = rows.iter().map(|row| format!("{row},no\n")).collect();
    files.write("people.csv", format!("{HEADER}\n{rows}"));
}

#[test]
fn every_cell_of_an_unprotected_column_has_the_text_that_it_came_with() {
    let files = Files::new();
    written(&files, &rows());
    let designs = [
        "design randomized-response --target y --protect label --epsilon 1",
        "design identity --target y --epsilon inf",
        "design --mechanism identity --columns x,lon,share,count,day,since,until,flag,grade,town \
         --mechanism randomized-response --columns y --epsilon 1",
    ];
    for design in designs {
        files.run(&format!("{design} --schema own.toml --output design.json --force --quiet"));
        for values in ["settled", "clamped", "drawn"] {
            files.run(&format!(
                "release --design design.json --input people.csv --output released.csv --force --values \
                 {values} --quiet"
            ));
            assert_eq!(without_label(&files.read("released.csv")), rows(), "{design}, {values}");
        }
        files.run("view --design design.json --input people.csv --output viewed.csv --force --quiet");
        assert_eq!(without_label(&files.read("viewed.csv")), rows(), "{design}, view");
        // Parquet keeps numbers and levels, and reading its types gives them back.
        files
            .run("release --design design.json --input people.csv --output released.parquet --force --quiet");
        files.run("release --design design.json --input released.parquet --output again.csv --force --quiet");
        let days = |text: &str| -> Vec<String> {
            let cells = text.lines().skip(1).flat_map(|line| line.split(',').skip(4).take(3));
            cells.map(str::to_owned).collect()
        };
        assert_eq!(days(&files.read("again.csv")), days(&files.read("people.csv")), "{design}");
        let numbers = |text: &str| -> Vec<f64> {
            let cells = text.lines().skip(1).flat_map(|line| line.split(',').take(4));
            cells.map(|cell| cell.parse().unwrap()).collect()
        };
        assert_eq!(numbers(&files.read("again.csv")), numbers(&files.read("people.csv")), "{design}");
    }
}

#[test]
fn a_cell_that_was_missing_or_clipped_does_not_leave_as_it_came_in() {
    let files = Files::new();
    let cell = |x: &str, lon: &str| format!("{x},{lon},1,1,2001-01-01,01.01.2001,2001-01-01,no,low,Oslo");
    written(&files, &[cell("", "12.5"), cell("123456.7", "-180.5"), cell("100000.000", "180")]);
    files.run(
        "design randomized-response --target y --protect label --epsilon 1 --schema own.toml --output \
         design.json",
    );
    files.run("release --design design.json --input people.csv --output released.csv --quiet");
    let expected = [cell("3", "12.5"), cell("100000", "-180"), cell("100000.000", "180")];
    assert_eq!(without_label(&files.read("released.csv")), expected);
}
