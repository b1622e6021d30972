//! The lowest energy, from solutions that are shot from both ends.

use crate::{Error, Result};
use argmin::core::{CostFunction, Executor, State};
use argmin::solver::brent::BrentRoot;

/// A solution of a linear equation of second order at a point: a value and a slope, times e^`log_scale`. So none is too large
/// or too small for a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wave {
    pub(crate) value: f64,
    pub(crate) slope: f64,
    pub(crate) log_scale: f64,
}

impl Wave {
    /// What leaves a wall: zero, and rising at slope 1.
    pub(crate) const AT_A_WALL: Self = Self { value: 0.0, slope: 1.0, log_scale: 0.0 };

    /// The same, with a value and a slope of ordinary size.
    pub(crate) fn scaled(self) -> Self {
        let size = self.value.abs() + self.slope.abs();
        Self { value: self.value / size, slope: self.slope / size, log_scale: self.log_scale + size.ln() }
    }
}

/// Prüfer's angle θ of a solution, tan θ = w/w′: zero at the wall, π more at every zero of w. It grows with the energy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Angle {
    zeros: f64,
    sign: f64,
}

impl Angle {
    pub(crate) const AT_A_WALL: Self = Self { zeros: 0.0, sign: 1.0 };

    /// Goes on to the solution's next point; between the two it has one zero at most.
    pub(crate) fn pass(&mut self, next: &Wave) {
        if next.value * self.sign < 0.0 {
            self.sign = -self.sign;
            self.zeros += 1.0;
        }
    }

    /// At the point passed last, where the solution is `there`.
    pub(crate) fn at(self, there: &Wave) -> f64 {
        self.zeros * std::f64::consts::PI + (there.value * self.sign).atan2(there.slope * self.sign)
    }
}

/// The energy at which the angles of both solutions, each seen from its own wall, add up to π where they meet: the lowest one.
///
/// `angles` is that sum, which grows with the energy; it is less than π at `below`, and π or more at `above`.
pub(crate) fn lowest_energy(angles: impl Fn(f64) -> f64, below: f64, above: f64) -> Result<f64> {
    let run = Executor::new(Excess(angles), BrentRoot::new(below, above, 0.0))
        .configure(|state| state.max_iters(MOST_STEPS))
        .timer(false)
        .run()
        .map_err(|error| Error::Loop(error.to_string()))?;
    run.state.get_param().copied().ok_or_else(|| Error::Loop("it found no energy".into()))
}

/// Brent's method halves the interval at every other step at the least, and a float has 64 bits.
const MOST_STEPS: u64 = 200;

/// By how much the sum of the angles exceeds π.
struct Excess<F>(F);

impl<F: Fn(f64) -> f64> CostFunction for Excess<F> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, energy: &f64) -> std::result::Result<f64, argmin::core::Error> {
        Ok((self.0)(*energy) - std::f64::consts::PI)
    }
}
