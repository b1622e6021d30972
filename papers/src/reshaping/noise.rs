//! Release of a representation at ε: Laplace noise in the ℓ₁ ball, or PrivUnit on the sphere. Both are
//! sampled exactly.

use super::reshape::{Reshaping, quantile};
use crate::{Error, Result};
use ndarray::{Array2, ArrayView2};
use scumble_core::{Domain, Randomness};
use scumble_noise::LaplaceNoise;
use scumble_oracles::PrivUnit;

/// Noise mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noise {
    Laplace,
    PrivUnit,
}

pub(super) const BOTH: [Noise; 2] = [Noise::Laplace, Noise::PrivUnit];

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "Laplace noise",
            Self::PrivUnit => "PrivUnit",
        }
    }

    /// Releases representations, one in each row, at `epsilon`. Each representation is first moved into the
    /// ball (Laplace noise) or onto the sphere (PrivUnit) whose radius contains nine tenths of the `public`
    /// representations. If `reshaping` is given, it is applied before this step, and reversed after the
    /// noise.
    pub fn released(
        self,
        reshaping: Option<&Reshaping>,
        public: ArrayView2<f64>,
        representations: ArrayView2<f64>,
        epsilon: f64,
        randomness: &mut Randomness,
    ) -> Result<Array2<f64>> {
        let Some(reshaping) = reshaping else {
            return self.plain(public, representations.to_owned(), epsilon, randomness);
        };
        let public = reshaping.before(public);
        let released = self.plain(public.view(), reshaping.before(representations), epsilon, randomness)?;
        Ok(reshaping.after(released.view()))
    }

    /// Releases `points`, one in each row, as [`Noise::released`] does without reshaping.
    pub fn plain(
        self,
        public: ArrayView2<f64>,
        mut points: Array2<f64>,
        epsilon: f64,
        randomness: &mut Randomness,
    ) -> Result<Array2<f64>> {
        let dim = points.ncols();
        let norm = |row: &[f64]| match self {
            Self::Laplace => row.iter().map(|x| x.abs()).sum::<f64>(),
            Self::PrivUnit => row.iter().map(|x| x * x).sum::<f64>().sqrt(),
        };
        let radius = quantile(public.outer_iter().map(|row| norm(&row.to_vec())));
        let mut stream = randomness.streams().stream(0);
        let rows = points.outer_iter_mut();
        match self {
            Self::Laplace => {
                let ball = Domain::l1_ball(dim, radius)?;
                let noise = LaplaceNoise::calibrated(&ball, epsilon)?;
                for mut row in rows {
                    // Scales the point towards the centre, as the published code does. The projection into
                    // the ball then corrects only rounding.
                    let mut point = row.to_vec();
                    let shrunken = (radius / norm(&point)).min(1.0);
                    point.iter_mut().for_each(|x| *x *= shrunken);
                    ball.project(&mut point)?;
                    noise.add(&mut point, &mut stream)?;
                    row.iter_mut().zip(point).for_each(|(value, noisy)| *value = noisy);
                }
            }
            Self::PrivUnit => {
                let failed = |problem: scumble_oracles::Error| Error::Mechanism {
                    mechanism: "PrivUnit".into(),
                    problem: problem.to_string(),
                };
                let oracle = PrivUnit::best(dim, epsilon).map_err(failed)?;
                for mut row in rows {
                    let answer = oracle.answer(&mut stream, &row.to_vec());
                    let direction = oracle.direction(answer).map_err(failed)?;
                    let scale = radius / oracle.shrinkage();
                    row.iter_mut().zip(direction).for_each(|(value, x)| *value = scale * x);
                }
            }
        }
        Ok(points)
    }
}
