//! Tests of the crate's public interface, in one executable.

mod bad_input;
mod designs;
mod household;
mod linear;
mod sensitivity_linear;
mod sensitivity_points;
