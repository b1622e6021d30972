//! Arbitrary bytes as the files that scumble reads: what is refused is refused in one line, and what is accepted works.
//!
//! Each target is a plain function. It panics where the library does, or where something that was accepted breaks what its type
//! guarantees; it returns whether anything was accepted. libFuzzer calls it from `fuzz_targets/`, and `tests/corpus.rs` for each
//! file of the fixed corpus.

mod adult;
mod cifar;
mod csv;
mod design;
mod forge;
mod idx;
mod key;
mod ledger;
mod parquet;
mod schema;

pub use crate::adult::adult;
pub use crate::cifar::cifar;
pub use crate::csv::csv;
pub use crate::design::design;
pub use crate::idx::idx;
pub use crate::key::key;
pub use crate::ledger::ledger;
pub use crate::parquet::parquet;
pub use crate::schema::schema;

use scumble_datasets::DataSet;
use std::fmt::Display;
use std::path::Path;
use tempfile::TempDir;

/// A target: whether anything of the input was accepted.
pub type Target = fn(&[u8]) -> bool;

/// Every target with its name, which is that of its folder in `corpus/` too.
pub const TARGETS: [(&str, Target); 9] = [
    ("csv", csv),
    ("parquet", parquet),
    ("schema", schema),
    ("design", design),
    ("key", key),
    ("ledger", ledger),
    ("idx", idx),
    ("cifar", cifar),
    ("adult", adult),
];

/// Runs `target` on the files that the command line names: a crash again, without libFuzzer.
///
/// # Errors
/// Where a file cannot be read.
pub fn run_files(target: Target) -> std::io::Result<()> {
    for file in std::env::args_os().skip(1) {
        let accepted = target(&std::fs::read(&file)?);
        println!("{}: {}", file.display(), if accepted { "accepted" } else { "refused" });
    }
    Ok(())
}

/// The value, or nothing where it is an error, which must be a sentence in one line.
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

/// A folder for one input: in memory where there is such a place.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    folder.expect("there is room for a folder")
}

/// Every record lies where the data set says.
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
