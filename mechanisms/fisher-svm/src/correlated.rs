//! The plugin `fisher-correlated`: noise that leaves convex linear models unchanged.

use crate::CorrelatedNoise;
use crate::claims::without_bias;
use crate::kept::{Invariants, KeptModel, NAME};
use ndarray::Array2;
use schemars::JsonSchema;
use scumble_core::{
    ASSUMED, Accumulator, Brief, Claim, CramerRao, CuratorMechanism, Descriptor, Error, Example, Factor,
    Guarantee, Key, Noise, NoiseDistribution, Notion, Output, Randomness, RecordDomain, Release, Releases,
    Result, Table, Target, TargetDomain, Unit, collected, in_clear, register,
};
use serde::{Deserialize, Serialize};

/// Largest ratio of the noise's variance to the squared radius of the domain, or of the squared radius to the
/// variance. In double precision, much larger noise would leave no digits for the records, and so would
/// change the models.
const WIDEST: f64 = 1e12;

/// Mechanism that adds Gaussian noise and leaves convex linear models of the records unchanged: the support
/// vector machine of Farokhi's Theorem 2.10, ridge, Huber and logistic regression, and others
/// ([`KeptModel`]).
///
/// Let q records xᵢ of p numbers have scores sᵢ = wᵀxᵢ + β. A model minimises Σ ℓᵢ(sᵢ) + R(w, β) for convex
/// losses ℓᵢ, which depend on the targets, and a convex R. Its optimality conditions are Σ bᵢxᵢ + ∂R/∂w = 0
/// and Σ bᵢ + ∂R/∂β = 0, where bᵢ is a derivative (or subgradient) of ℓᵢ at the score sᵢ. Let the noise W (q
/// × p) have Ww = 0 and Wᵀb = 0. Every score then stays the same, so every bᵢ does, and so does Σ bᵢxᵢ. The
/// same (w, β) therefore satisfies the conditions for the records x + W (x is q × p, with rows xᵢ). A model
/// with a unique solution, trained on the release, is the model of the records. For the support vector
/// machine of Farokhi's equation (2), b is −ω*∘y with multipliers ω* and signs y (Proposition 2.9, Theorem
/// 2.10). Only that this machine is convex and linear matters for the proof.
///
/// Several models, and models of several classes, have several vectors w and b. With the projections P onto
/// the span of the vectors b, and Q onto the span of the vectors w, the release is x + W with W = (I −
/// P)·G·(I − Q) and G ~ N(0, m)^{q×p} ([`CorrelatedNoise`]; errata F8). Farokhi weights the errors of a
/// reconstructed record by a matrix Π. The noise is the same for every Π. The claim below is for Π = I.
///
/// # Claim and proof
///
/// Let k be the rank of Q. An unbiased estimate x̂ᵢ of record i has E‖x̂ᵢ − xᵢ‖² ≥ m(p − k)(1 − Pᵢᵢ). Take
/// the data sets x + U with UQ = 0 and PU = 0. They all have the same models, and so the same P, Q and
/// distribution of W. On the space of these U, W has a Gaussian density of variance m: the Fisher information
/// about U is the projection (I − P) ⊗ (I − Q), divided by m. An unbiased estimate is unbiased on all these
/// data sets. Over these data sets, the Cramér–Rao bound of record i is the trace of the block of record i in
/// m·(I − P) ⊗ (I − Q). The released record, taken as an estimate of the record, attains this bound. The
/// claim for every record is the least bound of all records, which is the bound of the record with the
/// largest share Pᵢᵢ. The largest share is computed from the records. The guarantee of a release contains its
/// value, and the guarantee of the design, made before there are records, describes it in words.
///
/// The claim holds only against an adversary that knows no record. An adversary that knows all other records
/// knows their noise wⱼ. From the release x̄ᵢ of a record with bᵢ ≠ 0, it computes xᵢ = x̄ᵢ + Σ_{j≠i} bⱼwⱼ/bᵢ
/// exactly (errata F12). If only record i is unknown, the Fisher information about each of its columns is
/// infinite. The claim therefore states infinite information for each column, and a joint bound for the
/// record. In composition with another release of the same columns, no bound remains. This is correct: the
/// other release has information about all other records, and an adversary that knows all other records
/// computes every record with bᵢ ≠ 0.
///
/// The release is not differentially private: the models, the scores of every record and the targets are
/// released in the clear. All values are in units of the encoded record.
///
/// ```
/// use scumble_fisher_svm::{FISHER_CORRELATED, FisherCorrelated, KeptModel};
/// use scumble_core::{CuratorMechanism, Notion, Randomness};
///
/// let example = (FISHER_CORRELATED.example)()?;
/// let mechanism = FisherCorrelated::new(example.brief.domain, vec![KeptModel::MACHINE], 100.0)?;
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
    keeps: Vec<KeptModel>,
    variance: f64,
}

impl TryFrom<State> for FisherCorrelated {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        check_domain(&state.domain)?;
        let radius = state.domain.features().squared_radius();
        let range = radius / WIDEST..=radius * WIDEST;
        let range_text =
            format!("between {:e} and {:e} for records of this domain", range.start(), range.end());
        Error::check(NAME, "variance", state.variance, &range_text, range.contains(&state.variance))?;
        if state.keeps.is_empty() {
            return Err(Error::parameter(
                NAME,
                "keeps must name a model, because noise without one has no bound",
            ));
        }
        state.keeps.iter().try_for_each(|model| model.check(&state.domain))?;
        let (kept, columns) = (kept_directions(&state), state.domain.columns().len());
        if kept >= columns {
            return Err(Error::not_applicable(
                NAME,
                format!(
                    "the models disclose {kept} combinations of {columns} columns, everything, and leave no \
                     room for noise"
                ),
            ));
        }
        Ok(Self { state })
    }
}

/// Largest number of directions of a record that the models disclose.
fn kept_directions(State { domain, keeps, .. }: &State) -> usize {
    keeps.iter().map(|model| model.directions(domain.target())).sum()
}

/// Checks the features of the records.
///
/// # Errors
/// [`Error::NotApplicable`] if a feature is neither a number nor a one-hot group, or if all features are
/// constant.
fn check_domain(domain: &RecordDomain) -> Result<()> {
    let refuse = |reason: &str| Err(Error::not_applicable(NAME, reason));
    let numbers_and_groups =
        |factor: &Factor| matches!(factor, Factor::Interval { .. } | Factor::OneHot { .. });
    if !domain.features().factors().all(|(_, factor)| numbers_and_groups(factor)) {
        return refuse("it takes features that are numbers and groups of levels, and a ball is neither");
    }
    if domain.features().squared_radius() == 0.0 {
        return refuse("the domain of the features is a single point");
    }
    Ok(())
}

impl FisherCorrelated {
    /// Creates the mechanism with noise of variance m = `variance`, in squared units of the encoded record,
    /// for the models `keeps`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if a model does not fit the target, or if the models may disclose as many
    /// combinations of columns as there are columns. Also [`Error::NotApplicable`] if a feature is neither a
    /// number nor a one-hot group, or if all features are constant. [`Error::Parameter`] if `keeps` is empty,
    /// or if a model's parameter or m is out of range.
    pub fn new(domain: RecordDomain, keeps: Vec<KeptModel>, variance: f64) -> Result<Self> {
        State { domain, keeps, variance }.try_into()
    }

    /// Variance m of the noise before the projection that leaves the models unchanged, in squared units of
    /// the encoded record.
    pub fn variance(&self) -> f64 {
        self.state.variance
    }

    /// Models of a release, in words.
    fn kept_in_words(&self) -> String {
        self.state.keeps.iter().map(KeptModel::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Disclosures of a release and assumptions of its claim. `share` is the largest share Pᵢᵢ of a record
    /// (see [`FisherCorrelated`]), which only the card of a release contains.
    fn card(&self, share: Option<f64>) -> Guarantee {
        let share = share.map_or(String::new(), |share| format!(" = {share:.4}"));
        let kept = self.kept_in_words();
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.extend([
            format!(
                "exactly the scores w·x of every record x for each kept model: {kept}; for levels, flags or \
                 whole numbers they may leave only a few possible records, or one"
            ),
            "the kept models themselves, with the derivative b of every record's loss, and so Σ bx".into(),
            format!(
                "the largest share of one record in the kept sums Σ bx, s{share}, computed from the records"
            ),
            "every record with b ≠ 0, exactly, to an adversary that knows all other records (errata F12): \
             every support vector of a machine, and every record of other models"
                .into(),
            "the number of records".into(),
        ]);
        Guarantee {
            discloses,
            assumes: ASSUMED
                .into_iter()
                .chain([
                    "the adversary knows no other record, and its guess is unbiased at every point that \
                     noise can reach, also beyond the domain",
                    "the noise is treated as continuous, although it is drawn on a lattice 2^40 times finer \
                     than its standard deviation; the models are treated as exact, although they are solved \
                     in double precision",
                ])
                .map(str::to_owned)
                .collect(),
            ..Guarantee::default()
        }
    }

    /// Guarantee of a release with this `noise`.
    fn release_guarantee(&self, noise: &CorrelatedNoise) -> Guarantee {
        let columns = self.state.domain.columns();
        let share = noise.largest_share();
        let bound = CramerRao {
            // An adversary that knows the other records knows every column of a record with b ≠ 0.
            information: columns.iter().map(|name| (name.clone(), f64::INFINITY)).collect(),
            joint: Some(self.state.variance * noise.open_directions() as f64 * (1.0 - share)),
        };
        let caveat = without_bias(&self.state.domain, &bound);
        let claim = Claim {
            notion: Notion::CramerRao(bound),
            protects: Unit::Features,
            theorem: "the Cramér-Rao bound m(p − k)(1 − s) of noise that leaves convex linear models \
                      unchanged (after Theorem 2.10 of Farokhi, Privacy-preserving public release of \
                      datasets for support vector machine classification), over all data sets with the same \
                      models"
                .into(),
        };
        let mut guarantee = Guarantee { claims: vec![claim], ..self.card(Some(share)) };
        guarantee.assumes.push(caveat);
        guarantee
    }

    /// Vectors that the noise leaves unchanged for all models of `records` (q × p).
    fn invariants(&self, records: &Array2<f64>, target: &Target) -> Result<Invariants> {
        let classes = match self.state.domain.target() {
            TargetDomain::Class { levels } => levels.len(),
            _ => 0,
        };
        let mut all = Invariants::default();
        for model in &self.state.keeps {
            let own = model.invariants(records, target, classes)?;
            all.weights.extend(own.weights);
            all.slopes.extend(own.slopes);
        }
        Ok(all)
    }
}

impl CuratorMechanism for FisherCorrelated {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let open = self.state.domain.columns().len() - kept_directions(&self.state);
        let joint = Some(self.state.variance * open as f64);
        let most = Notion::CramerRao(CramerRao { joint, ..CramerRao::default() });
        let claim = format!(
            "{most}, times 1 − s, for {}, by an adversary that knows no record; s, the largest share of one \
             record in the kept sums, is computed from the records, and the card of each release gives it",
            Unit::Features
        );
        Guarantee { each_release: vec![claim], ..self.card(None) }
    }

    fn releases(&self) -> Releases {
        Releases::Records
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl FisherCorrelated {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let mut records = self.state.domain.projected_features(table)?;
        let Invariants { weights, slopes } = self.invariants(&records, table.target())?;
        let noise = CorrelatedNoise::new(slopes, weights, self.state.variance)?;
        if 1.0 - noise.largest_share() < 1e-9 {
            let reason = "one record alone determines a kept sum and would be released in the clear";
            return Err(Error::not_applicable(NAME, reason));
        }
        let values =
            records.as_slice_mut().ok_or_else(|| Error::shape("the records are not stored row by row"))?;
        noise.add(values, &randomness.streams())?;
        let table = Table::new(table.columns().to_vec(), records, table.target().clone())?;
        let guarantee = self.release_guarantee(&noise).under(randomness.provenance());
        let shared = NoiseDistribution::Shared { width: table.columns().len() };
        let noise = Noise::for_features(&self.state.domain, shared);
        Ok(Release::new(Key::None, guarantee, noise, table))
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Models that stay unchanged. By default, one: Farokhi's support vector machine for a label of two
    /// classes, multinomial logistic regression for more, and ridge regression for a number (or if the former
    /// has more than 2,000 coefficients).
    keeps: Option<Vec<KeptModel>>,
    /// Variance m of the noise, in squared units of the encoded record. By default R²/(p − k), with R the
    /// radius of the domain, p the number of columns and k the number of weight vectors of the models. A
    /// larger variance may make the claim m(p − k)(1 − s) vacuous, because the centre of the domain has a
    /// squared error of at most R². Here s is the largest share of a record in the kept sums.
    variance: Option<f64>,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<State> {
    let domain = brief.domain.clone();
    let Parameters { keeps, variance } = parameters;
    let keeps = keeps.unwrap_or_else(|| vec![KeptModel::default_for(&domain)]);
    let state = State { domain, keeps, variance: variance.unwrap_or(0.0) };
    let open = state.domain.columns().len().saturating_sub(kept_directions(&state)).max(1);
    let most = state.domain.features().squared_radius() / open as f64;
    // Check before the release does.
    FisherCorrelated::try_from(State { variance: variance.unwrap_or(most), ..state })
        .map(|mechanism| mechanism.state)
}

register! {
    /// The plugin `fisher-correlated`.
    pub const FISHER_CORRELATED = {
        name: NAME,
        summary: "Gaussian noise on numbers and levels that keeps linear models (support vector machine, \
                  ridge, logistic and others) exactly the same",
        paper: "Farokhi, Privacy-preserving public release of datasets for support vector machine \
                classification, Theorem 2.10, for any convex linear model",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: learn,
        curator: FisherCorrelated::try_from,
        example: Example::mixed,
    };
}
