//! Guarantees: what a release promises, what it gives away, and on what the promise rests.
//!
//! The notions are separate types and never convert into one another. Only the two differential-privacy notions show
//! an ε. A guarantee prints as a card for people and serialises to JSON for machines.

use crate::{Provenance, RecordDomain, TargetDomain, number};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a release promises: its claims, what it `discloses` exactly, and what it `assumes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarantee {
    /// What is promised; nothing where it is empty.
    pub claims: Vec<Claim>,
    /// What an adversary learns exactly.
    pub discloses: Vec<String>,
    /// What must be true for the claims to hold.
    pub assumes: Vec<String>,
    /// Whose data shaped the design.
    pub shaped_by: ShapedBy,
}

/// One promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// What is promised.
    #[serde(flatten)]
    pub notion: Notion,
    /// To what.
    pub protects: Unit,
    /// The theorem from which it follows, with its source.
    pub theorem: String,
}

/// The part of a record that may be anything while the promise holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unit {
    /// All that the mechanism sees of one person: features and target.
    Record,
    /// The features; the target is not protected.
    Features,
    /// The target; the features are not protected.
    Label,
    /// The record of a volunteer whose data shaped the design.
    Volunteer,
}

/// A notion of privacy with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "notion", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Notion {
    /// Local differential privacy.
    LocalDp(LocalDp),
    /// Central differential privacy.
    CentralDp(CentralDp),
    /// A floor under the error of unbiased reconstruction.
    CramerRao(CramerRao),
    /// Resistance to recovery, in the probably-approximately-correct sense.
    PacResistance(PacResistance),
    /// A set of inputs with the same law of outputs.
    AmbiguitySet(AmbiguitySet),
    /// An output that is independent of what is protected.
    PerfectSecrecy(PerfectSecrecy),
}

/// P(M(x) ∈ S) ≤ e^ε·P(M(x′) ∈ S) + δ for all x, x′ in the domain and all S.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LocalDp {
    /// ε, in nats.
    #[serde(with = "number")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
}

/// The same inequality for neighbouring *data sets*.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CentralDp {
    /// ε, in nats.
    #[serde(with = "number")]
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Which data sets are neighbours.
    pub neighbours: Neighbours,
}

/// When two data sets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One has a record more.
    AddOrRemoveOne,
    /// They differ in one record.
    ReplaceOne,
}

/// An unbiased estimate x̂ of a record has E‖x̂ − x‖² ≥ [`error`](Self::error).
///
/// Stored as the Fisher information of the released record about each of the record's columns: the diagonal of the
/// information matrix I. Since (I⁻¹)ᵢᵢ ≥ 1/Iᵢᵢ the bound below holds for correlated noise too. A biased estimate may do
/// better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CramerRao {
    /// Information about each column, per squared unit of it; infinite where it is released exactly.
    #[serde(with = "information")]
    pub information: BTreeMap<String, f64>,
}

impl CramerRao {
    /// Σ 1/Iᵢᵢ, in squared units of the encoded record.
    pub fn error(&self) -> f64 {
        self.information.values().map(|i| 1.0 / i).sum()
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
        Ok(entries
            .into_iter()
            .map(|(name, Entry(value))| (name, value))
            .collect())
    }
}

/// No adversary recovers a record within `error` with probability 1 − `confidence_gap` or more, while the budget lasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PacResistance {
    /// The ℓ₂ distance that counts as recovery.
    pub error: f64,
    /// δ: success up to 1 − δ is not excluded.
    pub confidence_gap: f64,
    /// How many samples may be released.
    pub budget: f64,
    /// How many are.
    pub spent: f64,
}

/// All members of the set give the same law of outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmbiguitySet {
    /// The set, in words.
    pub members: String,
}

/// The output is independent of what is protected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PerfectSecrecy {}

/// Whose data shaped a design. The guarantee holds given the design, and claims nothing for anyone whose record
/// shaped it, unless a [`CentralDp`] claim for [`Unit::Volunteer`] says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapedBy {
    /// Nobody's: bounds and parameters that are public.
    #[default]
    PublicKnowledge,
    /// Data that are public.
    PublicVolunteers,
    /// Data of people who agreed to it.
    ConsentingVolunteers,
    /// Data of people who are promised privacy themselves.
    PrivateVolunteers,
}

impl Guarantee {
    /// The guarantee of a mechanism that promises nothing and gives away all that it sees of a record of `domain`.
    pub fn nothing(domain: &RecordDomain) -> Self {
        Self {
            discloses: in_clear(domain, Unit::Record),
            ..Self::default()
        }
    }

    /// The local (ε, δ) claimed for `unit`, where there is one. A claim for whole records covers their parts.
    pub fn local_dp(&self, unit: Unit) -> Option<LocalDp> {
        let covers = |claim: &Claim| {
            claim.protects == unit
                || (claim.protects == Unit::Record && matches!(unit, Unit::Features | Unit::Label))
        };
        let claims = self.claims.iter().filter(|claim| covers(claim));
        let dp = claims.filter_map(|claim| match claim.notion {
            Notion::LocalDp(dp) => Some(dp),
            _ => None,
        });
        dp.min_by(|a, b| a.epsilon.total_cmp(&b.epsilon))
    }

    /// Whether some claim is a central (ε, δ) for the volunteers.
    pub fn protects_volunteers(&self) -> bool {
        self.claims
            .iter()
            .any(|claim| claim.protects == Unit::Volunteer && matches!(claim.notion, Notion::CentralDp(_)))
    }

    /// This guarantee for a release whose noise came from there: a seed voids every claim.
    pub fn under(mut self, provenance: Provenance) -> Self {
        if let Provenance::Seed(_) = provenance {
            self.claims.clear();
            let line = "whatever the noise hides, to anyone who knows or can guess the seed: a seeded release promises nothing";
            self.discloses.insert(0, line.into());
        }
        self
    }

    /// The claims in one line.
    pub fn summary(&self) -> String {
        if self.claims.is_empty() {
            return "no claim".into();
        }
        let claims: Vec<String> = self.claims.iter().map(Claim::to_string).collect();
        claims.join("; ")
    }

    /// For machines: all of it, and the summary. `epsilon` is that of the whole record, or null where none is claimed.
    pub fn to_json(&self) -> serde_json::Value {
        let mut value = serde_json::json!(self);
        let dp = self.local_dp(Unit::Record);
        value["epsilon"] = serde_json::json!(dp.map(|dp| dp.epsilon));
        value["summary"] = self.summary().into();
        value
    }
}

/// What leaves in clear, in words, when `unit` of a record of `domain` does.
pub fn in_clear(domain: &RecordDomain, unit: Unit) -> Vec<String> {
    let features = unit != Unit::Label && !domain.columns().is_empty();
    let label = unit != Unit::Features && *domain.target() != TargetDomain::None;
    let lines = [
        (features, "the features of every record, as they are"),
        (label, "the label of every record, as it is"),
    ];
    let lines = lines.into_iter().filter(|(leaves, _)| *leaves);
    lines.map(|(_, line)| line.to_owned()).collect()
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Record => "the whole record",
            Self::Features => "the features (not the label)",
            Self::Label => "the label (not the features)",
            Self::Volunteer => "each volunteer's record",
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {}", self.notion, self.protects)
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AddOrRemoveOne => "one record more or less",
            Self::ReplaceOne => "one record replaced",
        })
    }
}

impl fmt::Display for Notion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = |epsilon: f64, delta: f64| match delta {
            0.0 => format!("ε = {}", Significant(epsilon)),
            delta => format!("(ε, δ) = ({}, {delta:e})", Significant(epsilon)),
        };
        match self {
            Self::LocalDp(dp) => write!(
                formatter,
                "{} local differential privacy",
                parameters(dp.epsilon, dp.delta)
            ),
            Self::CentralDp(dp) => write!(
                formatter,
                "{} central differential privacy ({})",
                parameters(dp.epsilon, dp.delta),
                dp.neighbours
            ),
            Self::CramerRao(bound) => write!(
                formatter,
                "squared error of at least {} for every unbiased reconstruction",
                AtLeast(bound.error())
            ),
            Self::PacResistance(pac) => write!(
                formatter,
                "no recovery within {} with probability {} or more, {} of {} samples spent",
                pac.error,
                1.0 - pac.confidence_gap,
                pac.spent,
                pac.budget
            ),
            Self::AmbiguitySet(set) => write!(formatter, "the same output law for {}", set.members),
            Self::PerfectSecrecy(_) => formatter.write_str("perfect secrecy"),
        }
    }
}

/// A number with four significant digits, rounded up: no ε prints as less than it is.
struct Significant(f64);

/// The same, rounded down: no lower bound prints as more than it is.
struct AtLeast(f64);

impl fmt::Display for Significant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        four_digits(self.0, f64::ceil, formatter)
    }
}

impl fmt::Display for AtLeast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        four_digits(self.0, f64::floor, formatter)
    }
}

fn four_digits(value: f64, round: fn(f64) -> f64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !(1e-6..1e12).contains(&value) {
        return write!(formatter, "{}", number::short(value));
    }
    let unit = 10f64.powi(3 - value.log10().floor() as i32);
    // What differs from a four-digit number by less than 10⁻⁹ of it is that number.
    let scaled = value * unit;
    let rounded = if (scaled - scaled.round()).abs() < 1e-9 * scaled {
        scaled.round()
    } else {
        round(scaled)
    };
    write!(formatter, "{}", rounded / unit)
}

impl Notion {
    /// What it means for the person behind the record.
    fn meaning(&self) -> String {
        match self {
            Self::LocalDp(dp) => format!(
                "Whatever else an adversary knows, what is released changes the odds between any two values by at \
                 most {}-fold{}.",
                Significant(dp.epsilon.exp()),
                slip(dp.delta)
            ),
            Self::CentralDp(dp) => format!(
                "Whatever else an adversary knows, the odds that a given record was among the data change by at most \
                 {}-fold{}.",
                Significant(dp.epsilon.exp()),
                slip(dp.delta)
            ),
            Self::CramerRao(_) => {
                "A biased guess, or one by somebody who knows other records, may come closer.".into()
            }
            Self::PacResistance(_) => "Success below that probability is not excluded.".into(),
            Self::AmbiguitySet(_) => {
                "Which member of the set it was cannot be told; that it is in the set can.".into()
            }
            Self::PerfectSecrecy(_) => "What is released says nothing at all about it.".into(),
        }
    }
}

fn slip(delta: f64) -> String {
    if delta == 0.0 {
        return String::new();
    }
    format!(", but for an event of probability {delta:e}")
}

/// The card: what is promised, what it means, on what it rests, what is given away, and what is assumed.
impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.claims.is_empty() {
            writeln!(formatter, "promises   nothing")?;
        }
        for claim in &self.claims {
            writeln!(formatter, "promises   {claim}")?;
            writeln!(formatter, "means      {}", claim.notion.meaning())?;
            writeln!(formatter, "rests on   {}", claim.theorem)?;
        }
        for disclosed in &self.discloses {
            writeln!(formatter, "discloses  {disclosed}")?;
        }
        for assumed in &self.assumes {
            writeln!(formatter, "assumes    {assumed}")?;
        }
        match self.shaped_by {
            ShapedBy::PublicKnowledge => Ok(()),
            shaped_by => writeln!(
                formatter,
                "holds      given the design, which {} data shaped; {}",
                match shaped_by {
                    ShapedBy::PublicVolunteers => "public",
                    ShapedBy::ConsentingVolunteers => "consenting volunteers'",
                    _ => "private volunteers'",
                },
                if self.protects_volunteers() {
                    "the central claim above is what those people have"
                } else {
                    "no claim for anyone whose record shaped it"
                }
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(epsilon: f64, protects: Unit) -> Guarantee {
        Guarantee {
            claims: vec![Claim {
                notion: Notion::LocalDp(LocalDp { epsilon, delta: 0.0 }),
                protects,
                theorem: "a theorem".into(),
            }],
            ..Guarantee::default()
        }
    }

    #[test]
    fn no_epsilon_prints_as_less_than_it_is() {
        for (epsilon, shown) in [
            (1.0, "1"),
            (1.00001, "1.001"),
            (0.1 + 0.2, "0.3"),
            (123_456.0, "123500"),
            (0.000_123_41, "0.0001235"),
            (1e-310, "1e-310"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(Significant(epsilon).to_string(), shown);
        }
        assert_eq!(AtLeast(1.99999).to_string(), "1.999");
    }

    #[test]
    fn only_differential_privacy_shows_an_epsilon() {
        let bound = Guarantee {
            claims: vec![Claim {
                notion: Notion::CramerRao(CramerRao {
                    information: BTreeMap::from([("a".into(), 4.0), ("b".into(), f64::INFINITY)]),
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
    fn a_seed_voids_every_claim_and_the_card_says_so() {
        let mut guarantee = local(1.0, Unit::Features);
        guarantee.discloses.push("the label".into());
        let card = guarantee.under(Provenance::Seed(1)).to_string();
        assert!(
            card.contains("discloses  the label"),
            "what leaves in clear does so under any seed: {card}"
        );
        assert!(
            card.contains("promises   nothing") && card.contains("seed"),
            "{card}"
        );
        assert!(!card.contains('ε'), "{card}");
        let kept = local(1.0, Unit::Record).under(Provenance::OperatingSystem);
        assert_eq!(kept, local(1.0, Unit::Record));
    }

    #[test]
    fn infinite_information_survives_json() {
        let notion = Notion::CramerRao(CramerRao {
            information: BTreeMap::from([("a".into(), 1.0), ("b".into(), f64::INFINITY)]),
        });
        let text = serde_json::to_string(&notion).unwrap();
        assert!(text.contains("\"inf\""), "{text}");
        assert_eq!(serde_json::from_str::<Notion>(&text).unwrap(), notion);
    }

    #[test]
    fn a_design_shaped_by_volunteers_says_that_they_have_no_claim() {
        let shaped = Guarantee {
            shaped_by: ShapedBy::ConsentingVolunteers,
            ..local(1.0, Unit::Record)
        };
        let card = shaped.to_string();
        assert!(
            card.contains("no claim for anyone whose record shaped it"),
            "{card}"
        );
    }
}
