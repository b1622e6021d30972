//! Saved state of the mechanisms `dauntless-mix` and `dauntless-inference`, and checks of this state.

use crate::MIX;
use crate::disguise::classes;
use crate::mixing::{Mixing, below, shuffled};
use crate::secret_matrix::DRAWN;
use crate::transformation::{Shape, Weights};
use ndarray::{Array1, Array2};
use scumble_core::{Domain, Error, Factor, RecordDomain, Result, Stream, Table, Target, TargetDomain, size};
use serde::{Deserialize, Serialize};

/// Public state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    pub(crate) domain: RecordDomain,
    /// Number of mixed records per release; `None` means the number of private records.
    pub(crate) samples: Option<usize>,
    /// Number of different queries to a model of the release for which the key mixes in a private record;
    /// zero for `dauntless-mix`.
    pub(crate) queries: usize,
    pub(crate) mixing: Mixing,
    pub(crate) label_dim: usize,
    pub(crate) shape: Shape,
    pub(crate) resistance: Resistance,
    pub(crate) public: Option<Public>,
}

/// Accuracy and probability of the recovery of records that a release must resist, and the assumed variances
/// of records. The parameters of `dauntless-mix` explain the fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resistance {
    pub(crate) error: f64,
    pub(crate) confidence_gap: f64,
    pub(crate) public_variance: f64,
    pub(crate) private_variance: f64,
}

/// Public records (p × d), with their classes if they have any.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Public {
    pub(crate) records: Array2<f64>,
    pub(crate) classes: Option<Array1<usize>>,
}

/// Largest width of a layer. Wider layers take minutes to draw.
const WIDEST: usize = 8192;

/// Returns the column with the smallest upper bound on its variance over the domain, and this bound. The
/// variance of a number between bounds is at most a quarter of its squared range. The indicator of a level is
/// 1 with some probability p, and its variance is p(1 − p) ≤ 1/4. Columns with one possible value are left
/// out.
pub(crate) fn most_variance(domain: &RecordDomain) -> (&str, f64) {
    let factor_variance = |factor: &Factor| match factor {
        Factor::Interval { lower, upper } => ((upper - lower) / 2.0).powi(2),
        Factor::OneHot { .. } => 0.25,
        // The squared radius bounds the variance of every coordinate.
        factor => Domain::try_from(vec![factor.clone()]).map_or(0.0, |set| set.squared_radius()),
    };
    let columns = domain.features().factors();
    let columns = columns.map(|(at, factor)| (&*domain.columns()[at.start], factor_variance(factor)));
    let varying = columns.filter(|(_, variance)| *variance > 0.0);
    varying.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or(("", 0.0))
}

impl State {
    pub(crate) fn check(&self) -> Result<()> {
        let dim = self.domain.columns().len();
        let classes = match self.domain.target() {
            TargetDomain::None | TargetDomain::Class { .. } => classes(self.domain.target()),
            _ => {
                return Err(Error::not_applicable(
                    MIX,
                    "it needs records with a class label or without a label",
                ));
            }
        };
        if dim == 0 || self.domain.features().squared_radius() == 0.0 {
            return Err(Error::not_applicable(
                MIX,
                "there is nothing to transform: the features are a single point",
            ));
        }
        let wrong = |problem: String| Err(Error::parameter(MIX, problem));
        self.check_sizes(self.samples.unwrap_or(1))?;
        if self.label_dim < classes {
            return wrong(format!(
                "label_dim must be {classes} or more, one dimension per class, and {} is not",
                self.label_dim
            ));
        }
        if self.samples == Some(0) || self.mixing.parts() == 0 || self.mixing.private_parts == 0 {
            return wrong("a release needs one mixed record or more, with one private part or more".into());
        }
        if (self.mixing.public_parts > 0) != self.public.is_some() {
            return wrong("public parts need public records, and public records need public parts".into());
        }
        if self.shape.layers.iter().any(|width| !(1..=WIDEST).contains(width)) {
            return wrong(format!("layers must be widths between 1 and {WIDEST}"));
        }
        let inverts = self.shape.weights == Weights::InverseUniform;
        if inverts && self.shape.layers.iter().any(|width| *width != dim) {
            return wrong(format!(
                "an inverse is square: layers of inverse-uniform weights must be {dim} wide"
            ));
        }
        if !(1..=52).contains(&self.shape.bits) {
            return wrong(format!("bits must be between 1 and 52, and {} is not", self.shape.bits));
        }
        let Resistance { error, confidence_gap, public_variance, private_variance } = self.resistance;
        let positive = [
            ("error", error),
            ("public_variance", public_variance),
            ("private_variance", private_variance),
            ("most_condition", self.shape.most_condition - 1.0),
        ];
        if let Some((name, _)) = positive.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0))
        {
            return wrong(format!("{name} must be finite and above {}", i32::from(name == "most_condition")));
        }
        if !(confidence_gap > 0.0 && confidence_gap < 0.5) {
            return wrong(format!(
                "confidence_gap must lie between 0 and 0.5, and {confidence_gap} does not"
            ));
        }
        let (column, most) = most_variance(&self.domain);
        for (name, variance) in [("public_variance", public_variance), ("private_variance", private_variance)]
        {
            if variance > most {
                return wrong(format!(
                    "{name} must be at most {most}, and {variance} is not: within its bounds the column \
                     {column:?} cannot vary by more"
                ));
            }
        }
        self.public.as_ref().map_or(Ok(()), |public| self.check_public(public))
    }

    /// Checks that a release of `samples` mixed records fits in memory, together with the matrices, mixtures
    /// and queries that are needed to make it.
    pub(crate) fn check_sizes(&self, samples: usize) -> Result<()> {
        let held =
            |parameter: &str, counts: &[usize]| size::check_held(MIX, parameter, counts, size_of::<f64>());
        let features = self.domain.features().dim();
        let classes = classes(self.domain.target());
        size::check_held(MIX, "label_dim", &[classes, self.label_dim], DRAWN)?;
        let widths = [&[features][..], &self.shape.layers].concat();
        size::check_layers(MIX, "layers", &widths, DRAWN)?;
        widths.iter().try_for_each(|width| held("samples", &[samples, *width]))?;
        held("samples", &[samples, if classes > 0 { self.label_dim } else { 0 }])?;
        // Each record of a mixture takes two numbers: its index and its weight.
        held("mixed", &[samples, self.mixing.public_parts, 2])?;
        held("mixed", &[samples, self.mixing.private_parts, 2])?;
        held("queries", &[self.queries, features])
    }

    fn check_public(&self, public: &Public) -> Result<()> {
        let target = public.classes.clone().map_or(Target::None, Target::Class);
        let table = Table::new(self.domain.columns().to_vec(), public.records.clone(), target)?;
        self.domain.layout().check(&table)
    }

    pub(crate) fn samples(&self, private: usize) -> usize {
        self.samples.unwrap_or(private)
    }

    /// Returns whether a release of `private` private records uses every private and public record at most
    /// once.
    pub(crate) fn is_fresh(&self, private: usize) -> bool {
        let public = self.public.as_ref().map_or(0, |public| public.records.nrows());
        let left = private.saturating_sub(self.queries);
        left > 0 && self.mixing.is_fresh(self.samples(private), left, public)
    }

    /// Splits the rows of `private` private records into rows to mix for the release and rows to mix with
    /// queries. The two sets are disjoint if there are enough records to use each at most once.
    pub(crate) fn parted(&self, private: usize, draws: &mut Stream) -> [Vec<usize>; 2] {
        if self.is_fresh(private) {
            let mut training = shuffled(private, draws);
            let answering = training.split_off(private - self.queries);
            return [training, answering];
        }
        [(0..private).collect(), (0..self.queries).map(|_| below(private, draws)).collect()]
    }

    /// Number of samples counted against the sample budget of Corollary 1 (Dauntless): released mixed records
    /// plus all queries that the key can answer.
    pub(crate) fn spent(&self, private: usize) -> usize {
        self.samples(private).saturating_add(self.queries)
    }
}
