//! What all charts have in common, of a comparison and of a paper's result: the frame, axes, colours, and the looks of series.

mod axis;

pub use axis::{Axis, ends};
use maud::{Markup, html};

/// The colours, by day, by night and on paper, and what is drawn with them.
pub const STYLE: &str = concat!(include_str!("palette.css"), include_str!("chart.css"));

/// The width of a chart, in user units as all lengths here: whoever shows a chart scales them.
pub const WIDTH: f64 = 640.0;
/// The height of a chart.
pub const HEIGHT: f64 = 390.0;
/// Where the frame begins on the left.
pub const LEFT: f64 = 60.0;
/// Where the frame ends on the right.
pub const RIGHT: f64 = WIDTH - 66.0;
/// Where the frame begins at the top.
pub const TOP: f64 = 14.0;
/// Where the frame ends at the bottom.
pub const BOTTOM: f64 = HEIGHT - 60.0;

/// Marks of series, around (0, 0).
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

/// How the series at this place looks: no two of the first forty have marker and dashes in common.
pub struct Look {
    /// Its mark, a path around (0, 0).
    pub marker: &'static str,
    /// The dashes of its line, as SVG writes them.
    pub dashes: &'static str,
}

impl Look {
    /// Of the series at this place.
    pub fn of(at: usize) -> Self {
        let round = at / MARKERS.len();
        Self { marker: MARKERS[at % MARKERS.len()], dashes: DASHES[(at + round) % DASHES.len()] }
    }

    /// Draws the mark at a place in a size.
    pub fn mark(&self, [x, y]: [f64; 2], size: f64) -> Markup {
        html! { path.marker d=(self.marker) transform={ "translate(" (at(x)) " " (at(y)) ") scale(" (size) ")" } {} }
    }
}

/// Draws a frame that ends at `right`: a grid at labelled heights, `heading`, and an axis with labelled places.
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

/// A coordinate, to a tenth.
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
            (0..40).map(Look::of).map(|look| (look.marker, look.dashes)).collect();
        assert_eq!(looks.len(), 40);
    }
}
