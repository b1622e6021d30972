//! How a time grows with a size.

use crate::unit::Unit;
use crate::{Contestant, Result};
use std::fmt::Write;

/// Times at several sizes of one thing.
pub(crate) struct Growth {
    pub(crate) title: &'static str,
    pub(crate) what: String,
    /// What the sizes are of.
    pub(crate) of: &'static str,
    pub(crate) sizes: Vec<usize>,
    pub(crate) law: GrowthLaw,
    pub(crate) rows: Vec<Row>,
}

/// What a time is compared with.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum GrowthLaw {
    /// A power of the size: by its exponent.
    Power,
    /// A power of a number, with the size as the exponent: by that number.
    Exponential,
}

/// Something that is done at each of the sizes.
pub(crate) struct Row {
    name: String,
    contestants: Vec<Contestant>,
}

impl Row {
    pub(crate) fn new(
        name: &str,
        sizes: &[usize],
        at: impl FnMut(usize) -> Result<Contestant>,
    ) -> Result<Self> {
        let contestants = sizes.iter().copied().map(at).collect::<Result<_>>()?;
        Ok(Self { name: name.into(), contestants })
    }
}

impl GrowthLaw {
    fn named(self) -> &'static str {
        match self {
            Self::Power => "exponent",
            Self::Exponential => "times for one more",
        }
    }

    /// The exponent, or the number, of the growth law that fits these times: by least squares on logarithms.
    fn fitted(self, sizes: &[usize], times: &[f64]) -> f64 {
        let sizes = sizes.iter().map(|&size| size as f64);
        let logarithms: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        match self {
            Self::Power => slope(&sizes.map(f64::ln).collect::<Vec<_>>(), &logarithms),
            Self::Exponential => slope(&sizes.collect::<Vec<_>>(), &logarithms).exp(),
        }
    }
}

/// Σ(x − x̄)(y − ȳ) / Σ(x − x̄)².
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (middle, height) = (mean(x), mean(y));
    let together: f64 = x.iter().zip(y).map(|(x, y)| (x - middle) * (y - height)).sum();
    together / x.iter().map(|x| (x - middle).powi(2)).sum::<f64>()
}

impl Growth {
    /// All that take turns.
    pub(crate) fn turns(&mut self) -> impl Iterator<Item = &mut Contestant> {
        self.rows.iter_mut().flat_map(|row| &mut row.contestants)
    }

    pub(crate) fn markdown(&self) -> String {
        let sizes: Vec<String> = self.sizes.iter().map(usize::to_string).collect();
        let mut text = format!(
            "\n### {}\n\n{}\n\n| {} | {} | {} |\n|---|{}\n",
            self.title,
            self.what,
            self.of,
            sizes.join(" | "),
            self.law.named(),
            "--:|".repeat(self.sizes.len() + 1)
        );
        for row in &self.rows {
            let times: Vec<f64> = row.contestants.iter().map(Contestant::median).collect();
            let unit = Unit::of(times.iter().copied().fold(0.0, f64::max));
            let shown: Vec<String> = times.iter().map(|time| unit.figures(*time)).collect();
            let fitted = self.law.fitted(&self.sizes, &times);
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
        // By hand: x̄ = 2, ȳ = 3, Σ(x − x̄)(y − ȳ) = 3, Σ(x − x̄)² = 2.
        assert_eq!(slope(&[1.0, 2.0, 3.0], &[1.0, 4.0, 4.0]), 1.5);
    }
}
