//! All tests of the crate that use it from outside, in one executable.

mod gradients;
mod losses;
mod pytorch;
mod saving;
mod training;
