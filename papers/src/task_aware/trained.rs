//! What trained designs lose: the problems of Figures 5 to 8, and the approaches to them.

use super::{curves, improvement, percent};
use crate::report::four;
use crate::{Agreement, Finding, Grid, Panel, Result, RunOptions, Scale, task};
use scumble_core::{
    Brief, Budget, DifferentiableTask, Domain, RecordDomain, Table, Target, TargetDomain, Task, Volunteers,
};
use scumble_neural::{Activation, Architecture};

use ndarray::{Array1, ArrayView1, Axis};
use rayon::prelude::*;
use scumble_task_aware::expected_loss;
use serde_json::{Value, json};
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// Records to train on and to test on, where they lie, and the task.
pub(super) struct Problem {
    pub train: Table,
    pub test: Table,
    pub domain: RecordDomain,
    task: Arc<dyn DifferentiableTask>,
}

impl Problem {
    /// Every column, and a real target, scaled to [0, 1] by its least and its largest value; then the first 70 % of the records are for training.
    /// The task is a network of one hidden layer of rectified linear units and an output of so many units, which learns the target from these in so many epochs.
    pub fn new(
        options: &RunOptions,
        table: &Table,
        hidden: usize,
        (outputs, last): (usize, Activation),
        epochs: usize,
    ) -> Result<Self> {
        let columns = table.columns().to_vec();
        let mut records = table.records().clone();
        records.axis_iter_mut(Axis(1)).for_each(|mut column| column.assign(&scaled(column.view())));
        let (target, targets) = match table.target() {
            Target::Real(values) => {
                (Target::Real(scaled(values.view())), TargetDomain::Real { lower: 0.0, upper: 1.0 })
            }
            other => (other.clone(), TargetDomain::Class { levels: vec!["0".into(), "1".into()] }),
        };
        let domain = RecordDomain::new(columns.clone(), Domain::unit_box(columns.len()), targets)?;
        let table = Table::new(columns, records, target)?;
        let rows: Vec<usize> = (0..table.len()).collect();
        let (train, test) = rows.split_at(table.len() * 7 / 10);
        let (train, test) = (table.select(train)?, table.select(test)?);
        let inputs = table.columns().len();
        let architecture = Architecture::new(inputs).layer(hidden, Activation::Relu).layer(outputs, last);
        let task = task::learned(&train, architecture, epochs, options.seed)?;
        Ok(Self { train, test, domain, task })
    }

    /// Records that are scaled and split already, and a linear classifier for their task.
    pub fn of_classes(
        options: &RunOptions,
        domain: RecordDomain,
        [train, test]: [Table; 2],
        epochs: usize,
    ) -> Result<Self> {
        let classes = match domain.target() {
            TargetDomain::Class { levels } => levels.len(),
            _ => 1,
        };
        let architecture = Architecture::new(train.columns().len()).layer(classes, Activation::Identity);
        let task = task::learned(&train, architecture, epochs, options.seed)?;
        Ok(Self { train, test, domain, task })
    }

    /// What the approach loses at this budget: over `draws` of the noise, on the records for training and on those for tests.
    pub fn losses(&self, options: &RunOptions, approach: &Approach, epsilon: f64) -> Result<[f64; 2]> {
        let mut brief = Brief::new(self.domain.clone(), Budget::new(epsilon * approach.stretch, 0.0)?);
        brief.volunteers = Volunteers::Consented(self.train.clone());
        brief.task = Task::Differentiable(self.task.clone());
        let design = options.registry.get(approach.plugin)?.design(&approach.parameters, &brief)?;
        let loss =
            |table| expected_loss(design.mechanism(), &*self.task, table, options.trials(), options.seed);
        Ok([loss(&self.train)?, loss(&self.test)?])
    }

    /// What the task itself loses where nothing is hidden.
    pub fn without_noise(&self) -> Result<[f64; 2]> {
        let loss = |table: &Table| -> Result<f64> {
            Ok(self.task.losses(table.records().view(), table)?.0.mean().unwrap_or(f64::NAN))
        };
        Ok([loss(&self.train)?, loss(&self.test)?])
    }
}

/// To [0, 1]; zero where all are the same.
fn scaled(values: ArrayView1<f64>) -> Array1<f64> {
    let least = values.fold(f64::INFINITY, |a, b| a.min(*b));
    let width = values.fold(f64::NEG_INFINITY, |a, b| a.max(*b)) - least;
    values.mapv(|x| if width > 0.0 { (x - least) / width } else { 0.0 })
}

/// A plugin with its parameters.
#[derive(Clone)]
pub(super) struct Approach {
    /// For people.
    pub name: &'static str,
    /// Its name.
    pub plugin: &'static str,
    /// Its parameters.
    pub parameters: Value,
    /// It is designed for ε times this: 1, or more where a figure has less noise than the claim needs.
    pub stretch: f64,
}

impl Approach {
    /// A plugin under its own name.
    pub fn new(plugin: &'static str, parameters: Value) -> Self {
        Self { name: plugin, plugin, parameters, stretch: 1.0 }
    }

    /// Algorithm 1, with `latents`.
    pub fn task_aware(latents: usize, eta: f64, training: Value) -> Self {
        let parameters = json!({ "latent_dim": latents, "eta": eta, "training": training });
        Self { name: "task-aware", ..Self::new("task-aware-gradient", parameters) }
    }

    /// The privacy-agnostic approach, with `latents`.
    pub fn privacy_agnostic(latents: usize, training: Value) -> Self {
        Self::new("privacy-agnostic", json!({ "latent_dim": latents, "training": training }))
    }

    /// The task-agnostic approach, with the sensitivity of its volunteers.
    pub fn task_agnostic(training: Value) -> Self {
        Self::new("task-agnostic", json!({ "sensitivity": "empirical", "training": training }))
    }

    /// Our approach.
    pub fn bounded(parameters: Value) -> Self {
        Self { name: "task-aware-bounded (ours)", ..Self::new("task-aware-bounded", parameters) }
    }

    /// The task-aware one with the noise of the published code, which is that of an ε that is √2 times what it prints (ERRATA.md, T1).
    pub fn with_published_noise(self) -> Self {
        Self { name: "task-aware as published", stretch: SQRT_2, ..self }
    }
}

/// What every approach loses at every budget, both kinds of loss: of each budget, of each approach.
pub(super) struct Sweep {
    pub names: Vec<&'static str>,
    pub budgets: Vec<f64>,
    losses: Vec<Vec<[f64; 2]>>,
}

/// Which records.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Train,
    Test,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "training",
            Self::Test => "test",
        }
    }
}

impl Sweep {
    /// On all cores.
    pub fn run(
        options: &RunOptions,
        problem: &Problem,
        approaches: &[Approach],
        budgets: &[f64],
    ) -> Result<Self> {
        (options.on_start)((approaches.len() * budgets.len()) as u64);
        let jobs: Vec<(f64, &Approach)> = budgets
            .iter()
            .flat_map(|epsilon| approaches.iter().map(|approach| (*epsilon, approach)))
            .collect();
        let losses: Vec<[f64; 2]> = jobs
            .par_iter()
            .with_max_len(1)
            .map(|(epsilon, approach)| {
                let losses = problem.losses(options, approach, *epsilon);
                (options.on_step)();
                losses
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            names: approaches.iter().map(|approach| approach.name).collect(),
            budgets: budgets.to_vec(),
            losses: losses.chunks(approaches.len()).map(<[_]>::to_vec).collect(),
        })
    }

    /// Of the approach at this place, at a budget that was looked at.
    pub fn loss(&self, part: Part, approach: usize, epsilon: f64) -> f64 {
        let at = self.budgets.iter().position(|budget| *budget == epsilon);
        at.map_or(f64::NAN, |at| self.losses[at][approach][part as usize])
    }

    /// What the approach at place `ours` loses less than the one at `other`, as a share, on the records for training.
    pub fn improved(&self, [ours, other]: [usize; 2], epsilon: f64) -> f64 {
        improvement(self.loss(Part::Train, ours, epsilon), self.loss(Part::Train, other, epsilon))
    }

    fn rows(&self, part: Part) -> Vec<Vec<f64>> {
        self.losses.iter().map(|row| row.iter().map(|losses| losses[part as usize]).collect()).collect()
    }

    pub fn panel(&self, part: Part) -> Panel {
        let title = format!("Task loss on {} records", part.name());
        let (across, up) = (Scale::logarithmic("ε"), Scale::linear("task loss"));
        curves(title, across, up, &self.names, &self.budgets, &self.rows(part))
    }

    pub fn grid(&self, part: Part) -> Grid {
        let header = std::iter::once("ε").chain(self.names.iter().copied()).map(str::to_owned).collect();
        let row = |(epsilon, losses): (&f64, Vec<f64>)| {
            std::iter::once(four(*epsilon)).chain(losses.into_iter().map(four)).collect()
        };
        let rows = self.budgets.iter().zip(self.rows(part)).map(row).collect();
        Grid { title: format!("Task loss on {} records", part.name()), header, rows }
    }

    /// What the approach at place `ours` loses less than the one at `other`, beside what is printed, on the records for training: within five
    /// hundredths it is the same, for networks begin somewhere else.
    pub fn improvement(&self, [ours, other]: [usize; 2], epsilon: f64, printed: f64, why: String) -> Finding {
        let found = self.improved([ours, other], epsilon);
        let verdict = match found - printed {
            more if more > 0.05 => Agreement::Better,
            less if less < -0.05 => Agreement::Differs,
            _ => Agreement::Reproduced,
        };
        Finding {
            what: format!("improvement of {} on {}", self.names[ours], self.names[other]),
            paper: percent(printed),
            ours: percent(found),
            value: Some(found),
            verdict,
            why,
        }
    }

    /// What the approach at this place loses, beside what the published code's task-aware approach does with the noise that ε needs: within
    /// three hundredths it is the same.
    pub fn beside_published(&self, part: Part, approach: usize, epsilon: f64, published: f64) -> Finding {
        let found = self.loss(part, approach, epsilon);
        let verdict = match found / published {
            ratio if ratio < 0.97 => Agreement::Better,
            ratio if ratio <= 1.03 => Agreement::Reproduced,
            _ => Agreement::Differs,
        };
        Finding {
            what: format!("{} at ε = {epsilon}, task loss on {} records", self.names[approach], part.name()),
            paper: format!("{} (task-aware, by the published code)", four(published)),
            ours: four(found),
            value: Some(found),
            verdict,
            why: "with the noise that this ε needs".into(),
        }
    }
}
