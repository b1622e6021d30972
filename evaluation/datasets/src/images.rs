//! Images whose pixels are bytes, each with a class.

use crate::{DataSet, Error, PackedTable, Result};
use ndarray::{Array1, Array2};
use scumble_core::{Domain, RecordDomain, Target, TargetDomain};

/// Images of d bytes each, and their classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The bytes (n images × d bytes).
    pub pixels: Array2<u8>,
    /// The class of each image, counted from 0.
    pub labels: Array1<u8>,
}

impl Images {
    /// Creates images from `pixels` (n times d bytes, image by image) with the classes `labels` (n).
    ///
    /// # Errors
    /// [`Error::Format`] for a label that is not below `classes`, and if `pixels` cannot be divided into n
    /// equal images. The error names `file`.
    pub(crate) fn new(pixels: Vec<u8>, labels: Vec<u8>, classes: usize, file: &str) -> Result<Self> {
        if let Some((at, label)) =
            labels.iter().enumerate().find(|(_, label)| usize::from(**label) >= classes)
        {
            let problem = format!("image {} has class {label}; the classes are 0 to {}", at + 1, classes - 1);
            return Err(Error::format(file, problem));
        }
        let width = pixels.len().checked_div(labels.len()).unwrap_or(0);
        let pixels = Array2::from_shape_vec((labels.len(), width), pixels);
        let pixels = pixels.map_err(|error| Error::format(file, error.to_string()))?;
        Ok(Self { pixels, labels: labels.into() })
    }

    /// The data set of the images in `train` and `test`, with bytes scaled to [0, 1].
    ///
    /// # Errors
    /// [`Error::Shape`](scumble_core::Error::Shape) if an image does not have one byte for each column.
    pub(crate) fn data_set(
        name: &str,
        target: &str,
        columns: Vec<String>,
        levels: &[&str],
        [train, test]: [&[Self]; 2],
    ) -> Result<DataSet> {
        let parts = || train.iter().chain(test);
        let records = count(train) + count(test);
        let mut pixels = Vec::with_capacity(parts().map(|part| part.pixels.len()).sum());
        let mut labels = Vec::with_capacity(records);
        for part in parts() {
            pixels.extend(&part.pixels);
            labels.extend(part.labels.iter().map(|&label| usize::from(label)));
        }
        let scaled = |byte| f64::from(byte) / 255.0;
        let classes = TargetDomain::Class { levels: levels.iter().map(|&level| level.into()).collect() };
        Ok(DataSet {
            name: name.into(),
            target: target.into(),
            domain: RecordDomain::new(columns.clone(), Domain::unit_box(columns.len()), classes)?,
            schema: None,
            table: PackedTable::from_bytes(columns, pixels, scaled, Target::Class(labels.into()))?,
            columns: None,
            target_width: 1.0,
            codes: None,
            learning: None,
            recognised: None,
            is_public: false,
            is_drafted: false,
            clipped: vec![],
            dropped: 0,
            people: None,
            train_records: Some(count(train)),
        })
    }
}

fn count(parts: &[Images]) -> usize {
    parts.iter().map(|part| part.labels.len()).sum()
}
