//! The results as one HTML page.

use super::kept::{self, KEPT, KEPT_LEAD};
use super::results::Results;
use super::standing::Standing;
use super::table::{nothing, overall};
use super::tabular::{Table, heading};
use crate::{document, words};
use maud::{Markup, html};

impl Results {
    /// The results as an HTML page, with the same tables as [`to_markdown`](Self::to_markdown). In the tables
    /// over all tasks, a cell is shaded by the median worth of its mechanism: a number of clean records, as a
    /// share of the released ones. `command` is the shell command that made the results.
    pub fn to_html(&self, command: &str) -> String {
        let title = "The cost of privacy, task by task";
        document(
            title,
            html! {
                h1 { (title) }
                p { (self.lead()) }
                (words::command(command))
                section { h2 { "The tasks" } (shown(&self.tasks(), None)) }
                @let kept = self.kept();
                @if !kept.is_empty() { section { h2 { (KEPT) } p { (KEPT_LEAD) } (kept::figure(&kept)) } }
                @for goal in self.goals() {
                    @let standings = self.standings(goal);
                    section {
                        h2 { (heading(goal)) }
                        (shown(&self.chosen(goal), None))
                        @if !standings.is_empty() {
                            h3 { "Over all tasks" }
                            (shown(&overall(&standings), Some(&standings)))
                            @if let Some(line) = nothing(&standings) { p.muted { (line) } }
                        }
                    }
                }
                @for section in self.overview() {
                    section { h2 { (section.title) } p { (section.lead) } (shown(&section.table, None)) }
                }
                @let absent = self.absent();
                @if !absent.is_empty() {
                    section { h2 { "Missing tasks and cells" } ul { @for line in absent { li { (line) } } } }
                }
            },
        )
    }
}

/// A table. If `worth` has the standings (results over all tasks) of the mechanisms in the table's rows, a
/// cell is shaded by the median worth of its mechanism at its budget.
fn shown(table: &Table, worth: Option<&[Standing]>) -> Markup {
    let shade = |row: usize, column: usize| {
        let at = worth?
            .iter()
            .filter(|standing| standing.is_worth_something())
            .nth(row)?
            .at
            .get(column.checked_sub(1)?)?;
        let share = at.worth.is_finite().then_some(at.worth)?;
        Some(format!("--worth: {:.0}%", 60.0 * share.clamp(0.0, 1.0)))
    };
    html! {
        div.box {
            table.choices {
                thead { tr { @for cell in &table.header { th scope="col" { (cell) } } } }
                tbody {
                    @for (at, row) in table.rows.iter().enumerate() {
                        tr {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (cell) } }
                                @else {
                                    td data-of=(table.header[column]) style=[shade(at, column)] { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
