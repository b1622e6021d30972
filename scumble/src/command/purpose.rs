//! Arguments that state the purpose of a release: the matrix of a linear task.

use super::Failure;
use super::reading::Reading;
use crate::core::{Task, number};
use crate::records::read_matrix;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Clone, Default)]
pub(super) struct Purpose {
    /// Purpose of the release: a matrix K, as CSV or Parquet, whose columns have the names of the encoded
    /// columns. The error to minimise is then ‖K(x̂ − x)‖², for an estimate x̂ of the record x. Give it once
    /// for each of several tasks, whose errors are added.
    #[arg(long, value_name = "FILE")]
    task_matrix: Vec<PathBuf>,
    /// Weight of a task's error in the sum, once for each --task-matrix in the same order; 1 by default.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "W",
        requires = "task_matrix",
        allow_negative_numbers = true
    )]
    task_weight: Vec<f64>,
}

impl Purpose {
    /// Files that the arguments name.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.task_matrix
    }

    /// Task for records with these encoded columns; `None` without a matrix.
    ///
    /// # Errors
    /// Returns an error for another number of weights than of files, and for a file without such a matrix.
    pub(super) fn task(&self, reading: &Reading, columns: &[String]) -> Result<Option<Task>, Failure> {
        let (files, weights) = (&self.task_matrix, &self.task_weight);
        if files.is_empty() {
            return Ok(None);
        }
        if !(weights.is_empty() || weights.len() == files.len()) {
            let problem = format!(
                "--task-weight is given {} times for {} --task-matrix; give it once for each",
                weights.len(),
                files.len()
            );
            return Err(problem.into());
        }
        let weights = weights.iter().copied().chain(std::iter::repeat(1.0));
        let task = |(file, weight): (&PathBuf, f64)| -> Result<_, Failure> {
            Ok((weight, read_matrix(reading.open(file)?, columns)?))
        };
        Ok(Some(Task::weighted(&files.iter().zip(weights).map(task).collect::<Result<Vec<_>, _>>()?)?))
    }
}
