//! PAC privacy: the conformance suite, closed forms, the audit with faulty variants, and what somebody unlike all others shows.

mod audited;
mod closed_forms;
mod conformance;
mod released;

use scumble_core::{Example, Plugin, Result, Volunteers};
use scumble_pac::PAC_STATISTICS;
use serde_json::json;

/// The plugin with each of its statistics as its example.
fn each_statistic() -> [Plugin; 7] {
    fn with(parameters: serde_json::Value) -> Result<Example> {
        Ok(Example { parameters, ..Example::mixed()? })
    }
    fn asked(parameters: serde_json::Value) -> Result<Example> {
        let mut example = with(parameters)?;
        example.brief.volunteers = Volunteers::Public(example.table.clone());
        Ok(example)
    }
    let examples: [fn() -> Result<Example>; 7] = [
        || with(json!({ "statistic": "marginals", "bins": 3, "sets": 32 })),
        || with(json!({ "statistic": "moments", "sets": 32 })),
        || with(json!({ "statistic": "components", "components": 2, "sets": 32 })),
        || with(json!({ "statistic": "centers", "centers": 3, "sets": 32 })),
        || with(json!({ "statistic": "ridge", "sets": 32 })),
        || with(json!({ "statistic": "linear-machine", "sets": 32 })),
        || asked(json!({ "statistic": "responses", "queries": 20, "nats": 0.02, "sets": 32 })),
    ];
    examples.map(|example| Plugin { example, ..PAC_STATISTICS })
}
