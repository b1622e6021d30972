//! What mechanisms share that release records times a secret matrix: the matrix's randomness, the table that leaves, and the key.

use ndarray::{Array2, ArrayView1};
use scumble_core::{
    Error, Guarantee, Key, Noise, NoiseDistribution, RecordDomain, Release, Result, SecretKey, Stream, Table,
};
use scumble_sampling::{DiscreteGaussian, Rational};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

/// `records` (n × m) in the place of the table's own, as columns that are none of the schema's; the target unchanged.
///
/// # Errors
/// [`Error::Shape`] for another number of records than the target has.
fn in_place_of(table: &Table, records: Array2<f64>) -> Result<Table> {
    let columns = (1..=records.ncols()).map(|at| format!("released {at}")).collect();
    Table::new(columns, records, table.target().clone())
}

/// How many binary digits finer than its standard deviation the lattice is on which a Gaussian number is drawn.
pub(crate) const FINENESS: i32 = 40;

/// The bytes of a number while it is drawn: as an integer, and as what is made of it.
pub(crate) const DRAWN: usize = size_of::<i64>() + size_of::<f64>();

/// `rows` × `columns` independent standard Gaussian numbers.
///
/// # Errors
/// None that is not the sampler's.
pub(crate) fn gaussian(rows: usize, columns: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    /// It takes longer to set up than to draw from.
    static STANDARD: LazyLock<scumble_sampling::Result<DiscreteGaussian>> =
        LazyLock::new(|| Rational::new(1 << FINENESS, 1).and_then(DiscreteGaussian::new));
    let distribution = STANDARD.as_ref().map_err(|problem| Error::shape(problem.to_string()))?;
    let mut draws = vec![0; rows * columns];
    distribution.draws(stream).fill(&mut draws);
    let step = 2f64.powi(-FINENESS);
    let draws = draws.into_iter().map(|draw| draw as f64 * step).collect();
    Array2::from_shape_vec((rows, columns), draws).map_err(|problem| Error::shape(problem.to_string()))
}

/// An orthogonal matrix (r × r) of Haar's distribution, the same as itself times any other: Gaussian columns, each orthogonal to those before.
///
/// # Errors
/// As [`gaussian`].
pub(crate) fn haar(size: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    let mut drawn = gaussian(size, size, stream)?;
    for at in 0..size {
        loop {
            let (before, mut rest) = drawn.view_mut().split_at(ndarray::Axis(1), at);
            let mut column = rest.column_mut(0);
            // Twice: what rounding left of it the first time is gone.
            for _ in 0..2 {
                let along = before.t().dot(&column);
                column -= &before.dot(&along);
            }
            let length = norm(column.view());
            if length > 1e-6 {
                column /= length;
                break;
            }
            // A column that all but lies among the others is no direction of its own: another one, of the same distribution.
            let fresh = gaussian(size, 1, stream)?;
            column.assign(&fresh.column(0));
        }
    }
    Ok(drawn)
}

fn norm(vector: ArrayView1<f64>) -> f64 {
    vector.dot(&vector).sqrt()
}

/// The key: a record in the clear is moved into the domain, and multiplied by the secret matrix.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SecretMatrix {
    domain: RecordDomain,
    /// d × m values.
    matrix: Array2<f64>,
}

impl SecretMatrix {
    /// The key of records of `domain` times `matrix` (d × m).
    pub(crate) fn new(domain: &RecordDomain, matrix: Array2<f64>) -> Self {
        Self { domain: domain.clone(), matrix }
    }

    /// The release of `records` (n × m), with noise of this distribution, in the place of the table's own.
    ///
    /// # Errors
    /// As [`in_place_of`].
    pub(crate) fn released(
        self,
        table: &Table,
        records: Array2<f64>,
        distribution: NoiseDistribution,
        guarantee: Guarantee,
    ) -> Result<Release> {
        let table = in_place_of(table, records)?;
        let noise = Noise::of_features(&self.domain, distribution);
        Ok(Release { key: Key::secret(self, &table), guarantee, noise, table })
    }
}

impl SecretKey for SecretMatrix {
    fn view(&self, clean: &Table) -> Result<Table> {
        let records = self.domain.projected_features(clean)?;
        if records.ncols() != self.matrix.nrows() {
            let (columns, rows) = (records.ncols(), self.matrix.nrows());
            return Err(Error::shape(format!(
                "the key has {rows} rows where a record has {columns} columns"
            )));
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
        // An entry's mean of 4,000 has a deviation of √(1/3/4000) = 0.009: six of them.
        assert!(sum.iter().all(|x: &f64| (x / 4000.0).abs() < 0.055), "seed {SEED}: {sum}");
    }
}
