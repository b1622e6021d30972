//! Training by noisy steps along sums of clipped gradients.

use crate::clipping::{Room, clip};
use crate::noise::{Noise, Streams};
use crate::parameters::PrivateTraining;
use crate::rows::{self, MOST_ROWS, pad};
use crate::sensitivity::Sensitivity;
use crate::{Error, Result};
use rand_core::{CryptoRng, RngCore};
use scumble_neural::{Network, Pass, Real, Stepper};
use scumble_sampling::{Rational, subset};

/// Maximum number of steps.
pub(crate) const MOST_STEPS: u64 = 1_000_000_000;

/// Progress of one step. It is for the data owner only: no guarantee covers it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Number of the step, counted from 1.
    pub number: u64,
    /// Number of records in the sample.
    pub examples: usize,
    /// Mean loss of the rows that were passed through the networks; `None` if there were no rows.
    pub mean_loss: Option<f64>,
}

impl PrivateTraining {
    /// Trains the networks `start` together, in `steps` steps on random samples of `records` records. The
    /// clipping norm bounds each record's gradient over all networks together.
    ///
    /// `per_example` runs the forward and backward passes of the given rows of the records through each
    /// network. Each row's backward pass starts from the gradient of the row's own loss, not of the mean
    /// loss. `per_example` returns the sum of the losses, which is used only for the mean loss passed to
    /// `progress`. Each call gets 96 rows at most. The last row is repeated as padding, and repeated rows do
    /// not enter the gradient.
    ///
    /// The values of a row in the passes must depend only on its record, the networks and randomness drawn
    /// for this row. Before the first step, `fit` checks that the networks `start` satisfy this condition.
    /// `per_example` must ensure it for all other networks that it uses. A row whose gradient is not finite
    /// adds zero to the sum.
    ///
    /// [`spent`](Self::spent) covers the trained networks and all intermediate ones, but not the values
    /// passed to `progress`. One key of a random generator is drawn from `randomness`, and all other random
    /// numbers come from this key. The same `randomness` therefore gives the same bits on any number of
    /// threads.
    ///
    /// # Errors
    /// Same errors as [`check`](Self::check); [`Error::TooFewRecords`] if `records` is less than the expected
    /// batch; [`Error::NoParameters`] if the networks have no parameters; [`Error::RowsAreUnlike`] if a row's
    /// results depend on the other rows on this machine; the errors of `per_example`;
    /// [`scumble_neural::Error::Parameter`] if a parameter is not finite at the start or at the end;
    /// [`Error::HyperParameter`] for more than 10⁹ steps.
    pub fn fit<T: Real, const N: usize>(
        &self,
        start: [&Network<T>; N],
        records: usize,
        steps: u64,
        per_example: impl FnMut(&[Network<T>; N], &[usize], &mut [Pass<T>; N]) -> scumble_neural::Result<f64>
        + Send,
        randomness: &mut (impl RngCore + CryptoRng),
        progress: impl FnMut(Step) + Send,
    ) -> Result<[Network<T>; N]> {
        self.fit_among(start, [records, records], steps, per_example, randomness, progress)
    }

    /// Trains as [`fit`](Self::fit) does, on `present` records whose number is secret. Only an upper bound
    /// `most` on their number is public.
    ///
    /// The second argument is the pair `[present, most]`. Each record is sampled with probability
    /// `expected_batch` / `most`: row indices from 0 to `most` − 1 are sampled, and indices of `present` or
    /// more are ignored. The steps depend on `present` in no other way. Pass `most` as the number of records
    /// to [`spent`](Self::spent).
    ///
    /// # Errors
    /// Same errors as [`fit`](Self::fit), and [`Error::HyperParameter`] if `present` exceeds `most`.
    pub fn fit_among<T: Real, const N: usize>(
        &self,
        start: [&Network<T>; N],
        [present, most]: [usize; 2],
        steps: u64,
        per_example: impl FnMut(&[Network<T>; N], &[usize], &mut [Pass<T>; N]) -> scumble_neural::Result<f64>
        + Send,
        randomness: &mut (impl RngCore + CryptoRng),
        mut progress: impl FnMut(Step) + Send,
    ) -> Result<[Network<T>; N]> {
        self.check()?;
        if present > most {
            let range = "at most the public bound on it";
            return Err(Error::HyperParameter {
                name: "the number of records",
                range,
                value: present as f64,
            });
        }
        if steps > MOST_STEPS {
            let range = "at most 10^9";
            return Err(Error::HyperParameter { name: "the number of steps", range, value: steps as f64 });
        }
        for network in start {
            network.check_finite()?;
        }
        let mut key = [0; 32];
        randomness.fill_bytes(&mut key);
        let mut descent = Descent::new(*self, start.map(Clone::clone), most, Streams::new(key), per_example)?;
        descent.present = present;
        // Runs inside rayon's thread pool, because entering the pool once per matrix product takes longer
        // than many products.
        rayon::scope(|_| {
            for number in 1..=steps {
                progress(descent.step(number)?);
            }
            descent.networks.iter().try_for_each(Network::check_finite)?;
            Ok(descent.networks)
        })
    }
}

/// Networks during training, and the reusable memory of a step.
pub(crate) struct Descent<T, F, const N: usize> {
    training: PrivateTraining,
    networks: [Network<T>; N],
    /// One stepper per network.
    steppers: Vec<Stepper<T>>,
    /// Number of row indices to sample from; only indices below `present` have a record.
    records: usize,
    present: usize,
    sampling_rate: Rational,
    capacity: usize,
    /// Alignment: the number of rows of every pass is a multiple of this number.
    alignment: usize,
    noise: Noise,
    streams: Streams,
    per_example: F,
    passes: [Pass<T>; N],
    room: Room<T>,
    sample: Vec<usize>,
    padded: Vec<usize>,
    /// Gradient of all parameters of all networks, one network after the other.
    pub(crate) gradient: Vec<T>,
    /// Gradient of a further chunk of a sample that is too large for one pass; empty before the first such
    /// sample.
    chunk: Vec<T>,
}

impl<T: Real, F, const N: usize> Descent<T, F, N>
where
    F: FnMut(&[Network<T>; N], &[usize], &mut [Pass<T>; N]) -> scumble_neural::Result<f64>,
{
    pub(crate) fn new(
        training: PrivateTraining,
        networks: [Network<T>; N],
        records: usize,
        streams: Streams,
        per_example: F,
    ) -> Result<Self> {
        let parameters = networks.iter().map(|network| network.parameters().len()).sum();
        if parameters == 0 {
            return Err(Error::NoParameters);
        }
        let (mut steppers, mut alignment) = (Vec::with_capacity(N), 1);
        for network in &networks {
            alignment = alignment.max(rows::alignment(network)?);
            steppers.push(training.optimiser.start(network.parameters().len())?);
        }
        let sampling_rate = training.sampling_rate(records)?;
        Ok(Self {
            training,
            steppers,
            records,
            present: records,
            sampling_rate,
            capacity: Sensitivity::for_training::<T>(&training, records, parameters).capacity,
            alignment,
            noise: Noise::new(&training)?,
            streams,
            per_example,
            passes: std::array::from_fn(|_| Pass::default()),
            room: Room::default(),
            sample: vec![],
            padded: vec![],
            gradient: vec![T::zero(); parameters],
            chunk: vec![],
            networks,
        })
    }

    fn step(&mut self, number: u64) -> Result<Step> {
        let stream = number as u32; // at most 10⁹
        let mut sample = std::mem::take(&mut self.sample);
        subset(&mut self.streams.sample(stream), self.records, self.sampling_rate, &mut sample);
        sample.retain(|place| *place < self.present);
        let examples = sample.len();
        // A sample with more records than the capacity adds nothing. Its probability is at most 2⁻¹⁰⁰.
        let entering = if examples <= self.capacity { &*sample } else { &[] };
        let summed = self.sum(entering);
        self.sample = sample;
        let mean_loss = summed?;
        self.noise.add(&mut self.gradient, 1.0 / self.training.expected_batch as f64, &self.streams, stream);
        let mut rest = &*self.gradient;
        for (network, stepper) in self.networks.iter_mut().zip(&mut self.steppers) {
            let (own, others) = rest.split_at(network.parameters().len());
            stepper.step(network.parameters_mut(), own)?;
            rest = others;
        }
        Ok(Step { number, examples, mean_loss })
    }

    /// Sets the gradient to the sum of the clipped gradients of `records`. Returns the mean loss of their
    /// rows, or `None` without records.
    pub(crate) fn sum(&mut self, records: &[usize]) -> Result<Option<f64>> {
        let (mut loss, mut rows) = (0.0, 0);
        if records.is_empty() {
            self.gradient.fill(T::zero());
        }
        for (index, records) in records.chunks(MOST_ROWS).enumerate() {
            pad(records, self.alignment, &mut self.padded);
            loss += (self.per_example)(&self.networks, &self.padded, &mut self.passes)?;
            rows += self.padded.len();
            self.check_rows()?;
            clip(
                &self.networks,
                &mut self.passes,
                records.len(),
                self.training.clipping_norm,
                &mut self.room,
            )?;
            if index == 0 {
                gradients(&self.networks, &self.passes, &mut self.gradient)?;
            } else {
                self.chunk.resize(self.gradient.len(), T::zero());
                gradients(&self.networks, &self.passes, &mut self.chunk)?;
                self.gradient.iter_mut().zip(&self.chunk).for_each(|(sum, &more)| *sum += more);
            }
        }
        Ok((rows > 0).then(|| loss / rows as f64))
    }

    /// Checks that all rows went through every network, because clipping assigns its weights by a row's
    /// position.
    ///
    /// # Errors
    /// [`scumble_neural::Error::Length`] if a network's pass has fewer or more rows.
    fn check_rows(&self) -> Result<()> {
        let expected = self.padded.len();
        match self.passes.iter().map(Pass::examples).find(|&found| found != expected) {
            Some(found) => {
                Err(scumble_neural::Error::Length { what: "the rows of a pass", expected, found }.into())
            }
            None => Ok(()),
        }
    }
}

/// Writes the gradients of all networks into `gradient`, one after the other.
fn gradients<T: Real, const N: usize>(
    networks: &[Network<T>; N],
    passes: &[Pass<T>; N],
    mut gradient: &mut [T],
) -> Result<()> {
    for (network, pass) in networks.iter().zip(passes) {
        let (own, others) = gradient.split_at_mut(network.parameters().len());
        network.gradient(pass, own)?;
        gradient = others;
    }
    Ok(())
}
