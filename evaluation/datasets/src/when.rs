//! Dates in the formats of the data sets' files.

use crate::{Error, Result};
use jiff::civil::Date;

/// The day in a cell of data row `row`, counted from 1. A cell may be a day such as `2011-12-01`, with or
/// without a time of day. It may also be a month, such as `2011-12` or `Dec-2011`, which means the first day
/// of this month.
///
/// # Errors
/// [`Error::Records`] for any other cell, with the file, the row, the column and the value.
pub(crate) fn day(file: &str, row: usize, column: &str, cell: &str) -> Result<Date> {
    let first_of_month = |months: &str, cell: &str| {
        // Years of two digits are ambiguous, and are refused.
        let has_its_length = cell.len() == months.len();
        Date::strptime("%d-%b-%Y", format!("01-{cell}")).ok().filter(|_| has_its_length)
    };
    let found = cell
        .parse()
        .ok()
        .or_else(|| format!("{cell}-01").parse().ok())
        .or_else(|| first_of_month("Dec-2011", cell));
    found.ok_or_else(|| Error::cell(file, row, column, cell, "a date such as 2007-12-01 or Dec-2007"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_day_or_a_month_is_a_date() {
        for cell in
            ["2011-12-01", "2011-12", "Dec-2011", "dec-2011", "2011-12-01T09:30:00", "2011-12-01 09:30:00"]
        {
            assert_eq!(day("loans.csv", 1, "issue_d", cell).unwrap(), date(2011, 12, 1), "{cell}");
        }
        assert_eq!(day("loans.csv", 1, "issue_d", "2012-02-29").unwrap(), date(2012, 2, 29));
    }

    #[test]
    fn what_is_no_date_is_named_with_its_row() {
        for cell in ["", "December", "2011", "Dec-11", "2011-13-01", "2011-02-30", "1.5", "Dez-2011"] {
            let refused = day("loans.csv", 7, "issue_d", cell).unwrap_err().to_string();
            let expected = format!(
                "loans.csv, row 7, column \"issue_d\": {cell:?} is not a date such as 2007-12-01 or Dec-2007"
            );
            assert_eq!(refused, expected);
        }
    }
}
