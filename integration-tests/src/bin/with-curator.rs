//! `scumble` with the toy curator.

use scumble_integration_tests as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    scumble::command::main()
}
