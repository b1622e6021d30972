//! Secret key for queries to a model that was trained on a release. It mixes each query with a private record
//! and transforms the mixture.

use crate::disguise::{Disguise, labels, vectors};
use ndarray::{Array1, Array2, ArrayView1, s};
use scumble_core::{Error, Result, SecretKey, Table, Target};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};

/// Secret key of a release. A model that was trained on the release receives mixtures in place of queries.
/// Each new query is mixed with the next record of a pool of private records. If there are enough private
/// records, each is used at most once. A repeated query gets its first answer again. The repeated answer
/// discloses nothing new, and uses no record of the pool.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answers {
    disguise: Disguise,
    /// One private record for each of the q queries that the key can answer (q × d). `classes` has the
    /// classes of the pool's records, if records have classes.
    pool: Array2<f64>,
    classes: Option<Array1<usize>>,
    /// SHA-256 digests of the different queries asked so far, in the order of their first use.
    asked: Mutex<Vec<String>>,
}

impl Answers {
    pub(crate) fn new(disguise: Disguise, pool: Array2<f64>, classes: Option<Array1<usize>>) -> Self {
        Self { disguise, pool, classes, asked: Mutex::default() }
    }

    /// Returns the index in the pool of the private record with which each of `queries` (n × d) is mixed. On
    /// success, all new queries are counted as asked. On failure, none is counted.
    ///
    /// # Errors
    /// [`Error::Spent`] if the pool has fewer records left than there are new queries.
    fn partners(&self, queries: &Array2<f64>) -> Result<Vec<usize>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
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

impl SecretKey for Answers {
    /// Takes each record of `clean` as a query, and transforms the mean of the query and a private record of
    /// the pool. The target of the result has the label vector of each query, not mixed with that of the
    /// private record.
    fn view(&self, clean: &Table) -> Result<Table> {
        let queries = self.disguise.projected(clean)?;
        let drawn = self.disguise.drawn()?;
        let partners = self.pool.select(ndarray::Axis(0), &self.partners(&queries)?);
        let mixed = (queries + partners) / 2.0;
        let labels = labels(clean).map(|classes| drawn.bases.select(classes));
        self.disguise.released(&drawn, mixed.nrows(), |rows| mixed.slice(s![rows, ..]).to_owned(), labels)
    }

    /// Returns, for each query, the class whose label vector is nearest to 2·(f − y′/2). Here f is the
    /// predicted vector for the mixture of the query and a private record, and y′ the label vector of the
    /// private record.
    fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        let Some(classes) = &self.classes else {
            return Ok(predicted);
        };
        let vectors = vectors(&predicted, clean.len(), self.disguise.label_dim())?;
        let partners = self.partners(&self.disguise.projected(clean)?)?;
        let bases = self.disguise.bases()?;
        let own = bases.select(&classes.select(ndarray::Axis(0), &partners));
        let read = vectors.outer_iter().zip(own.outer_iter());
        let read = read.map(|(predicted, own)| bases.nearest((&predicted * 2.0 - own).view()));
        Ok(Target::Class(read.collect()))
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
