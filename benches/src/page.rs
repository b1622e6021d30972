//! The page: all turns in one run, and their results.

use crate::growth::Growth;
use crate::{Arguments, Result, Section, machine};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write;

/// The heading of the tables of growth.
pub(crate) const GROWTH: &str = "How cost grows";

/// What is timed, and what is missing.
pub(crate) struct Page {
    pub(crate) sections: Vec<Section>,
    pub(crate) growths: Vec<Growth>,
    pub(crate) missing: Vec<String>,
    /// What the machine was busy with before, in cores.
    pub(crate) load: Option<String>,
}

impl Page {
    /// The same, of nothing but what has these words in its title.
    ///
    /// # Errors
    /// Where there is nothing.
    pub(crate) fn only(mut self, words: &str) -> Result<Self> {
        self.sections.retain(|section| section.title.contains(words));
        self.growths.retain(|growth| GROWTH.contains(words) || growth.title.contains(words));
        if self.sections.is_empty() && self.growths.is_empty() {
            return Err(format!("No section has {words:?} in its title.").into());
        }
        Ok(self)
    }

    /// All take turns, round by round.
    ///
    /// # Errors
    /// Those of a contestant.
    pub(crate) fn time(&mut self, rounds: usize) -> Result<()> {
        let bar = ProgressBar::new(rounds as u64);
        bar.set_style(ProgressStyle::with_template("timing {bar:40} {pos}/{len} rounds, {eta} left")?);
        for _ in 0..rounds {
            let sections = self.sections.iter_mut().flat_map(Section::turns);
            for contestant in sections.chain(self.growths.iter_mut().flat_map(Growth::turns)) {
                contestant.take_turn()?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }

    pub(crate) fn markdown(&self, arguments: &Arguments) -> String {
        let load =
            self.load.as_ref().map(|load| format!(" The load of the machine was {load} when it began."));
        let mut text = format!(
            "# Performance\n\n\
             Written by `cargo run --release -p scumble-benches --features peers -- --output PERFORMANCE.md` on {}. All take\n\
             turns in one run, on one thread unless it says otherwise; a time is the median of {} rounds, with the quartiles beside it.\n\
             Machines differ and are noisy: read the ratios.{}\n\n\
             A *limit* is what no contestant can do without, memory, arithmetic or random bits, at the rate at which this machine gives it in\n\
             the same run: `0.2` of our time means that ours takes five times as long as that alone. Where none is given, we know none worth\n\
             naming.\n",
            machine::name(),
            arguments.rounds,
            load.unwrap_or_default()
        );
        self.sections.iter().for_each(|section| text += &section.markdown());
        if !self.growths.is_empty() {
            let _ = write!(
                text,
                "\n## {GROWTH}\n\nTimes of the whole, in the same rounds, and the growth law that fits them by least squares on logarithms: of an exponent \
                 of 1.00, twice the size takes twice as long.\n"
            );
            self.growths.iter().for_each(|growth| text += &growth.markdown());
        }
        if !self.missing.is_empty() {
            text += "\n## What is missing\n";
        }
        self.missing.iter().for_each(|line| text += &format!("\n{line}\n"));
        text
    }
}
