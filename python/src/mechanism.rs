//! Mechanisms that are defined in Python.
//!
//! A class becomes a plugin whose functions call it. The native code keeps what a guarantee depends on:
//! records are projected into the domain, points into the declared range, and random numbers come from the
//! release's own streams. Blocks of records pass as bytes of 64-bit floats, by row.

use crate::errors::Failed;
use crate::random::Random;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use scumble::core::{
    ASSUMED, Accumulator, Brief, Budget, CentralDp, Claim, CuratorMechanism, DescribedNoise, Descriptor,
    Designed, Distance, Domain, Error, Example, Factor, Guarantee, Layout, LocalMechanism, Noise,
    NoiseDistribution, Notion, Output, Perturbation, Plugin, RecordDomain, Registry, Release, Releases,
    Result, Side, Stream, Unit, ValuesIn, check_width, collected, in_clear, schemars,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Class of a mechanism, with what its plugin says of it.
struct Definition {
    class: Py<PyAny>,
    name: &'static str,
    /// Place of the class, for the card.
    place: String,
    /// Names of the parameters.
    parameters: Vec<String>,
}

/// Facts of a class that are known without a design.
#[derive(Deserialize)]
struct Class {
    name: String,
    summary: String,
    source: String,
    version: String,
    place: String,
    is_local: bool,
    alters: bool,
    example: String,
    parameters: Value,
}

/// Plugins that were made of classes, by the name and address of the class. A plugin is never freed.
static MADE: Mutex<Option<HashMap<(String, usize), Plugin>>> = Mutex::new(None);

/// Plugin of a class, which native code calls by its description `facts` (JSON).
pub(crate) fn plugin_of(class: &Bound<PyAny>) -> std::result::Result<Plugin, Failed> {
    let facts: Class = serde_json::from_str(&class.call_method0("_class_facts")?.extract::<String>()?)?;
    let key = (facts.name.clone(), class.as_ptr() as usize);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_default();
    // The class of a plugin lives on, so no other class has its address.
    if let Some(plugin) = made.get(&key) {
        return Ok(*plugin);
    }
    let plugin = facts.plugin(class.clone().unbind());
    made.insert(key, plugin);
    Ok(plugin)
}

/// Registers a class, so that its mechanism is found by name.
#[pyfunction]
pub(crate) fn register(class: &Bound<PyAny>) -> std::result::Result<(), Failed> {
    Ok(Registry::register(plugin_of(class)?)?)
}

/// Checks that the mechanism of a class conforms to the rules of all mechanisms. Returns a sentence for each
/// broken rule.
#[pyfunction]
pub(crate) fn conformance(py: Python, class: &Bound<PyAny>) -> std::result::Result<Vec<String>, Failed> {
    let plugin = plugin_of(class)?;
    crate::interrupt::interruptible(py, move || {
        let checked = scumble_testing::conformance::check(&plugin);
        Ok(checked.err().map(|failures| failures.sentences().to_vec()).unwrap_or_default())
    })
}

impl Class {
    fn plugin(self, class: Py<PyAny>) -> Plugin {
        let name: &'static str = self.name.leak();
        let names =
            self.parameters["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect();
        let definition: &'static Definition =
            Box::leak(Box::new(Definition { class, name, place: self.place, parameters: names }));
        let output = match (self.is_local, self.alters) {
            (true, false) => Output::Records,
            (true, true) => Output::View,
            (false, _) => Output::Synthetic,
        };
        let side = if self.is_local { Side::Local } else { Side::Curator };
        let (parameters, example) = (self.parameters, self.example);
        Plugin {
            name,
            summary: self.summary.leak(),
            paper: self.source.leak(),
            version: self.version.leak(),
            descriptor: Descriptor::new(output).run_by(side),
            parameters: Box::leak(Box::new(move || {
                schemars::Schema::try_from(parameters.clone()).unwrap_or_default()
            })),
            learn: Box::leak(Box::new(|parameters, brief: &Brief| definition.learn(parameters, brief))),
            build: Box::leak(Box::new(|state: &Value| definition.build(state))),
            example: Box::leak(Box::new(move || match &*example {
                "mixed" => Example::mixed(),
                "numbers" => Example::numbers(),
                _ => Example::numbers()?.without_target(),
            })),
        }
    }
}

/// State of a design.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    budget: Budget,
    parameters: Value,
}

/// Facts of a designed mechanism. That of a curator states claims and assumptions alone.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Facts {
    claims: Vec<Claim>,
    assumes: Vec<String>,
    /// Bounds of each coordinate of the range; `None` for the domain's own.
    range: Option<Vec<(f64, f64)>>,
    /// Names of the released columns; `None` for the domain's own.
    columns: Option<Vec<String>>,
    noise: Option<Vec<NoiseDistribution>>,
    described: Vec<Described>,
    encodes: bool,
    perturbs: bool,
    decodes: bool,
    has_likelihood: bool,
}

/// Noise that an audit compares with what the mechanism draws.
#[derive(Deserialize)]
struct Described {
    coordinates: Range<usize>,
    distance: String,
    scales: Vec<f64>,
    sensitivity: f64,
    variances: Vec<f64>,
    kurtosis: f64,
    steps: Vec<f64>,
}

impl Definition {
    fn learn(&self, parameters: Value, brief: &Brief) -> Result<Value> {
        let given = parameters.as_object().into_iter().flat_map(Map::keys);
        if let Some(unknown) = given.into_iter().find(|name| !self.parameters.contains(name)) {
            return Err(Error::parameter(self.name, format!("there is no parameter {unknown:?}")));
        }
        let state = State { domain: brief.domain.clone(), budget: brief.budget, parameters };
        serde_json::to_value(state).map_err(Error::state)
    }

    fn build(&'static self, state: &Value) -> Result<Designed> {
        let state: State = Error::read_state(state)?;
        let made = Made::new(self, state)?;
        let is_local = Python::attach(|py| {
            made.object.getattr(py, "_is_local").and_then(|is_local| is_local.extract::<bool>(py))
        });
        match is_local.map_err(|error| self.failed(&error))? {
            true => Ok(Designed::local(Local::new(made)?)),
            false => Ok(Designed::curator(Curator::new(made)?)),
        }
    }

    /// Error for an exception of the class.
    fn failed(&self, exception: &PyErr) -> Error {
        Python::attach(|py| {
            let text = exception.value(py).to_string();
            match exception.get_type(py).name().is_ok_and(|name| name == "NotApplicable") {
                true => Error::not_applicable(self.name, text),
                false => Error::parameter(self.name, text),
            }
        })
    }
}

/// Largest difference, relative to values above 1, between a record's results alone and in a block.
const ROUNDING: f64 = 1e-9;

/// Designed mechanism: an object of the class, with the facts of its design.
#[derive(Debug)]
struct Made {
    definition: &'static Definition,
    object: Py<PyAny>,
    domain: RecordDomain,
    guarantee: Guarantee,
}

impl std::fmt::Debug for Definition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Definition").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Made {
    fn new(definition: &'static Definition, state: State) -> Result<Self> {
        let State { domain, budget, parameters } = state;
        let said = json!({
            "columns": domain.columns(),
            "factors": domain.flat().factors().map(|(at, factor)| json!({
                "start": at.start,
                "stop": at.end,
                "kind": factor_name(factor),
                "bounds": bounds_of(factor),
                "radius": factor.largest_magnitude(),
            })).collect::<Vec<_>>(),
            "features": domain.features().dim(),
            "epsilon": scumble::core::number::to_json(budget.epsilon()),
            "delta": budget.delta(),
            "parameters": parameters,
        });
        let object = Python::attach(|py| definition.class.call_method1(py, "_designed", (said.to_string(),)))
            .map_err(|error| definition.failed(&error))?;
        Ok(Self { definition, object, domain, guarantee: Guarantee::default() })
    }

    /// Facts that the object states in JSON.
    fn facts(&self) -> Result<Facts> {
        let text = Python::attach(|py| {
            self.object.call_method0(py, "_design_facts").and_then(|text| text.extract::<String>(py))
        });
        let text = text.map_err(|error| self.definition.failed(&error))?;
        serde_json::from_str(&text).map_err(|problem| Error::parameter(self.definition.name, problem))
    }

    /// Assumption that names the code.
    fn assumed(&self) -> String {
        format!(
            "the code of {}, defined in Python by {}, draws all its randomness from the numbers that it gets",
            self.definition.name, self.definition.place
        )
    }

    /// Passes `rows` rows of values to a method of the object, and returns its result of `width` values a
    /// row. The result for the last row must not depend on the other rows, because a person sees no other
    /// record.
    fn call_each(
        &self,
        method: &str,
        rows: usize,
        width: usize,
        values: &[f64],
        random: Option<Random>,
    ) -> Result<Vec<f64>> {
        let random_of_last = random.as_ref().map(Random::of_last);
        let made = self.call(method, rows, values, random)?;
        if made.len() != rows * width {
            let problem = format!(
                "{method} returned {} values for {rows} records, and {width} for each are needed",
                made.len()
            );
            return Err(Error::parameter(self.definition.name, problem));
        }
        if rows > 1 {
            let last = &values[values.len() / rows * (rows - 1)..];
            let alone = self.call(method, 1, last, random_of_last)?;
            let is_near = |(one, other): (&f64, &f64)| (one - other).abs() <= ROUNDING * one.abs().max(1.0);
            if alone.len() != width || !alone.iter().zip(&made[width * (rows - 1)..]).all(is_near) {
                let problem = format!(
                    "{method} gives a record alone another result than among other records; a local \
                     mechanism must treat each record alone"
                );
                return Err(Error::parameter(self.definition.name, problem));
            }
        }
        Ok(made)
    }

    /// Passes `rows` rows of values to a method of the object, and returns the values of its result.
    fn call(&self, method: &str, rows: usize, values: &[f64], random: Option<Random>) -> Result<Vec<f64>> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let result = Python::attach(|py| {
            let arguments = (method, rows, PyBytes::new(py, &bytes), random);
            let result = self.object.call_method1(py, "_call", arguments)?;
            let result = result.bind(py).cast::<PyBytes>()?;
            let (chunks, _) = result.as_bytes().as_chunks::<8>();
            Ok::<_, PyErr>(chunks.iter().map(|chunk| f64::from_ne_bytes(*chunk)).collect())
        });
        result.map_err(|error| self.definition.failed(&error))
    }
}

/// Bounds of a number.
fn bounds_of(factor: &Factor) -> Option<(f64, f64)> {
    match factor {
        Factor::Interval { lower, upper } => Some((*lower, *upper)),
        _ => None,
    }
}

fn factor_name(factor: &Factor) -> &'static str {
    match factor {
        Factor::Interval { .. } => "interval",
        Factor::OneHot { .. } => "one-hot",
        Factor::L1Ball { .. } => "l1-ball",
        Factor::L2Ball { .. } => "l2-ball",
        _ => "polytope",
    }
}

/// Mechanism of a subclass of `LocalMechanism`.
#[derive(Debug)]
struct Local {
    made: Made,
    range: Domain,
    layout: Layout,
    noise: Noise,
    perturbation: Vec<Perturbation>,
    encodes: bool,
    perturbs: bool,
    decodes: bool,
    has_likelihood: bool,
}

impl Local {
    fn new(mut made: Made) -> Result<Self> {
        let facts = made.facts()?;
        let name = made.definition.name;
        let own = made.domain.layout();
        let range = match facts.range {
            None => made.domain.flat().clone(),
            Some(bounds) => Domain::product(
                bounds
                    .into_iter()
                    .map(|(lower, upper)| Domain::interval(lower, upper))
                    .collect::<Result<Vec<_>>>()?,
            )?,
        };
        let layout = Layout { columns: facts.columns.unwrap_or_else(|| own.columns.clone()), ..own };
        let noise = match facts.noise {
            None => Noise::unknown(&layout),
            Some(blocks) => noise(blocks, &layout).map_err(|problem| Error::parameter(name, problem))?,
        };
        let perturbation = facts.described.into_iter().map(Described::perturbation);
        let perturbation = perturbation.collect::<std::result::Result<_, _>>();
        let perturbation = perturbation.map_err(|problem| Error::parameter(name, problem))?;
        made.guarantee = guarantee(&made, facts.claims, facts.assumes);
        let Facts { encodes, perturbs, decodes, has_likelihood, .. } = facts;
        Ok(Self { made, range, layout, noise, perturbation, encodes, perturbs, decodes, has_likelihood })
    }

    /// Points of the range for flat records.
    fn encode_each(&self, records: &[f64]) -> Result<Vec<f64>> {
        let domain = &self.made.domain;
        let width = domain.flat().dim().max(1);
        let mut projected = Vec::with_capacity(records.len());
        for record in records.chunks(width) {
            projected.extend(domain.projected(record)?);
        }
        if !self.encodes {
            return Ok(projected);
        }
        let rows = projected.len() / width;
        let mut points = self.made.call_each("encode", rows, self.range.dim(), &projected, None)?;
        points.chunks_mut(self.range.dim().max(1)).try_for_each(|point| self.range.project(point))?;
        Ok(points)
    }

    fn perturb_flat(&self, points: &[f64], stream: &mut Stream) -> Result<Vec<f64>> {
        let width = self.range.dim().max(1);
        let rows = points.len() / width;
        check_width(rows * width, points.len())?;
        if !self.perturbs {
            return Ok(points.to_vec());
        }
        let random = Random::for_records(rows, stream);
        self.made.call_each("perturb", rows, width, points, Some(random))
    }

    fn decode_flat(&self, points: Vec<f64>) -> Result<Vec<f64>> {
        if !self.decodes {
            return Ok(points);
        }
        let rows = points.len() / self.range.dim().max(1);
        self.made.call_each("decode", rows, self.layout.width(), &points, None)
    }
}

/// Noise of a release of this `layout` in blocks, which describe the features and then the target. The target
/// is released in the clear if no block is left for it.
fn noise(blocks: Vec<NoiseDistribution>, layout: &Layout) -> std::result::Result<Noise, String> {
    let (columns, target) = (layout.columns.len(), layout.target.width());
    let (mut features, mut rest, mut at) = (vec![], vec![], 0);
    for block in blocks {
        let own = columns.saturating_sub(at).min(block.width());
        at += block.width();
        match own {
            0 => rest.push(block),
            own if own == block.width() => features.push(block),
            own => {
                features.push(block.part(0..own));
                rest.push(block.part(own..block.width()));
            }
        }
    }
    if rest.is_empty() {
        rest.push(NoiseDistribution::Exact { width: target });
    }
    let described: usize = features.iter().map(NoiseDistribution::width).sum();
    match (&rest[..], described == columns) {
        ([own], true) if own.width() == target => Ok(Noise { features, target: own.clone() }),
        _ => Err(format!(
            "noise() must describe {columns} released features, and then {target} coordinates of the \
             target in one block"
        )),
    }
}

/// Guarantee of a mechanism that each person runs. No claim is a guarantee of nothing.
fn guarantee(made: &Made, mut claims: Vec<Claim>, assumes: Vec<String>) -> Guarantee {
    let domain = &made.domain;
    for claim in claims.iter_mut().filter(|claim| claim.protects == Unit::Features) {
        claim.protects = Unit::for_features(domain);
    }
    if claims.is_empty() {
        return Guarantee::nothing(domain);
    }
    let protects = |unit: Unit| claims.iter().any(|claim| claim.protects.covers(unit));
    let discloses = match (protects(Unit::Features), protects(Unit::Label)) {
        (true, true) => vec![],
        (true, false) => in_clear(domain, Unit::Label),
        (false, true) => in_clear(domain, Unit::Features),
        (false, false) => in_clear(domain, Unit::Record),
    };
    let assumes = ASSUMED.map(str::to_owned).into_iter().chain([made.assumed()]).chain(assumes).collect();
    Guarantee { claims, discloses, assumes, ..Guarantee::default() }
}

impl Described {
    fn perturbation(self) -> std::result::Result<Perturbation, String> {
        let Self { coordinates, distance, scales, sensitivity, variances, kurtosis, steps } = self;
        let distance = match &*distance {
            "l1" => Distance::L1,
            "l2" => Distance::L2,
            "root" => Distance::Root,
            other => return Err(format!("distance: {other:?} is not \"l1\", \"l2\" or \"root\"")),
        };
        Ok(Perturbation::Additive(DescribedNoise {
            coordinates,
            distance,
            scales,
            sensitivity,
            variances,
            kurtosis,
            steps,
        }))
    }
}

impl LocalMechanism for Local {
    fn domain(&self) -> &RecordDomain {
        &self.made.domain
    }

    fn guarantee(&self) -> Guarantee {
        self.made.guarantee.clone()
    }

    fn range(&self) -> Domain {
        self.range.clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        self.encode_each(record)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        check_width(self.range.dim(), point.len())?;
        point.copy_from_slice(&self.perturb_flat(point, stream)?);
        Ok(())
    }

    fn perturb_each(&self, points: &mut [Vec<f64>], stream: &mut Stream) -> Result<()> {
        let perturbed = self.perturb_flat(&points.concat(), stream)?;
        let rows = perturbed.chunks(self.range.dim().max(1));
        points.iter_mut().zip(rows).for_each(|(point, row)| point.copy_from_slice(row));
        Ok(())
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        check_width(self.range.dim(), point.len())?;
        self.decode_flat(point)
    }

    fn release_records(&self, records: &[f64], stream: &mut Stream) -> Result<Vec<f64>> {
        let points = self.encode_each(records)?;
        self.decode_flat(self.perturb_flat(&points, stream)?)
    }

    fn layout(&self) -> Layout {
        self.layout.clone()
    }

    fn noise(&self) -> Noise {
        self.noise.clone()
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        if !self.has_likelihood {
            return None;
        }
        let both = [point, released].concat();
        self.made.call("log_likelihood", 2, &both, None).ok()?.first().copied()
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        self.perturbation.clone()
    }

    fn releases(&self) -> Releases {
        match self.encodes || self.decodes {
            false => Releases::Records,
            true => Releases::View { secret: false, aligned: true, target: self.layout.target },
        }
    }
}

/// Mechanism of a subclass of `CuratorMechanism`.
#[derive(Debug)]
struct Curator(Made);

impl Curator {
    fn new(mut made: Made) -> Result<Self> {
        let Facts { claims, assumes, .. } = made.facts()?;
        let central = claims.into_iter().map(|claim| match claim.notion {
            Notion::CentralDp(dp) => Ok((dp, claim.theorem)),
            _ => Err(Error::parameter(made.definition.name, "a curator's claim must be central DP")),
        });
        let central: Vec<(CentralDp, String)> = central.collect::<Result<_>>()?;
        made.guarantee = match central.first() {
            None => Guarantee::nothing(&made.domain),
            Some((dp, _)) => {
                let mut guarantee = Guarantee::for_curator(dp.neighbours, central);
                guarantee.assumes.push(made.assumed());
                guarantee.assumes.extend(assumes);
                guarantee
            }
        };
        Ok(Self(made))
    }
}

impl CuratorMechanism for Curator {
    fn domain(&self) -> &RecordDomain {
        &self.0.domain
    }

    fn guarantee(&self) -> Guarantee {
        self.0.guarantee.clone()
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Units }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        let Self(made) = self;
        collected(&made.domain, |table, randomness| {
            let layout = made.domain.layout();
            let mut records = layout.flat(table, 0..table.len());
            records
                .chunks_mut(layout.width().max(1))
                .try_for_each(|record| made.domain.flat().project(record))?;
            let random = Random::for_records(1, &mut randomness.streams().stream(0));
            let rows = made.call("release", table.len(), &records, Some(random))?;
            let guarantee = made.guarantee.clone().under(randomness.provenance());
            Ok(Release::without_records(layout.table_of(rows)?, guarantee, &made.domain))
        })
    }
}
