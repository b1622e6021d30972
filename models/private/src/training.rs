//! Training by noisy steps down sums of clipped gradients.

use crate::clipping::{Room, clip};
use crate::noise::{Noise, Streams};
use crate::parameters::PrivateTraining;
use crate::rows::{self, MOST_ROWS, pad};
use crate::sensitivity::Sensitivity;
use crate::{Error, Result};
use rand_core::{CryptoRng, RngCore};
use scumble_neural::{Network, Pass, Real, Stepper};
use scumble_sampling::{Rational, subset};

/// Steps at most.
pub(crate) const MOST_STEPS: u64 = 1_000_000_000;

/// What a step came to. It is for the owner of the records alone: no guarantee covers it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// Which, counted from 1.
    pub number: u64,
    /// How many records it drew.
    pub examples: usize,
    /// The mean loss of the rows that went through the networks; none where there were none.
    pub mean_loss: Option<f64>,
}

impl PrivateTraining {
    /// Trains networks from `start` on, all by one gradient, in so many `steps` on samples of so many `records`.
    ///
    /// `per_example` takes some rows of the records through each of the networks and back, from the gradient of each row's own loss, not of
    /// their mean, and gives the sum of the losses, which goes to `progress` and decides nothing. It is called with 96 rows at most, of
    /// which the last one is repeated where need be: what is repeated does not enter the gradient. What it leaves in a row's part of the
    /// passes must come from that record, the networks and randomness of its own alone. That these networks make it so is looked at before
    /// the first step; others that it may send rows through are its own to answer for. A row's gradient that is no finite number enters as zero.
    ///
    /// The networks that come out, and each on the way, are covered by [`spent`](Self::spent); what `progress` is told is not. One key is
    /// drawn from `randomness`, and all else from that, so the same generator gives the same bits on any number of threads.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`Error::TooFewRecords`], [`Error::NoParameters`], [`Error::RowsAreUnlike`], and those of `per_example`;
    /// [`scumble_neural::Error::Parameter`] for a start that is not finite, and where training left the finite numbers.
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

    /// [`fit`](Self::fit) on `present` records of which nothing but a bound on their number is public: no step depends on more than that there
    /// are at most `most` of them, of which `[present, most]` is the pair. Each is drawn with probability `expected_batch` / `most`, as by a
    /// sample of so many places of which the last are empty; `most` is what [`spent`](Self::spent) is asked for.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::HyperParameter`] for more records than that.
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
        // From a thread of the pool on, for to enter it once a product costs more than many products do.
        rayon::scope(|_| {
            for number in 1..=steps {
                progress(descent.step(number)?);
            }
            descent.networks.iter().try_for_each(Network::check_finite)?;
            Ok(descent.networks)
        })
    }
}

/// Networks on their way, and the memory of a step, used again for the next.
pub(crate) struct Descent<T, F, const N: usize> {
    training: PrivateTraining,
    networks: [Network<T>; N],
    /// One a network.
    steppers: Vec<Stepper<T>>,
    /// Places to draw from, of which the first hold records.
    records: usize,
    present: usize,
    sampling_rate: Rational,
    capacity: usize,
    /// The rows of a pass are a multiple of this.
    alignment: usize,
    noise: Noise,
    streams: Streams,
    per_example: F,
    passes: [Pass<T>; N],
    room: Room<T>,
    sample: Vec<usize>,
    padded: Vec<usize>,
    /// Of all parameters of all networks, one network after the other.
    pub(crate) gradient: Vec<T>,
    /// As long, once a sample is too large for one pass.
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
            capacity: Sensitivity::of::<T>(&training, records, parameters).capacity,
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
        // A sample that is too large for what is claimed of a sum adds nothing: it comes with a probability of 2⁻¹⁰⁰ at most.
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

    /// Sets the gradient to the sum of the clipped gradients of these records; their mean loss, if there are any.
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

    /// # Errors
    /// [`scumble_neural::Error::Length`] unless all rows went through every network: weights are told by a row's place.
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

/// The gradients of all networks, one after the other.
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
