//! `scumble compare`: compares mechanisms by the accuracy of models that learn from their releases.

use super::protect::ProtectArgument;
use super::purpose::Purpose;
use super::reading::{Reading, tell_recognised};
use super::running::{Running, command_line};
use super::setting::{Settable, set};
use super::summary::{collect, no_gain, score_and_worth, screen, split_note};
use super::{Failure, complain, print, print_json, refuse_overlaps, tell_clipped};
use crate::compare::{
    self, COLLECT, Candidate, Comparison, Experiment, Metric, Outcome, Row, Scores, Series, SplitKind,
    Tuning, in_words, placeholders,
};
use crate::core::{Error, Registry, number};
use crate::custody::{self, NewFile};
use crate::datasets::{DataSet, Input};
use crate::page::Page;
use crate::records::Learning;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use jiff::Timestamp;
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  scumble compare --mechanism laplace --mechanism direct --epsilon 1,4,inf
  scumble compare --mechanism laplace --set laplace.protect=features --html page.html
  scumble compare --mechanism vlm --volunteers 0.3 --set vlm.volunteers.epsilon=3";

#[derive(Args, Clone, Default)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompareArguments {
    /// An experiment: the data, split, mechanisms, models, metrics and budgets in a TOML file. Other options
    /// override it.
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// File that keeps finished trials, so that the same command resumes where it stopped and computes only
    /// what changed [default: NAME.cells.jsonl in the folder of the experiment].
    #[arg(long, value_name = "FILE.jsonl")]
    cells: Option<PathBuf>,
    /// File for the page: charts, a sortable table and a card of every mechanism, in one HTML file that loads
    /// nothing else.
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// File for all results, as CSV: scores, worth in clean records, guarantees, and the command of each
    /// design.
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// File for the chart of scores by ε, as an SVG.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
    /// Replace an existing page, CSV or chart.
    #[arg(long)]
    force: bool,
    /// A file, CSV with a header or Parquet, in place of the embedded wine data; - for CSV on standard input.
    #[arg(long, value_name = "FILE", requires = "schema", requires = "target")]
    input: Option<PathBuf>,
    /// The publicly known bounds and levels of the input's columns.
    #[arg(long, value_name = "SCHEMA.toml", requires = "input")]
    schema: Option<PathBuf>,
    /// The column to learn: a category by logistic regression, a number by ridge regression.
    #[arg(long, value_name = "COLUMN", requires = "input")]
    target: Option<String>,
    /// Learn the target as a class (classify) or as a number (regress), if its column can be both.
    #[arg(long, value_name = "TASK", requires = "input")]
    task: Option<Learning>,
    /// Leave out rows whose target is missing. A release has no such option: the number of rows that are
    /// left, and whose they are, would be public.
    #[arg(long, requires = "input")]
    drop_missing_target: bool,
    #[command(flatten)]
    reading: Reading,
    /// Number of records to sample from a long file, uniformly at random. The file is read once, and only the
    /// sample is kept in memory.
    #[arg(long, value_name = "N", requires = "input")]
    sample: Option<NonZeroUsize>,
    /// A mechanism, in place of all quick mechanisms; may be given several times.
    #[arg(long, value_name = "NAME")]
    mechanism: Vec<String>,
    /// A parameter of a mechanism; may be given several times. Dots separate the keys of nested objects:
    /// NAME.KEY.KEY=VALUE.
    #[arg(long, value_name = "NAME.KEY=VALUE")]
    set: Vec<String>,
    /// Budgets ε, in nats; inf for no privacy [default: 0.5,1,2,4,8,inf; 0.5,2,8 without --config, --input
    /// and --mechanism].
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "E,…",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    epsilon: Option<Vec<f64>>,
    /// The δ of every budget, for mechanisms that use one [default: 0.000001].
    #[arg(long, value_parser = number::parse, value_name = "D", allow_negative_numbers = true)]
    delta: Option<f64>,
    /// A metric, in place of the experiment's or the default ones; may be given several times. Metrics of
    /// models of a category are accuracy, balanced-accuracy, macro-f1 and auc (by default accuracy, or
    /// balanced-accuracy if one level has more than two thirds of the records). Metrics of models of a number
    /// are rmse, mae and r2. Metrics of adversaries are recovered, advantage, unbiased-error, membership and
    /// audited. Metrics of the released table are one-way-distance, two-way-distance and workload-error. If
    /// no given metric scores a model, the default metric of models is added first.
    #[arg(long, value_name = "NAME", value_parser = metric)]
    metric: Vec<Metric>,
    /// Number of trials of each cell (one mechanism at one ε) [default: 50; 20 without --config, --input and
    /// --mechanism].
    #[arg(long, value_name = "N")]
    trials: Option<usize>,
    /// Share of the records that is held out for tests [default: 0.2].
    #[arg(long, value_parser = number::parse, value_name = "SHARE", allow_negative_numbers = true)]
    test_share: Option<f64>,
    /// Share of the training records that belong to volunteers: designs may learn from these records. They
    /// are neither released nor tested on [default: 0; 0.1, without labels, for the wine data without
    /// --config, --input and --mechanism].
    #[arg(long, value_parser = number::parse, value_name = "SHARE", allow_negative_numbers = true)]
    volunteers: Option<f64>,
    #[command(flatten)]
    purpose: Purpose,
    /// Volunteers do not share their labels: mechanisms that need volunteers' labels are left out.
    #[arg(long)]
    unlabelled: bool,
    /// Part of a record to protect: mechanisms that cannot protect it are left out. By default, each
    /// mechanism protects the most that it can: the whole record if the label can take noise of its own.
    #[arg(long, value_name = "PART")]
    protect: Option<ProtectArgument>,
    /// Label's share of ε, for mechanisms that protect features only. The label then takes randomised
    /// response if it is a category, or Laplace noise if it is a number [default: 0.5].
    #[arg(long, value_parser = number::parse, value_name = "SHARE", allow_negative_numbers = true)]
    label_share: Option<f64>,
    /// Also compare local reports of whole records in the shuffler's trust model, at a local ε whose central
    /// ε meets the budget. The option is on without --config, --input and --mechanism.
    #[arg(long)]
    shuffler: bool,
    /// Train models on the release alone, even if volunteers' records have labels. Without this option,
    /// models learn from the release and from the volunteers' records.
    #[arg(long)]
    release_alone: bool,
    /// Print all scores, the guarantee of each mechanism, and the command of every design, in place of one
    /// screen.
    #[arg(long)]
    full: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The seed of splits and noise [default: 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

pub(super) fn compare(
    registry: &Registry,
    arguments: &CompareArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let (made, start) = (Timestamp::now(), Instant::now());
    let experiment = arguments.config.as_ref().map(|file| Experiment::read(file)).transpose()?;
    check_places(arguments, experiment.as_ref())?;
    let comparison = comparison(registry, arguments, experiment.as_ref())?;
    tell_recognised(&comparison.data.name, comparison.data.recognised.as_deref());
    if let (Some(codes), None) = (comparison.data.codes, comparison.data.learning) {
        let DataSet { name, target, .. } = &comparison.data;
        complain(&format!(
            "{name}: {target:?} has {codes} distinct integers and is learned as a number; if they are codes \
             of classes, give --task classify"
        ));
    }
    let store = cells(arguments, experiment.as_ref());
    let running = Running { what: "comparing", store: store.as_deref(), jobs: arguments.jobs };
    let outcome = running.run(&comparison)?.map_err(|error| in_file(error, arguments))?;
    for skipped in &outcome.skipped {
        if arguments.full && !as_json {
            complain(&format!("{} is left out: {}", skipped.mechanism, skipped.reason));
        }
    }
    outcome.failed.iter().for_each(|failed| complain(&failed.to_string()));
    if arguments.full || !arguments.is_plain() {
        tell_clipped(&comparison.data.name, &comparison.data.clipped);
    }
    if comparison.data.dropped > 0 {
        let DataSet { name, target, dropped, .. } = &comparison.data;
        complain(&format!(
            "{name}: {dropped} rows without {target:?} are left out; before a release, remove them from the \
             file, and the level that replaces them from the schema"
        ));
    }
    if comparison.data.is_drafted {
        complain(&format!("{}: {DRAFTED}", comparison.data.name));
    }
    let page = Page {
        comparison: &comparison,
        outcome: &outcome,
        command: &command_line(),
        experiment: experiment.as_ref().map(Experiment::text),
        made,
        took: start.elapsed(),
    };
    let written = write(arguments, &page);
    // The result is printed even if an output file could not be written.
    if as_json {
        print_json(&comparison.to_json(&outcome))?;
    } else if arguments.full {
        print(&report(&comparison, &outcome))?;
    } else {
        print(&screen(&comparison, &outcome))?;
    }
    Ok(written?)
}

/// Writes the requested files. All are created under temporary names before the first appears under its own
/// name.
fn write(arguments: &CompareArguments, page: &Page) -> Result<(), custody::Error> {
    let [rows, chart, html] = arguments.written().map(|path| new_file(arguments, path));
    let [rows, chart, html] = [rows?, chart?, html?];
    if let Some(file) = rows {
        file.finish(page.comparison.to_csv(page.outcome).as_bytes())?;
    }
    if let Some(file) = chart {
        file.finish(page.to_svg().unwrap_or_default().as_bytes())?;
    }
    if let Some(file) = html {
        file.finish(page.to_html().as_bytes())?;
    }
    Ok(())
}

/// Share of the training records that belong to volunteers (people whose records may shape designs) in a
/// plain comparison. The volunteers have no labels. A plain comparison is one whose options choose neither
/// data nor mechanisms. It uses the wine data.
const VOLUNTEERS_OF_WINES: f64 = 0.1;
/// Budgets ε of a plain comparison (one whose options choose neither data nor mechanisms).
const EPSILONS_OF_WINES: [f64; 3] = [0.5, 2.0, 8.0];
/// Number of trials of a plain comparison (one whose options choose neither data nor mechanisms).
const TRIALS_OF_WINES: usize = 20;
/// Mechanisms that a plain comparison (one whose options choose neither data nor mechanisms) adds to all
/// quick mechanisms. Each comes with a parameter and a value for it that cuts its time to a second.
const SLOW_ONES: [(&str, &str, u64); 1] = [("vlm", "epochs", 20)];

impl CompareArguments {
    /// Paths of the requested CSV, SVG and HTML files.
    fn written(&self) -> [Option<&PathBuf>; 3] {
        [&self.csv, &self.svg, &self.html].map(Option::as_ref)
    }

    /// Returns true if the options do not choose data or mechanisms. The command then compares a wide choice
    /// of mechanisms on the embedded wine data.
    fn is_plain(&self) -> bool {
        self.config.is_none() && self.input.is_none() && self.mechanism.is_empty()
    }
}

/// Warning about guarantees under a drafted schema.
const DRAFTED: &str = "the schema is a draft, with bounds taken from the records: the guarantees hold only \
                       after you replace them by publicly known bounds";

/// Creates a requested output file under a temporary name.
fn new_file(arguments: &CompareArguments, path: Option<&PathBuf>) -> Result<Option<NewFile>, custody::Error> {
    path.map(|path| super::new_file(path, arguments.force)).transpose()
}

/// Checks that no output is an input and that every output can be written, before any work is done. It
/// creates each file and removes it again, so that a process killed during the work leaves nothing.
///
/// # Errors
/// Returns an error if an output is an input, or if a file cannot be written.
fn check_places(arguments: &CompareArguments, experiment: Option<&Experiment>) -> Result<(), Failure> {
    let read =
        [&arguments.input, &arguments.schema].into_iter().flatten().chain(arguments.purpose.files()).cloned();
    let read = read.chain(experiment.map(Experiment::files).into_iter().flatten());
    let cells = cells(arguments, experiment);
    let written = arguments.written().into_iter().chain([cells.as_ref()]).flatten();
    refuse_overlaps(&read.collect::<Vec<_>>(), &written.collect::<Vec<_>>())?;
    for path in arguments.written() {
        new_file(arguments, path)?;
    }
    Ok(())
}

/// Path of the file that keeps finished trials, if any.
fn cells(arguments: &CompareArguments, experiment: Option<&Experiment>) -> Option<PathBuf> {
    arguments.cells.clone().or_else(|| experiment.map(Experiment::store))
}

/// Builds the comparison from the experiment; options override it.
fn comparison(
    registry: &Registry,
    arguments: &CompareArguments,
    experiment: Option<&Experiment>,
) -> Result<Comparison, Failure> {
    let candidates = candidates(registry, arguments, experiment)?;
    let data = match (&arguments.input, &arguments.schema, &arguments.target) {
        (Some(file), Some(schema), Some(target)) => {
            let (format, learning) = (arguments.reading.format(), arguments.task);
            let drops_missing_target = arguments.drop_missing_target;
            let input = Input { format, learning, drops_missing_target, ..Input::new(file, schema, target) };
            read(arguments, &input, experiment)?
        }
        _ => experiment.map_or_else(|| Ok(DataSet::wine()?), Experiment::data)?,
    };
    let mut comparison = match experiment {
        Some(experiment) => experiment.comparison(data, candidates)?,
        None => Comparison::new(data, candidates),
    };
    if let Some(task) = arguments.purpose.task(&arguments.reading, comparison.data.domain.columns())? {
        comparison.task = task;
    }
    if let Some(given) = arguments.test_share {
        match &mut comparison.splitting.kind {
            SplitKind::Random { test_share } => *test_share = given,
            _ => {
                return Err(
                    "--test-share does not apply: the experiment uses the data set's own split".into()
                );
            }
        }
    }
    comparison.splitting.unlabelled |= arguments.unlabelled;
    if arguments.is_plain() {
        comparison.splitting.volunteers = VOLUNTEERS_OF_WINES;
        comparison.splitting.unlabelled = arguments.volunteers.is_none();
        comparison.epsilons = EPSILONS_OF_WINES.to_vec();
        comparison.trials = TRIALS_OF_WINES;
    }
    comparison.release_alone |= arguments.release_alone;
    comparison.shuffler |= arguments.shuffler || arguments.is_plain();
    comparison.splitting.volunteers = arguments.volunteers.unwrap_or(comparison.splitting.volunteers);
    if !arguments.metric.is_empty() {
        comparison.metrics = Metric::with_default(&arguments.metric, &comparison.data);
    }
    if let Some(epsilons) = &arguments.epsilon {
        comparison.epsilons = epsilons.clone();
    }
    comparison.delta = arguments.delta.unwrap_or(comparison.delta);
    comparison.trials = arguments.trials.unwrap_or(comparison.trials);
    comparison.protect = arguments.protect.map(Into::into).or(comparison.protect);
    if experiment.is_none() && arguments.mechanism.is_empty() {
        comparison.add_label_dp(registry);
    }
    comparison.label_share = arguments.label_share.unwrap_or(comparison.label_share);
    comparison.seed = arguments.seed.unwrap_or(comparison.seed);
    Ok(comparison)
}

/// Reads the input file, or a sample of it.
fn read(
    arguments: &CompareArguments,
    input: &Input,
    experiment: Option<&Experiment>,
) -> Result<DataSet, Failure> {
    let Some(records) = arguments.sample.map(NonZeroUsize::get) else {
        return Ok(DataSet::read(input)?);
    };
    let seed = arguments.seed.or(experiment.and_then(Experiment::seed)).unwrap_or(1);
    let (data, all) = DataSet::read_sample(input, records, seed)?;
    let sampled = data.table.len();
    if sampled == all {
        return Ok(data);
    }
    complain(&format!(
        "{}: compared on {sampled} of its {all} records, drawn at random; a curator's release of all {all} \
         records has less noise relative to its size; give its design command this number by --people",
        data.name
    ));
    Ok(DataSet { name: format!("{}, {sampled} of {all} records", data.name), ..data })
}

/// Parses the name of a metric.
fn metric(name: &str) -> Result<Metric, String> {
    Metric::try_from(name.to_owned())
}

/// Names the experiment's file in an error about a mechanism's parameters, if the file sets these parameters.
fn in_file(error: compare::Error, arguments: &CompareArguments) -> Failure {
    if matches!(error, compare::Error::LeftOut { lacks_volunteers: true, .. }) {
        return format!(
            "{error}; --volunteers 0.2 makes a fifth of the training records volunteers' records"
        )
        .into();
    }
    let is_parameter = matches!(error, compare::Error::Core(Error::Parameter { .. }));
    match &arguments.config {
        Some(file) if is_parameter && arguments.mechanism.is_empty() && arguments.set.is_empty() => {
            format!("{}: {error}", file.display()).into()
        }
        _ => error.into(),
    }
}

/// Returns the mechanisms that the options name, else the experiment's, else all quick ones, with their
/// parameters.
fn candidates(
    registry: &Registry,
    arguments: &CompareArguments,
    experiment: Option<&Experiment>,
) -> Result<Vec<Candidate>, Failure> {
    let mut candidates = match &arguments.mechanism[..] {
        [] if arguments.is_plain() => {
            let slow = SLOW_ONES.iter().filter_map(|(name, parameter, value)| {
                let plugin = *registry.get(name).ok()?;
                Some(Candidate { parameters: json!({ *parameter: value }), ..Candidate::new(plugin) })
            });
            Candidate::quick(registry).into_iter().chain(slow).collect()
        }
        [] => experiment.map_or_else(|| Ok(Candidate::quick(registry)), |file| file.candidates(registry))?,
        names => names
            .iter()
            .map(|name| Ok(Candidate { is_named: true, ..Candidate::new(*registry.get(name)?) }))
            .collect::<Result<_, Failure>>()?,
    };
    // A setting may omit the name of its mechanism if all candidates are one mechanism with different
    // parameters.
    let is_one = candidates.windows(2).all(|pair| pair[0].plugin.name == pair[1].plugin.name);
    let unnamed = if is_one { candidates.len() } else { 0 };
    let mechanisms = candidates.iter_mut();
    let mechanisms = mechanisms.map(|Candidate { plugin, parameters, .. }| Settable { plugin, parameters });
    set(registry, &arguments.set, &mut mechanisms.collect::<Vec<_>>(), unnamed)?;
    Ok(candidates)
}

/// Formats the score tables, the guarantee of each mechanism, and the baseline.
fn report(comparison: &Comparison, outcome: &Outcome) -> String {
    let tables = outcome.scores();
    let Some(first) = tables.first() else {
        return "no mechanism applies to this data".into();
    };
    let (name, target) = (&comparison.data.name, &comparison.data.target);
    let trials = match comparison.trials {
        1 => "one trial".to_owned(),
        trials => format!("mean ± standard deviation of {trials} trials"),
    };
    let split = split_note(comparison);
    let designed = match outcome.volunteers {
        0 => String::new(),
        volunteers if comparison.splitting.unlabelled => {
            format!(", designed with {volunteers} volunteers without labels")
        }
        volunteers => format!(", designed with {volunteers} volunteers"),
    };
    let asked = match outcome.asked {
        0 => String::new(),
        asked => format!(", and {asked} people asked about models"),
    };
    let records = format!(
        "trained on {} released records, scored on {} held-out test records{split}{designed}{asked};\n\
         {trials}, seed {}",
        outcome.train_records, outcome.test_records, comparison.seed,
    );
    let less = |table: &Scores| if table.metric.less_is_better() { " (less is better)" } else { "" };
    let guess = |table: &Scores| {
        let guess = table.metric.shown(outcome.baselines.get(&table.metric).copied().unwrap_or(f64::NAN));
        match table.metric.is_of_adversary() {
            true => format!("Without a release the value is {guess}.{}", allowed(comparison, table)),
            false if table.metric.is_of_table() => {
                format!("For records spread evenly over their public bounds the value is {guess}.")
            }
            false => format!("The {} gets {guess}.", baseline(table.metric)),
        }
    };
    let mut text = match &tables[..] {
        [only] => {
            let (metric, model) = (only.metric.title(), only.scorer);
            let what = format!("{name}: {metric} of {target:?} by {model}, {records}{}", less(only));
            format!("{what}\n\n{}\n\n{}", scores(comparison, only), guess(only))
        }
        several => {
            let several = several.iter().map(|table| {
                let heading = format!("{} by {}{}", table.metric.title(), table.scorer, less(table));
                format!("{heading}\n\n{}\n\n{}", scores(comparison, table), guess(table))
            });
            let several = several.collect::<Vec<_>>().join("\n\n");
            format!("{name}: {target:?}, {records}\n\n{several}\n\n")
        }
    };
    if tables.len() == 1 {
        text += " ";
    }
    text += &choices(comparison, outcome, first);
    text += &tunings(outcome);
    text += &format!(
        "Guarantees{}:\n",
        comparison.claims_at().map_or(String::new(), |epsilon| format!(" at ε = {epsilon}")),
    );
    text += &guarantees(comparison, &first.series);
    if let Some(warning) = comparison.warning() {
        text += &format!("\n\n{warning}");
    }
    text += "\n\nTo see a card: scumble describe NAME. To use your own data: scumble compare --input \
             FILE.csv --schema SCHEMA.toml --target COLUMN";
    text
}

/// Name of the baseline that needs no release: the most frequent class, or the mean.
fn baseline(metric: Metric) -> &'static str {
    match metric {
        Metric::Rmse | Metric::Mae | Metric::R2 => "mean baseline",
        _ => "majority-class baseline",
    }
}

fn scores(comparison: &Comparison, scores: &Scores) -> String {
    let mut table = Table::new();
    let budgets = comparison.epsilons.iter().map(|&epsilon| format!("ε = {}", in_words(epsilon)));
    let header = std::iter::once("mechanism".to_owned()).chain(budgets);
    table.load_style(presets::NOTHING).set_header(header);
    for series in &scores.series {
        let cells =
            comparison.epsilons.iter().map(|&epsilon| series.at(epsilon).map_or(String::new(), Row::shown));
        table.add_row(std::iter::once(series.title.clone()).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// Formats, for each finite budget, the loosest bound on an adversary's score that the guarantee of a
/// compared mechanism implies. Returns an empty string if no guarantee implies a bound.
fn allowed(comparison: &Comparison, scores: &Scores) -> String {
    let metric = scores.metric;
    let loosest = |epsilon: f64| {
        let bounds = scores.series.iter().filter_map(|series| series.at(epsilon)?.bound);
        bounds.reduce(if metric.less_is_better() { f64::max } else { f64::min })
    };
    let finite = comparison.epsilons.iter().copied().filter(|epsilon| epsilon.is_finite());
    let bounds = finite.filter_map(|epsilon| Some((epsilon, loosest(epsilon)?)));
    let bounds =
        bounds.map(|(epsilon, bound)| format!("{} at ε = {}", metric.shown(bound), number::short(epsilon)));
    let bounds = bounds.collect::<Vec<_>>().join(", ");
    match (bounds.is_empty(), metric.less_is_better()) {
        (true, _) => String::new(),
        (false, true) => format!(" The guarantee of whole records implies at most {bounds}."),
        (false, false) => format!(" The Cramér–Rao bound implies at least {bounds}."),
    }
}

/// Formats the best mechanism for each goal (protected part of a record, and trust model) at each budget. The
/// cost of a mechanism is its loss of score compared with a model of records in the clear.
fn choices(comparison: &Comparison, outcome: &Outcome, scores: &Scores) -> String {
    let choices = outcome.choices(scores);
    let Some(first) = choices.first() else {
        return String::new();
    };
    let metric = scores.metric;
    let mut table = Table::new();
    let budgets = choices.iter().filter(|choice| choice.goal == first.goal);
    let budgets = budgets.map(|choice| format!("ε = {}", number::short(choice.epsilon)));
    table.load_style(presets::NOTHING).set_header(std::iter::once("to protect".to_owned()).chain(budgets));
    for choices in choices.chunk_by(|a, b| a.goal == b.goal) {
        let cells = choices.iter().map(|choice| match (choice.best, choice.cost) {
            (None, _) => no_gain(choice, choice.highest.0, metric),
            (Some((title, row)), None) => format!("{title}\n{}", score_and_worth(scores, row)),
            (Some((title, row)), Some(cost)) => {
                format!("{title}\n{}\ncosts {}", score_and_worth(scores, row), metric.shown_difference(cost))
            }
        });
        table.add_row(std::iter::once(choices[0].goal.to_string()).chain(cells));
    }
    let table =
        format!("What to choose, by {} with {}:\n\n{}\n\n", metric.title(), scores.scorer, table.trim_fmt());
    let collect = collect(&comparison.chosen_plugins(&choices), COLLECT);
    let collect = if collect.is_empty() { collect } else { collect + "\n\n" };
    table + &commands(scores) + &collect
}

/// Formats the command of every design.
fn commands(scores: &Scores) -> String {
    let commands = scores.series.iter().flat_map(|series| {
        series.rows.iter().filter_map(|row| {
            let at = row.epsilon.map_or(String::new(), |epsilon| format!(", ε = {}", in_words(epsilon)));
            Some(format!("  {}{at}:\n    {}\n", series.title, row.design.as_ref()?))
        })
    });
    let commands: String = commands.collect();
    if commands.is_empty() {
        return commands;
    }
    let meant = placeholders(&commands).map_or(String::new(), |meant| format!("\n  {meant}\n"));
    format!("The command of every design:\n{commands}{meant}\n")
}

/// Formats the tuned parameters of mechanisms and models, with the records that each choice was made on.
fn tunings(outcome: &Outcome) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut before = String::new();
    for Tuning { whose, at, what } in outcome.tunings() {
        let shown = if whose == before { String::new() } else { format!("  {whose}") };
        table.add_row([shown, format!("ε = {at}"), what]);
        before = whose;
    }
    match table.is_empty() {
        true => String::new(),
        false => format!("Tuned choices, and the records that they were tuned on:\n{}\n\n", table.trim_fmt()),
    }
}

fn guarantees(comparison: &Comparison, mechanisms: &[Series]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let claimed_epsilon = comparison.claims_at();
    for Series { title, rows } in mechanisms {
        let row = rows.iter().find(|row| row.epsilon == claimed_epsilon).unwrap_or(&rows[0]);
        let guarantee = &row.guarantee;
        let mut summary = guarantee.summary();
        if !guarantee.discloses.is_empty() {
            summary += &format!("; discloses {}", guarantee.discloses.join("; "));
        }
        table.add_row([format!("  {title}"), summary]);
    }
    table.trim_fmt()
}
