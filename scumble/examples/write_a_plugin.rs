//! Defines a mechanism that clamps each number to the middle part of the interval between its bounds, and
//! then adds Laplace noise. The shorter interval needs less noise, at the cost of a bias. After registration
//! it is described, checked, attacked and compared like every other mechanism.
//!
//! ```console
//! $ cargo run --release --example write_a_plugin
//! ```

use schemars::JsonSchema;
use scumble::adversary;
use scumble::compare::{Candidate, Comparison};
use scumble::core::{
    Brief, Budget, DescribedNoise, Domain, Error, Example, Output, Registry, Result, Stream,
};
use scumble::datasets::DataSet;
use scumble::noise::{AdditiveNoise, LaplaceNoise, register};
use serde::{Deserialize, Serialize};

/// Laplace noise for numbers that are first clamped to the middle part of the interval between their bounds.
/// A class is released in the clear.
#[derive(Debug, Clone)]
pub struct CentralNoise(LaplaceNoise);

/// Parameters of `central-laplace`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Length of the middle interval, divided by the length of the interval between the bounds: above 0 and
    /// at most 1; 0.5 by default.
    share: Option<f64>,
}

impl AdditiveNoise for CentralNoise {
    const NAME: &'static str = "central-laplace";
    const OUTPUT: Output = Output::View;
    const THEOREM: &'static str = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, \
                                   Proposition 1) on integers, with the ℓ₁ diameter of the middle of the \
                                   bounds, into which every record is moved first";
    type Parameters = Parameters;

    fn narrowed(parameters: &Parameters, set: &Domain) -> Result<Domain> {
        let share = parameters.share.unwrap_or(0.5);
        if !(share > 0.0 && share <= 1.0) {
            let problem = format!("share must lie above zero and at one or below, and {share} does not");
            return Err(Error::Parameter { plugin: Self::NAME.into(), problem });
        }
        // A category is encoded as one coordinate for each level, so it has no middle part.
        if set.factors().any(|(at, _)| at.len() > 1) {
            return Err(Error::not_applicable(Self::NAME, "it takes numbers, and no levels"));
        }
        let [lower, upper] = set.l2_farthest();
        let middles = lower.iter().zip(&upper).map(|(lower, upper)| {
            let (center, half) = ((lower + upper) / 2.0, share * (upper - lower).abs() / 2.0);
            Domain::interval(center - half, center + half)
        });
        Domain::product(middles.collect::<Result<Vec<_>>>()?)
    }

    fn calibrate(_parameters: &Parameters, set: &Domain, budget: Budget) -> Result<Self> {
        Ok(Self(LaplaceNoise::calibrated(set, budget.epsilon())?))
    }

    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.0.add(point, stream)
    }

    fn described(&self) -> DescribedNoise {
        self.0.described(0)
    }
}

register! {
    /// The plugin `central-laplace`.
    pub const CENTRAL_LAPLACE = {
        name: CentralNoise::NAME,
        summary: "Laplace noise on numbers that are moved into the middle of their bounds",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis \
            (2006)",
        noise: CentralNoise,
        example: Example::numbers,
    };
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    scumble_testing::conformance::check(&CENTRAL_LAPLACE)?;
    println!("it conforms");
    adversary::check(&CENTRAL_LAPLACE)?;
    println!("an audit did not refute its claim");

    let registry = Registry::installed()?;
    let brief = Brief::new(DataSet::wine()?.domain, Budget::pure(8.0)?);
    println!(
        "\n{}\n",
        registry.get(CENTRAL_LAPLACE.name)?.design(&Default::default(), &brief)?.mechanism().guarantee()
    );

    let candidates = ["laplace", CENTRAL_LAPLACE.name].map(|name| Ok(Candidate::new(*registry.get(name)?)));
    let candidates = candidates.into_iter().collect::<Result<Vec<_>>>()?;
    let comparison =
        Comparison { epsilons: vec![50.0], trials: 10, ..Comparison::new(DataSet::wine()?, candidates) };
    for row in comparison.run(|_| (), || ())?.rows.iter().take(2) {
        println!("{:16} {:.1} % right at ε = 50", row.mechanism, 100.0 * row.mean);
    }
    Ok(())
}
