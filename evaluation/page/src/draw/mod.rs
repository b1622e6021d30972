//! The common parts of all charts, of comparisons and of reproduced results: the frame, axes, colours, and
//! the style of series.

mod axis;

pub use axis::{Axis, ends};
use maud::{Markup, html};

/// The colours for light mode, dark mode and paper, and the styles of chart elements.
pub const STYLE: &str = concat!(include_str!("palette.css"), include_str!("chart.css"));

/// The width of a chart in SVG user units, like all lengths in this module. The page that shows a chart
/// scales these units.
pub const WIDTH: f64 = 640.0;
/// The height of a chart.
pub const HEIGHT: f64 = 390.0;
/// The left edge of the frame.
pub const LEFT: f64 = 60.0;
/// The right edge of the frame.
pub const RIGHT: f64 = WIDTH - 66.0;
/// The top edge of the frame.
pub const TOP: f64 = 14.0;
/// The bottom edge of the frame.
pub const BOTTOM: f64 = HEIGHT - 60.0;

/// SVG paths of the markers of series, centred at (0, 0).
const MARKERS: [&str; 8] = [
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
    "M-4 -4h8v8h-8Z",
    "M0 -5.4L5 3.6H-5Z",
    "M0 -5.6L5.2 0L0 5.6L-5.2 0Z",
    "M0 5.4L5 -3.6H-5Z",
    "M-4.2 -4.2L4.2 4.2M4.2 -4.2L-4.2 4.2",
    "M0 -5.2V5.2M-5.2 0H5.2",
    "M0 -5.4L5.1 -1.7L3.2 4.4H-3.2L-5.1 -1.7Z",
];
const DASHES: [&str; 5] = ["none", "7 3", "2 3", "9 3 2 3", "14 4"];

/// The style of a series. No two of the first forty styles have both marker and dashes in common.
pub struct Look {
    /// The marker, an SVG path centred at (0, 0).
    pub marker: &'static str,
    /// The dashes of the line, in SVG syntax.
    pub dashes: &'static str,
}

impl Look {
    /// The style of the series with index `at`.
    pub fn nth(at: usize) -> Self {
        let round = at / MARKERS.len();
        Self { marker: MARKERS[at % MARKERS.len()], dashes: DASHES[(at + round) % DASHES.len()] }
    }

    /// Draws the marker at `[x, y]`, scaled by `size`.
    pub fn mark(&self, [x, y]: [f64; 2], size: f64) -> Markup {
        html! { path.marker d=(self.marker) transform={ "translate(" (at(x)) " " (at(y)) ") \
        scale(" (size) ")" } {} }
    }
}

/// Draws a frame whose right edge is at `right`. It has a grid line at each of the labelled `heights`, the
/// text `heading`, and a horizontal axis with a tick at each of the labelled `places`.
pub fn frame(right: f64, heights: &[(f64, String)], heading: Markup, places: &[(f64, String)]) -> Markup {
    html! {
        @for (y, label) in heights {
            @let y = at(*y);
            line.grid x1=(at(LEFT)) x2=(at(right)) y1=(y) y2=(y) {}
            text x=(at(LEFT - 8.0)) y=(y) dy="0.32em" text-anchor="end" { (label) }
        }
        (heading)
        line.axis x1=(at(LEFT)) x2=(at(right)) y1=(at(BOTTOM)) y2=(at(BOTTOM)) {}
        @for (x, label) in places {
            @let x = at(*x);
            line.axis x1=(x) x2=(x) y1=(at(BOTTOM)) y2=(at(BOTTOM + 5.0)) {}
            text x=(x) y=(at(BOTTOM + 22.0)) text-anchor="middle" { (label) }
        }
    }
}

/// A coordinate, rounded to a tenth.
pub fn at(coordinate: f64) -> String {
    let text = format!("{coordinate:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn forty_series_can_be_told_apart_without_colours() {
        let looks: HashSet<(&str, &str)> =
            (0..40).map(Look::nth).map(|look| (look.marker, look.dashes)).collect();
        assert_eq!(looks.len(), 40);
    }
}
