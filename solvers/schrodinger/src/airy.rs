//! Arbitrary potentials, in pieces on which the potential is linear and Airy functions solve the equation.
//!
//! The equation for the function w is −w″/ϑ + V·w = μ·w on an interval, with the potential V, a weight ϑ > 0
//! and the energy μ. The *walls* are the ends of the interval, at which w is zero. On each piece the equation
//! has the form w″ = Q·w, where Q is linear. A piece with Q ≤ 0 is a *well*, and one with Q ≥ 0 a *barrier*.
//! Solutions start at both walls and meet at a point in between. Prüfer's angle θ of a solution w satisfies
//! tan θ = w/w′.

use crate::shooting::{Angle, Wave, lowest_energy};
use crate::sweep::Potential;
use crate::{Error, Result};
use complex_bessel::{
    airy, airy_scaled, airyprime, airyprime_scaled, biry, biry_scaled, biryprime, biryprime_scaled,
};
use num_complex::Complex64;

/// The lowest μ for which a function w ≠ 0 satisfies −w″/ϑ + V·w = μ·w on [`lower`, `upper`] and is zero at
/// both ends. ϑ is `weight`.
///
/// V interpolates `potential` linearly between the ends of `pieces` pieces of equal length. On each piece w
/// is a combination of Airy's Ai and Bi, matched at the piece's ends. The result is exact for V, up to
/// rounding. Its difference from the lowest μ of `potential` itself falls as 1/`pieces`². To first order this
/// difference is h²/12 times the mean of the potential's second derivative under the density w², where h is
/// the length of a piece.
///
/// The method is independent of the method of [`GroundState`](crate::GroundState), and serves to check it.
///
/// # Errors
/// - [`Error::Parameter`] unless `weight` is finite and positive and `pieces` ≥ 1.
/// - [`Error::Interval`] unless `lower` < `upper` and both are finite.
/// - [`Error::Potential`] if the potential is not finite at some point.
/// - [`Error::Range`] if μ is outside the range of floats.
///
/// ```
/// use scumble_schrodinger::{GroundState, airy};
///
/// let exact = GroundState::new(4.0, 2.0, -1.0, 3.0)?.mu();
/// let by_airy = airy::ground_energy(|n| n * n, 2.0, -1.0, 3.0, 200)?;
/// assert!((by_airy - exact).abs() < 1e-4);
/// # Ok::<(), scumble_schrodinger::Error>(())
/// ```
pub fn ground_energy(
    potential: impl Fn(f64) -> f64,
    weight: f64,
    lower: f64,
    upper: f64,
    pieces: usize,
) -> Result<f64> {
    if !(weight > 0.0 && weight.is_finite()) {
        return Err(Error::Parameter { name: "weight", range: "finite and positive", value: weight });
    }
    if pieces == 0 {
        return Err(Error::Parameter { name: "pieces", range: "one or more", value: 0.0 });
    }
    if !(lower < upper && lower.is_finite() && upper.is_finite()) {
        return Err(Error::Interval { lower, upper });
    }
    let mut nodes = (0..=pieces)
        .map(|at| {
            let share = at as f64 / pieces as f64;
            let place = (1.0 - share) * lower + share * upper;
            match potential(place) {
                value if value.is_finite() => Ok((place, value)),
                value => Err(Error::Potential { place, value }),
            }
        })
        .collect::<Result<Vec<_>>>()?;
    if let [(_, start), (_, end)] = nodes[..] {
        // The solutions from both walls meet between two pieces, so a single piece is split.
        nodes.insert(1, (lower.midpoint(upper), start.midpoint(end)));
    }
    let least = nodes.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    // The walls add at least this energy above the least potential. The energy is doubled until it is an
    // upper bound on the lowest energy.
    let walls = (std::f64::consts::PI / (upper - lower)).powi(2) / weight;
    let doubled = std::iter::successors(Some(walls), |excess| Some(excess * 2.0));
    let in_floats = doubled.take_while(|excess| excess.is_normal());
    let lines = in_floats.map(|excess| (excess, Line::new(&nodes, least, excess, weight)));
    let enough = lines.into_iter().find(|(_, line)| line.angle(1.0) >= std::f64::consts::PI);
    let Some((excess, line)) = enough else { return Err(Error::Range { quantity: "mu" }) };
    let mu = least + excess * lowest_energy(|energy| line.angle(energy), 0.0, 1.0)?;
    if mu.is_finite() { Ok(mu) } else { Err(Error::Range { quantity: "mu" }) }
}

/// The pieces between the two walls, with w″ = (V − energy)·w for the potential V. Positions and potentials
/// are scaled and shifted so that ϑ = 1 and the least potential is 0. The unit of energy is large enough if
/// the lowest energy is at most 1.
struct Line {
    /// Pairs of a position and the potential at this position.
    nodes: Vec<(f64, f64)>,
    /// The index of the node at which the solutions from both walls meet.
    meeting: usize,
}

impl Line {
    fn new(nodes: &[(f64, f64)], least: f64, excess: f64, weight: f64) -> Self {
        let length = 1.0 / (weight.sqrt() * excess.sqrt());
        let nodes: Vec<_> =
            nodes.iter().map(|(place, value)| (place / length, (value - least) / excess)).collect();
        let is_low = |node: &(f64, f64)| node.1 < 1.0;
        let first = nodes.iter().position(is_low).unwrap_or(0);
        let last = nodes.iter().rposition(is_low).unwrap_or(nodes.len() - 1);
        let meeting = first.midpoint(last).clamp(1, nodes.len() - 2);
        Self { nodes, meeting }
    }

    /// The sum of Prüfer's angles of the solutions from both walls, at the point where they meet.
    fn angle(&self, energy: f64) -> f64 {
        let from_left = self.nodes[..=self.meeting].windows(2).map(|pair| (pair[0], pair[1]));
        let from_right = self.nodes[self.meeting..].windows(2).rev().map(|pair| (pair[1], pair[0]));
        angle(energy, from_left) + angle(energy, from_right)
    }
}

fn angle(energy: f64, pieces: impl Iterator<Item = ((f64, f64), (f64, f64))>) -> f64 {
    let (mut angle, mut wave) = (Angle::AT_A_WALL, Wave::AT_A_WALL);
    for ((start, potential), (end, after)) in pieces {
        let length = (end - start).abs();
        let piece = Piece { length, start: potential - energy, slope: (after - potential) / length };
        for piece in piece.at_turning_points() {
            // The piece is divided into parts so short that w has at most one zero in each. If the solution
            // may turn by more than [`MOST_TURNS`], the energy is far too large.
            let turns = piece.size();
            if piece.is_well() && turns > MOST_TURNS {
                return 2.0 * std::f64::consts::PI;
            }
            let parts = if piece.is_well() { turns.ceil().max(1.0) } else { 1.0 };
            for part in 0..parts as u32 {
                wave = piece.part(part.into(), parts).crossed(&wave).scaled();
                angle.pass(&wave);
            }
        }
    }
    angle.at(&wave)
}

/// Largest allowed [`Piece::size`] of a well (a piece with Q ≤ 0), in radians. In a larger well, the phase of
/// the solution w grows by at least two thirds of the size, because Q is linear. So w has a zero in the well.
const MOST_TURNS: f64 = 2.0 * std::f64::consts::PI;

/// A piece on which w″ = Q·w with Q = start + slope·s, for s from 0 to `length`.
#[derive(Debug, Clone, Copy)]
struct Piece {
    length: f64,
    start: f64,
    slope: f64,
}

/// Limit on the absolute value of the arguments of Airy's functions. Beyond it, the factor Q of a [`Piece`]
/// changes slowly along the piece, and the Taylor series needs few terms.
const NEAR: f64 = 10.0;

impl Piece {
    fn end(&self) -> f64 {
        self.start + self.slope * self.length
    }

    fn is_well(&self) -> bool {
        self.start + self.end() < 0.0
    }

    /// Upper bound on the number of e-folds by which the solution grows along the piece, or on the phase in
    /// radians by which it oscillates: the length times the largest √|Q|.
    fn size(&self) -> f64 {
        self.length * self.start.abs().max(self.end().abs()).sqrt()
    }

    /// The part with index `at` of `parts` equal parts.
    fn part(&self, at: f64, parts: f64) -> Self {
        let length = self.length / parts;
        Self { length, start: self.start + self.slope * length * at, slope: self.slope }
    }

    /// Splits the piece at its turning point, the zero of Q, so that wells and barriers are separate.
    fn at_turning_points(self) -> impl Iterator<Item = Self> {
        let turn = -self.start / self.slope;
        let (first, second) = if turn > 0.0 && turn < self.length && self.start * self.end() < 0.0 {
            let second = Self { length: self.length - turn, start: 0.0, slope: self.slope };
            (Self { length: turn, ..self }.up_to_zero(), Some(second))
        } else {
            (self, None)
        };
        std::iter::once(first).chain(second)
    }

    /// A piece of the same start and length, with the slope at which Q is zero at its end, up to rounding.
    fn up_to_zero(self) -> Self {
        Self { slope: -self.start / self.length, ..self }
    }

    /// The solution at the piece's end, given the solution `wave` at its start.
    fn crossed(&self, wave: &Wave) -> Wave {
        // In z = κs + start/κ², κ³ = slope, the equation is w″ = z·w.
        let kappa = self.slope.cbrt();
        let [z0, z1] = [self.start, self.end()].map(|q| q / kappa / kappa);
        // For a flat piece, neither argument is finite.
        let is_near = z0.abs() <= NEAR && z1.abs() <= NEAR;
        if !is_near && (self.is_well() || self.size() <= 1.0) {
            return self.by_series(wave);
        }
        match (Airy::at(z0), Airy::at(z1)) {
            (Some(start), Some(end)) => self.by_airy(&start, &end, kappa, wave),
            _ => self.flat(wave),
        }
    }

    /// The solution at the piece's end, given the solution `wave` at its start, by a Taylor series. It is for
    /// a factor Q that changes slowly along the piece.
    fn by_series(&self, wave: &Wave) -> Wave {
        let linear = Potential { quadratic: 0.0, linear: self.slope };
        linear.advanced(-self.start, wave, 0.0, self.length)
    }

    /// The solution at the piece's end as a combination of Ai and Bi, given the solution `wave` at its start.
    /// `start` and `end` are Airy's functions at both ends, and `kappa` is the derivative of their argument
    /// with respect to position. The coefficients follow from the Wronskian of Ai and Bi, which is 1/π.
    fn by_airy(&self, start: &Airy, end: &Airy, kappa: f64, wave: &Wave) -> Wave {
        let slope = wave.slope / kappa;
        let decaying_part = wave.value * start.growing.1 - slope * start.growing.0;
        let growing_part = slope * start.decaying.0 - wave.value * start.decaying.1;
        // The fall of Ai and the growth of Bi from start to end: ⅔(z₁^{3/2} − z₀^{3/2}), computed without
        // cancellation.
        let growth = self.growth() * kappa.signum();
        let [down, up] = [-growth, growth].map(|log| std::f64::consts::PI * (log - growth.abs()).exp());
        Wave {
            value: down * decaying_part * end.decaying.0 + up * growing_part * end.growing.0,
            slope: kappa * (down * decaying_part * end.decaying.1 + up * growing_part * end.growing.1),
            log_scale: wave.log_scale + growth.abs(),
        }
    }

    /// The integral ∫√Q over a barrier, a piece with Q ≥ 0.
    fn growth(&self) -> f64 {
        let (a, b) = (self.start.max(0.0), self.end().max(0.0));
        let (root_a, root_b) = (a.sqrt(), b.sqrt());
        2.0 / 3.0
            * self.length
            * (root_a + root_b - root_a * root_b / (root_a + root_b).max(f64::MIN_POSITIVE))
    }

    /// The solution at the end of a barrier, given the solution `wave` at its start. The slope of Q is
    /// negligible relative to Q.
    fn flat(&self, wave: &Wave) -> Wave {
        let root = self.start.max(0.0).sqrt();
        let (grown, fallen) = (1.0, (-2.0 * root * self.length).exp());
        let (cosine, sine) = ((grown + fallen) / 2.0, (grown - fallen) / 2.0);
        Wave {
            value: cosine * wave.value + sine * wave.slope / root,
            slope: sine * wave.value * root + cosine * wave.slope,
            log_scale: wave.log_scale + root * self.length,
        }
    }
}

/// Airy's functions at z: the values Ai and Ai′ times e^ζ, and Bi and Bi′ times e^−ζ. Here ζ = ⅔z^{3/2} for z
/// > 0, and ζ = 0 for z ≤ 0.
struct Airy {
    decaying: (f64, f64),
    growing: (f64, f64),
}

/// The argument z of Airy's functions from which on three terms of the asymptotic series are exact to
/// rounding.
const FAR: f64 = 1e4;

impl Airy {
    fn at(z: f64) -> Option<Self> {
        if !z.is_finite() || z > FAR {
            return z.is_finite().then(|| Self::far(z));
        }
        let at = Complex64::new(z, 0.0);
        let values = match z > 0.0 {
            true => [airy_scaled(at), airyprime_scaled(at), biry_scaled(at), biryprime_scaled(at)],
            false => [airy(at), airyprime(at), biry(at), biryprime(at)],
        };
        let [ai, ai_slope, bi, bi_slope] = values.map(|value| value.map(|value| value.re).ok());
        Some(Self { decaying: (ai?, ai_slope?), growing: (bi?, bi_slope?) })
    }

    /// The asymptotic series of Abramowitz and Stegun, 10.4.58 to 10.4.66.
    fn far(z: f64) -> Self {
        let zeta = 2.0 / 3.0 * z * z.sqrt();
        let series = |first: f64, second: f64| (first / zeta, second / zeta / zeta);
        let (odd, even) = series(5.0 / 72.0, 385.0 / 10368.0);
        let (odd_slope, even_slope) = series(-7.0 / 72.0, -455.0 / 10368.0);
        let size = z.powf(0.25);
        let root = std::f64::consts::PI.sqrt();
        Self {
            decaying: (
                (1.0 - odd + even) / (2.0 * root * size),
                -size * (1.0 - odd_slope + even_slope) / (2.0 * root),
            ),
            growing: ((1.0 + odd + even) / (root * size), size * (1.0 + odd_slope + even_slope) / root),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Reference values of scipy.special.airy and airye.
    #[test]
    fn the_functions_are_scipys() {
        for (z, [ai, ai_slope, bi, bi_slope]) in FACTS {
            let ours = Airy::at(z).unwrap();
            let ours = [ours.decaying.0, ours.decaying.1, ours.growing.0, ours.growing.1];
            for (ours, expected) in ours.into_iter().zip([ai, ai_slope, bi, bi_slope]) {
                assert!(
                    (ours - expected).abs() < 1e-13 * (1.0 + expected.abs()),
                    "{z}: {ours} and {expected}"
                );
            }
        }
    }

    const FACTS: [(f64, [f64; 4]); 9] = [
        (-12.0, [-0.06655517505437264, 1.0231104533679707, -0.29571991207807313, -0.23673219783112154]),
        (-3.3, [-0.4171809373745501, -0.07096361717783575, 0.021967999989777245, -0.7592651750479446]),
        (-0.5, [0.4757280916105395, -0.2040816703395474, 0.3803526597510537, 0.5059337136238472]),
        (0.0, [0.3550280538878172, -0.2588194037928068, 0.6149266274460007, 0.4482883573538264]),
        (0.7, [0.279512566768121, -0.2953066751809787, 0.6587080754582292, 0.44287452237542163]),
        (2.5, [0.2193222051287121, -0.3661089384751623, 0.4647504801960904, 0.6755384441645012]),
        (8.0, [0.16698807106393276, -0.47739652448079833, 0.3370723758204105, 0.9425386164762423]),
        (50.0, [0.10605346975916806, -0.7504406102617343, 0.21223196271406528, 1.4996435564886657]),
        (3000.0, [0.038116628468030114, -2.087736899171991, 0.0762333535904605, 4.175466386772637]),
    ];

    /// All ways to cross a piece give the same solution.
    #[test]
    fn airys_functions_series_and_exponentials_agree() {
        let wave = Wave { value: 0.3, slope: -0.7, log_scale: 0.0 };
        let size = |wave: Wave| [wave.value, wave.slope].map(|x| x * wave.log_scale.exp());
        let near = |one: Wave, other: Wave, tolerance: f64, piece: Piece| {
            for (one, other) in size(one).into_iter().zip(size(other)) {
                assert!(
                    (one - other).abs() < tolerance * (1.0 + other.abs()),
                    "{piece:?}: {one} and {other}"
                );
            }
        };
        for start in [-5.0f64, -0.3, 0.2, 7.0, 60.0, 1e5] {
            for slope in [-8.0f64, -1.0, 0.3, 2.0, 40.0] {
                for piece in (Piece { length: 0.2, start, slope }).at_turning_points() {
                    let kappa = slope.cbrt();
                    let [start, end] =
                        [piece.start, piece.end()].map(|q| Airy::at(q / kappa.powi(2)).unwrap());
                    let by_airy = piece.by_airy(&start, &end, kappa, &wave);
                    let in_parts = |wave, part: u32| piece.part(part.into(), 100.0).by_series(&wave).scaled();
                    near(by_airy, (0..100).fold(wave, in_parts), 1e-10, piece);
                }
            }
        }
        let piece = Piece { length: 0.2, start: 50.0, slope: 0.0 };
        near(piece.flat(&wave), piece.by_series(&wave), 1e-12, piece);
    }

    #[test]
    fn what_is_far_continues_what_is_near() {
        let (near, far) = (Airy::at(FAR).unwrap(), Airy::far(FAR));
        for (one, other) in [
            (near.decaying.0, far.decaying.0),
            (near.decaying.1, far.decaying.1),
            (near.growing.0, far.growing.0),
            (near.growing.1, far.growing.1),
        ] {
            assert_relative_eq!(one, other, epsilon = 0.0, max_relative = 1e-13);
        }
    }
}
