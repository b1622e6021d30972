//! `scumble ledger`: what was spent on data sets, and what is left.

use super::{Failure, print, print_json};
use crate::registry::{Account, Budget, Ledger, Unit, number, shown};
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  scumble ledger init --ledger ledger.json --dataset people --epsilon 10 --delta 1e-5
  scumble ledger show --ledger ledger.json";

const INIT_EXAMPLES: &str = "\
Examples:
  scumble ledger init --ledger ledger.json --dataset people --epsilon 10 --delta 1e-5
  scumble ledger init --ledger ledger.json --dataset people --unit label --target member --epsilon 5";

const SHOW_EXAMPLES: &str = "\
Examples:
  scumble ledger show --ledger ledger.json
  scumble ledger show --ledger ledger.json --dataset people --json";

const CHARGE_EXAMPLES: &str = "\
Examples:
  scumble ledger charge --ledger ledger.json --dataset people --epsilon 1 --what 'a table of counts'";

#[derive(Subcommand)]
pub(super) enum LedgerCommand {
    /// Open an account with the privacy budget of a data set. The ledger is made where there is none.
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        #[command(flatten)]
        account: AccountArguments,
        #[command(flatten)]
        total: BudgetArguments,
    },
    /// Show what was spent and what is left.
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        #[command(flatten)]
        file: FileArgument,
        /// This data set only.
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
    },
    /// Charge a release made by other means, to every account of the data set: label DP costs an account of the record an infinite
    /// ε. `release --ledger` charges by itself.
    #[command(after_help = CHARGE_EXAMPLES)]
    Charge {
        #[command(flatten)]
        account: AccountArguments,
        #[command(flatten)]
        cost: BudgetArguments,
        /// For what.
        #[arg(long, value_name = "TEXT", default_value = "by hand")]
        what: String,
    },
}

#[derive(Args)]
pub(super) struct FileArgument {
    /// The ledger's file.
    #[arg(long, value_name = "LEDGER.json")]
    ledger: PathBuf,
}

#[derive(Args)]
pub(super) struct AccountArguments {
    #[command(flatten)]
    file: FileArgument,
    /// The data set's name.
    #[arg(long, value_name = "NAME")]
    dataset: String,
    /// What is protected: for an account of the label (label DP), features may be disclosed.
    #[arg(long, default_value = "record")]
    unit: AccountUnit,
    /// The column that is the label, for an account of the label or of the features.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
}

#[derive(Args)]
pub(super) struct BudgetArguments {
    /// ε, in nats.
    #[arg(long, value_parser = number::parse, value_name = "E", allow_negative_numbers = true)]
    epsilon: f64,
    /// δ.
    #[arg(long, value_parser = number::parse, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
    delta: f64,
}

#[derive(Clone, Copy, ValueEnum)]
enum AccountUnit {
    /// Each person's whole record.
    Record,
    /// The features.
    Features,
    /// The label.
    Label,
    /// The record of each volunteer whose data shape designs.
    Volunteer,
}

impl From<AccountUnit> for Unit {
    fn from(unit: AccountUnit) -> Self {
        match unit {
            AccountUnit::Record => Self::Record,
            AccountUnit::Features => Self::Features,
            AccountUnit::Label => Self::Label,
            AccountUnit::Volunteer => Self::Volunteer,
        }
    }
}

impl BudgetArguments {
    fn budget(&self) -> Result<Budget, Failure> {
        Ok(Budget::new(self.epsilon, self.delta)?)
    }
}

pub(super) fn ledger(command: &LedgerCommand, as_json: bool) -> Result<(), Failure> {
    let (file, dataset) = match command {
        LedgerCommand::Init { account, total } => {
            let (ledger, total) = (Ledger::at(&account.file.ledger), total.budget()?);
            ledger.init(&account.dataset, account.unit.into(), account.target.as_deref(), total)?;
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Charge { account, cost, what } => {
            let ledger = Ledger::at(&account.file.ledger);
            let target = account.target.as_deref();
            ledger.charge(&account.dataset, account.unit.into(), target, cost.budget()?, what)?;
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Show { file, dataset } => (file, dataset.as_ref()),
    };
    let mut accounts = Ledger::at(&file.ledger).accounts()?;
    accounts.retain(|account| dataset.is_none_or(|dataset| account.dataset == *dataset));
    if let (Some(dataset), []) = (dataset, &accounts[..]) {
        return Err(
            format!("the ledger {}: there is no account for {dataset:?}", file.ledger.display()).into()
        );
    }
    if as_json {
        return print_json(&json!({"accounts": accounts.iter().map(as_value).collect::<Vec<_>>()}));
    }
    print(&accounts.iter().map(statement).collect::<Vec<_>>().join("\n\n"))
}

fn as_value(account: &Account) -> Value {
    let (epsilon, delta) = account.spent();
    let mut value = json!(account);
    let (epsilon_left, delta_left) = account.left();
    value["spent"] = json!({"epsilon": number::to_json(epsilon), "delta": delta});
    value["left"] = json!({"epsilon": number::to_json(epsilon_left), "delta": delta_left});
    value
}

/// An account for people: the charges, their sum, and what is left of the total.
fn statement(account: &Account) -> String {
    let (total, spent, left) = (account.total, account.spent(), account.left());
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["when", "for what", "ε", "δ"]);
    let row = |when: &str, what: &str, epsilon: f64, delta: f64| {
        [when.to_owned(), what.to_owned(), number::short(epsilon), number::short(delta)]
    };
    for charge in &account.charges {
        table.add_row(row(&shown(&charge.when), &shown(&charge.what), charge.epsilon, charge.delta));
    }
    table.add_row(row("", "spent", spent.0, spent.1));
    table.add_row(row("", "of", total.epsilon(), total.delta()));
    table.add_row(row("", "left", left.0, left.1));
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let of = account.target.as_ref().map_or(String::new(), |target| format!(" (the label is {target:?})"));
    format!("{}, {}{of}\n\n{}", shown(&account.dataset), account.unit, table.trim_fmt())
}
