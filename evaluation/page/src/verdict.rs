//! The recommended mechanism, for each unit of privacy and each trust model.

use super::page::Page;
use super::words;
use maud::{Markup, html};
use scumble_comparison::{COLLECT, Choice, Metric, Scores, in_words, placeholders};
use scumble_core::Output;

impl Page<'_> {
    /// The verdicts (recommendations), one for each unit of privacy and trust model. A verdict shows the best
    /// mechanism at each budget and its cost, the loss of score against records in the clear. It shows the
    /// mechanism's worth, the number of clean records that would give the same score. It also shows the
    /// command that designs the mechanism at the middle budget, and the commands at other budgets in a
    /// collapsed section.
    pub(super) fn verdicts(&self, scores: &Scores) -> Markup {
        let choices = self.outcome.choices(scores);
        let metric = scores.metric;
        html! {
            @if !choices.is_empty() {
                section {
                    h2 { "What to choose, and its cost" }
                    @for choices in choices.chunk_by(|a, b| a.goal == b.goal) { (verdict(choices, metric)) }
                    @let plugins = self.comparison.chosen_plugins(&choices);
                    @if !plugins.is_empty() {
                        ul.muted {
                            @for plugin in plugins {
                                li {
                                    (plugin.name) ": " (plugin.summary)
                                    @if plugin.descriptor.releases == Output::Reports {
                                        ". To draw records from its reports: " code { (COLLECT) }
                                    }
                                }
                            }
                        }
                    }
                    @let commands: String = choices.iter().filter_map(command).collect();
                    @if let Some(meant) = placeholders(&commands) {
                        p.muted { (meant) }
                    }
                    p.muted {
                        "Scores: " (metric.title()) " by " (scores.scorer) ". Each line names the mechanism \
                         with the best mean among those with differential privacy of the same unit in the \
                         same trust model, and with evidence that its predictions are better than without a \
                         release (a paired test at 1 % for all of them together). Its cost is the loss of \
                         score against a model of the clean records; a negative cost means that the release \
                         scored better, as synthetic records can smooth the data. Its worth is the number of \
                         clean records from which the same model learns as much, with a 95 % interval. The \
                         same scores choose the mechanism, so others within one standard deviation are as \
                         good."
                    }
                }
            }
        }
    }
}

/// The verdict for one goal, a unit of privacy and a trust model.
fn verdict(choices: &[Choice], metric: Metric) -> Markup {
    let made: Vec<(&Choice, String)> =
        choices.iter().filter_map(|choice| Some((choice, command(choice)?))).collect();
    let middle = made
        .iter()
        .find(|(choice, _)| choice.epsilon == choices[(choices.len() - 1) / 2].epsilon)
        .or(made.last());
    html! {
        article.verdict {
            h3 { (choices[0].goal) }
            ul.budgets {
                @for choice in choices {
                    li {
                        span.at { "ε = " (in_words(choice.epsilon)) }
                        @match choice.best {
                            None => span.muted {
                                "no evidence: " (choice.highest.0) " "
                                (metric.shown(choice.highest.1.mean)) " is not distinguishable from "
                                (choice
                                    .highest
                                    .1
                                    .against
                                    .map_or("the baseline".into(), |against| against.baseline.to_string()))
                                @if let Some(gain) = choice.at_most {
                                    "; no gain exceeds " (metric.shown_difference(gain.max(0.0))) " (95 %)"
                                }
                            },
                            Some((title, row)) => {
                                strong { (title) }
                                span {
                                    (metric.shown(row.mean))
                                    @if let Some(cost) = choice.cost { ", costs \
                                        " (metric.shown_difference(cost)) }
                                }
                                @if let Some(adds) = &row.adds { span.spread { "adds " (adds) " records" } }
                                @else if let Some(worth) = &row.worth { span.spread { "worth \
                                    " (worth) " records" } }
                            },
                        }
                    }
                }
            }
            @if let Some((choice, command)) = middle {
                p.at { "The command at ε = " (in_words(choice.epsilon)) ":" }
                (words::command(command))
                @if made.len() > 1 {
                    details {
                        summary { "The commands at other budgets" }
                        @for (other, command) in &made {
                            @if other.epsilon != choice.epsilon {
                                p.at { "At ε = " (in_words(other.epsilon)) ":" }
                                (words::command(command))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The command that designs the recommended mechanism, if there is one.
fn command(choice: &Choice) -> Option<String> {
    Some(choice.best?.1.design.as_ref()?.to_string())
}
