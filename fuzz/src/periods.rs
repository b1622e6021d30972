//! States between the periods of a horizon.

use crate::{accepted, forge};
use scumble_core::{Brief, Budget, Designed, Randomness};
use scumble_custody::{PeriodState, ShippedDesign};
use scumble_marginals::TABLES;
use scumble_records::Schema;
use scumble_tables::NoisyTables;
use serde_json::json;
use std::sync::LazyLock;

const FORMAT: &str = "scumble-periods-1";
const PASSPHRASE: &str = "a wrong guess";

/// Counts by ward and means of pain, over three periods.
static DESIGN: LazyLock<ShippedDesign> = LazyLock::new(|| {
    let schema = r#"column = [
        { name = "ward", kind = "category", levels = ["north", "south"] },
        { name = "pain", kind = "integer", lower = 0, upper = 9 },
    ]"#;
    let schema = Schema::from_toml(schema, "a schema").expect("a schema");
    let domain = schema.domain(None).expect("two columns");
    let parameters = json!({"counts": [["ward"]], "means": [["pain"]], "horizon": 3});
    let brief = Brief::new(domain, Budget::new(1.0, 1e-5).expect("a budget"));
    let design = TABLES.design(&parameters, &brief).expect("it applies to these columns");
    ShippedDesign::for_records(design, schema, None).expect("it is of these columns")
});

/// Reads a state in three ways: unchanged, with its correct digest, and as the content behind a known
/// passphrase. From accepted content, the next period is released, and its tables can be read.
pub fn periods(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    for file in [Some(text.to_owned()), forge::resealed(text, FORMAT)].into_iter().flatten() {
        accepted(PeriodState::load(&file, PASSPHRASE, &DESIGN, "a state"));
    }
    let Some(state) = accepted(serde_json::from_str::<PeriodState>(text)) else {
        return false;
    };
    let Designed::Curator(curator) = DESIGN.mechanism() else {
        return false;
    };
    let mut records = curator.start();
    records.add(&[1.0, 0.0, 3.0]).expect("a record of the design");
    let mut randomness = Randomness::seeded(1);
    let Some(period) = accepted(state.release(&DESIGN, (records, None), &mut randomness, None, "a release"))
    else {
        return false;
    };
    for tables in [period.totals, period.alone] {
        let saved = serde_json::to_string(&tables).expect("tables can be written");
        assert_eq!(NoisyTables::from_json(&saved).expect("what was written can be read"), tables);
    }
    true
}
