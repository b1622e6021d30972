//! `scumble` with the mechanism of this crate.

use plugin_template as _; // the linker drops a crate that nothing names

fn main() -> std::process::ExitCode {
    scumble::command::main()
}
