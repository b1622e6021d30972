//! Helpers of the tests in `tests/`: faulty variants of mechanisms, and a toy curator mechanism as a plugin.
//!
//! The toy moves all numbers by one secret offset, which is its key. It has no guarantee, and discloses
//! everything that an offset leaves unchanged.

mod curator_variant;
mod dauntless_variant;
mod mixing_checks;
mod transformed_variant;

pub use curator_variant::{CuratorFault, CuratorVariant, classifier};
pub use dauntless_variant::{DauntlessFault, DauntlessVariant};
pub use mixing_checks::{resistance, wrong_answers, wrong_budget, wrong_mixtures};
pub use transformed_variant::{ObfuscatedNumber, TransformedFault, TransformedVariant};

use scumble::core::{
    Accumulator, Brief, CuratorMechanism, Descriptor, Error, Example, Guarantee, Key, NoParameters, Noise,
    NoiseDistribution, Output, Randomness, RecordDomain, Release, Releases, Result, SecretKey, Table,
    collected, register,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// Toy curator mechanism: moves all numbers of a release by one secret offset.
#[derive(Debug, Clone)]
pub struct Offset {
    domain: RecordDomain,
}

impl Offset {
    /// Creates the mechanism for the features of records of `domain`.
    pub fn new(domain: RecordDomain) -> Self {
        Self { domain }
    }
}

#[derive(Serialize, Deserialize)]
struct OffsetKey {
    offset: f64,
}

fn shifted(table: &Table, offset: f64) -> Result<Table> {
    Table::new(table.columns().to_vec(), table.records() + offset, table.target().clone())
}

impl CuratorMechanism for Offset {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee { discloses: vec!["all differences of records".into()], ..Guarantee::default() }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(self.domain())
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<OffsetKey>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl Offset {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        use rand_core::RngCore;
        let offset = f64::from(randomness.streams().stream(0).next_u32());
        let released = shifted(table, offset)?;
        Ok(Release::new(
            Key::secret(OffsetKey { offset }, &released),
            self.guarantee(),
            Noise {
                features: vec![NoiseDistribution::Exact { width: table.columns().len() }],
                target: NoiseDistribution::Exact { width: self.domain.layout().target.width() },
            },
            released,
        ))
    }
}

impl SecretKey for OffsetKey {
    fn view(&self, clean: &Table) -> Result<Table> {
        shifted(clean, self.offset)
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

register! {
    /// The plugin `offset`.
    pub const OFFSET = {
        name: "offset",
        summary: "a toy of a curator: all numbers moved by one secret offset",
        paper: "none",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| Ok(brief.domain.clone()),
        curator: |domain| Ok(Offset::new(domain)),
        example: Example::numbers,
    };
}
