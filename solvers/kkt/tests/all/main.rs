//! All tests of the crate that use it from outside, in one executable.

mod independent;
mod waterfilling;
