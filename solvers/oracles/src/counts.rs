//! Counts of many answers, and the frequencies that they estimate.

use crate::oracle::order;
use crate::{Kind, Oracle, Result};

/// Counts of the answers of many people to a frequency oracle.
#[derive(Debug, Clone)]
pub struct Counts {
    /// The number of answers that support each level (see [`Kind`]). For Hadamard response, the number of
    /// answers equal to each column of the Hadamard matrix.
    tallies: Vec<u64>,
    answers: u64,
}

impl Counts {
    /// Creates counts without any answer.
    pub fn new(oracle: &Oracle) -> Self {
        let length = match oracle.kind() {
            Kind::HadamardResponse => order(oracle.levels()),
            _ => oracle.levels(),
        };
        Self { tallies: vec![0; length as usize], answers: 0 }
    }

    /// The number of answers.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Adds an answer.
    ///
    /// # Errors
    /// [`Error::Answer`](crate::Error::Answer) if `answer` is not one that the oracle gives.
    pub fn add(&mut self, oracle: &Oracle, answer: &[u64]) -> Result<()> {
        oracle.check(answer)?;
        self.answers += 1;
        match oracle.kind() {
            Kind::RandomizedResponse | Kind::HadamardResponse => self.tallies[answer[0] as usize] += 1,
            Kind::UnaryEncoding | Kind::SubsetSelection => {
                for (levels, &word) in self.tallies.chunks_mut(crate::WORD as usize).zip(answer) {
                    let mut left = word;
                    while left != 0 {
                        levels[left.trailing_zeros() as usize] += 1;
                        left &= left - 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the counts of `other`, which must be for the same oracle.
    pub fn merge(mut self, other: &Self) -> Self {
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(count, more)| *count += more);
        self.answers += other.answers;
        self
    }

    /// Unbiased estimates of the share of people with each level, one for each level of `oracle`.
    ///
    /// With much noise, estimates can lie outside [0, 1]. Without any answer they are zeros.
    pub fn frequencies(&self, oracle: &Oracle) -> Vec<f64> {
        if self.answers == 0 {
            return vec![0.0; oracle.levels() as usize];
        }
        let (p, q, answers) = (oracle.p(), oracle.q(), self.answers as f64);
        let frequency = |supported: f64| (supported / answers - q) / (p - q);
        match oracle.kind() {
            Kind::HadamardResponse => {
                let mut sums: Vec<f64> = self.tallies.iter().map(|&count| count as f64).collect();
                walsh_hadamard(&mut sums);
                // Each sum is the number of answers that support a level, minus the number of answers that do
                // not. The first row of the matrix is constant and belongs to no level.
                sums[1..=oracle.levels() as usize]
                    .iter()
                    .map(|sum| frequency((answers + sum) / 2.0))
                    .collect()
            }
            _ => self.tallies.iter().map(|&count| frequency(count as f64)).collect(),
        }
    }
}

/// Multiplies `values` by Sylvester's Hadamard matrix in place. The number of values must be a power of two.
fn walsh_hadamard(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
}
