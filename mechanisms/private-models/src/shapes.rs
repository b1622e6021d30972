//! Released additive models.

use crate::basis::Basis;
use crate::coefficients::{in_target_unit, output_count, predictions, read, scores};
use ndarray::{Array2, s};
use scumble_core::{ColumnFunction, RecordDomain, ReleasedModel, Result, Table, Target, check_width};

/// Additive model of encoded records. Each output is an intercept plus one function of each column. The
/// function of a number is piecewise linear between public knots.
#[derive(Debug, Clone)]
pub(crate) struct Shapes {
    domain: RecordDomain,
    basis: Basis,
    /// Intercept, and value of the functions at each level and each knot (outputs × coefficients).
    values: Array2<f64>,
}

impl Shapes {
    /// Creates the model from the weights of the features of `basis` (outputs × features). For a numeric
    /// target, the output that `weights` computes is the target scaled to [−1, 1].
    ///
    /// # Errors
    /// [`Error::Shape`] if `weights` has another number of columns than `basis` has features.
    pub(crate) fn new(domain: &RecordDomain, basis: &Basis, weights: &Array2<f64>) -> Result<Self> {
        check_width(basis.width(), weights.ncols())?;
        let rows: Vec<_> = weights.outer_iter().map(|row| basis.coefficients(&row.to_vec())).collect();
        let shape = (rows.len(), column_names(domain, basis).len());
        let values = Array2::from_shape_fn(shape, |(row, column)| rows[row][column]);
        Ok(Self { domain: domain.clone(), basis: basis.clone(), values: in_target_unit(domain, values) })
    }

    /// Reads the model from its [`table`](Self::table). The columns may have any order.
    ///
    /// # Errors
    /// [`Error::Shape`] for a table with other columns, or with another number of rows than the model has
    /// outputs. [`Error::NonFinite`] for a NaN or an infinity.
    pub(crate) fn from_table(domain: &RecordDomain, basis: &Basis, table: &Table) -> Result<Self> {
        let values = read(domain, column_names(domain, basis), table)?;
        Ok(Self { domain: domain.clone(), basis: basis.clone(), values })
    }

    /// Returns the values of the functions as a table with a row for each output.
    ///
    /// # Errors
    /// [`Error::Shape`] if two columns have the same name.
    pub(crate) fn table(&self) -> Result<Table> {
        Table::new(column_names(&self.domain, &self.basis), self.values.clone(), Target::None)
    }
}

/// Name of each coefficient. A knot is named by its value in the encoded record, rounded to four digits.
fn column_names(domain: &RecordDomain, basis: &Basis) -> Vec<String> {
    let name = |(column, knot): (usize, Option<f64>)| match knot {
        Some(knot) => format!("{} at {knot:.4}", domain.columns()[column]),
        None => format!("coefficient of {}", domain.columns()[column]),
    };
    ["intercept".to_owned()].into_iter().chain(basis.places().map(name)).collect()
}

impl ReleasedModel for Shapes {
    fn predict(&self, clean: &Table) -> Result<Target> {
        predictions(&self.domain, self.scores(clean)?)
    }

    fn scores(&self, clean: &Table) -> Result<Array2<f64>> {
        let features = clean.clone().with_target(Target::None)?;
        let features = self.domain.without_target().projected_features(&features)?;
        let outputs =
            Array2::from_shape_fn((features.nrows(), output_count(&self.domain)), |(row, output)| {
                self.basis.output(&features.row(row).to_vec(), &self.values.row(output).to_vec())
            });
        Ok(scores(&self.domain, outputs))
    }

    fn functions(&self) -> Vec<ColumnFunction> {
        let places: Vec<(usize, Option<f64>)> = self.basis.places().collect();
        let mut start = 1; // after the intercept
        let function = |run: &[(usize, Option<f64>)]| {
            let values = self.values.slice(s![.., start..start + run.len()]).to_owned();
            start += run.len();
            let knots: Vec<f64> = run.iter().filter_map(|(_, knot)| *knot).collect();
            let column = self.domain.columns()[run[0].0].clone();
            (!knots.is_empty()).then_some(ColumnFunction { column, knots, values })
        };
        places.chunk_by(|one, other| one.0 == other.0).filter_map(function).collect()
    }
}
