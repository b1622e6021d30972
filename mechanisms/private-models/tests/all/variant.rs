//! A curator who claims what an honest one does, and whose noise is another one's.

use scumble_core::{
    CuratorMechanism, Designed, Guarantee, Randomness, RecordDomain, Release, Releases, Result, Statistics,
    Table,
};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Variant {
    pub claims: Arc<dyn CuratorMechanism>,
    pub releases: Arc<dyn CuratorMechanism>,
}

impl Variant {
    pub fn of(claims: impl CuratorMechanism, releases: impl CuratorMechanism) -> Designed {
        Designed::curator(Self { claims: Arc::new(claims), releases: Arc::new(releases) })
    }
}

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
