//! Reports: mechanisms that protect a whole record and preserve the dependence of its features and its label.
//!
//! Independent noise on each coordinate destroys the dependence of the label on the features, which learning
//! needs. These mechanisms ask each person one question about features and label together. The *report* is
//! the person's randomised answer, and spends all of ε. The reports of many people are
//! [collected](scumble_core::Collector) into synthetic records with the columns of the schema. Any model can
//! learn from these records. *Volunteers* are people from whose records a mechanism may be learned.
//!
//! | mechanism | question |
//! |---|---|
//! | [`PairResponse`] | one column, drawn uniformly at random, and the label |
//! | [`LearnedCodes`] | the record's code (index of its nearest cluster of volunteers' records) and label |
//! | [`DirectionReport`] | the record's direction from the volunteers' mean, and the label |
//! | [`GradientReport`] | the direction, at the record, of the gradient of a volunteer-trained model's loss |

mod answered;
mod dependence;
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
