//! Gaussian latents in place of Laplace latents, at the same ε and δ, on the problems of Figures 4 to 8 of
//! Cheng, Tang and Chinchali.

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

/// δ of both noises. Laplace noise of ε spends no δ. With this δ it could have an ε that is larger by 2·10⁻⁶.
const DELTA: f64 = 1e-6;

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

/// Mean loss on test records with Laplace latents and with Gaussian latents, and the mean gain by Gaussian
/// latents with its standard error over the records.
type Losses = [f64; 4];

/// Losses of a case at each of its budgets.
struct Found<'c> {
    case: &'c Case,
    losses: Vec<Losses>,
}

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let cases = cases(options)?;
    let store = options.finished(name)?;
    (options.on_start)(cases.iter().map(|case| case.budgets.len()).sum::<usize>() as u64);
    let found = cases.iter().map(|case| case.measure(options, &store)).collect::<Result<Vec<_>>>()?;
    Ok(Evidence {
        trials: options.trials(),
        findings: found.iter().map(Found::finding).collect(),
        grids: vec![grid(&found)],
        notes: notes(options),
        picture: Picture {
            title: "Gaussian and Laplace latents at the same ε and δ".into(),
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

impl Case {
    fn measure(&self, options: &RunOptions, store: &Option<Store<Trial<Losses>>>) -> Result<Found<'_>> {
        let at = |epsilon: &f64| {
            let words = json!({
                "of": self.figures, "epsilon": epsilon, "delta": DELTA, "draws": options.trials(),
                "seed": options.seed,
            });
            let losses = options.once(store, &words, || {
                let [laplace, gaussian] = self.losses(options, *epsilon)?;
                let gain = Mean::from_differences(&laplace, &gaussian);
                let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
                Ok([mean(&laplace), mean(&gaussian), gain.value, gain.error])
            });
            (options.on_step)();
            losses
        };
        let losses = self.budgets.par_iter().with_max_len(1).map(at).collect::<Result<_>>()?;
        Ok(Found { case: self, losses })
    }

    /// Expected loss on each test record with Laplace latents and with Gaussian latents.
    fn losses(&self, options: &RunOptions, epsilon: f64) -> Result<[Vec<f64>; 2]> {
        let (pure, with_delta) = (Budget::pure(epsilon)?, Budget::new(epsilon, DELTA)?);
        match &self.problem {
            Posed::Linear(house) => {
                let losses = |plugin, budget| house.losses_by_day(options, plugin, budget);
                let mean = |losses: &Vec<f64>| losses.iter().sum::<f64>();
                let [one, other] = [losses("task-aware-linear", pure)?, losses("task-aware-clipped", pure)?];
                let laplace = if mean(&one) < mean(&other) { one } else { other };
                Ok([laplace, losses("task-aware-gaussian", with_delta)?])
            }
            Posed::Trained(problem, laplace) => {
                let mut gaussian = laplace.clone();
                gaussian.parameters["noise"] = json!("gaussian");
                Ok([
                    problem.losses_by_record(options, laplace, pure)?,
                    problem.losses_by_record(options, &gaussian, with_delta)?,
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
            what: format!("{}: gain by Gaussian latents (ours)", self.case.figures),
            paper: "Laplace latents".into(),
            ours: format!("per cent of the loss: {}", entries.collect::<Vec<_>>().join(", ")),
            value: self.gains().last().map(|(_, gain)| gain.value),
            decision: rules::GAINS.on_gains(self.gains().map(|(_, gain)| gain.in_errors())),
            why: format!("± a standard error, on test records, at δ = {DELTA:e}"),
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
            layers: vec![curve("Laplace latents", 0), curve("Gaussian latents (ours)", 1)],
        }
    }
}

fn grid(found: &[Found]) -> Grid {
    let rows = found.iter().flat_map(|found| {
        found.gains().zip(&found.losses).map(|((epsilon, gain), [laplace, gaussian, ..])| {
            let better = match gain.in_errors() {
                gain if gain > 2.0 => "Gaussian",
                gain if gain < -2.0 => "Laplace",
                _ => "neither",
            };
            vec![
                found.case.figures.to_owned(),
                epsilon.to_string(),
                four(*laplace),
                four(*gaussian),
                format!("{} ± {}", four(gain.value), four(gain.error)),
                better.to_owned(),
            ]
        })
    });
    let header = ["figure", "ε", "Laplace latents", "Gaussian latents", "gain", "better by two errors"];
    Grid::new("Task loss on test records", header, rows)
}

fn notes(options: &RunOptions) -> Vec<String> {
    vec![
        format!(
            "Both noises satisfy (ε, {DELTA:e}). In Figure 4, designs are in closed form: the better of \
             task-aware-linear and task-aware-clipped on test days, against task-aware-gaussian. In the \
             other figures, task-aware-gradient trains encoder and decoder with the settings of these \
             figures (for tumours with η = 0.0001), and only the noise differs. Each record's loss is a \
             mean over {} draws.",
            options.trials()
        ),
        "The standard error is over test records, for one training of each design.".into(),
    ]
}
