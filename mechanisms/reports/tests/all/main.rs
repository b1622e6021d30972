//! Reports: the audit, and what is collected.

mod audited;
mod collected;
