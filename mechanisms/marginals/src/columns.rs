//! Columns of records as *attributes*: features and target, each coded as one of a few levels.

use rayon::prelude::*;
use scumble_core::levels::{Attribute, Grid, draw};
use scumble_core::{Error, RecordDomain, Result, Stream};

/// Number of records that one core codes at once.
const BLOCK: usize = 4096;

/// The features of a domain, followed by its target, as attributes with few levels.
#[derive(Debug, Clone)]
pub(crate) struct Columns {
    attributes: Vec<Attribute>,
    label: Option<usize>,
}

impl Columns {
    /// Creates the attributes. `grids` has the grid of each attribute; equal bins are the levels of a
    /// category.
    ///
    /// # Errors
    /// Same errors as [`Attribute::all`].
    pub(crate) fn new(plugin: &str, domain: &RecordDomain, grids: &[Grid]) -> Result<Self> {
        let places: Vec<usize> = domain.flat().factors().map(|(coordinates, _)| coordinates.start).collect();
        let grid = |first: usize| places.binary_search(&first).map_or(Grid::Equal(1), |at| grids[at]);
        let (mut attributes, label) = Attribute::all(plugin, domain, grid)?;
        let place = label.is_some().then_some(attributes.len());
        attributes.extend(label);
        Ok(Self { attributes, label: place })
    }

    /// The m attributes.
    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Number of attributes, m.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// Number of levels of each attribute (m values).
    pub(crate) fn levels(&self) -> Vec<usize> {
        self.attributes.iter().map(Attribute::levels).collect()
    }

    /// Grid of each attribute; `None` for a category.
    pub(crate) fn grids(&self) -> impl Iterator<Item = Option<Grid>> {
        self.attributes.iter().map(Attribute::grid)
    }

    /// Index of the label among the attributes.
    pub(crate) fn label(&self) -> Option<usize> {
        self.label
    }

    /// Indices of the features among the attributes.
    pub(crate) fn features(&self) -> impl Iterator<Item = usize> {
        0..self.len() - usize::from(self.label.is_some())
    }

    /// Returns the index of each feature, together with the index of the label if there is one.
    pub(crate) fn each_with_label(&self) -> Vec<Vec<usize>> {
        let with_label = |at: usize| std::iter::once(at).chain(self.label).collect();
        match self.features().next() {
            // Without features, the only table counts the levels of the target.
            None => vec![self.label.into_iter().collect()],
            Some(_) => self.features().map(with_label).collect(),
        }
    }

    /// Codes consecutive flat records of `domain` (features, then target) as levels. Returns one vector per
    /// attribute, with the attribute's level in each record.
    ///
    /// # Errors
    /// Same errors as [`RecordDomain::projected`], and [`Error::Shape`] if the values are not a whole number
    /// of records.
    pub(crate) fn coded(&self, domain: &RecordDomain, records: &[f64]) -> Result<Vec<Vec<u32>>> {
        let width = domain.flat().dim();
        if !records.len().is_multiple_of(width) {
            let problem =
                format!("{} values are not a whole number of records of {width} values each", records.len());
            return Err(Error::shape(problem));
        }
        let code_block = |records: &[f64]| {
            let mut levels = Vec::with_capacity(BLOCK * self.len());
            for record in records.chunks_exact(width) {
                let record = domain.projected(record)?;
                levels.extend(self.attributes.iter().map(|attribute| attribute.level(&record) as u32));
            }
            Ok(levels)
        };
        let blocks: Vec<Vec<u32>> =
            records.par_chunks(BLOCK * width).map(code_block).collect::<Result<_>>()?;
        let column = |at: usize| {
            blocks.iter().flat_map(|block| block.iter().skip(at).step_by(self.len()).copied()).collect()
        };
        Ok(match blocks.len() {
            0 | 1 => (0..self.len()).map(column).collect(),
            _ => (0..self.len()).into_par_iter().map(column).collect(),
        })
    }

    /// Writes flat records (features, then target) with `width` coordinates. `levels` has one vector per
    /// attribute, with the attribute's level in each record.
    ///
    /// A number is drawn uniformly from its bin.
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
