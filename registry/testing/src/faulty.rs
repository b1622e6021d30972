//! Faulty variants of local mechanisms. Each has the guarantee of a correct (*honest*) mechanism, but
//! releases differently. An audit must catch them.

use rand_core::{RngCore, SeedableRng};
use scumble_core::{
    Collector, Domain, Error, Guarantee, Layout, LocalMechanism, Noise, Perturbation, Randomness,
    RecordDomain, Releases, Result, Rows, Stream, Table, Unit, local, release_local,
};
use scumble_noise::NoiseKey;
use scumble_sampling::{DiscreteGaussian, DiscreteLaplace, Rational};
use std::sync::Arc;

/// Mechanism with the guarantee of a correct mechanism, and a [`Fault`] in its releases.
#[derive(Debug, Clone)]
pub struct Faulty {
    honest: Arc<dyn LocalMechanism>,
    fault: Fault,
    describes: Describes,
}

/// Description that a faulty variant gives of its noise.
#[derive(Debug, Clone)]
enum Describes {
    /// Description that the honest mechanism gives of its noise.
    Honest,
    Nothing,
    /// Description that this mechanism gives of its noise.
    By(Arc<dyn LocalMechanism>),
}

/// Fault of a variant.
#[derive(Debug, Clone)]
pub enum Fault {
    /// No fault: an honest mechanism must pass.
    None,
    /// Uses another mechanism for releases, which spends more than the claimed budget. For example, its noise
    /// is too small, its odds of the true value are too large, or the parts of its budget add up to more than
    /// the whole.
    By(Arc<dyn LocalMechanism>),
    /// Uses another mechanism for releases, and adds back the difference between the record and its clipped
    /// value. A mechanism has this fault if it forgets to clip, or if it takes its sensitivity from a sample
    /// and other records exceed it.
    Unclipped(Arc<dyn LocalMechanism>),
    /// Encodes by the first mechanism, which moves points into a wide set. Adds the noise of the second
    /// mechanism, which is calibrated to a narrow set. Points outside the narrow set are released without
    /// being moved into it.
    Unmoved(Arc<dyn LocalMechanism>, Arc<dyn LocalMechanism>),
    /// Releases this coordinate unchanged.
    Bare(usize),
    /// Adds the noise of the first coordinate to the second coordinate too.
    Shared,
    /// Draws the noise again until the noise of every coordinate is at most this bound in absolute value.
    CutOff(f64),
    /// Draws the noise of every record from one fixed seed, regardless of the random stream that it is given.
    OneSeed,
    /// No fault: the noise is determined by a secret key, the record and a random id. A release with a ticket
    /// draws its noise in this way, from a stored secret, and must pass.
    Keyed,
    /// Determines the noise by a secret key and the record, without an id. A record then has only one
    /// possible noise.
    KeyedByRecord,
    /// Draws the same random numbers for every record of a release.
    SharedByRecords,
    /// Draws the same random numbers for every block of 1024 records of a release.
    SharedByBlocks,
    /// Draws every release from one seed, regardless of the randomness it is given.
    SeedIgnored,
    /// Releases the first row of every release unchanged.
    FirstRowBare,
    /// Releases the rows after the last whole block of 1024 rows unchanged.
    RestBare,
    /// Releases a record that is zero in the first coordinate unchanged.
    ZeroBare,
    /// Releases a record unchanged if this coordinate, a level of a one-hot group, is 1.
    LevelBare(usize),
    /// Does not clip in a release: adds back the difference between the record and its projection into the
    /// domain.
    ReleasedUnclipped,
    /// Draws Laplace noise by inversion from a uniform number with only this many values. The second number
    /// is the scale of the noise.
    FewValues(u64, f64),
    /// Returns an error instead of a release with probability 1/100, but only if the first coordinate is at
    /// its upper bound.
    FailsAtTheTop,
    /// Rounds the first coordinate to a multiple of 1/4, also at the bounds, and adds discrete Laplace noise
    /// of scale 1. The noise is calibrated to the width between the bounds, but rounding may move points
    /// further apart.
    CoarseLaplace,
    /// Rounds the first coordinate to a multiple of 1/4, also at the bounds, and adds discrete Gaussian
    /// noise. The parameter is the σ of the noise, in steps of 1/4.
    CoarseGaussian(f64),
    /// Draws and adds Laplace noise of this scale in floating-point arithmetic.
    Floats(f64),
}

impl Faulty {
    /// Variant of `honest` with this fault.
    pub fn new(honest: &Arc<dyn LocalMechanism>, fault: Fault) -> Self {
        Self { honest: honest.clone(), fault, describes: Describes::Honest }
    }

    /// Same variant without a description of its noise. Only samples can then show the fault.
    #[must_use]
    pub fn silent(self) -> Self {
        Self { describes: Describes::Nothing, ..self }
    }

    /// Same variant that describes its noise as `other` does.
    #[must_use]
    pub fn describing(self, other: Arc<dyn LocalMechanism>) -> Self {
        Self { describes: Describes::By(other), ..self }
    }

    /// Fault of the variant.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }
}

impl LocalMechanism for Faulty {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn collector(&self) -> Option<&dyn Collector> {
        self.honest.collector()
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Rows> {
        let rows_of_a_stream = match self.fault {
            Fault::SharedByRecords => 1,
            Fault::SharedByBlocks => local::BLOCK,
            Fault::SeedIgnored => return release_local(self, table, &mut Randomness::seeded(42)),
            Fault::FirstRowBare | Fault::RestBare | Fault::ReleasedUnclipped => usize::MAX,
            _ => return release_local(self, table, randomness),
        };
        let whole_blocks = table.len() / local::BLOCK * local::BLOCK;
        let (streams, layout) = (randomness.streams(), self.domain().layout());
        let mut released = vec![];
        let mut stream = streams.stream(0);
        for row in 0..table.len() {
            if row % rows_of_a_stream == 0 {
                stream = streams.stream(0);
            }
            let record = layout.flatten(table, row);
            let clean = self.encode(&record)?;
            let mut point = clean.clone();
            match self.fault {
                Fault::FirstRowBare if row == 0 => {}
                Fault::RestBare if whole_blocks > 0 && row >= whole_blocks => {}
                _ => self.perturb(&mut point, &mut stream)?,
            }
            if matches!(self.fault, Fault::ReleasedUnclipped) {
                point
                    .iter_mut()
                    .zip(record.iter().zip(clean))
                    .for_each(|(x, (raw, clean))| *x += raw - clean);
            }
            released.extend(self.decode(point)?);
        }
        let released = ndarray::Array2::from_shape_vec((table.len(), self.layout().width()), released)
            .map_err(|problem| Error::shape(problem.to_string()))?;
        Ok(Rows {
            table: self.layout().table(released.view())?,
            guarantee: self.guarantee().under(randomness.provenance()),
            noise: self.noise(),
        })
    }

    fn releases(&self) -> Releases {
        self.honest.releases()
    }

    fn range(&self) -> Domain {
        self.honest.range()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        match &self.fault {
            Fault::Unclipped(_) => Ok(record.to_vec()),
            Fault::Unmoved(wide, _) => wide.encode(record),
            _ => self.honest.encode(record),
        }
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let (honest, clean) = (&self.honest, point.to_vec());
        match &self.fault {
            Fault::None
            | Fault::SharedByRecords
            | Fault::SharedByBlocks
            | Fault::SeedIgnored
            | Fault::FirstRowBare
            | Fault::RestBare
            | Fault::ReleasedUnclipped => honest.perturb(point, stream),
            Fault::ZeroBare if point.first() == Some(&0.0) => Ok(()),
            Fault::LevelBare(level) if point.get(*level) == Some(&1.0) => Ok(()),
            Fault::ZeroBare | Fault::LevelBare(_) => honest.perturb(point, stream),
            Fault::FewValues(values, scale) => {
                for x in point {
                    let uniform = ((stream.next_u64() % values) as f64 + 0.5) / *values as f64 - 0.5;
                    let noise = -scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
                    *x += (noise * 2f64.powi(30)).round() / 2f64.powi(30);
                }
                Ok(())
            }
            Fault::By(other) => other.perturb(point, stream),
            Fault::Unclipped(other) | Fault::Unmoved(_, other) => {
                other.range().project(point)?;
                let taken_off: Vec<f64> = clean.iter().zip(&*point).map(|(x, clipped)| x - clipped).collect();
                other.perturb(point, stream)?;
                point.iter_mut().zip(taken_off).for_each(|(x, off)| *x += off);
                Ok(())
            }
            Fault::Bare(at) => {
                honest.perturb(point, stream)?;
                point[*at] = clean[*at];
                Ok(())
            }
            Fault::Shared => {
                honest.perturb(point, stream)?;
                point[1] = clean[1] + (point[0] - clean[0]);
                Ok(())
            }
            Fault::CutOff(most) => loop {
                point.copy_from_slice(&clean);
                honest.perturb(point, stream)?;
                if point.iter().zip(&clean).all(|(x, clean)| (x - clean).abs() <= *most) {
                    return Ok(());
                }
            },
            Fault::OneSeed => honest.perturb(point, &mut Stream::seed_from_u64(1)),
            Fault::Keyed => {
                let id = stream.next_u64().to_string();
                honest.perturb(point, &mut NoiseKey::from_bytes([7; 32]).stream(&id, &clean))
            }
            Fault::KeyedByRecord => {
                honest.perturb(point, &mut NoiseKey::from_bytes([7; 32]).stream("", &clean))
            }
            Fault::FailsAtTheTop => {
                let [_, top] = honest.range().l2_farthest();
                if point[0] == top[0] && stream.next_u64().is_multiple_of(100) {
                    return Err(Error::not_applicable("variant", "of an overflow"));
                }
                honest.perturb(point, stream)
            }
            Fault::CoarseLaplace => {
                let distribution = DiscreteLaplace::new(Rational::new(4, 1)?)?;
                point[0] = ((point[0] * 4.0).round() + distribution.sample(stream) as f64) / 4.0;
                Ok(())
            }
            Fault::CoarseGaussian(steps) => {
                let distribution = DiscreteGaussian::new(Rational::floor_of(*steps)?)?;
                point[0] = ((point[0] * 4.0).round() + distribution.sample(stream) as f64) / 4.0;
                Ok(())
            }
            Fault::Floats(scale) => {
                for x in point {
                    let uniform = ((stream.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64 - 0.5;
                    *x -= scale * uniform.signum() * (1.0 - 2.0 * uniform.abs()).ln();
                }
                Ok(())
            }
        }
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        self.honest.decode(point)
    }

    fn layout(&self) -> Layout {
        self.honest.layout()
    }

    fn noise(&self) -> Noise {
        self.honest.noise()
    }

    /// Log-likelihood of the release under the honest mechanism. The author of a faulty mechanism would state
    /// this log-likelihood.
    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.honest.log_likelihood(point, released)
    }

    /// Description that the author of the fault would give: by default the description that the honest
    /// mechanism gives.
    fn perturbation(&self) -> Vec<Perturbation> {
        let described = match &self.describes {
            Describes::Nothing => return vec![],
            Describes::Honest => &self.honest,
            Describes::By(other) => other,
        };
        described.perturbation()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        self.honest.worst_pairs(unit)
    }
}
