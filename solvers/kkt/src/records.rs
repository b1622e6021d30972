//! Records for the solvers, with their products with vectors and weighted Gram matrices.

use crate::{Error, Result};
use faer::{Mat, MatMut, MatRef};
use ndarray::ArrayView2;
use rayon::prelude::*;
use scumble_linalg::{gram, vectorised};

/// n records of d coordinates, each with a last coordinate of one for the bias. If most values are zero, the
/// zeros are not stored.
#[derive(Debug, Clone)]
pub struct Records {
    rows: usize,
    columns: usize,
    values: Values,
}

#[derive(Debug, Clone)]
enum Values {
    /// All values, row by row.
    Dense(Vec<f64>),
    Sparse(Sparse),
}

/// Stored values plus column shifts. A value that is not stored is zero before the shift.
#[derive(Debug, Clone)]
struct Sparse {
    /// The index in `values` after the last value of each row (n indices).
    ends: Vec<usize>,
    /// The column of each stored value, ascending in each row.
    places: Vec<u32>,
    values: Vec<f64>,
    /// The shift of each column, added to all of its values (d values).
    shifts: Vec<f64>,
}

/// The share of non-zero values below which skipping the zeros is faster.
const SPARSE_BELOW: f64 = 0.3;

/// The share of non-zero values below which a centred column is stored without its zeros, and with its offset
/// as a shift.
///
/// The square of the column's mean is then at most half of the mean of its squares. So the difference of
/// these two numbers, the variance, loses no digits.
const SHIFTED_BELOW: f64 = 0.5;

/// The largest number of groups of rows that are summed separately. The groups do not depend on the number of
/// threads, so the sum of all rows does not depend on it either.
const MOST_PARTS: usize = 16;

/// The number of sparse rows whose scores one thread computes at a time.
const SCORED: usize = 4096;

impl Records {
    /// Creates records (n × d) from `records`.
    pub fn new(records: ArrayView2<f64>) -> Self {
        let width = records.ncols();
        Self::shifted_and_scaled(records, &vec![0.0; width], &vec![1.0; width])
    }

    /// Creates records (x − `offsets`)·`scales` from `records` (n × d), with d offsets and d scales.
    ///
    /// ```
    /// use ndarray::array;
    /// use scumble_kkt::{Records, SoftMargin};
    ///
    /// let scaled = Records::scaled(array![[0.0], [20.0]].view(), &[10.0], &[0.1])?;
    /// let whole = Records::new(array![[-1.0], [1.0]].view());
    /// let machine = |records| SoftMargin::new(records, &[-1.0, 1.0], &[1.0, 1.0])?.solve(1e-9, 100);
    /// assert_eq!(machine(&scaled)?.weights, machine(&whole)?.weights);
    /// # Ok::<(), scumble_kkt::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] unless each column has an offset and a scale.
    pub fn scaled(records: ArrayView2<f64>, offsets: &[f64], scales: &[f64]) -> Result<Self> {
        let columns = records.ncols();
        for (name, length) in [("offsets", offsets.len()), ("scales", scales.len())] {
            if length != columns {
                return Err(Error::Shape(format!("there are {length} {name} for {columns} columns")));
            }
        }
        Ok(Self::shifted_and_scaled(records, offsets, scales))
    }

    fn shifted_and_scaled(records: ArrayView2<f64>, offsets: &[f64], scales: &[f64]) -> Self {
        let (rows, columns) = records.dim();
        let mut filled = vec![0usize; columns];
        for row in records.outer_iter() {
            row.iter().zip(&mut filled).for_each(|(x, filled)| *filled += usize::from(*x != 0.0));
        }
        let keeps_zeros: Vec<bool> = (0..columns)
            .map(|at| offsets[at] == 0.0 || (filled[at] as f64) < SHIFTED_BELOW * rows as f64)
            .collect();
        let held: usize = (0..columns).map(|at| if keeps_zeros[at] { filled[at] } else { rows }).sum();
        if held as f64 >= SPARSE_BELOW * (rows * columns) as f64 || columns > u32::MAX as usize {
            let mut values = Vec::with_capacity(rows * columns);
            for row in records.outer_iter() {
                values.extend(
                    row.iter().zip(offsets).zip(scales).map(|((x, offset), scale)| (x - offset) * scale),
                );
            }
            return Self { rows, columns, values: Values::Dense(values) };
        }
        // The part of each offset that is subtracted from stored values, and the shift of the whole column.
        let inside: Vec<f64> =
            (0..columns).map(|at| if keeps_zeros[at] { 0.0 } else { offsets[at] }).collect();
        let shifts = (0..columns).map(|at| (inside[at] - offsets[at]) * scales[at]).collect();
        let (mut ends, mut places, mut values) =
            (Vec::with_capacity(rows), Vec::with_capacity(held), Vec::with_capacity(held));
        for row in records.outer_iter() {
            for (place, &x) in row.iter().enumerate() {
                if x != 0.0 || !keeps_zeros[place] {
                    places.push(place as u32);
                    values.push((x - inside[place]) * scales[place]);
                }
            }
            ends.push(values.len());
        }
        Self { rows, columns, values: Values::Sparse(Sparse { ends, places, values, shifts }) }
    }

    /// The number of records, n.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of coordinates, d, without the one for the bias.
    pub fn width(&self) -> usize {
        self.columns
    }

    /// The index of the first record with a NaN or an infinity.
    pub(crate) fn first_non_finite(&self) -> Option<usize> {
        match &self.values {
            Values::Dense(values) => {
                values.iter().position(|x| !x.is_finite()).map(|at| at / self.columns.max(1))
            }
            Values::Sparse(Sparse { ends, values, .. }) => {
                let at = values.iter().position(|x| !x.is_finite())?;
                Some(ends.partition_point(|end| *end <= at))
            }
        }
    }

    /// The record in row `row`, followed by the coordinate 1 for the bias (d + 1 values).
    pub(crate) fn row(&self, row: usize) -> Vec<f64> {
        let mut record = vec![0.0; self.columns + 1];
        record[self.columns] = 1.0;
        match &self.values {
            Values::Dense(values) => {
                record[..self.columns].copy_from_slice(&values[row * self.columns..(row + 1) * self.columns])
            }
            Values::Sparse(sparse) => {
                record[..self.columns].copy_from_slice(&sparse.shifts);
                sparse.row(row).for_each(|(at, x)| record[at] += x);
            }
        }
        record
    }

    /// The score x·w + b of each record (n values), for `point` = (w, b) of d + 1 values.
    pub(crate) fn scores(&self, point: &[f64]) -> Vec<f64> {
        let (weights, bias) = (&point[..self.columns], point[self.columns]);
        match &self.values {
            Values::Dense(_) if self.columns == 0 => vec![bias; self.rows],
            Values::Dense(values) => values
                .par_chunks(self.columns)
                .with_min_len(512)
                .map(|row| dot(row, weights) + bias)
                .collect(),
            Values::Sparse(sparse) => {
                let bias = bias + dot(weights, &sparse.shifts);
                let mut scores = vec![0.0; self.rows];
                scores.par_chunks_mut(SCORED).enumerate().for_each(|(part, scores)| {
                    vectorised(|| {
                        for (at, score) in scores.iter_mut().enumerate() {
                            let row = sparse.row(part * SCORED + at);
                            *score = bias + row.map(|(at, x)| x * weights[at]).sum::<f64>();
                        }
                    });
                });
                scores
            }
        }
    }

    /// Σ vᵢ·(xᵢ, 1) over the n records xᵢ (d + 1 values), for `v` of n values.
    pub(crate) fn combined(&self, v: &[f64]) -> Vec<f64> {
        let mut sum = self.summed(self.columns + 1, |rows, sum| match &self.values {
            Values::Dense(values) => {
                for row in rows {
                    let record = &values[row * self.columns..(row + 1) * self.columns];
                    record.iter().zip(&mut sum[..]).for_each(|(x, sum)| *sum += v[row] * x);
                    sum[self.columns] += v[row];
                }
            }
            Values::Sparse(sparse) => {
                // Alternating between two sums is faster: a single sum waits for the stores of the previous
                // row.
                let mut other = vec![0.0; sum.len()];
                for row in rows {
                    let sum = if row % 2 == 0 { &mut *sum } else { &mut other[..] };
                    sparse.row(row).for_each(|(at, x)| sum[at] += v[row] * x);
                    sum[self.columns] += v[row];
                }
                sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
            }
        });
        if let Values::Sparse(sparse) = &self.values {
            let whole = sum[self.columns];
            sum.iter_mut().zip(&sparse.shifts).for_each(|(sum, shift)| *sum += whole * shift);
        }
        sum
    }

    /// The largest absolute value of vᵢ·(xᵢ, 1) over all records in each coordinate (d + 1 values), for `v`
    /// of n values.
    pub(crate) fn largest(&self, v: &[f64]) -> Vec<f64> {
        let mut largest = vec![0f64; self.columns + 1];
        for (row, v) in v.iter().enumerate() {
            let terms = self.row(row).into_iter().map(|x| (v * x).abs());
            largest.iter_mut().zip(terms).for_each(|(largest, term)| *largest = largest.max(term));
        }
        largest
    }

    /// The lower triangle of Σ vᵢ·(xᵢ, 1)(xᵢ, 1)ᵀ over the n records xᵢ ((d + 1) × (d + 1)), for `v` of n
    /// non-negative values.
    pub(crate) fn gram(&self, v: &[f64]) -> Mat<f64> {
        let size = self.columns + 1;
        let starts: Vec<usize> =
            (0..=size).map(|column| column * size - column * column.saturating_sub(1) / 2).collect();
        let length = match &self.values {
            Values::Dense(_) => size * size,
            Values::Sparse(_) => starts[size],
        };
        let sum = self.summed(length, |rows, sum| match &self.values {
            Values::Dense(values) => {
                let roots = rows.clone().map(|row| v[row].sqrt());
                let mut scaled = Vec::with_capacity(rows.len() * size);
                for (row, root) in rows.clone().zip(roots) {
                    let record = &values[row * self.columns..(row + 1) * self.columns];
                    scaled.extend(record.iter().map(|x| root * x));
                    scaled.push(root);
                }
                let scaled = MatRef::from_row_major_slice(&scaled, rows.len(), size);
                gram(MatMut::from_column_major_slice_mut(sum, size, size), scaled);
            }
            // Only the lower triangle is summed, column by column, so that the sums stay in the fastest
            // cache.
            Values::Sparse(sparse) => {
                for row in rows {
                    let (places, values) = sparse.parts(row);
                    for (at, (&column, &x)) in places.iter().zip(values).enumerate() {
                        let (weighed, column) = (v[row] * x, column as usize);
                        let sums = &mut sum[starts[column]..starts[column + 1]];
                        // The columns ascend, so the following values lie below the diagonal.
                        let below = places[at..].iter().zip(&values[at..]);
                        below.for_each(|(&place, y)| sums[place as usize - column] += weighed * y);
                        sums[self.columns - column] += weighed;
                    }
                    sum[starts[self.columns]] += v[row];
                }
            }
        });
        let Values::Sparse(sparse) = &self.values else {
            return MatRef::from_column_major_slice(&sum, size, size).to_owned();
        };
        let last = self.columns;
        let held = |row: usize, column: usize| sum[starts[column] + row - column];
        let shift = |at: usize| sparse.shifts.get(at).copied().unwrap_or(0.0);
        Mat::from_fn(size, size, |row, column| {
            if row < column {
                return 0.0;
            }
            // For stored values x and y of two columns with the shifts s and t, (x + s)(y + t) = xy + s(y +
            // t) + tx. The coordinate 1 is not shifted.
            let (row_sum, column_sum) = (held(last, row), held(last, column));
            held(row, column)
                + shift(row) * (column_sum + held(last, last) * shift(column))
                + shift(column) * row_sum
        })
    }

    /// The sum over all rows, as a vector of `length` values. `add` adds the terms of a range of rows to a
    /// vector.
    fn summed(&self, length: usize, add: impl Fn(std::ops::Range<usize>, &mut [f64]) + Sync) -> Vec<f64> {
        // The sums of all groups together take no more memory than the records.
        let parts = (self.rows / (length / (self.columns + 1)).max(64)).clamp(1, MOST_PARTS);
        let rows = self.rows.div_ceil(parts).max(1);
        let sums: Vec<Vec<f64>> = (0..self.rows.div_ceil(rows))
            .into_par_iter()
            .map(|part| {
                let mut sum = vec![0.0; length];
                vectorised(|| add(part * rows..((part + 1) * rows).min(self.rows), &mut sum));
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

impl Sparse {
    /// The columns of the stored values of a row, and these values.
    #[inline]
    fn parts(&self, row: usize) -> (&[u32], &[f64]) {
        let row = row.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[row];
        (&self.places[row.clone()], &self.values[row])
    }

    #[inline]
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (places, values) = self.parts(row);
        places.iter().map(|at| *at as usize).zip(values.iter().copied())
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four parallel sums: a single sum waits for each addition.
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

    /// Random records, dense or mostly zero, and `n` weights.
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

    /// Centred columns keep their zeros, and the sums equal those of the whole matrix.
    #[test]
    fn scaled_records_are_those_of_the_scaled_matrix() {
        for (filled, is_sparse) in [(1.0, false), (0.1, true)] {
            let (mut x, v) = drawn(500, 9, filled);
            x.column_mut(4).mapv_inplace(|x| x + 3.0); // full, and so centred itself
            let offsets: Vec<f64> = x.mean_axis(Axis(0)).unwrap().to_vec();
            let scales: Vec<f64> = (0..9).map(|at| 0.5 + at as f64).collect();
            let records = Records::scaled(x.view(), &offsets, &scales).unwrap();
            assert_eq!(matches!(records.values, Values::Sparse(_)), is_sparse);
            let whole = Array2::from_shape_fn((500, 10), |(row, at)| match at {
                9 => 1.0,
                _ => (x[[row, at]] - offsets[at]) * scales[at],
            });
            let point: Vec<f64> = (0..10).map(|at| at as f64 - 2.5).collect();
            for (ours, right) in records.scores(&point).iter().zip(&whole.dot(&Array1::from(point.clone()))) {
                assert_abs_diff_eq!(ours, right, epsilon = 1e-11);
            }
            for (ours, right) in records.combined(&v).iter().zip(&whole.t().dot(&Array1::from(v.clone()))) {
                assert_abs_diff_eq!(ours, right, epsilon = 1e-10);
            }
            let weighed = &whole * &Array1::from(v.clone()).insert_axis(Axis(1));
            let (gram, products) = (records.gram(&v), whole.t().dot(&weighed));
            let largest = weighed.fold_axis(Axis(0), 0.0, |most: &f64, x| most.max(x.abs()));
            let found = records.largest(&v);
            for at in 0..10 {
                assert_abs_diff_eq!(found[at], largest[at], epsilon = 1e-12);
                assert_abs_diff_eq!(records.row(3)[at], whole[[3, at]], epsilon = 1e-12);
                (0..=at).for_each(|below| {
                    assert_abs_diff_eq!(gram[(at, below)], products[[at, below]], epsilon = 1e-9);
                });
            }
        }
    }

    #[test]
    fn each_column_has_an_offset_and_a_scale() {
        let (x, _) = drawn(3, 2, 1.0);
        for (offsets, scales, says) in
            [(1, 2, "there are 1 offsets for 2 columns"), (2, 3, "there are 3 scales for 2 columns")]
        {
            let refused = Records::scaled(x.view(), &vec![0.0; offsets], &vec![1.0; scales]).unwrap_err();
            assert_eq!(refused.to_string(), says);
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
