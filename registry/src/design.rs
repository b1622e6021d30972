//! Saved designs: a small envelope that is read before the mechanism in it.

use crate::sealed;
use crate::table::Places;
use crate::{
    Composed, Decoder, Error, LocalMechanism, Mechanism, Noise, Notion, OutOfBounds, ReadRows, Reader,
    RecordDomain, Registry, Result, Schema, ShapedBy, Table, Unit, Volunteers, check_delta, read_text,
};
use ndarray::Axis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt;
use std::path::Path;

/// By how much a view may differ from the record, where all that changes it are roundings.
const OF_ROUNDING: f64 = 1e-6;

/// The format that this version writes and reads.
const FORMAT: &str = "scumble-design-1";

/// More bytes than any design has.
const LONGEST: u64 = 1 << 30;

/// A mechanism with all that others need to release by it: who designed it, and the schema of the records that it takes.
/// It is what is saved and shipped.
#[derive(Debug, Clone)]
pub struct Design {
    origin: Origin,
    /// None where records come encoded.
    records: Option<Records>,
    mechanism: Box<dyn Mechanism>,
    /// Whose records were at hand when it was designed, and how many; nobody's where it was loaded.
    at_hand: AtHand,
}

/// Volunteers' records that were at hand.
#[derive(Debug, Clone, Copy, Default)]
struct AtHand {
    whose: ShapedBy,
    count: usize,
}

impl AtHand {
    fn of(volunteers: &Volunteers) -> Self {
        Self { whose: volunteers.shaped_by(), count: volunteers.table().map_or(0, Table::len) }
    }

    /// Those of designs of one brief, which are the same but where a part was shown none.
    fn of_all(parts: &[Design]) -> Self {
        let parts = || parts.iter().map(|part| part.at_hand);
        Self {
            whose: parts().map(|of| of.whose).max().unwrap_or_default(),
            count: parts().map(|of| of.count).max().unwrap_or_default(),
        }
    }
}

/// The plugin that designed a mechanism, or the plugins of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The plugin's name; [`COMPOSED`](Self::COMPOSED) for a composition made by hand.
    pub plugin: String,
    /// The plugin's version.
    pub plugin_version: String,
    /// The parts of a composition made by hand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Origin>,
}

/// What raw records look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// Their columns.
    pub schema: Schema,
    /// The column that is the target.
    pub target: Option<String>,
}

/// The plugin with its version, and those of its parts.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.plugin, self.plugin_version)?;
        let parts: Vec<String> = self.parts.iter().map(Self::to_string).collect();
        if parts.is_empty() { Ok(()) } else { write!(formatter, " of {}", parts.join(", ")) }
    }
}

impl Origin {
    /// What stands in the place of a plugin's name where a composition was made by hand.
    pub const COMPOSED: &str = "composed";

    /// # Errors
    /// [`Error::UnknownPlugin`], or the sentence about another version.
    fn check(&self, registry: &Registry) -> std::result::Result<(), String> {
        let installed = match &*self.plugin {
            Self::COMPOSED => env!("CARGO_PKG_VERSION"),
            plugin => registry.get(plugin).map_err(|error: Error| error.to_string())?.version,
        };
        if self.plugin_version != installed {
            return Err(format!(
                "{:?} {} designed it, and version {installed} is installed",
                self.plugin, self.plugin_version
            ));
        }
        self.parts.iter().try_for_each(|part| part.check(registry))
    }

    /// Whether the mechanism is of the type that the plugin makes, and its parts are of those of theirs.
    ///
    /// # Errors
    /// The sentence that says what is not.
    fn check_made(&self, mechanism: &dyn Mechanism, registry: &Registry) -> std::result::Result<(), String> {
        let mechanism: &dyn Any = mechanism;
        if self.plugin != Self::COMPOSED {
            let plugin = registry.get(&self.plugin).map_err(|error| error.to_string())?;
            return match mechanism.type_id() == (plugin.makes)() && self.parts.is_empty() {
                true => Ok(()),
                false => {
                    Err(format!("it says that {:?} designed it, which makes no such mechanism", self.plugin))
                }
            };
        }
        let parts: Option<Vec<&dyn Mechanism>> =
            mechanism.downcast_ref::<Composed>().map(|composed| composed.parts().collect());
        match parts {
            Some(parts) if parts.len() == self.parts.len() => {
                let mut parts = self.parts.iter().zip(parts);
                parts.try_for_each(|(origin, part)| origin.check_made(part, registry))
            }
            _ => Err("the parts that it says it was composed of are not those of its mechanism".into()),
        }
    }
}

impl Design {
    /// What a plugin designed.
    pub(crate) fn by_plugin(
        plugin: &str,
        version: &str,
        mechanism: Box<dyn Mechanism>,
        volunteers: &Volunteers,
    ) -> Self {
        let origin = Origin { plugin: plugin.into(), plugin_version: version.into(), parts: vec![] };
        Self { origin, records: None, mechanism, at_hand: AtHand::of(volunteers) }
    }

    /// Designs side by side, as one for records of `domain`: each takes the columns, and the target, that it was designed
    /// for.
    ///
    /// # Errors
    /// As [`Composed::over`]; [`Error::PrivateVolunteers`] for a part that could not be saved by itself, [`Error::DeltaOfVolunteers`] where the
    /// parts together cost volunteers too large a δ.
    pub fn composed(domain: RecordDomain, parts: Vec<Self>) -> Result<Self> {
        let origin = Origin {
            plugin: Origin::COMPOSED.into(),
            plugin_version: env!("CARGO_PKG_VERSION").into(),
            parts: parts.iter().map(|part| part.origin.clone()).collect(),
        };
        // Part by part: a claim of one part says nothing to the volunteers of another.
        parts.iter().try_for_each(Self::check_volunteers)?;
        let at_hand = AtHand::of_all(&parts);
        let parts = parts.into_iter().map(|part| part.mechanism).collect();
        let mechanism = Box::new(Composed::over(domain, parts)?);
        let composed = Self { origin, records: None, mechanism, at_hand };
        // And of all together: each part's δ is small, and their sum need not be.
        composed.check_volunteers()?;
        Ok(composed)
    }

    /// What designed it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &dyn Mechanism {
        &*self.mechanism
    }

    /// The mechanism, for whoever needs no more than it.
    pub fn into_mechanism(self) -> Box<dyn Mechanism> {
        self.mechanism
    }

    /// The design with what raw records look like, so that whoever holds it can release rows of a file.
    ///
    /// # Errors
    /// [`Error::Schema`] for one that is a draft, [`Error::MissingColumn`] for a target that it lacks, [`Error::Shape`] where the
    /// mechanism was designed for other records.
    pub fn for_records(mut self, schema: Schema, target: Option<&str>) -> Result<Self> {
        let records = Records { schema: schema.settled()?, target: target.map(str::to_owned) };
        records.check(self.mechanism.domain())?;
        self.records = Some(records);
        Ok(self)
    }

    /// What raw records look like.
    ///
    /// # Errors
    /// [`Error::Shape`] where the design does not say it.
    pub fn records(&self) -> Result<&Records> {
        self.records.as_ref().ok_or_else(|| {
            Error::shape("the design holds no schema, so it releases encoded records only, and no file")
        })
    }

    /// The mechanism's record-at-a-time view.
    ///
    /// # Errors
    /// [`Error::Shape`] where it is a curator's.
    pub fn local(&self) -> Result<&dyn LocalMechanism> {
        let local = self.mechanism.as_local();
        local.ok_or_else(|| Error::shape("the design is a curator's, and no record is released by itself"))
    }

    /// Whether a model of a release is to be used on [viewed](crate::Key::view) records, and not on records as they are: so it is of what a
    /// curator releases, and of what is local where `encode` and `decode` alone make other records of those in the domain.
    ///
    /// # Errors
    /// None that a user could cause.
    pub fn needs_view(&self) -> Result<bool> {
        let Some(local) = self.mechanism.as_local() else {
            return Ok(true);
        };
        let domain = self.mechanism.domain();
        let (taken, released) = (domain.layout(), local.layout());
        let places = Places::of(&released.columns).find(&taken.columns);
        let (Ok(mut places), true) = (places, released.width() == taken.width()) else {
            return Ok(true);
        };
        places.extend(taken.columns.len()..taken.width());
        for record in scattered(domain) {
            let record = domain.projected(&record)?;
            let viewed = local.decode(local.encode(&record)?)?;
            if record
                .iter()
                .zip(&places)
                .any(|(x, &at)| viewed.get(at).is_none_or(|viewed| (x - viewed).abs() > OF_ROUNDING))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What turns released records into rows of text.
    ///
    /// # Errors
    /// As [`local`](Self::local) and [`records`](Self::records).
    pub fn decoder(&self) -> Result<Decoder> {
        let records = self.records()?;
        Ok(records.schema.decoder(&self.local()?.layout(), records.target.as_deref()))
    }

    /// Reads a file that was released by this design back, for learning: the released table, where noise took values out of
    /// their bounds they stay there, and its law given the noise-free view.
    ///
    /// # Errors
    /// As [`Reader`], [`local`](Self::local) and [`records`](Self::records); [`Error::MissingColumn`] where the design
    /// releases something other than the schema's columns.
    pub fn read_released(&self, file: impl ReadRows) -> Result<(Table, Noise)> {
        let (records, local, decoder) = (self.records()?, self.local()?, self.decoder()?);
        let released: Vec<&str> = decoder.header().iter().map(String::as_str).collect();
        let schema = records.schema.columns_named(&released)?.without_missing();
        let target = records.target.as_deref().filter(|target| released.contains(target));
        let table = Reader::new(file, &schema, target, OutOfBounds::Keep)?.read_all()?.table;
        let columns = local.layout().columns;
        let places = Places::of(table.columns()).find(&columns)?;
        let values = table.records().select(Axis(1), &places);
        Ok((Table::new(columns, values, table.target().clone())?, decoder.noise(&local.noise())))
    }

    /// # Errors
    /// [`Error::PrivateVolunteers`] where people whose records are private have no claim; [`Error::DeltaOfVolunteers`] for a claim with a δ of one
    /// in their number or more.
    fn check_volunteers(&self) -> Result<()> {
        let guarantee = self.mechanism.guarantee();
        let whose = self.at_hand.whose.max(guarantee.shaped_by);
        if whose == ShapedBy::PrivateVolunteers && !guarantee.protects_volunteers() {
            return Err(Error::PrivateVolunteers { plugin: self.origin.plugin.clone() });
        }
        let theirs = guarantee.claims.iter().filter(|claim| claim.protects == Unit::Volunteer);
        let deltas = theirs.filter_map(|claim| match &claim.notion {
            Notion::CentralDp(dp) => Some(dp.delta),
            _ => None,
        });
        let count = self.at_hand.count;
        deltas.filter(|_| count > 0).try_for_each(|delta| check_delta(delta, count))
    }

    /// The envelope {format, plugin, plugin_version, schema, target, mechanism, digest} as JSON.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`] where the design would publish something about people whose records are private, and
    /// [`Error::DeltaOfVolunteers`] where it may publish one of them; [`Error::Unsaveable`] where it cannot be written.
    pub fn to_json(&self) -> Result<String> {
        self.check_volunteers()?;
        let body = self.body()?;
        sealed::check_text(&body).map_err(|problem| self.unsaveable(problem))?;
        sealed::seal(FORMAT, body).map_err(|error| self.unsaveable(error))
    }

    /// The digest in the saved design, by which a card names the design of its release.
    ///
    /// # Errors
    /// [`Error::Unsaveable`] where the design cannot be written.
    pub fn digest(&self) -> Result<String> {
        sealed::digest_of(FORMAT, self.body()?).map_err(|error| self.unsaveable(error))
    }

    fn unsaveable(&self, problem: impl fmt::Display) -> Error {
        Error::Unsaveable { plugin: self.origin.plugin.clone(), problem: problem.to_string() }
    }

    /// The envelope without its format and digest.
    fn body(&self) -> Result<Map<String, Value>> {
        let failed = |error: serde_json::Error| self.unsaveable(error);
        let mut body = object(&self.origin).map_err(failed)?;
        if let Some(records) = &self.records {
            body.extend(object(records).map_err(failed)?);
        }
        body.insert("mechanism".into(), serde_json::to_value(&self.mechanism).map_err(failed)?);
        Ok(body)
    }

    /// Reads what [`to_json`](Self::to_json) wrote, with the plugins of `registry`; `source` names it in errors. Every
    /// number is checked again, and whether any was changed by hand.
    ///
    /// # Errors
    /// [`Error::Design`] for another format, plugin or version, for a mechanism that the plugin does not make, for text that does not
    /// show ([`is_unseen`](crate::is_unseen)), for a name that stands twice in one object, for numbers that make no mechanism, and for
    /// content that is not what was saved.
    pub fn from_json(text: &str, source: &str, registry: &Registry) -> Result<Self> {
        let wrong =
            |problem: String| Error::Design { file: source.into(), problem: sealed::sentence(problem) };
        let sealed = sealed::open(text, FORMAT).map_err(wrong)?;
        sealed::check_text(&sealed.body).map_err(wrong)?;
        // The names first: a mechanism of a plugin that is not here could not even be read.
        let origin: Origin = sealed.part(&["plugin", "plugin_version", "parts"]).map_err(wrong)?;
        origin.check(registry).map_err(wrong)?;
        let mechanism: Box<dyn Mechanism> = sealed.field("mechanism").map_err(wrong)?;
        origin.check_made(&*mechanism, registry).map_err(wrong)?;
        let records: Option<Records> = match sealed.body.contains_key("schema") {
            true => Some(sealed.part(&["schema", "target"]).map_err(wrong)?),
            false => None,
        };
        if let Some(records) = &records {
            records.check(mechanism.domain()).map_err(|error| wrong(error.to_string()))?;
        }
        sealed.check_untouched().map_err(wrong)?;
        let design = Self { origin, records, mechanism, at_hand: AtHand::default() };
        design.check_volunteers().map_err(|error| wrong(error.to_string()))?;
        Ok(design)
    }

    /// Reads a saved design.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be read, [`Error::Unreadable`] where it is longer than 1 GiB, else as
    /// [`from_json`](Self::from_json).
    pub fn read(file: &Path, registry: &Registry) -> Result<Self> {
        Self::from_json(&read_text(file, LONGEST)?, &file.display().to_string(), registry)
    }
}

/// The ends of the domain, and points within its reach that lie on no plane.
fn scattered(domain: &RecordDomain) -> Vec<Vec<f64>> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    const POINTS: usize = 8;
    let within = (1..=POINTS).map(|point| {
        let coordinates = 1..=domain.flat().dim();
        coordinates.map(|at| (GOLDEN * (point * point * at) as f64).fract()).collect()
    });
    domain.flat().l2_farthest().into_iter().chain(within).collect()
}

impl Records {
    fn check(&self, domain: &RecordDomain) -> Result<()> {
        if self.schema.domain(self.target.as_deref())? == *domain {
            return Ok(());
        }
        Err(Error::shape("its schema describes other records than its mechanism takes"))
    }
}

fn object(value: &impl Serialize) -> serde_json::Result<Map<String, Value>> {
    serde_json::from_value(serde_json::to_value(value)?)
}
