//! Conversion of the values of an Arrow array to cells.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, BooleanArray, Decimal128Array, Float64Array, Int64Array, LargeStringArray, StringArray,
    StringViewArray, UInt64Array,
};
use arrow_schema::{DataType, TimeUnit};
use scumble_records::{Cell, Held, Result, Zone, written};

const A_DAY: i64 = 86_400_000;

/// Number of ticks per second of a time unit.
pub(crate) fn a_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Storage type of the cells in an array of type `data_type`; `None` if the type is unsupported.
pub(crate) fn held(data_type: &DataType) -> Option<Held> {
    let whole = |bits, is_signed| Held::Whole { bits, is_signed };
    Some(match data_type {
        DataType::Float64 => Held::Double,
        DataType::Float32 | DataType::Float16 => Held::Single,
        DataType::Int64 => whole(64, true),
        DataType::Int32 => whole(32, true),
        DataType::Int16 => whole(16, true),
        DataType::Int8 => whole(8, true),
        DataType::UInt64 => whole(64, false),
        DataType::UInt32 => whole(32, false),
        DataType::UInt16 => whole(16, false),
        DataType::UInt8 => whole(8, false),
        DataType::Boolean => Held::Flag,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Held::Text,
        DataType::Date32 | DataType::Date64 => Held::Day,
        DataType::Timestamp(unit, zone) => {
            Held::Time { a_second: a_second(*unit), zone: zone.as_deref().map_or(Zone::Local, Zone::named) }
        }
        DataType::Decimal128(precision, scale) => {
            Held::Decimal { precision: *precision, scale: u8::try_from(*scale).ok()? }
        }
        DataType::Dictionary(_, values) => held(values)?,
        _ => return None,
    })
}

/// Values of a column, with one variant per array type that is read. An array of another supported type is
/// converted to one of these types. Values that are not converted share the memory of the column's array.
pub(crate) enum Values {
    Missing,
    Number(Float64Array),
    Whole(Int64Array),
    Unsigned(UInt64Array),
    Flag(BooleanArray),
    Text(StringArray),
    LargeText(LargeStringArray),
    TextView(StringViewArray),
    Day(Int64Array),
    /// Ticks since 1970, the number of ticks per second, and the time zone.
    Time(Int64Array, i64, Zone),
    /// Numbers without their decimal point, and the number of digits after the decimal point.
    Decimal(Decimal128Array, usize),
    /// Indices into a dictionary, `None` for a missing value, and the values of the dictionary.
    Level(Vec<Option<usize>>, Box<Values>),
}

impl Values {
    /// Converts an array. Returns `None` for an unsupported type, for example lists, structs, bytes or
    /// durations.
    pub(crate) fn from_array(array: &dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Null => Self::Missing,
            DataType::Float64 => Self::Number(array.as_primitive::<Float64Type>().clone()),
            DataType::Float32 => Self::Number(array.as_primitive::<Float32Type>().unary(f64::from)),
            DataType::Float16 => Self::Number(array.as_primitive::<Float16Type>().unary(|x| x.to_f64())),
            DataType::Int64 => Self::Whole(array.as_primitive::<Int64Type>().clone()),
            DataType::Int32 => Self::Whole(array.as_primitive::<Int32Type>().unary(i64::from)),
            DataType::Int16 => Self::Whole(array.as_primitive::<Int16Type>().unary(i64::from)),
            DataType::Int8 => Self::Whole(array.as_primitive::<Int8Type>().unary(i64::from)),
            DataType::UInt64 => Self::Unsigned(array.as_primitive::<UInt64Type>().clone()),
            DataType::UInt32 => Self::Whole(array.as_primitive::<UInt32Type>().unary(i64::from)),
            DataType::UInt16 => Self::Whole(array.as_primitive::<UInt16Type>().unary(i64::from)),
            DataType::UInt8 => Self::Whole(array.as_primitive::<UInt8Type>().unary(i64::from)),
            DataType::Boolean => Self::Flag(array.as_boolean().clone()),
            DataType::Utf8 => Self::Text(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Self::LargeText(array.as_string::<i64>().clone()),
            DataType::Utf8View => Self::TextView(array.as_string_view().clone()),
            DataType::Date32 => Self::Day(array.as_primitive::<Date32Type>().unary(i64::from)),
            DataType::Date64 => {
                Self::Day(array.as_primitive::<Date64Type>().unary(|time| time.div_euclid(A_DAY)))
            }
            DataType::Timestamp(unit, zone) => {
                let zone = zone.as_deref().map_or(Zone::Local, Zone::named);
                let ticks = match unit {
                    TimeUnit::Second => array.as_primitive::<TimestampSecondType>().reinterpret_cast(),
                    TimeUnit::Millisecond => {
                        array.as_primitive::<TimestampMillisecondType>().reinterpret_cast()
                    }
                    TimeUnit::Microsecond => {
                        array.as_primitive::<TimestampMicrosecondType>().reinterpret_cast()
                    }
                    TimeUnit::Nanosecond => {
                        array.as_primitive::<TimestampNanosecondType>().reinterpret_cast()
                    }
                };
                Self::Time(ticks, a_second(*unit), zone)
            }
            DataType::Decimal128(_, scale) => Self::Decimal(
                array.as_primitive::<Decimal128Type>().clone(),
                usize::try_from(*scale).ok().filter(|scale| *scale <= 38)?,
            ),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let values = Self::from_array(dictionary.values().as_ref())?;
                if dictionary.values().is_empty() {
                    return Some(Self::Missing);
                }
                let places = dictionary.normalized_keys().into_iter().enumerate();
                let places = places.map(|(row, place)| dictionary.keys().is_valid(row).then_some(place));
                Self::Level(places.collect(), Box::new(values))
            }
            _ => return None,
        })
    }

    /// Passes the cell of row `row` to `take`. Returns `None` for a day or time that is out of range.
    pub(crate) fn take<T>(&self, row: usize, take: impl FnOnce(Cell) -> Result<T>) -> Result<Option<T>> {
        let text = match self {
            Self::Missing => return take(Cell::Null).map(Some),
            Self::Level(places, values) => {
                return match places[row] {
                    Some(place) => values.take(place, take),
                    None => take(Cell::Null).map(Some),
                };
            }
            _ if self.is_null(row) => return take(Cell::Null).map(Some),
            Self::Number(values) => return take(Cell::Number(values.value(row))).map(Some),
            Self::Whole(values) => return take(Cell::Whole(values.value(row))).map(Some),
            Self::Flag(values) => return take(Cell::Flag(values.value(row))).map(Some),
            Self::Text(values) => return take(Cell::Text(values.value(row))).map(Some),
            Self::LargeText(values) => return take(Cell::Text(values.value(row))).map(Some),
            Self::TextView(values) => return take(Cell::Text(values.value(row))).map(Some),
            Self::Unsigned(values) => match i64::try_from(values.value(row)) {
                Ok(whole) => return take(Cell::Whole(whole)).map(Some),
                Err(_) => Some(values.value(row).to_string()),
            },
            Self::Day(values) => written::day(values.value(row)),
            Self::Time(values, a_second, zone) => written::time(values.value(row), *a_second, zone),
            Self::Decimal(values, scale) => Some(written::decimal(values.value(row), *scale)),
        };
        text.map(|text| take(Cell::Text(&text))).transpose()
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Missing | Self::Level(..) => false,
            Self::Number(values) => values.is_null(row),
            Self::Whole(values) | Self::Day(values) | Self::Time(values, ..) => values.is_null(row),
            Self::Unsigned(values) => values.is_null(row),
            Self::Flag(values) => values.is_null(row),
            Self::Text(values) => values.is_null(row),
            Self::LargeText(values) => values.is_null(row),
            Self::TextView(values) => values.is_null(row),
            Self::Decimal(values, _) => values.is_null(row),
        }
    }
}
