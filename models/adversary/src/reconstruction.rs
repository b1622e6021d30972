//! Reconstruction attacks on Cramér–Rao claims, which are lower bounds on the mean squared error of unbiased
//! estimates of a record.

use crate::finding::{Finding, Measure, Verdict};
use crate::{Effort, Result};
use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2};
use rand::RngCore;
use rayon::prelude::*;
use scumble_core::{
    Claim, CramerRao, Designed, Domain, Factor, NoiseDistribution, Randomness, Stream, Table,
};
use scumble_linear::RidgeParams;

/// Number of rows whose releases are studied (`ROWS`), and numbers of releases after which the result is
/// tested (`LOOKS`).
const ROWS: usize = 20;
const LOOKS: [usize; 3] = [1_000, 3_000, 10_000];
/// Assumed bound on the kurtosis of an error e: E e⁴ ≤ 6·(E e²)². The kurtosis is 6 for Laplace noise, 3 for
/// Gaussian noise, and below 6 for sums of independent Laplace noise.
const KURTOSIS: f64 = 6.0;

/// Mean squared errors of the estimates of a record by three adversaries, summed over the claimed columns.
#[derive(Debug, Clone, Copy)]
struct Errors {
    /// Error of the released value after subtraction of its mean error. For additive noise, no better
    /// unbiased estimate is known.
    unbiased: f64,
    /// Error of a weighted mean of the domain's centre and the released value. The weights are inversely
    /// proportional to the variances of the records and of the noise.
    biased: f64,
    /// Error of an adversary that knows all other records, and therefore their noise. It predicts the noise
    /// of this record from the noise of the others, and subtracts the prediction.
    informed: f64,
}

/// Rows of `table` whose releases are studied. If the numbers of a claim are computed from the released
/// records, the claim is about these rows.
pub(crate) fn rows(table: &Table) -> Result<Table> {
    table.select(&(0..table.len().min(ROWS)).collect::<Vec<_>>())
}

/// Attacks the claim `bound` by releases of some rows of `table`.
pub(crate) fn attack(
    name: &str,
    mechanism: &Designed,
    table: &Table,
    (claim, bound): (&Claim, &CramerRao),
    effort: Effort,
) -> Result<Finding> {
    let about = Finding::about(name, claim, effort);
    let table = rows(table)?;
    // A column that is fully disclosed has no claim of its own, but may belong to a joint claim on several
    // columns.
    let claimed = |name: &str| {
        bound
            .information
            .get(name)
            .is_some_and(|information| information.is_finite() || bound.joint.is_some())
    };
    let columns: Vec<usize> =
        (0..table.columns().len()).filter(|&at| claimed(&table.columns()[at])).collect();
    if columns.len() < bound.information.keys().filter(|name| claimed(name)).count()
        || columns.is_empty()
        || table.is_empty()
    {
        return Ok(about.unattacked(Verdict::NotAttacked, "it does not release the columns of its claim"));
    }
    let features = mechanism.domain().features();
    let (spreads, centers) = (spreads(features), features.center());
    let select = |values: &[f64]| columns.iter().map(|&at| values[at]).collect::<Vec<f64>>();
    let (spreads, centers) = (select(&spreads), select(&centers));
    // A mean of n squared errors is below its expectation by a fraction t of this expectation with
    // probability at most exp(−n·t²/2κ), for kurtosis κ (Bernstein, one-sided).
    let alarm = effort.false_alarm / (table.len() * LOOKS.len()) as f64;
    let error = bound.error();
    let mut released = Released::new(effort);
    let (mut noise, mut errors, mut reached) = (vec![], vec![], f64::INFINITY);
    for releases in LOOKS {
        released.extend(mechanism, &table, &columns, releases)?;
        if !released.is_additive {
            let why = "its release is not the record plus noise, and no other unbiased estimator is known";
            return Ok(about.unattacked(Verdict::NotAttacked, why));
        }
        noise = released.noise(&table, &columns);
        errors = (0..table.len())
            .into_par_iter()
            .map(|row| {
                let clean: Vec<f64> = columns.iter().map(|&at| table.records()[[row, at]]).collect();
                record_errors(row, &clean, &noise, (&spreads, &centers))
            })
            .collect::<Vec<Errors>>();
        let share = (2.0 * KURTOSIS * (1.0 / alarm).ln() / releases as f64).sqrt().min(0.99);
        let least = errors.iter().map(|errors| errors.unbiased).fold(f64::INFINITY, f64::min);
        reached = (least / (1.0 - share)).max(f64::MIN_POSITIVE);
        if reached < error {
            break; // The result is clear.
        }
    }
    let least = |measure: fn(&Errors) -> f64| errors.iter().map(measure).fold(f64::INFINITY, f64::min);
    let (biased, informed) = (least(|errors| errors.biased), least(|errors| errors.informed));
    let is_broken = reached < error;
    // If the claimed columns contain only some columns of a group (such as a one-hot group), their radius is
    // unknown, and the text does not call the claim vacuous.
    let farthest = features.restrict(&columns).map_or(f64::INFINITY, |claimed| claimed.squared_radius());
    let mut because = format!(
        "The mean squared error of an unbiased reconstruction is at most {reached:.4}, and at least \
         {error:.4} is claimed. The error is about {biased:.4} for a biased reconstruction, and about \
         {informed:.4} for an adversary that knows the other records; the claim covers neither"
    );
    if leaves_a_combination(&noise) {
        because += "; a combination of the columns of a record is released unchanged";
    }
    if error > farthest {
        because += &format!(
            "; the claim is vacuous, because the centre of the domain has an error of at most \
                      {farthest:.4}"
        );
    }
    Ok(Finding {
        measure: Measure::Precision,
        claimed: Some(1.0 / error),
        lower_bound: Some(1.0 / reached),
        pairs: table.len(),
        samples: noise.first().map_or(0, |column| column.nrows()),
        verdict: if is_broken { Verdict::Broken } else { Verdict::Holds },
        because,
        ..about
    })
}

/// Releases of some rows.
struct Released {
    seeds: Stream,
    records: Vec<Array2<f64>>,
    /// True if each release declares additive noise.
    is_additive: bool,
}

impl Released {
    fn new(effort: Effort) -> Self {
        let seeds = Randomness::seeded(effort.seed).streams().stream(0);
        Self { seeds, records: vec![], is_additive: true }
    }

    /// Draws releases until there are `releases` of them.
    fn extend(
        &mut self,
        mechanism: &Designed,
        table: &Table,
        columns: &[usize],
        releases: usize,
    ) -> Result<()> {
        let seeds: Vec<u64> = (self.records.len()..releases).map(|_| self.seeds.next_u64()).collect();
        let released = seeds.into_par_iter().map(|seed| {
            scumble_core::interrupt::check()?;
            let released = mechanism.release(table, &mut Randomness::seeded(seed))?;
            let distributions = released.noise.features.iter();
            let is_added: Vec<bool> = distributions
                .flat_map(|distribution| {
                    let is_added = matches!(
                        distribution,
                        NoiseDistribution::Additive { .. }
                            | NoiseDistribution::Correlated { .. }
                            | NoiseDistribution::Shared { .. }
                    );
                    vec![is_added; distribution.width()]
                })
                .collect();
            let is_additive = columns.iter().all(|at| is_added.get(*at) == Some(&true));
            let has_all = released.table.records().dim() == table.records().dim();
            Ok((released.table.records().to_owned(), is_additive && has_all))
        });
        for (records, is_additive) in released.collect::<Result<Vec<_>>>()? {
            self.is_additive &= is_additive;
            self.records.push(records);
        }
        Ok(())
    }

    /// Noise that the releases add to the rows of `table`: one matrix (releases × rows) for each column of
    /// `columns`.
    fn noise(&self, table: &Table, columns: &[usize]) -> Vec<Array2<f64>> {
        let column_noise = |&at: &usize| {
            Array2::from_shape_fn((self.records.len(), table.len()), |(release, row)| {
                let value = self.records[release].get([row, at]).copied().unwrap_or(0.0);
                value - table.records()[[row, at]]
            })
        };
        columns.iter().map(column_noise).collect()
    }
}

/// Variance of each coordinate under a uniform distribution over the domain; for a ball, an upper bound.
fn spreads(features: &Domain) -> Vec<f64> {
    let variance = |factor: &Factor| match *factor {
        Factor::Interval { lower, upper } => (upper - lower).powi(2) / 12.0,
        Factor::OneHot { levels } => (1.0 - 1.0 / levels as f64) / levels as f64,
        Factor::L1Ball { dim, radius } | Factor::L2Ball { dim, radius } => radius * radius / dim as f64,
        _ => 0.0,
    };
    features.factors().flat_map(|(at, factor)| vec![variance(factor); at.len()]).collect()
}

/// Returns true if the noise in one column of the first row follows from its noise in the other columns.
///
/// An adversary that knows the relation, for example from a model trained on the release, then knows one
/// combination of the columns exactly.
fn leaves_a_combination(noise: &[Array2<f64>]) -> bool {
    const NOTHING: f64 = 1e-6;
    let releases = noise.first().map_or(0, |column| column.nrows());
    let first_row =
        Array2::from_shape_fn((releases, noise.len()), |(release, column)| noise[column][[release, 0]]);
    (0..noise.len()).any(|column| {
        let variance = first_row.column(column).mapv(|w| w * w).mean().unwrap_or(0.0);
        variance > 0.0 && unexplained(&first_row, column).is_some_and(|rest| rest < NOTHING * variance)
    })
}

fn record_errors(
    row: usize,
    clean: &[f64],
    noise: &[Array2<f64>],
    (spreads, centers): (&[f64], &[f64]),
) -> Errors {
    let mut errors = Errors { unbiased: 0.0, biased: 0.0, informed: 0.0 };
    for (at, noise) in noise.iter().enumerate() {
        let own = noise.column(row);
        let mean = own.mean().unwrap_or(0.0);
        let centred = own.mapv(|error| error - mean);
        let variance = centred.mapv(|error| error * error).mean().unwrap_or(0.0);
        errors.unbiased += variance;
        // The best linear estimate for records that are uniformly distributed over the domain.
        let spread = spreads[at];
        let share = if spread + variance > 0.0 { spread / (spread + variance) } else { 1.0 };
        let guess = |error: f64| centers[at] + share * (clean[at] + error - centers[at]);
        errors.biased += centred.mapv(|error| (guess(error) - clean[at]).powi(2)).mean().unwrap_or(0.0);
        errors.informed += unexplained(noise, row).unwrap_or(variance).min(variance);
    }
    errors
}

/// Mean square of the noise of record `row` that remains after a linear prediction from the noise of the
/// other records. `noise` has one row per release and one column per record. The prediction is learned on one
/// half of the releases, and the mean is over the other half.
fn unexplained(noise: &Array2<f64>, row: usize) -> Option<f64> {
    let others: Vec<usize> = (0..noise.ncols()).filter(|other| *other != row).collect();
    if others.is_empty() {
        return None;
    }
    let half = noise.nrows() / 2;
    let rows = |range: std::ops::Range<usize>| {
        let chosen: Vec<usize> = range.collect();
        let noise = noise.select(ndarray::Axis(0), &chosen);
        (noise.select(ndarray::Axis(1), &others), noise.column(row).to_owned())
    };
    let ((lessons, targets), (others, own)) = (rows(0..half), rows(half..noise.nrows()));
    let parameters = RidgeParams::default().l2_penalty(1e-9).check().ok()?;
    let model = parameters.fit(&Dataset::new(lessons, targets)).ok()?;
    let predicted: Array1<f64> = model.predict(&others);
    let rest = &own - &predicted;
    rest.mapv(|rest| rest * rest).mean()
}
