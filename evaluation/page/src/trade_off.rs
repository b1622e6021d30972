//! Charts of trade-off functions: false negatives of the best test against its false positives.

use crate::draw::{self, Look, at};
use maud::{Markup, PreEscaped, html};
use scumble_core::Guarantee;

/// Width and height of a chart, in SVG user units.
const SIZE: [f64; 2] = [260.0, 250.0];
/// Left, right, top and bottom edges of the curves.
const FRAME: [f64; 4] = [44.0, 252.0, 8.0, 216.0];
/// Number of steps between the rates of false positives 0 and 1.
const STEPS: u32 = 200;

/// Trade-off function, as points (rate of false positives, rate of false negatives).
#[derive(Debug, Clone)]
pub struct TradeOff {
    /// Text of the legend.
    pub name: String,
    /// Points in ascending order of the rate of false positives.
    pub points: Vec<[f64; 2]>,
}

impl TradeOff {
    /// Samples the trade-off function `of`.
    pub fn sampled(name: impl Into<String>, of: impl Fn(f64) -> f64) -> Self {
        // Squares are dense near zero, where functions are steep.
        let alpha = |step: u32| (f64::from(step) / f64::from(STEPS)).powi(2);
        let points = (0..=STEPS).map(alpha).map(|alpha| [alpha, of(alpha)]);
        Self { name: name.into(), points: points.collect() }
    }

    /// Trade-off functions of the claims of `guarantee` that have ε, in the order of the claims.
    pub fn of_guarantee(guarantee: &Guarantee) -> Vec<Self> {
        let claims = guarantee.claims.iter().filter(|claim| claim.warning().is_none());
        let with_epsilon = claims.filter(|claim| claim.trade_off(0.5).is_some());
        with_epsilon
            .map(|claim| Self::sampled(claim.to_string(), |alpha| claim.trade_off(alpha).unwrap_or(0.0)))
            .collect()
    }
}

/// Explanation of the chart.
const MEANING: &str = "Whoever tests which of two neighbours a release is of has these errors at best. \
                       Neighbours are two values of a record, or data with and without it. On the thin line, \
                       a test learns nothing.";

/// Chart of several trade-off functions, with a legend; nothing without a function.
pub(crate) fn figure(curves: &[TradeOff]) -> Markup {
    html! {
        @if !curves.is_empty() {
            figure.trade-off {
                (chart(curves, html! {}))
                figcaption {
                    p { (MEANING) }
                    @if curves.len() > 1 {
                        ul { @for (at, curve) in curves.iter().enumerate() {
                            li { (sample(at)) " " (curve.name) }
                        } }
                    }
                }
            }
        }
    }
}

/// Chart of trade-off functions as a separate SVG file, with its legend below.
pub fn to_svg(curves: &[TradeOff]) -> String {
    let all = html! {
        style { (PreEscaped(draw::STYLE)) "text{font-family:system-ui,sans-serif}" }
        rect width="100%" height="100%" fill="var(--paper)" {}
    };
    chart(curves, all).into_string() + "\n"
}

/// A piece of the line of the curve `place`.
fn sample(place: usize) -> Markup {
    html! {
        svg.sample viewBox="0 0 28 8" width="28" height="8" {
            line.line x1="0" y1="4" x2="28" y2="4" stroke-dasharray=(Look::nth(place).dashes) {}
        }
    }
}

/// Height of a line of the legend in a file, where its text starts, and the width of a character.
const LINE: f64 = 16.0;
const LEGEND: f64 = FRAME[0] + 34.0;
const CHARACTER: f64 = 7.0;

fn chart(curves: &[TradeOff], file: Markup) -> Markup {
    let [left, right, top, bottom] = FRAME;
    let is_file = !file.0.is_empty();
    let legend = if is_file { LINE * curves.len() as f64 } else { 0.0 };
    let longest = curves.iter().map(|curve| curve.name.chars().count()).max().unwrap_or(0);
    let width = if is_file { SIZE[0].max(LEGEND + CHARACTER * longest as f64) } else { SIZE[0] };
    let place = |[x, y]: [f64; 2]| (left + (right - left) * x, bottom - (bottom - top) * y);
    let points = |curve: &TradeOff| {
        let point = |rates: &[f64; 2]| {
            let (x, y) = place(*rates);
            format!("{x:.2},{y:.2}")
        };
        curve.points.iter().map(point).collect::<Vec<_>>().join(" ")
    };
    let middle = (left + right) / 2.0;
    html! {
        svg.chart xmlns=[is_file.then_some("http://www.w3.org/2000/svg")] role="img"
            viewBox={ "0 0 " (at(width)) " " (at(SIZE[1] + legend)) } {
            title { "False negatives of the best test, against its false positives" }
            (file)
            @for rate in [0.0, 0.5, 1.0] {
                @let (x, y) = place([rate, rate]);
                line.grid x1=(at(left)) x2=(at(right)) y1=(at(y)) y2=(at(y)) {}
                text x=(at(left - 4.0)) y=(at(y)) dy="0.32em" text-anchor="end" { (100.0 * rate) " %" }
                text x=(at(x)) y=(at(bottom + 14.0)) text-anchor="middle" { (100.0 * rate) " %" }
            }
            line.axis x1=(at(left)) x2=(at(right)) y1=(at(bottom)) y2=(at(bottom)) {}
            line.grid x1=(at(left)) y1=(at(top)) x2=(at(right)) y2=(at(bottom)) {}
            text x=(at(middle)) y=(at(bottom + 28.0)) text-anchor="middle" { "false positives" }
            @let turned = format!("translate(10 {}) rotate(-90)", at((top + bottom) / 2.0));
            text transform=(turned) text-anchor="middle" { "false negatives" }
            @for (index, curve) in curves.iter().enumerate() {
                polyline.line stroke-dasharray=(Look::nth(index).dashes) points=(points(curve)) {
                    title { (curve.name) }
                }
                @if is_file {
                    @let y = SIZE[1] + LINE * (index as f64 + 0.3);
                    line.line x1=(at(left)) x2=(at(left + 28.0)) y1=(at(y)) y2=(at(y))
                        stroke-dasharray=(Look::nth(index).dashes) {}
                    text x=(at(LEGEND)) y=(at(y)) dy="0.32em" { (curve.name) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{LocalDp, Notion};

    #[test]
    fn a_curve_is_drawn_where_its_points_are() {
        let claims = [(Notion::LocalDp(LocalDp::pure(1.0)), "a theorem".into())];
        let curves = TradeOff::of_guarantee(&Guarantee::for_records(claims));
        assert_eq!(curves.len(), 1);
        let [alpha, beta] = curves[0].points[100]; // α = ¼
        assert!(alpha == 0.25 && (beta - (1.0 - 0.25 * 1f64.exp())).abs() < 1e-12, "{beta}");
        let svg = to_svg(&curves);
        let [left, right, top, bottom] = FRAME;
        let point = format!("{:.2},{:.2}", left + 0.25 * (right - left), bottom - beta * (bottom - top));
        assert!(svg.contains(&point) && svg.contains("ε = 1 local differential privacy"), "{point}");
        assert!(figure(&curves).into_string().contains("learns nothing"));
        assert!(figure(&[]).into_string().is_empty());
        // A guarantee without ε has no curve.
        assert!(TradeOff::of_guarantee(&Guarantee::default()).is_empty());
    }
}
