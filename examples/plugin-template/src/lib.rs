//! The mechanisms that `scumble new-plugin` writes, one of each kind: compiled and tested with the workspace.

pub mod curator;
pub mod local;
pub mod noise;
