//! Randomised unit vectors. Each person has a unit vector and answers with a random direction. The scaled
//! mean of the answers estimates the mean of the people's unit vectors.

use crate::answered::Answers;
use crate::questions::BLOCK;
use ndarray::{Array1, Array2};
use rayon::prelude::*;
use scumble_core::{
    Domain, Error, Layout, Noise, NoiseDistribution, Result, Stream, Table, TargetLayout, Unit, check_width,
    interrupt, size,
};
use scumble_noise::RandomDirection;
use scumble_oracles::PrivUnit;

/// Randomises one unit vector per person by [`PrivUnit`], the *oracle*.
#[derive(Debug, Clone)]
pub(crate) struct Directions {
    plugin: &'static str,
    unit: RandomDirection,
}

/// Returns a [`PrivUnit`] oracle with few candidate directions and nearly the smallest variance at ε, for
/// `coordinates` coordinates and one more that completes the length of a vector to 1.
///
/// # Errors
/// [`Error::NotApplicable`] if there are too many coordinates, or if no oracle exists for this ε.
pub(crate) fn best(plugin: &str, coordinates: usize, epsilon: f64) -> Result<PrivUnit> {
    PrivUnit::best(coordinates + 1, epsilon)
        .map_err(|problem| Error::not_applicable(plugin, problem.to_string()))
}

impl Directions {
    /// Creates the oracle for unit vectors with `coordinates` coordinates, and one more coordinate that
    /// completes the length of the vector to 1. An answer is one of `candidates` candidate directions.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if there are too many coordinates, or if no oracle exists for this ε.
    pub(crate) fn new(
        plugin: &'static str,
        coordinates: usize,
        candidates: usize,
        epsilon: f64,
    ) -> Result<Self> {
        let oracle = PrivUnit::new(coordinates + 1, candidates, epsilon);
        let oracle = oracle.map_err(|problem| Error::not_applicable(plugin, problem.to_string()))?;
        Ok(Self { plugin, unit: RandomDirection::new(oracle, coordinates, 1.0)? })
    }

    pub(crate) fn oracle(&self) -> &PrivUnit {
        self.unit.oracle()
    }

    /// Returns the unit vector for coordinates with a norm of at most 1. An additional last coordinate
    /// completes the length to 1.
    pub(crate) fn point(&self, coordinates: &[f64]) -> Result<Vec<f64>> {
        self.unit.point(coordinates)
    }

    /// Returns the direction of each report: one row per report, and one column per coordinate of the
    /// people's unit vectors.
    fn answers(&self, reports: &Table) -> Result<Array2<f64>> {
        self.layout().check(reports)?;
        let dim = self.oracle().dim();
        size::check_held(self.plugin, "directions", &[reports.len(), dim], 8)?;
        let blocks: Vec<Result<Vec<f64>>> = (0..reports.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut answers = vec![];
                self.read_block(reports, block, 0, |direction| answers.extend(direction))?;
                Ok(answers)
            })
            .collect();
        // The result is the error of the first faulty row, whatever the timing of the threads.
        let answers = blocks.into_iter().collect::<Result<Vec<_>>>()?.concat();
        Array2::from_shape_vec((reports.len(), dim), answers)
            .map_err(|problem| Error::shape(problem.to_string()))
    }

    /// Passes the direction of each report of a block to `read`. `earlier` reports came before.
    fn read_block(
        &self,
        reports: &Table,
        block: usize,
        earlier: usize,
        mut read: impl FnMut(Vec<f64>),
    ) -> Result<()> {
        interrupt::check()?;
        for row in block * BLOCK..((block + 1) * BLOCK).min(reports.len()) {
            let report = reports.records().row(row);
            let found = self.unit.direction(report.as_slice().unwrap_or_default());
            read(found.map_err(|problem| Error::shape(format!("report {}: {problem}", earlier + row + 1)))?);
        }
        Ok(())
    }

    /// Returns an unbiased estimate of the mean of the people's coordinates, and the variance of this
    /// estimate in each coordinate. The last coordinate, which completes the length of a vector to 1, is left
    /// out.
    pub(crate) fn mean(&self, sum: &DirectionSum) -> (Array1<f64>, f64) {
        let people = sum.people.max(1) as f64;
        let mut mean = &sum.directions / (people * self.oracle().shrinkage());
        mean.slice_collapse(ndarray::s![..self.oracle().dim() - 1]);
        (mean, variance(self.oracle(), people))
    }

    /// Returns the coordinates of each reported direction (one row per report), as input for an adversary's
    /// model.
    pub(crate) fn adversary_view(&self, reports: &Table) -> Result<Table> {
        let answers = self.answers(reports)?;
        let columns = (1..=self.oracle().dim()).map(|at| format!("direction {at}")).collect();
        Layout { columns, target: TargetLayout::None }.table(answers.view())
    }

    pub(crate) fn range(&self) -> &Domain {
        self.unit.range()
    }

    pub(crate) fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let answer = self.unit.answer(point, stream)?;
        point.fill(0.0);
        point[..answer.len()].copy_from_slice(&answer);
        Ok(())
    }

    pub(crate) fn decode(&self, mut point: Vec<f64>) -> Result<Vec<f64>> {
        check_width(self.oracle().dim(), point.len())?;
        point.truncate(RandomDirection::COLUMNS.len());
        Ok(point)
    }

    pub(crate) fn layout(&self) -> Layout {
        let columns = RandomDirection::COLUMNS.map(str::to_owned).to_vec();
        Layout { columns, target: TargetLayout::None }
    }

    pub(crate) fn noise(&self) -> Noise {
        Noise {
            features: vec![NoiseDistribution::Unknown { width: RandomDirection::COLUMNS.len() }],
            target: NoiseDistribution::Exact { width: 0 },
        }
    }

    pub(crate) fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.unit.log_likelihood(point, released)
    }

    pub(crate) fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        if unit == Unit::Record { vec![self.range().l2_farthest()] } else { vec![] }
    }
}

/// Sum of the reported directions of many people.
pub(crate) struct DirectionSum {
    people: usize,
    directions: Array1<f64>,
}

impl Answers for Directions {
    type Sum = DirectionSum;

    fn none(&self) -> DirectionSum {
        DirectionSum { people: 0, directions: Array1::zeros(self.oracle().dim()) }
    }

    /// # Errors
    /// [`Error::Shape`] for invalid reports; the message names the row.
    fn add(&self, sum: &mut DirectionSum, reports: &Table) -> Result<()> {
        self.layout().check(reports)?;
        let blocks: Vec<Result<Array1<f64>>> = (0..reports.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let mut directions = Array1::zeros(self.oracle().dim());
                let add = |direction| directions += &Array1::from(direction);
                self.read_block(reports, block, sum.people, add)?;
                Ok(directions)
            })
            .collect();
        for block in blocks {
            sum.directions += &block?;
        }
        sum.people += reports.len();
        Ok(())
    }
}

/// Variance, in each coordinate, of the mean of `people` answers, over the random choice of people and of
/// their answers. Each answer counts as a vector of length 1/m, where m is the length of the mean of the
/// random directions that answer for one unit vector.
pub(crate) fn variance(oracle: &PrivUnit, people: f64) -> f64 {
    oracle.shrinkage().powi(-2) / (oracle.dim() as f64 * people)
}
