//! The results as one page.

use super::results::Results;
use super::standing::Standing;
use super::table::{ATTACKED, ATTACKED_LEAD, Table, heading, nothing, overall};
use crate::document;
use maud::{Markup, html};

impl Results {
    /// The page as HTML. It has the tables of the document, with the worth of a mechanism as a shade.
    /// `command` made it.
    pub fn to_html(&self, command: &str) -> String {
        let title = "The cost of privacy, task by task";
        document(
            title,
            html! {
                h1 { (title) }
                p { (self.lead()) }
                pre.command { (command) }
                section { h2 { "The tasks" } (shown(&self.tasks(), None)) }
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
                @let attacked = self.attacked();
                @if !attacked.rows.is_empty() {
                    section { h2 { (ATTACKED) } p { (ATTACKED_LEAD) } (shown(&attacked, None)) }
                }
                @let absent = self.absent();
                @if !absent.is_empty() {
                    section { h2 { "Missing tasks and cells" } ul { @for line in absent { li { (line) } } } }
                }
            },
        )
    }
}

/// A table with shaded cells, if `worth` is given. The shade is the worth.
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
