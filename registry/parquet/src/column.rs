//! Conversion of a column's values to cells.

use crate::pages::{Bounded, Pages};
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::page::PageReader;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{AsBytes, ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::Result;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use scumble_records::{Cell, Held, NO_TEXT, Zone, written};
use std::sync::Arc;

/// Meaning of a column's values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// A boolean, a floating-point number of 32 or 64 bits, or a signed whole number. The cell is the stored
    /// value.
    Plain,
    /// An unsigned whole number.
    Unsigned,
    /// A decimal: a whole number of units of 10⁻ˢ, where s is the `scale`.
    Decimal { scale: usize },
    /// UTF-8 text.
    Text,
    /// Days since 1970-01-01.
    Date,
    /// Ticks since the start of 1970, with `a_second` ticks per second. The clock of `zone` converts them to
    /// a day and a time. A 96-bit timestamp is read in microseconds, as a local time unless the file names a
    /// zone.
    Timestamp { a_second: i64, zone: Zone },
}

impl Meaning {
    /// Meaning of the values of a column. `zone` returns the time zone of the column's instants. `Err` is the
    /// name of the column's type if this type is unsupported.
    pub fn from_descriptor(
        column: &ColumnDescriptor,
        zone: impl FnOnce() -> Zone,
    ) -> std::result::Result<Self, String> {
        let (physical, logical) = (column.physical_type(), column.logical_type_ref());
        let ticks_per_second = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        };
        let found = match (physical, logical, column.converted_type()) {
            (Type::BOOLEAN | Type::FLOAT | Type::DOUBLE, None, ConvertedType::NONE) => Some(Self::Plain),
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(kind)), _) if kind.is_signed => {
                Some(Self::Plain)
            }
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(_)), _) => Some(Self::Unsigned),
            (Type::INT32, Some(LogicalType::Date), _) => Some(Self::Date),
            (Type::INT64, Some(LogicalType::Timestamp(kind)), _) => {
                let zone = if kind.is_adjusted_to_u_t_c { zone() } else { Zone::Local };
                Some(Self::Timestamp { a_second: ticks_per_second(&kind.unit), zone })
            }
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _) => {
                Some(Self::Text)
            }
            (_, Some(LogicalType::Decimal(_)), _) | (_, None, ConvertedType::DECIMAL) => decimal(column),
            (_, Some(_), _) => None,
            // Timestamps of Spark and Impala, in days and nanoseconds of a day.
            (Type::INT96, None, _) => {
                let zone = Some(zone()).filter(|zone| *zone != Zone::Unknown).unwrap_or(Zone::Local);
                Some(Self::Timestamp { a_second: 1_000_000, zone })
            }
            // Annotations of older writers.
            (Type::INT32 | Type::INT64, None, converted) => match converted {
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64 => Some(Self::Plain),
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Some(Self::Unsigned),
                ConvertedType::DATE if physical == Type::INT32 => Some(Self::Date),
                ConvertedType::TIMESTAMP_MILLIS if physical == Type::INT64 => {
                    Some(Self::Timestamp { a_second: 1_000, zone: zone() })
                }
                ConvertedType::TIMESTAMP_MICROS if physical == Type::INT64 => {
                    Some(Self::Timestamp { a_second: 1_000_000, zone: zone() })
                }
                _ => None,
            },
            (
                Type::BYTE_ARRAY,
                None,
                ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON,
            ) => Some(Self::Text),
            _ => None,
        };
        found.ok_or_else(|| match (logical, column.converted_type()) {
            (Some(logical), _) => {
                let words = format!("{logical:?}");
                let word = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                format!("{} ({physical})", word.to_lowercase())
            }
            (None, ConvertedType::NONE) => physical.to_string(),
            (None, converted) => format!("{converted} ({physical})"),
        })
    }
}

/// Storage type of a column whose values have this `meaning`. `None` for a decimal whose precision or scale
/// does not fit 8 bits.
pub(crate) fn held(column: &ColumnDescriptor, meaning: &Meaning) -> Option<Held> {
    let bits = || match (column.logical_type_ref(), column.physical_type()) {
        (Some(LogicalType::Integer(kind)), _) => u8::try_from(kind.bit_width).unwrap_or(64),
        (_, Type::INT32) => 32,
        _ => 64,
    };
    Some(match (meaning, column.physical_type()) {
        (Meaning::Plain, Type::BOOLEAN) => Held::Flag,
        (Meaning::Plain, Type::FLOAT) => Held::Single,
        (Meaning::Plain, Type::DOUBLE) => Held::Double,
        (Meaning::Plain, _) => Held::Whole { bits: bits(), is_signed: true },
        (Meaning::Unsigned, _) => Held::Whole { bits: bits(), is_signed: false },
        (Meaning::Decimal { .. }, _) => Held::Decimal {
            precision: u8::try_from(column.type_precision()).ok()?,
            scale: u8::try_from(column.type_scale()).ok()?,
        },
        (Meaning::Text, _) => Held::Text,
        (Meaning::Date, _) => Held::Day,
        // A column of instants in a named zone is released as dates, because instants in the output would
        // need the zone.
        (Meaning::Timestamp { zone: Zone::Named(_), .. }, _) => Held::Day,
        (Meaning::Timestamp { a_second, zone }, _) => Held::Time { a_second: *a_second, zone: zone.clone() },
    })
}

/// Meaning of a column of decimals. `None` for more than 38 digits after the decimal point, and for an
/// unsupported physical type.
fn decimal(column: &ColumnDescriptor) -> Option<Meaning> {
    let scale = usize::try_from(column.type_scale()).ok().filter(|scale| *scale <= 38)?;
    let is_read = match column.physical_type() {
        Type::INT32 | Type::INT64 | Type::BYTE_ARRAY => true,
        Type::FIXED_LEN_BYTE_ARRAY => (1..=16).contains(&column.type_length()),
        _ => false,
    };
    is_read.then_some(Meaning::Decimal { scale })
}

/// One column of a row group, read a few rows at a time.
pub(crate) struct Column {
    meaning: Meaning,
    is_nullable: bool,
    reader: ColumnReader,
}

/// Values of some rows of a column, returned one after the other.
pub(crate) struct Values {
    meaning: Meaning,
    /// 0 for a missing value, 1 for a present one. Empty if the column allows no nulls.
    present: Vec<i16>,
    /// The values that are not missing.
    stored: Stored,
    /// Number of rows returned so far, and how many of them had a value that is not missing.
    given: (usize, usize),
    /// Text of the last returned value, if it had to be formatted.
    written: String,
}

enum Stored {
    Flags(Vec<bool>),
    Small(Vec<i32>),
    Large(Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// A value that cannot become a cell: the value as in the file, and the problem.
pub(crate) struct Misfit {
    pub value: String,
    pub problem: String,
}

impl Column {
    pub fn open<R: ChunkReader + 'static>(
        file: &Arc<Bounded<R>>,
        column: &ColumnDescPtr,
        chunk: &ColumnChunkMetaData,
        meaning: Meaning,
        rows: usize,
    ) -> Result<Self> {
        let pages: Box<dyn PageReader> = Box::new(Pages::new(Arc::clone(file), chunk, rows)?);
        Ok(Self {
            meaning,
            is_nullable: column.max_def_level() > 0,
            reader: get_column_reader(Arc::clone(column), pages),
        })
    }

    /// Reads the next `most` rows, or fewer at the end, and returns their number and their values.
    pub fn read(&mut self, most: usize) -> Result<(usize, Values)> {
        let is_nullable = self.is_nullable;
        let (rows, present, stored) = match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => read(reader, most, is_nullable, Stored::Flags),
            ColumnReader::Int32ColumnReader(reader) => read(reader, most, is_nullable, Stored::Small),
            ColumnReader::Int64ColumnReader(reader) => read(reader, most, is_nullable, Stored::Large),
            ColumnReader::FloatColumnReader(reader) => read(reader, most, is_nullable, Stored::Single),
            ColumnReader::DoubleColumnReader(reader) => read(reader, most, is_nullable, Stored::Double),
            ColumnReader::ByteArrayColumnReader(reader) => read(reader, most, is_nullable, Stored::Bytes),
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read(reader, most, is_nullable, Stored::Fixed)
            }
            ColumnReader::Int96ColumnReader(reader) => read(reader, most, is_nullable, |times| {
                Stored::Large(times.iter().map(Int96::to_micros).collect())
            }),
        }?;
        let given = (0, 0);
        Ok((rows, Values { meaning: self.meaning.clone(), present, stored, given, written: String::new() }))
    }
}

fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
    is_nullable: bool,
    stored: fn(Vec<T::T>) -> Stored,
) -> Result<(usize, Vec<i16>, Stored)> {
    let (mut present, mut values) = (vec![], vec![]);
    let levels = is_nullable.then_some(&mut present);
    let (rows, ..) = reader.read_records(most, levels, None, &mut values)?;
    Ok((rows, present, stored(values)))
}

impl Values {
    /// Returns the cell of the next row. Text is cut to about `most` bytes, or kept whole if `most` is
    /// `None`.
    pub fn next(&mut self, most: Option<usize>) -> std::result::Result<Cell<'_>, Misfit> {
        let (row, at) = self.given;
        self.given.0 += 1;
        if self.present.get(row) == Some(&0) {
            return Ok(Cell::Null);
        }
        self.given.1 += 1;
        // `stored` has a value for every row that is not missing, so the defaults below are unused.
        Ok(match (&self.stored, &self.meaning) {
            (Stored::Flags(flags), _) => flags.get(at).map_or(Cell::Null, |flag| Cell::Flag(*flag)),
            (Stored::Single(numbers), _) => number(numbers.get(at).map(|number| f64::from(*number))),
            (Stored::Double(numbers), _) => number(numbers.get(at).copied()),
            (Stored::Small(numbers), Meaning::Unsigned) => {
                Cell::Whole(numbers.get(at).map_or(0, |number| i64::from(*number as u32)))
            }
            (Stored::Small(numbers), meaning) => {
                let number = numbers.get(at).copied().unwrap_or_default();
                whole(number.into(), meaning, &mut self.written)?
            }
            (Stored::Large(numbers), meaning) => {
                let number = numbers.get(at).copied().unwrap_or_default();
                whole(number, meaning, &mut self.written)?
            }
            (Stored::Bytes(bytes), Meaning::Decimal { scale }) => {
                let bytes = bytes.get(at).map(ByteArray::data).unwrap_or_default();
                self.written = written::decimal(unscaled(bytes)?, *scale);
                Cell::Text(&self.written)
            }
            (Stored::Fixed(bytes), Meaning::Decimal { scale }) => {
                let bytes = bytes.get(at).map(AsBytes::as_bytes).unwrap_or_default();
                self.written = written::decimal(unscaled(bytes)?, *scale);
                Cell::Text(&self.written)
            }
            (Stored::Bytes(bytes), _) => {
                let bytes = bytes.get(at).map(ByteArray::data).unwrap_or_default();
                match (text(bytes, most.unwrap_or(usize::MAX)), most) {
                    (Ok(text), _) => Cell::Text(text),
                    // A draft leaves out the column, and needs no further cell of it.
                    (Err(_), Some(_)) => Cell::Text(NO_TEXT),
                    (Err(misfit), None) => return Err(misfit),
                }
            }
            (Stored::Fixed(_), _) => Cell::Null,
        })
    }
}

/// Converts the first `most` bytes to text, or fewer if there are fewer, without an incomplete character at
/// the end. The rest of `bytes` is not checked.
fn text(bytes: &[u8], most: usize) -> std::result::Result<&str, Misfit> {
    let start = &bytes[..bytes.len().min(most)];
    let is_cut = start.len() < bytes.len();
    match std::str::from_utf8(start) {
        Ok(text) => Ok(text),
        Err(error) if is_cut && error.error_len().is_none() => {
            Ok(std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default())
        }
        Err(_) => Err(Misfit {
            value: String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN)]).into_owned(),
            problem: "is not UTF-8 text".into(),
        }),
    }
}

/// Cell of a whole number. A large unsigned number, a decimal, a date or a time is formatted into `text`.
fn whole<'t>(number: i64, meaning: &Meaning, text: &'t mut String) -> std::result::Result<Cell<'t>, Misfit> {
    let no_date = || Misfit { value: number.to_string(), problem: "is outside the range of dates".into() };
    *text = match meaning {
        Meaning::Unsigned if number < 0 => (number as u64).to_string(),
        Meaning::Decimal { scale } => written::decimal(number.into(), *scale),
        Meaning::Date => written::day(number).ok_or_else(no_date)?,
        Meaning::Timestamp { a_second, zone } => {
            written::time(number, *a_second, zone).ok_or_else(no_date)?
        }
        _ => return Ok(Cell::Whole(number)),
    };
    Ok(Cell::Text(text))
}

/// Upper bound on the bytes of a value that an error shows.
const SHOWN: usize = 60;

fn number(found: Option<f64>) -> Cell<'static> {
    found.map_or(Cell::Null, Cell::Number)
}

/// Converts big-endian bytes in two's complement to a whole number.
fn unscaled(bytes: &[u8]) -> std::result::Result<i128, Misfit> {
    let is_negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
    let mut number = if is_negative { [0xff; 16] } else { [0; 16] };
    let Some(place) = 16_usize.checked_sub(bytes.len()) else {
        let problem = format!("has {} bytes, and a decimal may have at most 16", bytes.len());
        return Err(Misfit { value: "a decimal".into(), problem });
    };
    number[place..].copy_from_slice(bytes);
    Ok(i128::from_be_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_written_with_all_their_digits() {
        for (number, scale, written) in
            [(12345, 2, "123.45"), (-5, 3, "-0.005"), (0, 2, "0.00"), (7, 0, "7"), (-1200, 2, "-12.00")]
        {
            assert_eq!(written::decimal(number, scale), written);
        }
        assert_eq!(written::decimal(i128::MIN, 38).len(), 41);
        let number = |bytes: &[u8]| unscaled(bytes).map_err(|misfit| misfit.problem);
        assert_eq!(number(&[]), Ok(0));
        assert_eq!(number(&[0xff, 0xfe]), Ok(-2));
        assert_eq!(number(&[0x01, 0x00]), Ok(256));
        assert_eq!(number(&i128::MIN.to_be_bytes()), Ok(i128::MIN));
        assert!(number(&[0; 17]).is_err());
    }

    #[test]
    fn dates_are_written_as_files_have_them() {
        let values = |stored, meaning| Values {
            meaning,
            present: vec![],
            stored,
            given: (0, 0),
            written: String::new(),
        };
        let mut days = values(Stored::Small(vec![0, 15309, -1, i32::MAX]), Meaning::Date);
        for day in ["1970-01-01", "2011-12-01", "1969-12-31"] {
            assert!(days.next(None).is_ok_and(|cell| cell == Cell::Text(day)), "{day}");
        }
        assert!(days.next(None).is_err_and(|misfit| misfit.value == "2147483647"));
        let mut times = values(
            Stored::Large(vec![1_322_731_800_000, -500, i64::MIN]),
            Meaning::Timestamp { a_second: 1000, zone: Zone::Local },
        );
        for time in ["2011-12-01T09:30:00", "1969-12-31T23:59:59.5"] {
            assert!(times.next(None).is_ok_and(|cell| cell == Cell::Text(time)), "{time}");
        }
        assert!(times.next(None).is_err());
    }
}
