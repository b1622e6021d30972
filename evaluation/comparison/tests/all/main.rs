//! All tests of the crate that use it from outside, in one executable.

mod statistics;
mod validation;
