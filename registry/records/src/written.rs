//! Text of days, times and decimals that a file stores as whole numbers, shared by the readers of all
//! formats.

use crate::Zone;
use jiff::civil::date;
use jiff::{Span, Timestamp};

/// Formats the day `days` days after 1970-01-01, for example `2011-12-01`. `None` if the day is out of range.
pub fn day(days: i64) -> Option<String> {
    let days = Span::new().try_days(days).ok()?;
    Some(date(1970, 1, 1).checked_add(days).ok()?.to_string())
}

/// Formats a time on the clock of `zone`, for example `2011-12-01T09:30:00`. `ticks` counts from the start of
/// 1970 in UTC, with `a_second` ticks per second (at most 10⁹). `None` if the time is out of range.
pub fn time(ticks: i64, a_second: i64, zone: &Zone) -> Option<String> {
    let nanoseconds = ticks.rem_euclid(a_second) * (1_000_000_000 / a_second);
    let time = Timestamp::new(ticks.div_euclid(a_second), i32::try_from(nanoseconds).ok()?).ok()?;
    Some(zone.clock().to_datetime(time).to_string())
}

/// Formats `number`/10ˢ, where s is `scale`, with all s digits after the decimal point.
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
