//! All tests of the crate that use it from outside, in one executable.

mod airy;
mod box_ground_state;
mod ground_state;
