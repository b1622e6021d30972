//! The idx format of MNIST: a header with the size of each dimension, and then the values as bytes. A header
//! with wrong sizes is refused before any memory is allocated.

use crate::{Error, Result, stored};
use std::path::Path;

/// An array of bytes in any number of dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Idx {
    sizes: Vec<usize>,
    values: Vec<u8>,
}

impl Idx {
    /// The size of each dimension. The first dimension varies slowest among the values. All sizes are
    /// positive, and their product is the number of [`values`](Self::values).
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The values. The last dimension varies fastest.
    pub fn values(&self) -> &[u8] {
        &self.values
    }

    pub(crate) fn into_values(self) -> Vec<u8> {
        self.values
    }
}

/// First bytes of a file: two zeros, and the code of the type unsigned byte.
const MAGIC: [u8; 3] = [0, 0, 0x08];

/// Reads the array in `bytes`. Errors name `file`. Memory use is at most the size of `bytes`.
/// ```
/// use scumble_datasets::idx;
///
/// let bytes = [0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9];
/// let array = idx::read(&bytes, "some bytes")?;
/// assert_eq!((array.sizes(), array.values()), (&[1, 3][..], &[7, 8, 9][..]));
///
/// let forged = [0, 0, 8, 2, 255, 255, 255, 255, 255, 255, 255, 255, 7, 8, 9];
/// let error = idx::read(&forged, "some bytes").unwrap_err().to_string();
/// assert_eq!(error, "some bytes: its header declares 4294967295 × 4294967295 bytes, but 3 follow");
/// # Ok::<(), scumble_datasets::Error>(())
/// ```
///
/// # Errors
/// [`Error::Format`] for invalid first bytes or header, for a size of 0, and if the number of values is not
/// the product of the sizes.
pub fn read(bytes: &[u8], file: &str) -> Result<Idx> {
    let refuse = |problem: String| Err(Error::format(file, problem));
    let Some((&dimensions, rest)) = bytes.strip_prefix(&MAGIC).and_then(<[u8]>::split_first) else {
        return refuse("it does not begin with 0, 0, 8, as an idx file of unsigned bytes must".into());
    };
    if dimensions == 0 {
        return refuse("its header declares no dimension; an idx file needs one or more".into());
    }
    let Some((header, values)) = rest.split_at_checked(4 * usize::from(dimensions)) else {
        return refuse(format!("it ends within its header of {dimensions} sizes of four bytes"));
    };
    let (sizes, _) = header.as_chunks();
    let sizes: Vec<usize> = sizes.iter().map(|&size| u32::from_be_bytes(size) as usize).collect();
    if sizes.contains(&0) {
        return refuse(format!("its header declares a size of 0: {}", product(&sizes)));
    }
    let expected = sizes.iter().try_fold(1, |sum: usize, &size| sum.checked_mul(size));
    if expected != Some(values.len()) {
        return refuse(format!("its header declares {} bytes, but {} follow", product(&sizes), values.len()));
    }
    Ok(Idx { sizes, values: values.into() })
}

/// Reads `file`. If it does not exist, reads `file.gz` or `file.xz`.
///
/// # Errors
/// [`Error::Missing`] if none of these files exists, [`Error::Records`] if the file cannot be read or
/// unpacked, and the errors of [`read`].
pub fn read_file(file: &Path) -> Result<Idx> {
    let stored = stored::read(file)?;
    read(&stored.bytes, &stored.file)
}

/// Text of the first eight sizes, with × between them.
fn product(sizes: &[usize]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = sizes.iter().take(MOST).map(usize::to_string).collect();
    shown.join(" × ") + if sizes.len() > MOST { " × …" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        read(bytes, "a.idx").unwrap_err().to_string()
    }

    #[test]
    fn an_array_is_read_by_its_sizes() {
        let array = read(&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 255], "a.idx").unwrap();
        assert_eq!(array.sizes(), [2, 1, 2]);
        assert_eq!(array.values(), [1, 2, 3, 255]);
    }

    #[test]
    fn what_is_no_idx_file_gets_one_line() {
        for (bytes, expected) in [
            (&b""[..], "a.idx: it does not begin with 0, 0, 8, as an idx file of unsigned bytes must"),
            (&[0, 0, 8], "a.idx: it does not begin with 0, 0, 8, as an idx file of unsigned bytes must"),
            (
                &[0, 0, 13, 1, 0, 0, 0, 0],
                "a.idx: it does not begin with 0, 0, 8, as an idx file of unsigned bytes must",
            ),
            (&[0, 0, 8, 0, 1], "a.idx: its header declares no dimension; an idx file needs one or more"),
            (&[0, 0, 8, 2, 0, 0, 0, 1, 0], "a.idx: it ends within its header of 2 sizes of four bytes"),
            (&[0, 0, 8, 1, 0, 0, 0, 3, 1, 2], "a.idx: its header declares 3 bytes, but 2 follow"),
            (&[0, 0, 8, 1, 0, 0, 0, 1, 1, 2], "a.idx: its header declares 1 bytes, but 2 follow"),
            (
                &[0, 0, 8, 2, 255, 255, 255, 255, 0, 0, 0, 0],
                "a.idx: its header declares a size of 0: 4294967295 × 0",
            ),
        ] {
            assert_eq!(message(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn sizes_whose_product_overflows_are_refused() {
        // 2²⁴ × 2²⁴ × 2²⁴ = 2⁷², which wraps around to 0, the number of bytes that follow.
        let sizes = [[1, 0, 0, 0]; 3].concat();
        assert!(message(&[&[0, 0, 8, 3][..], &sizes].concat()).contains("but 0 follow"));
        let many = [&[0, 0, 8, 255][..], &[255; 4 * 255]].concat();
        assert!(message(&many).len() < 200, "{}", message(&many));
    }
}
