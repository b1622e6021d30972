//! Tasks that a network solves.

use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_core::{DifferentiableTask, Error, Result, Table, Target};
use scumble_neural::{Loss, Network, Pass};

/// A task given by a frozen network f of d inputs. Its loss is the distance between f(x̂), for an estimate x̂
/// of a record, and the record's target y.
///
/// For a real target the loss is (f(x̂) − y)², and for a vector the sum of the squared differences of its
/// entries. For classes it is the cross-entropy: a single output is the logit of the second of two classes,
/// and K outputs are the logits of a softmax.
#[derive(Debug, Clone)]
pub struct NetworkTask {
    network: Network<f64>,
}

impl NetworkTask {
    /// Creates the task of predicting a record's target by f(x̂), where f is `network` and x̂ an estimate of
    /// the record.
    pub fn new(network: Network<f64>) -> Self {
        Self { network }
    }

    /// Returns the network f.
    pub fn network(&self) -> &Network<f64> {
        &self.network
    }
}

impl DifferentiableTask for NetworkTask {
    fn width(&self) -> usize {
        self.network.architecture().inputs
    }

    fn losses(&self, estimates: ArrayView2<f64>, truth: &Table) -> Result<(Array1<f64>, Array2<f64>)> {
        let wrong = |problem: scumble_neural::Error| Error::shape(format!("the task: {problem}"));
        let mut pass = Pass::default();
        let outputs = self.network.forward(estimates, &mut pass).map_err(wrong)?.to_owned();
        let mut gradient = Array2::zeros(outputs.dim());
        let mut losses = vec![0.0; outputs.nrows()];
        let targets = Wanted::from_target(truth.target(), outputs.ncols())
            .ok_or_else(|| Error::shape("the task is to predict a target, and the records have none"))?;
        targets.loss().each(outputs.view(), gradient.view_mut(), &mut losses).map_err(wrong)?;
        self.network.backward(gradient.view(), &mut pass).map_err(wrong)?;
        let by_estimates = self.network.input_gradient(&mut pass).map_err(wrong)?.to_owned();
        Ok((losses.into(), by_estimates))
    }
}

/// Target outputs of a network.
pub(crate) enum Wanted {
    Numbers(Array2<f64>),
    Shares(Array2<f64>),
    Classes(Array1<usize>),
}

impl Wanted {
    /// Converts a target for a network with `outputs` outputs; `None` without a target.
    pub(crate) fn from_target(target: &Target, outputs: usize) -> Option<Self> {
        match target {
            Target::None => None,
            Target::Real(values) => Some(Self::Numbers(values.clone().insert_axis(Axis(1)))),
            Target::Vector(values) => Some(Self::Numbers(values.clone())),
            Target::Class(classes) if outputs == 1 => {
                Some(Self::Shares(classes.mapv(|class| class as f64).insert_axis(Axis(1))))
            }
            Target::Class(classes) => Some(Self::Classes(classes.clone())),
        }
    }

    pub(crate) fn loss(&self) -> Loss<'_, f64> {
        match self {
            Self::Numbers(values) => Loss::SquaredError(values.view()),
            Self::Shares(shares) => Loss::BinaryCrossEntropy(shares.view()),
            Self::Classes(classes) => Loss::CrossEntropy(classes.view()),
        }
    }
}

/// The task with the loss ‖K(x̂ − x)‖² of an estimate x̂ of a record x, for a matrix K (m outputs × d
/// features).
#[derive(Debug, Clone)]
pub(crate) struct LinearTask {
    k: Array2<f64>,
}

impl LinearTask {
    pub(crate) fn new(k: Array2<f64>) -> Self {
        Self { k }
    }
}

impl DifferentiableTask for LinearTask {
    fn width(&self) -> usize {
        self.k.ncols()
    }

    fn losses(&self, estimates: ArrayView2<f64>, truth: &Table) -> Result<(Array1<f64>, Array2<f64>)> {
        if estimates.dim() != truth.records().dim() || estimates.ncols() != self.k.ncols() {
            return Err(Error::shape(format!(
                "a task of {} columns does not fit estimates of {} by {}",
                self.k.ncols(),
                estimates.nrows(),
                estimates.ncols()
            )));
        }
        let errors = (&estimates - truth.records()).dot(&self.k.t());
        let losses = errors.outer_iter().map(|error| error.dot(&error)).collect();
        Ok((losses, errors.dot(&self.k) * 2.0))
    }
}
