//! Confidence bounds on a probability from counts, valid for any probability (Clopper and Pearson 1934).

use statrs::distribution::{Beta, ContinuousCDF};

/// Clopper and Pearson's lower bound on the probability of an event seen `count` times in `trials`
/// independent trials.
///
/// The bound exceeds the true probability with probability at most `alarm`.
///
/// ```
/// use scumble_accounting::binomial;
///
/// let least = binomial::at_least(10, 10, 0.05); // ten of ten
/// assert!((least - 0.05_f64.powf(0.1)).abs() < 1e-6);
/// ```
pub fn at_least(count: usize, trials: usize, alarm: f64) -> f64 {
    /// Largest `trials` and least `alarm` for which the inverse of the Beta distribution is used. Beyond
    /// these limits, it does not terminate, or underflows.
    const MANY: usize = 1 << 20;
    const RARE: f64 = 1e-100;
    // If the event was never seen, or if an argument is out of range, only the trivial bound holds.
    if count == 0 || count > trials || !(alarm > 0.0 && alarm < 1.0) {
        return 0.0;
    }
    if trials > MANY || alarm < RARE {
        return by_chernoff(count as f64 / trials as f64, -alarm.ln() / trials as f64);
    }
    let distribution = Beta::new(count as f64, (trials.saturating_sub(count) + 1) as f64);
    distribution.map_or(0.0, |distribution| distribution.inverse_cdf(alarm))
}

/// Chernoff's lower bound on a probability: the least p with KL(Bernoulli(`share`) ‖ Bernoulli(p)) ≤
/// `information`.
///
/// `share` is the observed frequency of the event. `information` is ln(1/α) divided by the number of trials,
/// where α is the largest allowed probability of a bound above the true probability. Clopper and Pearson's
/// bound also exceeds the true probability with probability at most α, and is hardly tighter for many trials.
fn by_chernoff(share: f64, information: f64) -> f64 {
    let divergence = |p: f64| {
        let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
        term(share, p) + term(1.0 - share, 1.0 - p)
    };
    let (mut low, mut high) = (0.0, share);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if divergence(middle) > information { low = middle } else { high = middle }
    }
    low
}

/// Clopper and Pearson's upper bound on the probability of an event seen `count` times in `trials`
/// independent trials.
///
/// The bound is below the true probability with probability at most `alarm`.
pub fn at_most(count: usize, trials: usize, alarm: f64) -> f64 {
    1.0 - at_least(trials.saturating_sub(count), trials, alarm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Binomial(n, p) ≥ count), summed.
    fn tail(count: usize, n: usize, p: f64) -> f64 {
        let mut mass = (1.0 - p).powi(n as i32);
        let mut below = 0.0;
        for k in 0..count {
            below += mass;
            mass *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        1.0 - below
    }

    #[test]
    fn at_the_bound_the_count_is_as_rare_as_the_alarm() {
        for (count, n, alarm) in [(1, 10, 0.01), (7, 20, 1e-3), (90, 100, 0.05), (100, 100, 1e-4)] {
            let p = at_least(count, n, alarm);
            assert!((tail(count, n, p) / alarm - 1.0).abs() < 1e-3, "{count} of {n}: {p}");
            assert_eq!(at_most(n - count, n, alarm), 1.0 - p);
        }
        // Chernoff's bound is slightly below the exact one.
        for (count, n) in [(300, 1_000_000), (500_000, 1_000_000), (1_000_000, 1_000_000)] {
            let exact = at_least(count, n, 1e-8);
            let bound = by_chernoff(count as f64 / n as f64, 1e8f64.ln() / n as f64);
            assert!(bound <= exact && bound > 0.9 * exact, "{count} of {n}: {bound}, {exact}");
        }
        assert!(at_least(257, 4_000_000, 1e-9) > 3e-5);
        assert_eq!((at_least(0, 10, 0.1), at_most(10, 10, 0.1)), (0.0, 1.0));
    }
}
