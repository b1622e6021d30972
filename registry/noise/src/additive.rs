//! Mechanisms that add noise to numbers. The author of a mechanism implements [`AdditiveNoise`], and
//! [`Noisy`] makes the mechanism from it. A *point* consists of the k coordinates of a record that take
//! noise. A *lattice* consists of all multiples of its step.

use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Claim, DescribedNoise, Distance, Domain, Error, Factor, Guarantee, LocalDp,
    LocalMechanism, Noise, Output, Perturbation, Portion, Protect, RecordDomain, Releases, Result, Stream,
    Unit, split_parameters,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Debug;

/// Noise that is added to the numbers of a record, and does not depend on them. To define a mechanism that
/// adds noise, implement this trait and nothing else.
///
/// [`Noisy`] makes a mechanism from an implementation. `Noisy` has a parameter `protect`, which selects the
/// portion of a record that takes the noise: the features, the label or both. `Noisy` makes the release and
/// the pairs of inputs that an audit tries to distinguish. It also makes the guarantee: the privacy claims,
/// the information that a release discloses exactly, and the conditions under which the claims hold.
/// [`register!`](crate::register) makes the [`Plugin`](scumble_core::Plugin): the name and description of the
/// mechanism, with the functions that make the mechanism.
///
/// ```
/// use scumble_core::{Budget, DescribedNoise, Domain, Example, NoParameters, Result, Stream};
/// use scumble_noise::{AdditiveNoise, LaplaceNoise, register};
///
/// /// Laplace noise at half of its ε: twice as much as is needed.
/// #[derive(Debug, Clone)]
/// pub struct Careful(LaplaceNoise);
///
/// impl AdditiveNoise for Careful {
///     const NAME: &'static str = "careful";
///     const THEOREM: &'static str =
///         "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1)";
///     type Parameters = NoParameters;
///
///     fn calibrate(_parameters: &NoParameters, set: &Domain, budget: Budget) -> Result<Self> {
///         Ok(Self(LaplaceNoise::calibrated(set, budget.epsilon() / 2.0)?))
///     }
///
///     fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
///         self.0.add(point, stream)
///     }
///
///     fn described(&self) -> DescribedNoise {
///         self.0.described(0)
///     }
/// }
///
/// register! {
///     /// The plugin `careful`.
///     pub const CAREFUL = {
///         name: Careful::NAME,
///         summary: "twice the Laplace noise that is needed",
///         paper: "none",
///         noise: Careful,
///         example: Example::numbers,
///     };
/// }
///
/// let example = Example::numbers()?;
/// let design = CAREFUL.design(&Default::default(), &example.brief)?;
/// assert_eq!(design.mechanism().guarantee().claims.len(), 1);
/// # Ok::<(), scumble_core::Error>(())
/// ```
pub trait AdditiveNoise: Debug + Clone + Send + Sync + Sized + 'static {
    /// Name by which the mechanism is requested.
    const NAME: &'static str;

    /// Theorem that proves the privacy claim, as cited in the card of a release (its printed guarantee).
    const THEOREM: &'static str;

    /// Output of the mechanism: records, or a view (rows in another space) if points are moved into a
    /// [narrower](Self::narrowed) set.
    const OUTPUT: Output = Output::Records;

    /// Parameters in addition to `protect`. Their doc comments become the help texts of the parameters.
    type Parameters: Debug + Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// Set into which points of `set` are moved before noise is added. The points of both sets have k
    /// coordinates. A smaller set needs less noise. By default points stay in `set`.
    ///
    /// # Errors
    /// Returns an error if the parameters do not determine such a set.
    fn narrowed(_parameters: &Self::Parameters, set: &Domain) -> Result<Domain> {
        Ok(set.clone())
    }

    /// ε that the noise on a point of `set` (k coordinates) spends. The default is the ε of `budget`.
    ///
    /// # Errors
    /// Returns an error if the parameters do not determine an ε.
    fn epsilon(_parameters: &Self::Parameters, _set: &Domain, budget: &Budget) -> Result<f64> {
        Ok(budget.epsilon())
    }

    /// Noise that protects every point of `set` (k coordinates) at `budget`, whose ε is finite.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the noise cannot protect points of `set`. [`Error::Budget`] for a budget
    /// that is too small.
    fn calibrate(parameters: &Self::Parameters, set: &Domain, budget: Budget) -> Result<Self>;

    /// Rounds a point (k values) of the `set` of [`calibrate`](Self::calibrate) to the lattice on which noise
    /// is added. Implement it if the lattice is coarse, so that rounding changes points noticeably. The
    /// noise-free view of records then consists of lattice points too. By default the point does not change.
    fn on_lattice(&self, _point: &mut [f64]) {}

    /// Adds noise to a point (k values) of the `set` of [`calibrate`](Self::calibrate). An implementation
    /// rounds the point to integers, enforces the bounds of the set on these integers, and then adds integer
    /// noise.
    ///
    /// # Errors
    /// [`Error::Shape`] if the point does not have k values. [`Error::NonFinite`] for a NaN or an infinity.
    fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()>;

    /// Adds noise to points, one after the other, with the same draws as [`add`](Self::add). An
    /// implementation may make the draws in bulk and consume more of `stream` than it needs. A caller must
    /// therefore draw nothing else from `stream` afterwards.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    fn add_to_all<'p>(&self, points: impl Iterator<Item = &'p mut [f64]>, stream: &mut Stream) -> Result<()> {
        for point in points {
            self.add(point, stream)?;
        }
        Ok(())
    }

    /// Description of the noise on the k coordinates of a point, which are counted from 0. The noise
    /// distribution that a release publishes is made from this description, and an audit compares
    /// [`add`](Self::add) with it.
    fn described(&self) -> DescribedNoise;

    /// Logarithm of the probability that `point` becomes `released` (k values each), up to an additive
    /// constant that depends on neither of them. An audit uses it in its attacks. The default is `None`.
    fn log_likelihood(&self, _point: &[f64], _released: &[f64]) -> Option<f64> {
        None
    }

    /// Local differential privacy of noise calibrated to `epsilon` and `delta`. The default is pure
    /// `epsilon`-DP.
    fn local_dp(&self, epsilon: f64, _delta: f64) -> LocalDp {
        LocalDp::pure(epsilon)
    }

    /// Claims other than differential privacy about `portion`, the coordinates of a record that take noise.
    /// `unit` is what these claims protect: the record, its features or its label. The default is no claim.
    fn additional_claims(&self, _portion: &Portion, _unit: Unit) -> Vec<Claim> {
        vec![]
    }
}

/// Parameters of a mechanism that adds noise: the portion of a record that takes the noise, and the noise's
/// own parameters.
#[derive(Debug, Clone, JsonSchema)]
pub struct NoiseParameters<P> {
    /// Portion that takes noise: "record", "features" or "label". By default everything that can take it. A
    /// class label cannot.
    pub protect: Option<Protect>,
    /// Parameters of the noise itself.
    #[schemars(flatten)]
    pub own: P,
}

/// Reads `protect`; all other names belong to the noise's own parameters. The type `P` refuses unknown names
/// (`#[serde(deny_unknown_fields)]`).
impl<'de, P: DeserializeOwned> Deserialize<'de> for NoiseParameters<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let (protect, own) = split_parameters(deserializer, "protect")?;
        Ok(Self { protect, own })
    }
}

/// Mechanism that adds noise to a portion of each record. The rest of the record is released in the clear.
#[derive(Debug, Clone)]
pub struct Noisy<N: AdditiveNoise> {
    state: NoiseState<N::Parameters>,
    /// Copy of the portion in `state`, with another `epsilon`: the ε that the noise spends. In `state`,
    /// `epsilon` is the ε of the budget.
    portion: Portion,
    /// Set into which [`AdditiveNoise::narrowed`] moves the portion before noise is added.
    set: Domain,
    /// True if `set` is the domain of the whole portion and consists of intervals and one-hot groups. A point
    /// that was projected into the domain is then exactly in `set`, without a rounding error.
    is_all: bool,
    /// The noise; `None` at ε = ∞.
    noise: Option<N>,
}

/// Saved state of a mechanism that adds noise.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseState<P> {
    portion: Portion,
    #[serde(default, skip_serializing_if = "is_zero")]
    delta: f64,
    parameters: P,
}

fn is_zero(delta: &f64) -> bool {
    *delta == 0.0
}

impl<N: AdditiveNoise> TryFrom<NoiseState<N::Parameters>> for Noisy<N> {
    type Error = Error;

    fn try_from(state: NoiseState<N::Parameters>) -> Result<Self> {
        let NoiseState { portion, delta, parameters } = &state;
        let mut portion = portion.clone();
        portion.check_takes_noise(N::NAME)?;
        let whole = portion.set(N::NAME)?;
        let set = N::narrowed(parameters, &whole)?;
        portion.epsilon = N::epsilon(parameters, &set, &Budget::new(portion.epsilon, *delta)?)?;
        let budget = Budget::new(portion.epsilon, *delta)?;
        let noise = match budget.epsilon() {
            f64::INFINITY => None,
            _ => Some(N::calibrate(parameters, &set, budget)?),
        };
        // A second projection into a ball may move a point again, by a rounding error.
        let is_fixed = |factor: &Factor| matches!(factor, Factor::Interval { .. } | Factor::OneHot { .. });
        let is_all = set == whole && set.factors().all(|(_, factor)| is_fixed(factor));
        Ok(Self { state, portion, is_all, set, noise })
    }
}

impl<N: AdditiveNoise> Noisy<N> {
    /// Mechanism that adds noise at `budget` to the portion `protect` of each record. By default the portion
    /// is everything that takes noise.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if records have no portion `protect`, for example no label, or if a class
    /// label would need noise. Also the errors of [`narrowed`](AdditiveNoise::narrowed),
    /// [`epsilon`](AdditiveNoise::epsilon) and [`calibrate`](AdditiveNoise::calibrate).
    pub fn new(
        protect: Option<Protect>,
        domain: RecordDomain,
        budget: Budget,
        parameters: N::Parameters,
    ) -> Result<Self> {
        let by_default = Portion::for_numbers(domain, budget.epsilon());
        let portion = Portion { protect: protect.unwrap_or(by_default.protect), ..by_default };
        NoiseState { portion, delta: budget.delta(), parameters }.try_into()
    }

    /// State of the mechanism that the plugin designs for the domain and the budget of `brief`.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new). [`Error::Parameter`] if the noise would spend a larger ε than the
    /// budget of the [`Brief`].
    pub fn learn(
        NoiseParameters { protect, own }: NoiseParameters<N::Parameters>,
        brief: &Brief,
    ) -> Result<NoiseState<N::Parameters>> {
        let noisy = Self::new(protect, brief.domain.clone(), brief.budget, own)?;
        brief.check_ceiling(N::NAME, &noisy.guarantee())?;
        Ok(noisy.state)
    }

    /// Noise of the mechanism; `None` at ε = ∞.
    pub fn added(&self) -> Option<&N> {
        self.noise.as_ref()
    }

    /// Scale of the noise on the first coordinate that takes noise, in units of the encoded record; 0 at ε =
    /// ∞.
    pub fn scale(&self) -> f64 {
        self.added().and_then(|noise| noise.described().scales.first().copied()).unwrap_or(0.0)
    }

    /// Portion of each record that takes noise.
    pub fn portion(&self) -> &Portion {
        &self.portion
    }

    /// Moves a record, given as the list of its coordinates, into its domain. Then moves the portion that
    /// takes noise into `set`, and rounds this portion by [`AdditiveNoise::on_lattice`].
    fn settle(&self, record: &mut [f64]) -> Result<()> {
        self.domain().flat().project(record)?;
        let portion = self.portion().slice(record)?;
        if !self.is_all {
            self.set.project(portion)?;
        }
        if let Some(noise) = &self.noise {
            noise.on_lattice(portion);
        }
        Ok(())
    }
}

impl<N: AdditiveNoise> LocalMechanism for Noisy<N> {
    fn domain(&self) -> &RecordDomain {
        &self.portion().domain
    }

    fn guarantee(&self) -> Guarantee {
        let Some(noise) = &self.noise else {
            return Guarantee::nothing(self.domain());
        };
        let portion = self.portion();
        let dp = noise.local_dp(portion.epsilon, self.state.delta);
        let mut guarantee = portion.guarantee_of(dp, N::THEOREM);
        if let Some(unit) = guarantee.claims.first().map(|claim| claim.protects) {
            guarantee.claims.extend(noise.additional_claims(portion, unit));
        }
        guarantee
    }

    fn range(&self) -> Domain {
        self.portion().with(&self.set)
    }

    /// View (rows in another space) if records are moved into a [narrower](AdditiveNoise::narrowed) set,
    /// otherwise records.
    fn releases(&self) -> Releases {
        match self.portion().set(N::NAME).is_ok_and(|whole| whole == self.set) {
            true => Releases::Records,
            false => Releases::View { secret: false, aligned: true, target: self.domain().layout().target },
        }
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = record.to_vec();
        self.settle(&mut point)?;
        Ok(point)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let portion = self.portion().slice(point)?;
        match &self.noise {
            Some(noise) => noise.add(portion, stream),
            None => Ok(()),
        }
    }

    fn release_records(&self, records: &[f64], stream: &mut Stream) -> Result<Vec<f64>> {
        let mut points = records.to_vec();
        let width = self.domain().flat().dim().max(1);
        points.chunks_mut(width).try_for_each(|point| self.settle(point))?;
        if let Some(noise) = &self.noise {
            let coordinates = self.portion().coordinates();
            let portions = points.chunks_mut(width).map(|point| &mut point[coordinates.clone()]);
            noise.add_to_all(portions, stream)?;
        }
        Ok(points)
    }

    fn noise(&self) -> Noise {
        self.portion().additive(self.noise.as_ref().map(|noise| noise.described().variances))
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = self.portion().slice_both(point, released)?;
        self.noise.as_ref()?.log_likelihood(point, released)
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let start = self.portion().coordinates().start;
        self.noise.iter().map(|noise| Perturbation::Additive(noise.described()).after(start)).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let farthest = match self.noise.as_ref().map(|noise| noise.described().distance) {
            Some(Distance::L1) => self.set.l1_farthest(),
            _ => self.set.l2_farthest(),
        };
        self.portion().worst_pairs(unit, farthest)
    }
}
