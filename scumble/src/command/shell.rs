//! `scumble completions` and `scumble man`: shell completions and manual pages, generated from the command's
//! arguments.

use super::{Failure, print};
use clap::Args;
use clap_complete::{Shell, generate};
use clap_mangen::{Man, generate_to};
use std::path::PathBuf;

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  scumble completions bash > scumble.bash
  scumble completions zsh > _scumble";

const MAN_EXAMPLES: &str = "\
Examples:
  scumble man > scumble.1
  scumble man --output man1";

#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(super) struct CompletionsArguments {
    /// The shell.
    shell: Shell,
}

#[derive(Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(super) struct ManArguments {
    /// A folder for the pages of all subcommands, as scumble-NAME.1. Without it, the page of the command is
    /// printed.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(super) fn completions(
    arguments: &CompletionsArguments,
    mut command: clap::Command,
) -> Result<(), Failure> {
    let mut script = vec![];
    let name = command.get_name().to_owned();
    generate(arguments.shell, &mut command, name, &mut script);
    print(String::from_utf8_lossy(&script).trim_end())
}

pub(super) fn man(arguments: &ManArguments, command: clap::Command) -> Result<(), Failure> {
    if let Some(folder) = &arguments.output {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        generate_to(command, folder).map_err(failed)?;
        return Ok(());
    }
    let mut page = vec![];
    Man::new(command).render(&mut page)?;
    print(String::from_utf8_lossy(&page).trim_end())
}
