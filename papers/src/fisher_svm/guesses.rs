//! Questions beyond the Cramér–Rao bound: the errors of a biased guess and of every guess, and the
//! identification of records. The Gaussian noise has variance 1/√λ for the noise parameter λ.

use super::data::{self, Data};
use super::{cramer_rao, design};
use crate::accounting::mutual_information;
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale};
use ndarray::{Array1, Array2, ArrayView1, Axis};
use rayon::prelude::*;
use scumble_core::Domain;
use serde_json::json;

/// Errors of guesses about released records, at one value of the noise parameter λ.
struct Guessed {
    lambda: f64,
    /// Lower bound on the squared error of unbiased guesses, as the guarantee claims.
    claimed: f64,
    /// Lower bound on the squared error of every guess, for at least one record of the domain.
    any_guess: f64,
    /// Mean squared error of the released records themselves as guesses, for each trial.
    unbiased: Vec<f64>,
    /// Mean squared error of the linear guess by column means and variances, for each trial.
    biased: Vec<f64>,
    /// Largest expected squared error of the linear guess over the records of the domain, in closed form.
    worst: f64,
    /// Share of released records whose nearest original record is their own, for each trial.
    identified: Vec<f64>,
    /// Upper bound on `identified` for every adversary who knows all records.
    ceiling: f64,
}

/// Adversary's knowledge of the population: each column's mean and variance.
pub(super) struct Known {
    means: Array1<f64>,
    variances: Array1<f64>,
}

impl Known {
    pub fn from_records(records: &Array2<f64>) -> Self {
        let means = records.mean_axis(Axis(0)).unwrap_or_default();
        Self { means, variances: records.var_axis(Axis(0), 0.0) }
    }

    /// Squared error of the linear guess after a release with noise of variance `noise`, divided by its
    /// squared error without a release.
    pub fn hidden(&self, noise: f64) -> f64 {
        let left: f64 = self.variances.iter().map(|variance| variance * noise / (variance + noise)).sum();
        left / self.variances.sum()
    }

    /// Weight of each released column in the linear guess of least error, for noise of variance `noise`.
    fn trust(&self, noise: f64) -> Array1<f64> {
        self.variances.mapv(|variance| variance / (variance + noise))
    }

    fn guess(&self, released: &Array2<f64>, noise: f64) -> Array2<f64> {
        (released - &self.means) * self.trust(noise) + &self.means
    }

    /// Largest expected squared error E‖x̂ − x‖² of the linear guess x̂ over the records x of `domain`. The
    /// error of a column consists of its noise and its bias at the bound that is farther from the mean.
    fn worst(&self, domain: &Domain, noise: f64) -> f64 {
        let bounds = domain.intervals().unwrap_or_default();
        let columns = self.trust(noise).into_iter().zip(&self.means).zip(bounds);
        let column_errors = columns.map(|((trust, mean), (lower, upper))| {
            let farthest = (mean - lower).abs().max((upper - mean).abs());
            trust.powi(2) * noise + ((1.0 - trust) * farthest).powi(2)
        });
        column_errors.sum()
    }

    /// Upper bound on the nats that noise of variance `noise` discloses about a record's identity: ½ Σ ln(1 +
    /// s²/σ²), with s² the variance of a column and σ² = `noise`.
    fn nats(&self, noise: f64) -> Result<f64> {
        let noises = vec![noise; self.variances.len()];
        Ok(mutual_information::gaussian_bound(&self.variances.to_vec(), &noises)?)
    }
}

fn mean_square(one: &Array2<f64>, other: &Array2<f64>) -> f64 {
    (one - other).mapv_into(|x| x * x).sum() / one.nrows() as f64
}

/// Share of the `released` records whose nearest record among `records` is their own. A tie counts as wrong.
fn identification_rate(records: &Array2<f64>, released: &Array2<f64>) -> f64 {
    let squared = |a: ArrayView1<f64>, b: ArrayView1<f64>| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let right = released.rows().into_iter().enumerate().filter(|(at, row)| {
        let own = squared(*row, records.row(*at));
        records
            .rows()
            .into_iter()
            .enumerate()
            .all(|(other, record)| other == *at || squared(*row, record) > own)
    });
    right.count() as f64 / records.nrows() as f64
}

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let exponents: Vec<i32> =
        if options.quick { vec![-14, -8, -2, 4] } else { (-14..=8).step_by(2).collect() };
    let tumours = data::tumours(options)?.data;
    let known = Known::from_records(tumours.table.records());
    (options.on_start)((exponents.len() * options.trials()) as u64);
    let lambdas = exponents.iter().map(|exponent| 10f64.powi(*exponent));
    let all = (0..).zip(lambdas).map(|place| Guessed::measure(options, name, &tumours, &known, place));
    let all: Vec<Guessed> = all.collect::<Result<_>>()?;
    Ok(Evidence {
        trials: options.trials(),
        findings: vec![unbiased(&all), biased(&all), every(&all), identified(&all, tumours.table.len())],
        grids: vec![grid(&all)],
        notes: notes(),
        picture: Picture {
            title: "Guesses of tumours (WDBC) and their bounds".into(),
            panels: vec![errors(&all), successes(&all)],
        },
    })
}

impl Guessed {
    /// Measures all guesses about releases of `tumours` at `lambda`, the value number `at`.
    fn measure(
        options: &RunOptions,
        name: &str,
        tumours: &Data,
        known: &Known,
        (at, lambda): (u64, f64),
    ) -> Result<Self> {
        let Data { table, domain } = tumours;
        let records = table.records();
        let noise = 1.0 / lambda.sqrt();
        let mechanism = design(options, "fisher-gaussian", &json!({ "lambda": lambda }), domain)?;
        let guarantee = mechanism.guarantee();
        let bound = cramer_rao("fisher-gaussian", &guarantee)?;
        let trials = (0..options.trials() as u64).into_par_iter().map(|trial| {
            let released = mechanism.release(table, &mut options.randomness(name, &[at, trial]))?.table;
            let released = released.records();
            (options.on_step)();
            Ok([
                mean_square(released, records),
                mean_square(&known.guess(released, noise), records),
                identification_rate(records, released),
            ])
        });
        let trials: Vec<[f64; 3]> = trials.collect::<Result<_>>()?;
        let trial_values = |part: usize| trials.iter().map(|trial| trial[part]).collect();
        Ok(Self {
            lambda,
            claimed: bound.error(),
            any_guess: bound.worst_case_error_bound(domain),
            unbiased: trial_values(0),
            biased: trial_values(1),
            worst: known.worst(domain.features(), noise),
            identified: trial_values(2),
            ceiling: mutual_information::posterior_success(known.nats(noise)?, 1.0 / records.nrows() as f64)?,
        })
    }
}

fn notes() -> Vec<String> {
    vec![
        "Records are unscaled, with each number between 0 and 5,000. The biased guess knows each \
         column's mean and spread among the 569 tumours, and is the linear guess of least error. The \
         error of every guess about some record has two lower bounds, and the larger one applies. The \
         first is the inequality of van Trees (Gill and Levit 1995) for the prior of least information \
         on each column. The second is that of Le Cam for two values. The card of fisher-gaussian states \
         both bounds."
            .into(),
        "The attack chooses the nearest of the 569 tumours. Even for an adversary that knows them all, \
         the nats of a release, ½ Σ ln(1 + s²/σ²), bound the success. The bound is Fano's inequality in \
         its sharper form KL(success ‖ 1/569) ≤ nats, as Guo and others (2023) use it for reconstruction."
            .into(),
    ]
}

fn unbiased(all: &[Guessed]) -> Finding {
    let off = |at: &Guessed| {
        let found = Mean::from_values(&at.unbiased);
        (found.value / at.claimed - 1.0, 3.0 * found.error / at.claimed)
    };
    let most = all.iter().map(|at| off(at).0.abs()).fold(0.0, f64::max);
    let beyond = all.iter().map(off).map(|(off, errors)| off.abs() - errors).fold(0.0, f64::max);
    Finding {
        what: "squared error of the released record, an unbiased guess".into(),
        paper: "no less than the bound, and Gaussian noise meets it".into(),
        ours: format!("within {most:.1e} of the bound at every λ"),
        value: Some(most),
        decision: rules::MEETS_BOUND.on(beyond),
        why: String::new(),
    }
}

fn biased(all: &[Guessed]) -> Finding {
    let share = |at: &Guessed| Mean::from_values(&at.biased).value / at.claimed;
    let nearer = all.iter().filter(|at| share(at) < 1.0).count();
    let least = all.iter().min_by(|a, b| share(a).total_cmp(&share(b)));
    let closest = least.map_or(String::new(), |at| {
        format!(
            "; {} instead of the claimed {}, at λ = {:e}",
            four(Mean::from_values(&at.biased).value),
            four(at.claimed),
            at.lambda
        )
    });
    Finding {
        what: "squared error of a guess that knows each column's mean and spread".into(),
        paper: "no less than the bound, irrespective of the adversary's behaviour (Section 2.2)".into(),
        ours: format!("below the bound at {nearer} of {} λ{closest}", all.len()),
        value: Some(nearer as f64),
        decision: rules::NO_NEARER_GUESS.on(nearer as f64),
        why: "the Cramér–Rao bound does not apply to a biased guess (errata F13)".into(),
    }
}

fn every(all: &[Guessed]) -> Finding {
    let ratio = all.iter().map(|at| at.worst.min(at.claimed) / at.any_guess).fold(f64::INFINITY, f64::min);
    Finding {
        what: "squared error of either guess, for the record with the largest error".into(),
        paper: "van Trees (1968), Le Cam (1973): no less than their bounds, for every guess".into(),
        ours: format!("at least {} times the bound, at every λ", four(ratio)),
        value: Some(ratio),
        decision: rules::ABOVE_BOUNDS.on(ratio),
        why: String::new(),
    }
}

fn identified(all: &[Guessed], records: usize) -> Finding {
    let room = |at: &Guessed| {
        let found = Mean::from_values(&at.identified);
        at.ceiling - found.value + 3.0 * found.error
    };
    let nearest = all.iter().min_by(|a, b| room(a).total_cmp(&room(b)));
    let closest = nearest.map_or(String::new(), |at| {
        format!(
            "{:.1} % of {:.1} % allowed, closest at λ = {:e}",
            100.0 * Mean::from_values(&at.identified).value,
            100.0 * at.ceiling,
            at.lambda
        )
    });
    Finding {
        what: format!("identification of the released tumour among {records}, by the nearest record"),
        paper: "Fano (1961), Guo and others (2023): the nats of a release bound the success".into(),
        ours: closest,
        value: nearest.map(room),
        decision: rules::WITHIN_CEILING.on(all.iter().map(|at| -room(at)).fold(f64::NEG_INFINITY, f64::max)),
        why: String::new(),
    }
}

fn grid(all: &[Guessed]) -> Grid {
    let row = |at: &Guessed| {
        let [unbiased, biased, identified] =
            [&at.unbiased, &at.biased, &at.identified].map(|values| Mean::from_values(values).value);
        vec![
            format!("{:e}", at.lambda),
            four(at.claimed),
            four(unbiased),
            four(biased),
            four(at.worst),
            four(at.any_guess),
            format!("{:.1}", 100.0 * identified),
            format!("{:.1}", 100.0 * at.ceiling),
        ]
    };
    let header = [
        "λ",
        "claimed",
        "unbiased guess",
        "biased guess",
        "biased guess, worst record",
        "every guess, lower bound",
        "identified, %",
        "bound, %",
    ];
    Grid {
        title: "squared errors of guesses, in squared units of the records, and success of identifying a \
            record"
            .into(),
        header: header.map(str::to_owned).to_vec(),
        rows: all.iter().map(row).collect(),
    }
}

fn layer(name: &str, look: usize, all: &[Guessed], height: impl Fn(&Guessed) -> f64) -> Layer {
    let points = all.iter().map(|at| CurvePoint { x: at.lambda, y: height(at), error: 0.0 });
    Layer { name: name.into(), look, marks: Marks::Curve(points.collect()) }
}

fn errors(all: &[Guessed]) -> Panel {
    Panel {
        title: "Squared errors of guesses".into(),
        across: Scale::logarithmic("λ (larger means less noise)"),
        up: Scale::logarithmic("E‖x − x̂‖², in squared units of the records"),
        layers: vec![
            layer("the paper's bound, for guesses without bias", 0, all, |at| at.claimed),
            layer("a guess by mean and spread", 1, all, |at| Mean::from_values(&at.biased).value),
            layer("the same, about the record that it misses most", 2, all, |at| at.worst),
            layer("every guess, about some record: at least", 3, all, |at| at.any_guess),
        ],
    }
}

fn successes(all: &[Guessed]) -> Panel {
    Panel {
        title: "Identification of a tumour among all others".into(),
        across: Scale::logarithmic("λ (larger means less noise)"),
        up: Scale::linear("%"),
        layers: vec![
            layer("told by the nearest", 1, all, |at| 100.0 * Mean::from_values(&at.identified).value),
            layer("allowed by the nats of a release", 0, all, |at| 100.0 * at.ceiling),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn a_guess_by_mean_and_spread_is_half_way_where_noise_is_as_large_as_the_spread() {
        let known = Known::from_records(&array![[0.0], [2.0]]);
        assert_eq!((known.means[0], known.variances[0]), (1.0, 1.0));
        assert_eq!(known.guess(&array![[5.0]], 1.0), array![[3.0]]);
        // At 4, three from the mean: half of this distance is bias, and a quarter of the noise remains.
        assert_eq!(known.worst(&Domain::interval(0.0, 4.0).unwrap(), 1.0), 0.25 + 1.5f64.powi(2));
    }

    #[test]
    fn the_nearest_is_told_but_for_ties() {
        let records = array![[0.0], [1.0], [1.0]];
        assert_eq!(identification_rate(&records, &array![[0.2], [0.9], [1.0]]), 1.0 / 3.0);
    }
}
