//! What people report: learned codes as a classifier, and the class that a public classifier says.

use crate::{Error, Result};
use ndarray::{Array1, Axis};
use scumble_accounting::ceiling;
use scumble_core::{Brief, Budget, Design, Randomness, RecordDomain, Table, Target, Volunteers, largest};
use scumble_reports::{LEARNED_CODES, LearnedCodes};
use serde_json::Value;

/// Volunteers of whom codes are learned, at most: clusters of more take longer.
pub(crate) const VOLUNTEERS: usize = 15_000;

/// How often test records are classified rightly, each as most reports of its code are: the first of the volunteers, who are `whose`, teach the codes, and those who share
/// report code and label together at this ε.
pub(crate) fn accuracy(
    domain: &RecordDomain,
    (volunteers, whose): (&Table, fn(Table) -> Volunteers),
    sharing: &Table,
    test: &Table,
    epsilon: f64,
    randomness: &mut Randomness,
) -> Result<f64> {
    let design = designed(domain, whose(first_of(volunteers)?), sharing.len(), epsilon)?;
    let codes = learned(&design)?;
    let reports = design.mechanism().release(sharing, randomness)?.table;
    let label_of = codes.labels_of_codes(&reports)?.map_axis(Axis(1), |labels| largest(&labels.to_vec()));
    let Target::Class(truth) = test.target() else { return Ok(f64::NAN) };
    Ok(share_right(codes, test, truth, |code| label_of[code]))
}

/// As many volunteers as are asked.
fn first_of(volunteers: &Table) -> Result<Table> {
    let first: Vec<usize> = (0..volunteers.len().min(VOLUNTEERS)).collect();
    Ok(volunteers.select(&first)?)
}

/// Codes for so many people at this ε.
fn designed(domain: &RecordDomain, volunteers: Volunteers, people: usize, epsilon: f64) -> Result<Design> {
    let brief =
        Brief { volunteers, people: Some(people), ..Brief::new(domain.clone(), Budget::pure(epsilon)?) };
    Ok(LEARNED_CODES.design(&Value::Null, &brief)?)
}

fn learned(design: &Design) -> Result<&LearnedCodes> {
    design.mechanism().downcast_ref::<LearnedCodes>().ok_or_else(|| Error::Mechanism {
        mechanism: LEARNED_CODES.name.into(),
        problem: "is no LearnedCodes".into(),
    })
}

/// How often the label of a record's code is its class.
fn share_right(
    codes: &LearnedCodes,
    test: &Table,
    truth: &Array1<usize>,
    label_of: impl Fn(usize) -> usize,
) -> f64 {
    let records = test.records().outer_iter().zip(truth);
    let right = records.filter(|(record, class)| label_of(codes.code(&record.to_vec())) == **class).count();
    right as f64 / truth.len().max(1) as f64
}

/// The same where labels are known, and each of those who share reports its code alone at this ε: a code is of the class of which most have it, as shares of those of the class.
pub(crate) fn accuracy_by_known_labels(
    domain: &RecordDomain,
    (volunteers, whose): (&Table, fn(Table) -> Volunteers),
    sharing: &Table,
    test: &Table,
    epsilon: f64,
    randomness: &mut Randomness,
) -> Result<f64> {
    let (Target::Class(known), Target::Class(truth)) = (sharing.target(), test.target()) else {
        return Ok(f64::NAN);
    };
    let unlabelled = domain.without_target();
    let design = designed(&unlabelled, whose(first_of(volunteers)?), sharing.len(), epsilon)?;
    let codes = learned(&design)?;
    let reports = design.mechanism().release(&sharing.part(&unlabelled)?, randomness)?.table;
    let classes = known.iter().max().map_or(0, |most| most + 1);
    let shares = (0..classes).map(|class| {
        let rows: Vec<usize> = (0..known.len()).filter(|row| known[*row] == class).collect();
        let found = codes.frequencies(&reports.select(&rows)?, 0.95)?;
        Ok(found.iter().map(|estimate| estimate.value).collect::<Vec<f64>>())
    });
    let shares: Vec<Vec<f64>> = shares.collect::<Result<_>>()?;
    let label_of = |code: usize| largest(&shares.iter().map(|of_class| of_class[code]).collect::<Vec<_>>());
    Ok(share_right(codes, test, truth, label_of))
}

/// How often the class is right that a person answers by randomized response at ε, who applies a public classifier that is right this often: e^ε/(e^ε + K − 1) of these answers are kept,
/// and of what is wrong an equal part for each other class is put right by chance. In closed form, for the answer does not depend on the record but by its class.
pub(crate) fn answered(right: f64, classes: usize, epsilon: f64) -> Result<f64> {
    let honest = ceiling::of_any(classes as u64, epsilon)?;
    Ok(right * honest + (1.0 - right) * (1.0 - honest) / (classes - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Among ten classes at ε = ln 9 one of two answers is kept; at a large ε the answer is the classifier's.
    #[test]
    fn answers_about_a_class_are_kept_as_often_as_epsilon_lets_them() {
        let at = |right, epsilon| answered(right, 10, epsilon).unwrap();
        assert!((at(1.0, 9.0_f64.ln()) - 0.5).abs() < 1e-12);
        assert!((at(0.0, 9.0_f64.ln()) - 0.5 / 9.0).abs() < 1e-12);
        assert!((at(0.7, 40.0) - 0.7).abs() < 1e-12);
        assert!((at(0.7, 1e-9) - 0.1).abs() < 1e-6);
    }
}
