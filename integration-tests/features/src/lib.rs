//! No code: this crate sets the features of the libraries that the workspace and the Python package share
//! (`Cargo.toml`).
