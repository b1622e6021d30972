//! A curator who claims what an honest one does, and whose noise is another one's.

use scumble_core::{
    CuratorMechanism, Designed, Guarantee, Randomness, RecordDomain, Release, Releases, Result, Statistics,
    Table,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Variant {
    pub claims: Box<dyn CuratorMechanism>,
    pub releases: Box<dyn CuratorMechanism>,
}

impl Variant {
    pub fn of(claims: impl CuratorMechanism, releases: impl CuratorMechanism) -> Designed {
        Designed::curator(Self { claims: Box::new(claims), releases: Box::new(releases) })
    }
}

#[typetag::serde(name = "private-models-variant")]
impl CuratorMechanism for Variant {
    fn domain(&self) -> &RecordDomain {
        self.claims.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.claims.guarantee()
    }

    fn releases(&self) -> Releases {
        self.releases.releases()
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        self.releases.release(table, randomness)
    }

    fn statistics(&self) -> Option<&dyn Statistics> {
        self.releases.statistics()
    }
}
