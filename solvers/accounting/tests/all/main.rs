//! All tests of the crate that use it from outside, in one executable.

mod bounds;
mod ceiling;
mod conformance;
mod dauntless;
mod edges;
mod reference;
mod shuffle;
