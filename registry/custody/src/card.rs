//! Card of one release: the public description of its guarantee and its noise.

use crate::{Result, ShippedDesign};
use scumble_core::{Guarantee, Noise};
use scumble_records::Values;
use serde_json::{Value, json};

/// Meaning of a coordinate of an encoded record.
pub const ENCODED: &str = "(value - lower)/(upper - lower) for a number, 0 or 1 for a level";

/// Public information about a release, apart from its records.
#[derive(Debug)]
pub struct Card<'a> {
    /// Design of the release.
    pub design: &'a ShippedDesign,
    /// Number of records; `None` if a model is released.
    pub records: Option<u64>,
    /// The model that is released instead of records, as described by [`ShippedDesign::model_card`].
    pub model: Option<Value>,
    /// SHA-256 of the released file, in hexadecimal digits; `None` for a table in memory.
    pub file: Option<&'a str>,
    /// Name of the secret from which the noise was drawn, if a ticket stores that secret.
    pub ticket: Option<&'a str>,
    /// Command that maps records in the clear to the columns of the release. `None` if a model trained on the
    /// release can be used on records in the clear.
    pub view: Option<&'a str>,
    /// Form of the released numbers: rounded, clamped, or as the mechanism drew them.
    pub values: Values,
    /// Guarantee of this release.
    pub guarantee: &'a Guarantee,
    /// Names of the released encoded columns, in the order in which `noise` describes them.
    pub columns: &'a [String],
    /// Tables of counts from which the records were drawn, by [`ShippedDesign::counted_tables`].
    pub counted_tables: &'a [Vec<String>],
    /// Noise distribution of the release, in units of the encoded record.
    pub noise: &'a Noise,
}

impl Card<'_> {
    /// Returns the card as JSON.
    ///
    /// # Errors
    /// Same errors as [`ShippedDesign::digest`].
    pub fn to_json(&self) -> Result<Value> {
        let mut card = json!({
            "design": {"origin": self.design.origin(), "digest": self.design.digest()?},
            "records": self.records,
            "file": self.file.map(|sha256| json!({"sha256": sha256})),
            "ticket": self.ticket,
            "view": self.view,
            "values": self.values,
            "guarantee": self.guarantee.to_json(),
            "noise": {
                "columns": self.columns,
                "unit": format!("the encoded record: {ENCODED}"),
                "features": self.noise.features,
                "target": self.noise.target,
            },
        });
        if let Some(model) = &self.model {
            card["model"] = model.clone();
        }
        if !self.counted_tables.is_empty() {
            card["counted_tables"] = json!(self.counted_tables);
        }
        Ok(card)
    }
}
