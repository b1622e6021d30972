//! Exact random draws for mechanisms that are defined in Python.

use crate::errors::Failed;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand_core::{RngCore, SeedableRng};
use scumble::core::Stream;
use scumble::sampling::{self, DiscreteGaussian, DiscreteLaplace, Rational};
use std::num::NonZeroU64;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of values of one call.
const MOST_VALUES: usize = 1 << 28;

/// Generators of random numbers, one for each record of a block.
///
/// The draws of a record do not depend on the other records of its block. A release of a block is therefore
/// the same as the releases of its records one by one.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Random {
    streams: Mutex<Vec<Stream>>,
}

impl Random {
    /// Generators of `records` records, whose keys are drawn from `stream`.
    pub(crate) fn for_records(records: usize, stream: &mut Stream) -> Self {
        let mut own = || {
            let mut key = [0; 32];
            stream.fill_bytes(&mut key);
            Stream::from_seed(key)
        };
        Self { streams: Mutex::new((0..records).map(|_| own()).collect()) }
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Generator of the last record alone, in its present state.
    pub(crate) fn of_last(&self) -> Self {
        let streams = self.streams();
        Self { streams: Mutex::new(streams.last().cloned().into_iter().collect()) }
    }

    /// Draws `each` values for every record by `draw`, which fills them. The result is the records × `each`
    /// matrix, as bytes of 64-bit integers in the order of this machine.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        each: usize,
        mut draw: impl FnMut(&mut Stream, &mut [i64]) + Send,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let bytes = py.detach(|| {
            let mut streams = self.streams();
            let values = streams.len().checked_mul(each).filter(|values| *values <= MOST_VALUES);
            let values = values.ok_or_else(|| {
                Failed::input(format!(
                    "size: {each} values for each of {} records are too many",
                    streams.len()
                ))
            })?;
            let mut drawn = vec![0_i64; values];
            for (stream, row) in streams.iter_mut().zip(drawn.chunks_mut(each.max(1))) {
                draw(stream, row);
            }
            Ok::<_, Failed>(drawn.into_iter().flat_map(i64::to_ne_bytes).collect::<Vec<u8>>())
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Draws `size` values for every record, from one distribution or from one for each value.
    fn fill_from<'py, D: Send + Sync>(
        &self,
        py: Python<'py>,
        size: usize,
        distributions: &[D],
        draw: impl Fn(&D, &mut Stream) -> i64 + Send + Sync,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        if distributions.len() != 1 && distributions.len() != size {
            let given = distributions.len();
            return Err(Failed::input(format!("{given} numbers are given for {size} columns")));
        }
        self.fill(py, size, |stream, row| {
            let each = distributions.iter().cycle();
            row.iter_mut().zip(each).for_each(|(value, distribution)| *value = draw(distribution, stream));
        })
    }
}

/// Fractions, each as numerator and denominator.
type Fractions = Vec<(u64, u64)>;

fn each<D>(fractions: Fractions, make: impl Fn(Rational) -> sampling::Result<D>) -> Result<Vec<D>, Failed> {
    let made =
        fractions.into_iter().map(|(numerator, denominator)| make(Rational::new(numerator, denominator)?));
    made.collect::<sampling::Result<_>>().map_err(|problem| Failed::input(problem.to_string()))
}

/// Value of a draw, which samplers of these scales keep far below 2⁶³ but with a probability of 0 in
/// practice.
fn whole(draw: i128) -> i64 {
    i64::try_from(draw).unwrap_or(if draw < 0 { i64::MIN } else { i64::MAX })
}

#[pymethods]
impl Random {
    /// Number of records.
    #[getter]
    fn records(&self) -> usize {
        self.streams().len()
    }

    /// Discrete Laplace draws, from one scale or from one for each column.
    fn discrete_laplace<'py>(
        &self,
        py: Python<'py>,
        scales: Fractions,
        size: usize,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let noise = each(scales, DiscreteLaplace::new)?;
        self.fill_from(py, size, &noise, |noise, stream| whole(noise.sample(stream)))
    }

    /// Discrete Gaussian draws, from one scale or from one for each column.
    fn discrete_gaussian<'py>(
        &self,
        py: Python<'py>,
        scales: Fractions,
        size: usize,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let noise = each(scales, DiscreteGaussian::new)?;
        self.fill_from(py, size, &noise, |noise, stream| whole(noise.sample(stream)))
    }

    /// Coins that show 1, with one probability or with one for each column.
    fn bernoulli<'py>(
        &self,
        py: Python<'py>,
        probabilities: Fractions,
        size: usize,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let coins = each(probabilities, Ok)?;
        self.fill_from(py, size, &coins, |coin, stream| sampling::bernoulli(stream, *coin).into())
    }

    /// Coins that show 1 with probability exp(−γ), with one γ or with one for each column.
    fn bernoulli_exp<'py>(
        &self,
        py: Python<'py>,
        gammas: Fractions,
        size: usize,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let coins = each(gammas, Ok)?;
        self.fill_from(py, size, &coins, |coin, stream| sampling::bernoulli_exp(stream, *coin).into())
    }

    /// Uniform integers from 0 to `bound` − 1, `size` for each record.
    fn integers<'py>(
        &self,
        py: Python<'py>,
        bound: NonZeroU64,
        size: usize,
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        self.fill(py, size, |stream, row| {
            row.fill_with(|| sampling::uniform_below(stream, bound) as i64);
        })
    }

    /// A uniform permutation of 0, …, `size` − 1 for each record.
    fn permutation<'py>(&self, py: Python<'py>, size: usize) -> Result<Bound<'py, PyBytes>, Failed> {
        self.fill(py, size, |stream, row| {
            row.iter_mut().zip(0..).for_each(|(value, at)| *value = at);
            for last in (1..row.len()).rev() {
                let bound = NonZeroU64::MIN.saturating_add(last as u64);
                row.swap(last, sampling::uniform_below(stream, bound) as usize);
            }
        })
    }

    /// Randomised response to the level `truth[i]` of each record, where the truth is e^ε times as likely as
    /// each other level.
    fn randomized_response<'py>(
        &self,
        py: Python<'py>,
        truth: Vec<u64>,
        levels: NonZeroU64,
        epsilon: (u64, u64),
    ) -> Result<Bound<'py, PyBytes>, Failed> {
        let epsilon = each(vec![epsilon], Ok)?[0];
        let records = self.records();
        if truth.len() != records {
            return Err(Failed::input(format!(
                "truth: {} levels are given for {records} records",
                truth.len()
            )));
        }
        let mut truth = truth.into_iter();
        self.fill(py, 1, |stream, row| {
            // A truth outside the levels gets a uniform answer.
            let truth = truth.next().unwrap_or(u64::MAX);
            row[0] = sampling::randomized_response(stream, truth, levels, epsilon) as i64;
        })
    }
}
