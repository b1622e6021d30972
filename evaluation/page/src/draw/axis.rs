//! Axes with round numbers.

use super::{BOTTOM, LEFT, TOP};

/// A linear or logarithmic scale.
#[derive(Debug)]
pub struct Axis {
    /// The lower end of the scale. On a logarithmic scale, the ends are base-ten logarithms.
    from: f64,
    to: f64,
    ticks: Vec<f64>,
    is_logarithmic: bool,
}

impl Axis {
    /// A linear scale that contains `low` and `high`, with about five steps.
    pub fn linear(low: f64, high: f64) -> Self {
        let step = round((high - low).max(1e-3 * high.abs()).max(1e-9) / 5.0, Rounding::Up);
        let from = (low / step).floor() * step;
        let to = ((high / step).ceil() * step).max(from + step);
        let count = ((to - from) / step).round() as i32;
        let ticks = (0..=count).map(|at| from + f64::from(at) * step).collect();
        Self { from, to, ticks, is_logarithmic: false }
    }

    /// A logarithmic scale that contains `low` and `high`, both positive.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let [from, to] = [round(low, Rounding::Down), round(high, Rounding::Up)].map(f64::log10);
        // A single number still needs an axis of positive length.
        let to = if to > from { to } else { from + 1.0 };
        Self { from, to, ticks: magnitudes([from, to]), is_logarithmic: true }
    }

    /// Returns true for a logarithmic scale.
    pub fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// The relative position of a value: 0 at the lower end, 1 at the upper end.
    pub fn share(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        (value - self.from) / (self.to - self.from)
    }

    /// The horizontal coordinate of a value, in a frame that ends at `right`. A value beyond the scale is
    /// placed at its edge.
    pub fn x(&self, value: f64, right: f64) -> f64 {
        LEFT + self.share(value).clamp(0.0, 1.0) * (right - LEFT)
    }

    /// The vertical coordinate of a value. A value beyond the scale is placed at its edge.
    pub fn y(&self, value: f64) -> f64 {
        BOTTOM - self.share(value).clamp(0.0, 1.0) * (BOTTOM - TOP)
    }

    /// Horizontal coordinates of the ticks with their labels, in a frame that ends at `right`.
    pub fn places(&self, right: f64) -> Vec<(f64, String)> {
        self.ticks().map(|(value, label)| (self.x(value, right), label)).collect()
    }

    /// Vertical coordinates of the ticks with their labels.
    pub fn heights(&self) -> Vec<(f64, String)> {
        self.ticks().map(|(value, label)| (self.y(value), label)).collect()
    }

    /// Values of the ticks with their labels. The labels have enough decimals to distinguish neighbouring
    /// ticks. On a logarithmic scale, each label has its own number of decimals.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        let steps = self.ticks.windows(2).map(|pair| pair[1] - pair[0]);
        let step = steps.fold(f64::INFINITY, f64::min);
        let label = move |value: f64| match if self.is_logarithmic { value } else { step } {
            finest @ 1e-4..1e6 => {
                let decimals = (-(finest * (1.0 + 1e-9)).log10().floor()).max(0.0) as usize;
                format!("{value:.decimals$}")
            }
            _ => format!("{value:.0e}"),
        };
        self.ticks.iter().map(move |&value| (value, label(value)))
    }
}

/// The least and the greatest of `values`, or 0 and 1 if `values` is empty.
pub fn ends(values: &[f64]) -> (f64, f64) {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

#[derive(Clone, Copy, PartialEq)]
enum Rounding {
    Down,
    Up,
}

/// The largest round number that is at most `value` if `rounding` is [`Rounding::Down`], or the smallest that
/// is at least `value` otherwise. A round number is 1, 2 or 5 times a power of ten.
fn round(value: f64, rounding: Rounding) -> f64 {
    let unit = 10f64.powf(value.log10().floor());
    let fits = |times: &f64| match rounding {
        Rounding::Down => times * unit <= value * (1.0 + 1e-9),
        Rounding::Up => times * unit >= value * (1.0 - 1e-9),
    };
    let mut times = [1.0, 2.0, 5.0, 10.0].into_iter();
    let found = if rounding == Rounding::Up { times.find(fits) } else { times.rfind(fits) };
    found.unwrap_or(1.0) * unit
}

/// Ticks of a logarithmic scale: 1, 2 and 5 times powers of ten, or only powers of ten if the scale is long.
/// `ends` has the base-ten logarithms of the ends of the scale.
fn magnitudes(ends: [f64; 2]) -> Vec<f64> {
    let times: &[f64] = if ends[1] - ends[0] > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let powers = ends[0].floor() as i32..=ends[1].ceil() as i32;
    // Omits some powers of ten if there are too many for the length of the axis.
    let every = (powers.clone().count() as i32 / 8).max(1);
    let values = powers.filter(|power| power % every == 0);
    let values = values.flat_map(|power| times.iter().map(move |times| times * 10f64.powi(power)));
    values.filter(|value| (ends[0] - 1e-9..=ends[1] + 1e-9).contains(&value.log10())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (step, up, down) in
            [(0.9, 1.0, 0.5), (1.0, 1.0, 1.0), (1.1, 2.0, 1.0), (0.03, 0.05, 0.02), (60.0, 100.0, 50.0)]
        {
            for (rounding, expected) in [(Rounding::Up, up), (Rounding::Down, down)] {
                let found = round(step, rounding);
                assert!((found - expected).abs() < 1e-9 * expected, "{step} gives {found}");
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_has_a_few_round_numbers() {
        assert_eq!(magnitudes([0.5, 20.0].map(f64::log10)), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        assert_eq!(magnitudes([0.0, 4.0]), [1.0, 10.0, 100.0, 1000.0, 10000.0]);
        assert!((2..12).contains(&magnitudes([-3.0, 90.0]).len()));
    }
}
