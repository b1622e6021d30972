//! Findings of attacks.

use crate::Effort;
use serde::Serialize;
use std::fmt;

/// Result of an attack on one claim: the claimed bound, and the audited lower bound.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Name of the mechanism.
    pub mechanism: String,
    /// The claim, in words.
    pub claim: String,
    /// Quantity and unit of `claimed` and `lower_bound`.
    pub measure: Measure,
    /// Upper bound on the adversary's result, according to the claim.
    pub claimed: Option<f64>,
    /// Audited lower bound at `confidence`; `None` if nothing was attacked.
    pub lower_bound: Option<f64>,
    /// Probability that no bound of this finding is above the truth.
    pub confidence: f64,
    /// μ of Gaussian differential privacy that the claimed privacy profile implies; `None` if the claim has
    /// no profile.
    pub mu_claimed: Option<f64>,
    /// Audited lower bound on μ at `confidence`; `None` if the claim has no profile.
    pub mu_shown: Option<f64>,
    /// Largest distance between the encoded points of two records of a local mechanism, as declared and as
    /// found. `None` for curators, and for mechanisms that state neither their noise nor a likelihood.
    pub coupled: Option<Coupled>,
    /// Number of pairs of inputs that were attacked, by samples and by whole releases.
    pub pairs: usize,
    /// Number of releases of each input in the longest attack. An attack ends when it refutes the claim.
    pub samples: usize,
    /// Verdict on the claim, for the inputs that were tried.
    pub verdict: Verdict,
    /// Points of the privacy profile δ(ε), if the claim implies any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profile: Vec<ProfilePoint>,
    /// Sentence on how the adversary got its result, or why nothing was attacked.
    pub because: String,
}

/// Quantity that a finding measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Measure {
    /// ε, in nats.
    Epsilon,
    /// Reciprocal of the mean squared error of a reconstruction.
    Precision,
    /// Probability of recovering a record.
    Success,
    /// Mutual information, in nats.
    Nats,
}

/// Distance between the encoded points of two records, relative to the noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coupled {
    /// Unit of both distances.
    pub unit: CoupledUnit,
    /// Largest distance that the mechanism declares.
    pub declared: f64,
    /// Largest distance found, by pairs that were perturbed with the same random numbers.
    pub found: f64,
}

/// Unit of distances relative to the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CoupledUnit {
    /// ε, in nats: ℓ₁ distance divided by the scale of the noise, or the privacy loss by the stated
    /// likelihood.
    Epsilon,
    /// μ: ℓ₂ distance divided by the standard deviation of Gaussian noise.
    Mu,
    /// Standard deviations, for noise whose privacy loss does not follow from a distance.
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

/// Point of a privacy profile δ(ε): the claimed δ and the audited lower bound at one ε.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfilePoint {
    /// ε, in nats.
    pub epsilon: f64,
    /// Claimed δ at this ε.
    pub claimed: f64,
    /// Audited lower bound on δ at this ε.
    pub lower_bound: f64,
}

/// Verdict on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// No attack exceeded the claim, for the inputs that were tried.
    Holds,
    /// An attack exceeded the claim.
    Broken,
    /// No attack with this number of samples could have reached the claim.
    Inconclusive,
    /// There is no claim to attack.
    NothingClaimed,
    /// The claim was not attacked.
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
    /// Finding on a claim that is not attacked yet.
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

    /// Audited lower bound on the distinguishing advantage for the two inputs that are easiest to
    /// distinguish. It is a lower bound on δ(0), the total variation distance of their output distributions.
    ///
    /// The result is `None` if the claim is not differential privacy, or was not attacked. It is also `None`
    /// for a claim with a δ and no profile, which is only attacked at its own (ε, δ).
    pub fn advantage(&self) -> Option<f64> {
        self.profile.iter().find(|point| point.epsilon == 0.0).map(|point| point.lower_bound)
    }

    /// Finding without an attack, with the reason.
    pub(crate) fn unattacked(self, verdict: Verdict, because: &str) -> Self {
        Self { verdict, because: because.into(), ..self }
    }
}

/// Sentence with the finding.
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Broken => {
                write!(
                    formatter,
                    "{} claims {}, and the claim is broken: {}",
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

/// Refuted claims.
#[derive(Clone, PartialEq)]
pub struct Broken {
    findings: Vec<Finding>,
}

impl Broken {
    /// Collects the findings whose verdict is [`Verdict::Broken`].
    ///
    /// # Errors
    /// These findings, if there are any.
    pub fn among(findings: &[Finding]) -> Result<(), Self> {
        let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
        let findings: Vec<Finding> = broken.cloned().collect();
        if findings.is_empty() { Ok(()) } else { Err(Self { findings }) }
    }

    /// Findings on the refuted claims.
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

/// Same text as `Display`, so that `unwrap` shows it.
impl fmt::Debug for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Broken {}
