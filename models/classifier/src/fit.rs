//! Fitting of a classifier, and its predictions.

use crate::{Error, Result, ValidClassifierParams};
use linfa::DatasetBase;
use linfa::traits::{Fit, PredictInplace};
use ndarray::{Array1, Array2, ArrayBase, Axis, CowArray, Data, Ix2};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use scumble_linear::{Error as LinearError, Standardizer, check_flipped_labels, check_records};
use scumble_neural::{Examples, Initialisation, Loss, Network};
use std::collections::BTreeSet;

/// Number of the random stream that selects the validation records. The network uses stream 0 of the same
/// seed.
const OF_VALIDATION: u64 = 1;

/// Number of records that are standardised at a time.
const AT_A_TIME: usize = 1 << 10;

/// A fitted classifier.
#[derive(Debug, Clone)]
pub struct Classifier {
    standardizer: Option<Standardizer>,
    /// The K class values, ascending.
    classes: Vec<usize>,
    network: Network<f32>,
}

impl<D: Data<Elem = f64>> Fit<ArrayBase<D, Ix2>, Array1<usize>, Error> for ValidClassifierParams {
    type Object = Classifier;

    /// Fits the classifier to records (n × d) and their classes (n).
    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, Array1<usize>>) -> Result<Classifier> {
        check_records(&dataset.records, dataset.targets.iter().map(|class| *class as f64))?;
        let classes = self.classes(&dataset.targets)?;
        let standardizer = self.standardizer(&dataset.records)?;
        let seen = dataset.targets.mapv(|class| classes.partition_point(|&other| other < class));
        let flip = self.label_flip.as_ref().map(single);
        let [training, validation] = self.parted(seen.len()).map(|rows| Part {
            records: learned_from(standardizer.as_ref(), &dataset.records, &rows),
            seen: seen.select(Axis(0), &rows),
            flip: flip.as_ref(),
        });
        let validation = (!validation.seen.is_empty()).then(|| validation.examples());
        let architecture = self.architecture(dataset.records.ncols(), classes.len());
        let start = Network::new(architecture, Initialisation::He, self.seed)?;
        let network = self.training().fit(&start, training.examples(), validation, |_| ())?;
        Ok(Classifier { standardizer, classes, network })
    }
}

impl ValidClassifierParams {
    /// Returns the classes, ascending: the classes of the flip matrix if there is one, or else the observed
    /// classes.
    fn classes(&self, seen: &Array1<usize>) -> Result<Vec<usize>> {
        if let Some(flip) = &self.label_flip {
            check_flipped_labels(seen, flip)?;
            return Ok((0..flip.nrows()).collect());
        }
        let classes: BTreeSet<usize> = seen.iter().copied().collect();
        match classes.len() {
            0 | 1 => Err(LinearError::OneClass { records: seen.len() }.into()),
            _ => Ok(classes.into_iter().collect()),
        }
    }

    /// Returns the standardisation fitted to `records`, or `None` if features stay unchanged.
    pub(crate) fn standardizer(
        &self,
        records: &ArrayBase<impl Data<Elem = f64>, Ix2>,
    ) -> Result<Option<Standardizer>> {
        Ok(self.standardize.then(|| Standardizer::fit(records)).transpose()?)
    }

    /// Splits `n` rows into training rows, at least one if `n` is positive, and validation rows.
    pub(crate) fn parted(&self, n: usize) -> [Vec<usize>; 2] {
        let mut rng = ChaCha20Rng::seed_from_u64(self.seed);
        rng.set_stream(OF_VALIDATION);
        let mut rows: Vec<usize> = (0..n).collect();
        rows.shuffle(&mut rng);
        let validation = (n as f64 * self.validation_share).round() as usize;
        let validation = rows.split_off(n.saturating_sub(validation).max(1).min(n));
        [rows, validation]
    }
}

/// A subset of the records, with their observed classes.
struct Part<'a> {
    records: Array2<f32>,
    seen: Array1<usize>,
    flip: Option<&'a Array2<f32>>,
}

impl Part<'_> {
    fn examples(&self) -> Examples<'_, f32> {
        let seen = self.seen.view();
        let loss = match self.flip {
            None => Loss::CrossEntropy(seen),
            Some(flip) => Loss::FlippedCrossEntropy { seen, flip: flip.view() },
        };
        Examples { records: self.records.view(), loss }
    }
}

/// Converts the rows `rows` (m) of `records` (n × d) to network inputs in single precision (m × d),
/// standardised if `standardizer` is given.
pub(crate) fn learned_from(
    standardizer: Option<&Standardizer>,
    records: &ArrayBase<impl Data<Elem = f64>, Ix2>,
    rows: &[usize],
) -> Array2<f32> {
    // Standardises some rows at a time, because a second table in double precision may not fit in memory.
    let mut inputs = Array2::zeros((rows.len(), records.ncols()));
    let parts = inputs.axis_chunks_iter_mut(Axis(0), AT_A_TIME).zip(rows.chunks(AT_A_TIME));
    for (mut inputs, rows) in parts {
        let part = records.select(Axis(0), rows);
        let part =
            standardizer.map_or(CowArray::from(part.view()), |standardizer| standardizer.apply(&part).into());
        inputs.zip_mut_with(&part, |input, value: &f64| *input = *value as f32);
    }
    inputs
}

/// Converts all records (n × d); see [`learned_from`].
pub(crate) fn all_learned_from(standardizer: Option<&Standardizer>, records: &Array2<f64>) -> Array2<f32> {
    learned_from(standardizer, records, &(0..records.nrows()).collect::<Vec<_>>())
}

pub(crate) fn single(values: &ArrayBase<impl Data<Elem = f64>, Ix2>) -> Array2<f32> {
    values.mapv(|value| value as f32)
}

impl Classifier {
    /// Returns the K classes that the model distinguishes, ascending.
    pub fn classes(&self) -> &[usize] {
        &self.classes
    }

    /// Computes P(class | record) (n × K) for records (n × d), with the classes in ascending order.
    ///
    /// # Errors
    /// [`Error::Network`] if `records` has another number of columns than the training records.
    pub fn probabilities(&self, records: &Array2<f64>) -> Result<Array2<f64>> {
        let outputs = self.network.predict(all_learned_from(self.standardizer.as_ref(), records).view())?;
        let mut probabilities = outputs.mapv(f64::from);
        for mut row in probabilities.outer_iter_mut() {
            let largest = row.fold(f64::NEG_INFINITY, |most, &value| most.max(value));
            row.mapv_inplace(|value| (value - largest).exp());
            let total = row.sum();
            row /= total;
        }
        Ok(probabilities)
    }
}

impl PredictInplace<Array2<f64>, Array1<usize>> for Classifier {
    /// Predicts the most probable class of each record (n × d).
    ///
    /// It leaves `classes` unchanged if `records` has another number of columns than the training records.
    fn predict_inplace(&self, records: &Array2<f64>, classes: &mut Array1<usize>) {
        let standardized = all_learned_from(self.standardizer.as_ref(), records);
        // Classifying fails only for another number of columns than in the training records.
        if let Ok(found) = self.network.classify(standardized.view()) {
            *classes = found.mapv(|at| self.classes[at]);
        }
    }

    fn default_target(&self, records: &Array2<f64>) -> Array1<usize> {
        Array1::zeros(records.nrows())
    }
}
