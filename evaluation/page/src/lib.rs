//! A comparison as one self-contained HTML page: charts, a table that sorts, the card of every mechanism, and how it was made.
//!
//! It loads nothing, and needs no script to be read.

mod chart;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use chart::{chart, is_cut, is_logarithmic, sample, tradeoff};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use scumble_comparison::{
    Choice, Comparison, Goal, Metric, Outcome, Row, Scores, Series, SplitKind, VOLUNTEERS, in_words,
};
use scumble_core::{Guarantee, Plugin, Unit};
use scumble_draw::STYLE;
use std::time::Duration;

/// What the page shows, and how it came about.
#[derive(Debug)]
pub struct Page<'a> {
    /// What was compared.
    pub comparison: &'a Comparison,
    /// What came out.
    pub outcome: &'a Outcome,
    /// The command, as a shell reads it.
    pub command: &'a str,
    /// The experiment's text, if there was one.
    pub experiment: Option<&'a str>,
    /// When it was made.
    pub made: Timestamp,
    /// How long it took.
    pub took: Duration,
}

/// Scripts and pictures from elsewhere are refused, whoever put them there.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

impl Page<'_> {
    /// The page.
    pub fn to_html(&self) -> String {
        let scores = self.outcome.scores();
        let title = self.title();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="generator" content={ "scumble " (env!("CARGO_PKG_VERSION")) };
                    title { (title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(include_str!("style.css"))) }
                }
                body {
                    main {
                        h1 { (title) }
                        (self.lead(&scores))
                        @if let Some(first) = scores.first() { (self.choices(first)) }
                        (self.tunings())
                        (self.tradeoffs(&scores))
                        @for scores in &scores { (self.section(scores)) }
                        @if scores.is_empty() { p { "No mechanism applies to such data." } }
                        @else {
                            (self.table(&scores))
                            (self.exports())
                            (self.cards(&scores[0].series))
                        }
                        (self.left_out())
                        (self.how())
                    }
                    script { (PreEscaped(include_str!("script.js"))) }
                }
            }
        };
        page.into_string()
    }

    fn title(&self) -> String {
        let data = &self.comparison.data;
        format!("What privacy costs: “{}” learned from {}", data.target, data.name)
    }

    /// What was compared, on what.
    fn lead(&self, scores: &[Scores]) -> Markup {
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
                " clean test records: "
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
                    "The schema is a draft: its bounds and levels were taken from the records themselves, and give away something of \
                     them. The scores are what they are; what is promised below will be promised when the schema says what is publicly \
                     known of each column instead."
                }
            }
            p.muted {
                "ε is the budget: less is more private, ∞ is none. What is promised at it differs from mechanism to mechanism and \
                 stands on the cards. The scores are of clean records and no promise covers them: a page about private data is for \
                 their owner."
            }
        }
    }

    /// Of what protects the same the best, at each budget, with what it costs.
    fn choices(&self, scores: &Scores) -> Markup {
        let choices = self.outcome.choices(scores);
        let metric = scores.metric;
        html! {
            @if let Some(first) = choices.first() {
                section {
                    h2 { "What to choose, and what it costs" }
                    div.box {
                        table.choices {
                            thead { tr {
                                th scope="col" { "to protect" }
                                @for choice in choices.iter().filter(|choice| choice.goal == first.goal) {
                                    th scope="col" { "ε = " (in_words(choice.epsilon)) }
                                }
                            } }
                            tbody {
                                @for choices in choices.chunk_by(|a, b| a.goal == b.goal) {
                                    tr {
                                        th scope="row" { (choices[0].goal) }
                                        @for choice in choices {
                                            @match choice.best {
                                                None => { td.muted {
                                                    "no evidence that anything is better than "
                                                    (choice.tried.map_or("guessing".into(), |tried| tried.baseline.to_string()))
                                                } },
                                                Some((title, row)) => { td {
                                                    (title) br; span.spread {
                                                        (metric.shown(row.mean))
                                                        @if let Some(cost) = choice.cost { ", costs " (metric.shown(cost)) }
                                                        @if let Some(worth) = &row.worth { br; "worth " (worth) }
                                                    }
                                                } },
                                            }
                                        }
                                    }
                                }
                            }
                        }
                    }
                    (commands(&choices))
                    p.muted {
                        "By " (metric.title()) " by " (scores.scorer) ": the best mean of those that promise differential privacy of the same with the same trust, \
                         how much worse that is than to learn from records as they are, and what it is worth: as many records in the clear teach the \
                         same model as much, with an interval of 95 %. Picked by these very scores: what lies within a deviation of it is as good. It is \
                         named where its scores are better than without a release at 1 %, for all rows together. " (self.outcome.without_mechanism(scores))
                    }
                }
            }
        }
    }

    /// What was chosen of mechanisms and models, and who paid for it.
    fn tunings(&self) -> Markup {
        let tunings = self.outcome.tunings();
        html! {
            @if !tunings.is_empty() {
                section {
                    h2 { "What was tuned, and who paid for it" }
                    div.box {
                        table.glance { tbody {
                            @for tuning in tunings { tr { th scope="row" { (tuning.whose) } td { "ε = " (tuning.at) } td { (tuning.what) } } }
                        } }
                    }
                    p.muted {
                        "Never on the test records. Volunteers agreed to shape designs, which promise them nothing. Who is asked says of one \
                         candidate whether it is right about her, flipped by the row's own ε, and her record stays with her: nobody pays more \
                         than that ε."
                    }
                }
            }
        }
    }

    /// What the first model makes of the releases, beside what an adversary learns of them.
    fn tradeoffs(&self, scores: &[Scores]) -> Markup {
        let attacks = || scores.iter().filter(|scores| scores.metric.is_of_adversary());
        let (Some(utility), Some(_)) = (scores.first(), attacks().next()) else {
            return html! {};
        };
        html! {
            section {
                h2 { (utility.metric.title()) ", and what an adversary learns" }
                p {
                    "The same for every mechanism, whatever it promises: she has the release, knows "
                    (scumble_core::number::short(100.0 * self.comparison.adversary.known_share))
                    " % of its records and which rows these became, and from them learns to read the others. "
                    @if utility.metric.less_is_better() { "Down" } @else { "Up" }
                    " is useful, and left is private. A thin line leads from a point to the most that its promise allows her, however \
                     clever she is; where there is none, its promise says nothing of that."
                }
                @for attack in attacks() {
                    figure {
                        (tradeoff([utility, attack], [utility.metric, attack.metric].map(|metric| self.blind_guess(metric))))
                        @if attack.metric.is_of_audit() {
                            p.muted {
                                "Here the audit tells apart the two records that are easiest to, of all that there could be: what it shows is proven \
                                 but for one audit in a million, and more may be so."
                            }
                        }
                        @if attack.metric == Metric::Membership {
                            p.muted {
                                "Here an adversary knows all records but one, and tells by the noisy statistics of the release which of two is that one."
                            }
                        }
                        @if attack.metric == Metric::UnbiasedError {
                            p.muted { "Here right is private: the line leads to the least error that an unbiased guess has by Cramér and Rao." }
                        }
                        (self.legend(utility))
                    }
                }
                p.muted {
                    "That she learns little proves nothing: she guesses by ridge regression, and another may be cleverer, up to what is \
                     promised."
                }
            }
        }
    }

    /// Which mark is which mechanism, and what that protects.
    fn legend(&self, scores: &Scores) -> Markup {
        html! {
            ul.legend {
                @for (place, series) in scores.series.iter().enumerate() {
                    li data-series=(place) {
                        (sample(series, place))
                        span { (series.title) " " span.what { (protected(&self.promising(series).guarantee)) } }
                        (warned(&self.promising(series).guarantee))
                    }
                }
            }
        }
    }

    /// One model by one metric: what it comes to, and the chart.
    fn section(&self, scores: &Scores) -> Markup {
        let metric = scores.metric;
        let blind = self.blind_guess(metric);
        html! {
            section {
                h2 {
                    (metric.title()) " by " (scores.scorer)
                    @if metric.less_is_better() { " (less is better)" }
                }
                @if !metric.is_of_adversary() { (self.glance(scores, blind)) }
                figure {
                    (chart(scores, &self.comparison.epsilons, blind))
                    (self.legend(scores))
                }
                p.muted {
                    @if scores.series[0].rows[0].trials > 1 { "Bars are ± one standard deviation over trials. " }
                    @if is_cut(scores) { "Points on the lower edge lie below it. " }
                    @if is_logarithmic(scores, blind) { "The scale of scores is logarithmic. " }
                    @if metric.is_of_adversary() { "Without a release it is " }
                    @else if metric.is_of_table() { "Of records spread evenly over their public bounds it is " }
                    @else {
                        "Always guessing the training records' "
                        @if metric.is_share() { "commonest class" } @else { "mean" }
                        " gets "
                    }
                    (metric.shown(blind)) "."
                }
            }
        }
    }

    /// Of each promise the mechanism with the best mean, at the budget at which promises are spelled out.
    fn glance(&self, scores: &Scores, blind: f64) -> Markup {
        let metric = scores.metric;
        let wanted = self.comparison.promised_at();
        let mut best: Vec<(String, &Series, &Row)> = vec![];
        let ranked = scores.series.iter().map(|series| (series, self.promising(series)));
        for (series, row) in ranked.clone().filter(|(_, row)| row.mean.is_finite()) {
            let promise = row.guarantee.summary();
            match best.iter_mut().find(|(other, ..)| *other == promise) {
                Some((_, _, other)) if metric.best_first(other.mean, row.mean).is_le() => {}
                Some(place) => (place.1, place.2) = (series, row),
                None => best.push((promise, series, row)),
            }
        }
        best.sort_by(|a, b| metric.best_first(a.2.mean, b.2.mean));
        // What is picked by these very scores may owe it to chance.
        let remark = |promise: &str, row: &Row| {
            let near =
                |other: &Row| (other.mean - row.mean).abs() <= row.sd && other.guarantee.summary() == promise;
            match ranked.clone().filter(|(_, other)| near(other)).count() {
                _ if metric.best_first(row.mean, blind).is_ge() => ", no better than guessing".into(),
                0 | 1 => String::new(),
                near => format!(", and {} within one deviation", near - 1),
            }
        };
        html! {
            div.box {
                table.glance {
                    thead { tr {
                        th.number { (metric.title()) }
                        th { (if metric.less_is_better() { "lowest" } else { "highest" }) " mean" }
                        th { "what is promised" @if let Some(epsilon) = wanted { " at ε = " (in_words(epsilon)) } }
                    } }
                    tbody {
                        @for (promise, series, row) in best {
                            tr {
                                td.number {
                                    (metric.shown(row.mean))
                                    @if row.trials > 1 { span.spread { " ± " (metric.shown(row.sd)) } }
                                }
                                td { (series.title) span.spread { (remark(&promise, row)) } }
                                td { (promise) }
                            }
                        }
                        tr.muted {
                            td.number { (metric.shown(blind)) }
                            td { "a blind guess" }
                            td { "nothing is released" }
                        }
                    }
                }
            }
        }
    }

    /// Every row, to be sorted.
    fn table(&self, scores: &[Scores]) -> Markup {
        let models = self.comparison.models.len() > 1;
        let metrics = self.comparison.metrics.len() > 1;
        let attacks = scores.iter().any(|scores| scores.metric.is_of_adversary());
        html! {
            section {
                h2 { "All scores" }
                div.box {
                    table.sortable {
                        thead { tr {
                            th scope="col" { "mechanism" }
                            th scope="col" { "protects" }
                            th.number scope="col" { "ε" }
                            @if models { th scope="col" { "model" } }
                            @if metrics { th scope="col" { "metric" } }
                            th.number scope="col" {
                                @if metrics { "mean" } @else { (scores[0].metric.title()) }
                            }
                            th.number scope="col" { "± sd" }
                            @if attacks { th.number scope="col" { "allowed" } }
                            th.number scope="col" { "trials" }
                            th.number scope="col" { "seconds" }
                        } }
                        tbody {
                            @for scores in scores { @for series in &scores.series { @for row in series.rows {
                                tr {
                                    th scope="row" { (series.title) }
                                    td { (protected(&row.guarantee)) (warned(&row.guarantee)) }
                                    @match row.epsilon {
                                        Some(epsilon) => (number(epsilon, in_words(epsilon))),
                                        None => (number(f64::NAN, "any".into())),
                                    }
                                    @if models { td { (scores.scorer) } }
                                    @if metrics { td { (scores.metric.title()) } }
                                    (number(row.mean, scores.metric.shown(row.mean)))
                                    (number(row.sd, scores.metric.shown(row.sd)))
                                    @if attacks {
                                        @let bound = row.bound.unwrap_or(f64::NAN);
                                        (number(bound, if bound.is_nan() { String::new() } else { scores.metric.shown(bound) }))
                                    }
                                    (number(row.trials as f64, row.trials.to_string()))
                                    (number(row.seconds, format!("{:.2}", row.seconds)))
                                }
                            } } }
                        }
                    }
                }
            }
        }
    }

    /// The numbers of the page as files, within it.
    fn exports(&self) -> Markup {
        let json = self.comparison.to_json(self.outcome).to_string();
        let link = |name: &str, kind: &str, text: &str| {
            html! { a download=(name) href={ "data:" (kind) ";base64," (BASE64_STANDARD.encode(text)) } { (name) } }
        };
        html! {
            p.exports {
                "The same numbers: " (link("comparison.csv", "text/csv", &self.outcome.to_csv())) ", "
                (link("comparison.json", "application/json", &json))
            }
        }
    }

    /// What each mechanism promises, at every budget.
    fn cards(&self, mechanisms: &[Series]) -> Markup {
        let wanted = self.comparison.promised_at();
        html! {
            section {
                h2 { "What each promises" }
                p.muted { "Of a release with fresh randomness. A release of this comparison, whose seed is known, promises nothing." }
                @for Series { title, rows } in mechanisms {
                    article.card {
                        h3 { (title) }
                        @if let Some(plugin) = self.plugin(&rows[0].mechanism) {
                            p.muted { (plugin.summary) " (" (plugin.paper) ")" }
                        }
                        @for row in *rows {
                            details open[row.epsilon.is_none() || row.epsilon == wanted] {
                                summary {
                                    @match row.epsilon {
                                        Some(epsilon) => { "At ε = " (in_words(epsilon)) },
                                        None => { "At any ε" },
                                    }
                                    ": " (row.guarantee.summary())
                                }
                                @if let Some(command) = &row.design { pre.command { (command) } }
                                dl {
                                    @for (heading, words) in row.guarantee.card() { dt class=[class_of(heading)] { (heading) } dd { (words) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn left_out(&self) -> Markup {
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

    fn how(&self) -> Markup {
        let Comparison { seed, delta, label_share, entrants, trials, models, metrics, epsilons, .. } =
            self.comparison;
        let listed = |words: &mut dyn Iterator<Item = String>| words.collect::<Vec<_>>().join("; ");
        let mut plugins: Vec<Plugin> = entrants.iter().map(|entrant| entrant.plugin).collect();
        plugins.dedup_by_key(|plugin| plugin.name);
        let plugins: Vec<String> =
            plugins.iter().map(|plugin| format!("{} {}", plugin.name, plugin.version)).collect();
        html! {
            section {
                h2 { "How it was made" }
                pre.command { (self.command) }
                p.muted { "Where this page stands already, it asks for --force. Public data sets lie where SCUMBLE_DATA says." }
                @if let Some(text) = self.experiment {
                    p { "The experiment; options of the command take the place of what stands there:" }
                    pre { (text) }
                }
                dl {
                    dt { "made" } dd { (self.made.strftime("%Y-%m-%d %H:%M UTC")) ", in " (format!("{:.1}", self.took.as_secs_f64())) " s" }
                    dt { "by" } dd { "scumble " (env!("CARGO_PKG_VERSION")) }
                    dt { "mechanisms" } dd { (plugins.join(", ")) }
                    dt { "budgets" } dd { (listed(&mut epsilons.iter().map(|epsilon| in_words(*epsilon)))) }
                    dt { "models" } dd { (listed(&mut models.iter().map(ToString::to_string))) }
                    dt { "metrics" } dd { (listed(&mut metrics.iter().map(ToString::to_string))) }
                    dt { "trials" } dd { (trials) }
                    dt { "volunteers" } dd { (grouped(self.outcome.volunteers)) }
                    dt { "seed" } dd { (seed) }
                    dt { "δ" } dd { (scumble_core::number::short(*delta)) }
                    dt { "label share" } dd { (label_share) " of ε, where a mechanism of its own releases the label" }
                }
            }
        }
    }

    /// The row at the budget at which promises are spelled out.
    fn promising<'a>(&self, series: &Series<'a>) -> &'a Row {
        let wanted = self.comparison.promised_at();
        let at = |epsilon| series.rows.iter().find(|row| row.epsilon == Some(epsilon));
        wanted.and_then(at).unwrap_or(&series.rows[0])
    }

    fn blind_guess(&self, metric: Metric) -> f64 {
        self.outcome.blind_guesses.get(&metric).copied().unwrap_or(f64::NAN)
    }

    fn plugin(&self, name: &str) -> Option<Plugin> {
        let mut entrants = self.comparison.entrants.iter();
        entrants.find(|entrant| entrant.plugin.name == name).map(|entrant| entrant.plugin)
    }
}

/// How to make what was chosen.
fn commands(choices: &[Choice]) -> Markup {
    let made = |choice: &Choice| Some((choice.goal, choice.epsilon, choice.best?.1.design.clone()?));
    let made: Vec<(Goal, f64, String)> = choices.iter().filter_map(made).collect();
    html! {
        @if !made.is_empty() {
            details {
                summary { "The commands that design it" }
                dl {
                    @for (goal, epsilon, command) in &made {
                        dt { (goal) ", ε = " (in_words(*epsilon)) } dd { pre.command { (command) } }
                    }
                }
                @if made.iter().any(|(_, _, command)| command.contains(VOLUNTEERS)) {
                    p.muted { (VOLUNTEERS) " stands for a file of your volunteers' records." }
                }
            }
        }
    }
}

/// A cell with a number as it sorts, and as it reads. One that is none sorts last.
fn number(value: f64, shown: String) -> Markup {
    let key = match value {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        value if value.is_nan() => String::new(),
        value => value.to_string(),
    };
    html! { td.number data-value=(key) { (shown) } }
}

/// The classes that give a series its ink: a mechanism that promises nothing has the text's own.
fn ink(series: &Series, place: usize) -> String {
    const INKS: usize = 8;
    let hollow = if place / INKS % 2 == 1 { " hollow" } else { "" };
    match series.rows[0].epsilon {
        None => format!("plain{hollow}"),
        Some(_) => format!("s{}{hollow}", place % INKS),
    }
}

/// How the words of a heading of a card look, where not as all others.
fn class_of(heading: &str) -> Option<&'static str> {
    match heading {
        "promises" => Some("first"),
        "WARNING" => Some("warning"),
        _ => None,
    }
}

/// A mark where a claim promises nothing after all, with the reason under the pointer; it stands in full on the card.
fn warned(guarantee: &Guarantee) -> Markup {
    let warnings = guarantee.warnings();
    html! { @if !warnings.is_empty() { " " strong.warning title=(warnings.join("; ")) { "WARNING" } } }
}

/// What is protected, in words: by a claim that promises something.
fn protected(guarantee: &Guarantee) -> String {
    let standing = guarantee.claims.iter().filter(|claim| claim.warning().is_none());
    let mut units: Vec<Unit> = standing.map(|claim| claim.protects).collect();
    if units.contains(&Unit::Record) {
        units.retain(|unit| *unit == Unit::Record);
    }
    units.dedup();
    if units.is_empty() {
        return "nothing".into();
    }
    units.iter().map(Unit::to_string).collect::<Vec<_>>().join("; ")
}

/// `1 trial`, `50 trials`.
fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// With a comma before every three digits.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_groups_of_three() {
        for (count, words) in
            [(0, "0 trials"), (1, "1 trial"), (1599, "1,599 trials"), (1_000_000, "1,000,000 trials")]
        {
            assert_eq!(counted(count, "trial"), words);
        }
    }
}
