//! Program that writes the performance page. It times exact noise, releases of tables and files, locally and
//! by a curator, linear machines, ground states, accountants and networks.
//!
//! A *contestant* is a method of computing some values: one of Scumble's, a named peer's, or one that reaches
//! a limit of the machine. All contestants of a section take turns in the same run, on one thread unless
//! stated otherwise. The page also shows how times grow with sizes.

mod accounting;
mod contestant;
mod ground_state;
mod growth;
mod growths;
mod host;
mod learners;
mod machine;
mod memory;
mod network;
mod noise;
mod page;
mod private;
mod products;
mod python;
mod random_bits;
mod records;
mod release;
mod reports;
mod section;
mod stream;
mod svm;
mod tables;
mod task;
mod threads;
mod unit;
mod wheel;

use clap::Parser;
use contestant::Contestant;
use host::Host;
use section::Section;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Time exact noise, releases, releases by a curator, linear machines, ground states, accountants and
/// networks beside named peers, and write the page.
#[derive(Parser)]
struct Arguments {
    /// Number of rounds per contestant; one round takes some seconds without Python.
    #[arg(long, value_name = "N", default_value = "15")]
    rounds: NonZeroUsize,
    /// A Python with numpy, SciPy, scikit-learn, diffprivlib, dp-accounting, PyTorch, Opacus, dpmm, pyarrow
    /// and the package of `python/`.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Only sections whose title contains these words.
    #[arg(long, value_name = "WORDS", default_value = "")]
    only: String,
    /// Measure the growth of times only at the three smallest sizes, in seconds instead of half an hour.
    #[arg(long)]
    small: bool,
    /// File for the page; by default it is printed.
    #[arg(long, value_name = "PAGE.md")]
    output: Option<PathBuf>,
}

type Problem = Box<dyn std::error::Error>;
type Result<T> = std::result::Result<T, Problem>;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    // One thread for all tasks that do not request more.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let text = page::page(arguments)?;
    match &arguments.output {
        Some(file) => std::fs::write(file, text).map_err(|problem| {
            format!("{}: the page could not be written: {problem}", file.display()).into()
        }),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}
