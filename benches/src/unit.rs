//! Units of time.

/// A unit of time.
#[derive(Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    nanoseconds: f64,
}

impl Unit {
    /// Returns the unit in which this time is between 1 and 10,000, if such a unit exists.
    pub(crate) fn for_nanoseconds(nanoseconds: f64) -> Self {
        let (name, size) = match nanoseconds {
            1e7.. => ("ms", 1e6),
            1e4.. => ("µs", 1e3),
            _ => ("ns", 1.0),
        };
        Self { name, nanoseconds: size }
    }

    pub(crate) fn figures(self, nanoseconds: f64) -> String {
        figures(nanoseconds / self.nanoseconds)
    }
}

/// Formats three significant figures, and all figures before the point.
pub(crate) fn figures(value: f64) -> String {
    let places = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        0.01.. => 4,
        _ => 5,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_figures_in_its_unit() {
        let shown = [0.6789, 15.14, 9_999.0, 69_939.6, 487_126_218.0].map(|time| {
            let unit = Unit::for_nanoseconds(time);
            format!("{} {}", unit.figures(time), unit.name)
        });
        assert_eq!(shown, ["0.679 ns", "15.1 ns", "9999 ns", "69.9 µs", "487 ms"]);
    }
}
