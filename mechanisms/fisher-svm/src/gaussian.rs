//! The plugin `fisher-gaussian`: noise of least Fisher information for its variance, after Theorem 2.4 of
//! Farokhi. λ weights the noise's variance relative to its Fisher information. The matrix Π weights the
//! errors of a reconstructed record by column.

use crate::claims::{feature_guarantee, features_of};
use crate::weights::{Bound, Powers, Weighting, Weights, are_numbers, half_widths};
use ndarray::{Array1, Array2, ArrayView1};
use schemars::JsonSchema;
use scumble_accounting::gaussian;
use scumble_core::{
    Brief, Budget, CramerRao, Descriptor, Domain, Error, Example, Factor, Guarantee, LocalDp, LocalMechanism,
    Noise, NoiseDistribution, Notion, Output, Perturbation, RecordDomain, Result, Stream, Unit, register,
};
use scumble_noise::GaussianNoise;
use serde::{Deserialize, Serialize};
use std::ops::Range;

pub(crate) const NAME: &str = "fisher-gaussian";

/// Mechanism that adds Gaussian noise of covariance Π^{−1/2}/√λ to the features of each record. The matrix Π
/// weights the errors of a reconstruction by column ([`Weights`]). λ is the weight of the noise's variance
/// relative to its Fisher information.
///
/// This noise distribution has the least Tr(Π⁻¹I) + λ·Tr(V) of all, with the Fisher information I and
/// the covariance V (Farokhi, Theorem 2.4). The label is released in the clear.
///
/// For a diagonal Π with entries ϑ, each coordinate has discrete Gaussian noise with its own σ = (λϑ)^{−1/4}.
/// For a full Π the features x of a record are mapped to the image Π^{1/4}(x − c), with c the centre of the
/// domain. Noise with σ = λ^{−1/4} is added to each coordinate of this image. Mapping the noisy image back is
/// post-processing. The sensitivity is the diameter of a ball that contains the images of all records. With
/// up to twenty columns, the diameter is the largest distance of the images of two records. With more
/// columns, it is an upper bound on this distance. A full Π requires numeric features.
///
/// The mechanism claims the privacy profile δ(ε) for all ε, for records within the bounds of the domain, and
/// a Cramér–Rao bound on the error of unbiased estimates of a record. Farokhi's Theorem 2.5
/// ([`papers_epsilon`](Self::papers_epsilon)) gives a larger ε than this profile where it holds, and does not
/// hold for every λ (errata F2).
///
/// ```
/// use scumble_fisher_svm::FisherGaussian;
/// use scumble_core::{Designed, Domain, LocalMechanism, RecordDomain, TargetDomain, Unit};
///
/// let columns = vec!["height".into(), "weight".into()];
/// let people = RecordDomain::new(columns, Domain::unit_box(2), TargetDomain::None)?;
/// let mechanism = FisherGaussian::with_lambda(people, None, 1e-4, 1e-6)?;
/// assert!((mechanism.scales()[0] - 10.0).abs() < 1e-6); // λ^{−1/4}
/// assert!((mechanism.weighted_error() - 200.0).abs() < 1e-4); // Tr(Π^{1/2})/√λ
/// let dp = mechanism.guarantee().local_dp(Unit::Record).cloned().unwrap();
/// assert!(dp.epsilon < mechanism.papers_epsilon(1e-6).unwrap());
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FisherGaussian {
    state: State,
    weighting: Weighting,
    /// Map to the image of the features, to which the noise is added for a full Π; `None` for a diagonal Π.
    image: Option<Image>,
    /// Noise of the features or of their image; `None` at λ = ∞.
    noise: Option<GaussianNoise>,
}

/// State of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
    #[serde(with = "scumble_core::number")]
    lambda: f64,
    /// The δ at which ε is claimed.
    delta: f64,
}

/// Image Π^{1/4}(x − c) of the features x, with the centre c of the domain and the maps in both directions.
#[derive(Debug, Clone)]
struct Image {
    /// Ball that contains the images of all records.
    ball: Domain,
    center: Array1<f64>,
    forward: Array2<f64>,
    back: Array2<f64>,
}

impl Image {
    fn new(powers: &Powers, features: &Domain) -> Result<Self> {
        let Some(halves) = half_widths(features) else {
            let reason =
                "a full Π applies to numbers alone; for levels and balls, give one weight per column";
            return Err(Error::not_applicable(NAME, reason));
        };
        // The factor covers rounding errors of the map, which are about 10⁻¹⁵ of a record's norm.
        let radius = powers.radius(&halves).value * (1.0 + 1e-9);
        Ok(Self {
            ball: Domain::l2_ball(features.dim(), radius)?,
            center: features.center().into(),
            forward: powers.quarter.clone(),
            back: powers.minus_quarter.clone(),
        })
    }
}

impl TryFrom<State> for FisherGaussian {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let features = state.domain.features();
        if features.dim() == 0 {
            return Err(Error::not_applicable(NAME, "there is no feature to protect"));
        }
        Error::check(NAME, "lambda", state.lambda, "above zero", state.lambda > 0.0)?;
        if Budget::new(1.0, state.delta)?.delta() == 0.0 {
            return Err(Error::not_applicable(
                NAME,
                "Gaussian noise has no guarantee at δ = 0; choose δ above zero",
            ));
        }
        let weighting = Weighting::new(NAME, state.weights.as_ref(), state.domain.columns())?;
        let image = match &weighting {
            Weighting::Diagonal(_) => None,
            Weighting::Full(powers) => Some(Image::new(powers, features)?),
        };
        let sigma = state.lambda.powf(-0.25);
        let scales = match &weighting {
            Weighting::Diagonal(weights) => weights.iter().map(|weight| sigma * weight.powf(-0.25)).collect(),
            Weighting::Full(_) => vec![sigma; features.dim()],
        };
        let set = image.as_ref().map_or(features, |image| &image.ball);
        let noise = match state.lambda {
            f64::INFINITY => None,
            _ => Some(GaussianNoise::with_scales(set, &scales)?),
        };
        Ok(Self { state, weighting, image, noise })
    }
}

impl FisherGaussian {
    /// Creates the mechanism from λ, the weight of the noise's variance relative to its Fisher information. A
    /// larger λ gives less noise, and λ = ∞ gives no noise. The guarantee claims ε at δ = `delta`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless λ > 0, or if the weights form no positive definite Π.
    /// [`Error::NotApplicable`] if there is no feature, if δ is zero, or if Π is full and a feature is not a
    /// number. [`Error::Budget`] if a column's standard deviation is not finite and above zero, or if it is
    /// too far above the least standard deviation of a column for a common lattice.
    pub fn with_lambda(
        domain: RecordDomain,
        weights: Option<Weights>,
        lambda: f64,
        delta: f64,
    ) -> Result<Self> {
        State { domain, weights, lambda, delta }.try_into()
    }

    /// Creates the mechanism from a lower bound on the error of every unbiased reconstruction x̂ of a record
    /// x, E‖Π^{1/2}(x̂ − x)‖² ≥ `error` (Farokhi, Proposition 2.2, with errata F11). It sets √λ =
    /// Tr(Π^{1/2})/`error`, with the trace over numeric features only.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `error` is finite and above zero, [`Error::NotApplicable`] if all features
    /// are levels. All errors of [`with_lambda`](Self::with_lambda) also apply.
    pub fn with_error(
        domain: RecordDomain,
        weights: Option<Weights>,
        error: f64,
        delta: f64,
    ) -> Result<Self> {
        Error::check(NAME, "error", error, "finite and above zero", error > 0.0 && error.is_finite())?;
        let weighting = Weighting::new(NAME, weights.as_ref(), domain.columns())?;
        let halves = weighting.half_diagonal().into_iter().zip(are_numbers(domain.features()));
        let half_trace: f64 = halves.filter(|(_, is_number)| *is_number).map(|(half, _)| half).sum();
        if half_trace == 0.0 {
            return Err(Error::not_applicable(NAME, "error applies to numbers, and all features are levels"));
        }
        let lambda = (half_trace / error).powi(2);
        Self::nearest(domain, weights, lambda, delta, |mechanism| mechanism.weighted_error() >= error)
    }

    /// Creates the mechanism from (ε, δ). Its λ is, up to some billionths, the largest λ for which the noise
    /// meets the `budget` for records of `domain`.
    ///
    /// # Errors
    /// Same errors as [`with_lambda`](Self::with_lambda), and [`Error::NotApplicable`] if the domain has only
    /// one record.
    pub fn for_budget(domain: RecordDomain, weights: Option<Weights>, budget: Budget) -> Result<Self> {
        if budget.epsilon() == f64::INFINITY || budget.delta() == 0.0 {
            return Self::with_lambda(domain, weights, f64::INFINITY, budget.delta());
        }
        let weighting = Weighting::new(NAME, weights.as_ref(), domain.columns())?;
        let spread = weighting.spread(domain.features()).value;
        if spread == 0.0 {
            return Err(Error::not_applicable(
                NAME,
                "the domain has only one record, so there is nothing to hide",
            ));
        }
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        let lambda = gaussian::mu(epsilon, delta).map_or(0.0, |mu| (mu / spread).powi(4));
        Self::nearest(domain, weights, lambda, delta, |mechanism| {
            mechanism.noise.as_ref().is_some_and(|noise| noise.profile().epsilon(delta) <= epsilon)
        })
    }

    /// Creates the mechanism with the first λ, from `lambda` downwards, for which `is_enough` returns true.
    /// For continuous noise λ = `lambda` would be enough. For noise on a lattice λ must be smaller by some
    /// billionths.
    fn nearest(
        domain: RecordDomain,
        weights: Option<Weights>,
        lambda: f64,
        delta: f64,
        is_enough: impl Fn(&Self) -> bool,
    ) -> Result<Self> {
        let mut mechanism = Self::with_lambda(domain.clone(), weights.clone(), lambda, delta)?;
        let mut less = 1e-10;
        while !is_enough(&mechanism) && less < 0.5 {
            mechanism = Self::with_lambda(domain.clone(), weights.clone(), lambda * (1.0 - less), delta)?;
            less *= 2.0;
        }
        if is_enough(&mechanism) {
            return Ok(mechanism);
        }
        Err(Error::not_applicable(NAME, "the lattice is too coarse for noise of the required size"))
    }

    /// Weight λ of the noise's variance relative to its Fisher information.
    pub fn lambda(&self) -> f64 {
        self.state.lambda
    }

    /// Standard deviation of the noise of each released feature (d values), in units of the encoded record; 0
    /// at λ = ∞.
    pub fn scales(&self) -> Vec<f64> {
        let covariance = self.distribution().added_variance().unwrap_or_default();
        covariance.into_iter().map(f64::sqrt).collect()
    }

    /// Lower bound on E‖Π^{1/2}(x̂ − x)‖² for every unbiased estimate x̂ of a record x; 0 at λ = ∞. It is
    /// Tr(Π^{1/2})/√λ minus the effect of the lattice (Farokhi, Proposition 2.2, with errata F11 and F14).
    /// Levels of categories add nothing to the bound, because they have no neighbouring values. An adversary
    /// that knows which columns are levels may have an error close to zero in these columns.
    pub fn weighted_error(&self) -> f64 {
        let Some(noise) = &self.noise else {
            return 0.0;
        };
        let bounds = noise.information().into_iter().zip(are_numbers(self.features()));
        let bounds = bounds.map(|(information, is_number)| if is_number { 1.0 / information } else { 0.0 });
        match &self.weighting {
            Weighting::Diagonal(weights) => {
                weights.iter().zip(bounds).map(|(weight, bound)| weight * bound).sum()
            }
            Weighting::Full(_) => self.weighting.half_trace() * { bounds }.next().unwrap_or(0.0),
        }
    }

    /// ε of Farokhi's Theorem 2.5 at δ = `delta`: s·(1 + √(2·ln(1/δ))). Here s is λ^{1/4}‖Π^{1/4}‖_{∞,2}
    /// times the largest width of a feature's domain, and ‖Π^{1/4}‖_{∞,2} = max ‖Π^{1/4}x‖₂ over ‖x‖_∞ ≤ 1.
    /// `None` for s > 2, where the theorem does not hold for every δ (errata F2). The printed guarantee of
    /// a release shows the result next to the claimed ε, but does not claim it.
    pub fn papers_epsilon(&self, delta: f64) -> Option<f64> {
        let s = self.papers_scale().value;
        (s <= 2.0).then(|| s * (1.0 + (2.0 * (1.0 / delta).ln()).sqrt()))
    }

    /// The number s in Farokhi's Theorem 2.5, which [`papers_epsilon`](Self::papers_epsilon) defines.
    fn papers_scale(&self) -> Bound {
        let width = |factor: &Factor| match factor {
            Factor::OneHot { .. } => 1.0,
            _ => factor.l2_diameter(),
        };
        let widest = self.features().factors().map(|(_, factor)| width(factor)).fold(0.0, f64::max);
        let Bound { value, is_exact } = self.weighting.infinity_to_two();
        Bound { value: self.state.lambda.powf(0.25) * value * widest, is_exact }
    }

    fn features(&self) -> &Domain {
        self.state.domain.features()
    }

    /// Positions of the features in an encoded record.
    fn coordinates(&self) -> Range<usize> {
        0..self.features().dim()
    }

    /// Distribution of the features' noise.
    fn distribution(&self) -> NoiseDistribution {
        match (&self.noise, &self.weighting) {
            (None, _) => NoiseDistribution::Exact { width: self.features().dim() },
            (Some(noise), Weighting::Diagonal(_)) => {
                NoiseDistribution::Additive { variance: noise.variances() }
            }
            (Some(noise), Weighting::Full(powers)) => {
                let variance = noise.variances().first().copied().unwrap_or(0.0);
                let rows = powers.minus_half.rows().into_iter().map(|row| (&row * variance).to_vec());
                NoiseDistribution::Correlated { covariance: rows.collect() }
            }
        }
    }

    /// Fisher information of a release about each feature j: I_jj = √λ·(Π^{1/2})_jj for the weight λ and the
    /// matrix Π of the mechanism, infinite for a level. For a full Π the result also has Tr(I⁻¹) =
    /// Tr(Π^{−1/2})/√λ, a lower bound on the squared error of all features together.
    fn information(&self, noise: &GaussianNoise) -> CramerRao {
        let per_coordinate = noise.information().into_iter().zip(are_numbers(self.features()));
        let per_coordinate =
            per_coordinate.map(|(value, is_number)| if is_number { value } else { f64::INFINITY });
        let per_coordinate: Vec<f64> = per_coordinate.collect();
        let (information, joint) = match &self.weighting {
            Weighting::Diagonal(_) => (per_coordinate, None),
            Weighting::Full(powers) => {
                let common = per_coordinate.first().copied().unwrap_or(f64::INFINITY);
                let halves = self.weighting.half_diagonal();
                let information = halves.into_iter().map(|half| half * common).collect();
                (information, Some(powers.minus_half.diag().sum() / common))
            }
        };
        let columns = self.state.domain.columns().iter().cloned();
        CramerRao { information: columns.zip(information).collect(), joint }
    }

    /// Describes Farokhi's Theorem 2.5 in words.
    fn papers_word(&self) -> String {
        let Bound { value, is_exact } = self.papers_scale();
        let s = if is_exact { format!("s = {value:.4}") } else { format!("s ≤ {value:.4}, a bound") };
        match self.papers_epsilon(self.state.delta) {
            Some(epsilon) => format!(
                "; Theorem 2.5 of the paper, which follows from it, gives ε = {epsilon:.4} at this δ ({s})"
            ),
            None => format!(
                "; Theorem 2.5 of the paper does not apply here ({s}; its proof needs s ≤ 2: errata F2)"
            ),
        }
    }
}

/// Replaces `features` by their image under `map`.
fn replace(features: &mut [f64], map: impl FnOnce(ArrayView1<f64>) -> Array1<f64>) {
    let mapped = map(ArrayView1::from(&*features));
    features.iter_mut().zip(mapped).for_each(|(x, y)| *x = y);
}

impl LocalMechanism for FisherGaussian {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Some(noise) = &self.noise else {
            return Guarantee::nothing(&self.state.domain);
        };
        let (profile, delta) = (noise.profile(), self.state.delta);
        let theorem = format!(
            "the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8) for the noise of Farokhi's \
             Theorem 2.4, with the domain's own bounds, and a proven bound on what discrete noise (Canonne, \
             Kamath and Steinke 2020) adds to it{}",
            self.papers_word()
        );
        let mut weighted = String::new();
        if self.state.weights.is_some() {
            weighted = format!(
                "; E‖Π^{{1/2}}(x̂ − x)‖² is at least {:.4} (the weight is Π^{{1/2}}, not the printed Π: \
                 errata F11)",
                self.weighted_error()
            );
        }
        let bound = format!(
            "Proposition 2.2 of Farokhi, for lattice noise by Hammersley (1950) and Chapman and Robbins \
             (1951){weighted}"
        );
        let claims = vec![
            (Notion::LocalDp(LocalDp::new(profile.epsilon(delta), delta).along(profile)), theorem),
            (Notion::CramerRao(self.information(noise)), bound),
        ];
        feature_guarantee(&self.state.domain, claims)
    }

    fn range(&self) -> Domain {
        let flat = self.state.domain.flat();
        let Some(Image { ball, .. }) = &self.image else {
            return flat.clone();
        };
        let factors = flat.factors().filter(|(at, _)| at.start >= self.coordinates().end);
        let rest = factors.map(|(_, factor)| Domain::try_from(vec![factor.clone()]));
        let all = rest.collect::<Result<Vec<_>>>().map(|rest| [vec![ball.clone()], rest].concat());
        // The product of some factors of a domain and a ball is a valid domain.
        all.and_then(Domain::product).unwrap_or_else(|_| flat.clone())
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = self.state.domain.projected(record)?;
        if let Some(Image { center, forward, .. }) = &self.image {
            replace(&mut point[self.coordinates()], |x| forward.dot(&(&x - center)));
        }
        Ok(point)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let features = features_of(&self.state.domain, point)?;
        match &self.noise {
            Some(noise) => noise.add(features, stream),
            None => Ok(()),
        }
    }

    fn decode(&self, mut point: Vec<f64>) -> Result<Vec<f64>> {
        let features = features_of(&self.state.domain, &mut point)?;
        if let Some(Image { center, back, .. }) = &self.image {
            replace(features, |y| back.dot(&y) + center);
        }
        Ok(point)
    }

    fn noise(&self) -> Noise {
        Noise::for_features(&self.state.domain, self.distribution())
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let (point, released) = (point.get(self.coordinates())?, released.get(self.coordinates())?);
        self.noise.as_ref()?.log_likelihood(point, released).ok()
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        self.noise.iter().map(|noise| Perturbation::Additive(noise.described(0))).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        unit.pair_of_features(&self.state.domain, self.range().l2_farthest())
    }
}

/// Parameters of `fisher-gaussian`: λ, or a lower bound on the error of every unbiased reconstruction.
/// Without either, the budget determines the noise. With either, a design is refused if its ε exceeds the
/// budget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// λ > 0, the weight of the noise's variance relative to its Fisher information. The noise of a column
    /// with weight 1 has the variance 1/√λ.
    lambda: Option<f64>,
    /// Lower bound on the squared error, weighted by Π, of every unbiased reconstruction of a record.
    error: Option<f64>,
    /// Π, the weight matrix of errors: an object that maps encoded columns to weights ϑ > 0 (others have 1),
    /// or d rows of d values. By default all columns have the same weight.
    weights: Option<Weights>,
}

fn design(parameters: Parameters, brief: &Brief) -> Result<FisherGaussian> {
    let Parameters { lambda, error, weights } = parameters;
    let (domain, budget) = (brief.domain.clone(), brief.budget);
    let mechanism = match (lambda, error) {
        (Some(_), Some(_)) => {
            return Err(Error::parameter(
                NAME,
                "lambda and error both set the size of the noise: give one of \
                                               them",
            ));
        }
        (Some(lambda), None) => FisherGaussian::with_lambda(domain, weights, lambda, budget.delta())?,
        (None, Some(error)) => FisherGaussian::with_error(domain, weights, error, budget.delta())?,
        (None, None) => return FisherGaussian::for_budget(domain, weights, budget),
    };
    brief.check_ceiling(NAME, &mechanism.guarantee())?;
    Ok(mechanism)
}

register! {
    /// The plugin `fisher-gaussian`.
    pub const FISHER_GAUSSIAN = {
        name: NAME,
        summary: "Gaussian noise on every feature, with minimum Fisher information for its size",
        paper: "Farokhi, Privacy-preserving public release of datasets for support vector machine \
                classification (2020)",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: FisherGaussian::try_from,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;
    use scumble_core::local;
    use scumble_core::{Randomness, Table};
    use scumble_core::{Target, TargetDomain};
    use scumble_testing::{numbers, refuses_changes};
    use serde_json::json;
    use std::collections::BTreeMap;

    fn classes() -> RecordDomain {
        let levels = vec!["no".into(), "yes".into()];
        let features = Domain::product([Domain::unit_box(2), Domain::one_hot(3).unwrap()]).unwrap();
        scumble_testing::records(features, TargetDomain::Class { levels })
    }

    fn matrix() -> Weights {
        Weights::Matrix(vec![vec![2.0, 1.0], vec![1.0, 2.0]])
    }

    fn error_of(guarantee: &Guarantee) -> f64 {
        let mut bounds = guarantee.claims.iter().filter_map(|claim| match &claim.notion {
            Notion::CramerRao(bound) => Some(bound.error()),
            _ => None,
        });
        bounds.next().unwrap()
    }

    /// Figure 3: bounds of 200, 20 and 2 for two columns.
    #[test]
    fn the_bounds_are_those_of_the_papers_example() {
        for (lambda, bound) in [(1e-4, 200.0), (1e-2, 20.0), (1.0, 2.0)] {
            let mechanism = FisherGaussian::with_lambda(numbers(2), None, lambda, 1e-6).unwrap();
            for error in [mechanism.weighted_error(), error_of(&mechanism.guarantee())] {
                assert!((error / bound - 1.0).abs() < 1e-8 && error <= bound * (1.0 + 1e-8), "{error}");
            }
        }
    }

    #[test]
    fn a_wanted_error_is_had_and_no_more() {
        let weights = Weights::Columns(BTreeMap::from([("x1".into(), 9.0), ("x4".into(), 0.25)]));
        for weights in [None, Some(weights)] {
            let mechanism = FisherGaussian::with_error(classes(), weights, 12.5, 1e-6).unwrap();
            let error = mechanism.weighted_error();
            assert!((1.0..1.0 + 1e-7).contains(&(error / 12.5)), "{error}");
        }
        let mechanism = FisherGaussian::with_error(numbers(2), Some(matrix()), 12.5, 1e-6).unwrap();
        assert!((1.0..1.0 + 1e-7).contains(&(mechanism.weighted_error() / 12.5)));
    }

    /// Privacy: the claim meets the budget for all weights, and the noise is no larger than necessary.
    #[test]
    fn a_budget_is_met_and_used_up() {
        let weights = Weights::Columns(BTreeMap::from([("x1".into(), 9.0), ("x4".into(), 0.25)]));
        let budget = Budget::new(1.0, 1e-5).unwrap();
        for (domain, weights) in [(classes(), None), (classes(), Some(weights)), (numbers(2), Some(matrix()))]
        {
            let unit = Unit::for_features(&domain);
            let mechanism = FisherGaussian::for_budget(domain, weights, budget).unwrap();
            let guarantee = mechanism.guarantee();
            let dp = guarantee.local_dp(unit).unwrap();
            assert_eq!(dp.delta, 1e-5);
            assert!(dp.epsilon <= 1.0 && dp.epsilon > 1.0 - 1e-6, "{}", dp.epsilon);
        }
        // With Π = I it is the Gaussian mechanism, with σ from an independent solver and an ℓ₂ diameter of
        // √2.
        let mechanism = FisherGaussian::for_budget(numbers(2), None, budget).unwrap();
        assert!((mechanism.scales()[0] / (2f64.sqrt() * 3.7306316348159463) - 1.0).abs() < 1e-7);
    }

    /// errata F2: λ gives s = 10. The paper prints ε = 58 at δ = 10⁻⁵, where the true δ is 0.19.
    #[test]
    fn the_papers_theorem_is_shown_where_it_holds_and_nowhere_else() {
        let with_scale = |s: f64| FisherGaussian::with_lambda(numbers(1), None, s.powi(4), 1e-5).unwrap();
        let beyond = with_scale(10.0);
        assert_eq!(beyond.papers_epsilon(1e-5), None);
        let profile = beyond.guarantee().local_dp(Unit::Record).unwrap().profile.unwrap();
        assert!((profile.delta(58.0) - 0.19).abs() < 0.01, "{}", profile.delta(58.0));
        assert!(beyond.guarantee().claims[0].theorem.contains("does not apply here"));
        for s in [0.1, 1.0, 1.99] {
            let mechanism = with_scale(s);
            for delta in [0.1, 1e-3, 1e-5, 1e-9] {
                let papers = mechanism.papers_epsilon(delta).unwrap();
                assert!((papers - s * (1.0 + (2.0 * (1.0 / delta).ln()).sqrt())).abs() < 1e-9);
                let profile = mechanism.guarantee().local_dp(Unit::Record).unwrap().profile.unwrap();
                assert!(profile.delta(papers) <= delta, "s = {s}: the theorem would be false at δ = {delta}");
            }
        }
    }

    #[test]
    fn a_bound_beyond_the_domain_calls_itself_vacuous() {
        let card = |lambda| {
            FisherGaussian::with_lambda(numbers(2), None, lambda, 1e-6).unwrap().guarantee().to_string()
        };
        assert!(
            card(1e-4).contains("0.5000, which is less than the claim: the bound is vacuous"),
            "{}",
            card(1e-4)
        );
        assert!(!card(1e4).contains("vacuous") && card(1e4).contains("centre of the domain"));
    }

    /// Covariance Π^{−1/2}/√λ of a full Π, as published and as drawn.
    #[test]
    fn a_full_weighting_has_the_covariance_of_the_theorem() {
        const ROWS: usize = 40_000;
        let mechanism = FisherGaussian::with_lambda(numbers(2), Some(matrix()), 1.0, 1e-6).unwrap();
        // Π = [[2, 1], [1, 2]] has eigenvalues 3 and 1 along (1, 1) and (1, −1).
        let (sum, difference) = (3f64.powf(-0.5), 1.0);
        let by_hand = [[(sum + difference) / 2.0, (sum - difference) / 2.0], [0.0, 0.0]];
        let NoiseDistribution::Correlated { covariance } = mechanism.distribution() else {
            panic!("it is correlated")
        };
        assert!(
            (covariance[0][0] - by_hand[0][0]).abs() < 1e-6
                && (covariance[0][1] - by_hand[0][1]).abs() < 1e-6
        );
        let records = ndarray::Array2::from_elem((ROWS, 2), 0.25);
        let table = Table::new(numbers(2).columns().to_vec(), records, Target::None).unwrap();
        let released = mechanism.release(&table, &mut Randomness::seeded(3)).unwrap().table;
        let noise = released.records() - 0.25;
        let seen = noise.t().dot(&noise) / ROWS as f64;
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            // The standard error is at most √2·0.79/√n = 0.0056.
            let expected = covariance[i][j];
            assert!((seen[[i, j]] - expected).abs() < 0.028, "({i}, {j}): {} for {expected}", seen[[i, j]]);
        }
    }

    #[test]
    fn without_noise_a_full_weighting_gives_the_record_back() {
        let mechanism = FisherGaussian::with_lambda(numbers(2), Some(matrix()), 1.0, 1e-6).unwrap();
        let records = array![[0.1, 0.9], [1.0, 0.0]];
        let table = Table::new(numbers(2).columns().to_vec(), records, Target::None).unwrap();
        let view = local::view(&mechanism, &table).unwrap();
        assert!((view.records() - table.records()).iter().all(|x| x.abs() < 1e-14));
    }

    #[test]
    fn weighted_columns_get_less_noise() {
        let weights = Weights::Columns(BTreeMap::from([("x2".into(), 16.0)]));
        let mechanism = FisherGaussian::with_lambda(classes(), Some(weights), 1.0, 1e-6).unwrap();
        let scales = mechanism.scales();
        assert!((scales[0] - 1.0).abs() < 1e-6 && (scales[1] - 0.5).abs() < 1e-6, "{scales:?}");
        // Tr(Π^{1/2}) = 1 + 4; the levels add nothing.
        assert!((mechanism.weighted_error() - 5.0).abs() < 1e-6);
        assert!((error_of(&mechanism.guarantee()) - 1.25).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_designed_is_refused_in_words() {
        let brief = |epsilon, delta| Brief::new(numbers(2), Budget::new(epsilon, delta).unwrap());
        let free = brief(f64::INFINITY, 1e-6);
        for (parameters, brief, word) in [
            (json!({"lambda": -1.0}), &free, "above zero"),
            (json!({"lambda": 0.0}), &free, "above zero"),
            (json!({"error": -2.0}), &free, "above zero"),
            (json!({"lambda": 1.0, "error": 1.0}), &free, "one of them"),
            (json!({"lambda": 1.0, "weights": [[1.0, 2.0], [2.0, 1.0]]}), &free, "positive definite"),
            (json!({"lambda": 1.0, "weights": {"x3": 1.0}}), &free, "x3"),
            (json!({"lambda": 1.0}), &brief(0.5, 1e-6), "budget"),
            (json!({"lambda": 1.0}), &brief(f64::INFINITY, 0.0), "δ = 0"),
            (json!({"lamda": 1.0}), &free, "did you mean \"lambda\""),
        ] {
            let refused = FISHER_GAUSSIAN.design(&parameters, brief).unwrap_err().to_string();
            assert!(refused.contains(word), "{parameters}: {refused}");
        }
        let empty = RecordDomain::new(vec![], Domain::empty(), TargetDomain::None).unwrap();
        assert!(FisherGaussian::with_lambda(empty, None, 1.0, 1e-6).is_err());
        let full = Weights::Matrix(
            (0..5).map(|i| (0..5).map(|j| if i == j { 2.0 } else { 0.1 }).collect()).collect(),
        );
        let refused = FisherGaussian::with_lambda(classes(), Some(full), 1.0, 1e-6).unwrap_err().to_string();
        assert!(refused.contains("numbers alone"), "{refused}");
        let levels = scumble_testing::records(Domain::one_hot(3).unwrap(), TargetDomain::None);
        assert!(FisherGaussian::with_error(levels.clone(), None, 1.0, 1e-6).is_err());
        // No error is claimed, because an adversary may know that the columns are levels.
        let guarantee = FisherGaussian::with_lambda(levels, None, 1.0, 1e-6).unwrap().guarantee();
        assert_eq!(guarantee.claims.len(), 1, "{guarantee}");
    }

    #[test]
    fn a_number_changed_by_hand_is_checked_when_it_is_read() {
        let mechanism = FisherGaussian::with_lambda(numbers(2), Some(matrix()), 0.125, 1e-6).unwrap();
        let state = serde_json::to_string(&mechanism.state).unwrap();
        let again = (FISHER_GAUSSIAN.build)(&state.parse().unwrap()).unwrap();
        assert_eq!(again.guarantee(), mechanism.guarantee());
        let changes = [("0.125", "-0.125"), ("1e-6", "0.0"), ("[2.0,1.0]", "[2.0,3.0]"), ("lambda", "lamda")];
        refuses_changes(&FISHER_GAUSSIAN, &state, &changes);
    }

    proptest! {
        /// Privacy: `encode` never leaves the range on which the claim holds.
        #[test]
        fn the_image_stays_in_its_ball(record in prop::collection::vec(-1e6..1e6_f64, 2)) {
            let mechanism = FisherGaussian::with_lambda(numbers(2), Some(matrix()), 1.0, 1e-6).unwrap();
            let point = mechanism.encode(&record).unwrap();
            prop_assert!(mechanism.range().contains(&point), "{point:?}");
        }
    }
}
