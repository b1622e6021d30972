//! All tests of the crate that use it from outside, in one executable.

mod alike;
mod canary;
mod counts;
mod curators;
mod membership;
mod statistics;
