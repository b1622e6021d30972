//! All integration tests of the crate, in one executable.

mod statistics;
mod validation;
