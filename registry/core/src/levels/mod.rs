//! Discrete levels of columns, and random draws of levels. The level of a category is its value. The level of
//! a number is its bin between public bounds; a [`Grid`] sets the bins.
//!
//! Mechanisms that count or query columns with few levels use this module. [`Attribute`] reads the level of a
//! column from a record, and writes a level into a record. [`draw`] decides how many synthetic records get
//! each level.

mod attribute;
mod counted;
pub mod draw;
mod grid;

pub use attribute::Attribute;
pub use counted::{CountedLevel, CountedTable};
pub use grid::Grid;
