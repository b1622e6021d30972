//! Iterations of Table 2 of Dauntless (Xiao and Devadas): how long a network trains on mixtures, and on
//! transformed mixtures.

use super::mixtures::{BATCH, Effort, Leaves, Row, Run};
use crate::trials::Mean;
use crate::{Finding, Result, rules};

/// Printed thousands of iterations on two mixtures of two for each record, without transformation.
const MIXED: f64 = 9.2;
/// Printed thousands of iterations on the same mixtures, transformed by an approach.
const TRANSFORMED: [(Leaves, &str, f64); 2] =
    [(Leaves::Approach1, "approach 1", 47.8), (Leaves::Approach2, "approach 2", 15.6)];

/// Accuracy below the best of a training at which the training counts as done.
const NEAR: f64 = 0.01;
/// Exponent of two of the most epochs of a training.
const MOST_DOUBLINGS: u32 = 5;

/// Findings on how many times longer a network trains on transformed mixtures than on mixtures alone.
pub(super) fn findings(run: &Run, rows: &[Row]) -> Result<Vec<Finding>> {
    let thousands = |leaves: Leaves| -> Result<f64> {
        let Some(row) = rows.iter().find(|row| row.leaves == leaves && (row.parts, row.times) == (2, 2))
        else {
            return Ok(f64::NAN);
        };
        let steps = (row.times * run.data.train.len()).div_ceil(BATCH) as f64;
        let epochs = (0..run.trials).map(|trial| done(run, row, trial)).collect::<Result<Vec<f64>>>()?;
        Ok(Mean::from_values(&epochs).value * steps / 1000.0)
    };
    let mixed = thousands(Leaves::Mixed)?;
    let finding = |(leaves, approach, printed): (Leaves, &str, f64)| {
        let ours = thousands(leaves)?;
        let doublings = (printed / MIXED).log2() - (ours / mixed).log2();
        Ok(Finding {
            what: format!("iterations on {} samples transformed by {approach}", 2 * run.data.train.len()),
            paper: format!("{printed:.1} thousand, against {MIXED:.1} on mixtures alone"),
            ours: format!("{ours:.1} thousand, against {mixed:.1}"),
            value: Some(ours / mixed),
            decision: rules::LONGER_AS_PRINTED.on(doublings),
            why: format!(
                "a constant rate; iterations of the least power of two of epochs, up to {}, within a point \
                 of the best of these accuracies. Only transformed columns are standardised, which shortens \
                 a training. The paper does not say when a training ends",
                2_u32.pow(most(run))
            ),
        })
    };
    TRANSFORMED.into_iter().map(finding).collect()
}

fn most(run: &Run) -> u32 {
    if run.options.quick { 2 } else { MOST_DOUBLINGS }
}

/// Number of epochs after which the accuracy is near the best of all trained numbers of epochs.
fn done(run: &Run, row: &Row, trial: usize) -> Result<f64> {
    let epochs: Vec<usize> = (0..=most(run)).map(|doublings| 1 << doublings).collect();
    let accuracies = epochs
        .iter()
        .map(|epochs| run.once(row, trial, Effort { epochs: *epochs, annealed: false }))
        .collect::<Result<Vec<f64>>>()?;
    Ok(first_near_best(&epochs, &accuracies) as f64)
}

/// The first of `epochs` whose accuracy is at most [`NEAR`] below the best.
fn first_near_best(epochs: &[usize], accuracies: &[f64]) -> usize {
    let best = accuracies.iter().copied().fold(0.0, f64::max);
    let near = epochs.iter().zip(accuracies).find(|(_, accuracy)| **accuracy >= best - NEAR);
    near.map_or(0, |(epochs, _)| *epochs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn training_is_done_at_the_first_accuracy_near_the_best() {
        assert_eq!(first_near_best(&[1, 2, 4, 8], &[0.5, 0.955, 0.96, 0.965]), 2);
        assert_eq!(first_near_best(&[1, 2, 4], &[0.5, 0.7, 0.9]), 4);
    }
}
