//! Tables of counts for curators that add another kind of noise than this crate.

use crate::bins;
use crate::columns::Columns;
use crate::counts::{Clique, Counts, TablePlan, cells};
use crate::program::Answered;
use crate::residuals::Measured;
use scumble_core::levels::Grid;
use scumble_core::{Brief, Error, PARTS, RecordDomain, Result, Stream, Table};
use std::collections::BTreeMap;

/// Tables of counts of each feature with the target, for a curator that adds its own noise. They count
/// records, and draw records from noisy counts.
///
/// ```
/// use scumble_core::Randomness;
/// use scumble_marginals::Tables;
///
/// let example = scumble_core::Example::mixed()?;
/// let tables = Tables::new("mine", &example.brief.domain, &[4, 4, 3, 2])?;
/// let coded = tables.coded(&example.table)?;
/// // Of the first half of the records, and without noise.
/// let counts: Vec<f64> =
///     tables.counts(&coded, &(0..20).collect::<Vec<_>>())?.iter().map(|count| *count as f64).collect();
/// assert_eq!(counts.iter().sum::<f64>(), 60.0); // three tables
/// let variances = vec![0.0; counts.len()];
/// let drawn = tables.records(&counts, &variances, 20, &mut Randomness::from_os()?.streams().stream(0))?;
/// assert_eq!(drawn.len(), 20);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tables {
    domain: RecordDomain,
    columns: Columns,
    cliques: Vec<Clique>,
}

/// Records, coded as levels of their attributes (features and target).
#[derive(Debug, Clone)]
pub struct Coded(Vec<Vec<u32>>);

impl Tables {
    /// Returns the number of levels of each attribute (feature or target) of the records of `brief`.
    ///
    /// A number has `bins` levels if `bins` is given, and otherwise as many as the schema states. If neither
    /// is given, a public rule determines the number from the standard deviation `scale` of the noise on
    /// counts.
    ///
    /// # Errors
    /// [`Error::Parameter`](scumble_core::Error::Parameter) if a number has fewer than 2 bins, or more than
    /// 1024.
    pub fn bins(plugin: &str, brief: &Brief, bins: Option<usize>, scale: f64) -> Result<Vec<usize>> {
        let explicit = bins::ExplicitBins { each: &BTreeMap::new(), all: bins, schema: &brief.bins };
        let rule = bins::Rule::from_brief(brief, scale);
        let grids = bins::for_attributes(plugin, &brief.domain, &explicit, &rule, false)?;
        Ok(grids.iter().map(Grid::levels).collect())
    }

    /// Creates tables of records of `domain`. `bins` has the number of levels of each feature, and then of
    /// the target.
    ///
    /// # Errors
    /// [`Error::Parameter`](scumble_core::Error::Parameter) if `bins` does not have a valid number for each
    /// feature and the target. [`Error::NotApplicable`](scumble_core::Error::NotApplicable) if a column is
    /// neither a number within its own bounds nor a category.
    /// [`Error::TooLarge`](scumble_core::Error::TooLarge) if the tables do not fit in memory.
    pub fn new(plugin: &str, domain: &RecordDomain, bins: &[usize]) -> Result<Self> {
        let grids: Vec<Grid> = bins.iter().copied().map(Grid::Equal).collect();
        let columns = bins::check(plugin, domain, &grids)?;
        let made = Self { domain: domain.clone(), cliques: columns.each_with_label(), columns };
        made.table_plan().check(plugin, &made.columns.levels())?;
        Ok(made)
    }

    fn table_plan(&self) -> TablePlan {
        TablePlan { cliques: self.cliques.clone(), pairs: None }
    }

    /// Columns of each table, by their indices among the features and the target.
    pub fn cliques(&self) -> &[Vec<usize>] {
        &self.cliques
    }

    /// Number of cells of each table.
    pub fn lengths(&self) -> Vec<usize> {
        let levels = self.columns.levels();
        self.cliques.iter().map(|clique| cells(&levels, clique)).collect()
    }

    /// Codes the records of `table` as levels.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`](scumble_core::Layout::check).
    pub fn coded(&self, table: &Table) -> Result<Coded> {
        let layout = self.domain.layout();
        layout.check(table)?;
        Ok(Coded(self.columns.coded(&self.domain, &layout.flat(table, 0..table.len()))?))
    }

    /// Counts the records in `rows`, and returns the counts of one table after the other.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if a row does not exist, or if the records do not have
    /// the levels of these tables.
    pub fn counts(&self, Coded(columns): &Coded, rows: &[usize]) -> Result<Vec<u64>> {
        let levels = self.columns.levels();
        scumble_core::check_width(levels.len(), columns.len())?;
        let records = columns.first().map_or(0, Vec::len);
        if let Some(row) = rows.iter().find(|row| **row >= records) {
            return Err(Error::shape(format!("there is no row {row} among {records}")));
        }
        let fits =
            |(column, levels): (&Vec<u32>, &usize)| column.iter().all(|level| (*level as usize) < *levels);
        if !columns.iter().zip(&levels).all(fits) {
            return Err(Error::shape("these are levels of other columns"));
        }
        let mut counts = Counts::new(levels, self.table_plan());
        let chosen = |column: &Vec<u32>| rows.iter().map(|&row| column[row]).collect();
        counts.add(&columns.iter().map(chosen).collect::<Vec<_>>(), None)?;
        let cells = self.cliques.iter().flat_map(|clique| counts.cells(clique));
        Ok(cells.map(|parts| parts / u64::from(PARTS)).collect())
    }

    /// Makes the tables of the noisy `counts` consistent, and draws `records` records in proportion to the
    /// consistent counts. `counts` has the cells of one table after the other.
    ///
    /// `variances` are the variances of the noise on each count.
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if `counts` or `variances` do not have one value for each
    /// cell of all tables.
    pub fn records(
        &self,
        counts: &[f64],
        variances: &[f64],
        records: usize,
        stream: &mut Stream,
    ) -> Result<Table> {
        let lengths = self.lengths();
        scumble_core::check_width(lengths.iter().sum(), counts.len())?;
        scumble_core::check_width(counts.len(), variances.len())?;
        let (mut start, mut measured) = (0, vec![]);
        for (clique, length) in self.cliques.iter().zip(lengths) {
            let cells = start..start + length;
            let variance = variances[cells.clone()].iter().sum::<f64>() / length.max(1) as f64;
            measured.push(Measured { clique: clique.clone(), counts: counts[cells].to_vec(), variance });
            start += length;
        }
        let (levels, cliques) = (self.columns.levels(), self.cliques.clone());
        let model =
            Answered { levels, measured, cliques, merged: vec![] }.model(Some(records as f64), stream)?;
        let layout = self.domain.layout();
        layout.table_of(self.columns.written(&model.draw(records, stream)?, layout.width(), stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Example;

    #[test]
    fn rows_and_levels_that_are_not_there_are_refused() {
        let Example { brief, table, .. } = Example::mixed().unwrap();
        let tables = Tables::new("mine", &brief.domain, &[4, 4, 3, 2]).unwrap();
        let coded = tables.coded(&table).unwrap();
        assert!(tables.counts(&coded, &[39]).is_ok());
        let refused = tables.counts(&coded, &[3, 40]).unwrap_err().to_string();
        assert!(refused.contains("there is no row 40 among 40"), "{refused}");
        let coarser = Tables::new("mine", &brief.domain, &[2, 2, 3, 2]).unwrap();
        assert!(coarser.counts(&coded, &[0]).unwrap_err().to_string().contains("levels of other columns"));
    }
}
