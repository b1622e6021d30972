//! Checks, scores and digests of a comparison's data set.

use super::influence::grouped;
use super::prediction::Predicted;
use super::scored::{Score, Scored};
use super::{Error, Metric, Result};
use ndarray::Array1;
use scumble_core::text::hexadecimal;
use scumble_core::{Target, TargetDomain};
use scumble_datasets::DataSet;
use sha2::{Digest, Sha256};

/// Smallest number of records for a comparison.
const FEWEST_RECORDS: usize = 10;

/// Checks that models can learn from the data.
///
/// # Errors
/// [`Error::Data`] for too few records, no feature, or only one class.
pub(super) fn check_learnable(data: &DataSet) -> Result<()> {
    let refuse = |problem: String| Err(Error::Data(format!("{}: {problem}", data.name)));
    if data.table.len() < FEWEST_RECORDS {
        return refuse(format!(
            "it holds {} records, and a comparison needs {FEWEST_RECORDS} or more",
            data.table.len()
        ));
    }
    if data.table.columns().is_empty() {
        return refuse(format!("there is no column to learn {:?} from", data.target));
    }
    if let (Target::Class(classes), TargetDomain::Class { levels }) =
        (data.table.target(), data.domain.target())
        && classes.iter().all(|class| *class == classes[0])
    {
        return refuse(format!(
            "column {:?} is {:?} in every row, and a classifier needs two classes",
            data.target, levels[classes[0]]
        ));
    }
    Ok(())
}

/// Error for the setting `what`, which needs a class if the target is a number, and a number if the target is
/// a class.
pub(super) fn misfit(data: &DataSet, what: &str) -> Error {
    let (needed, found) = match data.domain.target() {
        TargetDomain::Class { .. } => ("numbers", "a class"),
        _ => ("classes", "a number"),
    };
    Error::Data(format!("{}: {what} is for {needed}, and {:?} is {found}", data.name, data.target))
}

/// Scores of `predicted`, the predictions for held-out test records with the targets `truth`, by every metric
/// that applies to these targets. `rows` has the row of each test record in the data.
pub(super) fn scored(data: &DataSet, predicted: &Predicted, truth: &Target, rows: &[usize]) -> Scored {
    let mut scored = Scored::default();
    for metric in Metric::ALL {
        let Some(score) = metric.score(predicted, truth, data.target_width) else { continue };
        scored.scores.insert(metric, Score(score));
        let influences = metric.influence(predicted, truth, data.target_width).unwrap_or_default();
        scored.influences.insert(metric, grouped(rows, &influences));
    }
    scored
}

/// SHA-256, in hexadecimal, of all data that scores depend on: the records, their target, their domain, the
/// difference of the target's bounds, and the numbers of bins.
///
/// # Errors
/// [`Error::Data`] if the domain cannot be serialised, and [`Error::Core`] if rows cannot be selected.
/// Neither error occurs for a data set that was loaded.
pub(super) fn digest(data: &DataSet) -> Result<String> {
    let mut digest = Sha256::new();
    let domain = serde_json::to_vec(&(&data.domain, data.target_width, data.bins()));
    digest.update(domain.map_err(|error| Error::Data(format!("{}: {error}", data.name)))?);
    let rows: Vec<usize> = (0..data.table.len()).collect();
    for some in rows.chunks(1_000) {
        let some = data.table.select(some)?;
        some.records().iter().for_each(|value| digest.update(value.to_le_bytes()));
    }
    match data.table.target() {
        Target::None => {}
        Target::Class(classes) => classes.iter().for_each(|&at| digest.update((at as u64).to_le_bytes())),
        Target::Real(values) => values.iter().for_each(|value| digest.update(value.to_le_bytes())),
        Target::Vector(values) => values.iter().for_each(|value| digest.update(value.to_le_bytes())),
    }
    Ok(hexadecimal(&digest.finalize()))
}

/// Predictions of the majority-class or mean baseline for `count` records, from the training targets `train`.
pub(super) fn baseline(train: &Target, count: usize) -> Target {
    match train {
        Target::Class(train) => {
            let mut counts = vec![0; train.iter().max().map_or(0, |class| class + 1)];
            train.iter().for_each(|&class| counts[class] += 1);
            let commonest = train.iter().copied().max_by_key(|&class| counts[class]).unwrap_or(0);
            Target::Class(Array1::from_elem(count, commonest))
        }
        Target::Real(train) => Target::Real(Array1::from_elem(count, train.mean().unwrap_or(0.0))),
        _ => Target::None,
    }
}
