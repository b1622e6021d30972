//! The performance page: exact noise, whole releases, linear machines, ground states, accountants and networks beside named peers, in turns
//! within one run, on one thread unless it says otherwise.

mod accounting;
mod ground_state;
mod network;
mod noise;
mod private;
mod python;
mod release;
mod svm;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use python::Python;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Time exact noise, releases, linear machines, ground states, accountants and networks beside named peers, and write the page.
#[derive(Parser)]
struct Arguments {
    /// How often each contestant is timed.
    #[arg(long, value_name = "N", default_value_t = 15)]
    rounds: usize,
    /// A Python with numpy, SciPy, scikit-learn, diffprivlib, dp-accounting, PyTorch and Opacus.
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

/// Those of a section that take part in a Python.
type Peers = fn(&Python) -> Result<Vec<Contestant>>;

/// Contestants that are compared with the first of them.
struct Section {
    title: String,
    /// What one value is.
    what: String,
    contestants: Vec<Contestant>,
}

/// One way to make values.
struct Contestant {
    name: String,
    /// Makes some values and says how many nanoseconds each took.
    round: Box<dyn FnMut() -> Result<f64>>,
    /// Of each round.
    nanoseconds: Vec<f64>,
}

impl Contestant {
    fn new(name: impl Into<String>, round: impl FnMut() -> Result<f64> + 'static) -> Self {
        Self { name: name.into(), round: Box::new(round), nanoseconds: vec![] }
    }

    /// One that makes `values` values a round.
    fn timed<T>(
        name: impl Into<String>,
        values: usize,
        mut make: impl FnMut() -> Result<T> + 'static,
    ) -> Self {
        Self::new(name, move || {
            let start = Instant::now();
            std::hint::black_box(make()?);
            Ok(start.elapsed().as_nanos() as f64 / values as f64)
        })
    }

    /// A quantile of the rounds, in nanoseconds.
    fn quantile(&self, p: f64) -> f64 {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() - 1) as f64 * p).round() as usize]
    }
}

fn main() -> ExitCode {
    match page(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn page(arguments: &Arguments) -> Result<()> {
    // One thread for all that does not ask for more.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    let mut missing = vec![];
    if cfg!(not(feature = "peers")) {
        missing.push("OpenDP did not take part: it needs `--features peers`.".to_owned());
    }
    let scratch = tempfile::tempdir()?;
    let machines = svm::Task::all(&scratch).unwrap_or_else(|problem| {
        missing.push(format!("linear machines did not take part: {problem}"));
        vec![]
    });
    // Each with the name and the task of what takes part in Python.
    let mut sections = vec![
        (noise::laplace()?, "numpy, `laplace`, floating point", "laplace".to_owned()),
        (noise::gaussian()?, "numpy, `normal`, floating point", "gaussian".to_owned()),
        (release::release()?, "numpy, `clip` and `laplace`, floating point", "release".to_owned()),
    ];
    for machine in machines {
        let told = machine.told();
        sections.push((machine.section(), "scikit-learn, `LinearSVC(loss=\"hinge\")`", told));
    }
    let python = Python::start(&arguments.python, python::NOISE_AND_MACHINES, "numpy, or no scikit-learn");
    if let Err(problem) = &python {
        missing.push(format!("numpy and scikit-learn did not take part: {problem}"));
    }
    let mut sections: Vec<Section> = sections
        .into_iter()
        .map(|(mut section, name, task)| {
            section.contestants.extend(python.iter().map(|python| python.contestant(name, task.clone())));
            section
        })
        .collect();
    let mut joined = |section: Option<&mut Section>, program, needs: &str, peers: Peers| -> Result<()> {
        match (Python::start(&arguments.python, program, needs), section) {
            (Ok(python), Some(section)) => section.contestants.extend(peers(&python)?),
            (Ok(_), None) => {}
            (Err(problem), _) => missing.push(format!("{needs} did not take part: {problem}")),
        }
        Ok(())
    };
    let mut ground_state = ground_state::interval()?;
    let mut training = accounting::dp_sgd()?;
    let mut network = network::autoencoder()?;
    let mut private = private::autoencoder()?;
    // Laplace noise stands first.
    joined(sections.first_mut(), noise::PEER, "diffprivlib", |python| Ok(vec![noise::peer(python)]))?;
    joined(Some(&mut ground_state), ground_state::PEER, "SciPy", |python| {
        Ok(vec![ground_state::peer(python)?])
    })?;
    joined(Some(&mut training), accounting::PEER, "dp-accounting", |python| {
        Ok(accounting::peers(python).collect())
    })?;
    joined(Some(&mut network), network::PEER, "PyTorch", |python| Ok(network::peers(python).collect()))?;
    joined(Some(&mut private), private::PEER, "Opacus", |python| Ok(private::peers(python).collect()))?;
    sections.extend([ground_state, training, network, private]);
    sections.retain(|section| section.title.contains(&arguments.only));
    let rounds = arguments.rounds.max(1);
    let bar = ProgressBar::new(rounds as u64);
    bar.set_style(ProgressStyle::with_template("timing {bar:40} {pos}/{len} rounds, {eta} left")?);
    for _ in 0..rounds {
        for contestant in sections.iter_mut().flat_map(|section| &mut section.contestants) {
            let nanoseconds =
                (contestant.round)().map_err(|problem| format!("{}: {problem}", contestant.name))?;
            contestant.nanoseconds.push(nanoseconds);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let text = markdown(&sections, &missing, rounds);
    match &arguments.output {
        Some(file) => Ok(std::fs::write(file, text)?),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

fn markdown(sections: &[Section], missing: &[String], rounds: usize) -> String {
    let mut text = format!(
        "# Performance\n\n\
         Written by `cargo run --release -p scumble-benches --features peers -- --output PERFORMANCE.md`. All take turns in one\n\
         run, on one thread unless it says otherwise; a time is the median of {rounds} rounds, with the quartiles beside it.\n\
         Machines differ and are noisy: read the ratios.\n"
    );
    for section in sections {
        let _ = write!(
            text,
            "\n## {}\n\n{}\n\n| | ns | quartiles | values a second | times ours |\n|---|--:|--:|--:|--:|\n",
            section.title, section.what
        );
        let ours = section.contestants.first().map_or(f64::NAN, |first| first.quantile(0.5));
        for contestant in &section.contestants {
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|p| contestant.quantile(p));
            let _ = writeln!(
                text,
                "| {} | {middle:.1} | {low:.1} – {high:.1} | {:.1e} | {:.2} |",
                contestant.name,
                1e9 / middle,
                middle / ours
            );
        }
    }
    for line in missing {
        let _ = writeln!(text, "\n{line}");
    }
    text
}
