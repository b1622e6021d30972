//! Pages of a column, decompressed up to a size limit. Each page is checked before the decoder of the
//! `parquet` crate receives it, because that decoder trusts the page.
//!
//! A missing dictionary, a length beyond the end of the page or an empty list of values makes the decoder
//! panic. Encodings that cannot be checked without decoding (`DELTA_LENGTH_BYTE_ARRAY`, `DELTA_BYTE_ARRAY`,
//! `BYTE_STREAM_SPLIT`) are refused. No common writer uses them by default.

use crate::unpack::{check, unpack};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// Upper bound on the memory of a page or of the footer, in bytes. Writers aim at 1 MiB per page.
const LARGEST: usize = 64 << 20;

/// File whose reads are limited to the largest size of a page ([`LARGEST`]), and to the file's end.
pub(crate) struct Bounded<R>(pub R);

impl<R: ChunkReader> Length for Bounded<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Bounded<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T> {
        if start > self.len() {
            return Err(ParquetError::EOF("a page begins after the end of the file".into()));
        }
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("a page ends after the end of the file".into()));
        }
        check(length, LARGEST)?;
        self.0.get_bytes(start, length)
    }
}

/// Pages of one column in one row group.
pub(crate) struct Pages<R: ChunkReader> {
    /// Reader of the compressed pages.
    packed: SerializedPageReader<Bounded<R>>,
    packing: Compression,
    physical: Type,
    /// Number of bytes of each value in a column of fixed-length values.
    fixed: usize,
    is_nullable: bool,
    has_dictionary: bool,
}

impl<R: ChunkReader> Pages<R> {
    pub fn new(file: Arc<Bounded<R>>, chunk: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let first = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        if first < 0 || chunk.compressed_size() < 0 {
            return Err(ParquetError::General("a column begins before the file".into()));
        }
        if chunk.file_path().is_some() {
            return Err(ParquetError::General("a column is in another file".into()));
        }
        let column = chunk.column_descr();
        let as_packed = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        Ok(Self {
            packed: SerializedPageReader::new(file, &as_packed, rows, None)?,
            packing: chunk.compression(),
            physical: column.physical_type(),
            fixed: usize::try_from(column.type_length()).unwrap_or_default(),
            is_nullable: column.max_def_level() > 0,
            has_dictionary: false,
        })
    }

    /// Decompresses a page and checks that the decoder does not panic on it.
    fn trusted(&mut self, mut page: Page) -> Result<Page> {
        match &mut page {
            Page::DictionaryPage { buf, num_values, .. } => {
                *buf = unpack(std::mem::take(buf), self.packing, LARGEST)?;
                if self.most_values(buf).is_none_or(|most| *num_values as usize > most) {
                    return Err(ParquetError::General("a dictionary is shorter than declared".into()));
                }
                self.has_dictionary = true;
            }
            Page::DataPage { buf, encoding, def_level_encoding, .. } => {
                if self.is_nullable && *def_level_encoding != Encoding::RLE {
                    return Err(not_read(*def_level_encoding));
                }
                let unpacked = unpack(std::mem::take(buf), self.packing, LARGEST)?;
                let levels = match (self.is_nullable, unpacked.first_chunk()) {
                    (false, _) => 0,
                    (true, Some(length)) => 4 + u32::from_le_bytes(*length) as usize,
                    (true, None) => unpacked.len() + 1,
                };
                (*buf, *encoding) = self.trusted_values(unpacked, levels, *encoding)?;
            }
            Page::DataPageV2 {
                buf,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                if levels > buf.len() {
                    return Err(ParquetError::EOF("a page is shorter than declared".into()));
                }
                // A page with only nulls has nothing to decompress.
                if *is_compressed && self.packing != Compression::UNCOMPRESSED && buf.len() > levels {
                    let values = unpack(buf.slice(levels..), self.packing, LARGEST)?;
                    *buf = [&buf[..levels], &values].concat().into();
                }
                (*buf, *encoding) = self.trusted_values(std::mem::take(buf), levels, *encoding)?;
                *is_compressed = false;
            }
        }
        Ok(page)
    }

    /// Upper bound on the number of values of the column's type in `bytes`, in the encoding `PLAIN`. `None`
    /// if the lengths of the values do not add up to the length of `bytes`.
    fn most_values(&self, bytes: &[u8]) -> Option<usize> {
        match self.physical {
            Type::BOOLEAN => bytes.len().checked_mul(8),
            Type::INT32 | Type::FLOAT => Some(bytes.len() / 4),
            Type::INT64 | Type::DOUBLE => Some(bytes.len() / 8),
            Type::INT96 => Some(bytes.len() / 12),
            Type::FIXED_LEN_BYTE_ARRAY => bytes.len().checked_div(self.fixed),
            Type::BYTE_ARRAY => arrays(bytes),
        }
    }

    /// Checks the values of a page and returns the page and encoding for the decoder. The values begin after
    /// the first `levels` bytes of `page`, which hold the definition and repetition levels.
    ///
    /// # Errors
    /// An error for an unsupported encoding, or for values that would make the decoder panic.
    fn trusted_values(&self, page: Bytes, levels: usize, encoding: Encoding) -> Result<(Bytes, Encoding)> {
        let Some(values) = page.get(levels..) else {
            return Err(ParquetError::EOF("a page is shorter than declared".into()));
        };
        match encoding {
            Encoding::PLAIN if self.physical == Type::BYTE_ARRAY => match arrays(values) {
                // The number of values that the decoder reads depends on the definition levels, which are not
                // decoded here. The appended length makes any read beyond the last value an error.
                Some(_) => Ok(([&page[..], &u32::MAX.to_le_bytes()].concat().into(), encoding)),
                None => Err(ParquetError::EOF("a value is longer than its page".into())),
            },
            Encoding::PLAIN => Ok((page, encoding)),
            Encoding::RLE if self.physical == Type::BOOLEAN => Ok((page, encoding)),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if self.has_dictionary => {
                Ok((page, encoding))
            }
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {
                Err(ParquetError::General("a dictionary is missing".into()))
            }
            Encoding::DELTA_BINARY_PACKED if matches!(self.physical, Type::INT32 | Type::INT64) => {
                let mut values = values.iter().copied();
                match (varint(&mut values), varint(&mut values), varint(&mut values)) {
                    // The page has only nulls, but the decoder would first read a value.
                    (_, _, Some(0)) => Ok((page.slice(..levels), Encoding::PLAIN)),
                    (Some(1..=LARGEST_BLOCK), Some(1..=LARGEST_BLOCK), Some(_)) => Ok((page, encoding)),
                    _ => Err(ParquetError::General("a block of differences has an implausible size".into())),
                }
            }
            other => Err(not_read(other)),
        }
    }
}

/// Largest number of values in one block of the encoding `DELTA_BINARY_PACKED`, which stores differences.
/// Writers use 128 or 256.
const LARGEST_BLOCK: u64 = 1 << 16;

fn not_read(encoding: Encoding) -> ParquetError {
    ParquetError::General(format!("pages encoded as {encoding} are not supported; use PLAIN or dictionaries"))
}

/// Counts length-prefixed byte arrays. `None` unless they end where the bytes end.
fn arrays(mut bytes: &[u8]) -> Option<usize> {
    let mut arrays = 0;
    while let Some((length, rest)) = bytes.split_first_chunk() {
        bytes = rest.get(u32::from_le_bytes(*length) as usize..)?;
        arrays += 1;
    }
    bytes.is_empty().then_some(arrays)
}

/// Decodes a variable-length number of seven bits per byte.
fn varint(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        // The decoder would treat an empty page as the last page.
        while let Some(page) = self.packed.get_next_page()? {
            let page = self.trusted(page)?;
            if page.num_values() > 0 || page.is_dictionary_page() {
                return Ok(Some(page));
            }
        }
        Ok(None)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.packed.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.packed.skip_next_page()
    }
}
