//! Integration tests of the crate, in one executable.

mod ambiguity;
mod common;
mod curators;
mod mix;
mod recovery;
mod secrecy;
