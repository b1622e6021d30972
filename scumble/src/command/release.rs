//! `scumble release`: releases a file of records by a saved design.

#[cfg(feature = "evaluation")]
use super::ledger::accounts_of;
use super::output::{Output, check_json, report};
use super::passphrase::Passphrase;
use super::reading::Reading;
use super::{
    Failure, collect_command, complain, file_name, new_file, print_json, progress_bar, refuse_overlaps,
    tell_clipped, view_command,
};
use crate::core::levels::CountedTable;
use crate::core::{
    CuratorMechanism, Designed, Drawing, Guarantee, Horizon, Key, LocalMechanism, Noise, NoiseDistribution,
    Outcome, Randomness, Registry, Release, Releases, interrupt,
};
use crate::custody::{
    self, Admitted, AdmittedRecords, Card, ENCODED, Existing, Group, Ledger, NewFile, PeriodState, Readable,
    ReleasedPeriod, ShippedDesign, admit, is_in_same_folder,
};
use crate::noise::{Fingerprint, RecordDigest};
#[cfg(feature = "evaluation")]
use crate::page::ReleasePage;
use crate::parquet::is_standard;
use crate::records::{self, Clipped, Decoder, Input, OutOfBounds, People, Reader, Values, stream};
use crate::tables::{NoisyTable, NoisyTables};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  scumble release --design design.json --input people.csv --output released.csv --card card.json
  scumble release --design design.json --input people.csv --output released.csv --ledger ledger.json \
--dataset people
  scumble release --design design.json --input people.csv --output released.csv --ticket ticket.json --id \
person";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReleaseArguments {
    /// A design, as `scumble design` saves it.
    #[arg(long, value_name = "DESIGN.json")]
    design: PathBuf,
    /// The records: CSV or Parquet, by the file's content, whose header names the columns of the design's
    /// schema, in any order; - for CSV on standard input.
    #[arg(long, value_name = "PRIVATE")]
    input: PathBuf,
    /// File for the released records, in the columns and units of the schema; for a released model, whose
    /// coefficients apply to encoded records; or for released tables, as JSON for `scumble estimate
    /// --tables`. Parquet if its name ends in .parquet, else CSV; - for standard output.
    #[arg(long, value_name = "RELEASED")]
    output: PathBuf,
    /// File for the card of this release. If its name ends in .html, it is a page for people to read, print
    /// and sign. Otherwise it is JSON with the guarantee and the noise distribution. May be given twice.
    #[arg(long, value_name = "CARD")]
    card: Vec<PathBuf>,
    /// File for the secret key of a curator's mechanism, encrypted. It must lie in another folder than the
    /// release and the design.
    #[arg(long, value_name = "KEY.json")]
    key: Option<PathBuf>,
    /// File for the noisy tables from which a curator's rows are drawn, as JSON: the counts with the standard
    /// deviation of their noise. `scumble estimate --tables` computes intervals from it.
    #[arg(long, value_name = "TABLES.json")]
    tables: Option<PathBuf>,
    /// The period of a design with a horizon, counted from 1. The records are those of this period, and the
    /// output has the totals of all periods so far.
    #[arg(long, value_name = "K", requires = "state")]
    period: Option<usize>,
    /// File for the state between the periods of a horizon, encrypted. The first period creates it, and each
    /// period needs the state of the period before.
    #[arg(long, value_name = "STATE.json", requires = "period")]
    state: Option<PathBuf>,
    /// File for the tables of this period alone, of a design with a horizon.
    #[arg(long, value_name = "TABLES.json", requires = "period")]
    of_period: Option<PathBuf>,
    #[command(flatten)]
    passphrase: Passphrase,
    /// Repeat the release of this seed. The release then has no guarantee: whoever knows the seed can
    /// subtract the noise.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Draw the noise of each record from the record's id and a secret in this file. The release can then be
    /// repeated, also by parallel tasks, at the cost of one. If the file does not exist, a new secret is
    /// stored in it, readable only by you. Only for local mechanisms.
    #[arg(long, value_name = "TICKET.json", conflicts_with = "seed")]
    ticket: Option<PathBuf>,
    /// The column with the ids of the records, unique and not empty; it need not be in the schema. Without
    /// it, the ids are the row numbers.
    #[arg(long, value_name = "COLUMN", requires = "ticket")]
    id: Option<String>,
    /// Refuse a number outside its bounds, instead of clipping and counting it. Whoever sees that a release
    /// was refused learns that the file has such a record.
    #[arg(long)]
    strict: bool,
    /// Charge the release to this ledger before anything is written. If too little of the budget is left,
    /// nothing is released.
    #[arg(long, value_name = "LEDGER.json", requires = "dataset")]
    ledger: Option<PathBuf>,
    /// Name of the data set in the ledger.
    #[arg(long, value_name = "NAME", requires = "ledger")]
    dataset: Option<String>,
    /// Group of the released people, if people are divided into disjoint groups: of several groups, only the
    /// one with the largest sum counts. The group of a person must be public, such as a batch of arrivals.
    #[arg(long, value_name = "DIVISION=GROUP", requires = "ledger")]
    group: Option<Group>,
    /// Treatment of numbers in the file.
    #[arg(long, value_name = "VALUES", default_value = "settled")]
    values: ValuesArgument,
    #[command(flatten)]
    reading: Reading,
    /// Replace existing outputs and cards. A key is never replaced.
    #[arg(long)]
    force: bool,
}

/// Files of a release that two servers made.
#[derive(Args, Clone)]
pub(super) struct Unsharded {
    /// File for the released records, in the columns and units of the schema. Parquet if its name ends in
    /// .parquet, else CSV; - for standard output.
    #[arg(long, value_name = "RELEASED")]
    output: PathBuf,
    /// File for the card of this release. If its name ends in .html, it is a page for people to read, print
    /// and sign. Otherwise it is JSON with the guarantee and the noise distribution. May be given twice.
    #[arg(long, value_name = "CARD")]
    card: Vec<PathBuf>,
    /// File for the noisy tables from which the rows are drawn, as JSON: the counts with the standard
    /// deviation of their noise. `scumble estimate --tables` computes intervals from it.
    #[arg(long, value_name = "TABLES.json")]
    tables: Option<PathBuf>,
    /// Treatment of numbers in the file.
    #[arg(long, value_name = "VALUES", default_value = "settled")]
    values: ValuesArgument,
    /// Replace existing outputs and cards.
    #[arg(long)]
    force: bool,
}

impl Unsharded {
    /// Files that are written.
    pub(super) fn files(&self) -> Vec<&PathBuf> {
        [&self.output].into_iter().chain(&self.card).chain(&self.tables).collect()
    }
}

/// Treatment of released numbers.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ValuesArgument {
    /// Integers, dates and ordered levels are rounded and clamped to their bounds; real numbers stay
    /// unchanged.
    Settled,
    /// Real numbers are clamped too.
    Clamped,
    /// All numbers stay as drawn, which estimators need: rounding and clamping make the noise distribution
    /// unknown.
    Drawn,
    /// Every feature stays as the mechanism released it, one column per number and per level, scaled to
    /// [0, 1]. Statistics and models that a mechanism preserves need this if there are categories.
    Encoded,
}

impl From<ValuesArgument> for Values {
    fn from(argument: ValuesArgument) -> Self {
        match argument {
            ValuesArgument::Settled => Self::Settled,
            ValuesArgument::Clamped => Self::Clamped,
            ValuesArgument::Drawn => Self::Drawn,
            ValuesArgument::Encoded => Self::Encoded,
        }
    }
}

impl ReleaseArguments {
    /// Arguments for a release that two servers made from people's reports. `input` is one of their shares.
    pub(super) fn of_shares(design: &Path, input: &Path, unsharded: &Unsharded) -> Self {
        let Unsharded { output, card, tables, values, force } = unsharded.clone();
        Self {
            design: design.into(),
            input: input.into(),
            output,
            card,
            tables,
            values,
            force,
            key: None,
            period: None,
            state: None,
            of_period: None,
            passphrase: Passphrase::default(),
            seed: None,
            ticket: None,
            id: None,
            strict: false,
            ledger: None,
            dataset: None,
            group: None,
            reading: Reading::default(),
        }
    }

    /// Ledger to charge, with the data set's name in it.
    fn account(&self) -> Option<(Ledger, &str)> {
        let ledger = Ledger::at(self.ledger.as_deref()?).for_group(self.group.clone());
        Some((ledger, self.dataset.as_deref()?))
    }
}

/// Reads the state of the period before, of a design with a horizon.
fn state_before(
    design: &ShippedDesign,
    arguments: &ReleaseArguments,
) -> Result<Option<PeriodState>, Failure> {
    let (Some(period), Some(file)) = (arguments.period, &arguments.state) else { return Ok(None) };
    Ok(Some(PeriodState::before(design, period, file, &arguments.passphrase.read()?)?))
}

/// Error for `--tables` with a mechanism that has none.
const NO_TABLES: &str = "--tables: this mechanism counts no noisy tables; adaptive-marginals, mst, \
                         noisy-marginals, noisy-moments and two-server-marginals do";

/// Output files of a release, each under a temporary name.
struct Outputs {
    released: Output,
    values: ValuesArgument,
    /// Name of the secret that determines the noise, if a ticket stores this secret.
    ticket: Option<String>,
    /// The cards, in the order of the arguments.
    cards: Vec<NewFile>,
    /// The key's file and its passphrase.
    key: Option<(NewFile, String)>,
    tables: Option<NewFile>,
    /// State between the periods of a horizon, with its passphrase.
    state: Option<(NewFile, String)>,
    of_period: Option<NewFile>,
}

/// Results to report after all records are released.
struct Done {
    /// Number of released records; `None` if a model is released.
    records: Option<u64>,
    /// Description of a released model, for the card.
    model: Option<Value>,
    guarantee: Guarantee,
    /// Names of the encoded columns that were released, in the order in which `noise` describes them.
    columns: Vec<String>,
    noise: Noise,
    /// Columns of each table of counts from which the released records were drawn.
    counted_tables: Vec<Vec<String>>,
    /// Number of cells of each column whose values were clipped. Only the owner of the data may see these
    /// numbers.
    clipped: Vec<Clipped>,
    key: Option<Key>,
    /// Noisy tables, if they are requested.
    tables: Option<NoisyTables>,
    /// Released period of a horizon.
    period: Option<ReleasedPeriod>,
}

impl Done {
    fn streamed(
        local: &dyn LocalMechanism,
        decoder: &Decoder,
        guarantee: Guarantee,
        streamed: stream::Streamed,
    ) -> Self {
        Self {
            records: Some(streamed.records),
            model: None,
            guarantee,
            columns: local.layout().columns,
            noise: decoder.noise(&local.noise()),
            counted_tables: vec![],
            clipped: streamed.clipped,
            key: None,
            tables: None,
            period: None,
        }
    }
}

pub(super) fn release(
    registry: &Registry,
    arguments: &ReleaseArguments,
    as_json: bool,
) -> Result<(), Failure> {
    let design = ShippedDesign::read(&arguments.design, registry)?;
    design.check_one_holder()?;
    let mechanism = design.mechanism();
    release_by(&design, arguments, as_json, |work, mut randomness, outputs| {
        work.warn_of_repeats()?;
        work.choose_records(&mut randomness)?;
        match mechanism {
            Designed::Local(local) if arguments.ticket.is_some() => work.release_keyed(&**local, outputs),
            Designed::Local(local) => work.release_stream(&**local, randomness, outputs),
            Designed::Curator(curator) => work.release_by_curator(&**curator, randomness, outputs),
        }
    })
}

/// Writes the records of `drawing`, which two servers made, with the card and tables of `arguments`.
pub(super) fn release_drawing(
    design: &ShippedDesign,
    arguments: &ReleaseArguments,
    as_json: bool,
    drawing: &Drawing,
) -> Result<(), Failure> {
    let decoder = design.decoder_of(drawing.layout())?.with_values(arguments.values.into());
    release_by(design, arguments, as_json, |work, _, outputs| {
        work.write_drawn(drawing, &decoder, vec![], outputs)
    })
}

/// Makes a release by `make`, and publishes its files together.
fn release_by(
    design: &ShippedDesign,
    arguments: &ReleaseArguments,
    as_json: bool,
    make: impl FnOnce(&mut Work, Randomness, &mut Outputs) -> Result<Done, Failure>,
) -> Result<(), Failure> {
    check_json(&arguments.output, as_json)?;
    #[cfg(not(feature = "evaluation"))]
    if arguments.card.iter().any(|card| is_page(card)) {
        return super::absent::refuse("evaluation");
    }
    check_places(arguments, design.mechanism())?;
    let (view, view_on_card) =
        (view_of(design, arguments, Path::to_path_buf)?, view_of(design, arguments, file_name)?);
    stop_when_interrupted()?;
    let mut outputs = Outputs::create(arguments)?;
    let randomness = Randomness::from_seed_or_os(arguments.seed)?;
    let mut work = Work {
        arguments,
        design,
        people: None,
        state: state_before(design, arguments)?,
        bar: progress_bar(
            length_of(&arguments.input),
            "releasing {bar:40} {bytes}/{total_bytes}, {eta} left",
        ),
        is_charged: false,
        rows: 0,
    };
    let done = make(&mut work, randomness, &mut outputs);
    work.bar.finish_and_clear();
    let is_charged = work.is_charged;
    let done = done.and_then(|done| {
        outputs.commit(arguments, design, &done, view_on_card.as_deref())?;
        if let (Some((ledger, dataset)), Some(period)) = (arguments.account(), &done.period) {
            period.note((&ledger, dataset))?;
        }
        Ok(done)
    });
    let done = done.map_err(|failure| match is_charged {
        true => Failure::from(AfterCharge(failure)),
        false => failure,
    })?;
    tell_clipped(&arguments.input.display().to_string(), &done.clipped);
    if let Some(warning) = custody::warning_of_delta(&done.guarantee, done.records) {
        complain(&format!("warning: {warning}"));
    }
    if let Some(view) = &view {
        complain(&format!(
            "use a model of {} on viewed records, not on records in the clear: {view}",
            arguments.output.display()
        ));
    }
    if matches!(design.mechanism().releases(), Releases::Reports { .. }) && !is_standard(&arguments.output) {
        complain(&format!(
            "{} holds reports, one per person; to draw records from them: {}",
            arguments.output.display(),
            collect_command(&arguments.design, &arguments.output)
        ));
    }
    if as_json {
        return print_json(&json!({
            "view": view,
            "output": arguments.output,
            "records": done.records,
            "model": done.model,
            "counted_tables": done.counted_tables,
            "guarantee": done.guarantee.to_json(),
        }));
    }
    let what = match (done.records, &done.tables) {
        (None, Some(tables)) => format!("{} noisy tables", tables.tables().len()),
        (None, None) => format!("a model, with coefficients for encoded records ({ENCODED})"),
        (Some(records), _) => format!("{records} released records"),
    };
    let kept = kept(&done.counted_tables).filter(|_| done.records.is_some());
    let kept = kept.map_or(String::new(), |kept| format!("\n{kept}\n{INTERVALS}"));
    report(
        &arguments.output,
        &format!("{} holds {what}: {}{kept}", arguments.output.display(), done.guarantee.summary()),
    )
}

/// Formats the tables of counts whose relations the released rows keep; `None` if no table was counted.
pub(super) fn kept(counted: &[Vec<String>]) -> Option<String> {
    /// Largest number of tables listed.
    const MOST: usize = 5;
    let listed: Vec<String> = counted.iter().take(MOST).map(|table| table.join(" × ")).collect();
    let rest = if counted.len() > MOST { format!(", … ({} in all)", counted.len()) } else { String::new() };
    let listed = listed.join(", ");
    (!listed.is_empty()).then(|| {
        format!("The rows keep these tables: {listed}{rest}; other relations may be lost or reversed.")
    })
}

/// Remark about rows that are drawn from noisy tables.
const INTERVALS: &str = "Compute no intervals from the rows, which hide the noise; `scumble estimate \
                         --tables` computes them from a file of --tables.";

/// Returns the `scumble view` command that maps records into the space of the release, if models of the
/// release cannot be used on records in the clear. `named` returns a path in full, or only its file name for
/// a public card.
fn view_of(
    design: &ShippedDesign,
    arguments: &ReleaseArguments,
    named: fn(&Path) -> PathBuf,
) -> Result<Option<String>, Failure> {
    // Models read the view as they read the release.
    let values = if matches!(arguments.values, ValuesArgument::Encoded) { " --values encoded" } else { "" };
    let key = arguments.key.as_deref().map(named);
    let command = || view_command(&named(&arguments.design), key.as_deref()) + values;
    Ok(design.mechanism().releases().is_viewed().then(command))
}

/// Checks the paths of the files and the options of keys and tickets.
///
/// # Errors
/// Returns an error if an output would replace an input, or if a ticket is given for a curator's mechanism.
/// Returns an error if a key is requested but the mechanism has none, or if a key is needed but not
/// requested. Returns an error if the key would lie in the folder of the release, the design or the card.
fn check_places(arguments: &ReleaseArguments, mechanism: &Designed) -> Result<(), Failure> {
    if arguments.ticket.is_some() && matches!(mechanism, Designed::Curator(_)) {
        return Err(
            "--ticket: a ticket is for a local mechanism; a curator draws its noise for all records together"
                .into(),
        );
    }
    if arguments.tables.is_some() && mechanism.releases() == Releases::Tables {
        return Err("--tables: this mechanism releases tables alone, to --output".into());
    }
    if arguments.tables.is_some() && !matches!(mechanism.releases(), Releases::Synthetic { .. }) {
        return Err(NO_TABLES.into());
    }
    match (mechanism.horizon(), arguments.period) {
        (Some(horizon), None) => {
            return Err(format!(
                "the design has a horizon of {} periods: give the number of the period (--period) and a file \
                 for the state between periods (--state)",
                horizon.periods
            )
            .into());
        }
        (None, Some(_)) => {
            return Err("--period: the design has no horizon; `scumble design --horizon T` makes one".into());
        }
        _ => {}
    }
    let ledger = arguments.ledger.as_ref().map(|file| Ledger::at(file).files());
    let read = [arguments.input.clone(), arguments.design.clone()].into_iter();
    let admitted = arguments.ticket.as_deref().map(AdmittedRecords::path_for);
    let read = read.chain(arguments.ticket.clone()).chain(admitted).chain(ledger.into_iter().flatten());
    let written = [&arguments.output].into_iter().chain(&arguments.card).chain(&arguments.key);
    let written = written.chain(&arguments.tables).chain(&arguments.state).chain(&arguments.of_period);
    refuse_overlaps(&read.collect::<Vec<_>>(), &written.collect::<Vec<_>>())?;
    let key = match (mechanism, &arguments.key) {
        (mechanism, None) if !mechanism.releases().is_secret() => return Ok(()),
        (Designed::Curator(_), Some(_)) if !mechanism.releases().is_secret() => {
            return Err(
                "--key: this release has no secret key; use a model of the release on records in the clear"
                    .into(),
            );
        }
        (Designed::Local(_), _) => {
            return Err("--key: a local mechanism has no secret key; its key is the design".into());
        }
        (Designed::Curator(_), None) => {
            return Err(
                "the design is a curator's: give a file for its secret key (--key FILE); without the key, \
                 nothing can be learned from the release"
                    .into(),
            );
        }
        (Designed::Curator(_), Some(key)) => key,
    };
    let cards = arguments.card.iter().map(|card| ("card", card));
    let other_files = [("release", &arguments.output), ("design", &arguments.design)];
    for (what, file) in other_files.into_iter().chain(cards) {
        if is_in_same_folder(key, file)? {
            return Err(format!(
                "{}: the key would lie in the folder of the {what}, so a thief could take both; choose \
                 another folder",
                key.display()
            )
            .into());
        }
    }
    Ok(())
}

impl Outputs {
    fn create(arguments: &ReleaseArguments) -> Result<Self, Failure> {
        let usual = |path: &PathBuf| new_file(path, arguments.force);
        let secret = |path: &PathBuf| NewFile::create(path, Existing::Keep, Readable::ByOwner);
        Ok(Self {
            released: Output::create(&arguments.output, arguments.force)?,
            values: arguments.values,
            ticket: None,
            cards: arguments.card.iter().map(usual).collect::<Result<_, _>>()?,
            tables: arguments.tables.as_ref().map(usual).transpose()?,
            of_period: arguments.of_period.as_ref().map(usual).transpose()?,
            state: match &arguments.state {
                Some(state) => {
                    let file = NewFile::create(state, Existing::Replace, Readable::ByOwner)?;
                    Some((file, arguments.passphrase.read()?))
                }
                None => None,
            },
            key: match &arguments.key {
                Some(key) => Some((secret(key)?, arguments.passphrase.read()?)),
                None => None,
            },
        })
    }

    /// Publishes the release last: if it exists, so do its key and cards.
    fn commit(
        self,
        arguments: &ReleaseArguments,
        design: &ShippedDesign,
        done: &Done,
        view: Option<&str>,
    ) -> Result<(), Failure> {
        if let (Some((file, passphrase)), Some(key)) = (self.key, &done.key) {
            file.finish(crate::custody::key::save(key, &passphrase)?.unwrap_or_default().as_bytes())?;
        }
        let card = Card {
            design,
            records: done.records,
            model: done.model.clone(),
            file: Some(&self.released.sha256()),
            ticket: self.ticket.as_deref(),
            view,
            values: self.values.into(),
            guarantee: &done.guarantee,
            columns: &done.columns,
            counted_tables: &done.counted_tables,
            noise: &done.noise,
        };
        for (path, file) in arguments.card.iter().zip(self.cards) {
            let text = match is_page(path) {
                true => page(&card, arguments)?,
                false => serde_json::to_string_pretty(&card.to_json()?)? + "\n",
            };
            file.finish(text.as_bytes())?;
        }
        if let (Some((file, passphrase)), Some(period)) = (self.state, &done.period) {
            period.save_state(file, &passphrase)?;
        }
        if let (Some(file), Some(period)) = (self.of_period, &done.period) {
            file.finish((serde_json::to_string(&period.alone)? + "\n").as_bytes())?;
        }
        if let (Some(file), Some(tables)) = (self.tables, &done.tables) {
            file.finish((serde_json::to_string(tables)? + "\n").as_bytes())?;
        }
        self.released.commit()
    }
}

/// Returns whether a card is a page for people. Any other card is JSON.
fn is_page(card: &Path) -> bool {
    card.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"))
}

/// Formats the card as a page for people.
#[cfg(not(feature = "evaluation"))]
fn page(_: &Card, _: &ReleaseArguments) -> Result<String, Failure> {
    super::absent::refuse("evaluation")
}

/// Formats the card as a page for people.
#[cfg(feature = "evaluation")]
fn page(card: &Card, arguments: &ReleaseArguments) -> Result<String, Failure> {
    let named = |path: &Path, standard: &str| match is_standard(path) {
        true => standard.to_owned(),
        false => crate::core::shown(&file_name(path).display().to_string()).into_owned(),
    };
    let (accounts, information) = match &arguments.ledger {
        Some(ledger) => accounts_of(ledger, arguments.dataset.as_deref())?,
        None => Default::default(),
    };
    let page = ReleasePage {
        card,
        input: &named(&arguments.input, "standard input"),
        output: &named(&arguments.output, "standard output"),
        released: jiff::Timestamp::now(),
        accounts: &accounts,
        information: &information,
    };
    Ok(page.to_html()?)
}

/// State that all ways of releasing share.
struct Work<'a> {
    arguments: &'a ReleaseArguments,
    design: &'a ShippedDesign,
    /// Records that count, if the schema has a column of people's ids.
    people: Option<Arc<People>>,
    /// State after the period before, of a design with a horizon.
    state: Option<PeriodState>,
    bar: ProgressBar,
    is_charged: bool,
    /// Number of records read.
    rows: u64,
}

impl Work<'_> {
    /// Chooses the records of each person that count, and says how many rows are left out. With a ticket, a
    /// person has one record.
    fn choose_records(&mut self, randomness: &mut Randomness) -> Result<(), Failure> {
        let Some(column) = self.design.person()? else { return Ok(()) };
        if self.arguments.ticket.is_some() {
            return Ok(()); // the noise of a person follows from the id, which occurs once
        }
        self.check_readable_twice("a column of ids in the schema")?;
        let rows = self.arguments.reading.open(&self.arguments.input)?;
        let is_admitted =
            |id: &[u8; 16]| self.state.as_ref().is_none_or(|state| state.admits(id, self.design));
        self.people = self.design.people(rows, randomness, is_admitted, |bytes| self.go_on(bytes))?;
        if let Some((people, (rows, used))) =
            self.people.as_ref().map(|people| (people.ids().len(), people.rows()))
            && used < rows
        {
            let recurring = |horizon: Horizon| {
                let most = horizon.periods_per_person;
                format!("; people with records in {most} earlier periods do not count")
            };
            let recurring = self.design.mechanism().horizon().map(recurring).unwrap_or_default();
            complain(&format!(
                "{} of {rows} rows are left out: at most {} of each of {people} people count ({:?} in the \
                 schema){recurring}",
                rows - used,
                column.records_per_person,
                column.name
            ));
        }
        Ok(())
    }

    /// Releases record by record, in bounded memory.
    fn release_stream(
        &mut self,
        local: &dyn LocalMechanism,
        mut randomness: Randomness,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let guarantee = self.design.mechanism().guarantee().under(randomness.provenance());
        if self.arguments.ledger.is_some() {
            // Reads the file twice, so that a bad row is found before anything is charged.
            self.check_readable_twice("--ledger")?;
            stream::check(&mut self.reader()?, |bytes| self.go_on(bytes))?;
        }
        let mut reader = self.reader()?;
        let decoder = self.design.release_decoder(&reader, self.arguments.values.into())?;
        self.charge(&guarantee)?;
        let streams = randomness.streams();
        let output = outputs.released.writer(&decoder)?;
        let go_on = |bytes| self.go_on(bytes);
        let streamed = stream::release(local, &mut reader, &decoder, &streams, output, go_on)?;
        Ok(Done::streamed(local, &decoder, guarantee, streamed))
    }

    /// Releases record by record, each with the noise that the ticket's secret determines for its id. The
    /// steps check all records, store the secret, charge the ledger, and then release the records. This order
    /// ensures that the release is charged once. The output appears only if the second reading of the input
    /// gave the checked records.
    fn release_keyed(&mut self, local: &dyn LocalMechanism, outputs: &mut Outputs) -> Result<Done, Failure> {
        let Some(file) = &self.arguments.ticket else { return Err("there is no ticket".into()) };
        self.check_readable_twice("--ticket")?;
        let checked = stream::check_ids(&mut self.reader()?, |_, _| (), |bytes| self.go_on(bytes))?;
        let account = self.arguments.account();
        let payer = account.as_ref().map(|(ledger, dataset)| (ledger, *dataset));
        let id = self.id()?;
        let admitted = admit(self.design, &checked.fingerprint, None, file, id, payer, &self.origin())?;
        let Admitted { ticket, guarantee, is_charged } = admitted;
        self.is_charged = is_charged;
        outputs.ticket = Some(ticket.key().name());
        let mut reader = self.reader()?;
        let decoder = self.design.release_decoder(&reader, self.arguments.values.into())?;
        let output = outputs.released.writer(&decoder)?;
        let go_on = |bytes| self.go_on(bytes);
        let mut released = Fingerprint::default();
        let add = |records: &[RecordDigest]| records.iter().for_each(|record| released.add(record));
        let key = ticket.key();
        let streamed = stream::release_keyed(local, &mut reader, &decoder, key, output, add, go_on)?;
        ticket.check_released(&released, &self.arguments.input.display().to_string())?;
        Ok(Done::streamed(local, &decoder, guarantee, streamed))
    }

    /// Releases by a curator's mechanism, which reads the records block by block and keeps only the
    /// accumulated state that its release needs.
    fn release_by_curator(
        &mut self,
        curator: &dyn CuratorMechanism,
        mut randomness: Randomness,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let mut reader = self.reader()?;
        let kept = stream::Accumulated::read(curator.start(), &mut reader, |bytes| self.go_on(bytes))?;
        let clipped = kept.clipped.clone();
        self.rows = kept.records;
        if let Some(state) = self.state.take() {
            let people = self.people.as_deref();
            let records = (kept.into_accumulator(), people);
            let (account, what) = (self.arguments.account(), self.origin());
            let payer = account.as_ref().map(|(ledger, dataset)| (ledger, *dataset));
            let made = state.release(self.design, records, &mut randomness, payer, &what)?;
            self.is_charged = payer.is_some();
            let (guarantee, totals) = (made.guarantee.clone(), made.totals.clone());
            return self.done_with_tables(guarantee, totals, Some(made), clipped, outputs);
        }
        let outcome = kept.release(&mut randomness)?.of_people(curator.records_per_person());
        self.go_on(0)?;
        match outcome {
            Outcome::Rows(release) => self.write_rows(release, clipped, &reader.input(), outputs),
            Outcome::Synthetic(drawing) => {
                let (input, values) = (reader.input(), self.arguments.values.into());
                let decoder = self.design.rows_decoder(drawing.layout(), &drawing.noise, &input, values)?;
                self.write_drawn(&drawing, &decoder, clipped, outputs)
            }
            Outcome::Tables(release) => self.write_tables(release, clipped, outputs),
            Outcome::Model(release) => self.write_model(release, clipped, outputs),
        }
    }

    /// Charges the ledger for a release whose records are drawn block by block, and writes these records.
    fn write_drawn(
        &mut self,
        drawing: &Drawing,
        decoder: &Decoder,
        clipped: Vec<Clipped>,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let counted_tables = self.design.counted_tables(&drawing.counted_tables)?;
        let tables = self.tables(&drawing.noisy_tables, &drawing.guarantee, drawing.records())?;
        self.charge(&drawing.guarantee)?;
        self.bar.finish_and_clear();
        self.bar = progress_bar(drawing.records() as u64, "drawing {bar:40} {pos}/{len} records, {eta} left");
        let go_on = |records| self.go_on(records);
        stream::write_drawn(drawing, decoder, outputs.released.writer(decoder)?, go_on)?;
        let crowded = decoder.crowded(&drawing.block(0)?).into_iter().map(|name| format!("{name:?}"));
        let crowded = crowded.collect::<Vec<_>>().join(", ");
        if !crowded.is_empty() {
            complain(&format!(
                "over 90 % of the released numbers of {crowded} lie in one twentieth of the range, where \
                 details are lost: declare `scale = \"log\"`, `edges` or `zero = \"apart\"` in the schema"
            ));
        }
        Ok(Done {
            records: Some(drawing.records() as u64),
            model: None,
            columns: drawing.layout().columns.clone(),
            noise: decoder.noise(&drawing.noise),
            guarantee: drawing.guarantee.clone(),
            counted_tables,
            clipped,
            key: None,
            tables,
            period: None,
        })
    }

    /// The noisy tables of a release, if they are requested.
    ///
    /// # Errors
    /// Returns an error if they are requested and there are none.
    fn tables(
        &self,
        tables: &[CountedTable],
        guarantee: &Guarantee,
        records: usize,
    ) -> Result<Option<NoisyTables>, Failure> {
        if self.arguments.tables.is_none() {
            return Ok(None);
        }
        if tables.is_empty() {
            return Err(NO_TABLES.into());
        }
        let people = guarantee.discloses_number().then_some(records as u64);
        Ok(Some(self.design.noisy_tables(tables, people)?))
    }

    /// Charges the ledger for released rows, and writes them.
    fn write_rows(
        &mut self,
        release: Release,
        clipped: Vec<Clipped>,
        input: &Input,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let counted_tables = self.design.counted_tables(&release.counted_tables)?;
        let tables = self.tables(&release.noisy_tables, &release.guarantee, release.table.len())?;
        self.charge(&release.guarantee)?;
        let layout = stream::layout(&release.table, self.design.mechanism().domain());
        let values = self.arguments.values.into();
        let decoder = self.design.rows_decoder(&layout, &release.noise, input, values)?;
        stream::write(&release.table, &decoder, outputs.released.writer(&decoder)?)?;
        let noise = decoder.noise(&release.noise);
        let is_shared =
            |distribution: &NoiseDistribution| matches!(distribution, NoiseDistribution::Shared { .. });
        if release.noise.features.iter().any(is_shared)
            && noise.features.iter().any(|distribution| !is_shared(distribution))
        {
            complain(
                "numbers were rounded, or categories written as their largest level: the file does not \
                 preserve what the mechanism preserves over all records (--values encoded does)",
            );
        }
        Ok(Done {
            records: Some(release.table.len() as u64),
            model: None,
            guarantee: release.guarantee,
            columns: release.table.columns().to_vec(),
            noise,
            counted_tables,
            clipped,
            key: Some(release.key),
            tables,
            period: None,
        })
    }

    /// Charges the ledger for noisy tables that are released in place of rows, and writes them.
    fn write_tables(
        &mut self,
        release: Release,
        clipped: Vec<Clipped>,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let people = self.people.as_ref().map_or(self.rows, |people| people.ids().len() as u64);
        let people = release.guarantee.discloses_number().then_some(people);
        let tables = self.design.noisy_tables(&release.noisy_tables, people)?;
        self.charge(&release.guarantee)?;
        self.done_with_tables(release.guarantee, tables, None, clipped, outputs)
    }

    fn done_with_tables(
        &self,
        guarantee: Guarantee,
        tables: NoisyTables,
        period: Option<ReleasedPeriod>,
        clipped: Vec<Clipped>,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        writeln!(outputs.released, "{}", serde_json::to_string(&tables)?)
            .map_err(|source| records::Error::Write { source })?;
        let names = |table: &NoisyTable| table.columns.iter().map(|column| column.name.clone()).collect();
        Ok(Done {
            records: None,
            model: None,
            guarantee,
            columns: vec![],
            noise: Noise { features: vec![], target: NoiseDistribution::Exact { width: 0 } },
            counted_tables: tables.tables().iter().map(names).collect(),
            clipped,
            key: None,
            tables: Some(tables),
            period,
        })
    }

    /// Charges the ledger for a model that is released in place of records, and writes the model.
    fn write_model(
        &mut self,
        release: Release,
        clipped: Vec<Clipped>,
        outputs: &mut Outputs,
    ) -> Result<Done, Failure> {
        let (table, decoder) = self.design.model_rows(&release.table)?;
        self.charge(&release.guarantee)?;
        stream::write(&table, &decoder, outputs.released.writer(&decoder)?)?;
        Ok(Done {
            records: None,
            model: Some(self.design.model_card(&release)?),
            guarantee: release.guarantee,
            columns: release.table.columns().to_vec(),
            noise: release.noise,
            counted_tables: vec![],
            clipped,
            key: Some(release.key),
            tables: None,
            period: None,
        })
    }

    /// Column of the ids that a ticket needs; `None` for row numbers, and without a ticket.
    fn id(&self) -> Result<Option<&str>, Failure> {
        let person = self.design.records()?.schema.person().filter(|_| self.arguments.ticket.is_some());
        Ok(self.arguments.id.as_deref().or(person.map(|person| person.name.as_str())))
    }

    fn reader(&self) -> Result<Reader<'static>, Failure> {
        let rows = self.arguments.reading.open(&self.arguments.input)?;
        let reader = self.design.reader(rows, OutOfBounds::strictly(self.arguments.strict))?;
        let reader = reader.of_people(self.people.clone());
        match self.id()? {
            Some(column) => Ok(reader.with_ids(column)?),
            None => Ok(reader),
        }
    }

    /// Warns if a column that seems to identify people, by its name, repeats a value early in the file. A
    /// claim assumes one row per person. Nothing is checked here if `--id` names the ids, because a release
    /// with a ticket checks the ids itself. Nothing is checked either if the input can be read only once.
    fn warn_of_repeats(&self) -> Result<(), Failure> {
        let input = &self.arguments.input;
        let is_plain = std::fs::metadata(input).is_ok_and(|found| found.is_file());
        if self.arguments.id.is_some() || is_standard(input) || !is_plain {
            return Ok(());
        }
        let schema = &self.design.records()?.schema;
        let header = self.arguments.reading.open(input)?.header().to_vec();
        for warning in custody::warnings_of_repeats(schema, &header, || self.reader())? {
            complain(&format!("warning: {warning}"));
        }
        Ok(())
    }

    fn check_readable_twice(&self, option: &str) -> Result<(), Failure> {
        let input = &self.arguments.input;
        let twice = |file: String| format!("{file}: {option} reads the input twice and needs a plain file");
        if is_standard(input) {
            return Err(twice("standard input".into()).into());
        }
        let found =
            std::fs::metadata(input).map_err(|source| records::Error::Io { file: input.clone(), source })?;
        if found.is_file() {
            return Ok(());
        }
        Err(twice(input.display().to_string()).into())
    }

    /// Charges the ledger, before the first released byte is written anywhere.
    fn charge(&mut self, guarantee: &Guarantee) -> Result<(), Failure> {
        if let Some((ledger, dataset)) = self.arguments.account() {
            let target = self.design.records()?.target.as_deref();
            ledger.charge_release(dataset, guarantee, target, &self.origin())?;
            self.is_charged = true;
        }
        Ok(())
    }

    /// Text of the ledger entry for this release.
    fn origin(&self) -> String {
        format!("{} to {}", self.design.origin(), self.arguments.output.display())
    }

    fn go_on(&self, done: u64) -> Result<(), records::Error> {
        go_on(&self.bar, done)
    }
}

/// Updates the position of the progress bar, in the unit of its length.
///
/// # Errors
/// [`Interrupted`](records::Error::Interrupted) if the user asked to stop.
pub(super) fn go_on(bar: &ProgressBar, done: u64) -> Result<(), records::Error> {
    bar.set_position(done);
    interrupt::check().map_err(|_| records::Error::Interrupted)
}

/// Failure after the ledger was charged.
#[derive(Debug, thiserror::Error)]
#[error("{0}; the ledger was charged, and the charge remains")]
struct AfterCharge(#[source] Failure);

/// Makes the first interrupt ask all work to stop, so that temporary files are removed. The second interrupt
/// ends the process.
pub(super) fn stop_when_interrupted() -> Result<(), Failure> {
    Ok(ctrlc::set_handler(|| {
        if interrupt::check().is_err() {
            std::process::exit(130);
        }
        std::mem::forget(interrupt::Asked::now()); // until the process ends
    })?)
}

pub(super) fn length_of(input: &Path) -> u64 {
    std::fs::metadata(input).map(|found| found.len()).unwrap_or(0)
}
