//! Texts of guarantees. A *card* is a guarantee in words, under headings, that a person reads.

use crate::number::{AtLeast, Significant};
use crate::{
    CentralDp, Claim, Guarantee, Holder, LocalDp, MetricDp, NUMBER_OF_RECORDS, Neighbours, Notion, Prior,
    PrivacyProfile, ShapedBy, ShuffledDp, Unit, shown,
};
use std::borrow::Cow;
use std::fmt;

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Record => "the whole record",
            Self::Features => "the features (not the label)",
            Self::Label => "the label (label DP)",
            Self::Volunteer => "each volunteer's record",
        })
    }
}

/// Remark that a card adds to statements about the volunteers whose records shaped a design. Only the
/// designer, who had these records, can check such statements.
pub const AS_STATED: &str = "as stated by the designer; not checked";

impl fmt::Display for Claim {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {}", self.notion, self.protects)
    }
}

impl fmt::Display for Notion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let budget = self.budget().unwrap_or_default();
        match self {
            Self::LocalDp(_) => write!(formatter, "{budget} local differential privacy"),
            Self::CentralDp(dp) => {
                write!(formatter, "{budget} central differential privacy ({})", dp.neighbours)?;
                match dp.held_by {
                    Holder::Curator => Ok(()),
                    Holder::TwoServers => formatter.write_str(" while one of two servers is honest,"),
                }
            }
            Self::ShuffledDp(dp) => write!(
                formatter,
                "{budget} central differential privacy ({}) through a trusted shuffler, which mixes the \
                 reports of at least {} people, hides their senders and forwards nothing else,",
                dp.neighbours, dp.people
            ),
            Self::MetricDp(metric) => write!(
                formatter,
                "{budget} metric privacy ({}, by a distance of at most {} of {})",
                metric.dp.neighbours,
                Significant(metric.distance),
                Significant(metric.diameter)
            ),
            Self::CramerRao(bound) => write!(
                formatter,
                "squared error of at least {} for every unbiased reconstruction",
                AtLeast(bound.error())
            ),
            Self::PacResistance(pac) if pac.budget < 1.0 => {
                formatter.write_str("NO resistance to recovery (the budget is below one sample)")
            }
            Self::PacResistance(pac) if pac.spent > pac.budget => write!(
                formatter,
                "NO resistance to recovery any more ({} samples are spent of a budget of {})",
                pac.spent, pac.budget
            ),
            Self::PacResistance(pac) => write!(
                formatter,
                "no recovery within {} with probability at least {} if records are independent and normal \
                 ({} of {} samples spent)",
                pac.error,
                1.0 - pac.confidence_gap,
                pac.spent,
                pac.budget
            ),
            Self::AmbiguitySet(set) => write!(formatter, "the same output distribution for {}", set.members),
            Self::PerfectSecrecy(_) => formatter.write_str("perfect secrecy"),
            Self::MutualInformation(bound) => write!(
                formatter,
                "mutual information of at most {} nats between the release and {},",
                Significant(bound.nats),
                bound.prior
            ),
        }
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Halves { sets } => write!(formatter, "the choice of one of {sets} random halves"),
        }
    }
}

impl Claim {
    /// Information that an adversary may learn although the claim holds, in words.
    pub fn may_learn(&self) -> String {
        let words = self.notion.may_learn();
        // The rest of the record is released as the guarantee says, and may disclose something about the
        // protected part.
        match self.protects {
            Unit::Features => format!(
                "To an adversary who knows the label: {words} What the label reveals about the features is \
                 not hidden."
            ),
            Unit::Label => format!(
                "To an adversary who knows the features: {words} What the features reveal about the label is \
                 not hidden."
            ),
            // The claim for a volunteer is about the design, which is published before any release.
            Unit::Volunteer => format!(
                "About a volunteer who shaped the design, from the design: {words} A release of the \
                 volunteer's own record adds the ε of that release."
            ),
            _ => words,
        }
    }

    /// Adversaries against which the claim is proven, and conditions of the proof, in words. A claim for
    /// volunteers depends on trust in the designer, because a design does not show how it was made from the
    /// volunteers' records.
    pub fn how_sure(&self) -> &'static str {
        match self.protects {
            Unit::Volunteer => {
                "Depends on trust in the designer, who states how the design was made. The statement cannot \
                 be checked."
            }
            _ => self.notion.how_sure(),
        }
    }

    /// Theorem of the claim. For a claim for volunteers, [`AS_STATED`] precedes the theorem.
    fn proof(&self) -> String {
        match self.protects {
            Unit::Volunteer => format!("{AS_STATED}: {}", self.theorem),
            _ => self.theorem.clone(),
        }
    }

    /// Reason why the claim guarantees nothing, in words; `None` if it guarantees something. Reasons are an
    /// infinite ε, a δ of one, and a lower bound of zero on the reconstruction error. A
    /// [`PacResistance`](crate::PacResistance) guarantees nothing if more samples were released than its
    /// budget, or if the budget is below one sample. A bound on mutual information guarantees nothing if an
    /// adversary may be certain whether a record was used. Code that displays a claim must display this
    /// warning in place of the claim, or before it.
    ///
    /// ```
    /// use scumble_core::{Claim, Notion, PacResistance, Unit};
    ///
    /// let of = |spent| Claim {
    ///     notion: Notion::PacResistance(PacResistance {
    ///         error: 0.001,
    ///         confidence_gap: 0.1,
    ///         budget: 99.0,
    ///         spent,
    ///     }),
    ///     protects: Unit::Record,
    ///     theorem: "Corollary 1".into(),
    /// };
    /// assert_eq!(of(99.0).warning(), None);
    /// assert_eq!(
    ///     of(100.0).warning().unwrap(),
    ///     "100 samples are spent of a budget of 99, so the guarantee has ended"
    /// );
    /// ```
    pub fn warning(&self) -> Option<String> {
        self.notion.warning()
    }

    /// Text of the claim, or of its warning if it has one.
    fn or_warning(&self) -> String {
        match self.warning() {
            Some(warning) => format!("WARNING: {} for {}: {warning}", self.notion.name(), self.protects),
            None => self.to_string(),
        }
    }
}

impl Notion {
    /// Text of ε, or of ε and δ if δ is not zero; `None` for a notion that has neither.
    pub(crate) fn budget(&self) -> Option<String> {
        let (epsilon, delta) = match self {
            Self::LocalDp(dp) => (dp.epsilon, dp.delta),
            Self::CentralDp(dp) => (dp.epsilon, dp.delta),
            Self::ShuffledDp(dp) => (dp.epsilon, dp.delta),
            Self::MetricDp(metric) => (metric.dp.epsilon, metric.dp.delta),
            _ => return None,
        };
        Some(match delta {
            0.0 => format!("ε = {}", Significant(epsilon)),
            delta => format!("(ε, δ) = ({}, {delta:e})", Significant(epsilon)),
        })
    }

    /// Information that an adversary may learn about the protected person although the claim of this notion
    /// holds, in words.
    fn may_learn(&self) -> String {
        match self {
            Self::LocalDp(dp) => match (dp.delta, dp.profile) {
                (0.0, None) => format!(
                    "A release changes the odds between any two values at most {}.{}",
                    fold(dp.epsilon),
                    guess(dp)
                ),
                (delta, profile) => format!(
                    "No release is more than {} as likely for one value as for another, plus a probability \
                     of {delta:e}.{}{}",
                    fold(dp.epsilon),
                    profile.map_or(String::new(), |profile| along(profile, dp.epsilon)),
                    guess(dp)
                ),
            },
            Self::CentralDp(dp) => central_statement(dp),
            Self::ShuffledDp(dp) => format!(
                "No output of the shuffler is more than {} as likely for one value of a given record as for \
                 another, plus a probability of {:e}. The presence of the record among the data is not \
                 hidden. The shuffler, and anyone with a report before the shuffler mixes it, may learn what \
                 the local claim allows.",
                fold(dp.epsilon),
                dp.delta
            ),
            Self::MetricDp(metric) => format!(
                "For values within an ℓ₂ distance of {}, in units of the encoded record: {} Values at \
                 opposite ends of the domain are {} times as far apart. For them the factor may be {}, and \
                 the probability is larger.",
                Significant(metric.distance),
                central_statement(&metric.dp),
                Significant(metric.diameter / metric.distance),
                fold(metric.steps() * metric.dp.epsilon)
            ),
            Self::CramerRao(bound) => format!(
                "The record, with a mean squared error of at least {} if the adversary's estimator is \
                 unbiased.",
                AtLeast(bound.error())
            ),
            Self::PacResistance(pac) if pac.budget < 1.0 => {
                "All of the record: the budget is below one sample.".into()
            }
            Self::PacResistance(pac) if pac.spent > pac.budget => {
                "All of the record: the budget is spent.".into()
            }
            Self::PacResistance(pac) => format!(
                "If records are independent and normal: a mixed record within {}, with a probability below \
                 {}. The claim does not cover records with bounds.",
                pac.error,
                1.0 - pac.confidence_gap
            ),
            Self::AmbiguitySet(_) => {
                "That the record is in the set, but not which member of the set it is.".into()
            }
            Self::PerfectSecrecy(_) => "Nothing about what is protected.".into(),
            Self::MutualInformation(bound) => {
                let [member, half] = [bound.prior.membership(), bound.prior.set()].map(|prior| {
                    let [before, after] =
                        [prior, bound.success(prior)].map(|share| Significant(100.0 * share));
                    format!("in at most {after} % of cases, and in {before} % without the release")
                });
                format!(
                    "Whether a given record is in the chosen half: a guess is right {member}. Which half was \
                     chosen: a guess is right {half}. Both are averages over the choice; one particular half \
                     may be revealed with certainty. The presence of a record in the whole table is not \
                     hidden: a release may show it for a person unlike all others."
                )
            }
        }
    }

    /// Reason why the notion guarantees nothing, in words; `None` if it guarantees something.
    fn warning(&self) -> Option<String> {
        match self {
            Self::LocalDp(LocalDp { epsilon, delta, .. })
            | Self::CentralDp(CentralDp { epsilon, delta, .. })
            | Self::MetricDp(MetricDp { dp: CentralDp { epsilon, delta, .. }, .. })
            | Self::ShuffledDp(ShuffledDp { epsilon, delta, .. }) => (!epsilon.is_finite() || *delta >= 1.0)
                .then(|| {
                    format!("{} is vacuous: any disclosure is possible", self.budget().unwrap_or_default())
                }),
            Self::CramerRao(bound) => (bound.error() <= 0.0)
                .then(|| "a squared error of zero is vacuous: full disclosure is possible".into()),
            Self::PacResistance(pac) if pac.budget < 1.0 => {
                Some("the budget is vacuous: the theorem does not allow a single sample".into())
            }
            Self::PacResistance(pac) if pac.spent > pac.budget => Some(format!(
                "{} samples are spent of a budget of {}, so the guarantee has ended",
                pac.spent, pac.budget
            )),
            Self::MutualInformation(bound) => (bound.success(bound.prior.membership()) >= 1.0).then(|| {
                format!(
                    "{} nats are vacuous: membership may be revealed with certainty",
                    Significant(bound.nats)
                )
            }),
            Self::PacResistance(_) | Self::AmbiguitySet(_) | Self::PerfectSecrecy(_) => None,
        }
    }

    /// Name of the notion.
    fn name(&self) -> &'static str {
        match self {
            Self::LocalDp(_) => "local differential privacy",
            Self::CentralDp(_) => "central differential privacy",
            Self::ShuffledDp(_) => "central differential privacy through a shuffler",
            Self::MetricDp(_) => "metric privacy",
            Self::CramerRao(_) => "error of reconstruction",
            Self::PacResistance(_) => "resistance to recovery",
            Self::AmbiguitySet(_) => "ambiguity",
            Self::PerfectSecrecy(_) => "perfect secrecy",
            Self::MutualInformation(_) => "mutual information",
        }
    }

    /// Adversaries against which claims of the notion are proven, conditions of the proofs, and cases that
    /// the proofs do not cover.
    fn how_sure(&self) -> &'static str {
        match self {
            Self::CentralDp(CentralDp { held_by: Holder::TwoServers, .. }) => {
                "Proven for every adversary that sees the release, whatever else it knows and computes, if \
                 the assumptions hold. Against one of the servers, proven for every adversary that cannot \
                 break the encryption."
            }
            Self::LocalDp(_) | Self::CentralDp(_) | Self::PerfectSecrecy(_) => {
                "Proven for every adversary, whatever else it knows and computes, if the assumptions hold."
            }
            Self::ShuffledDp(_) => {
                "Proven for every adversary that sees only the shuffler's output, whatever else it knows and \
                 computes, if the assumptions hold. If the shuffler reveals the senders, only the local \
                 claim remains."
            }
            Self::MetricDp(_) => {
                "Proven for every adversary, whatever else it knows and computes, if the assumptions hold, \
                 and only between values within the distance. This is not differential privacy."
            }
            Self::AmbiguitySet(_) => {
                "Proven for every adversary that knows nothing else about the record. Other knowledge may \
                 leave a single member."
            }
            Self::CramerRao(_) => {
                "Proven on average, for an adversary who knows no other record. A biased estimate may come \
                 closer, and so may an adversary who knows other records. This is not differential privacy."
            }
            Self::MutualInformation(_) => {
                "Proven for every adversary, even one who knows all records but not the chosen half, on \
                 average over the choice. This is not differential privacy: the bound does not compare the \
                 table with a table in which one record is missing or replaced."
            }
            Self::PacResistance(_) => {
                "For independent normal records only, while the budget lasts. Records with bounds are not \
                 normal: for them it is a calculation, not a proof. An adversary may succeed with a smaller \
                 probability, and may learn a part of the record. This is not differential privacy."
            }
        }
    }
}

/// Information that an adversary may learn about one record of a data set, in words. The text depends on the
/// neighbouring relation.
fn central_statement(dp: &CentralDp) -> String {
    let odds = fold(dp.epsilon);
    match (dp.neighbours, dp.delta) {
        (Neighbours::AddOrRemoveOne, 0.0) => {
            format!("A release changes the odds that a given record was among the data at most {odds}.")
        }
        (Neighbours::AddOrRemoveOne, delta) => format!(
            "No release is more than {odds} as likely with a given record among the data as without it, plus \
             a probability of {delta:e}."
        ),
        (Neighbours::ReplaceOne, 0.0) => {
            format!(
                "A release changes the odds between any two values of a given record at most {odds}. The \
                 presence of the record among the data is not hidden."
            )
        }
        (Neighbours::ReplaceOne, delta) => format!(
            "No release is more than {odds} as likely for one value of a given record as for another, plus a \
             probability of {delta:e}. The presence of the record among the data is not hidden."
        ),
    }
}

/// Text of the factor e^ε, with the ending "-fold".
fn fold(epsilon: f64) -> String {
    match epsilon.exp() {
        f64::INFINITY => format!("e^{}-fold", Significant(epsilon)),
        // Print four significant digits of e^ε − 1.
        _ if (1e-9..0.1).contains(&epsilon) => {
            let digits = 3 - epsilon.exp_m1().log10().floor() as i32;
            let unit = 10f64.powi(digits);
            format!("{:.*}-fold", digits as usize, 1.0 + (epsilon.exp_m1() * unit).ceil() / unit)
        }
        odds => format!("{}-fold", Significant(odds)),
    }
}

/// Upper bound, in words, on the success rate of a guess which of two equally likely values a record has. The
/// bound is (1 + d)/2, where d bounds the total variation distance between the outputs for the two values. d
/// is (e^ε − 1 + 2δ)/(e^ε + 1) (Kairouz, Oh and Viswanath 2015), or δ(0) of the privacy profile if this is
/// smaller.
fn guess(dp: &LocalDp) -> String {
    let odds = (-dp.epsilon).exp();
    let difference = (1.0 - odds + 2.0 * dp.delta * odds) / (1.0 + odds);
    let difference = dp.profile.map_or(difference, |profile| difference.min(profile.delta(0.0)));
    let percent = 50.0 * (1.0 + difference);
    if dp.epsilon.exp() == f64::INFINITY || percent > 99.995 {
        return " This ε gives no meaningful protection.".into();
    }
    format!(
        " Between two equally likely values, a guess is right in at most {} % of cases.",
        Significant(percent)
    )
}

/// Points of the privacy profile δ(ε) at a quarter, half and twice the claimed `epsilon`, in words.
fn along(profile: PrivacyProfile, epsilon: f64) -> String {
    let points = [0.25, 0.5, 2.0].map(|factor| factor * epsilon);
    // A δ of one half gives no meaningful protection.
    let points = points.into_iter().filter(|at| profile.delta(*at) < 0.5);
    let points: Vec<String> =
        points.map(|at| format!("{} plus {}", fold(at), Upward(profile.delta(at)))).collect();
    if points.is_empty() {
        return String::new();
    }
    format!(" Further points of the privacy profile: {}.", points.join(", "))
}

/// Probability with two significant digits, rounded up.
struct Upward(f64);

impl fmt::Display for Upward {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e-300 {
            return formatter.write_str("less than 1e-300");
        }
        let unit = 10f64.powf(self.0.log10().floor() - 1.0);
        write!(formatter, "{:.1e}", (self.0 / unit).ceil() * unit)
    }
}

impl Guarantee {
    /// Claims for the released records, on one line. The line lists only the claims for whole records if
    /// there are any. Otherwise it lists the claims for the features and for the label. The warning of a
    /// claim that guarantees nothing replaces the claim.
    pub fn summary(&self) -> String {
        let claims: Vec<&Claim> = self.claims_for_records().collect();
        match (claims.is_empty(), self.each_release.is_empty()) {
            (true, true) => return "no claim".into(),
            (true, false) => return "no claim before the records are seen".into(),
            (false, _) => {}
        }
        let whole: Vec<&Claim> =
            claims.iter().copied().filter(|claim| claim.protects == Unit::Record).collect();
        let summarised = if whole.is_empty() { claims } else { whole };
        let lines: Vec<String> = summarised.into_iter().map(Claim::or_warning).collect();
        shown(&self.of_whom(lines.join("; "))).into_owned()
    }

    /// The words of a claim, about people if several records of a person may count.
    pub(crate) fn of_whom(&self, words: String) -> String {
        const OF_PEOPLE: [(&str, &str); 6] = [
            ("the whole record", "all records of a person"),
            ("one record)", "one person)"),
            ("differ in one record", "differ in one person"),
            ("a given record", "the records of a given person"),
            ("presence of the record", "presence of the person"),
            (NUMBER_OF_RECORDS, "the number of people"),
        ];
        if self.records_per_person.is_none() {
            return words;
        }
        OF_PEOPLE.iter().fold(words, |words, (record, person)| words.replace(record, person))
    }

    /// Warnings, one for each claim that guarantees nothing.
    pub fn warnings(&self) -> Vec<String> {
        self.claims.iter().filter_map(Claim::warning).collect()
    }

    /// Card, as pairs of a heading and a text. The headings are `WARNING`, `guarantee`, `may learn`, `how
    /// sure`, `proof`, `discloses`, `assumes` and `holds`. A heading may occur several times.
    pub fn card(&self) -> Vec<(&'static str, String)> {
        let mut card = vec![];
        card.extend(self.each_release.iter().map(|guarantee| ("guarantee", guarantee.clone())));
        if card.is_empty() && self.claims_for_records().next().is_none() {
            let to_whom = if self.claims.is_empty() {
                "nothing"
            } else {
                "nothing for the people whose records are released"
            };
            card.push(("guarantee", to_whom.into()));
            card.push(("may learn", "Everything that is disclosed below.".into()));
        }
        for claim in &self.claims {
            card.extend(claim.warning().map(|warning| ("WARNING", warning)));
            card.push(("guarantee", claim.to_string()));
            card.push(("may learn", claim.may_learn()));
            card.push(("how sure", claim.how_sure().into()));
            card.push(("proof", claim.proof()));
        }
        card.extend(self.discloses.iter().map(|disclosed| ("discloses", disclosed.clone())));
        card.extend(self.assumes.iter().map(|assumed| ("assumes", assumed.clone())));
        if self.shaped_by != ShapedBy::PublicKnowledge {
            let whose = match self.shaped_by {
                ShapedBy::PublicVolunteers => "public",
                ShapedBy::ConsentingVolunteers => "consenting volunteers'",
                _ => "private volunteers'",
            };
            let theirs = if self.protects_volunteers() {
                "the central claim above is the only one for these people, and releases of their own records \
                 add to it"
            } else {
                "no claim for the people whose records shaped it"
            };
            card.push((
                "holds",
                format!("given the design, which {whose} data shaped ({AS_STATED}); {theirs}"),
            ));
        }
        for (_, words) in &mut card {
            *words = self.of_whom(std::mem::take(words));
            if let Cow::Owned(seen) = shown(words) {
                *words = seen;
            }
        }
        card
    }
}

/// Prints the card, one line per heading.
impl fmt::Display for Guarantee {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.card().iter().try_for_each(|(heading, words)| writeln!(formatter, "{heading:<11}{words}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CramerRao, MutualInformation, PacResistance};

    #[test]
    fn a_guess_is_no_better_than_randomised_response_or_the_profile_allows() {
        assert!(guess(&LocalDp::pure(1.0)).contains(" 73.11 % "), "{}", guess(&LocalDp::pure(1.0)));
        assert!(guess(&LocalDp::new(1.0, 0.01)).contains(" 73.38 % "));
        let profile = PrivacyProfile::gaussian(0.25, 0.0, 0.0);
        assert!(guess(&LocalDp::new(1.0, profile.delta(1.0)).along(profile)).contains(" 54.98 % "));
        assert!(guess(&LocalDp::pure(40.0)).contains("no meaningful protection"));
    }

    #[test]
    fn what_guarantees_nothing_after_all_is_a_warning_on_the_card_and_in_the_summary() {
        let pac = |budget, spent| {
            Notion::PacResistance(PacResistance { error: 0.001, confidence_gap: 0.1, budget, spent })
        };
        let error = |information| {
            let information = [("a".to_owned(), information)].into();
            Notion::CramerRao(CramerRao { information, joint: None })
        };
        // ln 2 = 0.693… nats disclose a coin toss with certainty.
        let nats = |nats| Notion::MutualInformation(MutualInformation::new(nats, Prior::Halves { sets: 8 }));
        let guarantee = |notion: Notion| Guarantee {
            claims: vec![Claim { notion, protects: Unit::Record, theorem: "a theorem".into() }],
            ..Guarantee::default()
        };
        for (notion, why) in [
            (pac(3.0, 4.0), "4 samples are spent of a budget of 3"),
            (pac(0.0, 1.0), "the budget is vacuous: the theorem does not allow a single sample"),
            (Notion::LocalDp(LocalDp::pure(f64::INFINITY)), "ε = inf is vacuous"),
            (Notion::LocalDp(LocalDp::new(1.0, 1.0)), "(ε, δ) = (1, 1e0) is vacuous"),
            (error(f64::INFINITY), "a squared error of zero is vacuous"),
            (nats(0.7), "0.7 nats are vacuous"),
        ] {
            let guarantee = guarantee(notion);
            let card = guarantee.to_string();
            assert!(card.starts_with("WARNING    ") && card.contains(why), "{card}");
            let summary = guarantee.summary();
            assert!(summary.starts_with("WARNING: ") && summary.contains(why), "{summary}");
            let json = guarantee.to_json();
            assert!(json["claims"][0]["warning"].as_str().unwrap().contains(why), "{json}");
            assert_eq!(json["warnings"], serde_json::json!(guarantee.warnings()));
        }
        for notion in [
            pac(3.0, 3.0),
            pac(f64::INFINITY, 3.0),
            Notion::LocalDp(LocalDp::new(40.0, 0.9)),
            Notion::PerfectSecrecy(crate::PerfectSecrecy {}),
            error(1e9),
            nats(0.69),
        ] {
            let guarantee = guarantee(notion);
            assert!(!guarantee.to_string().contains("WARNING"), "{guarantee}");
            assert!(guarantee.warnings().is_empty() && !guarantee.summary().contains("WARNING"));
            assert_eq!(guarantee.to_json()["claims"][0]["warning"], serde_json::Value::Null);
        }
    }

    /// 1/128 nats: 56.24 % for a coin toss. For one set in 128, the solution of KL(s ‖ 1/128) = 1/128 is
    /// 2.1145 %, found by bisection elsewhere.
    #[test]
    fn the_card_of_mutual_information_speaks_of_averages_and_of_no_epsilon() {
        let bound = MutualInformation::new(1.0 / 128.0, Prior::Halves { sets: 128 });
        let guarantee = Guarantee::for_records([(Notion::MutualInformation(bound), "a theorem".into())]);
        let card = guarantee.to_string();
        assert!(!card.contains('ε') && card.contains("not differential privacy"), "{card}");
        assert!(card.contains("56.25 % of cases") && card.contains("in at most 2.115 %"), "{card}");
        assert!(card.contains("at most 0.007813 nats between the release and the choice"), "{card}");
        assert!(card.contains("the choice of one of 128 random halves"), "{card}");
        assert_eq!((guarantee.epsilon(), guarantee.has_dp()), (None, false));
        let text = serde_json::to_string(&guarantee).unwrap();
        assert!(
            text.contains(
                r#""notion":"mutual-information","nats":0.0078125,"prior":{"of":"halves","sets":128}"#
            ),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Guarantee>(&text).unwrap(), guarantee);
    }

    #[test]
    fn what_is_learned_of_one_record_among_many_depends_on_which_data_sets_are_neighbours() {
        let words = |delta, neighbours| Notion::CentralDp(CentralDp::new(1.0, delta, neighbours)).may_learn();
        for delta in [0.0, 1e-6] {
            let added = words(delta, Neighbours::AddOrRemoveOne);
            assert!(added.contains("among the data") && !added.contains("value"), "{added}");
            let replaced = words(delta, Neighbours::ReplaceOne);
            assert!(replaced.contains("of a given record") && replaced.contains("value"), "{replaced}");
            assert!(!replaced.contains("without it"), "{replaced}");
        }
    }

    #[test]
    fn a_delta_is_added_and_a_profile_is_shown_with_its_numbers_rounded_up() {
        let profile = PrivacyProfile::gaussian(0.25, 0.0, 0.0);
        let dp = LocalDp::new(1.0, profile.delta(1.0)).along(profile);
        let words = Notion::LocalDp(dp).may_learn();
        assert!(
            words.contains("plus a probability of 2.92") && words.contains("1.285-fold plus 2.4e-2"),
            "{words}"
        );
        assert_eq!(Upward(0.01001).to_string(), "1.1e-2");
        assert_eq!(Upward(0.01).to_string(), "1.0e-2");
        assert_eq!(Upward(0.0).to_string(), "less than 1e-300");
    }
}
