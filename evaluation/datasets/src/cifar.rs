//! The binary format of CIFAR-10 (Krizhevsky 2009): a sequence of images, each a byte for its class followed
//! by its colours.
//!
//! The value of a pixel is its byte divided by 255. Columns are in the order of the bytes of an image.

use crate::{DataSet, Error, Images, Result, stored};
use std::path::Path;

/// Names of the classes, in the order of their codes in a file.
pub const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

const SIDE: usize = 32;
const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// Number of bytes for the pixels of an image: all red values row by row, then green, then blue.
const PIXELS: usize = COLOURS.len() * SIDE * SIDE;

/// Reads n images from `bytes` (n × 3,073 bytes). Errors name `file`. Memory use is little more than the size
/// of `bytes`.
///
/// # Errors
/// [`Error::Format`] for bytes that are not a whole number of images, for no images, or for an unknown class.
pub fn read(bytes: &[u8], file: &str) -> Result<Images> {
    let (images, rest) = bytes.as_chunks::<{ 1 + PIXELS }>();
    if images.is_empty() || !rest.is_empty() {
        let problem = format!(
            "it has {} bytes, not a positive multiple of {}: each image has a byte for its class and \
             {PIXELS} for its pixels",
            bytes.len(),
            1 + PIXELS
        );
        return Err(Error::format(file, problem));
    }
    let labels = images.iter().map(|image| image[0]).collect();
    let pixels = images.iter().flat_map(|image| &image[1..]).copied().collect();
    Images::new(pixels, labels, CLASSES.len(), file)
}

/// Reads `file`. If it does not exist, reads `file.gz` or `file.xz`.
///
/// # Errors
/// [`Error::Missing`] if none of these files exists, [`Error::Records`] if the file cannot be read or
/// unpacked, and the errors of [`read`].
pub fn read_file(file: &Path) -> Result<Images> {
    let stored = stored::read(file)?;
    read(&stored.bytes, &stored.file)
}

/// Loads the first of the five training batches, any of the other four that exist, and the test batch. If the
/// whole test batch is missing, loads its first 1,017 images.
pub(crate) fn load(folder: &Path) -> Result<DataSet> {
    let read = |name: &str| read_file(&folder.join("cifar10").join(name));
    let mut train = vec![read("data_batch_1.bin")?];
    for batch in 2..=5 {
        train.extend(if_there(read(&format!("data_batch_{batch}.bin")))?);
    }
    let test = match if_there(read("test_batch.bin"))? {
        Some(whole) => whole,
        None => read("test_batch_first1017.bin")?,
    };
    Images::data_set("cifar10", "class", columns(), &CLASSES, [&train, &[test]])
}

fn if_there(images: Result<Images>) -> Result<Option<Images>> {
    match images {
        Err(Error::Missing { .. }) => Ok(None),
        other => other.map(Some),
    }
}

fn columns() -> Vec<String> {
    let names = COLOURS.iter().flat_map(|colour| {
        let rows = (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column)));
        rows.map(move |(row, column)| format!("{colour}, row {row}, column {column}"))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(class: u8, value: u8) -> Vec<u8> {
        [vec![class], vec![value; PIXELS]].concat()
    }

    #[test]
    fn images_are_read_one_after_the_other() {
        let images = read(&[image(3, 7), image(9, 255)].concat(), "a.bin").unwrap();
        assert_eq!(images.pixels.dim(), (2, 3072));
        assert_eq!(images.labels.to_vec(), [3, 9]);
        assert_eq!((images.pixels[[0, 3071]], images.pixels[[1, 0]]), (7, 255));
    }

    #[test]
    fn what_is_no_batch_gets_one_line() {
        let message = |bytes: &[u8]| read(bytes, "a.bin").unwrap_err().to_string();
        let expected =
            "not a positive multiple of 3073: each image has a byte for its class and 3072 for its pixels";
        assert_eq!(message(b""), format!("a.bin: it has 0 bytes, {expected}"));
        assert_eq!(message(&image(1, 1)[1..]), format!("a.bin: it has 3072 bytes, {expected}"));
        assert_eq!(
            message(&[image(9, 0), image(10, 0)].concat()),
            "a.bin: image 2 has class 10; the classes are 0 to 9"
        );
    }

    #[test]
    fn columns_are_named_in_the_order_of_the_bytes() {
        let columns = columns();
        assert_eq!(columns.len(), PIXELS);
        assert_eq!(columns[0], "red, row 0, column 0");
        assert_eq!(columns[1024 + 32], "green, row 1, column 0");
        assert_eq!(columns[3071], "blue, row 31, column 31");
    }
}
