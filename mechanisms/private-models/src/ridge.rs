//! Mechanism that releases a ridge regression.

use crate::coefficients::{Coefficients, of_weights, target_unit};
use crate::encoding::{Encoding, Gram};
use crate::noise::{STEP, SumNoise, rounding, spent};
use ndarray::{Array1, Array2, Axis};
use scumble_accounting::gaussian;
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Descriptor, Domain, Error, Evidence, Example,
    Guarantee, Neighbours, NoParameters, Outcome, Output, Randomness, RecordDomain, ReleasedModel, Releases,
    Result, Statistics, Stream, Table, Target, TargetDomain, accumulate, register,
};
use scumble_linalg::Eigen;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const NAME: &str = "private-ridge";

/// Fractions of the budget μ² that are spent on the smallest eigenvalue of XᵀX, on XᵀX, and on Xᵀy (notation
/// of [`PrivateRidge`]).
const SHARES: [f64; 3] = [0.05, 0.475, 0.475];
/// Upper bound on the probability that the lower bound on λ, from which the ridge is computed, exceeds λ. λ
/// is the smallest eigenvalue of XᵀX.
const RARE: f64 = 0.05;

/// Largest number of records. The sensitivity includes the floating-point error of an eigenvalue, which grows
/// with this number.
const MOST_RECORDS: usize = 1 << 27;

/// Ridge regression of all records from noisy moments, regularised by the size of the noise (AdaSSP, Wang
/// 2018).
///
/// The guarantee is central differential privacy. The rows of X are the features of the records with an
/// intercept, and y are their targets. All numbers are scaled to [−1, 1] by their public bounds. Discrete
/// Gaussian noise is added to XᵀX, Xᵀy and λ, the smallest eigenvalue of XᵀX. The budget corresponds to
/// μ-Gaussian differential privacy. The noisy λ spends a twentieth of μ², and the noisy XᵀX and Xᵀy each
/// spend half of the rest. The ridge is the norm of the noise on XᵀX less a lower bound on λ that follows
/// from its noisy value. Well-conditioned data therefore need no ridge. The norm of the noise is taken as
/// 2σ√d, the edge of Wigner's semicircle, for d columns of X and noise of standard deviation σ on each entry
/// of XᵀX. The bound of Wang (2018) on this norm is about twice as large. At an infinite ε, there is no noise
/// and no privacy claim.
///
/// ```
/// use scumble_core::{Budget, CuratorMechanism, Randomness};
/// use scumble_private_models::{PRIVATE_RIDGE, PrivateRidge};
///
/// let example = (PRIVATE_RIDGE.example)()?;
/// let mechanism = PrivateRidge::new(example.brief.domain, Budget::new(1.0, 1e-6)?)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns()[..2], ["intercept", "coefficient of size"]);
/// assert_eq!(release.key.model().unwrap().scores(&example.table)?.dim(), (40, 1));
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PrivateRidge {
    state: State,
    encoding: Encoding,
    /// Pairs of coordinates of an encoded record whose summed product gets noise. The first list has the
    /// pairs without the target, the second the pairs with the target.
    products: [Vec<[usize; 2]>; 2],
    /// Noise on the smallest eigenvalue of XᵀX, on the summed products of features, and on their summed
    /// products with the target; `None` at ε = ∞.
    noise: Option<[SumNoise; 3]>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    budget: Budget,
}

impl TryFrom<State> for PrivateRidge {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let TargetDomain::Real { .. } = state.domain.target() else {
            return Err(Error::not_applicable(NAME, "it learns a number, and the target is not a number"));
        };
        let encoding = Encoding::for_domain(NAME, &state.domain)?;
        let width = encoding.width();
        encoding.check_size(NAME)?;
        let is_with_target = |[_, j]: &[usize; 2]| *j + 1 == width;
        let (mut with_target, feature_products): (Vec<_>, Vec<_>) =
            encoding.products().into_iter().partition(is_with_target);
        with_target.retain(|[i, j]| i < j); // the regression does not need the target's own square
        let mut made = Self { state, encoding, products: [feature_products, with_target], noise: None };
        if made.state.budget.epsilon().is_finite() {
            made.noise = Some(made.calibrated(spent(made.state.budget)?)?);
        }
        Ok(made)
    }
}

/// Quantities to which noise is added, as integers in units of 2⁻⁴⁰ (notation of [`PrivateRidge`]).
struct Moments {
    /// λ, the smallest eigenvalue of XᵀX.
    least: i128,
    /// Entries of XᵀX and of Xᵀy that are not known in advance.
    products: [Vec<i128>; 2],
}

impl PrivateRidge {
    /// Creates the mechanism that releases a ridge regression of records of `domain` within `budget`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features that are neither numbers within their own bounds nor categories,
    /// and for a target that is not a number. [`Error::Budget`] for δ = 0, and if the noise would need a σ
    /// above 2⁵⁹ lattice steps.
    pub fn new(domain: RecordDomain, budget: Budget) -> Result<Self> {
        State { domain, budget }.try_into()
    }

    /// Upper bound on ‖x‖² for the encoded features x of a record, intercept included.
    fn squared_norm(&self) -> f64 {
        self.encoding.squared_norm() - 1.0 // the target counts 1
    }

    /// Sensitivities of λ, XᵀX and Xᵀy: largest ℓ₂ distances between their values for two neighbouring tables
    /// (notation of [`PrivateRidge`]).
    ///
    /// Let x and x′ be the rows of X in which the tables differ. λ differs at most by the norm of xxᵀ − x′x′ᵀ
    /// (Weyl) plus the floating-point error. `guide/equations/noisy-moments.md` proves the bound for XᵀX. Xᵀy
    /// differs by at most ‖x‖ + ‖x′‖.
    fn sensitivities(&self) -> [f64; 3] {
        let squared_norm = self.squared_norm();
        // An eigenvalue moves by at most the Frobenius norm of what rounding adds to the matrix.
        let matrix = (self.encoding.width() - 1).pow(2);
        let rounding = [matrix, self.products[0].len(), self.products[1].len()]
            .map(|dim| rounding(&self.state.domain, dim));
        [
            squared_norm * (1.0 + 2.0 * self.eigenvalue_error()) + rounding[0],
            squared_norm + rounding[1],
            2.0 * squared_norm.sqrt() * (1.0 + 1e-12) + rounding[2],
        ]
    }

    /// Upper bound on the error of a computed eigenvalue of XᵀX, as a multiple of
    /// [`squared_norm`](Self::squared_norm).
    ///
    /// The error of a backward stable algorithm is the rounding error of the matrix norm times a small
    /// polynomial of the width d of the matrix. The factor 64·d² is assumed to exceed this polynomial.
    fn eigenvalue_error(&self) -> f64 {
        64.0 * (self.encoding.width() as f64).powi(2) * f64::EPSILON * MOST_RECORDS as f64
    }

    fn calibrated(&self, budget: Budget) -> Result<[SumNoise; 3]> {
        let (epsilon, delta) = (budget.epsilon(), budget.delta());
        let refused = Error::Budget { name: "delta", range: "above zero for Gaussian noise", value: delta };
        let mu = gaussian::mu(epsilon, delta).ok().filter(|mu| *mu > 0.0).ok_or(refused)?;
        let [least, features, target] = self.sensitivities();
        let dims = [(1, least), (self.products[0].len().max(1), features), (self.products[1].len(), target)];
        // Compared to continuous noise, noise on a lattice increases μ of Gaussian differential privacy by a
        // few billionths, and by more if the noise is small.
        for margin in [1e-9, 1e-7, 1e-5, 1e-3, 1e-1] {
            let part =
                |at: usize| SumNoise::for_mu(dims[at].0, dims[at].1, mu * (1.0 - margin) * SHARES[at].sqrt());
            let parts = [part(0)?, part(1)?, part(2)?];
            let [one, two, three] = parts.each_ref().map(SumNoise::profile);
            if one.with(&two).with(&three).delta(epsilon) <= delta {
                return Ok(parts);
            }
        }
        Err(Error::Budget {
            name: "epsilon",
            range: "large enough, together with δ, for three noisy sums",
            value: epsilon,
        })
    }

    /// Computes the sums of products over the records of `table`.
    fn gathered(&self, table: &Table) -> Result<Gathered<'_>> {
        let mut gathered = Gathered { mechanism: self, gram: Gram::new(&self.encoding) };
        accumulate(&self.encoding.layout, table, &mut gathered)?;
        Ok(gathered)
    }

    fn moments(&self, gram: &Gram) -> Moments {
        let features = self.encoding.width() - 1;
        let floats = Array2::from_shape_fn((features, features), |(i, j)| {
            gram.sum([i.min(j), i.max(j)]) as f64 * STEP
        });
        let least = Eigen::new(&floats).map_or(0.0, |eigen| eigen.least()).max(0.0);
        let products = self.products.each_ref().map(|pairs| pairs.iter().map(|at| gram.sum(*at)).collect());
        Moments { least: (least / STEP).round() as i128, products }
    }

    /// Returns λ, XᵀX and Xᵀy with noise, one after the other (notation of [`PrivateRidge`]).
    fn drawn(&self, gram: &Gram, stream: &mut Stream) -> Vec<f64> {
        let Moments { least, products: [features, target] } = self.moments(gram);
        let parts = [vec![least], features, target];
        match &self.noise {
            Some(noise) => {
                parts.iter().zip(noise).flat_map(|(sums, noise)| noise.added(sums, stream)).collect()
            }
            None => parts.iter().flatten().map(|sum| *sum as f64 * STEP).collect(),
        }
    }

    /// Computes the ridge regression from `drawn`, the noisy values of λ, XᵀX and Xᵀy (notation of
    /// [`PrivateRidge`]).
    fn model(&self, drawn: &[f64], records: usize) -> Result<Coefficients> {
        let features = self.encoding.width() - 1;
        let [feature_products, with_target] = &self.products;
        let mut gram = Array2::zeros((features, features));
        gram[[0, 0]] = records as f64;
        feature_products.iter().zip(&drawn[1..]).for_each(|([i, j], sum)| {
            (gram[[*i, *j]], gram[[*j, *i]]) = (*sum, *sum);
        });
        for group in self.encoding.groups() {
            (group.start + 1..group.end + 1).for_each(|level| gram[[level, level]] = gram[[0, level]]);
        }
        let mut with: Array1<f64> = Array1::zeros(features);
        with_target
            .iter()
            .zip(&drawn[1 + feature_products.len()..])
            .for_each(|([i, _], sum)| with[*i] = *sum);
        let (ridge, floor) = self.ridge(drawn[0], features);
        let inverse = Eigen::new(&gram)
            .map(|eigen| eigen.map(|value| 1.0 / (value + ridge).max(floor)))
            .unwrap_or_else(|| Array2::zeros((features, features)));
        let weights = inverse.dot(&with);
        let deviations = self.deviations(&inverse, &weights);
        let weights = weights.insert_axis(Axis(0));
        Ok(Coefficients::new(&self.state.domain, &self.encoding, &weights)?.with_deviations(deviations))
    }

    /// Standard deviations of the noise of the coefficients, to first order in the noise: the weights θ
    /// change by A(b − Eθ) for A = `inverse`, noise b of XᵀX·θ, and noise E of XᵀX
    /// (`guide/equations/private-ridge.md`).
    fn deviations(&self, inverse: &Array2<f64>, weights: &Array1<f64>) -> Option<Vec<f64>> {
        let [_, features, target] = self.noise.as_ref()?;
        let outer = weights.view().insert_axis(Axis(1)).dot(&weights.view().insert_axis(Axis(0)));
        let mut noise = outer * features.scale().powi(2);
        let own = target.scale().powi(2) + features.scale().powi(2) * weights.dot(weights);
        noise.diag_mut().fill(own);
        let units = of_weights(&self.encoding, self.state.domain.columns().len()).dot(inverse);
        let unit = target_unit(&self.state.domain);
        Some(units.outer_iter().map(|row| row.dot(&noise.dot(&row)).max(0.0).sqrt() * unit).collect())
    }

    /// Returns the ridge, and the lower limit for an eigenvalue of XᵀX after the ridge is added. `least` is
    /// the noisy smallest eigenvalue of XᵀX.
    fn ridge(&self, least: f64, features: usize) -> (f64, f64) {
        /// Ridge at ε = ∞. It is positive, so that linearly dependent features also have a solution.
        const TINY: f64 = 1e-9;
        let Some([least_noise, features_noise, _]) = &self.noise else { return (TINY, TINY) };
        let d = features as f64;
        let surely = (least - least_noise.scale() * (2.0 * (1.0 / RARE).ln()).sqrt()).max(0.0);
        let norm = 2.0 * features_noise.scale() * d.sqrt();
        ((norm - surely).max(0.0), features_noise.scale())
    }
}

impl CuratorMechanism for PrivateRidge {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Ok(budget) = spent(self.state.budget) else { return Guarantee::nothing(&self.state.domain) };
        let Some([least, features, target]) = &self.noise else {
            let discloses = vec!["the model trained on all records, without noise".into()];
            return Guarantee { discloses, ..Guarantee::default() };
        };
        let profile = least.profile().with(&features.profile()).with(&target.profile());
        let dp = CentralDp::new(budget.epsilon(), budget.delta(), Neighbours::ReplaceOne).along(profile);
        let theorem = "XᵀX, Xᵀy and the smallest eigenvalue of XᵀX with discrete Gaussian noise (Wang 2018, \
                       Algorithm 2; Canonne, Kamath and Steinke 2020): for records with ‖x‖² ≤ T, neighbours \
                       lie T, 2√T and T apart (guide/equations/noisy-moments.md), and the three compose by \
                       μ² = Σμᵢ² (Dong, Roth and Su 2022, Corollary 3.3); δ(ε) by Balle and Wang (2018), \
                       Theorem 8, plus what the lattice adds";
        let claim = [(dp, theorem.to_owned())];
        let mut guarantee = Guarantee::for_curator(Neighbours::ReplaceOne, claim);
        guarantee.assumes.push(
            "the error of a computed eigenvalue of a symmetric matrix of width d is at most 64·d² roundings \
             of its norm, and the noise covers this error"
                .into(),
        );
        guarantee
    }

    fn releases(&self) -> Releases {
        Releases::Model { family: "ridge", learner: "ridge" }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Gathered { mechanism: self, gram: Gram::new(&self.encoding) })
    }

    fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        Ok(Arc::new(Coefficients::from_table(&self.state.domain, table)?))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: self.noise.as_ref().map(|_| self as &dyn Statistics), ..Evidence::default() }
    }
}

/// Accumulator of the sums of products over the records of a release.
struct Gathered<'m> {
    mechanism: &'m PrivateRidge,
    gram: Gram<'m>,
}

impl Gathered<'_> {
    fn gather(&mut self, records: &[f64], shares: Option<&[u16]>) -> Result<()> {
        self.gram.add(records, shares)?;
        if self.gram.people() > MOST_RECORDS {
            return Err(Error::not_applicable(NAME, format!("it accepts at most {MOST_RECORDS} records")));
        }
        Ok(())
    }
}

impl Accumulator for Gathered<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.gather(records, None)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        self.gather(records, Some(shares))
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Self { mechanism, gram } = *self;
        let guarantee = mechanism.guarantee().under(randomness.provenance());
        let drawn = mechanism.drawn(&gram, &mut randomness.streams().stream(0));
        mechanism.model(&drawn, gram.people())?.outcome(guarantee)
    }
}

/// Statistics through which an audit attacks a release: λ, XᵀX and Xᵀy with noise, one after the other
/// (notation of [`PrivateRidge`]).
impl Statistics for PrivateRidge {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        Ok(self.drawn(&self.gathered(table)?.gram, &mut randomness.streams().stream(0)))
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let Moments { least, products: [features, target] } = self.moments(&self.gathered(table)?.gram);
        scumble_core::check_width(1 + features.len() + target.len(), drawn.len())?;
        let (drawn_least, rest) = drawn.split_at(1);
        let (drawn_features, drawn_target) = rest.split_at(features.len());
        let parts = [(vec![least], drawn_least), (features, drawn_features), (target, drawn_target)];
        let noise = self.noise.iter().flatten();
        Ok(noise.zip(parts).map(|(noise, (sums, drawn))| noise.log_likelihood(&sums, drawn)).sum())
    }
}

fn design(_: NoParameters, brief: &Brief) -> Result<PrivateRidge> {
    brief.budget.check_for_gaussian(NAME)?;
    PrivateRidge::new(brief.domain.clone(), brief.budget)
}

/// Example with forty records of two numbers and a one-hot group, and a numeric target.
fn example() -> Result<Example> {
    let mixed = Example::mixed()?;
    let value = |(row, record): (usize, ndarray::ArrayView1<f64>)| {
        4.0 + 3.0 * record[0] - 2.0 * record[1] + record[3] + (row % 7) as f64 / 7.0
    };
    let values: Array1<f64> = mixed.table.records().outer_iter().enumerate().map(value).collect();
    let (columns, target) = (mixed.table.columns().to_vec(), TargetDomain::Real { lower: 0.0, upper: 12.0 });
    let features: Domain = mixed.brief.domain.features().clone();
    let brief = Brief::new(RecordDomain::new(columns, features, target)?, mixed.brief.budget);
    Ok(Example { brief, table: mixed.table.with_target(Target::Real(values))?, ..mixed })
}

register! {
    /// The plugin `private-ridge`.
    pub const PRIVATE_RIDGE = {
        name: NAME,
        summary: "a ridge regression in place of the records, from noisy moments, regularised for their \
            noise",
        paper: "Wang, Revisiting differentially private linear regression: optimal and adaptive prediction \
                and estimation in unbounded domain (2018), AdaSSP",
        descriptor: Descriptor::new(Output::Model),
        parameters: NoParameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        curator: PrivateRidge::try_from,
        example: example,
    };
}
