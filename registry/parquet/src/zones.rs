//! Time zones of instants, which writers store in the metadata of a Parquet file's footer.
//!
//! The zones are in an Arrow schema, which is a FlatBuffer. This module reads the few fields that it needs.
//! The library `arrow-ipc` reads them too, but compiling it takes longer than the rest of this crate and
//! `parquet`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::file::metadata::KeyValue;
use scumble_records::Zone;

/// Zone of the instants in the column `name`, from the metadata that Arrow's writers add (pyarrow, pandas,
/// Polars).
///
/// The Arrow schema in this metadata has a zone for instants, and no zone for local times. Old writers may
/// mark local times as UTC in the Parquet schema, so the zone in the Arrow schema decides.
pub(crate) fn zone_of(metadata: Option<&Vec<KeyValue>>, name: &str) -> Zone {
    let schema = metadata.into_iter().flatten().find(|pair| pair.key == "ARROW:schema");
    let message = schema.and_then(|pair| BASE64_STANDARD.decode(pair.value.as_ref()?).ok());
    message.and_then(|message| zone_in(&message, name)).unwrap_or(Zone::Unknown)
}

/// Zone of the column `name` in an Arrow schema message. `None` if the column has no instants, or if the
/// message is damaged.
///
/// Numbers of fields and types: `Schema.fbs` and `Message.fbs` of Apache Arrow.
fn zone_in(message: &[u8], name: &str) -> Option<Zone> {
    const SCHEMA: u8 = 1;
    const TIMESTAMP: u8 = 10;
    // A marker may precede the length of the message.
    let marker = if message.starts_with(&[0xff; 4]) { 4 } else { 0 };
    let message = Table::root(message.get(marker + 4..)?)?;
    let schema = message.table(2).filter(|_| message.byte(1) == Some(SCHEMA))?;
    let column = schema.tables(1)?.find(|column| column.text(0) == Some(name))?;
    let kind = column.table(3).filter(|_| column.byte(2) == Some(TIMESTAMP))?;
    Some(kind.text(1).map_or(Zone::Local, Zone::named))
}

/// A table of a FlatBuffer, which starts at byte `start`. A read beyond the buffer is `None`.
#[derive(Clone, Copy)]
struct Table<'b> {
    buffer: &'b [u8],
    start: usize,
}

impl<'b> Table<'b> {
    /// Root table of a buffer.
    fn root(buffer: &'b [u8]) -> Option<Self> {
        Some(Self { buffer, start: follow(buffer, 0)? })
    }

    /// Position of the field with this number. `None` if the table does not have it.
    fn field(self, number: usize) -> Option<usize> {
        let back = i32::from_le_bytes(bytes(self.buffer, self.start)?);
        let index = self.start.checked_add_signed(isize::try_from(back.checked_neg()?).ok()?)?;
        let entry = 4 + 2 * number;
        let size = u16::from_le_bytes(bytes(self.buffer, index)?);
        let offset = u16::from_le_bytes(bytes(self.buffer, index.checked_add(entry)?)?);
        (entry < usize::from(size) && offset > 0).then(|| self.start + usize::from(offset))
    }

    fn byte(self, number: usize) -> Option<u8> {
        self.buffer.get(self.field(number)?).copied()
    }

    fn table(self, number: usize) -> Option<Self> {
        Some(Self { start: follow(self.buffer, self.field(number)?)?, ..self })
    }

    /// Tables in a vector.
    fn tables(self, number: usize) -> Option<impl Iterator<Item = Self>> {
        let (first, count) = self.vector(number)?;
        let starts = (0..count).map_while(move |element| follow(self.buffer, first + 4 * element));
        Some(starts.map(move |start| Self { start, ..self }))
    }

    fn text(self, number: usize) -> Option<&'b str> {
        let (first, count) = self.vector(number)?;
        str::from_utf8(self.buffer.get(first..first.checked_add(count)?)?).ok()
    }

    /// Position of a vector's first element, and the number of elements.
    fn vector(self, number: usize) -> Option<(usize, usize)> {
        let start = follow(self.buffer, self.field(number)?)?;
        let count = u32::from_le_bytes(bytes(self.buffer, start)?);
        Some((start + 4, usize::try_from(count).ok()?))
    }
}

/// The position that the offset at byte `at` refers to.
fn follow(buffer: &[u8], at: usize) -> Option<usize> {
    let offset = u32::from_le_bytes(bytes(buffer, at)?);
    at.checked_add(usize::try_from(offset).ok()?)
}

fn bytes<const N: usize>(buffer: &[u8], at: usize) -> Option<[u8; N]> {
    buffer.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schemas of a table with the columns `n` (a number), `paris` (instants) and `local` (times without a
    /// zone).
    const WRITTEN: [(&str, &str); 2] = [
        (
            "pyarrow 26",
            "//////AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAACUAAAANAAAAAQAAACI////\
             AAABChAAAAAYAAAABAAAAAAAAAAFAAAAbG9jYWwAAAB+////AAABALT///8AAAEKEAAAACAAAAAEAAAAAAAAAAUAAABwYXJp\
             cwAAAAgADAAGAAgACAAAAAAAAwAEAAAADAAAAEV1cm9wZS9QYXJpcwAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQMQAAAA\
             GAAAAAQAAAAAAAAAAQAAAG4ABgAIAAYABgAAAAAAAgA=",
        ),
        (
            "Polars 2",
            "/////+4AAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAMAAACEAAAANAAAAAQAAAB0////\
             HAAAABAAAAAIAAAAAQoAAAAAAABy////AgAAAAUAAABsb2NhbAAAAKD///88AAAAEAAAAAgAAAABCgAAAAAAAPT///8QAAAA\
             AgAAAAgACgAIAAQADAAAAEV1cm9wZS9QYXJpcwAAAAAFAAAAcGFyaXMAAADs////MAAAACAAAAAYAAAAAQMAABAAEgAEABAA\
             EQAIAAAADAAAAAAA+v///wIABgAGAAQAAQAAAG4A",
        ),
    ];

    #[test]
    fn the_zone_in_the_arrow_schema_decides() {
        for (writer, schema) in WRITTEN {
            let metadata = vec![KeyValue::new("ARROW:schema".to_owned(), schema.to_owned())];
            let zone = |name| zone_of(Some(&metadata), name);
            assert_eq!(zone("paris"), Zone::named("Europe/Paris"), "{writer}");
            assert_ne!(zone("paris"), Zone::named("Europe/Rome"), "{writer}");
            assert_eq!(zone("local"), Zone::Local, "{writer}");
            assert_eq!((zone("n"), zone("absent")), (Zone::Unknown, Zone::Unknown), "{writer}");
        }
        assert_eq!(zone_of(None, "paris"), Zone::Unknown);
    }

    #[test]
    fn a_damaged_schema_has_no_zone_or_another_and_stops_nothing() {
        for (_, schema) in WRITTEN {
            let whole = BASE64_STANDARD.decode(schema).unwrap();
            for length in 0..whole.len() {
                zone_in(&whole[..length], "paris");
            }
            for place in 0..whole.len() {
                for byte in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut damaged = whole.clone();
                    damaged[place] = byte;
                    zone_in(&damaged, "paris");
                    zone_in(&damaged, "local");
                }
            }
        }
    }
}
