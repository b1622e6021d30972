//! Sixteen days of a household's power, released for a public regression on the next day.

use super::BY_EPSILON;
use super::noise::{BOTH, Noise};
use super::reshape::{Reshaping, coordinate_wise, largest_loss};
use crate::gains::{curve, gain_finding};
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Panel, Picture, Result, RunOptions, Scale};
use scumble_core::{Brief, Budget, Domain, RecordDomain, Table, Target, TargetDomain, Task, Volunteers};
use scumble_datasets::household as days;
use scumble_linear::RidgeParams;

use linfa::traits::{Fit, Predict};
use linfa::{Dataset, ParamGuard};
use ndarray::{Array1, Array2, ArrayView2, Axis, s};
use serde_json::json;

/// Number of days in a record.
const WINDOW: usize = 16;

/// Share of the windows that is public; these windows come first.
const PUBLIC: f64 = 0.7;

const BUDGETS: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 5.0, 10.0];

/// Minimum number of releases of all private windows.
const DRAWS: usize = 10;

/// Compared releases: four of the paper's, then ours.
const RELEASES: [&str; 5] = [
    "Laplace noise",
    "Laplace noise, reshaped",
    "PrivUnit",
    "PrivUnit, reshaped",
    "task-aware-clipped (ours)",
];

/// Windows of 16 successive days, one in each row, and the mean power of the day after each window, in kW.
/// Each column is scaled by its least and largest public value.
struct Windows {
    public: Array2<f64>,
    private: Array2<f64>,
    after: [Array1<f64>; 2],
}

impl Windows {
    fn load(options: &RunOptions) -> Result<Self> {
        let means = days::power(options.folder)?.mean_axis(Axis(1)).unwrap_or_default();
        let count = means.len().saturating_sub(WINDOW);
        let mut windows = Array2::from_shape_fn((count, WINDOW), |(day, at)| means[day + at]);
        let after = Array1::from_shape_fn(count, |day| means[day + WINDOW]);
        let first_private = (PUBLIC * count as f64) as usize;
        for mut column in windows.columns_mut() {
            let public = column.slice(s![..first_private]);
            let [least, most] = [
                public.fold(f64::INFINITY, |a, b| a.min(*b)),
                public.fold(f64::NEG_INFINITY, |a, b| a.max(*b)),
            ];
            column.mapv_inplace(|x| ((x - least) / (most - least)).clamp(0.0, 1.0));
        }
        // No day is both in a public and in a private window.
        let from = (first_private + WINDOW).min(count);
        Ok(Self {
            public: windows.slice(s![..first_private, ..]).to_owned(),
            private: windows.slice(s![from.., ..]).to_owned(),
            after: [after.slice(s![..first_private]).to_owned(), after.slice(s![from..]).to_owned()],
        })
    }

    fn table(&self, windows: &Array2<f64>) -> Result<Table> {
        Ok(Table::new(columns(), windows.clone(), Target::None)?)
    }

    /// Root mean square error of the public mean as the estimate for each private window, in kW.
    fn error_of_mean(&self) -> f64 {
        let mean = self.after[0].mean().unwrap_or(0.0);
        root_mean_square(&(&self.after[1] - mean))
    }
}

fn columns() -> Vec<String> {
    (1..=WINDOW).map(|day| format!("day {day}")).collect()
}

fn root_mean_square(missed: &Array1<f64>) -> f64 {
    (missed.dot(missed) / missed.len().max(1) as f64).sqrt()
}

/// Root mean square errors of each trial, in kW.
struct Errors {
    without_noise: f64,
    /// Largest privacy loss (log odds) of coordinate-wise noise between two private windows, divided by the
    /// claimed ε.
    loss: f64,
    /// Errors at each budget: for each noise without and with reshaping, then for our mechanism.
    released: Vec<[Vec<f64>; 5]>,
}

fn errors(options: &RunOptions, name: &str, windows: &Windows) -> Result<Errors> {
    let [public_targets, private_targets] = &windows.after;
    let fitted = RidgeParams::default()
        .l2_penalty(1e-9)
        .check()?
        .fit(&Dataset::new(windows.public.clone(), public_targets.clone()))?;
    let error = |estimates: ArrayView2<f64>| -> f64 {
        let missed = fitted.predict(&estimates.to_owned()) - private_targets;
        root_mean_square(&missed)
    };
    let slopes = fitted.coefficients().0.insert_axis(Axis(0));
    let reshaping = Reshaping::new(slopes.view(), windows.public.view())?;
    let domain = RecordDomain::new(columns(), Domain::unit_box(WINDOW), TargetDomain::None)?;
    let (public, private) = (windows.table(&windows.public)?, windows.table(&windows.private)?);
    let errors_at = |epsilon: f64| -> Result<[Vec<f64>; 5]> {
        let mut found = [const { vec![] }; 5];
        let brief = Brief {
            volunteers: Volunteers::Public(public.clone()),
            task: Task::Linear(slopes.clone()),
            ..Brief::new(domain.clone(), Budget::pure(epsilon)?)
        };
        let design = options.registry.get("task-aware-clipped")?.design(&json!({}), &brief)?;
        for trial in 0..options.trainings().max(DRAWS) {
            for (noise, found) in BOTH.into_iter().zip(found.chunks_mut(2)) {
                for (reshaping, found) in [None, Some(&reshaping)].into_iter().zip(found) {
                    let draws =
                        [epsilon.to_bits(), trial as u64, noise as u64, u64::from(reshaping.is_some())];
                    let mut randomness = options.randomness(name, &draws);
                    let (public, private) = (windows.public.view(), windows.private.view());
                    found.push(error(
                        noise.released(reshaping, public, private, epsilon, &mut randomness)?.view(),
                    ));
                }
            }
            let mut randomness = options.randomness(name, &[epsilon.to_bits(), trial as u64, u64::MAX]);
            found[4]
                .push(error(design.mechanism().release(&private, &mut randomness)?.table.records().view()));
        }
        Ok(found)
    };
    let scales = coordinate_wise(reshaping.before(windows.public.view()).view());
    Ok(Errors {
        loss: largest_loss(&scales, reshaping.before(windows.private.view()).view()),
        without_noise: error(windows.private.view()),
        released: BUDGETS.iter().map(|epsilon| errors_at(*epsilon)).collect::<Result<_>>()?,
    })
}

fn coordinates_finding(loss: f64) -> Finding {
    Finding {
        what: "ε of coordinate-wise Laplace noise with reshaping".into(),
        paper: "ε".into(),
        ours: format!("{loss:.2} times ε for two private windows"),
        value: Some(loss),
        decision: rules::STATED_EPSILON.on(loss),
        why: "noise is scaled to the range of nine tenths of the public records in each coordinate; no \
            record is moved into this range (errata J1)"
            .into(),
    }
}

impl Errors {
    /// Error reduction from the first of two releases to the second, in kW.
    fn gains(&self, theirs: impl Fn(&[Vec<f64>; 5], usize) -> f64, ours: usize) -> Vec<(f64, Vec<f64>)> {
        let each = BUDGETS.iter().zip(&self.released);
        each.map(|(epsilon, found)| {
            let trials = found[ours].iter().enumerate();
            (*epsilon, trials.map(|(trial, ours)| theirs(found, trial) - ours).collect())
        })
        .collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let reshaped = BOTH.map(|noise| self.reshaping_finding(noise));
        reshaped.into_iter().chain([self.clipped_finding(), coordinates_finding(self.loss)]).collect()
    }

    /// Finding that reshaping reduces the error with this noise.
    fn reshaping_finding(&self, noise: Noise) -> Finding {
        let plain = 2 * noise as usize;
        gain_finding(
            &rules::CLAIMED_GAIN,
            format!("{} with reshaping against without: reduction of the error", noise.name()),
            "reshaping improves it",
            ("kW", BY_EPSILON),
            &self.gains(|found, trial| found[plain][trial], plain + 1),
        )
    }

    /// Finding on the error of our mechanism against the best of the paper's releases.
    fn clipped_finding(&self) -> Finding {
        let best = |found: &[Vec<f64>; 5], trial: usize| {
            found[..4].iter().map(|errors| errors[trial]).fold(f64::INFINITY, f64::min)
        };
        gain_finding(
            &rules::GAINS,
            "task-aware-clipped (ours) instead of both: reduction of the error".into(),
            "the best of the paper's releases",
            ("kW", BY_EPSILON),
            &self.gains(best, 4),
        )
    }

    fn grid(&self) -> Grid {
        let shown = |errors: &Vec<f64>| {
            let Mean { value, error } = Mean::from_values(errors);
            format!("{} ± {}", four(value), four(error))
        };
        let rows = BUDGETS.iter().zip(&self.released).map(|(epsilon, found)| {
            std::iter::once(epsilon.to_string()).chain(found.iter().map(shown)).collect()
        });
        Grid::new(
            "root mean square error of the next day's mean power, kW, ± a standard error",
            std::iter::once("ε").chain(RELEASES),
            rows,
        )
    }

    fn picture(&self) -> Picture {
        let layers = RELEASES.iter().enumerate().map(|(at, name)| {
            let each = BUDGETS.iter().zip(&self.released);
            curve(name, at, each.map(|(epsilon, found)| (*epsilon, found[at].clone())))
        });
        Picture {
            title: "Power of a household, released for a public regression".into(),
            panels: vec![Panel {
                title: "the next day".into(),
                across: Scale::logarithmic("ε"),
                up: Scale::logarithmic("root mean square error, kW"),
                layers: layers.collect(),
            }],
        }
    }
}

fn notes(windows: &Windows, without_noise: f64) -> Vec<String> {
    vec![
        format!(
            "The paper has some 5,500 households of London; 3,000 of them are public. This run has one \
             household, with 1,417 days in their order (23 between them are missing). The first {} \
             windows of {WINDOW} days are public. The {} later windows are released, each by itself and \
             without a guarantee for all of them together. The regression is a least-squares fit on \
             public windows. Without noise, its error is {} kW, and that of the public mean is {}.",
            windows.public.nrows(),
            windows.private.nrows(),
            four(without_noise),
            four(windows.error_of_mean())
        ),
        "task-aware-clipped is designed for the same regression, from the same public windows. It \
         releases one number, clipped to the interval of least loss."
            .into(),
    ]
}

pub(super) fn household(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let windows = Windows::load(options)?;
    let errors = errors(options, name, &windows)?;
    Ok(Evidence {
        trials: errors.released.first().map_or(0, |found| found[0].len()),
        findings: errors.findings(),
        grids: vec![errors.grid()],
        notes: notes(&windows, errors.without_noise),
        picture: errors.picture(),
    })
}
