//! Records for the tests.

#![allow(dead_code, reason = "each test takes what it needs")]

use ndarray::{Array1, Array2};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble_core::{
    Brief, Budget, Designed, Domain, Plugin, Randomness, RecordDomain, Release, Table, Target, TargetDomain,
    Volunteers,
};
use serde_json::Value;

/// Domain of records of `dim` numbers in [−1, 1] with one of `classes` classes.
pub fn people(dim: usize, classes: usize) -> RecordDomain {
    let features = Domain::product(vec![Domain::interval(-1.0, 1.0).unwrap(); dim]).unwrap();
    let levels = (1..=classes).map(|class| class.to_string()).collect();
    RecordDomain::new(names(dim), features, TargetDomain::Class { levels }).unwrap()
}

pub fn names(dim: usize) -> Vec<String> {
    (1..=dim).map(|at| format!("x{at}")).collect()
}

/// Draws `n` records uniformly, each with a class by the sign of its first number.
pub fn crowd(dim: usize, n: usize, seed: u64) -> Table {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let records = Array2::from_shape_simple_fn((n, dim), || rng.gen_range(-1.0..1.0));
    let classes = records.outer_iter().map(|record| usize::from(record[0] > 0.0)).collect();
    Table::new(names(dim), records, Target::Class(classes)).unwrap()
}

pub fn table_of(records: Array2<f64>, classes: Array1<usize>) -> Table {
    Table::new(names(records.ncols()), records, Target::Class(classes)).unwrap()
}

pub fn brief(domain: RecordDomain, public: Option<Table>) -> Brief {
    let volunteers = public.map_or(Volunteers::None, Volunteers::Public);
    Brief { volunteers, ..Brief::new(domain, Budget::pure(1.0).unwrap()) }
}

pub fn designed(plugin: &Plugin, parameters: Value, brief: &Brief) -> Designed {
    plugin.design(&parameters, brief).unwrap().into_mechanism()
}

pub fn seeded(mechanism: &Designed, table: &Table, seed: u64) -> Release {
    mechanism.release(table, &mut Randomness::seeded(seed)).unwrap()
}

pub fn fresh(mechanism: &Designed, table: &Table) -> Release {
    mechanism.release(table, &mut Randomness::from_os().unwrap()).unwrap()
}
