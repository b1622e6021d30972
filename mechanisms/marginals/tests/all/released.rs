//! Tests of releases: their shape, their agreement with the records, and refused inputs.

use ndarray::Array2;
use scumble_core::levels::draw;
use scumble_core::{
    Brief, Budget, Designed, Domain, Guarantee, Neighbours, Notion, Outcome, Plugin, Randomness,
    RecordDomain, Release, Table, Target, TargetDomain, Unit,
};
use scumble_marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const ALL: [Plugin; 3] = [NOISY_MARGINALS, MST, ADAPTIVE_MARGINALS];

/// A category of three levels, a number, a category that depends on the number, and a label that depends on
/// the first two.
fn people(records: usize) -> (RecordDomain, Table) {
    let columns = ["colour=red", "colour=green", "colour=blue", "size", "kind=small", "kind=large"];
    let features =
        Domain::product([Domain::one_hot(3).unwrap(), Domain::unit_box(1), Domain::one_hot(2).unwrap()])
            .unwrap();
    let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let columns: Vec<String> = columns.map(str::to_owned).to_vec();
    let domain = RecordDomain::new(columns.clone(), features, target).unwrap();
    let size = |row: usize| (0.5 + 0.618_034 * row as f64).fract();
    let colour = |row: usize| [0, 0, 0, 1, 1, 2][row % 6];
    let cells = Array2::from_shape_fn((records, 6), |(row, column)| match column {
        3 => size(row),
        4 | 5 => f64::from(u8::from((size(row) > 0.6) == (column == 5))),
        level => f64::from(u8::from(colour(row) == level)),
    });
    let label = |row: usize| usize::from(colour(row) == 0 && size(row) > 0.3);
    let table = Table::new(columns, cells, Target::Class((0..records).map(label).collect())).unwrap();
    (domain, table)
}

fn release(plugin: &Plugin, parameters: Value, epsilon: f64, records: usize) -> (Release, Table) {
    let (domain, table) = people(records);
    let brief = Brief::new(domain, Budget::new(epsilon, 1e-6).unwrap()).with_people(records);
    let design = plugin.design(&parameters, &brief).unwrap();
    (design.mechanism().release(&table, &mut Randomness::from_os().unwrap()).unwrap(), table)
}

fn share(table: &Table, is_counted: impl Fn(&[f64], usize) -> bool) -> f64 {
    let Target::Class(classes) = table.target() else { panic!("the target is not a class") };
    let counted =
        table.records().outer_iter().zip(classes).filter(|(row, class)| is_counted(&row.to_vec(), **class));
    counted.count() as f64 / table.len() as f64
}

/// The noise of a cell is below 40 records of 20,000, and a bin is a quarter. The shares agree within two
/// points, ten standard errors or more.
#[test]
fn what_goes_with_the_target_is_kept() {
    for plugin in ALL {
        let (release, clean) = release(&plugin, json!({ "bins": 10 }), 2.0, 20_000);
        assert_eq!((release.table.columns(), release.table.len()), (clean.columns(), clean.len()));
        for (what, is_counted) in [
            ("yes", (|_, class| class == 1) as fn(&[f64], usize) -> bool),
            ("red and yes", |row, class| row[0] == 1.0 && class == 1),
            ("large", |row, _| row[5] == 1.0),
            ("upper half", |row, _| row[3] > 0.5),
        ] {
            let (kept, was) = (share(&release.table, is_counted), share(&clean, is_counted));
            assert!((kept - was).abs() < 0.02, "{}: {what}: {was} became {kept}", plugin.name);
        }
    }
}

/// A category depends on a number: tables of each with the target do not show it, and chosen tables do.
#[test]
fn what_goes_together_is_found() {
    let is_mixed = |row: &[f64], _: usize| (row[3] > 0.6) != (row[5] == 1.0);
    let mixed =
        |plugin: &Plugin| share(&release(plugin, json!({ "bins": 10 }), 2.0, 20_000).0.table, is_mixed);
    assert!(mixed(&NOISY_MARGINALS) > 0.3);
    assert!(mixed(&MST) < 0.02);
    assert!(mixed(&ADAPTIVE_MARGINALS) < 0.02);
}

#[test]
fn marginals_are_those_that_are_named() {
    let named = json!({ "marginals": [["size", "kind"], ["colour", "target"]], "bins": 10 });
    let (release, clean) = release(&NOISY_MARGINALS, named, 2.0, 20_000);
    let mixed = share(&release.table, |row, _| (row[3] > 0.6) != (row[5] == 1.0));
    assert!(mixed < 0.02, "{mixed}");
    let red_share = |table: &Table| share(table, |row, class| row[0] == 1.0 && class == 1);
    assert!((red_share(&release.table) - red_share(&clean)).abs() < 0.02);
    // A column in no table is drawn uniformly.
    let alone = json!({ "marginals": [["target"]] });
    let (release, _) = self::release(&NOISY_MARGINALS, alone, 2.0, 20_000);
    assert!((share(&release.table, |row, _| row[0] == 1.0) - 1.0 / 3.0).abs() < 0.02);
}

/// Every column occurs in a table, and the target is column 3. The number decides the category at column 2,
/// so the tree has their pair. Three pairs that connect four columns are a tree.
#[test]
fn a_release_lists_the_tables_that_its_rows_keep() {
    let tables =
        |plugin: &Plugin, parameters: Value| release(plugin, parameters, 2.0, 20_000).0.counted_tables;
    assert_eq!(tables(&NOISY_MARGINALS, json!({})), [[0, 3], [1, 3], [2, 3]]);
    let named = json!({ "marginals": [["size", "kind"], ["kind"], ["colour", "target"]] });
    assert_eq!(tables(&NOISY_MARGINALS, named), [[0, 3], [1, 2]]);
    let connected = |tables: &[Vec<usize>]| {
        let mut connected = BTreeSet::from([0]);
        for _ in tables {
            let touching = tables.iter().filter(|table| table.iter().any(|at| connected.contains(at)));
            connected.extend(touching.flatten().copied().collect::<Vec<_>>());
        }
        connected.len()
    };
    let tree = tables(&MST, json!({ "bins": 10 }));
    assert!(tree.len() == 3 && tree.iter().all(|pair| pair.len() == 2), "{tree:?}");
    assert!(tree.contains(&vec![1, 2]) && connected(&tree) == 4, "{tree:?}");
    let chosen = tables(&ADAPTIVE_MARGINALS, json!({ "bins": 10 }));
    assert!(chosen.contains(&vec![1, 2, 3]) && connected(&chosen) == 4, "{chosen:?}");
    assert!(chosen.iter().all(|table| table.contains(&3)) && !chosen.contains(&vec![1, 3]), "{chosen:?}");
}

fn bins_of(plugin: &Plugin, parameters: Value, schema: usize) -> Value {
    let bins = [("size".to_owned(), schema)].into();
    let brief = Brief { bins, ..Brief::new(people(1).0, Budget::new(1.0, 1e-6).unwrap()) };
    let design = plugin.design(&parameters, &brief).unwrap();
    design.state()["bins"].clone()
}

/// Three levels, the number's bins, two levels and the two of the label. The schema overrides the rule,
/// `bins` the schema, and `column_bins` overrides `bins`.
#[test]
fn bins_are_those_of_the_schema_where_no_parameter_says_otherwise() {
    for plugin in ALL {
        assert_eq!(bins_of(&plugin, json!({}), 7), json!([3, 7, 2, 2]));
        assert_eq!(bins_of(&plugin, json!({ "bins": 5 }), 7), json!([3, 5, 2, 2]));
        assert_eq!(
            bins_of(&plugin, json!({ "bins": 5, "column_bins": { "size": 4 } }), 7),
            json!([3, 4, 2, 2])
        );
    }
}

/// Blocks of a table, of any size, give the same release as the whole table.
#[test]
fn records_that_come_in_blocks_are_released_as_all_at_once() {
    let (domain, table) = people(1_000);
    let brief = Brief::new(domain.clone(), Budget::new(1.0, 1e-6).unwrap());
    let layout = domain.layout();
    for plugin in ALL {
        let design = plugin.design(&json!({}), &brief).unwrap();
        let Designed::Curator(curator) = design.mechanism() else {
            panic!("{} is not run by a curator", plugin.name)
        };
        let whole = curator.release(&table, &mut Randomness::seeded(3)).unwrap();
        let mut gathering = curator.start();
        for rows in [0..1, 1..1, 1..400, 400..1_000] {
            let records: Vec<f64> = rows.flat_map(|row| layout.flatten(&table, row)).collect();
            gathering.add(&records).unwrap();
        }
        assert!(gathering.add(&[0.5]).is_err());
        let Outcome::Synthetic(drawing) = gathering.release(&mut Randomness::seeded(3)).unwrap() else {
            panic!("{} draws records", plugin.name)
        };
        assert_eq!((drawing.records(), drawing.blocks()), (1_000, 1));
        assert_eq!(drawing.guarantee, whole.guarantee);
        assert_eq!(layout.table_of(drawing.block(0).unwrap()).unwrap(), whole.table);
        assert!(drawing.block(1).unwrap().is_empty());
        assert_eq!(Outcome::Synthetic(drawing).release().unwrap().table, whole.table);
    }
}

/// The count of a cell is spread over blocks, and each block matches its share to about one record.
#[test]
fn blocks_that_are_drawn_have_the_same_shares() {
    let (domain, table) = people(2_000);
    let layout = domain.layout();
    let brief = Brief::new(domain, Budget::new(f64::INFINITY, 1e-6).unwrap());
    let design = NOISY_MARGINALS.design(&json!({ "bins": 4 }), &brief).unwrap();
    let Designed::Curator(curator) = design.mechanism() else {
        panic!("the mechanism is not run by a curator")
    };
    let records: Vec<f64> = (0..2_000).flat_map(|row| layout.flatten(&table, row)).collect();
    let mut gathering = curator.start();
    (0..50).for_each(|_| gathering.add(&records).unwrap());
    let Outcome::Synthetic(drawing) = gathering.release(&mut Randomness::seeded(4)).unwrap() else {
        panic!("it draws records")
    };
    assert_eq!((drawing.records(), drawing.blocks()), (100_000, 7));
    let drawn: Vec<f64> = [0, 1, 2, 3, 4, 5, 6].map(|number| drawing.block(number).unwrap()).concat();
    assert_eq!(drawn, [0, 1, 2, 3, 4, 5, 6].map(|number| drawing.block(number).unwrap()).concat());
    let drawn = layout.table_of(drawn).unwrap();
    assert_eq!(drawn.len(), 100_000);
    let red_share = |table: &Table| share(table, |row, class| row[0] == 1.0 && class == 1);
    assert!((red_share(&drawn) - red_share(&table)).abs() < 1e-4);
}

fn refused(plugin: &Plugin, parameters: Value, brief: &Brief) -> String {
    plugin.design(&parameters, brief).unwrap_err().to_string()
}

#[test]
fn what_cannot_be_designed_is_refused_in_a_sentence() {
    let brief = Brief::new(people(1).0, Budget::new(1.0, 1e-6).unwrap());
    for (parameters, why) in [
        (
            json!({ "marginals": [["sze"]] }),
            "the parameters of \"noisy-marginals\": there is no column \"sze\"; the target is \
             called \"target\"",
        ),
        (
            json!({ "marginals": [["size", "size"]] }),
            "the parameters of \"noisy-marginals\": marginals: each table needs one column or more, without \
             duplicates",
        ),
        (
            json!({ "marginals": [] }),
            "the parameters of \"noisy-marginals\": marginals: each table needs one column or more, without \
             duplicates",
        ),
        (
            json!({ "marginals": [["size", "kind"], ["kind", "colour"], ["size", "colour"]] }),
            "the parameters of \"noisy-marginals\": marginals: the tables form a cycle, like the three pairs \
             of three columns; name the three columns as one table, or leave one pair out",
        ),
        (
            json!({ "bins": 1 }),
            "the parameters of \"noisy-marginals\": bins must lie between 2 and 1024, and 1 does not",
        ),
        (
            json!({ "column_bins": { "kind": 3 } }),
            "the parameters of \"noisy-marginals\": column_bins names \"kind\", which is not a column of \
             numbers",
        ),
    ] {
        assert_eq!(refused(&NOISY_MARGINALS, parameters, &brief), why);
    }
    let pure = Brief { budget: Budget::pure(1.0).unwrap(), ..brief.clone() };
    let ball =
        RecordDomain::new(vec!["x".into()], Domain::l2_ball(1, 1.0).unwrap(), TargetDomain::None).unwrap();
    for plugin in ALL {
        assert_eq!(
            refused(&plugin, json!({}), &pure),
            format!("{} does not apply: Gaussian noise needs a δ above zero, for example 1e-6", plugin.name)
        );
        let message = refused(&plugin, json!({}), &Brief::new(ball.clone(), brief.budget));
        assert!(
            message.contains("x is neither a number within bounds of its own nor a category"),
            "{message}"
        );
    }
}

fn epsilons(guarantee: &Guarantee) -> Vec<(Neighbours, f64)> {
    let claims = guarantee.claims.iter().filter(|claim| claim.protects == Unit::Record);
    let dp = claims.filter_map(|claim| match &claim.notion {
        Notion::CentralDp(dp) => Some((dp.neighbours, dp.epsilon)),
        _ => None,
    });
    dp.collect()
}

/// Number of rows in a seeded release of `records` records.
fn seeded_rows(plugin: &Plugin, records: usize) -> usize {
    let (domain, table) = people(records);
    let brief = Brief::new(domain, Budget::new(1.0, 1e-6).unwrap()).with_people(records);
    let design = plugin.design(&json!({ "neighbours": "add-or-remove-one" }), &brief).unwrap();
    design.mechanism().release(&table, &mut Randomness::seeded(7)).unwrap().table.len()
}

/// Under add/remove one record, the number of records is not public: noisy counts determine the number of
/// rows, and replace one record costs more.
#[test]
fn the_number_of_records_is_public_or_noised() {
    let (by_default, clean) = release(&NOISY_MARGINALS, json!({}), 1.0, 2_000);
    assert_eq!(by_default.guarantee.discloses, ["the number of records"]);
    assert_eq!(epsilons(&by_default.guarantee), [(Neighbours::ReplaceOne, 1.0)]);
    assert_eq!(by_default.table.len(), clean.len());
    for plugin in ALL {
        let (release, clean) = release(&plugin, json!({ "neighbours": "add-or-remove-one" }), 1.0, 2_000);
        assert!(release.guarantee.discloses.is_empty());
        // The seed matters: the noise may add up to zero by chance.
        let (rows, records) = (seeded_rows(&plugin, 2_000), clean.len());
        assert!(rows != records && rows.abs_diff(records) < 300, "{}: {rows} rows", plugin.name);
        let [(Neighbours::AddOrRemoveOne, one), (Neighbours::ReplaceOne, replaced)] =
            epsilons(&release.guarantee)[..]
        else {
            panic!("{:?}", release.guarantee)
        };
        assert!(one == 1.0 && (1.3..2.3).contains(&replaced), "{}: {one}, {replaced}", plugin.name);
        // The ledger pays for the more expensive claim.
        assert_eq!(release.guarantee.cost(Unit::Record).0, replaced);
    }
}

#[test]
fn targets_may_be_numbers_or_none() {
    let (domain, table) = people(3_000);
    let numbers = table.records().column(3).to_owned();
    let (columns, features) = (domain.columns().to_vec(), domain.features().clone());
    let real = RecordDomain::new(columns, features, TargetDomain::Real { lower: -1.0, upper: 1.0 }).unwrap();
    let with_number = table.clone().with_target(Target::Real(numbers)).unwrap();
    let without = table.clone().with_target(Target::None).unwrap();
    for plugin in ALL {
        for (domain, table) in [(real.clone(), &with_number), (domain.without_target(), &without)] {
            let brief = Brief::new(domain, Budget::new(4.0, 1e-6).unwrap()).with_people(3_000);
            let design = plugin.design(&json!({}), &brief).unwrap();
            let released =
                design.mechanism().release(table, &mut Randomness::from_os().unwrap()).unwrap().table;
            assert_eq!(released.len(), 3_000);
            let mean = |table: &Table| table.records().column(3).mean().unwrap();
            assert!((mean(&released) - mean(table)).abs() < 0.1, "{}", plugin.name);
            if let (Target::Real(released), Target::Real(clean)) = (released.target(), table.target()) {
                assert!((released.mean().unwrap() - clean.mean().unwrap()).abs() < 0.1, "{}", plugin.name);
            }
        }
    }
}

#[test]
fn other_statistics_are_refused() {
    let (domain, table) = people(50);
    let brief = Brief::new(domain, Budget::new(1.0, 1e-6).unwrap());
    for plugin in ALL {
        let design = plugin.design(&json!({ "bins": 3 }), &brief).unwrap();
        let statistics = design.mechanism().evidence().statistics.unwrap();
        let drawn = statistics.draw(&table, &mut Randomness::from_os().unwrap()).unwrap();
        assert!(statistics.log_likelihood(&table, &drawn).unwrap().is_finite());
        assert!(
            statistics.log_likelihood(&table, &drawn[1..]).is_err() || plugin.name != NOISY_MARGINALS.name
        );
        assert!(statistics.log_likelihood(&table, &[]).is_err());
        let nonsense = vec![1e9; drawn.len()];
        // Numbers that could be counts have a likelihood; a choice beyond all candidates has none.
        assert!(statistics.log_likelihood(&table, &nonsense).is_err() || plugin.name == NOISY_MARGINALS.name);
    }
}

/// At a huge budget a choice is still paid for, and the claim does not exceed the budget.
#[test]
fn huge_budgets_are_spent_and_claimed() {
    for plugin in ALL {
        let (release, clean) = release(&plugin, json!({ "bins": 10 }), 1e5, 1_000);
        assert_eq!(epsilons(&release.guarantee), [(Neighbours::ReplaceOne, 1e5)]);
        assert_eq!(release.table.len(), clean.len());
    }
    let tiny = Brief::new(people(1).0, Budget::new(1e-13, 1e-16).unwrap());
    for plugin in ALL {
        let why = refused(&plugin, json!({}), &tiny);
        assert!(why.contains("a scale of noise on counts must be between"), "{why}");
    }
}

/// Six columns of normal numbers with correlation ½, between −5 and 5 standard deviations.
fn correlated(records: usize) -> (RecordDomain, Table) {
    let columns: Vec<String> = (0..6).map(|at| format!("x{at}")).collect();
    let domain = RecordDomain::new(columns.clone(), Domain::unit_box(6), TargetDomain::None).unwrap();
    let mut stream = Randomness::seeded(5).streams().stream(0);
    let mut normal = || (0..12).map(|_| draw::uniform(&mut stream)).sum::<f64>() - 6.0;
    let mut cells = Array2::zeros((records, 6));
    for mut row in cells.rows_mut() {
        let common = normal();
        row.iter_mut()
            .for_each(|cell| *cell = (0.5 + (common + normal()) / 2f64.sqrt() / 10.0).clamp(0.0, 1.0));
    }
    (domain, Table::new(columns, cells, Target::None).unwrap())
}

/// Mean correlation of all pairs of columns.
fn mean_correlation(table: &Table) -> f64 {
    let centred = table.records() - &table.records().mean_axis(ndarray::Axis(0)).unwrap();
    let covariance = centred.t().dot(&centred);
    let correlation = |(one, other): (usize, usize)| {
        covariance[[one, other]] / (covariance[[one, one]] * covariance[[other, other]]).sqrt()
    };
    let pairs: Vec<(usize, usize)> =
        (0..6).flat_map(|one| (one + 1..6).map(move |other| (one, other))).collect();
    pairs.iter().copied().map(correlation).sum::<f64>() / pairs.len() as f64
}

/// Tables of all fifteen pairs, measured plainly with the same budget, have a mean correlation of 0.49.
#[test]
fn rows_keep_the_correlations_of_all_pairs() {
    let (domain, table) = correlated(100_000);
    for (epsilon, least) in [(1.0, 0.35), (f64::INFINITY, 0.45)] {
        let brief = Brief::new(domain.clone(), Budget::new(epsilon, 1e-6).unwrap()).with_people(100_000);
        let design = ADAPTIVE_MARGINALS.design(&json!({ "workload": "all-pairs" }), &brief).unwrap();
        let release = design.mechanism().release(&table, &mut Randomness::from_os().unwrap()).unwrap();
        let kept = mean_correlation(&release.table);
        assert!(kept >= least, "{kept} of {} at ε = {epsilon}", mean_correlation(&table));
    }
}

/// Incomes within bounds of 0 to 10 million, scaled to [0, 1]: lognormal with median 29,700. The rows have
/// their median within a factor of two, and their mean within a factor of 1.5.
#[test]
fn rows_keep_a_long_tail_within_wide_bounds() {
    let (_, table) = correlated(20_000);
    let income = |x: f64| ((10.3 + 9.0 * (x - 0.5)).exp() / 1e7).min(1.0);
    let columns = vec!["income".to_owned(), "size".to_owned()];
    let cells = Array2::from_shape_fn((table.len(), 2), |(row, column)| match column {
        0 => income(table.records()[[row, 0]]),
        _ => table.records()[[row, 1]],
    });
    let domain = RecordDomain::new(columns.clone(), Domain::unit_box(2), TargetDomain::None).unwrap();
    let table = Table::new(columns, cells, Target::None).unwrap();
    let summary = |table: &Table| {
        let mut incomes = table.records().column(0).to_vec();
        incomes.sort_by(f64::total_cmp);
        [incomes[incomes.len() / 2], incomes.iter().sum::<f64>() / incomes.len() as f64]
    };
    let [median, mean] = summary(&table);
    for plugin in [MST, ADAPTIVE_MARGINALS] {
        let brief = Brief::new(domain.clone(), Budget::new(2.0, 1e-6).unwrap()).with_people(20_000);
        let design = plugin.design(&json!({}), &brief).unwrap();
        let release = design.mechanism().release(&table, &mut Randomness::from_os().unwrap()).unwrap();
        let [kept_median, kept_mean] = summary(&release.table);
        assert!((0.5..2.0).contains(&(kept_median / median)), "{}: {kept_median} of {median}", plugin.name);
        assert!((0.67..1.5).contains(&(kept_mean / mean)), "{}: {kept_mean} of {mean}", plugin.name);
    }
}
