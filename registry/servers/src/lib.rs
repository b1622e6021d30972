//! Counts that two servers add up from shares of people's records.
//!
//! A device splits the vectors of a record into two *shares*, random vectors whose sum they are, and encrypts
//! one share to each server. The servers check a proof that the shares belong to one record, add up the
//! shares of all reports, and each adds its own noise. The sum of their two results has the noisy counts.
//! Neither server sees a record, and the counts are private while one of the servers is honest.
//!
//! | step | by | reads | makes |
//! |---|---|---|---|
//! | [`Task::report`] | a device | a record | a line for each server |
//! | [`Server::begin`] | server a | its lines | a message to server b |
//! | [`Server::answer`] | server b | its lines, the message | a message to server a, its noisy share |
//! | [`Server::finish`] | server a | its lines, the message | its noisy share |
//! | [`unshard`] | anybody | both noisy shares | noisy counts |
//!
//! The proofs are those of Prio3 (draft-irtf-cfrg-vdaf-18) from the crate `prio`, with a circuit for several
//! tables of one record. Shares are encrypted by HPKE (RFC 9180). No step keeps a state, so a step that fails
//! midway is repeated: with the same reports it gives the same share, with the same noise.

mod circuit;
mod counted;
mod error;
mod keys;
mod message;
mod report;
mod role;
mod server;
mod share;
mod tally;
#[cfg(test)]
mod tests;

pub use counted::Counted;
pub use error::{Error, Result};
pub use keys::{PublicKey, ServerKey};
pub use report::{ReportId, Task};
pub use role::Role;
pub use server::{Server, Sink, Source};
pub use share::{AggregateShare, unshard};
pub use tally::{Refusal, Tally};

/// Runs the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
