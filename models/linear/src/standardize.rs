//! Features of mean 0 and deviation 1, by what a model is fitted on.

use crate::Result;
use linfa::DatasetBase;
use linfa::traits::{Fit, Transformer};
use linfa_preprocessing::linear_scaling::LinearScaler;
use ndarray::{Array1, Array2, Axis};

/// Each column's mean and deviation; a column that does not vary is centred alone.
#[derive(Debug, Clone)]
pub struct Standardizer {
    scaler: LinearScaler<f64>,
}

impl Standardizer {
    /// Learns from `dataset` (n × d), and gives it standardised.
    ///
    /// # Errors
    /// [`Error::Standardize`](crate::Error::Standardize) for no records.
    pub fn fit<T: Clone>(
        dataset: &DatasetBase<Array2<f64>, T>,
    ) -> Result<(Self, DatasetBase<Array2<f64>, T>)> {
        let unlabelled = DatasetBase::from(dataset.records.clone());
        let scaler = LinearScaler::standard().fit(&unlabelled)?;
        let this = Self { scaler };
        let standardized = DatasetBase::new(this.apply(&dataset.records), dataset.targets.clone());
        Ok((this, standardized))
    }

    /// By how much each column is stretched (d values).
    pub fn scales(&self) -> &Array1<f64> {
        self.scaler.scales()
    }

    /// Weights (d × K) and intercepts (K) of standardised features, as those of features in their own units.
    pub(crate) fn undone(
        &self,
        weights: &Array2<f64>,
        intercepts: &Array1<f64>,
    ) -> (Array2<f64>, Array1<f64>) {
        let scales = self.scales();
        let origin = self.apply(&Array2::zeros((1, scales.len())));
        let own = weights * &scales.view().insert_axis(Axis(1));
        (own, intercepts + &origin.row(0).dot(weights))
    }

    /// `records` (n × d), standardised.
    pub fn apply(&self, records: &Array2<f64>) -> Array2<f64> {
        self.scaler.transform(records.clone())
    }
}
