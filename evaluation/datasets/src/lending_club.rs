//! Loans of 2007 to 2011 by LendingClub, with their interest rate, and whether they were paid back.
//!
//! # Columns of `lending-club`
//!
//! The rate is to be learned from information known before it is set. These columns are left out:
//!
//! - `grade`, `sub_grade` and `installment` follow from the rate.
//! - `funded_amnt` and `loan_status` are unknown before the rate is set. `verification_status` may also be
//!   unknown then: the platform asked for proof of income while a loan was open to investors.
//! - `fico_range_high` is `fico_range_low` plus 4.
//! - `acc_now_delinq`, `delinq_amnt`, `chargeoff_within_12_mths`, `collections_12_mths_ex_med` and
//!   `tax_liens` are 0 for all but at most four loans, because the platform's policy rules out other values.
//!
//! `issue_d` is the month of issue. It determines the order of the loans and the split. The years from
//! `earliest_cr_line` to `issue_d` are the credit history. Within a month, loans keep the order of the file.
//!
//! # Columns of `lending-club-default`
//!
//! `int_rate`, `grade` and `verification_status` are features. `installment`, `sub_grade` and `funded_amnt`
//! are left out, because they repeat other columns. Loans that "do not meet the credit policy" are included,
//! with the repayment status that the file states for them.
//!
//! # Missing values
//!
//! - `mths_since_last_delinq` and `mths_since_last_record` are empty if there never was a delinquency or a
//!   public record. Until 2008 the file has 0 instead. Empty cells and zeros become the upper bounds of the
//!   two columns, 84 and 120 months, for which a bureau keeps an entry. A few zeros of 2008 and 2009 may be
//!   true values; the file does not distinguish them.
//! - An empty `emp_length` becomes the level `n/a` (1,112 loans).
//! - An empty `annual_inc` becomes 50,000 dollars (4 loans).
//! - Empty cells of `delinq_2yrs`, `inq_last_6mths`, `open_acc`, `pub_rec`, `total_acc` and the credit
//!   history (29 loans each), `revol_util` (90) and `pub_rec_bankruptcies` (1,365) become 0, because the
//!   credit bureau has no entry.
//!
//! # Data join
//!
//! [`loans`] returns the loans with their months of issue. In *Learning to noise* (E.1.3), a data join
//! combines two tables with different columns of the same loans. [`Loans::joined`] divides the columns into
//! two such tables. One table has six of the eight columns that the paper lists for it. The missing two
//! columns are the initial listing status and the type of application. Their values vary among the paper's
//! 540,000 loans, which include later years, but are the same for all loans of 2007 to 2011.

use crate::csv_file::CsvFile;
use crate::encoded::Encoded;
use crate::when::day;
use crate::{DataSet, Result, stored};
use jiff::civil::{Date, date};
use scumble_records::{Column, Kind, Schema};
use std::borrow::Cow;
use std::path::Path;

const FILE: &str = "lending_club/loans_2007_2011.csv";

/// The first month of the test loans. Loans issued before, seven in ten, are for training.
const FIRST_TEST_MONTH: Date = date(2011, 7, 1);

/// The public schema of a borrower's data and the interest rate.
pub(crate) const LOAN: &str = include_str!("../schemas/lending-club.toml");

/// The public schema of the data that are known when a loan is issued, and of the repayment status.
pub(crate) const ISSUED_LOAN: &str = concat!(
    include_str!("../schemas/lending-club.toml"),
    include_str!("../schemas/lending-club-default.toml")
);

const CREDIT_HISTORY: &str = "credit history";

/// Loads the loans with their interest rate as target, and the data that are known before the rate is set.
pub(crate) fn load_rate(folder: &Path) -> Result<DataSet> {
    Ok(read(folder, "lending-club", LOAN, "int_rate")?.data)
}

/// Loads the loans with their repayment status as target, and the data that are known when a loan is issued.
pub(crate) fn load_default(folder: &Path) -> Result<DataSet> {
    Ok(loans(folder)?.data)
}

/// Columns of one table in the data join of *Learning to noise*, which combines two tables with different
/// columns of the same loans. Section E.1.3 of the paper names eight columns of this table.
///
/// Six of the eight are listed here: the number of open credit lines, the state, home ownership, the length
/// of employment, bankruptcies and the credit history. The paper has the month of the earliest credit line
/// instead of the credit history. The other two columns, the initial listing status and the type of
/// application, have one value for all loans of 2007 to 2011, and are not in the file.
const JOINED: [&str; 6] =
    [CREDIT_HISTORY, "open_acc", "addr_state", "home_ownership", "emp_length", "pub_rec_bankruptcies"];

/// Loans in order of time. [`joined`](Self::joined) divides their columns into two tables.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loans {
    /// The encoded loans, oldest first (42,535 loans × 110 columns). Loans of class 0 were paid back, and
    /// loans of class 1 were charged off. Loans issued before July 2011 are for training.
    pub data: DataSet,
    /// First day of the month in which each loan was issued.
    pub issued: Vec<Date>,
}

impl Loans {
    /// The indices of the encoded columns of two tables with different columns of the same loans, which a
    /// data join combines. The first table has six columns of the file (*Learning to noise*, E.1.3), and the
    /// second has all others.
    ///
    /// According to E.1.3, the paper's mechanism releases the first table. But the paper's accuracies match
    /// the reverse: the first table in the clear, and the second table private. On loans with balanced
    /// classes, a model of the first table reaches an accuracy of 51 to 53 %, and a model of the second table
    /// reaches 65 %. The paper reports 56.1 % for the table in the clear.
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

/// The loans in `folder` with their repayment status, and the data known when they are issued.
///
/// # Errors
/// [`Error::Missing`](crate::Error::Missing) if the file does not exist, and any error of the file, with the
/// row, the column and the value.
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
    // Sorted by month; within a month, loans keep the order of the file.
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

/// The name that a column of the schema has in the file.
fn file_column(column: &Column) -> &str {
    if column.name == CREDIT_HISTORY { "earliest_cr_line" } else { &column.name }
}

/// The cell, or the replacement of a missing value, as stated in the schemas.
fn clean<'c>(column: &Column, cell: &'c str) -> Cow<'c, str> {
    match (column.name.as_str(), cell, &column.kind) {
        // Until 2008 the file has 0 if there never was a delinquency or a public record.
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

/// Years from the first credit line to the loan; 0 if no credit line is known.
fn credit_history(file: &str, row: usize, earliest: &str, issued: Date) -> Result<String> {
    if earliest.is_empty() {
        return Ok("0".into());
    }
    let earliest = day(file, row, "earliest_cr_line", earliest)?;
    let months = |date: Date| 12 * i32::from(date.year()) + i32::from(date.month());
    Ok((f64::from(months(issued) - months(earliest)) / 12.0).to_string())
}
