//! Mechanism that releases random records with noisy moments.

use crate::encoding::{Encoding, Gram};
use crate::moment_tables::NoisySums;
use crate::noise::{STEP, SumNoise, rounding, spent};
use crate::rows::Population;
use ndarray::Array2;
use schemars::JsonSchema;
use scumble_core::levels::{Attribute, CountedTable};
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Descriptor, Drawing, Error, Evidence, Example,
    Guarantee, Key, Neighbours, Noise, NoiseDistribution, Outcome, Output, Randomness, RecordDomain, Release,
    Releases, Result, Statistics, Stream, Table, ValuesIn, collected, register,
};
use serde::{Deserialize, Serialize};

const NAME: &str = "noisy-moments";

/// Random records whose first and second moments, target included, are the noisy moments of all records.
///
/// The noise is discrete Gaussian and is sampled exactly. A linear regression depends on a table only through
/// its moments. It therefore learns the same from these records as from the noisy moments.
///
/// A record is encoded as z = (1, u, e). The numbers u are centred and scaled to [−1, 1] by their public
/// bounds, and e are one-hot groups of levels. Every product of two coordinates of z is summed over all
/// records, unless it is known in advance. Noise is added to each sum. Let u have k coordinates, let e have g
/// groups, and let T = 1 + k + g. If two tables differ in one replaced record, their sums are at most T apart
/// in ℓ₂. If one table has an additional record, the sums are at most √((T² + 1 + k − g)/2) apart in ℓ₂
/// (proof: `guide/equations/noisy-moments.md`).
///
/// The released records are normal about the mean of their class, or about one mean if the target is not a
/// class. Eigenvalues of their covariance below the largest shift that the noise is expected to cause are
/// raised to this shift. The released coordinates of a group are real numbers, because records of 0 and 1
/// could not have the noisy moments. In a file, the level with the largest coordinate replaces the group. An
/// infinite ε releases the records in the clear, without a privacy claim.
///
/// ```
/// use scumble_core::{Budget, CuratorMechanism, Neighbours, Randomness};
/// use scumble_private_models::{NOISY_MOMENTS, NoisyMoments};
///
/// let example = (NOISY_MOMENTS.example)()?;
/// let mechanism = NoisyMoments::new(example.brief.domain, Budget::new(1.0, 1e-6)?, Neighbours::ReplaceOne)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.len(), example.table.len());
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NoisyMoments {
    state: State,
    encoding: Encoding,
    /// Pairs of coordinates of an encoded record z whose summed product gets noise.
    products: Vec<[usize; 2]>,
    /// Noise on each sum; `None` at ε = ∞.
    noise: Option<SumNoise>,
    claims: Vec<CentralDp>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    budget: Budget,
    neighbours: Neighbours,
}

impl TryFrom<State> for NoisyMoments {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let encoding = Encoding::for_domain(NAME, &state.domain)?;
        encoding.check_size(NAME)?;
        let mut products = encoding.products();
        if products.is_empty() {
            return Err(Error::not_applicable(NAME, "records without a column have no moments"));
        }
        if state.neighbours == Neighbours::AddOrRemoveOne {
            products.insert(0, [0, 0]); // the number of records is no longer public
        }
        let mut made = Self { state, encoding, products, noise: None, claims: vec![] };
        if made.state.budget.epsilon().is_finite() {
            made.make_private()?;
        }
        Ok(made)
    }
}

impl NoisyMoments {
    /// Creates the mechanism for records of `domain` within `budget`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for features that are neither numbers within their own bounds nor categories,
    /// and for a vector as target. [`Error::Budget`] for δ = 0, and if the noise would need a σ above 2⁵⁹
    /// lattice steps.
    pub fn new(domain: RecordDomain, budget: Budget, neighbours: Neighbours) -> Result<Self> {
        State { domain, budget, neighbours }.try_into()
    }

    /// Standard deviation σ of the noise on each sum of products of two coordinates in [−1, 1]; `None` at ε =
    /// ∞.
    pub fn scale(&self) -> Option<f64> {
        self.noise.as_ref().map(SumNoise::scale)
    }

    /// Largest ℓ₂ distance between the sums of two neighbouring tables, to which the noise is calibrated.
    pub fn sensitivity(&self, neighbours: Neighbours) -> f64 {
        let whole = self.encoding.squared_norm();
        let distance = match neighbours {
            Neighbours::ReplaceOne => whole,
            Neighbours::AddOrRemoveOne => {
                let (numbers, groups) = (self.encoding.numbers() as f64, self.encoding.groups().len() as f64);
                ((whole * whole + 1.0 + numbers - groups) / 2.0).sqrt() * (1.0 + 1e-12)
            }
        };
        distance + rounding(&self.state.domain, self.products.len())
    }

    /// Calibrates the noise and sets the claims. If the mechanism's neighbouring relation adds or removes one
    /// record, this also sets a claim for the relation that replaces one record.
    fn make_private(&mut self) -> Result<()> {
        let (budget, neighbours) = (spent(self.state.budget)?, self.state.neighbours);
        let dim = self.products.len();
        let noise = SumNoise::calibrated(dim, self.sensitivity(neighbours), budget)?;
        self.claims =
            vec![CentralDp::new(budget.epsilon(), budget.delta(), neighbours).along(noise.profile())];
        if neighbours == Neighbours::AddOrRemoveOne {
            let replace_sensitivity = self.sensitivity(Neighbours::ReplaceOne);
            let epsilon = noise.epsilon(dim, replace_sensitivity, budget.delta())?;
            self.claims.push(CentralDp::new(epsilon, budget.delta(), Neighbours::ReplaceOne));
        }
        self.noise = Some(noise);
        Ok(())
    }

    /// Returns the sums of products to which noise is added, as integers in units of 2⁻⁴⁰.
    fn sums(&self, gram: &Gram) -> Vec<i128> {
        self.products.iter().map(|at| gram.sum(*at)).collect()
    }

    /// Upper triangle of the noisy sums `drawn` of all products of two coordinates that are not known
    /// beforehand. The number of records comes first.
    fn triangle(&self, drawn: &[f64], records: usize) -> Array2<f64> {
        let width = self.encoding.width();
        let mut sums = Array2::zeros((width, width));
        sums[[0, 0]] = records as f64; // unless it has noise
        self.products.iter().zip(drawn).for_each(|(at, sum)| sums[*at] = *sum);
        sums
    }

    /// Returns the means of all products of two coordinates, and the number of records, from noisy sums.
    fn means(&self, mut means: Array2<f64>, records: usize) -> (Array2<f64>, usize) {
        let count = match self.state.neighbours {
            Neighbours::ReplaceOne => records,
            // The noisy number of records may be negative or very large. It is therefore clamped to the range
            // from one to the largest number of rows of a table.
            Neighbours::AddOrRemoveOne => means[[0, 0]].clamp(1.0, u32::MAX.into()).round() as usize,
        };
        means /= count as f64;
        means[[0, 0]] = 1.0;
        (means, count)
    }

    /// Largest expected shift of the eigenvalues of the covariance of `records` records by the noise: the
    /// edge of Wigner's semicircle.
    fn floor(&self, records: usize) -> f64 {
        let (width, scale) = (self.encoding.width() as f64, self.scale().unwrap_or(0.0));
        2.0 * scale * width.sqrt() / records as f64
    }
}

impl CuratorMechanism for NoisyMoments {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        if self.noise.is_none() {
            return Guarantee::nothing(&self.state.domain);
        }
        let notions = self.claims.iter().map(|dp| (dp.clone(), theorem(dp.neighbours)));
        Guarantee::for_curator(self.state.neighbours, notions)
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Units }
    }

    /// Starts a release. At an infinite ε, this release contains the records in the clear.
    fn start(&self) -> Box<dyn Accumulator + '_> {
        match &self.noise {
            Some(noise) => Box::new(Gathered { mechanism: self, noise, gram: Gram::new(&self.encoding) }),
            None => collected(self.domain(), |table, randomness| self.in_clear(table, randomness)),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: self.noise.as_ref().map(|_| self as &dyn Statistics), ..Evidence::default() }
    }
}

impl NoisyMoments {
    fn in_clear(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let domain = &self.state.domain;
        let guarantee = self.guarantee().under(randomness.provenance());
        let noise = Noise::for_features(domain, NoiseDistribution::Exact { width: domain.columns().len() });
        let gram = Gram::from_table(&self.encoding, table)?;
        let sums: Vec<f64> = self.sums(&gram).iter().map(|sum| *sum as f64 * STEP).collect();
        let sums = self.triangle(&sums, gram.people());
        let noisy_tables = self.tables(&sums, &mut randomness.streams().stream(0))?;
        Ok(Release { noisy_tables, ..Release::new(Key::None, guarantee, noise, table.clone()) })
    }

    /// The noisy sums as tables.
    fn tables(&self, sums: &Array2<f64>, stream: &mut Stream) -> Result<Vec<CountedTable>> {
        let (features, target) = Attribute::all(NAME, &self.state.domain, |_| 1)?;
        let noisy = NoisySums {
            attributes: &features.into_iter().chain(target).collect::<Vec<_>>(),
            sums,
            scale: self.scale().unwrap_or(0.0),
            neighbours: self.state.neighbours,
            sensitivity: self.sensitivity(self.state.neighbours),
        };
        Ok(noisy.tables(stream))
    }
}

/// Accumulator of the sums of products over the records of a release.
struct Gathered<'m> {
    mechanism: &'m NoisyMoments,
    noise: &'m SumNoise,
    gram: Gram<'m>,
}

impl Accumulator for Gathered<'_> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        self.gram.add(records, None)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        self.gram.add(records, Some(shares))
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Self { mechanism, noise, gram } = *self;
        let NoisyMoments { state, encoding, .. } = mechanism;
        let guarantee = mechanism.guarantee().under(randomness.provenance());
        let (layout, streams) = (state.domain.layout(), randomness.streams());
        let mut stream = streams.stream(0);
        let noisy = noise.added(&mechanism.sums(&gram), &mut stream);
        let sums = mechanism.triangle(&noisy, gram.people());
        let tables = mechanism.tables(&sums, &mut stream)?;
        let (means, count) = mechanism.means(sums, gram.people());
        let population = Population::from_moments(&state.domain, encoding, &means, mechanism.floor(count))
            .ok_or_else(|| Error::shape("the moments are not finite numbers"))?;
        let noise = Noise::unknown(&layout);
        let flat_layout = layout.clone();
        let draw = move |records: usize, stream: &mut Stream| match records {
            0 => Ok(vec![]),
            _ => Ok(flat_layout.flat(&population.rows(records, stream)?, 0..records)),
        };
        let drawing = Drawing::new((guarantee, noise), layout, count, streams, draw);
        Ok(Outcome::Synthetic(drawing.with_tables(vec![], tables)))
    }
}

/// Statistics through which an audit attacks a release: noisy sums of products of two coordinates, in the
/// order of `products`. At ε = ∞ they are the true sums.
impl Statistics for NoisyMoments {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let sums = self.sums(&Gram::from_table(&self.encoding, table)?);
        let mut stream = randomness.streams().stream(0);
        Ok(match &self.noise {
            Some(noise) => noise.added(&sums, &mut stream),
            None => sums.iter().map(|sum| *sum as f64 * STEP).collect(),
        })
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        scumble_core::check_width(self.products.len(), drawn.len())?;
        let sums = self.sums(&Gram::from_table(&self.encoding, table)?);
        Ok(self.noise.as_ref().map_or(0.0, |noise| noise.log_likelihood(&sums, drawn)))
    }
}

fn theorem(neighbours: Neighbours) -> String {
    let distance = match neighbours {
        Neighbours::ReplaceOne => "T",
        Neighbours::AddOrRemoveOne => "√((T² + 1 + k − g)/2)",
    };
    format!(
        "sums of products of k numbers in [−1, 1], g one-hot groups and 1, as integers: two neighbours lie \
         at most {distance} apart in ℓ₂, T = 1 + k + g (guide/equations/noisy-moments.md); with discrete \
         Gaussian noise (Canonne, Kamath and Steinke 2020), δ(ε) by Balle and Wang (2018), Theorem 8, plus \
         what the lattice adds"
    )
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Neighbouring relation: "replace-one" record (the default; the number of records is public), or
    /// "add-or-remove-one" (the number of released rows is noisy).
    #[schemars(with = "Option<String>")]
    neighbours: Option<Neighbours>,
}

fn design(Parameters { neighbours }: Parameters, brief: &Brief) -> Result<NoisyMoments> {
    let neighbours = neighbours.unwrap_or(Neighbours::ReplaceOne);
    brief.budget.check_for_gaussian(NAME)?;
    NoisyMoments::new(brief.domain.clone(), brief.budget, neighbours)
}

register! {
    /// The plugin `noisy-moments`.
    pub const NOISY_MOMENTS = {
        name: NAME,
        summary: "random records with the noisy second moments of all records and their target, which \
                  suffice for linear models",
        paper: "Vu and Slavković, Differential privacy for clinical trial data: preliminary evaluations \
                (2009); Sheffet, Differentially private ordinary least squares (2017); Dwork, Talwar, \
                Thakurta and Zhang, Analyze Gauss (2014)",
        descriptor: Descriptor::new(Output::Synthetic),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        curator: NoisyMoments::try_from,
        example: Example::mixed,
    };
}
