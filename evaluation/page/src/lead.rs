//! The first paragraphs of the page: the compared mechanisms, and the data.

use super::page::Page;
use super::words::{counted, grouped};
use maud::{Markup, html};
use scumble_comparison::{Comparison, Outcome, Scores, SplitKind};

impl Page<'_> {
    pub(super) fn title(&self) -> String {
        let data = &self.comparison.data;
        format!("The cost of privacy: “{}” learned from {}", data.target, data.name)
    }

    /// The first paragraphs of the page: the compared mechanisms, and the data.
    pub(super) fn lead(&self, scores: &[Scores]) -> Markup {
        let Comparison { data, models, epsilons, trials, splitting, .. } = self.comparison;
        let Outcome { train_records, test_records, volunteers, asked, .. } = self.outcome;
        let mechanisms = scores.first().map_or(0, |scores| scores.series.len());
        let models = match &models[..] {
            [only] => only.to_string(),
            several => counted(several.len(), "model"),
        };
        let again = match splitting.kind {
            SplitKind::Random { .. } => "each with a new split and new noise",
            SplitKind::Own if splitting.most_train.is_some() || splitting.most_test.is_some() => {
                "each with a new sample of the data set's own split and new noise"
            }
            SplitKind::Own => "all on the data set's own split, each with new noise",
        };
        html! {
            p {
                (counted(mechanisms, "mechanism")) " released " (grouped(*train_records)) " of "
                (grouped(data.table.len())) " records of " (data.name) ", at "
                (counted(epsilons.len(), "privacy budget")) ". From each release, " (models)
                " learned " q { (data.target) } ". The scores are on " (grouped(*test_records))
                " held-out test records: "
                @if *trials > 1 { "mean ± standard deviation of " (counted(*trials, "trial")) ", \
                    " (again) "." }
                @else { "one trial, so their spread is unknown." }
                @if *volunteers > 0 {
                    " Designs could learn from " (counted(*volunteers, "volunteer")) ", the same in each \
                      trial. The volunteers' records were neither released nor used for tests."
                }
                @if *asked > 0 {
                    " Private validation asked " (counted(*asked, "other")) " whether predictions for them \
                      are right. Their records are not released."
                }
            }
            @if data.is_drafted {
                p.warning {
                    "The schema is a draft. Its bounds and levels come from the records and disclose \
                     information about them. The scores are valid. The guarantees below hold only if you \
                     replace the bounds and levels with public knowledge about each column."
                }
            }
            p.muted {
                "ε is the privacy budget: a smaller ε is more private, and ε = ∞ gives no privacy. The \
                 guarantees differ between mechanisms, and are on the cards. The scores come from records in \
                 the clear, and no guarantee covers them: a page about private data is for their owner."
                @if let Some(first) = scores.first() { " " (self.outcome.without_mechanism(first)) }
            }
        }
    }
}
