//! Public rule for the number of bins of a numeric column.

use crate::columns::Columns;
use scumble_core::levels::Grid;
use scumble_core::{Brief, Error, Factor, RecordDomain, Result, TargetDomain};
use std::collections::BTreeMap;

/// Smallest number of bins that the rule chooses for a numeric column. The largest is [`MOST`], because more
/// bins cannot be distinguished on a plot.
const FEWEST: usize = 2;
const MOST: usize = 32;
/// Largest number of bins that a parameter can ask for.
const LIMIT: usize = 1024;

/// Number of records that the rule assumes if the [`Brief`] of a design does not state the number of people.
const PEOPLE: usize = 1000;

/// Inputs of the rule: the publicly known number of records, and the standard deviation of a table's noise,
/// in counts.
pub(crate) struct Rule {
    pub(crate) records: usize,
    pub(crate) scale: f64,
}

impl Rule {
    /// Creates the rule for the number of people that `brief` states, or else for [`PEOPLE`].
    pub(crate) fn from_brief(brief: &Brief, scale: f64) -> Self {
        Self { records: brief.people.unwrap_or(PEOPLE), scale }
    }

    /// Returns the number of bins of a numeric column that is counted together with a target of `labels`
    /// classes.
    ///
    /// For a numeric target, `labels` is its number of bins; without a target, it is 1.
    ///
    /// The rule for the number B of bins is B³ = min(n, (n/σ)²). Here n is the average number of records of a
    /// class, and σ is the standard deviation of the noise on a count. Within a bin, the shape of a density
    /// is lost: with B bins, this error is about 1/B. More bins have smaller counts, which sampling and noise
    /// change by a larger fraction.
    fn bins(&self, labels: usize) -> usize {
        let class_records = self.records as f64 / labels.max(1) as f64;
        let by_noise = (class_records / self.scale.max(1e-9)).powi(2);
        (by_noise.min(class_records).cbrt() as usize).clamp(FEWEST, MOST)
    }
}

/// Explicit numbers of bins, which take precedence over the rule.
pub(crate) struct ExplicitBins<'a> {
    /// Bins of single columns, set by a parameter.
    pub(crate) each: &'a BTreeMap<String, usize>,
    /// Bins of all columns, set by a parameter.
    pub(crate) all: Option<usize>,
    /// Bins of single columns, set by the schema.
    pub(crate) schema: &'a BTreeMap<String, usize>,
}

impl ExplicitBins<'_> {
    fn for_column(&self, column: &str) -> Option<usize> {
        self.each.get(column).copied().or(self.all).or_else(|| self.schema.get(column).copied())
    }

    /// Returns all explicit numbers of bins.
    fn bins(&self) -> impl Iterator<Item = usize> {
        self.each.values().copied().chain(self.all).chain(self.schema.values().copied())
    }
}

/// Returns the grid of every attribute. A numeric attribute has an explicit number of equal bins. Without
/// one, it has the number from the rule, or a `refined` grid that merges into this number of levels.
///
/// # Errors
/// [`Error::Parameter`] if a named column is not numeric, or if a number of bins is out of range.
pub(crate) fn for_attributes(
    plugin: &str,
    domain: &RecordDomain,
    explicit: &ExplicitBins,
    rule: &Rule,
    refined: bool,
) -> Result<Vec<Grid>> {
    let refuse = |problem: String| Err(Error::parameter(plugin, problem));
    if let Some(bins) = explicit.bins().find(|bins| !(FEWEST..=LIMIT).contains(bins)) {
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
    if let Some(column) = explicit.each.keys().find(|column| !numbers.contains(&column.as_str())) {
        return refuse(format!("column_bins names {column:?}, which is not a column of numbers"));
    }
    let labels = match domain.target() {
        TargetDomain::None => 1,
        TargetDomain::Class { levels } => levels.len(),
        // A numeric target counts as a label with this number of classes.
        _ => rule.bins(8),
    };
    let grid = |(first, factor): (usize, &Factor)| match factor {
        Factor::OneHot { levels } => Grid::Equal(*levels),
        _ => {
            let name = domain.columns().get(first).map_or(Brief::TARGET, String::as_str);
            match (explicit.for_column(name), rule.bins(labels)) {
                (Some(bins), _) => Grid::Equal(bins),
                (None, merged) if refined => Grid::Refined { merged },
                (None, bins) => Grid::Equal(bins),
            }
        }
    };
    Ok(domain.flat().factors().map(|(at, factor)| grid((at.start, factor))).collect())
}

/// Checks that `grids`, the saved grids, fit the columns of `domain`. Returns the columns as attributes:
/// columns with a few discrete levels, into which the grids cut the numbers.
///
/// # Errors
/// [`Error::Parameter`] if `grids` does not have one value for each attribute, or if a value does not fit its
/// attribute.
pub(crate) fn check(plugin: &str, domain: &RecordDomain, grids: &[Grid]) -> Result<Columns> {
    let attributes = domain.flat().factors().count();
    let fits = |((_, factor), grid): ((_, &Factor), &Grid)| match (factor, grid) {
        (Factor::OneHot { levels }, grid) => *grid == Grid::Equal(*levels),
        (_, Grid::Equal(bins) | Grid::Refined { merged: bins }) => (FEWEST..=LIMIT).contains(bins),
    };
    if grids.len() != attributes || !domain.flat().factors().zip(grids).all(fits) {
        let problem = format!(
            "bins must be {attributes} numbers: the number of levels for a category, {FEWEST} to {LIMIT} for \
             a number"
        );
        return Err(Error::parameter(plugin, problem));
    }
    Columns::new(plugin, domain, grids)
}
