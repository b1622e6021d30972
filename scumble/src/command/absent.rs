//! Subcommands that this build lacks. Each names the feature that adds it.

use super::Failure;
use clap::Args;

/// Commands that build and run `reproduce`.
#[cfg(not(feature = "reproduce"))]
pub(super) const REPRODUCE_EXAMPLES: &str = "\
Examples:
  cargo run --release --features reproduce -- reproduce
  cargo run --release --features reproduce -- reproduce task-aware/figure-3 --quick";

/// Any arguments.
#[derive(Args)]
pub(super) struct AbsentArguments {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Refuses a subcommand, or a part of it, that needs `feature`.
pub(super) fn refuse<T>(feature: &str) -> Result<T, Failure> {
    Err(format!(
        "this build lacks the feature {feature}; add it by: cargo install --path scumble --features {feature}"
    )
    .into())
}
