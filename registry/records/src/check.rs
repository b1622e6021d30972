//! Check of all cells of a file against a schema.

use crate::draft::MISSING;
use crate::{Cell, Error, Reader, Result};
use scumble_core::interrupt;
use scumble_core::text::abridged;
use serde::Serialize;

/// Result of a check. It contains values of records, and is for the owner of the records only.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// Number of rows read.
    pub rows: usize,
    /// Cells that do not fit their columns, by column and problem. Clipped cells come last in their column.
    pub misfits: Vec<Misfits>,
    /// Error of a malformed row, after which no row was read.
    pub unreadable: Option<String>,
}

/// Cells of one column that have the same problem.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Misfits {
    /// Name of the column.
    pub column: String,
    /// Description of the problem, and of the expected value, after the value of the cell.
    pub problem: String,
    /// Number of cells.
    pub cells: usize,
    /// True if a release clips the cells. It refuses other misfits, and with them the file.
    pub is_clipped: bool,
    /// The first cells, at most five.
    pub examples: Vec<Misfit>,
}

/// A cell that does not fit its column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Misfit {
    /// Data row, counted from 1 below the header.
    pub row: usize,
    /// Value of the cell, cut to one line.
    pub value: String,
}

/// Upper bound on the examples of a problem.
const EXAMPLES: usize = 5;

/// Upper bound on the characters of an example.
const LONGEST: usize = 60;

impl Checked {
    /// Returns whether a release would refuse the file.
    pub fn is_refused(&self) -> bool {
        self.unreadable.is_some() || self.misfits.iter().any(|misfits| !misfits.is_clipped)
    }

    fn add(&mut self, column: &str, problem: String, is_clipped: bool, misfit: Misfit) {
        let same = |misfits: &&mut Misfits| misfits.column == column && misfits.problem == problem;
        if let Some(misfits) = self.misfits.iter_mut().find(same) {
            misfits.cells += 1;
            if misfits.examples.len() < EXAMPLES {
                misfits.examples.push(misfit);
            }
            return;
        }
        let examples = vec![misfit];
        self.misfits.push(Misfits { column: column.into(), problem, cells: 1, is_clipped, examples });
    }
}

/// Checks all cells that `reader` reads, and finds those that a release would refuse or clip. If it reads
/// [ids](Reader::with_ids), each row needs one.
///
/// ```
/// use scumble_records::{OutOfBounds, Reader, Schema, check, csv};
///
/// let schema = "[[column]]\nname = \"size\"\nkind = \"real\"\nlower = 0.0\nupper = 2.0\n";
/// let schema = Schema::from_toml(schema, "schema.toml")?;
/// let file = csv::Rows::new(&b"size\n1\ntall\n3\nsmall\n"[..], "data.csv")?;
/// let checked = check(&mut Reader::new(file, &schema, None, OutOfBounds::Clip)?)?;
/// let found: Vec<_> = checked.misfits.iter().map(|found| (found.cells, found.is_clipped)).collect();
/// assert_eq!(found, [(2, false), (1, true)]);
/// assert!(checked.is_refused());
/// # Ok::<(), scumble_records::Error>(())
/// ```
///
/// # Errors
/// [`Error::Empty`](scumble_core::Error::Empty) if there are no rows; [`Error::Interrupted`].
pub fn check(reader: &mut Reader) -> Result<Checked> {
    let mut checked = Checked { rows: 0, misfits: vec![], unreadable: None };
    loop {
        interrupt::check().map_err(|_| Error::Interrupted)?;
        let rows = match reader.next_rows(256) {
            Ok(Some(rows)) => rows,
            Ok(None) => break,
            Err(error) => {
                checked.unreadable = Some(error.to_string());
                break;
            }
        };
        let encoder = reader.encoder();
        if let Some(column) = encoder.extra_column() {
            for (row, id) in rows.extra_cells(encoder).enumerate().filter(|(_, cell)| cell.text().is_empty())
            {
                let misfit = Misfit { row: rows.row_number(row), value: id.text().into_owned() };
                checked.add(
                    column,
                    "is missing; each record needs the id of its person".into(),
                    false,
                    misfit,
                );
            }
        }
        let mut cells = rows.cells();
        for row in 0..rows.len(encoder) {
            for (column, cell, problem, is_clipped) in encoder.misfits(cells.by_ref().take(encoder.width())) {
                let misfit = Misfit { row: rows.row_number(row), value: abridged(&cell.text(), LONGEST) };
                checked.add(column, explained(cell, problem), is_clipped, misfit);
            }
        }
        checked.rows += rows.len(encoder);
    }
    if checked.rows == 0 && checked.unreadable.is_none() {
        return Err(reader.encoder().no_records());
    }
    let order: Vec<String> = reader.encoder().fields().map(|(name, ..)| name.clone()).collect();
    let place = |name: &String| order.iter().position(|column| column == name);
    checked.misfits.sort_by_key(|misfits| (place(&misfits.column), misfits.is_clipped));
    Ok(checked)
}

/// Returns `problem`, or the remedy if the cell seems to be missing.
fn explained(cell: Cell, problem: String) -> String {
    match &*cell.text() {
        "" => "is missing; declare a replacement by `missing`".into(),
        text if MISSING.contains(&text) => {
            "may be missing; declare it by `missing_cells`, and a replacement by `missing`".into()
        }
        _ => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OutOfBounds, Schema, csv};

    const SCHEMA: &str = r#"
        column = [
            { name = "age", kind = "integer", lower = 0, upper = 110 },
            { name = "city", kind = "category", levels = ["Oslo", "Rome"] },
            { name = "income", kind = "real", lower = 0.0, upper = 10.0, missing = 5.0 },
        ]
    "#;

    fn checked(text: &str) -> Checked {
        let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
        let file = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        check(&mut Reader::new(file, &schema, None, OutOfBounds::Clip).unwrap()).unwrap()
    }

    #[test]
    fn all_bad_cells_are_listed_by_column_and_problem() {
        let rows: String = (0..2000)
            .map(|row| match row % 1000 {
                7 => ",x,Oslo\n",
                8 => "11,,Oslo\n",
                9 => "1,200,Pisa\n",
                10 => "$5,NA,Rome\n",
                _ => "5,30,Rome\n",
            })
            .collect();
        let found = checked(&format!("income,age,city\n{rows}"));
        let listed: Vec<_> = found
            .misfits
            .iter()
            .map(|misfits| {
                let rows: Vec<usize> = misfits.examples.iter().map(|example| example.row).collect();
                (&*misfits.column, &*misfits.problem, misfits.cells, misfits.is_clipped, rows)
            })
            .collect();
        let needed = "a whole number between 0 and 110 is needed";
        assert_eq!(
            listed,
            [
                ("age", &*format!("is not a whole number; {needed}"), 2, false, vec![8, 1008]),
                ("age", "is missing; declare a replacement by `missing`", 2, false, vec![9, 1009]),
                (
                    "age",
                    "may be missing; declare it by `missing_cells`, and a replacement by `missing`",
                    2,
                    false,
                    vec![11, 1011]
                ),
                ("age", &format!("lies outside the bounds; {needed}"), 2, true, vec![10, 1010]),
                ("city", "is not a level of the column; the schema has Oslo, Rome", 2, false, vec![10, 1010]),
                (
                    "income",
                    "has a sign other than the column's; declare it as the `unit` of the column; a number \
              between 0 and 10 is needed",
                    2,
                    false,
                    vec![11, 1011]
                ),
                (
                    "income",
                    "lies outside the bounds; a number between 0 and 10 is needed",
                    2,
                    true,
                    vec![9, 1009]
                ),
            ]
        );
        assert_eq!((found.rows, found.is_refused()), (2000, true));
    }

    #[test]
    fn a_number_before_its_base_is_listed_as_clipped() {
        let text = "[[column]]\nname = \"first\"\nkind = \"integer\"\nlower = 0\nupper = 9\n\
                    [[column]]\nname = \"last\"\nkind = \"integer\"\nlower = 0\nupper = 9\n\
                    not_before = \"first\"\n";
        let schema = Schema::from_toml(text, "schema.toml").unwrap();
        let file = csv::Rows::new(&b"last,first\n5,5\n3,7\n3,x\n"[..], "data.csv").unwrap();
        let found = check(&mut Reader::new(file, &schema, None, OutOfBounds::Clip).unwrap()).unwrap();
        let [first, last] = &found.misfits[..] else { panic!("{found:?}") };
        assert_eq!((&*first.column, first.is_clipped, first.cells), ("first", false, 1));
        assert_eq!(last.problem, "is before the value of \"first\" in its row");
        assert_eq!((last.is_clipped, last.cells, last.examples[0].row), (true, 1, 2));
    }

    #[test]
    fn a_file_that_fits_or_is_clipped_is_not_refused_and_a_short_row_ends_the_check() {
        assert!(checked("age,city,income\n30,Rome,\n").misfits.is_empty());
        let clipped = checked("age,city,income\n111,Rome,1\n");
        assert!(!clipped.is_refused() && clipped.misfits[0].is_clipped);
        let short = checked("age,city,income\nx,Rome,1\n30,Rome\n30,Pisa,1\n");
        assert_eq!(
            short.unreadable.as_deref(),
            Some("data.csv, row 2: the row has 2 cells, and the header has 3")
        );
        assert_eq!((short.rows, short.misfits.len(), short.is_refused()), (1, 1, true));
    }
}
