//! Models instead of data: what leaves, what is claimed of it, and that an audit catches what is claimed wrongly.

mod gathered;
mod models;
mod moments;
mod variant;
