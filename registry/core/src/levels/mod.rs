//! Discrete levels of columns, and random draws of levels. The level of a category is its value. The level of
//! a number is its bin between public bounds.
//!
//! Mechanisms that count or query columns with few levels use this module. [`Attribute`] reads the level of a
//! record and writes one back. [`draw`] decides how many records get each level.

mod attribute;
pub mod draw;

pub use attribute::Attribute;
