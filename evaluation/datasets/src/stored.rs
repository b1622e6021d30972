//! Stored files: plain, or packed as .gz or .xz.

use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Maximum number of bytes of an unpacked file. No file of these data sets has more, but a malicious packed
/// file may unpack to terabytes.
const MOST_BYTES: u64 = 256 << 20;

/// Maximum memory for unpacking .xz, in KiB. The strongest setting of xz needs 65 MiB.
const MOST_MEMORY: u32 = 128 << 10;

/// A file's bytes, unpacked.
pub(crate) struct Stored {
    /// The name of the file, for errors.
    pub file: String,
    pub bytes: Vec<u8>,
}

impl Stored {
    /// The bytes as text.
    ///
    /// # Errors
    /// [`scumble_records::Error::Unreadable`] if they are not UTF-8.
    pub fn text(&self) -> Result<&str> {
        Ok(std::str::from_utf8(&self.bytes).map_err(|error| scumble_records::Error::Unreadable {
            file: self.file.clone(),
            problem: format!("it is not UTF-8 text: {error}"),
        })?)
    }
}

/// Reads `file`. If it does not exist, reads `file.gz` or `file.xz`.
///
/// # Errors
/// [`Error::Missing`] if none of these files exists, and [`scumble_records::Error::Io`] if a file cannot be
/// read or unpacked.
pub(crate) fn read(file: &Path) -> Result<Stored> {
    for packing in [Packing::None, Packing::Gzip, Packing::Xz] {
        let path = file.with_added_extension(packing.extension());
        let failed = |source| scumble_records::Error::Io { file: path.clone(), source };
        match File::open(&path) {
            Ok(opened) => {
                let bytes = unpack(opened, packing, MOST_BYTES).map_err(failed)?;
                return Ok(Stored { file: path.display().to_string(), bytes });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error).into()),
        }
    }
    Err(Error::Missing { file: file.into() })
}

/// Text of `file`, which is plain or packed as .gz or .xz. The ending of the packed file may be left out.
///
/// # Errors
/// [`scumble_records::Error::Io`] if the file does not exist or cannot be read or unpacked, and
/// [`scumble_records::Error::Unreadable`] if it is not UTF-8 text.
pub fn read_text(file: &Path) -> Result<String> {
    let is_packed = file.extension().is_some_and(|ending| ending == "gz" || ending == "xz");
    let plain = if is_packed { file.with_extension("") } else { file.into() };
    match read(&plain) {
        Err(Error::Missing { .. }) => {
            let source = io::Error::from(io::ErrorKind::NotFound);
            Err(scumble_records::Error::Io { file: file.into(), source }.into())
        }
        stored => Ok(stored?.text()?.to_owned()),
    }
}

#[derive(Debug, Clone, Copy)]
enum Packing {
    None,
    Gzip,
    Xz,
}

impl Packing {
    fn extension(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => "gz",
            Self::Xz => "xz",
        }
    }
}

/// Reads and unpacks all bytes. Fails if there are more than `most`.
fn unpack(input: impl Read, packing: Packing, most: u64) -> io::Result<Vec<u8>> {
    let unpacked: &mut dyn Read = match packing {
        Packing::None => &mut { input },
        Packing::Gzip => &mut MultiGzDecoder::new(input),
        Packing::Xz => &mut XzReader::new_mem_limit(input, true, MOST_MEMORY),
    };
    let mut bytes = vec![];
    unpacked.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!(
            "it holds more than {most} bytes, the maximum for a file of a data set"
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn a_packed_file_that_holds_more_than_any_is_refused() {
        let mut packed = GzEncoder::new(vec![], Compression::best());
        packed.write_all(&[0; 1000]).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(unpack(&packed[..], Packing::Gzip, 1000).unwrap(), [0; 1000]);
        let error = unpack(&packed[..], Packing::Gzip, 999).unwrap_err().to_string();
        assert_eq!(error, "it holds more than 999 bytes, the maximum for a file of a data set");
    }

    #[test]
    fn an_archive_that_asks_for_a_gibibyte_of_memory_is_refused() {
        // The header of an empty stream, and the header of a block, each with its checksum. The block
        // declares a dictionary of 1 GiB by the property byte 36.
        let header = [0xfd, b'7', b'z', b'X', b'Z', 0, 0, 1, 0x69, 0x22, 0xde, 0x36];
        let block = [2, 0, 0x21, 1, 36, 0, 0, 0];
        let mut checksum = flate2::Crc::new();
        checksum.update(&block);
        let packed = [&header[..], &block, &checksum.sum().to_le_bytes(), &[0; 64]].concat();
        let error = unpack(&packed[..], Packing::Xz, 1000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::OutOfMemory, "{error}");
    }
}
