//! `plugin-template-noise`: a plugin for scumble, which adds noise to every number of a record.
//!
//! The generated code adds discrete Laplace noise with a scale from the domain's ℓ₁ diameter. Parts to
//! replace:
//!
//! | part | place |
//! |---|---|
//! | the noise and its sensitivity | `calibrate` and `add` |
//! | the description of the noise, which an audit checks | `described` |
//! | the proof | `THEOREM` |
//! | parameters | instead of `NoParameters`, a type with `Serialize`, `Deserialize` and `JsonSchema` |
//!
//! The rest is derived: the numbers that take noise, the release, the guarantee with its disclosures, and the
//! saved form. `tests/privacy.rs` runs the conformance suite, and attacks the claim.

use scumble::noise::LaplaceNoise;
use scumble::prelude::*;

/// Discrete Laplace noise on every number. A class label is released in the clear.
#[derive(Debug, Clone)]
pub struct Noise(LaplaceNoise);

impl AdditiveNoise for Noise {
    const NAME: &'static str = "plugin-template-noise";
    /// PROOF: the theorem from which the claim follows, with its source; the card cites it. The code has to
    /// meet the theorem's conditions.
    const THEOREM: &'static str =
        "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers";
    type Parameters = NoParameters;

    /// Calibrates the noise. SENSITIVITY: with this noise, the output probabilities of any two points of
    /// `set` differ by a factor of at most e^ε.
    fn calibrate(_parameters: &NoParameters, set: &Domain, budget: Budget) -> Result<Self> {
        Ok(Self(LaplaceNoise::calibrated(set, budget.epsilon())?))
    }

    /// NOISE: all privacy is here. Round to integers, bound them, and add integers drawn by
    /// `scumble::sampling`.
    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.0.add(point, stream)
    }

    fn described(&self) -> DescribedNoise {
        self.0.described(0)
    }
}

register! {
    /// The plugin.
    pub const PLUGIN = {
        name: Noise::NAME,
        summary: "discrete Laplace noise on every number",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis \
            (2006)",
        noise: Noise,
        example: Example::mixed,
    };
}
