//! Parquet files for tests.

use bytes::Bytes;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// Values of a column, including missing ones.
#[derive(Debug, Clone)]
pub enum Data {
    Flags(Vec<Option<bool>>),
    Small(Vec<Option<i32>>),
    Large(Vec<Option<i64>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Fixed(Vec<Option<Vec<u8>>>),
    /// Timestamps of 96 bits: Julian days, and nanoseconds of the day.
    Times(Vec<Option<(u32, u64)>>),
    /// A number of empty lists.
    Lists(usize),
}

impl Data {
    pub fn text(cells: &[&str]) -> Self {
        Self::Bytes(cells.iter().map(|cell| Some(cell.as_bytes().to_vec())).collect())
    }

    fn len(&self) -> usize {
        match self {
            Self::Flags(values) => values.len(),
            Self::Small(values) => values.len(),
            Self::Large(values) => values.len(),
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Bytes(values) | Self::Fixed(values) => values.len(),
            Self::Times(values) => values.len(),
            Self::Lists(lists) => *lists,
        }
    }
}

/// Builds a file of `fields`, in Parquet's own notation, with row groups of `group` rows.
pub fn file(fields: &str, columns: &[Data], group: usize, properties: WriterProperties) -> Bytes {
    let schema = parse_message_type(&format!("message schema {{ {fields} }}")).unwrap();
    let mut file = SerializedFileWriter::new(vec![], Arc::new(schema), Arc::new(properties)).unwrap();
    let rows = columns[0].len();
    for first in (0..rows).step_by(group) {
        let rows = first..(first + group).min(rows);
        let mut writer = file.next_row_group().unwrap();
        for data in columns {
            let mut column = writer.next_column().unwrap().unwrap();
            let rows = rows.clone();
            match (column.untyped(), data) {
                (ColumnWriter::BoolColumnWriter(writer), Data::Flags(values)) => write(writer, &values[rows]),
                (ColumnWriter::Int32ColumnWriter(writer), Data::Small(values)) => {
                    write(writer, &values[rows])
                }
                (ColumnWriter::Int64ColumnWriter(writer), Data::Large(values)) => {
                    write(writer, &values[rows])
                }
                (ColumnWriter::FloatColumnWriter(writer), Data::Single(values)) => {
                    write(writer, &values[rows])
                }
                (ColumnWriter::DoubleColumnWriter(writer), Data::Double(values)) => {
                    write(writer, &values[rows])
                }
                (ColumnWriter::ByteArrayColumnWriter(writer), Data::Bytes(values)) => {
                    let values = values[rows].iter().map(|value| value.clone().map(ByteArray::from));
                    write(writer, &values.collect::<Vec<_>>());
                }
                (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Data::Fixed(values)) => {
                    let values = values[rows].iter();
                    let values = values
                        .map(|value| value.clone().map(|v| FixedLenByteArray::from(ByteArray::from(v))));
                    write(writer, &values.collect::<Vec<_>>());
                }
                (ColumnWriter::Int96ColumnWriter(writer), Data::Times(values)) => {
                    let values = values[rows].iter();
                    let values = values.map(|value| {
                        value.map(|(day, nanos)| {
                            let mut time = Int96::new();
                            time.set_data(nanos as u32, (nanos >> 32) as u32, day);
                            time
                        })
                    });
                    write(writer, &values.collect::<Vec<_>>());
                }
                (ColumnWriter::ByteArrayColumnWriter(writer), Data::Lists(_)) => {
                    let none = vec![0; rows.len()];
                    writer.write_batch(&[], Some(&none), Some(&none)).unwrap();
                }
                (_, data) => panic!("{fields} has no column of {data:?}"),
            }
            column.close().unwrap();
        }
        writer.close().unwrap();
    }
    file.into_inner().unwrap().into()
}

fn write<T: DataType>(writer: &mut parquet::column::writer::ColumnWriterImpl<T>, values: &[Option<T::T>]) {
    let present: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = values.iter().flatten().cloned().collect();
    // A required column has no levels, so they are omitted.
    let levels = (writer.get_descriptor().max_def_level() > 0).then_some(&present[..]);
    writer.write_batch(&values, levels, None).unwrap();
}
