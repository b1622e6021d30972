//! `--protect`: the part of a record to protect.

use crate::core::Protect;
use clap::ValueEnum;

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(super) enum ProtectArgument {
    /// Features and label.
    Record,
    /// The features; the label is disclosed.
    Features,
    /// The label; the features are disclosed.
    Label,
}

impl From<ProtectArgument> for Protect {
    fn from(argument: ProtectArgument) -> Self {
        match argument {
            ProtectArgument::Record => Self::Record,
            ProtectArgument::Features => Self::Features,
            ProtectArgument::Label => Self::Label,
        }
    }
}
