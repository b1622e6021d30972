//! Handwritten digits (LeCun, Cortes and Burges 1998). The value of a pixel is its byte divided by 255.
//! Columns are in the order of the bytes of an image.

use crate::idx::{self, Idx};
use crate::{DataSet, Error, Images, Result};
use std::path::Path;

const DIGITS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let (train, sizes) = part(folder, "train")?;
    let (test, test_sizes) = part(folder, "t10k")?;
    if test_sizes != sizes {
        let [[rows, columns], [height, width]] = [test_sizes, sizes];
        let problem =
            format!("its images are {rows} × {columns}, but the training images are {height} × {width}");
        return Err(Error::format("t10k-images-idx3-ubyte", problem));
    }
    let [rows, columns] = sizes;
    let names =
        (0..rows).flat_map(|row| (0..columns).map(move |column| format!("row {row}, column {column}")));
    Images::data_set("mnist", "digit", names.collect(), &DIGITS, [&[train], &[test]])
}

/// The images of the part `name` (`train` or `t10k`), and their height and width.
fn part(folder: &Path, name: &str) -> Result<(Images, [usize; 2])> {
    let file = |kind: &str| folder.join(format!("mnist/{name}-{kind}-ubyte"));
    let (images, labels) = (file("images-idx3"), file("labels-idx1"));
    labelled(
        idx::read_file(&images)?,
        idx::read_file(&labels)?,
        &images.display().to_string(),
        &labels.display().to_string(),
    )
}

fn labelled(images: Idx, labels: Idx, images_file: &str, labels_file: &str) -> Result<(Images, [usize; 2])> {
    let &[count, rows, columns] = images.sizes() else {
        let problem = format!("it has {} dimensions; images need 3", images.sizes().len());
        return Err(Error::format(images_file, problem));
    };
    if *labels.sizes() != [count] {
        let problem = format!("its sizes are {:?}, but {count} images need [{count}]", labels.sizes());
        return Err(Error::format(labels_file, problem));
    }
    let images = Images::new(images.into_values(), labels.into_values(), DIGITS.len(), labels_file)?;
    Ok((images, [rows, columns]))
}
