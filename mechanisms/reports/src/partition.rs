//! Partitions of the space of records into cells, learned from volunteers. The *code* of a record is the
//! index of its cell.

use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::KMeans;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis, s};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use scumble_core::levels::Attribute;
use scumble_core::{Error, RecordDomain, Result, Stream, largest, size};
use scumble_linalg::Eigen;
use serde::{Deserialize, Serialize};

/// Largest number of principal directions along which records are clustered. It is also the largest number of
/// principal directions of the differences between records and the centre of their code.
const DIRECTIONS: usize = 50;
/// Number of k-means runs for records with more than [`DIRECTIONS`] columns. For them the result depends most
/// on the starting centres, so the run with the best fit is used.
const SEARCHES: usize = 4;

/// Partition into K codes. Each record of d coordinates has the code of the nearest centre. The partition
/// also describes the distribution of the records with each code.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Partition {
    /// Mean of the volunteers' records with each code (K × d). The coordinates of a category are the
    /// fractions of these records that have each level.
    centers: Array2<f64>,
    /// Fraction of the volunteers whose record has each code (K).
    shares: Vec<f64>,
    /// Principal directions of the differences between records and the centre of their code (r × d). The
    /// length of each direction is the standard deviation along it. All codes have the same r directions.
    spread: Array2<f64>,
    /// Standard deviation of each coordinate (d) of the differences between records and the centre of their
    /// code, after the components along the directions in `spread` are removed.
    rest: Vec<f64>,
}

impl Partition {
    /// Learns `codes` codes from encoded records (n × d) by k-means.
    ///
    /// The method is Lloyd's (1982), from the starting centres of Arthur and Vassilvitskii (2007). Distances
    /// count each number in units of the width between its public bounds. Records with more than
    /// [`DIRECTIONS`] columns are clustered by their coordinates along the principal directions. Fifty
    /// directions distinguish clusters of records as well as hundreds of columns.
    pub(crate) fn learn(plugin: &str, records: ArrayView2<f64>, codes: usize, seed: u64) -> Result<Self> {
        let (n, d) = records.dim();
        size::check_steps(plugin, "codes", &[n, codes])?;
        let failed = |problem: String| {
            Error::not_applicable(plugin, format!("volunteers' records could not be clustered: {problem}"))
        };
        let (seen, searches) = if d > DIRECTIONS {
            let centered = &records - &records.mean_axis(Axis(0)).unwrap_or_default();
            let directions = principal(plugin, &centered)?.0;
            (records.dot(&directions.slice(s![.., ..DIRECTIONS])), SEARCHES)
        } else {
            (records.to_owned(), 1)
        };
        let rng = ChaCha20Rng::seed_from_u64(seed);
        let found = KMeans::params_with_rng(codes, rng)
            .n_runs(searches)
            .max_n_iterations(50)
            .tolerance(1e-3)
            .fit(&DatasetBase::from(seen.view()))
            .map_err(|problem| failed(problem.to_string()))?;
        let near: Vec<usize> = seen.outer_iter().map(|record| nearest(found.centroids(), record)).collect();
        let mut counts = vec![0usize; codes];
        let mut centers = Array2::<f64>::zeros((codes, d));
        for (record, &code) in records.outer_iter().zip(&near) {
            counts[code] += 1;
            centers.row_mut(code).zip_mut_with(&record, |sum, x| *sum += x);
        }
        for (mut center, &count) in centers.outer_iter_mut().zip(&counts) {
            center /= count.max(1) as f64;
        }
        // A code without volunteers would never be reported, and no record could be drawn from it.
        let had: Vec<usize> = (0..codes).filter(|&code| counts[code] > 0).collect();
        let nearest_center = |record: usize| centers.row(near[record]);
        let residuals = Array2::from_shape_fn((n, d), |(row, column)| {
            records[[row, column]] - nearest_center(row)[column]
        });
        let (spread, rest) = spread(plugin, &residuals)?;
        Ok(Self {
            shares: had.iter().map(|&code| counts[code] as f64 / n as f64).collect(),
            centers: centers.select(Axis(0), &had),
            spread,
            rest,
        })
    }

    /// Checks that the partition has the width of records of `domain`, and that its numbers are valid.
    pub(crate) fn check(&self, domain: &RecordDomain) -> Result<()> {
        let d = domain.features().dim();
        let fits = self.centers.nrows() > 0
            && self.centers.nrows() == self.shares.len()
            && [self.centers.ncols(), self.spread.ncols(), self.rest.len()] == [d; 3]
            && self.shares.iter().all(|share| *share > 0.0 && *share <= 1.0)
            && self.rest.iter().all(|rest| rest.is_finite() && *rest >= 0.0)
            && self.centers.iter().chain(&self.spread).all(|value| value.is_finite() && value.abs() < 1e150);
        if fits { Ok(()) } else { Err(Error::shape("the partition does not fit the records")) }
    }

    /// Number of codes.
    pub(crate) fn codes(&self) -> usize {
        self.shares.len()
    }

    /// Fraction of the volunteers whose record has each code.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Returns the code of a record (d).
    pub(crate) fn code(&self, record: &[f64]) -> usize {
        nearest(&self.centers, ArrayView1::from(record))
    }

    /// Mean of the volunteers' records with this code (d).
    pub(crate) fn center(&self, code: usize) -> ArrayView1<'_, f64> {
        self.centers.row(code)
    }

    /// Principal directions of the differences between records and the centre of their code (r × d), the same
    /// for all codes.
    ///
    /// Rows are orthogonal. The length of a row is the standard deviation along it, and the longest row is
    /// the first.
    pub(crate) fn spread(&self) -> ArrayView2<'_, f64> {
        self.spread.view()
    }

    /// Returns the partition with each row of the spread multiplied by its factor in `times` (r).
    pub(crate) fn with_spread(&self, times: &[f64]) -> Self {
        let mut other = self.clone();
        other.spread.outer_iter_mut().zip(times).for_each(|(mut direction, times)| direction *= *times);
        other
    }

    /// Draws a record like the volunteers' records with this code, and writes it into the first d values of
    /// `record`.
    pub(crate) fn draw(&self, code: usize, features: &[Attribute], record: &mut [f64], stream: &mut Stream) {
        self.draw_about(&self.centers.row(code).to_vec(), features, record, stream);
    }

    /// Draws a record, and writes it into the first d values of `record`. Its difference from `center` (d)
    /// has the distribution of the differences between records and the centre of their code.
    pub(crate) fn draw_about(
        &self,
        center: &[f64],
        features: &[Attribute],
        record: &mut [f64],
        stream: &mut Stream,
    ) {
        let mut normal = || -> f64 { StandardNormal.sample(stream) };
        let along: Array1<f64> = (0..self.spread.nrows()).map(|_| normal()).collect();
        let moved = along.dot(&self.spread);
        for (((value, center), moved), rest) in record.iter_mut().zip(center).zip(&moved).zip(&self.rest) {
            *value = center + moved + rest * normal();
        }
        features.iter().for_each(|attribute| attribute.settle(center, record, stream));
    }
}

/// Returns the row of `centers` (K × d) nearest to a record (d).
fn nearest(centers: &Array2<f64>, record: ArrayView1<f64>) -> usize {
    let distance =
        |center: ArrayView1<f64>| center.iter().zip(record).map(|(c, x)| (c - x).powi(2)).sum::<f64>();
    let distances: Vec<f64> = centers.outer_iter().map(|center| -distance(center)).collect();
    largest(&distances)
}

/// Principal directions (the columns, d × d), the variance along each (d, largest first), and the covariance
/// (d × d).
type Principal = (Array2<f64>, Vec<f64>, Array2<f64>);

/// Computes the principal directions of centred records (n × d).
fn principal(plugin: &str, centered: &Array2<f64>) -> Result<Principal> {
    let (n, d) = centered.dim();
    size::check_held(plugin, "codes", &[d, d], 8)?;
    let covariance = centered.t().dot(centered) / n as f64;
    let found = Eigen::new(&covariance)
        .ok_or_else(|| {
            Error::not_applicable(
                plugin,
                "the eigenvalues of the covariance of volunteers' records were not found",
            )
        })?
        .falling();
    Ok((found.vectors().clone(), found.values().to_vec(), covariance))
}

/// Returns the first principal directions of residuals (n × d), at most [`DIRECTIONS`]. The length of each is
/// the standard deviation along it. Also returns the standard deviation of each coordinate of the residuals
/// after their components along these directions are removed.
fn spread(plugin: &str, residuals: &Array2<f64>) -> Result<(Array2<f64>, Vec<f64>)> {
    let d = residuals.ncols();
    let (vectors, values, covariance) = principal(plugin, residuals)?;
    let kept = values.iter().take(DIRECTIONS).take_while(|value| **value > 0.0).count();
    let spread = Array2::from_shape_fn((kept, d), |(at, column)| vectors[[column, at]] * values[at].sqrt());
    let explained = |column: usize| spread.column(column).iter().map(|x| x * x).sum::<f64>();
    let rest =
        (0..d).map(|column| (covariance[[column, column]] - explained(column)).max(0.0).sqrt()).collect();
    Ok((spread, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records with `columns` columns, of three alternating kinds. The columns differ by half of their bounds
    /// between kinds.
    fn three_kinds(columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((90, columns), |(row, column)| {
            let kind = if column % 3 == row % 3 { 0.75 } else { 0.25 };
            kind + 0.1 * ((row * 31 + column * 17) as f64).sin()
        })
    }

    #[test]
    fn kinds_of_record_are_found_in_few_columns_and_along_principal_directions_of_many() {
        for columns in [6, DIRECTIONS + 10] {
            let records = three_kinds(columns);
            let partition = Partition::learn("a-plugin", records.view(), 3, 1).unwrap();
            assert_eq!(partition.codes(), 3, "{columns} columns");
            let codes: Vec<usize> =
                records.outer_iter().map(|record| partition.code(&record.to_vec())).collect();
            assert!((3..90).all(|row| codes[row] == codes[row % 3]), "{columns} columns: {codes:?}");
            assert!(codes[0] != codes[1] && codes[1] != codes[2] && codes[0] != codes[2]);
            // Centres are means of records in their own columns.
            let first_mean = records.slice(s![..;3, ..]).mean_axis(Axis(0)).unwrap();
            let difference = &partition.centers.row(codes[0]) - &first_mean;
            assert!(difference.iter().all(|x| x.abs() < 1e-12), "{columns} columns");
        }
    }
}
