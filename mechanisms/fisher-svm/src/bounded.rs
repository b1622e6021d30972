//! The plugin `fisher-bounded`: noise with bounds on each coordinate, after Theorem 2.6 and Corollary 2.7 of
//! Farokhi. λ weights the noise's mean square relative to its Fisher information. The matrix Π weights the
//! errors of a reconstructed record by column.

use crate::bounded_noise::{BoundedNoise, Column};
use crate::claims::{feature_guarantee, features_of};
use crate::weights::{Weighting, Weights};
use schemars::JsonSchema;
use scumble_accounting::gaussian;
use scumble_core::{
    Brief, Budget, CramerRao, Descriptor, Domain, Error, Example, Factor, Guarantee, LocalDp, LocalMechanism,
    Noise, NoiseDistribution, Notion, Output, Perturbation, RecordDomain, Result, Stream, Unit, nearest_name,
    register,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

const NAME: &str = "fisher-bounded";

/// Mechanism whose noise has the least Fisher information for its mean square, and keeps every released value
/// within stated bounds.
///
/// The noise n of a column has the density w(n)². Between the bounds of the noise, w is the ground state (the
/// solution with the least eigenvalue μ) of −w″/ϑ + (λ/4)·n²·w = μ·w (Farokhi, Theorem 2.6 and Corollary
/// 2.7, with errata F3). ϑ weights the column in the squared error of an adversary's estimate of the record
/// ([`Weights`]), and λ weights the noise's mean square against its Fisher information. The label is released
/// in the clear.
///
/// The noise is independent in every column. For a matrix Π that is not diagonal, ϑᵢ is 1/(Π⁻¹)ᵢᵢ. This noise
/// minimises Tr(Π⁻¹I) + λ·Tr(V) among all independent noise, for its Fisher information I and its second
/// moments V, because I is diagonal. The minimum over all noise in a box is a
/// [`BoxGroundState`](scumble_schrodinger::BoxGroundState), which is feasible in a few dimensions.
///
/// The noise of a column is drawn on a lattice, from a table of integer weights. The claimed δ(ε) is that of
/// these tables for two records at opposite ends of the domain. For δ = 0 there is no finite ε, because the
/// support of bounded noise moves with the record (errata F5). Often there is no finite ε for a positive δ
/// either. For example, if the noise is not wider than the domain, records at opposite ends of the domain
/// have no output in common. If there is no finite ε, the guarantee states the probability that records at
/// opposite ends are distinguished with certainty.
///
/// The bounds of a column's released values may be asymmetric about its domain. The noise then has a mean
/// other than zero. This mean is public, and is not subtracted from the released values.
///
/// ```
/// use scumble_fisher_svm::{FisherBounded, Reach};
/// use scumble_core::{Designed, Domain, LocalMechanism, RecordDomain, TargetDomain};
/// use scumble_core::{Randomness, Stream};
///
/// let people = RecordDomain::new(vec!["age".into()], Domain::unit_box(1), TargetDomain::None)?;
/// let mechanism = FisherBounded::with_lambda(people, None, Reach::default(), 0.0, 1e-6)?;
/// let mut stream = Randomness::from_os()?.streams().stream(0);
/// for _ in 0..100 {
///     let mut point = mechanism.encode(&[1.0])?;
///     mechanism.perturb(&mut point, &mut stream)?;
///     assert!((-1.0..=2.0).contains(&point[0])); // one width beyond the domain on either side
/// }
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FisherBounded {
    state: State,
    /// Noise of the features; `None` at λ = ∞.
    noise: Option<BoundedNoise>,
    /// Claimed ε. It is computed on first use, by a search on δ(ε), and then stored.
    epsilon: OnceLock<f64>,
}

/// Bounds of released values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Distance that a released value may reach beyond the domain of its column on either side, in widths of
    /// this domain.
    pub beyond: f64,
    /// Lower and upper bounds of released values, in units of the encoded record, for columns to which
    /// `beyond` does not apply.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranges: BTreeMap<String, (f64, f64)>,
}

impl Default for Reach {
    /// Returns a reach of one width of the domain beyond the domain on either side, for all columns.
    fn default() -> Self {
        Self { beyond: 1.0, ranges: BTreeMap::new() }
    }
}

/// State of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Weights>,
    reach: Reach,
    #[serde(with = "scumble_core::number")]
    lambda: f64,
    /// The δ at which ε is claimed.
    delta: f64,
}

fn refused(problem: String) -> Error {
    Error::parameter(NAME, problem)
}

impl State {
    /// Returns the columns with their bounds and weights, one per coordinate.
    fn columns(&self) -> Result<Vec<Column>> {
        let Self { domain, reach, .. } = self;
        let names = domain.columns();
        if let Some(name) = reach.ranges.keys().find(|name| !names.contains(name)) {
            let nearest = nearest_name(name, names.iter().map(String::as_str));
            let nearest = nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
            return Err(refused(format!("ranges: there is no encoded column {name:?}{nearest}")));
        }
        let weights = Weighting::new(NAME, self.weights.as_ref(), names)?.independent();
        let mut columns = vec![];
        for (at, factor) in domain.features().factors() {
            let bounds = match *factor {
                Factor::Interval { lower, upper } => (lower, upper),
                Factor::OneHot { .. } => (0.0, 1.0),
                _ => {
                    return Err(Error::not_applicable(
                        NAME,
                        "it needs features that are numbers between \
                                                             bounds, or levels",
                    ));
                }
            };
            let width = bounds.1 - bounds.0;
            for place in at.clone() {
                let by_default = (bounds.0 - reach.beyond * width, bounds.1 + reach.beyond * width);
                let range = reach.ranges.get(&names[place]).copied().unwrap_or(by_default);
                let column = Column { bounds, range, weight: weights[place], is_level: at.len() > 1 };
                column
                    .check()
                    .map_err(|problem| refused(format!("the column {:?}: {problem}", names[place])))?;
                if columns.get(at.start).is_some_and(|first| *first != column) {
                    let group = format!("the columns of the group of {:?}", names[place]);
                    return Err(refused(format!("{group} must have one weight and one range")));
                }
                columns.push(column);
            }
        }
        Ok(columns)
    }
}

impl TryFrom<State> for FisherBounded {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        if state.domain.features().dim() == 0 {
            return Err(Error::not_applicable(NAME, "there is no feature to protect"));
        }
        let State { lambda, delta, .. } = state;
        Error::check(NAME, "lambda", lambda, "zero or more", lambda >= 0.0)?;
        if Budget::new(1.0, delta)?.delta() == 0.0 {
            return Err(Error::not_applicable(
                NAME,
                "noise with bounds has no guarantee at δ = 0; choose δ \
                                                    above zero",
            ));
        }
        let columns = state.columns()?;
        let noise = match lambda {
            f64::INFINITY => None,
            _ => Some(BoundedNoise::new(state.domain.features(), &columns, lambda)?),
        };
        Ok(Self { state, noise, epsilon: OnceLock::new() })
    }
}

/// Factors between successive candidates for λ in the coarse and in the fine search. A coarse step changes
/// the noise's scale λ^{−1/4} by a tenth, and a fine step by a hundredth. `FINE_STRIDES` fine steps are about
/// one coarse step.
const STRIDES: [f64; 2] = [1.4641, 1.04060401];
const FINE_STRIDES: usize = 10;

impl FisherBounded {
    /// Creates the mechanism from λ, the weight of the noise's mean square relative to its Fisher
    /// information. λ = 0 gives the noise of least Fisher information, whatever its mean square, and λ = ∞
    /// gives no noise. The guarantee claims ε at δ = `delta`.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless λ ≥ 0, or if the weight matrix Π ([`Weights`]) is not positive definite.
    /// Also [`Error::Parameter`] if the columns of a category differ in weight or range, or if a range of
    /// released values is inverted or does not reach beyond the domain. [`Error::NotApplicable`] if there is
    /// no feature, if a feature is neither a number between bounds nor a level of a category, or if δ is
    /// zero.
    pub fn with_lambda(
        domain: RecordDomain,
        weights: Option<Weights>,
        reach: Reach,
        lambda: f64,
        delta: f64,
    ) -> Result<Self> {
        State { domain, weights, reach, lambda, delta }.try_into()
    }

    /// Creates the mechanism from (ε, δ). Its λ is, up to some percent, the largest λ for which noise within
    /// the bounds of `reach` meets the `budget` for records of `domain`.
    ///
    /// # Errors
    /// Same errors as [`with_lambda`](Self::with_lambda), and [`Error::NotApplicable`] if no λ meets the
    /// budget. The message states the least δ at ε that was found.
    pub fn for_budget(
        domain: RecordDomain,
        weights: Option<Weights>,
        reach: Reach,
        budget: Budget,
    ) -> Result<Self> {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        let at = |lambda| Self::with_lambda(domain.clone(), weights.clone(), reach.clone(), lambda, delta);
        if epsilon == f64::INFINITY {
            return at(f64::INFINITY);
        }
        let spent = |mechanism: &Self| mechanism.noise.as_ref().map_or(1.0, |noise| noise.delta(epsilon));
        // The search runs from noise that is narrow for the narrowest column to noise that fills the widest
        // range.
        let columns = at(0.0)?.state.columns()?;
        let scales = columns.iter().map(Column::natural_scales);
        let (narrowest, widest) =
            scales.fold((f64::INFINITY, 0.0_f64), |(a, b), (c, d)| (a.min(c), b.max(d)));
        // The noise of the first candidate is slightly narrower than the Gaussian noise that meets this
        // budget.
        let spread = spread(weights.as_ref(), &domain)?;
        let (mut lambda, least) =
            ((0.8 * gaussian_scale(spread, budget)).max(narrowest).powi(-4), widest.powi(-4));
        let (mut best, mut found) = (1.0_f64, None);
        while lambda > least && found.is_none() {
            let mechanism = at(lambda)?;
            let delta_there = spent(&mechanism);
            best = best.min(delta_there);
            if delta_there <= delta {
                found = Some((lambda, mechanism));
            }
            lambda /= STRIDES[0];
        }
        let Some((mut lambda, mut mechanism)) = found else {
            let flat = at(0.0)?;
            if spent(&flat) <= delta {
                return Ok(flat);
            }
            let reason = format!(
                "no noise within these bounds has δ = {delta:e} at ε = {epsilon}; the least δ found is \
                 {:.3e}, and wider bounds (beyond, ranges) have less",
                best.min(spent(&flat))
            );
            return Err(Error::not_applicable(NAME, reason));
        };
        for _ in 0..FINE_STRIDES {
            let tighter = at(lambda * STRIDES[1])?;
            if spent(&tighter) > delta {
                break;
            }
            (lambda, mechanism) = (lambda * STRIDES[1], tighter);
        }
        Ok(mechanism)
    }

    /// Weight λ of the noise's mean square relative to its Fisher information.
    pub fn lambda(&self) -> f64 {
        self.state.lambda
    }

    /// Lower and upper bound of each released feature (d values), in units of the encoded record.
    pub fn ranges(&self) -> Vec<(f64, f64)> {
        let columns = self.state.columns().unwrap_or_default(); // checked at construction
        columns.into_iter().map(|column| column.range).collect()
    }

    /// Upper bound on δ at `epsilon` for two records at opposite ends of the domain. It exceeds the true δ by
    /// about 10⁻¹² at most, and is 1 at λ = ∞.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.noise.as_ref().map_or(1.0, |noise| noise.delta(epsilon))
    }

    fn distribution(&self) -> NoiseDistribution {
        match &self.noise {
            None => NoiseDistribution::Exact { width: self.state.domain.features().dim() },
            Some(noise) => NoiseDistribution::Additive { variance: noise.variances() },
        }
    }
}

impl LocalMechanism for FisherBounded {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Some(noise) = &self.noise else {
            return Guarantee::nothing(&self.state.domain);
        };
        let State { domain, delta, reach, .. } = &self.state;
        let theorem = "δ(ε) of the tables from which the noise of Farokhi's Corollary 2.7 is drawn, at the \
                       domain's diameter; for several columns, by the convolution of their losses \
                       (Doroshenko et al. 2022)";
        let mut error_theorem =
            "Proposition 2.2 of Farokhi in Hellinger's form, for lattice noise whose support moves: \
                      on average over neighbouring records, which differ by a step of the lattice in some of \
                      the columns"
                .to_owned();
        error_theorem +=
            &format!("; every released value lies within {} widths of its column's domain", reach.beyond);
        if !reach.ranges.is_empty() {
            error_theorem += " unless a range is given";
        }
        let columns = domain.columns().iter().cloned();
        let information = CramerRao { information: columns.zip(noise.information()).collect(), joint: None };
        let error = (Notion::CramerRao(information), error_theorem);
        let epsilon = *self.epsilon.get_or_init(|| noise.epsilon(*delta));
        let certain = noise.certain();
        if epsilon.is_finite() {
            let dp = (Notion::LocalDp(LocalDp::new(epsilon, *delta)), theorem.to_owned());
            return feature_guarantee(domain, vec![dp, error]);
        }
        let mut guarantee = feature_guarantee(domain, vec![error]);
        let why = if certain > *delta {
            format!(
                "which of two records at opposite ends of the domain was released, for certain, with a \
                 probability of {certain:.3e}: some released values are possible for only one of the two, so \
                 there is no differential privacy at δ = {delta:e}"
            )
        } else {
            format!(
                "possibly everything: no finite ε was found at δ = {delta:e}, because δ is too small or ε \
                 too large for the accountant"
            )
        };
        guarantee.discloses.insert(0, why);
        guarantee
    }

    fn range(&self) -> Domain {
        let flat = self.state.domain.flat();
        let Some(noise) = &self.noise else {
            return flat.clone();
        };
        let means = noise.means();
        let moved = flat.factors().map(|(at, factor)| match (factor, means.get(at.start)) {
            (Factor::Interval { lower, upper }, Some(mean)) => Domain::interval(lower + mean, upper + mean),
            _ => Domain::try_from(vec![factor.clone()]),
        });
        // A domain shifted by a finite mean is a valid domain.
        moved.collect::<Result<Vec<_>>>().and_then(Domain::product).unwrap_or_else(|_| flat.clone())
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let mut point = self.state.domain.projected(record)?;
        if let Some(noise) = &self.noise {
            point.iter_mut().zip(noise.means()).for_each(|(x, mean)| *x += mean);
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

    fn noise(&self) -> Noise {
        Noise::for_features(&self.state.domain, self.distribution())
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let d = self.state.domain.features().dim();
        self.noise.as_ref()?.log_likelihood(point.get(..d)?, released.get(..d)?).ok()
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        self.noise.iter().map(|noise| Perturbation::Additive(noise.described())).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        unit.pair_of_features(&self.state.domain, self.range().l2_farthest())
    }
}

/// Parameters of `fisher-bounded`: the reach of released values, and λ. Without λ, about the largest λ that
/// meets the budget is used. With λ, a design is refused if its ε exceeds the budget.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Distance that a released value may reach beyond the domain of its column on either side, in widths of
    /// this domain; above zero. The default is 1 with λ. Without λ, it is the least of 1, 2, 4, … with which
    /// the budget can be met.
    beyond: Option<f64>,
    /// Lower and upper bounds of released values: an object that maps encoded columns to pairs, in units of
    /// the encoded record.
    ranges: Option<BTreeMap<String, (f64, f64)>>,
    /// λ ≥ 0, the weight of the noise's mean square relative to its Fisher information.
    lambda: Option<f64>,
    /// Π, the weight matrix of errors: an object that maps encoded columns to weights ϑ > 0 (other columns
    /// have 1), or the rows of the whole matrix. The noise is independent in every column: the best
    /// independent noise for Π.
    weights: Option<Weights>,
}

/// Largest distance between two records of `domain`, after each column is multiplied by ϑ^{1/4}, where ϑ is
/// its weight.
fn spread(weights: Option<&Weights>, domain: &RecordDomain) -> Result<f64> {
    let independent = Weighting::new(NAME, weights, domain.columns())?.independent();
    Ok(Weighting::Diagonal(independent).spread(domain.features()).value)
}

/// Standard deviation of the Gaussian noise that meets `budget` for two records at distance `spread`. The
/// standard deviation and the distance are measured after each column is multiplied by ϑ^{1/4}, where ϑ is
/// its weight.
fn gaussian_scale(spread: f64, budget: Budget) -> f64 {
    gaussian::mu(budget.epsilon(), budget.delta()).map_or(0.0, |mu| spread / mu)
}

/// Largest ℓ₂ diameter of a factor of the features' domain. A factor is a number, or the group of levels of a
/// category.
fn widest(domain: &RecordDomain) -> f64 {
    domain.features().factors().map(|(_, factor)| factor.l2_diameter()).fold(0.0, f64::max)
}

fn design(parameters: Parameters, brief: &Brief) -> Result<FisherBounded> {
    let Parameters { beyond, ranges, lambda, weights } = parameters;
    let ranges = ranges.unwrap_or_default();
    let reach_beyond = |beyond: f64| Reach { beyond, ranges: ranges.clone() };
    let domain = brief.domain.clone();
    let Some(lambda) = lambda else {
        // Let σ be the standard deviation of the Gaussian noise that meets the budget. Bounds that reach only
        // 2σ beyond the domain are too narrow to meet the budget. Bounds that reach 30σ beyond the domain are
        // wide enough.
        let least = gaussian_scale(spread(weights.as_ref(), &domain)?, brief.budget) / widest(&domain);
        let mut widths = match beyond {
            Some(beyond) => vec![beyond],
            None => (0..24)
                .map(|power| f64::from(1 << power))
                .filter(|width| *width > 2.0 * least)
                .take(5)
                .collect(),
        }
        .into_iter();
        loop {
            let reach = reach_beyond(widths.next().unwrap_or(1.0));
            match FisherBounded::for_budget(domain.clone(), weights.clone(), reach, brief.budget) {
                Err(Error::NotApplicable { .. }) if widths.len() > 0 => {}
                outcome => return outcome,
            }
        }
    };
    let reach = reach_beyond(beyond.unwrap_or(Reach::default().beyond));
    let mechanism = FisherBounded::with_lambda(domain, weights, reach, lambda, brief.budget.delta())?;
    brief.check_ceiling(NAME, &mechanism.guarantee())?;
    Ok(mechanism)
}

register! {
    /// The plugin `fisher-bounded`.
    pub const FISHER_BOUNDED = {
        name: NAME,
        summary: "noise of minimum Fisher information that keeps every released feature within bounds",
        paper: "Farokhi, Privacy-preserving public release of datasets for support vector machine \
                classification (2020)",
        descriptor: Descriptor::new(Output::Records),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        local: FisherBounded::try_from,
        example: Example::mixed,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;
    use scumble_core::Table;
    use scumble_core::TargetDomain;
    use scumble_testing::{numbers, records, refuses_changes};
    use serde_json::json;

    fn wide() -> Reach {
        Reach { beyond: 40.0, ranges: BTreeMap::new() }
    }

    fn budget(epsilon: f64, delta: f64) -> Budget {
        Budget::new(epsilon, delta).unwrap()
    }

    #[test]
    fn a_budget_is_met_by_noise_that_is_hardly_larger_than_need_be() {
        for (d, epsilon, delta) in [(1, 1.0, 1e-5), (3, 1.0, 1e-6), (2, 4.0, 1e-3)] {
            let mechanism =
                FisherBounded::for_budget(numbers(d), None, wide(), budget(epsilon, delta)).unwrap();
            assert!(mechanism.delta(epsilon) <= delta);
            let dp = mechanism.guarantee().local_dp(Unit::Record).cloned().unwrap();
            assert!(dp.delta == delta && dp.epsilon <= epsilon && dp.epsilon > 0.95 * epsilon, "{dp:?}");
            let less = mechanism.lambda() * 1.05;
            let tighter = FisherBounded::with_lambda(numbers(d), None, wide(), less, delta).unwrap();
            assert!(tighter.delta(epsilon) > delta);
        }
    }

    /// errata F5: noise that reaches one width beyond the domain distinguishes records at opposite ends
    /// with certainty half of the time.
    #[test]
    fn noise_without_room_claims_no_differential_privacy_and_says_why() {
        let mechanism = FisherBounded::with_lambda(numbers(1), None, Reach::default(), 0.0, 1e-6).unwrap();
        let certain = mechanism.delta(f64::INFINITY);
        assert!((certain - 0.5).abs() < 1e-3, "{certain}");
        let guarantee = mechanism.guarantee();
        assert!(!guarantee.has_dp());
        let card = guarantee.to_string();
        assert!(card.contains("for certain, with a probability of 5.00"), "{card}");
        let Notion::CramerRao(bound) = &guarantee.claims[0].notion else { panic!("{card}") };
        // 4∫w′² of the cosine on [−1, 1] is π².
        assert!((bound.error() * std::f64::consts::PI.powi(2) - 1.0).abs() < 1e-3, "{}", bound.error());
        let refused = FisherBounded::for_budget(numbers(1), None, Reach::default(), budget(1.0, 1e-6));
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("no noise within these bounds has δ = 1e-6") && refused.contains("wider bounds"),
            "{refused}"
        );
    }

    /// Holds for arbitrarily little noise, and for arbitrarily large ε.
    #[test]
    fn disjoint_supports_have_no_epsilon() {
        for lambda in [1e4, 1e6, 1e12, 1e40] {
            let mechanism =
                FisherBounded::with_lambda(numbers(1), None, Reach::default(), lambda, 1e-6).unwrap();
            let guarantee = mechanism.guarantee();
            assert!(!guarantee.has_dp(), "λ = {lambda}: {guarantee}");
            assert!(guarantee.to_string().contains("for certain"), "λ = {lambda}: {guarantee}");
        }
        for epsilon in [700.0, 720.0, 1e3, 1e4] {
            let outcome = FISHER_BOUNDED
                .design(&serde_json::Value::Null, &Brief::new(numbers(1), budget(epsilon, 1e-6)));
            if let Ok(design) = outcome {
                let dp = design.mechanism().guarantee().local_dp(Unit::Record).cloned().unwrap();
                assert!(dp.epsilon <= epsilon, "{dp:?}");
                let noise = design.local().unwrap().noise();
                // Gaussian noise of such an ε has a σ of about 1/√(2ε).
                let sigma = noise.feature_variance().unwrap()[0].sqrt();
                assert!(sigma > 0.8 / (2.0 * epsilon).sqrt(), "ε = {epsilon}: σ = {sigma}");
            }
        }
    }

    /// With bounds far from the domain, the noise is that of Theorem 2.4 (errata F4).
    #[test]
    fn with_distant_bounds_it_is_gaussian_noise() {
        let reach = Reach { beyond: 1000.0, ..Reach::default() };
        let bounded = FisherBounded::with_lambda(numbers(2), None, reach, 1e-2, 1e-6).unwrap();
        let gaussian = crate::FisherGaussian::with_lambda(numbers(2), None, 1e-2, 1e-6).unwrap();
        let variance = bounded.noise().feature_variance().unwrap()[0];
        assert!((variance / 10.0 - 1.0).abs() < 1e-5, "{variance}");
        let error = |guarantee: Guarantee| match &guarantee.claims[1].notion {
            Notion::CramerRao(bound) => bound.error(),
            _ => panic!("{guarantee}"),
        };
        let ratio = error(bounded.guarantee()) / error(gaussian.guarantee());
        // The tolerance includes the margin that covers several releases.
        assert!((ratio - 1.0).abs() < 3e-4, "{ratio}");
    }

    #[test]
    fn noise_with_a_mean_is_unbiased_about_its_view() {
        const ROWS: usize = 20_000;
        let reach = Reach { beyond: 1.0, ranges: [("x1".to_owned(), (0.0, 3.0))].into() };
        let mechanism = FisherBounded::with_lambda(numbers(1), None, reach, 2.0, 1e-6).unwrap();
        let mean = mechanism.encode(&[0.25]).unwrap()[0] - 0.25;
        assert!(mean > 0.5, "{mean}");
        let table = Table::new(
            vec!["x1".into()],
            ndarray::Array2::from_elem((ROWS, 1), 0.25),
            scumble_core::Target::None,
        );
        let release = mechanism.release(&table.unwrap(), &mut Randomness::seeded(4)).unwrap();
        let records = release.table.records();
        assert!(records.iter().all(|x| (0.0..=3.0).contains(x)));
        let variance = mechanism.noise().feature_variance().unwrap()[0];
        let off = records.mean().unwrap() - 0.25 - mean;
        assert!(off.abs() < 5.0 * (variance / ROWS as f64).sqrt(), "{off}");
    }

    #[test]
    fn weights_and_groups_are_taken_by_column() {
        let levels = Domain::product([Domain::unit_box(1), Domain::one_hot(2).unwrap()]).unwrap();
        let columns = ["x1", "a", "b"].map(str::to_owned).to_vec();
        let domain = RecordDomain::new(columns, levels, TargetDomain::None).unwrap();
        let designed = |weights: &[(&str, f64)], ranges: &[(&str, (f64, f64))]| {
            let weights = weights.iter().map(|(name, weight)| (name.to_string(), *weight)).collect();
            let ranges = ranges.iter().map(|(name, range)| (name.to_string(), *range)).collect();
            let reach = Reach { beyond: 9.0, ranges };
            FisherBounded::with_lambda(domain.clone(), Some(Weights::Columns(weights)), reach, 1.0, 1e-6)
        };
        let variances =
            designed(&[("a", 16.0), ("b", 16.0)], &[]).unwrap().noise().feature_variance().unwrap();
        assert!((variances[0] - 1.0).abs() < 1e-4 && (variances[1] - 0.25).abs() < 1e-4, "{variances:?}");
        for (weights, ranges, word) in [
            (vec![("a", 16.0)], vec![], "one weight"),
            (vec![], vec![("b", (-2.0, 3.0))], "one weight and one range"),
            (vec![], vec![("a", (-2.0, 4.0)), ("b", (-2.0, 4.0))], "as far below"),
            (vec![], vec![("x1", (2.0, -2.0))], "inverted"),
            (vec![], vec![("x2", (-2.0, 2.0))], "no encoded column \"x2\""),
        ] {
            let refused = designed(&weights, &ranges).unwrap_err().to_string();
            assert!(refused.contains(word), "{weights:?}, {ranges:?}: {refused}");
        }
    }

    /// Independent noise for a full Π has the weights 1/(Π⁻¹)ᵢᵢ, and no other weights have a smaller
    /// objective.
    #[test]
    fn a_full_matrix_takes_the_best_independent_noise() {
        let (rho, lambda) = (0.6, 2.0);
        let full = Weights::Matrix(vec![vec![1.0, rho], vec![rho, 4.0]]);
        let inverse = [4.0, 1.0].map(|entry| entry / (4.0 - rho * rho));
        let at =
            |weights| FisherBounded::with_lambda(numbers(2), Some(weights), wide(), lambda, 1e-6).unwrap();
        let of = |weights: [f64; 2]| {
            let named = ["x1", "x2"].map(str::to_owned).into_iter().zip(weights).collect();
            at(Weights::Columns(named))
        };
        let variances = |mechanism: &FisherBounded| mechanism.noise().feature_variance().unwrap();
        let objective = |mechanism: &FisherBounded| {
            let noise = mechanism.noise.as_ref().unwrap();
            let information = noise.information().into_iter().zip(inverse).map(|(i, weight)| i * weight);
            information.sum::<f64>() + lambda * variances(mechanism).iter().sum::<f64>()
        };
        let best = at(full);
        for (one, other) in variances(&best).iter().zip(variances(&of(inverse.map(f64::recip)))) {
            assert!((one / other - 1.0).abs() < 1e-9, "{one} and {other}");
        }
        for weights in [[1.0, 4.0], [1.0, 1.0], [0.5, 6.0]] {
            assert!(objective(&best) < objective(&of(weights)), "{weights:?}");
        }
    }

    #[test]
    fn what_cannot_be_designed_is_refused_in_words() {
        let brief = |epsilon, delta| Brief::new(numbers(2), budget(epsilon, delta));
        let free = brief(f64::INFINITY, 1e-6);
        for (parameters, brief, word) in [
            (json!({"lambda": -1.0}), &free, "zero or more"),
            (json!({"beyond": 0.0}), &free, "beyond"),
            (json!({"beyond": -3.0}), &free, "inverted"),
            (json!({"lambda": 1.0, "weights": {"x1": 0.0}}), &free, "above zero"),
            (json!({"lambda": 0.0}), &brief(1.0, 1e-6), "ε = inf"),
            (json!({"lambda": 1.0}), &brief(f64::INFINITY, 0.0), "δ = 0"),
            (json!({"weights": [[1.0]]}), &free, "2 rows of 2 values"),
            (json!({"weights": [[1.0, 2.0], [2.0, 1.0]]}), &free, "positive definite"),
        ] {
            let refused = FISHER_BOUNDED.design(&parameters, brief).unwrap_err().to_string();
            assert!(refused.contains(word), "{parameters}: {refused}");
        }
        let ball = records(Domain::l2_ball(2, 1.0).unwrap(), TargetDomain::None);
        let refused = FisherBounded::with_lambda(ball, None, wide(), 1.0, 1e-6);
        assert!(matches!(refused, Err(Error::NotApplicable { .. })), "{refused:?}");
    }

    #[test]
    fn a_number_changed_by_hand_is_checked_when_it_is_read() {
        let mechanism = FisherBounded::with_lambda(numbers(1), None, wide(), 0.125, 1e-6).unwrap();
        let state = serde_json::to_string(&mechanism.state).unwrap();
        let again = (FISHER_BOUNDED.build)(&state.parse().unwrap()).unwrap();
        assert_eq!(again.guarantee(), mechanism.guarantee());
        let changes = [("0.125", "-0.125"), ("1e-6", "0.0"), ("40.0", "-40.0"), ("lambda", "lamda")];
        refuses_changes(&FISHER_BOUNDED, &state, &changes);
    }
}
