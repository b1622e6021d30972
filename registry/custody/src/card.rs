//! The card of one release: what is guaranteed of it, and what its noise is.

use crate::{Result, ShippedDesign};
use scumble_core::{Guarantee, Noise};
use scumble_records::Values;
use serde_json::{Value, json};

/// What a coordinate of an encoded record is.
pub const ENCODED: &str = "(value - lower)/(upper - lower) of a number, 0 or 1 of a level";

/// What is known of a release beside its records: all of it is public.
#[derive(Debug)]
pub struct Card<'a> {
    /// The design by which it was made.
    pub design: &'a ShippedDesign,
    /// How many records there are; none where a model is released.
    pub records: Option<u64>,
    /// The model that is released in place of records, as [`ShippedDesign::model_card`] describes it.
    pub model: Option<Value>,
    /// SHA-256 of the released file, in hexadecimal digits; `None` of a table in memory.
    pub file: Option<&'a str>,
    /// The name of the secret that noise was drawn from, where a ticket keeps it.
    pub ticket: Option<&'a str>,
    /// The command that views records for models of the release, where these cannot be used on records in the clear.
    pub view: Option<&'a str>,
    /// What became of released numbers.
    pub values: Values,
    /// What this release guarantees.
    pub guarantee: &'a Guarantee,
    /// The encoded columns that were released, in the order of the noise.
    pub columns: &'a [String],
    /// The distribution of what was released, in units of the encoded record.
    pub noise: &'a Noise,
}

impl Card<'_> {
    /// As a file holds it.
    ///
    /// # Errors
    /// As [`ShippedDesign::digest`].
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
        Ok(card)
    }
}
