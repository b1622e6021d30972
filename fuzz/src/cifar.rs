//! CIFAR's binary format.

use crate::accepted;
use scumble_datasets::cifar as format;

/// Reads a batch of images. Checks that the number of images matches the number of bytes, and that each image
/// has a class.
pub fn cifar(data: &[u8]) -> bool {
    let Some(images) = accepted(format::read(data, "a file")) else {
        return false;
    };
    let (count, width) = images.pixels.dim();
    assert_eq!(count * (1 + width), data.len());
    assert_eq!(images.labels.len(), count);
    assert!(images.labels.iter().all(|&label| usize::from(label) < format::CLASSES.len()));
    assert_eq!(images.pixels.row(count - 1).to_vec(), data[data.len() - width..]);
    true
}
