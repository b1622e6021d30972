//! Power of a house in France (Hebrail and Berard 2012), hour by hour. The features are the mean powers of
//! the 24 hours of a day, and the target is the mean power of the next day.
//!
//! A day without a next day in the file is left out. The target of the last training record is the mean power
//! of the next day, and the powers of this day are the features of the first test record. The published
//! results of task-aware privacy on these data need no target. Their input is the matrix that [`power`]
//! returns, in kW (1,417 days × 24 hours).

use crate::csv_file::CsvFile;
use crate::encoded::Encoded;
use crate::{DataSet, Error, Result, stored};
use jiff::civil::{Date, DateTime, Time};
use ndarray::Array2;
use scumble_records::Schema;
use std::path::Path;

/// The public schema of the columns.
pub(crate) const SCHEMA: &str = include_str!("../schemas/household.toml");

const FILE: &str = "household/household_power_consumption_aggre_clean.csv";
const TARGET: &str = "next day";
const HOURS: usize = 24;

/// A calendar day.
struct Day {
    date: Date,
    /// The mean power of each hour in kW.
    power: [f64; HOURS],
}

/// Reads the mean power of every hour of every day from `folder`, in kW (1,417 days × 24 hours). Days are in
/// order of time. Between the first and the last day, 23 days are missing.
///
/// # Errors
/// [`Error::Missing`] if the file does not exist, and any error of the file, with the row, the column and the
/// value.
pub fn power(folder: &Path) -> Result<Array2<f64>> {
    let (_, days) = days(folder)?;
    Ok(Array2::from_shape_fn((days.len(), HOURS), |(day, hour)| days[day].power[hour]))
}

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let (file, days) = days(folder)?;
    let schema = Schema::from_toml(SCHEMA, "household.toml")?;
    let mut encoded = Encoded::new(&schema, TARGET, &file)?;
    for (number, pair) in (1..).zip(days.windows(2)) {
        let [today, next] = pair else { continue };
        // After a gap, the next day in the file is later than tomorrow.
        if today.date.tomorrow().ok() != Some(next.date) {
            continue;
        }
        let mean = next.power.iter().sum::<f64>() / HOURS as f64;
        let cells: Vec<String> = today.power.iter().chain([&mean]).map(f64::to_string).collect();
        encoded.push(number, cells.iter().map(String::as_str))?;
    }
    let train_records = Some(encoded.len() * 7 / 10);
    Ok(DataSet { train_records, ..encoded.data_set("household")? })
}

/// The file's name and its days, which are complete and in order of time.
fn days(folder: &Path) -> Result<(String, Vec<Day>)> {
    let csv = CsvFile::read(&stored::read(&folder.join(FILE))?)?;
    let (datetime, power) = (csv.place("datetime")?, csv.place("Power")?);
    let mut days: Vec<Day> = vec![];
    let mut hour = 0;
    for (number, row) in csv.rows() {
        let refuse = |column: &str, cell: &str, expected: &str| {
            Err(Error::cell(&csv.name, number, column, cell, expected))
        };
        let Ok(time) = row[datetime].parse::<DateTime>() else {
            return refuse("datetime", &row[datetime], "a time such as 2006-12-17 00:00:00");
        };
        let Some(value) = row[power].parse().ok().filter(|value: &f64| value.is_finite()) else {
            return refuse("Power", &row[power], "a finite number of kW");
        };
        if hour == 0 {
            days.push(Day { date: time.date(), power: [0.0; HOURS] });
        }
        let follows = match &days[..] {
            [.., before, day] if hour == 0 => before.date < day.date,
            _ => true,
        };
        let Some(day) = days.last_mut().filter(|day| follows && is_hour(time, day.date, hour)) else {
            let expected = "the next hour; days must be in ascending order, each with the hours 0 to 23";
            return refuse("datetime", &row[datetime], expected);
        };
        day.power[hour] = value;
        hour = (hour + 1) % HOURS;
    }
    if days.is_empty() || hour != 0 {
        let problem = format!("it ends after {} days and {hour} hours; complete days are needed", days.len());
        return Err(scumble_records::Error::Unreadable { file: csv.name, problem }.into());
    }
    Ok((csv.name, days))
}

/// Returns true if `time` is the full hour `hour` of `date`.
fn is_hour(time: DateTime, date: Date, hour: usize) -> bool {
    let full = i8::try_from(hour).ok().and_then(|hour| Time::new(hour, 0, 0, 0).ok());
    full.is_some_and(|full| time == date.to_datetime(full))
}
