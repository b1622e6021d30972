//! Tables of many columns. This test is alone in its process, because it reads the process's memory and
//! interrupts its work.

use scumble_core::interrupt::Asked;
use scumble_core::{
    Brief, Budget, Designed, Domain, Error, Plugin, Randomness, RecordDomain, Table, Target, TargetDomain,
};
use scumble_marginals::{ADAPTIVE_MARGINALS, MST, NOISY_MARGINALS};
use serde_json::{Value, json};

/// Records of `columns` booleans.
fn booleans(columns: usize) -> Brief {
    let names = (0..columns).flat_map(|at| [format!("q{at}=no"), format!("q{at}=yes")]).collect();
    let features = Domain::product(vec![Domain::one_hot(2).unwrap(); columns]).unwrap();
    let target = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let domain = RecordDomain::new(names, features, target).unwrap();
    Brief::new(domain, Budget::new(1.0, 1e-6).unwrap()).with_people(500)
}

fn people(brief: &Brief, records: usize) -> Table {
    let columns = brief.domain.columns();
    let cell = |(row, column): (usize, usize)| {
        let answer = (row * 7 + column / 2 * 13) % 11 < 5;
        f64::from(u8::from(answer == (column % 2 == 1)))
    };
    let cells = ndarray::Array2::from_shape_fn((records, columns.len()), cell);
    Table::new(columns.to_vec(), cells, Target::Class((0..records).map(|row| row % 2).collect())).unwrap()
}

fn loaded(plugin: &Plugin, parameters: &Value, brief: &Brief) -> Designed {
    let design = plugin.design(parameters, brief).unwrap();
    (plugin.build)(&design.state().to_string().parse().unwrap()).unwrap()
}

// A single test, because memory and interrupts belong to the whole process.
#[test]
fn many_columns_are_refused_or_designed_before_tables_are_built_and_an_interrupt_is_heard() {
    let brief = booleans(20_000);
    for (plugin, parameters) in [(MST, json!({})), (ADAPTIVE_MARGINALS, json!({ "workload": "all-pairs" }))] {
        let refused = plugin.design(&parameters, &brief).unwrap_err();
        assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
        let what = "tables of 20001 columns (fewer columns or bins need less) asks for ";
        assert!(refused.to_string().contains(what), "{refused}");
    }
    loaded(&NOISY_MARGINALS, &json!({}), &brief);
    let brief = booleans(4_000);
    for plugin in [MST, ADAPTIVE_MARGINALS] {
        loaded(&plugin, &json!({}), &brief);
    }
    // A table of 27 columns fits into memory; its residuals, 3²⁷ numbers, do not.
    let names: Vec<String> = (0..27).map(|at| format!("q{at}")).collect();
    let refused = NOISY_MARGINALS.design(&json!({ "marginals": [names] }), &booleans(27)).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    if let Some(peak) = scumble_testing::peak_memory() {
        assert!(peak < 300.0, "designs took {peak} MB");
    }

    let brief = booleans(40);
    let people = people(&brief, 300);
    for plugin in [MST, ADAPTIVE_MARGINALS, NOISY_MARGINALS] {
        let mechanism = loaded(&plugin, &json!({}), &brief);
        let released = || mechanism.release(&people, &mut Randomness::seeded(1)).map(|release| release.table);
        let before = released().unwrap();
        let interruption = Asked::now();
        assert!(matches!(released(), Err(Error::Interrupted(_))), "{}", plugin.name);
        drop(interruption);
        assert_eq!(released().unwrap(), before);
    }
}
