//! `plugin-template-curator`: a plugin for scumble, in which a trusted curator releases a statistic of all
//! records.
//!
//! The generated code releases the noisy mean of every number, as one row. Parts to replace:
//!
//! | part | place |
//! |---|---|
//! | the noise and its sensitivity | `Mean::build` |
//! | the statistic of the records | `start` |
//! | the proof | `THEOREM` |
//! | claims, disclosures and assumptions | `guarantee` |
//!
//! `tests/privacy.rs` runs the conformance suite, and attacks the claim. A curator that accumulates sums
//! instead of records returns its own `Accumulator` from `start`. Memory use is then independent of the file
//! size.

use scumble::prelude::*;

/// PROOF: the theorem from which the claim follows, with its source; the card cites it.
const THEOREM: &str =
    "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on sums of integers";

/// The mean of every number, with exact Laplace noise.
#[derive(Debug)]
pub struct Mean {
    domain: RecordDomain,
    budget: Budget,
    noise: SumNoise,
}

impl Mean {
    /// The only constructor, for new and loaded designs; it checks every number. SENSITIVITY: `SumNoise`
    /// computes it from the domain.
    fn build((domain, budget): (RecordDomain, Budget)) -> Result<Self> {
        let noise = SumNoise::calibrated(domain.flat(), budget)?;
        Ok(Self { domain, budget, noise })
    }
}

impl CuratorMechanism for Mean {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        match self.budget.epsilon() {
            f64::INFINITY => Guarantee::nothing(&self.domain),
            epsilon => {
                let dp = CentralDp::new(epsilon, 0.0, Neighbours::ReplaceOne);
                Guarantee::for_curator(Neighbours::ReplaceOne, [(dp, THEOREM.into())])
            }
        }
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Units }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(&self.domain, |table, randomness| {
            let records = self.domain.projected_features(table)?;
            let mean = self.noise.mean(records.view(), &mut randomness.streams().stream(0));
            let guarantee = self.guarantee().under(randomness.provenance());
            Ok(Release::without_records(self.domain.layout().table_of(mean)?, guarantee, &self.domain))
        })
    }
}

register! {
    /// The plugin.
    pub const PLUGIN = {
        name: "plugin-template-curator",
        summary: "the noisy mean of every number",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis \
            (2006)",
        descriptor: Descriptor::new(Output::Synthetic),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| Ok((brief.domain.clone(), brief.budget)),
        curator: Mean::build,
        example: || Example::numbers()?.without_target(),
    };
}
