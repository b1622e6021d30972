//! One dimension.

use crate::quadrature::gauss_legendre;
use crate::shooting::{Wave, lowest_energy};
use crate::sweep::{Potential, Sweep};
use crate::{Error, Result};

/// The density γ = w² on [a, b] that minimises (Fisher information)/ϑ + λ·(second moment).
///
/// # Derivation
/// The Fisher information of γ = w² is ∫γ′²/γ = 4∫w′², so the objective is 4·(∫w′²/ϑ + (λ/4)∫n²w²), to be minimised with
/// ∫w² = 1. It is finite only where w vanishes at both ends, if it is continued by zero. Stationarity gives
/// −w″/ϑ + (λ/4)·n²·w = μ·w; multiplied by w and integrated, the objective is 4μ. So the least μ gives the minimum, and
/// its w has no zero inside. The variable n is the noise itself (the paper's Theorem 2.6 writes the equation in Π^{1/2}·n,
/// and its Corollary 2.7 drops that scale).
///
/// γ is strictly log-concave for any a < b: (log w)″ < 0, since the potential is convex (Brascamp and Lieb 1976).
///
/// # Accuracy
/// From each wall w grows inwards, and is followed in that direction by Taylor's series, with its scale kept apart. So μ and the
/// moments are right to some 10⁻¹⁴, and the density to a *relative* 10⁻¹² or so everywhere, however small it is, until it leaves the
/// floats; it is zero there. Each density carries rounding of its own: log-concavity can be seen on grids whose spacing is not
/// much below 10⁻⁶ of the density's width.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundState {
    lambda: f64,
    weight: f64,
    lower: f64,
    upper: f64,
    units: Units,
    mu: f64,
    /// From the wall on either side to where they meet: toward ascending t, and descending.
    sides: [Sweep; 2],
    /// The logarithms of what makes each side a part of the one w, in units of t.
    log_norms: [f64; 2],
    moments: Moments,
    rule: Vec<(f64, f64)>,
}

/// n = centre + unit·t: `centre` is where the potential is least, and t = 0. `unit` is negative where [a, b] lies below zero, so
/// that the potential grows with t there too.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Units {
    centre: f64,
    unit: f64,
}

impl Units {
    fn t(self, n: f64) -> f64 {
        (n - self.centre) / self.unit
    }

    fn n(self, t: f64) -> f64 {
        self.centre + self.unit * t
    }
}

/// In units of t, of the normalised w².
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    mean: f64,
    square: f64,
    /// ∫w′².
    bending: f64,
}

/// Beyond e^−this, a w is no longer followed: w² left the floats at e^−373 of its maximum.
const DEEPEST: f64 = 400.0;

/// An energy that exceeds the lowest one: in a piece of length 1 in which the potential is at most 2, there is a sine of this one.
const ABOVE: f64 = std::f64::consts::PI * std::f64::consts::PI + 2.0;

impl GroundState {
    /// The ground state with λ ≥ 0 on the second moment and ϑ > 0 on the noise (`weight`), between `lower` and `upper`.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a λ or ϑ that is not so, or infinite; [`Error::Interval`] unless `lower` < `upper` and both are
    /// finite; [`Error::Range`] where μ or a moment leaves the floats.
    pub fn new(lambda: f64, weight: f64, lower: f64, upper: f64) -> Result<Self> {
        if !(lambda >= 0.0 && lambda.is_finite()) {
            return Err(Error::Parameter { name: "lambda", range: "finite and not negative", value: lambda });
        }
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(Error::Parameter { name: "weight", range: "finite and positive", value: weight });
        }
        if !(lower < upper && lower.is_finite() && upper.is_finite()) {
            return Err(Error::Interval { lower, upper });
        }
        let width = upper - lower;
        let centre = 0f64.clamp(lower, upper);
        // The length on which w changes: that of a Gaussian, that of a linear potential, or the interval's.
        let round = std::f64::consts::SQRT_2 / lambda.powf(0.25) / weight.powf(0.25);
        let steep = 2f64.cbrt() / lambda.cbrt() / weight.cbrt() / centre.abs().cbrt();
        let length = width.min(round).min(steep);
        if !(length.is_normal() && width.is_finite()) {
            return Err(Error::Range { quantity: "the width" });
        }
        let units = Units { centre, unit: if centre == upper { -length } else { length } };
        let potential = Potential { quadratic: (length / round).powi(4), linear: (length / steep).powi(3) };
        let (left, right) = match units.unit > 0.0 {
            true => (units.t(lower), units.t(upper)),
            false => (units.t(upper), units.t(lower)),
        };
        let reach = reach(potential);
        let (left, right) = (left.max(-reach), right.min(reach));
        let meeting = (left.max(-1.0) + right.min(1.0)) / 2.0;
        let sides = |energy| {
            [
                Sweep::new(potential, energy, left, meeting),
                Sweep::new(potential.mirrored(), energy, -right, -meeting),
            ]
        };
        let angles = |energy| sides(energy).iter().map(Sweep::angle).sum();
        let energy = lowest_energy(angles, 0.0, ABOVE)?;
        let sides = sides(energy);
        let rule = gauss_legendre(PLACES);
        let (log_norms, moments) = normalised(&sides, &rule);
        let mu = lambda * centre / 4.0 * centre + energy / weight / length / length;
        let state = Self { lambda, weight, lower, upper, units, mu, sides, log_norms, moments, rule };
        let quantities = [
            ("mu", state.mu()),
            ("the Fisher information", state.fisher_information()),
            ("the variance", state.variance()),
            ("the second moment", state.second_moment()),
            ("the objective", state.objective()),
        ];
        match quantities.into_iter().find(|(_, value)| !(value.is_normal() && *value > 0.0)) {
            Some((quantity, _)) => Err(Error::Range { quantity }),
            None => Ok(state),
        }
    }

    /// μ, the least for which the equation has a solution; the objective is 4μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// ϑ.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The interval's ends, a and b.
    pub fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// γ(n) = w(n)²: the density at n; 0 outside of (a, b).
    pub fn density(&self, n: f64) -> f64 {
        (2.0 * self.log_amplitude(n)).exp()
    }

    /// w(n) ≥ 0, with ∫w² = 1; 0 outside of (a, b).
    pub fn amplitude(&self, n: f64) -> f64 {
        self.log_amplitude(n).exp()
    }

    /// The logarithm of γ(n): accurate to some 10⁻¹², and −∞ outside of (a, b) and some 800 below the maximum.
    pub fn log_density(&self, n: f64) -> f64 {
        2.0 * self.log_amplitude(n)
    }

    /// The mass of [from, to], ∫w²; 0 unless `from` < `to`. It costs 16 evaluations for each piece in which w is one series, of which
    /// there are some hundreds in all.
    pub fn mass(&self, from: f64, to: f64) -> f64 {
        // No bound that is a NaN passes the first, nor an empty interval the second.
        if !(from < to && from.max(self.lower) < to.min(self.upper)) {
            return 0.0;
        }
        let (from, to) = (from.max(self.lower), to.min(self.upper));
        let (one, other) = (self.units.t(from), self.units.t(to));
        let (from, to) = (one.min(other), one.max(other));
        let of_side = |side: usize, from: f64, to: f64| {
            let norm = self.log_norms[side];
            let squared =
                |_: f64, wave: &Wave| [wave.value * wave.value * (2.0 * (wave.log_scale + norm)).exp()];
            self.sides[side].integral(&self.rule, from, to, squared)[0]
        };
        of_side(0, from, to) + of_side(1, -to, -from)
    }

    /// 4∫w′².
    pub fn fisher_information(&self) -> f64 {
        4.0 * self.moments.bending / self.units.unit / self.units.unit
    }

    /// ∫n·w².
    pub fn mean(&self) -> f64 {
        self.units.n(self.moments.mean)
    }

    /// ∫n²·w².
    pub fn second_moment(&self) -> f64 {
        let Units { centre, unit } = self.units;
        centre * centre + unit * (2.0 * centre * self.moments.mean + unit * self.moments.square)
    }

    /// ∫(n − mean)²·w².
    pub fn variance(&self) -> f64 {
        let Moments { mean, square, .. } = self.moments;
        (square - mean * mean) * self.units.unit * self.units.unit
    }

    /// (Fisher information)/ϑ + λ·(second moment), from the moments. It equals 4μ, which checks both.
    pub fn objective(&self) -> f64 {
        self.fisher_information() / self.weight + self.lambda * self.second_moment()
    }

    fn log_amplitude(&self, n: f64) -> f64 {
        if !(self.lower < n && n < self.upper) {
            return f64::NEG_INFINITY;
        }
        let t = self.units.t(n);
        let of_side = |side: usize, x: f64| {
            let wave = self.sides[side].at(x);
            // Rounding may lead below zero at a wall.
            wave.value.max(0.0).ln() + wave.log_scale + self.log_norms[side]
        };
        let meeting = self.sides[0].end();
        let log = if t <= meeting { of_side(0, t) } else { of_side(1, -t) };
        log - self.units.unit.abs().ln() / 2.0
    }
}

/// How many places the integral over one piece takes: w² is a polynomial to rounding, of degree 31 at most.
const PLACES: usize = 16;

/// Where w has fallen by e^−[`DEEPEST`].
fn reach(potential: Potential) -> f64 {
    let round = (2.0 * DEEPEST / potential.quadratic.sqrt()).sqrt();
    let steep = (1.5 * DEEPEST / potential.linear.sqrt()).powf(2.0 / 3.0);
    round.min(steep)
}

/// What makes both sides meet, in one w with ∫w² = 1 (logarithms), and its moments.
fn normalised(sides: &[Sweep; 2], rule: &[(f64, f64)]) -> ([f64; 2], Moments) {
    // Each is 1 where they meet.
    let met = sides.each_ref().map(|side| {
        let wave = side.last();
        -wave.value.ln() - wave.log_scale
    });
    let sums = [0, 1].map(|side| {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let terms = |x: f64, wave: &Wave| {
            let scale = (2.0 * (wave.log_scale + met[side])).exp();
            let density = wave.value * wave.value * scale;
            [density, sign * x * density, x * x * density, wave.slope * wave.slope * scale]
        };
        sides[side].integral(rule, f64::NEG_INFINITY, f64::INFINITY, terms)
    });
    let [mass, mean, square, bending]: [f64; 4] = std::array::from_fn(|at| sums[0][at] + sums[1][at]);
    let moments = Moments { mean: mean / mass, square: square / mass, bending: bending / mass };
    (met.map(|log| log - mass.ln() / 2.0), moments)
}
