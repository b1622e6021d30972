//! Integration of w″ = (kx² + gx − F)·w from a wall inwards by Taylor series. A *wall* is an end of an
//! interval, at which the function w of x is zero. kx² + gx is the potential, with given numbers k and g, and
//! F is the energy.

use crate::shooting::{Angle, Wave};

/// The potential kx² + gx, in units in which k and |g| are at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Potential {
    pub(crate) quadratic: f64,
    pub(crate) linear: f64,
}

impl Potential {
    pub(crate) fn at(self, x: f64) -> f64 {
        (self.quadratic * x + self.linear) * x
    }

    /// The potential as a function of −x.
    pub(crate) fn mirrored(self) -> Self {
        Self { linear: -self.linear, ..self }
    }

    /// The solution of w″ = (kx² + gx − F)·w at x + `step`, given the solution `from` at `x`.
    ///
    /// The Taylor series converges everywhere. In a step of at most 1/(1 + √|kx² + gx|) its terms fall like
    /// the terms of the series of an exponential function, and no terms cancel where w grows.
    pub(crate) fn advanced(self, energy: f64, from: &Wave, x: f64, step: f64) -> Wave {
        let squared = step * step;
        let [q0, q1, q2] = [
            squared * (self.at(x) - energy),
            squared * step * (2.0 * self.quadratic * x + self.linear),
            squared * squared * self.quadratic,
        ];
        // The last three terms of the series, each including its power of the step.
        let (mut t0, mut t1, mut t2) = (0.0, from.value, from.slope * step);
        let mut value = t1 + t2;
        let mut slope = t2;
        let mut older = 0.0;
        for at in 2..MOST_TERMS {
            let n = f64::from(at);
            let term = (q0 * t1 + q1 * t0 + q2 * older) / (n * (n - 1.0));
            (older, t0, t1, t2) = (t0, t1, t2, term);
            value += term;
            slope += n * term;
            if (t0.abs() + t1.abs() + t2.abs()) * n <= ENOUGH * (value.abs() + slope.abs()) {
                break;
            }
        }
        let slope = if step == 0.0 { from.slope } else { slope / step };
        Wave { value, slope, log_scale: from.log_scale }
    }
}

const MOST_TERMS: u32 = 60;
const ENOUGH: f64 = 1e-18;

/// The longest step of x in the integration of w. It is shorter than the distance of two zeros of w, which is
/// at least π/√F with F at most π² + 2.
const LONGEST_STEP: f64 = 0.5;

/// A solution from a wall to the point where it meets the solution from the other wall.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sweep {
    potential: Potential,
    energy: f64,
    /// The points, ascending from the wall, and the solution at each point.
    mesh: Vec<(f64, Wave)>,
}

impl Sweep {
    /// Integrates from `wall` to `meeting`.
    pub(crate) fn new(potential: Potential, energy: f64, wall: f64, meeting: f64) -> Self {
        let mut mesh = vec![(wall, Wave::AT_A_WALL)];
        let (mut x, mut wave) = (wall, Wave::AT_A_WALL);
        while x < meeting {
            let step = step_at(potential, x);
            let next = if x + step < meeting { x + step } else { meeting };
            wave = potential.advanced(energy, &wave, x, next - x).scaled();
            x = next;
            mesh.push((x, wave));
        }
        Self { potential, energy, mesh }
    }

    /// Prüfer's angle θ of the solution w (tan θ = w/w′), at the point where it meets the solution from the
    /// other wall.
    pub(crate) fn angle(&self) -> f64 {
        let mut angle = Angle::AT_A_WALL;
        self.mesh.iter().for_each(|(_, wave)| angle.pass(wave));
        angle.at(&self.last())
    }

    /// The solution at the point where it meets the solution from the other wall.
    pub(crate) fn last(&self) -> Wave {
        self.mesh.last().map_or(Wave::AT_A_WALL, |(_, wave)| *wave)
    }

    /// The point where the solutions from both walls meet.
    pub(crate) fn end(&self) -> f64 {
        self.mesh.last().map_or(0.0, |(place, _)| *place)
    }

    /// The solution at `x`, and zero outside the swept interval.
    pub(crate) fn at(&self, x: f64) -> Wave {
        let after = self.mesh.partition_point(|(place, _)| *place <= x);
        let inside = after < self.mesh.len() || self.mesh.last().is_some_and(|(place, _)| *place == x);
        match after.checked_sub(1) {
            Some(at) if inside => {
                let (place, wave) = &self.mesh[at];
                self.potential.advanced(self.energy, wave, *place, x - place)
            }
            _ => Wave { value: 0.0, slope: 0.0, log_scale: 0.0 },
        }
    }

    /// Calls `visit` for parts of [`from`, `to`]. In each part the solution is one polynomial.
    ///
    /// `visit` gets the expansion point of the part's series with the solution at this point, and the two
    /// ends of the part.
    fn parts(&self, from: f64, to: f64, mut visit: impl FnMut(&(f64, Wave), f64, f64)) {
        let first = self.mesh.partition_point(|(place, _)| *place <= from).saturating_sub(1);
        for pair in self.mesh[first..].windows(2) {
            let (start, end) = (pair[0].0.max(from), pair[1].0.min(to));
            if start < end {
                visit(&pair[0], start, end);
            }
            if pair[1].0 >= to {
                break;
            }
        }
    }

    /// The integral of `f`, a function of x and the solution at x, over [`from`, `to`]. It applies the
    /// quadrature `rule` to each part.
    pub(crate) fn integral<const N: usize>(
        &self,
        rule: &[(f64, f64)],
        from: f64,
        to: f64,
        f: impl Fn(f64, &Wave) -> [f64; N],
    ) -> [f64; N] {
        let mut sums = [0.0; N];
        self.parts(from, to, |(place, wave), start, end| {
            let half = (end - start) / 2.0;
            for (node, weight) in rule {
                let x = start + half * (1.0 + node);
                let advanced = self.potential.advanced(self.energy, wave, *place, x - place);
                for (sum, value) in sums.iter_mut().zip(f(x, &advanced)) {
                    *sum += half * weight * value;
                }
            }
        });
        sums
    }
}

fn step_at(potential: Potential, x: f64) -> f64 {
    (1.0 / (1.0 + potential.at(x).abs().sqrt())).min(LONGEST_STEP)
}
