//! The columns of records as attributes of few levels.

use rayon::prelude::*;
use scumble_core::{RecordDomain, Result, Stream, Table};
use scumble_levels::{Attribute, draw};

/// Rows that are coded, or written, at once.
const BLOCK: usize = 4096;

/// The features of a domain, and its target behind them, as attributes of few levels.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    attributes: Vec<Attribute>,
    label: Option<usize>,
}

impl Columns {
    /// Numbers in as many bins as are given for their place among the attributes.
    ///
    /// # Errors
    /// As [`Attribute::all`].
    pub(crate) fn of(plugin: &str, domain: &RecordDomain, bins: &[usize]) -> Result<Self> {
        let places: Vec<usize> = domain.flat().factors().map(|(coordinates, _)| coordinates.start).collect();
        let bins = |first: usize| places.binary_search(&first).map_or(1, |at| bins[at]);
        let (mut attributes, label) = Attribute::all(plugin, domain, bins)?;
        let place = label.is_some().then_some(attributes.len());
        attributes.extend(label);
        Ok(Self { attributes, label: place })
    }

    /// How many there are, m.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// The levels of each (m values).
    pub(crate) fn levels(&self) -> Vec<usize> {
        self.attributes.iter().map(Attribute::levels).collect()
    }

    /// Which of them is the label.
    pub(crate) fn label(&self) -> Option<usize> {
        self.label
    }

    /// Those that are not.
    pub(crate) fn features(&self) -> impl Iterator<Item = usize> {
        0..self.len() - usize::from(self.label.is_some())
    }

    /// The levels of every record of `table`, which is of `domain`'s shape: as many columns as attributes, of n values each.
    ///
    /// # Errors
    /// As [`RecordDomain::projected`].
    pub(crate) fn coded(&self, domain: &RecordDomain, table: &Table) -> Result<Vec<Vec<u32>>> {
        let layout = domain.layout();
        layout.check(table)?;
        let blocks: Vec<Vec<u32>> = (0..table.len())
            .into_par_iter()
            .step_by(BLOCK)
            .map(|start| {
                let mut levels = Vec::with_capacity(BLOCK * self.len());
                for row in start..table.len().min(start + BLOCK) {
                    let record = domain.projected(&layout.flatten(table, row))?;
                    levels.extend(self.attributes.iter().map(|attribute| attribute.level(&record) as u32));
                }
                Ok(levels)
            })
            .collect::<Result<_>>()?;
        let column = |at: usize| {
            blocks.iter().flat_map(|block| block.iter().skip(at).step_by(self.len()).copied()).collect()
        };
        Ok((0..self.len()).into_par_iter().map(column).collect())
    }

    /// Records of these levels (as many columns as attributes, of n values each), a number anywhere in its bin.
    ///
    /// # Errors
    /// None that a user could cause.
    pub(crate) fn table(
        &self,
        domain: &RecordDomain,
        levels: &[Vec<u32>],
        streams: impl Fn(u64) -> Stream + Sync,
    ) -> Result<Table> {
        let layout = domain.layout();
        let records = levels.first().map_or(0, Vec::len);
        let width = layout.width();
        let mut flat = vec![0.0; records * width];
        flat.par_chunks_mut((BLOCK * width).max(1)).enumerate().for_each(|(block, rows)| {
            let mut stream = streams(block as u64);
            for (at, record) in rows.chunks_mut(width).enumerate() {
                for (attribute, levels) in self.attributes.iter().zip(levels) {
                    let through = draw::uniform(&mut stream);
                    attribute.write(levels[block * BLOCK + at] as usize, through, record);
                }
            }
        });
        layout.table_of(flat)
    }
}
