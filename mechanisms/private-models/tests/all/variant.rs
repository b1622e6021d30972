//! Curator with the claims of one mechanism and the releases of another.

use scumble_core::{
    Accumulator, CuratorMechanism, Designed, Evidence, Guarantee, Randomness, RecordDomain, Release,
    Releases, Result, Table, collected,
};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Variant {
    pub claims: Arc<dyn CuratorMechanism>,
    pub releases: Arc<dyn CuratorMechanism>,
}

impl Variant {
    pub fn designed(claims: impl CuratorMechanism, releases: impl CuratorMechanism) -> Designed {
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

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn evidence(&self) -> Evidence<'_> {
        self.releases.evidence()
    }
}

impl Variant {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        self.releases.release(table, randomness)
    }
}
