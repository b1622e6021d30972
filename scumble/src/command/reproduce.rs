//! `scumble reproduce`: reproduces results of papers.

use super::running::command_line;
use super::{Failure, new_file, print, print_json, progress_bar};
use crate::core::Registry;
use crate::custody::{self, NewFile};
use crate::datasets::folder;
use crate::reproduce::{self, Claims, Decision, Finding, Grid, Report, Reproduction, RunOptions};
use clap::{ArgGroup, Args};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const EXAMPLES: &str = "\
Examples:
  scumble reproduce task-aware/figure-3 --quick
  scumble reproduce --all --quick --output results --markdown results/REPRODUCTION.md
  scumble reproduce --from results --markdown results/REPRODUCTION.md";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("written").args(["output", "markdown"]).multiple(true)))]
#[command(group(
    ArgGroup::new("run")
        .args(["name", "all", "quick", "seed", "trials", "output", "no_images"])
        .multiple(true)
))]
pub(super) struct ReproduceArguments {
    /// A result, as the command without a name lists it.
    #[arg(conflicts_with = "all")]
    name: Option<String>,
    /// All results, one after the other.
    #[arg(long)]
    all: bool,
    /// The quick variant, which takes seconds: fewer trials, fewer points per curve, and a part of large data
    /// sets.
    #[arg(long)]
    quick: bool,
    /// The random seed: the same seed gives the same numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of repetitions of the random draws, for results that have such draws [default: 100, or 10 in
    /// the quick variant; 3, or 2 in the quick variant, if each trains a network].
    #[arg(long, value_name = "N")]
    trials: Option<usize>,
    /// A folder for NAME.json, with all numbers, and NAME.svg, the chart. It also keeps the finished trials
    /// of long results, from which a stopped run resumes.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Leave images of records out of reports and charts.
    #[arg(long, requires = "output")]
    no_images: bool,
    /// Document of the claims of all results that were run: the paper's statement, our result, and a verdict.
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    /// Run nothing, and write the document from the reports in this folder, as --output wrote them.
    #[arg(long, value_name = "FOLDER", requires = "markdown", conflicts_with = "run")]
    from: Option<PathBuf>,
    /// Replace files that exist.
    #[arg(long, requires = "written")]
    force: bool,
}

pub(super) fn reproduce(
    registry: &Registry,
    arguments: &ReproduceArguments,
    as_json: bool,
) -> Result<(), Failure> {
    if let Some(folder) = &arguments.from {
        let document = new_document(arguments)?;
        let claims = reproduce::kept(folder)?;
        if let Some(document) = document {
            document.finish(as_document(&claims, arguments).as_bytes())?;
        }
        return if as_json { print_json(&json!({ "results": claims })) } else { Ok(()) };
    }
    let selected = match &arguments.name {
        Some(name) => std::slice::from_ref(reproduce::get(name)?),
        None if arguments.all => reproduce::all(),
        None => return list(as_json),
    };
    // Check before any work is done.
    for result in selected {
        check_places(result, arguments)?;
    }
    new_document(arguments)?;
    let mut reports = vec![];
    for result in selected {
        let report = run(registry, result, arguments)?;
        let written = write(&report, arguments);
        // The result is printed even if an output file could not be written.
        if !as_json {
            print(&report_text(&report))?;
        }
        written?;
        reports.push(report);
    }
    if let Some(document) = new_document(arguments)? {
        let claims: Vec<Claims> = reports.iter().map(|report| report.claims.clone()).collect();
        document.finish(as_document(&claims, arguments).as_bytes())?;
    }
    match &reports[..] {
        [only] if as_json && !arguments.all => print_json(only),
        reports if as_json => print_json(&json!({ "results": reports })),
        _ => Ok(()),
    }
}

/// Formats the document of `claims`, which come from the reports of reproduced results. The document shows
/// the charts if their folder lies below the document's folder.
fn as_document(claims: &[Claims], arguments: &ReproduceArguments) -> String {
    let document = arguments.markdown.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let folder = arguments.from.as_ref().or(arguments.output.as_ref());
    let charts = folder
        .and_then(|folder| folder.strip_prefix(document).ok())
        .map(|folder| folder.display().to_string());
    reproduce::markdown(claims, &command_line(), charts.as_deref())
}

/// Creates the document's file, under a temporary name.
fn new_document(arguments: &ReproduceArguments) -> Result<Option<NewFile>, custody::Error> {
    arguments.markdown.as_ref().map(|place| new_file(place, arguments.force)).transpose()
}

fn list(as_json: bool) -> Result<(), Failure> {
    let results = reproduce::all();
    if as_json {
        let results = results
            .iter()
            .map(|result| json!({ "name": result.name, "about": result.about, "paper": result.paper }));
        return print_json(&results.collect::<Vec<_>>());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    for Reproduction { name, about, .. } in results {
        table.add_row([name, about]);
    }
    print(&format!(
        "{}\n\nTo reproduce one: scumble reproduce NAME --quick; without --quick, as in the paper",
        table.trim_fmt()
    ))
}

/// Computes a result, and shows a progress bar.
fn run(
    registry: &Registry,
    result: &Reproduction,
    arguments: &ReproduceArguments,
) -> Result<Report, reproduce::Error> {
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let on_start = |steps| {
        let template = format!("{} {{bar:40}} {{pos}}/{{len}}, {{eta}} left", result.name);
        bar.get_or_init(|| progress_bar(steps, &template));
    };
    let on_step = || {
        if let Some(bar) = bar.get() {
            bar.inc(1);
        }
    };
    let ReproduceArguments { quick, seed, trials, no_images, .. } = *arguments;
    let (on_start, on_step) = (&on_start, &on_step);
    let store = arguments.output.as_deref();
    let report = result.run(&RunOptions {
        registry,
        folder: &folder(),
        quick,
        seed,
        trials,
        store,
        images: !no_images,
        on_start,
        on_step,
    });
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    report
}

/// Paths of a result's files. The result's name is a path below the folder.
fn places(name: &str, arguments: &ReproduceArguments) -> Option<[PathBuf; 2]> {
    let folder = arguments.output.as_ref()?;
    Some(["json", "svg"].map(|extension| folder.join(name).with_added_extension(extension)))
}

/// Checks that a result's files can be written. It creates a file and removes it again, so that a process
/// killed during the work leaves nothing.
///
/// # Errors
/// Returns an error if a file exists and must not be replaced, or if the nearest existing ancestor folder
/// cannot be written.
fn check_places(result: &Reproduction, arguments: &ReproduceArguments) -> Result<(), Failure> {
    for place in places(result.name, arguments).into_iter().flatten() {
        let name = place.file_name().unwrap_or_default();
        let ancestor =
            place.ancestors().skip(1).find(|folder| folder.exists() || folder.as_os_str().is_empty());
        let ancestor = ancestor.unwrap_or(Path::new(""));
        let is_where_it_goes = place.parent() == Some(ancestor);
        // The folder of the result does not exist yet, so a unique name in its nearest existing ancestor is
        // tried.
        let tried = if is_where_it_goes {
            place.clone()
        } else {
            ancestor.join(".scumble-reproduce").with_added_extension(name)
        };
        new_file(&tried, arguments.force)?;
    }
    Ok(())
}

fn write(report: &Report, arguments: &ReproduceArguments) -> Result<(), Failure> {
    let Some([json, svg]) = places(&report.claims.name, arguments) else { return Ok(()) };
    if let Some(folder) = json.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    // Both files are created under temporary names before the first appears.
    let (numbers, chart) = (new_file(&json, arguments.force)?, new_file(&svg, arguments.force)?);
    chart.finish(report.picture.to_svg().as_bytes())?;
    numbers.finish((serde_json::to_string_pretty(report)? + "\n").as_bytes())?;
    Ok(())
}

/// Formats the findings, the numbers behind them, and the notes.
fn report_text(report: &Report) -> String {
    let Claims { name, about, paper, quick, seed, trials, seconds, .. } = &report.claims;
    let variant = if *quick { "quick variant, " } else { "" };
    let repeated = match trials {
        1 => "one draw".to_owned(),
        trials => format!("{trials} trials"),
    };
    let mut text = format!("{name}: {about}\n{paper}\n{variant}{repeated}, seed {seed}, {seconds:.1} s\n");
    for Finding { what, paper, ours, decision, why, .. } in &report.claims.findings {
        let Decision { verdict, rule } = decision;
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        text += &format!("\n {what}\n   paper    {paper}\n   ours     {ours}\n");
        text += &format!("   rule     {rule}\n   verdict  {verdict}{why}\n");
    }
    for grid in &report.grids {
        text += &format!("\n{}\n\n{}\n", grid.title, numbers(grid));
    }
    for note in &report.claims.notes {
        text += &format!("\n{note}\n");
    }
    text
}

fn numbers(grid: &Grid) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(&grid.header);
    for row in &grid.rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
