//! CSV files by a fixed schema.

use crate::accepted;
use scumble_classic::Identity;
use scumble_core::Randomness;
use scumble_records::csv::{Rows, Writer};
use scumble_records::{Clips, OutOfBounds, Reader, Schema, check, stream};
use std::sync::LazyLock;

/// Columns of every kind: ordinary columns, the widest and the narrowest allowed column, and levels that need
/// quotation marks.
const SCHEMA: &str = r#"
[[column]]
name = "size"
kind = "real"
lower = 10.0
upper = 20.0
unit = "cm"

[[column]]
name = "wide"
kind = "real"
lower = -1e100
upper = 1e100

[[column]]
name = "hair"
kind = "real"
lower = 0.1
upper = 0.10000000000000002

[[column]]
name = "good"
kind = "category"
levels = ["no", "yes"]

[[column]]
name = "colour, or none"
kind = "category"
levels = ["", "red", "grün, dunkel", "\"quoted\"", "two lines"]
"#;

pub(crate) static PEOPLE: LazyLock<Schema> =
    LazyLock::new(|| Schema::from_toml(SCHEMA, "the schema").expect("the schema is one"));

pub(crate) const TARGETS: [Option<&str>; 4] = [None, Some("size"), Some("good"), Some("colour, or none")];

/// Reads a CSV file by a fixed schema, with every treatment of values out of bounds. The length of the file
/// picks the target, or no target. Accepted records must lie in the domain. They must be the same after an
/// unchanged release is read back.
pub fn csv(data: &[u8]) -> bool {
    let target = TARGETS[data.len() % TARGETS.len()];
    let mut any = false;
    for out_of_bounds in [OutOfBounds::Clip, OutOfBounds::Reject, OutOfBounds::Keep] {
        let few = accepted(records(data, target, out_of_bounds, 3));
        let all = accepted(reader(data, target, out_of_bounds).and_then(Reader::read_all));
        assert_eq!(
            few.as_ref().is_some_and(|flat| !flat.is_empty()),
            all.is_some(),
            "it depends on the pace"
        );
        let Some((flat, all)) = few.zip(all) else {
            continue;
        };
        any = true;
        let width = all.domain.flat().dim();
        assert_eq!(flat.len(), all.table.len() * width);
        assert!(flat.iter().all(|x| x.is_finite()), "a value that is not finite");
        if out_of_bounds == OutOfBounds::Clip {
            let checked = reader(data, target, out_of_bounds).and_then(|mut reader| check(&mut reader));
            assert!(checked.is_ok_and(|checked| !checked.is_refused()), "the check refuses what is read");
        }
        if out_of_bounds != OutOfBounds::Keep {
            assert!(flat.chunks(width).all(|record| all.domain.flat().contains(record)), "out of the domain");
            assert!(all.clipped.is_empty() || out_of_bounds == OutOfBounds::Clip);
        }
    }
    streamed(data, target);
    any
}

fn reader<'d>(
    data: &'d [u8],
    target: Option<&str>,
    out_of_bounds: OutOfBounds,
) -> scumble_records::Result<Reader<'d>> {
    Reader::new(Rows::new(data, "a file")?, &PEOPLE, target, out_of_bounds)
}

/// The flat records, read `most` rows at a time.
fn records(
    data: &[u8],
    target: Option<&str>,
    out_of_bounds: OutOfBounds,
    most: usize,
) -> scumble_records::Result<Vec<f64>> {
    let mut reader = reader(data, target, out_of_bounds)?;
    let mut flat = vec![];
    while let Some(rows) = reader.next_rows(most)? {
        let before = flat.len();
        rows.encode(reader.encoder(), &mut flat, &mut Clips::default())?;
        assert_eq!(flat.len() - before, rows.len(reader.encoder()) * reader.encoder().domain().flat().dim());
    }
    Ok(flat)
}

/// Releases the file unchanged, row by row, and reads the written rows.
fn streamed(data: &[u8], target: Option<&str>) {
    let clipped = accepted(records(data, target, OutOfBounds::Clip, 1024)).filter(|flat| !flat.is_empty());
    let checked =
        reader(data, target, OutOfBounds::Clip).and_then(|mut reader| stream::check(&mut reader, |_| Ok(())));
    assert_eq!(accepted(checked).is_some(), clipped.is_some(), "a check of the file comes to another end");
    let (Some(clipped), Ok(mut reader)) = (clipped, reader(data, target, OutOfBounds::Clip)) else {
        return;
    };
    let domain = reader.encoder().domain().clone();
    let decoder = PEOPLE.decoder(&domain.layout(), target);
    let streams = Randomness::seeded(1).streams();
    let mut written = vec![];
    let writer = Writer::new(&mut written, &decoder).expect("memory can be written");
    let released =
        stream::release(&Identity::new(domain.clone()), &mut reader, &decoder, &streams, writer, |_| Ok(()))
            .expect("every row was read before");
    assert_eq!(released.records as usize * domain.flat().dim(), clipped.len());
    let again = records(&written, target, OutOfBounds::Keep, 1024).expect("what was released can be read");
    assert_eq!(again.len(), clipped.len());
    for (again, clipped) in again.iter().zip(&clipped) {
        // A number is converted to the unit of its column and back. Levels do not change.
        assert!((again - clipped).abs() <= 1e-9, "{clipped} was released as {again}");
    }
}
