//! Arbitrary bytes as the files that scumble reads: what is refused is refused in one line, and what is accepted works.
//!
//! Each target is a plain function. It panics where the library does, or where something that was accepted breaks what its type
//! promises; it returns whether anything was accepted. libFuzzer calls it from `fuzz_targets/`, and `tests/corpus.rs` for each
//! file of the fixed corpus.

mod csv;
mod design;
mod forge;
mod key;
mod ledger;
mod schema;

pub use crate::csv::csv;
pub use crate::design::design;
pub use crate::key::key;
pub use crate::ledger::ledger;
pub use crate::schema::schema;

use scumble_registry::Error;

/// A target: whether anything of the input was accepted.
pub type Target = fn(&[u8]) -> bool;

/// Every target with its name, which is that of its folder in `corpus/` too.
pub const TARGETS: [(&str, Target); 5] =
    [("csv", csv), ("schema", schema), ("design", design), ("key", key), ("ledger", ledger)];

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
fn accepted<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.is_empty() && !sentence.contains('\n'), "no line: {sentence:?}");
            None
        }
    }
}
