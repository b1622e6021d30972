//! Tests that records in blocks give the same release as all records at once.

use scumble_core::{
    Brief, CuratorMechanism, Designed, Error, Outcome, Plugin, Randomness, Release, Table, Target,
};
use scumble_private_models::{NOISY_MOMENTS, PRIVATE_LOGISTIC, PRIVATE_RIDGE};
use serde_json::json;
use std::sync::Arc;

/// Returns the records of the plugin's example, repeated `times` times, and its brief.
fn people(plugin: &Plugin, times: usize) -> (Brief, Table) {
    let example = (plugin.example)().unwrap();
    let rows: Vec<usize> = (0..times * example.table.len()).map(|row| row % example.table.len()).collect();
    (example.brief, example.table.select(&rows).unwrap())
}

fn curator(plugin: &Plugin, brief: &Brief) -> Arc<dyn CuratorMechanism> {
    let Designed::Curator(curator) = plugin.design(&json!({}), brief).unwrap().mechanism().clone() else {
        panic!("{} is not run by a curator", plugin.name)
    };
    curator
}

/// Releases records that arrive in these blocks.
fn in_blocks(curator: &dyn CuratorMechanism, table: &Table, blocks: &[usize]) -> Release {
    let layout = curator.domain().layout();
    let mut gathering = curator.start();
    let mut start = 0;
    for block in blocks {
        gathering.add(&layout.flat(table, start..start + block)).unwrap();
        start += block;
    }
    assert_eq!(start, table.len());
    let wrong = gathering.add(&[0.5]).unwrap_err();
    assert!(matches!(wrong, Error::Shape { .. }), "{wrong}");
    gathering.release(&mut Randomness::seeded(7)).unwrap().release().unwrap()
}

#[test]
fn blocks_give_the_release_of_the_whole_table_to_the_bit() {
    for plugin in [NOISY_MOMENTS, PRIVATE_LOGISTIC, PRIVATE_RIDGE] {
        let (brief, table) = people(&plugin, 60);
        let curator = curator(&plugin, &brief);
        let whole = curator.release(&table, &mut Randomness::seeded(7)).unwrap();
        for blocks in [&[2400][..], &[1, 0, 1023, 1025, 351], &[2000, 400]] {
            let gathered = in_blocks(&*curator, &table, blocks);
            assert_eq!(gathered.table, whole.table, "{} of {blocks:?}", plugin.name);
            assert_eq!(gathered.guarantee, whole.guarantee);
            assert_eq!(gathered.noise, whole.noise);
            let scores = |release: &Release| release.key.model().map(|model| model.scores(&table).unwrap());
            assert_eq!(scores(&gathered), scores(&whole), "{}", plugin.name);
            assert_eq!(scores(&whole).is_some(), plugin.name != NOISY_MOMENTS.name);
        }
    }
}

/// Sums do not depend on the order of records.
#[test]
fn records_in_another_order_give_the_same_release() {
    for plugin in [NOISY_MOMENTS, PRIVATE_LOGISTIC, PRIVATE_RIDGE] {
        let (brief, table) = people(&plugin, 60);
        let curator = curator(&plugin, &brief);
        let reversed = table.select(&(0..table.len()).rev().collect::<Vec<_>>()).unwrap();
        let [one, other] =
            [table, reversed].map(|table| curator.release(&table, &mut Randomness::seeded(7)).unwrap().table);
        assert_eq!(one, other, "{}", plugin.name);
    }
}

/// 1,200,000 packed records of 16 bytes are in a temporary file, from which each step reads blocks. Their
/// mean gradients equal the mean gradients of the example's 40 records.
#[test]
fn records_that_do_not_fit_into_memory_are_learned_from_as_those_that_do() {
    let (brief, few) = people(&PRIVATE_LOGISTIC, 1);
    let exact = Brief { budget: scumble_core::Budget::new(f64::INFINITY, 1e-6).unwrap(), ..brief };
    let design = PRIVATE_LOGISTIC.design(&json!({ "steps": 3 }), &exact).unwrap();
    let Designed::Curator(curator) = design.mechanism() else {
        panic!("the mechanism is not run by a curator")
    };
    let layout = exact.domain.layout();
    let block = layout.flat(&few, 0..few.len()).repeat(1000);
    let mut gathering = curator.start();
    (0..30).for_each(|_| gathering.add(&block).unwrap());
    let Outcome::Model(many) = gathering.release(&mut Randomness::seeded(7)).unwrap() else {
        panic!("it releases a model")
    };
    let from_few = curator.release(&few, &mut Randomness::seeded(7)).unwrap();
    let off =
        (many.table.records() - from_few.table.records()).fold(0.0, |most: f64, off| most.max(off.abs()));
    assert!(off < 1e-9, "{off}");
}

/// Each block has the means of its classes, so a table of many blocks has them, too.
#[test]
fn rows_are_drawn_in_blocks_that_have_the_same_moments() {
    let (brief, few) = people(&NOISY_MOMENTS, 1);
    let curator = curator(&NOISY_MOMENTS, &brief);
    let layout = brief.domain.layout();
    let block = layout.flat(&few, 0..few.len()).repeat(500);
    let mut gathering = curator.start();
    (0..5).for_each(|_| gathering.add(&block).unwrap());
    let Outcome::Synthetic(drawing) = gathering.release(&mut Randomness::seeded(7)).unwrap() else {
        panic!("it draws records")
    };
    assert_eq!((drawing.records(), drawing.blocks()), (100_000, 7));
    let blocks = [0, 1].map(|number| layout.table_of(drawing.block(number).unwrap()).unwrap());
    assert_eq!(blocks[1], layout.table_of(drawing.block(1).unwrap()).unwrap());
    let shares = |table: &Table| {
        let Target::Class(classes) = table.target() else { panic!("it has a class") };
        classes.iter().sum::<usize>() as f64 / table.len() as f64
    };
    assert!((shares(&blocks[0]) - shares(&blocks[1])).abs() < 1e-4);
    let means = blocks.each_ref().map(|table| table.records().mean_axis(ndarray::Axis(0)).unwrap());
    let off = (&means[0] - &means[1]).fold(0.0, |most: f64, off| most.max(off.abs()));
    assert!(off < 1e-3, "{off}");
    assert!(drawing.block(7).unwrap().is_empty());
}
