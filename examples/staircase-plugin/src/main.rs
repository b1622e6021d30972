//! `scumble` with one mechanism more.

use staircase_plugin as _;

fn main() -> std::process::ExitCode {
    scumble::command::main()
}
