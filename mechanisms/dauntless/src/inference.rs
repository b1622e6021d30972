//! Queries of a model of a release, each mixed with a private record before it is transformed (Algorithm 3).

use crate::disguise::{Disguise, labels, vectors};
use crate::mix::{Dauntless, NAME as MIX, Parameters};
use ndarray::{Array1, Array2, ArrayView1};
use schemars::JsonSchema;
use scumble_registry::{Brief, Error, Example, Result, SecretKey, Table, Target, register};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const NAME: &str = "dauntless-inference";

/// The key of a release whose model is asked by mixtures: each new query takes the next private record of a pool, and no other query has
/// it. One that was asked before is answered as before: it tells nothing new, and is not counted again.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answers {
    disguise: Disguise,
    /// One a query (q × d), with its class where there are any.
    pool: Array2<f64>,
    classes: Option<Array1<usize>>,
    asked: Asked,
}

/// The digests of the queries that were asked, in their order; clones of a key count together.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
struct Asked(Arc<Mutex<Vec<String>>>);

impl From<Vec<String>> for Asked {
    fn from(queries: Vec<String>) -> Self {
        Self(Arc::new(Mutex::new(queries)))
    }
}

impl From<Asked> for Vec<String> {
    fn from(asked: Asked) -> Self {
        asked.queries().clone()
    }
}

impl Asked {
    fn queries(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    pub(crate) fn new(disguise: Disguise, pool: Array2<f64>, classes: Option<Array1<usize>>) -> Self {
        Self { disguise, pool, classes, asked: Asked::default() }
    }

    /// The places in the pool of the partners of these queries (n × d); new ones are counted, all of them or none.
    ///
    /// # Errors
    /// [`Error::Spent`] where there are more new ones than the pool has left.
    fn partners(&self, queries: &Array2<f64>) -> Result<Vec<usize>> {
        let mut asked = self.asked.queries();
        let before = asked.len();
        let mut places = Vec::with_capacity(queries.nrows());
        for query in queries.outer_iter() {
            let digest = digest(query);
            places.push(asked.iter().position(|other| *other == digest).unwrap_or(asked.len()));
            if places.last() == Some(&asked.len()) {
                asked.push(digest);
            }
        }
        if asked.len() > self.pool.nrows() {
            let new = asked.len() - before;
            asked.truncate(before);
            return Err(Error::Spent {
                most: self.pool.nrows() as u64,
                answered: before as u64,
                asked: new as u64,
            });
        }
        Ok(places)
    }
}

fn digest(query: ArrayView1<f64>) -> String {
    let mut digest = Sha256::new();
    query.iter().for_each(|value| digest.update(value.to_le_bytes()));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[typetag::serde(name = "dauntless-inference")]
impl SecretKey for Answers {
    /// Each record as a query: mixed half and half with its partner, and transformed. Its target is that of the query alone.
    fn view(&self, clean: &Table) -> Result<Table> {
        let queries = self.disguise.projected(clean)?;
        let drawn = self.disguise.drawn()?;
        let partners = self.pool.select(ndarray::Axis(0), &self.partners(&queries)?);
        let mixed = (queries + partners) / 2.0;
        self.disguise.released(&drawn, &mixed, labels(clean).map(|classes| drawn.bases.of(classes)))
    }

    /// The class whose vector is nearest to 2·(f − y′/2), where f was predicted of the mixture and y′ is the partner's own.
    fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        let Some(classes) = &self.classes else {
            return Ok(predicted);
        };
        let vectors = vectors(&predicted, clean.len(), self.disguise.label_dim())?;
        let partners = self.partners(&self.disguise.projected(clean)?)?;
        let bases = self.disguise.bases()?;
        let own = bases.of(&classes.select(ndarray::Axis(0), &partners));
        let read = vectors.outer_iter().zip(own.outer_iter());
        let read = read.map(|(predicted, own)| bases.nearest((&predicted * 2.0 - own).view()));
        Ok(Target::Class(read.collect()))
    }
}

/// Parameters of the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct InferenceParameters {
    /// How many different queries the key answers; each counts against the budget of the release, asked or not. 1000 by default.
    queries: Option<usize>,
    /// How records are mixed and transformed: the parameters of `dauntless-mix`.
    training: Parameters,
}

impl InferenceParameters {
    fn design(self, brief: &Brief) -> Result<Dauntless> {
        match self.queries.unwrap_or(1000) {
            0 => Err(Error::Parameter {
                plugin: NAME.into(),
                problem: format!("queries must be one or more; without any it is {MIX}"),
            }),
            queries => self.training.design(queries, brief),
        }
    }
}

/// Without public records, so that what an exchange of classes and a turn of the records leave the same is claimed.
fn example_of_inference() -> Result<Example> {
    let parameters = serde_json::json!({"queries": 100, "training": {"weights": "gaussian"}});
    Ok(Example { parameters, ..Example::numbers()? })
}

register! {
    /// The plugin `dauntless-inference`.
    pub const DAUNTLESS_INFERENCE = {
        name: NAME,
        summary: "as dauntless-mix, and queries of the model are mixed with private records too: each counts against the same budget, and past it none is answered",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with Scalability and Security, Algorithms 2 and 3",
        side: Curator,
        pace: Quick,
        parameters: InferenceParameters,
        design: |parameters: InferenceParameters, brief: &Brief| parameters.design(brief),
        example: example_of_inference,
    };
}
