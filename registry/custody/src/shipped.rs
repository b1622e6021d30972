//! Saved designs. A design is a mechanism with its parameters. Its file is a JSON envelope whose fields are
//! checked before the mechanism is built.

use crate::{Error, Result, sealed};
use ndarray::Axis;
use rand_core::RngCore;
use scumble_core::levels::{CountedLevel, CountedTable};
use scumble_core::{
    Design, Designed, Guarantee, Layout, LocalMechanism, Noise, NoiseDistribution, Origin, Places,
    Randomness, Registry, Releases, Table, local,
};
use scumble_noise::NoiseKey;
use scumble_records::{
    Column, CountedValues, Decoder, Input, OutOfBounds, People, PersonColumn, ReadRows, Reader, Records,
    Schema, Values, read_text,
};
use scumble_tables::{Level, NoisyTable, NoisyTables, TableColumn};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Format that this version writes and reads.
const FORMAT: &str = "scumble-design-3";

/// Level of missing cells in a table.
const MISSING: &str = "missing";

/// Upper bound on the size of a design file, in bytes.
const LONGEST: u64 = 1 << 30;

/// A design in the form that is saved and sent to others, with everything that they need to release their
/// records. It includes the description of raw records if the design is for the rows of a file.
#[derive(Debug, Clone)]
pub struct ShippedDesign {
    design: Design,
    /// Description of raw records. `None` if the records are already encoded.
    records: Option<Records>,
    /// Parameters of the claim for shuffled reports. `None` if the design has no such claim.
    shuffled: Option<Shuffled>,
}

/// Parameters of the claim for reports mixed by a shuffler.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shuffled {
    people: u64,
    delta: f64,
}

/// Wraps a design that releases encoded records only.
impl From<Design> for ShippedDesign {
    fn from(design: Design) -> Self {
        Self { design, records: None, shuffled: None }
    }
}

impl ShippedDesign {
    /// Adds the description of raw records to a design, so that any holder of the result can release rows of
    /// a file.
    ///
    /// # Errors
    /// [`Error::Schema`](scumble_records::Error::Schema) for a draft schema, with bounds taken from the
    /// records; [`Error::MissingColumn`](scumble_records::Error::MissingColumn) for a schema without the
    /// target; [`Error::Shape`](scumble_core::Error::Shape) for a mechanism designed for other records.
    pub fn for_records(design: Design, schema: Schema, target: Option<&str>) -> Result<Self> {
        let records = Records::new(schema, target)?;
        records.check(design.mechanism().domain())?;
        Ok(Self { design, records: Some(records), shuffled: None })
    }

    /// Adds a claim, at this `delta`, for the reports of `people` people after a shuffler mixed them. The
    /// claim belongs to the card of the design. It does not apply to the output of
    /// [`release`](scumble_core::release_local), which is not shuffled.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) for a curator's design; same errors as
    /// [`Designed::shuffled`].
    pub fn through_shuffler(self, people: u64, delta: f64) -> Result<Self> {
        self.design.local()?;
        self.mechanism().shuffled(people, delta)?;
        Ok(Self { shuffled: Some(Shuffled { people, delta }), ..self })
    }

    /// Guarantee of the design: the guarantee of its mechanism, and the claim for a shuffler if there is one.
    pub fn guarantee(&self) -> Guarantee {
        let mechanism = self.mechanism();
        let shuffled =
            self.shuffled.and_then(|Shuffled { people, delta }| mechanism.shuffled(people, delta).ok());
        shuffled.unwrap_or_else(|| mechanism.guarantee())
    }

    /// The design without the description of raw records.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Plugin and version that made the design.
    pub fn origin(&self) -> &Origin {
        self.design.origin()
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Designed {
        self.design.mechanism()
    }

    /// The mechanism as a local mechanism, which handles one record at a time.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) for a curator's mechanism.
    pub fn local(&self) -> Result<&dyn LocalMechanism> {
        Ok(self.design.local()?)
    }

    /// Checks that one party may hold the records that the design releases.
    ///
    /// # Errors
    /// [`Error::NotApplicable`](scumble_core::Error::NotApplicable) for a design of two servers.
    pub fn check_one_holder(&self) -> Result<()> {
        let reason = "the design is for two servers, to which people report by `scumble report`; for records \
                      in one place, noisy-marginals has less noise";
        match self.mechanism().shared_counts() {
            Some(_) => Err(scumble_core::Error::not_applicable(&self.origin().plugin, reason).into()),
            None => Ok(()),
        }
    }

    /// Description of raw records.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if the design has no description.
    pub fn records(&self) -> Result<&Records> {
        let lacks = "the design holds no schema, so it releases only encoded records, and no file";
        self.records.as_ref().ok_or_else(|| scumble_core::Error::shape(lacks).into())
    }

    /// Names of the schema's columns in each of the `tables` of a release, its
    /// [counted tables](scumble_core::Release::counted_tables).
    ///
    /// # Errors
    /// Same errors as [`records`](Self::records); [`Error::Shape`](scumble_core::Error::Shape) if a column
    /// does not exist.
    pub fn counted_tables(&self, tables: &[Vec<usize>]) -> Result<Vec<Vec<String>>> {
        let Records { schema, target } = self.records()?;
        let (label, features): (Vec<_>, Vec<_>) = schema
            .columns()
            .iter()
            .map(|column| &column.name)
            .partition(|name| Some(*name) == target.as_ref());
        let names: Vec<&String> = features.into_iter().chain(label).collect();
        let missing = |at| {
            scumble_core::Error::shape(format!(
                "a counted table has a column {at}, and there are {}",
                names.len()
            ))
        };
        let name = |&at: &usize| names.get(at).map(|name| (*name).clone()).ok_or_else(|| missing(at).into());
        tables.iter().map(|table| table.iter().map(name).collect()).collect()
    }

    /// The noisy `tables` of a release, in the values of the schema. `people` is the number of people, if it
    /// is public. Rows have no table of the mean of a number that is not scaled by its bounds alone.
    ///
    /// # Errors
    /// Same errors as [`counted_tables`](Self::counted_tables); [`Error::Tables`] if there is no table.
    pub fn noisy_tables(&self, tables: &[CountedTable], people: Option<u64>) -> Result<NoisyTables> {
        let Records { schema, target } = self.records()?;
        let target = target.as_deref();
        let columns: Vec<Vec<usize>> = tables.iter().map(|table| table.columns.clone()).collect();
        let level = |name: &String, level: &CountedLevel| {
            Ok(match schema.counted_values(name, target, level)? {
                CountedValues::Labels(labels) if labels.is_empty() => Level::Labels(vec![MISSING.into()]),
                CountedValues::Labels(labels) => Level::Labels(labels),
                CountedValues::End(end) => Level::End { end },
                CountedValues::Numbers(ranges) => match ranges[..] {
                    [[from, to]] => Level::Range { from, to },
                    _ => Level::Ranges(ranges),
                },
            })
        };
        let column = |(name, levels): (String, &Vec<CountedLevel>)| {
            let levels = levels.iter().map(|of| level(&name, of)).collect::<Result<_>>()?;
            Ok(TableColumn { unit: schema.counted_unit(&name, target)?, name, levels })
        };
        let named = self.counted_tables(&columns)?.into_iter().zip(tables);
        let tables = named.map(|(names, table)| {
            Ok(NoisyTable {
                columns: names.into_iter().zip(&table.levels).map(column).collect::<Result<_>>()?,
                counts: table.counts.clone(),
                deviation: table.deviation,
                share: table.share,
                repeats_groups: table.repeats_groups,
            })
        });
        // Rows have tables of all that was measured. Of a number on another scale, this is not the mean.
        let is_kept = |table: &Result<NoisyTable>| match table {
            Err(Error::Records(scumble_records::Error::Schema { .. })) => {
                self.mechanism().releases() == Releases::Tables
            }
            _ => true,
        };
        Ok(NoisyTables::new(people, tables.filter(is_kept).collect::<Result<_>>()?)?)
    }

    /// Reader of raw records.
    ///
    /// # Errors
    /// Same errors as [`records`](Self::records) and [`Reader::new`].
    pub fn reader<'r>(&self, rows: impl ReadRows + 'r, out_of_bounds: OutOfBounds) -> Result<Reader<'r>> {
        let Records { schema, target } = self.records()?;
        Ok(Reader::new(rows, schema, target.as_deref(), out_of_bounds)?)
    }

    /// Column of people's ids, with the number of a person's records that the mechanism uses. `None` if each
    /// record is a person's only one.
    ///
    /// # Errors
    /// Same errors as [`records`](Self::records).
    pub fn person(&self) -> Result<Option<PersonColumn>> {
        let column = self.records()?.schema.person().cloned();
        let used = self.mechanism().records_per_person();
        Ok(column.zip(used).map(|(column, used)| PersonColumn { records_per_person: used, ..column }))
    }

    /// Chooses the records in `rows` that count, if the schema has a column of people's ids. `rows` are read
    /// to the end, and the release reads them again, with [`Reader::of_people`]. `is_admitted` and
    /// `on_progress` are those of [`People::choose`].
    ///
    /// # Errors
    /// Same errors as [`reader`](Self::reader) and [`People::choose`].
    pub fn people(
        &self,
        rows: impl ReadRows,
        randomness: &mut Randomness,
        is_admitted: impl Fn(&[u8; 16]) -> bool,
        on_progress: impl FnMut(u64) -> scumble_records::Result<()> + Send,
    ) -> Result<Option<Arc<People>>> {
        let Some(column) = self.person()? else { return Ok(None) };
        let mut key = [0; 32];
        randomness.streams().stream(0).fill_bytes(&mut key);
        let reader = self.reader(rows, OutOfBounds::Keep)?;
        Ok(Some(Arc::new(People::choose(
            reader,
            &column,
            &NoiseKey::from_bytes(key),
            is_admitted,
            on_progress,
        )?)))
    }

    /// Decoder from released records to rows of a file.
    ///
    /// # Errors
    /// Same errors as [`local`](Self::local) and [`records`](Self::records).
    pub fn decoder(&self) -> Result<Decoder> {
        let records = self.records()?;
        let decoder = records.schema.decoder(&self.local()?.layout(), records.target.as_deref());
        Ok(decoder.with_design_digest(self.digest()?))
    }

    /// Decoder for the release of the records of `reader`. Columns that the mechanism leaves unchanged are
    /// written as in the input.
    ///
    /// # Errors
    /// Same errors as [`decoder`](Self::decoder), and any error of the mechanism.
    pub fn release_decoder(&self, reader: &Reader, values: Values) -> Result<Decoder> {
        let unchanged = local::kept_in_release(self.local()?)?;
        let decoder = self.decoder()?.with_values(values);
        Ok(decoder.with_input(&reader.input(), &unchanged, &unchanged))
    }

    /// Decoder for the noise-free view of the records of `reader`: the output of the mechanism without its
    /// noise, with numbers in the form `values`.
    ///
    /// # Errors
    /// Same errors as [`release_decoder`](Self::release_decoder).
    pub fn view_decoder(&self, reader: &Reader, values: Values) -> Result<Decoder> {
        let unchanged = local::kept_in_view(self.local()?)?;
        let decoder = self.decoder()?.with_values(values);
        Ok(decoder.with_input(&reader.input(), &unchanged, &unchanged))
    }

    /// Decoder for the rows that a curator released, with the columns of `layout`, and with numbers in the
    /// form `values`. Real numbers that have no noise, according to `noise`, are written as in `input`.
    ///
    /// # Errors
    /// Same errors as [`records`](Self::records).
    pub fn rows_decoder(
        &self,
        layout: &Layout,
        noise: &Noise,
        input: &Input,
        values: Values,
    ) -> Result<Decoder> {
        let exact = noise.exact(&self.mechanism().domain().layout(), layout);
        Ok(self.decoder_of(layout)?.with_values(values).with_input(input, &[], &exact))
    }

    /// Decoder for records with the columns of `layout`: a curator's rows, or synthetic records estimated
    /// from many people's reports.
    ///
    /// # Errors
    /// Same errors as [`records`](Self::records).
    pub fn decoder_of(&self, layout: &Layout) -> Result<Decoder> {
        let records = self.records()?;
        let decoder = records.schema.decoder(layout, records.target.as_deref());
        Ok(decoder.with_values_in(self.mechanism().releases().values_in()).with_design_digest(self.digest()?))
    }

    /// Refuses a release of another design. `found` is the digest that a file, a table or a card carries.
    /// `source` names that file, table or card in the error.
    ///
    /// # Errors
    /// [`Error::OtherDesign`] if the digests differ.
    pub fn check_released(&self, found: &str, source: &str) -> Result<()> {
        let own = self.digest()?;
        match found == own {
            true => Ok(()),
            false => Err(Error::OtherDesign { origin: source.into(), found: found.into(), own }),
        }
    }

    /// Reads a file released by this design, to train a model on it. Returns the released table, with numbers
    /// in the form `values`, and the distribution of its noise given the noise-free view (the output of the
    /// mechanism without its noise).
    ///
    /// # Errors
    /// Same errors as [`Reader::new`], [`Reader::read_all`], [`local`](Self::local) and
    /// [`records`](Self::records); [`Error::MissingColumn`](scumble_records::Error::MissingColumn) if the
    /// design releases something other than the schema's columns.
    pub fn read_released(&self, file: impl ReadRows, values: Values) -> Result<(Table, Noise)> {
        let (records, local) = (self.records()?, self.local()?);
        let decoder = self.decoder()?.with_values(values);
        let released: Vec<&str> = decoder.header().iter().map(String::as_str).collect();
        let target = records.target.as_deref().filter(|target| released.contains(target));
        let schema = match values {
            Values::Encoded => {
                let coordinates = local.layout().columns.into_iter().map(|name| Column::coordinate(&name));
                let target = records.schema.columns().iter().filter(|own| Some(own.name.as_str()) == target);
                Schema::from_columns(coordinates.chain(target.cloned()).collect())?
            }
            _ => records.schema.columns_named(&released)?.without_missing(),
        };
        let table = Reader::new(file, &schema, target, OutOfBounds::Keep)?.read_all()?.table;
        let columns = local.layout().columns;
        let places = Places::new(table.columns()).find(&columns)?;
        let values = table.records().select(Axis(1), &places);
        Ok((Table::new(columns, values, table.target().clone())?, decoder.noise(&local.noise())))
    }

    /// Schema columns whose mean or frequencies can be estimated from a released file with numbers in the
    /// form `values`. The mechanism [changes these columns only by noise](local::keeps_values), and the noise
    /// has a known distribution.
    ///
    /// # Errors
    /// Same errors as [`local`](Self::local) and [`records`](Self::records); any error of the mechanism on a
    /// record of its own domain.
    pub fn estimable_columns(&self, values: Values) -> Result<Vec<&str>> {
        let (Records { schema, target }, local) = (self.records()?, self.local()?);
        let noise = self.decoder()?.with_values(values).noise(&local.noise());
        let mean_flags = |block: &NoiseDistribution| vec![block.tells_mean(); block.width()];
        let has_mean = noise.features.iter().chain([&noise.target]).flat_map(mean_flags);
        let has_mean = local::keeps_values(local)?
            .into_iter()
            .zip(has_mean)
            .map(|(is_kept, has_mean)| is_kept && has_mean);
        let (layout, has_mean) = (local.layout(), has_mean.collect::<Vec<_>>());
        let places = Places::new(&layout.columns);
        let mut estimable = vec![];
        for name in schema.columns().iter().map(|column| column.name.as_str()) {
            let coordinates = match target.as_deref() == Some(name) {
                true => Some((layout.columns.len()..layout.width()).collect::<Vec<_>>()),
                false => schema.part(&[name], None)?.columns().iter().map(|name| places.get(name)).collect(),
            };
            if coordinates
                .is_some_and(|own| !own.is_empty() && own.iter().all(|at| has_mean.get(*at) == Some(&true)))
            {
                estimable.push(name);
            }
        }
        Ok(estimable)
    }

    /// Columns whose mean or frequencies can be [estimated](Self::estimable_columns) only from a release in
    /// another form than the default, by the name of this form: numbers as [drawn](Values::Drawn), or
    /// [encoded](Values::Encoded) units. Empty for a curator's design, or for a design without a schema.
    ///
    /// # Errors
    /// Any error of the mechanism on a record of its own domain.
    pub fn estimable_only(&self) -> Result<BTreeMap<&'static str, Vec<&str>>> {
        let mut only = BTreeMap::new();
        if self.records.is_none() || matches!(self.mechanism(), Designed::Curator(_)) {
            return Ok(only);
        }
        let mut seen = self.estimable_columns(Values::Settled)?;
        for (name, values) in [("drawn", Values::Drawn), ("encoded", Values::Encoded)] {
            let mut own = self.estimable_columns(values)?;
            own.retain(|column| !seen.contains(column));
            seen.extend(&own);
            if !own.is_empty() {
                only.insert(name, own);
            }
        }
        Ok(only)
    }

    /// Serializes the envelope {format, plugin, plugin_version, schema, target, shuffled, state, digest} as
    /// JSON.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`](scumble_core::Error::PrivateVolunteers) if the design would publish
    /// information about volunteers (people whose records shape the design) whose records are private;
    /// [`Error::DeltaOfVolunteers`](scumble_core::Error::DeltaOfVolunteers) if its δ for the volunteers
    /// permits publishing one of their records; [`Error::Unsaveable`] if the design cannot be written.
    pub fn to_json(&self) -> Result<String> {
        self.design.check_volunteers()?;
        let body = self.body()?;
        sealed::check_text(&body).map_err(|problem| self.unsaveable(problem))?;
        sealed::seal(FORMAT, body).map_err(|error| self.unsaveable(error))
    }

    /// Digest of the saved design, by which a card names the design of its release.
    ///
    /// # Errors
    /// [`Error::Unsaveable`] if the design cannot be written.
    pub fn digest(&self) -> Result<String> {
        sealed::digest_of(FORMAT, self.body()?).map_err(|error| self.unsaveable(error))
    }

    fn unsaveable(&self, problem: impl fmt::Display) -> Error {
        Error::Unsaveable { plugin: self.origin().plugin.clone(), problem: problem.to_string() }
    }

    /// Envelope without format and digest.
    fn body(&self) -> Result<Map<String, Value>> {
        let failed = |error: serde_json::Error| self.unsaveable(error);
        let mut body = object(self.origin()).map_err(failed)?;
        if let Some(records) = &self.records {
            body.extend(object(records).map_err(failed)?);
        }
        if let Some(shuffled) = &self.shuffled {
            body.insert("shuffled".into(), serde_json::to_value(shuffled).map_err(failed)?);
        }
        body.insert("state".into(), self.design.state().clone());
        Ok(body)
    }

    /// Loads the output of [`to_json`](Self::to_json), with the plugins of `registry`. `source` names the
    /// text in errors. Every number is checked again, and so is the digest.
    ///
    /// # Errors
    /// [`Error::Design`] in these cases:
    ///
    /// - the text has another format, or the plugin or its version is not installed;
    /// - the plugin does not make this mechanism, or the numbers do not form a mechanism;
    /// - some text is invisible ([`is_unseen`](scumble_core::is_unseen));
    /// - a name occurs twice in one object;
    /// - the content differs from the saved content.
    pub fn from_json(text: &str, source: &str, registry: &Registry) -> Result<Self> {
        let wrong =
            |problem: String| Error::Design { file: source.into(), problem: sealed::sentence(problem) };
        let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
        sealed::check_text(&sealed.body).map_err(wrong)?;
        // The plugin is checked first, because the mechanism of an unknown plugin cannot be parsed.
        let origin: Origin = sealed.part(&["plugin", "plugin_version", "parts"]).map_err(wrong)?;
        registry.check(&origin).map_err(wrong)?;
        let state: Value = sealed.field("state").map_err(wrong)?;
        let records: Option<Records> = match sealed.body.contains_key("schema") {
            true => Some(sealed.part(&["schema", "target"]).map_err(wrong)?),
            false => None,
        };
        let design = registry.build(origin, state).map_err(|error| wrong(error.to_string()))?;
        if let Some(records) = &records {
            records.check(design.mechanism().domain()).map_err(|error| wrong(error.to_string()))?;
        }
        let shuffled: Option<Shuffled> = match sealed.body.contains_key("shuffled") {
            true => Some(sealed.field("shuffled").map_err(wrong)?),
            false => None,
        };
        sealed.check_untouched().map_err(wrong)?;
        let read = Self { design, records, shuffled: None };
        match shuffled {
            Some(Shuffled { people, delta }) => {
                read.through_shuffler(people, delta).map_err(|error| wrong(error.to_string()))
            }
            None => Ok(read),
        }
    }

    /// Reads a saved design from a file.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read; [`Error::Unreadable`](scumble_records::Error::Unreadable) if
    /// it is longer than 1 GiB; same errors as [`from_json`](Self::from_json).
    pub fn read(file: &Path, registry: &Registry) -> Result<Self> {
        Self::from_json(&read_text(file, LONGEST)?, &file.display().to_string(), registry)
    }
}

fn object(value: &impl Serialize) -> serde_json::Result<Map<String, Value>> {
    serde_json::from_value(serde_json::to_value(value)?)
}
