//! Reports: mechanisms that protect a whole record, and keep how its features and its label go together.
//!
//! Noise on each coordinate by itself destroys what learning needs: which values of the features go with which label. These mechanisms ask each person one
//! question, whose answer holds both, and spend all of ε on it. What leaves is a *report*; the reports of many people are
//! [collected](scumble_core::Collector) into records in the schema's own columns, from which any model learns.
//!
//! | mechanism | the question |
//! |---|---|
//! | [`PairResponse`] | one column, drawn uniformly at random, and the label |
//! | [`LearnedCodes`] | which of a few kinds of record, that volunteers taught, and the label |
//! | [`DirectionReport`] | where the record lies from the volunteers' mean, and the label |
//! | [`GradientReport`] | which way a model should go, that volunteers taught |

mod answered;
mod direction_report;
mod directions;
mod frame;
mod gradient_report;
mod label_model;
mod learned_codes;
mod pair_response;
mod partition;
mod questions;
mod step;

pub use direction_report::{DIRECTION_REPORT, DirectionReport, OfLabel};
pub use gradient_report::{GRADIENT_REPORT, GradientReport};
pub use learned_codes::{LEARNED_CODES, LearnedCodes};
pub use pair_response::{PAIR_RESPONSE, PairResponse};
