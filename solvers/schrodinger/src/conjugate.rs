//! The lowest eigenvalue of a large symmetric matrix: Knyazev's locally optimal conjugate gradients, in
//! argmin's loop.

use argmin::core::{Error, IterState, KV, Problem, Solver, TerminationReason, TerminationStatus};
use ndarray::Array2;
use scumble_linalg::Eigen;

/// A symmetric matrix, defined by its products with vectors.
pub(crate) trait Matrix {
    fn times(&self, x: &[f64]) -> Vec<f64>;
    /// An approximate product of the inverse of the matrix and a vector.
    fn roughly_solved(&self, x: &[f64]) -> Vec<f64>;
}

/// Locally optimal conjugate gradients (Knyazev 2001).
///
/// Each step minimises the Rayleigh quotient over the span of three vectors: the current vector, the
/// direction of the last step, and [`Matrix::roughly_solved`] of the residual.
pub(crate) struct LocallyOptimal {
    /// Ratio of the residual's norm to the eigenvalue at which the iteration stops. The relative error of the
    /// eigenvalue is of the order of the square of this ratio.
    tolerance: f64,
    /// The current vector, and below it the direction of the last step; both are `None` at first.
    now: Option<Vector>,
    last: Option<Vector>,
    eigenvalue: f64,
}

/// A vector with its product with the matrix.
#[derive(Clone)]
struct Vector {
    x: Vec<f64>,
    image: Vec<f64>,
}

impl LocallyOptimal {
    pub(crate) fn new(tolerance: f64) -> Self {
        Self { tolerance, now: None, last: None, eigenvalue: f64::NAN }
    }

    fn residual(&self, now: &Vector) -> Vec<f64> {
        now.x.iter().zip(&now.image).map(|(x, image)| image - self.eigenvalue * x).collect()
    }

    fn arrive(&mut self, now: Vector, last: Option<Vector>, state: Iteration) -> Iteration {
        self.eigenvalue = dot(&now.x, &now.image);
        let residual = self.residual(&now);
        let cost = dot(&residual, &residual).sqrt() / self.eigenvalue.abs();
        (self.now, self.last) = (Some(now), last);
        let x = self.now.as_ref().map(|now| now.x.clone()).unwrap_or_default();
        state.param(x).cost(cost)
    }
}

type Iteration = IterState<Vec<f64>, (), (), (), (), f64>;

impl<M: Matrix> Solver<M, Iteration> for LocallyOptimal {
    fn name(&self) -> &str {
        "locally optimal conjugate gradients"
    }

    fn init(
        &mut self,
        problem: &mut Problem<M>,
        mut state: Iteration,
    ) -> Result<(Iteration, Option<KV>), Error> {
        let (Some(matrix), Some(mut x)) = (&problem.problem, state.take_param()) else {
            return Err(Error::msg("the loop has no matrix or no vector to start from"));
        };
        let norm = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
        let image = matrix.times(&x);
        Ok((self.arrive(Vector { x, image }, None, state), None))
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<M>,
        state: Iteration,
    ) -> Result<(Iteration, Option<KV>), Error> {
        scumble_interrupt::check()?;
        let (Some(matrix), Some(now)) = (&problem.problem, self.now.take()) else {
            return Err(Error::msg("the loop lost its matrix or its vector"));
        };
        let mut base = vec![now];
        let toward = matrix.roughly_solved(&self.residual(&base[0]));
        if let Some(mut toward) = orthonormal(toward, &base) {
            // The new direction may be nearly in the span of `base`. The direction's product with the matrix
            // is therefore computed, not combined from known products.
            toward.image = matrix.times(&toward.x);
            base.push(toward);
        }
        if let Some(last) = self.last.take()
            && let Some(mut last) = orthonormal(last.x, &base)
        {
            last.image = matrix.times(&last.x);
            base.push(last);
        }
        let size = (base.len(), base.len());
        let projected = Array2::from_shape_fn(size, |(i, j)| dot(&base[i].x, &base[j].image));
        let solved =
            Eigen::new(&projected).ok_or_else(|| Error::msg("a matrix of three rows has no eigenvalues"))?;
        let parts = solved.vectors().column(0).to_vec();
        let direction = combined(&base[1..], &parts[1..]);
        let mut next = combined(&base, &parts);
        let norm = dot(&next.x, &next.x).sqrt();
        next.x.iter_mut().chain(&mut next.image).for_each(|x| *x /= norm);
        Ok((self.arrive(next, Some(direction), state), None))
    }

    fn terminate(&mut self, state: &Iteration) -> TerminationStatus {
        match state.cost <= self.tolerance {
            true => TerminationStatus::Terminated(TerminationReason::SolverConverged),
            false => TerminationStatus::NotTerminated,
        }
    }
}

/// The component of `x` orthogonal to `base`, normalised. Returns `None` if the component vanishes.
fn orthonormal(mut x: Vec<f64>, base: &[Vector]) -> Option<Vector> {
    for _ in 0..2 {
        let norm = dot(&x, &x).sqrt();
        if !(norm.is_normal()) {
            return None;
        }
        x.iter_mut().for_each(|x| *x /= norm);
        for other in base {
            let part = dot(&x, &other.x);
            x.iter_mut().zip(&other.x).for_each(|(x, other)| *x -= part * other);
        }
    }
    let norm = dot(&x, &x).sqrt();
    x.iter_mut().for_each(|x| *x /= norm);
    // The second pass starts at length 1 and only removes rounding errors. The length then stays near 1,
    // unless `x` is in the span of `base`.
    (norm > 0.5).then_some(Vector { x, image: vec![] })
}

fn combined(base: &[Vector], parts: &[f64]) -> Vector {
    let length = base.first().map_or(0, |vector| vector.x.len());
    let mut sum = Vector { x: vec![0.0; length], image: vec![0.0; length] };
    for (vector, part) in base.iter().zip(parts) {
        sum.x.iter_mut().zip(&vector.x).for_each(|(sum, x)| *sum += part * x);
        sum.image.iter_mut().zip(&vector.image).for_each(|(sum, x)| *sum += part * x);
    }
    sum
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
