//! Reports: mechanisms that protect a whole record and preserve the dependence of its features and its label.
//!
//! Noise on each coordinate by itself destroys what learning needs: the dependence of the label on the
//! features. These mechanisms ask each person one question about both, and spend all of ε on the answer, the
//! *report*. Many people's reports are [collected](scumble_core::Collector) into records in the schema's own
//! columns, from which any model learns.
//!
//! | mechanism | question |
//! |---|---|
//! | [`PairResponse`] | one column, drawn uniformly at random, and the label |
//! | [`LearnedCodes`] | the record's code, one of a few learned from volunteers, and the label |
//! | [`DirectionReport`] | the record's direction from the volunteers' mean, and the label |
//! | [`GradientReport`] | the direction in which the record moves a model learned from volunteers |

mod answered;
mod direction_report;
mod directions;
mod gradient_report;
mod label_model;
mod learned_codes;
mod pair_response;
mod partition;
mod principal_basis;
mod questions;
mod step;

pub use direction_report::{DIRECTION_REPORT, DirectionReport, LabelEstimate};
pub use gradient_report::{GRADIENT_REPORT, GradientReport};
pub use learned_codes::{LEARNED_CODES, LearnedCodes};
pub use pair_response::{PAIR_RESPONSE, PairResponse};
