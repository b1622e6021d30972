//! Releases with little noise are near the data; a record unlike all others is disclosed.

use scumble_core::{Brief, CuratorMechanism, Example, Halving, Randomness, Table, Target, Volunteers};
use scumble_pac::{PAC_STATISTICS, PacStatistics, Statistic};

fn mechanism(statistic: Statistic, nats: f64) -> (PacStatistics, Table) {
    let example = Example::mixed().unwrap();
    let table = example.table.select(&(0..4000).map(|row| row % 40).collect::<Vec<_>>()).unwrap();
    (PacStatistics::new(example.brief.domain, statistic, nats, 64).unwrap(), table)
}

/// With many nats the released rows have the means of the input records.
#[test]
fn rows_have_the_means_of_the_records() {
    let bins = vec![8, 8, 3, 2];
    for statistic in [
        Statistic::Marginals { bins },
        Statistic::Moments,
        Statistic::Components { components: 3 },
        Statistic::Centers { centers: 6 },
    ] {
        let (mechanism, table) = mechanism(statistic.clone(), 3.0);
        let release = mechanism.release(&table, &mut Randomness::seeded(3)).unwrap();
        assert_eq!(release.table.len(), table.len());
        let counted = matches!(statistic, Statistic::Marginals { .. });
        assert_eq!(release.counted_tables, [[0, 3], [1, 3], [2, 3]][..if counted { 3 } else { 0 }]);
        let (Target::Class(classes), Target::Class(expected)) = (release.table.target(), table.target())
        else {
            panic!("no classes")
        };
        let share = |classes: &ndarray::Array1<usize>| classes.sum() as f64 / classes.len() as f64;
        assert!((share(classes) - share(expected)).abs() < 0.05, "{statistic:?}: {}", share(classes));
        let means = |table: &Table| table.records().mean_axis(ndarray::Axis(0)).unwrap();
        for (found, expected) in means(&release.table).iter().zip(means(&table)) {
            assert!((found - expected).abs() < 0.08, "{statistic:?}: {found} for {expected}");
        }
    }
}

/// Public records are released unchanged. With many nats their answers agree with those of a model of all
/// records.
#[test]
fn public_records_get_answers() {
    let example = Example::mixed().unwrap();
    let table = example.table.select(&(0..4000).map(|row| row % 40).collect::<Vec<_>>()).unwrap();
    let classes = table.records().column(0).mapv(|size| usize::from(size > 0.4));
    let table = table.with_target(Target::Class(classes)).unwrap();
    let queries = table.select(&(0..20).collect::<Vec<_>>()).unwrap();
    let statistic = Statistic::Responses { ridge: 0.001, queries: queries.records().clone() };
    let mechanism = PacStatistics::new(example.brief.domain.clone(), statistic, 3.0, 64).unwrap();
    let release = mechanism.release(&table, &mut Randomness::seeded(3)).unwrap();
    assert_eq!(release.table.records(), queries.records());
    let (Target::Class(answers), Target::Class(truth)) = (release.table.target(), queries.target()) else {
        panic!("the target is not a class")
    };
    let right = answers.iter().zip(truth).filter(|(answer, truth)| answer == truth).count();
    assert!(right >= 18, "{right} of 20");
    // Queries are released in the clear, so only public records are allowed.
    let parameters = serde_json::json!({ "statistic": "responses" });
    for volunteers in [Volunteers::None, Volunteers::Consented(queries.clone()), Volunteers::Private(queries)]
    {
        let brief = Brief { volunteers, ..example.brief.clone() };
        let refused = PAC_STATISTICS.design(&parameters, &brief).unwrap_err().to_string();
        assert!(
            refused.contains("it answers about public records") || refused.contains("must not be saved"),
            "{refused}"
        );
    }
}

/// With many nats a released model predicts like a model of all records.
#[test]
fn models_predict() {
    for statistic in [Statistic::Ridge { ridge: 0.001 }, Statistic::LinearMachine { penalty: 10.0 }] {
        let (mechanism, table) = mechanism(statistic.clone(), 3.0);
        // Classes that the features separate, so that the model can learn them.
        let classes = table.records().column(0).mapv(|size| usize::from(size > 0.4));
        let table = table.with_target(Target::Class(classes.clone())).unwrap();
        let release = mechanism.release(&table, &mut Randomness::seeded(3)).unwrap();
        let Target::Class(predicted) = release.key.model().unwrap().predict(&table).unwrap() else {
            panic!("the target is not a class")
        };
        let right = predicted.iter().zip(&classes).filter(|(label, truth)| label == truth).count();
        assert!(right as f64 > 0.95 * table.len() as f64, "{statistic:?}: {right} of {}", table.len());
    }
}

/// The claim excludes this disclosure, and the card states it. The presence of one record unlike all others
/// is detected, because it makes the noise many times larger. Here the record has a level that nobody else
/// has. Without the record, a count is the same in all halves and is released without noise.
#[test]
fn who_is_among_all_records_shows() {
    let (mechanism, table) = mechanism(Statistic::Marginals { bins: vec![4, 4, 3, 2] }, 0.125);
    let nobody = table.records().column(4).iter().position(|blue| *blue == 0.0).unwrap();
    let rows: Vec<usize> =
        (0..table.len()).map(|row| if table.records()[[row, 4]] == 1.0 { nobody } else { row }).collect();
    let without = table.select(&rows).unwrap();
    let blue = table.records().column(4).iter().position(|blue| *blue == 1.0).unwrap();
    // Puts one blue record in the place of the first record.
    let mut records = without.records().to_owned();
    records.row_mut(0).assign(&table.records().row(blue));
    let with = Table::new(without.columns().to_vec(), records, without.target().clone()).unwrap();
    let exact = |table: &Table| {
        let halved = mechanism.draw(table, 0, &mut Randomness::seeded(5)).unwrap();
        halved.scales.iter().filter(|scale| **scale == 0.0).count()
    };
    assert_eq!(exact(&without) - exact(&with), 1, "a count that varies with one record alone");
    assert!(mechanism.guarantee().to_string().contains("somebody is unlike all others"));
}
