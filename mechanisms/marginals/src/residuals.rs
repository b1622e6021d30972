//! Consistent marginals from noisy ones, in closed form.
//!
//! A table of counts is the sum of its residuals. The residual of no column is the total. The residual of one
//! column is the departure of its levels from their mean. The residual of two columns is the departure of
//! their cells from what the residuals of fewer columns imply, and so on. If all cells of a table have
//! independent noise of equal variance, the table's residuals also have independent noise. Its variance
//! follows from the size of the table and the variance of the cells. The least-squares estimate of all tables
//! together is therefore the weighted mean of each residual over the tables that contain it. The weights are
//! the precisions, the reciprocal variances (GReM-LS of Mullins and others 2026, arXiv 2602.05674; McKenna
//! and others' residual basis).

use crate::counts::Clique;
use ndarray::{ArrayD, IxDyn, aview1};
use scumble_core::{Result, interrupt};
use std::collections::BTreeMap;

/// A noisy table of counts.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// Columns of the table.
    pub(crate) clique: Clique,
    /// Counts of the cells; the level of the last column changes fastest.
    pub(crate) counts: Vec<f64>,
    /// Variance of the noise of a cell.
    pub(crate) variance: f64,
}

/// Least-squares estimates of the residuals of noisy tables, by the columns of each residual.
#[derive(Debug, Clone)]
pub(crate) struct Residuals<'l> {
    /// Number of levels of each column.
    levels: &'l [usize],
    total: Option<f64>,
    /// Two sums for each residual over the tables that contain it: of its precisions (reciprocal variances),
    /// and of its values, weighted by the precisions.
    weighted: BTreeMap<Clique, (f64, Vec<f64>)>,
    /// Estimate of each residual; the level of the last column changes fastest.
    estimates: BTreeMap<Clique, Vec<f64>>,
}

impl<'l> Residuals<'l> {
    /// Creates residuals of columns with `levels` levels, without a table yet. `total` is the number of
    /// records, if it is public.
    pub(crate) fn new(levels: &'l [usize], total: Option<f64>) -> Self {
        let estimates = total.map(|total| (vec![], vec![total])).into_iter().collect();
        Self { levels, total, weighted: BTreeMap::new(), estimates }
    }

    /// Estimates residuals from the tables `measured`, and from the number of records `total` if it is
    /// public.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub(crate) fn from_measured(
        levels: &'l [usize],
        measured: &[Measured],
        total: Option<f64>,
    ) -> Result<Self> {
        let mut residuals = Self::new(levels, total);
        measured.iter().try_for_each(|table| residuals.add(table))?;
        Ok(residuals)
    }

    /// Updates the estimates by one more table.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn add(&mut self, table: &Measured) -> Result<()> {
        let shape = self.shape(&table.clique);
        for kept in subsets(table.clique.len()) {
            interrupt::check()?;
            let (mut residual, kept_shape) = summed_to(&table.counts, &shape, &kept);
            // A residual of fewer columns sums over more cells, and has the noise of their sum.
            let cells = table.counts.len() / residual.len().max(1);
            let weight = 1.0 / (table.variance.max(f64::MIN_POSITIVE) * cells as f64);
            centre(&mut residual, &kept_shape);
            let columns: Clique = kept.iter().map(|&at| table.clique[at]).collect();
            let nothing = || (0.0, vec![0.0; residual.len()]);
            let (all, sum) = self.weighted.entry(columns.clone()).or_insert_with(nothing);
            *all += weight;
            sum.iter_mut().zip(&residual).for_each(|(sum, cell)| *sum += cell * weight);
            if !(columns.is_empty() && self.total.is_some()) {
                self.estimates.insert(columns, sum.iter().map(|cell| cell / *all).collect());
            }
        }
        Ok(())
    }

    /// Returns the number of levels of each of these columns.
    fn shape(&self, clique: &[usize]) -> Vec<usize> {
        clique.iter().map(|&at| self.levels[at]).collect()
    }

    /// Returns the estimated total; zero if no table was measured.
    pub(crate) fn total(&self) -> f64 {
        self.estimates.get(&vec![]).and_then(|total| total.first().copied()).unwrap_or(0.0)
    }

    /// Returns the table of a clique (one axis per column): the sum of the known residuals.
    ///
    /// The interaction of columns that were not measured together counts as zero. Counts can be negative.
    pub(crate) fn table(&self, clique: &[usize]) -> ArrayD<f64> {
        let shape = self.shape(clique);
        let mut sum = ArrayD::zeros(IxDyn(&shape));
        for kept in subsets(clique.len()) {
            let columns: Clique = kept.iter().map(|&at| clique[at]).collect();
            let Some(residual) = self.estimates.get(&columns) else { continue };
            let spread = (sum.len() / residual.len().max(1)) as f64;
            let cells = places(&shape, &kept);
            sum.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += residual[cell] / spread);
        }
        sum
    }
}

/// For each cell of a table of `shape`, in order, returns the index of the corresponding cell in the table of
/// the `kept` axes.
fn places(shape: &[usize], kept: &[usize]) -> impl Iterator<Item = usize> {
    // For each kept axis: the distance (in indices) of neighbouring cells in the whole table, the length of
    // the axis, and this distance in the table of the kept axes.
    let mut steps = vec![];
    let (mut step, mut kept_step) = (1, 1);
    for (axis, &length) in shape.iter().enumerate().rev() {
        if kept.contains(&axis) {
            steps.push((step, length, kept_step));
            kept_step *= length;
        }
        step *= length;
    }
    (0..step).map(move |cell| steps.iter().map(|(step, length, kept)| cell / step % length * kept).sum())
}

/// Returns all subsets of the integers below `places`, each in ascending order.
pub(crate) fn subsets(places: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1usize << places).map(move |set| (0..places).filter(|at| set >> at & 1 == 1).collect())
}

/// Sums a table over all axes except `kept`; returns the sums and their shape.
pub(crate) fn summed_to(counts: &[f64], shape: &[usize], kept: &[usize]) -> (Vec<f64>, Vec<usize>) {
    let (mut summed, mut left) = (counts.to_vec(), shape.to_vec());
    for axis in (0..shape.len()).rev().filter(|axis| !kept.contains(axis)) {
        summed = summed_over(&summed, &left, axis);
        left.remove(axis);
    }
    (summed, left)
}

/// Sums a table along an axis.
pub(crate) fn summed_over(counts: &[f64], shape: &[usize], axis: usize) -> Vec<f64> {
    let inner: usize = shape[axis + 1..].iter().product();
    let blocks = counts.chunks((shape[axis] * inner).max(1));
    if axis + 1 == shape.len() {
        return blocks.map(|block| aview1(block).sum()).collect();
    }
    let mut sums = Vec::with_capacity(counts.len() / shape[axis].max(1));
    for block in blocks {
        let start = sums.len();
        sums.resize(start + inner, 0.0);
        for row in block.chunks(inner.max(1)) {
            sums[start..].iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
    }
    sums
}

/// Subtracts from a table its mean along every axis.
fn centre(table: &mut [f64], shape: &[usize]) {
    for axis in 0..shape.len() {
        let sums = summed_over(table, shape, axis);
        let levels = shape[axis];
        let inner: usize = shape[axis + 1..].iter().product();
        let blocks = table.chunks_mut((levels * inner).max(1)).zip(sums.chunks(inner.max(1)));
        for (block, sums) in blocks {
            for row in block.chunks_mut(inner.max(1)) {
                row.iter_mut().zip(sums).for_each(|(cell, sum)| *cell -= sum / levels as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    fn measured(clique: &[usize], counts: &[f64], variance: f64) -> Measured {
        Measured { clique: clique.to_vec(), counts: counts.to_vec(), variance }
    }

    #[test]
    fn a_table_is_the_sum_of_its_residuals() {
        let counts = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
        let levels = [2, 3, 2];
        let residuals =
            Residuals::from_measured(&levels, &[measured(&[0, 1, 2], &counts, 1.0)], None).unwrap();
        let table = residuals.table(&[0, 1, 2]);
        assert!(table.iter().zip(counts).all(|(got, expected)| (got - expected).abs() < 1e-12), "{table}");
        assert_abs_diff_eq!(residuals.total(), 52.0, epsilon = 1e-12);
        let last = residuals.table(&[2]);
        assert_abs_diff_eq!(last[[0]], 3.0 + 4.0 + 5.0 + 2.0 + 5.0 + 5.0, epsilon = 1e-12);
    }

    /// Weighted least squares from the normal equations of two tables that share a column of two levels.
    #[test]
    fn tables_agree_by_inverse_variance() {
        // One column of two levels and a pair: the pair's sums have twice the noise of its cells.
        let levels = [2, 2];
        let tables = [measured(&[0], &[10.0, 2.0], 1.0), measured(&[0, 1], &[4.0, 4.0, 3.0, 5.0], 2.0)];
        let residuals = Residuals::from_measured(&levels, &tables, None).unwrap();
        let (one, pair) = (residuals.table(&[0]), residuals.table(&[0, 1]));
        // In the pair the levels are 8 and 8, with variance 4: (10·1 + 8/4)/(1 + 1/4) and
        // (2·1 + 8/4)/(1 + 1/4).
        assert_abs_diff_eq!(one[[0]], 9.6, epsilon = 1e-12);
        assert_abs_diff_eq!(one[[1]], 3.2, epsilon = 1e-12);
        // The cells of a level share its gain equally.
        let expected = [4.8, 4.8, 0.6, 2.6];
        assert!(pair.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-12), "{pair}");
    }

    #[test]
    fn a_total_that_is_known_is_kept() {
        let levels = [2, 3];
        let tables = [measured(&[0, 1], &[4.0, 4.0, 3.0, 5.0, -1.0, 2.0], 2.0)];
        let residuals = Residuals::from_measured(&levels, &tables, Some(23.0)).unwrap();
        assert_abs_diff_eq!(residuals.table(&[0, 1]).sum(), 23.0, epsilon = 1e-12);
        assert_abs_diff_eq!(residuals.table(&[1]).sum(), 23.0, epsilon = 1e-12);
    }
}
