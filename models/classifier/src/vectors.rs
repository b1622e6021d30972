//! Regression of a dense network onto vectors that encode classes.

use crate::fit::{all_learned_from, learned_from, single};
use crate::{Error, Result, ValidClassifierParams};
use linfa::DatasetBase;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array2, ArrayBase, Axis, Data, Ix2};
use scumble_linear::{Standardizer, check_records};
use scumble_neural::{Examples, Initialisation, Loss, Network};

/// A fitted network that predicts a vector for each record.
#[derive(Debug, Clone)]
pub struct VectorModel {
    standardizer: Option<Standardizer>,
    network: Network<f32>,
}

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array2<f64>, Error> for ValidClassifierParams {
    type Object = VectorModel;

    /// Fits the network to predict the vectors (n × k) of records (n × d), with the least mean squared error.
    /// Ignores [`label_flip`](crate::ClassifierParams::label_flip).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array2<f64>>) -> Result<VectorModel> {
        check_records(&dataset.records, dataset.targets.outer_iter().map(|vector| vector.sum()))?;
        let standardizer = self.standardizer(&dataset.records)?;
        let records = |rows: &[usize]| learned_from(standardizer.as_ref(), &dataset.records, rows);
        let vectors = single(&dataset.targets);
        let [training, validation] =
            self.parted(vectors.nrows()).map(|rows| (records(&rows), vectors.select(Axis(0), &rows)));
        let architecture = self.architecture(dataset.records.ncols(), vectors.ncols());
        let start = Network::new(architecture, Initialisation::He, self.seed)?;
        let validation = (validation.0.nrows() > 0).then(|| examples(&validation));
        let network = self.training().fit(&start, examples(&training), validation, |_| ())?;
        Ok(VectorModel { standardizer, network })
    }
}

fn examples((records, vectors): &(Array2<f32>, Array2<f32>)) -> Examples<'_, f32> {
    Examples { records: records.view(), loss: Loss::SquaredError(vectors.view()) }
}

impl PredictInplace<Array2<f64>, Array2<f64>> for VectorModel {
    /// Predicts the vectors (n × k) of `records` (n × d).
    ///
    /// It leaves `vectors` unchanged if `records` has another number of columns than the training records.
    fn predict_inplace(&self, records: &Array2<f64>, vectors: &mut Array2<f64>) {
        let standardized = all_learned_from(self.standardizer.as_ref(), records);
        // Predicting fails only for another number of columns than in the training records.
        if let Ok(found) = self.network.predict(standardized.view()) {
            *vectors = found.mapv(f64::from);
        }
    }

    fn default_target(&self, records: &Array2<f64>) -> Array2<f64> {
        Array2::zeros((records.nrows(), self.network.architecture().outputs()))
    }
}
