//! Long tails and spikes of a column: few numbers far above the others, many zeros, many missing cells.

use std::collections::BTreeMap;

/// Divisor of the upper bound. Most numbers of a long-tailed column lie below the quotient.
const LOW: f64 = 20.0;

/// Least share of the positive numbers below the quotient, for a long tail.
const MOST: f64 = 0.9;

/// Least share of zeros or of missing cells for a spike.
const SPIKE: f64 = 0.1;

/// Sizes of the numbers of a column.
#[derive(Default)]
pub(crate) struct Sizes {
    has_negative: bool,
    zeros: usize,
    /// Counts of the positive numbers, by the exponent of the largest power of two below.
    exponents: BTreeMap<i32, usize>,
}

impl Sizes {
    pub(crate) fn add(&mut self, number: f64) {
        match number {
            0.0 => self.zeros += 1,
            _ if number < 0.0 => self.has_negative = true,
            _ => *self.exponents.entry(number.log2().floor() as i32).or_insert(0) += 1,
        }
    }

    /// Returns the fields that spread the numbers between zero and `upper` more evenly, with the reason for
    /// each. `missing` and `cells` are the numbers of missing cells and of all cells.
    pub(crate) fn fields(
        &self,
        upper: f64,
        missing: usize,
        cells: usize,
    ) -> Vec<(&'static str, &'static str)> {
        let is_spike = |count: usize| count as f64 >= SPIKE * cells as f64;
        let positive: usize = self.exponents.values().sum();
        let is_low = |exponent: i32| f64::from(exponent + 1).exp2() <= upper / LOW;
        let low: usize =
            self.exponents.iter().filter(|(exponent, _)| is_low(**exponent)).map(|(_, count)| count).sum();
        let has_tail = !self.has_negative && positive > 0 && low as f64 >= MOST * positive as f64;
        let found = [
            (has_tail, ("scale = \"log\"", "few numbers are far larger than the others")),
            (positive > 0 && is_spike(self.zeros), ("zero = \"apart\"", "many numbers are zero")),
            (is_spike(missing), ("missing = \"apart\"", "many cells are missing")),
        ];
        found.into_iter().filter_map(|(is_found, field)| is_found.then_some(field)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(numbers: impl Iterator<Item = f64>, upper: f64, missing: usize) -> Vec<&'static str> {
        let (mut sizes, mut cells) = (Sizes::default(), missing);
        for number in numbers {
            sizes.add(number);
            cells += 1;
        }
        sizes.fields(upper, missing, cells).into_iter().map(|(field, _)| field).collect()
    }

    #[test]
    fn long_tails_and_spikes_are_found_and_even_numbers_are_not() {
        let steps = |count: i32| (1..=count).map(move |step| f64::from(step) / f64::from(count));
        assert!(fields(steps(1000).map(|step| step * 70.0), 100.0, 0).is_empty());
        assert!(fields(steps(1000).map(|step| step - 0.5), 1.0, 0).is_empty());
        // Pareto with index 1: half of the numbers are below 2, and one is 1000.
        let tail = || steps(1000).map(|step| 1.0 / step);
        assert_eq!(fields(tail(), 1000.0, 0), ["scale = \"log\""]);
        assert_eq!(
            fields(tail().chain([0.0; 200]), 1000.0, 200),
            ["scale = \"log\"", "zero = \"apart\"", "missing = \"apart\""]
        );
        assert!(fields(tail().chain([-5.0]), 1000.0, 50).is_empty());
    }
}
