//! Tests of records collected from reports against the original records.

use approx::assert_abs_diff_eq;
use ndarray::Array2;
use rand::Rng;
use scumble_core::{
    Brief, Budget, Composed, Design, Designed, Domain, LocalMechanism, Plugin, Randomness, RecordDomain,
    Table, Target, TargetDomain, Volunteers,
};
use scumble_reports::{
    DIRECTION_REPORT, DirectionReport, GRADIENT_REPORT, LEARNED_CODES, PAIR_RESPONSE, PairResponse,
};
use serde_json::{Value, json};

const SEED: u64 = 11;

/// 20,000 records of a number and one of three colours; both depend on the class.
fn people(target: TargetDomain) -> (RecordDomain, Table) {
    let columns = ["size", "colour=red", "colour=green", "colour=blue"].map(str::to_owned).to_vec();
    let features =
        Domain::product([Domain::interval(0.0, 2.0).unwrap(), Domain::one_hot(3).unwrap()]).unwrap();
    let classes: Vec<usize> = (0..20_000).map(|row| usize::from(row % 4 == 0)).collect();
    let size = |row: usize| (row * 7919 % 1000) as f64 / 1000.0 + classes[row] as f64;
    let colour = |row: usize| if classes[row] == 1 { 2 } else { row / 4 % 2 };
    let records = Array2::from_shape_fn((classes.len(), 4), |(row, column)| match column {
        0 => size(row),
        level => f64::from(u8::from(colour(row) == level - 1)),
    });
    let values = match target {
        TargetDomain::Real { .. } => Target::Real(records.column(0).mapv(|size| 10.0 - 2.0 * size)),
        _ => Target::Class(classes.clone().into()),
    };
    let table = Table::new(columns.clone(), records, values).unwrap();
    (RecordDomain::new(columns, features, target).unwrap(), table)
}

fn classes() -> TargetDomain {
    TargetDomain::Class { levels: vec!["no".into(), "yes".into()] }
}

fn design(plugin: &Plugin, parameters: Value, domain: RecordDomain, table: &Table, epsilon: f64) -> Design {
    let mut brief = Brief::new(domain, Budget::pure(epsilon).unwrap()).with_people(table.len());
    brief.volunteers = Volunteers::Public(table.select(&(0..2_000).collect::<Vec<_>>()).unwrap());
    plugin.design(&parameters, &brief).unwrap()
}

/// 10,000 records collected from the reports of all people.
fn collected(design: &Design, table: &Table) -> Table {
    let mut randomness = Randomness::seeded(SEED);
    let release = design.mechanism().release(table, &mut randomness).unwrap();
    release.collected(10_000, &mut randomness.streams().stream(0)).unwrap().unwrap().table
}

/// Returns the mean of a column among the records of a class, and the share of the class.
fn class_mean_and_share(table: &Table, class: usize, column: usize) -> (f64, f64) {
    let Target::Class(classes) = table.target() else { panic!("classes") };
    let rows: Vec<usize> = (0..table.len()).filter(|&row| classes[row] == class).collect();
    let sum: f64 = rows.iter().map(|&row| table.records()[[row, column]]).sum();
    (sum / rows.len() as f64, rows.len() as f64 / table.len() as f64)
}

/// Compares the means of every column given the label, and the label's share. Six standard errors of the
/// 20,000 answers at ε = 2 are less than 0.08.
#[test]
fn columns_go_with_the_label_as_they_did() {
    for (plugin, parameters) in [
        (PAIR_RESPONSE, json!({"bins": 8})),
        (LEARNED_CODES, json!({"codes": 6})),
        (DIRECTION_REPORT, json!({"directions": 3, "clipped": 0.0})),
    ] {
        for epsilon in [2.0, f64::INFINITY] {
            let (domain, table) = people(classes());
            let records = collected(&design(&plugin, parameters.clone(), domain, &table, epsilon), &table);
            for class in [0, 1] {
                for column in 0..4 {
                    let (truth, found) = (
                        class_mean_and_share(&table, class, column),
                        class_mean_and_share(&records, class, column),
                    );
                    assert_abs_diff_eq!(found.0, truth.0, epsilon = 0.08);
                    assert_abs_diff_eq!(found.1, truth.1, epsilon = 0.04);
                }
            }
        }
    }
}

/// Domain of ten numbers in [0, 1] with one of eight labels, and 20,000 records. Seven labels have 7 % of the
/// records together. A larger `power` moves the numbers to 0.
fn rarely_labelled(power: i32) -> (RecordDomain, Table) {
    let columns: Vec<String> = (0..10).map(|column| format!("x{column}")).collect();
    let levels = (0..8).map(|level| level.to_string()).collect();
    let target = TargetDomain::Class { levels };
    let mut drawn = Randomness::seeded(SEED).streams().stream(0);
    let records = Array2::from_shape_simple_fn((20_000, 10), || drawn.gen_range(0.0..1.0f64).powi(power));
    let labels = (0..20_000).map(|row| if row % 100 < 93 { 0 } else { row % 7 + 1 }).collect();
    let table = Table::new(columns.clone(), records, Target::Class(labels)).unwrap();
    (RecordDomain::new(columns, Domain::unit_box(10), target).unwrap(), table)
}

/// Noise above zero in the many cells of rare labels must not add up to records. If all cells of a table are
/// made non-negative at once, seven labels with 7 % of the people get half of the records. In ten releases,
/// no share was further than 0.13 from the truth.
#[test]
fn rare_labels_gain_no_records_from_noise() {
    let (domain, table) = rarely_labelled(1);
    for (plugin, parameters) in [
        (PAIR_RESPONSE, json!({"bins": 16})),
        (LEARNED_CODES, json!({"codes": 16})),
        (DIRECTION_REPORT, json!({"directions": 3})),
    ] {
        let records = collected(&design(&plugin, parameters, domain.clone(), &table, 1.0), &table);
        let (_, common) = class_mean_and_share(&records, 0, 0);
        assert!((common - 0.93).abs() < 0.2, "{}: {common} of the records, not 0.93", plugin.name);
    }
}

/// Far fewer people than volunteers have some of the codes. What their rates lack must not go to rare labels:
/// shifted to the sum 1, the rates gave them 38 % of the records.
#[test]
fn rare_labels_gain_no_records_where_people_differ_from_volunteers() {
    let ((domain, volunteers), (_, people)) = (rarely_labelled(1), rarely_labelled(2));
    let design = design(&LEARNED_CODES, json!({"codes": 16}), domain, &volunteers, 8.0);
    let (_, common) = class_mean_and_share(&collected(&design, &people), 0, 0);
    assert!((common - 0.93).abs() < 0.03, "{common} of the records, not 0.93");
}

/// Checks that all intervals of one column together cover the population's shares in nine of ten releases or
/// more.
///
/// Intervals of half the width do not. If nine of ten should cover, fewer than 43 of 60 releases cover once
/// in 10⁵.
#[test]
fn intervals_of_joint_frequencies_cover_the_population() {
    const RELEASES: u64 = 60;
    let (domain, population) = people(classes());
    let mechanism = PairResponse::new(domain, 1.5, 4, None).unwrap();
    let shares = |column: &dyn Fn(usize) -> usize, levels: usize| {
        let Target::Class(labels) = population.target() else { panic!("classes") };
        let mut shares = Array2::<f64>::zeros((levels, 2));
        (0..population.len())
            .for_each(|row| shares[[column(row), labels[row]]] += 1.0 / population.len() as f64);
        shares
    };
    let records = population.records();
    let truth = [
        shares(&|row| ((records[[row, 0]] * 2.0) as usize).min(3), 4),
        shares(&|row| (1..4).position(|level| records[[row, level]] == 1.0).unwrap(), 3),
    ];
    let (mut covered, mut covered_by_half) = (0, 0);
    for seed in 0..RELEASES {
        let mut randomness = Randomness::seeded(seed);
        let mut drawn = randomness.streams().stream(1 << 40);
        let sample: Vec<usize> = (0..4000).map(|_| drawn.gen_range(0..population.len())).collect();
        let reports = mechanism.release(&population.select(&sample).unwrap(), &mut randomness).unwrap().table;
        let all = |scale: f64| {
            let found = mechanism.frequencies(&reports, 0.9).unwrap();
            let pairs = found.iter().zip(&truth).flat_map(|(found, truth)| found.iter().zip(truth));
            let mut outside = pairs.map(|(estimate, truth)| {
                (estimate.value - truth).abs() > scale * (estimate.upper - estimate.value)
            });
            !outside.any(|is_outside| is_outside)
        };
        covered += u32::from(all(1.0));
        covered_by_half += u32::from(all(0.5));
    }
    // Two columns, each covered in nine of ten releases.
    assert!(covered >= 43 && covered_by_half < 43, "{covered}, by half {covered_by_half} of {RELEASES}");
    assert!(mechanism.frequencies(&population, 0.9).is_err(), "records are no reports");
}

/// A numeric label is reported by its bin. Its slope on the number that it follows is −2.
#[test]
fn a_number_as_the_label_goes_with_the_columns() {
    let target = TargetDomain::Real { lower: 0.0, upper: 10.0 };
    for (plugin, parameters) in [
        (PAIR_RESPONSE, json!({"bins": 16})),
        (LEARNED_CODES, json!({"codes": 20})),
        (DIRECTION_REPORT, json!({"clipped": 0.0})),
    ] {
        let (domain, table) = people(target.clone());
        let records = collected(&design(&plugin, parameters, domain, &table, 6.0), &table);
        let Target::Real(values) = records.target() else { panic!("numbers") };
        let x = records.records().column(0);
        let (mean_x, mean_y) = (x.mean().unwrap(), values.mean().unwrap());
        let covariance = x.iter().zip(values).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>();
        let slope = covariance / x.iter().map(|x| (x - mean_x).powi(2)).sum::<f64>();
        assert_abs_diff_eq!(slope, -2.0, epsilon = 0.3);
    }
}

/// Compares each label's share, and the mean of its clipped records along each direction, with the people's
/// values.
///
/// The tolerance is five standard errors of 20,000 answers. For means this is half of a record's deviation at
/// ε = 1, and a fiftieth without noise.
#[test]
fn reports_of_directions_tell_shares_and_means_of_labels() {
    let (domain, table) = people(classes());
    let Target::Class(labels) = table.target() else { panic!("classes") };
    for epsilon in [1.0, 3.0, f64::INFINITY] {
        let design = design(&DIRECTION_REPORT, json!({"directions": 2}), domain.clone(), &table, epsilon);
        let mechanism = design.mechanism().downcast_ref::<DirectionReport>().unwrap();
        let reports = design.mechanism().release(&table, &mut Randomness::seeded(SEED)).unwrap().table;
        let found = mechanism.label_estimates(&reports).unwrap();
        let oracle = mechanism.oracle();
        let error = (oracle.shrinkage().powi(-2) / oracle.dim() as f64 / table.len() as f64).sqrt();
        for (label, estimate) in found.iter().enumerate() {
            let rows: Vec<usize> = (0..table.len()).filter(|&row| labels[row] == label).collect();
            let share = rows.len() as f64 / table.len() as f64;
            // A share has the weight 1/√3 in a report of two directions, and a coordinate √(2/3) over the
            // clipping norm.
            assert_abs_diff_eq!(estimate.share, share, epsilon = 5.0 * error * 3f64.sqrt());
            let all =
                rows.iter().map(|&row| mechanism.coordinates(&table.records().row(row).to_vec()).unwrap());
            let mean = all.reduce(|sum, x| sum + x).unwrap() / rows.len() as f64;
            let norm = mechanism.clipping_norm();
            for (at, variance) in mechanism.variances().iter().enumerate() {
                let error = error * norm * 1.5f64.sqrt() / share;
                let trust = 0.05 * variance / (0.05 * variance + error.powi(2));
                // An error of a share moves the mean by as much.
                let off = 5.0 * error * (1.0 + mean[at].abs() / norm);
                assert_abs_diff_eq!(
                    estimate.mean[at],
                    trust * mean[at],
                    epsilon = trust * off + 0.05 * mean[at].abs()
                );
            }
        }
    }
}

/// Collects people without labels who differ from the volunteers: all are of one class, to which a quarter of
/// the volunteers belong.
///
/// Six standard errors of the 5,000 answers at ε = 2 are less than 0.1. The volunteers alone would give a
/// size of 0.75 instead of 1.5.
#[test]
fn people_without_labels_are_collected_as_they_are_and_not_as_volunteers() {
    let (domain, table) = people(classes());
    let Target::Class(labels) = table.target() else { panic!("classes") };
    let rows_of_class: Vec<usize> = (0..table.len()).filter(|&row| labels[row] == 1).collect();
    let unlabelled = domain.without_target();
    let all = table.part(&unlabelled).unwrap();
    let people = all.select(&rows_of_class).unwrap();
    for (plugin, parameters) in
        [(LEARNED_CODES, json!({"codes": 6})), (DIRECTION_REPORT, json!({"directions": 3, "clipped": 0.0}))]
    {
        let design = design(&plugin, parameters, unlabelled.clone(), &all, 2.0);
        let found = collected(&design, &people).records().mean_axis(ndarray::Axis(0)).unwrap();
        for (found, truth) in found.iter().zip(people.records().mean_axis(ndarray::Axis(0)).unwrap()) {
            assert_abs_diff_eq!(*found, truth, epsilon = 0.1);
        }
    }
}

/// 60 volunteers, a third with the wrong label, teach a weak model of x > 1/2. The reports of 20,000 others
/// move it to theirs, and more so with larger ε.
///
/// The contrast is the label's probability above 1/2 less its probability below, estimated from 10,000
/// records. Six standard errors are 0.06.
#[test]
fn reports_of_gradients_move_what_volunteers_taught() {
    let domain =
        RecordDomain::new(vec!["x".into(), "of no use".into()], Domain::unit_box(2), classes()).unwrap();
    let table = |rows: usize, wrong: usize| {
        let records = Array2::from_shape_fn((rows, 2), |(row, column)| {
            (row * [7919, 104_729][column] % 10_007) as f64 / 10_007.0
        });
        let labels = |row: usize| usize::from((records[[row, 0]] > 0.5) != row.is_multiple_of(wrong));
        let target = Target::Class((0..rows).map(labels).collect());
        Table::new(domain.columns().to_vec(), records, target).unwrap()
    };
    let (volunteers, people) = (table(60, 3), table(20_000, 20));
    let contrast = |table: &Table| {
        let Target::Class(classes) = table.target() else { panic!("classes") };
        let positive_share = |is_above: bool| {
            let is_here = |row: &usize| (table.records()[[*row, 0]] > 0.5) == is_above;
            let rows: Vec<usize> = (0..table.len()).filter(is_here).collect();
            rows.iter().map(|&row| classes[row]).sum::<usize>() as f64 / rows.len() as f64
        };
        positive_share(true) - positive_share(false)
    };
    let found = [0.01, 1.0, 4.0, f64::INFINITY].map(|epsilon| {
        let mut brief = Brief::new(domain.clone(), Budget::pure(epsilon).unwrap()).with_people(people.len());
        brief.volunteers = Volunteers::Public(volunteers.clone());
        contrast(&collected(&GRADIENT_REPORT.design(&Value::Null, &brief).unwrap(), &people))
    });
    let [taught, some, more, all] = found;
    assert!(contrast(&volunteers) < 0.4 && contrast(&people) > 0.85, "the contrast is wrong");
    assert!(taught < 0.4 && some > taught + 0.06 && more > taught + 0.12 && all > taught + 0.12, "{found:?}");
}

#[test]
fn the_order_of_reports_changes_nothing() {
    let (domain, table) = people(classes());
    for plugin in [PAIR_RESPONSE, LEARNED_CODES] {
        let design = design(&plugin, Value::Null, domain.clone(), &table, 1.0);
        let collector = design.local().unwrap().collector().unwrap();
        let reports = design.mechanism().release(&table, &mut Randomness::seeded(SEED)).unwrap().table;
        let reversed = reports.select(&(0..reports.len()).rev().collect::<Vec<_>>()).unwrap();
        let collect = |reports: &Table| {
            collector.collect(reports, 100, &mut Randomness::seeded(SEED).streams().stream(0)).unwrap()
        };
        assert_eq!(collect(&reports), collect(&reversed), "{}", plugin.name);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (domain, table) = people(classes());
    let brief = Brief::new(domain.clone(), Budget::pure(1.0).unwrap());
    let refused = |plugin: &Plugin, parameters: Value, brief: &Brief| {
        plugin.design(&parameters, brief).unwrap_err().to_string()
    };
    for bins in [0, 1, 2000] {
        let message = refused(&PAIR_RESPONSE, json!({"bins": bins}), &brief);
        assert!(message.contains("bins must lie between"), "{message}");
    }
    let message =
        refused(&PAIR_RESPONSE, Value::Null, &Brief { domain: domain.without_target(), ..brief.clone() });
    assert!(message.contains("there is no label"), "{message}");
    let message =
        refused(&PAIR_RESPONSE, Value::Null, &Brief { domain: domain.without_features(), ..brief.clone() });
    assert!(message.contains("no column"), "{message}");
    let message = refused(&LEARNED_CODES, Value::Null, &brief);
    assert!(message.contains("volunteers"), "{message}");
    let private = Brief { volunteers: Volunteers::Private(table.clone()), ..brief.clone() };
    refused(&LEARNED_CODES, Value::Null, &private);
    let public = Brief { volunteers: Volunteers::Public(table), ..brief };
    let message = refused(&LEARNED_CODES, json!({"codes": 1}), &public);
    assert!(message.contains("codes must lie between"), "{message}");
    for (directions, reason) in [
        (0, "directions must lie between"),
        (1u64 << 40, "directions must lie between"),
        (100, "can be moved in 4 directions"),
    ] {
        let message = refused(&GRADIENT_REPORT, json!({"directions": directions}), &public);
        assert!(message.contains(reason), "{message}");
    }
    for directions in [0, 5] {
        let message = refused(&DIRECTION_REPORT, json!({"directions": directions}), &public);
        assert!(message.contains("directions must lie between 1 and"), "{message}");
    }
    let directions = DIRECTION_REPORT.design(&Value::Null, &public).unwrap();
    let directions = directions.mechanism().downcast_ref::<DirectionReport>().unwrap();
    assert!(directions.coordinates(&[0.0; 5]).is_err() && directions.coordinates(&[0.0]).is_err());
    let message = refused(&DIRECTION_REPORT, json!({"clipped": 1.0}), &public);
    assert!(message.contains("clipped must lie between 0 and below 1"), "{message}");
    let unlabelled = Brief { domain: domain.without_target(), ..public.clone() };
    let message = refused(&GRADIENT_REPORT, Value::Null, &unlabelled);
    assert!(message.contains("no target"), "{message}");
    let alike =
        public.volunteers.table().unwrap().clone().with_target(Target::Class(ndarray::Array1::zeros(20_000)));
    let alike = Brief { volunteers: Volunteers::Public(alike.unwrap()), ..public };
    let message = refused(&GRADIENT_REPORT, Value::Null, &alike);
    assert!(message.contains("the same label"), "{message}");
}

/// Volunteers with one number in [0, `upper`].
fn number_brief(values: &[f64], upper: f64, target: TargetDomain) -> Brief {
    let columns = vec!["x".to_owned()];
    let domain = RecordDomain::new(columns.clone(), Domain::interval(0.0, upper).unwrap(), target).unwrap();
    let records = Array2::from_shape_vec((values.len(), 1), values.to_vec()).unwrap();
    let target = match domain.target() {
        TargetDomain::Vector { domain } => Target::Vector(Array2::zeros((values.len(), domain.dim()))),
        _ => Target::None,
    };
    let volunteers = Volunteers::Public(Table::new(columns, records, target).unwrap());
    Brief { volunteers, ..Brief::new(domain, Budget::pure(1.0).unwrap()) }
}

/// Checks that a design refuses domains whose coordinates would be rounding errors or overflow. Every record
/// of a domain must be reportable.
#[test]
fn directions_of_nothing_and_of_numbers_that_overflow_are_refused() {
    let refused = |brief: &Brief| DIRECTION_REPORT.design(&Value::Null, brief).unwrap_err().to_string();
    let message = refused(&number_brief(&[0.1; 10], 1.0, TargetDomain::None));
    assert!(message.contains("records are equal"), "{message}");
    let halves: Vec<f64> = (0..16).map(|row| f64::from(row % 2)).collect();
    let message = refused(&number_brief(&halves, 1e308, TargetDomain::None));
    assert!(message.contains("declare narrower bounds"), "{message}");
    assert!(DIRECTION_REPORT.design(&Value::Null, &number_brief(&halves, 1e60, TargetDomain::None)).is_ok());
    let vector = TargetDomain::Vector { domain: Domain::unit_box(2) };
    for plugin in [PAIR_RESPONSE, LEARNED_CODES, DIRECTION_REPORT, GRADIENT_REPORT] {
        let message =
            plugin.design(&Value::Null, &number_brief(&halves, 1.0, vector.clone())).unwrap_err().to_string();
        assert!(message.contains("the target is a vector"), "{}: {message}", plugin.name);
    }
}

/// Reports are of whole records, so a report cannot be one part of a composition.
#[test]
fn a_composition_has_no_reports() {
    let (domain, table) = people(classes());
    let design = design(&PAIR_RESPONSE, Value::Null, domain.clone(), &table, 1.0);
    let Designed::Local(part) = design.mechanism().clone() else { panic!("the mechanism is not local") };
    let message = Composed::over(domain, vec![part]).unwrap_err().to_string();
    assert!(message.contains("such reports cannot be composed"), "{message}");
}
