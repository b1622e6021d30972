//! Plugins. A plugin describes one mechanism and contains the functions that make it. Programs find
//! mechanisms through plugins: to list, describe and compare them, to run the conformance suite (tests for
//! every plugin), and to audit claims by attacks.

use crate::{
    Brief, Budget, Descriptor, Design, Designed, Domain, Error, RecordDomain, Result, Table, Target,
    TargetDomain, Volunteers, nearest_name,
};
use ndarray::Array2;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Function of a plugin that learns a state. A plugin lives as long as the process, and so do its functions.
type Learn = &'static (dyn Fn(Value, &Brief) -> Result<Value> + Sync);
/// Function of a plugin that builds a mechanism.
type Build = &'static (dyn Fn(&Value) -> Result<Designed> + Sync);

/// Plugin: the name and description of a mechanism, with the functions that make it.
/// [`register!`](crate::register) defines one.
#[derive(Clone, Copy)]
pub struct Plugin {
    /// Name by which the mechanism is requested.
    pub name: &'static str,
    /// Summary, in one line.
    pub summary: &'static str,
    /// Source of the mechanism, for example a paper.
    pub paper: &'static str,
    /// Version of the plugin's crate. A saved design is loaded only by the same version.
    pub version: &'static str,
    /// Facts that are known without a design.
    pub descriptor: Descriptor,
    /// JSON schema of the parameters.
    pub parameters: &'static (dyn Fn() -> schemars::Schema + Sync),
    /// Learns the state of a design from parameters (an object) and a brief. It may read volunteers' records
    /// and take minutes. Callers use [`design`](Self::design) instead, which first checks the names of the
    /// parameters.
    pub learn: Learn,
    /// Builds the mechanism from a state that `learn` returned or that was read from a file. The function
    /// checks every number in the state.
    pub build: Build,
    /// Returns an example that the mechanism applies to, for the conformance suite and the description of the
    /// mechanism.
    pub example: &'static (dyn Fn() -> Result<Example> + Sync),
}

impl fmt::Debug for Plugin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Plugin").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Example for a mechanism: parameters, a brief and a table to which the mechanism applies.
#[derive(Debug, Clone)]
pub struct Example {
    /// Parameters: an object, or null for none.
    pub parameters: Value,
    /// Brief of the design.
    pub brief: Brief,
    /// Records of the brief's domain.
    pub table: Table,
}

impl Example {
    /// Number of records of an example.
    const RECORDS: usize = 40;

    /// Example with ε = 1 and δ = 10⁻⁶. Its forty records have two numbers, a one-hot group of three levels,
    /// and a label of two classes. No two columns have the same values, and no two levels or classes have the
    /// same frequency. A mechanism that confuses two columns, levels or classes is therefore detected.
    ///
    /// # Errors
    /// None.
    pub fn mixed() -> Result<Self> {
        let columns = ["size", "weight", "colour=red", "colour=green", "colour=blue"].map(str::to_owned);
        let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3)?])?;
        // Half of the records are red, a third green, a sixth blue.
        let colour = |row: usize| [0, 0, 0, 1, 1, 2][row % 6];
        Self::from_values(columns.to_vec(), features, |row, column| match column {
            0 | 1 => Self::number(row, column),
            level => f64::from(u8::from(colour(row) == level - 2)),
        })
    }

    /// Example of forty records of three numbers, with a label of two classes; otherwise like
    /// [`mixed`](Self::mixed).
    ///
    /// # Errors
    /// None.
    pub fn numbers() -> Result<Self> {
        let columns = ["size", "weight", "age"].map(str::to_owned);
        Self::from_values(columns.to_vec(), Domain::unit_box(3), Self::number)
    }

    /// Example of forty records of `columns` numbers, with a label of two classes; otherwise like
    /// [`mixed`](Self::mixed).
    ///
    /// # Errors
    /// [`Error::Domain`] for more than 2²⁴ columns.
    pub fn wide(columns: usize) -> Result<Self> {
        let names = (1..=columns).map(|at| format!("x{at}")).collect();
        Self::from_values(names, Domain::unit_box(columns), Self::number)
    }

    /// Same example, with its records also as public volunteers' records.
    #[must_use]
    pub fn with_public_volunteers(mut self) -> Self {
        self.brief.volunteers = Volunteers::Public(self.table.clone());
        self
    }

    /// Same example without its target.
    ///
    /// # Errors
    /// Same errors as [`Brief::for_part`](crate::Brief::for_part).
    pub fn without_target(self) -> Result<Self> {
        let domain = self.brief.domain.without_target();
        Ok(Self {
            table: self.table.part(&domain)?,
            brief: self.brief.for_part(domain)?,
            parameters: self.parameters,
        })
    }

    /// Value in [0, 1] of record `row` in column `column`. Each column has a 0 and a 1. Most values are
    /// nearer to 0 than to 1. Later columns have smaller means.
    fn number(row: usize, column: usize) -> f64 {
        const STRIDES: [usize; 5] = [1, 7, 11, 3, 13];
        let place = row * STRIDES[column % STRIDES.len()] % Self::RECORDS;
        (place as f64 / (Self::RECORDS - 1) as f64).powf(1.5 + column as f64 / 4.0)
    }

    fn from_values(
        columns: Vec<String>,
        features: Domain,
        value: impl Fn(usize, usize) -> f64,
    ) -> Result<Self> {
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let domain = RecordDomain::new(columns.clone(), features, TargetDomain::Class { levels })?;
        let records =
            Array2::from_shape_fn((Self::RECORDS, columns.len()), |(row, column)| value(row, column));
        // Of any ten consecutive records, a fifth are of the second class.
        let classes = (0..Self::RECORDS).map(|row| usize::from(row % 5 == 4)).collect();
        Ok(Self {
            parameters: Value::Null,
            brief: Brief::new(domain, Budget::new(1.0, 1e-6)?),
            table: Table::new(columns, records, Target::Class(classes))?,
        })
    }
}

impl Plugin {
    /// Designs the mechanism with `parameters` (an object; a missing parameter takes its default).
    ///
    /// # Errors
    /// [`Error::UnknownParameter`], with the nearest name, for a parameter that the mechanism does not have.
    /// [`Error::Parameter`] for a value that a parameter cannot take. [`Error::NotApplicable`] if the
    /// mechanism does not apply to the brief.
    pub fn design(&self, parameters: &Value, brief: &Brief) -> Result<Design> {
        let empty = Map::new();
        let given = match parameters {
            Value::Object(given) => given,
            Value::Null => &empty,
            other => {
                let problem = format!("{other} is not an object of names and values");
                return Err(Error::parameter(self.name, problem));
            }
        };
        self.check_names(given)?;
        let state = (self.learn)(Value::Object(given.clone()), brief)?;
        let mechanism = (self.build)(&state)?;
        Ok(Design::by_plugin((self.name, self.version), state, mechanism, &brief.volunteers))
    }

    /// Checks the names of `parameters`.
    ///
    /// # Errors
    /// [`Error::UnknownParameter`], with the nearest name, for a parameter that the mechanism does not have.
    pub fn check_names(&self, parameters: &Map<String, Value>) -> Result<()> {
        let known = self.parameter_schemas();
        match parameters.keys().find(|name| !known.contains_key(*name)) {
            None => Ok(()),
            Some(name) => Err(Error::UnknownParameter {
                plugin: self.name.into(),
                name: name.clone(),
                nearest: nearest_name(name, known.keys().map(String::as_str)),
            }),
        }
    }

    /// Parameters by name, each with the self-contained JSON schema of its values.
    pub fn parameter_schemas(&self) -> BTreeMap<String, Value> {
        let schema = serde_json::to_value((self.parameters)()).unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).cloned();
        let whole = |(name, mut property)| {
            insert_definitions(&mut property, &schema, DEEPEST);
            (name, property)
        };
        properties.unwrap_or_default().into_iter().map(whole).collect()
    }
}

/// Maximum depth to which references to definitions of a JSON schema are followed, because a definition may
/// contain itself.
const DEEPEST: usize = 8;

/// Replaces references in `property` by the definitions of `schema`, down to `depth` levels of nesting.
fn insert_definitions(property: &mut Value, schema: &Value, depth: usize) {
    if depth == 0 {
        return;
    }
    let defined = property.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    if let Some(definition) = defined.and_then(|path| schema.pointer(path)) {
        *property = definition.clone();
    }
    match property {
        Value::Array(items) => items.iter_mut().for_each(|item| insert_definitions(item, schema, depth - 1)),
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| insert_definitions(field, schema, depth - 1))
        }
        _ => {}
    }
}

/// Parameters of a mechanism that has none.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

/// Parses the parameters of `plugin` into their type `P`.
///
/// # Errors
/// [`Error::Parameter`] if a name or a value does not fit `P`.
pub fn parse_parameters<P: DeserializeOwned>(plugin: &str, parameters: Value) -> Result<P> {
    serde_json::from_value(parameters).map_err(|problem| Error::parameter(plugin, problem))
}

/// Reads the parameter `name`, if it is given, and all other parameters as `P`. The type `P` refuses unknown
/// names (`#[serde(deny_unknown_fields)]`), which it cannot do as a flattened field.
///
/// # Errors
/// An error of `deserializer` if a name or a value does not fit.
pub fn split_parameters<'de, D: Deserializer<'de>, T: DeserializeOwned, P: DeserializeOwned>(
    deserializer: D,
    name: &str,
) -> std::result::Result<(Option<T>, P), D::Error> {
    let mut others = Map::deserialize(deserializer)?;
    let own = others.remove(name).map_or(Ok(None), serde_json::from_value).map_err(D::Error::custom)?;
    Ok((own, serde_json::from_value(Value::Object(others)).map_err(D::Error::custom)?))
}

/// State that `learn` returns, in the JSON form that is saved.
///
/// # Errors
/// Same errors as [`parse_parameters`] and `learn`.
#[doc(hidden)]
pub fn learned<P: DeserializeOwned, S: Serialize>(
    plugin: &str,
    learn: impl Fn(P, &Brief) -> Result<S>,
    parameters: Value,
    brief: &Brief,
) -> Result<Value> {
    serde_json::to_value(learn(parse_parameters(plugin, parameters)?, brief)?).map_err(Error::state)
}

/// Mechanism that `build` makes from a state of the type that `learn` returns.
///
/// # Errors
/// Same errors as [`Error::read_state`] and `build`.
#[doc(hidden)]
pub fn built<P, S: DeserializeOwned, M>(
    _learn: impl Fn(P, &Brief) -> Result<S>,
    build: impl Fn(S) -> Result<M>,
    state: &Value,
) -> Result<M> {
    build(Error::read_state(state)?)
}

inventory::collect!(Plugin);

/// Defines a [`Plugin`] as a constant and registers it, so that every binary that links the crate has it.
///
/// - `descriptor`: the facts that are known without a design, for example `Descriptor::new(Output::Records)`.
/// - `parameters`: a type with `Deserialize` and `JsonSchema`. Its doc comments become the descriptions of
///   the parameters.
/// - `learn`: a function of the parameters and a [`Brief`]. It returns a state, a type with `Serialize` and
///   `Deserialize`.
/// - `local`: a function of the state that returns a [`LocalMechanism`](crate::LocalMechanism). For a
///   mechanism that a curator runs, write `curator`, and return a
///   [`CuratorMechanism`](crate::CuratorMechanism). For one that two servers run, write `two_servers`, and
///   return a `CuratorMechanism` with [shared counts](crate::SharedCounts). This function builds both new
///   designs and designs that are read from files.
/// - `example`: a function without arguments that returns an [`Example`](crate::Example) or an error.
///
/// `scumble_noise::register!` also accepts a mechanism that adds noise. The linker drops a crate that nothing
/// names, together with its plugins. The binary must therefore contain `use my_crate as _;`.
#[macro_export]
macro_rules! register {
    (
        $(#[$docs:meta])*
        pub const $constant:ident = {
            name: $name:expr,
            summary: $summary:expr,
            paper: $paper:expr,
            descriptor: $descriptor:expr,
            parameters: $parameters:ty,
            learn: $learn:expr,
            $side:ident: $build:expr,
            example: $example:expr $(,)?
        };
    ) => {
        $(#[$docs])*
        pub const $constant: $crate::Plugin = $crate::Plugin {
            name: $name,
            summary: $summary,
            paper: $paper,
            version: env!("CARGO_PKG_VERSION"),
            descriptor: $descriptor.run_by($crate::register!(@ $side)),
            parameters: &|| $crate::schemars::schema_for!($parameters),
            learn: &|parameters, brief| $crate::learned::<$parameters, _>($name, $learn, parameters, brief),
            build: &|state| {
                Ok($crate::Designed::$side($crate::built::<$parameters, _, _>($learn, $build, state)?))
            },
            example: &$example,
        };
        $crate::inventory::submit! { $constant }
    };
    (@ local) => { $crate::Side::Local };
    (@ curator) => { $crate::Side::Curator };
    (@ two_servers) => { $crate::Side::TwoServers };
    (@ $other:ident) => { compile_error!("a plugin is built by `local`, `curator` or `two_servers`") };
}
