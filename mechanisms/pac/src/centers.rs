//! Centres of clusters, in the same order for all halves of the records.

use crate::NAME;
use crate::computed::{Computed, ROWS, RowValues};
use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{KMeans, KMeansInit};
use ndarray::{Array1, Array2, Axis, s};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_core::levels::draw;
use scumble_core::{Error, Key, RecordDomain, Result, Streams, Table, size};
use scumble_private_models::Encoding;

/// Statistic of clusters: for each cluster, the fraction of the records in it, and the mean of its encoded
/// records z ([`Encoding`]), target included. Only the features determine the clusters.
///
/// Cluster centres have no natural order. The search for the centres of one half of the records starts from
/// the centres of all records (Lloyd 1982). Each centre thus keeps its position in the list. If halves had
/// different orders, much noise would be necessary. If the noise were calibrated for one order and a release
/// had another, the order would disclose the half.
#[derive(Debug)]
pub(crate) struct Centers {
    domain: RecordDomain,
    encoding: Encoding,
    centers: usize,
}

/// Number of searches from different starting points for the centres of all records; the best result is used.
const SEARCHES: usize = 8;

impl Centers {
    pub(crate) fn new(domain: &RecordDomain, centers: usize) -> Result<Self> {
        let encoding = Encoding::for_domain(NAME, domain)?;
        if domain.columns().is_empty() {
            return Err(Error::not_applicable(NAME, "records without a feature have no clusters"));
        }
        if !(1..=1024).contains(&centers) {
            let problem = format!("centers must lie between 1 and 1024, and {centers} does not");
            return Err(Error::parameter(NAME, problem));
        }
        size::check_held(NAME, "centers", &[centers, encoding.width()], 8)?;
        Ok(Self { domain: domain.clone(), encoding, centers })
    }

    /// d, the number of coordinates of an encoded record z that are features.
    fn features(&self) -> usize {
        self.domain.columns().len()
    }

    /// Finds the K centres (K × d) of the features (n × d) of n records by k-means, and the index of the
    /// nearest centre for each record (n values). The search starts from the centres `from`. If `from` is
    /// `None`, the result is the best of [`SEARCHES`] searches.
    fn found(
        &self,
        features: &Array2<f64>,
        from: Option<&Array2<f64>>,
    ) -> Result<(Array2<f64>, Array1<usize>)> {
        let search = KMeans::params_with_rng(self.centers, ChaCha20Rng::seed_from_u64(0));
        let search = match from {
            Some(from) => search.n_runs(1).init_method(KMeansInit::Precomputed(from.clone())),
            None => search.n_runs(SEARCHES),
        };
        let found = search.max_n_iterations(50).tolerance(1e-4).fit(&DatasetBase::from(features.view()));
        let refuse = |problem: linfa_clustering::KMeansError| {
            Error::not_applicable(NAME, format!("the records could not be clustered: {problem}"))
        };
        let found = found.map_err(refuse)?;
        Ok((found.centroids().clone(), found.predict(features)))
    }
}

impl Computed for Centers {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        if table.len() < 2 * self.centers {
            let reason =
                format!("halves of {} records are too small for {} clusters", table.len(), self.centers);
            return Err(Error::not_applicable(NAME, reason));
        }
        let (vectors, d) = (self.encoding.vectors(table)?, self.features());
        let (all_centers, _) = self.found(&vectors.slice(s![.., 1..=d]).to_owned(), None)?;
        Ok(Box::new(move |rows| {
            let chosen = vectors.select(Axis(0), rows);
            let features = chosen.slice(s![.., 1..=d]).to_owned();
            let (_, clusters) = self.found(&features, Some(&all_centers))?;
            // The first coordinate of an encoded record z is 1, so the sum of this coordinate counts the
            // records.
            let mut sums = Array2::<f64>::zeros((self.centers, self.encoding.width()));
            for (record, cluster) in chosen.outer_iter().zip(clusters) {
                let mut sum = sums.row_mut(cluster);
                sum += &record;
            }
            for (mut sum, center) in sums.outer_iter_mut().zip(all_centers.outer_iter()) {
                let count = sum[0];
                match count > 0.0 {
                    true => sum /= count,
                    // An empty cluster keeps the centre of all records.
                    false => sum.slice_mut(s![1..=d]).assign(&center),
                }
                sum[0] = count / rows.len() as f64;
            }
            Ok(sums.into_iter().collect())
        }))
    }

    fn released(
        &self,
        noisy: &[f64],
        _scales: &[f64],
        records: usize,
        streams: &Streams,
    ) -> Result<(Table, Key)> {
        let (width, layout) = (self.encoding.width(), self.domain.layout());
        let centers = Array2::from_shape_vec((self.centers, width), noisy.to_vec())
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let mut stream = streams.stream(ROWS);
        let shares: Vec<f64> = draw::shares(centers.column(0).iter().copied());
        let mut flat = Vec::with_capacity(records * (width - 1));
        for center in draw::levels(&shares, records, &mut stream) {
            let center = centers.row(center);
            let mut record: Vec<f64> = center.iter().skip(1).copied().collect();
            for (at, value) in record.iter_mut().enumerate() {
                if let Some((middle, half)) = self.encoding.scale(at) {
                    *value = middle + half * value.clamp(-1.0, 1.0);
                }
            }
            for group in self.encoding.groups() {
                let drawn = draw::levels(&record[group.clone()], 1, &mut stream)[0];
                record[group.clone()].fill(0.0);
                record[group.start + drawn] = 1.0;
            }
            flat.extend(record);
        }
        Ok((layout.table_of(flat)?, Key::None))
    }
}
