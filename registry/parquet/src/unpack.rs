//! Decompression of pages up to a size limit.
//!
//! The decoder of the `parquet` crate has no size limit, and a few kilobytes may decompress to gigabytes. All
//! decompressors of this module are written in Rust. LZO and the old framing of LZ4 are not supported.

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::errors::{ParquetError, Result};
use std::io::{self, Read};

/// Decompresses `packed` to at most `most` bytes.
///
/// # Errors
/// An error if the result is larger, if the input is damaged, or if the compression is unsupported.
pub(crate) fn unpack(packed: Bytes, packing: Compression, most: usize) -> Result<Bytes> {
    let unpacked = match packing {
        Compression::UNCOMPRESSED => return Ok(packed),
        Compression::SNAPPY => {
            let length = snap::raw::decompress_len(&packed).map_err(damaged)?;
            check(length, most)?;
            snap::raw::Decoder::new().decompress_vec(&packed).map_err(damaged)?
        }
        Compression::GZIP(_) => read(flate2::read::MultiGzDecoder::new(&packed[..]), most)?,
        Compression::BROTLI(_) => read(brotli_decompressor::Decompressor::new(&packed[..], 4096), most)?,
        Compression::ZSTD(_) => {
            let decoder =
                ruzstd::decoding::StreamingDecoder::new_with_max_window_size(&packed[..], most as u64);
            read(decoder.map_err(damaged)?, most)?
        }
        Compression::LZ4_RAW => {
            // Each input byte yields at most 255 output bytes. Zeroed memory uses no space until it is
            // written.
            let mut unpacked = vec![0; packed.len().saturating_mul(255).min(most)];
            let length = lz4_flex::block::decompress_into(&packed, &mut unpacked).map_err(damaged)?;
            unpacked.truncate(length);
            unpacked
        }
        other => return Err(ParquetError::General(format!("pages compressed by {other} are not supported"))),
    };
    Ok(unpacked.into())
}

fn read(mut input: impl Read, most: usize) -> Result<Vec<u8>> {
    let mut unpacked = vec![];
    input.by_ref().take(most as u64).read_to_end(&mut unpacked)?;
    if unpacked.len() == most {
        check(most + input.read(&mut [0])?, most)?;
    }
    Ok(unpacked)
}

/// Checks the size of a page.
///
/// # Errors
/// An error if `length` is more than `most`.
pub(crate) fn check(length: usize, most: usize) -> Result<()> {
    if length > most {
        let problem =
            format!("a page takes more than {} MiB of memory; write the file with smaller pages", most >> 20);
        return Err(ParquetError::General(problem));
    }
    Ok(())
}

fn damaged(error: impl std::error::Error + Send + Sync + 'static) -> ParquetError {
    io::Error::new(io::ErrorKind::InvalidData, error).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const MOST: usize = 1 << 20;

    /// Compresses `length` zeros (about a million) to about a thousand bytes.
    fn gzip(length: usize) -> Bytes {
        let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        packed.write_all(&vec![0; length]).unwrap();
        packed.finish().unwrap().into()
    }

    #[test]
    fn what_unpacks_to_more_than_the_bound_is_refused() {
        let gzip_of = |length| unpack(gzip(length), Compression::GZIP(Default::default()), MOST);
        assert_eq!(gzip_of(MOST).unwrap().len(), MOST);
        let refused = gzip_of(MOST + 1).unwrap_err().to_string();
        assert!(refused.contains("a page takes more than 1 MiB of memory"), "{refused}");
        let snappy = |length: usize| {
            let packed = snap::raw::Encoder::new().compress_vec(&vec![0; length]).unwrap();
            unpack(packed.into(), Compression::SNAPPY, MOST)
        };
        assert_eq!(snappy(MOST).unwrap().len(), MOST);
        assert!(snappy(MOST + 1).unwrap_err().to_string().contains("more than 1 MiB"));
        // A thousand bytes that claim to hold four gigabytes.
        let claims = [&[0xff, 0xff, 0xff, 0xff, 0x0f][..], &[0; 1000]].concat();
        assert!(unpack(claims.into(), Compression::SNAPPY, MOST).is_err());
        // LZ4: one literal, then `matches` length bytes of 255 each.
        let lz4 = |matches: usize| {
            let packed = [&[0x1f, 7, 1, 0][..], &vec![255; matches], &[0, 0x50], b"12345"].concat();
            unpack(packed.into(), Compression::LZ4_RAW, MOST)
        };
        assert_eq!(lz4(255).unwrap().len(), 1 + 4 + 15 + 255 * 255 + 5);
        assert!(lz4(1 << 14).is_err());
    }

    #[test]
    fn what_others_packed_is_what_it_was() {
        // Output of pyarrow 25's codecs.
        for (packing, packed) in [
            (
                Compression::ZSTD(Default::default()),
                &b"(\xb5/\xfd \xf0\x9d\x00\x00`size,colour\n\x01\x00\xe1S%\t"[..],
            ),
            (
                Compression::BROTLI(Default::default()),
                b"\x1b\xef\x00\x00\xc4c\xec[\xdb\xbd\x86K\x8eZe\xb3ZN\xf5\xc5G\xd0\xb3\x00",
            ),
            (
                Compression::GZIP(Default::default()),
                b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03+\xce\xacJ\xd5I\xce\xcf\xc9/-\
                  \xe2*\x1e\x01l\x00\x8b\xf3\xb48\xf0\x00\x00\x00",
            ),
            (Compression::LZ4_RAW, b"\xcfsize,colour\n\x0c\x00\xccPlour\n"),
            (Compression::SNAPPY, b"\xf0\x01,size,colour\n\xfe\x0c\x00\xfe\x0c\x00\xfe\x0c\x00\x8e\x0c\x00"),
            (Compression::UNCOMPRESSED, "size,colour\n".repeat(20).as_bytes()),
        ] {
            let unpacked = unpack(Bytes::copy_from_slice(packed), packing, MOST).unwrap();
            assert!(unpacked == "size,colour\n".repeat(20), "{packing}");
        }
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        for packing in [
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::BROTLI(Default::default()),
            Compression::ZSTD(Default::default()),
            Compression::LZ4_RAW,
            Compression::LZO,
        ] {
            assert!(unpack(Bytes::from_static(b"\xf7no page at all"), packing, MOST).is_err(), "{packing}");
        }
    }
}
