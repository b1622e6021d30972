//! What an attack found.

use crate::Effort;
use serde::Serialize;
use std::fmt;

/// What is claimed, and the audited lower bound on it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The mechanism.
    pub mechanism: String,
    /// The claim, in words.
    pub claim: String,
    /// What `claimed` and `lower_bound` are.
    pub measure: Measure,
    /// What is claimed to be the most that an adversary can reach.
    pub claimed: Option<f64>,
    /// What one reaches at least, with this confidence; none where nothing was attacked.
    pub lower_bound: Option<f64>,
    /// The probability with which no bound of this finding lies above the truth.
    pub confidence: f64,
    /// The μ of Gaussian differential privacy that the claimed privacy profile comes to; none where the claim has no profile.
    pub mu_claimed: Option<f64>,
    /// What it is at least, with this confidence; none where the claim has no profile.
    pub mu_shown: Option<f64>,
    /// How far apart worst-case points of a local mechanism lie, as declared and as found; none of curators, and of mechanisms that
    /// state neither their noise nor a likelihood.
    pub coupled: Option<Coupled>,
    /// How many pairs of inputs were attacked, by samples and by whole releases.
    pub pairs: usize,
    /// How often each input was released, in the longest of the attacks: it ends when the claim is refuted.
    pub samples: usize,
    /// The verdict on the claim, for the inputs that were tried.
    pub verdict: Verdict,
    /// Points of δ(ε), where the claim makes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<ProfilePoint>,
    /// How the adversary came to it, or why nothing was attacked: a sentence.
    pub because: String,
}

/// What is measured of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Measure {
    /// ε, in nats.
    Epsilon,
    /// One over the mean squared error of a reconstruction.
    Precision,
    /// The probability of recovering a record.
    Success,
    /// Mutual information, in nats.
    Nats,
}

/// How far apart two points lie that one record may be encoded to and another, relative to the noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coupled {
    /// What both are.
    pub unit: CoupledUnit,
    /// The most that the mechanism says there is.
    pub declared: f64,
    /// The most that was found, by pairs that were perturbed by the same random numbers.
    pub found: f64,
}

/// What distances relative to the noise are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CoupledUnit {
    /// ε, in nats: distances in ℓ₁ by the scale of the noise, or the privacy loss that the stated likelihood gives.
    Epsilon,
    /// μ: distances in ℓ₂ by the standard deviation of Gaussian noise.
    Mu,
    /// Standard deviations, of noise whose cost does not follow from a distance.
    Deviations,
}

impl fmt::Display for CoupledUnit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Epsilon => "ε",
            Self::Mu => "μ",
            Self::Deviations => "standard deviations",
        })
    }
}

/// δ at one ε.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfilePoint {
    /// ε, in nats.
    pub epsilon: f64,
    /// The δ that is claimed there.
    pub claimed: f64,
    /// What it is at least.
    pub lower_bound: f64,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// No attack reached more than is claimed, for the inputs that were tried.
    Holds,
    /// One did.
    Broken,
    /// No attack with so many samples could have reached it.
    Inconclusive,
    /// There is no claim to attack.
    NothingClaimed,
    /// There is a claim, and no attack here for it.
    NotAttacked,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Holds => "holds for the inputs that were tried",
            Self::Broken => "BROKEN",
            Self::Inconclusive => "inconclusive",
            Self::NothingClaimed => "claims nothing",
            Self::NotAttacked => "not attacked",
        })
    }
}

impl Finding {
    /// What is to be found out of a claim.
    pub(crate) fn about(mechanism: &str, claim: impl fmt::Display, effort: Effort) -> Self {
        Self {
            mechanism: mechanism.into(),
            claim: claim.to_string(),
            measure: Measure::Epsilon,
            claimed: None,
            lower_bound: None,
            confidence: 1.0 - effort.false_alarm,
            mu_claimed: None,
            mu_shown: None,
            coupled: None,
            pairs: 0,
            samples: 0,
            verdict: Verdict::NotAttacked,
            profile: vec![],
            because: String::new(),
        }
    }

    /// The distinguishing advantage, at least, for the two inputs that are easiest to distinguish: δ(0), the distance of the two distributions in
    /// total variation. None where no differential privacy was attacked, or a claim of it that has a δ and no profile, of which no more is
    /// asked than that.
    pub fn advantage(&self) -> Option<f64> {
        self.profile.iter().find(|point| point.epsilon == 0.0).map(|point| point.lower_bound)
    }

    /// Why nothing was attacked.
    pub(crate) fn unattacked(self, verdict: Verdict, because: &str) -> Self {
        Self { verdict, because: because.into(), ..self }
    }
}

/// The finding in a sentence.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Broken => {
                write!(
                    formatter,
                    "{} claims {}, and that is broken: {}",
                    self.mechanism, self.claim, self.because
                )
            }
            Verdict::Holds | Verdict::Inconclusive => {
                write!(formatter, "{} claims {}: {}", self.mechanism, self.claim, self.because)
            }
            _ => write!(formatter, "{}: {}", self.mechanism, self.because),
        }
    }
}

/// Claims that are refuted.
#[derive(Clone, PartialEq)]
pub struct Broken {
    findings: Vec<Finding>,
}

impl Broken {
    /// The broken ones among these findings, where there are any.
    ///
    /// # Errors
    /// The broken ones.
    pub fn among(findings: &[Finding]) -> Result<(), Self> {
        let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
        let findings: Vec<Finding> = broken.cloned().collect();
        if findings.is_empty() { Ok(()) } else { Err(Self { findings }) }
    }

    /// What was found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentences: Vec<String> = self.findings.iter().map(Finding::to_string).collect();
        formatter.write_str(&sentences.join("\n"))
    }
}

/// As displayed, so that `unwrap` shows it.
impl fmt::Debug for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Broken {}
