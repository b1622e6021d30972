//! All tests of the crate that use it from outside, in one executable.

mod bad_input;
mod designs;
mod household;
mod linear;
mod sensitivity_linear;
mod sensitivity_points;
