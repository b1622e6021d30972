//! All tests of the crate that use it from outside, in one executable.

mod definition;
mod distributions;
mod exhaustive;
mod fine;
