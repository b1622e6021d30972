//! Tables of scores, with one row per mechanism and one column per budget. A narrow screen shows one card per
//! budget instead.

use super::figures::title_of;
use super::page::Page;
use super::words::{number, protected, warned};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, html};
use scumble_comparison::{Row, Scores, Series, in_words};

impl Page<'_> {
    /// Section with all scores. The scores of the first model and metric are visible. All other scores are in
    /// collapsed sections. Links save the same numbers as files.
    pub(super) fn pivots(&self, scores: &[Scores]) -> Markup {
        html! {
            section {
                h2 { "All scores" }
                @if let [first, others @ ..] = scores {
                    (self.pivot(first))
                    @for other in others {
                        details.more { summary { (title_of(other)) } (self.pivot(other)) }
                    }
                }
                (self.exports())
            }
        }
    }

    fn pivot(&self, scores: &Scores) -> Markup {
        let (private, others): (Vec<&Series>, Vec<&Series>) =
            scores.series.iter().partition(|series| series.has_budget());
        let epsilons = &self.comparison.epsilons;
        html! {
            p.muted {
                (title_of(scores)) ": mean ± standard deviation over trials"
                @if scores.series.iter().flat_map(|series| series.rows).any(|row| row.worth.is_some()) {
                    ", and below it the worth in clean records"
                }
                "."
            }
            div.box.wide {
                table.sortable.pivot {
                    thead { tr {
                        th scope="col" { "mechanism" }
                        th scope="col" { "protects" }
                        @for epsilon in epsilons { th.number scope="col" { "ε = " (in_words(*epsilon)) } }
                    } }
                    tbody {
                        @for series in &private {
                            tr {
                                th scope="row" { (series.title) (warned(&series.rows[0].guarantee)) }
                                td { (protected(&series.rows[0].guarantee)) }
                                @for epsilon in epsilons {
                                    @match series.at(*epsilon) {
                                        Some(row) => (number(row.mean, shown(row))),
                                        None => (number(f64::NAN, html! {})),
                                    }
                                }
                            }
                        }
                    }
                    @if !others.is_empty() {
                        tbody.apart {
                            tr {
                                th colspan=(2 + epsilons.len()) {
                                    "Without differential privacy, the same at every ε; not comparable \
                                     with the others"
                                }
                            }
                            @for series in &others {
                                tr {
                                    th scope="row" { (series.title) (warned(&series.rows[0].guarantee)) }
                                    td { (protected(&series.rows[0].guarantee)) }
                                    td.number colspan=(epsilons.len()) { (shown(&series.rows[0])) }
                                }
                            }
                        }
                    }
                }
            }
            div.narrow {
                @for epsilon in epsilons {
                    (card(
                        scores,
                        &format!("ε = {}", in_words(*epsilon)),
                        private
                            .iter()
                            .filter_map(|series| Some((&*series.title, series.at(*epsilon)?)))
                            .collect(),
                    ))
                }
                @if !others.is_empty() {
                    (card(
                        scores,
                        "Without differential privacy",
                        others.iter().map(|series| (&*series.title, &series.rows[0])).collect(),
                    ))
                }
            }
        }
    }

    /// Links to files with the numbers of the page. The page contains these files.
    fn exports(&self) -> Markup {
        let json = self.comparison.to_json(self.outcome).to_string();
        let link = |name: &str, kind: &str, text: &str| {
            html! {
                a download=(name) href={ "data:" (kind) ";base64," (BASE64_STANDARD.encode(text)) } { (name) }
            }
        };
        html! {
            p.exports {
                "The same numbers: "
                (link("comparison.csv", "text/csv", &self.comparison.to_csv(self.outcome)))
                ", "
                (link("comparison.json", "application/json", &json))
            }
        }
    }
}

/// Card with the scores `rows` at one budget, the best first.
fn card(scores: &Scores, title: &str, mut rows: Vec<(&str, &Row)>) -> Markup {
    rows.sort_by(|(_, a), (_, b)| scores.metric.best_first(a.mean, b.mean));
    html! {
        article.card {
            h3 { (title) }
            table {
                tbody {
                    @for (title, row) in rows {
                        tr {
                            th scope="row" { (title) (warned(&row.guarantee)) }
                            td.number { (shown(row)) }
                        }
                    }
                }
            }
        }
    }
}

/// A score with its standard deviation, the bound that the guarantee implies for it, and its worth in clean
/// records. Only values that exist are included.
fn shown(row: &Row) -> Markup {
    html! {
        (row.metric.shown(row.mean))
        @if row.trials > 1 && row.mean.is_finite() { span.spread { " ± " (row.metric.shown(row.sd)) } }
        @if let Some(bound) = row.bound { br; span.spread { "bound " (row.metric.shown(bound)) } }
        @if let Some(worth) = &row.worth { br; span.spread { (worth) } }
    }
}
