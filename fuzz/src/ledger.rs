//! Ledgers.

use crate::{accepted, folder, forge};
use scumble_core::{Budget, Guarantee, Unit};
use scumble_custody::{Account, Ledger};
use serde_json::Value;
use std::fs;
use std::path::Path;

const FORMAT: &str = "scumble-ledger-1";

/// Reads a ledger in three ways: unchanged, with its correct digest, and as the witness of a valid ledger. An
/// accepted ledger can be displayed and read again, before and after charges.
pub fn ledger(data: &[u8]) -> bool {
    let folder = folder();
    let as_it_is = open(folder.path(), data, b"1\n");
    let forged = std::str::from_utf8(data).ok().and_then(|text| forge::resealed(text, FORMAT));
    let forged = forged.is_some_and(|text| {
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        open(folder.path(), text.as_bytes(), body["changes"].to_string().as_bytes())
    });
    witnessed(data);
    as_it_is || forged
}

/// Returns whether these files are accepted.
fn open(folder: &Path, ledger: &[u8], witness: &[u8]) -> bool {
    let ledger_of_ours = Ledger::at(&folder.join("ledger.json"));
    let [file, witness_file] = ledger_of_ours.files();
    fs::write(file, ledger).expect("there is room for a ledger");
    fs::write(witness_file, witness).expect("there is room for a witness");
    let Some(accounts) = accepted(ledger_of_ours.accounts()) else {
        assert!(
            charge(&ledger_of_ours, "survey", Unit::Record, None).is_none(),
            "a broken ledger is charged"
        );
        return false;
    };
    accounts.iter().for_each(show);
    for account in accounts.iter().take(3) {
        charge(&ledger_of_ours, &account.dataset, account.unit, account.target.as_deref());
        let nothing = Guarantee::default();
        let charged = ledger_of_ours.charge_release(&account.dataset, &nothing, None, "no claim");
        if accounts.iter().all(|account| account.total.epsilon().is_finite()) {
            assert!(charged.is_err() || account.unit == Unit::Volunteer, "what guarantees nothing was paid");
        }
        accepted(charged);
    }
    accepted(ledger_of_ours.init(
        "another",
        Unit::Label,
        Some("quality"),
        Budget::pure(1.0).expect("it is one"),
    ));
    let again = accepted(ledger_of_ours.accounts()).expect("a ledger that was charged can be read");
    assert!(again.len() >= accounts.len());
    again.iter().for_each(show);
    true
}

fn charge(ledger: &Ledger, dataset: &str, unit: Unit, target: Option<&str>) -> Option<()> {
    let cost = Budget::pure(0.125).expect("it is a budget");
    accepted(ledger.charge(dataset, unit, target, cost, "a release"))
}

/// Checks the amounts that the command displays for an account.
fn show(account: &Account) {
    let (spent, left) = (account.spent(), account.left());
    for amount in [spent.0, spent.1, left.0, left.1] {
        let (below, above) = (amount.to_f64_down(), amount.to_f64_up());
        assert!(0.0 <= below && below <= above, "{amount} is no sum of charges: {account:?}");
    }
    serde_json::to_string(&account.to_json()).expect("an account can be written");
}

/// Reads the bytes as the witness of a ledger with one charge.
fn witnessed(data: &[u8]) {
    let folder = folder();
    let ledger = Ledger::at(&folder.path().join("ledger.json"));
    ledger.init("survey", Unit::Record, None, Budget::pure(1.0).expect("it is one")).expect("it is new");
    charge(&ledger, "survey", Unit::Record, None).expect("there is enough left");
    let [_, witness_file] = ledger.files();
    fs::write(witness_file, data).expect("there is room for a witness");
    accepted(ledger.accounts());
}
