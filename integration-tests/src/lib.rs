//! What only shows when the crates stand together. The facts are in `tests/`.
