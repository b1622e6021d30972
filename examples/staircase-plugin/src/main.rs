//! `scumble` with one additional mechanism.

use staircase_plugin as _;

fn main() -> std::process::ExitCode {
    scumble::command::main()
}
