//! All tests of the crate that use it from outside, in one executable.

mod ambiguity;
mod common;
mod conformance;
mod curators;
mod mix;
mod recovery;
mod secrecy;
