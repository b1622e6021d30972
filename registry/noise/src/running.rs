//! Exact Gaussian noise on counts that are released period after period, with little noise on their running
//! totals.

use crate::gaussian::profile;
use crate::lattice::Spread;
use scumble_core::{Error, Horizon, Neighbours, PrivacyProfile, Result, Stream};
use scumble_sampling::{DiscreteGaussian, Rational};

/// Number of binary digits of a weight: each weight is a whole multiple of 2⁻¹⁴.
const WEIGHT_BITS: u32 = 14;
/// Lattice steps of a count of 1, 2⁴⁰: a weight times a part of a count is a whole number of steps.
const UNIT: f64 = (1u64 << WEIGHT_BITS) as f64 * RunningNoise::PARTS as f64;

/// Discrete Gaussian noise on the cells of a table that is counted in each of T periods.
///
/// The answer of period k is yₖ = Σⱼ c₍ₖ₋ⱼ₎xⱼ + zₖ, where xⱼ are the exact counts of period j, and zₖ is
/// fresh noise. With correlated noise, c₍ⱼ₎ is (2j choose j)/4ʲ, rounded down to a multiple of 2⁻¹⁴: the
/// square root of the prefix sum as a power series (Fichtenberger, Henzinger and Upadhyay 2023; Henzinger,
/// Upadhyay and Upadhyay 2023). With independent noise, c is 1, 0, 0, …. Products and noise are whole numbers
/// of lattice steps of 2⁻⁴⁰ counts.
///
/// Adding or removing a person changes the counts of at most r periods, each by 1 in ℓ₁ and so at most 1 in
/// ℓ₂. The weights are not negative and do not increase. The change of all answers in ℓ₂ is then largest if
/// the periods are the first r, and all changes are in one cell (Kalinin and Lampert 2024, Theorem 2). The
/// answers of all periods together are one Gaussian mechanism with this sensitivity, also if the counts of a
/// period depend on earlier answers, because zₖ is independent of them.
///
/// Totals and counts of single periods follow from the answers alone: their weights are the coefficients of
/// the power series 1/((1 − t)·c(t)) and 1/c(t).
///
/// ```
/// use scumble_core::{Horizon, Randomness};
/// use scumble_noise::RunningNoise;
///
/// let year = Horizon { periods: 365, periods_per_person: 1, is_correlated: true };
/// let noise = RunningNoise::new(year, 1.0)?; // of scale 1 for a single release
/// assert!((noise.deviation_of_total(365) - 2.94).abs() < 0.01);
/// let visits = [[3 * RunningNoise::PARTS], [5 * RunningNoise::PARTS]]; // of two days
/// let mut stream = Randomness::from_os()?.streams().stream(0);
/// let first = noise.answer(&[&visits[0]], &mut stream);
/// let second = noise.answer(&[&visits[0], &visits[1]], &mut stream);
/// let total = noise.total(&[&first, &second])[0];
/// assert!((total - 8.0).abs() < 30.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunningNoise {
    horizon: Horizon,
    /// c, in units of 2⁻¹⁴. It ends before the first zero.
    weights: Vec<u64>,
    /// Coefficients of the answers in a total, and in the counts of a single period. The first is that of the
    /// last answer.
    totals: Vec<f64>,
    alone: Vec<f64>,
    distribution: DiscreteGaussian,
}

impl RunningNoise {
    /// Parts of a count: exact counts are whole numbers of parts.
    pub const PARTS: u64 = 1 << 26;

    /// Noise of all periods of `horizon` together with the privacy of a single release whose counts have
    /// noise of this `scale`.
    ///
    /// # Errors
    /// [`Error::Domain`] for a horizon out of range; [`Error::Budget`] if the scale of the noise is not
    /// between 2⁻³⁰ and 2¹⁹ counts.
    pub fn new(horizon: Horizon, scale: f64) -> Result<Self> {
        if !horizon.is_valid() {
            return Err(Error::Domain {
                needs: "1 to 10000 periods, and a person in 1 to all of them",
                given: format!("{} and {}", horizon.periods, horizon.periods_per_person),
            });
        }
        let weights = weights(horizon);
        let scale = scale * sensitivity(&weights, horizon);
        if !(2f64.powi(-30)..=2f64.powi(19)).contains(&scale) {
            let range = "between 2^-30 and 2^19 counts";
            return Err(Error::Budget { name: "a scale of noise over time", range, value: scale });
        }
        let distribution = DiscreteGaussian::new(Rational::new((scale * UNIT).ceil() as u64, 1)?)?;
        let alone = inverse(&weights, horizon.periods);
        let mut sum = 0.0;
        let totals = alone.iter().map(|coefficient| {
            sum += coefficient;
            sum
        });
        let totals = totals.collect();
        Ok(Self { horizon, weights, totals, alone, distribution })
    }

    /// Scale σ of the noise of an answer, in counts.
    pub fn scale(&self) -> f64 {
        self.distribution.scale() / UNIT
    }

    /// Answer of the last period of `history`, the exact counts of all periods so far. They are in units of
    /// 1/[`PARTS`](Self::PARTS), and all periods have the same cells.
    pub fn answer(&self, history: &[&[u64]], stream: &mut Stream) -> Vec<f64> {
        self.weighted(history).map(|exact| (exact + self.distribution.sample(stream)) as f64 / UNIT).collect()
    }

    /// Weighted sums of the counts of all periods so far, in lattice steps.
    fn weighted(&self, history: &[&[u64]]) -> impl Iterator<Item = i128> {
        let cells = history.last().map_or(0, |last| last.len());
        let recent = history.iter().rev().zip(&self.weights).collect::<Vec<_>>();
        let weighted = move |cell: usize| {
            let products = recent.iter().map(|(counts, weight)| {
                i128::from(counts.get(cell).copied().unwrap_or(0)) * i128::from(**weight)
            });
            products.sum::<i128>()
        };
        (0..cells).map(weighted).collect::<Vec<_>>().into_iter()
    }

    /// Logarithm of the probability density of `answer` for this history, up to a constant.
    pub fn log_likelihood(&self, history: &[&[u64]], answer: &[f64]) -> f64 {
        let off = self.weighted(history).zip(answer).map(|(exact, answer)| answer - exact as f64 / UNIT);
        -off.map(|off| off * off).sum::<f64>() / (2.0 * self.scale().powi(2))
    }

    /// Totals of the counts of all periods so far, from their `answers`.
    pub fn total(&self, answers: &[&[f64]]) -> Vec<f64> {
        combined(&self.totals, answers)
    }

    /// Counts of the last period, from the `answers` of all periods so far.
    pub fn alone(&self, answers: &[&[f64]]) -> Vec<f64> {
        combined(&self.alone, answers)
    }

    /// Standard deviation of the noise of a total after `periods` periods.
    pub fn deviation_of_total(&self, periods: usize) -> f64 {
        self.scale() * norm(&self.totals[..periods.min(self.totals.len())])
    }

    /// Standard deviation of the noise of the counts of the period with this number, counted from 1.
    pub fn deviation_alone(&self, period: usize) -> f64 {
        self.scale() * norm(&self.alone[..period.min(self.alone.len())])
    }

    /// Privacy profile δ(ε) of the answers of all periods together, for people with at most
    /// `records_per_person` records in a period.
    pub fn profile(&self, neighbours: Neighbours, records_per_person: u16) -> PrivacyProfile {
        let people = match neighbours {
            Neighbours::AddOrRemoveOne => 1.0,
            Neighbours::ReplaceOne => 2.0,
        };
        let precision = (self.distribution.scale() / UNIT).powi(-2);
        let periods = self.horizon.periods_per_person as f64;
        let (squared, cells) =
            (sensitivity(&self.weights, self.horizon).powi(2), self.horizon.periods as f64);
        let sum = self.weights.iter().sum::<u64>() as f64 / 2f64.powi(WEIGHT_BITS as i32);
        let spread = Spread {
            // Of a replaced person, one change has no negative number, and the other no positive one.
            squared_distance: people * squared * precision,
            distance: people * periods * sum * precision / UNIT,
            differing: people * f64::from(records_per_person) * cells * precision / UNIT / UNIT,
        };
        profile(spread, 2 + self.horizon.periods)
    }
}

/// The weights c of a horizon, in units of 2⁻¹⁴ and rounded down, up to the last that is not zero.
fn weights(horizon: Horizon) -> Vec<u64> {
    let one = 2f64.powi(WEIGHT_BITS as i32);
    let (mut weights, mut exact) = (vec![], 1.0);
    for period in 0..horizon.periods {
        if period > 0 {
            exact *= if horizon.is_correlated { 1.0 - 0.5 / period as f64 } else { 0.0 };
        }
        match (exact * one).floor() as u64 {
            0 => break,
            weight => weights.push(weight),
        }
    }
    weights
}

/// ℓ₂ norm of the sum of the first r columns of the lower-triangular Toeplitz matrix of these weights, where
/// r is the number of periods of a person.
fn sensitivity(weights: &[u64], horizon: Horizon) -> f64 {
    let one = 2f64.powi(WEIGHT_BITS as i32);
    let weight = |at: usize| weights.get(at).map_or(0.0, |weight| *weight as f64 / one);
    let mut window = 0.0;
    let mut squares = 0.0;
    for period in 0..horizon.periods {
        window += weight(period);
        if period >= horizon.periods_per_person {
            window -= weight(period - horizon.periods_per_person);
        }
        squares += window * window;
    }
    squares.sqrt() * (1.0 + 1e-9)
}

/// The first `count` coefficients of the power series 1/c(t).
fn inverse(weights: &[u64], count: usize) -> Vec<f64> {
    let one = 2f64.powi(WEIGHT_BITS as i32);
    let mut inverse: Vec<f64> = Vec::with_capacity(count);
    for at in 0..count {
        let earlier = weights.iter().skip(1).zip(inverse.iter().rev());
        let sum: f64 = earlier.map(|(weight, coefficient)| *weight as f64 / one * coefficient).sum();
        inverse.push(if at == 0 { 1.0 } else { -sum });
    }
    inverse
}

fn combined(coefficients: &[f64], answers: &[&[f64]]) -> Vec<f64> {
    let mut sums = vec![0.0; answers.last().map_or(0, |last| last.len())];
    for (answer, coefficient) in answers.iter().rev().zip(coefficients) {
        sums.iter_mut().zip(*answer).for_each(|(sum, value)| *sum += coefficient * value);
    }
    sums
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use scumble_core::Randomness;

    fn horizon(periods: usize, periods_per_person: usize, is_correlated: bool) -> Horizon {
        Horizon { periods, periods_per_person, is_correlated }
    }

    /// Σⱼ<T ((2j choose j)/4ʲ)² is 2.14627 for T = 30 and 2.94405 for T = 365, by exact fractions elsewhere.
    #[test]
    fn totals_have_the_noise_of_the_square_root_factorisation() {
        for (periods, expected) in [(1, 1.0), (30, 2.14627), (365, 2.94405)] {
            let noise = RunningNoise::new(horizon(periods, 1, true), 1.0).unwrap();
            assert_relative_eq!(noise.deviation_of_total(periods), expected, max_relative = 1e-3);
            let independent = RunningNoise::new(horizon(periods, 1, false), 1.0).unwrap();
            let root = (periods as f64).sqrt();
            assert_relative_eq!(independent.deviation_of_total(periods), root, max_relative = 1e-6);
            assert_relative_eq!(independent.deviation_alone(periods), 1.0, max_relative = 1e-6);
        }
    }

    /// The totals are those of the counts plus noise of the stated deviation, whatever the counts.
    #[test]
    fn totals_and_single_periods_are_unbiased_with_the_stated_deviations() {
        const DRAWS: usize = 4000;
        let noise = RunningNoise::new(horizon(12, 3, true), 2.0).unwrap();
        let counts: Vec<[u64; 1]> =
            (0..12u64).map(|period| [(period * period + 3) * RunningNoise::PARTS]).collect();
        let history: Vec<&[u64]> = counts.iter().map(|counts| &counts[..]).collect();
        let mut stream = Randomness::seeded(11).streams().stream(0);
        let (mut totals, mut alone) = (vec![], vec![]);
        for _ in 0..DRAWS {
            let answers: Vec<Vec<f64>> =
                (1..=12).map(|periods| noise.answer(&history[..periods], &mut stream)).collect();
            let answers: Vec<&[f64]> = answers.iter().map(|answer| &answer[..]).collect();
            totals.push(
                noise.total(&answers)[0] - (0..12).map(|period| period * period + 3).sum::<u64>() as f64,
            );
            alone.push(noise.alone(&answers)[0] - 124.0);
        }
        for (off, deviation) in [(totals, noise.deviation_of_total(12)), (alone, noise.deviation_alone(12))] {
            let mean = off.iter().sum::<f64>() / DRAWS as f64;
            let variance = off.iter().map(|off| off * off).sum::<f64>() / DRAWS as f64;
            // Five standard errors: false with a probability below 10⁻⁶ each.
            assert!(mean.abs() < 5.0 * deviation / (DRAWS as f64).sqrt(), "{mean} of {deviation}");
            assert_relative_eq!(
                variance,
                deviation * deviation,
                max_relative = 5.0 * (2.0 / DRAWS as f64).sqrt()
            );
        }
    }

    /// The claimed sensitivity is the largest over all choices of periods, by brute force.
    #[test]
    fn no_choice_of_periods_changes_the_answers_more_than_the_first_ones() {
        for (periods, most) in [(6, 1), (7, 2), (8, 3), (6, 6)] {
            let horizon = horizon(periods, most, true);
            let weights = weights(horizon);
            let weight = |at: usize| weights[at] as f64 / 2f64.powi(WEIGHT_BITS as i32);
            let largest = (0..1u32 << periods)
                .filter(|chosen| chosen.count_ones() as usize <= most)
                .map(|chosen| {
                    let answer = |period: usize| -> f64 {
                        (0..=period).filter(|at| chosen >> at & 1 == 1).map(|at| weight(period - at)).sum()
                    };
                    (0..periods).map(|period| answer(period).powi(2)).sum::<f64>().sqrt()
                })
                .fold(0.0, f64::max);
            assert_relative_eq!(sensitivity(&weights, horizon), largest, max_relative = 1e-6);
        }
    }

    #[test]
    fn all_periods_together_cost_what_a_single_release_costs() {
        use crate::CountNoise;
        for horizon in [Horizon::ONE, horizon(365, 1, true), horizon(24, 24, true), horizon(12, 3, false)] {
            let single = CountNoise::with_scale(7.0).unwrap();
            let series = RunningNoise::new(horizon, 7.0).unwrap();
            for neighbours in [Neighbours::AddOrRemoveOne, Neighbours::ReplaceOne] {
                let [single, series] = [single.profile(neighbours, 1), series.profile(neighbours, 1)];
                assert_relative_eq!(series.mu(), single.mu(), max_relative = 1e-6);
                assert_relative_eq!(series.epsilon(1e-6), single.epsilon(1e-6), max_relative = 1e-5);
            }
        }
    }

    #[test]
    fn horizons_out_of_range_are_refused() {
        for (periods, most) in [(0, 1), (3, 0), (3, 4), (Horizon::MOST + 1, 1)] {
            assert!(RunningNoise::new(horizon(periods, most, true), 1.0).is_err());
        }
        assert!(RunningNoise::new(horizon(3, 1, true), 0.0).is_err());
    }
}
