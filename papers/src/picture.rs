//! Charts of results: panels of curves, points and lines, as one SVG. The SVG loads no other resource and
//! follows the reader's light or dark colour scheme.

use maud::{Markup, PreEscaped, html};
use ndarray::ArrayView1;
use scumble_page::draw::{self, Axis, BOTTOM, HEIGHT, LEFT, Look, RIGHT, STYLE, TOP, WIDTH, at, ends};
use serde::Serialize;

/// A chart: panels, one below the other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Picture {
    /// Title of the chart.
    pub title: String,
    /// Panels, from top to bottom.
    pub panels: Vec<Panel>,
}

/// A panel: layers over two scales.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panel {
    /// Title of the panel.
    pub title: String,
    /// Horizontal scale, from left to right.
    pub across: Scale,
    /// Vertical scale, from the bottom up.
    pub up: Scale,
    /// Layers in drawing order; the last is on top.
    pub layers: Vec<Layer>,
}

/// Scale of one direction of a panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scale {
    /// Label in words, with the unit.
    pub label: String,
    /// True if equal steps are equal ratios.
    pub logarithmic: bool,
}

impl Scale {
    /// Linear scale: equal steps are equal differences.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false }
    }

    /// Logarithmic scale: equal steps are equal ratios.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true }
    }
}

/// Marks of one kind in one colour.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layer {
    /// Name in the legend.
    pub name: String,
    /// Index of the layer's colour and look; colours repeat after eight indices.
    pub look: usize,
    /// The marks.
    #[serde(flatten)]
    pub marks: Marks,
}

/// Marks of a layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Marks {
    /// Joined points, each with a bar of ± its standard error.
    Curve(Vec<CurvePoint>),
    /// Separate points.
    Dots(Vec<[f64; 2]>),
    /// A horizontal line at this height.
    Level(f64),
    /// Images side by side, labelled with the layer's name. A panel that has only images is a sheet: it has
    /// no axes, and its layers are strips of images, one below the other.
    Images {
        /// Number of pixels in a row of an image.
        width: usize,
        /// Images with one digit per pixel, row by row, from 0 (paper) to 7 (ink).
        images: Vec<String>,
    },
    /// The line a·x + b·y + c = 0.
    Line {
        /// Coefficients a and b.
        weights: [f64; 2],
        /// Constant c.
        bias: f64,
    },
}

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
    /// Standard error of `y`; 0 for none.
    pub error: f64,
}

/// Height of the title above a panel.
const HEADING: f64 = 34.0;
/// Height of a line in the legend.
const LINE: f64 = 20.0;
/// Distance between images on a sheet, and between strips.
const PITCH: f64 = 48.0;
/// Width of an image on a sheet.
const IMAGE: f64 = 44.0;
/// Horizontal position of a strip's first image, after its name.
const AFTER_NAME: f64 = 150.0;
/// Number of colours in the palette.
const INKS: usize = 8;

impl Picture {
    /// Returns a standalone SVG file, for browsers and documents.
    pub fn to_svg(&self) -> String {
        let mut height = HEADING;
        let next = |panel: &Panel| {
            height += panel.height();
            height - panel.height()
        };
        let tops: Vec<f64> = self.panels.iter().map(next).collect();
        let picture = html! {
            svg.chart xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(self.title)
                viewBox={ "0 0 " (WIDTH) " " (at(height)) } width=(WIDTH) height=(at(height)) {
                title { (self.title) }
                style { (PreEscaped(STYLE)) "text{font-family:system-ui,sans-serif}.chart \
                    .strong{fill:var(--ink);font-weight:600}" }
                rect width="100%" height="100%" fill="var(--paper)" {}
                text.strong x=(at(WIDTH / 2.0)) y="24" text-anchor="middle" font-size="15" { (self.title) }
                @for (panel, top) in self.panels.iter().zip(tops) {
                    g transform={ "translate(0 " (at(top)) ")" } { (panel.drawn()) }
                }
            }
        };
        picture.into_string() + "\n"
    }
}

impl Panel {
    /// Returns true if the panel has only images and needs no axes.
    fn is_sheet(&self) -> bool {
        !self.layers.is_empty() && self.layers.iter().all(|layer| matches!(layer.marks, Marks::Images { .. }))
    }

    /// Height of the panel. Two layers share a line of the legend.
    fn height(&self) -> f64 {
        if self.is_sheet() {
            return HEADING + PITCH * self.layers.len() as f64 + LINE;
        }
        HEADING + HEIGHT + LINE * self.layers.len().div_ceil(2) as f64
    }

    fn drawn(&self) -> Markup {
        if self.is_sheet() {
            return self.sheet();
        }
        let axes = PanelAxes::new(self);
        html! {
            text.strong x=(at((LEFT + RIGHT) / 2.0)) y="22" text-anchor="middle" { (self.title) }
            g transform={ "translate(0 " (at(HEADING)) ")" } {
                (draw::frame(RIGHT, &axes.up.heights(), html! {}, &axes.across.places(RIGHT)))
                text x=(at((LEFT + RIGHT) / 2.0)) y=(at(BOTTOM + 42.0)) text-anchor="middle" {
                    (self.across.label)
                }
                text transform={ "translate(" (at(RIGHT + 24.0)) " " (at((TOP + BOTTOM) / 2.0)) ") \
                    rotate(-90)" } text-anchor="middle" {
                    (self.up.label)
                }
                @for layer in &self.layers { (layer.drawn(&axes)) }
                @for (place, layer) in self.layers.iter().enumerate() {
                    @let x = LEFT + (RIGHT - LEFT) / 2.0 * (place % 2) as f64;
                    @let y = HEIGHT + LINE * (place / 2) as f64;
                    g class={ "s" (layer.look % INKS) } transform={ "translate(" (at(x)) " " (at(y)) ")" } {
                        (layer.sample())
                        text x="40" dy="0.32em" { (layer.name) }
                    }
                }
            }
        }
    }

    /// Draws strips of images, each after its name.
    fn sheet(&self) -> Markup {
        html! {
            text.strong x=(at((LEFT + RIGHT) / 2.0)) y="22" text-anchor="middle" { (self.title) }
            @for (place, layer) in self.layers.iter().enumerate() {
                @if let Marks::Images { width, images } = &layer.marks {
                    g transform={ "translate(0 " (at(HEADING + PITCH * place as f64)) ")" } {
                        text x=(at(AFTER_NAME - 12.0)) y=(at(IMAGE / 2.0)) dy="0.32em" text-anchor="end" {
                            (layer.name)
                        }
                        @for (at_image, image) in images.iter().enumerate() {
                            @let x = at(AFTER_NAME + PITCH * at_image as f64);
                            @let scale = format!("{:.3}", IMAGE / (*width).max(1) as f64);
                            g transform={ "translate(" (x) " 0) \
                                scale(" (scale) ")" } { (shaded(*width, image)) }
                        }
                    }
                }
            }
        }
    }
}

/// Draws an image as one path per shade, made of runs of pixels. `width` is the number of pixels in a row.
fn shaded(width: usize, image: &str) -> Markup {
    let rows: Vec<&[u8]> = image.as_bytes().chunks(width.max(1)).collect();
    let path = |shade: u8| {
        let mut path = String::new();
        for (y, row) in rows.iter().enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|a, b| a == b) {
                if run[0] == shade {
                    path += &format!("M{x} {y}h{}", run.len());
                }
                x += run.len();
            }
        }
        path
    };
    html! {
        @for shade in b'1'..=b'7' {
            @let path = path(shade);
            @if !path.is_empty() {
                @let opacity = format!("{:.2}", f64::from(shade - b'0') / 7.0);
                path d=(path) stroke="var(--ink)" fill="none" stroke-opacity=(opacity) {}
            }
        }
    }
}

impl Layer {
    fn drawn(&self, axes: &PanelAxes) -> Markup {
        let look = Look::nth(self.look);
        let ink = format!("series s{}", self.look % INKS);
        let line = |ends: [[f64; 2]; 2]| {
            let [[x1, y1], [x2, y2]] = ends.map(|point| point.map(at));
            html! { line.line x1=(x1) y1=(y1) x2=(x2) y2=(y2) stroke-dasharray=(look.dashes) {} }
        };
        html! {
            g class=(ink) {
                title { (self.name) }
                @match &self.marks {
                    Marks::Curve(points) => {
                        @let places = points.iter().map(|point| format!("{} \
                            {}", at(axes.x(point.x)), at(axes.y(point.y))));
                        path.line
                            d={ "M" (places.collect::<Vec<_>>().join("L")) }
                            stroke-dasharray=(look.dashes) {}
                        @for CurvePoint { x, y, error } in points {
                            @if *error > 0.0 {
                                path.spread-bar d={
                                    "M" (at(axes.x(*x))) " " (at(axes.y(y - error)))
                                    "V" (at(axes.y(y + error)))
                                } {}
                            }
                            (look.mark([axes.x(*x), axes.y(*y)], 0.8))
                        }
                    }
                    Marks::Dots(points) => {
                        @for [x, y] in points { (look.mark([axes.x(*x), axes.y(*y)], 0.6)) }
                    }
                    Marks::Level(y) => (line([[LEFT, axes.y(*y)], [RIGHT, axes.y(*y)]])),
                    Marks::Images { .. } => {}
                    Marks::Line { weights, bias } => {
                        @if let Some(ends) = axes.cut(*weights, *bias) { (line(ends)) }
                    }
                }
            }
        }
    }

    fn sample(&self) -> Markup {
        let look = Look::nth(self.look);
        html! {
            @if !matches!(self.marks, Marks::Dots(_) | Marks::Images { .. }) { path.line d="M0 \
                0H32" stroke-dasharray=(look.dashes) {} }
            @if matches!(self.marks, Marks::Dots(_) | Marks::Curve(_)) { (look.mark([16.0, 0.0], 0.8)) }
        }
    }
}

/// Axes that map values to positions on a panel.
struct PanelAxes {
    across: Axis,
    up: Axis,
}

impl PanelAxes {
    fn new(panel: &Panel) -> Self {
        let axis = |scale: &Scale, values: Vec<f64>| {
            let kept = values.into_iter().filter(|x| x.is_finite() && (*x > 0.0 || !scale.logarithmic));
            let (low, high) = ends(&kept.collect::<Vec<_>>());
            match scale.logarithmic {
                true => Axis::logarithmic(low.max(f64::MIN_POSITIVE), high.max(f64::MIN_POSITIVE)),
                false => Axis::linear(low, high),
            }
        };
        let places = |across: bool| -> Vec<f64> {
            let layer_values = |layer: &Layer| match &layer.marks {
                Marks::Curve(points) if across => points.iter().map(|point| point.x).collect(),
                Marks::Curve(points) => {
                    points.iter().flat_map(|point| [point.y - point.error, point.y + point.error]).collect()
                }
                Marks::Dots(points) => points.iter().map(|point| point[usize::from(!across)]).collect(),
                Marks::Level(y) if !across => vec![*y],
                _ => vec![],
            };
            panel.layers.iter().flat_map(layer_values).collect()
        };
        Self { across: axis(&panel.across, places(true)), up: axis(&panel.up, places(false)) }
    }

    fn x(&self, value: f64) -> f64 {
        self.across.x(value, RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.up.y(value)
    }

    /// Points where the line a·x + b·y + c = 0 enters and leaves the frame, if any, on linear scales.
    fn cut(&self, [a, b]: [f64; 2], c: f64) -> Option<[[f64; 2]; 2]> {
        // With u and v as fractions of the frame's width w and height h, from its corner (x₀, y₀), x = x₀ +
        // u·w and y = y₀ + v·h. The line is then a·w·u + b·h·v + (a·x₀ + b·y₀ + c) = 0.
        let span = |axis: &Axis| {
            let start = -axis.share(0.0);
            let width = 1.0 / (axis.share(1.0) - axis.share(0.0));
            (start * width, width)
        };
        let ((x, w), (y, h)) = (span(&self.across), span(&self.up));
        let (a, b, c) = (a * w, b * h, a * x + b * y + c);
        let inside = |share: f64| (-1e-9..=1.0 + 1e-9).contains(&share);
        let at_sides = [0.0, 1.0].into_iter().filter(|_| b != 0.0).map(|u| [u, -(a * u + c) / b]);
        let at_ends = [0.0, 1.0].into_iter().filter(|_| a != 0.0).map(|v| [-(b * v + c) / a, v]);
        let met: Vec<[f64; 2]> = at_sides.chain(at_ends).filter(|[u, v]| inside(*u) && inside(*v)).collect();
        let distance = |p: &[f64; 2], q: &[f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]);
        let first = met.first()?;
        let last = met.iter().max_by(|p, q| distance(first, p).total_cmp(&distance(first, q)))?;
        let place = |[u, v]: [f64; 2]| [LEFT + u * (RIGHT - LEFT), BOTTOM - v * (BOTTOM - TOP)];
        (distance(first, last) > 1e-9).then(|| [place(*first), place(*last)])
    }
}

/// Encodes each pixel, a share of ink in [0, 1], as a digit from 0 to 7.
pub(super) fn shades(image: ArrayView1<f64>) -> String {
    image.iter().map(|ink| char::from(b'0' + (8.0 * ink).clamp(0.0, 7.0) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(layers: Vec<Layer>, logarithmic: bool) -> Panel {
        let across = Scale { label: "x & more".into(), logarithmic };
        Panel { title: "a < b".into(), across, up: Scale::linear("y"), layers }
    }

    fn layer(look: usize, marks: Marks) -> Layer {
        Layer { name: format!("layer {look}"), look, marks }
    }

    #[test]
    fn a_line_is_cut_at_the_frame() {
        let axes = PanelAxes::new(&panel(vec![layer(0, Marks::Dots(vec![[0.0, 0.0], [10.0, 5.0]]))], false));
        // The lines x = 5 and y = x/2, and a line outside the frame.
        let middle = (LEFT + RIGHT) / 2.0;
        let [[x1, y1], [x2, y2]] = axes.cut([1.0, 0.0], -5.0).unwrap();
        assert_eq!((x1, x2, y1.max(y2), y1.min(y2)), (middle, middle, BOTTOM, TOP));
        let [p, q] = axes.cut([1.0, -2.0], 0.0).unwrap();
        assert!((p[0] - LEFT).abs() < 1e-9 && (p[1] - BOTTOM).abs() < 1e-9, "{p:?}");
        assert!((q[0] - RIGHT).abs() < 1e-9 && (q[1] - TOP).abs() < 1e-9, "{q:?}");
        assert_eq!(axes.cut([0.0, 1.0], 7.0), None);
    }

    #[test]
    fn a_picture_is_whole_by_itself_and_says_what_it_shows() {
        let points =
            vec![CurvePoint { x: 1e-6, y: 0.5, error: 0.1 }, CurvePoint { x: 1.0, y: 0.75, error: 0.0 }];
        let curves = panel(vec![layer(0, Marks::Curve(points)), layer(1, Marks::Level(0.9))], true);
        let svg = Picture { title: "“one”".into(), panels: vec![curves.clone(), curves] }.to_svg();
        for expected in [
            "xmlns=\"http://www.w3.org/2000/svg\"",
            "prefers-color-scheme: dark",
            "a &lt; b",
            "x &amp; more",
            "layer 1",
            "1e-6",
        ] {
            assert!(svg.contains(expected), "{expected:?} is missing:\n{svg}");
        }
        // The name space has the only address; the SVG loads nothing.
        assert_eq!((svg.matches("://").count(), svg.matches("url(").count()), (1, 0));
        assert_eq!(svg.matches("class=\"spread-bar\"").count(), 2, "one point of each panel has an error");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn images_are_drawn_as_runs_of_shades_on_a_sheet_without_axes() {
        let images = Marks::Images { width: 3, images: vec!["077000110".into(), "000000000".into()] };
        let svg =
            Picture { title: "digits".into(), panels: vec![panel(vec![layer(0, images)], false)] }.to_svg();
        assert!(
            svg.contains("d=\"M1 0h2\"")
                && svg.contains("d=\"M0 2h2\"")
                && svg.contains("stroke-opacity=\"0.14\""),
            "{svg}"
        );
        assert_eq!((svg.matches("stroke-opacity").count(), svg.matches("class=\"axis\"").count()), (2, 0));
        assert!(svg.contains("layer 0"), "{svg}");
    }

    #[test]
    fn an_empty_panel_is_drawn_too() {
        let svg = Picture { title: "none".into(), panels: vec![panel(vec![], true)] }.to_svg();
        assert!(svg.contains("</svg>") && !svg.contains("NaN"));
    }
}
