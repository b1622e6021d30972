//! All tests of the crate that use it from outside, in one executable.

mod chapter;
mod conformance;
mod privacy;
