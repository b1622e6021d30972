//! Counts: what many answers estimate together.

use crate::oracle::order;
use crate::{Kind, Oracle, Result};

/// Answers of many people, counted.
#[derive(Debug, Clone)]
pub struct Counts {
    /// How often each level was supported; of the Hadamard matrix, how often each column was the answer.
    of_each: Vec<u64>,
    answers: u64,
}

impl Counts {
    /// None yet.
    pub fn new(oracle: &Oracle) -> Self {
        let length = match oracle.kind() {
            Kind::HadamardResponse => order(oracle.levels()),
            _ => oracle.levels(),
        };
        Self { of_each: vec![0; length as usize], answers: 0 }
    }

    /// How many answers there are.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// One more.
    ///
    /// # Errors
    /// [`Error::Answer`](crate::Error::Answer) for one that the oracle does not give.
    pub fn add(&mut self, oracle: &Oracle, answer: &[u64]) -> Result<()> {
        oracle.check(answer)?;
        self.answers += 1;
        match oracle.kind() {
            Kind::RandomizedResponse | Kind::HadamardResponse => self.of_each[answer[0] as usize] += 1,
            Kind::UnaryEncoding | Kind::SubsetSelection => {
                for (levels, &word) in self.of_each.chunks_mut(crate::WORD as usize).zip(answer) {
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

    /// These and those of others.
    pub fn merge(mut self, other: &Self) -> Self {
        self.of_each.iter_mut().zip(&other.of_each).for_each(|(count, more)| *count += more);
        self.answers += other.answers;
        self
    }

    /// The share of people with each level (K), unbiased: not within [0, 1] where noise is large. Nothing but zeros without an answer.
    pub fn frequencies(&self, oracle: &Oracle) -> Vec<f64> {
        if self.answers == 0 {
            return vec![0.0; oracle.levels() as usize];
        }
        let (p, q, answers) = (oracle.p(), oracle.q(), self.answers as f64);
        let frequency = |supported: f64| (supported / answers - q) / (p - q);
        match oracle.kind() {
            Kind::HadamardResponse => {
                let mut sums: Vec<f64> = self.of_each.iter().map(|&count| count as f64).collect();
                walsh_hadamard(&mut sums);
                // Supported less unsupported answers; the first row supports nothing in particular.
                sums[1..=oracle.levels() as usize]
                    .iter()
                    .map(|sum| frequency((answers + sum) / 2.0))
                    .collect()
            }
            _ => self.of_each.iter().map(|&count| frequency(count as f64)).collect(),
        }
    }
}

/// Sylvester's Hadamard matrix times the values, in place: their number is a power of two.
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

/// The nearest point of {x ≥ 0, Σx = 1} in ℓ₂ (Held, Wolfe and Crowder 1974): what estimates become before records are drawn from them. Uniform for
/// values that are no numbers.
pub fn project_to_simplex(values: &mut [f64]) {
    let mut sorted = values.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let mut sum = 0.0;
    let mut threshold = f64::NAN;
    for (at, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (at + 1) as f64;
        if *value > candidate {
            threshold = candidate;
        }
    }
    let uniform = 1.0 / values.len() as f64;
    for value in values {
        *value = if threshold.is_finite() { (*value - threshold).max(0.0) } else { uniform };
    }
}
