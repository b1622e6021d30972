//! Tests of marginals: audits with faulty variants, and releases.

mod audited;
mod released;
