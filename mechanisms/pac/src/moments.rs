//! Means and covariances.

use crate::NAME;
use crate::computed::{Computed, ROWS, RowValues};
use ndarray::{Array2, Axis};
use scumble_core::{Error, Key, RecordDomain, Result, Streams, Table, size};
use scumble_private_models::{Encoding, Population};

/// Statistic of second moments: the means of all products of two coordinates of the encoded record z.
/// Products that are constant or follow from other products are left out (see [`Encoding::products`]).
#[derive(Debug)]
pub(crate) struct Moments {
    pub(crate) domain: RecordDomain,
    pub(crate) encoding: Encoding,
    products: Vec<[usize; 2]>,
}

impl Moments {
    pub(crate) fn new(domain: &RecordDomain) -> Result<Self> {
        let encoding = Encoding::for_domain(NAME, domain)?;
        let width = encoding.width();
        size::check_held(NAME, "the number of columns", &[width, width], 8)?;
        let products = encoding.products();
        if products.is_empty() {
            return Err(Error::not_applicable(NAME, "records without a column have no moments"));
        }
        Ok(Self { domain: domain.clone(), encoding, products })
    }

    /// Draws `records` random rows in which the products of coordinates have the means `means` (upper
    /// triangle). Eigenvalues of the rows' covariance below `floor`, the size of the noise in an eigenvalue,
    /// are raised to `floor`.
    pub(crate) fn rows(
        &self,
        means: &Array2<f64>,
        floor: f64,
        records: usize,
        streams: &Streams,
    ) -> Result<Table> {
        let population = Population::from_moments(&self.domain, &self.encoding, means, floor)
            .ok_or_else(|| Error::shape("the moments are not finite numbers"))?;
        population.rows(records, &mut streams.stream(ROWS))
    }

    /// Largest shift that noise is expected to cause in the eigenvalues of the matrix of the products' means.
    /// The noise on every entry is assumed to have the same variance, the mean square of `scales`. The result
    /// is then the edge of Wigner's semicircle.
    pub(crate) fn floor(&self, scales: &[f64]) -> f64 {
        let mean_square = scales.iter().map(|scale| scale * scale).sum::<f64>() / scales.len().max(1) as f64;
        2.0 * (mean_square * self.encoding.width() as f64).sqrt()
    }
}

/// Means of the products of two coordinates (width × width) over the rows `rows` of `vectors` (n × width).
pub(crate) fn means(vectors: &Array2<f64>, rows: &[usize]) -> Array2<f64> {
    let chosen = vectors.select(Axis(0), rows);
    chosen.t().dot(&chosen) / rows.len() as f64
}

impl Computed for Moments {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        let vectors = self.encoding.vectors(table)?;
        Ok(Box::new(move |rows| {
            let means = means(&vectors, rows);
            Ok(self.products.iter().map(|at| means[*at]).collect())
        }))
    }

    fn released(
        &self,
        noisy: &[f64],
        scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)> {
        let width = self.encoding.width();
        let mut means = Array2::zeros((width, width));
        self.products.iter().zip(noisy).for_each(|(at, mean)| means[*at] = *mean);
        means[[0, 0]] = 1.0;
        Ok((self.rows(&means, self.floor(scales), records, streams)?, Key::None))
    }
}
