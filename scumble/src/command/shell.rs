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

/// Sections that every manual page ends with, in roff.
const SECTIONS: &str = r#"
.SH "EXIT STATUS"
0: success. 1: a claim is refuted, a checked file does not fit its schema, or the output was made and only its
message could not be printed.
2: an error, printed as one line on stderr. 130: interrupted.
.SH ENVIRONMENT
.TP
SCUMBLE_DATA
The folder of public data sets that are not embedded, such as adult and mnist.
.TP
SCUMBLE_PASSPHRASE
The passphrase of encrypted tickets and keys, instead of a prompt.
.TP
NO_COLOR
Turns colours off.
.SH FILES
.TP
schema.toml
Publicly known bounds and levels of the columns.
.TP
design.json
A mechanism with its parameters, its schema and its budget.
.TP
card.json
The guarantee of a release.
.TP
ledger.json
Budgets of data sets, and what was spent.
.TP
NAME.cells.jsonl
Finished trials of a comparison, from which a stopped one resumes.
.SH "SEE ALSO"
scumble COMMAND \-\-help
"#;

/// Returns the page with the examples under their own heading, and with [`SECTIONS`].
fn completed(page: &str) -> String {
    let page = page.replace(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n");
    format!("{}\n{}", page.trim_end(), SECTIONS.trim_start())
}

pub(super) fn man(arguments: &ManArguments, command: clap::Command) -> Result<(), Failure> {
    if let Some(folder) = &arguments.output {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        generate_to(command.clone(), folder).map_err(failed)?;
        for name in page_names(&command, command.get_name()) {
            let page = folder.join(format!("{name}.1"));
            let text = std::fs::read_to_string(&page).map_err(failed)?;
            std::fs::write(&page, completed(&text)).map_err(failed)?;
        }
        return Ok(());
    }
    let mut page = vec![];
    Man::new(command).render(&mut page)?;
    print(completed(&String::from_utf8_lossy(&page)).trim_end())
}

/// Names of the pages of a command and its subcommands. `name` is the command's own.
fn page_names(command: &clap::Command, name: &str) -> Vec<String> {
    let own = std::iter::once(name.to_owned());
    let visible = command.get_subcommands().filter(|below| !below.is_hide_set());
    own.chain(visible.flat_map(|below| page_names(below, &format!("{name}-{}", below.get_name())))).collect()
}
