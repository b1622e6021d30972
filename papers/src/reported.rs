//! What people report: learned codes as a classifier, and the class that a public classifier says.

use crate::task::classes_of;
use crate::{Error, Result};
use ndarray::Axis;
use scumble_accounting::ceiling;
use scumble_core::{Brief, Budget, Design, Randomness, RecordDomain, Table, Volunteers, largest};
use scumble_reports::{LEARNED_CODES, LearnedCodes};
use serde_json::Value;

/// Volunteers of whom codes are learned, at most, where labels are reported too: clusters of more take longer.
pub(crate) const VOLUNTEERS: usize = 15_000;

/// The same where labels are known: of fewer classes fewer codes are enough, of which there are a thirtieth as many at most.
pub(crate) const FEW_VOLUNTEERS: usize = 4500;

/// Whose records teach codes, who reports, and whose records are classified.
pub(crate) struct Study<'a> {
    pub domain: &'a RecordDomain,
    /// The first of these teach the codes.
    pub volunteers: &'a Table,
    /// What they are.
    pub whose: fn(Table) -> Volunteers,
    pub sharing: &'a Table,
    pub test: &'a Table,
}

impl Study<'_> {
    /// How often test records are classified rightly, each as most reports of its code are: those who share report code and label together at this ε.
    pub fn accuracy(&self, epsilon: f64, randomness: &mut Randomness) -> Result<f64> {
        let design = self.designed(self.domain, VOLUNTEERS, epsilon)?;
        let codes = learned(&design)?;
        let reports = design.mechanism().release(self.sharing, randomness)?.table;
        let label_of = codes.labels_of_codes(&reports)?.map_axis(Axis(1), |labels| largest(&labels.to_vec()));
        Ok(self.share_right(codes, |code| label_of[code]))
    }

    /// The same where labels are known, and each of those who share reports its code alone at this ε: a code is of the class of which most have it, as shares of those of the class.
    pub fn accuracy_by_known_labels(&self, epsilon: f64, randomness: &mut Randomness) -> Result<f64> {
        let unlabelled = self.domain.without_target();
        let design = self.designed(&unlabelled, FEW_VOLUNTEERS, epsilon)?;
        let codes = learned(&design)?;
        let reports = design.mechanism().release(&self.sharing.part(&unlabelled)?, randomness)?.table;
        let known = classes_of(self.sharing);
        let classes = known.iter().max().map_or(0, |most| most + 1);
        let shares = (0..classes).map(|class| {
            let rows: Vec<usize> = (0..known.len()).filter(|row| known[*row] == class).collect();
            let found = codes.frequencies(&reports.select(&rows)?, 0.95)?;
            Ok(found.iter().map(|estimate| estimate.value).collect::<Vec<f64>>())
        });
        let shares: Vec<Vec<f64>> = shares.collect::<Result<_>>()?;
        let shares_of = |code: usize| shares.iter().map(|of_class| of_class[code]).collect::<Vec<_>>();
        Ok(self.share_right(codes, |code| largest(&shares_of(code))))
    }

    /// Codes that so many volunteers teach, for those who share, at this ε.
    fn designed(&self, domain: &RecordDomain, volunteers: usize, epsilon: f64) -> Result<Design> {
        let first: Vec<usize> = (0..self.volunteers.len().min(volunteers)).collect();
        let brief = Brief {
            volunteers: (self.whose)(self.volunteers.select(&first)?),
            people: Some(self.sharing.len()),
            ..Brief::new(domain.clone(), Budget::pure(epsilon)?)
        };
        Ok(LEARNED_CODES.design(&Value::Null, &brief)?)
    }

    /// How often the label of a record's code is its class.
    fn share_right(&self, codes: &LearnedCodes, label_of: impl Fn(usize) -> usize) -> f64 {
        let truth = classes_of(self.test);
        let records = self.test.records().outer_iter().zip(&truth);
        let right =
            records.filter(|(record, class)| label_of(codes.code(&record.to_vec())) == **class).count();
        right as f64 / truth.len().max(1) as f64
    }
}

fn learned(design: &Design) -> Result<&LearnedCodes> {
    design.mechanism().downcast_ref::<LearnedCodes>().ok_or_else(|| Error::Mechanism {
        mechanism: LEARNED_CODES.name.into(),
        problem: "is no LearnedCodes".into(),
    })
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
