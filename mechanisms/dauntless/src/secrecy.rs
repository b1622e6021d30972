//! Perfect secrecy for generalised linear models (Section 5): whatever the records are, what leaves of them is the identity matrix.

use crate::secret_matrix::gaussian;
use crate::singular_values::SingularValues;
use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate};
use schemars::JsonSchema;
use scumble_core::{
    ASSUMED, Accumulator, Brief, Claim, CuratorMechanism, Descriptor, Error, Example, Guarantee, Key, Noise,
    NoiseDistribution, Notion, Output, PerfectSecrecy as Secrecy, Randomness, RecordDomain, Release,
    Releases, Result, SecretKey, Stream, Table, Unit, collected, in_clear, register,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "perfect-secrecy";

/// More records are not written as a matrix: five thousand take 200 MB.
const MOST_WRITTEN: usize = 5000;

/// How small singular values are improved (SVI). The paper has two ways under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// Σ + v·I (Sections 3.3 and A.1).
    Add,
    /// Those below v become v (Algorithm 4).
    Raise,
}

impl Improvement {
    /// What becomes of the singular value σ.
    pub fn of(self, sigma: f64, v: f64) -> f64 {
        match self {
            Self::Add => sigma + v,
            Self::Raise => sigma.max(v),
        }
    }
}

/// The records become the n × n identity matrix, whatever they are (Section 5 of Dauntless): perfect secrecy of the features.
///
/// With X the records (n × d, measured from the middle of the domain, and a column of ones) and W random (d × n), XW = UΣV, and
/// X̃ = UΣ̃V with improved singular values, T(x) = x·W·X̃⁻¹ takes the records to a matrix of their own rank, in whose place the constant I_n
/// leaves (ERRATA.md, D10). A model f of I_n becomes x ↦ f(T(x)) by the owner's key.
///
/// X̃⁻¹ is never made: on records of the row space of X, T(x) = x·C·U₁ᵀ with C = L·V₁ᵀ·Σ̃₁⁻¹ of the thin decomposition (d × r), and only L of
/// W = L·Q is drawn, by its own distribution (Bartlett): O(n·d²) time, O(n·d) memory. Directions that no record has are left out of x: X̃⁻¹ would turn them
/// by chance.
///
/// # What is guaranteed
///
/// What leaves of the features is a constant, so that nothing can be learned of them from it. The labels leave in the clear, and so does n. A model that
/// was taken back through the key depends on the records, and has no guarantee.
///
/// ```
/// use ndarray::Array2;
/// use scumble_dauntless::PERFECT_SECRECY;
/// use scumble_core::Randomness;
///
/// let example = (PERFECT_SECRECY.example)()?;
/// let design = PERFECT_SECRECY.design(&example.parameters, &example.brief)?;
/// let release = design.mechanism().release(&example.table, &mut Randomness::from_os()?)?;
/// assert_eq!(*release.table.records(), Array2::<f64>::eye(example.table.len()));
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PerfectSecrecy {
    state: State,
}

/// State of the mechanism: what is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    v: f64,
    improvement: Improvement,
}

impl TryFrom<State> for PerfectSecrecy {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        Self::new(state.domain, state.v, state.improvement)
    }
}

impl PerfectSecrecy {
    /// Singular values of XW improved by v.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless v is finite and above zero, [`Error::NotApplicable`] for records without features.
    pub fn new(domain: RecordDomain, v: f64, improvement: Improvement) -> Result<Self> {
        Error::check(NAME, "v", v, "finite and above zero", v.is_finite() && v > 0.0)?;
        if domain.columns().is_empty() {
            return Err(Error::not_applicable(NAME, "there are no features to keep secret"));
        }
        Ok(Self { state: State { domain, v, improvement } })
    }

    /// The map T for these records, in whose image's place the identity matrix leaves: the owner's secret, for any number of records.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for a table of another shape, [`Error::NotApplicable`] where its
    /// singular values are not found.
    pub fn map(&self, table: &Table, randomness: &mut Randomness) -> Result<SecretMap> {
        let domain = &self.state.domain;
        let records = with_ones(domain, &domain.projected_features(table)?);
        let (n, d) = records.dim();
        let distribution = mixing_distribution(d, n, &mut randomness.streams().stream(0))?;
        let SingularValues { left, values, right } = SingularValues::of(&records.dot(&distribution), NAME)?;
        let improved = values.mapv(|sigma| self.state.improvement.of(sigma, self.state.v));
        let inner = distribution.dot(&(&right / &improved));
        Ok(SecretMap { domain: domain.clone(), inner, outer: left })
    }
}

/// Records measured from the middle of the domain, with a column of ones (n × (d + 1)).
fn with_ones(domain: &RecordDomain, records: &Array2<f64>) -> Array2<f64> {
    let centered = records - &Array1::from(domain.features().center());
    concatenate![Axis(1), centered, Array2::ones((records.nrows(), 1))]
}

/// L of a matrix W = L·Q (d × n) of independent normal entries, with Q·Qᵀ = I: lower triangular by Bartlett's distribution where n ≥ d, else W itself.
fn mixing_distribution(d: usize, n: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    if n < d {
        return gaussian(d, n, stream);
    }
    let mut distribution = gaussian(d, d, stream)?;
    for row in 0..d {
        distribution.slice_mut(ndarray::s![row, row + 1..]).fill(0.0);
        // The length of what is left of a row of W beside the rows before it.
        let rest = gaussian(1, n - row, stream)?;
        distribution[[row, row]] = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    Ok(distribution)
}

/// T(x) = x̂·C·U₁ᵀ for x̂ = (x less the middle of the domain, 1): the secret of a release.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretMap {
    domain: RecordDomain,
    /// C, (d + 1) × r.
    inner: Array2<f64>,
    /// U₁, n × r.
    outer: Array2<f64>,
}

impl SecretMap {
    /// Weights (n × h) on the identity's columns as weights on the features: ((d + 1) × h), the last row for the constant. What a linear
    /// model, or the first layer of a network, that was trained on the identity matrix is on records in the clear.
    ///
    /// # Errors
    /// [`Error::Shape`] for weights of another height.
    pub fn fold(&self, weights: ArrayView2<f64>) -> Result<Array2<f64>> {
        if weights.nrows() != self.outer.nrows() {
            return Err(Error::shape(format!(
                "there are weights for {} records, and {} were released",
                weights.nrows(),
                self.outer.nrows()
            )));
        }
        Ok(self.inner.dot(&self.outer.t().dot(&weights)))
    }

    /// What folded weights (d + 1 × h) make of records in the clear (m × d): m × h.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::Empty`] or [`Error::NonFinite`] for a table of another shape than the domain's.
    pub fn apply(&self, clean: &Table, folded: ArrayView2<f64>) -> Result<Array2<f64>> {
        if folded.nrows() != self.inner.nrows() {
            return Err(Error::shape("the weights are not those of this map"));
        }
        Ok(with_ones(&self.domain, &self.domain.projected_features(clean)?).dot(&folded))
    }
}

fn columns(n: usize) -> Vec<String> {
    (1..=n).map(|at| format!("record {at}")).collect()
}

/// # Errors
/// [`Error::NotApplicable`] for a matrix of more rows or columns than are written.
fn check_written(rows: usize, columns: usize) -> Result<()> {
    if rows.saturating_mul(columns) <= MOST_WRITTEN * MOST_WRITTEN {
        return Ok(());
    }
    let reason = format!(
        "a matrix of {rows} × {columns} values is not written down; of so many records train on the identity without it, as `PerfectSecrecy::map` \
         allows"
    );
    Err(Error::not_applicable(NAME, reason))
}

impl SecretKey for SecretMap {
    fn view(&self, clean: &Table) -> Result<Table> {
        check_written(clean.len(), self.outer.nrows())?;
        let view = self.apply(clean, self.inner.view())?.dot(&self.outer.t());
        Table::new(columns(self.outer.nrows()), view, clean.target().clone())
    }

    fn state(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

impl CuratorMechanism for PerfectSecrecy {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let mut discloses = in_clear(&self.state.domain, Unit::Label);
        discloses.extend([
            "the number of records".to_owned(),
            "through a model that is taken back by the key: whatever such a model says of the records it was trained on".into(),
        ]);
        Guarantee {
            claims: vec![Claim {
                notion: Notion::PerfectSecrecy(Secrecy {}),
                protects: Unit::of_features(&self.state.domain),
                theorem: "Section 5.1 (Xiao and Devadas, Dauntless): what leaves is a constant".into(),
            }],
            discloses,
            assumes: ASSUMED
                .into_iter()
                .chain([
                    "the adversary does not have the owner's key, nor the model that was taken back by it",
                ])
                .map(str::to_owned)
                .collect(),
            ..Guarantee::default()
        }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(&self.state.domain)
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<SecretMap>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl PerfectSecrecy {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        check_written(table.len(), table.len())?;
        let map = self.map(table, randomness)?;
        let n = table.len();
        let released = Table::new(columns(n), Array2::eye(n), table.target().clone())?;
        Ok(Release {
            key: Key::secret(map, &released),
            table: released,
            guarantee: self.guarantee().under(randomness.provenance()),
            noise: Noise::of_features(&self.state.domain, NoiseDistribution::Unknown { width: n }),
        })
    }
}

/// Parameters of the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// By how much, or up to what, singular values are improved; 1 by default.
    v: Option<f64>,
    /// In which of the paper's two ways; "add" by default.
    improvement: Option<Improvement>,
}

register! {
    /// The plugin `perfect-secrecy`.
    pub const PERFECT_SECRECY = {
        name: NAME,
        summary: "what leaves of the records is the identity matrix, whatever they are; labels and their number leave in the clear",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with Scalability and Security, Section 5",
        descriptor: Descriptor::new(Output::SecretView).slow(),
        parameters: Parameters,
        learn: |parameters: Parameters, brief: &Brief| {
            Ok(State {
                domain: brief.domain.clone(),
                v: parameters.v.unwrap_or(1.0),
                improvement: parameters.improvement.unwrap_or(Improvement::Add),
            })
        },
        curator: PerfectSecrecy::try_from,
        example: Example::mixed,
    };
}
