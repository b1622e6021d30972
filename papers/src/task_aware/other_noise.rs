//! Gaussian latents, and latents by PrivUnit, in place of Laplace latents on the problems of Figures 4 to 8
//! of Cheng, Tang and Chinchali.

use super::household::House;
use super::trained::{Approach, Problem};
use super::{digits, tumours, valuation};
use crate::report::{Evidence, four};
use crate::rules;
use crate::trials::Mean;
use crate::{CurvePoint, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale, Trial};
use scumble_comparison::store::Store;
use scumble_core::Budget;

use rayon::prelude::*;
use serde_json::json;

/// Noise on latents in place of Laplace noise.
struct Noise {
    name: &'static str,
    /// The parameter `noise` of `task-aware-gradient`.
    parameter: &'static str,
    /// Design of a linear task.
    plugin: &'static str,
    /// δ of a release. Laplace noise of ε spends no δ. With a δ of 10⁻⁶, it could have an ε that is larger by
    /// 2·10⁻⁶.
    delta: f64,
}

static GAUSSIAN: Noise =
    Noise { name: "Gaussian", parameter: "gaussian", plugin: "task-aware-gaussian", delta: 1e-6 };

static PRIV_UNIT: Noise =
    Noise { name: "PrivUnit", parameter: "priv-unit", plugin: "task-aware-priv-unit", delta: 0.0 };

/// Budgets of the quick variant.
const QUICK: usize = 2;

/// A problem of a figure, and its designs.
struct Case {
    /// The figures of the paper.
    figures: &'static str,
    problem: Posed,
    budgets: Vec<f64>,
}

enum Posed {
    /// A linear task, with designs in closed form.
    Linear(Box<House>),
    /// A trained task, and the designs by Algorithm 1 of the paper with Laplace latents.
    Trained(Box<Problem>, Approach),
}

/// Mean loss on test records with Laplace latents and with the other noise, and the mean gain by the other
/// noise with its standard error over the records.
type Losses = [f64; 4];

/// Losses of a case at each of its budgets.
struct Found<'c> {
    noise: &'static Noise,
    case: &'c Case,
    losses: Vec<Losses>,
}

pub(super) fn gaussian(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    run(options, name, &GAUSSIAN)
}

pub(super) fn priv_unit(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    run(options, name, &PRIV_UNIT)
}

fn run(options: &RunOptions, name: &'static str, noise: &'static Noise) -> Result<Evidence> {
    let cases = cases(options)?;
    let store = options.finished(name)?;
    (options.on_start)(cases.iter().map(|case| case.budgets.len()).sum::<usize>() as u64);
    let found = cases.iter().map(|case| case.measure(options, noise, &store)).collect::<Result<Vec<_>>>()?;
    Ok(Evidence {
        trials: options.trials(),
        findings: found.iter().map(Found::finding).collect(),
        grids: vec![grid(&found, noise)],
        notes: notes(options, noise),
        picture: Picture {
            title: format!("{} and Laplace latents at the same budget", noise.name),
            panels: found.iter().map(Found::panel).collect(),
        },
    })
}

fn cases(options: &RunOptions) -> Result<Vec<Case>> {
    let budgets = |all: &[f64]| all.iter().copied().take(if options.quick { QUICK } else { 9 }).collect();
    let trained = |figures, problem, approach, all: &[f64]| Case {
        figures,
        problem: Posed::Trained(Box::new(problem), approach),
        budgets: budgets(all),
    };
    let mut cases = vec![
        Case {
            figures: "Figure 4, household",
            problem: Posed::Linear(Box::new(House::load(options)?)),
            budgets: budgets(&[1.0, 3.0, 5.0, 10.0, 20.0, 50.0]),
        },
        trained(
            "Figures 5 and 6, real estate",
            valuation::problem(options)?,
            valuation::task_aware(options, 3),
            &[1.0, 2.0, 5.0, 10.0, 20.0],
        ),
        trained(
            "Figure 7, real estate, a hidden layer",
            valuation::problem(options)?,
            valuation::deep_task_aware(options),
            &[1.0, 2.0, 5.0, 10.0, 20.0],
        ),
        trained(
            "Figures 5 and 6, tumours",
            tumours::problem(options)?,
            tumours::held_back_less(tumours::task_aware(options, 3)),
            &[5.0, 10.0, 20.0, 40.0],
        ),
    ];
    if !options.quick {
        let digits = trained(
            "Figure 8, digits",
            digits::problem(options)?,
            digits::task_aware(options),
            &[10.0, 20.0, 50.0],
        );
        cases.push(digits);
    }
    Ok(cases)
}

impl Noise {
    /// The δ of the comparison, in words.
    fn at_delta(&self) -> String {
        if self.delta > 0.0 { format!(", at δ = {:e}", self.delta) } else { String::new() }
    }
}

impl Case {
    fn measure(
        &self,
        options: &RunOptions,
        noise: &'static Noise,
        store: &Option<Store<Trial<Losses>>>,
    ) -> Result<Found<'_>> {
        let at = |epsilon: &f64| {
            let words = json!({
                "of": self.figures, "epsilon": epsilon, "delta": noise.delta, "draws": options.trials(),
                "seed": options.seed,
            });
            let losses = options.once(store, &words, || {
                let [laplace, other] = self.losses(options, noise, *epsilon)?;
                let gain = Mean::from_differences(&laplace, &other);
                let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
                Ok([mean(&laplace), mean(&other), gain.value, gain.error])
            });
            (options.on_step)();
            losses
        };
        let losses = self.budgets.par_iter().with_max_len(1).map(at).collect::<Result<_>>()?;
        Ok(Found { noise, case: self, losses })
    }

    /// Expected loss on each test record with Laplace latents and with the other noise.
    fn losses(&self, options: &RunOptions, noise: &Noise, epsilon: f64) -> Result<[Vec<f64>; 2]> {
        let (pure, with_delta) = (Budget::pure(epsilon)?, Budget::new(epsilon, noise.delta)?);
        match &self.problem {
            Posed::Linear(house) => {
                let losses = |plugin, budget| house.losses_by_day(options, plugin, budget);
                let mean = |losses: &Vec<f64>| losses.iter().sum::<f64>();
                let [one, other] = [losses("task-aware-linear", pure)?, losses("task-aware-clipped", pure)?];
                let laplace = if mean(&one) < mean(&other) { one } else { other };
                Ok([laplace, losses(noise.plugin, with_delta)?])
            }
            Posed::Trained(problem, laplace) => {
                let mut other = laplace.clone();
                other.parameters["noise"] = json!(noise.parameter);
                Ok([
                    problem.losses_by_record(options, laplace, pure)?,
                    problem.losses_by_record(options, &other, with_delta)?,
                ])
            }
        }
    }
}

impl Found<'_> {
    fn gains(&self) -> impl Iterator<Item = (f64, Mean)> + Clone {
        let gain = |[.., value, error]: &Losses| Mean { value: *value, error: *error };
        self.case.budgets.iter().copied().zip(self.losses.iter().map(gain))
    }

    fn finding(&self) -> Finding {
        let entries = self.gains().zip(&self.losses).map(|((epsilon, gain), [laplace, ..])| {
            let share = |x: f64| 100.0 * x / laplace;
            format!("{:+.1} ± {:.1} at ε = {epsilon}", share(gain.value), share(gain.error))
        });
        Finding {
            what: format!("{}: gain by {} latents (ours)", self.case.figures, self.noise.name),
            paper: "Laplace latents".into(),
            ours: format!("per cent of the loss: {}", entries.collect::<Vec<_>>().join(", ")),
            value: self.gains().last().map(|(_, gain)| gain.value),
            decision: rules::GAINS.on_gains(self.gains().map(|(_, gain)| gain.in_errors())),
            why: format!("± a standard error, on test records{}", self.noise.at_delta()),
        }
    }

    fn panel(&self) -> Panel {
        let curve = |name: &str, look: usize| {
            let points = self.case.budgets.iter().zip(&self.losses);
            let points = points.map(|(&x, losses)| CurvePoint { x, y: losses[look], error: 0.0 });
            Layer { name: name.into(), look, marks: Marks::Curve(points.collect()) }
        };
        Panel {
            title: self.case.figures.into(),
            across: Scale::logarithmic("ε"),
            up: Scale::linear("task loss on test records"),
            layers: vec![
                curve("Laplace latents", 0),
                curve(&format!("{} latents (ours)", self.noise.name), 1),
            ],
        }
    }
}

fn grid(found: &[Found], noise: &Noise) -> Grid {
    let rows = found.iter().flat_map(|found| {
        found.gains().zip(&found.losses).map(|((epsilon, gain), [laplace, other, ..])| {
            let better = match gain.in_errors() {
                gain if gain > 2.0 => noise.name,
                gain if gain < -2.0 => "Laplace",
                _ => "neither",
            };
            vec![
                found.case.figures.to_owned(),
                epsilon.to_string(),
                four(*laplace),
                four(*other),
                format!("{} ± {}", four(gain.value), four(gain.error)),
                better.to_owned(),
            ]
        })
    });
    let other = format!("{} latents", noise.name);
    let header = ["figure", "ε", "Laplace latents", &other, "gain", "better by two errors"];
    Grid::new("Task loss on test records", header, rows)
}

fn notes(options: &RunOptions, noise: &Noise) -> Vec<String> {
    vec![
        format!(
            "Both noises satisfy the same budget{}. In Figure 4, designs are in closed form: the better of \
             task-aware-linear and task-aware-clipped on test days, against {}. In the other figures, \
             task-aware-gradient trains encoder and decoder with the settings of these figures (for tumours \
             with η = 0.0001), and only the noise differs. Each record's loss is a mean over {} draws.",
            noise.at_delta(),
            noise.plugin,
            options.trials()
        ),
        "The standard error is over test records, for one training of each design.".into(),
    ]
}
