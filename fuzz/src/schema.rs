//! Schemas.

use crate::accepted;
use scumble_core::Domain;
use scumble_records::{OutOfBounds, Schema};

/// Maximum number of columns that are tried as targets. Further columns would repeat the same checks.
const TARGETS: usize = 16;

/// Reads a schema in TOML. Derives its domain without a target and with each column as the target, and saves
/// the schema in the format of a design.
pub fn schema(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let Some(schema) = accepted(Schema::from_toml(text, "a schema")) else {
        return false;
    };
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name.as_str()).collect();
    let targets = names.iter().take(TARGETS).map(|name| Some(*name));
    for target in targets.chain([None]) {
        let Some(domain) = accepted(schema.domain(target)) else {
            continue; // two columns have a coordinate of the same name
        };
        assert_is_a_set(domain.flat());
        assert_eq!(domain.columns().len(), domain.features().dim());
        let decoder = schema.decoder(&domain.layout(), target);
        assert_eq!(decoder.header(), names);
        let encoder =
            schema.encoder(&names, target, OutOfBounds::Clip, "a file").expect("it is its own header");
        assert_eq!(*encoder.domain(), domain);
    }
    for column in schema.columns() {
        assert!(!column.kind.to_string().is_empty());
    }
    accepted(schema.part(&names, None));
    let saved = serde_json::to_string(&schema).expect("a schema can be written");
    let read: Schema = serde_json::from_str(&saved).expect("what was written can be read");
    assert_eq!(read.columns(), schema.columns());
    true
}

/// Checks that the domain has finite diameters and contains the projections onto it.
fn assert_is_a_set(domain: &Domain) {
    assert!(domain.l1_diameter().is_finite() && domain.l2_diameter().is_finite());
    for value in [0.0, -1e300, 0.3, 1e300] {
        let mut point = vec![value; domain.dim()];
        domain.project(&mut point).expect("a finite point of the right width");
        assert!(domain.contains(&point), "{value} was projected out of the domain");
    }
}
