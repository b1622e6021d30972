//! States along one axis of a box. The ground state of the box is expanded in products of such states, one
//! state for each axis. A state is an approximate solution of the Schrödinger equation along its axis.

use crate::quadrature::gauss_legendre;
use crate::{Error, Result};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use ndarray::{Array2, ArrayView1};
use scumble_linalg::Eigen;

/// The k states of one axis: the solutions ψ of −d·ψ″ + (λ/4)·(n² − c²)·ψ = e·ψ among the polynomials of
/// degree at most k + 1 that vanish at both ends. They are orthonormal and sorted by ascending e. n is the
/// coordinate on the axis, e the energy, λ ≥ 0 the factor of the second moments, d the stiffness, and c² the
/// least n² on the axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    lower: f64,
    upper: f64,
    /// The energies e (k values).
    pub(crate) energies: Vec<f64>,
    /// The coefficients of each ψ in the functions φ of [`basis`], one column for each ψ (k × k).
    states: Array2<f64>,
    /// The integrals ∫ψᵢψⱼ′ of the states ψ and their derivatives ψ′ (k × k).
    pub(crate) slopes: Array2<f64>,
    /// The integrals ∫ψᵢ′ψⱼ′ of the derivatives ψ′ of the states (k × k).
    pub(crate) bending: Array2<f64>,
    /// The integrals ∫n·ψᵢψⱼ of the states ψ, for the coordinate n on the axis (k × k).
    pub(crate) places: Array2<f64>,
    /// The integrals ∫n²·ψᵢψⱼ of the states ψ, for the coordinate n on the axis (k × k).
    pub(crate) squares: Array2<f64>,
}

impl Axis {
    /// Computes `count` states between `lower` and `upper`, for λ = `lambda` and d = `stiffness`.
    ///
    /// # Errors
    /// [`Error::Range`] if the matrices are outside the range of floats.
    pub(crate) fn new(lambda: f64, stiffness: f64, lower: f64, upper: f64, count: usize) -> Result<Self> {
        let half = (upper - lower) / 2.0;
        let centre = 0f64.clamp(lower, upper);
        let rule = gauss_legendre(count + 3);
        let values: Vec<_> = rule.iter().map(|(x, _)| basis(count, *x)).collect();
        // The integral ∫f·φₖφₗ over the axis.
        let integral = |f: &dyn Fn(f64, usize, usize) -> f64| {
            Array2::from_shape_fn((count, count), |(k, l)| {
                (0..rule.len())
                    .map(|at| half * rule[at].1 * f(rule[at].0, at, k) * values[at].0[l])
                    .sum::<f64>()
            })
        };
        let place = |x: f64| lower.midpoint(upper) + half * x;
        let masses = integral(&|_, at, k| values[at].0[k]);
        let places = integral(&|x, at, k| place(x) * values[at].0[k]);
        let squares = integral(&|x, at, k| place(x).powi(2) * values[at].0[k]);
        let slopes = integral(&|_, at, k| values[at].1[k] / half).reversed_axes();
        let above = integral(&|x, at, k| {
            let n = place(x);
            lambda / 4.0 * (n - centre) * (n + centre) * values[at].0[k]
        });
        let energy =
            Mat::from_fn(count, count, |k, l| above[[k, l]] + if k == l { stiffness / half } else { 0.0 });
        let gone = || Error::Range { quantity: "the equation along an axis" };
        let mass = Mat::from_fn(count, count, |k, l| masses[[k, l]]);
        let triangle = mass.llt(Side::Lower).map_err(|_| gone())?;
        let inverse = triangle.L().to_owned().partial_piv_lu().inverse();
        let standard = &inverse * &energy * inverse.transpose();
        let standard = Array2::from_shape_fn((count, count), |(k, l)| standard[(k, l)]);
        let solved = Eigen::new(&standard).ok_or_else(gone)?;
        let vectors = Mat::from_fn(count, count, |k, l| solved.vectors()[[k, l]]);
        let states = inverse.transpose() * vectors;
        let states = Array2::from_shape_fn((count, count), |(k, l)| states[(k, l)]);
        let in_states = |matrix: &Array2<f64>| states.t().dot(matrix).dot(&states);
        Ok(Self {
            lower,
            upper,
            energies: solved.values().to_vec(),
            slopes: in_states(&slopes),
            bending: in_states(&(Array2::eye(count) / half)),
            places: in_states(&places),
            squares: in_states(&squares),
            states,
        })
    }

    /// The values of all states at `n` (k values). Returns `None` outside the interval.
    pub(crate) fn at(&self, n: f64) -> Option<Vec<f64>> {
        if !(self.lower < n && n < self.upper) {
            return None;
        }
        let x = (n - self.lower.midpoint(self.upper)) / ((self.upper - self.lower) / 2.0);
        let values = basis(self.energies.len(), x).0;
        Some(self.states.t().dot(&ArrayView1::from(&values)).to_vec())
    }
}

/// φₖ = (Pₖ − Pₖ₊₂)/√(4k + 6) and their derivatives at `x` in [−1, 1], for Legendre polynomials P and k <
/// `count` (Shen 1994).
///
/// The φₖ vanish at both ends, and ∫φₖ′φₗ′ is 1 for k = l and 0 otherwise.
fn basis(count: usize, x: f64) -> (Vec<f64>, Vec<f64>) {
    let mut legendre = vec![1.0, x];
    for k in 1..count + 1 {
        let n = k as f64;
        legendre.push(((2.0 * n + 1.0) * x * legendre[k] - n * legendre[k - 1]) / (n + 1.0));
    }
    let norm = |k: usize| (4.0 * k as f64 + 6.0).sqrt();
    let values = (0..count).map(|k| (legendre[k] - legendre[k + 2]) / norm(k));
    let slopes = (0..count).map(|k| -(2.0 * k as f64 + 3.0) * legendre[k + 1] / norm(k));
    (values.collect(), slopes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GroundState;
    use approx::assert_abs_diff_eq;

    #[test]
    fn the_lowest_state_is_the_ground_state() {
        for (lambda, stiffness, lower, upper) in
            [(1.0, 1.0, -1.0, 1.0), (4.0, 0.5, -1.0, 3.0), (100.0, 0.3, 0.5, 2.0)]
        {
            let axis = Axis::new(lambda, stiffness, lower, upper, 32).unwrap();
            let exact = GroundState::new(lambda, 1.0 / stiffness, lower, upper).unwrap();
            let centre = 0f64.clamp(lower, upper);
            assert_abs_diff_eq!(
                axis.energies[0] + lambda / 4.0 * centre * centre,
                exact.mu(),
                epsilon = 1e-11
            );
            let n = lower + 0.3 * (upper - lower);
            assert_abs_diff_eq!(axis.at(n).unwrap()[0].abs(), exact.amplitude(n), epsilon = 1e-10);
            assert_abs_diff_eq!(axis.squares[[0, 0]], exact.second_moment(), epsilon = 1e-10);
            assert_abs_diff_eq!(4.0 * axis.bending[[0, 0]], exact.fisher_information(), epsilon = 1e-9);
            // ∫ψₖψₗ′ = −∫ψₖ′ψₗ, as both vanish at the ends.
            assert!(axis.slopes.iter().zip(&axis.slopes.t()).all(|(one, other)| (one + other).abs() < 1e-9));
            assert_eq!(axis.at(lower), None);
        }
    }
}
