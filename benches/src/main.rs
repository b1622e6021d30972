//! The performance page: exact noise, releases of tables and files, locally and by a curator, linear machines, ground states, accountants and networks beside named peers
//! and beside what the machine itself allows, in turns within one run, on one thread unless it says otherwise; and how what they cost grows.

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

/// Time exact noise, releases, releases by a curator, linear machines, ground states, accountants and networks beside named peers, and write the page.
#[derive(Parser)]
struct Arguments {
    /// How often each contestant is timed; one round takes some seconds without Python.
    #[arg(long, value_name = "N", default_value = "15")]
    rounds: NonZeroUsize,
    /// A Python with numpy, SciPy, scikit-learn, diffprivlib, dp-accounting, PyTorch, Opacus, dpmm, pyarrow and the package of `python/`.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Only sections whose title has this in it.
    #[arg(long, value_name = "WORDS", default_value = "")]
    only: String,
    /// What grows at its three smallest sizes alone: seconds, and not half an hour.
    #[arg(long)]
    small: bool,
    /// Where to write the page; by default it is printed.
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
    // One thread for all that does not ask for more.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let text = page::page(arguments)?;
    match &arguments.output {
        Some(file) => std::fs::write(file, text).map_err(|problem| {
            format!("{}: The page could not be written: {problem}", file.display()).into()
        }),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}
