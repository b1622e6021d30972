//! Tables in memory in the fewest bytes that restore each number exactly.

use ndarray::Array2;
use scumble_core::{Error, Result, Table, Target};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A table of n records and d columns, with one, four or eight bytes per value.
///
/// Each value of a column takes one byte if the column has at most 256 different values. If it has more, each
/// takes four bytes if single precision restores all values exactly, and eight bytes if not. Every number is
/// restored bit for bit.
///
/// ```
/// use ndarray::array;
/// use scumble_core::{Table, Target};
/// use scumble_datasets::PackedTable;
///
/// let table = Table::new(vec!["height".into()], array![[0.2], [0.9], [0.2]], Target::None)?;
/// let packed = PackedTable::from(table.clone());
/// assert_eq!(packed.bytes(), 3);
/// assert_eq!(packed.select(&[2, 1])?, table.select(&[2, 1])?);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PackedTable {
    /// The whole table. If its records are packed, it has no columns (n × 0) but holds the target.
    table: Table,
    packed: Option<Packed>,
}

/// Packed records, one after the other in `bytes`. Each record has `stride` bytes, with one field per column
/// in the order of `columns`.
#[derive(Debug, Clone, PartialEq)]
struct Packed {
    columns: Vec<String>,
    fields: Vec<Field>,
    stride: usize,
    bytes: Vec<u8>,
}

/// The storage of a column.
#[derive(Debug, Clone, PartialEq)]
enum Field {
    /// One byte: the index of the value among the at most 256 values of the column.
    Code(Arc<[f64; 256]>),
    Single,
    Double,
}

impl Field {
    /// The narrowest field that restores the numbers of `column` exactly. For [`Field::Code`], the map has
    /// the code of each value, by the bits of the value. For other fields it is empty.
    fn from_column(column: impl Iterator<Item = f64> + Clone) -> (Self, HashMap<u64, u8>) {
        let mut codes = HashMap::new();
        let mut values = [0.0; 256];
        let mut last = None;
        for value in column.clone() {
            let bits = value.to_bits();
            if last == Some(bits) || codes.contains_key(&bits) {
                last = Some(bits);
                continue;
            }
            let Ok(code) = u8::try_from(codes.len()) else {
                let is_single = |value: f64| f64::from(value as f32).to_bits() == value.to_bits();
                return (
                    if column.clone().all(is_single) { Self::Single } else { Self::Double },
                    HashMap::new(),
                );
            };
            values[usize::from(code)] = value;
            codes.insert(bits, code);
            last = Some(bits);
        }
        (Self::Code(values.into()), codes)
    }

    fn width(&self) -> usize {
        match self {
            Self::Code(_) => 1,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// The number at the start of `bytes`, which takes the field's width, and the bytes after it.
    fn read<'a>(&self, bytes: &'a [u8]) -> (f64, &'a [u8]) {
        let (own, rest) = bytes.split_at(self.width());
        let number = match self {
            Self::Code(values) => values[usize::from(own[0])],
            Self::Single => f32::from_le_bytes([own[0], own[1], own[2], own[3]]).into(),
            Self::Double => {
                f64::from_le_bytes([own[0], own[1], own[2], own[3], own[4], own[5], own[6], own[7]])
            }
        };
        (number, rest)
    }
}

impl From<Table> for PackedTable {
    /// Packs the records if this at least halves their memory.
    fn from(table: Table) -> Self {
        let records = table.records();
        let (fields, codes): (Vec<Field>, Vec<_>) =
            records.columns().into_iter().map(|column| Field::from_column(column.iter().copied())).unzip();
        let stride: usize = fields.iter().map(Field::width).sum();
        if 2 * stride > size_of::<f64>() * fields.len() || stride == 0 {
            return Self { table, packed: None };
        }
        let mut bytes = Vec::with_capacity(stride * records.nrows());
        for record in records.rows() {
            for ((value, field), codes) in record.iter().zip(&fields).zip(&codes) {
                match field {
                    Field::Code(_) => bytes.push(codes[&value.to_bits()]),
                    Field::Single => bytes.extend((*value as f32).to_le_bytes()),
                    Field::Double => bytes.extend(value.to_le_bytes()),
                }
            }
        }
        let columns = table.columns().to_vec();
        Self { table: table.without_features(), packed: Some(Packed { columns, fields, stride, bytes }) }
    }
}

impl PackedTable {
    /// Creates a table from `bytes` (n records × d columns, record by record). `value` converts a byte to a
    /// number.
    ///
    /// # Errors
    /// [`Error::Shape`] if the number of bytes is not a multiple of d, and the errors of [`Table::new`].
    pub(crate) fn from_bytes(
        columns: Vec<String>,
        bytes: Vec<u8>,
        value: impl Fn(u8) -> f64,
        target: Target,
    ) -> Result<Self> {
        let stride = columns.len();
        // Checks the column names by a table without records, which accepts the same names as any table.
        Table::new(columns.clone(), Array2::zeros((0, stride)), Target::None)?;
        let records = bytes.len().checked_div(stride).unwrap_or(0);
        if records * stride != bytes.len() {
            return Err(Error::shape(format!(
                "{} bytes are not a multiple of {stride} columns",
                bytes.len()
            )));
        }
        let values: Arc<[f64; 256]> = std::array::from_fn(|code| value(code as u8)).into();
        let fields = vec![Field::Code(values); stride];
        let table = Table::new(vec![], Array2::zeros((records, 0)), target)?;
        Ok(Self { table, packed: Some(Packed { columns, fields, stride, bytes }) })
    }

    /// Names of the d columns.
    pub fn columns(&self) -> &[String] {
        self.packed.as_ref().map_or(self.table.columns(), |packed| &packed.columns)
    }

    /// The targets of the n records.
    pub fn target(&self) -> &Target {
        self.table.target()
    }

    /// The number of records, n.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns true if the table holds no records.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// A table with the same targets, and without features.
    pub fn without_features(&self) -> Table {
        self.table.without_features()
    }

    /// Number of bytes of the records.
    pub fn bytes(&self) -> usize {
        let plain = || size_of_val(self.table.records().as_slice_memory_order().unwrap_or(&[]));
        self.packed.as_ref().map_or_else(plain, |packed| packed.bytes.len())
    }

    /// The records at `rows`, in this order.
    ///
    /// # Errors
    /// [`Error::Shape`] for a row that does not exist.
    pub fn select(&self, rows: &[usize]) -> Result<Table> {
        let selected = self.table.select(rows)?;
        match &self.packed {
            None => Ok(selected),
            Some(packed) => packed.table(rows.iter().copied(), selected.target().clone()),
        }
    }

    /// The whole table.
    ///
    /// # Errors
    /// An error only if the packed records are inconsistent, which no constructor permits.
    pub fn whole(&self) -> Result<Cow<'_, Table>> {
        Ok(match &self.packed {
            None => Cow::Borrowed(&self.table),
            Some(packed) => Cow::Owned(packed.table(0..self.len(), self.target().clone())?),
        })
    }
}

impl Packed {
    /// The records at `rows`, which must all exist, with their `target`.
    fn table(&self, rows: impl ExactSizeIterator<Item = usize>, target: Target) -> Result<Table> {
        let shape = (rows.len(), self.columns.len());
        let mut records = Vec::with_capacity(shape.0 * shape.1);
        for row in rows {
            let mut rest = &self.bytes[row * self.stride..][..self.stride];
            for field in &self.fields {
                let (value, behind) = field.read(rest);
                records.push(value);
                rest = behind;
            }
        }
        let records =
            Array2::from_shape_vec(shape, records).map_err(|error| Error::shape(error.to_string()))?;
        Table::new(self.columns.clone(), records, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};
    use proptest::prelude::*;

    fn table(records: Array2<f64>) -> Table {
        let columns = (0..records.ncols()).map(|at| format!("column {at}")).collect();
        let classes = Array1::from_shape_fn(records.nrows(), |row| row % 3);
        Table::new(columns, records, Target::Class(classes)).unwrap()
    }

    /// Equality by bits: 0 differs from −0, and NaNs differ by their bits.
    fn same(one: &Table, other: &Table) -> bool {
        one.digest() == other.digest()
    }

    #[test]
    fn a_column_takes_what_its_values_need() {
        let few = |row: usize| (row % 256) as f64 / 255.0;
        let single = |row: usize| row as f64 / 1024.0;
        let double = |row: usize| row as f64 / 1000.0;
        for (column, bytes) in [(few as fn(usize) -> f64, 1), (single, 4), (double, 8)] {
            let given = table(Array2::from_shape_fn((1000, 1), |(row, _)| column(row)));
            let packed = PackedTable::from(given.clone());
            assert_eq!(packed.bytes(), 1000 * bytes);
            assert!(same(&packed.whole().unwrap(), &given));
        }
        // One value more than a byte can distinguish.
        let given = table(Array2::from_shape_fn((257, 1), |(row, _)| row as f64 / 1000.0));
        assert_eq!(PackedTable::from(given).bytes(), 257 * 8);
    }

    #[test]
    fn bytes_stand_for_their_values() {
        let names = || vec!["one".to_owned(), "two".to_owned()];
        let pack = |bytes: Vec<u8>, target| {
            PackedTable::from_bytes(names(), bytes, |byte| f64::from(byte) / 255.0, target)
        };
        let packed = pack(vec![0, 255, 51, 102], Target::Class(array![1, 0])).unwrap();
        assert_eq!(packed.whole().unwrap().records(), array![[0.0, 1.0], [0.2, 0.4]]);
        assert_eq!(packed.select(&[1]).unwrap().records(), array![[0.2, 0.4]]);
        assert_eq!(packed.select(&[1]).unwrap().target(), &Target::Class(array![0]));
        assert!(packed.select(&[2]).is_err());
        assert!(pack(vec![0; 3], Target::None).is_err());
        assert!(pack(vec![0; 4], Target::Class(array![1])).is_err());
    }

    proptest! {
        #[test]
        fn all_that_is_put_in_is_taken_out(
            columns in prop::collection::vec((0..4_u8, any::<u64>()), 0..6),
            rows in 0..600_usize,
            picked in prop::collection::vec(0..600_usize, 0..20),
        ) {
            let cell = |(row, at): (usize, usize)| {
                let (kind, seed) = columns[at];
                let bits = (row as u64 + 1).wrapping_mul(seed | 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                match kind {
                    0 => (bits >> 60) as f64 / 3.0,
                    1 => f64::from((bits >> 40) as f32),
                    2 => f64::from_bits(bits),
                    _ => [0.0, -0.0, f64::NAN, f64::INFINITY][(bits >> 62) as usize],
                }
            };
            let given = table(Array2::from_shape_fn((rows, columns.len()), cell));
            let packed = PackedTable::from(given.clone());
            prop_assert!(same(&packed.whole().unwrap(), &given));
            prop_assert!(packed.bytes() <= 8 * rows * columns.len());
            prop_assert_eq!(
                (packed.len(), packed.columns(), packed.target()),
                (given.len(), given.columns(), given.target())
            );
            let picked: Vec<usize> = picked.into_iter().filter(|row| *row < rows).collect();
            prop_assert!(same(&packed.select(&picked).unwrap(), &given.select(&picked).unwrap()));
        }
    }
}
