//! Irises, prepared as in the published code.

use crate::task::classes_of;
use crate::{Result, RunOptions};
use ndarray::{Array2, Axis};
use rand::seq::SliceRandom;
use scumble_core::{Randomness, RecordDomain, Table};
use scumble_datasets::source;

/// Number of training records, from which halves are taken; the other records are for testing.
pub(super) const TRAINING: usize = 100;

/// Number of classes.
pub(super) const SPECIES: usize = 3;

/// Irises with measurements scaled to [0, 1] by the minimum and maximum of all 150, as in the published code.
pub(super) struct Irises {
    /// Public domain of the unscaled measurements. `table` and `held_out` hold the training and test records,
    /// unscaled too.
    pub domain: RecordDomain,
    pub table: Table,
    pub held_out: Table,
    /// Scaled training records (100 × 4).
    pub training: Array2<f64>,
    pub classes: Vec<usize>,
    /// Scaled test records (50 × 4).
    pub test: Array2<f64>,
    pub truth: Vec<usize>,
}

impl Irises {
    /// Loads the irises and splits them at random.
    pub fn load(options: &RunOptions, mut randomness: Randomness) -> Result<Self> {
        let data = source("iris")?.load(options.folder)?;
        let whole = data.table.whole()?;
        let mut scaled = whole.records().to_owned();
        for mut column in scaled.columns_mut() {
            let least = column.fold(f64::INFINITY, |a, b| a.min(*b));
            let most = column.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            column.mapv_inplace(|x| (x - least) / (most - least));
        }
        let mut rows: Vec<usize> = (0..whole.len()).collect();
        rows.shuffle(&mut randomness.streams().stream(0));
        let (training, test) = rows.split_at(TRAINING);
        let (table, held_out) = (whole.select(training)?, whole.select(test)?);
        Ok(Self {
            domain: data.domain,
            classes: classes_of(&table).to_vec(),
            truth: classes_of(&held_out).to_vec(),
            table,
            held_out,
            training: scaled.select(Axis(0), training),
            test: scaled.select(Axis(0), test),
        })
    }

    /// Share of the test records whose class is correct in `predicted`, which has the order of the test
    /// records.
    pub fn share_right(&self, predicted: impl Iterator<Item = usize>) -> f64 {
        let right = predicted.zip(&self.truth).filter(|(predicted, truth)| predicted == *truth).count();
        right as f64 / self.truth.len() as f64
    }
}
