//! Integration tests of the crate, in one executable.

mod independent;
mod waterfilling;
