//! All integration tests of the crate, in one executable.

mod alike;
mod canary;
mod counts;
mod curators;
mod membership;
mod statistics;
