//! Ground states in one dimension.
//!
//! Noise n on [a, b] has the density γ = w² that minimises (Fisher information)/ϑ + λ·(second moment), for
//! weights ϑ > 0 and λ ≥ 0. The amplitude w solves −w″/ϑ + (λ/4)·n²·w = μ·w with the least μ. (λ/4)·n² is the
//! potential, and μ the energy. The *walls* are the ends a and b, at which w is zero. Solutions start at both
//! walls and meet at a point in between.

use crate::quadrature::gauss_legendre;
use crate::shooting::{Wave, lowest_energy};
use crate::sweep::{Potential, Sweep};
use crate::{Error, Result};

/// The density γ = w² on [a, b] that minimises the objective (Fisher information)/ϑ + λ·(second moment), for
/// weights ϑ > 0 and λ ≥ 0.
///
/// # Derivation
/// The Fisher information of γ = w² is ∫γ′²/γ = 4∫w′². So the objective is 4·(∫w′²/ϑ + (λ/4)∫n²w²), to be
/// minimised with ∫w² = 1. If w is zero outside [a, b], the objective is finite only if w vanishes at both
/// ends. Stationarity gives −w″/ϑ + (λ/4)·n²·w = μ·w. Multiplying by w and integrating shows that the
/// objective is 4μ. So the least μ gives the minimum, and its w has no zero inside the interval. The variable
/// n is the noise itself. Theorem 2.6 of Farokhi (2020) writes the equation in Π^{1/2}·n for a weight matrix
/// Π, and Corollary 2.7 there drops the scale Π^{1/2}.
///
/// γ is strictly log-concave for any a < b: (log w)″ < 0, since the potential is convex (Brascamp and Lieb
/// 1976).
///
/// # Accuracy
/// w grows inwards from each wall. A Taylor series follows w in this direction, and the scale of w is stored
/// separately. So μ and the moments are accurate to about 10⁻¹⁴. The density has a *relative* error of about
/// 10⁻¹² everywhere, however small the density is. A density below the range of floats is zero. Each density
/// value has its own rounding error. On grids whose spacing is much below 10⁻⁶ of the density's width, these
/// errors hide the log-concavity.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundState {
    lambda: f64,
    weight: f64,
    lower: f64,
    upper: f64,
    units: Units,
    mu: f64,
    /// The solutions from both walls to their meeting point: in the direction of ascending t, and of
    /// descending t. t is the coordinate of [`Units`].
    sides: [Sweep; 2],
    /// The logarithms of two factors, one for the solution from each wall. The solutions times their factors
    /// are equal at the meeting point, and form one function w of t with ∫w² = 1. t is the coordinate of
    /// [`Units`].
    log_norms: [f64; 2],
    moments: Moments,
    rule: Vec<(f64, f64)>,
}

/// The transformation n = centre + unit·t.
///
/// The potential is least at `centre`, where t = 0. `unit` is negative if [a, b] is below zero, so that the
/// potential grows with t also in this case.
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

/// Moments of the density w² of t, the coordinate of [`Units`], with ∫w² = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    mean: f64,
    square: f64,
    /// The integral ∫w′².
    bending: f64,
}

/// Depth at which the computation of w ends: e^−`DEEPEST` of its maximum. w² leaves the range of floats where
/// w is e^−373 of its maximum.
const DEEPEST: f64 = 400.0;

/// Upper bound on the lowest energy, for the equation in t, the coordinate of [`Units`]. The interval of t
/// contains a piece of length 1 on which the potential is at most 2. A sine on this piece has at most this
/// energy.
const ABOVE: f64 = std::f64::consts::PI * std::f64::consts::PI + 2.0;

impl GroundState {
    /// Computes the ground state between `lower` and `upper`, for the factor λ ≥ 0 of the second moment and
    /// the weight ϑ > 0 (`weight`) that divides the Fisher information.
    ///
    /// # Errors
    /// [`Error::Parameter`] if λ or ϑ is out of range or infinite; [`Error::Interval`] unless `lower` <
    /// `upper` and both are finite; [`Error::Range`] if the width, μ or a moment is outside the range of
    /// floats.
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
        // The length over which w changes: the least of the lengths of a Gaussian, of the solution for a
        // linear potential, and of the interval.
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

    /// The least μ for which the equation −w″/ϑ + (λ/4)·n²·w = μ·w has a solution w ≠ 0 that is zero at both
    /// ends of the interval. The objective is 4μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The factor λ of the second moment.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The weight ϑ that divides the Fisher information.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The ends a and b of the interval.
    pub fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// The density γ(n) = w(n)² at `n`; 0 outside (a, b).
    pub fn density(&self, n: f64) -> f64 {
        (2.0 * self.log_amplitude(n)).exp()
    }

    /// The amplitude w(n) ≥ 0, the root of the density; 0 outside (a, b).
    pub fn amplitude(&self, n: f64) -> f64 {
        self.log_amplitude(n).exp()
    }

    /// The logarithm of the density γ(n), accurate to about 10⁻¹². It is −∞ outside the interval (a, b), and
    /// where it is about 800 below its maximum.
    pub fn log_density(&self, n: f64) -> f64 {
        2.0 * self.log_amplitude(n)
    }

    /// The mass ∫w² of the density γ = w² over [`from`, `to`]; 0 unless `from` < `to`.
    ///
    /// It costs 16 evaluations for each piece on which w is one series. There are some hundreds of pieces in
    /// all.
    pub fn mass(&self, from: f64, to: f64) -> f64 {
        // The first condition excludes NaN bounds, and the second excludes empty intervals.
        if !(from < to && from.max(self.lower) < to.min(self.upper)) {
            return 0.0;
        }
        let (from, to) = (from.max(self.lower), to.min(self.upper));
        let (one, other) = (self.units.t(from), self.units.t(to));
        let (from, to) = (one.min(other), one.max(other));
        let side_mass = |side: usize, from: f64, to: f64| {
            let norm = self.log_norms[side];
            let squared =
                |_: f64, wave: &Wave| [wave.value * wave.value * (2.0 * (wave.log_scale + norm)).exp()];
            self.sides[side].integral(&self.rule, from, to, squared)[0]
        };
        side_mass(0, from, to) + side_mass(1, -to, -from)
    }

    /// The Fisher information 4∫w′² of the density γ = w².
    pub fn fisher_information(&self) -> f64 {
        4.0 * self.moments.bending / self.units.unit / self.units.unit
    }

    /// The mean ∫n·w² of the density γ = w².
    pub fn mean(&self) -> f64 {
        self.units.n(self.moments.mean)
    }

    /// The second moment ∫n²·w² of the density γ = w².
    pub fn second_moment(&self) -> f64 {
        let Units { centre, unit } = self.units;
        centre * centre + unit * (2.0 * centre * self.moments.mean + unit * self.moments.square)
    }

    /// The variance ∫(n − mean)²·w² of the density γ = w².
    pub fn variance(&self) -> f64 {
        let Moments { mean, square, .. } = self.moments;
        (square - mean * mean) * self.units.unit * self.units.unit
    }

    /// The objective (Fisher information)/ϑ + λ·(second moment) of the density, computed from its moments. It
    /// equals 4μ up to rounding, which checks the moments and μ.
    pub fn objective(&self) -> f64 {
        self.fisher_information() / self.weight + self.lambda * self.second_moment()
    }

    fn log_amplitude(&self, n: f64) -> f64 {
        if !(self.lower < n && n < self.upper) {
            return f64::NEG_INFINITY;
        }
        let t = self.units.t(n);
        let log_value = |side: usize, x: f64| {
            let wave = self.sides[side].at(x);
            // Rounding may give a negative value at a wall.
            wave.value.max(0.0).ln() + wave.log_scale + self.log_norms[side]
        };
        let meeting = self.sides[0].end();
        let log = if t <= meeting { log_value(0, t) } else { log_value(1, -t) };
        log - self.units.unit.abs().ln() / 2.0
    }
}

/// Number of quadrature nodes for one piece, on which one Taylor series gives w. There w² is a polynomial of
/// degree at most 31, up to rounding.
const PLACES: usize = 16;

/// The estimated t at which w has fallen by the factor e^−[`DEEPEST`].
fn reach(potential: Potential) -> f64 {
    let round = (2.0 * DEEPEST / potential.quadratic.sqrt()).sqrt();
    let steep = (1.5 * DEEPEST / potential.linear.sqrt()).powf(2.0 / 3.0);
    round.min(steep)
}

/// The logarithms of two factors, one for the solution from each wall, and the moments of w². The solutions
/// times their factors are equal at the meeting point, and form one function w with ∫w² = 1.
fn normalised(sides: &[Sweep; 2], rule: &[(f64, f64)]) -> ([f64; 2], Moments) {
    // These factors make the solution from each wall 1 at the meeting point.
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
