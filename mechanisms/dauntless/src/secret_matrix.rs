//! Code shared by the mechanisms that multiply records by a secret matrix. It draws the entries of the
//! matrix, and builds the released table and the owner's secret key.

use ndarray::{Array2, ArrayView1};
use scumble_core::{
    Error, Guarantee, Key, Noise, NoiseDistribution, RecordDomain, Release, Result, SecretKey, Stream, Table,
};
use scumble_sampling::{DiscreteGaussian, Rational};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

/// Replaces the features of `table` by `records` (n × m), with new column names. The target is unchanged.
///
/// # Errors
/// [`Error::Shape`] if `records` and the target of `table` have different numbers of rows.
fn in_place_of(table: &Table, records: Array2<f64>) -> Result<Table> {
    let columns = (1..=records.ncols()).map(|at| format!("released {at}")).collect();
    Table::new(columns, records, table.target().clone())
}

/// Logarithm to base 2 of the number of lattice steps per standard deviation, for the lattice on which
/// Gaussian numbers are drawn.
pub(crate) const FINENESS: i32 = 40;

/// Bytes of memory per random number while a matrix is drawn: an integer, and the float computed from it.
pub(crate) const DRAWN: usize = size_of::<i64>() + size_of::<f64>();

/// Draws `rows` × `columns` independent standard Gaussian numbers.
///
/// # Errors
/// An error if the sampler cannot be created.
pub(crate) fn gaussian(rows: usize, columns: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    /// The sampler is shared between calls, because creating it takes longer than a draw.
    static STANDARD: LazyLock<scumble_sampling::Result<DiscreteGaussian>> =
        LazyLock::new(|| Rational::new(1 << FINENESS, 1).and_then(DiscreteGaussian::new));
    let distribution = STANDARD.as_ref().map_err(|problem| Error::shape(problem.to_string()))?;
    let mut draws = vec![0; rows * columns];
    distribution.draws(stream).fill(&mut draws);
    let step = 2f64.powi(-FINENESS);
    let draws = draws.into_iter().map(|draw| draw as f64 * step).collect();
    Array2::from_shape_vec((rows, columns), draws).map_err(|problem| Error::shape(problem.to_string()))
}

/// Draws an orthogonal matrix (`size` × `size`) from the Haar distribution, which is invariant under
/// multiplication by any orthogonal matrix. Each column is drawn as Gaussian numbers, made orthogonal to the
/// columns before it, and normalised.
///
/// # Errors
/// Same errors as [`gaussian`].
pub(crate) fn haar(size: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    let mut drawn = gaussian(size, size, stream)?;
    for at in 0..size {
        loop {
            let (before, mut rest) = drawn.view_mut().split_at(ndarray::Axis(1), at);
            let mut column = rest.column_mut(0);
            // The second pass removes the rounding errors of the first.
            for _ in 0..2 {
                let along = before.t().dot(&column);
                column -= &before.dot(&along);
            }
            let length = norm(column.view());
            if length > 1e-6 {
                column /= length;
                break;
            }
            // If the column is almost within the span of the columns before it, hardly anything is left to
            // normalise. Then it is redrawn from the same distribution.
            let fresh = gaussian(size, 1, stream)?;
            column.assign(&fresh.column(0));
        }
    }
    Ok(drawn)
}

fn norm(vector: ArrayView1<f64>) -> f64 {
    vector.dot(&vector).sqrt()
}

/// Secret key that projects a record in the clear onto the domain and multiplies it by the secret matrix.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretMatrix {
    domain: RecordDomain,
    /// Secret matrix (d × m): records have d columns, and released records have m columns.
    matrix: Array2<f64>,
}

impl SecretMatrix {
    /// Creates the key that multiplies records of `domain` by `matrix` (d × m).
    pub(crate) fn new(domain: &RecordDomain, matrix: Array2<f64>) -> Self {
        Self { domain: domain.clone(), matrix }
    }

    /// Builds the release of `table` with `records` (n × m) in place of its features. `distribution`
    /// describes the noise of `records`.
    ///
    /// # Errors
    /// Same errors as [`in_place_of`].
    pub(crate) fn released(
        self,
        table: &Table,
        records: Array2<f64>,
        distribution: NoiseDistribution,
        guarantee: Guarantee,
    ) -> Result<Release> {
        let table = in_place_of(table, records)?;
        let noise = Noise::for_features(&self.domain, distribution);
        Ok(Release::new(Key::secret(self, &table), guarantee, noise, table))
    }
}

impl SecretKey for SecretMatrix {
    fn view(&self, clean: &Table) -> Result<Table> {
        let records = self.domain.projected_features(clean)?;
        if records.ncols() != self.matrix.nrows() {
            let (columns, rows) = (records.ncols(), self.matrix.nrows());
            return Err(Error::shape(format!("the key has {rows} rows, and a record has {columns} columns")));
        }
        in_place_of(clean, records.dot(&self.matrix))
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    #[test]
    fn a_haar_matrix_is_orthogonal_and_its_columns_have_no_favourite_side() {
        const SEED: u64 = 11;
        let mut stream = Randomness::seeded(SEED).streams().stream(0);
        let mut sum = Array2::zeros((3, 3));
        for _ in 0..4000 {
            let matrix = haar(3, &mut stream).unwrap();
            let off = matrix.t().dot(&matrix) - Array2::<f64>::eye(3);
            assert!(off.iter().all(|x| x.abs() < 1e-14), "{off}");
            sum += &matrix;
        }
        // The mean of 4,000 entries has a standard deviation of √(1/3/4000) = 0.009; the tolerance is six of
        // them.
        assert!(sum.iter().all(|x: &f64| (x / 4000.0).abs() < 0.055), "seed {SEED}: {sum}");
    }
}
