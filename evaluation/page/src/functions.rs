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
/// none. A chart of one column has one line for each class that the model scores, in a band of two standard
/// deviations of the noise to each side. A pair of columns has a map for each class.
pub(crate) fn charts(model: &Value) -> Markup {
    let functions = model["functions"].as_array().map(Vec::as_slice).unwrap_or_default();
    html! {
        @if !functions.is_empty() {
            @if functions.iter().any(|function| function["deviations"].is_array()) { p { (BANDS) } }
            div.functions {
                @for function in functions {
                    @match function["columns"].as_array().map(Vec::as_slice) {
                        Some([rows, columns]) => (maps(function, [rows, columns])),
                        _ => figure {
                            (chart(&numbers(&function["at"]), &lines(&function["values"]), &band(function)))
                            figcaption { (named(&function["column"], &function["unit"])) }
                        },
                    }
                }
            }
        }
    }
}

/// Explanation of the bands.
const BANDS: &str = "Each function is drawn in a band of two standard deviations of the noise to each side. \
                     The band is an upper bound, reached where few records have such values: the descent \
                     corrects most of the noise where many have. It does not cover what the sample itself \
                     leaves uncertain.";

/// Twice the standard deviation of the noise at each place; empty if it is not known.
fn band(function: &Value) -> Vec<f64> {
    numbers(&function["deviations"]).into_iter().map(|deviation| 2.0 * deviation).collect()
}

fn named(column: &Value, unit: &Value) -> String {
    let [column, unit] = [column, unit].map(|value| value.as_str().unwrap_or_default());
    if unit.is_empty() { column.to_owned() } else { format!("{column}, {unit}") }
}

fn numbers(values: &Value) -> Vec<f64> {
    values.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn lines(values: &Value) -> Vec<Vec<f64>> {
    values.as_array().into_iter().flatten().map(numbers).collect()
}

/// Chart of the lines through the points of `places` and each of `lines`, each in a band of half the width
/// `band`.
fn chart(places: &[f64], lines: &[Vec<f64>], band: &[f64]) -> Markup {
    let [left, right, top, bottom] = FRAME;
    let edge = |values: &[f64], side: f64| -> Vec<f64> {
        values.iter().zip(band).map(|(value, half)| value + side * half).collect()
    };
    let edges = lines.iter().flat_map(|values| [edge(values, -1.0), edge(values, 1.0)].concat());
    let (x, y) = (ends(places), ends(&lines.concat().into_iter().chain(edges).collect::<Vec<_>>()));
    let point = |(place, value): (&f64, &f64)| {
        let (x, y) = (left + (right - left) * share(x, *place), bottom - (bottom - top) * share(y, *value));
        format!("{},{}", at(x), at(y))
    };
    let points = |values: &[f64]| -> Vec<String> { places.iter().zip(values).map(point).collect() };
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
                @if !band.is_empty() {
                    @let back = points(&edge(values, 1.0)).into_iter().rev();
                    polygon.band points=(points(&edge(values, -1.0)).into_iter().chain(back)
                        .collect::<Vec<_>>().join(" ")) {}
                }
                polyline.line stroke-dasharray=(Look::nth(line).dashes) points=(points(values).join(" ")) {}
            }
        }
    }
}

/// Maps of a function of a pair of columns, one for each class that the model scores. A cell is darker the
/// larger the value; its title has the numbers.
fn maps(function: &Value, columns: [&Value; 2]) -> Markup {
    let [left, right, top, bottom] = FRAME;
    let units = &function["units"];
    let caption: Vec<String> = (0..2).map(|side| named(columns[side], &units[side])).collect();
    let label = |value: &Value| value.as_f64().map_or(value.as_str().unwrap_or_default().into(), rounded);
    let labels = |side: usize| -> Vec<String> {
        function["at"][side].as_array().into_iter().flatten().map(label).collect()
    };
    let (rows, across) = (labels(0), labels(1));
    let (height, width) =
        ((bottom - top) / rows.len().max(1) as f64, (right - left) / across.len().max(1) as f64);
    html! {
        @for values in function["values"].as_array().into_iter().flatten() {
            @let cells = lines(values);
            @let ends = ends(&cells.concat());
            figure {
                svg.chart viewBox={ "0 0 " (SIZE[0]) " " (SIZE[1]) } role="img" {
                    @for (row, cells) in cells.iter().enumerate() {
                        @for (column, value) in cells.iter().enumerate() {
                            @let opacity = format!("{:.2}", share(ends, *value));
                            rect.cell x=(at(left + width * column as f64)) y=(at(top + height * row as f64))
                                width=(at(width)) height=(at(height)) fill-opacity=(opacity) {
                                title { (rows[row]) ", " (across[column]) ": " (rounded(*value)) }
                            }
                        }
                    }
                }
                figcaption { (caption[0]) " (down) and " (caption[1]) " (across)" }
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
        assert!(!page.contains("class=\"band\""));
        assert_eq!(charts(&json!({})).into_string(), "");
    }

    /// A band of two standard deviations to each side, which the heights of the chart include.
    #[test]
    fn the_noise_of_a_function_is_a_band() {
        let model = json!({"functions": [
            {"column": "age", "unit": "", "at": [0, 1], "values": [[0, 1]], "deviations": [1, 0.5]},
        ]});
        let page = charts(&model).into_string();
        assert!(page.contains("<p>Each function is drawn in a band"), "{page}");
        // From −2 to 2 at the left, and from 0 to 2 at the right.
        assert!(page.contains("points=\"44,98 212,53 212,8 44,8\""), "{page}");
        assert!(page.contains(">-2<") && page.contains(">2<"), "{page}");
    }

    #[test]
    fn a_pair_of_columns_has_a_map() {
        let model = json!({"functions": [{
            "columns": ["age", "sex"], "units": ["years", ""], "at": [[0, 90], ["f", "m"]],
            "values": [[[0, 1], [2, 4]]], "deviations": [[1, 1], [1, 1]],
        }]});
        let page = charts(&model).into_string();
        assert_eq!(page.matches("<rect").count(), 4);
        assert!(page.contains("fill-opacity=\"0.25\"><title>0, m: 1</title>"), "{page}");
        assert!(page.contains("<figcaption>age, years (down) and sex (across)</figcaption>"), "{page}");
    }
}
