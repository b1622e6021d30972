//! Whole releases: records in, released records out.

use crate::{Contestant, Result, Section};
use ndarray::Array2;
use scumble::registry::{
    Brief, Budget, Domain, Randomness, RecordDomain, Registry, Table, Target, TargetDomain,
};
use std::rc::Rc;

const RECORDS: usize = 5_000;
const COLUMNS: usize = 30;
const VALUES: usize = RECORDS * COLUMNS;

pub(crate) fn release() -> Result<Section> {
    let columns: Vec<String> = (1..=COLUMNS).map(|at| format!("x{at}")).collect();
    let domain = RecordDomain::new(columns.clone(), Domain::unit_box(COLUMNS), TargetDomain::None)?;
    let brief = Brief::new(domain, Budget::new(1.0, 1e-6)?);
    let records = Array2::from_shape_fn((RECORDS, COLUMNS), |(row, column)| {
        ((row * 31 + column * 17) % 1000) as f64 / 999.0
    });
    let table = Rc::new(Table::new(columns, records, Target::None)?);
    let registry = Registry::installed()?;
    let mut contestants = vec![];
    for name in ["laplace", "gaussian", "piecewise", "direct", "identity"] {
        let design = registry.get(name)?.design(&Default::default(), &brief)?;
        let (table, mut randomness) = (table.clone(), Randomness::from_os()?);
        contestants.push(Contestant::timed(format!("scumble, `{name}`"), VALUES, move || {
            Ok(design.mechanism().release(&table, &mut randomness)?)
        }));
    }
    contestants
        .push(Contestant::timed("a plain copy of the memory", VALUES, move || Ok(table.records().clone())));
    let what = "A value of 5,000 records of 30 numbers: checked, clipped, rounded, noised, and put into a new table.";
    Ok(Section { title: "A release".into(), what: what.into(), contestants })
}
