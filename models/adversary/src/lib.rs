//! Attacks on privacy claims: lower bounds from samples, which no claim may lie below.
//!
//! A local mechanism is attacked at the ends of its range, one coordinate at a time, outside its domain, and where it says itself
//! that it is weakest. For each pair of inputs an adversary learns what tells their outputs apart, chooses an event, and counts it
//! on samples that it has not looked at; Clopper and Pearson make of that a lower bound on ε, and on δ along a profile, which is
//! wrong with a stated probability. A claim that lies below it is broken.
//!
//! ```
//! use scumble_adversary::{Effort, Verdict, audit_plugin};
//!
//! let effort = Effort { samples: 40_000, ..Effort::quick() };
//! let findings = audit_plugin(&scumble_classic::RANDOMIZED_RESPONSE, effort)?;
//! assert_eq!(findings[0].verdict, Verdict::Holds);
//! assert!(findings[0].lower_bound.unwrap() > 0.9); // of ε = 1
//! # Ok::<(), scumble_adversary::Error>(())
//! ```
//!
//! That an audit finds nothing proves nothing: what proves a claim is its theorem. An audit finds the code that is not the theorem's.

mod acquaintance;
mod attack;
mod audit;
mod betting;
mod canaries;
mod central;
mod claimed;
mod coupled;
mod direct;
mod effort;
mod event;
mod finding;
mod halves;
mod inversion;
mod local;
mod membership;
mod pairs;
mod reconstruction;
mod releases;
mod resistance;
mod score;
mod statistics;

pub use acquaintance::{Acquaintance, Learned, acquaintance};
pub use audit::{audit, audit_design, audit_plugin, caught, check};
pub use central::{Canary, canary};
pub use direct::{recovery, same_distribution};
pub use effort::Effort;
pub use finding::{Broken, Coupled, CoupledUnit, Finding, Measure, ProfilePoint, Verdict};
pub use halves::{Guessed, Told, told};
pub use inversion::{Inversion, LinearMap, Pairs};
pub use membership::membership;
pub use score::Output;

/// An audit that cannot be made fails in the registry's words.
pub use scumble_core::{Error, Result};
