//! Attack on the noisy statistics that a curator's release is made from. Their likelihood ratio between two
//! tables is the best test.

use crate::attack::{Attack, by_side};
use crate::claimed::Claimed;
use crate::score::{Output, Score};
use crate::{Effort, Result};
use rand::RngCore;
use scumble_core::{Designed, Randomness, Statistics, Stream, Table};

/// Number of pilot draws from each table (`PILOT`), and number of statistics that these draws select
/// (`VALUES`). Each selected statistic is scored separately.
const PILOT: usize = 64;
const VALUES: usize = 16;
/// Limits on the number of values drawn from each table: `VALUES_A_SAMPLE` for each sample of the audit, and
/// `MOST_VALUES` in total. If a sample has many values, fewer samples are drawn, but never fewer than a
/// twentieth of the audit's samples.
const VALUES_A_SAMPLE: usize = 16;
const MOST_VALUES: usize = 2_000_000;
/// Bound on log-likelihood ratios, so that they are finite.
const LARGEST: f64 = 1e12;

/// Two tables, and the seeds for their statistics.
struct Game<'a> {
    mechanism: &'a Designed,
    pair: &'a [Table; 2],
    seeds: [Stream; 2],
}

/// Attack on `pair`, called `what`, with draws of the statistics of `mechanism`. Returns `None` if the
/// mechanism has no statistics.
pub(crate) fn attack<'a>(
    mechanism: &'a Designed,
    (what, pair): (&str, &'a [Table; 2]),
    claimed: &Claimed,
    seeds: [Stream; 2],
    effort: Effort,
) -> Option<Attack<'a>> {
    mechanism.evidence().statistics?;
    let mut game = Game { mechanism, pair, seeds };
    let pilot = [0, 1].map(|side| (0..PILOT).map(|_| game.draw(side)).collect::<Vec<Output>>());
    let width = pilot.iter().flatten().flatten().map(Vec::len).max().unwrap_or(0);
    let places = telling(&pilot, width);
    let draw = move |side: usize| {
        let drawn = game.draw(side)?;
        let looked_at = places.iter().map(|&place| drawn.get(place).copied().unwrap_or(0.0));
        let length = drawn.len() as f64;
        Some([game.log_ratio(&drawn), length].into_iter().chain(looked_at).collect())
    };
    let stated = Score::new("the likelihood of its noisy statistics", |output| output[0]);
    let attack = Attack::new(format!("{what}, by statistics alone"), claimed, by_side(draw), vec![stated]);
    let affordable = effort.samples.saturating_mul(VALUES_A_SAMPLE).min(MOST_VALUES) / width.max(1);
    Some(attack.up_to(affordable.clamp(effort.samples / 20, effort.samples)))
}

impl Game<'_> {
    fn draw(&mut self, side: usize) -> Output {
        let mut randomness = Randomness::seeded(self.seeds[side].next_u64());
        self.mechanism.evidence().statistics?.draw(&self.pair[side], &mut randomness).ok()
    }

    /// Log-likelihood ratio of the drawn statistics, positive if they are more likely under the second table.
    fn log_ratio(&self, drawn: &[f64]) -> f64 {
        let statistics = self.mechanism.evidence().statistics;
        statistics.map_or(0.0, |statistics| log_ratio(statistics, self.pair, drawn).unwrap_or(0.0))
    }
}

/// Log-likelihood ratio of the statistics between the second table and the first, clamped to a finite range.
///
/// # Errors
/// Same errors as [`Statistics::log_likelihood`].
fn log_ratio(statistics: &dyn Statistics, pair: &[Table; 2], drawn: &[f64]) -> Result<f64> {
    let [one, other] = pair.each_ref().map(|table| statistics.log_likelihood(table, drawn));
    let ratio = other? - one?;
    Ok(if ratio.is_nan() { 0.0 } else { ratio.clamp(-LARGEST, LARGEST) })
}

/// Up to `VALUES` indices at which the means of the two tables' draws differ most, relative to their spread.
fn telling(pilot: &[Vec<Output>; 2], width: usize) -> Vec<usize> {
    let separation = |place: usize| {
        let [one, other] = pilot.each_ref().map(|draws| moments(draws, place));
        (other.0 - one.0).abs() / (one.1 + other.1).sqrt().max(f64::MIN_POSITIVE)
    };
    let mut places: Vec<(usize, f64)> = (0..width).map(|place| (place, separation(place))).collect();
    places.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    places.into_iter().take(VALUES).map(|(place, _)| place).collect()
}

/// Mean and variance of the values at index `place`.
fn moments(draws: &[Output], place: usize) -> (f64, f64) {
    let values = || draws.iter().flatten().filter_map(|draw| draw.get(place));
    let count = values().count().max(1) as f64;
    let mean = values().sum::<f64>() / count;
    (mean, values().map(|value| (value - mean).powi(2)).sum::<f64>() / count)
}
