//! The page: its sections in their order, and their results.

use crate::growth::Growth;
use crate::{Arguments, Host, Result, Section, accounting, ground_state, growths, learners, machine};
use crate::{network, noise, private, release, reports, stream, svm, tables, wheel};
use indicatif::{ProgressBar, ProgressStyle};

/// Heading of the tables of growth.
const GROWTH: &str = "How cost grows";

/// Function that creates a part of the page when it is timed.
type Make<T> = fn(&Host) -> Result<T>;

/// Sections of our contestants with the available peers.
const SECTIONS: [(&str, Make<Section>); 20] = [
    ("Laplace noise", noise::laplace),
    ("Gaussian noise", noise::gaussian),
    ("A release", release::release),
    ("A release of a CSV file", stream::of_csv),
    ("A release of a Parquet file", stream::of_parquet),
    ("A release from Python", wheel::section),
    ("Reports of a category", reports::of_a_category),
    ("Estimates from reports of a category", reports::estimates),
    ("Reports of whole records", reports::of_records),
    ("Whole records of the wines, by a curator", tables::wine),
    ("Whole records of adult, by a curator", tables::adult),
    ("A linear machine on adult", svm::adult),
    ("A linear machine on wdbc", svm::wdbc),
    ("Logistic regression of mnist", learners::logistic),
    ("A network on mnist", learners::network),
    ("Ridge regression of lending-club", learners::ridge),
    ("A ground state", ground_state::interval),
    ("Accounting for a private training", accounting::dp_sgd),
    ("A step of training a network", network::autoencoder),
    ("A step of training a network privately", private::autoencoder),
];

const GROWTHS: [(&str, Make<Growth>); 4] = [
    ("With the number of records", growths::with_records),
    ("With the number of columns", growths::with_columns),
    ("With the number of latents", growths::with_latents),
    ("With the number of threads", growths::with_threads),
];

/// Times all sections whose title contains the requested words, and formats the page.
///
/// Each section is created before its timing and dropped after it. Within a section, all contestants take
/// turns.
///
/// # Errors
/// Returns an error if no title contains the words; also the errors of our contestants.
pub(crate) fn page(arguments: &Arguments) -> Result<String> {
    let (words, rounds) = (&arguments.only, arguments.rounds.get());
    let sections = SECTIONS.iter().filter(|(title, _)| title.contains(words)).collect::<Vec<_>>();
    let of_growth = GROWTHS.iter().filter(|(title, _)| GROWTH.contains(words) || title.contains(words));
    let of_growth = of_growth.collect::<Vec<_>>();
    if sections.is_empty() && of_growth.is_empty() {
        return Err(format!("No section has {words:?} in its title.").into());
    }
    let bar = ProgressBar::new((sections.len() + of_growth.len()) as u64);
    bar.set_style(ProgressStyle::with_template("timing {bar:40} {pos}/{len} sections: {msg}")?);
    // Read the load before our own work begins.
    let mut text = head(arguments);
    let host = Host::new(arguments)?;
    for (title, make) in sections {
        bar.set_message(*title);
        match make(&host) {
            Ok(mut section) => {
                for (guest, problem) in section.time(rounds)? {
                    host.miss(&format!("{title}: {guest}"), &*problem);
                }
                text += &section.markdown(title);
            }
            // For example, a data set is missing.
            Err(problem) => host.miss(title, &*problem),
        }
        bar.inc(1);
    }
    if !of_growth.is_empty() {
        text += &format!(
            "\n## {GROWTH}\n\nTimes of the whole, where the sizes of a row take turns, and the growth law that fits them by least squares on logarithms: of an exponent \
             of 1.00, twice the size takes twice as long.\n"
        );
    }
    for (title, make) in of_growth {
        bar.set_message(*title);
        let mut growth = make(&host)?;
        growth.time(rounds)?;
        text += &growth.markdown(title);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut missing = host.missing();
    if cfg!(not(feature = "peers")) {
        missing.push("OpenDP did not take part: it needs `--features peers`.".to_owned());
    }
    if !missing.is_empty() {
        text += "\n## What is missing\n";
    }
    missing.iter().for_each(|line| text += &format!("\n{line}\n"));
    Ok(text)
}

fn head(arguments: &Arguments) -> String {
    let load = machine::load().map(|load| format!(" The load of the machine was {load} when it began."));
    format!(
        "# Performance\n\n\
         Written by `cargo run --release -p scumble-benches --features peers -- --output benches/PERFORMANCE.md` on {}. In a section all take\n\
         turns, on one thread unless it says otherwise; a time is the median of {} rounds, with the quartiles beside it.\n\
         Machines differ and are noisy: read the ratios.{}\n\n\
         A *limit* is what no contestant can do without, memory, arithmetic or random bits, at the rate at which this machine gives it in\n\
         the same rounds: `0.2` of our time means that ours takes five times as long as that alone. Where none is given, we know none worth\n\
         naming.\n",
        machine::name(),
        arguments.rounds,
        load.unwrap_or_default()
    )
}
