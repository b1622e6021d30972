//! Growth of the time of a task with a size, such as its number of records or threads.

use crate::unit::Unit;
use crate::{Contestant, Result};
use std::fmt::Write;

/// Times of several tasks at several sizes.
pub(crate) struct Growth {
    pub(crate) what: String,
    /// Unit of the sizes.
    pub(crate) size_unit: &'static str,
    pub(crate) sizes: Vec<usize>,
    pub(crate) law: GrowthLaw,
    pub(crate) rows: Vec<Row>,
}

/// Function that is fitted to the times.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum GrowthLaw {
    /// A power of the size, described by its exponent.
    Power,
    /// A fixed base to the power of the size, described by the base.
    Exponential,
}

/// A task that is timed at each size.
pub(crate) struct Row {
    name: String,
    at: Box<dyn Fn(usize) -> Result<Contestant>>,
    /// Median time at each size, in nanoseconds; empty before the timing.
    medians: Vec<f64>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, at: impl Fn(usize) -> Result<Contestant> + 'static) -> Self {
        Self { name: name.into(), at: Box::new(at), medians: vec![] }
    }
}

impl GrowthLaw {
    fn named(self) -> &'static str {
        match self {
            Self::Power => "exponent",
            Self::Exponential => "times for one more",
        }
    }

    /// Returns the exponent or the base of the growth law that fits `times` at `sizes` best, by least squares
    /// on logarithms.
    fn fitted(self, sizes: &[usize], times: &[f64]) -> f64 {
        let sizes = sizes.iter().map(|&size| size as f64);
        let logarithms: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        match self {
            Self::Power => slope(&sizes.map(f64::ln).collect::<Vec<_>>(), &logarithms),
            Self::Exponential => slope(&sizes.collect::<Vec<_>>(), &logarithms).exp(),
        }
    }
}

/// Computes the least-squares slope Σ(x − x̄)(y − ȳ) / Σ(x − x̄)² of the values `y` at `x`, with means ȳ and
/// x̄.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (middle, height) = (mean(x), mean(y));
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - middle) * (y - height)).sum();
    together / x.iter().map(|x| (x - middle).powi(2)).sum::<f64>()
}

impl Growth {
    /// Times one row after the other, so that only the inputs of one row are in memory. All sizes of a row
    /// take turns for `rounds` rounds.
    ///
    /// # Errors
    /// The error of a contestant.
    pub(crate) fn time(&mut self, rounds: usize) -> Result<()> {
        for row in &mut self.rows {
            let mut contestants =
                self.sizes.iter().map(|size| (row.at)(*size)).collect::<Result<Vec<_>>>()?;
            for _ in 0..rounds {
                contestants.iter_mut().try_for_each(Contestant::take_turn)?;
            }
            row.medians = contestants.iter().map(Contestant::median).collect();
        }
        Ok(())
    }

    /// Formats the times as Markdown under the heading `title`.
    pub(crate) fn markdown(&self, title: &str) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let mut text = format!(
            "\n### {}\n\n{}\n\n| {} | {} | {} |\n|---|{}\n",
            title,
            self.what,
            self.size_unit,
            sizes.join(" | "),
            self.law.named(),
            "--:|".repeat(self.sizes.len() + 1)
        );
        for row in &self.rows {
            let unit = Unit::for_nanoseconds(row.medians.iter().copied().fold(0.0, f64::max));
            let shown: Vec<String> = row.medians.iter().map(|time| unit.figures(*time)).collect();
            let fitted = self.law.fitted(&self.sizes, &row.medians);
            let _ = writeln!(text, "| {}, {} | {} | {fitted:.2} |", row.name, unit.name, shown.join(" | "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_found_in_times_that_obey_it() {
        let sizes = [10, 20, 50, 100];
        let cubic = sizes.map(|size| 7.0 * (size as f64).powi(3));
        assert!((GrowthLaw::Power.fitted(&sizes, &cubic) - 3.0).abs() < 1e-12);
        let doubling = sizes.map(|size| 7.0 * 2f64.powi(size as i32));
        assert!((GrowthLaw::Exponential.fitted(&sizes, &doubling) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn an_exponent_is_the_slope_of_least_squares() {
        // Computed by hand: x̄ = 2, ȳ = 3, Σ(x − x̄)(y − ȳ) = 3, Σ(x − x̄)² = 2.
        assert_eq!(slope(&[1.0, 2.0, 3.0], &[1.0, 4.0, 4.0]), 1.5);
    }
}
