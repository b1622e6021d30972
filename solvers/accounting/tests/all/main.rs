//! Integration tests of the crate, in one executable.

mod bounds;
mod ceiling;
mod conformance;
mod dauntless;
mod edges;
mod reference;
mod shuffle;
