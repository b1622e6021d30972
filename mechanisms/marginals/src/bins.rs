//! How finely numbers are counted, by a public rule.

use crate::columns::Columns;
use scumble_core::{Brief, Error, Factor, RecordDomain, Result, TargetDomain};
use std::collections::BTreeMap;

/// Bins of a number: at least two, at most so many as are told apart on a plot.
const FEWEST: usize = 2;
const MOST: usize = 32;
/// The most that may be asked for.
const LIMIT: usize = 1024;

/// How many records there are where that is not known.
const PEOPLE: usize = 1000;

/// What decides on bins: how many records there are, as far as is known in public, and the σ of a table's noise, in counts.
pub(crate) struct Rule {
    pub(crate) records: usize,
    pub(crate) scale: f64,
}

impl Rule {
    /// For as many people as a brief knows of.
    pub(crate) fn of(brief: &Brief, scale: f64) -> Self {
        Self { records: brief.people.unwrap_or(PEOPLE), scale }
    }

    /// Bins of a number that is counted with `labels` classes, or with another number where there are none, or by itself.
    ///
    /// A density in B bins of equal width errs by some 1/B within each, and by the noise of B of them, which is σB/n a bin of the density: the two are alike, summed over
    /// the bins, where B³ is (n/σ)², of the records of a class. Sampling adds as much where B³ is n.
    fn bins(&self, labels: usize) -> usize {
        let of_class = self.records as f64 / labels.max(1) as f64;
        let by_noise = (of_class / self.scale.max(1e-9)).powi(2);
        (by_noise.min(of_class).cbrt() as usize).clamp(FEWEST, MOST)
    }
}

/// What is wanted of bins, in place of the rule.
pub(crate) struct Wanted<'a> {
    /// By a parameter, for this column.
    pub(crate) each: &'a BTreeMap<String, usize>,
    /// By a parameter, for all columns.
    pub(crate) all: Option<usize>,
    /// By the schema, for this column.
    pub(crate) schema: &'a BTreeMap<String, usize>,
}

impl Wanted<'_> {
    fn of(&self, column: &str) -> Option<usize> {
        self.each.get(column).copied().or(self.all).or_else(|| self.schema.get(column).copied())
    }

    /// All that is wanted.
    fn bins(&self) -> impl Iterator<Item = usize> {
        self.each.values().copied().chain(self.all).chain(self.schema.values().copied())
    }
}

/// The bins of every attribute: of a number what is wanted, or by the rule.
///
/// # Errors
/// [`Error::Parameter`] for a column that is no number, or bins out of range.
pub(crate) fn of_each(
    plugin: &str,
    domain: &RecordDomain,
    wanted: &Wanted,
    rule: &Rule,
) -> Result<Vec<usize>> {
    let refuse = |problem: String| Err(Error::parameter(plugin, problem));
    if let Some(bins) = wanted.bins().find(|bins| !(FEWEST..=LIMIT).contains(bins)) {
        return refuse(format!("bins must lie between {FEWEST} and {LIMIT}, and {bins} does not"));
    }
    let is_number = |factor: &Factor| matches!(factor, Factor::Interval { .. });
    let numbers: Vec<&str> = domain
        .features()
        .factors()
        .filter(|(_, factor)| is_number(factor))
        .map(|(at, _)| domain.columns()[at.start].as_str())
        .chain(matches!(domain.target(), TargetDomain::Real { .. }).then_some(Brief::TARGET))
        .collect();
    if let Some(column) = wanted.each.keys().find(|column| !numbers.contains(&column.as_str())) {
        return refuse(format!("column_bins names {column:?}, which is no column of numbers"));
    }
    let labels = match domain.target() {
        TargetDomain::None => 1,
        TargetDomain::Class { levels } => levels.len(),
        // Each of two numbers counts for the other as so many classes.
        _ => rule.bins(8),
    };
    let bins = |(first, factor): (usize, &Factor)| match factor {
        Factor::OneHot { levels } => *levels,
        _ => {
            let name = domain.columns().get(first).map_or(Brief::TARGET, String::as_str);
            wanted.of(name).unwrap_or_else(|| rule.bins(labels))
        }
    };
    Ok(domain.flat().factors().map(|(at, factor)| bins((at.start, factor))).collect())
}

/// That saved bins are those of such columns.
///
/// # Errors
/// [`Error::Parameter`] where there are not as many, or one is none of such a column.
pub(crate) fn check(plugin: &str, domain: &RecordDomain, bins: &[usize]) -> Result<Columns> {
    let attributes = domain.flat().factors().count();
    let fits = |((_, factor), bins): ((_, &Factor), &usize)| match factor {
        Factor::OneHot { levels } => bins == levels,
        _ => (FEWEST..=LIMIT).contains(bins),
    };
    if bins.len() != attributes || !domain.flat().factors().zip(bins).all(fits) {
        let problem = format!(
            "bins must be {attributes} numbers: of a category its levels, of a number {FEWEST} to {LIMIT}"
        );
        return Err(Error::parameter(plugin, problem));
    }
    Columns::of(plugin, domain, bins)
}
