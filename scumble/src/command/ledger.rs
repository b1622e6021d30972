//! `scumble ledger`: spent and remaining privacy budgets of data sets.

use super::{Failure, print, print_json};
use crate::core::{Unit, shown};
use crate::custody::{Account, Amount, Group, InformationAccount, Ledger, Spending};
use clap::{Args, Subcommand, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use serde_json::json;
use std::path::{Path, PathBuf};

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
  scumble ledger charge --ledger ledger.json --dataset people --epsilon 1 --what 'a table of counts'
  scumble ledger charge --ledger ledger.json --dataset people --epsilon 1 --group batch=17";

#[derive(Subcommand)]
pub(super) enum LedgerCommand {
    /// Open an account with the privacy budget of a data set. Creates the ledger if it does not exist.
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
        /// Show only this data set.
        #[arg(long, value_name = "NAME")]
        dataset: Option<String>,
    },
    /// Charge a release made by other means to every account of the data set. A release with label DP costs
    /// an account of whole records an infinite ε. `release --ledger` charges its own release.
    #[command(after_help = CHARGE_EXAMPLES)]
    Charge {
        #[command(flatten)]
        account: AccountArguments,
        #[command(flatten)]
        cost: BudgetArguments,
        /// Purpose of the charge.
        #[arg(long, value_name = "TEXT", default_value = "by hand")]
        what: String,
        /// Group of the released people, as in `release --group`.
        #[arg(long, value_name = "DIVISION=GROUP", conflicts_with = "nats")]
        group: Option<Group>,
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
    /// Protected unit: for an account of the label (label DP), features may be disclosed.
    #[arg(long, default_value = "record")]
    unit: AccountUnit,
    /// The column that is the label, for an account of the label or of the features.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
}

#[derive(Args)]
pub(super) struct BudgetArguments {
    /// ε, in nats: the decimal as typed.
    #[arg(long, value_name = "E", allow_negative_numbers = true, required_unless_present = "nats")]
    epsilon: Option<Amount>,
    /// δ, the decimal as typed.
    #[arg(long, value_name = "D", default_value_t = Amount::zero(), allow_negative_numbers = true)]
    delta: Amount,
    /// Nats of mutual information about which records were used, in place of ε: for releases that hide
    /// membership (`pac-statistics`). An account in nats cannot be charged for an ε.
    #[arg(
        long,
        value_name = "B",
        allow_negative_numbers = true,
        conflicts_with_all = ["epsilon", "delta", "unit", "target"]
    )]
    nats: Option<Amount>,
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
    fn spending(&self) -> Result<Spending, Failure> {
        let epsilon = self.epsilon.clone().ok_or("give --epsilon or --nats")?;
        Ok(Spending::new(epsilon, self.delta.clone())?)
    }
}

pub(super) fn ledger(command: &LedgerCommand, as_json: bool) -> Result<(), Failure> {
    let (file, dataset) = match command {
        LedgerCommand::Init { account, total } => {
            let ledger = Ledger::at(&account.file.ledger);
            let target = account.target.as_deref();
            match &total.nats {
                Some(nats) => ledger.init_information(&account.dataset, nats.clone())?,
                None => ledger.init(&account.dataset, account.unit.into(), target, total.spending()?)?,
            };
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Charge { account, cost, what, group } => {
            let ledger = Ledger::at(&account.file.ledger).for_group(group.clone());
            let target = account.target.as_deref();
            match &cost.nats {
                Some(nats) => ledger.charge_information(&account.dataset, nats.clone(), what)?,
                None => {
                    ledger.charge(&account.dataset, account.unit.into(), target, cost.spending()?, what)?;
                }
            }
            (&account.file, Some(&account.dataset))
        }
        LedgerCommand::Show { file, dataset } => (file, dataset.as_ref()),
    };
    let (accounts, information) = accounts_of(&file.ledger, dataset.map(String::as_str))?;
    if let (Some(dataset), [], []) = (dataset, &accounts[..], &information[..]) {
        return Err(
            format!("the ledger {}: there is no account for {dataset:?}", file.ledger.display()).into()
        );
    }
    if as_json {
        let accounts = accounts.iter().map(Account::to_json);
        let nats_json = information.iter().map(InformationAccount::to_json);
        return print_json(
            &json!({"accounts": accounts.collect::<Vec<_>>(), "information": nats_json.collect::<Vec<_>>()}),
        );
    }
    let statements = accounts.iter().map(statement).chain(information.iter().map(statement_in_nats));
    print(&statements.collect::<Vec<_>>().join("\n\n"))
}

/// Returns the accounts in ε and the accounts in nats of a data set; of all data sets if none is named.
pub(super) fn accounts_of(
    ledger: &Path,
    dataset: Option<&str>,
) -> Result<(Vec<Account>, Vec<InformationAccount>), Failure> {
    let ledger = Ledger::at(ledger);
    let (mut accounts, mut information) = (ledger.accounts()?, ledger.information()?);
    accounts.retain(|account| dataset.is_none_or(|dataset| account.is_of(dataset)));
    information.retain(|account| dataset.is_none_or(|dataset| account.is_of(dataset)));
    Ok((accounts, information))
}

/// Formats an account: the charges, their sum, and the rest of the total.
fn statement(account: &Account) -> String {
    let (total, spent, left) = (&account.total, account.spent(), account.left());
    let charges = account.charges.iter().map(|charge| {
        let group = charge.group.as_ref().map_or(String::new(), |group| format!(" ({group})"));
        let costs = vec![charge.epsilon.clone(), charge.delta.clone()];
        (&*charge.when, format!("{}{group}", charge.what), costs)
    });
    let sums =
        [vec![spent.0, spent.1], vec![total.epsilon().clone(), total.delta().clone()], vec![left.0, left.1]];
    let label_note =
        account.target.as_ref().map_or(String::new(), |target| format!(" (the label is {target:?})"));
    format!(
        "{}, {}{label_note}\n\n{}",
        shown(&account.dataset),
        account.unit,
        table(&["ε", "δ"], charges, sums)
    )
}

/// Formats an account in nats: the charges, their sum, and the rest of the total.
fn statement_in_nats(account: &InformationAccount) -> String {
    let charges =
        account.charges.iter().map(|charge| (&*charge.when, charge.what.clone(), vec![charge.nats.clone()]));
    let sums = [account.spent(), account.total.clone(), account.left()].map(|nats| vec![nats]);
    format!(
        "{}, information about which records were used\n\n{}",
        shown(&account.dataset),
        table(&["nats"], charges, sums)
    )
}

/// Formats charges with their time and purpose, then the sum spent, the total and the rest. Each of `numbers`
/// is a column.
fn table<'a>(
    numbers: &[&str],
    charges: impl Iterator<Item = (&'a str, String, Vec<Amount>)>,
    sums: [Vec<Amount>; 3],
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["when", "purpose"].iter().chain(numbers));
    let sums =
        ["spent", "total", "left"].into_iter().zip(sums).map(|(word, values)| ("", word.to_owned(), values));
    for (when, what, values) in charges.chain(sums) {
        let words = [when, &what].map(|word| shown(word).into_owned());
        table.add_row(words.into_iter().chain(values.iter().map(Amount::to_string)));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}
