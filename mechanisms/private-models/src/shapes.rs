//! Released additive models.

use crate::basis::Basis;
use crate::coefficients::{in_target_unit, output_count, predictions, read, scores, target_unit};
use crate::lesson::REACH;
use ndarray::{Array2, s};
use scumble_core::{
    FunctionAxis, ModelFunction, RecordDomain, ReleasedModel, Result, Table, Target, check_width,
};

/// Additive model of encoded records. Each output is an intercept plus one function of each column, and of
/// some pairs of columns. The function of a number is piecewise linear between public knots.
#[derive(Debug, Clone)]
pub(crate) struct Shapes {
    domain: RecordDomain,
    basis: Basis,
    /// Intercept, and value of the functions at each level, each knot and each cell of a pair (outputs ×
    /// coefficients).
    values: Array2<f64>,
    /// Upper bound on the standard deviation of the noise of each coefficient, if it is known.
    deviations: Option<Vec<f64>>,
}

/// Upper bounds on standard deviations of the noise of a model.
#[derive(Debug, Clone)]
pub(crate) struct Deviation {
    /// Bound for a weight before the calibration.
    pub(crate) weight: f64,
    /// Bound for a factor of the calibration.
    pub(crate) factor: f64,
    /// Factor of the calibration of each output.
    pub(crate) factors: Vec<f64>,
}

impl Deviation {
    /// Bounds for the coefficients `values` (outputs × coefficients, the first for the constant), each the
    /// largest of all outputs, in a unit of `unit`. `own` has the bounds for weights with a standard
    /// deviation of 1.
    pub(crate) fn of(&self, values: &Array2<f64>, own: &[f64], unit: f64) -> Vec<f64> {
        let bound = |(column, own): (usize, &f64)| {
            let of_output = |(value, factor): (&f64, &f64)| {
                // A factor of zero has lost the value that it multiplied.
                let before = if *factor == 0.0 { 0.0 } else { value / factor };
                (factor * self.weight * own).hypot(before * self.factor)
            };
            values.column(column).iter().zip(&self.factors).map(of_output).fold(0.0, f64::max) * unit
        };
        let mut all: Vec<f64> = own.iter().enumerate().map(bound).collect();
        // The calibration adds an intercept of its own.
        all[0] = all[0].hypot(self.factor * REACH * unit);
        all
    }
}

impl Shapes {
    /// Creates the model from the weights of the features of `basis` (outputs × features). For a numeric
    /// target, the output that `weights` computes is the target scaled to [−1, 1].
    ///
    /// # Errors
    /// [`Error::Shape`] if `weights` has another number of columns than `basis` has features.
    pub(crate) fn new(
        domain: &RecordDomain,
        basis: &Basis,
        weights: &Array2<f64>,
        deviation: Option<&Deviation>,
    ) -> Result<Self> {
        check_width(basis.width(), weights.ncols())?;
        let rows: Vec<_> = weights.outer_iter().map(|row| basis.coefficients(&row.to_vec())).collect();
        let shape = (rows.len(), column_names(domain, basis).len());
        let values = Array2::from_shape_fn(shape, |(row, column)| rows[row][column]);
        let unit = target_unit(domain);
        let own = |deviation: &Deviation| deviation.of(&values, &basis.deviations(), unit);
        let deviations = deviation.map(own);
        let values = in_target_unit(domain, values);
        Ok(Self { domain: domain.clone(), basis: basis.clone(), values, deviations })
    }

    /// Reads the model from its [`table`](Self::table). The columns may have any order.
    ///
    /// # Errors
    /// [`Error::Shape`] for a table with other columns, or with another number of rows than the model has
    /// outputs. [`Error::NonFinite`] for a NaN or an infinity.
    pub(crate) fn from_table(domain: &RecordDomain, basis: &Basis, table: &Table) -> Result<Self> {
        let values = read(domain, column_names(domain, basis), table)?;
        Ok(Self { domain: domain.clone(), basis: basis.clone(), values, deviations: None })
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
    let name = |(column, knot): &(usize, Option<f64>)| match knot {
        Some(knot) => format!("{} at {knot:.4}", domain.columns()[*column]),
        None => domain.columns()[*column].clone(),
    };
    let names = |axes: Vec<Vec<(usize, Option<f64>)>>| -> Vec<String> {
        match &axes[..] {
            [axis] => {
                let of = |place: &(usize, Option<f64>)| match place.1 {
                    Some(_) => name(place),
                    None => format!("coefficient of {}", name(place)),
                };
                axis.iter().map(of).collect()
            }
            [rows, columns] => {
                let of =
                    |row| columns.iter().map(move |column| format!("{} and {}", name(row), name(column)));
                rows.iter().flat_map(of).collect()
            }
            _ => vec![],
        }
    };
    ["intercept".to_owned()].into_iter().chain(basis.places().flat_map(names)).collect()
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

    fn deviations(&self) -> Option<Vec<f64>> {
        self.deviations.clone()
    }

    fn functions(&self) -> Vec<ModelFunction> {
        let mut start = 1; // after the intercept
        let axis = |places: &Vec<(usize, Option<f64>)>| {
            let columns = places.iter().map(|(column, _)| self.domain.columns()[*column].clone());
            match places[..] {
                [(column, Some(_)), ..] => FunctionAxis::Number {
                    column: self.domain.columns()[column].clone(),
                    knots: places.iter().filter_map(|(_, knot)| *knot).collect(),
                },
                _ => FunctionAxis::Category { columns: columns.collect() },
            }
        };
        let function = |places: Vec<Vec<(usize, Option<f64>)>>| {
            let cells = start..start + places.iter().map(Vec::len).product::<usize>();
            start = cells.end;
            // Coefficients of single categories and of numbers without knots have names of their own.
            let is_single = matches!(&places[..], [axis] if matches!(axis[..], [(_, None), ..]));
            let values = self.values.slice(s![.., cells.clone()]).to_owned();
            let deviations = self.deviations.as_ref().map(|all| all[cells].to_vec());
            (!is_single).then(|| ModelFunction {
                axes: places.iter().map(axis).collect(),
                values,
                deviations,
            })
        };
        self.basis.places().filter_map(function).collect()
    }
}
