//! Columns as levels: a category by its level, a number by the bin that it lies in, of public bounds; and values drawn for levels.
//!
//! What counts, or asks about, columns of few levels needs both: [`Attribute`] reads the level of a record and writes one back, and [`draw`] says how many
//! records get which.

mod attribute;
pub mod draw;

pub use attribute::Attribute;
