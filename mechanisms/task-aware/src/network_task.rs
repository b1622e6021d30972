//! Tasks that a network solves.

use ndarray::{Array1, Array2, ArrayView2};
use scumble_neural::{Loss, Network, Pass};
use scumble_registry::{DifferentiableTask, Error, Result, Table, Target};

/// A frozen network f of d inputs: what counts is how far f(x̂) is from the target y. Of a real target that is (f(x̂) − y)²; of a vector the sum over its
/// entries; of classes the cross-entropy, where one output is the logit of the second of two classes, and K outputs are those of a softmax.
#[derive(Debug, Clone)]
pub struct NetworkTask {
    network: Network<f64>,
}

impl NetworkTask {
    /// The task of getting f(x̂) right.
    pub fn new(network: Network<f64>) -> Self {
        Self { network }
    }

    /// f.
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
        with_loss(truth.target(), outputs.ncols(), |loss| {
            loss.each(outputs.view(), gradient.view_mut(), &mut losses).map_err(wrong)
        })?;
        self.network.backward(gradient.view(), &mut pass).map_err(wrong)?;
        let by_estimates = self.network.input_gradient(&mut pass).map_err(wrong)?.to_owned();
        Ok((losses.into(), by_estimates))
    }
}

/// Calls `with` the loss that a target has for so many outputs.
///
/// # Errors
/// [`Error::Shape`] where there is no target; and whatever `with` returns.
pub(crate) fn with_loss<R>(target: &Target, outputs: usize, with: impl FnOnce(Loss<f64>) -> Result<R>) -> Result<R> {
    match target {
        Target::None => Err(Error::shape("the task is to get a target right, and there is none")),
        Target::Real(values) => with(Loss::SquaredError(values.view().insert_axis(ndarray::Axis(1)))),
        Target::Vector(values) => with(Loss::SquaredError(values.view())),
        Target::Class(classes) if outputs == 1 => {
            let shares = classes.mapv(|class| class as f64).insert_axis(ndarray::Axis(1));
            with(Loss::BinaryCrossEntropy(shares.view()))
        }
        Target::Class(classes) => with(Loss::CrossEntropy(classes.view())),
    }
}
