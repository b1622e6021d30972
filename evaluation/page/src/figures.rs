//! Charts, with their statements in words.

use super::cast::Cast;
use super::chart::{chart, is_cut, is_logarithmic, sample, tradeoff};
use super::page::Page;
use super::words::protected;
use maud::{Markup, html};
use scumble_comparison::{Metric, Scores};

impl Page<'_> {
    /// The scores of the first model on the releases, by ε.
    pub(super) fn by_budget(&self, scores: &Scores, cast: &Cast) -> Markup {
        html! {
            section {
                h2 { (title_of(scores)) ", by ε" }
                (self.figure_by_budget(scores, cast))
            }
        }
    }

    /// Charts of other models and metrics by ε, one below the other, in closed sections.
    pub(super) fn other_charts(&self, others: &[Scores], cast: &Cast) -> Markup {
        html! {
            @for scores in others {
                details.more {
                    summary { (title_of(scores)) ", by ε" }
                    (self.figure_by_budget(scores, cast))
                }
            }
        }
    }

    fn figure_by_budget(&self, scores: &Scores, cast: &Cast) -> Markup {
        let known = self.known(scores);
        html! {
            figure {
                (chart(scores, &self.comparison.epsilons, &known, cast, html! {}))
                (legend(scores, cast))
            }
            p.muted {
                "In colours what is chosen somewhere above, and the best of the others; grey the rest of those with differential privacy. "
                @if scores.series.iter().flat_map(|series| series.rows).any(|row| row.trials > 1) { "Bars are ± one standard deviation over trials. " }
                @if is_cut(scores) { "Points on the lower edge lie below it. " }
                @if is_logarithmic(scores, &known) { "The scale of scores is logarithmic. " }
            }
        }
    }

    /// The scores of the first model on the releases against an adversary's success. The first attack is
    /// shown, and the others are in closed sections.
    pub(super) fn tradeoffs(&self, scores: &[Scores], cast: &Cast) -> Markup {
        let attacks: Vec<&Scores> = scores.iter().filter(|scores| scores.metric.is_of_adversary()).collect();
        let (Some(utility), [first, others @ ..]) = (scores.first(), &attacks[..]) else {
            return html! {};
        };
        html! {
            section {
                h2 { (utility.metric.title()) ", and what an adversary learns" }
                p {
                    "The same reconstruction attack on every mechanism, whatever its guarantee: the adversary has the release, knows "
                    (scumble_core::number::short(100.0 * self.comparison.adversary.known_share))
                    " % of its records and which rows these became, and from them learns to reconstruct the others. "
                    @if utility.metric.less_is_better() { "Down" } @else { "Up" }
                    " is useful, and left is private; the numbers at the points are ε. A thin line leads from a point to the upper bound implied by \
                     its guarantee, for any adversary; where there is none, the guarantee implies none."
                }
                (self.figure_of_attack(utility, first, cast))
                @for attack in others {
                    details.more {
                        summary { (attack.metric.title()) }
                        (self.figure_of_attack(utility, attack, cast))
                    }
                }
                p.muted {
                    "That little is learned proves nothing: this adversary uses ridge regression, and another may learn more, up to the bound implied by the guarantee."
                }
            }
        }
    }

    fn figure_of_attack(&self, utility: &Scores, attack: &Scores, cast: &Cast) -> Markup {
        html! {
            figure {
                (tradeoff([utility, attack], [&self.known(utility), &self.known(attack)], cast))
                @if attack.metric.is_of_audit() {
                    p.muted {
                        "Here the audit distinguishes the worst pair of all possible records: an audited lower bound, wrong in one audit in a \
                         million; the true advantage may be larger."
                    }
                }
                @if attack.metric == Metric::Membership {
                    p.muted {
                        "Here an adversary knows all records but one, and infers from the noisy statistics of the release which of two is that one; where half of the records are used, it knows all of them and all halves, and infers whether a record is in that half."
                    }
                }
                @if attack.metric == Metric::UnbiasedError {
                    p.muted { "Here right is private: the line leads to the least error that an unbiased estimate has by Cramér and Rao." }
                }
                (legend(utility, cast))
            }
        }
    }
}

/// The title of scores: a metric and a model.
pub(super) fn title_of(scores: &Scores) -> String {
    let less = if scores.metric.less_is_better() { " (less is better)" } else { "" };
    format!("{} by {}{less}", scores.metric.title(), scores.scorer)
}

/// The legend: the mark of each mechanism, and its unit of privacy.
fn legend(scores: &Scores, cast: &Cast) -> Markup {
    html! {
        ul.legend {
            @for series in cast.series(scores) {
                li data-series=(series.title) {
                    (sample(&cast.ink(series), cast.place(series).unwrap_or(0)))
                    span { (series.title) " " span.what { (protected(&series.rows[0].guarantee)) } }
                }
            }
        }
    }
}
