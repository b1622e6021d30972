//! Mechanisms that `scumble new-plugin` writes, one of each kind: the templates, compiled and tested with the
//! workspace.

#[path = "../../../scumble/plugin-template/curator.rs"]
pub mod curator;
#[path = "../../../scumble/plugin-template/local.rs"]
pub mod local;
#[path = "../../../scumble/plugin-template/noise.rs"]
pub mod noise;
