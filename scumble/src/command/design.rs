//! `scumble design`: saves the design of a mechanism, or of a composition, as a file. A design is a mechanism
//! whose parameters, schema and budget are fixed.

use super::protect::ProtectArgument;
use super::purpose::Purpose;
use super::reading::Reading;
use super::schema::public_schema;
use super::setting::{Settable, set};
use super::{Failure, complain, new_file, print, print_json, refuse_overlaps, spinning, tell_clipped};
use crate::core::{Budget, Protect, Registry, ShapedBy, Volunteers, number};
use crate::custody::{self, DesignRequest, Part};
use crate::records::{Clipped, Learning, Loaded, OutOfBounds, ReadRows, Reader, Schema};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  scumble design laplace --data wine --target quality --epsilon 2 --output design.json
  scumble design randomized-response --data wine --target quality --protect label --epsilon 1 --output \
design.json
  scumble design direct --schema people.toml --epsilon 2 --shuffled 10000 --shuffled-delta 1e-6 --output \
design.json
  scumble design vlm --schema people.toml --epsilon 4 --volunteers volunteers.csv --volunteers-are private \\
    --set volunteers.epsilon=3 --set volunteers.epochs=3 --output design.json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DesignArguments {
    /// The mechanism, as `list` shows it.
    #[arg(required_unless_present = "mechanism", conflicts_with = "mechanism")]
    name: Option<String>,
    /// A mechanism of a composition; may be given several times, each with its --columns. Without --columns,
    /// the first of two mechanisms releases the features and the second the target.
    #[arg(long, value_name = "NAME")]
    mechanism: Vec<String>,
    /// Columns of the schema that the --mechanism in the same position releases. The budget is divided in
    /// proportion to the numbers of columns.
    #[arg(long, value_name = "COLUMN,…")]
    columns: Vec<String>,
    /// The publicly known bounds and levels of the columns. They become part of the design.
    #[arg(long, value_name = "SCHEMA.toml", required_unless_present = "data", conflicts_with = "data")]
    schema: Option<PathBuf>,
    /// A public data set by name, as in comparisons, whose schema is used.
    #[arg(long, value_name = "NAME")]
    data: Option<String>,
    /// The column to learn: the label.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// ε, in nats; inf for no privacy.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_negative_numbers = true)]
    epsilon: f64,
    /// δ.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "D",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    delta: f64,
    /// Part of a record to protect: by default all of it. A label that the mechanism does not protect takes
    /// randomised response if it is a category, or Laplace noise if it is a number. A design that protects
    /// less than requested is refused.
    #[arg(long, value_name = "PART")]
    protect: Option<ProtectArgument>,
    /// Label's share of ε, if a mechanism of its own releases the label: one half by default.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "SHARE",
        requires = "target",
        allow_negative_numbers = true
    )]
    label_share: Option<f64>,
    /// Assume a trusted shuffler: at least this many people report by this design, once each, and the
    /// shuffler mixes their rows before anyone else sees them. The card then claims the central ε of all
    /// reports in addition to the local ε. The design must be local, with an ε for the whole record at δ = 0.
    #[arg(long, value_name = "PEOPLE", requires = "shuffled_delta")]
    shuffled: Option<u64>,
    /// The δ of the central claim, which must be less than one divided by the number of people.
    #[arg(
        long,
        value_parser = number::parse,
        value_name = "D",
        requires = "shuffled",
        allow_negative_numbers = true
    )]
    shuffled_delta: Option<f64>,
    /// Records that may shape the design, as CSV or Parquet. A file without the target column holds
    /// volunteers without labels.
    #[arg(long, value_name = "FILE", requires = "volunteers_are")]
    volunteers: Option<PathBuf>,
    /// Privacy status of the volunteers' records.
    #[arg(long, value_name = "STATUS", requires = "volunteers")]
    volunteers_are: Option<VolunteerStatus>,
    /// Number of people who will release a record, if publicly known. The mechanism may adapt its questions
    /// to this number.
    #[arg(long, value_name = "N")]
    people: Option<usize>,
    #[command(flatten)]
    purpose: Purpose,
    /// Number of periods, for example months, whose releases have one guarantee together. `scumble release
    /// --period K` releases one after the other. The same as --set horizon=T.
    #[arg(long, value_name = "T")]
    horizon: Option<usize>,
    /// Learn the target as a class (classify) or as a number (regress), if its column can be both.
    #[arg(long, value_name = "TASK", requires = "target")]
    task: Option<Learning>,
    /// A parameter, as `describe` shows it; NAME.KEY=VALUE if several mechanisms are named. Dots separate the
    /// keys of nested objects: KEY.KEY=VALUE.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File for the design.
    #[arg(long, value_name = "DESIGN.json")]
    output: PathBuf,
    #[command(flatten)]
    reading: Reading,
    /// Replace an existing design.
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum VolunteerStatus {
    /// No guarantee: the records are public.
    Public,
    /// Consent: the design may disclose what it derives from the records.
    Consented,
    /// A guarantee: the mechanism must claim central differential privacy for them.
    Private,
}

pub(super) fn design(registry: &Registry, arguments: &DesignArguments, as_json: bool) -> Result<(), Failure> {
    let tasks = arguments.purpose.files().iter().map(Some);
    let read = [arguments.schema.as_ref(), arguments.volunteers.as_ref()].into_iter().chain(tasks);
    let read: Vec<PathBuf> = read.into_iter().flatten().cloned().collect();
    refuse_overlaps(&read, &[&arguments.output])?;
    // Report errors in the schema before minutes of learning.
    let schema = schema(arguments)?.settled()?;
    let (mut request, clipped) = request(arguments, &schema)?;
    request.parts = parts(registry, arguments, &schema)?;
    request.add_label_part(registry)?;
    // If one mechanism is named, a setting without a name applies to the first part, which is this mechanism.
    // A second part may release the label.
    let unnamed = usize::from(arguments.mechanism.len() < 2);
    let mechanisms = request.parts.iter_mut();
    let mechanisms = mechanisms.map(|Part { plugin, parameters, .. }| Settable { plugin, parameters });
    let horizon = arguments.horizon.map(|periods| format!("horizon={periods}"));
    let settings: Vec<String> = horizon.into_iter().chain(arguments.set.iter().cloned()).collect();
    set(registry, &settings, &mut mechanisms.collect::<Vec<_>>(), unnamed)?;
    let unreleased = left_out(&schema, &request.parts);
    // Some mechanisms learn for minutes.
    let design = spinning("designing", || request.design(registry))?;
    let design = match arguments.shuffled.zip(arguments.shuffled_delta) {
        Some((people, delta)) => design
            .through_shuffler(people, delta)
            .map_err(|error| Failure::from(format!("--shuffled {people}: {error}")))?,
        None => design,
    };
    let guarantee = design.guarantee();
    let text = design.to_json()?;
    new_file(&arguments.output, arguments.force)?.finish(text.as_bytes())?;
    if let Some(volunteers) = &arguments.volunteers {
        tell_clipped(&volunteers.display().to_string(), &clipped);
    }
    for warning in custody::warnings(&design, arguments.people.map(|people| people as u64)) {
        complain(&format!("warning: {warning}"));
    }
    if arguments.volunteers.is_some() && guarantee.shaped_by == ShapedBy::PublicKnowledge {
        complain("the volunteers' records were not used: no mechanism in the design can use them");
    }
    if !arguments.columns.is_empty() && !unreleased.is_empty() {
        complain(&format!("not released, because no mechanism takes them: {}", unreleased.join(", ")));
    }
    let estimable_only = design.estimable_only()?;
    for (values, columns) in &estimable_only {
        complain(&format!(
            "scumble estimate needs the numbers of {} as drawn: release with --values {values}",
            columns.join(", ")
        ));
    }
    if as_json {
        return print_json(&json!({
            "output": arguments.output,
            "origin": design.origin(),
            "estimable_only": estimable_only,
            "guarantee": guarantee.to_json(),
        }));
    }
    print(&format!("{} holds the design:\n\n{guarantee}", arguments.output.display()))
}

/// Reads the schema of the columns. If there is a target, its column becomes a class or a number to learn.
fn schema(arguments: &DesignArguments) -> Result<Schema, Failure> {
    let schema = match (&arguments.schema, &arguments.data) {
        (Some(file), _) => Schema::read(file)?,
        (None, name) => Schema::from_toml(public_schema(name.as_deref().unwrap_or_default())?, "the schema")?,
    };
    Ok(match &arguments.target {
        Some(target) => schema.for_learning(target, arguments.task)?,
        None => schema,
    })
}

/// Builds the design request, except for its mechanisms. Also returns the number of cells whose values were
/// clipped to their bounds, for each column of the volunteers' records.
fn request<'a>(
    arguments: &'a DesignArguments,
    schema: &'a Schema,
) -> Result<(DesignRequest<'a>, Vec<Clipped>), Failure> {
    let target = arguments.target.as_deref();
    let budget = Budget::new(arguments.epsilon, arguments.delta)?;
    let mut request = DesignRequest {
        people: arguments.people,
        protect: arguments.protect.map(Protect::from),
        label_share: arguments.label_share,
        ..DesignRequest::new(schema, target, budget)
    };
    let mut clipped = vec![];
    if let (Some(file), Some(status)) = (&arguments.volunteers, arguments.volunteers_are) {
        let loaded = volunteers(arguments, file, schema)?;
        clipped = loaded.clipped;
        request.volunteers = match status {
            VolunteerStatus::Public => Volunteers::Public(loaded.table),
            VolunteerStatus::Consented => Volunteers::Consented(loaded.table),
            VolunteerStatus::Private => Volunteers::Private(loaded.table),
        };
    }
    if let Some(task) = arguments.purpose.task(&arguments.reading, schema.domain(target)?.columns())? {
        request.task = task;
    }
    Ok((request, clipped))
}

/// Reads the volunteers' records, with labels if the file has them.
fn volunteers(arguments: &DesignArguments, file: &Path, schema: &Schema) -> Result<Loaded, Failure> {
    let target = arguments.target.as_deref();
    let rows = arguments.reading.open(file)?;
    let (schema, target) =
        schema.omit_missing_target(target, |column| rows.header().iter().any(|name| name == column))?;
    Ok(Reader::new(rows, &schema, target, OutOfBounds::Clip)?.read_all()?)
}

/// Assigns columns to the named mechanisms.
fn parts<'a>(
    registry: &'a Registry,
    arguments: &'a DesignArguments,
    schema: &'a Schema,
) -> Result<Vec<Part<'a>>, Failure> {
    let target = arguments.target.as_deref();
    let all = || schema.columns().iter().map(|column| column.name.as_str());
    let features = || all().filter(|&name| Some(name) != target).collect::<Vec<&str>>();
    let names: Vec<&String> = arguments.name.iter().chain(&arguments.mechanism).collect();
    let columns: Vec<Vec<&str>> = match (names.len(), arguments.columns.len(), target) {
        (named, given, _) if named == given => {
            arguments.columns.iter().map(|list| list.split(',').map(str::trim).collect()).collect()
        }
        (1, 0, _) => vec![vec![]],
        (2, 0, Some(target)) => vec![features(), vec![target]],
        (named, given, _) => {
            let problem =
                format!("--columns is given {given} times for {named} --mechanism; give it once for each");
            return Err(problem.into());
        }
    };
    let mut parts = vec![];
    for (name, columns) in names.into_iter().zip(columns) {
        parts.push(Part { plugin: registry.get(name)?, parameters: Value::Null, columns });
    }
    Ok(parts)
}

/// Returns the columns that no mechanism in `parts` releases.
fn left_out<'a>(schema: &'a Schema, parts: &[Part]) -> Vec<&'a str> {
    let taken: HashSet<&str> = parts.iter().flat_map(|part| &part.columns).copied().collect();
    let names = schema.columns().iter().map(|column| column.name.as_str());
    names.filter(|name| !taken.contains(name)).collect()
}
