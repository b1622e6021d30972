//! Integrals of smooth functions.

/// The five-point rule of Gauss and Legendre on [−1, 1]: points and weights.
pub(crate) const POINTS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// The integral of `f` from `middle` − `half` to `middle` + `half`, by five points.
pub(crate) fn about(middle: f64, half: f64, f: impl Fn(f64) -> f64) -> f64 {
    half * POINTS.iter().map(|(at, weight)| weight * f(middle + half * at)).sum::<f64>()
}

/// The integral of `f` from zero to `to`, by five points in each of `panels` panels.
pub(crate) fn from_zero(to: f64, panels: u32, f: impl Fn(f64) -> f64) -> f64 {
    let half = to / f64::from(panels) / 2.0;
    (0..panels).map(|panel| about(half * f64::from(2 * panel + 1), half, &f)).sum()
}
