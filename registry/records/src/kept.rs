//! Reader that keeps only some rows of a file.

use crate::{Block, Encoder, Held, RawRows, ReadRows, Result};
use std::sync::Arc;

/// Function that removes the rows of a block that are not kept.
pub(crate) type Keep = dyn Fn(&mut RawRows, &Encoder) + Send + Sync;

/// Reader that drops some rows of a file.
pub(crate) struct KeptRows<R> {
    pub(crate) rows: R,
    pub(crate) keep: Arc<Keep>,
}

impl<R: ReadRows> ReadRows for KeptRows<R> {
    fn source(&self) -> &str {
        self.rows.source()
    }

    fn header(&self) -> &[String] {
        self.rows.header()
    }

    fn next_rows(&mut self, encoder: &Encoder, most: usize) -> Result<Option<RawRows>> {
        while let Some(mut rows) = self.rows.next_rows(encoder, most)? {
            (self.keep)(&mut rows, encoder);
            if !rows.is_empty() {
                return Ok(Some(rows));
            }
        }
        Ok(None)
    }

    fn next_block(&mut self, encoder: &Encoder, most: usize) -> Result<Option<Block>> {
        let block = self.rows.next_block(encoder, most)?;
        let keep = self.keep.clone();
        Ok(block.map(|block| block.changed(move |rows, encoder| keep(rows, encoder))))
    }

    fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    fn recognised(&self) -> Option<String> {
        self.rows.recognised()
    }

    fn design(&self) -> Option<&str> {
        self.rows.design()
    }

    fn held(&self, place: usize) -> Option<Held> {
        self.rows.held(place)
    }

    fn unsupported(&self, place: usize) -> Option<String> {
        self.rows.unsupported(place)
    }
}

#[cfg(test)]
mod tests {
    use crate::{OutOfBounds, Reader, Schema, csv};

    const SCHEMA: &str = r#"
        column = [
            { name = "x", kind = "real", lower = 0.0, upper = 1000.0 },
            { name = "y", kind = "category", levels = ["a", "b", "(empty)"], missing = "(empty)" },
        ]
    "#;

    fn reader(text: &str) -> Reader<'_> {
        let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
        let rows = csv::Rows::new(text.as_bytes(), "data.csv").unwrap();
        Reader::new(rows, &schema, Some("y"), OutOfBounds::Clip).unwrap().without_missing_targets()
    }

    #[test]
    fn rows_without_a_target_are_dropped_and_counted() {
        let rows: String = (0..1000)
            .map(|row| format!("{row},{}\n", if row % 3 == 0 { "" } else { ["a", "b"][row % 2] }))
            .collect();
        let loaded = reader(&format!("x,y\n{rows}")).read_all().unwrap();
        assert_eq!((loaded.table.len(), loaded.dropped), (666, 334));
        let kept: Vec<f64> = (0..1000).filter(|row| row % 3 > 0).map(|row| f64::from(row) / 1000.0).collect();
        assert_eq!(loaded.table.records().column(0).to_vec(), kept);
        assert!(reader("x,y\n1,\n2,\n").read_all().is_err(), "no row is left");
    }

    /// Errors name the row of the file, and a dropped row is not checked.
    #[test]
    fn kept_rows_keep_their_numbers() {
        let refused = reader("x,y\nnone,\n1,\n2,a\n3,\nbad,b\n").read_all().unwrap_err().to_string();
        assert!(refused.starts_with("data.csv, row 5, column \"x\": \"bad\""), "{refused}");
        let mut rows = reader("x,y\n7,\n1,a\n2,\n3,b\n");
        let labelled = rows.next_rows(10).unwrap().unwrap();
        assert_eq!(labelled.ids(rows.encoder()).unwrap(), ["2", "4"]);
    }
}
