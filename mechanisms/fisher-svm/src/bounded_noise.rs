//! Noise with bounds on a lattice, drawn exactly from tables of integer weights.

use scumble_accounting::{Shifted, ShiftedComposition};
use scumble_core::{DescribedNoise, Distance, Domain, Error, Factor, Result, Stream};
use scumble_sampling::Weighted;
use scumble_schrodinger::GroundState;
use std::ops::Range;
use std::sync::Arc;

/// A column with the bounds of its released values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Column {
    /// Bounds of the column's domain.
    pub(crate) bounds: (f64, f64),
    /// Bounds of released values.
    pub(crate) range: (f64, f64),
    /// Weight ϑ of the column in the squared error of an adversary's estimate of the record.
    pub(crate) weight: f64,
    /// True for a column of a one-hot group.
    pub(crate) is_level: bool,
}

impl Column {
    /// Returns the lower and the upper bound of the column's noise.
    fn reach(&self) -> (f64, f64) {
        (self.range.0 - self.bounds.0, self.range.1 - self.bounds.1)
    }

    /// Returns whether the bounds of the noise are symmetric about zero, up to rounding.
    fn is_symmetric(&self) -> bool {
        let (lower, upper) = self.reach();
        (lower + upper).abs() <= 1e-12 * (upper - lower)
    }

    /// Returns the lower and the upper limit of λ^{−1/4} for a search for λ, as far as they depend on this
    /// column. λ is the weight of the noise's mean square relative to its Fisher information. λ^{−1/4} is
    /// σ·ϑ^{1/4}, with the scale σ of the noise and the weight ϑ of the column. At the lower limit, σ is a
    /// thousandth of the width of the column's domain, or of the bounds of the noise if the domain has width
    /// zero. At the upper limit, σ is the width of the bounds of the noise.
    pub(crate) fn natural_scales(&self) -> (f64, f64) {
        let (lower, upper) = self.reach();
        let width = self.bounds.1 - self.bounds.0;
        let quarter = self.weight.powf(0.25);
        (1e-3 * if width > 0.0 { width } else { upper - lower } * quarter, (upper - lower) * quarter)
    }

    /// Checks the range of released values.
    ///
    /// # Errors
    /// A description of the problem if the range is empty, inverted, not finite, does not reach beyond the
    /// domain, or is asymmetric for a level.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        let ((lower, upper), (from, to)) = (self.bounds, self.range);
        if !((to - from).is_finite() && from < to) {
            return Err(format!("the range [{from}, {to}] is empty, inverted or not finite"));
        }
        if from > lower || to < upper || to - from <= upper - lower {
            return Err(format!(
                "its range must reach beyond its domain [{lower}, {upper}], and [{from}, {to}] does not"
            ));
        }
        if self.is_level && !self.is_symmetric() {
            return Err(format!("the range [{from}, {to}] of a level must reach as far below 0 as above 1"));
        }
        Ok(())
    }
}

/// Noise on every coordinate of a domain, drawn from tables of integer weights, with the privacy accounting
/// of all coordinates together.
#[derive(Debug, Clone)]
pub(crate) struct BoundedNoise {
    /// Coordinates of each factor of the domain: of each number, and of each group of levels of a category.
    factors: Vec<Range<usize>>,
    /// One table per coordinate; equal columns share one.
    tables: Vec<Arc<Table>>,
    together: Arc<ShiftedComposition>,
    certain: f64,
}

impl BoundedNoise {
    /// Creates the noise for the coordinates of `domain`, with the weight `lambda` of its mean square
    /// relative to its Fisher information. All `columns` must have passed [`Column::check`].
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if a [`GroundState`], the square root of the noise's density, is not finite
    /// in floating point.
    pub(crate) fn new(domain: &Domain, columns: &[Column], lambda: f64) -> Result<Self> {
        let mut distinct: Vec<(Column, Arc<Table>)> = vec![];
        let mut tables = vec![];
        for column in columns {
            let known = distinct.iter().find(|(other, _)| other == column).map(|(_, table)| table.clone());
            let table = match known {
                Some(table) => table,
                None => {
                    let table = Arc::new(Table::new(column, lambda)?);
                    distinct.push((*column, table.clone()));
                    table
                }
            };
            tables.push(table);
        }
        let factors: Vec<Range<usize>> = domain.factors().map(|(at, _)| at).collect();
        // For a number, two records differ in one column. For a category, they differ in two columns of the
        // one-hot group.
        let differing = |column: &Column| -> usize {
            let first_of = |at: &&Range<usize>| columns.get(at.start) == Some(column);
            let per_factor = |factor: &Factor| if matches!(factor, Factor::OneHot { .. }) { 2 } else { 1 };
            let own = factors.iter().zip(domain.factors()).filter(|(at, _)| first_of(at));
            own.map(|(_, (_, factor))| per_factor(factor)).sum()
        };
        let mut distributions = vec![];
        for (column, table) in &distinct {
            let distribution =
                Shifted::new(table.weights.clone(), table.shift()).map_err(|problem| unfit(&problem))?;
            distributions.push((distribution, differing(column)));
        }
        // Let m be the sum, over the columns in which two records differ, of the squared distance between the
        // farthest values divided by the variance of the noise. For Gaussian noise, the total privacy loss
        // would have mean m/2 and variance m.
        let mu_squares = distinct
            .iter()
            .zip(&distributions)
            .map(|((_, table), (_, count))| *count as f64 * table.mu_squared());
        let m: f64 = mu_squares.sum();
        let widest = (m / 2.0 + 10.0 * m.sqrt() + 5.0).min(1e5);
        let together = ShiftedComposition::new(
            distributions.iter().map(|(distribution, count)| (distribution, *count)),
            widest,
        );
        let together = Arc::new(together.map_err(|problem| unfit(&problem))?);
        let hidden: f64 = distributions
            .iter()
            .map(|(distribution, count)| (1.0 - distribution.certain()).powf(*count as f64))
            .product();
        Ok(Self { factors, tables, together, certain: 1.0 - hidden })
    }

    /// Probability that two records at opposite ends of the domain are distinguished with certainty.
    pub(crate) fn certain(&self) -> f64 {
        self.certain
    }

    /// Upper bound on δ at `epsilon` for two records at opposite ends of the domain. For an infinite ε, it is
    /// the δ at the largest ε of the privacy accounting.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        self.together.delta(epsilon.clamp(0.0, self.together.widest())).unwrap_or(1.0)
    }

    /// Upper bound on ε at `delta` for two records at opposite ends of the domain; infinite if the privacy
    /// accounting finds no finite ε.
    pub(crate) fn epsilon(&self, delta: f64) -> f64 {
        self.together.epsilon(delta).unwrap_or(f64::INFINITY)
    }

    /// Mean of each coordinate's noise (d values).
    pub(crate) fn means(&self) -> Vec<f64> {
        self.tables.iter().map(|table| table.mean).collect()
    }

    /// Variance of each coordinate's noise (d values).
    pub(crate) fn variances(&self) -> Vec<f64> {
        self.tables.iter().map(|table| table.variance).collect()
    }

    /// Describes the noise that [`add`](Self::add) adds. The noise has bounds and so less kurtosis than
    /// Gaussian noise, so 3 is an upper bound on its kurtosis.
    pub(crate) fn described(&self) -> DescribedNoise {
        let variances = self.variances();
        // Two records with different numbers differ in one column. Two records with different levels of a
        // category differ in two columns, and each column may have its own scale.
        let factor_square = |at: &Range<usize>| {
            let level_squares = at.clone().map(|place| {
                let Table { bounds: (lower, upper), step, .. } = &*self.tables[place];
                (((upper - lower) as f64) * step).powi(2) / variances[place]
            });
            let mut squares: Vec<f64> = level_squares.collect();
            squares.sort_by(|one, other| other.total_cmp(one));
            squares.into_iter().take(2).sum::<f64>()
        };
        DescribedNoise {
            coordinates: 0..self.tables.len(),
            distance: Distance::Root,
            scales: variances.iter().map(|variance| variance.sqrt()).collect(),
            sensitivity: self.factors.iter().map(factor_square).sum::<f64>().sqrt(),
            steps: self.tables.iter().map(|table| table.step).collect(),
            kurtosis: 3.0,
            variances,
        }
    }

    /// Returns the information of each released coordinate about the true coordinate (d values), as
    /// [`information`] defines it. It is infinite for a level of a category, which has no neighbouring
    /// values.
    pub(crate) fn information(&self) -> Vec<f64> {
        let information = |table: &Arc<Table>| if table.is_level { f64::INFINITY } else { table.information };
        self.tables.iter().map(information).collect()
    }

    /// Replaces `point` by a released point. On input, the d values of `point` are the features of a record
    /// plus the means of the noise. The means are subtracted, the features are rounded to lattice points of
    /// the domain, and a draw of noise is added to each.
    ///
    /// # Errors
    /// [`Error::Shape`] if `point` does not have d values, [`Error::NonFinite`] if a value is a NaN or an
    /// infinity.
    pub(crate) fn add(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let rounded = self.round(point)?;
        for ((x, k), table) in point.iter_mut().zip(rounded).zip(&self.tables) {
            *x = (k + table.draw(stream)) as f64 * table.step;
        }
        Ok(())
    }

    /// Logarithm of the probability that `point` becomes `released` (d values each), up to a constant.
    ///
    /// # Errors
    /// Same errors as [`add`](Self::add).
    pub(crate) fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Result<f64> {
        let rounded = self.round(point)?;
        let log_weight = |((k, x), table): ((i64, &f64), &Arc<Table>)| {
            let noise = (x / table.step).round() as i64 - k;
            let weight = usize::try_from(noise - table.first).ok().and_then(|at| table.weights.get(at));
            weight.map_or(f64::NEG_INFINITY, |weight| (*weight as f64).ln())
        };
        Ok(rounded.into_iter().zip(released).zip(&self.tables).map(log_weight).sum())
    }

    fn round(&self, point: &[f64]) -> Result<Vec<i64>> {
        if point.len() != self.tables.len() {
            let (found, width) = (point.len(), self.tables.len());
            return Err(Error::shape(format!("a point has {found} values, and the range has {width}")));
        }
        if let Some(at) = point.iter().position(|x| !x.is_finite()) {
            return Err(Error::NonFinite { row: 1, column: (at + 1).to_string(), value: point[at] });
        }
        let mut rounded = vec![];
        for at in &self.factors {
            let largest =
                at.clone().reduce(|best, other| if point[other] > point[best] { other } else { best });
            rounded.extend(at.clone().map(|place| {
                let (x, table) = (point[place], &self.tables[place]);
                match (table.is_level, largest == Some(place)) {
                    (true, true) => table.bounds.1,
                    (true, false) => table.bounds.0,
                    (false, _) => {
                        (((x - table.mean) / table.step).round() as i64).clamp(table.bounds.0, table.bounds.1)
                    }
                }
            }));
        }
        Ok(rounded)
    }
}

fn unfit(problem: &dyn std::fmt::Display) -> Error {
    Error::not_applicable("fisher-bounded", format!("the table of its noise cannot be built: {problem}"))
}

/// Noise of one column: (first + i)·step with probability weightsᵢ/Σweights, for each index i of `weights`.
#[derive(Debug)]
struct Table {
    step: f64,
    first: i64,
    weights: Vec<u64>,
    distribution: Weighted,
    /// The bounds of the column's domain, in steps of the lattice.
    bounds: (i64, i64),
    is_level: bool,
    mean: f64,
    variance: f64,
    information: f64,
}

/// Base-2 logarithm of the largest weight. `LEAST` is the least weight that is not set to zero. With it,
/// rounding to an integer changes a weight by at most one part in 2²⁴. Weights set to zero are less than
/// 10⁻¹¹ times the largest weight.
const LARGEST: f64 = 62.0;
const LEAST: u64 = 1 << 24;

/// Number of standard deviations of unbounded noise that are divided into about `CELLS` steps of the lattice.
/// If the bounds of the noise are narrower, their width is divided instead. A step of the lattice is at most
/// two thousandths of a standard deviation.
const DEVIATIONS: f64 = 16.0;
const CELLS: f64 = 8192.0;
const MOST_CELLS: usize = 1 << 20;

impl Table {
    /// Builds the table of the noise of a column, with the weight `lambda` of its mean square relative to its
    /// Fisher information.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if the [`GroundState`] is not finite in floating point, or if the range has
    /// too many points of the lattice.
    fn new(column: &Column, lambda: f64) -> Result<Self> {
        let (lower, upper) = column.reach();
        let state =
            GroundState::new(lambda, column.weight, lower, upper).map_err(|problem| unfit(&problem))?;
        let natural = (lambda * column.weight).powf(-0.25); // infinite at λ = 0
        let exponent = ((upper - lower).min(DEVIATIONS * natural) / CELLS).log2().floor();
        let step = if column.is_level { exponent.min(0.0) } else { exponent }.exp2();
        let whole = |x: f64| -> Result<i64> {
            let fits = x.abs() < (1i64 << 52) as f64;
            if fits { Ok(x as i64) } else { Err(unfit(&"its bounds exceed 52 bits on the lattice")) }
        };
        let top = whole((column.bounds.1 / step).floor())?;
        let bounds = (whole((column.bounds.0 / step).ceil())?.min(top), top);
        // With noise between these two ends, in steps, every released value lies in `column.range`.
        let mut ends = (
            whole((column.range.0 / step).ceil())? - bounds.0,
            whole((column.range.1 / step).floor())? - bounds.1,
        );
        if column.is_symmetric() {
            let least = ends.1.min(-ends.0);
            ends = (-least, least);
        }
        let (first, weights) = weights(&state, step, ends)?;
        let distribution = Weighted::new(&weights)?;
        let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
        let moment = |power: i32, center: f64| -> f64 {
            let terms = weights.iter().zip(first..).map(|(w, k)| *w as f64 * (k as f64 - center).powi(power));
            terms.sum::<f64>() / total
        };
        let mean = if first == -(first + weights.len() as i64 - 1) { 0.0 } else { moment(1, 0.0) };
        let (variance, information) = (moment(2, mean) * step * step, information(&weights, step));
        let is_level = column.is_level;
        Ok(Self {
            step,
            first,
            weights,
            distribution,
            bounds,
            is_level,
            mean: mean * step,
            variance,
            information,
        })
    }

    fn draw(&self, stream: &mut Stream) -> i64 {
        self.first + self.distribution.sample(stream) as i64
    }

    /// Squared distance between the farthest values of the column, divided by the variance of the noise.
    fn mu_squared(&self) -> f64 {
        (self.shift() as f64 * self.step).powi(2) / self.variance
    }

    /// Largest distance between two values of the column, in steps.
    fn shift(&self) -> usize {
        self.bounds.1.abs_diff(self.bounds.0) as usize
    }
}

/// Returns the index of the first lattice point with a nonzero weight. Also returns integer weights,
/// proportional to the density of the noise, for this point and the following points. The weights are
/// log-concave by construction.
///
/// # Errors
/// [`Error::NotApplicable`] if there is no lattice point between the `ends`, or if [`MOST_CELLS`] lattice
/// points or more, besides the mode, have a nonzero weight.
fn weights(state: &GroundState, step: f64, ends: (i64, i64)) -> Result<(i64, Vec<u64>)> {
    if ends.0 > ends.1 {
        return Err(unfit(&"its range contains no point of the lattice"));
    }
    let log_density = |k: i64| state.log_density(k as f64 * step);
    // The density has one maximum, and underflows to zero far from its mean.
    let mean = (state.mean() / step).round() as i64;
    let rises = |k: i64| {
        let (current, next) = (log_density(k), log_density(k + 1));
        current < next || (next == f64::NEG_INFINITY && k < mean)
    };
    let (mut from, mut to) = ends;
    while from < to {
        let middle = from + (to - from) / 2;
        if rises(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    let (mode, peak) = (from, log_density(from));
    let weight = |k: i64| ((log_density(k) - peak).exp() * LARGEST.exp2()) as u64;
    // From the mode outwards, the square of the last weight divided by the weight before it bounds the next
    // weight. This restores the log-concavity that rounding may have broken.
    let outwards = |keys: &mut dyn Iterator<Item = i64>| {
        let (mut before, mut last) = (weight(mode), weight(mode));
        let mut side = vec![];
        for k in keys.take(MOST_CELLS) {
            let most = u128::from(last).pow(2) / u128::from(before).max(1);
            let next = weight(k).min(last).min(most.min(u128::from(u64::MAX)) as u64);
            if next < LEAST {
                break;
            }
            (before, last) = (last, next);
            side.push(next);
        }
        side
    };
    let right = outwards(&mut (mode + 1..=ends.1));
    let left = outwards(&mut (ends.0..mode).rev());
    if left.len() + right.len() >= MOST_CELLS {
        return Err(unfit(&"the levels of a group are too many steps of the lattice apart"));
    }
    if mode == 0 && ends.0 == -ends.1 {
        // The two sides may be rounded differently in their last bit.
        let both: Vec<u64> = left.iter().zip(&right).map(|(a, b)| *a.min(b)).collect();
        let whole = both.iter().rev().copied().chain([weight(0)]).chain(both.iter().copied());
        return Ok((-(both.len() as i64), straightened(whole.collect())));
    }
    let whole = left.iter().rev().copied().chain([weight(mode)]).chain(right);
    Ok((mode - left.len() as i64, whole.collect()))
}

/// Lowers the weights of a symmetric table, from its middle outwards, such that they are log-concave. The
/// maximum is in the middle.
fn straightened(mut weights: Vec<u64>) -> Vec<u64> {
    let middle = weights.len() / 2;
    for at in middle + 1..weights.len() {
        let before = if at - 1 == middle { weights[middle] } else { weights[at - 2] };
        let most = u128::from(weights[at - 1]).pow(2) / u128::from(before).max(1);
        let value = u128::from(weights[at]).min(most) as u64;
        weights[at] = value;
        weights[2 * middle - at] = value;
    }
    weights
}

/// Information of a released value about the true value, per squared unit of the column. Take any estimate
/// that is unbiased at two neighbouring lattice points. The inverse of the information is a lower bound on
/// the mean of its variances at the two points. The information is 4H²/step², enlarged by the effect of the
/// step. H² is Σ(√p − √q)² over all lattice points, for the probabilities p of the table and q of the table
/// shifted by one step.
///
/// The bound of Hammersley, Chapman and Robbins requires that one of two distributions has its support within
/// the support of the other. The support of bounded noise moves with the record, so another bound is derived
/// here. Let p and q be the densities of a released value for two records. Let T be an estimate with means t
/// and t + h under p and q, and c = t + h/2. Then h = ∫(T − c)(√q − √p)(√q + √p). By Cauchy and Schwarz, h² ≤
/// H²·∫(T − c)²(√q + √p)² ≤ 2H²·(Var_p T + Var_q T + h²/2). So the mean of both variances is at least h²/4H²
/// − h²/4. For several independent releases, H² of all together is at most the sum of the H² of each. The
/// function subtracts 256·h²/4 from h²/4H² for h = `step`, which is enough for 256 releases of the same
/// record.
fn information(weights: &[u64], step: f64) -> f64 {
    let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
    let roots = weights.iter().map(|weight| (*weight as f64 / total).sqrt());
    let (ahead, behind) = (roots.clone().chain([0.0]), [0.0].into_iter().chain(roots));
    let squared: f64 = ahead.zip(behind).map(|(a, b)| (a - b).powi(2)).sum();
    const RELEASES: f64 = 256.0;
    let error = (step * step / 4.0) * (1.0 / squared - RELEASES);
    1.0 / error.max(f64::MIN_POSITIVE) * (1.0 + 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Randomness;

    fn column(lower: f64, upper: f64) -> Column {
        Column { bounds: (0.0, 1.0), range: (lower, upper), weight: 1.0, is_level: false }
    }

    fn tables() -> Vec<(Table, GroundState)> {
        let case = |column: Column, lambda| {
            let (lower, upper) = column.reach();
            (Table::new(&column, lambda).unwrap(), GroundState::new(lambda, 1.0, lower, upper).unwrap())
        };
        vec![
            case(column(-1.0, 2.0), 0.0),
            case(column(-1.0, 2.0), 1.0),
            case(column(-10.0, 11.0), 1.0),
            case(column(-1.0, 4.0), 4.0),
            case(column(0.0, 3.0), 30.0),
            case(column(-1e3, 1e3), 1e4),
        ]
    }

    #[test]
    fn a_table_is_log_concave_whatever_the_rounding() {
        for (table, _) in tables() {
            assert!(Shifted::new(table.weights.clone(), 1).is_ok());
            assert!(table.weights.len() > 4000, "{}", table.weights.len());
        }
    }

    #[test]
    fn a_table_has_the_moments_of_the_density() {
        for (table, state) in tables() {
            let size = state.variance().sqrt();
            assert!((table.mean - state.mean()).abs() < 1e-5 * size, "{} and {}", table.mean, state.mean());
            assert!((table.variance / state.variance() - 1.0).abs() < 1e-5, "{}", table.variance);
        }
    }

    /// The information of the table tends to that of the density, 4∫w′².
    #[test]
    fn a_table_tells_what_the_density_tells() {
        for (table, state) in tables() {
            let ratio = table.information / state.fisher_information();
            assert!((ratio - 1.0).abs() < 2e-3, "{ratio}");
        }
    }

    #[test]
    fn noise_between_equal_bounds_has_no_mean() {
        for range in [(-1.0, 2.0), (-10.0, 11.0), (-0.1, 1.1)] {
            for lambda in [0.0, 1.0, 1e6] {
                assert_eq!(Table::new(&column(range.0, range.1), lambda).unwrap().mean, 0.0);
            }
        }
    }

    #[test]
    fn what_is_released_stays_in_the_range() {
        let mut stream = Randomness::seeded(1).streams().stream(0);
        for (lower, upper) in [(-0.25, 1.25), (-0.1234, 1.7), (0.0, 1.3)] {
            let domain = Domain::unit_box(1);
            let noise = BoundedNoise::new(&domain, &[column(lower, upper)], 0.0).unwrap();
            for x in [0.0, 0.3333, 1.0, -7.0, 9.0] {
                for _ in 0..2000 {
                    let mut point = [x + noise.means()[0]];
                    noise.add(&mut point, &mut stream).unwrap();
                    assert!((lower..=upper).contains(&point[0]), "{x} became {}", point[0]);
                }
            }
        }
    }

    #[test]
    fn a_group_counts_two_columns() {
        let group = Column { is_level: true, ..column(-20.0, 21.0) };
        let noise = |domain: &Domain, columns: &[Column]| BoundedNoise::new(domain, columns, 1e-3).unwrap();
        let one_group = noise(&Domain::one_hot(5).unwrap(), &[group; 5]);
        let two_numbers = noise(&Domain::unit_box(2), &[column(-20.0, 21.0); 2]);
        let five_numbers = noise(&Domain::unit_box(5), &[column(-20.0, 21.0); 5]);
        assert!((one_group.delta(0.3) - two_numbers.delta(0.3)).abs() < 1e-9);
        assert!(five_numbers.delta(0.3) > 1.5 * two_numbers.delta(0.3));
    }

    /// With bounds far from the domain, the noise is that of the Gaussian mechanism.
    #[test]
    fn with_distant_bounds_the_profile_is_that_of_gaussian_noise() {
        let noise = BoundedNoise::new(&Domain::unit_box(3), &[column(-300.0, 301.0); 3], 1.0 / 16.0).unwrap();
        for epsilon in [0.1, 0.5, 1.0, 2.0] {
            let gaussian = scumble_accounting::gaussian::delta(3f64.sqrt() / 2.0, epsilon);
            let ratio = noise.delta(epsilon) / gaussian;
            assert!((ratio - 1.0).abs() < 3e-3, "ε = {epsilon}: {ratio}");
        }
    }

    #[test]
    fn ranges_that_are_none_are_refused_in_words() {
        for (lower, upper, word) in [
            (1.0, -1.0, "inverted"),
            (0.5, 0.5, "empty"),
            (f64::NEG_INFINITY, 2.0, "finite"),
            (f64::NAN, 2.0, "finite"),
            (0.0, 1.0, "beyond"),
            (0.2, 3.0, "beyond"),
        ] {
            let refused = column(lower, upper).check().unwrap_err();
            assert!(refused.contains(word), "[{lower}, {upper}]: {refused}");
        }
        let level = Column { is_level: true, ..column(-1.0, 3.0) };
        assert!(level.check().unwrap_err().contains("as far below"));
    }
}
