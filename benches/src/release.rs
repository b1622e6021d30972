//! Whole releases, from records to released records.

use crate::{Contestant, Host, Result, Section, random_bits, records};
use scumble::core::{Design, Randomness, Table};
use std::rc::Rc;

const RECORDS: usize = 5_000;
const COLUMNS: usize = 30;
const VALUES: usize = RECORDS * COLUMNS;

pub(crate) fn release(host: &Host) -> Result<Section> {
    let table = Rc::new(records::table(RECORDS, COLUMNS)?);
    let mut contestants = vec![];
    for name in ["laplace", "gaussian", "piecewise", "direct", "identity"] {
        let (design, table) = (records::design(name, COLUMNS)?, table.clone());
        contestants.push(released(design, table, format!("scumble, `{name}`"), VALUES)?);
    }
    contestants.extend(host.numpy("numpy, `clip` and `laplace`, floating point", "release"));
    let bits = bits(&records::design("laplace", COLUMNS)?, &table)?;
    let what = format!(
        "Time per value of {RECORDS} records of {COLUMNS} numbers. A release checks, clips and rounds the \
         values, adds noise, and writes a new table. The limits are the {bits:.2} random bits a value of \
         `laplace`, and a copy of the table's memory."
    );
    let limits = vec![
        random_bits::raw("raw ChaCha20, as many bits as `laplace` takes", bits, VALUES),
        Contestant::timed("a plain copy of the memory", VALUES, move || Ok(table.records().clone())),
    ];
    Ok(Section::new(what, contestants).limited_by(limits))
}

/// Creates a contestant that releases a table of `values` values.
pub(crate) fn released(
    design: Design,
    table: Rc<Table>,
    name: impl Into<String>,
    values: usize,
) -> Result<Contestant> {
    let mut randomness = Randomness::from_os()?;
    Ok(Contestant::timed(name, values, move || Ok(design.mechanism().release(&table, &mut randomness)?)))
}

/// Returns the number of random bits per released value. The final position of the random stream gives this
/// number.
fn bits(design: &Design, table: &Table) -> Result<f64> {
    let mechanism = design.local()?;
    let mut stream = Randomness::from_os()?.streams().stream(0);
    for record in table.records().outer_iter() {
        mechanism.perturb(&mut mechanism.encode(&record.to_vec())?, &mut stream)?;
    }
    Ok(32.0 * stream.get_word_pos() as f64 / table.records().len() as f64)
}
