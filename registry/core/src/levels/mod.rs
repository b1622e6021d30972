//! Columns as levels: a category by its level, a number by its bin within public bounds; and values drawn for
//! levels.
//!
//! Mechanisms that count or query columns of few levels use both parts. [`Attribute`] reads the level of a
//! record and writes one back. [`draw`] decides how many records get each level.

mod attribute;
pub mod draw;

pub use attribute::Attribute;
