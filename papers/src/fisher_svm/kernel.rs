//! Machines with a Gaussian kernel: a finite feature map, and the machine itself.

use crate::Result;
use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use ndarray::{Array1, Array2};
use rand::Rng;
use rand_distr::StandardNormal;
use scumble_core::{Domain, RecordDomain, Stream, Table, Target};
use scumble_linear::Standardizer;
use scumble_svm::KernelSvmParams;

/// Random Fourier features of the kernel exp(−‖z − z′‖²/d) of d standardised columns z (Rahimi and Recht
/// 2007).
pub(super) struct FeatureMap {
    standardizer: Standardizer,
    /// Frequencies, d × D.
    frequencies: Array2<f64>,
    /// Phases, D.
    phases: Array1<f64>,
}

impl FeatureMap {
    /// Draws `count` features. Only `public` records (n × d) decide the scales of columns.
    pub fn new(public: &Array2<f64>, count: usize, stream: &mut Stream) -> Result<Self> {
        let d = public.ncols();
        let deviation = (2.0 / d as f64).sqrt();
        Ok(Self {
            standardizer: Standardizer::fit(public)?,
            frequencies: Array2::from_shape_simple_fn((d, count), || {
                deviation * stream.sample::<f64, _>(StandardNormal)
            }),
            phases: Array1::from_shape_simple_fn(count, || stream.gen_range(0.0..std::f64::consts::TAU)),
        })
    }

    /// Largest absolute value of a feature.
    fn amplitude(&self) -> f64 {
        (2.0 / self.phases.len() as f64).sqrt()
    }

    /// Maps records (n × d) to their features (n × D).
    fn of(&self, records: &Array2<f64>) -> Array2<f64> {
        let angles = self.standardizer.apply(records).dot(&self.frequencies) + &self.phases;
        angles.mapv(|angle| self.amplitude() * angle.cos())
    }

    /// Domain of the features, with the target of `domain`.
    pub fn domain(&self, domain: &RecordDomain) -> Result<RecordDomain> {
        let (count, most) = (self.phases.len(), self.amplitude());
        let names = (1..=count).map(|at| format!("feature {at}")).collect();
        let features = Domain::product(vec![Domain::interval(-most, most)?; count])?;
        Ok(RecordDomain::new(names, features, domain.target().clone())?)
    }

    /// Table of the features of `table`, with its targets.
    pub fn table(&self, table: &Table, domain: &RecordDomain) -> Result<Table> {
        Ok(Table::new(domain.columns().to_vec(), self.of(table.records()), table.target().clone())?)
    }
}

/// Accuracy on `test` of a machine with the kernel itself, learned from `train` by linfa-svm, in percent.
pub(super) fn kernel_accuracy(train: &Table, test: &Table) -> Result<f64> {
    let (Target::Class(classes), Target::Class(truth)) = (train.target(), test.target()) else {
        return Ok(f64::NAN);
    };
    let machine =
        KernelSvmParams::default().fit(&DatasetBase::new(train.records().clone(), classes.clone()))?;
    let found = machine.predict(test.records());
    let right = found.iter().zip(truth).filter(|(found, truth)| found == truth).count();
    Ok(100.0 * right as f64 / test.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    /// The inner product of features is the kernel, up to 1/√D.
    #[test]
    fn features_have_the_kernel_as_inner_product() {
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let records = Array2::from_shape_simple_fn((12, 3), || stream.gen_range(-2.0..2.0));
        let map = FeatureMap::new(&records, 20_000, &mut stream).unwrap();
        let (features, standard) = (map.of(&records), map.standardizer.apply(&records));
        for (one, other) in (0..12).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let squared = (&standard.row(one) - &standard.row(other)).mapv(|x| x * x).sum();
            let kernel = (-squared / 3.0_f64).exp();
            let product = features.row(one).dot(&features.row(other));
            // Five standard deviations of a mean of 20,000 products of at most 2.
            assert!((product - kernel).abs() < 0.05, "{product} for {kernel}");
        }
    }
}
