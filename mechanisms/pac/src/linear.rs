//! Linear models: ridge regressions and support vector machines.

use crate::NAME;
use crate::computed::{Computed, RowValues};
use ndarray::{Array2, ArrayView2, Axis, s};
use scumble_core::{Error, Key, RecordDomain, Result, Streams, Table, TargetDomain};
use scumble_kkt::{Records, SoftMargin};
use scumble_linalg::solve;
use scumble_private_models::{Coefficients, Encoding};
use std::sync::Arc;

/// Statistic of a linear model: for each output, the weights of the coordinates of the encoded record z
/// ([`Encoding`]). A model has one output for a numeric target or two classes, else one output per class.
#[derive(Debug)]
pub(crate) struct Linear {
    domain: RecordDomain,
    encoding: Encoding,
    loss: Loss,
}

/// Loss that determines the weights.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Mean squared error plus this multiple of the sum of the squared weights. The sum excludes the
    /// intercept. A class is encoded as 1 or −1.
    Ridge(f64),
    /// C times the mean hinge loss of the classes 1 and −1, plus half of the sum of the squared weights. The
    /// value of the variant is C.
    Margin(f64),
}

/// Weight of the squared intercept in the loss of a support vector machine. A positive weight makes the
/// intercept unique.
const BIAS_PENALTY: f64 = 1e-3;
const TOLERANCE: f64 = 1e-9;
const MOST_ITERATIONS: u64 = 300;

impl Linear {
    pub(crate) fn ridge(domain: &RecordDomain, ridge: f64) -> Result<Self> {
        if let TargetDomain::None = domain.target() {
            return Err(Error::not_applicable(NAME, "a ridge regression needs a target to learn"));
        }
        Self::new(domain, Loss::Ridge(positive("ridge", ridge)?))
    }

    pub(crate) fn machine(domain: &RecordDomain, penalty: f64) -> Result<Self> {
        let TargetDomain::Class { .. } = domain.target() else {
            return Err(Error::not_applicable(NAME, "a support vector machine needs a class as target"));
        };
        Self::new(domain, Loss::Margin(positive("penalty", penalty)?))
    }

    fn new(domain: &RecordDomain, loss: Loss) -> Result<Self> {
        Ok(Self { domain: domain.clone(), encoding: Encoding::for_domain(NAME, domain)?, loss })
    }

    /// Number of coordinates of an encoded record z without the target: 1 + d for d features.
    fn inputs(&self) -> usize {
        1 + self.domain.columns().len()
    }

    /// Targets of n encoded records z as desired outputs of the model (n × outputs), in [−1, 1].
    fn outputs(&self, vectors: ArrayView2<f64>) -> Array2<f64> {
        let target = vectors.slice(s![.., self.inputs()..]);
        match self.domain.target() {
            TargetDomain::Class { levels } if levels.len() == 2 => 2.0 * &target.slice(s![.., 1..]) - 1.0,
            TargetDomain::Class { .. } => 2.0 * &target - 1.0,
            _ => target.to_owned(),
        }
    }

    /// Weights of the intercept and the d features (outputs × (1 + d)), fitted to the encoded records z in
    /// the rows of `vectors`.
    fn weights(&self, vectors: &Array2<f64>) -> Result<Array2<f64>> {
        let outputs = self.outputs(vectors.view());
        let inputs = vectors.slice(s![.., ..self.inputs()]);
        match self.loss {
            Loss::Ridge(ridge) => {
                let records = vectors.nrows() as f64;
                let mut products = inputs.t().dot(&inputs) / records;
                products.diag_mut().slice_mut(s![1..]).mapv_inplace(|square| square + ridge);
                let weights = solve(&products, &(inputs.t().dot(&outputs) / records)).ok_or_else(|| {
                    Error::not_applicable(
                        NAME,
                        "the ridge regression has no solution for these \
                                                                moments",
                    )
                })?;
                Ok(weights.t().as_standard_layout().into_owned())
            }
            Loss::Margin(penalty) => {
                let records = Records::new(inputs.slice(s![.., 1..]));
                let penalties = vec![penalty / vectors.nrows() as f64; vectors.nrows()];
                let mut weights = Array2::zeros((outputs.ncols(), self.inputs()));
                for (mut row, signs) in weights.outer_iter_mut().zip(outputs.axis_iter(Axis(1))) {
                    let machine = SoftMargin::new(&records, &signs.to_vec(), &penalties)
                        .and_then(|machine| machine.bias_penalty(BIAS_PENALTY))
                        .and_then(|machine| machine.solve(TOLERANCE, MOST_ITERATIONS))
                        .map_err(|problem| Error::not_applicable(NAME, problem.to_string()))?;
                    row[0] = machine.bias;
                    row.iter_mut().skip(1).zip(&machine.weights).for_each(|(to, weight)| *to = *weight);
                }
                Ok(weights)
            }
        }
    }
}

fn positive(name: &str, value: f64) -> Result<f64> {
    Error::check(NAME, name, value, "above zero and finite", value > 0.0 && value.is_finite())
}

/// Function that maps row indices of a table to the weights of intercept and d features (outputs × (1 + d)),
/// fitted to these rows.
type WeightsRowValues<'t> = Box<dyn Fn(&[usize]) -> Result<Array2<f64>> + Send + Sync + 't>;

impl Linear {
    /// Returns the function that fits the weights to some rows of `table`.
    ///
    /// # Errors
    /// Same errors as [`Layout::check`](scumble_core::Layout::check).
    pub(crate) fn weights_of<'t>(&'t self, table: &Table) -> Result<WeightsRowValues<'t>> {
        let vectors = self.encoding.vectors(table)?;
        Ok(Box::new(move |rows| self.weights(&vectors.select(Axis(0), rows))))
    }
}

impl Computed for Linear {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        let weights = self.weights_of(table)?;
        Ok(Box::new(move |rows| Ok(weights(rows)?.into_iter().collect())))
    }

    fn released(
        &self,
        noisy: &[f64],
        _scales: &[f64],
        _records: usize,
        _streams: &Streams,
    ) -> Result<(Table, Key)> {
        let outputs = noisy.len() / self.inputs();
        let weights = Array2::from_shape_vec((outputs, self.inputs()), noisy.to_vec())
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let model = Coefficients::new(&self.domain, &self.encoding, &weights)?;
        Ok((model.table()?, Key::Model(Arc::new(model))))
    }

    fn family(&self) -> Option<&'static str> {
        Some(match (self.loss, self.domain.target()) {
            (Loss::Margin(_), _) => "svm",
            // A class is predicted from a linear score, as in logistic regression.
            (_, TargetDomain::Class { .. }) => "logistic",
            _ => "ridge",
        })
    }
}
