//! Contestants of the performance page. A contestant is a method of computing some values, and is timed once
//! per round.

use crate::Result;
use std::time::Instant;

/// A method of computing values.
pub(crate) struct Contestant {
    pub(crate) name: String,
    /// Computes some values, and returns the mean time per value in nanoseconds.
    make: Box<dyn FnMut() -> Result<f64>>,
    /// Mean time per value in each round, in nanoseconds.
    nanoseconds: Vec<f64>,
    /// Number of rounds in which the contestant takes part.
    rounds: usize,
    /// True for a peer's contestant. If it fails, the page continues without it.
    pub(crate) is_guest: bool,
}

impl Contestant {
    pub(crate) fn new(name: impl Into<String>, make: impl FnMut() -> Result<f64> + 'static) -> Self {
        Self {
            name: name.into(),
            make: Box::new(make),
            nanoseconds: vec![],
            rounds: usize::MAX,
            is_guest: false,
        }
    }

    /// Creates a contestant that computes `values` values per round.
    pub(crate) fn timed<T>(
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

    /// Limits the contestant to the first `rounds` rounds, because it takes long.
    pub(crate) fn for_rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }

    /// Marks the contestant as a peer's.
    pub(crate) fn into_guest(self) -> Self {
        Self { is_guest: true, ..self }
    }

    /// Times the contestant once, in nanoseconds per value.
    pub(crate) fn once(&mut self) -> Result<f64> {
        (self.make)()
    }

    /// Times the contestant, unless it has completed its rounds.
    ///
    /// # Errors
    /// The error of the contestant, with its name, and an error if the contestant reports an invalid time.
    pub(crate) fn take_turn(&mut self) -> Result<()> {
        if self.nanoseconds.len() >= self.rounds {
            return Ok(());
        }
        let nanoseconds = self.once().map_err(|problem| format!("{}: {problem}", self.name))?;
        if !(nanoseconds.is_finite() && nanoseconds > 0.0) {
            return Err(format!(
                "{}: a time of {nanoseconds} ns a value is not a finite positive number",
                self.name
            )
            .into());
        }
        self.nanoseconds.push(nanoseconds);
        Ok(())
    }

    /// Returns the quantile of the rounds' times at the probability `p`, in nanoseconds per value; `None`
    /// before the first round.
    pub(crate) fn quantile(&self, p: f64) -> Option<f64> {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get((sorted.len().saturating_sub(1) as f64 * p).round() as usize).copied()
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5).unwrap_or(f64::NAN)
    }
}
