//! Code shared by the mechanisms of this crate, whose output for a person is a report (a randomised answer).

use scumble_core::levels::{Attribute, draw};
use scumble_core::{Collection, Draw, RecordDomain, Result, Stream, Table, interrupt};

/// Number of bins of a numeric label, for mechanisms that have no parameter for this number.
const LABEL_BINS: usize = 8;

/// Returns the features, and the label if there is one, as [`Attribute`]s: columns with a few discrete
/// levels.
pub(crate) fn attributes(plugin: &str, domain: &RecordDomain) -> Result<(Vec<Attribute>, Option<Attribute>)> {
    Attribute::all(plugin, domain, |_| LABEL_BINS)
}

/// Number of levels of a label; 1 if there is no label.
pub(crate) fn levels(label: Option<&Attribute>) -> usize {
    label.map_or(1, Attribute::levels)
}

/// Questions to many people. A sum of the answers suffices to estimate the distribution of records.
pub(crate) trait Answers: Sync {
    /// Sum of the answers of many people.
    type Sum: Send;

    /// Returns the sum of no answers.
    fn none(&self) -> Self::Sum;

    /// Adds the answers in `reports`, one row per person, to `sum`.
    fn add(&self, sum: &mut Self::Sum, reports: &Table) -> Result<()>;

    /// Returns the sum of the answers in `reports`.
    fn sum(&self, reports: &Table) -> Result<Self::Sum> {
        let mut sum = self.none();
        self.add(&mut sum, reports)?;
        Ok(sum)
    }
}

/// Collection that sums up `answers`, and passes the sum to `finish`.
pub(crate) fn summed<'a, A: Answers>(
    answers: &'a A,
    finish: impl FnOnce(A::Sum) -> Result<Box<Draw>> + Send + 'a,
) -> Box<dyn Collection + 'a>
where
    A::Sum: 'a,
{
    Box::new(Summed { answers, sum: answers.none(), finish })
}

struct Summed<'a, A: Answers, F> {
    answers: &'a A,
    sum: A::Sum,
    finish: F,
}

impl<A: Answers, F: FnOnce(A::Sum) -> Result<Box<Draw>> + Send> Collection for Summed<'_, A, F> {
    fn add(&mut self, reports: &Table) -> Result<()> {
        self.answers.add(&mut self.sum, reports)
    }

    fn finish(self: Box<Self>) -> Result<Box<Draw>> {
        (self.finish)(self.sum)
    }
}

/// Draws `records` flat records of `width` values. `write` writes a record for a level, which is drawn with a
/// frequency proportional to its share.
///
/// # Errors
/// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
pub(crate) fn draw_records(
    (records, width): (usize, usize),
    shares: &[f64],
    stream: &mut Stream,
    write: impl Fn(usize, &mut [f64], &mut Stream),
) -> Result<Vec<f64>> {
    let mut flat = vec![0.0; records * width];
    let levels = draw::levels(shares, records, stream);
    for (record, level) in flat.chunks_exact_mut(width).zip(levels) {
        interrupt::check()?;
        write(level, record, stream);
    }
    Ok(flat)
}

/// Methods of `LocalMechanism` that delegate to the field `$field`. The mechanism itself is the `Collector`,
/// which draws synthetic records from its reports.
macro_rules! answered_by {
    ($field:ident) => {
        fn range(&self) -> scumble_core::Domain {
            self.$field.range().clone()
        }

        fn perturb(&self, point: &mut [f64], stream: &mut scumble_core::Stream) -> scumble_core::Result<()> {
            self.$field.perturb(point, stream)
        }

        fn decode(&self, point: Vec<f64>) -> scumble_core::Result<Vec<f64>> {
            self.$field.decode(point)
        }

        fn layout(&self) -> scumble_core::Layout {
            self.$field.layout()
        }

        fn noise(&self) -> scumble_core::Noise {
            self.$field.noise()
        }

        fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
            self.$field.log_likelihood(point, released)
        }

        fn worst_pairs(&self, unit: scumble_core::Unit) -> Vec<[Vec<f64>; 2]> {
            self.$field.worst_pairs(unit)
        }

        fn collector(&self) -> Option<&dyn scumble_core::Collector> {
            Some(self)
        }
    };
}

pub(crate) use answered_by;
