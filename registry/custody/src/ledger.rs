//! Ledger of the budget spent and left per data set.
//!
//! The file is replaced as a whole, and a witness file counts its changes. An append-only log would reveal a
//! torn last line, but not a cut between two lines, nor an older copy of the file.
//!
//! The ε and δ of a ledger hold for replace-one neighbours: an account for a unit (the whole record, the
//! features or the label of a person) covers the replacement of that unit's values. A central claim for
//! add/remove neighbours does not count for the account, because the budgets of the two relations do not add
//! up. A release has infinite cost unless it has a local claim, or a central claim for replace-one
//! neighbours.

use crate::information::{self, InformationAccount};
use crate::{Amount, Error, Existing, NewFile, Readable, Result, Spending, name, sealed};
use scumble_core::{Guarantee, Unit, number};
use scumble_records::read_text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

const FORMAT: &str = "scumble-ledger-1";

/// Upper bound on the size of a ledger file, in bytes.
const LONGEST: u64 = 1 << 30;

/// File that records the budget spent by releases, per data set and protected unit.
///
/// The ε and δ of all charges add up, which is sound for adaptively chosen releases (Dwork and Roth 2014,
/// Theorem 3.16). Charges of disjoint [groups](Group) of people compose in parallel. Some releases claim a
/// bound, in nats, on the mutual information between the release and the choice of the records used. These
/// nats also add up, in separate accounts. Nats and ε are never converted into each other. The releases of a
/// data set are charged to only one kind of account.
///
/// A charge is on disk when [`charge`](Self::charge) returns, and it is never reverted. A charge that would
/// exceed the total of an account is refused. Processes that charge at the same time wait for each other.
///
/// A *witness* file next to the ledger holds the number of changes so far. The ledger is replaced as a whole
/// before the witness is updated, so a crash in between never loses a granted charge. An older copy of the
/// ledger, restored by accident, has fewer changes than its witness and is refused.
///
/// ```
/// use scumble_core::{Budget, Unit};
/// use scumble_custody::Ledger;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let ledger = Ledger::at(&folder.path().join("ledger.json"));
/// ledger.init("survey", Unit::Record, None, Budget::pure(1.0)?)?;
/// ledger.charge("survey", Unit::Record, None, Budget::pure(0.75)?, "the first release")?;
/// assert!(ledger.charge("survey", Unit::Record, None, Budget::pure(0.75)?, "a second").is_err());
/// assert_eq!(ledger.accounts()?[0].left().0, 0.25);
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ledger {
    file: PathBuf,
    group: Option<Group>,
}

/// Group of a data set's people, who are divided into disjoint groups. The group of a person is
/// public, and does not depend on the values that the account protects: for example the batch in which they
/// came.
///
/// Releases of different groups compose in parallel: only the largest sum of a group's charges counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Name of the division, for example `batch`.
    pub by: String,
    /// Name of the group, for example `17`.
    pub name: String,
}

/// Text for people, for example `batch = 17`.
impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}", self.by, self.name)
    }
}

/// Reads `BY=NAME`.
impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (by, name) =
            text.split_once('=').ok_or_else(|| format!("{text:?} is not of the form DIVISION=GROUP"))?;
        Self::new(by, name)
    }
}

impl Group {
    /// The group `name` of the division `by`.
    ///
    /// # Errors
    /// A sentence if a name is empty, or holds characters that cannot be seen.
    pub fn new(by: &str, name: &str) -> std::result::Result<Self, String> {
        if by.is_empty() || name.is_empty() {
            return Err("a group needs the name of its division and a name of its own".into());
        }
        [by, name].into_iter().try_for_each(name::check_visible)?;
        Ok(Self { by: name::normalised(by), name: name::normalised(name) })
    }
}

/// Account of one protected unit of one data set: its budget and its charges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Name of the data set.
    pub dataset: String,
    /// The protected unit.
    pub unit: Unit,
    /// Name of the label column, for an account of the label or of the features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Total budget of the account.
    pub total: Spending,
    /// True if a release counted several records of a person. A claim for single records then bounds nothing
    /// for a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_people: bool,
    /// Charges, in order of time.
    pub charges: Vec<Charge>,
}

/// Charge for one release: its cost in ε and δ, and its purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// ε, in nats.
    pub epsilon: Amount,
    /// δ.
    pub delta: Amount,
    /// Purpose of the charge.
    pub what: String,
    /// Time of the charge, in RFC 3339 format.
    pub when: String,
    /// Name of the key of the [`Ticket`](crate::Ticket) for which the charge was made. A ticket is charged
    /// only once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// Last released period of a horizon for which the charge was made. `ticket` then has the name of the
    /// series of releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<usize>,
    /// Group of the released people, if only a group was released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Group>,
}

impl Account {
    /// Returns whether this is an account of `dataset`, in any Unicode form of the name.
    pub fn is_of(&self, dataset: &str) -> bool {
        name::are_same(&self.dataset, dataset)
    }

    /// Exact sums (ε, δ) of all charges. Of the charges of disjoint [groups](Group), only those of the group
    /// with the largest sum count (McSherry 2009, Theorem 4).
    pub fn spent(&self) -> (Amount, Amount) {
        (self.sum_of(|charge| &charge.epsilon), self.sum_of(|charge| &charge.delta))
    }

    fn sum_of(&self, amount: impl Fn(&Charge) -> &Amount) -> Amount {
        let everyone = self.charges.iter().filter(|charge| charge.group.is_none()).map(&amount);
        let mut divisions = BTreeMap::<&str, BTreeMap<&str, Vec<&Amount>>>::new();
        for charge in &self.charges {
            if let Some(Group { by, name }) = &charge.group {
                divisions.entry(by).or_default().entry(name).or_default().push(amount(charge));
            }
        }
        let group_sum = |charges: &Vec<&Amount>| charges.iter().copied().sum::<Amount>();
        let largest = |groups: &BTreeMap<&str, Vec<&Amount>>| groups.values().map(group_sum).max();
        [everyone.sum()].into_iter().chain(divisions.values().filter_map(largest)).sum()
    }

    /// Remaining budget (ε, δ).
    pub fn left(&self) -> (Amount, Amount) {
        let (epsilon, delta) = self.spent();
        let left = Amount::difference;
        (left(self.total.epsilon(), &epsilon), left(self.total.delta(), &delta))
    }

    /// Returns the account as JSON, with the amounts spent (rounded up) and left (rounded down) as binary64
    /// numbers.
    pub fn to_json(&self) -> Value {
        let mut value = json!(self);
        let (spent, left) = (self.spent(), self.left());
        let pair = |epsilon, delta| json!({"epsilon": number::to_json(epsilon), "delta": delta});
        value["spent"] = pair(spent.0.to_f64_up(), spent.1.to_f64_up());
        value["left"] = pair(left.0.to_f64_down(), left.1.to_f64_down());
        value
    }

    /// Cost of a release with this guarantee and the label `target`. If the account concerns another label
    /// than `target`, only a claim for the whole record counts. A release without a claim that counts has
    /// infinite cost.
    fn cost(&self, guarantee: &Guarantee, target: Option<&str>) -> Result<Cost> {
        let is_other = self.target.is_some() && self.target.as_deref() != target;
        let (epsilon, delta) = guarantee.cost(if is_other { Unit::Record } else { self.unit });
        Ok((Amount::try_from(epsilon)?, Amount::try_from(delta)?))
    }

    /// Adds a charge unless it exceeds the budget.
    fn spend(&mut self, (epsilon, delta): Cost, what: &str, when: &str, group: Option<&Group>) -> Result<()> {
        let (asked, before) = ((epsilon.clone(), delta.clone()), self.spent());
        let (what, when, group) = (what.into(), when.into(), group.cloned());
        self.charges.push(Charge { epsilon, delta, what, when, ticket: None, period: None, group });
        let (total, spent) = (&self.total, self.spent());
        if spent.0 > *total.epsilon() || spent.1 > *total.delta() {
            self.charges.pop();
            return Err(Error::Overdrawn {
                dataset: self.dataset.clone(),
                unit: self.unit,
                asked: Box::new(asked),
                spent: Box::new(before),
                total: Box::new((self.total.epsilon().clone(), self.total.delta().clone())),
            });
        }
        Ok(())
    }
}

/// ε and δ of one charge.
type Cost = (Amount, Amount);

/// Cost of a release whose guarantee has no claim that counts for the account.
fn unbounded() -> Cost {
    (Amount::infinity(), Amount::zero())
}

/// Content of the ledger file.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
struct Content {
    /// Number of changes made to the ledger so far.
    changes: u64,
    accounts: Vec<Account>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    information: Vec<InformationAccount>,
}

impl Ledger {
    /// Creates a handle to the ledger in `file`, which need not exist yet.
    pub fn at(file: &Path) -> Self {
        Self { file: file.into(), group: None }
    }

    /// Same ledger, whose charges are for one group of a data set's people.
    #[must_use]
    pub fn for_group(self, group: Option<Group>) -> Self {
        Self { group, ..self }
    }

    /// Opens an account for `unit` of `dataset`, and creates the file if necessary. An account of the label
    /// or of the features needs the name of the label column, `target`. Returns whether the account is new.
    /// An existing account with the same total is unchanged, so a job can run again.
    ///
    /// # Errors
    /// [`Error::Ledger`] in these cases:
    ///
    /// - the account exists with another total;
    /// - the data set was charged before this account was opened, so that its cost for `unit` is unknown;
    /// - the name of the data set looks like another name in the ledger, or mixes scripts;
    /// - `target` is missing for the label or the features, or present for another unit;
    /// - the data set has an account in nats, and `unit` is not [`Unit::Volunteer`], the record of a
    ///   volunteer (a person whose records may shape designs);
    /// - the file fails the checks of [`accounts`](Self::accounts).
    ///
    /// [`Error::Io`] if the file cannot be read or written.
    pub fn init(
        &self,
        dataset: &str,
        unit: Unit,
        target: Option<&str>,
        total: impl Into<Spending>,
    ) -> Result<bool> {
        let target = match (unit, target) {
            (Unit::Features | Unit::Label, None) => {
                return Err(self.wrong(format!("an account for {unit} needs the name of the label column")));
            }
            (Unit::Record | Unit::Volunteer, Some(_)) => {
                return Err(self.wrong(format!("an account for {unit} takes no label column")));
            }
            (_, target) => target,
        };
        let (dataset, total) = (&name::normalised(dataset), total.into());
        self.check_names(dataset, target)?;
        self.change(true, |content| {
            let Content { accounts, information, .. } = &*content;
            if unit != Unit::Volunteer && information.iter().any(|account| account.is_of(dataset)) {
                return Err(self.both(dataset));
            }
            let own = || accounts.iter().filter(|account| account.is_of(dataset));
            let is_this = |account: &&Account| account.unit == unit && account.target.as_deref() == target;
            if let Some(account) = own().find(is_this) {
                let before = &account.total;
                if *before == total {
                    return Ok(false);
                }
                return Err(self.wrong(format!(
                    "{dataset:?} already has an account for {unit}, and its total cannot change: it is ε = \
                     {} and δ = {}, not ε = {} and δ = {}",
                    before.epsilon(),
                    before.delta(),
                    total.epsilon(),
                    total.delta()
                )));
            }
            // Accounts of volunteers (people whose records shape designs) are charged for designs, and all
            // other accounts for releases.
            let is_of_volunteers = |unit| unit == Unit::Volunteer;
            let is_charged = |account: &Account| {
                !account.charges.is_empty() && is_of_volunteers(account.unit) == is_of_volunteers(unit)
            };
            if own().any(is_charged) {
                return Err(self.wrong(format!(
                    "{dataset:?} was already charged, and the cost for {unit} is not known; open all \
                     accounts of a data set before its first release"
                )));
            }
            content.check_new(dataset).map_err(|problem| self.wrong(problem))?;
            let (dataset, target) = (dataset.clone(), target.map(str::to_owned));
            content.accounts.push(Account {
                dataset,
                unit,
                target,
                total,
                of_people: false,
                charges: vec![],
            });
            Ok(true)
        })
    }

    /// Opens an account of `dataset` in nats of mutual information about which records were used, and creates
    /// the file if necessary. Releases that bound this mutual information are charged to the account. All
    /// other releases of the data set are then refused, because their cost in nats is infinite. Returns
    /// whether the account is new, as [`init`](Self::init) does.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the data set has an account in ε for another unit than [`Unit::Volunteer`]; same
    /// errors as [`init`](Self::init) for the total, the name or the file.
    pub fn init_information(&self, dataset: &str, nats: Amount) -> Result<bool> {
        let dataset = &name::normalised(dataset);
        self.check_names(dataset, None)?;
        self.change(true, |content| {
            let Content { accounts, information, .. } = &*content;
            if let Some(account) = information.iter().find(|account| account.is_of(dataset)) {
                if account.total == nats {
                    return Ok(false);
                }
                return Err(self.wrong(format!(
                    "{dataset:?} already has an account in nats, and its total cannot change: it is {}, not \
                     {nats}",
                    account.total
                )));
            }
            let is_of_releases =
                |account: &Account| account.is_of(dataset) && account.unit != Unit::Volunteer;
            if accounts.iter().any(is_of_releases) {
                return Err(self.both(dataset));
            }
            content.check_new(dataset).map_err(|problem| self.wrong(problem))?;
            content.information.push(InformationAccount::new(dataset, nats));
            Ok(true)
        })
    }

    /// Checks that the names of an account are one line of visible text.
    fn check_names(&self, dataset: &str, target: Option<&str>) -> Result<()> {
        let mut names = [Some(dataset), target].into_iter().flatten();
        names.try_for_each(name::check_visible).map_err(|problem| self.wrong(problem))
    }

    /// Error about accounts in nats and in ε for the same data set.
    fn both(&self, dataset: &str) -> Error {
        self.wrong(format!(
            "{dataset:?} cannot have accounts in both nats and ε: a release that bounds one claims nothing \
             about the other"
        ))
    }

    /// All accounts in nats.
    ///
    /// # Errors
    /// Same errors as [`accounts`](Self::accounts).
    pub fn information(&self) -> Result<Vec<InformationAccount>> {
        let mut witness = Witness::lock(self, Access::Read)?;
        Ok(self.read(&mut witness)?.information)
    }

    /// Charges `nats` to the account in nats of `dataset`, for a release that scumble did not make. `nats`
    /// bounds the mutual information between the release and the choice of the records used. The charge is on
    /// disk when this method returns.
    ///
    /// # Errors
    /// [`Error::Overtold`] if the charge exceeds the budget; [`Error::Ledger`] if the data set has no account
    /// in nats; same errors as [`accounts`](Self::accounts).
    pub fn charge_information(&self, dataset: &str, nats: Amount, what: &str) -> Result<()> {
        self.change(false, |content| {
            if !content.information.iter().any(|account| account.is_of(dataset)) {
                return Err(self.without_account("in nats for", content, dataset));
            }
            content.spend(dataset, false, |_| Ok(unbounded()), nats, what, None).map(|_| ())
        })
    }

    /// All accounts in ε and δ.
    ///
    /// # Errors
    /// [`Error::Ledger`] for a file that does not exist, is not a ledger, was changed by hand, or is older
    /// than its witness; [`Error::Io`] if the file cannot be read.
    pub fn accounts(&self) -> Result<Vec<Account>> {
        let mut witness = Witness::lock(self, Access::Read)?;
        Ok(self.read(&mut witness)?.accounts)
    }

    /// Charges the accounts of `dataset` for a release that scumble did not make, which protects `unit` at
    /// the cost `cost`. If `unit` is [`Unit::Volunteer`], it charges the accounts of the volunteers (people
    /// whose records shape designs). For any other unit, it charges all other accounts. An account for
    /// another label, or for values that `unit` does not include, is charged an infinite cost. `target` is
    /// the label column, needed if there are accounts of several labels. The charge is on disk when this
    /// method returns.
    ///
    /// # Errors
    /// [`Error::Overdrawn`] if the charge exceeds a budget; [`Error::Ledger`] if there is no account for
    /// `unit` and `target`, or more than one; same errors as [`accounts`](Self::accounts). After an error
    /// nothing may be released.
    pub fn charge(
        &self,
        dataset: &str,
        unit: Unit,
        target: Option<&str>,
        cost: impl Into<Spending>,
        what: &str,
    ) -> Result<()> {
        let cost = cost.into();
        self.change(false, |content| {
            let accounts = &content.accounts;
            let is_meant = |account: &&Account| {
                let is_target = target.is_none() || account.target.as_deref() == target;
                account.is_of(dataset) && account.unit == unit && is_target
            };
            let meant: Vec<Account> = accounts.iter().filter(is_meant).cloned().collect();
            let label = match &meant[..] {
                [account] => &account.target,
                [] => return Err(self.without_account(&format!("for {unit} of"), content, dataset)),
                _ => {
                    return Err(self.wrong(format!(
                        "{dataset:?} has several accounts for {unit}; name the label column"
                    )));
                }
            };
            let label = label.clone();
            let cost_of = |account: &Account| {
                let is_of_label = unit == Unit::Record || account.target == label;
                Ok(match unit.covers(account.unit) && is_of_label {
                    true => (cost.epsilon().clone(), cost.delta().clone()),
                    false => unbounded(),
                })
            };
            let nats = Amount::infinity();
            content
                .spend(dataset, unit == Unit::Volunteer, cost_of, nats, what, self.group.as_ref())
                .map(|_| ())
        })
    }

    /// Charges every account of `dataset`, except the accounts of volunteers (people whose records shape
    /// designs), for a release with this guarantee and the label column `target`. The charge is on disk when
    /// this method returns. No byte may be released before this method returns.
    ///
    /// If a release claims no differential privacy for the unit of an account, its cost to that account is
    /// infinite. An example is a release with a known seed. The volunteers' accounts are charged for designs,
    /// not for releases.
    ///
    /// # Errors
    /// [`Error::Overdrawn`] if the charge exceeds a budget in ε or δ; [`Error::Overtold`] if it exceeds a
    /// budget in nats; [`Error::Ledger`] if `dataset` has no account for releases, or if the guarantee is
    /// about single records and an earlier release was about people with several; same errors as
    /// [`accounts`](Self::accounts). After an error nothing may be released.
    pub fn charge_release(
        &self,
        dataset: &str,
        guarantee: &Guarantee,
        target: Option<&str>,
        what: &str,
    ) -> Result<()> {
        self.change(false, |content| self.spend_release(content, dataset, guarantee, target, what))
    }

    /// Charges for the release of a [`Ticket`](crate::Ticket) like [`charge_release`](Self::charge_release),
    /// but at most once per ticket. `ticket` is the name of the ticket's key. Returns whether this call made
    /// the charge. If several processes call this method for the same ticket at the same time, only one of
    /// them makes the charge.
    ///
    /// # Errors
    /// Same errors as [`charge_release`](Self::charge_release).
    pub fn charge_ticket(
        &self,
        dataset: &str,
        guarantee: &Guarantee,
        target: Option<&str>,
        what: &str,
        ticket: &str,
    ) -> Result<bool> {
        self.change(false, |content| {
            if content.tickets(dataset).any(|paid| paid.as_deref() == Some(ticket)) {
                return Ok(false);
            }
            self.spend_release(content, dataset, guarantee, target, what)?;
            content.last_tickets(dataset).for_each(|last| *last = Some(ticket.into()));
            Ok(true)
        })
    }

    /// Charges a horizon of several periods like [`charge_release`](Self::charge_release), before its first
    /// `period` is released. Before a later period, it checks that no such period of the same `series` of
    /// releases was [released](Self::note_period) yet.
    ///
    /// # Errors
    /// Same errors as [`charge_release`](Self::charge_release); [`Error::Ledger`] for a period that was
    /// already released, and for a later period of a series whose first one was not charged.
    pub fn charge_period(
        &self,
        dataset: &str,
        guarantee: &Guarantee,
        target: Option<&str>,
        what: &str,
        (series, period): (&str, usize),
    ) -> Result<()> {
        self.change(false, |content| {
            match content.charges_of(dataset, series).filter_map(|charge| charge.period).max() {
                None if period == 1 => {
                    self.spend_release(content, dataset, guarantee, target, what)?;
                    content.last_tickets(dataset).for_each(|last| *last = Some(series.into()));
                    content.charges_of(dataset, series).for_each(|charge| charge.period = Some(0));
                    Ok(())
                }
                None => {
                    Err(self
                        .wrong(format!("the first period of these releases was not charged to {dataset:?}")))
                }
                Some(last) if period <= last => Err(self.wrong(format!(
                    "period {period} of {dataset:?} is already released, and an older state would release it \
                     again with other noise"
                ))),
                Some(_) => Ok(()),
            }
        })
    }

    /// Notes that a `period` of a `series` of releases was released.
    ///
    /// # Errors
    /// Same errors as [`accounts`](Self::accounts).
    pub fn note_period(&self, dataset: &str, (series, period): (&str, usize)) -> Result<()> {
        self.change(false, |content| {
            content.charges_of(dataset, series).for_each(|charge| charge.period = Some(period));
            Ok(())
        })
    }

    /// Checks that [`charge_release`](Self::charge_release) would succeed now, before work is done for a
    /// release. Nothing is charged.
    ///
    /// # Errors
    /// Same errors as [`charge_release`](Self::charge_release).
    pub fn check_release(&self, dataset: &str, guarantee: &Guarantee, target: Option<&str>) -> Result<()> {
        let mut witness = Witness::lock(self, Access::Read)?;
        self.spend_release(&mut self.read(&mut witness)?, dataset, guarantee, target, "nothing")
    }

    fn spend_release(
        &self,
        content: &mut Content,
        dataset: &str,
        guarantee: &Guarantee,
        target: Option<&str>,
        what: &str,
    ) -> Result<()> {
        let cost_of = |account: &Account| account.cost(guarantee, target);
        let nats = Amount::try_from(information::cost(guarantee))?;
        let is_own = |account: &Account| account.is_of(dataset) && account.unit != Unit::Volunteer;
        let what = match guarantee.records_per_person {
            Some(most) => &format!("{what}, at most {most} records of a person"),
            None if content.accounts.iter().any(|account| is_own(account) && account.of_people) => {
                return Err(self.wrong(format!(
                    "people have several records in {dataset:?}, by an earlier release, and this design \
                     protects single records; give its schema the column of ids (kind = \"id\")"
                )));
            }
            None => what,
        };
        if content.spend(dataset, false, cost_of, nats, what, self.group.as_ref())? == 0 {
            return Err(self.without_account("for", content, dataset));
        }
        for account in content.accounts.iter_mut().filter(|account| is_own(account)) {
            account.of_people |= guarantee.records_per_person.is_some();
        }
        Ok(())
    }

    /// Paths of the ledger and of its witness.
    pub fn files(&self) -> [PathBuf; 2] {
        [self.file.clone(), self.witness_file()]
    }

    /// Error about a data set without an account of this `kind`. The message shows a similar name in the
    /// ledger, if there is one.
    fn without_account(&self, kind: &str, content: &Content, dataset: &str) -> Error {
        let alike = content.alike(dataset).map(|name| format!("; {name:?} looks alike, but is another name"));
        let alike = alike.unwrap_or_default();
        self.wrong(format!("there is no account {kind} {dataset:?}{alike}"))
    }

    /// Applies `change` to the accounts on disk. The file is not written if the accounts stay the same.
    fn change<T>(&self, create: bool, change: impl FnOnce(&mut Content) -> Result<T>) -> Result<T> {
        let mut witness = Witness::lock(self, if create { Access::Create } else { Access::Change })?;
        let mut content = match self.read(&mut witness) {
            Err(Error::Io { source, .. }) if create && source.kind() == ErrorKind::NotFound => {
                witness.check_unused(self)?;
                Content::default()
            }
            read => read?,
        };
        let before = content.clone();
        let outcome = change(&mut content)?;
        if content == before {
            return Ok(outcome);
        }
        let changes = content.changes.checked_add(1);
        content.changes = changes.ok_or_else(|| self.wrong("no more changes can be counted"))?;
        let body = serde_json::to_value(&content).and_then(serde_json::from_value::<Map<_, _>>);
        let text = body.and_then(|body| sealed::seal(FORMAT, body));
        let text = text.map_err(|error| self.wrong(error.to_string()))?;
        NewFile::create(&self.file, Existing::Replace, Readable::AsUsual)?.finish(text.as_bytes())?;
        witness.record(content.changes).map_err(|source| self.failed(source))?;
        Ok(outcome)
    }

    /// Parses the file and checks its digest.
    fn parse(&self) -> Result<Content> {
        let text = read_text(&self.file, LONGEST)?;
        let sealed = sealed::open(&text, FORMAT).map_err(|problem| self.wrong(problem))?;
        let content: Content =
            sealed.part(&["changes", "accounts", "information"]).map_err(|problem| self.wrong(problem))?;
        sealed.check_untouched().map_err(|problem| self.wrong(problem))?;
        Ok(content)
    }

    /// Reads the file and compares it with the locked witness.
    fn read(&self, witness: &mut Witness) -> Result<Content> {
        let content = self.parse()?;
        let seen = witness.changes(self)?;
        if seen == 0 && content.changes > 1 {
            return Err(self.wrong("its witness is empty, so an older copy cannot be recognised"));
        }
        if content.changes < seen {
            return Err(self.wrong(format!(
                "it is an older copy, without the latest charges: it has {} changes, and its witness has \
                 seen {seen}",
                content.changes
            )));
        }
        Ok(content)
    }

    fn witness_file(&self) -> PathBuf {
        // A ledger has one witness, whichever link leads to the ledger.
        let mut name = self.file.canonicalize().unwrap_or_else(|_| self.file.clone()).into_os_string();
        name.push(".witness");
        name.into()
    }

    fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Ledger { file: self.file.clone(), problem: problem.into() }
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { file: self.file.clone(), source }
    }
}

impl Content {
    /// Names of all data sets.
    fn names(&self) -> impl Iterator<Item = &str> {
        let information = self.information.iter().map(|account| &*account.dataset);
        self.accounts.iter().map(|account| &*account.dataset).chain(information)
    }

    /// Checks the name of a new account.
    ///
    /// # Errors
    /// A sentence about a name that looks like another name in the ledger, or about a new name that mixes
    /// scripts.
    fn check_new(&self, dataset: &str) -> std::result::Result<(), String> {
        if let Some(name) = self.alike(dataset) {
            return Err(format!(
                "{dataset:?} looks like {name:?}, which has an account: choose another name"
            ));
        }
        if self.names().any(|name| name::are_same(name, dataset)) {
            return Ok(());
        }
        name::check_scripts(dataset)
    }

    /// Returns a name in the ledger that differs from `dataset` but looks like it.
    fn alike(&self, dataset: &str) -> Option<&str> {
        self.names().find(|name| !name::are_same(name, dataset) && name::look_alike(name, dataset))
    }

    /// If `for_volunteers` is true, charges the data set's accounts for volunteers (people whose records
    /// shape designs). If it is false, charges all other accounts of the data set, including accounts in
    /// nats. Returns the number of charged accounts.
    fn spend(
        &mut self,
        dataset: &str,
        for_volunteers: bool,
        cost_of: impl Fn(&Account) -> Result<Cost>,
        nats: Amount,
        what: &str,
        group: Option<&Group>,
    ) -> Result<usize> {
        let when = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let what = what.replace(char::is_control, " ");
        let is_theirs = |account: &&mut Account| (account.unit == Unit::Volunteer) == for_volunteers;
        let own = self.accounts.iter_mut().filter(|account| account.is_of(dataset)).filter(is_theirs);
        let mut charged = 0;
        for account in own {
            account.spend(cost_of(account)?, &what, &when, group)?;
            charged += 1;
        }
        let is_charged = |account: &&mut InformationAccount| account.is_of(dataset) && !for_volunteers;
        for account in self.information.iter_mut().filter(is_charged) {
            account.spend(nats.clone(), &what, &when)?;
            charged += 1;
        }
        Ok(charged)
    }

    /// Field `ticket` of each charge of a data set, except the charges of its accounts for volunteers (people
    /// whose records shape designs).
    fn tickets(&self, dataset: &str) -> impl Iterator<Item = &Option<String>> {
        let own = move |account: &&Account| account.is_of(dataset) && account.unit != Unit::Volunteer;
        let charges = self.accounts.iter().filter(own).flat_map(|account| &account.charges);
        let information = self.information.iter().filter(move |account| account.is_of(dataset));
        let information = information.flat_map(|account| &account.charges).map(|charge| &charge.ticket);
        charges.map(|charge| &charge.ticket).chain(information)
    }

    /// Charges of the accounts of `dataset` for a `series` of releases.
    fn charges_of(&mut self, dataset: &str, series: &str) -> impl Iterator<Item = &mut Charge> {
        let accounts = self.accounts.iter_mut().filter(move |account| account.is_of(dataset));
        let charges = accounts.flat_map(|account| &mut account.charges);
        charges.filter(move |charge| charge.ticket.as_deref() == Some(series))
    }

    /// Field `ticket` of the last charge in each account that [`tickets`](Self::tickets) covers.
    fn last_tickets(&mut self, dataset: &str) -> impl Iterator<Item = &mut Option<String>> {
        let own = move |account: &&mut Account| account.is_of(dataset) && account.unit != Unit::Volunteer;
        let charges = self.accounts.iter_mut().filter(own).filter_map(|account| account.charges.last_mut());
        let information = self.information.iter_mut().filter(move |account| account.is_of(dataset));
        let information =
            information.filter_map(|account| account.charges.last_mut()).map(|charge| &mut charge.ticket);
        charges.map(|charge| &mut charge.ticket).chain(information)
    }
}

/// File next to a ledger. It holds the number of changes of the ledger. An open witness holds the ledger's
/// lock.
struct Witness {
    file: File,
}

/// Purpose of opening a ledger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Change,
    /// Change the ledger, or create it.
    Create,
}

impl Witness {
    /// Locks the witness, shared for reading and exclusive for changes. Waits for other processes.
    fn lock(ledger: &Ledger, access: Access) -> Result<Self> {
        let path = ledger.witness_file();
        let failed = |source: std::io::Error| Error::Io { file: path.clone(), source };
        // If a ledger exists without its witness, the witness was lost. A new witness would not know the
        // number of changes, so none is created.
        let is_there = ledger.file.try_exists().map_err(|source| ledger.failed(source))?;
        let create = access == Access::Create && !is_there;
        let changes = access != Access::Read;
        let opened = OpenOptions::new().read(true).write(changes).create(create).truncate(false).open(&path);
        let file = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound && !create => {
                if !is_there {
                    return Err(ledger.wrong("it does not exist; `scumble ledger init` creates it"));
                }
                ledger.parse()?; // a file that is not a ledger has no witness
                return Err(ledger.wrong(
                    "its witness, the file of the same name with \".witness\" added, is missing, so an older \
                     copy cannot be recognised; always move the two files together",
                ));
            }
            opened => opened.map_err(failed)?,
        };
        if changes { file.lock() } else { file.lock_shared() }.map_err(failed)?;
        Ok(Self { file })
    }

    /// Number of changes that the witness has recorded.
    fn changes(&mut self, ledger: &Ledger) -> Result<u64> {
        let mut text = String::new();
        self.file.seek(SeekFrom::Start(0)).map_err(|source| ledger.failed(source))?;
        let read = self.file.read_to_string(&mut text);
        match (read, text.trim()) {
            (Ok(_), "") => Ok(0),
            (Ok(_), number) if number.parse::<u64>().is_ok() => Ok(number.parse().unwrap_or(u64::MAX)),
            _ => Err(ledger.wrong("its witness is not a number")),
        }
    }

    /// Checks that the witness has recorded no changes.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the witness has recorded changes of a ledger that no longer exists.
    fn check_unused(&mut self, ledger: &Ledger) -> Result<()> {
        match self.changes(ledger)? {
            0 => Ok(()),
            seen => Err(ledger.wrong(format!(
                "it is missing, and its witness has seen {seen} changes; the amount spent is no longer known"
            ))),
        }
    }

    /// Writes the number of changes to disk, with a fixed width, so that it replaces the former number
    /// completely.
    fn record(&mut self, changes: u64) -> std::io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(format!("{changes:020}\n").as_bytes())?;
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::{Budget, Claim, LocalDp, Notion, Provenance};
    use std::fs;

    struct Desk {
        folder: tempfile::TempDir,
        ledger: Ledger,
    }

    fn desk(epsilon: f64) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(&folder.path().join("ledger.json"));
        ledger.init("survey", Unit::Record, None, Budget::new(epsilon, 1e-6).unwrap()).unwrap();
        Desk { folder, ledger }
    }

    /// Guarantee with one claim.
    fn claiming(notion: Notion, protects: Unit) -> Guarantee {
        let claim = Claim { notion, protects, theorem: "a theorem".into() };
        Guarantee { claims: vec![claim], ..Guarantee::default() }
    }

    impl Desk {
        fn charge(&self, epsilon: f64) -> Result<()> {
            self.ledger.charge("survey", Unit::Record, None, Budget::pure(epsilon).unwrap(), "a test")
        }

        fn charge_group(&self, group: &str, epsilon: f64) -> Result<()> {
            let ledger = self.ledger.clone().for_group(Some(group.parse().unwrap()));
            ledger.charge("survey", Unit::Record, None, Budget::pure(epsilon).unwrap(), "a test")
        }

        fn spent(&self) -> f64 {
            self.ledger.accounts().unwrap()[0].spent().0.to_f64_up()
        }

        fn file(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        #[track_caller]
        fn refusal(&self) -> String {
            assert!(self.ledger.accounts().is_err() && self.charge(0.01).is_err(), "a broken ledger is used");
            self.ledger.accounts().unwrap_err().to_string()
        }
    }

    #[test]
    fn of_disjoint_groups_only_the_largest_sum_counts() {
        let desk = desk(1.0);
        desk.charge(0.25).unwrap();
        for (group, epsilon, spent) in [
            ("batch=1", 0.5, 0.75),
            ("batch=2", 0.25, 0.75),
            ("batch=2", 0.25, 0.75),
            ("batch=3", 0.5, 0.75),
            ("region=north", 0.25, 1.0), // a second division may divide the same people
            ("region=south", 0.25, 1.0),
        ] {
            desk.charge_group(group, epsilon).unwrap();
            assert_eq!(desk.spent(), spent, "{group}");
        }
        let refused = desk.charge_group("batch=1", 0.0625).unwrap_err().to_string();
        assert!(refused.contains("\"survey\""), "{refused}");
        assert_eq!((desk.spent(), desk.ledger.accounts().unwrap()[0].charges.len()), (1.0, 7));
        desk.charge_group("batch=4", 0.5).unwrap();
        assert!(desk.charge(0.0625).is_err(), "a release of everybody adds to every group");
        for text in ["batch", "=1", "batch=", "batch=1\n"] {
            assert!(text.parse::<Group>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn decimals_add_up_exactly_and_never_exceed_the_total() {
        let decimal = |text: &str| text.parse::<Amount>().unwrap();
        for (part, times, total) in [
            ("0.1", 10, "1"),
            ("0.1", 3, "0.3"),
            ("0.1", 30, "3"),
            ("0.07", 100, "7"),
            ("1e-6", 10, "1e-5"),
            ("0.1000000000000000001", 10, "1.000000000000000001"),
            ("5e-324", 3, "1.5e-323"),
        ] {
            let desk = desk(8.0);
            let ledger = &desk.ledger;
            let amount =
                |epsilon: &str, delta: &str| Spending::new(decimal(epsilon), decimal(delta)).unwrap();
            let delta = if total.contains("e-") { (part, total) } else { ("0", "0") };
            let shown = decimal(total).to_string();
            ledger.init("people", Unit::Record, None, amount(total, delta.1)).unwrap();
            ledger.init_information("halves", decimal(total)).unwrap();
            for _ in 0..times {
                ledger.charge("people", Unit::Record, None, amount(part, delta.0), "a test").unwrap();
                ledger.charge_information("halves", decimal(part), "a test").unwrap();
            }
            let account = &ledger.accounts().unwrap()[1];
            assert_eq!(
                (account.spent(), account.left().0),
                ((decimal(total), decimal(delta.1)), Amount::zero())
            );
            assert_eq!(account.spent().0.to_string(), shown);
            let more = Spending::new(decimal("5e-324"), Amount::zero()).unwrap();
            assert!(ledger.charge("people", Unit::Record, None, more, "a test").is_err());
            assert!(ledger.charge_information("halves", decimal("1e-300"), "a test").is_err());
        }
    }

    #[test]
    fn what_exceeds_the_total_is_said_in_the_decimals_that_were_typed() {
        let desk = desk(0.3);
        desk.charge(0.1).unwrap();
        desk.charge(0.1).unwrap();
        let refused = desk.charge(0.11).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "\"survey\": budget for the whole record exceeded: ε = 0.2 and δ = 0 of ε = 0.3 and δ = 1e-6 \
             spent, ε = 0.11 and δ = 0 requested"
        );
        assert_eq!(desk.ledger.accounts().unwrap()[0].to_json()["left"]["epsilon"], 0.1);
        let too_likely = Budget::new(1e-9, 1e-5).unwrap();
        assert!(desk.ledger.charge("survey", Unit::Record, None, too_likely, "a test").is_err());
    }

    /// Checks that a computed cost is its exact binary value, which exceeds the decimal that it prints as.
    #[test]
    fn a_computed_cost_is_not_rounded_down() {
        let computed = 0.1 + 0.2;
        let costs = |epsilon: f64| claiming(Notion::LocalDp(LocalDp::pure(epsilon)), Unit::Record);
        let desk = desk(0.3);
        assert!(desk.ledger.charge_release("survey", &costs(computed), None, "a test").is_err());
        desk.ledger.charge_release("survey", &costs(0.3), None, "a test").unwrap();
        // A total computed in the same way is the same number.
        desk.ledger.init("again", Unit::Record, None, Budget::pure(computed).unwrap()).unwrap();
        desk.ledger.charge_release("again", &costs(computed), None, "a test").unwrap();
        assert!(desk.ledger.check_release("again", &costs(f64::NAN), None).is_err());
        assert!(desk.ledger.check_release("again", &costs(-1.0), None).is_err());
    }

    #[test]
    fn a_ledger_of_binary_numbers_is_read_as_decimals() {
        let desk = desk(0.3);
        (0..3).for_each(|_| desk.charge(0.1).unwrap());
        let text = fs::read_to_string(desk.file("ledger.json")).unwrap();
        assert!(text.contains("\"epsilon\": 0.1") && text.contains("scumble-ledger-1"), "{text}");
        assert!(desk.charge(5e-324).is_err());
    }

    #[test]
    fn a_job_that_runs_again_opens_its_account_again() {
        let desk = desk(1.0);
        desk.ledger.init("survey", Unit::Label, Some("quality"), Budget::pure(2.0).unwrap()).unwrap();
        desk.charge(0.5).unwrap();
        let before = fs::read(desk.file("ledger.json")).unwrap();
        let again =
            |epsilon| desk.ledger.init("survey", Unit::Record, None, Budget::new(epsilon, 1e-6).unwrap());
        assert!(!again(1.0).unwrap());
        assert_eq!(fs::read(desk.file("ledger.json")).unwrap(), before);
        let refused = again(2.0).unwrap_err().to_string();
        assert!(
            refused.ends_with("its total cannot change: it is ε = 1 and δ = 1e-6, not ε = 2 and δ = 1e-6"),
            "{refused}"
        );
        let nats = |text: &str| desk.ledger.init_information("halves", text.parse().unwrap());
        assert!(nats("0.5").unwrap() && !nats("0.50").unwrap());
        let refused = nats("0.25").unwrap_err().to_string();
        assert!(refused.ends_with("its total cannot change: it is 0.5, not 0.25"), "{refused}");
    }

    #[test]
    fn a_name_has_one_account_in_every_unicode_form() {
        let desk = desk(1.0);
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
        let total = || Budget::pure(1.0).unwrap();
        assert!(desk.ledger.init(decomposed, Unit::Record, None, total()).unwrap());
        assert!(!desk.ledger.init(composed, Unit::Record, None, total()).unwrap());
        for name in [composed, decomposed] {
            desk.ledger.charge(name, Unit::Record, None, Budget::pure(0.5).unwrap(), "a test").unwrap();
        }
        assert!(
            desk.ledger.charge(composed, Unit::Record, None, Budget::pure(0.5).unwrap(), "a test").is_err()
        );
        assert!(desk.ledger.init_information(decomposed, Amount::zero()).is_err());
        assert_eq!(desk.ledger.accounts().unwrap()[1].dataset, composed);
    }

    #[test]
    fn a_name_that_looks_like_another_one_has_no_account() {
        let desk = desk(1.0);
        let ledger = &desk.ledger;
        ledger.init_information("wines", Amount::infinity()).unwrap();
        for (alike, existing) in
            [("w\u{131}nes", "wines"), ("\u{ff57}ines", "wines"), ("surve\u{263}", "survey")]
        {
            for refused in [
                ledger.init(alike, Unit::Record, None, Budget::pure(1.0).unwrap()),
                ledger.init_information(alike, Amount::infinity()),
            ] {
                let refused = refused.unwrap_err().to_string();
                assert!(refused.contains(&format!("looks like {existing:?}")), "{refused}");
            }
        }
        let missing =
            ledger.charge_information("w\u{131}nes", Amount::zero(), "a test").unwrap_err().to_string();
        assert!(missing.contains("\"wines\" looks alike"), "{missing}");
        // Cyrillic е, then Greek ο.
        for mixed in ["gr\u{435}pe", "\u{3bf}ther", "données\u{430}"] {
            let refused = ledger.init(mixed, Unit::Record, None, Budget::pure(1.0).unwrap());
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("several scripts") && refused.contains("U+0"), "{refused}");
        }
        for name in ["données-2025", "опрос_1", "調査ひらカタ", "설문", "données (2)", "Wines"]
        {
            ledger.init(name, Unit::Record, None, Budget::pure(1.0).unwrap()).unwrap();
        }
    }

    #[test]
    fn a_release_pays_for_every_unit_that_has_an_account() {
        let desk = desk(1.0);
        desk.ledger.init("survey", Unit::Label, Some("quality"), Budget::pure(2.0).unwrap()).unwrap();
        desk.ledger.init("survey", Unit::Volunteer, None, Budget::pure(0.1).unwrap()).unwrap();
        let claimed = |protects| claiming(Notion::LocalDp(LocalDp::pure(0.75)), protects);
        let spent = || -> Vec<f64> {
            desk.ledger.accounts().unwrap().iter().map(|a| a.spent().0.to_f64_up()).collect()
        };
        let release = |dataset, guarantee: &Guarantee| {
            desk.ledger.charge_release(dataset, guarantee, Some("quality"), "a test")
        };
        release("survey", &claimed(Unit::Record)).unwrap();
        assert_eq!(spent(), [0.75, 0.75, 0.0]);
        // Only the label is protected. The cost for the whole record is infinite, so nothing is charged.
        assert!(release("survey", &claimed(Unit::Label)).is_err());
        let seeded = claimed(Unit::Record).under(Provenance::Seed(1));
        let refused = release("survey", &seeded).unwrap_err().to_string();
        assert!(refused.contains("ε = inf"), "{refused}");
        assert_eq!(spent(), [0.75, 0.75, 0.0]);
        assert!(release("other", &claimed(Unit::Record)).is_err());
    }

    fn labels(target: &str) -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::at(&folder.path().join("ledger.json"));
        ledger.init("survey", Unit::Label, Some(target), Budget::pure(2.0).unwrap()).unwrap();
        Desk { folder, ledger }
    }

    #[test]
    fn a_claim_for_one_label_is_none_for_another() {
        let desk = labels("quality");
        let guarantee = claiming(Notion::LocalDp(LocalDp::pure(0.5)), Unit::Label);
        let release = |target| desk.ledger.charge_release("survey", &guarantee, target, "a test");
        release(Some("quality")).unwrap();
        // Here `quality` is a feature, disclosed in the clear.
        for other in [Some("alcohol"), None] {
            let refused = release(other).unwrap_err().to_string();
            assert!(refused.contains("ε = inf"), "{refused}");
        }
        assert_eq!(desk.spent(), 0.5);
        assert!(desk.ledger.init("other", Unit::Label, None, Budget::pure(1.0).unwrap()).is_err());
    }

    #[test]
    fn no_account_is_opened_after_a_release() {
        let desk = labels("quality");
        desk.ledger.init("other", Unit::Record, None, Budget::pure(1.0).unwrap()).unwrap();
        desk.ledger.charge("survey", Unit::Label, None, Budget::pure(1.0).unwrap(), "a test").unwrap();
        let late = desk.ledger.init("survey", Unit::Record, None, Budget::pure(1.0).unwrap());
        assert!(late.unwrap_err().to_string().contains("before its first release"));
        // Accounts for designs are independent of releases.
        desk.ledger.init("survey", Unit::Volunteer, None, Budget::pure(1.0).unwrap()).unwrap();
    }

    #[test]
    fn a_charge_by_hand_reaches_every_account_that_it_concerns() {
        let desk = labels("quality");
        desk.ledger.init("survey", Unit::Record, None, Budget::pure(3.0).unwrap()).unwrap();
        let charge = |unit| desk.ledger.charge("survey", unit, None, Budget::pure(1.0).unwrap(), "a test");
        charge(Unit::Record).unwrap();
        let spent: Vec<f64> =
            desk.ledger.accounts().unwrap().iter().map(|account| account.spent().0.to_f64_up()).collect();
        assert_eq!(spent, [1.0, 1.0]);
        // A release that protects only the label may have disclosed the rest.
        assert!(charge(Unit::Label).unwrap_err().to_string().contains("ε = inf"));
        assert!(charge(Unit::Features).is_err());
    }

    #[test]
    fn a_charge_by_hand_for_one_label_is_none_for_another() {
        let desk = labels("quality");
        desk.ledger.init("survey", Unit::Label, Some("alcohol"), Budget::pure(2.0).unwrap()).unwrap();
        let charge = |target| {
            let cost = Budget::pure(1.0).unwrap();
            desk.ledger.charge("survey", Unit::Label, target, cost, "a test").unwrap_err().to_string()
        };
        assert!(charge(None).contains("name the label column"));
        assert!(charge(Some("quality")).contains("ε = inf"), "alcohol left in clear");
        assert!(charge(Some("price")).contains("there is no account"));
    }

    #[test]
    fn an_account_is_opened_once() {
        let desk = desk(1.0);
        let again = desk.ledger.init("survey", Unit::Record, None, Budget::pure(9.0).unwrap());
        assert!(again.unwrap_err().to_string().contains("already"));
        assert!(desk.ledger.init("", Unit::Record, None, Budget::pure(9.0).unwrap()).is_err());
        assert_eq!(*desk.ledger.accounts().unwrap()[0].total.epsilon(), 1.0);
    }

    #[test]
    fn an_older_copy_is_refused() {
        let desk = desk(1.0);
        desk.charge(0.25).unwrap();
        fs::copy(desk.file("ledger.json"), desk.file("copy")).unwrap();
        desk.charge(0.25).unwrap();
        fs::copy(desk.file("copy"), desk.file("ledger.json")).unwrap();
        assert!(desk.refusal().contains("an older copy"), "{}", desk.refusal());
    }

    #[test]
    fn a_ledger_cut_anywhere_is_refused() {
        let desk = desk(1.0);
        desk.charge(0.25).unwrap();
        let whole = fs::read(desk.file("ledger.json")).unwrap();
        for end in 0..whole.len() - 1 {
            fs::write(desk.file("ledger.json"), &whole[..end]).unwrap();
            assert!(desk.ledger.accounts().is_err(), "cut after {end} bytes it is used");
        }
        fs::write(desk.file("ledger.json"), &whole).unwrap();
        assert_eq!(desk.spent(), 0.25);
    }

    #[test]
    fn a_number_changed_by_hand_a_lost_witness_and_a_lost_ledger_are_refused() {
        let desk = desk(1.0);
        desk.charge(0.25).unwrap();
        let (ledger, witness) = (desk.file("ledger.json"), desk.file("ledger.json.witness"));
        let text = fs::read_to_string(&ledger).unwrap();
        fs::write(&ledger, text.replace("0.25", "0.05")).unwrap();
        assert!(desk.refusal().contains("changed after it was saved"));
        fs::write(&ledger, text.replace("ledger-1", "ledger-0")).unwrap();
        assert!(desk.refusal().contains("scumble-ledger-0"));
        fs::remove_file(&ledger).unwrap();
        assert!(desk.refusal().contains("ledger.json"));
        let renewed = desk.ledger.init("survey", Unit::Record, None, Budget::pure(1.0).unwrap());
        assert!(renewed.unwrap_err().to_string().contains("no longer known"));
        fs::write(&ledger, &text).unwrap();
        assert_eq!(desk.spent(), 0.25);
        fs::write(&witness, "").unwrap();
        assert!(desk.refusal().contains("witness is empty"));
        fs::write(&witness, "many").unwrap();
        assert!(desk.refusal().contains("not a number"));
        fs::remove_file(&witness).unwrap();
        assert!(desk.refusal().contains("missing"));
        // Opening another account creates no new witness, which would not know the number of changes.
        assert!(desk.ledger.init("other", Unit::Record, None, Budget::pure(1.0).unwrap()).is_err());
        assert!(!witness.exists());
    }

    #[test]
    fn a_change_that_its_witness_has_not_seen_counts() {
        let desk = desk(1.0);
        desk.charge(0.25).unwrap();
        let before = fs::read(desk.file("ledger.json.witness")).unwrap();
        desk.charge(0.25).unwrap();
        // Simulates a crash between the writes of the two files.
        fs::write(desk.file("ledger.json.witness"), before).unwrap();
        assert_eq!(desk.spent(), 0.5);
        desk.charge(0.25).unwrap();
        assert_eq!(desk.spent(), 0.75);
    }

    #[cfg(unix)]
    #[test]
    fn a_ledger_behind_a_link_has_one_witness() {
        let desk = desk(1.0);
        std::os::unix::fs::symlink(desk.file("ledger.json"), desk.file("link")).unwrap();
        let linked = Ledger::at(&desk.file("link"));
        linked.charge("survey", Unit::Record, None, Budget::pure(0.25).unwrap(), "a test").unwrap();
        assert_eq!(desk.spent(), 0.25);
        assert!(!desk.file("link.witness").exists());
    }

    #[test]
    fn nobody_who_charges_at_the_same_time_is_forgotten() {
        let desk = desk(1.0);
        let granted: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..4).filter(|_| desk.charge(0.0625).is_ok()).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(granted, 16);
        assert_eq!(desk.spent(), 1.0);
    }

    /// Checks that mutual information is counted in nats, in accounts of its own.
    #[test]
    fn nats_add_up_and_are_no_epsilon() {
        use scumble_core::{MutualInformation, Prior};
        let desk = desk(1.0);
        let ledger = &desk.ledger;
        let nats = |nats| {
            let bound = MutualInformation::new(nats, Prior::Halves { sets: 128 });
            claiming(Notion::MutualInformation(bound), Unit::Record)
        };
        let epsilon_claim = claiming(Notion::LocalDp(LocalDp::pure(0.1)), Unit::Record);
        ledger.init_information("halves", "0.25".parse().unwrap()).unwrap();
        ledger.charge_release("halves", &nats(0.125), None, "the first").unwrap();
        assert!(ledger.charge_ticket("halves", &nats(0.0625), None, "a ticket", "key").unwrap());
        assert!(!ledger.charge_ticket("halves", &nats(0.0625), None, "a ticket", "key").unwrap());
        let refused = ledger.charge_release("halves", &nats(0.125), None, "too much").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "\"halves\": mutual-information budget exceeded: 0.1875 of 0.25 nats spent, 0.125 requested"
        );
        let refused = ledger.charge_release("halves", &epsilon_claim, None, "of another kind").unwrap_err();
        assert!(refused.to_string().ends_with("and this release claims no bound"), "{refused}");
        assert!(ledger.charge_release("survey", &nats(0.001), None, "of another kind").is_err());
        ledger.charge_information("halves", "0.0625".parse().unwrap(), "by hand").unwrap();
        let account = &ledger.information().unwrap()[0];
        assert_eq!(
            (account.spent().to_f64_up(), account.left().to_f64_down(), account.charges.len()),
            (0.25, 0.0, 3)
        );
        assert_eq!(desk.spent(), 0.0);
        for twice in [
            ledger.init_information("survey", Amount::infinity()),
            ledger.init("halves", Unit::Record, None, Budget::pure(1.0).unwrap()),
        ] {
            assert!(twice.unwrap_err().to_string().contains("cannot have accounts in both nats and ε"));
        }
        assert!(ledger.init_information("halves", Amount::infinity()).is_err());
    }
}
