//! Tests that no order, nesting or split ever reports less than the parts.

use num_rational::BigRational;
use proptest::prelude::*;
use scumble_accounting::gaussian;
use scumble_core::compose::{self, Scope};
use scumble_core::{
    Budget, CentralDp, Claim, CramerRao, Domain, Guarantee, LocalDp, MutualInformation, Neighbours, Notion,
    PacResistance, Prior, ShapedBy, Unit,
};
use scumble_noise::GaussianNoise;
use std::collections::{BTreeMap, BTreeSet};

const UNITS: [Unit; 3] = [Unit::Record, Unit::Features, Unit::Label];
const SCOPES: [Scope; 3] = [
    Scope { features: true, label: true },
    Scope { features: true, label: false },
    Scope { features: false, label: true },
];
const BOTH: [Neighbours; 2] = [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne];

/// Guarantee with one claim. `line` makes its disclosures and assumptions distinct.
fn claiming(notion: Notion, protects: Unit, line: u8) -> Guarantee {
    Guarantee { claims: vec![Claim { notion, protects, theorem: format!("theorem {line}") }], ..silent(line) }
}

/// Guarantee without a claim.
fn silent(line: u8) -> Guarantee {
    Guarantee {
        discloses: vec!["the number of records".into(), format!("disclosure {line}")],
        assumes: vec![format!("assumption {line}")],
        ..Guarantee::default()
    }
}

fn local(epsilon: f64, delta: f64) -> Notion {
    Notion::LocalDp(LocalDp::new(epsilon, delta))
}

fn exact(value: f64) -> BigRational {
    BigRational::from_float(value).unwrap()
}

fn exact_sum(values: impl IntoIterator<Item = f64>) -> BigRational {
    values.into_iter().map(exact).sum()
}

/// Returns whether `reported` is the exact sum, or the next float above it.
fn is_rounded_up_once(reported: f64, total: &BigRational) -> bool {
    exact(reported) >= *total && (exact(reported) == *total || exact(reported.next_down()) < *total)
}

fn reversed(parts: &[Guarantee]) -> Vec<Guarantee> {
    parts.iter().rev().cloned().collect()
}

/// Same parts in a nesting chosen by `cuts`. Each cut makes one composition of some neighbours.
fn nested(parts: &[Guarantee], cuts: &[(usize, usize)]) -> Guarantee {
    let mut level = parts.to_vec();
    for &(from, count) in cuts {
        let from = from % level.len();
        let to = (from + 1 + count % 4).min(level.len());
        let inner = compose::in_sequence(&level[from..to]);
        level.splice(from..to, [inner]);
    }
    compose::in_sequence(&level)
}

fn cuts() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0usize..8, 0usize..4), 0..5)
}

/// ε from very small to large.
fn epsilons() -> impl Strategy<Value = f64> {
    (-20.0..4.0_f64).prop_map(f64::exp)
}

fn deltas() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-40.0..-3.0_f64).prop_map(f64::exp)]
}

/// Part of a record's release: its scope, and its claims, each as a unit with an ε.
#[derive(Debug, Clone)]
struct Leaf {
    scope: Scope,
    claims: Vec<(Unit, f64)>,
    line: u8,
    shaped_by: ShapedBy,
}

impl Leaf {
    fn guarantee(&self) -> Guarantee {
        let claims = self.claims.iter().map(|&(protects, epsilon)| Claim {
            notion: local(epsilon, 0.0),
            protects,
            theorem: "its own".into(),
        });
        Guarantee { claims: claims.collect(), shaped_by: self.shaped_by, ..silent(self.line) }
    }

    /// Least cost of the part to `unit`; `None` if it is infinite.
    fn cost(&self, unit: Unit) -> Option<f64> {
        let Scope { features, label } = self.scope;
        let concerned = match unit {
            Unit::Features => features,
            Unit::Label => label,
            _ => true,
        };
        if !concerned {
            return Some(0.0);
        }
        // A part that sees the label alone protects the record if it protects the label.
        let all_it_sees = if label { Unit::Label } else { Unit::Features };
        let covers = |claimed: Unit| claimed.covers(unit) || (features != label && claimed == all_it_sees);
        let costs = self.claims.iter().filter(|claim| covers(claim.0)).map(|claim| claim.1);
        costs.min_by(f64::total_cmp)
    }
}

#[derive(Debug, Clone)]
enum Tree {
    Leaf(Leaf),
    /// Composition in sequence, with each part assumed to see whole records.
    Sequence(Vec<Tree>),
    /// Composition by parts, each in the scope of the leaves below it.
    Parts(Vec<Tree>),
}

impl Tree {
    fn leaves(&self) -> Vec<&Leaf> {
        match self {
            Self::Leaf(leaf) => vec![leaf],
            Self::Sequence(trees) | Self::Parts(trees) => trees.iter().flat_map(Self::leaves).collect(),
        }
    }

    fn scope(&self) -> Scope {
        let leaves = self.leaves();
        Scope {
            features: leaves.iter().any(|leaf| leaf.scope.features),
            label: leaves.iter().any(|leaf| leaf.scope.label),
        }
    }

    fn guarantee(&self) -> Guarantee {
        match self {
            Self::Leaf(leaf) => compose::by_parts(&[(leaf.scope, leaf.guarantee())]),
            Self::Sequence(trees) => {
                compose::in_sequence(&trees.iter().map(Self::guarantee).collect::<Vec<_>>())
            }
            Self::Parts(trees) => {
                let parts: Vec<_> = trees.iter().map(|tree| (tree.scope(), tree.guarantee())).collect();
                compose::by_parts(&parts)
            }
        }
    }
}

fn leaves() -> impl Strategy<Value = Leaf> {
    let claims = prop_oneof![
        8 => epsilons().prop_map(|epsilon| vec![(Unit::Record, epsilon)]),
        2 => (prop::sample::select(&UNITS), epsilons()).prop_map(|claim| vec![claim]),
        2 => (epsilons(), epsilons())
            .prop_map(|(record, label)| vec![(Unit::Record, record), (Unit::Label, label)]),
        2 => (epsilons(), epsilons())
            .prop_map(|(features, label)| vec![(Unit::Features, features), (Unit::Label, label)]),
        1 => Just(vec![]),
    ];
    let shaped_by = prop_oneof![
        6 => Just(ShapedBy::PublicKnowledge),
        1 => Just(ShapedBy::ConsentingVolunteers),
        1 => Just(ShapedBy::PrivateVolunteers),
    ];
    (prop::sample::select(&SCOPES), claims, 0u8..6, shaped_by)
        .prop_map(|(scope, claims, line, shaped_by)| Leaf { scope, claims, line, shaped_by })
}

fn trees() -> impl Strategy<Value = Tree> {
    leaves().prop_map(Tree::Leaf).prop_recursive(4, 12, 4, |inner| {
        let inner = prop::collection::vec(inner, 1..4);
        prop_oneof![inner.clone().prop_map(Tree::Sequence), inner.prop_map(Tree::Parts)]
    })
}

proptest! {
    #[test]
    fn a_tree_of_compositions_reports_no_less_than_its_leaves_spend(tree in trees()) {
        let whole = tree.guarantee();
        for unit in UNITS {
            let spent: Option<Vec<f64>> = tree.leaves().iter().map(|leaf| leaf.cost(unit)).collect();
            match (whole.local_dp(unit), spent) {
                (Some(dp), Some(spent)) => {
                    prop_assert!(exact(dp.epsilon) >= exact_sum(spent.iter().copied()), "{unit:?}: \
                        {spent:?}, and {dp:?}");
                    prop_assert_eq!(dp.delta, 0.0);
                    prop_assert_eq!(whole.cost(unit).0, dp.epsilon);
                }
                (Some(dp), None) => prop_assert!(false, "{unit:?}: a leaf claims nothing, and the whole \
                    {dp:?}"),
                (None, _) => prop_assert_eq!(whole.cost(unit).0, f64::INFINITY),
            }
        }
    }

    #[test]
    fn parts_that_claim_whole_records_cost_each_unit_the_exact_sum_over_those_that_see_it(
        parts in prop::collection::vec((prop::sample::select(&SCOPES), epsilons()), 1..8),
    ) {
        let whole = |parts: &[(Scope, f64)]| {
            let claimed =
                parts.iter().map(|&(scope, epsilon)| (scope, claiming(local(epsilon, 0.0), Unit::Record, 0)));
            compose::by_parts(&claimed.collect::<Vec<_>>())
        };
        let backwards: Vec<_> = parts.iter().rev().copied().collect();
        for (unit, sees) in [
            (Unit::Record, (|_| true) as fn(&Scope) -> bool),
            (Unit::Features, |scope| scope.features),
            (Unit::Label, |scope| scope.label),
        ] {
            let spent: Vec<f64> = parts.iter().filter(|part| sees(&part.0)).map(|part| part.1).collect();
            if spent.is_empty() {
                continue;
            }
            for whole in [whole(&parts), whole(&backwards)] {
                let reported = whole.local_dp(unit).unwrap().epsilon;
                prop_assert!(is_rounded_up_once(reported, &exact_sum(spent.iter().copied())), "{unit:?}: \
                    {reported} for {spent:?}");
                prop_assert!(spent.iter().all(|part| reported >= *part));
            }
        }
    }

    #[test]
    fn disclosures_and_assumptions_are_united_and_never_lost(tree in trees()) {
        let whole = tree.guarantee();
        let united = |select: fn(Guarantee) -> Vec<String>| -> BTreeSet<String> {
            tree.leaves().iter().flat_map(|leaf| select(leaf.guarantee())).collect()
        };
        for (found, lines) in [
            (&whole.discloses, united(|guarantee| guarantee.discloses)),
            (&whole.assumes, united(|guarantee| guarantee.assumes)),
        ] {
            prop_assert_eq!(found.len(), lines.len(), "a line is listed twice: {:?}", found);
            prop_assert_eq!(&found.iter().cloned().collect::<BTreeSet<_>>(), &lines);
        }
        prop_assert_eq!(Some(whole.shaped_by), tree.leaves().iter().map(|leaf| leaf.shaped_by).max());
    }

    #[test]
    fn a_part_without_a_claim_leaves_the_whole_without_one(
        mut notions in prop::collection::vec(notions(), 0..5),
        at in 0usize..6,
        cuts in cuts(),
        seen in 0usize..3,
    ) {
        let mut parts: Vec<Guarantee> =
            notions.drain(..).map(|notion| claiming(notion, Unit::Record, 1)).collect();
        parts.insert(at.min(parts.len()), silent(2));
        prop_assert!(compose::in_sequence(&parts).claims.is_empty());
        prop_assert!(nested(&parts, &cuts).claims.is_empty());
        // By parts, the part removes the claim for the record, and for the units that it saw.
        let scoped: Vec<_> = parts
            .into_iter()
            .map(|part| (if part.claims.is_empty() { SCOPES[seen] } else { SCOPES[0] }, part))
            .collect();
        let whole = compose::by_parts(&scoped);
        prop_assert!(!whole.claims.iter().any(|claim| claim.protects == Unit::Record), "{whole}");
        let loses = |unit| whole.claims.iter().all(|claim| !claim.protects.covers(unit));
        prop_assert!(
            (!SCOPES[seen].features || loses(Unit::Features)) && (!SCOPES[seen].label || loses(Unit::Label)),
            "{whole}"
        );
    }

    #[test]
    fn a_notion_survives_only_where_every_part_claims_it(
        notions in prop::collection::vec(notions(), 1..5), cuts in cuts(),
    ) {
        let parts: Vec<Guarantee> =
            notions.iter().map(|notion| claiming(notion.clone(), Unit::Record, 1)).collect();
        for whole in [
            compose::in_sequence(&parts),
            compose::in_sequence(&reversed(&parts)),
            nested(&parts, &cuts),
        ] {
            let alike = notions.iter().all(|notion| kind(notion) == kind(&notions[0]));
            let kinds: Vec<_> = whole.claims.iter().map(|claim| kind(&claim.notion)).collect();
            prop_assert_eq!(kinds, if alike { vec![kind(&notions[0])] } else { vec![] }, "{}", whole);
        }
    }

    #[test]
    fn epsilon_and_delta_add_up_exactly_in_any_order_and_no_nesting_reports_less(
        spent in prop::collection::vec((epsilons(), deltas()), 1..8), cuts in cuts(), seed in 0usize..100,
    ) {
        let total = (exact_sum(spent.iter().map(|s| s.0)), exact_sum(spent.iter().map(|s| s.1)));
        let with_delta = |neighbours: Option<Neighbours>, (epsilon, delta)| match neighbours {
            None => local(epsilon, delta),
            Some(neighbours) => Notion::CentralDp(CentralDp::new(epsilon, delta, neighbours)),
        };
        for neighbours in [None, Some(BOTH[0]), Some(BOTH[1])] {
            let mut parts: Vec<Guarantee> =
                spent.iter().map(|&s| claiming(with_delta(neighbours, s), Unit::Record, 0)).collect();
            let (epsilon, delta) = reported(&compose::in_sequence(&parts));
            prop_assert!(
                is_rounded_up_once(epsilon, &total.0) && is_rounded_up_once(delta, &total.1),
                "({epsilon}, {delta})"
            );
            prop_assert!(spent.iter().all(|s| epsilon >= s.0 && delta >= s.1));
            let turn = seed % parts.len();
            parts.rotate_left(turn);
            prop_assert_eq!((epsilon, delta), reported(&compose::in_sequence(&parts)), "rotated by {}", turn);
            prop_assert_eq!((epsilon, delta), reported(&compose::in_sequence(&reversed(&parts))));
            let inner = reported(&nested(&parts, &cuts));
            prop_assert!(inner.0 >= epsilon && inner.1 >= delta, "nested: {inner:?}, flat: ({epsilon}, \
                {delta})");
            prop_assert!(inner.0 <= epsilon * (1.0 + 1e-14) && inner.1 <= delta * (1.0 + 1e-14), "a nesting \
                invents cost");
        }
    }

    #[test]
    fn an_infinite_part_makes_the_whole_infinite(
        spent in prop::collection::vec(epsilons(), 0..6), at in 0usize..6, cuts in cuts(),
    ) {
        let mut parts: Vec<Guarantee> =
            spent.iter().map(|&s| claiming(local(s, 0.0), Unit::Record, 0)).collect();
        parts.insert(at.min(parts.len()), claiming(local(f64::INFINITY, 0.0), Unit::Record, 0));
        prop_assert_eq!(reported(&nested(&parts, &cuts)).0, f64::INFINITY);
    }

    #[test]
    fn what_a_budget_was_split_into_composes_to_it_and_never_to_more(
        epsilon in epsilons(),
        delta in deltas(),
        shares in prop::collection::vec(0.01..0.99_f64, 0..6),
        parts in 1usize..30,
        cuts in cuts(),
    ) {
        let whole = Budget::new(epsilon, delta).unwrap();
        let mut budgets = vec![];
        let mut rest = whole;
        for share in shares {
            let (first, others) = rest.split(share).unwrap();
            budgets.push(first);
            rest = others;
        }
        budgets.push(rest);
        for budgets in [budgets, vec![whole.divide(parts).unwrap(); parts]] {
            let total = (
                exact_sum(budgets.iter().map(Budget::epsilon)),
                exact_sum(budgets.iter().map(Budget::delta)),
            );
            prop_assert!(total.0 <= exact(epsilon) && total.1 <= exact(delta), "{budgets:?} are more than \
                {whole:?}");
            let claimed: Vec<Guarantee> = budgets
                .iter()
                .map(|budget| claiming(local(budget.epsilon(), budget.delta()), Unit::Record, 0))
                .collect();
            let flat = reported(&compose::in_sequence(&claimed));
            prop_assert!(flat.0 <= epsilon && flat.1 <= delta, "{flat:?} of {whole:?}");
            prop_assert!(flat.0 >= epsilon * (1.0 - 1e-13), "{flat:?} wastes {whole:?}");
            let inner = reported(&nested(&claimed, &cuts));
            for (epsilon, delta) in [flat, inner] {
                prop_assert!(exact(epsilon) >= total.0 && exact(delta) >= total.1, "({epsilon}, {delta}) is \
                    less than was spent");
            }
        }
    }

    #[test]
    fn fisher_information_adds_up_by_column_and_never_to_less(
        parts in prop::collection::vec(prop::collection::btree_map("[abc]", epsilons(), 1..4), 1..6),
        cuts in cuts(),
    ) {
        let claimed: Vec<Guarantee> = parts
            .iter()
            .map(|part| {
                let bound = CramerRao { information: part.clone(), joint: None };
                claiming(Notion::CramerRao(bound), Unit::Record, 0)
            })
            .collect();
        let per_column = |whole: &Guarantee| -> BTreeMap<String, f64> {
            match &only(whole).notion {
                Notion::CramerRao(bound) => bound.information.clone(),
                other => panic!("{other}"),
            }
        };
        let flat = per_column(&compose::in_sequence(&claimed));
        let inner = per_column(&nested(&claimed, &cuts));
        let mut total: BTreeMap<&String, BigRational> = BTreeMap::new();
        for (column, information) in parts.iter().flatten() {
            *total.entry(column).or_insert_with(|| exact(0.0)) += exact(*information);
        }
        prop_assert!(flat.keys().eq(total.keys().copied()) && inner.keys().eq(total.keys().copied()));
        for (column, total) in total {
            prop_assert!(exact(flat[column]) >= total && exact(inner[column]) >= total, "{column}: {total}");
            prop_assert!(flat[column].max(inner[column]) <= (1.0 + 1e-14) * flat[column].min(inner[column]));
        }
    }

    #[test]
    fn nats_add_up_for_one_prior_and_are_no_claim_for_several(
        parts in prop::collection::vec(epsilons(), 1..6), cuts in cuts(), sets in 2u64..200,
    ) {
        let claiming_nats = |nats: f64, sets: u64| {
            let bound = MutualInformation::new(nats, Prior::Halves { sets });
            claiming(Notion::MutualInformation(bound), Unit::Record, 0)
        };
        let claimed: Vec<Guarantee> = parts.iter().map(|nats| claiming_nats(*nats, sets)).collect();
        let total = exact_sum(parts.iter().copied());
        for whole in [
            compose::in_sequence(&claimed),
            compose::in_sequence(&reversed(&claimed)),
            nested(&claimed, &cuts),
        ] {
            let Notion::MutualInformation(bound) = only(&whole).notion else { panic!("{whole}") };
            prop_assert!(
                exact(bound.nats) >= total && exact(bound.nats / (1.0 + 1e-14)) <= total,
                "{bound:?} for {total}"
            );
        }
        let others = [claimed, vec![claiming_nats(1.0, sets + 1)]].concat();
        prop_assert!(compose::in_sequence(&others).claims.is_empty());
    }

    #[test]
    fn pac_spends_add_up_against_the_least_budget(
        parts in prop::collection::vec((epsilons(), epsilons(), 1e-3..1.0_f64, 1e-3..0.5_f64), 2..6),
        cuts in cuts(),
    ) {
        let claimed: Vec<Guarantee> = parts
            .iter()
            .map(|&(budget, spent, error, confidence_gap)| {
                let pac = PacResistance { error, confidence_gap, budget, spent };
                claiming(Notion::PacResistance(pac), Unit::Record, 0)
            })
            .collect();
        let least = |parameter: fn(&(f64, f64, f64, f64)) -> f64| {
            parts.iter().map(parameter).fold(f64::INFINITY, f64::min)
        };
        let total = exact_sum(parts.iter().map(|part| part.1));
        for whole in [
            compose::in_sequence(&claimed),
            compose::in_sequence(&reversed(&claimed)),
            nested(&claimed, &cuts),
        ] {
            let Notion::PacResistance(pac) = only(&whole).notion else { panic!("{whole}") };
            prop_assert!(exact(pac.spent) >= total && exact(pac.spent / (1.0 + 1e-14)) <= total, "{pac:?} \
                for {total}");
            prop_assert_eq!(
                (pac.budget, pac.error, pac.confidence_gap),
                (least(|part| part.0), least(|part| part.2), least(|part| part.3))
            );
            prop_assert!(whole.assumes.iter().any(|line| line.contains("samples of more than one \
                part")), "{whole}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The property also holds if profiles make the whole cheaper than the sum. The truth is μ² = Σμ², in
    /// addition to the pure parts.
    #[test]
    fn profiles_in_any_order_and_nesting_report_no_less_than_the_truth_and_no_less_than_a_part(
        noisy in prop::collection::vec((0.05..4.0_f64, -30.0..-4.0_f64), 1..4),
        pure in prop::collection::vec(0.001..2.0_f64, 0..3),
        (cuts, turn) in (cuts(), 0usize..8),
    ) {
        let (mut parts, mut mu_squared, mut delta) = (vec![], 0.0, 0.0);
        for (epsilon, log_delta) in noisy {
            let budget = Budget::new(epsilon, log_delta.exp()).unwrap();
            let noise = GaussianNoise::calibrated(&Domain::interval(0.0, 1.0).unwrap(), budget).unwrap();
            let claim = LocalDp::new(epsilon, budget.delta()).along(noise.profile());
            parts.push(claiming(Notion::LocalDp(claim), Unit::Record, 0));
            mu_squared += noise.scales()[0].powi(-2);
            delta += budget.delta();
        }
        parts.extend(pure.iter().map(|&epsilon| claiming(local(epsilon, 0.0), Unit::Record, 0)));
        let turn = turn % parts.len();
        parts.rotate_left(turn);
        let shift: f64 = pure.iter().sum();
        let flat = compose::in_sequence(&parts);
        for whole in [&flat, &compose::in_sequence(&reversed(&parts)), &nested(&parts, &cuts)] {
            let dp = whole.local_dp(Unit::Record).unwrap();
            // If pure parts disclose all they may, they add a loss of `shift` to the Gaussian one.
            let truth = gaussian::epsilon(mu_squared.sqrt(), delta).unwrap() + shift;
            prop_assert!(
                dp.epsilon >= truth * (1.0 - 1e-9) || dp.epsilon >= sum_of_epsilons(&parts),
                "{dp:?}, and {truth} is true"
            );
            prop_assert!(
                dp.epsilon <= sum_of_epsilons(&parts) * (1.0 + 1e-14)
                    && exact(dp.delta) >= exact_sum(deltas_of(&parts))
            );
            let profile = dp.profile.unwrap();
            for at in [0.0, 0.1, 0.5, 1.0, 3.0, dp.epsilon] {
                let truth = gaussian::delta(mu_squared.sqrt(), at - shift);
                prop_assert!(profile.delta(at) >= truth * (1.0 - 1e-9), "δ({at}) is {}, and {truth} is \
                    true", profile.delta(at));
                for part in &parts {
                    let own = part.local_dp(Unit::Record).unwrap().known_profile().unwrap().delta(at);
                    prop_assert!(profile.delta(at) >= own * (1.0 - 1e-9), "δ({at}) is {}, and {own} that of \
                        a part", profile.delta(at));
                }
            }
            let reference = flat.local_dp(Unit::Record).unwrap();
            prop_assert!((dp.epsilon / reference.epsilon - 1.0).abs() < 1e-6, "{dp:?}, and flat \
                {reference:?}");
        }
    }
}

fn sum_of_epsilons(parts: &[Guarantee]) -> f64 {
    scumble_core::sum_up(parts.iter().map(|part| reported(part).0))
}

fn deltas_of(parts: &[Guarantee]) -> impl Iterator<Item = f64> {
    parts.iter().map(|part| reported(part).1)
}

#[track_caller]
fn only(guarantee: &Guarantee) -> &Claim {
    assert_eq!(guarantee.claims.len(), 1, "{guarantee}");
    &guarantee.claims[0]
}

/// ε and δ of the only claim.
#[track_caller]
fn reported(guarantee: &Guarantee) -> (f64, f64) {
    match &only(guarantee).notion {
        Notion::LocalDp(dp) => (dp.epsilon, dp.delta),
        Notion::CentralDp(dp) => (dp.epsilon, dp.delta),
        other => panic!("{other}"),
    }
}

/// Any notion that survives composition with its own kind.
fn notions() -> impl Strategy<Value = Notion> {
    (0usize..6, epsilons(), deltas()).prop_map(|(kind, epsilon, delta)| match kind {
        0 => local(epsilon, delta),
        1 => {
            Notion::CramerRao(CramerRao { information: BTreeMap::from([("a".into(), epsilon)]), joint: None })
        }
        2 => {
            let pac = PacResistance { error: 0.1, confidence_gap: 0.05, budget: 10.0, spent: epsilon };
            Notion::PacResistance(pac)
        }
        3 => Notion::MutualInformation(MutualInformation::new(epsilon, Prior::Halves { sets: 128 })),
        kind => Notion::CentralDp(CentralDp::new(epsilon, delta, BOTH[kind - 4])),
    })
}

fn kind(notion: &Notion) -> String {
    match notion {
        Notion::CentralDp(dp) => format!("central, {}", dp.neighbours),
        Notion::LocalDp(_) => "local".into(),
        Notion::CramerRao(_) => "Cramér and Rao".into(),
        Notion::PacResistance(_) => "PAC".into(),
        Notion::MutualInformation(_) => "mutual information".into(),
        other => panic!("{other}"),
    }
}
