//! Guarantees: the claims of a release, its disclosures, and its assumptions.
//!
//! Each notion of privacy is a separate type, and none converts into another. Only notions of differential
//! privacy show an ε. A guarantee prints as a card for people (`card.rs`) and serialises to JSON for
//! machines.

use crate::{Factor, PrivacyProfile, Provenance, RecordDomain, TargetDomain, number};
pub use scumble_accounting::Neighbours;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Guarantee of a release: its claims, what it `discloses` exactly, and what it `assumes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// Claims. An empty list guarantees nothing.
    pub claims: Vec<Claim>,
    /// Claims of each release of a design, in words, if the parameters of the claims depend on the released
    /// records. A design is public, so it must not contain such parameters. The guarantee of a release states
    /// these claims, with their parameters, in `claims`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each_release: Vec<String>,
    /// Information that an adversary learns exactly.
    pub discloses: Vec<String>,
    /// Conditions under which the claims hold.
    pub assumes: Vec<String>,
    /// Largest number of records of a person that count. The claims are then about all records of a person
    /// together. `None` if each record is a person's only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_per_person: Option<u16>,
    /// People whose data shaped the design.
    pub shaped_by: ShapedBy,
}

/// One line of a guarantee: a notion of privacy for a part of a record, with its theorem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Claimed notion of privacy.
    #[serde(flatten)]
    pub notion: Notion,
    /// Protected part of the record.
    pub protects: Unit,
    /// Theorem that implies the claim, with its source.
    pub theorem: String,
}

/// Part of a record that a claim protects. The claim holds for all values of this part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unit {
    /// Everything that the mechanism sees of one person: features and target.
    Record,
    /// The features; the target is not protected.
    Features,
    /// The target; the features are not protected.
    Label,
    /// The record of a volunteer whose data shaped the design.
    Volunteer,
}

impl Unit {
    /// Unit of a claim that protects all features: the whole record if there is no target, otherwise the
    /// features.
    pub fn for_features(domain: &RecordDomain) -> Self {
        match domain.target() {
            TargetDomain::None => Self::Record,
            _ => Self::Features,
        }
    }

    /// Returns whether a claim for this unit implies the same claim for `other`.
    pub fn covers(self, other: Self) -> bool {
        self == other || (self == Self::Record && matches!(other, Self::Features | Self::Label))
    }

    /// Pair of points that differ only in the features, made from two points of a mechanism's
    /// [range](crate::LocalMechanism::range). The second point gets the target coordinates of the first. The
    /// result is empty if this unit is [`Unit::Volunteer`]. If `domain` has a target, the result is empty
    /// unless this unit is [`Unit::Features`].
    pub fn pair_of_features(
        self,
        domain: &RecordDomain,
        [one, mut other]: [Vec<f64>; 2],
    ) -> Vec<[Vec<f64>; 2]> {
        if !Self::for_features(domain).covers(self) {
            return vec![];
        }
        let start = one.len() - (domain.flat().dim() - domain.features().dim());
        other[start..].copy_from_slice(&one[start..]);
        vec![[one, other]]
    }
}

/// Notion of privacy with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "notion", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Notion {
    /// Local differential privacy.
    LocalDp(LocalDp),
    /// Central differential privacy.
    CentralDp(CentralDp),
    /// Central differential privacy of the output of a shuffler.
    ShuffledDp(ShuffledDp),
    /// Central differential privacy for values of a record that are near each other.
    MetricDp(MetricDp),
    /// Lower bound on the error of unbiased reconstruction.
    CramerRao(CramerRao),
    /// Resistance to recovery, in the probably-approximately-correct sense.
    PacResistance(PacResistance),
    /// Set of inputs with the same distribution of outputs.
    AmbiguitySet(AmbiguitySet),
    /// Output that is independent of the protected unit.
    PerfectSecrecy(PerfectSecrecy),
    /// Upper bound on the mutual information between a release and the choice of the records used, averaged
    /// over a prior distribution of the choice.
    MutualInformation(MutualInformation),
}

impl Notion {
    /// Returns whether the notion is differential privacy, local or central, without a shuffler.
    pub fn is_dp(&self) -> bool {
        matches!(self, Self::LocalDp(_) | Self::CentralDp(_))
    }
}

/// Local differential privacy: P(M(x) ∈ S) ≤ e^ε·P(M(x′) ∈ S) + δ for all records x, x′ in the domain of the
/// mechanism M and all sets S of outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LocalDp {
    /// ε, in nats.
    #[serde(with = "number")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Privacy profile δ(ε), if more than one point of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<PrivacyProfile>,
}

impl LocalDp {
    /// Creates a claim (ε, δ).
    pub fn new(epsilon: f64, delta: f64) -> Self {
        Self { epsilon, delta, profile: None }
    }

    /// Same claim with the privacy profile on which its point (ε, δ) lies.
    pub fn along(self, profile: PrivacyProfile) -> Self {
        Self { profile: Some(profile), ..self }
    }

    /// Stored privacy profile, or the profile of pure differential privacy if δ = 0; otherwise `None`.
    pub fn known_profile(&self) -> Option<PrivacyProfile> {
        self.profile.or((self.delta == 0.0).then(|| PrivacyProfile::pure(self.epsilon)))
    }

    /// Creates a claim (ε, 0).
    pub fn pure(epsilon: f64) -> Self {
        Self::new(epsilon, 0.0)
    }
}

/// Central differential privacy: P(M(X) ∈ S) ≤ e^ε·P(M(X′) ∈ S) + δ for all neighbouring *data sets* X, X′ of
/// the mechanism M and all sets S of outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CentralDp {
    /// ε, in nats.
    #[serde(with = "number")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Neighbouring relation of data sets.
    pub neighbours: Neighbours,
    /// Privacy profile δ(ε), if more than one point of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<PrivacyProfile>,
    /// Party that holds the records.
    #[serde(default, skip_serializing_if = "Holder::is_curator")]
    pub held_by: Holder,
}

/// Party that holds the records of a [`CentralDp`] claim. A claim whose records two servers hold is never
/// printed without naming the servers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holder {
    /// A curator, who holds the records in the clear and is trusted.
    #[default]
    Curator,
    /// Two servers, of whom each holds a share of every record. One of them is trusted, whichever it is.
    TwoServers,
}

impl Holder {
    fn is_curator(&self) -> bool {
        *self == Self::Curator
    }
}

/// Differential privacy of a shuffler's output: the inequality of [`CentralDp`] for the reports of `people`
/// people or more. All reports come from one local mechanism, and a trusted shuffler hides who sent each
/// report. The claim holds only under this trust, so it is never printed without naming the shuffler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShuffledDp {
    /// ε, in nats.
    #[serde(with = "number")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Minimum number of people who report.
    pub people: u64,
    /// Local ε of each report, which still holds if the shuffler cannot be trusted.
    #[serde(with = "number")]
    pub epsilon_local: f64,
    /// Neighbouring relation of the data sets, each with one record per person.
    pub neighbours: Neighbours,
}

impl CentralDp {
    /// Creates a claim (ε, δ) for this neighbouring relation.
    pub fn new(epsilon: f64, delta: f64, neighbours: Neighbours) -> Self {
        Self { epsilon, delta, neighbours, profile: None, held_by: Holder::Curator }
    }

    /// Same claim with the privacy profile on which its point (ε, δ) lies.
    pub fn along(self, profile: PrivacyProfile) -> Self {
        Self { profile: Some(profile), ..self }
    }
}

/// Metric privacy: the inequality of [`CentralDp`] for data sets that differ in one record, by an ℓ₂ distance
/// of at most [`distance`](Self::distance) (Definition 3 of Xiao and Devadas, *Dauntless*, with this metric).
///
/// For values at k times this distance, k steps of the inequality give kε and δ·(1 + e^ε + … + e^((k−1)ε)).
/// Values at opposite ends of the domain may therefore be hidden hardly or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MetricDp {
    /// ε and δ for two values within the distance, and the neighbouring relation.
    pub dp: CentralDp,
    /// Largest ℓ₂ distance τ of two values that the claim is about, in units of the encoded record.
    pub distance: f64,
    /// ℓ₂ diameter of the domain of the features, in the same units.
    pub diameter: f64,
}

impl MetricDp {
    /// Creates a claim for values within `distance` of each other, in a domain of this ℓ₂ `diameter`.
    pub fn new(dp: CentralDp, distance: f64, diameter: f64) -> Self {
        Self { dp, distance, diameter }
    }

    /// Diameter of the domain in steps of [`distance`](Self::distance), rounded up.
    pub fn steps(&self) -> f64 {
        (self.diameter / self.distance).ceil().max(1.0)
    }
}

/// Cramér–Rao bound: an unbiased estimate x̂ of a record has E‖x̂ − x‖² ≥ [`error`](Self::error).
///
/// The bound is stored as the Fisher information of the released record about each of the record's columns:
/// the diagonal of the information matrix I. Since (I⁻¹)ᵢᵢ ≥ 1/Iᵢᵢ, the bound holds for correlated noise too.
/// A biased estimate may have a smaller error.
///
/// A release may have no noise along some directions of the record space. The information is then infinite
/// for every column with a component along such a direction, although noise still hides the other directions.
/// If the whole matrix I is known, `joint` stores the bound Tr(I⁻¹). The diagonals of several releases add
/// up. Their joint bounds do not: one release may disclose a direction that another hides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CramerRao {
    /// Information about each column, per squared unit of the column. It is infinite if the column is
    /// released exactly, or follows from exact releases.
    #[serde(with = "information")]
    pub information: BTreeMap<String, f64>,
    /// Lower bound on E‖x̂ − x‖² over the columns of `information`, for an unbiased estimate x̂ of the record
    /// x, in squared units of the values in the table. Present if more of the information matrix than its
    /// diagonal is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<f64>,
}

impl CramerRao {
    /// Lower bound on the mean squared error of an unbiased estimate, in squared units of the values in the
    /// table. It is the larger of Σ 1/Iᵢᵢ and the joint bound, where Iᵢᵢ is the information about column i.
    pub fn error(&self) -> f64 {
        let by_column: f64 = self.information.values().map(|i| 1.0 / i).sum();
        self.joint.map_or(by_column, |joint| joint.max(by_column))
    }

    /// Lower bound on the worst-case mean squared error of any estimator over the domain, biased or not. It
    /// is in squared units of the values in the table. It is the sum over all numeric columns of the larger
    /// of the two bounds below.
    ///
    /// The largest error of an estimator over the domain is at least its average error under any prior. Let
    /// each number have an independent prior on its interval, of width w. Let Iᵢᵢ be the Fisher information
    /// of the release about column i. Two choices of the prior give two lower bounds on a number's average
    /// error:
    ///
    /// - 1/(Iᵢᵢ + P), where P is the Fisher information of the prior (van Trees 1968; Gill and Levit 1995).
    ///   The smallest P of a prior on the interval is (2π/w)², for a density proportional to cos²(πt/w) at
    ///   the distance t from the middle. For small noise, this bound exceeds the second bound.
    /// - s²ρ²/4, for the prior of two equally likely values at a distance of s ≤ w (Le Cam 1973). Let p and q
    ///   be the distributions of the release for the two values. ρ is their affinity ∫√(pq). Hellinger's
    ///   distance √(2 − 2ρ) is a metric and at most s√Iᵢᵢ/2, so ρ ≥ 1 − s²Iᵢᵢ/8. The bound with the smallest
    ///   such ρ is largest at s² = 8/(3Iᵢᵢ), or at s = w if w² is smaller.
    ///
    /// For noise on a lattice, the claimed Iᵢᵢ is computed from the χ² divergence between the outputs for two
    /// neighbouring points of the lattice. The bound 1/(Iᵢᵢ + P) is then the bound of Weiss and Weinstein
    /// (1985), up to a relative difference of (step/w)², where step is the distance of these points. This
    /// difference is below the printed digits. For one-hot levels, and for a number that is released exactly,
    /// the bound is 0.
    ///
    /// ```
    /// use scumble_core::{CramerRao, Domain, RecordDomain, TargetDomain};
    ///
    /// let heights = RecordDomain::new(vec!["height".into()], Domain::unit_box(1), TargetDomain::None)?;
    /// let error_bound = |information: f64| {
    ///     let information = [("height".to_owned(), information)].into();
    ///     CramerRao { information, joint: None }.worst_case_error_bound(&heights)
    /// };
    /// // Without information, the best guess is the middle, with an error of ½ at both ends. With small
    /// // noise, the Cramér–Rao bound holds for every guess.
    /// assert_eq!(error_bound(0.0), 0.25);
    /// assert!((error_bound(1e6) * 1e6 - 1.0).abs() < 1e-4);
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    pub fn worst_case_error_bound(&self, domain: &RecordDomain) -> f64 {
        let widths = domain.features().factors().flat_map(|(at, factor)| match factor {
            Factor::Interval { lower, upper } => vec![upper - lower],
            _ => vec![0.0; at.len()],
        });
        let column_bound = |(width, name): (f64, &String)| {
            let information = self.information.get(name).copied().unwrap_or(f64::INFINITY);
            if !information.is_finite() {
                return 0.0;
            }
            let van_trees = 1.0 / (information + (TAU / width).powi(2));
            let squared = (width * width).min(8.0 / (3.0 * information));
            let affinity = 1.0 - squared * information / 8.0;
            van_trees.max(squared * affinity * affinity / 4.0)
        };
        widths.zip(domain.columns()).map(column_bound).sum()
    }
}

mod information {
    use crate::number;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    #[derive(Serialize, Deserialize)]
    struct Entry(#[serde(with = "number")] f64);

    pub fn serialize<S: Serializer>(
        columns: &BTreeMap<String, f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(columns.iter().map(|(name, &value)| (name, Entry(value))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, f64>, D::Error> {
        let entries = BTreeMap::<String, Entry>::deserialize(deserializer)?;
        Ok(entries.into_iter().map(|(name, Entry(value))| (name, value)).collect())
    }
}

/// Resistance to recovery: no adversary recovers a record within `error` with probability 1 −
/// `confidence_gap` or more, as long as at most `budget` samples are released. It is proven only if the
/// records' coordinates are independent and normally distributed. A *sample* is a released row, which mixes
/// several records, or a record that the release's secret key may map.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PacResistance {
    /// Largest ℓ₂ distance from the record that counts as recovery.
    pub error: f64,
    /// δ. Recovery with a probability below 1 − δ is not excluded.
    pub confidence_gap: f64,
    /// Number of samples that may be released.
    #[serde(with = "number")]
    pub budget: f64,
    /// Number of samples released. If it exceeds the budget, nothing is guaranteed, and the card says so.
    #[serde(with = "number")]
    pub spent: f64,
}

/// Ambiguity set: a set of inputs that all give the same distribution of outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmbiguitySet {
    /// Description of the set, in words.
    pub members: String,
}

/// Perfect secrecy: the output is independent of the protected unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PerfectSecrecy {}

/// Upper bound on mutual information: I(S; M(S)) ≤ `nats`, where S is a set of records drawn from a prior,
/// and the release M(S) is made from S. The bound limits what the release discloses about the choice of S
/// (PAC privacy: Xiao and Devadas 2023; Sridhar, Xiao and Devadas 2025). Mutual information is an average
/// over the prior, so the bound says nothing about a single set. It does not limit what the release discloses
/// about the presence of a person among all the records, from which S is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MutualInformation {
    /// Upper bound, in nats.
    #[serde(with = "number")]
    pub nats: f64,
    /// Prior from which the set was drawn.
    pub prior: Prior,
}

/// Prior distribution of the set of records that a release is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Prior {
    /// Uniform distribution over `sets` sets of half of the records. Each record is in half of the sets.
    Halves {
        /// Number of sets, two or more.
        sets: u64,
    },
}

impl Prior {
    /// Success rate, before a release, of the best guess of whether a given record is in the set.
    pub fn membership(self) -> f64 {
        match self {
            Self::Halves { .. } => 0.5,
        }
    }

    /// Success rate, before a release, of the best guess of the set.
    pub fn set(self) -> f64 {
        match self {
            Self::Halves { sets } => 1.0 / sets as f64,
        }
    }
}

impl MutualInformation {
    /// Creates a bound of `nats` nats for a set drawn from `prior`.
    pub fn new(nats: f64, prior: Prior) -> Self {
        Self { nats, prior }
    }

    /// Upper bound on an adversary's posterior success, given its `prior` success (data-processing
    /// inequality). It is the largest s for which the Kullback–Leibler divergence of a coin with probability
    /// s from a coin with probability `prior` is at most `nats`.
    ///
    /// ```
    /// use scumble_core::{MutualInformation, Prior};
    ///
    /// // With 1/128 nats, an adversary guesses membership correctly with probability 56.3 % at most. The
    /// // prior success is that of a fair coin.
    /// let halves = Prior::Halves { sets: 128 };
    /// let success = MutualInformation::new(1.0 / 128.0, halves).success(halves.membership());
    /// assert!(success < 0.563);
    /// ```
    pub fn success(&self, prior: f64) -> f64 {
        scumble_accounting::mutual_information::posterior_success(self.nats, prior).unwrap_or(1.0)
    }
}

/// People whose data shaped a design. The guarantee of a release treats the design as fixed. The guarantee
/// protects people whose records shaped the design only if it has a [`CentralDp`] claim for
/// [`Unit::Volunteer`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapedBy {
    /// Nobody: bounds and parameters are public.
    #[default]
    PublicKnowledge,
    /// People whose data are public.
    PublicVolunteers,
    /// People who agreed to what the design discloses about them.
    ConsentingVolunteers,
    /// People who are guaranteed privacy for the use of their records in the design.
    PrivateVolunteers,
}

/// Assumption of a claim about single records.
const ONE_RECORD: &str = "each person contributes one record";

/// Assumption of a claim of a curator.
const TRUSTED_CURATOR: &str = "a trusted curator holds all records in the clear";

/// Assumptions of a claim against the readers of a release by two servers, and against one of the servers.
const TWO_SERVERS: [&str; 2] = [
    "one of the two servers, whichever it is, adds its noise and keeps its key, its shares and its noise to \
     itself; both together learn every record",
    "against one server, the claim is computational: it depends on X25519, HKDF-SHA-256, ChaCha20-Poly1305 \
     and TurboSHAKE128",
];

/// Assumptions of every claim about records.
pub const ASSUMED: [&str; 3] = [
    "the bounds and levels are public, and were not taken from the data",
    ONE_RECORD,
    "the order of the records carries no information: they are released in the order of the input",
];

/// Disclosure of a guarantee for a public number of records.
pub const NUMBER_OF_RECORDS: &str = "the number of records";

impl Guarantee {
    /// Guarantee of a mechanism that claims nothing and discloses everything that it sees of a record of
    /// `domain`.
    pub fn nothing(domain: &RecordDomain) -> Self {
        Self { discloses: in_clear(domain, Unit::Record), ..Self::default() }
    }

    /// Guarantee of a mechanism that hides the features and releases the target in the clear. `notions` are
    /// its notions with their theorems. If `domain` has no target, the claims protect whole records.
    pub fn for_features(domain: &RecordDomain, notions: impl IntoIterator<Item = (Notion, String)>) -> Self {
        let protects = Unit::for_features(domain);
        Self {
            claims: notions
                .into_iter()
                .map(|(notion, theorem)| Claim { notion, protects, theorem })
                .collect(),
            discloses: in_clear(domain, Unit::Label),
            assumes: ASSUMED.map(str::to_owned).to_vec(),
            ..Self::default()
        }
    }

    /// Guarantee of a mechanism that hides all of a record. `notions` are its notions with their theorems.
    pub fn for_records(notions: impl IntoIterator<Item = (Notion, String)>) -> Self {
        let protects = Unit::Record;
        let claims = notions.into_iter().map(|(notion, theorem)| Claim { notion, protects, theorem });
        Self { claims: claims.collect(), assumes: ASSUMED.map(str::to_owned).to_vec(), ..Self::default() }
    }

    /// Guarantee of a trusted curator, who releases results of all records together. For
    /// [`Neighbours::ReplaceOne`], the guarantee discloses the number of records. For
    /// [`Neighbours::AddOrRemoveOne`], the guarantee assumes that the existence of at least one record is
    /// public. `claims` are the claims with their theorems. A claim may have another neighbouring relation
    /// than `neighbours`.
    pub fn for_curator(
        neighbours: Neighbours,
        claims: impl IntoIterator<Item = (CentralDp, String)>,
    ) -> Self {
        let (discloses, exists) = match neighbours {
            Neighbours::ReplaceOne => (vec![NUMBER_OF_RECORDS.to_owned()], None),
            // An empty table is refused, which distinguishes it from its neighbours, the tables of one
            // record.
            Neighbours::AddOrRemoveOne => (vec![], Some("the existence of at least one record is public")),
        };
        let assumes = ASSUMED[..2].iter().copied().chain([TRUSTED_CURATOR]).chain(exists);
        let claims = claims.into_iter().map(|(dp, theorem)| (Notion::CentralDp(dp), theorem));
        Self { discloses, assumes: assumes.map(str::to_owned).collect(), ..Self::for_records(claims) }
    }

    /// This guarantee of a curator, for two servers in the curator's place. Each holds one of two shares of
    /// every record.
    #[must_use]
    pub fn by_two_servers(mut self) -> Self {
        for claim in &mut self.claims {
            if let Notion::CentralDp(dp) = &mut claim.notion {
                dp.held_by = Holder::TwoServers;
            }
        }
        self.assumes.retain(|assumed| assumed != TRUSTED_CURATOR);
        self.assumes.extend(TWO_SERVERS.map(str::to_owned));
        self
    }

    /// This guarantee for people of whom at most `records_per_person` records are used. It is then about all
    /// records of a person together. With `None`, each record is a person's only one.
    #[must_use]
    pub fn of_people(mut self, records_per_person: Option<u16>) -> Self {
        let Some(most) = records_per_person else { return self };
        self.records_per_person = Some(most);
        let used = match most {
            1 => "one record of a person is used, drawn at random".to_owned(),
            most => format!(
                "at most {most} records of a person are used, drawn at random, with the weight of one record \
                 together"
            ),
        };
        for assumed in self.assumes.iter_mut().filter(|assumed| *assumed == ONE_RECORD) {
            *assumed = format!("each person has one id: {used}");
        }
        self
    }

    /// Returns whether the number of records is disclosed.
    pub fn discloses_number(&self) -> bool {
        self.discloses.iter().any(|disclosed| disclosed == NUMBER_OF_RECORDS)
    }

    /// Local claim for `unit` with the smallest δ, and of several such claims the one with the smallest ε;
    /// `None` if there is no local claim. A claim for whole records also covers features and label.
    pub fn local_dp(&self, unit: Unit) -> Option<&LocalDp> {
        let claims = self.claims.iter().filter(|claim| claim.protects.covers(unit));
        let dp = claims.filter_map(|claim| match &claim.notion {
            Notion::LocalDp(dp) => Some(dp),
            _ => None,
        });
        dp.min_by(|a, b| (a.delta, a.epsilon).partial_cmp(&(b.delta, b.epsilon)).unwrap_or(Ordering::Equal))
    }

    /// ε of the local claim for whole records, or else of the first central claim for them; `None` if there
    /// is neither.
    pub fn epsilon(&self) -> Option<f64> {
        let central = || {
            let record_claims = self.claims.iter().filter(|claim| claim.protects == Unit::Record);
            let mut dp = record_claims.filter_map(|claim| match &claim.notion {
                Notion::CentralDp(dp) => Some(dp.epsilon),
                _ => None,
            });
            dp.next()
        };
        self.local_dp(Unit::Record).map(|dp| dp.epsilon).or_else(central)
    }

    /// Privacy cost (ε, δ) of a release for `unit` if one record is replaced. It is the (ε, δ) of the local
    /// claim, or else of the central claim for [`Neighbours::ReplaceOne`]. Without either claim, ε is
    /// infinite.
    pub fn cost(&self, unit: Unit) -> (f64, f64) {
        let covering = self.claims.iter().filter(|claim| claim.protects.covers(unit));
        let mut central = covering.filter_map(|claim| match &claim.notion {
            Notion::CentralDp(dp) if dp.neighbours == Neighbours::ReplaceOne => Some((dp.epsilon, dp.delta)),
            _ => None,
        });
        let local = self.local_dp(unit).map(|dp| (dp.epsilon, dp.delta));
        local.or_else(|| central.next()).unwrap_or((f64::INFINITY, 0.0))
    }

    /// Returns whether some part of a released record has differential privacy, local or central.
    pub fn has_dp(&self) -> bool {
        self.claims_for_records().any(|claim| claim.notion.is_dp())
    }

    /// Largest part of a record (all, the features, or the label) that some claim protects. Only claims
    /// without a [`warning`](Claim::warning) and with a notion that `apt` accepts count; `None` if no claim
    /// counts.
    pub fn protects(&self, apt: fn(&Notion) -> bool) -> Option<Unit> {
        let standing = |claim: &&Claim| apt(&claim.notion) && claim.warning().is_none();
        let units: Vec<Unit> = self.claims.iter().filter(standing).map(|claim| claim.protects).collect();
        [Unit::Record, Unit::Features, Unit::Label].into_iter().find(|unit| units.contains(unit))
    }

    /// Returns whether some claim is central differential privacy for the volunteers, with a finite ε.
    pub fn protects_volunteers(&self) -> bool {
        let mut theirs = self.claims.iter().filter(|claim| claim.protects == Unit::Volunteer);
        theirs.any(|claim| matches!(&claim.notion, Notion::CentralDp(dp) if dp.epsilon.is_finite()))
    }

    /// Claims for the people whose records are released, without the claims for people who shaped the design.
    pub(crate) fn claims_for_records(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| claim.protects != Unit::Volunteer)
    }

    /// This guarantee for a release whose random numbers have this `provenance`. A known seed voids every
    /// claim about the released records. It voids no claim for volunteers, whose records shaped the design
    /// earlier. A ticket is the stored secret of a release, with which the release can be repeated. A release
    /// with a ticket has the additional assumptions that nobody else reads the secret and that ids of records
    /// are unique.
    pub fn under(mut self, provenance: Provenance) -> Self {
        match provenance {
            Provenance::OperatingSystem => {}
            Provenance::Seed(_) => {
                self.claims.retain(|claim| claim.protects == Unit::Volunteer);
                self.each_release.clear();
                let line = "everything that the noise hides, to anyone who knows or can guess the seed: a \
                            release from a known seed has no guarantee";
                self.discloses.insert(0, line.into());
            }
            Provenance::Ticket => self.assumes.extend(KEYED.map(str::to_owned)),
        }
        self
    }

    /// JSON form for machines: the whole guarantee, the summary, and the warnings. The field `epsilon` is the
    /// value of [`epsilon`](Self::epsilon), or null.
    pub fn to_json(&self) -> serde_json::Value {
        // A guarantee with a NaN cannot be serialised. Only ε, the summary and the warnings are then written.
        let written = serde_json::to_value(self).unwrap_or_default();
        let mut value = if written.is_object() { written } else { serde_json::json!({}) };
        // Add the plain words of the card, which people read.
        if let Some(claims) = value["claims"].as_array_mut() {
            for (written, claim) in claims.iter_mut().zip(&self.claims) {
                written["may_learn"] = self.of_whom(claim.may_learn()).into();
                written["how_sure"] = claim.how_sure().into();
                written["warning"] = claim.warning().into();
            }
        }
        value["epsilon"] = self.epsilon().map_or(serde_json::Value::Null, number::to_json);
        value["summary"] = self.summary().into();
        value["warnings"] = self.warnings().into();
        value
    }
}

/// Disclosures, in words, if `unit` of a record of `domain` is released in the clear.
pub fn in_clear(domain: &RecordDomain, unit: Unit) -> Vec<String> {
    let features = unit != Unit::Label && !domain.columns().is_empty();
    let label = unit != Unit::Features && *domain.target() != TargetDomain::None;
    let lines = [
        (features, "the features of every record, in the clear"),
        (label, "the label of every record, in the clear"),
    ];
    let lines = lines.into_iter().filter(|(leaves, _)| *leaves);
    lines.map(|(_, line)| line.to_owned()).collect()
}

/// Additional assumptions of a release whose noise comes from a ticket: a stored secret, with which the
/// release can be repeated.
const KEYED: [&str; 2] = [
    "nobody else reads the secret in the ticket: anyone who has the secret can remove the noise, until all \
     its copies are deleted",
    "ids are unique: the noise of a record is drawn from the secret, its id and its values, so that a \
     repeated task releases the same; two equal records with one id would have equal releases",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Domain;

    fn local(epsilon: f64, protects: Unit) -> Guarantee {
        Guarantee {
            claims: vec![Claim {
                notion: Notion::LocalDp(LocalDp::pure(epsilon)),
                protects,
                theorem: "a theorem".into(),
            }],
            ..Guarantee::default()
        }
    }

    #[test]
    fn only_differential_privacy_shows_an_epsilon() {
        let bound = Guarantee {
            claims: vec![Claim {
                notion: Notion::CramerRao(CramerRao {
                    information: BTreeMap::from([("a".into(), 4.0), ("b".into(), f64::INFINITY)]),
                    joint: None,
                }),
                protects: Unit::Record,
                theorem: "Cramér and Rao".into(),
            }],
            ..Guarantee::default()
        };
        assert!(!bound.to_string().contains('ε'), "{bound}");
        assert_eq!(bound.to_json()["epsilon"], serde_json::Value::Null);
        assert!(bound.summary().contains("0.25"), "{}", bound.summary());
        assert_eq!(local(2.0, Unit::Record).to_json()["epsilon"], 2.0);
    }

    #[test]
    fn a_claim_for_the_record_covers_its_parts_and_not_the_other_way_round() {
        let whole = local(1.0, Unit::Record);
        assert!(whole.local_dp(Unit::Label).is_some() && whole.local_dp(Unit::Features).is_some());
        assert!(whole.local_dp(Unit::Volunteer).is_none());
        assert!(local(1.0, Unit::Label).local_dp(Unit::Record).is_none());
    }

    #[test]
    fn a_small_epsilon_with_a_large_delta_is_not_the_stronger_claim() {
        let mut guarantee = local(1.0, Unit::Record);
        guarantee.claims.push(Claim {
            notion: Notion::LocalDp(LocalDp::new(0.1, 0.5)),
            protects: Unit::Record,
            theorem: "another".into(),
        });
        assert_eq!(guarantee.local_dp(Unit::Record), Some(&LocalDp::pure(1.0)));
    }

    /// Bound for numbers of these `widths`, each with this `information`.
    fn bound_for(widths: &[f64], information: f64) -> f64 {
        let intervals = widths.iter().map(|width| Domain::interval(0.0, *width).unwrap());
        let names: Vec<String> = (0..widths.len()).map(|at| at.to_string()).collect();
        let features = Domain::product(intervals).unwrap();
        let domain = RecordDomain::new(names.clone(), features, TargetDomain::None).unwrap();
        let information = names.into_iter().map(|name| (name, information)).collect();
        CramerRao { information, joint: None }.worst_case_error_bound(&domain)
    }

    #[test]
    fn a_bias_gains_nothing_where_the_domain_is_wide_and_all_where_it_is_narrow() {
        // Without bias the error is 1/I = 4. Without information, the middle is half a width off at the ends.
        for (widths, information, expected) in
            [(&[1e6][..], 0.25, 4.0), (&[1e6, 1e6], 0.25, 8.0), (&[3.0], 0.0, 2.25)]
        {
            let found = bound_for(widths, information);
            assert!((found / expected - 1.0).abs() < 1e-9, "{widths:?}, {information}: {found}");
        }
        assert_eq!((bound_for(&[0.0], 0.25), bound_for(&[1.0], f64::INFINITY)), (0.0, 0.0));
    }

    /// Squared error of the best estimator, the posterior mean, averaged over `prior` and Gaussian noise of
    /// this `deviation`.
    fn posterior_mean_error(prior: &[(f64, f64)], deviation: f64) -> f64 {
        let (mut error, mut weight) = (0.0, 0.0);
        for at in 0..4000 {
            let y = -6.0 * deviation + f64::from(at) / 4000.0 * (1.0 + 12.0 * deviation);
            let [mut mass, mut first, mut second] = [0.0; 3];
            for (x, share) in prior {
                let both = share * (-0.5 * ((y - x) / deviation).powi(2)).exp();
                mass += both;
                first += both * x;
                second += both * x * x;
            }
            error += second - first * first / mass.max(f64::MIN_POSITIVE);
            weight += mass;
        }
        error / weight
    }

    /// For a number between 0 and 1, one of two priors is the hardest. The best estimator's error there is at
    /// least the bound and less than twice the bound.
    #[test]
    fn the_best_guess_is_no_better_than_the_bound_and_not_much_worse() {
        let round: Vec<(f64, f64)> = (0..400)
            .map(|at| (f64::from(at) + 0.5) / 400.0)
            .map(|x| (x, (std::f64::consts::PI * (x - 0.5)).cos().powi(2)))
            .collect();
        for deviation in [0.02f64, 0.1, 0.3, 1.0, 5.0] {
            let distance = (8.0 / 3.0f64).sqrt() * deviation;
            let ends = [(0.0, 1.0), (distance.min(1.0), 1.0)];
            let reached = posterior_mean_error(&round, deviation).max(posterior_mean_error(&ends, deviation));
            let bound = bound_for(&[1.0], deviation.powi(-2));
            assert!(reached >= bound && reached < 2.0 * bound, "σ = {deviation}: {reached} beside {bound}");
        }
    }

    #[test]
    fn what_is_no_number_does_not_panic() {
        assert_eq!(local(f64::INFINITY, Unit::Record).to_json()["epsilon"], "inf");
        assert_eq!(local(f64::NAN, Unit::Record).to_json()["epsilon"], serde_json::Value::Null);
    }

    #[test]
    fn a_seed_voids_every_claim_and_the_card_says_so() {
        let mut guarantee = local(1.0, Unit::Features);
        guarantee.discloses.push("the label".into());
        let card = guarantee.under(Provenance::Seed(1)).to_string();
        assert!(
            card.contains("discloses  the label"),
            "what is disclosed in the clear is so under any seed: {card}"
        );
        assert!(card.contains("guarantee  nothing") && card.contains("seed"), "{card}");
        assert!(!card.contains('ε'), "{card}");
        let kept = local(1.0, Unit::Record).under(Provenance::OperatingSystem);
        assert_eq!(kept, local(1.0, Unit::Record));
    }

    #[test]
    fn infinite_information_survives_json() {
        let notion = Notion::CramerRao(CramerRao {
            information: BTreeMap::from([("a".into(), 1.0), ("b".into(), f64::INFINITY)]),
            joint: None,
        });
        let text = serde_json::to_string(&notion).unwrap();
        assert!(text.contains("\"inf\"") && !text.contains("joint"), "{text}");
        assert_eq!(serde_json::from_str::<Notion>(&text).unwrap(), notion);
    }

    #[test]
    fn a_joint_bound_counts_where_it_says_more_than_the_columns() {
        let bound = |information: f64, joint| CramerRao {
            information: BTreeMap::from([("a".into(), information), ("b".into(), f64::INFINITY)]),
            joint,
        };
        assert_eq!(bound(4.0, None).error(), 0.25);
        assert_eq!(bound(4.0, Some(3.0)).error(), 3.0);
        assert_eq!(bound(4.0, Some(0.1)).error(), 0.25);
        let text = serde_json::to_string(&bound(f64::INFINITY, Some(3.0))).unwrap();
        assert_eq!(serde_json::from_str::<CramerRao>(&text).unwrap().error(), 3.0);
    }

    #[test]
    fn a_design_says_what_its_releases_guarantee_and_a_seeded_release_does_not() {
        let design =
            Guarantee { each_release: vec!["as much as its records allow".into()], ..Guarantee::default() };
        let card = design.to_string();
        assert!(card.starts_with("guarantee  as much") && !card.contains("nothing"), "{card}");
        assert_eq!(design.summary(), "no claim before the records are seen");
        let seeded = design.under(Provenance::Seed(1));
        assert!(seeded.to_string().starts_with("guarantee  nothing"), "{seeded}");
    }

    #[test]
    fn a_design_shaped_by_volunteers_says_that_they_have_no_claim() {
        let shaped = Guarantee { shaped_by: ShapedBy::ConsentingVolunteers, ..local(1.0, Unit::Record) };
        let card = shaped.to_string();
        assert!(card.contains("no claim for the people whose records shaped it"), "{card}");
    }
}
