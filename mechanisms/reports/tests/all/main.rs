//! Tests of reports: audits, and collected records.

mod audited;
mod collected;
