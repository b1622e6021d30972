//! Charts of the functions of an additive model.

use crate::draw::{Look, at, ends};
use maud::{Markup, html};
use scumble_core::number::short;
use serde_json::Value;

/// Width and height of a chart, in SVG user units.
const SIZE: [f64; 2] = [220.0, 120.0];
/// Left, right, top and bottom edges of the lines.
const FRAME: [f64; 4] = [44.0, 212.0, 8.0, 98.0];

/// Small charts, one for each function in the description `model` of a released model, or nothing if it has
/// none. A chart has one line for each class that the model scores.
pub(crate) fn charts(model: &Value) -> Markup {
    let functions = model["functions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let figure = |function: &Value| {
        html! {
            figure {
                (chart(&numbers(&function["at"]), &lines(&function["values"])))
                @let unit = text(&function["unit"]);
                figcaption { (text(&function["column"])) @if !unit.is_empty() { ", " (unit) } }
            }
        }
    };
    html! {
        @if !functions.is_empty() { div.functions { @for function in functions { (figure(function)) } } }
    }
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn lines(values: &Value) -> Vec<Vec<f64>> {
    values.as_array().into_iter().flatten().map(numbers).collect()
}

/// Chart of the lines through the points of `places` and each of `lines`.
fn chart(places: &[f64], lines: &[Vec<f64>]) -> Markup {
    let [left, right, top, bottom] = FRAME;
    let (x, y) = (ends(places), ends(&lines.concat()));
    let point = |(place, value): (&f64, &f64)| {
        let (x, y) = (left + (right - left) * share(x, *place), bottom - (bottom - top) * share(y, *value));
        format!("{},{}", at(x), at(y))
    };
    html! {
        svg.chart viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="img" {
            line.axis x1=(at(left)) x2=(at(right)) y1=(at(bottom)) y2=(at(bottom)) {}
            @for (number, height) in [(y.0, bottom), (y.1, top)] {
                line.grid x1=(at(left)) x2=(at(right)) y1=(at(height)) y2=(at(height)) {}
                text x=(at(left - 4.0)) y=(at(height)) dy="0.32em" text-anchor="end" { (rounded(number)) }
            }
            text x=(at(left)) y=(at(bottom + 16.0)) text-anchor="start" { (rounded(x.0)) }
            text x=(at(right)) y=(at(bottom + 16.0)) text-anchor="end" { (rounded(x.1)) }
            @for (line, values) in lines.iter().enumerate() {
                polyline.line stroke-dasharray=(Look::nth(line).dashes)
                    points=(places.iter().zip(values).map(point).collect::<Vec<_>>().join(" ")) {}
            }
        }
    }
}

/// Share of the way of `value` from `low` to `high`; ½ if they are equal.
fn share((low, high): (f64, f64), value: f64) -> f64 {
    if low < high { (value - low) / (high - low) } else { 0.5 }
}

/// The number with three significant digits.
fn rounded(number: f64) -> String {
    short(format!("{number:.2e}").parse().unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_function_has_a_chart_with_a_line_for_each_output() {
        let model = json!({"functions": [
            {"column": "age", "unit": "years", "at": [17, 50, 90], "values": [[-1.5, 0.5, 0.0], [0, 0, 0]]},
            {"column": "hours", "unit": "", "at": [1, 99], "values": [[0.0, 0.0], [1.0, 2.0]]},
        ]});
        let page = charts(&model).into_string();
        assert_eq!((page.matches("<svg").count(), page.matches("<polyline").count()), (2, 4));
        assert!(
            page.contains("<figcaption>age, years</figcaption>") && page.contains("<figcaption>hours<"),
            "{page}"
        );
        assert!(page.contains(">17<") && page.contains(">90<") && page.contains(">-1.5<"), "{page}");
        // From the left edge at the lowest value to the right edge.
        assert!(page.contains("points=\"44,98 119.9,8 212,30.5\""), "{page}");
        assert!(!charts(&json!({})).into_string().contains("figure"));
        assert_eq!(charts(&json!({})).into_string(), "");
    }
}
