//! Gauss–Legendre quadrature.

/// The nodes on [−1, 1] and their weights. They integrate polynomials of degree up to 2·`count` − 1 exactly.
pub(crate) fn gauss_legendre(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    let place = |at: usize| {
        // Newton's method, started at Tricomi's estimate of the node.
        let mut x = (std::f64::consts::PI * (at as f64 + 0.75) / (n + 0.5)).cos();
        for _ in 0..10 {
            let (value, slope) = legendre(count, x);
            x -= value / slope;
        }
        let slope = legendre(count, x).1;
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..count).map(place).collect()
}

/// The Legendre polynomial of degree `degree` ≥ 1 at `x` in (−1, 1), and its slope.
fn legendre(degree: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for k in 1..degree {
        let k = k as f64;
        (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
    }
    (value, degree as f64 * (before - x * value) / (1.0 - x * x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_integrated_exactly() {
        for count in [1, 2, 7, 16, 64] {
            let rule = gauss_legendre(count);
            for degree in (0..2 * count as i32).step_by(2) {
                let sum: f64 = rule.iter().map(|(x, weight)| weight * x.powi(degree)).sum();
                let exact = 2.0 / (f64::from(degree) + 1.0);
                assert!((sum - exact).abs() < 1e-14, "{count} places, degree {degree}: {sum} and {exact}");
            }
        }
    }
}
