//! The guide, in chapters: which mechanism for which situation, and how to go on from there. Every block of code in it is a test.

#[doc = include_str!("../../guide/choose.md")]
pub mod choose {}

#[doc = include_str!("../../guide/schema.md")]
pub mod schema {}

#[doc = include_str!("../../guide/ship.md")]
pub mod ship {}

#[doc = include_str!("../../guide/add.md")]
pub mod add {}
