//! The card of a release for people: one page that a privacy officer signs.

use crate::cards::terms;
use crate::functions;
use crate::trade_off::{self, TradeOff};
use crate::words::grouped;
use crate::written;
use jiff::Timestamp;
use maud::{Markup, html};
use scumble_comparison::Trust;
use scumble_core::text::abridged;
use scumble_core::{Layout, Output, Releases};
use scumble_custody::{Account, Card, InformationAccount, Result};
use scumble_records::{Records, Values};

/// Content-Security-Policy of a page without scripts.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Largest number of characters of a column's bounds or levels.
const LONGEST: usize = 120;

/// Page with the card of a release, for people.
#[derive(Debug)]
pub struct ReleasePage<'a> {
    /// The card.
    pub card: &'a Card<'a>,
    /// Name of the input file.
    pub input: &'a str,
    /// Name of the released file.
    pub output: &'a str,
    /// Time of the release.
    pub released: Timestamp,
    /// Accounts of the data set in ε, after the charge; empty without a ledger.
    pub accounts: &'a [Account],
    /// Accounts of the data set in nats, after the charge; empty without a ledger.
    pub information: &'a [InformationAccount],
}

impl ReleasePage<'_> {
    /// The page as HTML. It has no script, and prints on one sheet for a few dozen columns.
    ///
    /// # Errors
    /// Same errors as [`Card::to_json`] and
    /// [`ShippedDesign::records`](scumble_custody::ShippedDesign::records).
    pub fn to_html(&self) -> Result<String> {
        let Card { design, records, model, file, ticket, view, values, guarantee, counted_tables, .. } =
            self.card;
        let title = format!("Release of {} as {}", self.input, self.output);
        let releases = design.mechanism().releases();
        let trust = Trust::in_release(design.mechanism());
        let columns = self.columns()?;
        let body = html! {
            main {
                h1 { (title) }
                dl {
                    dt { "date" } dd { (self.released.strftime("%Y-%m-%d %H:%M UTC")) }
                    dt { "mechanism" }
                    dd {
                        (design.origin()) ", which releases " (Output::from(releases).name()) ", trusting "
                        (trust)
                    }
                    (terms(guarantee))
                    dt { "columns" }
                    dd {
                        ul.columns { @for (name, kind) in &columns { li { strong { (name) } ": " (kind) } } }
                        @if model.is_none() { (in_words(*values)) }
                    }
                    dt { "counted tables" } dd { (tables(counted_tables, releases)) }
                    dt { "records" }
                    dd {
                        @match (records, model) {
                            (Some(records), _) => { (grouped(*records as usize)) " released" },
                            (None, Some(model)) => {
                                "none: a model of the family " (model["family"].as_str().unwrap_or_default())
                                " predicts " q { (model["target"].as_str().unwrap_or_default()) }
                            },
                            (None, None) => "none",
                        }
                    }
                    @if let Some(view) = view { dt { "view" } dd { code { (view) } } }
                    @if let Some(ticket) = ticket { dt { "ticket" } dd { (ticket) } }
                    dt { "ledger" } dd { (self.balance()) }
                    dt { "design" } dd.digest { "SHA-256 " (design.digest()?) }
                    @if let Some(sha256) = file { dt { "released file" } dd.digest { "SHA-256 " (sha256) } }
                    dt { "made by" } dd { "scumble " (env!("CARGO_PKG_VERSION")) }
                }
                (trade_off::figure(&TradeOff::of_guarantee(guarantee)))
                @if let Some(model) = model { (functions::charts(model)) }
                div.signature { @for line in ["name", "date", "signature"] { p { (line) } } }
            }
        };
        Ok(written(POLICY, &title, concat!(include_str!("style.css"), include_str!("release.css")), body))
    }

    /// The released columns with their bounds or levels. For a model, the columns from which it predicts,
    /// and the target.
    fn columns(&self) -> Result<Vec<(String, String)>> {
        let Card { design, columns, model, .. } = self.card;
        let Records { schema, target } = design.records()?;
        let mechanism = design.mechanism();
        let header = match model {
            Some(_) => schema.columns().iter().map(|column| column.name.clone()).collect(),
            None => {
                let own = mechanism.domain().layout().target;
                let layout = Layout { columns: columns.to_vec(), target: mechanism.releases().target(own) };
                design.decoder_of(&layout)?.header().to_vec()
            }
        };
        let described = |name: String| {
            let kind = schema.column(&name).map_or_else(
                |_| "a number that the mechanism computes".into(),
                |column| abridged(&column.kind.to_string(), LONGEST),
            );
            let label = if Some(&name) == target.as_ref() { " (the label)" } else { "" };
            (name, kind + label)
        };
        Ok(header.into_iter().map(described).collect())
    }

    fn balance(&self) -> Markup {
        html! {
            @if self.accounts.is_empty() && self.information.is_empty() { "none: no ledger was charged" }
            @for account in self.accounts {
                @let ((epsilon, delta), total) = (account.left(), &account.total);
                p {
                    (account.dataset) ", " (account.unit) ": ε = " (epsilon) " left of " (total.epsilon())
                    ", δ = " (delta) " left of " (total.delta())
                }
            }
            @for account in self.information {
                p { (account.dataset) ": " (account.left()) " nats left of " (account.total) }
            }
        }
    }
}

/// The counted tables, or the reason why there are none.
fn tables(counted: &[Vec<String>], releases: Releases) -> Markup {
    html! {
        @match (counted, releases) {
            ([], Releases::Synthetic { .. }) => "none: the rows are not drawn from counts",
            ([], _) => "none: the mechanism counts no tables",
            (counted, _) => {
                (counted.iter().map(|table| table.join(" × ")).collect::<Vec<_>>().join(", "))
                ". Other relations may be lost or reversed. The rows hide the noise, so no interval can be \
                 computed from them."
            }
        }
    }
}

/// The form of released numbers.
fn in_words(values: Values) -> &'static str {
    match values {
        Values::Settled => {
            "Integers, dates and ordered levels are rounded and clamped to their bounds; real numbers may \
             lie outside."
        }
        Values::Clamped => "All numbers are clamped to their bounds; all but real numbers are rounded.",
        Values::Drawn => "Numbers are as drawn, neither rounded nor clamped.",
        Values::Encoded => {
            "Features are in encoded units: a column per number, scaled to [0, 1], and per level, neither \
             rounded nor clamped."
        }
    }
}
