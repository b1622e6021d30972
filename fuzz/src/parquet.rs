//! Parquet files by a fixed schema.

use crate::accepted;
use crate::csv::{PEOPLE, TARGETS};
use scumble_parquet::Rows;
use scumble_records::{Clips, OutOfBounds, Reader};

/// Maximum number of rows that are read. A few bytes may encode millions of rows.
const MOST_ROWS: usize = 4096;

/// Reads a Parquet file by a fixed schema, with every treatment of values out of bounds. The length of the
/// file picks the target, or no target. Accepted values must be finite and must not depend on the number of
/// rows read at a time. They must lie in the domain, unless values out of bounds are kept.
pub fn parquet(data: &[u8]) -> bool {
    let target = TARGETS[data.len() % TARGETS.len()];
    let mut any = false;
    for out_of_bounds in [OutOfBounds::Clip, OutOfBounds::Reject, OutOfBounds::Keep] {
        let few = accepted(records(data, target, out_of_bounds, 3));
        let many = accepted(records(data, target, out_of_bounds, MOST_ROWS + 1));
        let (Some(few), Some(many)) = (few, many) else {
            // The error may come after the last row that is read.
            continue;
        };
        assert!(few.iter().zip(&many).all(|(few, many)| few == many), "it depends on the pace");
        assert!(few.iter().all(|x| x.is_finite()), "a value that is not finite");
        let domain = PEOPLE.domain(target).expect("the targets are columns");
        if out_of_bounds != OutOfBounds::Keep {
            let inside = |record| domain.flat().contains(record);
            assert!(few.chunks(domain.flat().dim()).all(inside), "out of the domain");
        }
        any |= !few.is_empty();
    }
    any
}

/// The flat records, read `most` rows at a time.
fn records(
    data: &[u8],
    target: Option<&str>,
    out_of_bounds: OutOfBounds,
    most: usize,
) -> scumble_records::Result<Vec<f64>> {
    let rows = Rows::new(bytes::Bytes::copy_from_slice(data), "a file")?;
    let mut reader = Reader::new(rows, &PEOPLE, target, out_of_bounds)?;
    let (mut flat, mut read) = (vec![], 0);
    while let Some(rows) = reader.next_rows(most)? {
        rows.encode(reader.encoder(), &mut flat, &mut Clips::default())?;
        read += rows.len(reader.encoder());
        if read > MOST_ROWS {
            break;
        }
    }
    Ok(flat)
}
