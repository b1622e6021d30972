//! Mixing of private with public records (Dauntless, Algorithm 2, phase 2). An adversary that knows the
//! public records still does not know the mixtures, which are the inputs of the secret transformation. From
//! the public parts of enough mixtures it learns the transformation nevertheless (errata D15).

use ndarray::{Array2, ArrayView2, Axis};
use rand_core::RngCore;
use schemars::JsonSchema;
use scumble_core::{Error, Result, Stream};
use scumble_sampling::uniform_below;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Weights of the records in a mixture (a weighted mean of records). The weights are not negative, and add up
/// to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MixingWeights {
    /// Equal weights, as the proof of Corollary 1 (Dauntless) requires.
    Equal,
    /// Weights drawn uniformly from the simplex: all vectors of weights that are not negative and add up to
    /// one.
    Random,
}

/// Numbers of public and of private records in a mixture, and the weights of these records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mixing {
    pub(crate) public_parts: usize,
    pub(crate) private_parts: usize,
    pub(crate) weights: MixingWeights,
}

/// Composition of a mixed record: indices of private records, indices of public records, and the weights of
/// the private and then of the public records.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mix {
    private: Vec<usize>,
    public: Vec<usize>,
    weights: Vec<f64>,
}

impl Mixing {
    pub(crate) fn parts(&self) -> usize {
        self.public_parts + self.private_parts
    }

    /// Returns whether `samples` mixed records use every record at most once.
    pub(crate) fn is_fresh(&self, samples: usize, private: usize, public: usize) -> bool {
        samples.saturating_mul(self.private_parts) <= private
            && samples.saturating_mul(self.public_parts) <= public
    }

    /// Draws the compositions of `samples` mixtures of `private` private records and `public` public records.
    /// No private record is used twice if there are enough private records, and no public record if there are
    /// enough public records.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if a mixture needs more private or more public records than there are.
    pub(crate) fn draw(
        &self,
        samples: usize,
        [private, public]: [usize; 2],
        stream: &mut Stream,
    ) -> Result<Vec<Mix>> {
        for (parts, records, kind) in
            [(self.private_parts, private, "private"), (self.public_parts, public, "public")]
        {
            if parts > records {
                let reason =
                    format!("one mixed record needs {parts} {kind} records, and there are {records}");
                return Err(Error::not_applicable(crate::MIX, reason));
            }
        }
        let mut private = Urn::new(private, samples, self.private_parts, stream);
        let mut public = Urn::new(public, samples, self.public_parts, stream);
        Ok((0..samples)
            .map(|_| Mix {
                private: private.take(self.private_parts, stream),
                public: public.take(self.public_parts, stream),
                weights: self.weights(stream),
            })
            .collect())
    }

    fn weights(&self, stream: &mut Stream) -> Vec<f64> {
        match self.weights {
            MixingWeights::Equal => vec![1.0 / self.parts() as f64; self.parts()],
            MixingWeights::Random => {
                // Exponential numbers divided by their sum are uniform on the simplex.
                let share = |_| -(((stream.next_u64() >> 11) as f64 + 1.0) * 2f64.powi(-53)).ln();
                let shares: Vec<f64> = (0..self.parts()).map(share).collect();
                let sum: f64 = shares.iter().sum();
                // With a single record the sum may be zero, and the record's weight is then 1.
                shares.iter().map(|x| if sum > 0.0 { x / sum } else { 1.0 }).collect()
            }
        }
    }
}

impl Mix {
    /// Sum of the weights of the private records.
    pub(crate) fn private_weight(&self) -> f64 {
        self.weights[..self.private.len()].iter().sum()
    }

    /// Adds the weighted mean of this mixture's rows of `private` and `public` (d columns each) to `mixed`.
    fn add_to(&self, private: ArrayView2<f64>, public: Option<ArrayView2<f64>>, mixed: &mut [f64]) {
        let private = self.private.iter().map(|&row| private.row(row));
        let public = public.iter().flat_map(|public| self.public.iter().map(|&row| public.row(row)));
        for (record, weight) in private.chain(public).zip(&self.weights) {
            mixed.iter_mut().zip(record).for_each(|(sum, x)| *sum += weight * x);
        }
    }
}

/// Computes the m mixtures (m × d) of rows of `private` and `public` (d columns each). Without `public`, the
/// result is the private part of each mixture.
pub(crate) fn mixed(mixes: &[Mix], private: ArrayView2<f64>, public: Option<ArrayView2<f64>>) -> Array2<f64> {
    let mut rows = Array2::zeros((mixes.len(), private.ncols()));
    for (mix, mut row) in mixes.iter().zip(rows.axis_iter_mut(Axis(0))) {
        if let Some(row) = row.as_slice_mut() {
            mix.add_to(private, public, row);
        }
    }
    rows
}

/// Source of records for mixtures. If there are enough records, no record is drawn twice; else the records of
/// each mixture are drawn independently of other mixtures.
struct Urn {
    records: usize,
    /// Unused records in random order; `None` if a record may be drawn twice.
    unused: Option<Vec<usize>>,
}

impl Urn {
    fn new(records: usize, samples: usize, parts: usize, stream: &mut Stream) -> Self {
        let is_enough = samples.saturating_mul(parts) <= records;
        Self { records, unused: is_enough.then(|| shuffled(records, stream)) }
    }

    /// Draws the indices of `parts` different records, or of all records if there are fewer.
    fn take(&mut self, parts: usize, stream: &mut Stream) -> Vec<usize> {
        if let Some(unused) = &mut self.unused {
            return unused.split_off(unused.len().saturating_sub(parts));
        }
        let mut drawn = Vec::with_capacity(parts);
        while drawn.len() < parts.min(self.records) {
            let record = below(self.records, stream);
            if !drawn.contains(&record) {
                drawn.push(record);
            }
        }
        drawn
    }
}

/// Returns the numbers from 0 to `records` − 1 in uniformly random order.
pub(crate) fn shuffled(records: usize, stream: &mut Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..records).collect();
    (1..records).rev().for_each(|at| order.swap(at, below(at + 1, stream)));
    order
}

/// Draws a uniform integer from 0 to `count` − 1; zero if `count` is zero.
pub(crate) fn below(count: usize, stream: &mut Stream) -> usize {
    NonZeroU64::new(count as u64).map_or(0, |count| uniform_below(stream, count) as usize)
}
