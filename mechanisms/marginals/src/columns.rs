//! The columns of records as attributes of few levels.

use rayon::prelude::*;
use scumble_core::levels::{Attribute, draw};
use scumble_core::{Error, RecordDomain, Result, Stream};

/// Records that one core codes at once.
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

    /// Each feature with the label, where there is one: the places of both.
    pub(crate) fn each_with_label(&self) -> Vec<Vec<usize>> {
        let with_label = |at: usize| std::iter::once(at).chain(self.label).collect();
        match self.features().next() {
            // A target without features is a table too.
            None => vec![self.label.into_iter().collect()],
            Some(_) => self.features().map(with_label).collect(),
        }
    }

    /// The levels of flat records of `domain`, one after the other: as many columns as attributes, of n values each.
    ///
    /// # Errors
    /// As [`RecordDomain::projected`], and [`Error::Shape`] for values that are no whole number of records.
    pub(crate) fn coded(&self, domain: &RecordDomain, records: &[f64]) -> Result<Vec<Vec<u32>>> {
        let width = domain.flat().dim();
        if !records.len().is_multiple_of(width) {
            let problem = format!("{} values are no whole number of records of {width} each", records.len());
            return Err(Error::shape(problem));
        }
        let of_block = |records: &[f64]| {
            let mut levels = Vec::with_capacity(BLOCK * self.len());
            for record in records.chunks_exact(width) {
                let record = domain.projected(record)?;
                levels.extend(self.attributes.iter().map(|attribute| attribute.level(&record) as u32));
            }
            Ok(levels)
        };
        let blocks: Vec<Vec<u32>> = records.par_chunks(BLOCK * width).map(of_block).collect::<Result<_>>()?;
        let column = |at: usize| {
            blocks.iter().flat_map(|block| block.iter().skip(at).step_by(self.len()).copied()).collect()
        };
        Ok(match blocks.len() {
            0 | 1 => (0..self.len()).map(column).collect(),
            _ => (0..self.len()).into_par_iter().map(column).collect(),
        })
    }

    /// Flat records of these levels (as many columns as attributes, of n values each), of so many coordinates, a number anywhere in its bin.
    pub(crate) fn written(&self, levels: &[Vec<u32>], width: usize, stream: &mut Stream) -> Vec<f64> {
        let mut flat = vec![0.0; levels.first().map_or(0, Vec::len) * width];
        for (row, record) in flat.chunks_mut(width).enumerate() {
            for (attribute, levels) in self.attributes.iter().zip(levels) {
                attribute.write(levels[row] as usize, draw::uniform(stream), record);
            }
        }
        flat
    }
}
