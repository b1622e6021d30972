//! PAC privacy: the conformance suite, closed forms, the audit with faulty variants, and disclosure by a
//! record unlike all others.

mod audited;
mod closed_forms;
mod conformance;
mod released;

use scumble_core::{Descriptor, Example, Output, Plugin, Result};
use scumble_pac::PAC_STATISTICS;
use serde_json::json;

/// Returns the plugin once per statistic, with an example and a description of each.
fn each_statistic() -> [Plugin; 7] {
    fn with(parameters: serde_json::Value) -> Result<Example> {
        Ok(Example { parameters, ..Example::mixed()? })
    }
    fn with_queries(parameters: serde_json::Value) -> Result<Example> {
        Ok(with(parameters)?.with_public_volunteers())
    }
    let plugin = |example: &'static (dyn Fn() -> Result<Example> + Sync), releases, needs_volunteers| {
        let descriptor = Descriptor { releases, needs_volunteers, ..PAC_STATISTICS.descriptor };
        Plugin { example, descriptor, ..PAC_STATISTICS }
    };
    [
        plugin(
            &|| with(json!({ "statistic": "marginals", "bins": 3, "sets": 32 })),
            Output::Synthetic,
            false,
        ),
        plugin(&|| with(json!({ "statistic": "moments", "sets": 32 })), Output::Synthetic, false),
        plugin(
            &|| with(json!({ "statistic": "components", "components": 2, "sets": 32 })),
            Output::Synthetic,
            false,
        ),
        plugin(
            &|| with(json!({ "statistic": "centers", "centers": 3, "sets": 32 })),
            Output::Synthetic,
            false,
        ),
        plugin(&|| with(json!({ "statistic": "ridge", "sets": 32 })), Output::Model, false),
        plugin(&|| with(json!({ "statistic": "linear-machine", "sets": 32 })), Output::Model, false),
        plugin(
            &|| with_queries(json!({ "statistic": "responses", "queries": 20, "nats": 0.02, "sets": 32 })),
            Output::Synthetic,
            true,
        ),
    ]
}
