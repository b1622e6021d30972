//! Noise that a linear support vector machine does not see.

use crate::CorrelatedNoise;
use crate::claims::without_bias;
use ndarray::Array2;
use schemars::JsonSchema;
use scumble_core::{
    ASSUMED, Accumulator, Brief, Claim, CramerRao, CuratorMechanism, Descriptor, Error, Example, Factor,
    Guarantee, Key, Noise, NoiseDistribution, Notion, Output, Randomness, RecordDomain, Release, Releases,
    Result, SecretKey, Table, Target, TargetDomain, Unit, collected, in_clear, register,
};
use scumble_kkt::{Machine, Records, SoftMargin};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "fisher-correlated";

/// The KKT residual to which the classifier is solved: what is trained on a release has the same.
const RESIDUAL: f64 = 1e-9;
const MOST_ITERATIONS: u64 = 200;

/// How far the variance may lie from the squared radius of the domain, as a factor: noise much larger leaves no digits for the records
/// beside it, and the classifier would go with them.
const WIDEST: f64 = 1e12;

/// Gaussian noise that leaves the linear support vector machine of the records unchanged (Farokhi, Theorem 2.10).
///
/// Of q records x of p numbers with labels y of ±1 (the second level is +1) let α*, β* and ω* be the classifier of equation (2),
///
/// min ½‖α‖² + ½ρ(β² + ‖ξ‖²) + θ Σξᵢ, with yᵢ(αᵀxᵢ + β) ≥ 1 − ξᵢ and ξᵢ ≥ 0,
///
/// and its multipliers, a = α* and b = ω*∘y. What leaves is x + W with W = (I − bbᵀ/bᵀb)·G·(I − aaᵀ/aᵀa) and G ~ N(0, m)^{q×p}
/// ([`CorrelatedNoise`]; ERRATA.md, F8). Since Wa = 0 and Wᵀb = 0, whatever is trained on it by equation (2) has the same Karush-Kuhn-Tucker
/// conditions (15), and so the same α*, β* and ω* (Proposition 2.9). The theorem's noise is the same for every Π; this is Π = I.
///
/// # What is claimed, and why it holds
///
/// An unbiased estimate x̂ᵢ of record i has E‖x̂ᵢ − xᵢ‖² ≥ m(p − 1)(1 − bᵢ²/bᵀb). Take the data sets x + U with Ua = 0 and
/// Uᵀb = 0: they all have the same classifier, hence the same a, b and distribution of W, which has a density m-Gaussian on that space. An estimate
/// without bias is without bias on them, and there the bound of Cramér and Rao is the trace of record i's block of
/// m·(I − bbᵀ/bᵀb) ⊗ (I − aaᵀ/aᵀa). What is released attains it. The claim for every record is the least of these, that of the largest share
/// bᵢ²/bᵀb, a number from the records: the release's guarantee has it, and the design's says so in words.
///
/// It holds for an adversary that knows no record. One that knows the others knows their noise wⱼ, and that of a support vector too:
/// xᵢ = x̄ᵢ + Σ_{j≠i} bⱼwⱼ/bᵢ, exactly (ERRATA.md, F12). So the information about each column of a record, with nothing else unknown, is
/// infinite, and that is what the claim says of columns; the bound is a joint one. Beside another release of the same columns nothing is
/// left of it, rightly: what the other one tells of the rest of the records, this one turns into the support vectors.
///
/// It is no differential privacy: the classifier, every αᵀxᵢ and the labels leave in the clear. All is in units of the encoded record.
///
/// ```
/// use scumble_fisher_svm::{FISHER_CORRELATED, FisherCorrelated};
/// use scumble_core::{CuratorMechanism, Notion, Randomness};
///
/// let example = (FISHER_CORRELATED.example)()?;
/// let mechanism = FisherCorrelated::new(example.brief.domain, 1.0, 0.01, 100.0)?;
/// assert!(mechanism.guarantee().claims.is_empty()); // a design is public
///
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// let Notion::CramerRao(bound) = &release.guarantee.claims[0].notion else { unreachable!() };
/// assert!(bound.error() > 300.0 && bound.error() < 100.0 * 4.0); // m(p − 1)(1 − s) of five columns
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FisherCorrelated {
    state: State,
}

/// State of the mechanism: what is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    theta: f64,
    rho: f64,
    variance: f64,
}

impl TryFrom<State> for FisherCorrelated {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        check_domain(&state.domain)?;
        let radius = state.domain.features().squared_radius();
        let check = |name: &str, value: f64, range: std::ops::RangeInclusive<f64>, what: &str| {
            let wanted = format!("between {:e} and {:e}{what}", range.start(), range.end());
            Error::check(NAME, name, value, &wanted, range.contains(&value))
        };
        check("theta", state.theta, 1e-9..=1e9, "")?;
        check("rho", state.rho, 1e-9..=1e9, "")?;
        let range = radius / WIDEST..=radius * WIDEST;
        check("variance", state.variance, range, " on such records, whose domain it must be beside")?;
        Ok(Self { state })
    }
}

/// # Errors
/// [`Error::NotApplicable`] for records that have no such classifier, or no room for noise beside it.
fn check_domain(domain: &RecordDomain) -> Result<()> {
    let refuse = |reason: &str| Err(Error::not_applicable(NAME, reason));
    match domain.target() {
        TargetDomain::Class { levels } if levels.len() == 2 => {}
        TargetDomain::Class { .. } => {
            return refuse("its classifier tells two classes apart, and the label has more");
        }
        _ => return refuse("its classifier needs a label of two classes"),
    }
    let numbers_and_groups =
        |factor: &Factor| matches!(factor, Factor::Interval { .. } | Factor::OneHot { .. });
    if !domain.features().factors().all(|(_, factor)| numbers_and_groups(factor)) {
        return refuse("it takes features that are numbers and groups of levels, and a ball is neither");
    }
    if domain.columns().len() < 2 {
        return refuse(
            "with fewer than two columns of features the classifier tells all, and there is no room for noise",
        );
    }
    if domain.features().squared_radius() == 0.0 {
        return refuse("the domain of the features is a single point");
    }
    Ok(())
}

impl FisherCorrelated {
    /// Noise of this variance m, in squared units of the encoded record, beside the classifier of equation (2) with θ = `theta` and
    /// ρ = `rho`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for records that have no such classifier: a label of other than two classes, fewer than two columns,
    /// features that are neither numbers nor groups; [`Error::Parameter`] for θ, ρ or m out of range.
    pub fn new(domain: RecordDomain, theta: f64, rho: f64, variance: f64) -> Result<Self> {
        State { domain, theta, rho, variance }.try_into()
    }

    /// The variance m of the noise before it is projected, in squared units of the encoded record.
    pub fn variance(&self) -> f64 {
        self.state.variance
    }

    /// The bound for a record whose share bᵢ²/bᵀb in the classifier is this: m(p − 1)(1 − share).
    fn bound(&self, share: f64) -> f64 {
        let open = (self.state.domain.columns().len() - 1) as f64;
        self.state.variance * open * (1.0 - share)
    }

    /// What a release discloses, and what a claim of it assumes; only a release's own has the largest share.
    fn card(&self, share: Option<f64>) -> Guarantee {
        let share = share.map_or(String::new(), |share| format!(" = {share:.4}"));
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.extend([
            "exactly α*·x of every record x, its distance from the classifier: of levels, flags or whole numbers that may leave a handful \
             of possible records, or one"
                .into(),
            "the classifier itself, with every record's multiplier ω, and so Σ ωyx = α*".into(),
            format!("the largest share of one record in it, max ω²/Σω²{share}, computed from the records"),
            "every support vector, exactly, to one who knows all other records (ERRATA.md, F12)".into(),
            "the number of records".into(),
        ]);
        Guarantee {
            discloses,
            assumes: ASSUMED.into_iter().chain([
                "the adversary knows no other record, and its guess is unbiased wherever noise may lead, beyond the domain too",
                "the noise may be taken for continuous and the classifier for exact: the one is drawn on a lattice 2^40 times finer \
                 than its standard deviation, the other solved in double precision",
            ]).map(str::to_owned).collect(),
            ..Guarantee::default()
        }
    }

    /// The guarantee of a release of records of which the largest share in the classifier is this.
    fn of_release(&self, share: f64) -> Guarantee {
        let columns = self.state.domain.columns();
        let bound = CramerRao {
            // Whoever knows the other records knows every column of a support vector.
            information: columns.iter().map(|name| (name.clone(), f64::INFINITY)).collect(),
            joint: Some(self.bound(share)),
        };
        let caveat = without_bias(&self.state.domain, &bound);
        let claim = Claim {
            notion: Notion::CramerRao(bound),
            protects: Unit::Features,
            theorem: "the Cramér-Rao bound m(p − 1)(1 − max ω²/Σω²) of the noise of Theorem 2.10 (Farokhi, Privacy-preserving public \
                      release of datasets for support vector machine classification), over all data sets with the same classifier"
                .into(),
        };
        let mut guarantee = Guarantee { claims: vec![claim], ..self.card(Some(share)) };
        guarantee.assumes.push(caveat);
        guarantee
    }

    /// The classifier of these records (q × p values) and signs (q).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] where it cannot be solved, or does not look at the records.
    fn classifier(&self, records: &Array2<f64>, signs: &[f64]) -> Result<Machine> {
        let unsolved = |error: scumble_kkt::Error| {
            Error::not_applicable(NAME, format!("the classifier that it is to keep was not found: {error}"))
        };
        let penalties = vec![self.state.theta; signs.len()];
        let of = Records::new(records.view());
        let programme = SoftMargin::new(&of, signs, &penalties).map_err(unsolved)?;
        let programme = programme.bias_penalty(self.state.rho).map_err(unsolved)?;
        let programme = programme.squared_slack_penalty(self.state.rho).map_err(unsolved)?;
        let machine = programme.proven(RESIDUAL, MOST_ITERATIONS).map_err(unsolved)?;
        let largest =
            |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0, |most: f64, x| most.max(x.abs()));
        // Beside margins of 1 that is nothing, and a direction that rounding chose is none.
        if largest(&mut machine.weights.iter()) * largest(&mut records.iter()) < 1e-9 {
            let reason = "the classifier of these records looks at none of their features (α = 0), and keeping it says nothing";
            return Err(Error::not_applicable(NAME, reason));
        }
        Ok(machine)
    }
}

impl CuratorMechanism for FisherCorrelated {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let most = Notion::CramerRao(CramerRao { joint: Some(self.bound(0.0)), ..CramerRao::default() });
        let claim = format!(
            "{most}, times 1 − s, for {}, by an adversary that knows no record; s, the largest share of one record in the classifier, is computed \
             from the records, and is given in each release's own card",
            Unit::Features
        );
        Guarantee { each_release: vec![claim], ..self.card(None) }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(&self.state.domain)
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<Space>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl FisherCorrelated {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let mut records = self.state.domain.projected_features(table)?;
        let signs = signs(table.target())?;
        let machine = self.classifier(&records, &signs)?;
        let b = machine.multipliers.iter().zip(&signs).map(|(omega, sign)| omega * sign).collect();
        let noise = CorrelatedNoise::new(b, machine.weights, self.state.variance)?;
        if 1.0 - noise.largest_share() < 1e-9 {
            let reason = "one record is all of the classifier, and would leave in the clear";
            return Err(Error::not_applicable(NAME, reason));
        }
        let values =
            records.as_slice_mut().ok_or_else(|| Error::shape("the records do not lie row by row"))?;
        noise.add(values, &randomness.streams())?;
        let table = Table::new(table.columns().to_vec(), records, table.target().clone())?;
        Ok(Release {
            key: Key::secret(Space { domain: self.state.domain.clone() }, &table),
            guarantee: self.of_release(noise.largest_share()).under(randomness.provenance()),
            noise: Noise::of_features(
                &self.state.domain,
                NoiseDistribution::Shared { width: table.columns().len() },
            ),
            table,
        })
    }
}

/// The key: the space of the records is that of what is released, and records in the clear are only moved into the domain.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Space {
    domain: RecordDomain,
}

impl SecretKey for Space {
    fn view(&self, clean: &Table) -> Result<Table> {
        Table::new(clean.columns().to_vec(), self.domain.projected_features(clean)?, clean.target().clone())
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// −1 of the first level, 1 of the second (q values).
///
/// # Errors
/// [`Error::Shape`] for a target that is no class.
fn signs(target: &Target) -> Result<Vec<f64>> {
    match target {
        Target::Class(classes) => {
            Ok(classes.iter().map(|class| if *class == 0 { -1.0 } else { 1.0 }).collect())
        }
        other => Err(Error::shape(format!("the target is {} where a class is needed", other.kind()))),
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// θ of the classifier, the price of a missed margin; 1 by default.
    theta: Option<f64>,
    /// ρ of the classifier, the price of its bias and of squared slacks; 0.01 by default.
    rho: Option<f64>,
    /// The variance m of the noise, in squared units of the encoded record. By default R²/(p − 1), where R is the radius of the domain
    /// and p the number of columns: the most that is not vacuous, for what is claimed is m(p − 1)(1 − s), and a guess at the centre of
    /// the domain is never off by more than R².
    variance: Option<f64>,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<State> {
    let domain = brief.domain.clone();
    check_domain(&domain)?;
    let most = domain.features().squared_radius() / (domain.columns().len() - 1) as f64;
    let Parameters { theta, rho, variance } = parameters;
    Ok(State {
        domain,
        theta: theta.unwrap_or(1.0),
        rho: rho.unwrap_or(0.01),
        variance: variance.unwrap_or(most),
    })
}

register! {
    /// The plugin `fisher-correlated`.
    pub const FISHER_CORRELATED = {
        name: NAME,
        summary: "Gaussian noise on numbers and levels, such that the linear support vector machine stays exactly the same",
        paper: "Farokhi, Privacy-preserving public release of datasets for support vector machine classification, Theorem 2.10",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: Parameters,
        learn: learn,
        curator: FisherCorrelated::try_from,
        example: Example::mixed,
    };
}
