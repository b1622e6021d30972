//! The guarantees of each mechanism, at every budget.

use super::page::Page;
use super::words;
use maud::{Markup, html};
use scumble_comparison::{Row, Series, in_words};
use scumble_core::Guarantee;

impl Page<'_> {
    /// The guarantees of each mechanism, at every budget.
    pub(super) fn cards(&self, mechanisms: &[Series]) -> Markup {
        let claimed_epsilon = self.comparison.claims_at();
        html! {
            section {
                h2 { "Guarantees" }
                p.muted {
                    "The guarantees hold for releases with fresh randomness. The releases of this comparison \
                     have a known seed, and therefore no guarantee."
                }
                @for Series { title, rows } in mechanisms {
                    details.card {
                        summary { strong { (title) } ": " (guaranteed(rows, claimed_epsilon)) }
                        @if let Some(plugin) = self.comparison.plugin(&rows[0].mechanism) {
                            p.muted { (plugin.summary) " (" (plugin.paper) ")" }
                        }
                        @for row in *rows {
                            details open[row.epsilon.is_none() || row.epsilon == claimed_epsilon] {
                                summary {
                                    @match row.epsilon {
                                        Some(epsilon) => { "At ε = " (in_words(epsilon)) },
                                        None => { "At any ε" },
                                    }
                                    ": " (row.guarantee.summary())
                                }
                                @if let Some(command) = &row.design { (words::command(&command.to_string())) }
                                dl { (terms(&row.guarantee)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The headings and texts of a guarantee.
pub(super) fn terms(guarantee: &Guarantee) -> Markup {
    html! {
        @for (heading, words) in guarantee.card() {
            dt class=[class_of(heading)] { (heading) }
            dd { (words) }
        }
    }
}

/// The guarantee at the budget `claimed_epsilon`, in one line. Without a row at this budget, the guarantee of
/// the first row.
fn guaranteed(rows: &[Row], claimed_epsilon: Option<f64>) -> String {
    let row = rows.iter().find(|row| row.epsilon == claimed_epsilon).or(rows.first());
    row.map_or(String::new(), |row| row.guarantee.summary())
}

/// The CSS class of a heading in a card, for the headings with a style of their own; `None` for all others.
fn class_of(heading: &str) -> Option<&'static str> {
    match heading {
        "guarantee" => Some("first"),
        "WARNING" => Some("warning"),
        _ => None,
    }
}
