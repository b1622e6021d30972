//! Tables of text.

use scumble_comparison::{Goal, in_words};

/// A table: its header, and rows of the same length.
pub(super) struct Table {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn to_markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = vec!["---".to_owned(); self.header.len()];
        line(&self.header) + &line(&rule) + &self.rows.iter().map(|row| line(row)).collect::<String>()
    }
}

/// The header of a table with a column per budget.
pub(super) fn header(first: &str, epsilons: &[f64]) -> Vec<String> {
    let budgets = epsilons.iter().map(|epsilon| format!("ε = {}", in_words(*epsilon)));
    std::iter::once(first.to_owned()).chain(budgets).collect()
}

/// The goal (unit of privacy and trust model) as a heading.
pub(super) fn heading(goal: Goal) -> String {
    let words = goal.to_string();
    words[..1].to_uppercase() + &words[1..]
}
