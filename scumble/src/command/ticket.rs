//! `scumble ticket`: shows or forgets the ticket of a keyed release. A ticket is the stored secret from which
//! the noise of each record is drawn. With it, the release can be repeated at the cost of one.

use super::{Failure, print, print_json};
use crate::core::shown;
use crate::custody::{Binding, Ticket, forget};
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  scumble ticket show ticket.json
  scumble ticket forget ticket.json";

#[derive(Subcommand)]
pub(super) enum TicketCommand {
    /// Show the purpose of a ticket, without its secret.
    #[command(after_help = EXAMPLES)]
    Show(TicketFile),
    /// Overwrite and remove a ticket, and the list of the records that it admits. The release can then not be
    /// repeated, and its noise cannot be removed with this file. Copies of the ticket are not affected.
    #[command(after_help = EXAMPLES)]
    Forget(TicketFile),
}

#[derive(Args)]
pub(super) struct TicketFile {
    /// The ticket, as `scumble release --ticket` keeps it.
    #[arg(value_name = "TICKET.json")]
    file: PathBuf,
}

pub(super) fn ticket(command: &TicketCommand, as_json: bool) -> Result<(), Failure> {
    let (ticket, file, is_forgotten) = match command {
        TicketCommand::Show(TicketFile { file }) => (Ticket::read(file)?, file, false),
        TicketCommand::Forget(TicketFile { file }) => (forget(file)?, file, true),
    };
    let name = ticket.key().name();
    if as_json {
        return print_json(
            &json!({ "name": name, "is_forgotten": is_forgotten, "binding": ticket.binding() }),
        );
    }
    if is_forgotten {
        return print(&format!("{} is forgotten: it was the ticket {name}", file.display()));
    }
    let Binding { design, dataset, ids, records, .. } = ticket.binding();
    let named = |name: &Option<String>, none: &str| {
        name.as_deref().map_or(none.to_owned(), |name| shown(name).into_owned())
    };
    print(&format!(
        "ticket    {name}\ndesign    {design}\ndata set  {}\nids       {}\nrecords   {records}",
        named(dataset, "none: no ledger is charged"),
        named(ids, "row numbers"),
    ))
}
