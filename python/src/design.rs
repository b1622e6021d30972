//! Designs, and releases by them. A design is a mechanism whose parameters, schema and budget are fixed.

use crate::errors::{Cells, Failed};
use crate::interrupt::interruptible;
use crate::schema::Given;
use crate::ticket::Ticket;
use arrow_array::RecordBatch;
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3_arrow::PyTable;
use scumble::core::{
    Budget, CuratorMechanism, Designed, Guarantee, Noise, NoiseDistribution, Outcome, Protect, Randomness,
    Registry, Task, Volunteers, interrupt,
};
use scumble::custody::{
    self, Admitted, Card, CheckedPart, DesignRequest, Digests, Existing, Group, Ledger, NewFile, Part,
    PeriodState, Readable, ShippedDesign,
};
use scumble::noise::Fingerprint;
use scumble::records::{self, Clipped, Decoder, Loaded, OutOfBounds, ReadRows, Schema, Values, stream};
use scumble::tables::{Line, NoisyTable, NoisyTables};
use scumble_arrow::{Rows, Writer};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A design: the mechanism that releases records of a schema, with its parameters and guarantee.
#[pyclass(frozen, module = "scumble._native")]
pub(crate) struct Design {
    shipped: ShippedDesign,
    digest: OnceLock<String>,
    /// Columns of the schema that no part of a new design takes.
    #[pyo3(get)]
    left_out: Vec<String>,
}

/// The result of a release.
#[pyclass(frozen, get_all, module = "scumble._native")]
pub(crate) struct Released {
    /// The released records; `None` if only tables are released.
    table: Py<PyAny>,
    /// The noisy tables of a curator, as JSON.
    tables: Option<String>,
    /// The card of this release, as JSON.
    card: String,
    /// Cells clipped to the public bounds: column, number of cells, lower and upper bound. They describe the
    /// data, so they are for its owner only.
    clipped: Vec<ClippedCells>,
    /// Warnings about ids of people that occur in several records.
    repeats: Vec<String>,
}

/// Clipped cells of a column, as a Python tuple: column, number of cells, lower and upper bound.
type ClippedCells = (String, usize, String, String);

/// Result of a release.
pub(crate) struct Made {
    batches: Vec<RecordBatch>,
    /// The card of the release; empty if there is no card.
    card: String,
    clipped: Vec<Clipped>,
    /// The noisy tables of a curator.
    tables: Option<NoisyTables>,
}

impl From<(Vec<RecordBatch>, String, Vec<Clipped>)> for Made {
    fn from((batches, card, clipped): (Vec<RecordBatch>, String, Vec<Clipped>)) -> Self {
        Self { batches, card, clipped, tables: None }
    }
}

/// Mechanism of a design, with its columns; all columns if the list is empty.
#[derive(Deserialize)]
struct GivenPart {
    mechanism: String,
    columns: Vec<String>,
    parameters: Value,
}

impl GivenPart {
    fn of<'a>(&'a self, registry: &'a Registry) -> Result<Part<'a>, Failed> {
        let columns = self.columns.iter().map(String::as_str).collect();
        Ok(Part { plugin: registry.get(&self.mechanism)?, parameters: self.parameters.clone(), columns })
    }
}

/// Designs a mechanism for records of a schema, or several mechanisms side by side.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
pub(crate) fn design(
    py: Python,
    parts: &str,
    schema: Given,
    target: Option<&str>,
    task: Option<&str>,
    epsilon: f64,
    delta: f64,
    protect: Option<&str>,
    label_share: Option<f64>,
    people: Option<usize>,
    volunteers: Option<PyTable>,
    volunteers_are: Option<&str>,
    shuffled: Option<(u64, f64)>,
    tasks: Vec<(f64, PyTable)>,
) -> Result<Design, Failed> {
    let registry = Registry::installed()?;
    let parts: Vec<GivenPart> = serde_json::from_str(parts)?;
    let schema = schema.read(target, task)?.settled()?;
    let protect: Option<Protect> = protect
        .map(|part| serde_json::from_value(Value::from(part)))
        .transpose()
        .map_err(|_| Failed::input("protect: the value must be \"record\", \"features\" or \"label\""))?;
    interruptible(py, || {
        let volunteers = volunteers.map(|table| read_volunteers(&table, &schema, target)).transpose()?;
        let mut request = DesignRequest {
            people,
            protect,
            label_share,
            volunteers: covered(volunteers, volunteers_are)?,
            task: weighted(tasks, schema.domain(target)?.columns())?,
            parts: parts.iter().map(|part| part.of(&registry)).collect::<Result<_, _>>()?,
            ..DesignRequest::new(&schema, target, Budget::new(epsilon, delta)?)
        };
        request.add_label_part(&registry)?;
        let is_taken = |name: &str| request.parts.iter().any(|part| part.columns.contains(&name));
        let is_composed = request.parts.iter().any(|part| !part.columns.is_empty());
        let names = schema.columns().iter().map(|column| column.name.clone());
        let left_out = names.filter(|name| is_composed && !is_taken(name)).collect();
        let shipped = request.design(&registry)?;
        let shipped = match shuffled {
            Some((people, delta)) => shipped.through_shuffler(people, delta)?,
            None => shipped,
        };
        Ok(Design { left_out, ..Design::new(shipped) })
    })
}

/// The task of `tasks`, each with a weight and a matrix whose columns have the names of the encoded
/// `columns`.
pub(crate) fn weighted(tasks: Vec<(f64, PyTable)>, columns: &[String]) -> Result<Task, Failed> {
    if tasks.is_empty() {
        return Ok(Task::default());
    }
    let numbers = Schema::from_numeric_columns(columns)?;
    let matrix = |(weight, table): (f64, PyTable)| -> Result<_, Failed> {
        let loaded = scumble_arrow::read(&numbers, None, table.batches(), OutOfBounds::Keep)?;
        Ok((weight, loaded.table.records().clone()))
    };
    Ok(Task::weighted(&tasks.into_iter().map(matrix).collect::<Result<Vec<_>, _>>()?)?)
}

/// Reads the volunteers' records, with their labels if the table has them.
fn read_volunteers(table: &PyTable, schema: &Schema, target: Option<&str>) -> Result<Loaded, Failed> {
    let batches = table.batches();
    let has = |column: &str| {
        batches
            .first()
            .is_some_and(|batch| batch.schema_ref().fields().iter().any(|field| field.name() == column))
    };
    let (schema, target) = schema.omit_missing_target(target, has)?;
    Ok(scumble_arrow::read(&schema, target, batches, OutOfBounds::Clip)?)
}

/// Wraps the records of volunteers (people whose records help to learn a mechanism) with the privacy status
/// named by `are`: "public", "consented" or "private".
fn covered(volunteers: Option<Loaded>, are: Option<&str>) -> Result<Volunteers, Failed> {
    Ok(match (volunteers, are) {
        (None, None) => Volunteers::None,
        (Some(loaded), Some("public")) => Volunteers::Public(loaded.table),
        (Some(loaded), Some("consented")) => Volunteers::Consented(loaded.table),
        (Some(loaded), Some("private")) => Volunteers::Private(loaded.table),
        _ => {
            return Err(Failed::input(
                "volunteers and volunteers_are must be given together; volunteers_are must be \"public\", \
                 \"consented\" or \"private\"",
            ));
        }
    })
}

/// Options of a release.
#[derive(FromPyObject)]
pub(crate) struct How {
    #[pyo3(item)]
    strict: bool,
    #[pyo3(item)]
    values: String,
    #[pyo3(item)]
    ledger: Option<PathBuf>,
    #[pyo3(item)]
    dataset: Option<String>,
    /// New file of the release's secret key, and its passphrase.
    #[pyo3(item)]
    key: Option<(PathBuf, String)>,
    /// Division and group of the released people.
    #[pyo3(item)]
    group: Option<(String, String)>,
}

fn parse_values(values: &str) -> Result<Values, Failed> {
    let forms = "values: the value must be \"settled\", \"clamped\", \"drawn\" or \"encoded\"";
    serde_json::from_value(Value::from(values)).map_err(|_| Failed::input(forms))
}

/// Group of a ledger's charge.
pub(crate) fn group_of(group: &Option<(String, String)>) -> Result<Option<Group>, Failed> {
    group.as_ref().map(|(by, name)| Group::new(by, name).map_err(Failed::input)).transpose()
}

impl How {
    fn values(&self) -> Result<Values, Failed> {
        parse_values(&self.values)
    }

    /// Returns the ledger to charge, with the data set's name in it. Returns `None` if the options name no
    /// ledger.
    fn account(&self) -> Result<Option<(Ledger, &str)>, Failed> {
        match (&self.ledger, &self.dataset) {
            (Some(ledger), Some(dataset)) => {
                Ok(Some((Ledger::at(ledger).for_group(group_of(&self.group)?), dataset)))
            }
            (None, None) => Ok(None),
            _ => Err(Failed::input("ledger and dataset must be given together")),
        }
    }
}

impl Design {
    fn new(shipped: ShippedDesign) -> Self {
        Self { shipped, digest: OnceLock::new(), left_out: vec![] }
    }

    pub(crate) fn shipped(&self) -> &ShippedDesign {
        &self.shipped
    }

    fn digest(&self) -> Result<&str, Failed> {
        if self.digest.get().is_none() {
            let _ = self.digest.set(self.shipped.digest()?);
        }
        Ok(self.digest.get().map_or("", String::as_str))
    }

    fn target(&self) -> Result<Option<&str>, Failed> {
        Ok(self.shipped.records()?.target.as_deref())
    }

    fn what(&self) -> String {
        format!("{} to Python", self.shipped.origin())
    }

    /// Returns the card of a release by a local mechanism.
    fn card(
        &self,
        records: u64,
        guarantee: &Guarantee,
        ticket: Option<&str>,
        values: Values,
    ) -> Result<String, Failed> {
        let local = self.shipped.local()?;
        let decoder = self.shipped.decoder()?.with_values(values);
        let (columns, noise) = (local.layout().columns, decoder.noise(&local.noise()));
        self.card_of(Some(records), None, guarantee, ticket, values, &columns, &noise, &[])
    }

    #[expect(clippy::too_many_arguments, reason = "what a card says")]
    fn card_of(
        &self,
        records: Option<u64>,
        model: Option<Value>,
        guarantee: &Guarantee,
        ticket: Option<&str>,
        values: Values,
        columns: &[String],
        noise: &Noise,
        counted_tables: &[Vec<String>],
    ) -> Result<String, Failed> {
        let card = Card {
            design: &self.shipped,
            records,
            model,
            file: None,
            ticket,
            view: None,
            values,
            guarantee,
            columns,
            noise,
            counted_tables,
        };
        Ok(serde_json::to_string(&card.to_json()?)?)
    }

    /// Card of a release of `tables` and no rows.
    fn card_of_tables(
        &self,
        guarantee: &Guarantee,
        tables: &NoisyTables,
        values: Values,
    ) -> Result<String, Failed> {
        let names = |table: &NoisyTable| table.columns.iter().map(|column| column.name.clone()).collect();
        let counted: Vec<Vec<String>> = tables.tables().iter().map(names).collect();
        let noise = Noise { features: vec![], target: NoiseDistribution::Exact { width: 0 } };
        self.card_of(None, None, guarantee, None, values, &[], &noise, &counted)
    }

    /// Starts a release by a ticket, the stored secret of a release. Returns the admission of the records by
    /// the ticket, and the card of the release.
    fn admitted(
        &self,
        fingerprint: Fingerprint,
        digests: Option<&Digests>,
        ticket: &Ticket,
        id: Option<&str>,
        how: &How,
    ) -> Result<(Admitted, String), Failed> {
        let records = fingerprint.records();
        if records == 0 {
            return Err(Failed::input("the table has no records"));
        }
        let (values, account) = (how.values()?, how.account()?);
        let payer = account.as_ref().map(|(ledger, dataset)| (ledger, *dataset));
        let (file, origin) = (ticket.path(), self.what());
        let admitted = custody::admit(&self.shipped, &fingerprint, digests, file, id, payer, &origin)?;
        let name = admitted.ticket.key().name();
        let card = self.card(records, &admitted.guarantee, Some(&name), values)?;
        Ok((admitted, card))
    }

    /// Warns about ids of people that occur in several records. Only the first records of the table are
    /// searched.
    fn repeats(&self, batches: &[RecordBatch]) -> Result<Vec<String>, Failed> {
        let Some(first) = batches.first() else { return Ok(vec![]) };
        let header: Vec<String> =
            first.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
        let reader = || Ok(scumble_arrow::reader(&self.shipped, batches, OutOfBounds::Clip)?);
        custody::warnings_of_repeats(&self.shipped.records()?.schema, &header, reader)
    }

    /// Releases by a curator's mechanism. A secret key is in its file before the release is returned.
    fn release_table(
        &self,
        curator: &dyn CuratorMechanism,
        batches: Vec<RecordBatch>,
        mut randomness: Randomness,
        how: &How,
    ) -> Result<Made, Failed> {
        let key_file = match (&how.key, curator.releases().is_secret()) {
            (None, false) => None,
            (Some((file, passphrase)), true) => {
                custody::key::check_passphrase(passphrase)?;
                Some((NewFile::create(file, Existing::Keep, Readable::ByOwner)?, passphrase))
            }
            (None, true) => {
                return Err(Failed::input(
                    "this release has a secret key, which its models need: give key, a new file, and a \
                     passphrase",
                ));
            }
            (Some(_), false) => return Err(Failed::input("key: this release has no secret key; omit key")),
        };
        self.shipped.check_one_holder()?;
        let values = how.values()?;
        let people = scumble_arrow::people(&self.shipped, &batches, &mut randomness, None)?;
        let counted = people.as_ref().map(|people| people.ids().len() as u64);
        let bounds = OutOfBounds::strictly(how.strict);
        let mut reader = scumble_arrow::reader(&self.shipped, &batches, bounds)?.of_people(people);
        let input = reader.input();
        let kept = stream::Accumulated::read(curator.start(), &mut reader, go_on)?;
        let clipped = kept.clipped.clone();
        let people = counted.unwrap_or(kept.records);
        let outcome = kept.release(&mut randomness)?.of_people(curator.records_per_person());
        interrupt::check().map_err(scumble::core::Error::from)?; // before the ledger is charged
        if let Some((ledger, dataset)) = how.account()? {
            ledger.charge_release(dataset, outcome.guarantee(), self.target()?, &self.what())?;
        }
        let (mut written, mut tables) = (vec![], None);
        let schema = |decoder: &Decoder| {
            scumble_arrow::schema(decoder, batches.first().map(|batch| &**batch.schema_ref()))
        };
        let card = match outcome {
            Outcome::Model(released) => {
                let (table, decoder) = self.shipped.model_rows(&released.table)?;
                let writer = Writer::new(&mut written, scumble_arrow::schema(&decoder, None));
                stream::write(&table, &decoder, writer)?;
                let (guarantee, columns) = (&released.guarantee, released.table.columns());
                let model = Some(self.shipped.model_card(&released)?);
                self.card_of(None, model, guarantee, None, values, columns, &released.noise, &[])?
            }
            Outcome::Tables(released) => {
                let people = released.guarantee.discloses_number().then_some(people);
                let made = self.shipped.noisy_tables(&released.noisy_tables, people)?;
                let card = self.card_of_tables(&released.guarantee, &made, values)?;
                tables = Some(made);
                card
            }
            Outcome::Rows(released) => {
                let layout = stream::layout(&released.table, curator.domain());
                let decoder = self.shipped.rows_decoder(&layout, &released.noise, &input, values)?;
                stream::write(&released.table, &decoder, Writer::new(&mut written, schema(&decoder)))?;
                let (records, columns) = (Some(released.table.len() as u64), released.table.columns());
                let counted = self.shipped.counted_tables(&released.counted_tables)?;
                let (guarantee, noise) = (&released.guarantee, decoder.noise(&released.noise));
                if let Some((file, passphrase)) = key_file {
                    let saved = custody::key::save(&released.key, passphrase)?.unwrap_or_default();
                    file.finish(saved.as_bytes())?;
                }
                self.card_of(records, None, guarantee, None, values, columns, &noise, &counted)?
            }
            Outcome::Synthetic(drawing) => {
                let decoder = self.shipped.rows_decoder(drawing.layout(), &drawing.noise, &input, values)?;
                stream::write_drawn(&drawing, &decoder, Writer::new(&mut written, schema(&decoder)), go_on)?;
                if !drawing.noisy_tables.is_empty() {
                    let people = drawing.guarantee.discloses_number().then_some(drawing.records() as u64);
                    tables = match self.shipped.noisy_tables(&drawing.noisy_tables, people) {
                        Err(custody::Error::Tables(_)) => None, // no column is counted in its own unit
                        made => Some(made?),
                    };
                }
                let (records, columns) = (Some(drawing.records() as u64), &drawing.layout().columns);
                let counted = self.shipped.counted_tables(&drawing.counted_tables)?;
                let (guarantee, noise) = (&drawing.guarantee, decoder.noise(&drawing.noise));
                self.card_of(records, None, guarantee, None, values, columns, &noise, &counted)?
            }
        };
        Ok(Made { batches: written, card, clipped, tables })
    }
}

/// Lets a long reading of records be interrupted.
fn go_on(_: u64) -> records::Result<()> {
    interrupt::check().map_err(|_| records::Error::Interrupted)
}

/// Returns the rows of record batches, which all have the schema of the first.
pub(crate) fn rows(batches: &[RecordBatch]) -> Result<impl ReadRows + '_, Failed> {
    let Some(first) = batches.first() else {
        return Err(Failed::input("the table has no records"));
    };
    Ok(Rows::new(first.schema_ref(), batches.iter().cloned().map(Ok), "the table"))
}

pub(crate) fn given(py: Python, released: Result<impl Into<Made>, Failed>) -> Result<Released, Failed> {
    let Made { batches, card, clipped, tables } = released?.into();
    let clipped = clipped.into_iter().map(as_tuple).collect();
    let table = if batches.is_empty() && tables.is_some() { py.None() } else { table(py, batches)? };
    let tables = tables.map(|tables| serde_json::to_string(&tables)).transpose()?;
    Ok(Released { table, tables, card, clipped, repeats: vec![] })
}

fn as_tuple(clipped: Clipped) -> ClippedCells {
    (clipped.column, clipped.cells, clipped.lower, clipped.upper)
}

/// Returns the batches of a table. A table without batches gives one batch without rows, which still has the
/// columns.
fn batches(table: PyTable) -> Vec<RecordBatch> {
    match table.into_inner() {
        (batches, schema) if batches.is_empty() => vec![RecordBatch::new_empty(schema)],
        (batches, _) => batches,
    }
}

fn table(py: Python, batches: Vec<RecordBatch>) -> Result<Py<PyAny>, Failed> {
    let Some(schema) = batches.first().map(|batch| batch.schema()) else {
        return Err(Failed::input("the table has no records"));
    };
    Ok(Py::new(py, PyTable::try_new(batches, schema)?)?.into_any())
}

#[pymethods]
impl Design {
    /// Loads a saved design.
    #[staticmethod]
    fn from_json(text: &str) -> Result<Self, Failed> {
        Ok(Self::new(ShippedDesign::from_json(text, "the design", &Registry::installed()?)?))
    }

    /// Returns the JSON of the design, as in a file for the command.
    fn to_json(&self) -> Result<String, Failed> {
        Ok(self.shipped.to_json()?)
    }

    /// The name of the mechanism.
    #[getter]
    fn mechanism(&self) -> String {
        self.shipped.origin().plugin.clone()
    }

    /// The digest of the design, as in cards and tickets.
    #[getter(digest)]
    fn shown_digest(&self) -> Result<String, Failed> {
        Ok(self.digest()?.to_owned())
    }

    /// The columns of the records that the design takes.
    #[getter]
    fn columns(&self) -> Result<Vec<String>, Failed> {
        Ok(self.shipped.records()?.schema.columns().iter().map(|column| column.name.clone()).collect())
    }

    /// The column to learn, if any.
    #[getter(target)]
    fn shown_target(&self) -> Result<Option<String>, Failed> {
        Ok(self.target()?.map(str::to_owned))
    }

    /// Returns a release of no records by a local mechanism. It has the columns and types of a release of
    /// tables like `input`, with numbers treated as `values` says (`scumble release --values`). Without an
    /// input, the types follow the kinds of the columns in the schema.
    fn released_columns(&self, input: Option<PyTable>, values: &str) -> Result<PyTable, Failed> {
        let values = parse_values(values)?;
        let schema = match input {
            Some(input) => scumble_arrow::released_schema(&self.shipped, &input.into_inner().1, values)?,
            None => scumble_arrow::schema(&self.shipped.decoder()?.with_values(values), None),
        };
        Ok(PyTable::try_new(vec![], schema)?)
    }

    /// The columns that `scumble estimate` estimates only from a release with these values.
    #[getter]
    fn estimable_only(&self) -> Result<BTreeMap<&'static str, Vec<&str>>, Failed> {
        Ok(self.shipped.estimable_only()?)
    }

    /// True if models of a release must be used on viewed records: records mapped into the space of the
    /// release.
    #[getter]
    fn needs_view(&self) -> Result<bool, Failed> {
        Ok(self.shipped.mechanism().releases().is_viewed())
    }

    /// Warnings about the guarantee of a release of `people` records, and about texts that spreadsheets run
    /// as formulas.
    fn warnings(&self, people: Option<u64>) -> Vec<String> {
        custody::warnings(&self.shipped, people)
    }

    /// Returns the guarantee, as text for people.
    fn shown_card(&self) -> String {
        self.shipped.guarantee().to_string()
    }

    /// Returns the headings of the guarantee with their words.
    fn card_lines(&self) -> Vec<(&'static str, String)> {
        self.shipped.guarantee().card()
    }

    /// Returns the noise of released numbers without rounding, as JSON.
    fn noise(&self) -> Result<String, Failed> {
        let local = self.shipped.local()?;
        let noise = self.shipped.decoder()?.with_values(Values::Drawn).noise(&local.noise());
        let columns = local.layout().columns;
        Ok(json!({ "columns": columns, "features": noise.features, "target": noise.target }).to_string())
    }

    /// Returns population estimates from released records, as JSON: `records`, `estimates` and `problems`.
    fn estimate(&self, py: Python, table: PyTable, values: &str, confidence: f64) -> Result<String, Failed> {
        let values = parse_values(values)?;
        let (batches, schema) = table.into_inner();
        interruptible(py, || {
            let rows = Rows::new(&schema, batches.into_iter().map(Ok), "the released table");
            let made = scumble::command::estimates(&self.shipped, rows, values, confidence)
                .map_err(|problem| Failed::input(problem.to_string()))?;
            let lines: Vec<Value> = made.lines.iter().map(Line::to_json).collect();
            let records = made.records;
            Ok(json!({ "records": records, "estimates": lines, "problems": made.problems }).to_string())
        })
    }

    /// Returns the guarantee, as JSON.
    fn guarantee(&self) -> String {
        self.shipped.guarantee().to_json().to_string()
    }

    /// Releases the records of a table, with noise drawn in blocks of records.
    fn release(&self, py: Python, table: PyTable, seed: Option<u64>, how: How) -> Result<Released, Failed> {
        let mut repeats = vec![];
        let released = interruptible(py, || {
            let mut randomness = Randomness::from_seed_or_os(seed)?;
            let values = how.values()?; // an error here comes before a charge
            let (batches, _) = table.into_inner();
            repeats = self.repeats(&batches)?;
            if let Designed::Curator(curator) = self.shipped.mechanism() {
                return self.release_table(&**curator, batches, randomness, &how);
            }
            if how.key.is_some() {
                return Err(Failed::input("key: a local mechanism has no secret key; its key is the design"));
            }
            let guarantee = self.shipped.mechanism().guarantee().under(randomness.provenance());
            if let Some((ledger, dataset)) = how.account()? {
                let bounds = OutOfBounds::strictly(how.strict);
                stream::check(&mut scumble_arrow::reader(&self.shipped, &batches, bounds)?, |_| Ok(()))?;
                ledger.charge_release(dataset, &guarantee, self.target()?, &self.what())?;
            }
            let (released, clipped) = scumble_arrow::release(
                &self.shipped,
                &batches,
                &mut randomness,
                OutOfBounds::strictly(how.strict),
                values,
            )?;
            let records = released.iter().map(|batch| batch.num_rows() as u64).sum();
            Ok((released, self.card(records, &guarantee, None, values)?, clipped).into())
        });
        Ok(Released { repeats, ..given(py, released)? })
    }

    /// Releases the records of a period of a design with a horizon, as tables of all periods so far, with the
    /// state between periods in an encrypted file. Returns also the tables of the period alone, as JSON.
    #[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
    fn release_period(
        &self,
        py: Python,
        table: PyTable,
        period: usize,
        state: PathBuf,
        passphrase: &str,
        seed: Option<u64>,
        how: How,
    ) -> Result<(Released, String), Failed> {
        let mut alone = String::new();
        let released = interruptible(py, || {
            let Designed::Curator(curator) = self.shipped.mechanism() else {
                return Err(Failed::input("period: the design has no horizon"));
            };
            if curator.horizon().is_none() {
                return Err(Failed::input("period: the design has no horizon; scumble.design(…, horizon=T)"));
            }
            let (values, account) = (how.values()?, how.account()?);
            let payer = account.as_ref().map(|(ledger, dataset)| (ledger, *dataset));
            custody::key::check_passphrase(passphrase)?;
            let file = NewFile::create(&state, Existing::Replace, Readable::ByOwner)?;
            let before = PeriodState::before(&self.shipped, period, &state, passphrase)?;
            let (batches, _) = table.into_inner();
            let mut randomness = Randomness::from_seed_or_os(seed)?;
            let people = scumble_arrow::people(&self.shipped, &batches, &mut randomness, Some(&before))?;
            let bounds = OutOfBounds::strictly(how.strict);
            let mut reader =
                scumble_arrow::reader(&self.shipped, &batches, bounds)?.of_people(people.clone());
            let kept = stream::Accumulated::read(curator.start(), &mut reader, go_on)?;
            let clipped = kept.clipped.clone();
            let records = (kept.into_accumulator(), people.as_deref());
            let made = before.release(&self.shipped, records, &mut randomness, payer, &self.what())?;
            let card = self.card_of_tables(&made.guarantee, &made.totals, values);
            let kept =
                made.save_state(file, passphrase).and_then(|()| payer.map_or(Ok(()), |by| made.note(by)));
            if let (Err(error), true) = (&kept, payer.is_some()) {
                return Err(Failed::after_charge(error));
            }
            kept?;
            alone = serde_json::to_string(&made.alone)?;
            Ok(Made { batches: vec![], card: card?, clipped, tables: Some(made.totals) })
        });
        Ok((given(py, released)?, alone))
    }

    /// Releases the records of a table by a ticket. It checks the records, draws or reads the ticket, and has
    /// the ledger charge the release once. It returns the released records only if they are the checked ones.
    fn release_keyed(
        &self,
        py: Python,
        table: PyTable,
        ticket: &Ticket,
        id: Option<&str>,
        how: How,
    ) -> Result<Released, Failed> {
        // A stream gives its batches only once, so they are kept here.
        let batches = batches(table);
        let mut repeats = vec![];
        let released = interruptible(py, || {
            let bounds = OutOfBounds::strictly(how.strict);
            if id.is_none() {
                repeats = self.repeats(&batches)?;
            }
            let checked = scumble_arrow::check(&self.shipped, &batches, id, bounds)?.checked;
            let (admitted, card) = self.admitted(checked.fingerprint, None, ticket, id, &how)?;
            let (key, mut fingerprint) = (admitted.ticket.key(), Fingerprint::default());
            let (released, clipped) = scumble_arrow::release_keyed(
                &self.shipped,
                &batches,
                id,
                key,
                bounds,
                how.values()?,
                |records| records.iter().for_each(|record| fingerprint.add(record)),
            )?;
            // Other code shares this memory, and may have written to it since the check.
            if let Err(error) = admitted.ticket.check_released(&fingerprint, "the table") {
                return Err(if admitted.is_charged { Failed::after_charge(&error) } else { error.into() });
            }
            Ok((released, card, clipped))
        });
        Ok(Released { repeats, ..given(py, released)? })
    }

    /// Checks the records of a part of a table. Returns the result of the check, with the clipped cells, as
    /// JSON.
    fn check(
        &self,
        py: Python,
        table: PyTable,
        id: Option<&str>,
        strict: bool,
        hidden: bool,
    ) -> Result<String, Failed> {
        let cells = if hidden { Cells::Hidden } else { Cells::Shown };
        let batches = batches(table);
        interruptible(py, || {
            let checked = scumble_arrow::check(&self.shipped, &batches, id, OutOfBounds::strictly(strict));
            Ok(serde_json::to_string(&checked.map_err(|error| Failed::from_custody(error, cells))?)?)
        })
    }

    /// Draws or reads the ticket for a table whose parts were all checked. Writes the list of
    /// admitted records to a file beside the ticket, and charges the ledger once for the release. Returns the
    /// card of the release, as JSON, and the clipped cells.
    fn admit(
        &self,
        py: Python,
        parts: Vec<String>,
        ticket: &Ticket,
        id: Option<&str>,
        how: How,
    ) -> Result<(String, Vec<ClippedCells>), Failed> {
        interruptible(py, || {
            let mut whole = CheckedPart::default();
            for part in &parts {
                whole.merge(serde_json::from_str(part)?);
            }
            let CheckedPart { checked, digests } = whole;
            let (_, card) = self.admitted(checked.fingerprint, Some(&digests), ticket, id, &how)?;
            Ok((card, checked.clipped.into_iter().map(as_tuple).collect()))
        })
    }

    /// Releases a part of a table, with the noise that the ticket called `name` gives the ids of its records.
    /// `admit` must have admitted all of these records. Without a `name`, the ticket's name is not checked.
    #[expect(clippy::too_many_arguments, reason = "what Python passes by name")]
    fn release_part(
        &self,
        py: Python,
        records: PyTable,
        ticket: &Ticket,
        name: Option<&str>,
        id: Option<&str>,
        how: How,
        hidden: bool,
    ) -> Result<Released, Failed> {
        let cells = if hidden { Cells::Hidden } else { Cells::Shown };
        let batches = batches(records);
        let released = interruptible(py, || {
            let (ticket, admitted) = ticket.admitted(self.digest()?, name)?;
            let (values, bounds) = (how.values()?, OutOfBounds::strictly(how.strict));
            let mut digests = vec![];
            let (released, clipped) = scumble_arrow::release_keyed(
                &self.shipped,
                &batches,
                id,
                ticket.key(),
                bounds,
                values,
                |records| digests.extend_from_slice(records),
            )
            .map_err(|error| Failed::from_custody(error, cells))?;
            admitted.check(ticket.key(), &digests)?;
            Ok((released, String::new(), clipped))
        });
        given(py, released)
    }

    /// Maps records into the space of a release, without noise. No guarantee covers the result.
    fn view(
        &self,
        py: Python,
        records: PyTable,
        strict: bool,
        values: &str,
        key: Option<(PathBuf, String)>,
    ) -> Result<Released, Failed> {
        let (batches, _) = records.into_inner();
        let values = parse_values(values)?;
        if self.shipped.local().is_ok_and(|local| local.collector().is_some()) {
            return Err(Failed::input(
                "the design releases reports and needs no view: use a model of the collected records on \
                 records in the clear",
            ));
        }
        let viewed = interruptible(py, || {
            if let Some((file, passphrase)) = &key {
                let bounds = OutOfBounds::strictly(strict);
                let loaded = scumble_arrow::reader(&self.shipped, &batches, bounds)?.read_all()?;
                let viewed = custody::key::view(file, passphrase, self.shipped.mechanism(), &loaded.table)?;
                let layout = stream::layout(&viewed, self.shipped.mechanism().domain());
                let decoder = self.shipped.decoder_of(&layout)?.with_values(values);
                let mut written = vec![];
                stream::write(
                    &viewed,
                    &decoder,
                    Writer::new(&mut written, scumble_arrow::schema(&decoder, None)),
                )?;
                return Ok((written, loaded.clipped));
            }
            Ok(scumble_arrow::view(&self.shipped, &batches, OutOfBounds::strictly(strict), values)?)
        });
        given(py, viewed.map(|(batches, clipped)| (batches, String::new(), clipped)))
    }

    /// Draws records from the reports of many people.
    fn collect(
        &self,
        py: Python,
        reports: PyTable,
        records: Option<usize>,
        seed: Option<u64>,
    ) -> Result<Released, Failed> {
        let (batches, _) = reports.into_inner();
        let collected = interruptible(py, || {
            let streams = Randomness::from_seed_or_os(seed)?.streams();
            Ok(scumble_arrow::collect(&self.shipped, &batches, records, streams)?)
        });
        given(py, collected.map(|batches| (batches, String::new(), vec![])))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<(Bound<'py, PyAny>, (String,)), Failed> {
        let class: Bound<'py, PyType> = slf.get_type();
        Ok((class.getattr("from_json")?, (slf.get().to_json()?,)))
    }
}

/// Returns the headings of a guarantee, given as the JSON of a card, with their words.
#[pyfunction]
pub(crate) fn card_lines(guarantee: &str) -> Result<Vec<(&'static str, String)>, Failed> {
    let mut saved: serde_json::Map<String, Value> = serde_json::from_str(guarantee)?;
    for derived in ["epsilon", "summary", "warnings"] {
        saved.remove(derived);
    }
    let guarantee: Guarantee = serde_json::from_value(saved.into())?;
    Ok(guarantee.card())
}
