//! The identity as a mechanism: the reference in every comparison of mechanisms.

use scumble_core::{
    Brief, Descriptor, Example, Guarantee, LocalMechanism, NoParameters, Noise, NoiseDistribution, Output,
    RecordDomain, Result, Stream, register,
};

/// Releases every record in the clear, without any guarantee.
#[derive(Debug, Clone)]
pub struct Identity {
    domain: RecordDomain,
}

impl Identity {
    /// Creates the mechanism for records of `domain`.
    pub fn new(domain: RecordDomain) -> Self {
        Self { domain }
    }
}

impl LocalMechanism for Identity {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::nothing(&self.domain)
    }

    fn perturb(&self, _point: &mut [f64], _stream: &mut Stream) -> Result<()> {
        Ok(())
    }

    fn noise(&self) -> Noise {
        Noise::for_features(&self.domain, NoiseDistribution::Exact { width: self.domain.columns().len() })
    }
}

register! {
    /// The plugin `identity`.
    pub const IDENTITY = {
        name: "identity",
        summary: "no mechanism: records are released in the clear",
        paper: "none; the reference row of a comparison",
        descriptor: Descriptor::new(Output::Records),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| Ok(brief.domain.clone()),
        local: |domain| Ok(Identity::new(domain)),
        example: Example::mixed,
    };
}
