//! Plugin `dauntless-inference`: queries to a model of a release are mixed with private records and
//! transformed (Dauntless, Algorithm 3).

use crate::MIX;
use crate::mix::{Dauntless, Parameters};
use crate::state::State;
use schemars::JsonSchema;
use scumble_core::{Brief, Descriptor, Error, Example, Output, Result, register};
use serde::Deserialize;

const NAME: &str = "dauntless-inference";

/// Parameters of the mechanism.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct InferenceParameters {
    /// Number of different queries that the key answers; 1000 by default. All of them count as samples for
    /// Corollary 1 (Dauntless), even if they are never asked.
    queries: Option<usize>,
    /// Mixing and transformation of records: the parameters of `dauntless-mix`.
    training: Parameters,
}

impl InferenceParameters {
    fn learn(self, brief: &Brief) -> Result<State> {
        match self.queries.unwrap_or(1000) {
            0 => Err(Error::parameter(
                NAME,
                format!(
                    "queries must be one or more; for a release without \
                                                     queries, use {MIX}"
                ),
            )),
            queries => self.training.learn(queries, brief),
        }
    }
}

/// Example with normal weights and without public records. Its releases therefore claim that they do not
/// distinguish a table from one with permuted classes or rotated records.
fn example_of_inference() -> Result<Example> {
    let parameters = serde_json::json!({"queries": 100, "training": {"weights": "gaussian"}});
    Ok(Example { parameters, ..Example::numbers()? })
}

register! {
    /// The plugin `dauntless-inference`.
    pub const DAUNTLESS_INFERENCE = {
        name: NAME,
        summary: "like dauntless-mix, with queries of the model mixed with private records too; each query \
                  counts against the same budget, and none is answered beyond it",
        paper: "Xiao and Devadas, Dauntless: Data Augmentation and Uniform Transformation for Learning with \
                Scalability and Security, Algorithms 2 and 3",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: InferenceParameters,
        learn: |parameters: InferenceParameters, brief: &Brief| parameters.learn(brief),
        curator: Dauntless::try_from,
        example: example_of_inference,
    };
}
