//! Rules learned from released records with known label flips, and the private choice of one rule.

use crate::Result;
use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_classifier::{Classifier, ClassifierParams};
use scumble_core::{Stream, largest};
use scumble_custody::PrivateAnswer;

/// Released records, one in each row, with their labels. `flip` has the probability that a class, the row, is
/// released as a label, the column.
pub(super) struct Released {
    pub records: Array2<f64>,
    pub labels: Array1<usize>,
    pub flip: Array2<f64>,
}

/// Rule that distinguishes the classes.
pub(super) enum Rule {
    /// Direction from the mean of all records to the mean of the records with each label.
    ///
    /// Flipped labels shorten all of these directions alike, and noise on the records averages out in the
    /// means. Where flips and noise are large, no rule with more parameters is better. The rule assumes that
    /// classes are equally frequent.
    Means {
        /// Mean of all records, one value for each column.
        center: Array1<f64>,
        /// Direction of each class, one column for each class.
        directions: Array2<f64>,
    },
    /// The paper's network, whose loss accounts for the label flips (equation 8 of Learning to Noise).
    Network(Box<Classifier>),
}

impl Rule {
    pub fn fit_means(released: &Released) -> Self {
        let Released { records, labels, flip } = released;
        let count = |n: usize| n.max(1) as f64;
        let center = records.sum_axis(Axis(0)) / count(records.nrows());
        let mut directions = Array2::zeros((records.ncols(), flip.nrows()));
        for (class, mut direction) in directions.columns_mut().into_iter().enumerate() {
            let mut with_label = 0;
            for (record, _) in records.rows().into_iter().zip(labels).filter(|(_, label)| **label == class) {
                direction += &record;
                with_label += 1;
            }
            if with_label > 0 {
                direction /= count(with_label);
                direction -= &center;
            }
        }
        Self::Means { center, directions }
    }

    /// Trains a network with these `hidden` layers. A tenth of the records decide when training ends, by the
    /// loss that training minimises.
    pub fn fit_network(released: &Released, hidden: &[usize], epochs: usize, seed: u64) -> Result<Self> {
        let Released { records, labels, flip } = released;
        let params = ClassifierParams::default()
            .hidden(hidden.to_vec())
            .epochs(epochs)
            .batch_size(128)
            .patience(3)
            .seed(seed)
            .label_flip(flip.clone());
        let fitted = params.fit(&DatasetBase::new(records.clone(), labels.clone()))?;
        Ok(Self::Network(Box::new(fitted)))
    }

    /// Class by this rule of each of `records`, one in each row.
    pub fn classify(&self, records: ArrayView2<f64>) -> Array1<usize> {
        match self {
            Self::Means { center, directions } => {
                (&records - center).dot(directions).map_axis(Axis(1), |scores| largest(&scores.to_vec()))
            }
            Self::Network(classifier) => classifier.predict(&records.to_owned()),
        }
    }

    /// Share of `records` that the rule classifies correctly.
    pub fn accuracy(&self, records: ArrayView2<f64>, classes: &Array1<usize>) -> f64 {
        let right =
            self.classify(records).iter().zip(classes).filter(|(found, class)| found == class).count();
        right as f64 / classes.len().max(1) as f64
    }
}

/// Rule that is most often correct by private validation (Section 3.3 of Learning to Noise).
///
/// Each person has one row of `records`, with its class in `classes`, and is asked about one rule. The person
/// answers by randomised response at `epsilon` whether the rule classifies the record correctly. Among equal
/// estimates the first rule is chosen.
pub(super) fn choose<'r>(
    rules: &'r [Rule],
    records: ArrayView2<f64>,
    classes: &Array1<usize>,
    epsilon: f64,
    stream: &mut Stream,
) -> Result<Option<&'r Rule>> {
    let answer = PrivateAnswer::new(epsilon)?;
    let mut best: Option<(f64, &Rule)> = None;
    for (at, rule) in rules.iter().enumerate() {
        let asked: Vec<usize> = (at..classes.len()).step_by(rules.len()).collect();
        let found = rule.classify(records.select(Axis(0), &asked).view());
        let answers: Vec<bool> = asked
            .iter()
            .zip(&found)
            .map(|(person, found)| answer.flip(classes[*person] == *found, stream))
            .collect();
        let estimate = answer.estimate(&answers, 0.95)?.accuracy;
        if best.is_none_or(|(most, _)| estimate > most) {
            best = Some((estimate, rule));
        }
    }
    Ok(best.map(|(_, rule)| rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use scumble_core::Randomness;

    /// Two classes around (1, 0) and (−1, 0), with every third label flipped.
    fn released() -> Released {
        let side = |row: usize| if row.is_multiple_of(2) { 1.0 } else { -1.0 };
        let records = Array2::from_shape_fn((600, 2), |(row, column)| match column {
            0 => side(row) + 0.1 * (row % 7) as f64,
            _ => (row % 5) as f64,
        });
        let labels = Array1::from_shape_fn(600, |row| if row % 3 == 0 { 1 - row % 2 } else { row % 2 });
        Released { records, labels, flip: array![[2.0 / 3.0, 1.0 / 3.0], [1.0 / 3.0, 2.0 / 3.0]] }
    }

    #[test]
    fn both_rules_tell_classes_apart_whose_labels_were_flipped() {
        let released = released();
        let classes = Array1::from_shape_fn(600, |row| row % 2);
        let accuracy = |rule: Rule| rule.accuracy(released.records.view(), &classes);
        assert_eq!(accuracy(Rule::fit_means(&released)), 1.0);
        // A rule that believed the labels would have an accuracy of two thirds.
        let network_accuracy = accuracy(Rule::fit_network(&released, &[8], 50, 1).unwrap());
        assert!(network_accuracy > 0.9, "{network_accuracy}");
    }

    #[test]
    fn directions_of_means_are_those_of_the_labels() {
        let records = array![[1.0, 0.0], [3.0, 0.0], [0.0, 4.0], [0.0, 4.0]];
        let released = Released { records, labels: array![0, 0, 1, 1], flip: Array2::eye(3) };
        let Rule::Means { center, directions } = Rule::fit_means(&released) else { panic!("means") };
        assert_eq!(center, array![1.0, 2.0]);
        // No record has the third label, so that class has no direction.
        assert_eq!(directions, array![[1.0, -1.0, 0.0], [-2.0, 2.0, 0.0]]);
    }

    #[test]
    fn the_better_rule_is_chosen_by_answers_that_are_flipped() {
        let released = released();
        let classes = Array1::from_shape_fn(600, |row| row % 2);
        let right = Rule::fit_means(&released);
        let wrong = Rule::Means { center: array![0.0, 0.0], directions: array![[-1.0, 1.0], [0.0, 0.0]] };
        let rules = [wrong, right];
        // Each rule has 300 answers. An answer is yes with probability 0.73 for the better rule, and 0.27 for
        // the other.
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let chosen = choose(&rules, released.records.view(), &classes, 1.0, &mut stream).unwrap().unwrap();
        assert_eq!(chosen.accuracy(released.records.view(), &classes), 1.0);
        assert!(choose(&[], released.records.view(), &classes, 1.0, &mut stream).unwrap().is_none());
    }
}
