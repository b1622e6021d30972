//! Releases from Python, by the package in `python/`, compared with the same releases in Rust.

use crate::stream::Files;
use crate::{Contestant, Host, Result, Section, records};
use std::rc::Rc;

/// Python program that times releases by the Python package.
const PEER: &str = include_str!("../peers/scumble_wheel.py");

const RECORDS: usize = 200_000;
const COLUMNS: usize = 10;
const VALUES: usize = RECORDS * COLUMNS;

/// Builds a section of releases from file to file in Rust. If Python is available, Python contestants release
/// from file to file, from table to table, and by a ticket, the stored secret of a release.
pub(crate) fn section(host: &Host) -> Result<Section> {
    let files = Rc::new(Files::for_parquet(RECORDS, COLUMNS)?);
    let design = records::design_in("laplace", files.domain()?)?;
    let what = format!(
        "Time per value of {RECORDS} records of {COLUMNS} numbers, released by `laplace`. From file to file, \
         the package reads and writes with pyarrow. A release by a ticket reads all records twice, hashes \
         each record, and draws and stores a secret."
    );
    let tasks = [
        ("the Python package, Parquet file to Parquet file", "files"),
        ("the Python package, pyarrow table to table", "table"),
        ("the Python package, table to table by a ticket", "ticket"),
    ];
    let guests: Vec<Contestant> = host
        .guest(PEER, "pyarrow and the package of `python/`")
        .into_iter()
        .flat_map(|python| tasks.map(|(named, task)| python.contestant(named, files.arguments(task))))
        .collect();
    let ours = Contestant::timed("scumble, Parquet file to Parquet file", VALUES, move || {
        files.parquet_released(&design)
    });
    Ok(Section::new(what, vec![ours]).with_peers(guests))
}
