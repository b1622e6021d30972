//! How values that are stored as whole numbers are written: days, times and decimals, for readers of every format alike.

use crate::Zone;
use jiff::civil::date;
use jiff::{Span, Timestamp};

/// The day so many days after 1970-01-01, if it can be written: `2011-12-01`.
pub fn day(days: i64) -> Option<String> {
    let days = Span::new().try_days(days).ok()?;
    Some(date(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// Text of the time `ticks` after 1970 began in UTC, with `a_second` ticks a second (10⁹ at most), by the clock of `zone`:
/// `2011-12-01T09:30:00`. `None` for a time that cannot be written.
pub fn time(ticks: i64, a_second: i64, zone: &Zone) -> Option<String> {
    let nanoseconds = ticks.rem_euclid(a_second) * (1_000_000_000 / a_second);
    let time = Timestamp::new(ticks.div_euclid(a_second), i32::try_from(nanoseconds).ok()?).ok()?;
    Some(zone.clock().to_datetime(time).to_string())
}

/// `number`/10ˢ, with all s digits behind the point.
///
/// ```
/// assert_eq!(scumble_records::written::decimal(-1250, 2), "-12.50");
/// ```
pub fn decimal(number: i128, scale: usize) -> String {
    let digits = format!("{:0>width$}", number.unsigned_abs(), width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    let sign = if number < 0 { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{rest}")
}
