//! All tests of the crate that use it from outside, in one executable.

mod ambiguity;
mod common;
mod curators;
mod mix;
mod recovery;
mod secrecy;
