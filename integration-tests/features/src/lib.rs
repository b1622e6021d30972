//! No code: the features with which the workspace and the Python package compile the libraries that both need (`Cargo.toml`).
