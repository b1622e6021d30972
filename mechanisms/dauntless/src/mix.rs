//! Mixing, transformation and random labels (Algorithm 2).

use crate::bases::Bases;
use crate::disguise::{Disguise, classes, labels};
use crate::guarantee;
use crate::inference::Answers;
use crate::mixing::{Mixing, MixingWeights, below, mixed, shuffled};
use crate::secret_matrix::DRAWN;
use crate::transformation::{Shape, Weights};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use schemars::JsonSchema;
use scumble_neural::Activation;
use scumble_registry::{
    Brief, Claim, Domain, Error, Example, Factor, Guarantee, Key, Law, Mechanism, Noise, Randomness,
    RecordDomain, Release, Result, Stream, Table, Target, TargetDomain, TargetLayout, Unit, Volunteers,
    register, size,
};
use serde::{Deserialize, Serialize};
use std::f64::consts::SQRT_2;

pub(crate) const NAME: &str = "dauntless-mix";

/// Public and private records are mixed, labels become random vectors, and a random network transforms what leaves.
///
/// Each of m released records is a weighted mean of private records and public ones, the volunteers', so that an adversary who knows the
/// public part of it still does not know what was transformed; without public volunteers private records are mixed with each other, or not
/// at all. Labels are mixed likewise, as vectors of independent normal coordinates, one a class. Then every mixed record goes through one
/// random network, of which the owner keeps the seed, and its values are rounded to 2^bits points.
///
/// The card of each release says what it claims: for numbers through one layer of inverse uniform weights, mixtures of one private and one public
/// record of equal weights, none of which is used twice, that no mixed record is recovered while the budget of Corollary 1 lasts (as corrected:
/// [`scumble_accounting::pac`]), if records were independent and normal; where no public records are mixed in, that all tables X·U with a unitary U
/// have one output distribution under normal weights (Lemma 1), and all labels whose classes exchange their names (Theorem 4). Public records show
/// their classes, which no exchange of the private ones' names reaches. It is no differential privacy.
///
/// ```
/// use scumble_dauntless::DAUNTLESS_MIX;
/// use scumble_registry::{Randomness, Target};
///
/// let example = (DAUNTLESS_MIX.example)()?;
/// let design = DAUNTLESS_MIX.design(&example.parameters, &example.brief)?;
/// let release = design.mechanism().release(&example.table, &mut Randomness::from_os()?)?;
/// assert!(matches!(release.table.target(), Target::Vector(_)));
/// println!("{}", release.guarantee);
///
/// // The owner's key turns what a model of the release predicts into classes again.
/// let view = release.key.view(&example.table)?;
/// assert_eq!(release.key.read(&example.table, view.target().clone())?, *example.table.target());
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Dauntless {
    saved: Saved,
}

/// All that a saved one holds: what is public.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saved {
    pub(crate) domain: RecordDomain,
    /// How many mixed records a release has; as many as there are private ones, where it is not said.
    pub(crate) samples: Option<usize>,
    /// How many queries may be asked of a model of the release, by its key.
    pub(crate) queries: usize,
    pub(crate) mixing: Mixing,
    pub(crate) label_dim: usize,
    pub(crate) shape: Shape,
    pub(crate) resistance: Resistance,
    pub(crate) public: Option<Public>,
}

/// What is to be resisted, and what is assumed of the records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resistance {
    pub(crate) error: f64,
    pub(crate) confidence_gap: f64,
    pub(crate) public_variance: f64,
    pub(crate) private_variance: f64,
}

/// Records that everybody knows (p × d), with their classes where records have some.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Public {
    records: Array2<f64>,
    classes: Option<Array1<usize>>,
}

impl TryFrom<Saved> for Dauntless {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        saved.check()?;
        Ok(Self { saved })
    }
}

impl From<Dauntless> for Saved {
    fn from(mechanism: Dauntless) -> Self {
        mechanism.saved
    }
}

/// Wider layers take minutes to draw.
const WIDEST: usize = 8192;

/// The largest variance that a coordinate of every column of the domain can have, and the column that allows no more: a quarter of the squared
/// range of an interval, p(1 − p) ≤ 1/4 of a level; columns with one possible value do not count.
fn most_variance(domain: &RecordDomain) -> (&str, f64) {
    let of_factor = |factor: &Factor| match factor {
        Factor::Interval { lower, upper } => ((upper - lower) / 2.0).powi(2),
        Factor::OneHot { .. } => 0.25,
        // A point has no more of any one coordinate than of all.
        factor => Domain::try_from(vec![factor.clone()]).map_or(0.0, |set| set.squared_radius()),
    };
    let columns = domain.features().factors();
    let columns = columns.map(|(at, factor)| (&*domain.columns()[at.start], of_factor(factor)));
    let varying = columns.filter(|(_, variance)| *variance > 0.0);
    varying.min_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or(("", 0.0))
}

impl Saved {
    fn check(&self) -> Result<()> {
        let dim = self.domain.columns().len();
        let classes = match self.domain.target() {
            TargetDomain::None | TargetDomain::Class { .. } => classes(self.domain.target()),
            _ => {
                return Err(Error::not_applicable(NAME, "it takes records with classes, or without a label"));
            }
        };
        if dim == 0 || self.domain.features().squared_radius() == 0.0 {
            return Err(Error::not_applicable(
                NAME,
                "there is nothing to transform: the features are a single point",
            ));
        }
        let wrong = |problem: String| Err(Error::Parameter { plugin: NAME.into(), problem });
        self.check_sizes(self.samples.unwrap_or(1))?;
        if self.label_dim < classes {
            return wrong(format!(
                "label_dim must be {classes} or more, one dimension a class, and {} is not",
                self.label_dim
            ));
        }
        if self.samples == Some(0) || self.mixing.parts() == 0 || self.mixing.private_parts == 0 {
            return wrong("a release has one mixed record or more, of one private part or more".into());
        }
        if (self.mixing.public_parts > 0) != self.public.is_some() {
            return wrong("there are public parts where there are public records, and only there".into());
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
                    "{name} must be at most {most}, and {variance} is not: within its bounds the column {column:?} cannot vary by more"
                ));
            }
        }
        self.public.as_ref().map_or(Ok(()), |public| self.check_public(public))
    }

    /// That a release of so many samples, and all that it is made by, may be held at once.
    fn check_sizes(&self, samples: usize) -> Result<()> {
        let held =
            |parameter: &str, counts: &[usize]| size::check_held(NAME, parameter, counts, size_of::<f64>());
        let features = self.domain.features().dim();
        let classes = classes(self.domain.target());
        size::check_held(NAME, "label_dim", &[classes, self.label_dim], DRAWN)?;
        let widths = [&[features][..], &self.shape.layers].concat();
        size::check_layers(NAME, "layers", &widths, DRAWN)?;
        widths.iter().try_for_each(|width| held("samples", &[samples, *width]))?;
        held("samples", &[samples, if classes > 0 { self.label_dim } else { 0 }])?;
        // Of each part which record it is, and its weight.
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

    /// Whether a release of so many private records uses none of them twice, nor a public one.
    pub(crate) fn is_fresh(&self, private: usize) -> bool {
        let public = self.public.as_ref().map_or(0, |public| public.records.nrows());
        let left = private.saturating_sub(self.queries);
        left > 0 && self.mixing.is_fresh(self.samples(private), left, public)
    }

    /// The rows of so many private records that are mixed, and those that queries will be mixed with: others, where there are enough.
    fn parted(&self, private: usize, lots: &mut Stream) -> [Vec<usize>; 2] {
        if self.is_fresh(private) {
            let mut training = shuffled(private, lots);
            let answering = training.split_off(private - self.queries);
            return [training, answering];
        }
        [(0..private).collect(), (0..self.queries).map(|_| below(private, lots)).collect()]
    }

    /// What counts against the budget: what is released, and what may be asked.
    pub(crate) fn spent(&self, private: usize) -> usize {
        self.samples(private).saturating_add(self.queries)
    }
}

impl Dauntless {
    pub(crate) fn new(saved: Saved) -> Result<Self> {
        saved.try_into()
    }
}

/// Records (n × d), and their labels as vectors (n × c′) where they have some.
struct Labelled {
    records: Array2<f64>,
    vectors: Option<Array2<f64>>,
}

impl Labelled {
    fn new(records: Array2<f64>, classes: Option<&Array1<usize>>, bases: &Bases) -> Self {
        Self { vectors: classes.map(|classes| bases.of(classes)), records }
    }
}

#[typetag::serde(name = "dauntless")]
impl Mechanism for Dauntless {
    fn domain(&self) -> &RecordDomain {
        &self.saved.domain
    }

    fn guarantee(&self) -> Guarantee {
        guarantee::of_design(&self.saved)
    }

    fn guarantee_of(&self, records: usize) -> Guarantee {
        guarantee::of_release(&self.saved, records)
    }

    fn released_target(&self) -> TargetLayout {
        match self.saved.domain.target() {
            TargetDomain::None => TargetLayout::None,
            _ => TargetLayout::Vector { width: self.saved.label_dim },
        }
    }

    fn keeps_rows(&self) -> bool {
        false
    }

    fn alike(&self, claim: &Claim, table: &Table) -> Option<[Table; 2]> {
        match claim.protects {
            Unit::Label => {
                let classes =
                    labels(table)?.mapv(|class| (class + 1) % classes(self.saved.domain.target()).max(1));
                Some([table.clone(), table.clone().with_target(Target::Class(classes)).ok()?])
            }
            _ => turned(self.saved.domain.features(), table),
        }
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let saved = &self.saved;
        let records = saved.domain.projected_features(table)?;
        saved.check_sizes(saved.samples(records.nrows()))?;
        let streams = randomness.streams();
        let lots = &mut streams.stream(1);
        let disguise = Disguise::fresh(&saved.domain, &saved.shape, saved.label_dim, &mut streams.stream(0));
        let drawn = disguise.drawn()?;
        let [training, answering] = saved.parted(records.nrows(), lots);
        let of = |rows: &[usize]| {
            let classes = labels(table).map(|classes| classes.select(Axis(0), rows));
            (records.select(Axis(0), rows), classes)
        };
        let (private, classes) = of(&training);
        let private = Labelled::new(private, classes.as_ref(), &drawn.bases);
        let public = saved
            .public
            .as_ref()
            .map(|public| Labelled::new(public.records.clone(), public.classes.as_ref(), &drawn.bases));
        let counts = [training.len(), public.as_ref().map_or(0, |public| public.records.nrows())];
        let mixes = saved.mixing.draw(saved.samples(table.len()), counts, lots)?;
        let of_both = |of: fn(&Labelled) -> Option<ArrayView2<f64>>| {
            of(&private).map(|private| mixed(&mixes, private, public.as_ref().and_then(of)))
        };
        let features = of_both(|part| Some(part.records.view())).unwrap_or_default();
        let vectors = of_both(|part| part.vectors.as_ref().map(|vectors| vectors.view()));
        let label_width = vectors.as_ref().map_or(0, Array2::ncols);
        let released = disguise.released(&drawn, &features, vectors)?;
        let (pool, pool_classes) = of(&answering);
        Ok(Release {
            key: match saved.queries {
                0 => Key::secret(disguise, &released),
                _ => Key::secret(Answers::new(disguise, pool, pool_classes), &released),
            },
            guarantee: self.guarantee_of(table.len()).under(randomness.provenance()),
            noise: Noise {
                features: vec![Law::Unknown { width: released.columns().len() }],
                target: Law::Unknown { width: label_width },
            },
            table: released,
        })
    }
}

/// The records at half their distance from the middle of the domain, and the same turned by 45 degrees in the first two columns that are numbers:
/// both lie in the domain.
fn turned(features: &Domain, table: &Table) -> Option<[Table; 2]> {
    let center = Array1::from(features.center());
    let mut numbers = features.factors().filter_map(|(at, factor)| match factor {
        Factor::Interval { lower, upper } => Some((at.start, upper - lower)),
        _ => None,
    });
    let ((one, width), (other, across)) = (numbers.next()?, numbers.next()?);
    let mut half = (table.records() - &center) / 2.0;
    // A turn leaves no rectangle but within its shorter side.
    half.column_mut(one).mapv_inplace(|x| x * width.min(across) / width);
    half.column_mut(other).mapv_inplace(|x| x * width.min(across) / across);
    let mut turned = half.clone();
    for mut row in turned.outer_iter_mut() {
        let (x, y) = (row[one], row[other]);
        (row[one], row[other]) = ((x - y) / SQRT_2, (x + y) / SQRT_2);
    }
    let table_of = |records: Array2<f64>| {
        Table::new(table.columns().to_vec(), records + &center, table.target().clone()).ok()
    };
    Some([table_of(half)?, table_of(turned)?])
}

/// Parameters of the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Parameters {
    /// How many mixed records a release has; as many as there are private records by default.
    samples: Option<usize>,
    /// How many records make a mixed one, half of them public (rounded down) where volunteers are; two by default, and one, no mixing at
    /// all, without volunteers.
    mixed: Option<usize>,
    /// How they are weighted; equal by default, what the budget is proven for.
    mixing_weights: Option<MixingWeights>,
    /// The dimension of label vectors, c′; one a class by default, and no less.
    label_dim: Option<usize>,
    /// The widths of the layers; one as wide as the records by default, and none at all, mixing alone, for an empty list.
    layers: Option<Vec<usize>>,
    /// How weights are drawn; inverse-uniform by default.
    weights: Option<Weights>,
    /// What each layer does to the sums; identity by default.
    activation: Option<Activation>,
    /// A matrix to be inverted is drawn again where its largest singular value is so many times the least, or more; a hundred times the
    /// width of the records by default.
    most_condition: Option<f64>,
    /// Bits of each released value, which the budget counts; 16 by default.
    bits: Option<u32>,
    /// How near to a mixed record a recovery must come to count, in ℓ₂ and units of the encoded record; 0.001 by default.
    error: Option<f64>,
    /// δ: only recovery with probability 1 − δ or more is excluded; 0.1 by default.
    confidence_gap: Option<f64>,
    /// The variance that is assumed of each coordinate of a public record, in squared units of the encoded record: at most a quarter of the
    /// narrowest column's squared range, 1/4 where a schema's columns are encoded; by default that of values spread evenly over it, 1/12.
    public_variance: Option<f64>,
    /// The same of a private record.
    private_variance: Option<f64>,
}

impl Parameters {
    /// What a brief makes of them, with so many queries.
    pub(crate) fn design(self, queries: usize, brief: &Brief) -> Result<Dauntless> {
        let domain = &brief.domain;
        let public = match &brief.volunteers {
            Volunteers::Public(_) => Some(brief.volunteers_within(NAME)?),
            _ => None,
        };
        let parts = self.mixed.unwrap_or(1 + usize::from(public.is_some()));
        let public_parts = if public.is_some() { parts / 2 } else { 0 };
        let public = public.filter(|_| public_parts > 0).map(|table| Public {
            records: table.records().clone(),
            classes: labels(table).filter(|_| *domain.target() != TargetDomain::None).cloned(),
        });
        let dim = domain.columns().len();
        let spread = most_variance(domain).1 / 3.0;
        Dauntless::new(Saved {
            samples: self.samples,
            queries,
            mixing: Mixing {
                public_parts,
                private_parts: parts.saturating_sub(public_parts),
                weights: self.mixing_weights.unwrap_or(MixingWeights::Equal),
            },
            label_dim: self.label_dim.unwrap_or(classes(domain.target())),
            shape: Shape {
                layers: self.layers.unwrap_or_else(|| vec![dim]),
                weights: self.weights.unwrap_or(Weights::InverseUniform),
                activation: self.activation.unwrap_or(Activation::Identity),
                most_condition: self.most_condition.unwrap_or(100.0 * dim as f64),
                bits: self.bits.unwrap_or(16),
            },
            resistance: Resistance {
                error: self.error.unwrap_or(0.001),
                confidence_gap: self.confidence_gap.unwrap_or(0.1),
                public_variance: self.public_variance.unwrap_or(spread),
                private_variance: self.private_variance.unwrap_or(spread),
            },
            public,
            domain: brief.domain.clone(),
        })
    }
}

/// An example wide enough for a budget of two samples, with ten public records of whose classes one is far rarer than the other.
fn example() -> Result<Example> {
    let mut example = Example::wide(20)?;
    let public: Vec<usize> = (0..10).collect();
    example.brief.volunteers = Volunteers::Public(example.table.select(&public)?);
    example.parameters = serde_json::json!({
        "samples": 2, "label_dim": 16, "error": 2.5e-5, "confidence_gap": 0.2, "bits": 24, "most_condition": 1e5
    });
    Ok(example)
}

register! {
    /// The plugin `dauntless-mix`.
    pub const DAUNTLESS_MIX = {
        name: NAME,
        summary: "public and private records mixed, labels as random vectors, and all of it through a random network; resists recovery while a budget lasts, if records were independent and normal",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with Scalability and Security, Algorithm 2",
        side: Curator,
        pace: Quick,
        parameters: Parameters,
        design: |parameters: Parameters, brief: &Brief| parameters.design(0, brief),
        example: example,
    };
}
