//! Storage types of columns, and conversion of cells to them.

use crate::kind::{EPOCH, ISO, flag, parse_date};
use crate::{Cell, Kind};
use jiff::civil::{Date, Time};
use jiff::tz::{Offset, TimeZone};

/// Storage type of a column in a typed file (Parquet) or table (Arrow). Text files have no storage types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// A 64-bit floating-point number.
    Double,
    /// A 32-bit floating-point number.
    Single,
    /// A whole number.
    Whole {
        /// Width in bits: 8, 16, 32 or 64.
        bits: u8,
        /// True for a signed number.
        is_signed: bool,
    },
    /// A boolean.
    Flag,
    /// Days since 1970-01-01.
    Day,
    /// Ticks since 1970-01-01T00:00:00 in UTC, or in local time for [`Zone::Local`].
    Time {
        /// Ticks per second.
        a_second: i64,
        /// Clock that decides the day of a time.
        zone: Zone,
    },
    /// A decimal: a whole number of units of 10⁻ˢ, where s is the `scale`.
    Decimal {
        /// Total number of digits, at most 38.
        precision: u8,
        /// Number of digits after the decimal point, s.
        scale: u8,
    },
    /// UTF-8 text.
    Text,
}

/// Clock of a column of times, which decides the day of each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Zone {
    /// Local times without a zone. The day of a time is the written day.
    Local,
    /// Instants. The day of an instant is its day in this zone.
    Named(TimeZone),
    /// Instants of an unknown zone. Their days cannot be decided.
    Unknown,
}

impl Zone {
    /// Looks up a zone by name: a name in the IANA database, or an offset such as `+01:00`.
    ///
    /// ```
    /// use scumble_records::{Zone, written};
    ///
    /// let oslo = Zone::named("Europe/Oslo");
    /// // Midnight of 1 January 2024 in Oslo is 23:00 of the day before in UTC.
    /// assert_eq!(written::time(1_704_063_600, 1, &oslo).unwrap(), "2024-01-01T00:00:00");
    /// assert_eq!(Zone::named("Middle/Earth"), Zone::Unknown);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Self {
        let offset = || jiff::fmt::strtime::parse("%:z", name).ok()?.offset();
        let zone = TimeZone::get(name).ok().or_else(|| Some(TimeZone::fixed(offset()?)));
        zone.map_or(Self::Unknown, Self::Named)
    }

    /// Zone that converts stored ticks to local times. UTC for [`Local`](Self::Local), whose ticks already
    /// count local time, and for [`Unknown`](Self::Unknown).
    pub(crate) fn clock(&self) -> TimeZone {
        match self {
            Self::Named(zone) => zone.clone(),
            Self::Local | Self::Unknown => TimeZone::fixed(Offset::UTC),
        }
    }
}

/// Value as stored in a column of a [`Held`] type.
#[derive(Debug, Clone, PartialEq)]
pub enum Stored {
    /// Value of [`Held::Double`].
    Double(f64),
    /// Value of [`Held::Single`].
    Single(f32),
    /// Value of [`Held::Whole`], [`Held::Time`] (ticks) or [`Held::Decimal`] (units of 10⁻ˢ, where s is the
    /// scale).
    Whole(i128),
    /// Value of [`Held::Flag`].
    Flag(bool),
    /// Value of [`Held::Day`].
    Day(i32),
    /// Value of [`Held::Text`].
    Text(String),
}

impl Held {
    /// Converts the cell to this storage type. `None` if the type cannot hold the value.
    #[must_use]
    pub fn store(&self, cell: Cell) -> Option<Stored> {
        let number = || match cell {
            Cell::Text(text) => text.parse().ok().or_else(|| flag(text).map(f64::from)),
            cell => cell.number(),
        };
        Some(match *self {
            Self::Double => Stored::Double(number()?),
            Self::Single => Stored::Single(number()? as f32),
            Self::Whole { bits, is_signed } => {
                let whole = whole(cell).or_else(|| flag(&cell.text()).map(i128::from))?;
                let range = match is_signed {
                    true => -(1_i128 << (bits - 1))..1 << (bits - 1),
                    false => 0..1 << bits,
                };
                Stored::Whole(Some(whole).filter(|whole| range.contains(whole))?)
            }
            Self::Flag => Stored::Flag(match cell {
                Cell::Flag(flag) => flag,
                cell => flag(&cell.text())?,
            }),
            Self::Day => Stored::Day(EPOCH.until(date(cell)?).ok()?.get_days()),
            Self::Time { a_second, ref zone } => {
                let midnight = date(cell)?.to_datetime(Time::midnight());
                let instant = zone.clock().to_timestamp(midnight).ok()?;
                let ticks = instant.as_nanosecond() / i128::from(1_000_000_000 / a_second);
                Stored::Whole(Some(ticks).filter(|ticks| i64::try_from(*ticks).is_ok())?)
            }
            Self::Decimal { precision, scale } => {
                let units = units(&cell.text(), scale.into())?;
                let most = 10_i128.checked_pow(precision.into()).unwrap_or(i128::MAX);
                Stored::Whole(Some(units).filter(|units| units.abs() < most)?)
            }
            Self::Text => Stored::Text(cell.text().into_owned()),
        })
    }

    /// Returns whether the type stores this cell without loss.
    fn keeps(&self, cell: Cell) -> bool {
        match (self.store(cell), self) {
            (Some(Stored::Single(single)), _) => Some(f64::from(single)) == cell.number(),
            (stored, _) => stored.is_some(),
        }
    }

    /// Storage type of a released column of this kind. `source` is the storage type of the input column, or
    /// `None` for a text file.
    ///
    /// The result is `source` if every released value fits in it, and otherwise the default type of the kind.
    /// Real numbers keep `source` only if they are unchanged. Numbers for which both `is_settled` and
    /// `is_unchanged` are false are stored as [`Double`](Self::Double). The flags mean:
    ///
    /// - `is_settled`: values are rounded or clamped to values of the kind.
    /// - `is_unchanged`: values are released as in the input.
    /// - `is_target`: the column is the target. Ordered levels count as levels in the target, and as numbers
    ///   in other columns.
    pub(crate) fn released(
        kind: &Kind,
        source: Option<&Self>,
        is_settled: bool,
        is_unchanged: bool,
        is_target: bool,
    ) -> Self {
        let keeps_bounds = |held: &&Self| kind.extremes().iter().all(|cell| held.keeps(*cell));
        let has_levels = kind.levels().is_some() && (is_target || !matches!(kind, Kind::Ordered { .. }));
        let own = match kind {
            _ if !(is_settled || is_unchanged || has_levels) => return Self::Double,
            Kind::Real { .. } => Self::Double,
            Kind::Integer { .. } => Self::Whole { bits: 64, is_signed: true },
            Kind::Date { .. } => Self::Day,
            Kind::Boolean {} => Self::Flag,
            Kind::Ordered { .. } | Kind::Category { .. } => Self::Text,
        };
        let fits = |held: &&Self| match (kind, held) {
            // An unchanged real number keeps the input's type if this type holds both bounds, because clipped
            // cells have these values.
            (Kind::Real { .. }, held) => is_unchanged && keeps_bounds(held),
            (Kind::Integer { .. } | Kind::Boolean {}, Self::Text) => is_unchanged,
            (Kind::Integer { .. }, Self::Flag) => false,
            (Kind::Date { .. }, Self::Day | Self::Time { .. } | Self::Text) => keeps_bounds(held),
            (Kind::Date { .. }, _) | (_, Self::Day | Self::Time { .. }) => false,
            (_, held) => keeps_bounds(held),
        };
        source.filter(fits).cloned().unwrap_or(own)
    }
}

/// Returns the whole number in a cell of any type.
fn whole(cell: Cell) -> Option<i128> {
    let whole_number = |number: f64| (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128);
    match cell {
        Cell::Whole(whole) => Some(whole.into()),
        Cell::Flag(flag) => Some(flag.into()),
        Cell::Number(number) => whole_number(number),
        Cell::Text(text) => text.parse().ok().or_else(|| whole_number(text.parse().ok()?)),
        Cell::Null | Cell::Date { .. } => None,
    }
}

fn date(cell: Cell) -> Option<Date> {
    match cell {
        Cell::Date { date, .. } => Some(date),
        Cell::Text(text) => parse_date(text, ISO),
        _ => None,
    }
}

/// Converts decimal text to a number of units of 10⁻ˢ, s = `scale`. `None` if the text is not a whole number
/// of units.
fn units(text: &str, scale: usize) -> Option<i128> {
    let (whole, digits) = text.split_once('.').unwrap_or((text, ""));
    let (digits, rest) = digits.split_at_checked(scale).unwrap_or((digits, ""));
    let is_exact = rest.bytes().all(|digit| digit == b'0');
    is_exact.then(|| format!("{whole}{digits:0<scale$}").parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: Held = Held::Whole { bits: 64, is_signed: false };

    #[test]
    fn cells_are_stored_as_their_types_have_them() {
        let cents = Held::Decimal { precision: 6, scale: 2 };
        for (held, cell, expected) in [
            (&LARGEST, Cell::Text("18446744073709551615"), Some(Stored::Whole(u64::MAX.into()))),
            (&LARGEST, Cell::Whole(-1), None),
            (&Held::Whole { bits: 8, is_signed: true }, Cell::Number(-128.0), Some(Stored::Whole(-128))),
            (&Held::Whole { bits: 8, is_signed: true }, Cell::Text("128"), None),
            (&Held::Whole { bits: 8, is_signed: true }, Cell::Text("yes"), Some(Stored::Whole(1))),
            (&Held::Flag, Cell::Text("No"), Some(Stored::Flag(false))),
            (&Held::Flag, Cell::Text("perhaps"), None),
            (&cents, Cell::Text("12.5"), Some(Stored::Whole(1250))),
            (&cents, Cell::Text("-0.050"), Some(Stored::Whole(-5))),
            (&cents, Cell::Text("0.001"), None),
            (&cents, Cell::Text("10000"), None),
            (&Held::Single, Cell::Text("0.5"), Some(Stored::Single(0.5))),
        ] {
            assert_eq!(held.store(cell), expected, "{held:?} {cell:?}");
        }
    }

    #[test]
    fn a_day_is_the_midnight_of_its_zone() {
        let cell = Cell::Date { date: jiff::civil::date(2024, 1, 1), format: "%Y-%m-%d" };
        for (zone, seconds) in [
            (Zone::Local, 1_704_067_200),
            (Zone::named("UTC"), 1_704_067_200),
            (Zone::named("Europe/Oslo"), 1_704_063_600),
            (Zone::named("America/New_York"), 1_704_085_200),
            (Zone::named("-05:00"), 1_704_085_200),
        ] {
            let held = Held::Time { a_second: 1_000, zone };
            assert_eq!(held.store(cell), Some(Stored::Whole(1000 * seconds)), "{held:?}");
        }
        assert_eq!(Held::Day.store(cell), Some(Stored::Day(19_723)));
        // 64-bit nanoseconds end in the year 2262.
        let late = Cell::Date { date: jiff::civil::date(2300, 1, 1), format: "%Y-%m-%d" };
        assert_eq!(Held::Time { a_second: 1_000_000_000, zone: Zone::Local }.store(late), None);
    }

    #[test]
    fn a_released_column_has_its_inputs_type_where_that_holds_all_of_its_values() {
        let kind = |toml: &str| -> Kind { toml::from_str(toml).unwrap() };
        let age = kind("kind = \"integer\"\nlower = 0\nupper = 300");
        let code = kind("kind = \"category\"\nlevels = [\"1\", \"2\"]");
        let real = Kind::real(0.0, 0.1);
        let whole = |bits| Held::Whole { bits, is_signed: true };
        let released = |kind: &Kind, source: Option<&Held>, is_unchanged| {
            Held::released(kind, source, true, is_unchanged, false)
        };
        assert_eq!(released(&age, None, false), whole(64));
        assert_eq!(released(&age, Some(&whole(16)), false), whole(16));
        assert_eq!(released(&age, Some(&whole(8)), false), whole(64));
        assert_eq!(released(&age, Some(&Held::Double), false), Held::Double);
        assert_eq!(released(&code, Some(&whole(8)), false), whole(8));
        assert_eq!(released(&code, Some(&Held::Text), false), Held::Text);
        assert_eq!(released(&real, Some(&whole(32)), true), Held::Double, "0.1 would not fit");
        assert_eq!(released(&Kind::real(0.0, 9.0), Some(&whole(32)), true), whole(32));
        assert_eq!(released(&Kind::real(0.0, 9.0), Some(&whole(32)), false), Held::Double);
        assert_eq!(released(&Kind::Boolean {}, Some(&Held::Text), false), Held::Flag);
    }
}
