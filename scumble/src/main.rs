//! The `scumble` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    scumble::command::main()
}
