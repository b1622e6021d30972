//! Settings for the training of encoders and decoders, and the tasks for which they are trained.

use crate::network_task::{LinearTask, NetworkTask, Wanted};
use crate::task::{check, ignores_everything};
use schemars::JsonSchema;
use scumble_core::{Brief, DifferentiableTask, Error, Result, Table, Target, TargetDomain, Task, size};
use scumble_neural::{
    Activation, Adam, Architecture, Examples, Initialisation, Network, Optimiser, Training as Fitting,
};
use serde::Deserialize;
use std::sync::Arc;

/// Networks and steps of a trained design. Every setting is optional.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrainingParameters {
    /// Width of the encoder's hidden layer; 0, the default, for a linear encoder.
    encoder_hidden: Option<usize>,
    /// Width of the decoder's hidden layer; 0, the default, for a linear decoder.
    decoder_hidden: Option<usize>,
    /// Activation of the hidden layers.
    hidden: Option<Hidden>,
    /// Width of the task network's hidden layer of rectified linear units, if the task is learned from the
    /// volunteers' target: 1.5 times the number of features by default.
    task_hidden: Option<usize>,
    /// Number of epochs of the task's network.
    task_epochs: Option<usize>,
    /// Number of epochs: each draws new noise for the volunteers' records.
    epochs: Option<usize>,
    /// Number of gradient steps per epoch, all with the same noise.
    steps: Option<usize>,
    /// Number of volunteers per step; all by default.
    batch_size: Option<usize>,
    /// Learning rate of Adam.
    learning_rate: Option<f64>,
    /// Random seed of the initial parameters, the noise and the order of records.
    seed: Option<u64>,
}

/// Complete settings of a training.
#[derive(Debug, Clone)]
pub(crate) struct Training {
    pub(crate) encoder_hidden: usize,
    pub(crate) decoder_hidden: usize,
    pub(crate) hidden: Hidden,
    pub(crate) task_hidden: Option<usize>,
    pub(crate) task_epochs: usize,
    pub(crate) epochs: usize,
    pub(crate) steps: usize,
    pub(crate) batch_size: Option<usize>,
    pub(crate) learning_rate: f64,
    pub(crate) seed: u64,
}

impl TrainingParameters {
    /// Fills in missing settings from `other`.
    pub(crate) fn or(&self, other: Training) -> Training {
        Training {
            encoder_hidden: self.encoder_hidden.unwrap_or(other.encoder_hidden),
            decoder_hidden: self.decoder_hidden.unwrap_or(other.decoder_hidden),
            hidden: self.hidden.unwrap_or(other.hidden),
            task_hidden: self.task_hidden.or(other.task_hidden),
            task_epochs: self.task_epochs.unwrap_or(other.task_epochs),
            epochs: self.epochs.unwrap_or(other.epochs),
            steps: self.steps.unwrap_or(other.steps),
            batch_size: self.batch_size.or(other.batch_size),
            learning_rate: self.learning_rate.unwrap_or(other.learning_rate),
            seed: self.seed.unwrap_or(other.seed),
        }
    }
}

/// Activation of a hidden layer.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hidden {
    /// 1/(1 + e^−z).
    #[default]
    Logistic,
    /// tanh z.
    Tanh,
    /// max(z, 0).
    Relu,
}

impl Hidden {
    fn activation(self) -> Activation {
        match self {
            Self::Logistic => Activation::Sigmoid,
            Self::Tanh => Activation::Tanh,
            Self::Relu => Activation::Relu,
        }
    }
}

/// Maximum width of a layer. A wider layer would take minutes per step.
const MOST_UNITS: usize = 1 << 14;
/// Bytes per weight during training: the weight, its derivative and Adam's two moments.
const TRAINED: usize = 4 * 8;
/// Number of volunteers per step of the task's network.
const TASK_BATCH: usize = 32;

impl Training {
    /// Checks the settings for `volunteers` volunteers with `features` features.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a layer is wider than [`MOST_UNITS`] or a count is zero. [`Error::TooLarge`]
    /// if the weights need too much memory or the training takes too many steps.
    fn check(&self, plugin: &str, [volunteers, features]: [usize; 2]) -> Result<()> {
        let layers = [
            ("encoder_hidden", self.encoder_hidden),
            ("decoder_hidden", self.decoder_hidden),
            ("task_hidden", self.task_hidden.unwrap_or(0)),
        ];
        for (name, units) in layers {
            Error::check(plugin, name, units, &format!("at most {MOST_UNITS}"), units <= MOST_UNITS)?;
        }
        let counts = [
            ("epochs", self.epochs),
            ("task_epochs", self.task_epochs),
            ("steps", self.steps),
            ("batch_size", self.batch_size.unwrap_or(1)),
        ];
        for (name, count) in counts {
            Error::check(plugin, name, count, "one or more", count > 0)?;
        }
        for (name, units) in layers {
            // The input and the output layer have at most `features` units, because there are at most
            // `features` latents.
            size::check_layers(plugin, name, &[features, units, features], TRAINED)?;
        }
        let batches = volunteers.div_ceil(self.batch_size.unwrap_or(volunteers).max(1));
        size::check_steps(plugin, "epochs", &[self.epochs, self.steps.max(batches)])?;
        size::check_steps(plugin, "task_epochs", &[self.task_epochs, volunteers.div_ceil(TASK_BATCH)])
    }

    pub(crate) fn adam(&self) -> Optimiser {
        Optimiser::Adam(Adam { learning_rate: self.learning_rate, ..Adam::default() })
    }

    /// Creates a network with one hidden layer of width `hidden`, or without a hidden layer if `hidden` is 0.
    /// Networks of one training have different `number`s, and hence different random seeds.
    pub(crate) fn network(
        &self,
        inputs: usize,
        hidden: usize,
        (outputs, last): (usize, Activation),
        number: u64,
    ) -> Result<Network<f64>> {
        let start = Architecture::new(inputs);
        let start = if hidden > 0 { start.layer(hidden, self.hidden.activation()) } else { start };
        let seed = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number);
        Network::new(start.layer(outputs, last), Initialisation::Uniform, seed).map_err(crate::chain::unfit)
    }
}

/// Returns the task for which networks are trained. If `brief` has a differentiable task, it is this task. If
/// `brief` has a linear task with matrix K, the loss of an estimate x̂ of a record x is ‖K(x̂ − x)‖². In all
/// other cases, a network is fitted to predict the volunteers' target, and the result is the task that this
/// network defines.
///
/// # Errors
/// [`Error::NotApplicable`] if `table` needs a target and has none, if K is zero, or if fitting fails.
/// [`Error::Shape`] if the task takes another number of columns than `table` has, or if an entry of K is not
/// finite. [`Error::Parameter`] or [`Error::TooLarge`] if the settings are invalid or too large.
pub(crate) fn differentiable_task(
    plugin: &str,
    brief: &Brief,
    table: &Table,
    training: &Training,
) -> Result<Arc<dyn DifferentiableTask>> {
    training.check(plugin, [table.len(), table.columns().len()])?;
    match &brief.task {
        Task::Differentiable(task) => {
            let (width, n) = (task.width(), table.columns().len());
            match width == n {
                true => Ok(task.clone()),
                false => {
                    Err(Error::shape(format!("the task takes {width} numbers, and the records have {n}")))
                }
            }
        }
        Task::Linear(k) => {
            check(k, table)?;
            match k.iter().all(|x| *x == 0.0) {
                true => Err(ignores_everything(plugin)),
                false => Ok(Arc::new(LinearTask::new(k.clone()))),
            }
        }
        _ if matches!(table.target(), Target::None) => Err(Error::not_applicable(
            plugin,
            "it needs a task: a matrix K, or volunteers with a target to learn one from",
        )),
        _ => {
            let network = fitted(brief.domain.target(), table, training).map_err(|problem| {
                Error::not_applicable(plugin, format!("the task cannot be learned: {problem}"))
            })?;
            Ok(Arc::new(NetworkTask::new(network)))
        }
    }
}

/// Fits a network of one hidden layer that predicts the target of the records of `table`.
fn fitted(target: &TargetDomain, table: &Table, training: &Training) -> scumble_neural::Result<Network<f64>> {
    let d = table.columns().len();
    let hidden = training.task_hidden.unwrap_or(d + d.div_ceil(2)).max(1);
    let logits = |classes: usize| if classes == 2 { 1 } else { classes };
    let outputs = match (target, table.target()) {
        (TargetDomain::Class { levels }, _) => logits(levels.len()),
        // The domain has no target if another design releases the target, but the volunteers have classes.
        (_, Target::Class(classes)) => logits(classes.iter().max().map_or(1, |most| most + 1)),
        (_, Target::Vector(values)) => values.ncols(),
        _ => 1,
    };
    let architecture =
        Architecture::new(d).layer(hidden, Activation::Relu).layer(outputs, Activation::Identity);
    let start = Network::new(architecture, Initialisation::Uniform, training.seed)?;
    let fitting = Fitting {
        epochs: training.task_epochs,
        batch_size: TASK_BATCH,
        optimiser: Optimiser::Adam(Adam::default()),
        seed: training.seed,
        ..Fitting::default()
    };
    match Wanted::from_target(table.target(), outputs) {
        None => Ok(start),
        Some(targets) => {
            let examples = Examples { records: table.records().view(), loss: targets.loss() };
            fitting.fit(&start, examples, None, |_| ())
        }
    }
}

/// Checks that the number of latents Z is between 1 and `most`. `limit` says in words what `most` is.
///
/// # Errors
/// [`Error::Parameter`] if `latents` is zero or above `most`.
pub(crate) fn checked_latent_dim(plugin: &str, latents: usize, most: usize, limit: &str) -> Result<usize> {
    if (1..=most).contains(&latents) {
        return Ok(latents);
    }
    let problem = format!("latent_dim must lie between 1 and {most}, {limit}, and {latents} does not");
    Err(Error::parameter(plugin, problem))
}
