//! Curator mechanism that releases a statistic of half of the records.

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

/// Default bound on the mutual information, in nats. It limits membership inference as much as ε = 1 does:
/// the adversary is right in at most 73 % of cases.
const NATS: f64 = 0.11;
const SETS: usize = 128;
const RIDGE: f64 = 0.01;
const QUERIES: usize = 200;
/// Largest number of candidate halves (sets). More sets take longer and have no advantage.
const MOST_SETS: usize = 4096;

/// Curator mechanism that releases a statistic of half of the records, with noise that hides the half.
///
/// A release draws m sets of half of the records, in pairs of a random half and its complement. It then
/// chooses one set uniformly at random, and releases the noisy statistic of this set. The statistic is
/// computed for every set, and its variation between sets determines the exact Gaussian noise
/// ([`HidingNoise`]). The mutual information between the chosen set and the release is then at most `nats`.
/// This bound is proven for the m sets that were drawn; it is not an estimate. All further steps, such as
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

/// Values of the statistic for each candidate half (set) of the records, and the noise calibrated to these
/// values.
struct Candidates {
    values: Vec<Vec<f64>>,
    noise: HidingNoise,
}

/// Index of the random stream that draws the candidate halves (sets). The stream with index [`NOISE`] chooses
/// one set and draws its noise. Streams with larger indices are for post-processing.
const SETS_DRAWN: u64 = 0;
const NOISE: u64 = 1;

impl Candidates {
    /// Chooses a set uniformly at random. Returns its index, and its values with noise added.
    fn draw(&self, stream: &mut Stream) -> (usize, Vec<f64>) {
        let index = stream.gen_range(0..self.values.len());
        (index, self.noise.added(&self.values[index], stream))
    }
}

impl PacStatistics {
    /// Creates the mechanism that releases `statistic` of records of `domain`. A release is made from one of
    /// `sets` halves, and discloses at most `nats` nats about the choice of this half.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if records of `domain` have no such statistic. [`Error::Parameter`] unless
    /// `nats` is finite and above zero, unless `sets` is an even number from 2 to 4096, or if a number in
    /// `statistic` is out of range.
    pub fn new(domain: RecordDomain, statistic: Statistic, nats: f64, sets: usize) -> Result<Self> {
        State { domain, statistic, nats, sets }.try_into()
    }

    /// Statistic that the mechanism releases.
    pub fn statistic(&self) -> &Statistic {
        &self.state.statistic
    }

    /// Draws the candidate halves (sets) of a release, computes the statistic of each set, and calibrates the
    /// noise.
    fn candidates(&self, table: &Table, streams: &Streams) -> Result<Candidates> {
        /// Smallest number of records. With fewer records, one half would have at most one record.
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
            // A set is half as long as the table, so only one set per thread is in memory at a time.
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
            // Memory holds the values of all sets, and later their distances.
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
        let theorem = "I(J; M) ≤ meanⱼ KL(Pⱼ ‖ Q) for any Q, where Pⱼ is the distribution of the release M \
                       if half J = j is chosen; the divergence of discrete Gaussians with the same σ and \
                       centred at lattice points a, b is exactly (a − b)²/2σ² (Canonne, Kamath and Steinke \
                       2020, Proposition 5); with Q centred at a point c near the mean of the halves, \
                       I(J; M) ≤ Σ λᵢ/2σᵢ², where λᵢ is the mean of (value i − cᵢ)² over the halves and σᵢ \
                       the parameter of the value's noise (Sridhar, Xiao and Devadas 2025); the bound of \
                       Kolchinsky and Tracey (2017) on mixtures is used where it is smaller";
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
            (Some(family), _) => Releases::Model { family, learner: family },
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
        Ok(Release {
            table,
            guarantee,
            noise,
            key,
            counted_tables: self.computed.counted_tables(),
            noisy_tables: vec![],
        })
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
/// responses (predictions of a ridge regression for the volunteers' records).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Which {
    /// Tables of counts of each feature with the target; the released records are drawn from them.
    #[default]
    Marginals,
    /// Means and covariances; the released rows are random rows with these means and covariances.
    Moments,
    /// The mean and some principal directions; the released rows are random rows with this mean and these
    /// directions.
    Components,
    /// Centres of clusters; the released records are drawn from them.
    Centers,
    /// A ridge regression; a class is encoded as 1 and −1.
    Ridge,
    /// Linear support vector machines: a single one for two classes, else one per class.
    LinearMachine,
    /// The volunteers' records, which are public, each with the output of a ridge regression.
    Responses,
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// Statistic to release.
    #[serde(default)]
    statistic: Which,
    /// Upper bound on the mutual information between the release and the choice of the half, in nats; 0.11 by
    /// default. At 0.11, an inference whether a record is in the half is right in at most 73 % of cases, as
    /// for ε = 1.
    nats: Option<f64>,
    /// Number of candidate halves, one of them used by the release: an even number, 128 by default.
    sets: Option<usize>,
    /// Number of bins of equal width that divide each numeric column between its public bounds, from 2 to
    /// 1024 (marginals only). The default is the number of bins in the schema, or else a public function of
    /// the number of people and the noise.
    bins: Option<usize>,
    /// Number of principal directions (components only); 2 by default.
    components: Option<usize>,
    /// Number of cluster centres (centers only); 8 by default.
    centers: Option<usize>,
    /// Ridge λ in the loss, the mean squared error plus λ‖w‖² (ridge and responses only); 0.01 by default.
    /// With a larger λ, the regression varies less between halves and needs less noise.
    ridge: Option<f64>,
    /// Factor C in the objective, C times the mean hinge loss plus ‖w‖²/2 (linear-machine only); 10 by
    /// default. With a smaller C, the machine varies less between halves and needs less noise.
    penalty: Option<f64>,
    /// Number of volunteers' records for which the release has a prediction, in the order of their file
    /// (responses only); all records of a shorter file, and 200 by default. The noise grows with the number.
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
            // The rule assumes tables with similar counts. Let λ be the variance of a count between halves. λ
            // is about the count itself, because the counts of a half are doubled. The noise on the count
            // then has the variance √λ·Σ√λ/(2·nats), with the sum over all counts.
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

/// Example with forty records. It has few bins and few sets, because it has few records.
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
        summary: "a noisy statistic of a secret half of the records: marginals, moments, principal \
                  components, cluster centres, a ridge regression, a linear support vector machine, or \
                  predictions for volunteers' records",
        paper: "Xiao and Devadas, PAC privacy: automatic privacy measurement and control of data processing \
                (CRYPTO 2023); Sridhar, Xiao and Devadas, PAC-private algorithms (S&P 2025)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: |parameters, brief: &Brief| Ok(design(parameters, brief)?.state),
        curator: PacStatistics::try_from,
        example: example,
    };
}
