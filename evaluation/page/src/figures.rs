//! Charts, with explanations in words.

use super::cast::Cast;
use super::chart::{chart, is_cut, is_logarithmic, sample, tradeoff};
use super::page::Page;
use super::words::protected;
use maud::{Markup, html};
use scumble_comparison::{Metric, Scores};

impl Page<'_> {
    /// Section with a chart of `scores` by ε.
    pub(super) fn by_budget(&self, scores: &Scores, cast: &Cast) -> Markup {
        html! {
            section {
                h2 { (title_of(scores)) ", by ε" }
                (self.figure_by_budget(scores, cast))
            }
        }
    }

    /// Charts of other models and metrics by ε, one below the other, in collapsed sections.
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
                "Colours show the mechanisms chosen above and the best of the others. "
                "The other mechanisms with differential privacy are grey. "
                @if scores.series.iter().flat_map(|series| series.rows).any(|row| row.trials > 1) { "Bars \
                    are ± one standard deviation over trials. " }
                @if is_cut(scores, &known) { "A point with a number has this score, beyond the scale. " }
                @if is_logarithmic(scores, &known) { "The scale of scores is logarithmic. " }
            }
        }
    }

    /// Section with one chart per metric of an adversary: the first model's scores against the adversary's
    /// success. The first chart is visible, and the others are in collapsed sections.
    pub(super) fn tradeoffs(&self, scores: &[Scores], cast: &Cast) -> Markup {
        let attacks: Vec<&Scores> = scores.iter().filter(|scores| scores.metric.is_of_adversary()).collect();
        let (Some(utility), [first, others @ ..]) = (scores.first(), &attacks[..]) else {
            return html! {};
        };
        html! {
            section {
                h2 { (utility.metric.title()) " against an adversary's success" }
                p {
                    "The same reconstruction attack runs on every mechanism, whatever its guarantee. \
                     The adversary has the release, and knows "
                    (scumble_core::number::short(100.0 * self.comparison.adversary.known_share))
                    " % of the released records and their rows in the release. From these records it learns \
                     to reconstruct the others. "
                    @if utility.metric.less_is_better() { "Lower" } @else { "Higher" }
                    " points are more useful, and points further left are more private. The numbers at the \
                     points are ε. A thin line leads from a point to the upper bound that its guarantee \
                     implies for any adversary. A point without a line has no such bound."
                }
                (self.figure_of_attack(utility, first, cast))
                @for attack in others {
                    details.more {
                        summary { (attack.metric.title()) }
                        (self.figure_of_attack(utility, attack, cast))
                    }
                }
                p.muted {
                    "A low success proves nothing: this adversary uses ridge regression. Another adversary \
                     may learn more, up to the bound implied by the guarantee."
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
                        "Here the audit distinguishes the worst pair of all possible records. The result is \
                         an audited lower bound, which is wrong in one audit in a million. The true \
                         advantage may be larger."
                    }
                }
                @if attack.metric == Metric::Membership {
                    p.muted {
                        "Here the adversary knows all records but one. From the noisy statistics of the \
                         release, it infers which of two candidates is the last record. If a mechanism uses \
                         half of the records, the adversary knows all records and all possible halves, and \
                         infers whether a record is in the used half."
                    }
                }
                @if attack.metric == Metric::UnbiasedError {
                    p.muted {
                        "Here points further right are more private. The line leads to the Cramér–Rao bound: \
                         the least error of an unbiased estimate."
                    }
                }
                (legend(utility, cast))
            }
        }
    }
}

/// The title of `scores`: the metric and the scored object, such as a model.
pub(super) fn title_of(scores: &Scores) -> String {
    let less = if scores.metric.less_is_better() { " (less is better)" } else { "" };
    format!("{} by {}{less}", scores.metric.title(), scores.scorer)
}

/// The legend: for each mechanism in colour, its line and marker, its title, and its unit of privacy.
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
