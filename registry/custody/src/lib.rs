//! Persistent state: saved designs, encrypted keys, tickets, and the ledger of spent budgets.
//!
//! - A *design* ([`ShippedDesign`]) is a mechanism with its parameters. It may also describe the columns of
//!   the files whose records it releases.
//! - A *key* ([`key`]) maps records in the clear to the columns of a release, so that a model trained on the
//!   release applies to them.
//! - A *ticket* ([`Ticket`]) is the stored secret of a release. With it, the release can be repeated at the
//!   cost of one.
//! - A *state* ([`PeriodState`]) connects the releases of a horizon of several periods.
//! - A *ledger* ([`Ledger`]) records the budget that the releases of a data set spent.
//! - A *card* ([`Card`]) is the public description of one release.
//!
//! A design, a key, a ticket, a state or a ledger is a file that names its format and carries a digest of its
//! content. A [`NewFile`] appears complete or not at all.

mod admission;
mod admitted;
mod amount;
mod arrangement;
mod card;
mod encrypted;
mod error;
mod information;
pub mod key;
mod ledger;
mod model;
mod name;
mod new_file;
mod periods;
mod private_answer;
mod request;
pub mod sealed;
mod shipped;
mod side_by_side;
mod ticket;
mod warnings;

pub use admission::{Admitted, admit, forget};
pub use admitted::{AdmittedRecords, CheckedPart, Digests};
pub use amount::{Amount, NoAmount, Spending};
pub use arrangement::{Arrangement, LABEL_SHARE, asked, protected};
pub use card::{Card, ENCODED};
pub use error::{Error, Result};
pub use information::{InformationAccount, InformationCharge};
pub use ledger::{Account, Charge, Group, Ledger};
pub use model::ShippedModel;
pub use new_file::{Existing, NewFile, Readable, check_private, is_in_same_folder, is_same_file};
pub use periods::{PeriodState, ReleasedPeriod};
pub use private_answer::{Accuracy, PrivateAnswer, private_accuracy};
pub use request::DesignRequest;
pub use shipped::ShippedDesign;
pub use side_by_side::Part;
pub use ticket::{Binding, Ticket};
pub use warnings::{formulas, warning_of_delta, warnings, warnings_of_repeats};

/// Runs the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
