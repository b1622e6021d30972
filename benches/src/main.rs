//! The performance page: exact noise, releases of tables and files, locally and by a curator, linear machines, ground states, accountants and networks beside named peers
//! and beside what the machine itself allows, in turns within one run, on one thread unless it says otherwise; and how what they cost grows.

mod accounting;
mod contestant;
mod ground_state;
mod growth;
mod growths;
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
use page::Page;
use python::Guests;
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
    /// Where to write the page; by default it is printed.
    #[arg(long, value_name = "PAGE.md")]
    output: Option<PathBuf>,
}

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

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
    // Files that some contestants read.
    let scratch = tempfile::tempdir()?;
    let mut page = all(arguments, &scratch)?.only(&arguments.only)?;
    page.time(arguments.rounds.get())?;
    let text = page.markdown(arguments);
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

/// Ours, and beside each the peers that are there.
fn all(arguments: &Arguments, scratch: &tempfile::TempDir) -> Result<Page> {
    // Before anything of ours is busy.
    let load = machine::load();
    let mut guests = Guests::new(&arguments.python);
    let numpy = guests.start(python::NOISE_AND_MACHINES, "numpy and scikit-learn");
    let numpy = |name, task: &str| numpy.as_ref().map(|numpy| numpy.contestant(name, task.into()));
    let diffprivlib = guests.start(noise::PEER, "diffprivlib");
    let scipy = guests.start(ground_state::PEER, "SciPy");
    let accountants = guests.start(accounting::PEER, "dp-accounting");
    let torch = guests.start(network::PEER, "PyTorch");
    let opacus = guests.start(private::PEER, "Opacus");
    let learners = guests.start(learners::PEER, "scikit-learn and PyTorch");
    let dpmm = guests.start(tables::PEER, "dpmm");
    let package = guests.start(wheel::PEER, "pyarrow and the package of `python/`");
    let mut missing = guests.missing;
    if cfg!(not(feature = "peers")) {
        missing.push("OpenDP did not take part: it needs `--features peers`.".to_owned());
    }
    let machines = svm::Machine::all(scratch).unwrap_or_else(|problem| {
        missing.push(format!("Linear machines did not take part: {problem}."));
        vec![]
    });

    let mut curators = vec![tables::Task::wine(scratch)?];
    match tables::Task::adult(scratch) {
        Ok(adult) => curators.push(adult),
        Err(problem) => missing.push(format!("A curator of adult did not take part: {problem}.")),
    }

    let mut sections = vec![
        noise::laplace()?
            .beside(numpy("numpy, `laplace`, floating point", "laplace"))
            .beside(diffprivlib.as_ref().map(noise::peer)),
        noise::gaussian()?.beside(numpy("numpy, `normal`, floating point", "gaussian")),
        release::release()?.beside(numpy("numpy, `clip` and `laplace`, floating point", "release")),
        stream::of_csv()?,
        stream::of_parquet()?,
        wheel::section(package.as_ref())?,
    ];
    for machine in machines {
        let peer = numpy("scikit-learn, `LinearSVC(loss=\"hinge\")`", &machine.told());
        sections.push(machine.section().beside(peer));
    }
    match learners::sections(scratch, learners.as_ref(), &arguments.only) {
        Ok(of) => sections.extend(of),
        Err(problem) => missing.push(format!("Learners did not take part: {problem}.")),
    }
    for curator in curators {
        sections.push(curator.section()?.beside(dpmm.as_ref().map(|dpmm| curator.peer(dpmm))));
    }
    sections.extend([
        ground_state::interval()?.beside(scipy.as_ref().map(ground_state::peer).transpose()?),
        accounting::dp_sgd()?.beside(accountants.iter().flat_map(accounting::peers)),
        network::autoencoder()?.beside(torch.iter().flat_map(network::peers)),
        private::autoencoder()?.beside(opacus.iter().flat_map(private::peers)),
    ]);
    Ok(Page { sections, growths: growths::all()?, missing, load })
}
