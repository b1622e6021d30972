//! `scumble ledger`: what was spent on data sets, and what is left.

use super::{Failure, print, print_json};
use crate::registry::{Account, Budget, InformationAccount, Ledger, Unit, number, shown};
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
  scumble ledger init --ledger ledger.json --dataset people --unit label --target member --epsilon 5
  scumble ledger init --ledger ledger.json --dataset halves --nats 0.5";

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
    #[arg(long, value_parser = number::parse, value_name = "E", allow_negative_numbers = true, required_unless_present = "nats")]
    epsilon: Option<f64>,
    /// δ.
    #[arg(long, value_parser = number::parse, value_name = "D", default_value_t = 0.0, allow_negative_numbers = true)]
    delta: f64,
    /// In place of ε: nats of mutual information with which records were used, for releases that hide that (`pac-statistics`); no ε is ever paid with them.
    #[arg(long, value_parser = number::parse, value_name = "B", allow_negative_numbers = true, conflicts_with_all = ["epsilon", "delta", "unit", "target"])]
    nats: Option<f64>,
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
        let epsilon = self.epsilon.ok_or("an amount is --epsilon or --nats")?;
        Ok(Budget::new(epsilon, self.delta)?)
    }
}

pub(super) fn ledger(command: &LedgerCommand, as_json: bool) -> Result<(), Failure> {
    let (file, dataset) = match command {
        LedgerCommand::Init { account, total } => {
            let ledger = Ledger::at(&account.file.ledger);
            let target = account.target.as_deref();
            match total.nats {
                Some(nats) => ledger.init_information(&account.dataset, nats)?,
                None => ledger.init(&account.dataset, account.unit.into(), target, total.budget()?)?,
            }
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Charge { account, cost, what } => {
            let ledger = Ledger::at(&account.file.ledger);
            let target = account.target.as_deref();
            match cost.nats {
                Some(nats) => ledger.charge_information(&account.dataset, nats, what)?,
                None => {
                    ledger.charge(&account.dataset, account.unit.into(), target, cost.budget()?, what)?;
                }
            }
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Show { file, dataset } => (file, dataset.as_ref()),
    };
    let (mut accounts, mut information) =
        (Ledger::at(&file.ledger).accounts()?, Ledger::at(&file.ledger).information()?);
    accounts.retain(|account| dataset.is_none_or(|dataset| account.dataset == *dataset));
    information.retain(|account| dataset.is_none_or(|dataset| account.dataset == *dataset));
    if let (Some(dataset), [], []) = (dataset, &accounts[..], &information[..]) {
        return Err(
            format!("the ledger {}: there is no account for {dataset:?}", file.ledger.display()).into()
        );
    }
    if as_json {
        let told = information.iter().map(|account| {
            let mut value = json!(account);
            value["spent"] = number::to_json(account.spent());
            value["left"] = number::to_json(account.left());
            value
        });
        let accounts = accounts.iter().map(as_value);
        return print_json(
            &json!({"accounts": accounts.collect::<Vec<_>>(), "information": told.collect::<Vec<_>>()}),
        );
    }
    let statements = accounts.iter().map(statement).chain(information.iter().map(statement_in_nats));
    print(&statements.collect::<Vec<_>>().join("\n\n"))
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
    let charges = account.charges.iter();
    let charges = charges.map(|charge| (&*charge.when, &*charge.what, vec![charge.epsilon, charge.delta]));
    let sums = [vec![spent.0, spent.1], vec![total.epsilon(), total.delta()], vec![left.0, left.1]];
    let of = account.target.as_ref().map_or(String::new(), |target| format!(" (the label is {target:?})"));
    format!("{}, {}{of}\n\n{}", shown(&account.dataset), account.unit, table(&["ε", "δ"], charges, sums))
}

/// The same of one in nats.
fn statement_in_nats(account: &InformationAccount) -> String {
    let charges = account.charges.iter().map(|charge| (&*charge.when, &*charge.what, vec![charge.nats]));
    let sums = [account.spent(), account.total, account.left()].map(|nats| vec![nats]);
    format!("{}, which records were used\n\n{}", shown(&account.dataset), table(&["nats"], charges, sums))
}

/// Charges, when and for what, and what is spent, of what, and left: a column each of these numbers.
fn table<'a>(
    numbers: &[&str],
    charges: impl Iterator<Item = (&'a str, &'a str, Vec<f64>)>,
    sums: [Vec<f64>; 3],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["when", "for what"].iter().chain(numbers));
    let sums = ["spent", "of", "left"].into_iter().zip(sums).map(|(word, values)| ("", word, values));
    for (when, what, values) in charges.chain(sums) {
        let words = [when, what].map(|word| shown(word).into_owned());
        table.add_row(words.into_iter().chain(values.into_iter().map(number::short)));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
