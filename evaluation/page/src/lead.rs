//! The lead: the candidates of the comparison, and its data.

use super::page::Page;
use super::words::{counted, grouped};
use maud::{Markup, html};
use scumble_comparison::{Comparison, Outcome, Scores, SplitKind};

impl Page<'_> {
    pub(super) fn title(&self) -> String {
        let data = &self.comparison.data;
        format!("What privacy costs: “{}” learned from {}", data.target, data.name)
    }

    /// The lead: the candidates of the comparison, and its data.
    pub(super) fn lead(&self, scores: &[Scores]) -> Markup {
        let Comparison { data, models, epsilons, trials, splitting, .. } = self.comparison;
        let Outcome { train_records, test_records, volunteers, asked, .. } = self.outcome;
        let mechanisms = scores.first().map_or(0, |scores| scores.series.len());
        let models = match &models[..] {
            [only] => only.to_string(),
            several => counted(several.len(), "model"),
        };
        let again = match splitting.kind {
            SplitKind::Random { .. } => "each time with another split and other noise",
            SplitKind::Own if splitting.most_train.is_some() || splitting.most_test.is_some() => {
                "each time with other records and other noise"
            }
            SplitKind::Own => "on the data set's own split, each time with other noise",
        };
        html! {
            p {
                (counted(mechanisms, "mechanism")) " released " (grouped(*train_records)) " of "
                (grouped(data.table.len())) " records of " (data.name) ", at "
                (counted(epsilons.len(), "privacy budget")) ". From each release " (models)
                " learned " q { (data.target) } ", scored on " (grouped(*test_records))
                " held-out test records: "
                @if *trials > 1 { "mean ± standard deviation of " (counted(*trials, "trial")) ", " (again) "." }
                @else { "one trial, so that its spread is not known." }
                @if *volunteers > 0 {
                    " Designs could learn from " (counted(*volunteers, "volunteer")) ", the same each time, whose records were neither \
                      released nor tested on."
                }
                @if *asked > 0 {
                    " " (counted(*asked, "other")) " were asked which model is right about them, and their records are not released."
                }
            }
            @if data.is_drafted {
                p.warning {
                    "The schema is a draft: its bounds and levels were taken from the records themselves, and disclose something of \
                     them. The scores are valid; the guarantees below hold only once the schema says what is publicly known of each \
                     column instead."
                }
            }
            p.muted {
                "ε is the budget: less is more private, ∞ is none. What it guarantees differs from mechanism to mechanism and is on \
                 the cards. The scores are of records in the clear and no guarantee covers them: a page about private data is for \
                 their owner." @if let Some(first) = scores.first() { " " (self.outcome.without_mechanism(first)) }
            }
        }
    }
}
