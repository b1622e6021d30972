//! Conversion of tables to and from data sets of the crate `linfa`, which trains models on them.
//!
//! ```
//! use ndarray::array;
//! use scumble_core::{Table, Target};
//!
//! let columns = vec!["height".to_string(), "weight".to_string()];
//! let table = Table::new(columns, array![[0.2, 0.4], [0.9, 0.8]], Target::Class(array![0, 1]))?;
//! let dataset: linfa::Dataset<f64, usize, ndarray::Ix1> = table.clone().try_into()?;
//! assert_eq!(Table::from(dataset), table);
//! # Ok::<(), scumble_core::Error>(())
//! ```

use super::{Table, Target, first_duplicate};
use crate::{Error, Result};
use ndarray::{ArrayView2, Ix1, Ix2};

/// Column names of a data set. Columns are numbered unless the data set has one distinct name per column.
fn names(given: &[String], width: usize) -> Vec<String> {
    if given.len() == width && first_duplicate(given).is_none() {
        return given.to_vec();
    }
    (1..=width).map(|at| format!("column {at}")).collect()
}

/// Error for a target of another kind than `needed`.
fn misfit(target: &Target, needed: &str) -> Error {
    Error::shape(format!("the table's target is {}, and {needed} is needed", target.kind()))
}

/// Implements conversions to and from data sets whose targets are of one kind, called `$kind` in errors.
macro_rules! through_linfa {
    ($element:ty, $dimension:ty, $target:path, $kind:literal) => {
        impl TryFrom<Table> for linfa::Dataset<f64, $element, $dimension> {
            type Error = Error;

            fn try_from(table: Table) -> Result<Self> {
                match table.target {
                    $target(targets) => {
                        Ok(linfa::Dataset::new(table.records, targets).with_feature_names(table.columns))
                    }
                    other => Err(misfit(&other, $kind)),
                }
            }
        }

        /// Borrows the records; only the targets are copied.
        impl<'a> TryFrom<&'a Table>
            for linfa::DatasetBase<ArrayView2<'a, f64>, ndarray::Array<$element, $dimension>>
        {
            type Error = Error;

            fn try_from(table: &'a Table) -> Result<Self> {
                match &table.target {
                    $target(targets) => Ok(linfa::DatasetBase::new(table.records.view(), targets.clone())),
                    other => Err(misfit(other, $kind)),
                }
            }
        }

        impl From<linfa::Dataset<f64, $element, $dimension>> for Table {
            fn from(dataset: linfa::Dataset<f64, $element, $dimension>) -> Self {
                let columns = names(dataset.feature_names(), dataset.records.ncols());
                Self { columns, target: $target(dataset.targets), records: dataset.records, shares: None }
            }
        }
    };
}
through_linfa!(usize, Ix1, Target::Class, "a class");
through_linfa!(f64, Ix1, Target::Real, "a number");
through_linfa!(f64, Ix2, Target::Vector, "a vector");

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array1, array};

    #[test]
    fn every_kind_of_target_goes_through_linfa_and_back() {
        let table = |target| Table::new(vec!["a".to_owned()], array![[1.0], [2.0]], target).unwrap();
        let class = table(Target::Class(array![1, 0]));
        let real = table(Target::Real(array![0.5, 0.25]));
        let vector = table(Target::Vector(array![[1.0, 0.0], [0.0, 1.0]]));
        let back = linfa::Dataset::<f64, usize, Ix1>::try_from(class.clone()).unwrap();
        assert_eq!(Table::from(back), class);
        let back = linfa::Dataset::<f64, f64, Ix1>::try_from(real.clone()).unwrap();
        assert_eq!(Table::from(back), real);
        let back = linfa::Dataset::<f64, f64, Ix2>::try_from(vector.clone()).unwrap();
        assert_eq!(Table::from(back), vector);
        let seen = linfa::DatasetBase::<ArrayView2<f64>, Array1<usize>>::try_from(&class).unwrap();
        assert_eq!((seen.records, &Target::Class(seen.targets)), (class.records().view(), class.target()));
        assert!(linfa::DatasetBase::<ArrayView2<f64>, Array1<f64>>::try_from(&class).is_err());
        assert!(linfa::Dataset::<f64, f64, Ix1>::try_from(class).is_err());
    }
}
