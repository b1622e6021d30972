//! Tests of the crate's public interface, in one executable.

mod gradients;
mod losses;
mod pytorch;
mod saving;
mod training;
