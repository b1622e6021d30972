//! The settings of a comparison, its tuning, and the mechanisms left out.

use super::page::Page;
use super::words::{command, grouped};
use maud::{Markup, html};
use scumble_comparison::{Comparison, in_words};
use scumble_core::Plugin;

impl Page<'_> {
    /// Section with the tuned parameters of mechanisms and models, and the people whose records were used for
    /// each choice.
    pub(super) fn tunings(&self) -> Markup {
        let tunings = self.outcome.tunings();
        html! {
            @if !tunings.is_empty() {
                section {
                    h2 { "Tuned parameters, and whose records chose them" }
                    div.box {
                        table.glance { tbody {
                            @for tuning in tunings { tr { th scope="row" { (tuning.whose) } td { "ε = \
                                " (tuning.at) } td { (tuning.what) } } }
                        } }
                    }
                    p.muted {
                        "Tuning never uses the test records. Volunteers agreed to shape designs, and have no \
                         guarantee. In private validation, each person answers for one option whether its \
                         prediction for them is right. The answer passes through randomised response at the \
                         row's ε. The person's record is not released, so nobody spends more than this ε."
                    }
                }
            }
        }
    }

    pub(super) fn left_out(&self) -> Markup {
        html! {
            @if !self.outcome.skipped.is_empty() {
                section {
                    h2 { "Left out" }
                    ul {
                        @for skipped in &self.outcome.skipped {
                            li {
                                (skipped.mechanism)
                                @if skipped.parameters.as_object().is_some_and(|given| !given.is_empty()) {
                                    " " code { (skipped.parameters) }
                                }
                                ": " (skipped.reason)
                            }
                        }
                    }
                }
            }
        }
    }

    pub(super) fn how(&self) -> Markup {
        let Comparison { seed, delta, label_share, candidates, trials, models, metrics, epsilons, .. } =
            self.comparison;
        let listed = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join("; ");
        let mut plugins: Vec<Plugin> = candidates.iter().map(|candidate| candidate.plugin).collect();
        plugins.dedup_by_key(|plugin| plugin.name);
        let plugins: Vec<String> =
            plugins.iter().map(|plugin| format!("{} {}", plugin.name, plugin.version)).collect();
        html! {
            section {
                h2 { "Settings" }
                (command(self.command))
                p.muted {
                    "Add --force to replace an existing page. The environment variable SCUMBLE_DATA names \
                     the folder of public data sets."
                }
                @if let Some(text) = self.experiment {
                    p { "The experiment; options of the command override it:" }
                    pre { (text) }
                }
                dl {
                    dt { "made" } dd { (self.made.strftime("%Y-%m-%d %H:%M \
                        UTC")) ", in \
                        " (format!("{:.1}", self.took.as_secs_f64())) " s" }
                    dt { "by" } dd { "scumble " (env!("CARGO_PKG_VERSION")) }
                    dt { "mechanisms" } dd { (plugins.join(", ")) }
                    dt { "budgets" } dd { (listed(&mut epsilons.iter().map(|epsilon| in_words(*epsilon)))) }
                    dt { "models" } dd { (listed(&mut models.iter().map(ToString::to_string))) }
                    dt { "metrics" } dd { (listed(&mut metrics.iter().map(ToString::to_string))) }
                    dt { "trials" } dd { (trials) }
                    dt { "volunteers" } dd { (grouped(self.outcome.volunteers)) }
                    dt { "seed" } dd { (seed) }
                    dt { "δ" } dd { (scumble_core::number::short(*delta)) }
                    dt { "label share" } dd { (label_share) " of ε, if the label has its own mechanism" }
                }
            }
        }
    }
}
