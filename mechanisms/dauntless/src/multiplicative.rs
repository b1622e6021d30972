//! Differential privacy by multiplication with a random matrix (Dauntless, Theorem 5).

use crate::secret_matrix::{DRAWN, FINENESS, SecretMatrix, gaussian};
use ndarray::Array2;
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_accounting::{Error as AccountingError, Neighbours, multiplicative};
use scumble_core::{
    ASSUMED, Accumulator, Brief, Budget, CentralDp, Claim, CuratorMechanism, Descriptor, Error, Example,
    Factor, Guarantee, MetricDp, NoiseDistribution, Notion, Output, Randomness, RecordDomain, Release,
    Releases, Result, SecretKey, Streams, Table, Unit, collected, in_clear, local, register, size,
};
use scumble_sampling::{DiscreteGaussian, Rational};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "multiplicative-dp";

/// Largest ε that a design spends, unless its budget is infinite. This ε gives no meaningful protection, and
/// a larger ε would hardly reduce the standard deviation of the noise.
const MOST_EPSILON: f64 = 1e3;

/// Multiplies records by a random Gaussian matrix, under central differential privacy (Dauntless, Theorem 5,
/// as corrected).
///
/// The release of records X (n × d) is XW₁ + vW₂. It has n rows and d′ columns, and v is the standard
/// deviation of its noise. W₁ (d × d′) and W₂ (n × d′) consist of independent standard Gaussian numbers. With
/// the singular value decomposition X = UΣV, the release has the distribution of X̂W, where X̂ = U(Σ² +
/// v²I)^½V and W also consists of independent standard Gaussian numbers. The proof of Theorem 5 holds for
/// this X̂, and not for the matrix U(Σ + vI)V that the paper prints (errata D12). The release is computed
/// without a decomposition. Theorem 5 is about an n × n matrix. Here this matrix is X padded with zero
/// columns, because copies of X as padding would multiply the sensitivity by √(n/d). The secret key is W₁,
/// which maps a record x in the clear to x·W₁.
///
/// The largest change of one record (B in Theorem 5) is the ℓ₂ diameter of the public domain. v is the least
/// value that gives (ε, δ)-differential privacy for the features of one record, if any record may replace it.
/// v is computed for the declared minimum number of records. For a table with more records, ε is smaller. A
/// table with fewer records is refused. A target is released in the clear.
///
/// With a distance τ (`within`), B is τ instead. The claim is then metric privacy (Definition 3 of
/// Dauntless): it compares tables that differ in one record, by an ℓ₂ distance of at most τ. The paper's
/// experiments have such a B, at a scale of 1/d.
///
/// W₂ is drawn by an exact sampler on a lattice about 2⁴⁰ times finer than v, and XW₁ is rounded to this
/// lattice. For an infinite ε, v is 0 and nothing is claimed.
///
/// ```
/// use scumble_dauntless::{MULTIPLICATIVE_DP, MultiplicativeDp};
/// use scumble_core::{Budget, CuratorMechanism, Notion, Randomness};
///
/// let example = (MULTIPLICATIVE_DP.example)()?;
/// let mechanism = MultiplicativeDp::new(example.brief.domain, Budget::new(1.0, 1e-6)?, 200, 2)?;
/// let Notion::CentralDp(dp) = &mechanism.guarantee().claims[0].notion else { unreachable!() };
/// assert!(dp.epsilon <= 1.0 && dp.delta <= 1e-6);
///
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(release.table.columns(), ["released 1", "released 2"]);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MultiplicativeDp {
    state: State,
    /// Standard deviation v of the noise, and the (ε, δ)-guarantee for this v; `None` if ε is infinite.
    noise: Option<(f64, CentralDp)>,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    budget: Budget,
    /// Least number of records of a table that is released.
    records: u64,
    /// Number of released columns, d′.
    dim: usize,
    /// Largest ℓ₂ distance τ of two values of a record that the claim compares; any two if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<f64>,
}

impl TryFrom<State> for MultiplicativeDp {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let features = state.domain.features();
        if features.l2_diameter() == 0.0 {
            return Err(Error::not_applicable(
                NAME,
                "there is nothing to hide: the features have one possible value",
            ));
        }
        if let Some(within) = state.within {
            let diameter = features.l2_diameter();
            let range = format!("above zero and below {diameter:.4}, the diameter of the domain");
            Error::check(NAME, "within", within, &range, within > 0.0 && within < diameter)?;
            if !features.factors().all(|(_, factor)| matches!(factor, Factor::Interval { .. })) {
                let reason = "within needs columns of numbers, because levels are at fixed distances";
                return Err(Error::not_applicable(NAME, reason));
            }
        }
        let refuse = |problem: &str| Error::parameter(NAME, problem);
        if state.dim == 0 {
            return Err(refuse("dim, the number of released columns, must be one or more"));
        }
        state.check_sizes(state.records)?;
        if state.records == 0 {
            return Err(refuse("records, the minimum number of records, must be one or more"));
        }
        let noise = match state.budget.epsilon() {
            f64::INFINITY => None,
            epsilon => Some(least_noise(&state, epsilon.min(MOST_EPSILON))?),
        };
        Ok(Self { state, noise })
    }
}

impl State {
    /// Checks that the secret matrix and a release of `records` records fit in memory.
    fn check_sizes(&self, records: u64) -> Result<()> {
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        size::check_held(NAME, "dim", &[self.domain.columns().len(), self.dim], DRAWN)?;
        size::check_held(NAME, "dim, for this number of records,", &[records, self.dim], size_of::<f64>())
    }
}

/// Computes the least standard deviation v of the noise for `epsilon` and the δ of the budget, and the (ε,
/// δ)-guarantee for this v.
///
/// # Errors
/// [`Error::Budget`] if δ is zero, [`Error::Parameter`] if the declared minimum number of records is too
/// small for Theorem 5 of Dauntless.
fn least_noise(state: &State, epsilon: f64) -> Result<(f64, CentralDp)> {
    let delta = state.budget.delta();
    if delta == 0.0 {
        return Err(Error::Budget { name: "delta", range: "above zero for a random factor", value: delta });
    }
    let refused = |error: AccountingError| Error::parameter(NAME, error);
    // A floating-point sum of d squares has at most d rounding errors.
    let sensitivity = state.within.unwrap_or_else(|| state.domain.features().l2_diameter());
    let sensitivity = sensitivity * (1.0 + 4.0 * f64::EPSILON * (state.domain.columns().len() + 2) as f64);
    let factor =
        multiplicative::Release::new(sensitivity, state.records, state.dim as u64).map_err(refused)?;
    let (v, private) = factor.least_v(epsilon, delta).map_err(refused)?;
    // The terms of δ in Theorem 5 of Dauntless add up to at most `delta`.
    Ok((v, CentralDp::new(private.epsilon, delta, Neighbours::ReplaceOne)))
}

impl MultiplicativeDp {
    /// Creates the mechanism that releases at least `records` records as `dim` columns (d′) within `budget`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the features have one possible value; [`Error::Budget`] if δ is zero;
    /// [`Error::TooLarge`] if the released columns do not fit in memory; [`Error::Parameter`] if `dim` is
    /// zero, or if `records` is less than Theorem 5 of Dauntless needs (about 4·ln(32·d′/δ)).
    pub fn new(domain: RecordDomain, budget: Budget, records: u64, dim: usize) -> Result<Self> {
        State { domain, budget, records, dim, within: None }.try_into()
    }

    /// Returns the mechanism with a claim that compares only values of a record within the ℓ₂ distance
    /// `within`, in units of the encoded record. Its noise is smaller.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `within` lies between zero and the ℓ₂ diameter of the domain.
    /// [`Error::NotApplicable`] if a feature is a category.
    pub fn within(self, within: f64) -> Result<Self> {
        State { within: Some(within), ..self.state }.try_into()
    }

    /// Standard deviation v of the noise added to the records times the secret matrix, in units of the
    /// encoded record; zero for an infinite ε.
    pub fn v(&self) -> f64 {
        self.noise.as_ref().map_or(0.0, |(v, _)| *v)
    }

    /// Rounds `released` (n × d′), the records times the secret matrix, to a lattice, and adds Gaussian noise
    /// of standard deviation v. The result is the same for any number of threads.
    ///
    /// # Errors
    /// An error if the sampler cannot be created, or if `released` is not stored row by row.
    fn add_noise(&self, released: &mut Array2<f64>, streams: &Streams) -> Result<()> {
        let Some((v, _)) = &self.noise else {
            return Ok(());
        };
        let step = 2f64.powi(v.log2().floor() as i32 - FINENESS);
        // Rounding the number of steps up never gives less noise than the claim needs.
        let distribution = DiscreteGaussian::new(Rational::new((v / step).ceil() as u64, 1)?)?;
        let values =
            released.as_slice_mut().ok_or_else(|| Error::shape("the records are not stored row by row"))?;
        values.par_chunks_mut(local::BLOCK * self.state.dim).enumerate().for_each(|(number, block)| {
            // Stream 0 draws the secret matrix W₁.
            let mut stream = streams.stream(number as u64 + 1);
            for x in block {
                let sum = (*x / step).round() as i128 + distribution.sample(&mut stream);
                *x = sum as f64 * step;
            }
        });
        Ok(())
    }
}

impl CuratorMechanism for MultiplicativeDp {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.push("the number of records".into());
        let Some((_, dp)) = &self.noise else {
            discloses.push(
                "the features of every record, times one secret matrix: an adversary that knows as many \
                 linearly independent records as there are columns knows the matrix"
                    .into(),
            );
            return Guarantee { discloses, ..Guarantee::default() };
        };
        let records = self.state.records;
        let specific = [
            format!(
                "the table has {records} records or more, and this number is public; a smaller table is \
                     refused, and the refusal is visible"
            ),
            "the noise is treated as continuous, although it is drawn exactly on a lattice 2^40 times finer \
             than its standard deviation, to which the records times the matrix are rounded"
                .into(),
            "the key, which is the secret matrix, stays secret".into(),
        ];
        Guarantee {
            claims: vec![Claim {
                notion: match self.state.within {
                    None => Notion::CentralDp(dp.clone()),
                    Some(within) => {
                        let diameter = self.state.domain.features().l2_diameter();
                        Notion::MetricDp(MetricDp::new(dp.clone(), within, diameter))
                    }
                },
                protects: Unit::for_features(&self.state.domain),
                theorem: "Theorem 5 (Xiao and Devadas, Dauntless) for Gaussian W, with n − 2√(n·ln(16/δ₀)) \
                          in its denominator and X̂ = U(Σ² + v²I)^½V, for which its proof holds (errata \
                          D1 and D12); columns compose by the sum of ε₀, or by advanced composition"
                    .into(),
            }],
            discloses,
            assumes: ASSUMED.into_iter().map(str::to_owned).chain(specific).collect(),
            ..Guarantee::default()
        }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(&self.state.domain)
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<SecretMatrix>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl MultiplicativeDp {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let State { domain, records: least, dim, .. } = &self.state;
        let records = domain.projected_features(table)?;
        let n = records.nrows();
        if self.noise.is_some() && (n as u64) < *least {
            let reason = format!(
                "it is designed for {least} records or more, and the table has {n}: fewer records cost a \
                 larger ε"
            );
            return Err(Error::not_applicable(NAME, reason));
        }
        self.state.check_sizes(n as u64)?;
        let streams = randomness.streams();
        let matrix = gaussian(records.ncols(), *dim, &mut streams.stream(0))?;
        let mut released = records.dot(&matrix);
        self.add_noise(&mut released, &streams)?;
        let noise = NoiseDistribution::Additive { variance: vec![self.v() * self.v(); *dim] };
        let guarantee = self.guarantee().under(randomness.provenance());
        SecretMatrix::new(domain, matrix).released(table, released, noise, guarantee)
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Least number of records, a public number that determines the noise. Tables with fewer records are
    /// refused.
    records: Option<u64>,
    /// d′, the number of released columns; by default the number of feature columns.
    dim: Option<usize>,
    /// Largest ℓ₂ distance τ of two values of a record that the claim compares, in units of the encoded
    /// record. By default the claim compares any two values. With τ it is metric privacy and not differential
    /// privacy, and the noise is smaller.
    within: Option<f64>,
}

fn learn(Parameters { records, dim, within }: Parameters, brief: &Brief) -> Result<State> {
    let Some(records) = records else {
        let reason = "it needs the parameter records, a public minimum number of records, because its noise \
                      depends on this number";
        return Err(Error::not_applicable(NAME, reason));
    };
    let domain = brief.domain.clone();
    let dim = dim.unwrap_or(domain.columns().len());
    Ok(State { domain, budget: brief.budget, records, dim, within })
}

/// Example of two hundred records of three numbers. At the δ of this example, Theorem 5 of Dauntless needs
/// about seventy records.
fn example() -> Result<Example> {
    const RECORDS: usize = 200;
    let few = Example::numbers()?;
    let rows: Vec<usize> = (0..RECORDS).map(|row| row % few.table.len()).collect();
    Ok(Example {
        parameters: serde_json::json!({ "records": RECORDS }),
        table: few.table.select(&rows)?,
        ..few
    })
}

register! {
    /// The plugin `multiplicative-dp`.
    pub const MULTIPLICATIVE_DP = {
        name: NAME,
        summary: "records times a secret Gaussian matrix, plus Gaussian noise for central differential \
                  privacy",
        paper: "Xiao and Devadas, Dauntless: data augmentation and uniform transformation for learning with \
                scalability and security, Theorem 5",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: Parameters,
        learn: learn,
        curator: MultiplicativeDp::try_from,
        example: example,
    };
}
