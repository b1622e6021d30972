//! Faulty variants of local mechanisms: each claims what a correct one claims, and releases otherwise. An audit must catch them.

use rand_core::{RngCore, SeedableRng};
use scumble_core::{
    Collector, Domain, Error, Guarantee, Layout, LocalMechanism, Noise, Perturbation, Randomness,
    RecordDomain, Releases, Result, Rows, Stream, Table, Unit, local, release_local,
};
use scumble_noise::NoiseKey;
use scumble_sampling::{DiscreteGaussian, DiscreteLaplace, Rational};
use std::sync::Arc;

/// A mechanism with the claim of a correct one, and a fault.
#[derive(Debug, Clone)]
pub struct Faulty {
    honest: Arc<dyn LocalMechanism>,
    fault: Fault,
    describes: Describes,
}

/// What a faulty variant says of its noise.
#[derive(Debug, Clone)]
enum Describes {
    /// What the honest one says.
    Honest,
    Nothing,
    /// What this one says.
    By(Arc<dyn LocalMechanism>),
}

/// What is wrong with a variant.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It is not: what passes for honest must pass.
    None,
    /// It releases by another design, which spends more than is claimed: noise that is too small, odds that are too large, a
    /// split that does not add up.
    By(Arc<dyn LocalMechanism>),
    /// It releases by another design, and what that one's clip takes off is put back on: the clip is forgotten, or the sensitivity
    /// is that of a sample, which other records leave.
    Unclipped(Arc<dyn LocalMechanism>),
    /// It encodes by the first design, which moves points into a wide set, and takes the noise of the second, which is that of a narrow
    /// one: what lies outside of that leaves all the same.
    Unmoved(Arc<dyn LocalMechanism>, Arc<dyn LocalMechanism>),
    /// This coordinate is released unchanged.
    Bare(usize),
    /// The first two coordinates share their noise.
    Shared,
    /// The noise is drawn again where it is larger than this.
    CutOff(f64),
    /// Whatever the stream, the noise comes from one seed.
    OneSeed,
    /// None, but that the noise is keyed by a record and an id that is drawn for it: what is released by tickets must pass.
    Keyed,
    /// The noise is keyed by the record alone: whoever guesses it finds the one noise that it has.
    KeyedByRecord,
    /// Records of one release share their noise.
    SharedByRecords,
    /// Blocks of one release share their noise.
    SharedByBlocks,
    /// Every release draws from one seed, whatever it is given.
    SeedIgnored,
    /// The first row of every release is unchanged.
    FirstRowBare,
    /// What is left over when a release is cut into whole blocks is released unchanged.
    RestBare,
    /// A record that is zero in the first coordinate is released unchanged.
    ZeroBare,
    /// A record of this level is released unchanged.
    LevelBare(usize),
    /// A release does not clip, and puts back on what a record has outside of the domain.
    ReleasedUnclipped,
    /// The noise has so many values, of Laplace's distribution with this scale.
    FewValues(u64, f64),
    /// It fails one time in a hundred, and only where the first coordinate is at its upper end.
    FailsAtTheTop,
    /// Bounds and steps of a quarter of the scale are rounded to the nearest, and Laplace noise is for the width between the bounds.
    CoarseLaplace,
    /// The same with Gaussian noise of this many steps.
    CoarseGaussian(f64),
    /// Laplace noise of this scale is made and added in floats.
    Floats(f64),
}

impl Faulty {
    /// The variant of `honest` with this fault.
    pub fn of(honest: &Arc<dyn LocalMechanism>, fault: Fault) -> Self {
        Self { honest: honest.clone(), fault, describes: Describes::Honest }
    }

    /// The same, but that it says nothing of its noise: only samples can see the fault.
    #[must_use]
    pub fn silent(self) -> Self {
        Self { describes: Describes::Nothing, ..self }
    }

    /// The same, but that it says of its noise what `other` says.
    #[must_use]
    pub fn describing(self, other: Arc<dyn LocalMechanism>) -> Self {
        Self { describes: Describes::By(other), ..self }
    }

    /// What is wrong with it.
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

    /// As its author would state it: that of the correct one.
    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.honest.log_likelihood(point, released)
    }

    /// As the author of the fault would describe it: as the honest one, unless it is said otherwise.
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
