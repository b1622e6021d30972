//! First screen of a comparison: the result without a release, the recommended mechanisms, their worth, and
//! the commands that design them. The worth of a release is the number of records in the clear that would
//! give the same score.

use crate::compare::{
    COLLECT, Choice, Comparison, Goal, Metric, Outcome, Row, Scores, SplitKind, Trust, placeholders,
};
use crate::core::{Descriptor, Output, Plugin, Side, Unit, number};
use comfy_table::{Table, presets};
use console::style;

/// Maximum width of a line, on any terminal.
const WIDEST: usize = 100;

/// Hints for more details and for adding volunteers (people whose records may shape designs), in the terms of
/// the interface that shows the screen.
#[derive(Debug, Clone, Copy)]
pub struct Hints {
    /// Option that shows all budgets.
    pub all: &'static str,
    /// Option that prints the reasons for left-out mechanisms.
    pub reasons: &'static str,
    /// Option that adds volunteers.
    pub volunteers: &'static str,
    /// Option that sets the number of trials, without the number.
    pub trials: &'static str,
    /// Option that protects the label alone.
    pub label: &'static str,
    /// Call that draws records from reports.
    pub collect: &'static str,
}

impl Hints {
    const COMMAND: Self = Self {
        all: "--full",
        reasons: "--full",
        volunteers: "--volunteers 0.2",
        trials: "--trials ",
        label: "--protect label",
        collect: COLLECT,
    };
}

/// Formats the first screen of `scumble compare`, without its last line: at most fifty lines of at most a
/// hundred columns.
pub fn summary(comparison: &Comparison, outcome: &Outcome, hints: Hints) -> String {
    let tables = outcome.scores();
    let Some(scores) = tables.iter().find(|scores| scores.metric.is_of_model()) else {
        return "no mechanism applies to this data".into();
    };
    let width = width();
    let choices = outcome.choices(scores);
    let plugins = comparison.chosen_plugins(&choices);
    let parts = [
        format!("{}\n{}", heading(comparison, outcome, scores), outcome.without_mechanism(scores)),
        joined([chosen(&choices, scores, width, hints), mechanisms(&plugins)]),
        joined([commands(&choices, width), collect(&plugins, hints.collect)]),
        comparison.warning().unwrap_or_default().to_owned(),
        outcome.unlearnable(scores).unwrap_or_default(),
        notes(outcome, scores, hints),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| wrapped(&part, width)).collect();
    parts.join("\n\n")
}

/// Formats the summary as the command prints it, with hints for more details.
pub(super) fn screen(comparison: &Comparison, outcome: &Outcome) -> String {
    coloured(&format!("{}\n\n{}", summary(comparison, outcome, Hints::COMMAND), wrapped(MORE, width())))
}

const MORE: &str =
    "More: --full, --html PAGE.html; your own data: --input FILE.csv --schema SCHEMA.toml --target COLUMN";

/// Width of the terminal, at most [`WIDEST`].
fn width() -> usize {
    Table::new().width().map_or(WIDEST, usize::from).min(WIDEST)
}

/// Describes the test records, if the data set defines its own split.
pub(super) fn split_note(comparison: &Comparison) -> &'static str {
    match comparison.splitting.kind {
        SplitKind::Own => " of the data set's own split",
        _ => "",
    }
}

/// Formats the data, the metric, the numbers of records and the trials.
fn heading(comparison: &Comparison, outcome: &Outcome, scores: &Scores) -> String {
    let trials = trials_in_words(comparison.trials);
    let split = split_note(comparison);
    let designed = match (outcome.volunteers, comparison.splitting.unlabelled) {
        (0, _) => String::new(),
        (count, false) => format!("; {count} volunteers"),
        (count, true) => format!("; {count} volunteers without labels"),
    };
    let people = match comparison.data.domain.records_per_person() {
        Some(most) => format!("people protected, at most {most} records of each"),
        None => "records released".into(),
    };
    format!(
        "{}: {} of {:?} by {}\n\
         {} {people}{designed}; {} held-out test records{split}; {trials}; seed {}",
        comparison.data.name,
        scores.metric.title(),
        comparison.data.target,
        scores.scorer,
        outcome.train_records,
        outcome.test_records,
        comparison.seed,
    )
}

fn trials_in_words(trials: usize) -> String {
    match trials {
        1 => "one trial".to_owned(),
        trials => format!("{trials} trials"),
    }
}

/// Formats the recommended mechanisms, at as many budgets as fit into `width`.
fn chosen(choices: &[Choice], scores: &Scores, width: usize, hints: Hints) -> String {
    let Some(first) = choices.first() else { return String::new() };
    let budgets: Vec<f64> =
        choices.iter().filter(|choice| choice.goal == first.goal).map(|choice| choice.epsilon).collect();
    let tables = (1..=budgets.len()).rev().map(|most| {
        let shown = spread_budgets(&budgets, most);
        (table(choices, &shown, scores), shown)
    });
    let fits = |(text, shown): &(String, Vec<f64>)| {
        shown.len() == 1 || text.lines().all(|line| line.chars().count() <= width)
    };
    let (table, shown) = tables.into_iter().find(fits).unwrap_or_default();
    let mut remarks: Vec<String> = no_evidence(choices, hints).into_iter().collect();
    let hidden = budgets.iter().filter(|budget| !shown.contains(budget));
    let hidden: Vec<String> = hidden.map(|budget| number::short(*budget)).collect();
    if !hidden.is_empty() {
        remarks.push(format!("Not shown, for lack of width: ε = {} ({}).", hidden.join(", "), hints.all));
    }
    let protects_label = choices.iter().any(|choice| choice.goal.protects == Unit::Label);
    if !protects_label && scores.metric.less_is_better() {
        remarks.push(format!("To protect the target alone (label DP): {}.", hints.label));
    }
    if protects_label {
        remarks.push("Label DP protects the label alone; all features leave in the clear.".into());
    }
    let remarks: String = remarks.iter().map(|remark| format!("\n{remark}")).collect();
    let more = match choices.iter().any(|choice| choice.best.is_some_and(|(_, row)| row.adds.is_some())) {
        true => "how many clean records it adds to the volunteers",
        false => "its worth in clean records",
    };
    format!("What to choose: {}, and {more} (95 %)\n{table}{remarks}", scores.metric.title())
}

/// Joins two texts by a line break; an empty text adds none.
fn joined(texts: [String; 2]) -> String {
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Formats one line for each recommended mechanism: its name, and the first part of its summary.
fn mechanisms(plugins: &[Plugin]) -> String {
    let line = |plugin: &Plugin| {
        let summary = plugin.summary.split([';', ':', ',']).next().unwrap_or_default();
        format!("{}: {summary}", plugin.name)
    };
    plugins.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Formats the commands that follow the design of a recommended mechanism: to draw records from reports, and
/// to release by two servers.
pub(super) fn collect(plugins: &[Plugin], by: &str) -> String {
    let line = |is_meant: fn(&Descriptor) -> bool, text: &dyn Fn(&str) -> String| {
        let meant = plugins.iter().filter(|plugin| is_meant(&plugin.descriptor));
        let names: Vec<&str> = meant.map(|plugin| plugin.name).collect();
        if names.is_empty() { String::new() } else { text(&names.join(", ")) }
    };
    let reporting = line(|descriptor| descriptor.releases == Output::Reports, &|names| {
        format!("To draw records from the reports of {names}:\n  {by}")
    });
    let shared = line(|descriptor| descriptor.run_by == Side::TwoServers, &|names| {
        format!("To release by {names}: scumble report, scumble aggregate, scumble unshard (--help)")
    });
    joined([reporting, shared])
}

/// Text of a cell without evidence: the bound on gains, and the highest mechanism with its score.
pub(super) fn no_gain(choice: &Choice, title: &str, metric: Metric) -> String {
    let gain = choice.at_most.map_or(String::new(), |gain| format!(" (≤ {})", metric.shown(gain.max(0.0))));
    format!("no evidence{gain}\n[{title} {}]", metric.shown(choice.highest.1.mean))
}

/// Explains the cells without evidence, if there are any, and names a larger number of trials.
fn no_evidence(choices: &[Choice], hints: Hints) -> Option<String> {
    let (_, row) = choices.iter().find(|choice| choice.best.is_none())?.highest;
    let (trials, baseline) = (row.trials, row.against?.baseline);
    let with = trials_in_words(trials);
    let more = match trials {
        ..20 => format!(" Try {}20.", hints.trials),
        20..100 => format!(" Try {}{}.", hints.trials, 4 * trials),
        _ => String::new(),
    };
    Some(format!("No evidence (≤ G): at 1 % with {with}, no gain over {baseline}; at most G.{more}"))
}

/// Formats the best mechanism at the `shown` budgets, for each goal (protected part of a record, and trust
/// model).
fn table(choices: &[Choice], shown: &[f64], scores: &Scores) -> String {
    let mut table = Table::new();
    let header = shown.iter().map(|epsilon| format!("ε = {}", number::short(*epsilon)));
    table.load_style(presets::NOTHING).set_header(std::iter::once("to protect".to_owned()).chain(header));
    for choices in choices.chunk_by(|a, b| a.goal == b.goal) {
        let cells = choices.iter().filter(|choice| shown.contains(&choice.epsilon)).map(|choice| {
            let (title, row) = choice.best.unwrap_or(choice.highest);
            match choice.best {
                Some(_) => format!("{}\n{}", shortened(title), score_and_worth(scores, row)),
                None => no_gain(choice, &shortened(title), scores.metric),
            }
        });
        // A remark below the table says that label DP leaves the features in the clear.
        let Goal { protects, trust } = choices[0].goal;
        let goal = format!("{protects},\ntrusting {trust}");
        table.add_row(std::iter::once(goal).chain(cells));
    }
    table.trim_fmt()
}

/// Formats the score and the worth of a release.
pub(super) fn score_and_worth(scores: &Scores, row: &Row) -> String {
    let score = scores.metric.shown(row.mean);
    match (&row.adds, &row.worth) {
        (Some(adds), _) => format!("{score}; +{adds}"),
        (None, Some(worth)) => format!("{score}; {worth}"),
        (None, None) => score,
    }
}

/// Shortens a title to fit a column.
fn shortened(title: &str) -> String {
    title.split(',').next().unwrap_or(title).to_owned()
}

/// Selects `most` of the budgets, evenly spread. The selection always contains the middle budget, whose
/// commands are shown. If `most` is two, it contains the middle and the last budget.
fn spread_budgets(budgets: &[f64], most: usize) -> Vec<f64> {
    let last = budgets.len() - 1;
    match most {
        most if most > last => budgets.to_vec(),
        1 => vec![middle(budgets)],
        2 => vec![middle(budgets), budgets[last]],
        count => {
            let mut places: Vec<usize> = (0..count).map(|at| (at * last) / (count - 1)).collect();
            // The middle budget may fall between two selected budgets, and then replaces a selected budget.
            if !places.contains(&(last / 2)) {
                places[(count - 1) / 2] = last / 2;
            }
            places.into_iter().map(|place| budgets[place]).collect()
        }
    }
}

/// Returns the budget whose commands are shown.
fn middle(budgets: &[f64]) -> f64 {
    budgets[(budgets.len() - 1) / 2]
}

/// Formats the commands of the middle budget.
fn commands(choices: &[Choice], width: usize) -> String {
    let Some(first) = choices.first() else { return String::new() };
    let budgets: Vec<f64> =
        choices.iter().filter(|choice| choice.goal == first.goal).map(|choice| choice.epsilon).collect();
    let epsilon = middle(&budgets);
    let made = choices.iter().filter(|choice| choice.epsilon == epsilon).filter_map(|choice| {
        let command = choice.best?.1.design.as_ref()?;
        let (goal, epsilon) = (choice.goal, number::short(epsilon));
        let row = choice.best?.1;
        // The option of the command is the local ε, which mixing reduces to the ε of the table.
        let local = match (goal.trust, row.guarantee.local_dp(goal.protects)) {
            (Trust::Shuffler, Some(local)) => {
                format!(" after mixing; each report has ε = {}", number::short(local.epsilon))
            }
            _ => String::new(),
        };
        Some(format!("{goal}, ε = {epsilon}{local}:\n{}", continued(&command.to_string(), width)))
    });
    let made = made.collect::<Vec<_>>().join("\n");
    if made.is_empty() {
        return made;
    }
    let meant = placeholders(&made).map_or(String::new(), |meant| format!("\n({meant})"));
    made + &meant
}

/// Breaks a command into lines that a shell reads as one command, or a call into lines that Python reads.
fn continued(command: &str, width: usize) -> String {
    let mut lines = vec![String::from("  ")];
    let is_python = command.starts_with("scumble.");
    // A command is broken only between options, because a value may be quoted.
    let (between, comma, end) = if is_python { (", ", ",", "") } else { (" --", "", "\\") };
    let parts: Vec<&str> = command.split(between).collect();
    for (at, part) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { comma } else { "" };
        let part = if at == 0 {
            format!("{part}{comma}")
        } else {
            format!("{}{part}{comma}", between.trim_start_matches([',', ' ']))
        };
        let last = lines.len() - 1;
        if lines[last].chars().count() + part.chars().count() + 3 > width && !lines[last].trim().is_empty() {
            lines[last].push_str(end);
            lines.push(String::from("    "));
        }
        let last = lines.len() - 1;
        lines[last] += &format!("{part} ");
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// Formats the mechanisms without differential privacy, the warnings, and the number of left-out mechanisms.
fn notes(outcome: &Outcome, scores: &Scores, hints: Hints) -> String {
    let unclaimed = scores.series.iter().filter(|series| !series.has_budget());
    let unclaimed: Vec<String> = unclaimed
        .map(|series| format!("{} {}", shortened(&series.title), scores.metric.shown(series.rows[0].mean)))
        .collect();
    let mut lines = vec![];
    if !unclaimed.is_empty() {
        lines.push(format!("Without differential privacy, not comparable: {}.", unclaimed.join(", ")));
    }
    for series in &scores.series {
        let mut summaries = series.rows.iter().map(|row| row.guarantee.summary());
        if let Some(summary) = summaries.rfind(|summary| summary.contains("WARNING")) {
            lines.push(format!("{}: {summary}", shortened(&series.title)));
        }
    }
    if !outcome.skipped.is_empty() {
        let (count, noun) =
            (outcome.skipped.len(), if outcome.skipped.len() == 1 { "mechanism" } else { "mechanisms" });
        lines.push(format!("Left out (reasons: {}): {count} {noun}.", hints.reasons));
        let taught = outcome.skipped.iter().filter(|skipped| skipped.lacks_volunteers);
        if let (0, taught @ 1..) = (outcome.volunteers, taught.count()) {
            lines.push(format!(
                "{taught} of them learn from volunteers' records: {} includes them.",
                hints.volunteers
            ));
        }
    }
    lines.join("\n")
}

/// Breaks long lines between words. Lines that are indented or have columns stay unchanged.
fn wrapped(text: &str, width: usize) -> String {
    let line = |line: &str| {
        let mut lines = vec![String::new()];
        if line.chars().count() <= width || line.starts_with(' ') || line.contains("  ") {
            return line.to_owned();
        }
        for word in line.split(' ') {
            let last = lines.len() - 1;
            if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > width {
                lines.push(String::new());
            }
            let last = lines.len() - 1;
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last] += word;
        }
        lines.join("\n")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Adds colours to headings, commands and the words "no evidence", if the terminal shows colours and NO_COLOR
/// does not forbid them.
fn coloured(text: &str) -> String {
    let line = |line: &str| match line {
        line if line.starts_with("What to choose") => style(line).bold().to_string(),
        line if line.starts_with(" to protect") => style(line).dim().to_string(),
        line if line.starts_with("  scumble ") || line.starts_with("    --") => {
            style(line).cyan().to_string()
        }
        line => {
            let line = line.replace("no evidence", &style("no evidence").yellow().to_string());
            dimmed_in_brackets(&line)
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Dims the text in brackets: the best score of a cell without evidence.
fn dimmed_in_brackets(line: &str) -> String {
    let mut parts = line.split('[');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(']') {
            Some((inside, after)) => text += &format!("{}{after}", style(format!("[{inside}]")).dim()),
            None => text += &format!("[{part}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_the_ends_and_what_lies_between() {
        let budgets = [0.5, 1.0, 2.0, 4.0, 8.0];
        assert_eq!(spread_budgets(&budgets, 3), [0.5, 2.0, 8.0]);
        assert_eq!(spread_budgets(&budgets, 1), [2.0]);
        assert_eq!(spread_budgets(&budgets, 2), [2.0, 8.0]);
        assert_eq!(spread_budgets(&budgets, 9), budgets);
        assert_eq!(spread_budgets(&[1.0], 3), [1.0]);
        assert_eq!(spread_budgets(&[1.0, 2.0], 2), [1.0, 2.0]);
        for count in 1..=9 {
            let budgets: Vec<f64> = (1..=count).map(f64::from).collect();
            for most in 1..=9 {
                let some = spread_budgets(&budgets, most);
                assert!(some.contains(&middle(&budgets)) && some.is_sorted(), "{most} of {count}: {some:?}");
                assert_eq!(some.len(), most.min(budgets.len()));
            }
        }
    }

    #[test]
    fn a_long_command_is_one_for_the_shell() {
        let command = "scumble design mst --schema 'my --schema.toml' --target y --epsilon 1";
        let lines = continued(command, 40);
        assert!(lines.lines().all(|line| line.chars().count() <= 40), "{lines}");
        assert_eq!(lines.replace("\\\n", "").split_whitespace().collect::<Vec<_>>().join(" "), command);
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8), "one two\nthree");
        assert_eq!(wrapped("  one two three", 8), "  one two three");
    }
}
