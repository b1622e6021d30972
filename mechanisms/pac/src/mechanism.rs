//! The curator that releases a statistic.

use crate::NAME;
use crate::computed::Computed;
use crate::halves::halves;
use crate::noise::HidingNoise;
use crate::statistic::Statistic;
use ndarray::s;
use rand::Rng;
use rayon::prelude::*;
use schemars::JsonSchema;
use scumble_core::{
    Accumulator, Brief, CuratorMechanism, Descriptor, Error, Evidence, Example, Guarantee, Halved, Halving,
    MutualInformation, Noise, NoiseDistribution, Notion, Output, Prior, Randomness, RecordDomain, Release,
    ReleasedModel, Releases, Result, Stream, Streams, Table, ValuesIn, Volunteers, collected, interrupt,
    register, size,
};
use scumble_marginals::Tables;
use scumble_private_models::Coefficients;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Default bound in nats. It bounds a guess of membership as ε = 1 does: the guess is right in at most 73 %
/// of cases.
const NATS: f64 = 0.11;
const SETS: usize = 128;
const RIDGE: f64 = 0.01;
const QUERIES: usize = 200;
/// Largest number of sets. More sets take longer and improve nothing.
const MOST_SETS: usize = 4096;

/// A statistic of half of the records, with noise that hides which half it was.
///
/// A release draws m sets of half of the records, in pairs of a half and the rest. It takes one set uniformly
/// at random. The statistic is computed of every set, and its variation between sets determines the exact
/// Gaussian noise ([`HidingNoise`]). The mutual information between the set that was taken and the release is
/// then at most `nats`. This is a bound for the drawn sets, not an estimate. All further steps, such as
/// drawing records, are post-processing.
///
/// ```
/// use scumble_core::{CuratorMechanism, Notion, Randomness};
/// use scumble_pac::{PAC_STATISTICS, PacStatistics, Statistic};
///
/// let example = (PAC_STATISTICS.example)()?;
/// let mechanism = PacStatistics::new(example.brief.domain, Statistic::Ridge { ridge: 0.01 }, 0.125, 128)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// let Notion::MutualInformation(bound) = &release.guarantee.claims[0].notion else { panic!() };
/// assert_eq!(bound.nats, 0.125);
/// assert!(release.guarantee.epsilon().is_none());
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PacStatistics {
    state: State,
    computed: Arc<dyn Computed>,
}

/// State of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    domain: RecordDomain,
    statistic: Statistic,
    nats: f64,
    sets: usize,
}

impl TryFrom<State> for PacStatistics {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { nats, sets, .. } = state;
        Error::check(NAME, "nats", nats, "above zero and finite", nats > 0.0 && nats.is_finite())?;
        if !(2..=MOST_SETS).contains(&sets) || !sets.is_multiple_of(2) {
            let problem = format!(
                "sets must be an even number between 2 and {MOST_SETS}, because each half is paired with the \
                 rest, and {sets} is not"
            );
            return Err(Error::parameter(NAME, problem));
        }
        Ok(Self { computed: state.statistic.computed(&state.domain)?.into(), state })
    }
}

/// The values of all sets, and the noise calibrated to them.
struct Candidates {
    values: Vec<Vec<f64>>,
    noise: HidingNoise,
}

/// Streams for drawing the sets, and for choosing one with its noise. Later streams are for post-processing.
const SETS_DRAWN: u64 = 0;
const NOISE: u64 = 1;

impl Candidates {
    /// Draws a set uniformly at random. Returns its index, and its values with noise added.
    fn draw(&self, stream: &mut Stream) -> (usize, Vec<f64>) {
        let index = stream.gen_range(0..self.values.len());
        (index, self.noise.added(&self.values[index], stream))
    }
}

impl PacStatistics {
    /// Creates a release of a statistic of records of `domain`. The release discloses at most `nats` nats
    /// about the half, one of `sets`, that it was made from.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for records that have no such statistic, [`Error::Parameter`] for a number
    /// out of range.
    pub fn new(domain: RecordDomain, statistic: Statistic, nats: f64, sets: usize) -> Result<Self> {
        State { domain, statistic, nats, sets }.try_into()
    }

    /// The statistic.
    pub fn statistic(&self) -> &Statistic {
        &self.state.statistic
    }

    /// Draws the sets of a release, computes the values of each, and calibrates the noise.
    fn candidates(&self, table: &Table, streams: &Streams) -> Result<Candidates> {
        /// Smallest number of records. With fewer, a half is a single record.
        const FEWEST: usize = 4;
        self.state.domain.layout().check(table)?;
        if table.len() < FEWEST {
            let reason =
                format!("{} records have no halves to hide; at least {FEWEST} are needed", table.len());
            return Err(Error::not_applicable(NAME, reason));
        }
        let statistic = self.computed.on_rows(table)?;
        let mut stream = streams.stream(SETS_DRAWN);
        let mut sets = halves(table.len(), self.state.sets, &mut stream);
        let mut values: Vec<Vec<f64>> = vec![];
        loop {
            // A set is half as long as the table, so only as many are held as are computed at once.
            let some: Vec<Vec<usize>> = sets.by_ref().take(rayon::current_num_threads()).collect();
            if some.is_empty() {
                break;
            }
            let evaluate = |rows: &Vec<usize>| {
                interrupt::check()?;
                statistic(rows)
            };
            values.extend(some.par_iter().map(evaluate).collect::<Result<Vec<_>>>()?);
            let width = values.first().map_or(0, Vec::len);
            // The distances between sets are held in addition to the values.
            size::check_held(NAME, "sets", &[self.state.sets, width], 2 * size_of::<f64>())?;
        }
        let noise = HidingNoise::calibrated(&values, self.state.nats)?;
        Ok(Candidates { values, noise })
    }
}

impl CuratorMechanism for PacStatistics {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let prior = Prior::Halves { sets: self.state.sets as u64 };
        let bound = Notion::MutualInformation(MutualInformation::new(self.state.nats, prior));
        let theorem = "I(J; M) ≤ meanⱼ KL(Pⱼ ‖ Q) for any Q, and discrete Gaussian distributions about two \
                       lattice points a, b have a divergence of exactly (a − b)²/2σ² (Canonne, Kamath and \
                       Steinke 2020, Proposition 5): Σ λᵢ/2σᵢ² with the noise of Sridhar, Xiao and Devadas \
                       (2025), or the bound of Kolchinsky and Tracey (2017) on mixtures if it is smaller";
        let disclosed_queries = match self.state.statistic {
            Statistic::Responses { .. } => {
                Some("the public records of the queries: the design contains them in the clear".to_owned())
            }
            _ => None,
        };
        let discloses = [
            "the number of records".to_owned(),
            "what all halves have in common: membership in the whole table may show, and the amount of \
                 noise shows it if somebody is unlike all others"
                .to_owned(),
        ];
        Guarantee {
            discloses: discloses.into_iter().chain(disclosed_queries).collect(),
            shaped_by: self.state.statistic.shaped_by(),
            assumes: [
                "the bounds and levels are public, and were not taken from the data",
                "each person contributes one record",
                "a trusted curator holds all records in the clear",
                "the chosen half stays secret, and no other release is computed from it",
            ]
            .map(str::to_owned)
            .to_vec(),
            ..Guarantee::for_records([(bound, theorem.to_owned())])
        }
    }

    fn releases(&self) -> Releases {
        match (self.computed.family(), &self.state.statistic) {
            (Some(family), _) => Releases::Model { family },
            (None, Statistic::Marginals { .. }) => Releases::Synthetic { values: ValuesIn::Bins },
            (None, _) => Releases::Synthetic { values: ValuesIn::Units },
        }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        match self.computed.family() {
            Some(_) => Ok(Arc::new(Coefficients::from_table(&self.state.domain, table)?)),
            None => Err(Error::no_model()),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { halving: Some(self), ..Evidence::default() }
    }
}

impl PacStatistics {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let guarantee = self.guarantee().under(randomness.provenance());
        let streams = randomness.streams();
        let candidates = self.candidates(table, &streams)?;
        let (_, noisy) = candidates.draw(&mut streams.stream(NOISE));
        let scales = candidates.noise.scales();
        let (table, key) = self.computed.released(&noisy, &scales, table.len(), &streams)?;
        let unknown = |width| NoiseDistribution::Unknown { width };
        let noise = Noise {
            features: vec![unknown(table.columns().len())],
            target: unknown(self.releases().target(self.state.domain.layout().target).width()),
        };
        Ok(Release { table, guarantee, noise, key })
    }
}

impl Halving for PacStatistics {
    fn draw(&self, table: &Table, draws: usize, randomness: &mut Randomness) -> Result<Halved> {
        let streams = randomness.streams();
        let candidates = self.candidates(table, &streams)?;
        let mut stream = streams.stream(NOISE);
        let draws = (0..draws).map(|_| candidates.draw(&mut stream)).collect();
        let Candidates { values, noise } = candidates;
        size::check_held(NAME, "sets", &[self.state.sets, table.len()], size_of::<usize>())?;
        let sets = halves(table.len(), self.state.sets, &mut streams.stream(SETS_DRAWN)).collect();
        Ok(Halved { sets, scales: noise.scales(), values, draws })
    }
}

/// Statistic to release: marginals (the default), moments, components, centers, ridge, linear-machine or
/// responses (to the volunteers' records).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Which {
    /// Tables of counts of each feature with the target; records are drawn from them.
    #[default]
    Marginals,
    /// Means and covariances; random rows that have them are drawn.
    Moments,
    /// The mean and some principal directions; random rows that have them are drawn.
    Components,
    /// Centres of clusters; records are drawn from them.
    Centers,
    /// A ridge regression; for a class, of 1 and −1.
    Ridge,
    /// Linear support vector machines: a single one for two classes, else one per class.
    LinearMachine,
    /// Public records, the volunteers', each with the output of a ridge regression.
    Responses,
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Statistic to release.
    #[serde(default)]
    statistic: Which,
    /// Upper bound on the mutual information, in nats; 0.11 by default. At 0.11, a guess whether a record is
    /// in the half is right in at most 73 % of cases, as for ε = 1.
    nats: Option<f64>,
    /// Number of candidate halves, one of them used: an even number, 128 by default.
    sets: Option<usize>,
    /// Number of equal-width bins for the public bounds of every number, 2 to 1024 (marginals only). By
    /// default the schema's bins; else a public rule computes the number from the number of people and the
    /// noise.
    bins: Option<usize>,
    /// Number of principal directions (components only); 2 by default.
    components: Option<usize>,
    /// Number of centres (centers only); 8 by default.
    centers: Option<usize>,
    /// Ridge added to the mean square of each coordinate in [−1, 1] (ridge and responses only); 0.01 by
    /// default. A larger ridge varies less and needs less noise.
    ridge: Option<f64>,
    /// Weight of the mean hinge loss against half of the weights' squares (linear-machine only); 10 by
    /// default. A smaller weight varies less and needs less noise.
    penalty: Option<f64>,
    /// Largest number of volunteers' records to answer, from the first one on (responses only); 200 by
    /// default. Noise grows with their number.
    queries: Option<usize>,
}

impl Parameters {
    /// # Errors
    /// [`Error::Parameter`] for a parameter that belongs to another statistic.
    fn check(&self) -> Result<()> {
        let given = [
            ("bins", self.bins.is_some(), Which::Marginals),
            ("components", self.components.is_some(), Which::Components),
            ("centers", self.centers.is_some(), Which::Centers),
            ("ridge", self.ridge.is_some() && self.statistic != Which::Responses, Which::Ridge),
            ("penalty", self.penalty.is_some(), Which::LinearMachine),
            ("queries", self.queries.is_some(), Which::Responses),
        ];
        match given.iter().find(|(_, is_given, statistic)| *is_given && *statistic != self.statistic) {
            None => Ok(()),
            Some((name, _, statistic)) => {
                let problem = format!(
                    "{name} is a parameter of the statistic {statistic}, and the statistic is {}",
                    self.statistic
                );
                Err(Error::parameter(NAME, problem))
            }
        }
    }
}

impl std::fmt::Display for Which {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Marginals => "marginals",
            Self::Moments => "moments",
            Self::Components => "components",
            Self::Centers => "centers",
            Self::Ridge => "ridge",
            Self::LinearMachine => "linear-machine",
            Self::Responses => "responses",
        })
    }
}

fn design(parameters: Parameters, brief: &Brief) -> Result<PacStatistics> {
    parameters.check()?;
    let nats = parameters.nats.unwrap_or(NATS);
    let statistic = match parameters.statistic {
        Which::Marginals => {
            // Assumes tables with similar counts. Then σ² of a cell is √λ·Σ√λ/(2·nats), where λ is the cell's
            // count, because all counts are of a half and doubled.
            let tables = brief.domain.features().factors().count().max(1) as f64;
            let people = brief.people.unwrap_or(1000) as f64;
            let scale = (tables * people / (2.0 * nats.max(f64::MIN_POSITIVE))).sqrt();
            Statistic::Marginals { bins: Tables::bins(NAME, brief, parameters.bins, scale)? }
        }
        Which::Moments => Statistic::Moments,
        Which::Components => Statistic::Components { components: parameters.components.unwrap_or(2) },
        Which::Centers => Statistic::Centers { centers: parameters.centers.unwrap_or(8) },
        Which::Ridge => Statistic::Ridge { ridge: parameters.ridge.unwrap_or(RIDGE) },
        Which::LinearMachine => Statistic::LinearMachine { penalty: parameters.penalty.unwrap_or(10.0) },
        Which::Responses => {
            let volunteers = match &brief.volunteers {
                Volunteers::Public(_) => brief.volunteers_within(NAME)?.records(),
                Volunteers::Private(_) => return Err(Error::PrivateVolunteers { plugin: NAME.into() }),
                _ => {
                    let reason = "it answers about public records, which are released with the answers, and \
                                  there are none";
                    return Err(Error::not_applicable(NAME, reason));
                }
            };
            let most = volunteers.nrows().min(parameters.queries.unwrap_or(QUERIES));
            Statistic::Responses {
                ridge: parameters.ridge.unwrap_or(RIDGE),
                queries: volunteers.slice(s![..most, ..]).to_owned(),
            }
        }
    };
    PacStatistics::new(brief.domain.clone(), statistic, nats, parameters.sets.unwrap_or(SETS))
}

/// Example of forty records, for which few bins suffice.
///
/// # Errors
/// Returns no error.
fn example() -> Result<Example> {
    let parameters = serde_json::json!({ "bins": 3, "sets": 32 });
    Ok(Example { parameters, ..Example::mixed()? })
}

register! {
    /// The plugin `pac-statistics`.
    pub const PAC_STATISTICS = {
        name: NAME,
        summary: "a statistic of half of the records, with noise that hides which half: marginals, moments, \
                  components, centres, a ridge regression, a linear machine, or answers about public records",
        paper: "Xiao and Devadas, PAC privacy: automatic privacy measurement and control of data processing \
                (CRYPTO 2023); Sridhar, Xiao and Devadas, PAC-private algorithms (S&P 2025)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        curator: PacStatistics::try_from,
        example: example,
    };
}
