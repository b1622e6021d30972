//! The lowest energy at which w″ = (potential − energy)·w has a solution w ≠ 0 that is zero at both ends of
//! an interval, the *walls*. It is found by the shooting method: solutions start at both walls, and must
//! match at the point where they meet.

use crate::{Error, Result};
use argmin::core::{CostFunction, Executor, State};
use argmin::solver::brent::BrentRoot;

/// A solution of a linear second-order equation at a point: a value and a slope, both to be multiplied by
/// e^`log_scale`. The scale keeps both within the range of floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wave {
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) log_scale: f64,
}

impl Wave {
    /// The solution at a wall: value zero and slope 1.
    pub(crate) const AT_A_WALL: Self = Self { value: 0.0, slope: 1.0, log_scale: 0.0 };

    /// The same solution, scaled so that |`value`| + |`slope`| = 1.
    pub(crate) fn scaled(self) -> Self {
        let size = self.value.abs() + self.slope.abs();
        Self { value: self.value / size, slope: self.slope / size, log_scale: self.log_scale + size.ln() }
    }
}

/// Prüfer's angle θ of a solution w, with tan θ = w/w′. It is zero at the wall, and grows by π from each zero
/// of w to the next. At a fixed point beyond the wall, it increases with the energy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Angle {
    zeros: f64,
    sign: f64,
}

impl Angle {
    pub(crate) const AT_A_WALL: Self = Self { zeros: 0.0, sign: 1.0 };

    /// Advances to the next point of the solution. The solution must have at most one zero between the two
    /// points.
    pub(crate) fn pass(&mut self, next: &Wave) {
        if next.value * self.sign < 0.0 {
            self.sign = -self.sign;
            self.zeros += 1.0;
        }
    }

    /// The angle at the last point passed, where the solution is `wave`.
    pub(crate) fn at(self, wave: &Wave) -> f64 {
        self.zeros * std::f64::consts::PI + (wave.value * self.sign).atan2(wave.slope * self.sign)
    }
}

/// Finds the lowest energy. At this energy, Prüfer's angles of the solutions from both walls add up to π at
/// the point where the solutions meet.
///
/// `angles` returns the sum of the two angles and increases with the energy. It is less than π at `below`,
/// and at least π at `above`.
pub(crate) fn lowest_energy(angles: impl Fn(f64) -> f64, below: f64, above: f64) -> Result<f64> {
    let run = Executor::new(Excess(angles), BrentRoot::new(below, above, 0.0))
        .configure(|state| state.max_iters(MOST_STEPS))
        .timer(false)
        .run()
        .map_err(|error| Error::Loop(error.to_string()))?;
    run.state.get_param().copied().ok_or_else(|| Error::Loop("it found no energy".into()))
}

/// Largest number of steps of Brent's method. It halves the interval at least at every other step, and a
/// float has 64 bits.
const MOST_STEPS: u64 = 200;

/// The excess of the sum of Prüfer's angles from both walls over π, as a function of the energy.
struct Excess<F>(F);

impl<F: Fn(f64) -> f64> CostFunction for Excess<F> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, energy: &f64) -> std::result::Result<f64, argmin::core::Error> {
        Ok((self.0)(*energy) - std::f64::consts::PI)
    }
}
