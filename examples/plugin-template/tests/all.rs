//! Tests that `scumble new-plugin` writes, for each kind of mechanism.

#[path = "../../../scumble/plugin-template/test_curator.rs"]
mod curator;
#[path = "../../../scumble/plugin-template/test_local.rs"]
mod local;
#[path = "../../../scumble/plugin-template/test_noise.rs"]
mod noise;
