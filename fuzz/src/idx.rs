//! The idx format, and images in it.

use crate::{accepted, assert_in_domain, folder};
use scumble_datasets::{idx as format, source};
use std::fs;

/// Reads an idx file. A file with three dimensions is also read as the images of a data set with matching
/// labels.
pub fn idx(data: &[u8]) -> bool {
    let Some(array) = accepted(format::read(data, "a file")) else {
        return false;
    };
    assert!(!array.sizes().contains(&0));
    assert_eq!(array.sizes().iter().product::<usize>(), array.values().len());
    assert!(data.ends_with(array.values()));
    if let [count, ..] = array.sizes()[..] {
        images(data, count);
    }
    true
}

fn images(data: &[u8], count: usize) {
    let folder = folder();
    let mnist = folder.path().join("mnist");
    fs::create_dir(&mnist).expect("there is room for a folder");
    let size = u32::try_from(count).expect("sizes have four bytes").to_be_bytes();
    let labels: Vec<u8> = [0, 0, 8, 1].into_iter().chain(size).chain((0..10).cycle().take(count)).collect();
    for part in ["train", "t10k"] {
        fs::write(mnist.join(format!("{part}-images-idx3-ubyte")), data).expect("there is room for images");
        fs::write(mnist.join(format!("{part}-labels-idx1-ubyte")), &labels)
            .expect("there is room for labels");
    }
    let mnist = source("mnist").expect("there is such a data set");
    if let Some(digits) = accepted(mnist.load(folder.path())) {
        assert_eq!(digits.table.len(), 2 * count);
        assert_in_domain(&digits);
    }
}
