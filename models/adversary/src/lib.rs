//! Attacks on privacy claims, which compute audited lower bounds on ε and other measures from samples.
//!
//! A *claim* is one bound that the guarantee of a mechanism states, such as "ε = 1 for a record". An *audit*
//! attacks every claim of a mechanism.
//!
//! A local mechanism is attacked at the ends of its input domain, one coordinate at a time, and outside this
//! domain. It is also attacked at the pairs of inputs that it declares the easiest to distinguish. For each
//! pair of inputs an adversary learns to distinguish their outputs, and chooses an event (a set of outputs).
//! It then bets on the event with new samples. The bets give a lower bound on ε, and on δ at points of a
//! privacy profile. These bounds are wrong with at most a stated probability. A claim below its lower bound
//! is broken.
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
//! An audit that breaks no claim proves nothing: only a theorem proves a claim. The audit finds code that
//! does not implement the theorem.

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
mod mixtures;
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
pub use halves::{Guessed, HalfInference, infer_half};
pub use inversion::{Inversion, LinearMap, TransformationFit};
pub use membership::membership;
pub use mixtures::mixtures_recovered;
pub use score::Output;

/// Error and result of `scumble-core`, which a failed audit returns.
pub use scumble_core::{Error, Result};
