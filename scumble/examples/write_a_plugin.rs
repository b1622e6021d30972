//! A mechanism of one's own: numbers are moved into the middle of their bounds before they take Laplace noise, which needs less of it and costs
//! a bias. Once it is registered it is described, checked, attacked and compared like every other.
//!
//! ```console
//! $ cargo run --release --example write_a_plugin
//! ```

use schemars::JsonSchema;
use scumble::adversary;
use scumble::compare::{Comparison, Entrant};
use scumble::datasets::DataSet;
use scumble::registry::{
    Brief, Budget, Domain, Error, Example, Guarantee, LaplaceNoise, Law, LocalDp, LocalMechanism, Mechanism,
    Noise, Notion, Randomness, RecordDomain, Registry, Release, Result, Stream, Table, TargetDomain,
    conformance, local, number, register,
};
use serde::{Deserialize, Serialize};

const NAME: &str = "central-laplace";

/// Features within the middle share of their bounds, under exact Laplace noise for that smaller set. A class leaves in clear.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
struct CentralLaplace {
    saved: Saved,
    middle: Domain,
    /// None at ε = ∞.
    noise: Option<LaplaceNoise>,
}

/// What is saved. The rest follows, and so it is checked again when it is loaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    domain: RecordDomain,
    #[serde(with = "number")]
    epsilon: f64,
    share: f64,
}

impl TryFrom<Saved> for CentralLaplace {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        if matches!(saved.domain.target(), TargetDomain::Real { .. }) {
            return Err(Error::not_applicable(
                NAME,
                "it takes features, with a class beside them or nothing",
            ));
        }
        if !(saved.share > 0.0 && saved.share <= 1.0) {
            let problem =
                format!("share must lie above zero and at one or below, and {} does not", saved.share);
            return Err(Error::Parameter { plugin: NAME.into(), problem });
        }
        let [lower, upper] = saved.domain.features().l2_farthest();
        // Of a level there is no middle.
        if saved.domain.features().factors().any(|(at, _)| at.len() > 1) {
            return Err(Error::not_applicable(NAME, "it takes numbers, and no levels"));
        }
        let middle = lower.iter().zip(&upper).map(|(lower, upper)| {
            let (center, half) = ((lower + upper) / 2.0, saved.share * (upper - lower).abs() / 2.0);
            Domain::interval(center - half, center + half)
        });
        let middle = Domain::product(middle.collect::<Result<Vec<_>>>()?)?;
        let noise = match saved.epsilon {
            f64::INFINITY => None,
            epsilon => Some(LaplaceNoise::calibrated(&middle, epsilon)?),
        };
        Ok(Self { saved, middle, noise })
    }
}

impl From<CentralLaplace> for Saved {
    fn from(mechanism: CentralLaplace) -> Self {
        mechanism.saved
    }
}

#[typetag::serde(name = "central-laplace")]
impl Mechanism for CentralLaplace {
    fn domain(&self) -> &RecordDomain {
        &self.saved.domain
    }

    fn guarantee(&self) -> Guarantee {
        if self.noise.is_none() {
            return Guarantee::nothing(&self.saved.domain);
        }
        let theorem = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers, with the ℓ₁ diameter of \
                       the middle of the bounds, into which every record is moved first";
        let dp = Notion::LocalDp(LocalDp::pure(self.saved.epsilon));
        Guarantee::of_features(&self.saved.domain, [(dp, theorem.into())])
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for CentralLaplace {
    fn range(&self) -> Domain {
        let label = match self.saved.domain.target() {
            TargetDomain::Class { levels } => Domain::one_hot(levels.len()).ok(),
            _ => None,
        };
        let parts = [Some(self.middle.clone()), label].into_iter().flatten();
        // A product of what is one already is one.
        Domain::product(parts).unwrap_or_else(|_| self.middle.clone())
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = self.saved.domain.projected(record)?;
        self.middle.project(&mut point[..self.middle.dim()])?;
        Ok(point)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        match (&self.noise, point.get_mut(..self.middle.dim())) {
            (None, _) => Ok(()),
            (Some(noise), Some(features)) => noise.add(features, stream),
            (Some(_), None) => Err(Error::shape("a point has fewer values than there are features")),
        }
    }

    fn noise(&self) -> Noise {
        let dim = self.middle.dim();
        Noise {
            features: vec![match &self.noise {
                None => Law::Exact { width: dim },
                Some(noise) => Law::Additive { variance: vec![noise.variance(); dim] },
            }],
            target: Law::Exact { width: self.saved.domain.layout().target.width() },
        }
    }
}

/// Parameters of `central-laplace`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// The share of the bounds that is kept, above 0 and at most 1; half of them by default.
    share: Option<f64>,
}

fn design(parameters: Parameters, brief: &Brief) -> Result<CentralLaplace> {
    let (domain, epsilon) = (brief.domain.clone(), brief.budget.epsilon());
    Saved { domain, epsilon, share: parameters.share.unwrap_or(0.5) }.try_into()
}

register! {
    /// The plugin `central-laplace`.
    pub const CENTRAL_LAPLACE = {
        name: NAME,
        summary: "Laplace noise on numbers that are moved into the middle of their bounds",
        paper: "Dwork, McSherry, Nissim and Smith, Calibrating noise to sensitivity in private data analysis (2006)",
        side: Local,
        pace: Quick,
        parameters: Parameters,
        design: design,
        example: Example::numbers,
    };
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    conformance::check(&CENTRAL_LAPLACE)?;
    println!("it keeps house");
    adversary::check(&CENTRAL_LAPLACE)?;
    println!("an audit did not break its claim");

    let registry = Registry::installed()?;
    let brief = Brief::new(DataSet::wine()?.domain, Budget::pure(8.0)?);
    println!("\n{}\n", registry.get(NAME)?.design(&Default::default(), &brief)?.mechanism().guarantee());

    let entrants = ["laplace", NAME].map(|name| Ok(Entrant::new(*registry.get(name)?)));
    let entrants = entrants.into_iter().collect::<Result<Vec<_>>>()?;
    let comparison =
        Comparison { epsilons: vec![50.0], trials: 10, ..Comparison::new(DataSet::wine()?, entrants) };
    for row in comparison.run(|_| (), || ())?.rows.iter().take(2) {
        println!("{:16} {:.1} % right at ε = 50", row.mechanism, 100.0 * row.mean);
    }
    Ok(())
}
