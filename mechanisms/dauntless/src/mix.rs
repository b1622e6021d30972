//! Release of mixed and transformed records with random vectors as labels (Dauntless, Algorithm 2).

use crate::answers::Answers;
use crate::bases::Bases;
use crate::disguise::{Disguise, classes, labels};
use crate::mixing::{Mix, Mixing, MixingWeights, mixed};
use crate::state::{Public, Resistance, State, most_variance};
use crate::transformation::{Shape, Weights};
use crate::{MIX, guarantee};
use ndarray::{Array1, Array2, Axis};
use schemars::JsonSchema;
use scumble_core::{
    Accumulator, Brief, Claim, CuratorMechanism, Descriptor, Domain, Error, Evidence, Example, Factor,
    Guarantee, Key, MixtureParts, Mixtures, Noise, NoiseDistribution, Output, Randomness, RecordDomain,
    Release, Releases, Result, SecretKey, Streams, Table, Target, TargetDomain, TargetLayout, Unit,
    Volunteers, collected, register,
};
use scumble_neural::Activation;
use serde::Deserialize;
use serde_json::Value;
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

/// Mixes public and private records, turns labels into random vectors, and transforms the result by a random
/// network (Dauntless, Algorithm 2).
///
/// First, m mixtures are formed. Each is a weighted mean of private records and of public records (records of
/// volunteers whose data are public). An adversary that knows the public records still does not know the
/// mixtures. Without public records, private records are mixed with each other or not at all. Each class has
/// a random label vector of independent normal coordinates, and the label vectors of mixed records are mixed
/// with the same weights. Then one random network transforms every mixture. The seed of the network is the
/// secret key of the owner. Released values are rounded to a grid of 2^b points, where b is the parameter
/// `bits`.
///
/// An adversary that knows the public part of each mixture learns a network of one layer by least squares,
/// from one or two mixtures per column on. Of private MNIST digits (784 columns, equal weights), it recovered
/// less than 1 % from 1000 mixtures, 49 % from 2000, and 93 % from 5000 (errata D15). Corollary 1 (Dauntless)
/// allows 110 mixtures there. With random weights, 1000 mixtures suffice for 8 % and 1500 for 66 %.
///
/// The card of each release states its claims, which are not differential privacy:
///
/// - **No recovery of a mixed record**, if records were independent and normal, and if the release has at
///   most the number of samples (mixed records and queries) that Corollary 1 (Dauntless) allows.
///   [`scumble_accounting::pac`] corrects Corollary 1. The claim requires numeric features, and a network of
///   one layer. The weights of this layer must be the inverse of a matrix of independent entries, uniform in
///   [−β, β] for some β > 0. The claim also requires that each mixture has one private and one public record
///   of equal weights, and that no record is used twice.
/// - **Ambiguity**, if no public records are mixed in. With normal weights of the network, the records X and
///   all tables X·U with a unitary U have the same output distribution (Dauntless, Lemma 1). With any
///   weights, all labels that differ by a permutation of the classes have the same output distribution
///   (Dauntless, Theorem 4). Public records would show which label vector belongs to which class.
///
/// ```
/// use scumble_dauntless::DAUNTLESS_MIX;
/// use scumble_core::{Randomness, Target};
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
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dauntless {
    state: State,
}

impl TryFrom<State> for Dauntless {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        state.check()?;
        Ok(Self { state })
    }
}

/// Records (n × d), with their label vectors of c′ coordinates (n × c′) if they have labels.
struct Labelled {
    records: Array2<f64>,
    vectors: Option<Array2<f64>>,
}

impl Labelled {
    fn new(records: Array2<f64>, classes: Option<&Array1<usize>>, bases: &Bases) -> Self {
        Self { vectors: classes.map(|classes| bases.select(classes)), records }
    }
}

/// Private records of a release (n × d), the rows that are mixed into the release and into queries, and the
/// compositions of the released mixtures.
struct Draft {
    records: Array2<f64>,
    training: Vec<usize>,
    answering: Vec<usize>,
    mixes: Vec<Mix>,
}

impl CuratorMechanism for Dauntless {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        guarantee::for_design(&self.state)
    }

    fn guarantee_of(&self, records: usize) -> Guarantee {
        guarantee::for_release(&self.state, records)
    }

    fn evidence(&self) -> Evidence<'_> {
        let alike = |claim: &Claim, table: &Table| self.alike(claim, table);
        let mixtures = self.state.public.is_some().then_some(self as &dyn Mixtures);
        Evidence { alike: Some(Box::new(alike)), mixtures, ..Evidence::default() }
    }

    fn releases(&self) -> Releases {
        let target = match self.state.domain.target() {
            TargetDomain::None => TargetLayout::None,
            _ => TargetLayout::Vector { width: self.state.label_dim },
        };
        Releases::View { secret: true, aligned: false, target }
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(match self.state.queries {
            0 => Arc::new(Error::read_state::<Disguise>(state)?),
            _ => Arc::new(Error::read_state::<Answers>(state)?),
        })
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl Dauntless {
    fn alike(&self, claim: &Claim, table: &Table) -> Option<[Table; 2]> {
        match claim.protects {
            Unit::Label => {
                let classes =
                    labels(table)?.mapv(|class| (class + 1) % classes(self.state.domain.target()).max(1));
                Some([table.clone(), table.clone().with_target(Target::Class(classes)).ok()?])
            }
            _ => turned(self.state.domain.features(), table),
        }
    }

    /// Draws the compositions of the mixtures of a release of `table`.
    fn draft(&self, table: &Table, streams: &Streams) -> Result<Draft> {
        let state = &self.state;
        let records = state.domain.projected_features(table)?;
        state.check_sizes(state.samples(records.nrows()))?;
        let draws = &mut streams.stream(1);
        let [training, answering] = state.parted(records.nrows(), draws);
        let public = state.public.as_ref().map_or(0, |public| public.records.nrows());
        let mixes = state.mixing.draw(state.samples(table.len()), [training.len(), public], draws)?;
        Ok(Draft { records, training, answering, mixes })
    }

    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let state = &self.state;
        let streams = randomness.streams();
        let Draft { records, training, answering, mixes } = self.draft(table, &streams)?;
        let disguise = Disguise::fresh(&state.domain, &state.shape, state.label_dim, &mut streams.stream(0));
        let drawn = disguise.drawn()?;
        let select = |rows: &[usize]| {
            let classes = labels(table).map(|classes| classes.select(Axis(0), rows));
            (records.select(Axis(0), rows), classes)
        };
        let (private, classes) = select(&training);
        let private = Labelled::new(private, classes.as_ref(), &drawn.bases);
        let public = state
            .public
            .as_ref()
            .map(|public| Labelled::new(public.records.clone(), public.classes.as_ref(), &drawn.bases));
        let features = |rows: Range<usize>| {
            mixed(&mixes[rows], private.records.view(), public.as_ref().map(|public| public.records.view()))
        };
        let public_vectors = public.as_ref().and_then(|public| public.vectors.as_ref());
        let vectors = private
            .vectors
            .as_ref()
            .map(|private| mixed(&mixes, private.view(), public_vectors.map(|public| public.view())));
        let label_width = vectors.as_ref().map_or(0, Array2::ncols);
        let released = disguise.released(&drawn, mixes.len(), features, vectors)?;
        let (pool, pool_classes) = select(&answering);
        Ok(Release::new(
            match state.queries {
                0 => Key::secret(disguise, &released),
                _ => Key::secret(Answers::new(disguise, pool, pool_classes), &released),
            },
            self.guarantee_of(table.len()).under(randomness.provenance()),
            Noise {
                features: vec![NoiseDistribution::Unknown { width: released.columns().len() }],
                target: NoiseDistribution::Unknown { width: label_width },
            },
            released,
        ))
    }
}

impl Mixtures for Dauntless {
    fn public(&self) -> Result<Table> {
        let (records, classes) = match &self.state.public {
            Some(Public { records, classes }) => (records.clone(), classes.clone()),
            None => (Array2::zeros((0, self.state.domain.columns().len())), None),
        };
        let target = classes.map_or(Target::None, Target::Class);
        Table::new(self.state.domain.columns().to_vec(), records, target)
    }

    fn parts(&self, table: &Table, randomness: &mut Randomness) -> Result<MixtureParts> {
        let Draft { records, training, mixes, .. } = self.draft(table, &randomness.streams())?;
        let private = records.select(Axis(0), &training);
        let public = self.state.public.as_ref().map(|public| public.records.view());
        let mixtures = mixed(&mixes, private.view(), public);
        Ok(MixtureParts {
            known: &mixtures - &mixed(&mixes, private.view(), None),
            hidden: mixes.iter().map(Mix::private_weight).collect(),
            mixtures,
        })
    }
}

/// Returns two tables within the domain. In the first table, each record is moved to at most half its
/// distance from the centre of the domain. The second table has the records of the first table, rotated about
/// the centre by 45 degrees in the first two numeric columns.
fn turned(features: &Domain, table: &Table) -> Option<[Table; 2]> {
    let center = Array1::from(features.center());
    let mut numbers = features.factors().filter_map(|(at, factor)| match factor {
        Factor::Interval { lower, upper } => Some((at.start, upper - lower)),
        _ => None,
    });
    let ((one, width), (other, across)) = (numbers.next()?, numbers.next()?);
    let mut half = (table.records() - &center) / 2.0;
    // Scaling both columns to the width of the narrower one keeps the rotated records within the bounds.
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
    /// Number of mixed records per release; by default the number of private records.
    samples: Option<usize>,
    /// Number of records per mixture, half of them public (rounded down) if there are public volunteers; two
    /// by default. Without public volunteers the default is one, which is no mixing.
    mixed: Option<usize>,
    /// Weights of the records in a mixture; equal by default, as the proof of Corollary 1 (Dauntless)
    /// requires.
    mixing_weights: Option<MixingWeights>,
    /// Dimension c′ of label vectors, at least the number of classes; by default the number of classes.
    label_dim: Option<usize>,
    /// Widths of the layers; by default one layer as wide as the number of features. An empty list means
    /// mixing without a transformation.
    layers: Option<Vec<usize>>,
    /// Distribution of the network's weights; inverse-uniform by default.
    weights: Option<Weights>,
    /// Activation function of each layer; identity by default.
    activation: Option<Activation>,
    /// Condition number at or above which a matrix is drawn again, before its inverse becomes the weights of
    /// a layer; by default a hundred times the number of features.
    most_condition: Option<f64>,
    /// Bits of each released value; 16 by default. With more bits, Corollary 1 (Dauntless) allows fewer
    /// samples.
    bits: Option<u32>,
    /// Largest ℓ₂ distance from a mixed record at which an estimate counts as a recovery, in units of the
    /// encoded record; 0.001 by default.
    error: Option<f64>,
    /// δ of the claim that no mixed record is recovered; 0.1 by default. The claim excludes only recovery
    /// with probability 1 − δ or more.
    confidence_gap: Option<f64>,
    /// Assumed variance of each coordinate of a public record, in squared units of the encoded record. At
    /// most a quarter of the squared range of the narrowest column (1/4 for a column from 0 to 1). By default
    /// a third of this limit, the variance of a uniform distribution.
    public_variance: Option<f64>,
    /// Assumed variance of each coordinate of a private record, with the same bound and default as for public
    /// records.
    private_variance: Option<f64>,
}

impl Parameters {
    /// Builds the state of the mechanism from these parameters, for a key that answers at most `queries`
    /// different queries.
    pub(crate) fn learn(self, queries: usize, brief: &Brief) -> Result<State> {
        let domain = &brief.domain;
        let public = match &brief.volunteers {
            Volunteers::Public(_) => Some(brief.volunteers_within(MIX)?),
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
        Ok(State {
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

/// Example with enough columns that Corollary 1 (Dauntless) allows two mixed records. In its ten public
/// records, one class is far rarer than the other.
fn example() -> Result<Example> {
    let mut example = Example::wide(20)?;
    let public: Vec<usize> = (0..10).collect();
    example.brief.volunteers = Volunteers::Public(example.table.select(&public)?);
    example.parameters = serde_json::json!({
        "samples": 2, "label_dim": 16, "error": 2.5e-5, "confidence_gap": 0.2, "bits": 24,
        "most_condition": 1e5
    });
    Ok(example)
}

register! {
    /// The plugin `dauntless-mix`.
    pub const DAUNTLESS_MIX = {
        name: MIX,
        summary: "mixtures of public and private records, and labels as random vectors, after a random \
                  network; resists recovery within a budget, if records were independent and normal",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with \
                Scalability and Security, Algorithm 2",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: Parameters,
        learn: |parameters: Parameters, brief: &Brief| parameters.learn(0, brief),
        curator: Dauntless::try_from,
        example: example,
    };
}
