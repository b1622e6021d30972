//! The page: its sections in their order, and their results.

use crate::growth::Growth;
use crate::{Arguments, Host, Result, Section, accounting, ground_state, growths, learners, machine};
use crate::{network, noise, private, release, reports, stream, svm, tables, wheel};
use indicatif::{ProgressBar, ProgressStyle};

/// Heading of the tables of growth.
const GROWTH: &str = "How cost grows";

/// Function that creates a section or a growth table just before it is timed.
type Make<T> = fn(&Host) -> Result<T>;

/// Titles of the sections, and the functions that create them.
const SECTIONS: [(&str, Make<Section>); 20] = [
    ("Laplace noise", noise::laplace),
    ("Gaussian noise", noise::gaussian),
    ("A release", release::release),
    ("A release of a CSV file", stream::csv_section),
    ("A release of a Parquet file", stream::parquet_section),
    ("A release from Python", wheel::section),
    ("Reports of a category", reports::category_section),
    ("Estimates from reports of a category", reports::estimates),
    ("Reports of whole records", reports::record_section),
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
/// Returns an error if no title contains the words, and the errors of our contestants.
pub(crate) fn page(arguments: &Arguments) -> Result<String> {
    let (words, rounds) = (&arguments.only, arguments.rounds.get());
    let sections = SECTIONS.iter().filter(|(title, _)| title.contains(words)).collect::<Vec<_>>();
    let growths = GROWTHS.iter().filter(|(title, _)| GROWTH.contains(words) || title.contains(words));
    let growths = growths.collect::<Vec<_>>();
    if sections.is_empty() && growths.is_empty() {
        return Err(format!("no section title contains {words:?}").into());
    }
    let bar = ProgressBar::new((sections.len() + growths.len()) as u64);
    bar.set_style(ProgressStyle::with_template("timing {bar:40} {pos}/{len} sections: {msg}")?);
    // Reads the load of the machine before our own work begins.
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
    if !growths.is_empty() {
        text += &format!(
            "\n## {GROWTH}\n\nTotal times; the sizes of a row take turns. The last column is the growth law, \
             fitted by least squares on logarithms: with an exponent of 1.00, twice the size takes twice the \
             time.\n"
        );
    }
    for (title, make) in growths {
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
        text += "\n## Missing contestants\n";
    }
    missing.iter().for_each(|line| text += &format!("\n{line}\n"));
    Ok(text)
}

fn head(arguments: &Arguments) -> String {
    let load = machine::load().map(|load| format!(" The load of the machine was {load} at the start."));
    format!(
        "# Performance\n\n\
         Written by `cargo run --release -p scumble-benches --features peers -- --output \
         benches/PERFORMANCE.md` on {}.\n\
         All contestants of a section take turns, on one thread unless the name says otherwise.\n\
         A time is the median of {} rounds, with the quartiles in the next column.\n\
         Machines differ and are noisy, so compare the ratios.{}\n\n\
         A *limit* is a lower bound on the time of any contestant: memory traffic, arithmetic or\n\
         random bits alone, timed on this machine in the same rounds. A limit of `0.2` times ours\n\
         means that our time is five times the limit. A section without a limit has no useful lower\n\
         bound that we know.\n",
        machine::name(),
        arguments.rounds,
        load.unwrap_or_default()
    )
}
