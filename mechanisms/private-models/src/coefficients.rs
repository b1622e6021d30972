//! Linear models that are released as tables of their coefficients.

use crate::encoding::Encoding;
use ndarray::{Array1, Array2, ArrayView1, Axis, concatenate};
use scumble_core::{
    Error, Guarantee, Key, Layout, Noise, NoiseDistribution, Outcome, Places, RecordDomain, Release,
    ReleasedModel, Result, Table, Target, TargetDomain, TargetLayout, check_width, largest,
};
use std::sync::Arc;

/// Linear model of encoded records, in which a schema scales numeric features to [0, 1]. Each output is an
/// intercept plus the sum of the features times their coefficients.
#[derive(Debug, Clone)]
pub struct Coefficients {
    domain: RecordDomain,
    /// Intercept, and coefficient of each feature of the encoded record (outputs × (1 + d)).
    matrix: Array2<f64>,
    /// Standard deviation of the noise of each coefficient, if it is known.
    deviations: Option<Vec<f64>>,
}

impl Coefficients {
    /// Creates the model for records of `domain` from weights of the vector z that `encoding` makes of a
    /// record. `weights` (outputs × (1 + d)) has one column for the intercept and one for each of the d
    /// feature coordinates of z.
    ///
    /// For a numeric target, the output that `weights` computes is the target scaled to [−1, 1]; the created
    /// model has the target in its own unit. For two classes, the single output is the logit of the second
    /// class. For more classes, there is one logit per class.
    ///
    /// # Errors
    /// [`Error::Shape`] if `weights` has another number of columns than 1 + d, or if `encoding` has another
    /// width than records of `domain` need.
    pub fn new(domain: &RecordDomain, encoding: &Encoding, weights: &Array2<f64>) -> Result<Self> {
        check_width(1 + domain.layout().width(), encoding.width())?;
        check_width(1 + domain.columns().len(), weights.ncols())?;
        let mut matrix = weights.clone();
        for at in 1..matrix.ncols() {
            let Some((middle, half)) = encoding.scale(at - 1) else { continue };
            let per_unit = if half > 0.0 { 1.0 / half } else { 0.0 };
            let mut column = matrix.column_mut(at);
            column *= per_unit;
            let moved = &matrix.column(at) * -middle;
            let mut intercepts = matrix.column_mut(0);
            intercepts += &moved;
        }
        Ok(Self { domain: domain.clone(), matrix: in_target_unit(domain, matrix), deviations: None })
    }

    /// Reads the model for records of `domain` from its [`table`](Self::table). The columns may have any
    /// order.
    ///
    /// # Errors
    /// [`Error::Shape`] for a table with other columns, or with another number of rows than the model has
    /// outputs. [`Error::NonFinite`] for a NaN or an infinity.
    pub fn from_table(domain: &RecordDomain, table: &Table) -> Result<Self> {
        let matrix = read(domain, column_names(domain), table)?;
        Ok(Self { domain: domain.clone(), matrix, deviations: None })
    }

    /// Same model, with the standard deviations of the noise of its coefficients.
    pub(crate) fn with_deviations(self, deviations: Option<Vec<f64>>) -> Self {
        Self { deviations, ..self }
    }

    /// The coefficients (outputs × (1 + d)), the first for the intercept.
    pub(crate) fn matrix(&self) -> &Array2<f64> {
        &self.matrix
    }

    /// Returns the release that consists of this model in place of records.
    pub(crate) fn outcome(self, guarantee: Guarantee) -> Result<Outcome> {
        Ok(released(self.table()?, guarantee, Arc::new(self)))
    }

    /// Returns the coefficients as a table with a row for each output, for features in the units of the
    /// encoded record, not of z.
    ///
    /// # Errors
    /// [`Error::Shape`] if the coefficients of two columns have the same name.
    pub fn table(&self) -> Result<Table> {
        Table::new(column_names(&self.domain), self.matrix.clone(), Target::None)
    }

    /// Returns each output for records in the clear (n × outputs), after projecting them onto the domain.
    ///
    /// The outputs of a record do not depend on the other records, not even in the last bit.
    fn outputs(&self, clean: &Table) -> Result<Array2<f64>> {
        let features = clean.clone().with_target(Target::None)?;
        let features = self.domain.without_target().projected_features(&features)?;
        let output = |(row, index): (usize, usize)| {
            let weights = self.matrix.row(index);
            features.row(row).iter().zip(weights.iter().skip(1)).fold(weights[0], |sum, (x, w)| sum + x * w)
        };
        Ok(Array2::from_shape_fn((features.nrows(), self.matrix.nrows()), output))
    }
}

/// Coefficients of weights of the vector z that `encoding` makes of a record, as linear functions of the
/// weights ((1 + d) × (1 + d)), without the unit of the target.
pub(crate) fn of_weights(encoding: &Encoding, features: usize) -> Array2<f64> {
    let mut matrix = Array2::eye(1 + features);
    for at in 1..=features {
        let Some((middle, half)) = encoding.scale(at - 1) else { continue };
        let per_unit = if half > 0.0 { 1.0 / half } else { 0.0 };
        matrix[[at, at]] = per_unit;
        matrix[[0, at]] = -middle * per_unit;
    }
    matrix
}

fn column_names(domain: &RecordDomain) -> Vec<String> {
    let names = domain.columns().iter().map(|name| format!("coefficient of {name}"));
    ["intercept".to_owned()].into_iter().chain(names).collect()
}

impl ReleasedModel for Coefficients {
    fn predict(&self, clean: &Table) -> Result<Target> {
        predictions(&self.domain, self.scores(clean)?)
    }

    fn scores(&self, clean: &Table) -> Result<Array2<f64>> {
        Ok(scores(&self.domain, self.outputs(clean)?))
    }

    fn deviations(&self) -> Option<Vec<f64>> {
        self.deviations.clone()
    }
}

/// Returns the release that consists of `model`, whose coefficients are `table`.
pub(crate) fn released(table: Table, guarantee: Guarantee, model: Arc<dyn ReleasedModel>) -> Outcome {
    let unknown = |width| NoiseDistribution::Unknown { width };
    let noise = Noise { features: vec![unknown(table.columns().len())], target: unknown(0) };
    Outcome::Model(Release::new(Key::Model(model), guarantee, noise, table))
}

/// Number of outputs of a model of the target of `domain`: one for a number or two classes, else one per
/// class.
pub(crate) fn output_count(domain: &RecordDomain) -> usize {
    match domain.target() {
        TargetDomain::Class { levels } if levels.len() > 2 => levels.len(),
        _ => 1,
    }
}

/// Coefficients of a model (outputs × coefficients, the first for the constant) whose output for a numeric
/// target has the target's own unit. `matrix` computes the target scaled to [−1, 1].
pub(crate) fn in_target_unit(domain: &RecordDomain, mut matrix: Array2<f64>) -> Array2<f64> {
    if let TargetDomain::Real { lower, .. } = domain.target() {
        let unit = target_unit(domain);
        matrix *= unit;
        let mut intercepts = matrix.column_mut(0);
        intercepts += lower + unit;
    }
    matrix += 0.0; // a file does not keep the sign of a zero
    matrix
}

/// Half the width of the bounds of a numeric target, else 1. It is the factor from weights to coefficients in
/// the unit of the target.
pub(crate) fn target_unit(domain: &RecordDomain) -> f64 {
    match domain.target() {
        TargetDomain::Real { lower, upper } => (upper - lower) / 2.0,
        _ => 1.0,
    }
}

/// Reads coefficients (outputs × columns) from the table of a model. The table's columns may have any order.
///
/// # Errors
/// [`Error::Shape`] for a table with other columns than `columns`, or with another number of rows than a
/// model of the target of `domain` has outputs. [`Error::NonFinite`] for a NaN or an infinity.
pub(crate) fn read(domain: &RecordDomain, columns: Vec<String>, table: &Table) -> Result<Array2<f64>> {
    let values = table.records().select(Axis(1), &Places::new(table.columns()).find(&columns)?);
    let layout = Layout { columns: columns.clone(), target: TargetLayout::None };
    layout.check(&Table::new(columns, values.clone(), Target::None)?)?;
    let (found, rows) = (table.len(), output_count(domain));
    if found != rows {
        return Err(Error::shape(format!("the model has {found} rows, and its target needs {rows}")));
    }
    Ok(values)
}

/// Predicted targets, from the scores of records.
///
/// # Errors
/// [`Error::Shape`] if the target of `domain` is neither a number nor a class.
pub(crate) fn predictions(domain: &RecordDomain, scores: Array2<f64>) -> Result<Target> {
    Ok(match domain.target() {
        TargetDomain::Class { .. } => {
            Target::Class(scores.outer_iter().map(|row| largest(&row.to_vec())).collect::<Array1<usize>>())
        }
        TargetDomain::Real { .. } => Target::Real(scores.column(0).to_owned()),
        _ => return Err(Error::shape("a linear model predicts a number or a class")),
    })
}

/// Scores of records, from the outputs of a model (n × outputs): the probability of each class, or the number
/// within its bounds.
pub(crate) fn scores(domain: &RecordDomain, outputs: Array2<f64>) -> Array2<f64> {
    match domain.target() {
        TargetDomain::Real { lower, upper } => outputs.mapv(|value| value.clamp(*lower, *upper)),
        _ if outputs.ncols() == 1 => {
            let second = outputs.mapv(|logit| 1.0 / (1.0 + (-logit).exp()));
            concatenate![Axis(1), 1.0 - &second, second]
        }
        _ => {
            let mut shares = outputs.as_standard_layout().into_owned();
            shares.outer_iter_mut().for_each(|mut row| row.as_slice_mut().into_iter().for_each(softmax));
            shares
        }
    }
}

/// Replaces `logits` by the probabilities proportional to their exponentials.
pub(crate) fn softmax(logits: &mut [f64]) {
    let most = logits.iter().fold(f64::NEG_INFINITY, |most, &logit| most.max(logit));
    logits.iter_mut().for_each(|logit| *logit = (*logit - most).exp());
    let sum: f64 = ArrayView1::from(&*logits).sum();
    logits.iter_mut().for_each(|share| *share /= sum);
}

#[cfg(test)]
mod tests {
    use crate::{PRIVATE_ADDITIVE, PRIVATE_LOGISTIC, PRIVATE_RIDGE};
    use scumble_core::{Brief, Budget, Plugin, Randomness, RecordDomain, Table, Target, TargetDomain};
    use serde_json::json;

    /// Standard deviation of each coefficient over 100 releases at this ε, over the stated one.
    fn ratios(plugin: &Plugin, epsilon: f64) -> Vec<f64> {
        const RELEASES: usize = 100;
        let example = (plugin.example)().unwrap();
        let rows: Vec<usize> = (0..1000).map(|row| row % example.table.len()).collect();
        let table = example.table.select(&rows).unwrap();
        let brief = example.brief.with_budget(Budget::new(epsilon, 1e-5).unwrap());
        let design = plugin.design(&json!({}), &brief).unwrap();
        let mut found: Vec<(Vec<f64>, Vec<f64>)> = vec![];
        for seed in 0..RELEASES {
            let release = design.mechanism().release(&table, &mut Randomness::seeded(seed as u64)).unwrap();
            let deviations = release.key.model().unwrap().deviations().unwrap();
            found.push((release.table.records().row(0).to_vec(), deviations));
        }
        let column = |at: usize| {
            let values: Vec<f64> = found.iter().map(|(values, _)| values[at]).collect();
            let mean = values.iter().sum::<f64>() / RELEASES as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / RELEASES as f64;
            let stated = found.iter().map(|(_, deviations)| deviations[at].powi(2)).sum::<f64>();
            (variance / (stated / RELEASES as f64)).sqrt()
        };
        (0..found[0].0.len()).map(column).collect()
    }

    /// Over 100 releases, a standard deviation has a relative standard error of 7 %.
    #[test]
    fn coefficients_have_the_noise_that_the_card_states() {
        for ratio in ratios(&PRIVATE_RIDGE, 8.0) {
            assert!((0.7..1.35).contains(&ratio), "{ratio} of the first-order deviation");
        }
        for plugin in [&PRIVATE_LOGISTIC, &PRIVATE_ADDITIVE] {
            for ratio in ratios(plugin, 1.0) {
                assert!(ratio < 1.3, "{}: {ratio} of the upper bound", plugin.name);
            }
        }
    }

    #[test]
    fn a_model_that_is_read_from_its_table_knows_no_noise() {
        let levels = vec!["no".to_owned(), "yes".to_owned()];
        let domain =
            RecordDomain::new(vec![], scumble_core::Domain::empty(), TargetDomain::Class { levels }).unwrap();
        let brief = Brief::new(domain, Budget::new(1.0, 1e-5).unwrap());
        let mechanism = PRIVATE_LOGISTIC.design(&json!({}), &brief).unwrap();
        let labels = Target::Class((0..40).map(|row| row % 2).collect());
        let table = Table::new(vec![], ndarray::Array2::zeros((40, 0)), labels).unwrap();
        let release = mechanism.mechanism().release(&table, &mut Randomness::seeded(1)).unwrap();
        assert!(release.key.model().unwrap().deviations().is_some());
        assert!(mechanism.mechanism().model_of(&release.table).unwrap().deviations().is_none());
    }
}
