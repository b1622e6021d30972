//! The results as one Markdown document.

use super::kept::{self, KEPT, KEPT_LEAD};
use super::results::{Finished, Results};
use super::standing::{At, Standing, median};
use super::tabular::{Table, header, heading};
use super::task::Form;
use scumble_comparison::{Choice, Goal, Knows, Metric, Row, Scores, in_words};
use scumble_core::Notion;
use std::collections::BTreeMap;

/// A table over all tasks, with its title and explanation.
pub(super) struct Section {
    pub(super) title: &'static str,
    pub(super) lead: &'static str,
    pub(super) table: Table,
}

impl Results {
    /// The tables over all tasks after those of single goals, without empty ones.
    pub(super) fn overview(&self) -> Vec<Section> {
        let sections = [
            Section { title: CHOSEN, lead: CHOSEN_LEAD, table: self.places() },
            Section { title: WITHOUT, lead: WITHOUT_LEAD, table: self.without_dp() },
            Section { title: ATTACKED, lead: ATTACKED_LEAD, table: self.attacked(Metric::Membership) },
            Section { title: RECOVERED, lead: RECOVERED_LEAD, table: self.attacked(Metric::Recovered) },
        ];
        sections.into_iter().filter(|section| !section.table.rows.is_empty()).collect()
    }

    /// The results as Markdown: the tasks, the recommended mechanisms of each task, and the standings of the
    /// mechanisms over all tasks. `command` is the shell command that made the results.
    pub fn to_markdown(&self, command: &str) -> String {
        let mut text = format!(
            "# The cost of privacy, task by task\n\n{}\n\n```console\n$ {command}\n```\n",
            self.lead()
        );
        text += &format!("\n## The tasks\n\n{}", self.tasks().to_markdown());
        let kept = self.kept();
        if !kept.is_empty() {
            text += &format!("\n## {KEPT}\n\n{KEPT_LEAD}\n\n{}", kept::table(&kept).to_markdown());
        }
        for goal in self.goals() {
            text += &format!("\n## {}\n", heading(goal));
            text += &format!("\nWhat to choose:\n\n{}", self.chosen(goal).to_markdown());
            let standings = self.standings(goal);
            if !standings.is_empty() {
                text += &format!("\nOver all tasks:\n\n{}", overall(&standings).to_markdown());
                text += &nothing(&standings).map_or(String::new(), |line| format!("\n{line}\n"));
            }
        }
        for section in self.overview() {
            text += &format!("\n## {}\n\n{}\n\n{}", section.title, section.lead, section.table.to_markdown());
        }
        let absent = self.absent();
        if !absent.is_empty() {
            text += "\n## Missing tasks and cells\n\n";
            absent.iter().for_each(|line| text += &format!("- {line}\n"));
        }
        text
    }

    /// The lead: the contents of the tables, and how to read them.
    pub(super) fn lead(&self) -> String {
        let form = match self.form {
            Form::Whole => "The full variant of the suite".to_owned(),
            Form::Quick => format!(
                "The quick variant of the suite: {} trials, of at most {} training records (with at most {} \
                 numbers) and {} test records",
                Form::TRIALS,
                Form::TRAIN,
                Form::NUMBERS,
                Form::TEST
            ),
        };
        format!(
            "{form}; version {}. Every mechanism is designed and releases training records. A model learns \
             from the release, and is scored on held-out test records. A score is followed by its worth: the \
             number of records in the clear from which the same model learns as much, with a 95 % interval \
             by bootstrap over trials. A cell names the best mean among the mechanisms whose predictions are \
             better than without a release, in a paired test at 1 % for all mechanisms of the cell together. \
             Otherwise it says “no evidence”, with an upper bound of 95 % on the true gains of all these \
             mechanisms, or “no gain” if this bound is not above zero. The best mean follows in brackets.",
            env!("CARGO_PKG_VERSION")
        )
    }

    /// The tasks, with the scores that need no mechanism.
    pub(super) fn tasks(&self) -> Table {
        let header = [
            "task",
            "records × columns",
            "training records",
            "trials",
            "score",
            "baseline",
            "volunteers",
            "in the clear",
            "minutes of a core",
        ];
        let row = |finished: &Finished| -> Option<Vec<String>> {
            let (scores, outcome) = (finished.scores()?, &finished.outcome);
            let known = |knows: Knows| {
                finished.known(&scores, knows).map_or("–".to_owned(), |mean| scores.metric.shown(mean))
            };
            let volunteers = match (outcome.volunteers, finished.has_labels) {
                (0, _) => String::new(),
                (count, true) => format!(", {count} volunteers"),
                (count, false) => format!(", {count} volunteers without labels"),
            };
            Some(vec![
                finished.task.name.into(),
                format!("{} × {}", finished.records, finished.columns),
                format!("{}{volunteers}", outcome.train_records),
                scores.series.first()?.rows.first()?.trials.to_string(),
                format!("{}, {}", scores.metric.name(), scores.scorer),
                known(Knows::Guess),
                known(Knows::Volunteers),
                known(Knows::Clean),
                format!("{:.0}", finished.seconds(&scores) / 60.0),
            ])
        };
        Table {
            header: header.map(str::to_owned).to_vec(),
            rows: self.finished.iter().filter_map(row).collect(),
        }
    }

    /// The recommended mechanisms for `goal`, in every task and at every budget.
    pub(super) fn chosen(&self, goal: Goal) -> Table {
        let epsilons = self.epsilons();
        let row = |finished: &Finished| -> Option<Vec<String>> {
            let scores = finished.scores()?;
            let choices = finished.outcome.choices(&scores);
            let choice_at =
                |epsilon: f64| choices.iter().find(|choice| choice.goal == goal && choice.epsilon == epsilon);
            epsilons.iter().any(|epsilon| choice_at(*epsilon).is_some()).then_some(())?;
            let cells = epsilons
                .iter()
                .map(|epsilon| choice_at(*epsilon).map_or("–".to_owned(), |choice| cell(choice, &scores)));
            Some(std::iter::once(finished.task.name.to_owned()).chain(cells).collect())
        };
        Table { header: header("task", &epsilons), rows: self.finished.iter().filter_map(row).collect() }
    }

    /// Number of cells (a task at a budget) of each mechanism and goal, and the number of cells that name the
    /// mechanism. Of these, also the cell with the largest worth as a share of the records.
    fn places(&self) -> Table {
        /// Cells with a mechanism, cells that name it, and the largest worth with its cell.
        type Place = (usize, usize, Option<(f64, String)>);
        let mut places: BTreeMap<(String, String), Place> = BTreeMap::new();
        for finished in &self.finished {
            let Some(scores) = finished.scores() else { continue };
            let is_tried = |row: &&Row| row.epsilon.is_some_and(f64::is_finite) && row.mean.is_finite();
            for row in scores.series.iter().flat_map(|series| series.rows).filter(is_tried) {
                if let Some(goal) = Goal::from_row(row) {
                    places.entry((goal.to_string(), row.mechanism.clone())).or_default().0 += 1;
                }
            }
            for choice in finished.outcome.choices(&scores) {
                let Some((_, row)) = choice.best else { continue };
                let place = places.entry((choice.goal.to_string(), row.mechanism.clone())).or_default();
                place.1 += 1;
                let worth = row.worth.filter(|_| !finished.adds()).map(|worth| {
                    let share = worth.records / finished.outcome.train_records as f64;
                    let at = in_words(choice.epsilon);
                    (
                        share,
                        format!(
                            "{} at ε = {at}: {worth} of {}",
                            finished.task.name, finished.outcome.train_records
                        ),
                    )
                });
                if worth.as_ref().map(|worth| worth.0) > place.2.as_ref().map(|best| best.0) {
                    place.2 = worth;
                }
            }
        }
        let mut rows: Vec<_> = places.into_iter().collect();
        rows.sort_by(|((goal, _), a), ((other, _), b)| {
            self.rank(goal).cmp(&self.rank(other)).then(b.1.cmp(&a.1)).then(b.0.cmp(&a.0))
        });
        let row = |((goal, mechanism), (tried, named, best)): ((String, String), Place)| {
            let best = best.map_or("–".to_owned(), |(_, text)| text);
            vec![mechanism, goal, format!("{named} of {tried}"), best]
        };
        let header = ["mechanism", "protects", "cells that name it", "largest worth"];
        Table { header: header.map(str::to_owned).to_vec(), rows: rows.into_iter().map(row).collect() }
    }

    /// Place of a goal, given as text, among all goals.
    fn rank(&self, goal: &str) -> Option<usize> {
        self.goals().iter().position(|other| other.to_string() == goal)
    }

    /// For each mechanism without differential privacy: the share that it keeps of what the clean records
    /// gain over the baseline.
    fn without_dp(&self) -> Table {
        let mut kept: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for finished in &self.finished {
            let Some(scores) = finished.scores() else { continue };
            for series in &scores.series {
                let shares = series.rows.iter().filter(|row| !row.has_dp());
                let shares = shares.filter_map(|row| finished.share(&scores, row.mean));
                shares.for_each(|share| kept.entry(series.title.clone()).or_default().push(share));
            }
        }
        let row = |(mechanism, shares): (String, Vec<f64>)| {
            let [least, most] =
                [f64::min, f64::max].map(|of| 100.0 * shares.iter().copied().fold(shares[0], of));
            let tasks = shares.len().to_string();
            let middle = 100.0 * median(shares);
            vec![mechanism, tasks, format!("{middle:.0} ({least:.0} to {most:.0})")]
        };
        let header = ["mechanism", "tasks", "share of the gain (%)"];
        Table { header: header.map(str::to_owned).to_vec(), rows: kept.into_iter().map(row).collect() }
    }

    /// The score of an adversary by `metric`, and the score of the first model, for all mechanisms in the
    /// tasks with this attack. Mechanisms with different kinds of claims are in the same table.
    fn attacked(&self, metric: Metric) -> Table {
        let header = ["task", "mechanism", "claim", metric.title(), "score"];
        let task_rows = |finished: &Finished| -> Option<Vec<Vec<String>>> {
            let by_model = finished.scores()?;
            let all = finished.outcome.scores();
            let attacked = all.iter().find(|scores| scores.metric == metric)?;
            let mut rows: Vec<(&Row, Vec<String>)> = vec![];
            for series in &attacked.series {
                let score = |row: &Row| {
                    let same =
                        |other: &&Row| other.parameters == row.parameters && other.epsilon == row.epsilon;
                    let model_series = by_model.series.iter().filter(|other| other.title == series.title);
                    model_series.flat_map(|other| other.rows).find(same).map_or("–".to_owned(), Row::shown)
                };
                for row in series.rows.iter().filter(|row| row.mean.is_finite()) {
                    let cells = [finished.task.name, &series.title, &claimed(row)];
                    let cells = cells.map(str::to_owned).into_iter().chain([row.shown(), score(row)]);
                    rows.push((row, cells.collect()));
                }
            }
            rows.sort_by(|(one, _), (other, _)| one.mean.total_cmp(&other.mean));
            Some(rows.into_iter().map(|(_, cells)| cells).collect())
        };
        Table {
            header: header.map(str::to_owned).to_vec(),
            rows: self.finished.iter().filter_map(task_rows).flatten().collect(),
        }
    }

    /// The tasks that could not be run, and the cells (one mechanism at one ε) that failed, with the reasons.
    pub(super) fn absent(&self) -> Vec<String> {
        let missing = self.missing.iter().map(|missing| format!("{}: {}", missing.task.name, missing.reason));
        let failed = self.finished.iter().flat_map(|finished| {
            finished.outcome.failed.iter().map(|failed| format!("{}: {failed}", finished.task.name))
        });
        missing.chain(failed).collect()
    }
}

/// The claim that bounds the membership advantage: ε, or nats of mutual information.
fn claimed(row: &Row) -> String {
    let nats = row.guarantee.claims.iter().find_map(|claim| match &claim.notion {
        Notion::MutualInformation(bound) if bound.nats == 1.0 => Some("1 nat".to_owned()),
        Notion::MutualInformation(bound) => Some(format!("{} nats", bound.nats)),
        _ => None,
    });
    let epsilon_claim = row.epsilon.map(|epsilon| format!("ε = {}", in_words(epsilon)));
    epsilon_claim.or(nats).unwrap_or_else(|| "–".into())
}

const CHOSEN: &str = "Where each mechanism is the best choice";
const CHOSEN_LEAD: &str = "A cell is a task at a budget. For each mechanism: in how many of its cells the \
    tables above name it, and its largest worth there, as a share of the released records.";

const WITHOUT: &str = "Mechanisms without differential privacy";
const WITHOUT_LEAD: &str = "Scores cannot be compared with those above, because the claims differ: \
    `mechanisms/README.md` lists them. The share \
    says how much a release keeps of what the clean records gain over the baseline: the median over tasks, \
    with the least and the most.";

const RECOVERED: &str = "Reconstruction";
const RECOVERED_LEAD: &str = "The share of the features' variance that an adversary explains for records it \
    does not know, in ascending order. It knows half of the records with their released rows, and fits a \
    linear map. Other adversaries may learn more.";

const ATTACKED: &str = "Membership attack";
const ATTACKED_LEAD: &str = "Membership advantage of an adversary over a coin toss, in ascending \
    order. Under differential privacy, the adversary knows all records but one. If a mechanism uses half of \
    the records, the adversary knows all records and all possible halves, and infers whether a record was \
    used. The advantage is measured: an adversary with more knowledge or a better method may learn more, up \
    to the bound of the claim. This table is the only one that compares claims of different kinds.";

/// Text of a table cell: the recommended mechanism, its score, and its worth. If models also learn from
/// volunteers' labels, another number replaces the worth. It is the number of clean records that would
/// improve a model of the volunteers' records as much as the release does.
fn cell(choice: &Choice, scores: &Scores) -> String {
    let Some((_, row)) = choice.best else {
        let (title, row) = choice.highest;
        let bound = match choice.at_most {
            Some(gain) if gain <= 0.0 => "no gain".to_owned(),
            Some(gain) => format!("no evidence, at most {}", scores.metric.shown_difference(gain)),
            None => "no evidence".to_owned(),
        };
        return format!("{bound} ({title} {})", scores.metric.shown(row.mean));
    };
    let (title, score) = (&row.mechanism, scores.metric.shown(row.mean));
    match (row.adds, row.worth) {
        (Some(adds), _) => format!("{title} {score}; adds {adds}"),
        (None, Some(worth)) => format!("{title} {score}; worth {worth}"),
        (None, None) => format!("{title} {score}"),
    }
}

/// Table of the mechanisms' standings: in each row, a mechanism's results over all tasks at each budget.
pub(super) fn overall(standings: &[Standing]) -> Table {
    let epsilons: Vec<f64> =
        standings.first().map_or(vec![], |standing| standing.at.iter().map(|at| at.epsilon).collect());
    let row = |standing: &Standing| {
        std::iter::once(standing.mechanism.clone()).chain(standing.at.iter().map(share)).collect()
    };
    let rows = standings.iter().filter(|standing| standing.is_worth_something()).map(row).collect();
    Table {
        header: header("mechanism: median worth, and tasks in which it is better than no release", &epsilons),
        rows,
    }
}

/// Line of text that names the mechanisms left out of the table of standings; `None` if there are none.
pub(super) fn nothing(standings: &[Standing]) -> Option<String> {
    let names: Vec<&str> = standings
        .iter()
        .filter(|standing| !standing.is_worth_something())
        .map(|standing| standing.mechanism.as_str())
        .collect();
    let line = format!(
        "Never better than no release, with a median worth below 0.05 % of the records: {}.",
        names.join(", ")
    );
    (!names.is_empty()).then_some(line)
}

/// The median worth in per cent of the released records, and the number of tasks in which a mechanism is
/// better than predictions without a release.
fn share(at: &At) -> String {
    match at.tasks {
        0 => "–".into(),
        tasks => format!("{:.1} %, {} of {tasks}", 100.0 * at.worth, at.better),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::tasks;

    #[test]
    fn the_table_in_the_documentation_is_of_these_tasks_and_this_version() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("BENCHMARK.md");
        let table = std::fs::read_to_string(file).unwrap();
        assert!(
            table.contains(&Results::new(Form::Whole).lead()),
            "BENCHMARK.md has another lead than the suite"
        );
        for task in tasks() {
            let row = format!("\n| {} | ", task.name);
            let missing = format!("\n- {}: no published result", task.name);
            assert!(table.contains(&row) || table.contains(&missing), "{} is not in BENCHMARK.md", task.name);
        }
        assert!(!table.contains(" failed in trial "), "a cell of BENCHMARK.md failed");
    }
}
