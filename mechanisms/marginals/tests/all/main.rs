//! Marginals: the conformance suite, the audit with faulty variants, and what is released.

mod audited;
mod conformance;
mod released;
