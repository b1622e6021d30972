//! Marginals: the audit with faulty variants, and what is released.

mod audited;
mod released;
