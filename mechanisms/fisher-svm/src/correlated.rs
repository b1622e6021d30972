//! The plugin `fisher-correlated`: noise that leaves a linear support vector machine (the *classifier*)
//! unchanged.

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

/// Largest residual of the Karush-Kuhn-Tucker conditions of the computed classifier. In the conditions of the
/// released records, this classifier has the same residual.
const RESIDUAL: f64 = 1e-9;
const MOST_ITERATIONS: u64 = 200;

/// Largest ratio of the noise's variance to the squared radius of the domain, or of the squared radius to the
/// variance. In double precision, much larger noise would leave no digits for the records, and so would
/// change the classifier.
const WIDEST: f64 = 1e12;

/// Mechanism that adds Gaussian noise and leaves the linear support vector machine of the records unchanged
/// (Farokhi, Theorem 2.10).
///
/// Let q records xᵢ of p numbers have labels yᵢ of ±1 (the second level of the label is +1). Let α* and β* be
/// the weights and the bias of the classifier of Farokhi's equation (2),
///
/// min ½‖α‖² + ½ρ(β² + ‖ξ‖²) + θ Σξᵢ, with yᵢ(αᵀxᵢ + β) ≥ 1 − ξᵢ and ξᵢ ≥ 0,
///
/// with slacks ξᵢ and penalties θ and ρ. Let ω* be the multipliers of the constraints yᵢ(αᵀxᵢ + β) ≥ 1 − ξᵢ.
/// With a = α* and b = ω*∘y (element by element), the release of the records x (q × p, with rows xᵢ) is x + W
/// with W = (I − bbᵀ/bᵀb)·G·(I − aaᵀ/aᵀa) and G ~ N(0, m)^{q×p} ([`CorrelatedNoise`]; errata F8). Since Wa =
/// 0 and Wᵀb = 0, the solution α*, β*, ω* for the records also satisfies the Karush-Kuhn-Tucker conditions
/// (Farokhi, equation 15) for the release. So a classifier trained on the release has the same α*, β* and ω*
/// (Farokhi, Proposition 2.9). Farokhi weights the errors of a reconstructed record by a matrix Π. The noise
/// of Theorem 2.10 is the same for every Π. The claim below is for Π = I.
///
/// # Claim and proof
///
/// An unbiased estimate x̂ᵢ of record i has E‖x̂ᵢ − xᵢ‖² ≥ m(p − 1)(1 − bᵢ²/bᵀb). Take the data sets x + U
/// with Ua = 0 and Uᵀb = 0. They all have the same classifier, and so the same a, b and distribution of W. On
/// the space of these U, W has a Gaussian density of variance m. An unbiased estimate is unbiased on all
/// these data sets. Over these data sets, the Cramér–Rao bound of record i is the trace of the block of
/// record i in m·(I − bbᵀ/bᵀb) ⊗ (I − aaᵀ/aᵀa). The released record, taken as an estimate of the record,
/// attains this bound. The claim for every record is the least bound of all records, which is the bound of
/// the record with the largest share bᵢ²/bᵀb. The largest share is computed from the records. The guarantee
/// of a release contains its value, and the guarantee of the design, made before there are records, describes
/// it in words.
///
/// The claim holds only against an adversary that knows no record. An adversary that knows all other records
/// knows their noise wⱼ. From the release x̄ᵢ of a support vector, it computes xᵢ = x̄ᵢ + Σ_{j≠i} bⱼwⱼ/bᵢ
/// exactly (errata F12). If only record i is unknown, the Fisher information about each of its columns is
/// infinite. The claim therefore states infinite information for each column, and a joint bound for the
/// record. In composition with another release of the same columns, no bound remains. This is correct: the
/// other release has information about all other records, and an adversary that knows all other records
/// computes the support vectors.
///
/// The release is not differentially private: the classifier, the score α*ᵀxᵢ of every record and the labels
/// are released in the clear. All values are in units of the encoded record.
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

/// Public state of the mechanism.
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
        let check = |name: &str, value: f64, range: std::ops::RangeInclusive<f64>, suffix: &str| {
            let range_text = format!("between {:e} and {:e}{suffix}", range.start(), range.end());
            Error::check(NAME, name, value, &range_text, range.contains(&value))
        };
        check("theta", state.theta, 1e-9..=1e9, "")?;
        check("rho", state.rho, 1e-9..=1e9, "")?;
        let range = radius / WIDEST..=radius * WIDEST;
        check("variance", state.variance, range, " for records of this domain")?;
        Ok(Self { state })
    }
}

/// Checks the domain of the records.
///
/// # Errors
/// [`Error::NotApplicable`] if the label does not have two classes, if there are fewer than two columns, if a
/// feature is neither a number nor a one-hot group, or if all features are constant.
fn check_domain(domain: &RecordDomain) -> Result<()> {
    let refuse = |reason: &str| Err(Error::not_applicable(NAME, reason));
    match domain.target() {
        TargetDomain::Class { levels } if levels.len() == 2 => {}
        TargetDomain::Class { .. } => {
            return refuse("its classifier separates two classes, and the label has more");
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
            "with fewer than two columns of features, the classifier discloses everything and leaves no room \
             for noise",
        );
    }
    if domain.features().squared_radius() == 0.0 {
        return refuse("the domain of the features is a single point");
    }
    Ok(())
}

impl FisherCorrelated {
    /// Creates the mechanism with noise of variance m = `variance`, in squared units of the encoded record.
    /// `theta` is the weight θ of the slacks, and `rho` the weight ρ of the squared bias and squared slacks,
    /// in equation (2) of Farokhi (see [`FisherCorrelated`]).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the label does not have two classes, if there are fewer than two columns,
    /// if a feature is neither a number nor a one-hot group, or if all features are constant.
    /// [`Error::Parameter`] if θ, ρ or m is out of range.
    pub fn new(domain: RecordDomain, theta: f64, rho: f64, variance: f64) -> Result<Self> {
        State { domain, theta, rho, variance }.try_into()
    }

    /// Variance m of the noise before the projection that leaves the classifier unchanged, in squared units
    /// of the encoded record.
    pub fn variance(&self) -> f64 {
        self.state.variance
    }

    /// Lower bound m(p − 1)(1 − `share`) on the squared error of an unbiased estimate of a record, for noise
    /// of variance m and p columns. `share` is bᵢ²/bᵀb for record i, where the vector b has the multiplier of
    /// each record in the classifier, times the sign of its label.
    fn bound(&self, share: f64) -> f64 {
        let open = (self.state.domain.columns().len() - 1) as f64;
        self.state.variance * open * (1.0 - share)
    }

    /// Disclosures of a release and assumptions of its claim. `share` is the largest share bᵢ²/bᵀb of a
    /// record in the classifier (see [`FisherCorrelated`]), which only the card of a release contains.
    fn card(&self, share: Option<f64>) -> Guarantee {
        let share = share.map_or(String::new(), |share| format!(" = {share:.4}"));
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.extend([
            "exactly α*·x of every record x, its distance from the classifier; for levels, flags or whole \
             numbers this may leave only a few possible records, or one"
                .into(),
            "the classifier itself, with every record's multiplier ω, and so Σ ωyx = α*".into(),
            format!(
                "the largest share of one record in the classifier, max ω²/Σω²{share}, computed from the \
                     records"
            ),
            "every support vector, exactly, to an adversary that knows all other records (errata F12)".into(),
            "the number of records".into(),
        ]);
        Guarantee {
            discloses,
            assumes: ASSUMED.into_iter().chain([
                "the adversary knows no other record, and its guess is unbiased at every point that noise \
                 can reach, also beyond the domain",
                "the noise is treated as continuous, although it is drawn on a lattice 2^40 times finer than \
                 its standard deviation; the classifier is treated as exact, although it is solved in double \
                 precision",
            ]).map(str::to_owned).collect(),
            ..Guarantee::default()
        }
    }

    /// Guarantee of a release in which `share` is the largest share bᵢ²/bᵀb of a record in the classifier
    /// (see [`FisherCorrelated`]).
    fn release_guarantee(&self, share: f64) -> Guarantee {
        let columns = self.state.domain.columns();
        let bound = CramerRao {
            // An adversary that knows the other records knows every column of a support vector.
            information: columns.iter().map(|name| (name.clone(), f64::INFINITY)).collect(),
            joint: Some(self.bound(share)),
        };
        let caveat = without_bias(&self.state.domain, &bound);
        let claim = Claim {
            notion: Notion::CramerRao(bound),
            protects: Unit::Features,
            theorem: "the Cramér-Rao bound m(p − 1)(1 − max ω²/Σω²) of the noise of Theorem 2.10 (Farokhi, \
                      Privacy-preserving public release of datasets for support vector machine \
                      classification), over all data sets with the same classifier"
                .into(),
        };
        let mut guarantee = Guarantee { claims: vec![claim], ..self.card(Some(share)) };
        guarantee.assumes.push(caveat);
        guarantee
    }

    /// Computes the classifier of Farokhi's equation (2) for `records` (q × p values) with labels `signs` (q
    /// values).
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the solver fails, or if the classifier does not depend on the features.
    fn classifier(&self, records: &Array2<f64>, signs: &[f64]) -> Result<Machine> {
        let unsolved = |error: scumble_kkt::Error| {
            Error::not_applicable(NAME, format!("the classifier of the records was not found: {error}"))
        };
        let penalties = vec![self.state.theta; signs.len()];
        let examples = Records::new(records.view());
        let programme = SoftMargin::new(&examples, signs, &penalties).map_err(unsolved)?;
        let programme = programme.bias_penalty(self.state.rho).map_err(unsolved)?;
        let programme = programme.squared_slack_penalty(self.state.rho).map_err(unsolved)?;
        let machine = programme.proven(RESIDUAL, MOST_ITERATIONS).map_err(unsolved)?;
        let largest =
            |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0, |most: f64, x| most.max(x.abs()));
        // Below this limit, the scores αᵀx of all records x are close to zero compared with margins of 1.
        // Then rounding errors determine the direction of α, the weights of the classifier.
        if largest(&mut machine.weights.iter()) * largest(&mut records.iter()) < 1e-9 {
            let reason = "the classifier of these records uses none of their features (α = 0), so keeping it \
                          is meaningless";
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
            "{most}, times 1 − s, for {}, by an adversary that knows no record; s, the largest share of one \
             record in the classifier, is computed from the records, and the card of each release gives it",
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
            let reason = "one record determines the whole classifier and would be released in the clear";
            return Err(Error::not_applicable(NAME, reason));
        }
        let values =
            records.as_slice_mut().ok_or_else(|| Error::shape("the records are not stored row by row"))?;
        noise.add(values, &randomness.streams())?;
        let table = Table::new(table.columns().to_vec(), records, table.target().clone())?;
        Ok(Release {
            key: Key::secret(Space { domain: self.state.domain.clone() }, &table),
            guarantee: self.release_guarantee(noise.largest_share()).under(randomness.provenance()),
            noise: Noise::for_features(
                &self.state.domain,
                NoiseDistribution::Shared { width: table.columns().len() },
            ),
            table,
            counted_tables: vec![],
        })
    }
}

/// Key of a release, which maps records in the clear to the space of the released ones. The two spaces are
/// the same, so the key only projects records onto the domain.
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

/// Signs of the classes: −1 for the first level, 1 for the second (q values).
///
/// # Errors
/// [`Error::Shape`] if `target` is not a class.
fn signs(target: &Target) -> Result<Vec<f64>> {
    match target {
        Target::Class(classes) => {
            Ok(classes.iter().map(|class| if *class == 0 { -1.0 } else { 1.0 }).collect())
        }
        other => Err(Error::shape(format!("the target is {}, and a class is needed", other.kind()))),
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// θ of the classifier, the penalty for a missed margin; 1 by default.
    theta: Option<f64>,
    /// ρ of the classifier, the penalty for its bias and for squared slacks; 0.01 by default.
    rho: Option<f64>,
    /// Variance m of the noise, in squared units of the encoded record. By default R²/(p − 1), with R the
    /// radius of the domain and p the number of columns. A larger variance may make the claim m(p − 1)(1 − s)
    /// vacuous, because the centre of the domain has a squared error of at most R². Here s is the largest
    /// share of a record in the classifier.
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
        summary: "Gaussian noise on numbers and levels that keeps the linear support vector machine exactly \
                  the same",
        paper: "Farokhi, Privacy-preserving public release of datasets for support vector machine \
                classification, Theorem 2.10",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: Parameters,
        learn: learn,
        curator: FisherCorrelated::try_from,
        example: Example::mixed,
    };
}
