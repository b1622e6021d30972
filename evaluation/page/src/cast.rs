//! The cast: the mechanisms that a chart shows in colours and by name. Readers cannot distinguish more than a
//! few lines.

use scumble_comparison::{Outcome, Scores, Series};

/// Number of available colours.
const MOST: usize = 8;
/// Number of mechanisms up to which the cast is filled with mechanisms that are not recommended.
const ENOUGH: usize = 6;

/// The titles of the series (mechanisms with fixed parameters) in the cast, in the order of their colours.
pub(super) struct Cast {
    titles: Vec<String>,
}

impl Cast {
    /// Selects the cast among mechanisms with differential privacy. First come the mechanisms that `scores`
    /// recommend for any goal and budget, then those with the best mean scores at the middle budget.
    pub(super) fn new(outcome: &Outcome, scores: &Scores) -> Self {
        let chosen = outcome.choices(scores);
        let chosen = chosen.iter().filter_map(|choice| choice.best).map(|(title, _)| title.to_owned());
        let mut titles: Vec<String> = vec![];
        for title in chosen {
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        titles.truncate(MOST);
        let mut others: Vec<&Series> = scores.series.iter().filter(|series| series.has_budget()).collect();
        let middle =
            |series: &Series| series.rows.get(series.rows.len() / 2).map_or(f64::NAN, |row| row.mean);
        others.sort_by(|a, b| scores.metric.best_first(middle(a), middle(b)));
        for series in others {
            if titles.len() < ENOUGH && !titles.contains(&series.title) {
                titles.push(series.title.clone());
            }
        }
        Self { titles }
    }

    /// The index of a series in the cast; `None` if the series is not in the cast.
    pub(super) fn place(&self, series: &Series) -> Option<usize> {
        self.titles.iter().position(|title| *title == series.title)
    }

    /// The CSS class that gives a series its colour.
    pub(super) fn ink(&self, series: &Series) -> String {
        self.place(series).map_or("other".into(), |place| format!("s{place}"))
    }

    /// The series of `scores` in the cast.
    pub(super) fn series<'a, 'b>(&self, scores: &'b Scores<'a>) -> impl Iterator<Item = &'b Series<'a>> {
        scores.series.iter().filter(|series| self.place(series).is_some())
    }
}
