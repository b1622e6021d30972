//! Perfect secrecy for generalised linear models (Dauntless, Section 5): the release is the identity matrix,
//! whatever the records are.

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

/// Number of rows and columns of the largest square matrix that a release may contain. The matrix takes 200
/// MB.
const MOST_WRITTEN: usize = 5000;

/// Method that increases the singular values of a matrix, with a parameter v. Dauntless calls each of the two
/// methods singular value improvement (SVI).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// Adds the parameter v to each singular value (Dauntless, Sections 3.3 and A.1).
    Add,
    /// Raises singular values below the parameter v to v (Dauntless, Algorithm 4).
    Raise,
}

impl Improvement {
    /// Returns the singular value `sigma`, increased by this method with the parameter `v`.
    pub fn apply(self, sigma: f64, v: f64) -> f64 {
        match self {
            Self::Add => sigma + v,
            Self::Raise => sigma.max(v),
        }
    }
}

/// Replaces the records by the n × n identity matrix (Section 5 of Dauntless): perfect secrecy of the
/// features.
///
/// Let X (n × (d + 1)) be the records: d features minus the middle of the domain, and a column of ones. Let W
/// be a random normal matrix ((d + 1) × n), with the singular value decomposition XW = UΣV. The secret map is
/// T(x) = x·W·X̃⁻¹ with X̃ = UΣ̃V, where Σ̃ has the improved singular values ([`Improvement`]). T(X) has the
/// rank of X. The release has the constant I_n, the n × n identity matrix, in place of T(X) (errata D10). The
/// owner's secret key turns a model f, trained on I_n, into the model x ↦ f(T(x)) of records in the clear.
///
/// X̃⁻¹ is never computed. Let W = L·Q with Q·Qᵀ = I, where L is lower triangular if n > d. Let XL = U₁Σ₁V₁
/// be the thin singular value decomposition, of rank r, and Σ̃₁ the improved Σ₁. On the row space of X, T(x)
/// = x·C·U₁ᵀ with C = L·V₁ᵀ·Σ̃₁⁻¹ ((d + 1) × r). Q is never drawn. L is drawn from its own distribution
/// (Bartlett). This takes O(n·d²) time and O(n·d) memory. Components of x outside the row space of X are
/// dropped; X̃⁻¹ would rotate them at random.
///
/// # Guarantee
///
/// The release holds a constant in place of the features, so it discloses nothing about them. The labels and
/// n are released in the clear. A model converted by the key depends on the records, and has no guarantee.
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

/// Public state of the mechanism.
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
    /// Creates the mechanism that improves the singular values of XW with the parameter `v`. XW is the
    /// records times a random matrix (see [`PerfectSecrecy`]).
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `v` is finite and above zero, [`Error::NotApplicable`] if `domain` has no
    /// features.
    pub fn new(domain: RecordDomain, v: f64, improvement: Improvement) -> Result<Self> {
        Error::check(NAME, "v", v, "finite and above zero", v.is_finite() && v > 0.0)?;
        if domain.columns().is_empty() {
            return Err(Error::not_applicable(NAME, "there are no features to keep secret"));
        }
        Ok(Self { state: State { domain, v, improvement } })
    }

    /// Draws the owner's secret map T for the records X of `table`. The release of `table` has the identity
    /// matrix in place of T(X). Unlike a release, the map has no limit on the number of records.
    ///
    /// # Errors
    /// [`Error::Shape`] if the columns of `table` do not fit the domain, [`Error::Empty`] if it has no
    /// records, [`Error::NonFinite`] if a value is not finite. [`Error::NotApplicable`] if the singular value
    /// decomposition fails.
    pub fn map(&self, table: &Table, randomness: &mut Randomness) -> Result<SecretMap> {
        let domain = &self.state.domain;
        let records = with_ones(domain, &domain.projected_features(table)?);
        let (n, d) = records.dim();
        let distribution = mixing_distribution(d, n, &mut randomness.streams().stream(0))?;
        let SingularValues { left, values, right } = SingularValues::new(&records.dot(&distribution), NAME)?;
        let improved = values.mapv(|sigma| self.state.improvement.apply(sigma, self.state.v));
        let inner = distribution.dot(&(&right / &improved));
        Ok(SecretMap { domain: domain.clone(), inner, outer: left })
    }
}

/// Returns the records minus the middle of the domain, followed by a column of ones (n × (d + 1)).
fn with_ones(domain: &RecordDomain, records: &Array2<f64>) -> Array2<f64> {
    let centered = records - &Array1::from(domain.features().center());
    concatenate![Axis(1), centered, Array2::ones((records.nrows(), 1))]
}

/// Draws the factor L of a matrix W = L·Q (`d` × `n`) of independent standard normal entries, with Q·Qᵀ = I.
/// If n ≥ d, L (d × d) is lower triangular and has Bartlett's distribution. If n < d, L is W, and Q the
/// identity.
fn mixing_distribution(d: usize, n: usize, stream: &mut Stream) -> Result<Array2<f64>> {
    if n < d {
        return gaussian(d, n, stream);
    }
    let mut distribution = gaussian(d, d, stream)?;
    for row in 0..d {
        distribution.slice_mut(ndarray::s![row, row + 1..]).fill(0.0);
        // Length of the component of a row of W that is orthogonal to the rows before it.
        let rest = gaussian(1, n - row, stream)?;
        distribution[[row, row]] = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
    }
    Ok(distribution)
}

/// Secret map T(x) = x̂·C·U₁ᵀ of a release, from a record x of d features to n values for the n released
/// records. The d + 1 values of x̂ are x minus the middle of the domain, and then 1. [`PerfectSecrecy`]
/// defines C and U₁.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretMap {
    domain: RecordDomain,
    /// C, (d + 1) × r for records of rank r.
    inner: Array2<f64>,
    /// U₁, n × r for n released records of rank r.
    outer: Array2<f64>,
}

impl SecretMap {
    /// Converts the `weights` (n × h) of a model trained on the n × n identity matrix into weights ((d + 1) ×
    /// h) for records in the clear. The last row of the result is the constant term. The model is linear with
    /// h outputs, or a network whose first layer has h units.
    ///
    /// # Errors
    /// [`Error::Shape`] if `weights` does not have n rows.
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

    /// Applies `folded` weights ((d + 1) × h), as [`fold`](Self::fold) returns them, to the records in the
    /// clear `clean` (m × d). The result is m × h.
    ///
    /// # Errors
    /// [`Error::Shape`] if `folded` does not have d + 1 rows, or the columns of `clean` do not fit the
    /// domain. [`Error::Empty`] if `clean` has no records, [`Error::NonFinite`] if a value is not finite.
    pub fn apply(&self, clean: &Table, folded: ArrayView2<f64>) -> Result<Array2<f64>> {
        if folded.nrows() != self.inner.nrows() {
            return Err(Error::shape("the weights do not fit this map"));
        }
        Ok(with_ones(&self.domain, &self.domain.projected_features(clean)?).dot(&folded))
    }
}

fn columns(n: usize) -> Vec<String> {
    (1..=n).map(|at| format!("record {at}")).collect()
}

/// Checks that a matrix of `rows` × `columns` values is small enough for a released table.
///
/// # Errors
/// [`Error::NotApplicable`] if the matrix has more than [`MOST_WRITTEN`]² entries.
fn check_written(rows: usize, columns: usize) -> Result<()> {
    if rows.saturating_mul(columns) <= MOST_WRITTEN * MOST_WRITTEN {
        return Ok(());
    }
    let reason = format!(
        "a matrix of {rows} × {columns} values is too large to write; train on the identity matrix without \
         it, through `PerfectSecrecy::map`"
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
            "through a model that the key converts for records in the clear: everything that the model \
             discloses of its training records"
                .into(),
        ]);
        Guarantee {
            claims: vec![Claim {
                notion: Notion::PerfectSecrecy(Secrecy {}),
                protects: Unit::for_features(&self.state.domain),
                theorem: "Section 5.1 (Xiao and Devadas, Dauntless): the release is a constant".into(),
            }],
            discloses,
            assumes: ASSUMED
                .into_iter()
                .chain(["the adversary has neither the owner's key nor a model that the key has converted"])
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
        Ok(Release::new(
            Key::secret(map, &released),
            self.guarantee().under(randomness.provenance()),
            Noise::for_features(&self.state.domain, NoiseDistribution::Unknown { width: n }),
            released,
        ))
    }
}

/// Parameters of the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Parameters {
    /// Increment or lower limit v of singular values, see `improvement`; 1 by default.
    v: Option<f64>,
    /// Improvement of singular values: "add" v to each, or "raise" smaller ones to v; "add" by default.
    improvement: Option<Improvement>,
}

register! {
    /// The plugin `perfect-secrecy`.
    pub const PERFECT_SECRECY = {
        name: NAME,
        summary: "the identity matrix in place of the records; labels and their number are released in the \
                  clear",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with \
                Scalability and Security, Section 5",
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
