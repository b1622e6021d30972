//! One way to make values, timed round by round.

use crate::Result;
use std::time::Instant;

/// One way to make values.
pub(crate) struct Contestant {
    pub(crate) name: String,
    /// Makes some values and says how many nanoseconds each took.
    make: Box<dyn FnMut() -> Result<f64>>,
    /// Of each round.
    nanoseconds: Vec<f64>,
    /// How many rounds it takes part in.
    rounds: usize,
    /// Whether it is another's, and the page goes on without it.
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

    /// One that makes `values` values a round.
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

    /// The same, in the first so many rounds alone: it takes too long for more.
    pub(crate) fn for_rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }

    /// The same, as another's.
    pub(crate) fn into_guest(self) -> Self {
        Self { is_guest: true, ..self }
    }

    /// How many nanoseconds a value takes, this once.
    pub(crate) fn once(&mut self) -> Result<f64> {
        (self.make)()
    }

    /// Takes its turn, while it takes part.
    ///
    /// # Errors
    /// Its own, under its name; and where it says a time that is none.
    pub(crate) fn take_turn(&mut self) -> Result<()> {
        if self.nanoseconds.len() >= self.rounds {
            return Ok(());
        }
        let nanoseconds = self.once().map_err(|problem| format!("{}: {problem}", self.name))?;
        if !(nanoseconds.is_finite() && nanoseconds > 0.0) {
            return Err(format!("{}: it says that a value takes {nanoseconds} ns.", self.name).into());
        }
        self.nanoseconds.push(nanoseconds);
        Ok(())
    }

    /// A quantile of the rounds, in nanoseconds; none before the first.
    pub(crate) fn quantile(&self, p: f64) -> Option<f64> {
        let mut sorted = self.nanoseconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get((sorted.len().saturating_sub(1) as f64 * p).round() as usize).copied()
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5).unwrap_or(f64::NAN)
    }
}
