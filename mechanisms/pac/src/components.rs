//! Principal components, in the same order and with the same signs for all halves of the records.

use crate::NAME;
use crate::computed::{Computed, RowValues};
use crate::moments::{Moments, means};
use ndarray::{Array1, Array2, s};
use scumble_core::{Error, Key, RecordDomain, Result, Streams, Table};
use scumble_linalg::Eigen;

/// Statistic of principal components: the mean of the encoded records z, their first principal directions,
/// and the mean variance along the directions that are left out. Each direction is a vector whose length is
/// the standard deviation of z along it.
///
/// A direction has no natural sign, and two directions of nearly equal variance have no natural order. If the
/// order or a sign differed between halves, much noise would be necessary. If the noise were calibrated for
/// one order and a release had another, the order or sign would disclose the half. Each direction of a half
/// of the records is therefore matched to the nearest direction of all records. It gets the position and the
/// sign of this nearest direction.
#[derive(Debug)]
pub(crate) struct Components {
    moments: Moments,
    components: usize,
}

impl Components {
    pub(crate) fn new(domain: &RecordDomain, components: usize) -> Result<Self> {
        let moments = Moments::new(domain)?;
        let most = moments.encoding.width() - 1;
        if !(1..=most).contains(&components) {
            let problem = format!(
                "components must lie between 1 and {most}, the number of coordinates of a record, and \
                 {components} does not"
            );
            return Err(Error::parameter(NAME, problem));
        }
        Ok(Self { moments, components })
    }

    /// q, the number of coordinates of an encoded record z without the intercept.
    fn width(&self) -> usize {
        self.moments.encoding.width() - 1
    }

    /// Decomposes `means`, the means of products of two coordinates of encoded records z. Returns the mean of
    /// the q coordinates other than the intercept, the first k principal directions (k × q), and the mean
    /// variance along all other directions.
    fn decomposed(&self, means: &Array2<f64>) -> Result<(Array1<f64>, Array2<f64>, f64)> {
        let (q, k) = (self.width(), self.components);
        let mean = means.slice(s![0, 1..]).to_owned();
        let covariance = Array2::from_shape_fn((q, q), |(i, j)| means[[i + 1, j + 1]] - mean[i] * mean[j]);
        let found = Eigen::new(&covariance)
            .ok_or_else(|| Error::not_applicable(NAME, "the eigenvalues of the covariance were not found"))?;
        // The eigenvalues are in ascending order.
        let value = |at: usize| found.values()[q - 1 - at].max(0.0);
        let directions =
            Array2::from_shape_fn((k, q), |(at, i)| found.vectors()[[i, q - 1 - at]] * value(at).sqrt());
        let rest = (k..q).map(value).sum::<f64>() / (q - k).max(1) as f64;
        Ok((mean, directions, rest))
    }

    fn values(&self, (mean, directions, rest): (Array1<f64>, Array2<f64>, f64)) -> Vec<f64> {
        mean.into_iter().chain(directions).chain([rest]).collect()
    }
}

/// Reorders the rows of `directions`, and changes their signs, to match the rows of `reference`. Each row of
/// `reference`, in order, gets the remaining direction with the smallest angle to it, regardless of sign.
fn matched(directions: &Array2<f64>, reference: &Array2<f64>) -> Array2<f64> {
    let mut left: Vec<usize> = (0..directions.nrows()).collect();
    let mut ordered = reference.clone();
    for (mut row, target) in ordered.outer_iter_mut().zip(reference.outer_iter()) {
        let along = |at: usize| {
            let direction = directions.row(at);
            let length = direction.dot(&direction).sqrt().max(f64::MIN_POSITIVE);
            direction.dot(&target) / length
        };
        let nearest = (0..left.len())
            .max_by(|one, other| along(left[*one]).abs().total_cmp(&along(left[*other]).abs()));
        let Some(nearest) = nearest else { break };
        let at = left.remove(nearest);
        row.assign(&(&directions.row(at) * if along(at) < 0.0 { -1.0 } else { 1.0 }));
    }
    ordered
}

impl Computed for Components {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        let vectors = self.moments.encoding.vectors(table)?;
        let all: Vec<usize> = (0..table.len()).collect();
        let (_, reference, _) = self.decomposed(&means(&vectors, &all))?;
        Ok(Box::new(move |rows| {
            let (mean, directions, rest) = self.decomposed(&means(&vectors, rows))?;
            Ok(self.values((mean, matched(&directions, &reference), rest)))
        }))
    }

    fn released(
        &self,
        noisy: &[f64],
        scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)> {
        let (q, k) = (self.width(), self.components);
        scumble_core::check_width(q * (k + 1) + 1, noisy.len())?;
        let mean = Array1::from(noisy[..q].to_vec());
        let directions = Array2::from_shape_fn((k, q), |(at, i)| noisy[q * (at + 1) + i]);
        let rest = noisy[q * (k + 1)].max(0.0);
        let mut means = Array2::zeros((q + 1, q + 1));
        means[[0, 0]] = 1.0;
        means.slice_mut(s![0, 1..]).assign(&mean);
        let covariance = directions.t().dot(&directions);
        for i in 0..q {
            for j in i..q {
                let beyond = if i == j { rest } else { 0.0 };
                means[[i + 1, j + 1]] = mean[i] * mean[j] + covariance[[i, j]] + beyond;
            }
        }
        // `floor` is the largest variance of the noise on a coordinate of the mean. The covariance of the
        // noisy directions already includes the variance of their noise.
        let floor = scales[..q].iter().fold(0.0_f64, |most, scale| most.max(*scale)).powi(2);
        Ok((self.moments.rows(&means, floor, records, streams)?, Key::None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn directions_keep_their_order_and_their_signs() {
        let reference = array![[2.0, 0.1, 0.0], [0.0, 1.9, 0.1]];
        let other = array![[0.1, -2.0, 0.0], [-1.9, 0.0, 0.2]];
        assert_eq!(matched(&other, &reference), array![[1.9, 0.0, -0.2], [-0.1, 2.0, 0.0]]);
    }
}
