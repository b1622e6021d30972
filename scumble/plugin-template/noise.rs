//! `plugin-template-noise`: a mechanism for scumble, to be made your own. Every number of a record takes noise.
//!
//! As it was written, the noise is discrete Laplace noise of the scale that the domain's ℓ₁ diameter asks for. Where to
//! put your own:
//!
//! | yours | where |
//! |---|---|
//! | the noise, and its sensitivity | `calibrate` and `add` |
//! | what it says of itself, to which an audit holds it | `described` |
//! | the proof | `THEOREM` |
//! | parameters | in place of `NoParameters`: a type with `Serialize`, `Deserialize` and `JsonSchema` |
//!
//! What of a record takes the noise, the release, the guarantee with what it discloses, and the saved form follow.
//! `tests/privacy.rs` runs the conformance suite, and attacks the claim.

use scumble::noise::LaplaceNoise;
use scumble::prelude::*;

/// Discrete Laplace noise on every number. A class label leaves in the clear.
#[derive(Debug, Clone)]
pub struct Noise(LaplaceNoise);

impl AdditiveNoise for Noise {
    const NAME: &'static str = "plugin-template-noise";
    /// PROOF: the theorem from which the claim follows, with its source; the card cites it. The code has to meet its
    /// conditions.
    const THEOREM: &'static str =
        "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers";
    type Parameters = NoParameters;

    /// SENSITIVITY: the noise protects any two points of `set`, at ε.
    fn calibrate(_parameters: &NoParameters, set: &Domain, budget: Budget) -> Result<Self> {
        Ok(Self(LaplaceNoise::calibrated(set, budget.epsilon())?))
    }

    /// NOISE: all privacy is here. Round to integers, bound them, and add integers drawn by `scumble::sampling`.
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
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)",
        noise: Noise,
        example: Example::mixed,
    };
}
