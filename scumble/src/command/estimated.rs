//! Printed estimates with their intervals.

use crate::records::Kind;
use crate::tables::Line;
use comfy_table::{CellAlignment, Table, presets};

/// Formats estimates as a table for people.
pub(super) fn shown(lines: Vec<Line>, confidence: f64) -> Table {
    let mut shown = Table::new();
    let interval = format!("{} % interval", short(100.0 * confidence));
    let has_groups = lines.iter().any(|line| line.group.is_some());
    let header = ["column", "estimate of", "value", &interval, "unit"].map(str::to_owned);
    let with_group = |cells: [String; 5], group: String| {
        let mut cells = Vec::from(cells);
        if has_groups {
            cells.insert(1, group);
        }
        cells
    };
    shown.load_style(presets::NOTHING).set_header(with_group(header, "of people".into()));
    for Line { column, group, what, estimate, unit } in lines {
        let is_date = unit == Kind::DAYS;
        let date = |number| Some(number).filter(|_| is_date).and_then(Kind::date);
        let written = |number| date(number).unwrap_or_else(|| short(number));
        let interval = format!("{} to {}", written(estimate.lower), written(estimate.upper));
        let unit = if is_date { String::new() } else { unit };
        let cells = [column, what, written(estimate.value), interval, unit];
        shown.add_row(with_group(cells, group.unwrap_or_default()));
    }
    for at in [2, 3].map(|at| at + usize::from(has_groups)) {
        if let Some(column) = shown.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    shown
}

/// Formats a number with four significant digits.
fn short(number: f64) -> String {
    let rounded: f64 = format!("{number:.3e}").parse().unwrap_or(number);
    rounded.to_string()
}
