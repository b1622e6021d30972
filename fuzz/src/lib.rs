//! Fuzz targets for the readers of scumble's files. A refusal is an error of one line, and accepted input
//! works.
//!
//! Each target is a plain function. It panics if the library panics, or if accepted input breaks a guarantee
//! of its type. It returns whether any input was accepted. libFuzzer calls each target from `fuzz_targets/`,
//! and `tests/corpus.rs` calls each target for each file of the fixed corpus.

mod adult;
mod cifar;
mod csv;
mod design;
mod forge;
mod idx;
mod key;
mod ledger;
mod parquet;
mod periods;
mod schema;
mod servers;
mod tables;

pub use crate::adult::adult;
pub use crate::cifar::cifar;
pub use crate::csv::csv;
pub use crate::design::design;
pub use crate::idx::idx;
pub use crate::key::key;
pub use crate::ledger::ledger;
pub use crate::parquet::parquet;
pub use crate::periods::periods;
pub use crate::schema::schema;
pub use crate::servers::servers;
pub use crate::tables::tables;

use scumble_datasets::DataSet;
use std::fmt::Display;
use std::path::Path;
use tempfile::TempDir;

/// A target. It returns whether any of the input was accepted.
pub type Target = fn(&[u8]) -> bool;

/// Every target with its name, which is also the name of its folder in `corpus/`.
pub const TARGETS: [(&str, Target); 12] = [
    ("csv", csv),
    ("parquet", parquet),
    ("schema", schema),
    ("design", design),
    ("key", key),
    ("ledger", ledger),
    ("tables", tables),
    ("periods", periods),
    ("servers", servers),
    ("idx", idx),
    ("cifar", cifar),
    ("adult", adult),
];

/// Runs `target` on the files named on the command line. It reproduces a crash without libFuzzer.
///
/// # Errors
/// An error if a file cannot be read.
pub fn run_files(target: Target) -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        let accepted = target(&std::fs::read(&file)?);
        println!("{}: {}", file.display(), if accepted { "accepted" } else { "refused" });
    }
    Ok(())
}

/// The value of a result, or `None` for an error. Checks that the error is a sentence of one line.
fn accepted<T>(result: Result<T, impl Display>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "no line: {sentence:?}");
            None
        }
    }
}

/// A temporary folder for one input, in memory if the system has `/dev/shm`.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    folder.expect("there is room for a folder")
}

/// Checks that every record lies in the domain of the data set.
fn assert_in_domain(data: &DataSet) {
    assert!(data.train_records.is_some_and(|train| 0 < train && train < data.table.len()));
    assert_eq!(data.table.columns(), data.domain.columns());
    let (layout, table) = (data.domain.layout(), data.table.whole().expect("a few records"));
    for row in 0..table.len() {
        assert!(
            data.domain.flat().contains(&layout.flatten(&table, row)),
            "record {row} is out of the domain"
        );
    }
}
