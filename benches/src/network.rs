//! Steps of training a network: the autoencoder from 784 pixels to 8 numbers.

use crate::python::Python;
use crate::threads::{self, THREADS};
use crate::{Contestant, Host, Result, Section, memory, products};
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::neural::{Activation, Architecture, Initialisation, Loss, Network, Optimiser, Pass, Stepper};

/// Python program that times training steps in PyTorch, a peer (compared implementation).
const PEER: &str = include_str!("../peers/torch_autoencoder.py");

const WIDTHS: [usize; 8] = [400, 150, 50, 8, 50, 150, 400, 784];
const LINEAR: [usize; 2] = [3, 7];
const BATCH: usize = 64;
const STEPS: usize = 20;

/// State of a training run.
struct Training {
    network: Network<f32>,
    stepper: Stepper<f32>,
    records: Array2<f32>,
    pass: Pass<f32>,
    output_gradient: Array2<f32>,
    gradient: Vec<f32>,
}

pub(crate) fn architecture() -> Architecture {
    WIDTHS.into_iter().enumerate().fold(Architecture::new(784), |made, (index, width)| {
        let linear = LINEAR.contains(&index);
        made.layer(width, if linear { Activation::Identity } else { Activation::Relu })
    })
}

impl Training {
    fn new() -> Result<Self> {
        let network = Network::new(architecture(), Initialisation::Uniform, 1)?;
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let records = Array2::from_shape_simple_fn((BATCH, 784), || rng.r#gen());
        Ok(Self {
            stepper: Optimiser::default().start(network.parameters().len())?,
            pass: Pass::default(),
            output_gradient: Array2::zeros(records.dim()),
            gradient: vec![0.0; network.parameters().len()],
            network,
            records,
        })
    }

    fn step(&mut self) -> Result<()> {
        let output = self.network.forward(self.records.view(), &mut self.pass)?;
        Loss::SquaredError(self.records.view()).mean(output, self.output_gradient.view_mut())?;
        self.network.backward(self.output_gradient.view(), &mut self.pass)?;
        self.network.gradient(&self.pass, &mut self.gradient)?;
        Ok(self.stepper.step(self.network.parameters_mut(), &self.gradient)?)
    }
}

pub(crate) fn autoencoder(host: &Host) -> Result<Section> {
    let parameters = Training::new()?.network.parameters().len();
    let ours =
        THREADS.into_iter().map(|threads| on(threads, format!("scumble, {}", threads::named(threads))));
    let operations = products::operations(&products::step_shapes(&architecture(), BATCH));
    let what = format!(
        "Time of a step of Adam on the squared error of the autoencoder 784-400-150-50-8-50-150-400-784 \
         (ReLU; {parameters} parameters, single precision) with a minibatch of {BATCH}: forward pass, \
         backward pass and update. The limits are the step's matrix products alone ({:.0} million \
         operations, same library), the same number of operations in one large product, and the memory \
         traffic of Adam, seven numbers a parameter.",
        operations / 1e6
    );
    let torch = host.guest(PEER, "PyTorch");
    let section = Section::new(what, ours.collect::<Result<_>>()?).limited_by(limits()?);
    Ok(section.with_peers(torch.iter().flat_map(peers)))
}

/// Creates a contestant that trains on `threads` threads.
pub(crate) fn on(threads: usize, name: String) -> Result<Contestant> {
    let (mut training, pool) = (Training::new()?, threads::pool(threads)?);
    Ok(Contestant::timed(name, STEPS, move || {
        threads::run(&pool, || (0..STEPS).try_for_each(|_| training.step()))
    }))
}

/// Contestants whose times are lower limits on the time of a training step.
pub(crate) fn limits() -> Result<Vec<Contestant>> {
    let shapes = products::step_shapes(&architecture(), BATCH);
    let mut limits = vec![];
    for threads in THREADS {
        limits.push(products::alone(&shapes, STEPS, threads)?);
        limits.push(products::at_best(&shapes, threads)?);
    }
    // Adam reads a parameter, its gradient and two moments, and writes all but the gradient.
    let moved = 7 * size_of::<f32>() * architecture().parameters()?;
    limits.push(memory::moved("a plain copy that moves as many bytes as Adam, one thread", moved, 1));
    Ok(limits)
}

/// Contestants (timed methods) of PyTorch, one for each optimiser and number of threads.
fn peers(torch: &Python) -> impl Iterator<Item = Contestant> {
    let optimisers = [("adam", "Adam"), ("fused", "fused Adam")];
    let all = optimisers.into_iter().flat_map(|optimiser| THREADS.map(|threads| (optimiser, threads)));
    all.map(|((option, named), threads)| {
        torch.contestant(
            &format!("PyTorch, {named}, {}", threads::named(threads)),
            format!("{option} {threads}"),
        )
    })
}
