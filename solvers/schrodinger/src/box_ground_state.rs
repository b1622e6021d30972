//! Ground states in two and more dimensions.
//!
//! Noise n in a box of d dimensions has the density γ = w² that minimises Tr(Π⁻¹·I) + λ·Tr(V). I is the
//! Fisher information matrix of γ, and V its matrix of second moments. The weight matrix Π (d × d) and the
//! factor λ ≥ 0 are given. w is zero on the boundary, and solves −Tr(Π⁻¹∇²w) + (λ/4)·‖n‖²·w = μ·w with the
//! least μ, the energy. It is expanded in products of *states*, polynomials along one axis each. The number
//! of states along each axis is the *resolution*.

use crate::axis::Axis;
use crate::conjugate::{LocallyOptimal, Matrix, dot};
use crate::{Error, GroundState, Result};
use argmin::core::{Executor, State};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use ndarray::{Array2, ArrayView2};
use scumble_linalg::Eigen;

/// The density γ = w² on a box [a₁, b₁] × … × [a_d, b_d] that minimises the objective Tr(Π⁻¹·I) + λ·Tr(V). I
/// is the Fisher information matrix of γ, and V its matrix of second moments. Π (d × d) and λ ≥ 0 are given
/// weights.
///
/// # Derivation
/// I = ∫∇γ∇γᵀ/γ = 4∫∇w∇wᵀ. So the objective is 4·∫(∇wᵀΠ⁻¹∇w + (λ/4)·‖n‖²·w²) for noise n, to be minimised
/// with ∫w² = 1 and w = 0 on the boundary. Stationarity gives −Tr(Π⁻¹∇²w) + (λ/4)·‖n‖²·w = μ·w (Appendix C of
/// Farokhi 2020 has this equation with −4μ as its multiplier). Multiplying by w and integrating shows that
/// the objective is 4μ. So the least μ gives the minimum.
///
/// # Method
/// w is expanded in products of *states*, one state for each axis. A state is a polynomial that solves the
/// equation along one axis approximately. Every axis has the same number of states. This number, the
/// resolution, grows until two successive resolutions agree in μ. In this expansion, the matrix of the
/// equation is a diagonal matrix plus one term for each pair of axes that Π⁻¹ couples. The term is a product
/// of two small matrices, one along each axis. μ converges from above. At a corner that is obtuse in the
/// coordinates Π^{1/2}·n, w is not smooth, and convergence is only algebraic. The error of μ then falls
/// roughly as the −4th power of the number of states along an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxGroundState {
    lambda: f64,
    equation: Equation,
    mu: f64,
    error: f64,
    /// The coefficients of w in the products of states. The index of the last axis changes fastest.
    parts: Vec<f64>,
}

/// Numbers of states along each axis, tried in turn until two successive ones agree in μ.
const COUNTS: [usize; 10] = [6, 9, 12, 18, 24, 36, 48, 72, 96, 144];

/// Maximum number of products of states: they take a hundred megabytes, and some seconds per step.
const MOST_PARTS: usize = 1 << 20;

/// Depth at which the box is cut: where w is e^−`DEEPEST` of its maximum. The density there is e^−40 of its
/// maximum.
const DEEPEST: f64 = 20.0;

impl BoxGroundState {
    /// Computes the ground state in the box of `bounds` (d pairs), for the factor λ ≥ 0 of the second moments
    /// and the weight matrix Π (`weights`). Π is d × d, symmetric and positive definite.
    ///
    /// Two resolutions agree in μ to `tolerance`·max(1, μ). The finer resolution has at least 4/3 as many
    /// states along each axis as the coarser one.
    ///
    /// # Errors
    /// - [`Error::Parameter`] for a λ that is negative or not finite, or a `tolerance` outside (0, 1).
    /// - [`Error::Interval`] for bounds that enclose no interval.
    /// - [`Error::Shape`] for arguments of incompatible shapes.
    /// - [`Error::NotPositiveDefinite`] for a Π that is not positive definite or not symmetric.
    /// - [`Error::NotConverged`] if 144 states along each axis or a million products of states do not
    ///   suffice, or if the eigenvalue iteration stops at a relative residual above 10⁻⁶.
    /// - [`Error::Range`] if a number is outside the range of floats.
    pub fn new(lambda: f64, weights: ArrayView2<f64>, bounds: &[(f64, f64)], tolerance: f64) -> Result<Self> {
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(Error::Parameter { name: "tolerance", range: "between 0 and 1", value: tolerance });
        }
        if bounds.is_empty() || weights.dim() != (bounds.len(), bounds.len()) {
            let (rows, columns) = weights.dim();
            let d = bounds.len();
            return Err(Error::Shape(format!("weights are {rows} x {columns} for {d} pairs of bounds")));
        }
        let stiffness = inverse(weights)?;
        let (bounds, base) = cut(lambda, &stiffness, bounds)?;
        let mut before: Option<f64> = None;
        let mut error = f64::INFINITY;
        for count in COUNTS {
            let parts = count.checked_pow(bounds.len() as u32);
            if parts.is_none_or(|parts| parts > MOST_PARTS) {
                break;
            }
            let equation = Equation::new(lambda, &stiffness, &bounds, count)?;
            let (excess, parts) = equation.lowest()?;
            let mu = base + excess;
            error = before.map_or(f64::INFINITY, |before| (before - mu).abs());
            if !(mu.is_finite() && mu > 0.0) {
                return Err(Error::Range { quantity: "mu" });
            }
            if error <= tolerance * mu.max(1.0) {
                return Ok(Self { lambda, equation, mu, error, parts });
            }
            before = Some(mu);
        }
        Err(Error::NotConverged { error, tolerance })
    }

    /// The least μ for which the equation −Tr(Π⁻¹∇²w) + (λ/4)·‖n‖²·w = μ·w has a solution w ≠ 0 that is zero
    /// on the boundary of the box. The objective is 4μ. The result is at least the exact μ, except for
    /// rounding.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The change of μ in the last increase of the resolution: an upper estimate of the remaining error.
    pub fn error_estimate(&self) -> f64 {
        self.error
    }

    /// The density γ(n) = w(n)² at `n` (d values). It is 0 outside the box, and where w² is at most e^−40 of
    /// its maximum.
    ///
    /// Its error, relative to the maximum, is about the square root of the error of μ.
    ///
    /// # Errors
    /// [`Error::Shape`] if `n` does not have d values.
    pub fn density(&self, n: &[f64]) -> Result<f64> {
        let axes = &self.equation.axes;
        if n.len() != axes.len() {
            return Err(Error::Shape(format!(
                "a place has {} values, and the box has {}",
                n.len(),
                axes.len()
            )));
        }
        let values: Option<Vec<_>> = axes.iter().zip(n).map(|(axis, n)| axis.at(*n)).collect();
        let Some(values) = values else { return Ok(0.0) };
        // Contracts the last axis first.
        let mut left = self.parts.clone();
        for axis_values in values.iter().rev() {
            left = left.chunks(axis_values.len()).map(|parts| dot(parts, axis_values)).collect();
        }
        Ok(left[0] * left[0])
    }

    /// The Fisher information matrix I = 4∫∇w∇wᵀ of the density γ = w² (d × d).
    pub fn fisher_information(&self) -> Array2<f64> {
        let Equation { axes, .. } = &self.equation;
        Array2::from_shape_fn((axes.len(), axes.len()), |(i, j)| {
            let bent = match i == j {
                true => self.equation.along(&axes[i].bending, i, &self.parts),
                false => {
                    let slope = self.equation.along(&axes[j].slopes, j, &self.parts);
                    // Computes ∫∂ᵢw·∂ⱼw. The minus sign comes from integration by parts, because the matrix
                    // of slopes is antisymmetric.
                    self.equation.along(&axes[i].slopes, i, &slope).into_iter().map(|part| -part).collect()
                }
            };
            4.0 * dot(&self.parts, &bent)
        })
    }

    /// The mean ∫n·w² of the density γ = w² (d values).
    pub fn mean(&self) -> Vec<f64> {
        let axes = self.equation.axes.iter().enumerate();
        axes.map(|(i, axis)| dot(&self.parts, &self.equation.along(&axis.places, i, &self.parts))).collect()
    }

    /// The second moments V = ∫nnᵀ·w² of the density γ = w² (d × d).
    pub fn second_moments(&self) -> Array2<f64> {
        let Equation { axes, .. } = &self.equation;
        Array2::from_shape_fn((axes.len(), axes.len()), |(i, j)| {
            let moved = match i == j {
                true => self.equation.along(&axes[i].squares, i, &self.parts),
                false => {
                    let moved = self.equation.along(&axes[j].places, j, &self.parts);
                    self.equation.along(&axes[i].places, i, &moved)
                }
            };
            dot(&self.parts, &moved)
        })
    }

    /// The objective Tr(Π⁻¹·I) + λ·Tr(V), computed from the Fisher information I and the second moments V of
    /// the density. It equals 4μ up to rounding, which checks the moments and μ.
    pub fn objective(&self) -> f64 {
        let cost = (&self.equation.stiffness * &self.fisher_information()).sum();
        cost + self.lambda * self.second_moments().diag().sum()
    }
}

/// The inverse Π⁻¹ of the weight matrix Π. Π is scaled to a unit diagonal first, so that the units of the
/// axes do not matter.
fn inverse(weights: ArrayView2<f64>) -> Result<Array2<f64>> {
    let d = weights.nrows();
    let scale: Vec<f64> = weights.diag().iter().map(|weight| weight.sqrt()).collect();
    let unit = Mat::from_fn(d, d, |i, j| weights[[i, j]] / scale[i] / scale[j]);
    let is_symmetric = (0..d).all(|i| (0..d).all(|j| (unit[(i, j)] - unit[(j, i)]).abs() < 1e-12));
    if !is_symmetric {
        // A NaN is not symmetric either.
        return Err(Error::NotPositiveDefinite);
    }
    let factor = unit.llt(Side::Lower).map_err(|_| Error::NotPositiveDefinite)?;
    let inverse = factor.inverse();
    let stiffness = Array2::from_shape_fn((d, d), |(i, j)| {
        (inverse[(i, j)] + inverse[(j, i)]) / 2.0 / scale[i] / scale[j]
    });
    match stiffness.iter().all(|entry| entry.is_finite()) && stiffness.diag().iter().all(|entry| *entry > 0.0)
    {
        true => Ok(stiffness),
        false => Err(Error::NotPositiveDefinite),
    }
}

/// The part of the box outside which w is negligible, and the least value of (λ/4)·‖n‖².
///
/// Along axis i, ln w falls at least at the rate √((V − E)/Dᵢᵢ). Here V is the potential (λ/4)·nᵢ² along the
/// axis above its least value, and D = Π⁻¹ is `stiffness`. E is an upper bound on the energy along axis i,
/// also above the least potential. It is an upper bound on the total energy, less a lower bound on the energy
/// along all other axes. The product of the states along the axes gives the upper bound (the terms of the
/// equation that couple two axes vanish by symmetry). The lower bound comes from κ·diag(D) ≤ D, where κ is
/// the least eigenvalue of D scaled to a unit diagonal.
fn cut(lambda: f64, stiffness: &Array2<f64>, bounds: &[(f64, f64)]) -> Result<(Vec<(f64, f64)>, f64)> {
    let d = bounds.len();
    let unit = Array2::from_shape_fn((d, d), |(i, j)| {
        stiffness[[i, j]] / stiffness[[i, i]].sqrt() / stiffness[[j, j]].sqrt()
    });
    let kappa = Eigen::new(&unit).ok_or(Error::NotPositiveDefinite)?.values()[0].min(1.0);
    if kappa.is_nan() || kappa <= 0.0 {
        return Err(Error::NotPositiveDefinite);
    }
    let floor = |(lower, upper): (f64, f64)| lambda / 4.0 * 0f64.clamp(lower, upper).powi(2);
    let excess = |axis: usize, share: f64| {
        let (lower, upper) = bounds[axis];
        let state = GroundState::new(lambda, 1.0 / (stiffness[[axis, axis]] * share), lower, upper)?;
        Ok(state.mu() - floor(bounds[axis]))
    };
    let most = (0..d).map(|axis| excess(axis, 1.0)).collect::<Result<Vec<_>>>()?;
    let least = (0..d).map(|axis| excess(axis, kappa)).collect::<Result<Vec<_>>>()?;
    let total: f64 = most.iter().sum();
    let others: f64 = least.iter().sum();
    let cut = bounds.iter().enumerate().map(|(axis, &(lower, upper))| {
        let centre = 0f64.clamp(lower, upper);
        let energy = total - (others - least[axis]);
        let reach = |side: f64, wall: f64| {
            let potential = |s: f64| lambda / 4.0 * s * (s + 2.0 * side * centre);
            centre + side * reach(potential, energy, stiffness[[axis, axis]], (wall - centre).abs())
        };
        (reach(-1.0, lower), reach(1.0, upper))
    });
    Ok((cut.collect(), bounds.iter().map(|pair| floor(*pair)).sum()))
}

/// The distance from the point of least potential at which w has fallen by the factor e^−[`DEEPEST`], at most
/// `wall`, the distance of the boundary.
fn reach(potential: impl Fn(f64) -> f64, energy: f64, stiffness: f64, wall: f64) -> f64 {
    const STEPS: usize = 256;
    // The midpoint rule is enough: finer rules need smooth functions, and the result need not be exact.
    let falls = |distance: f64| -> f64 {
        let step = distance / STEPS as f64;
        let places = (0..STEPS).map(|at| (at as f64 + 0.5) * step);
        places.map(|s| ((potential(s) - energy).max(0.0) / stiffness).sqrt() * step).sum()
    };
    if falls(wall) <= DEEPEST {
        return wall;
    }
    let (mut near, mut far) = (0.0, wall);
    for _ in 0..1100 {
        let middle = if far > 4.0 * near && near > 0.0 { (near * far).sqrt() } else { (near + far) / 2.0 };
        if falls(middle) > DEEPEST {
            far = middle
        } else {
            near = middle
        }
        if far - near <= 1e-3 * far {
            break;
        }
    }
    far
}

/// The equation for w as the eigenvalue problem of a matrix, with one row and one column for each product of
/// states along the axes.
#[derive(Debug, Clone, PartialEq)]
struct Equation {
    /// The inverse Π⁻¹ of the weight matrix Π (d × d).
    stiffness: Array2<f64>,
    axes: Vec<Axis>,
    /// The sum of the states' energies for each product of states.
    energies: Vec<f64>,
}

impl Equation {
    fn new(lambda: f64, stiffness: &Array2<f64>, bounds: &[(f64, f64)], count: usize) -> Result<Self> {
        let axes = bounds
            .iter()
            .enumerate()
            .map(|(axis, (lower, upper))| Axis::new(lambda, stiffness[[axis, axis]], *lower, *upper, count));
        let axes = axes.collect::<Result<Vec<_>>>()?;
        let mut energies = vec![0.0];
        for axis in &axes {
            energies = energies
                .iter()
                .flat_map(|sum| axis.energies.iter().map(move |energy| sum + energy))
                .collect();
        }
        Ok(Self { stiffness: stiffness.clone(), axes, energies })
    }

    /// The least eigenvalue of the equation's matrix, and its eigenvector of length 1.
    fn lowest(&self) -> Result<(f64, Vec<f64>)> {
        let mut start = vec![0.0; self.energies.len()];
        start[0] = 1.0;
        let run = Executor::new(self, LocallyOptimal::new(RESIDUAL))
            .configure(|state| state.param(start).max_iters(MOST_STEPS))
            .timer(false)
            .run()
            .map_err(|error| Error::Loop(error.to_string()))?;
        let (residual, Some(x)) = (run.state.get_best_cost(), run.state.get_best_param()) else {
            return Err(Error::Loop("it found no vector".into()));
        };
        if residual.is_nan() || residual > ROUNDING {
            return Err(Error::NotConverged { error: residual, tolerance: ROUNDING });
        }
        Ok((dot(x, &self.times(x)), x.clone()))
    }

    /// Applies `matrix`, which acts on the states along the axis with index `axis`, to the coefficients
    /// `parts` of the products of states.
    fn along(&self, matrix: &Array2<f64>, axis: usize, parts: &[f64]) -> Vec<f64> {
        let size = |axes: &[Axis]| axes.iter().map(|axis| axis.energies.len()).product::<usize>();
        let (count, inner) = (self.axes[axis].energies.len(), size(&self.axes[axis + 1..]));
        let mut image = Vec::with_capacity(parts.len());
        if inner == 1 {
            // Many short rows form one matrix.
            let rows = ArrayView2::from_shape((parts.len() / count, count), parts);
            return rows.map(|rows| rows.dot(&matrix.t()).into_raw_vec_and_offset().0).unwrap_or_default();
        }
        for block in parts.chunks(count * inner) {
            if let Ok(block) = ArrayView2::from_shape((count, inner), block) {
                image.extend(matrix.dot(&block));
            }
        }
        image
    }
}

/// Relative residual at which the iteration for the least eigenvalue ([`LocallyOptimal`]) stops. The relative
/// error of the eigenvalue is about the square of this residual.
const RESIDUAL: f64 = 1e-9;
/// Largest relative residual that is accepted if rounding errors prevent a smaller one.
const ROUNDING: f64 = 1e-6;
const MOST_STEPS: u64 = 1000;

impl Matrix for &Equation {
    fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut image: Vec<f64> = self.energies.iter().zip(x).map(|(energy, x)| energy * x).collect();
        for i in 0..self.axes.len() {
            for j in i + 1..self.axes.len() {
                let coupling = self.stiffness[[i, j]];
                if coupling == 0.0 {
                    continue;
                }
                let slope = self.along(&self.axes[i].slopes, i, x);
                let slopes = self.along(&self.axes[j].slopes, j, &slope);
                image.iter_mut().zip(slopes).for_each(|(sum, x)| *sum -= 2.0 * coupling * x);
            }
        }
        image
    }

    fn roughly_solved(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.energies).map(|(x, energy)| x / energy).collect()
    }
}
