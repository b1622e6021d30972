//! Records as a solver needs them: products with vectors, and weighted Gram matrices.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use ndarray::ArrayView2;
use rayon::prelude::*;

/// Records (n × d), each with a last coordinate of one for the bias. Where most values are zero, only the others are held.
#[derive(Debug, Clone)]
pub struct Records {
    rows: usize,
    columns: usize,
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    /// Row by row.
    Dense(Vec<f64>),
    /// Of each row the columns that are not zero, and their values.
    Sparse { ends: Vec<usize>, places: Vec<u32>, values: Vec<f64> },
}

/// Below this share of values that are not zero, skipping the zeros is faster.
const SPARSE_BELOW: f64 = 0.3;

/// Gram matrices are summed over so many parts at most, always the same ones: the sum is the same for any number of threads.
const MOST_PARTS: usize = 16;

impl Records {
    /// Takes over `records` (n × d).
    pub fn new(records: ArrayView2<f64>) -> Self {
        let (rows, columns) = records.dim();
        let filled = records.iter().filter(|x| **x != 0.0).count();
        let is_sparse =
            (filled as f64) < SPARSE_BELOW * (rows * columns) as f64 && columns <= u32::MAX as usize;
        if !is_sparse {
            return Self { rows, columns, values: Values::Dense(records.iter().copied().collect()) };
        }
        let (mut ends, mut places, mut values) =
            (Vec::with_capacity(rows), Vec::with_capacity(filled), Vec::with_capacity(filled));
        for row in records.outer_iter() {
            let kept = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
            for (place, &x) in kept {
                places.push(place as u32);
                values.push(x);
            }
            ends.push(values.len());
        }
        Self { rows, columns, values: Values::Sparse { ends, places, values } }
    }

    /// How many there are, n.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many coordinates each has, d, without the one for the bias.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// The first record that holds a NaN or an infinity.
    pub(crate) fn first_non_finite(&self) -> Option<usize> {
        match &self.values {
            Values::Dense(values) => {
                values.iter().position(|x| !x.is_finite()).map(|at| at / self.columns.max(1))
            }
            Values::Sparse { ends, values, .. } => {
                let at = values.iter().position(|x| !x.is_finite())?;
                Some(ends.partition_point(|end| *end <= at))
            }
        }
    }

    /// One record, with its last coordinate (d + 1 values).
    pub(crate) fn row(&self, row: usize) -> Vec<f64> {
        let mut record = vec![0.0; self.columns + 1];
        record[self.columns] = 1.0;
        match &self.values {
            Values::Dense(values) => {
                record[..self.columns].copy_from_slice(&values[row * self.columns..(row + 1) * self.columns])
            }
            Values::Sparse { .. } => self.sparse_row(row).for_each(|(at, x)| record[at] = x),
        }
        record
    }

    /// x·w + b of each record (n values), for `point` = (w, b) of d + 1 values.
    pub(crate) fn scores(&self, point: &[f64]) -> Vec<f64> {
        let (weights, bias) = (&point[..self.columns], point[self.columns]);
        match &self.values {
            Values::Dense(_) if self.columns == 0 => vec![bias; self.rows],
            Values::Dense(values) => values
                .par_chunks(self.columns)
                .with_min_len(512)
                .map(|row| dot(row, weights) + bias)
                .collect(),
            Values::Sparse { .. } => (0..self.rows)
                .into_par_iter()
                .with_min_len(4096)
                .map(|row| bias + self.sparse_row(row).map(|(at, x)| x * weights[at]).sum::<f64>())
                .collect(),
        }
    }

    /// Σ vᵢ·(xᵢ, 1) (d + 1 values), for v of n values.
    pub(crate) fn combined(&self, v: &[f64]) -> Vec<f64> {
        self.summed(1, |rows, sum| match &self.values {
            Values::Dense(values) => {
                for row in rows {
                    let record = &values[row * self.columns..(row + 1) * self.columns];
                    record.iter().zip(&mut sum[..]).for_each(|(x, sum)| *sum += v[row] * x);
                    sum[self.columns] += v[row];
                }
            }
            Values::Sparse { .. } => {
                for row in rows {
                    self.sparse_row(row).for_each(|(at, x)| sum[at] += v[row] * x);
                    sum[self.columns] += v[row];
                }
            }
        })
    }

    /// The largest |vᵢ·(xᵢ, 1)| in each coordinate (d + 1 values), for v of n values.
    pub(crate) fn largest(&self, v: &[f64]) -> Vec<f64> {
        let mut largest = vec![0f64; self.columns + 1];
        let mut take = |at: usize, term: f64| largest[at] = largest[at].max(term.abs());
        for (row, v) in v.iter().enumerate() {
            match &self.values {
                Values::Dense(values) => {
                    let record = &values[row * self.columns..(row + 1) * self.columns];
                    record.iter().enumerate().for_each(|(at, x)| take(at, v * x));
                }
                Values::Sparse { .. } => self.sparse_row(row).for_each(|(at, x)| take(at, v * x)),
            }
            take(self.columns, *v);
        }
        largest
    }

    /// Σ vᵢ·(xᵢ, 1)(xᵢ, 1)ᵀ ((d + 1) × (d + 1), its lower triangle alone), for v of n values, none negative.
    pub(crate) fn gram(&self, v: &[f64]) -> Mat<f64> {
        let size = self.columns + 1;
        let sum = self.summed(size, |rows, sum| match &self.values {
            Values::Dense(values) => {
                let roots = rows.clone().map(|row| v[row].sqrt());
                let mut scaled = Vec::with_capacity(rows.len() * size);
                for (row, root) in rows.clone().zip(roots) {
                    let record = &values[row * self.columns..(row + 1) * self.columns];
                    scaled.extend(record.iter().map(|x| root * x));
                    scaled.push(root);
                }
                let scaled = MatRef::from_row_major_slice(&scaled, rows.len(), size);
                triangular::matmul(
                    faer::MatMut::from_column_major_slice_mut(sum, size, size),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    scaled.transpose(),
                    BlockStructure::Rectangular,
                    scaled,
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
            }
            Values::Sparse { .. } => {
                for row in rows {
                    for (column, x) in self.sparse_row(row) {
                        let weighed = v[row] * x;
                        let sums = &mut sum[column * size..];
                        // The places ascend: what follows lies below the diagonal.
                        let below = self.sparse_row(row).skip_while(|(place, _)| *place < column);
                        below.for_each(|(place, y)| sums[place] += weighed * y);
                        sums[self.columns] += weighed;
                    }
                    sum[self.columns * size + self.columns] += v[row];
                }
            }
        });
        MatRef::from_column_major_slice(&sum, size, size).to_owned()
    }

    fn sparse_row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (places, values) = match &self.values {
            Values::Dense(_) => (&[][..], &[][..]),
            Values::Sparse { ends, places, values } => {
                let row = row.checked_sub(1).map_or(0, |before| ends[before])..ends[row];
                (&places[row.clone()], &values[row])
            }
        };
        places.iter().map(|at| *at as usize).zip(values.iter().copied())
    }

    /// The sum of what `add` puts for parts of the rows into (d + 1)·`blocks` zeros.
    fn summed(&self, blocks: usize, add: impl Fn(std::ops::Range<usize>, &mut [f64]) + Sync) -> Vec<f64> {
        let length = blocks * (self.columns + 1);
        // No more parts than make up the size of the records themselves.
        let parts = (self.rows / blocks.max(64)).clamp(1, MOST_PARTS);
        let rows = self.rows.div_ceil(parts).max(1);
        let sums: Vec<Vec<f64>> = (0..self.rows.div_ceil(rows))
            .into_par_iter()
            .map(|part| {
                let mut sum = vec![0.0; length];
                add(part * rows..((part + 1) * rows).min(self.rows), &mut sum);
                sum
            })
            .collect();
        let mut total = vec![0.0; length];
        for sum in &sums {
            total.iter_mut().zip(sum).for_each(|(total, part)| *total += part);
        }
        total
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums: one alone waits for each addition.
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(x, y)| x * y).sum();
    let sums = a4
        .zip(b4)
        .fold([0.0; 4], |sums: [f64; 4], (x, y)| std::array::from_fn(|at| sums[at] + x[at] * y[at]));
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;
    use ndarray::{Array1, Array2, Axis, concatenate};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    /// Dense or mostly zero records, and as many numbers.
    fn drawn(n: usize, d: usize, filled: f64) -> (Array2<f64>, Vec<f64>) {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let x =
            Array2::from_shape_fn(
                (n, d),
                |_| if rng.gen_bool(filled) { rng.gen_range(-1.0..1.0) } else { 0.0 },
            );
        (x, (0..n).map(|_| rng.gen_range(0.0..1.0)).collect())
    }

    #[test]
    fn products_are_those_of_the_matrix_with_a_column_of_ones() {
        for (n, d, filled) in
            [(1, 1, 1.0), (7, 3, 1.0), (2000, 9, 1.0), (2000, 9, 0.1), (3, 40, 0.05), (50, 0, 1.0)]
        {
            let (x, v) = drawn(n, d, filled);
            let records = Records::new(x.view());
            let whole = concatenate![Axis(1), x, Array2::ones((n, 1))];
            let point: Vec<f64> = (0..=d).map(|at| at as f64 - 2.5).collect();
            let scores = whole.dot(&Array1::from(point.clone()));
            for (ours, right) in records.scores(&point).iter().zip(&scores) {
                assert_abs_diff_eq!(ours, right, epsilon = 1e-11);
            }
            let combined = whole.t().dot(&Array1::from(v.clone()));
            for (ours, right) in records.combined(&v).iter().zip(&combined) {
                assert_abs_diff_eq!(ours, right, epsilon = 1e-11);
            }
            let weighed = &whole * &Array1::from(v.clone()).insert_axis(Axis(1));
            let right = whole.t().dot(&weighed);
            let ours = records.gram(&v);
            for row in 0..=d {
                for column in 0..=row {
                    assert!((ours[(row, column)] - right[[row, column]]).abs() < 1e-11, "{n} × {d}");
                }
            }
        }
    }

    #[test]
    fn the_record_that_is_no_number_is_found() {
        for filled in [1.0, 0.1] {
            let (mut x, _) = drawn(30, 5, filled);
            assert_eq!(Records::new(x.view()).first_non_finite(), None);
            x[[17, 2]] = f64::NAN;
            assert_eq!(Records::new(x.view()).first_non_finite(), Some(17));
        }
    }
}
