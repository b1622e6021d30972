//! Noisy tables, and estimates from them.

use crate::accepted;
use scumble_core::Estimate;
use scumble_tables::{Counted, NoisyTables, Settings};

/// Maximum number of columns that are estimated. Further columns would repeat the same checks.
const COLUMNS: usize = 8;

/// Reads noisy tables, writes them, and estimates each column alone and by each other column. An interval
/// contains its value, or the error is a sentence.
pub fn tables(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let Some(tables) = accepted(NoisyTables::from_json(text)) else {
        return false;
    };
    let saved = serde_json::to_string(&tables).expect("tables can be written");
    assert_eq!(NoisyTables::from_json(&saved).expect("what was written can be read"), tables);
    let columns = tables.columns();
    for column in columns.iter().take(COLUMNS) {
        estimate(&tables.counted(&[column]).expect("a counted column"), None);
        for by in columns.iter().take(COLUMNS).filter(|by| *by != column) {
            if let Some(counted) = accepted(tables.counted(&[column, by])) {
                estimate(&counted, Some((1, 0)));
            }
        }
    }
    true
}

fn estimate(counted: &Counted, group: Option<(usize, usize)>) {
    for population in [false, true] {
        let settings = Settings { population, ..Settings::default() };
        check(accepted(counted.count(&[Some((0, 0)), group], settings)));
        check(accepted(counted.share(0, 0, group, settings)));
        check(accepted(counted.mean(0, group, settings)));
        check(accepted(counted.quantile(0, 0.5, group, settings)));
        if let Some(by) = group {
            let groups = [by, (1, counted.columns()[1].levels.len() - 1)];
            check(accepted(counted.difference_of_shares(0, 0, groups, settings)));
            check(accepted(counted.difference_of_means(0, groups, settings)));
            check(accepted(counted.odds_ratio(0, 0, groups, settings)));
        }
    }
}

fn check(estimate: Option<Estimate>) {
    if let Some(Estimate { value, lower, upper, .. }) = estimate {
        let slack = 1e-9 * (1.0 + value.abs());
        assert!(lower <= value + slack && value <= upper + slack, "{value} is not in {lower} to {upper}");
    }
}
