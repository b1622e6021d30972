//! Cluster centres of half of the irises.

use super::irises::{Irises, SPECIES};
use super::study::{Statistic, evidence, found, note};
use crate::report::Evidence;
use crate::{Error, Result, RunOptions};
use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::{KMeans, KMeansInit};
use ndarray::{Array2, ArrayView1, Axis};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use scumble_core::largest;

/// Finds three cluster centres of `records`. The search starts from the centres `from` if they are given, and
/// otherwise from random ones.
fn centers(records: &Array2<f64>, from: Option<&Array2<f64>>) -> Result<Array2<f64>> {
    let search = KMeans::params_with_rng(SPECIES, ChaCha20Rng::seed_from_u64(1));
    let search = match from {
        Some(from) => search.n_runs(1).init_method(KMeansInit::Precomputed(from.clone())),
        None => search.n_runs(10),
    };
    let found = search.max_n_iterations(100).tolerance(1e-6).fit(&DatasetBase::from(records.view()));
    let failed = |problem: linfa_clustering::KMeansError| Error::Mechanism {
        mechanism: "k-means".into(),
        problem: problem.to_string(),
    };
    Ok(found.map_err(failed)?.centroids().clone())
}

fn nearest(centers: &[f64], record: ArrayView1<f64>) -> usize {
    let near = |center: &[f64]| -center.iter().zip(record).map(|(c, x)| (c - x).powi(2)).sum::<f64>();
    largest(&centers.chunks(record.len()).map(near).collect::<Vec<f64>>())
}

/// Share of the test records that the centres `values` classify correctly. Each centre has the most frequent
/// species among the training records nearest to it. The labels of these records are treated as public here,
/// as in the published code.
fn right(irises: &Irises, values: &[f64]) -> f64 {
    let mut counts = [[0; SPECIES]; SPECIES];
    for (record, class) in irises.training.outer_iter().zip(&irises.classes) {
        counts[nearest(values, record)][*class] += 1;
    }
    let says = counts.map(|row| largest(&row.map(f64::from)));
    irises.share_right(irises.test.outer_iter().map(|record| says[nearest(values, record)]))
}

pub(super) fn clusters(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let one_order = Statistic {
        name: "one order".into(),
        compute: Box::new(|irises| {
            // The initial centres depend on all records, and not on the chosen half. The adversary knows
            // every record.
            let all_centers = centers(&irises.training, None)?;
            Ok(Box::new(move |rows| {
                Ok(centers(&irises.training.select(Axis(0), rows), Some(&all_centers))?.into_iter().collect())
            }))
        }),
        right: Box::new(right),
        printed: Some(0.169_133),
        why: "the search for the centres of a half starts from the centres of all records",
    };
    let as_found = Statistic {
        name: "as found".into(),
        compute: Box::new(|irises| {
            Ok(Box::new(|rows| {
                Ok(centers(&irises.training.select(Axis(0), rows), None)?.into_iter().collect())
            }))
        }),
        right: Box::new(right),
        printed: None,
        why: "",
    };
    let found = [&one_order, &as_found]
        .into_iter()
        .map(|statistic| found(options, name, statistic))
        .collect::<Result<_>>()?;
    let claim = "stability makes algorithms easier to privatise: one order needs less noise";
    let values = "twelve numbers for three centres (code/kmeans_scripts/iris_lira_kmeans.py)";
    let mut notes = note(options, values);
    notes.push(
        "The labels of the nearest training records determine the species of a centre. The published code \
         and this run treat these labels as public."
            .into(),
    );
    evidence(options, name, found, (claim, "Three centres of half of the irises", notes))
}
