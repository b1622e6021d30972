//! Loans of 2007 to 2011 by LendingClub: their interest rate, and whether they were paid back.

use crate::csv_file::CsvFile;
use crate::encoded::Encoded;
use crate::when::day;
use crate::{DataSet, Result, stored};
use jiff::civil::{Date, date};
use scumble_records::{Column, Kind, Schema};
use std::borrow::Cow;
use std::path::Path;

const FILE: &str = "lending_club/loans_2007_2011.csv";

/// Loans issued before are for training, seven in ten of them.
const FIRST_TEST_MONTH: Date = date(2011, 7, 1);

/// What is known of a borrower, and the rate.
pub(crate) const LOAN: &str = include_str!("../schemas/lending-club.toml");

/// What is known of a loan when its rate is set.
pub(crate) const ISSUED_LOAN: &str = concat!(
    include_str!("../schemas/lending-club.toml"),
    include_str!("../schemas/lending-club-default.toml")
);

const CREDIT_HISTORY: &str = "credit history";

/// The rate, from what is known before it is set.
pub(crate) fn load_rate(folder: &Path) -> Result<DataSet> {
    Ok(read(folder, "lending-club", LOAN, "int_rate")?.data)
}

/// Whether a loan was paid back, from what is known when it is issued.
pub(crate) fn load_default(folder: &Path) -> Result<DataSet> {
    Ok(loans(folder)?.data)
}

/// The columns that one side of a data join has in *Learning to noise* (E.1.3), of eight that it names: the month of the earliest credit
/// line (here the years since), how many are open, state, home, employment and bankruptcies. The initial listing status and the type of
/// application are the same for all of these loans, and are not in the file.
const JOINED: [&str; 6] =
    [CREDIT_HISTORY, "open_acc", "addr_state", "home_ownership", "emp_length", "pub_rec_bankruptcies"];

/// Loans by time, with the parts into which a data join divides their columns.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loans {
    /// The encoded loans, oldest first (42,535 × 110); class 0 was paid, and class 1 charged off. Those of before July 2011 are for
    /// training.
    pub data: DataSet,
    /// The month in which each was issued (n), as its first day.
    pub issued: Vec<Date>,
}

impl Loans {
    /// The places of the encoded columns of one side of a data join (E.1.3: six columns of the file), and of the other: all the rest.
    ///
    /// E.1.3 has the first in the data of the mechanism, but its accuracies are those of the first in the clear and the rest private: these six
    /// alone tell 51 to 53 % of balanced loans apart and the rest 65 %, where the paper has 56.1 % for the side that is in the clear.
    pub fn joined(&self) -> [Vec<usize>; 2] {
        let is_joined = |name: &str| {
            JOINED.iter().any(|joined| {
                name.strip_prefix(joined).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        };
        let columns = self.data.table.columns();
        let (joined, others) = (0..columns.len()).partition(|&place| is_joined(&columns[place]));
        [joined, others]
    }
}

/// The loans that `folder` has, and whether they were paid back, from what is known when they are issued.
///
/// # Errors
/// [`Error::Missing`](crate::Error::Missing), else whatever is wrong with the file, with the row, the column and the value.
pub fn loans(folder: &Path) -> Result<Loans> {
    read(folder, "lending-club-default", ISSUED_LOAN, "loan_status")
}

fn read(folder: &Path, name: &str, schema: &str, target: &'static str) -> Result<Loans> {
    let csv = CsvFile::read(&stored::read(&folder.join(FILE))?)?;
    let schema = Schema::from_toml(schema, "lending-club.toml")?;
    let columns = schema.columns().iter().map(|column| Ok((column, csv.place(file_column(column))?)));
    let columns: Vec<(&Column, usize)> = columns.collect::<Result<_>>()?;
    let issue = csv.place("issue_d")?;
    let issued =
        csv.rows().map(|(row, cells)| Ok((day(&csv.name, row, "issue_d", &cells[issue])?, row, cells)));
    let mut loans: Vec<_> = issued.collect::<Result<_>>()?;
    // By time, and within a month in the file's order.
    loans.sort_by_key(|&(issued, ..)| issued);
    let train_records = Some(loans.partition_point(|&(issued, ..)| issued < FIRST_TEST_MONTH));
    let mut encoded = Encoded::new(&schema, target, &csv.name)?;
    for &(issued, row, cells) in &loans {
        let cells = columns.iter().map(|&(column, place)| match &cells[place] {
            earliest if column.name == CREDIT_HISTORY => {
                credit_history(&csv.name, row, earliest, issued).map(Cow::from)
            }
            cell => Ok(clean(column, cell)),
        });
        let cells: Vec<Cow<str>> = cells.collect::<Result<_>>()?;
        encoded.push(row, cells.iter().map(AsRef::as_ref))?;
    }
    Ok(Loans {
        data: DataSet { train_records, ..encoded.data_set(name)? },
        issued: loans.into_iter().map(|(issued, ..)| issued).collect(),
    })
}

/// What the file calls it.
fn file_column(column: &Column) -> &str {
    if column.name == CREDIT_HISTORY { "earliest_cr_line" } else { &column.name }
}

/// The cell, or what stands for a missing one: the schemas say what.
fn clean<'c>(column: &Column, cell: &'c str) -> Cow<'c, str> {
    match (column.name.as_str(), cell, &column.kind) {
        // Until 2008 the file has 0 where there never was one.
        ("mths_since_last_delinq" | "mths_since_last_record", "" | "0" | "0.0", Kind::Real { upper, .. }) => {
            upper.to_string().into()
        }
        ("emp_length", "", _) => "n/a".into(),
        ("annual_inc", "", _) => "50000".into(),
        (
            "delinq_2yrs"
            | "inq_last_6mths"
            | "open_acc"
            | "pub_rec"
            | "pub_rec_bankruptcies"
            | "revol_util"
            | "total_acc",
            "",
            _,
        ) => "0".into(),
        ("loan_status", status, _) => {
            match status.strip_prefix("Does not meet the credit policy. Status:").unwrap_or(status) {
                "Fully Paid" => "paid".into(),
                "Charged Off" => "charged off".into(),
                other => other.into(),
            }
        }
        _ => cell.into(),
    }
}

/// Years from the first credit line to the loan; none where no credit line is known.
fn credit_history(file: &str, row: usize, earliest: &str, issued: Date) -> Result<String> {
    if earliest.is_empty() {
        return Ok("0".into());
    }
    let earliest = day(file, row, "earliest_cr_line", earliest)?;
    let months = |date: Date| 12 * i32::from(date.year()) + i32::from(date.month());
    Ok((f64::from(months(issued) - months(earliest)) / 12.0).to_string())
}
