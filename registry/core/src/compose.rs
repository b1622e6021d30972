//! Composition rules for guarantees, each with its theorem.
//!
//! The *parts* of a composition are releases, each with its guarantee. The composition claims a notion of
//! privacy for a [`Unit`] of a record (all, the features, or the label) only if *every* part that sees the
//! unit claims the notion. Without a claim of differential privacy for a unit, [`Guarantee::cost`] returns an
//! infinite ε. The composition has the disclosures and assumptions of all parts. Sums of ε and δ are exact
//! and rounded once, upward.

use crate::{
    CentralDp, Claim, CramerRao, Guarantee, LocalDp, MetricDp, MutualInformation, Neighbours, Notion,
    PacResistance, PrivacyProfile, ShapedBy, Unit, sum_up,
};
use std::collections::BTreeMap;
use std::mem::discriminant;

/// Guarantee of several releases of the same records (sequential composition). ε, δ and Fisher information
/// add up. If the parts' local privacy profiles are known, they are composed too, which may give a smaller ε.
/// For [`PacResistance`], the numbers of released samples add up, and the composition has the smallest sample
/// budget of its parts. Perfect secrecy is kept, because parts draw independent randomness. The guarantee
/// also holds if the outputs of earlier parts decide the mechanism of a later part.
///
/// For differential privacy the theorem is Dwork and Roth (2014), Theorem 3.16, or for privacy profiles Dong,
/// Roth and Su (2022), Corollary 3.3.
///
/// ```
/// use scumble_core::{compose, Claim, Guarantee, LocalDp, Notion, Unit};
///
/// let dp = |epsilon| Guarantee {
///     claims: vec![Claim {
///         notion: Notion::LocalDp(LocalDp::pure(epsilon)),
///         protects: Unit::Record,
///         theorem: "the Laplace mechanism".into(),
///     }],
///     ..Guarantee::default()
/// };
/// let both = compose::in_sequence(&[dp(0.5), dp(1.0)]);
/// assert_eq!(both.local_dp(Unit::Record).unwrap().epsilon, 1.5);
///
/// let with_none = compose::in_sequence(&[dp(0.5), Guarantee::default()]);
/// assert_eq!(with_none.local_dp(Unit::Record), None);
/// ```
pub fn in_sequence(parts: &[Guarantee]) -> Guarantee {
    compose(Rule::Sequence, &whole_records(parts))
}

/// Guarantee of releases in sequence, like [`in_sequence`], if each release sees only the [`Scope`] given
/// with it: the features, the label, or both. Examples are releases of different columns, and a release of
/// the features with a release of the labels.
///
/// A release that does not see the label adds nothing to the privacy cost of the label. Every release adds to
/// the privacy cost of the whole record.
pub fn by_parts(parts: &[(Scope, Guarantee)]) -> Guarantee {
    compose(Rule::Sequence, parts)
}

/// Guarantee of one release for each group of a partition of the records (parallel composition, McSherry
/// 2009, Theorem 4).
///
/// If the partition was fixed in advance, the composition has the largest ε and the largest δ of the
/// releases. If the records' values decide their groups, a replaced record may leave one group and enter
/// another, which changes the sizes of both. Claims for [`Neighbours::ReplaceOne`] are then lost, and claims
/// for [`Neighbours::AddOrRemoveOne`] keep the largest ε and δ. Local claims are then lost too, because the
/// group of a record discloses information about its value. Notions other than differential privacy compose
/// as in [`in_sequence`] if the partition was fixed, and are lost if values decide the partition.
///
/// Claims for volunteers, people whose records shaped the designs, compose as in [`in_sequence`] for any
/// partition of the released records.
pub fn in_parallel(parts: &[Guarantee], partition: Partition) -> Guarantee {
    let mut whole = compose(Rule::Parallel(partition), &whole_records(parts));
    match partition {
        Partition::FixedInAdvance => {
            whole.assumes.push("the partition was fixed before anybody saw a record".into());
        }
        Partition::ByValue => whole.discloses.push("the part that holds each record".into()),
    }
    whole
}

/// Part of a record that a mechanism sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// True if the mechanism sees some or all features.
    pub features: bool,
    /// True if the mechanism sees the target.
    pub label: bool,
}

impl Scope {
    pub(crate) fn sees(self, unit: Unit) -> bool {
        match unit {
            Unit::Record => self.features || self.label,
            Unit::Features => self.features,
            Unit::Label => self.label,
            Unit::Volunteer => true,
        }
    }

    /// Returns whether a claim for the unit `claimed` covers everything of `unit` that a mechanism of this
    /// scope sees.
    fn covers(self, claimed: Unit, unit: Unit) -> bool {
        match (claimed, unit) {
            (Unit::Volunteer, _) | (_, Unit::Volunteer) => claimed == unit,
            (Unit::Record, _) => true,
            (Unit::Features, _) => !self.label || unit == Unit::Features,
            (Unit::Label, _) => !self.features || unit == Unit::Label,
        }
    }
}

/// Assignment of records to the parts of a parallel composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// Fixed before anybody saw a record, by row or by public information.
    FixedInAdvance,
    /// Decided by the records' own values.
    ByValue,
}

#[derive(Clone, Copy)]
enum Rule {
    Sequence,
    Parallel(Partition),
}

impl Rule {
    /// Maximum number of parts whose privacy costs add up if one record changes; `None` if the composition
    /// cannot claim the notion.
    fn reach(self, notion: &Notion) -> Option<usize> {
        let Self::Parallel(partition) = self else {
            return Some(usize::MAX);
        };
        match (partition, notion) {
            (Partition::FixedInAdvance, Notion::LocalDp(_) | Notion::CentralDp(_)) => Some(1),
            (Partition::FixedInAdvance, _) => Some(usize::MAX),
            (
                Partition::ByValue,
                Notion::CentralDp(CentralDp { neighbours: Neighbours::AddOrRemoveOne, .. }),
            ) => Some(1),
            (Partition::ByValue, _) => None,
        }
    }
}

fn whole_records(parts: &[Guarantee]) -> Vec<(Scope, Guarantee)> {
    let record = Scope { features: true, label: true };
    parts.iter().map(|part| (record, part.clone())).collect()
}

fn compose(rule: Rule, parts: &[(Scope, Guarantee)]) -> Guarantee {
    let mut whole = Guarantee { claims: claims_for(Unit::Record, rule, parts), ..Guarantee::default() };
    for unit in [Unit::Features, Unit::Label] {
        let mut narrower = claims_for(unit, rule, parts);
        // Skip a claim that a claim for the whole record already implies.
        let implies =
            |w: &Claim, claim: &Claim| w.protects.covers(unit) && is_no_weaker(&w.notion, &claim.notion);
        narrower.retain(|claim| !whole.claims.iter().any(|w| implies(w, claim)));
        whole.claims.extend(narrower);
    }
    whole.claims.extend(claims_for(Unit::Volunteer, Rule::Sequence, parts));
    let counts_samples = |claim: &Claim| matches!(claim.notion, Notion::PacResistance(_));
    if parts.len() > 1 && whole.claims.iter().any(counts_samples) {
        // errata D11 (`papers/errata/dauntless.md`): the theorem of PAC resistance counts samples of fresh
        // records, each used for one sample only.
        whole.assumes.push("no private record went into the samples of more than one part".into());
    }
    if let [(_, only)] = parts {
        whole.each_release = only.each_release.clone(); // unknown for several parts together
    }
    // A part for single records, beside parts for people, holds for people with one record only.
    let counted = parts.iter().map(|(_, part)| part.records_per_person);
    whole.records_per_person = counted.collect::<Option<Vec<_>>>().and_then(|most| most.into_iter().max());
    for (_, part) in parts {
        unite(&mut whole.discloses, &part.discloses);
        unite(&mut whole.assumes, &part.assumes);
        whole.shaped_by = whole.shaped_by.max(part.shaped_by);
    }
    whole
}

fn unite(lines: &mut Vec<String>, more: &[String]) {
    for line in more {
        if !lines.contains(line) {
            lines.push(line.clone());
        }
    }
}

/// Claims of the composition for `unit`. The composition claims a notion only if all parts that may disclose
/// something about `unit` claim it.
fn claims_for(unit: Unit, rule: Rule, parts: &[(Scope, Guarantee)]) -> Vec<Claim> {
    let concerned = parts.iter().filter(|(scope, part)| match unit {
        // A design that no volunteer shaped says nothing about volunteers. A design from public volunteers'
        // records discloses nothing new about them.
        Unit::Volunteer => !matches!(part.shaped_by, ShapedBy::PublicKnowledge | ShapedBy::PublicVolunteers),
        _ => scope.sees(unit),
    });
    // For each concerned part, its claims that cover the unit.
    let covering: Vec<Vec<&Claim>> = concerned
        .map(|(scope, part)| {
            let claims = part.claims.iter();
            claims.filter(|claim| scope.covers(claim.protects, unit)).collect()
        })
        .collect();
    let Some((first, others)) = covering.split_first() else {
        return vec![];
    };
    let survivors = first.iter().filter_map(|template| {
        let mut alike: Vec<&Claim> = vec![template];
        for claims in others {
            alike.push(claims.iter().copied().find(|claim| is_same_kind(&claim.notion, &template.notion))?);
        }
        let (notion, theorem) = match alike[..] {
            [only] => (only.notion.clone(), only.theorem.clone()),
            _ => {
                let notions: Vec<&Notion> = alike.iter().map(|claim| &claim.notion).collect();
                let (notion, theorem) = combine(rule, &notions)?;
                (notion, format!("{theorem}, over {}", enumerate(&alike)))
            }
        };
        Some(Claim { notion, protects: unit, theorem })
    });
    survivors.collect()
}

/// Lists the ε, the δ and the theorem of each claim in `parts`, in words. Identical entries appear once, with
/// the number of their occurrences.
fn enumerate(parts: &[&Claim]) -> String {
    let mut counted: Vec<(String, usize)> = vec![];
    for part in parts {
        let line = match part.notion.budget() {
            Some(budget) => format!("{budget} by {}", part.theorem),
            None => format!("one by {}", part.theorem),
        };
        match counted.iter_mut().find(|(before, _)| *before == line) {
            Some((_, count)) => *count += 1,
            None => counted.push((line, 1)),
        }
    }
    let parts: Vec<String> = counted
        .into_iter()
        .map(|(line, count)| if count == 1 { line } else { format!("{count} times {line}") })
        .collect();
    parts.join(", and ")
}

fn is_same_kind(one: &Notion, other: &Notion) -> bool {
    match (one, other) {
        (Notion::CentralDp(one), Notion::CentralDp(other)) => one.neighbours == other.neighbours,
        (Notion::MetricDp(one), Notion::MetricDp(other)) => one.dp.neighbours == other.dp.neighbours,
        _ => discriminant(one) == discriminant(other),
    }
}

/// Returns whether `one` is of the same kind as `other`. If they are local or central differential privacy,
/// or metric privacy, also requires that neither ε nor δ of `one` is larger. For metric privacy, also
/// requires that the distance of `one` is not smaller.
fn is_no_weaker(one: &Notion, other: &Notion) -> bool {
    if let (Notion::MetricDp(one), Notion::MetricDp(other)) = (one, other)
        && one.distance < other.distance
    {
        return false;
    }
    match (epsilon_and_delta(one), epsilon_and_delta(other)) {
        (Some((epsilon, delta)), Some(weaker)) => {
            is_same_kind(one, other) && epsilon <= weaker.0 && delta <= weaker.1
        }
        _ => is_same_kind(one, other),
    }
}

fn epsilon_and_delta(notion: &Notion) -> Option<(f64, f64)> {
    match notion {
        Notion::LocalDp(dp) => Some((dp.epsilon, dp.delta)),
        Notion::CentralDp(dp) => Some((dp.epsilon, dp.delta)),
        Notion::MetricDp(metric) => Some((metric.dp.epsilon, metric.dp.delta)),
        _ => None,
    }
}

/// Composition of several notions of one kind, with its theorem; `None` if the composition cannot claim the
/// notion.
fn combine(rule: Rule, parts: &[&Notion]) -> Option<(Notion, &'static str)> {
    let reach = rule.reach(parts.first()?)?;
    let addition = match rule {
        Rule::Sequence => "sequential composition, ε and δ add up (Dwork and Roth 2014, Theorem 3.16)",
        Rule::Parallel(_) => "parallel composition (McSherry 2009, Theorem 4)",
    };
    let spent: Vec<(f64, f64)> = parts.iter().filter_map(|notion| epsilon_and_delta(notion)).collect();
    let epsilon = sum_of_largest(reach, spent.iter().map(|s| s.0));
    let delta = sum_of_largest(reach, spent.iter().map(|s| s.1));
    match parts[0] {
        Notion::LocalDp(_) => match curve_of_all(rule, parts) {
            Some(profile) => {
                // At the summed δ of the parts, two values of ε hold: the summed ε of the parts, and the ε of
                // the composed profile.
                let composed = LocalDp::new(epsilon.min(profile.epsilon(delta)), delta).along(profile);
                Some((
                    Notion::LocalDp(composed),
                    "composition of profiles (Dong, Roth and Su 2022, Corollary 3.3)",
                ))
            }
            None => Some((Notion::LocalDp(LocalDp::new(epsilon, delta)), addition)),
        },
        Notion::CentralDp(first) => {
            let composed = CentralDp::new(epsilon, delta, first.neighbours);
            Some((Notion::CentralDp(composed), addition))
        }
        Notion::MetricDp(first) => {
            // A claim holds for values within a smaller distance too.
            let claims = select(parts, |notion| match notion {
                Notion::MetricDp(metric) => Some(metric),
                _ => None,
            });
            let distance = claims.iter().map(|metric| metric.distance).fold(f64::INFINITY, f64::min);
            let diameter = claims.iter().map(|metric| metric.diameter).fold(0.0, f64::hypot);
            let dp = CentralDp::new(epsilon, delta, first.dp.neighbours);
            Some((Notion::MetricDp(MetricDp { dp, distance, diameter }), addition))
        }
        Notion::CramerRao(_) => {
            let bounds = select(parts, |notion| match notion {
                Notion::CramerRao(bound) => Some(bound),
                _ => None,
            });
            let mut information = BTreeMap::new();
            for (column, more) in bounds.iter().flat_map(|bound| &bound.information) {
                let sum: &mut f64 = information.entry(column.clone()).or_default();
                *sum = sum_up([*sum, *more]); // rounded up: more information is less protection
            }
            // Two releases of one column may together disclose it, even if each hides it. The bounds `joint`
            // on the error over all columns are therefore dropped if two parts have a column in common. If no
            // two parts have a common column, the error bounds of the parts add up.
            let known: usize = bounds.iter().map(|bound| bound.information.len()).sum();
            let is_apart = known == information.len() && bounds.iter().any(|bound| bound.joint.is_some());
            let joint = is_apart.then(|| bounds.iter().map(|bound| bound.error()).sum());
            let composed = Notion::CramerRao(CramerRao { information, joint });
            Some((composed, "Fisher information of independent releases adds up"))
        }
        Notion::PacResistance(_) => {
            let resistances = select(parts, |notion| match notion {
                Notion::PacResistance(pac) => Some(pac),
                _ => None,
            });
            let least = |parameter: fn(&PacResistance) -> f64| {
                resistances.iter().map(|pac| parameter(pac)).fold(f64::INFINITY, f64::min)
            };
            let composed = Notion::PacResistance(PacResistance {
                error: least(|pac| pac.error),
                confidence_gap: least(|pac| pac.confidence_gap),
                budget: least(|pac| pac.budget),
                spent: sum_up(resistances.iter().map(|pac| pac.spent)),
            });
            Some((composed, "PAC budgets are spent together"))
        }
        Notion::MutualInformation(first) => {
            let bounds = select(parts, |notion| match notion {
                Notion::MutualInformation(bound) => Some(bound),
                _ => None,
            });
            // Bounds under different priors concern different secrets, so the sum of such bounds bounds
            // nothing.
            let is_one = bounds.iter().all(|bound| bound.prior == first.prior);
            let nats = sum_up(bounds.iter().map(|bound| bound.nats));
            let composed = Notion::MutualInformation(MutualInformation::new(nats, first.prior));
            is_one.then_some((
                composed,
                "the mutual information of releases adds up if each draws a new set, even if earlier \
                 releases determine later ones",
            ))
        }
        Notion::PerfectSecrecy(secrecy) => Some((
            Notion::PerfectSecrecy(*secrecy),
            "outputs with independent randomness are jointly independent of the record",
        )),
        // The theorem for shuffled reports does not cover several releases of one person that are shuffled
        // separately, or along with releases that are not shuffled.
        Notion::ShuffledDp(_) => None,
        // The intersection of two ambiguity sets is smaller, and cannot be derived from their descriptions.
        Notion::AmbiguitySet(_) => None,
    }
}

/// Composed privacy profile of releases in sequence. `None` if the releases are in parallel, if the profile
/// of one of them is unknown, or if all profiles are those of pure differential privacy.
fn curve_of_all(rule: Rule, parts: &[&Notion]) -> Option<PrivacyProfile> {
    let Rule::Sequence = rule else {
        return None;
    };
    let profiles = parts.iter().map(|notion| match notion {
        Notion::LocalDp(dp) => dp.known_profile(),
        _ => None,
    });
    let composed = profiles.reduce(|one, other| Some(one?.with(&other?)))??;
    (!composed.is_pure()).then_some(composed)
}

fn select<'a, T>(parts: &[&'a Notion], read: impl Fn(&'a Notion) -> Option<&'a T>) -> Vec<&'a T> {
    parts.iter().filter_map(|notion| read(notion)).collect()
}

fn sum_of_largest(count: usize, values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(|a, b| b.total_cmp(a));
    sum_up(values.into_iter().take(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AmbiguitySet, PerfectSecrecy};
    use approx::{assert_abs_diff_eq, assert_relative_eq};
    use proptest::prelude::*;

    fn guarantee(notion: Notion, protects: Unit) -> Guarantee {
        Guarantee {
            claims: vec![Claim { notion, protects, theorem: "its own theorem".into() }],
            discloses: vec!["the number of records".into()],
            ..Guarantee::default()
        }
    }

    fn local(epsilon: f64) -> Notion {
        Notion::LocalDp(LocalDp::new(epsilon, 1e-6))
    }

    fn central(epsilon: f64, neighbours: Neighbours) -> Notion {
        Notion::CentralDp(CentralDp::new(epsilon, 0.0, neighbours))
    }

    fn only_notion(guarantee: &Guarantee) -> &Notion {
        assert_eq!(guarantee.claims.len(), 1, "{guarantee}");
        &guarantee.claims[0].notion
    }

    fn gaussian(mu: f64, delta: f64) -> Notion {
        let profile = PrivacyProfile::gaussian(mu, 0.0, 0.0);
        Notion::LocalDp(LocalDp::new(profile.epsilon(delta), delta).along(profile))
    }

    fn local_dp(guarantee: &Guarantee) -> &LocalDp {
        guarantee.local_dp(Unit::Record).unwrap()
    }

    const FEATURES: Scope = Scope { features: true, label: false };
    const LABEL: Scope = Scope { features: false, label: true };

    #[test]
    fn profiles_compose_to_less_than_the_sum() {
        let part = |notion| guarantee(notion, Unit::Record);
        let (one, two) = (part(gaussian(0.3, 1e-6)), part(gaussian(0.4, 1e-6)));
        let both = in_sequence(&[one.clone(), two.clone()]);
        let both = local_dp(&both);
        // μ² = 0.3² + 0.4².
        let closed = scumble_accounting::gaussian::epsilon(0.5, 2e-6).unwrap();
        assert_eq!(both.delta, 2e-6);
        assert_relative_eq!(both.epsilon, closed, max_relative = 1e-6);
        assert!(both.epsilon < local_dp(&one).epsilon + local_dp(&two).epsilon);
        let along = both.profile.unwrap();
        assert_relative_eq!(along.delta(closed), 2e-6, max_relative = 1e-6);
    }

    #[test]
    fn a_pure_part_moves_a_profile_and_a_part_without_one_ends_it() {
        let part = |notion| guarantee(notion, Unit::Record);
        let noisy = part(gaussian(0.5, 1e-6));
        let with_pure = in_sequence(&[noisy.clone(), part(Notion::LocalDp(LocalDp::pure(0.25)))]);
        let expected = local_dp(&noisy).epsilon + 0.25;
        assert_abs_diff_eq!(local_dp(&with_pure).epsilon, expected, epsilon = 1e-12);
        assert!(local_dp(&with_pure).profile.is_some());
        let unknown = in_sequence(&[noisy.clone(), part(local(1.0))]);
        assert_eq!(local_dp(&unknown).profile, None);
        assert_eq!(local_dp(&unknown).delta, 2e-6);
        let parallel = in_parallel(&[noisy.clone(), noisy], Partition::FixedInAdvance);
        assert_eq!(local_dp(&parallel).profile, None);
    }

    #[test]
    fn pure_parts_have_no_profile_to_show() {
        let pure = guarantee(Notion::LocalDp(LocalDp::pure(0.5)), Unit::Record);
        let both = in_sequence(&[pure.clone(), pure]);
        assert_eq!(local_dp(&both), &LocalDp::pure(1.0));
    }

    #[test]
    fn features_with_labels_protect_the_record_at_the_sum() {
        let whole = by_parts(&[
            (FEATURES, guarantee(local(0.25), Unit::Record)),
            (LABEL, guarantee(local(0.5), Unit::Record)),
        ]);
        assert_eq!(whole.local_dp(Unit::Record).unwrap().epsilon, 0.75);
        assert_eq!(whole.local_dp(Unit::Record).unwrap().delta, 2e-6);
        assert_eq!(whole.local_dp(Unit::Label).unwrap().epsilon, 0.5, "the label alone spends less");
        assert_eq!(whole.local_dp(Unit::Features).unwrap().epsilon, 0.25);
        assert_eq!(whole.discloses.len(), 1, "the same disclosure is listed once");
    }

    #[test]
    fn labels_alone_are_protected_where_the_features_are_not() {
        let whole =
            by_parts(&[(FEATURES, Guarantee::default()), (LABEL, guarantee(local(0.5), Unit::Record))]);
        assert_eq!(whole.local_dp(Unit::Record), None);
        assert_eq!(whole.local_dp(Unit::Features), None);
        assert_eq!(whole.local_dp(Unit::Label).unwrap().epsilon, 0.5);
    }

    #[test]
    fn a_claim_for_the_features_is_none_for_a_part_that_sees_the_label_too() {
        let record = Scope { features: true, label: true };
        let whole = by_parts(&[(record, guarantee(local(0.5), Unit::Features))]);
        assert_eq!(whole.local_dp(Unit::Record), None);
        assert_eq!(whole.local_dp(Unit::Features).unwrap().epsilon, 0.5);
    }

    #[test]
    fn unlike_notions_and_unlike_neighbours_do_not_meet() {
        for other in [central(1.0, Neighbours::ReplaceOne), local(1.0)] {
            let one = guarantee(central(1.0, Neighbours::AddOrRemoveOne), Unit::Record);
            let whole = in_sequence(&[one, guarantee(other, Unit::Record)]);
            assert!(whole.claims.is_empty(), "{whole}");
        }
    }

    #[test]
    fn in_parallel_the_largest_counts_and_a_partition_by_value_says_nothing_of_replacement() {
        let parts =
            |neighbours| [0.5, 2.0, 1.0].map(|epsilon| guarantee(central(epsilon, neighbours), Unit::Record));
        let epsilon = |neighbours, partition| {
            let whole = in_parallel(&parts(neighbours), partition);
            whole.claims.first().map(|claim| match &claim.notion {
                Notion::CentralDp(dp) => dp.epsilon,
                other => panic!("{other}"),
            })
        };
        use Neighbours::{AddOrRemoveOne, ReplaceOne};
        assert_eq!(epsilon(AddOrRemoveOne, Partition::FixedInAdvance), Some(2.0));
        assert_eq!(epsilon(ReplaceOne, Partition::FixedInAdvance), Some(2.0));
        assert_eq!(epsilon(AddOrRemoveOne, Partition::ByValue), Some(2.0));
        // At ε = 0 for replacement each part may release its exact size. Together the sizes are the
        // histogram.
        assert_eq!(epsilon(ReplaceOne, Partition::ByValue), None);
    }

    /// Guarantee of a design that private volunteers shaped by DP-SGD at ε = 1.
    fn shaped() -> Guarantee {
        Guarantee {
            claims: vec![Claim {
                notion: central(1.0, Neighbours::AddOrRemoveOne),
                protects: Unit::Volunteer,
                theorem: "DP-SGD".into(),
            }],
            shaped_by: ShapedBy::PrivateVolunteers,
            ..Guarantee::default()
        }
    }

    #[test]
    fn a_volunteer_of_two_designs_spends_on_both_however_the_records_are_split() {
        for partition in [Partition::FixedInAdvance, Partition::ByValue] {
            let whole = in_parallel(&[shaped(), shaped()], partition);
            let Notion::CentralDp(dp) = only_notion(&whole) else { panic!("{whole}") };
            assert_eq!(dp.epsilon, 2.0);
        }
    }

    #[test]
    fn a_partition_by_value_loses_local_claims() {
        let parts = [guarantee(local(1.0), Unit::Record), guarantee(local(2.0), Unit::Record)];
        let by_value = in_parallel(&parts, Partition::ByValue);
        assert!(by_value.claims.is_empty(), "{by_value}");
        assert!(by_value.discloses.iter().any(|line| line.contains("the part that holds")), "{by_value}");
        let fixed = in_parallel(&parts, Partition::FixedInAdvance);
        assert_eq!(fixed.local_dp(Unit::Record).unwrap().epsilon, 2.0);
    }

    #[test]
    fn fisher_information_adds_up_column_by_column() {
        let bound = |columns: &[(&str, f64)]| {
            let information = columns.iter().map(|&(name, i)| (name.to_owned(), i)).collect();
            guarantee(Notion::CramerRao(CramerRao { information, joint: None }), Unit::Record)
        };
        let whole = in_sequence(&[bound(&[("a", 1.0), ("b", 2.0)]), bound(&[("a", 3.0)])]);
        let Notion::CramerRao(bound) = only_notion(&whole) else { panic!("{whole}") };
        assert_eq!(bound.information, BTreeMap::from([("a".into(), 4.0), ("b".into(), 2.0)]));
        assert_eq!(bound.error(), 0.75);
    }

    #[test]
    fn a_joint_bound_is_lost_where_two_parts_know_a_column_and_adds_up_where_none_do() {
        let bound = |columns: &[&str], information: f64, joint| {
            let information = columns.iter().map(|&name| (name.to_owned(), information)).collect();
            guarantee(Notion::CramerRao(CramerRao { information, joint }), Unit::Record)
        };
        let composed_bound = |parts: &[Guarantee]| match only_notion(&in_sequence(parts)) {
            Notion::CramerRao(bound) => bound.clone(),
            other => panic!("{other}"),
        };
        let hides = || bound(&["a", "b"], f64::INFINITY, Some(5.0));
        assert_eq!(composed_bound(&[hides()]).error(), 5.0);
        // Together the parts may disclose what neither discloses alone. A column that one part has disclosed
        // stays disclosed.
        let twice = composed_bound(&[hides(), bound(&["a", "b"], 0.5, Some(4.0))]);
        assert_eq!((twice.error(), twice.joint), (0.0, None));
        assert!(twice.information.values().all(|information| *information == f64::INFINITY));
        assert_eq!(composed_bound(&[hides(), bound(&["b"], 0.5, None)]).error(), 0.0);
        let disjoint = composed_bound(&[hides(), bound(&["c"], 0.5, None)]);
        assert_eq!(disjoint.error(), 7.0);
        assert_eq!(
            composed_bound(&[hides(), bound(&["c"], 0.5, None), bound(&["a"], 0.5, None)]).error(),
            2.0
        );
    }

    #[test]
    fn what_each_release_guarantees_is_not_known_of_several() {
        let part = Guarantee { each_release: vec!["so much".into()], ..Guarantee::default() };
        assert_eq!(in_sequence(std::slice::from_ref(&part)).each_release, part.each_release);
        assert!(in_sequence(&[part.clone(), part]).each_release.is_empty());
    }

    #[test]
    fn metric_privacy_adds_up_at_the_smaller_distance() {
        let near = |distance, epsilon| {
            let dp = CentralDp::new(epsilon, 1e-6, Neighbours::ReplaceOne);
            guarantee(Notion::MetricDp(MetricDp::new(dp, distance, 2.0)), Unit::Record)
        };
        let whole = in_sequence(&[near(0.5, 1.0), near(0.25, 0.5)]);
        let Notion::MetricDp(metric) = only_notion(&whole) else { panic!("{whole}") };
        assert_eq!((metric.dp.epsilon, metric.distance), (1.5, 0.25));
        assert!(metric.diameter >= 2.0 && whole.epsilon().is_none() && !whole.has_dp(), "{whole}");
        let card = whole.to_string();
        // The diameter √8 is 11.3 times the distance: twelve steps of 1.5.
        for words in ["by a distance of at most 0.25", "11.32 times as far apart", "This is not differential"]
        {
            assert!(card.contains(words), "{card}");
        }
        let central = Notion::CentralDp(CentralDp::new(1.0, 0.0, Neighbours::ReplaceOne));
        let mixed = in_sequence(&[near(0.5, 1.0), guarantee(central, Unit::Record)]);
        assert!(mixed.claims.is_empty(), "{mixed}");
    }

    #[test]
    fn pac_budgets_are_spent_together_and_secrecy_stays() {
        let pac = |budget, spent| {
            let notion = PacResistance { error: 0.1, confidence_gap: 0.05, budget, spent };
            guarantee(Notion::PacResistance(notion), Unit::Record)
        };
        let whole = in_sequence(&[pac(99.0, 40.0), pac(120.0, 70.0)]);
        let Notion::PacResistance(pac) = only_notion(&whole) else { panic!("{whole}") };
        assert_eq!((pac.budget, pac.spent), (99.0, 110.0));
        assert!(whole.assumes[0].contains("more than one part"), "{whole}");

        let secret = || guarantee(Notion::PerfectSecrecy(PerfectSecrecy {}), Unit::Features);
        let whole = in_sequence(&[secret(), secret()]);
        assert!(matches!(only_notion(&whole), Notion::PerfectSecrecy(_)));

        let set = || {
            let members = "all rotations".into();
            guarantee(Notion::AmbiguitySet(AmbiguitySet { members }), Unit::Record)
        };
        assert!(in_sequence(&[set(), set()]).claims.is_empty());
    }

    #[test]
    fn volunteers_keep_their_claim_beside_a_part_that_nobody_shaped() {
        let whole = in_sequence(&[shaped(), guarantee(local(1.0), Unit::Record)]);
        assert!(whole.protects_volunteers());
        assert_eq!(whole.shaped_by, ShapedBy::PrivateVolunteers);
        let unprotected = Guarantee { claims: vec![], ..shaped() };
        assert!(!in_sequence(&[shaped(), unprotected]).protects_volunteers());
    }

    proptest! {
        /// No order and no nesting reports less than the parts.
        #[test]
        fn no_order_or_nesting_reports_less(
            epsilons in prop::collection::vec(1e-3..10.0_f64, 1..8),
            cut in 0usize..8,
        ) {
            let parts: Vec<Guarantee> =
                epsilons.iter().map(|&epsilon| guarantee(local(epsilon), Unit::Record)).collect();
            let epsilon = |guarantee: &Guarantee| guarantee.local_dp(Unit::Record).unwrap().epsilon;
            let flat = epsilon(&in_sequence(&parts));
            let reversed: Vec<Guarantee> = parts.iter().rev().cloned().collect();
            prop_assert_eq!(flat, epsilon(&in_sequence(&reversed)));
            let (left, right) = parts.split_at(cut.min(parts.len() - 1));
            let nested = match left {
                [] => in_sequence(&[in_sequence(right)]),
                _ => in_sequence(&[in_sequence(left), in_sequence(right)]),
            };
            prop_assert!(epsilon(&nested) >= flat, "a nesting lost budget");
            for part in &epsilons {
                prop_assert!(flat >= *part);
            }
        }
    }
}
