//! Classifiers learned from people's local reports: of codes, or of coordinates along principal directions. A
//! code is the index of a cluster of records. A report can also be the class that a public classifier
//! predicts.

use crate::task::classes_of;
use crate::{Error, Result};
use ndarray::{Array1, Axis};
use scumble_accounting::ceiling;
use scumble_core::{Brief, Budget, Design, Randomness, RecordDomain, Table, Volunteers, largest};
use scumble_reports::{DIRECTION_REPORT, DirectionReport, LEARNED_CODES, LearnedCodes};
use serde_json::Value;

/// Maximum number of volunteers (people whose records help to learn a mechanism) for learning codes.
/// Clustering more records takes longer.
pub(crate) const VOLUNTEERS: usize = 15_000;

/// The volunteers whose records determine codes or directions, the people who report, and the test records.
pub(crate) struct Study<'a> {
    pub domain: &'a RecordDomain,
    /// Records of the volunteers: the first [`VOLUNTEERS`] determine codes, and all of them determine
    /// directions.
    pub volunteers: &'a Table,
    /// Wraps the volunteers' table with the terms on which it may be used.
    pub whose: fn(Table) -> Volunteers,
    pub sharing: &'a Table,
    pub test: &'a Table,
}

impl Study<'_> {
    /// Share of test records that are classified correctly by learned codes. The people in `sharing` report
    /// code and label together at `epsilon`; a record gets the most frequent reported label of its code.
    pub fn accuracy(&self, epsilon: f64, randomness: &mut Randomness) -> Result<f64> {
        let design = LEARNED_CODES.design(&Value::Null, &self.brief(self.domain, VOLUNTEERS, epsilon)?)?;
        let codes = own::<LearnedCodes>(&design, LEARNED_CODES.name)?;
        let reports = design.mechanism().release(self.sharing, randomness)?.table;
        let label_of = codes.labels_of_codes(&reports)?.map_axis(Axis(1), |labels| largest(&labels.to_vec()));
        self.share_right(|record| Ok(label_of[codes.code(record)]))
    }

    /// Share of test records that are classified correctly if labels are known. Each person in `sharing`
    /// reports the record's coordinates along the volunteers' principal directions. A test record gets the
    /// class with the nearest mean, which is estimated from the reports. The distance along each direction is
    /// in units of the volunteers' standard deviation (linear discriminant analysis).
    pub fn accuracy_by_known_labels(&self, epsilon: f64, randomness: &mut Randomness) -> Result<f64> {
        let unlabelled = self.domain.without_target();
        let design = DIRECTION_REPORT
            .design(&Value::Null, &self.brief(&unlabelled, self.volunteers.len(), epsilon)?)?;
        let directions = own::<DirectionReport>(&design, DIRECTION_REPORT.name)?;
        let reports = design.mechanism().release(&self.sharing.part(&unlabelled)?, randomness)?.table;
        let known = classes_of(self.sharing);
        let classes = known.iter().max().map_or(0, |most| most + 1);
        let means = (0..classes).map(|class| {
            let rows: Vec<usize> = (0..known.len()).filter(|row| known[*row] == class).collect();
            Ok(directions.label_estimates(&reports.select(&rows)?)?.remove(0).mean)
        });
        let means: Vec<Array1<f64>> = means.collect::<Result<_>>()?;
        let variances = directions.variances();
        self.share_right(|record| {
            let coordinates = directions.coordinates(record)?;
            let near = means.iter().map(|mean| {
                let off = &coordinates - mean;
                -(&off * &off / variances).sum()
            });
            Ok(largest(&near.collect::<Vec<_>>()))
        })
    }

    /// Returns the [`Brief`] (inputs of a design) for the people who share, with at most `volunteers`
    /// volunteers, at `epsilon`.
    fn brief(&self, domain: &RecordDomain, volunteers: usize, epsilon: f64) -> Result<Brief> {
        let first: Vec<usize> = (0..self.volunteers.len().min(volunteers)).collect();
        Ok(Brief {
            volunteers: (self.whose)(self.volunteers.select(&first)?),
            people: Some(self.sharing.len()),
            ..Brief::new(domain.clone(), Budget::pure(epsilon)?)
        })
    }

    /// Share of test records for which `classify` returns the true class.
    fn share_right(&self, classify: impl Fn(&[f64]) -> Result<usize>) -> Result<f64> {
        let truth = classes_of(self.test);
        let records = self.test.records().outer_iter().zip(&truth);
        let right = records.map(|(record, class)| Ok(usize::from(classify(&record.to_vec())? == *class)));
        Ok(right.sum::<Result<usize>>()? as f64 / truth.len().max(1) as f64)
    }
}

/// Returns the mechanism of a design as its concrete type.
fn own<'d, M: 'static>(design: &'d Design, plugin: &str) -> Result<&'d M> {
    design.mechanism().downcast_ref::<M>().ok_or_else(|| Error::Mechanism {
        mechanism: plugin.into(),
        problem: "has an unexpected type".into(),
    })
}

/// Accuracy of a person's answer by randomised response at ε, from a public classifier with accuracy `right`.
/// Randomised response keeps the predicted class with probability e^ε/(e^ε + K − 1), with K = `classes`. Each
/// other class gets an equal share of the rest, so that chance corrects some wrong predictions. The accuracy
/// has a closed form because the answer depends on the record only through its class.
pub(crate) fn answered(right: f64, classes: usize, epsilon: f64) -> Result<f64> {
    let honest = ceiling::best_accuracy(classes as u64, epsilon)?;
    Ok(right * honest + (1.0 - right) * (1.0 - honest) / (classes - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With ten classes at ε = ln 9, one of two answers is kept. At a large ε, the answer is the
    /// classifier's.
    #[test]
    fn answers_about_a_class_are_kept_as_often_as_epsilon_lets_them() {
        let at = |right, epsilon| answered(right, 10, epsilon).unwrap();
        assert!((at(1.0, 9.0_f64.ln()) - 0.5).abs() < 1e-12);
        assert!((at(0.0, 9.0_f64.ln()) - 0.5 / 9.0).abs() < 1e-12);
        assert!((at(0.7, 40.0) - 0.7).abs() < 1e-12);
        assert!((at(0.7, 1e-9) - 0.1).abs() < 1e-6);
    }
}
