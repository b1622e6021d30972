//! Sections of the page. In a section, contestants (methods of computing the same values) are compared with
//! each other and with lower limits.

use crate::unit::{Unit, figures};
use crate::{Contestant, Problem, Result};
use std::fmt::Write;

/// Section with contestants that are compared with the first one, which is ours.
pub(crate) struct Section {
    /// Description of one value that the contestants compute.
    pub(crate) what: String,
    pub(crate) contestants: Vec<Contestant>,
    /// Contestants whose times are lower limits. Each uses only one resource that every contestant needs,
    /// such as memory traffic, at the rate that this machine reaches.
    pub(crate) limits: Vec<Contestant>,
    /// Function that writes a conclusion from the median times of `contestants`, in their order.
    pub(crate) conclusion: Option<fn(&[f64]) -> String>,
}

impl Section {
    pub(crate) fn new(what: impl Into<String>, contestants: Vec<Contestant>) -> Self {
        Self { what: what.into(), contestants, limits: vec![], conclusion: None }
    }

    pub(crate) fn limited_by(self, limits: Vec<Contestant>) -> Self {
        Self { limits, ..self }
    }

    pub(crate) fn concluding(self, conclusion: fn(&[f64]) -> String) -> Self {
        Self { conclusion: Some(conclusion), ..self }
    }

    /// Adds contestants of peers.
    pub(crate) fn with_peers(mut self, guests: impl IntoIterator<Item = Contestant>) -> Self {
        self.contestants.extend(guests);
        self
    }

    /// Times all contestants in turn, for `rounds` rounds. A peer that fails is removed and returned with its
    /// error.
    ///
    /// # Errors
    /// The errors of our own contestants.
    pub(crate) fn time(&mut self, rounds: usize) -> Result<Vec<(String, Problem)>> {
        let mut failed = vec![];
        for _ in 0..rounds {
            for contestant in self.contestants.iter_mut().chain(&mut self.limits) {
                match contestant.take_turn() {
                    Err(problem) if contestant.is_guest => failed.push((contestant.name.clone(), problem)),
                    turn => turn?,
                }
            }
            self.contestants.retain(|contestant| failed.iter().all(|(name, _)| *name != contestant.name));
        }
        Ok(failed)
    }

    /// Formats the times as Markdown under the heading `title`.
    pub(crate) fn markdown(&self, title: &str) -> String {
        let ours = self.contestants.first().map_or(f64::NAN, Contestant::median);
        let unit = Unit::for_nanoseconds(ours);
        let mut text = format!(
            "\n## {title}\n\n{}\n\n| | {} | quartiles | values a second | times ours \
             |\n|---|--:|--:|--:|--:|\n",
            self.what, unit.name
        );
        let contestants = self.contestants.iter().map(|contestant| ("", contestant));
        for (kind, contestant) in contestants.chain(self.limits.iter().map(|limit| ("*limit:* ", limit))) {
            let [low, middle, high] = [0.25, 0.5, 0.75].map(|p| contestant.quantile(p).unwrap_or(f64::NAN));
            let _ = writeln!(
                text,
                "| {kind}{} | {} | {} – {} | {:.1e} | {} |",
                contestant.name,
                unit.figures(middle),
                unit.figures(low),
                unit.figures(high),
                1e9 / middle,
                figures(middle / ours)
            );
        }
        if let Some(conclusion) = self.conclusion {
            let medians: Vec<f64> = self.contestants.iter().map(Contestant::median).collect();
            let _ = writeln!(text, "\n{}", conclusion(&medians));
        }
        text
    }
}
