//! Losses of trained designs: the problems of Figures 5 to 8 of Cheng, Tang and Chinchali, and the approaches
//! to them.

use super::{curves, improvement, percent};
use crate::report::four;
use crate::rules;
use crate::{Finding, Grid, Panel, Result, RunOptions, Scale, Trial, task};
use scumble_comparison::store::Store;
use scumble_core::{
    Brief, Budget, Design, DifferentiableTask, Domain, Randomness, RecordDomain, Table, Target, TargetDomain,
    Task, Volunteers,
};
use scumble_neural::{Activation, Architecture};

use ndarray::{Array1, ArrayView1, Axis};
use rayon::prelude::*;
use scumble_task_aware::expected_loss;
use serde_json::{Value, json};
use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

/// Training and test records, their domain, and the task.
pub(super) struct Problem {
    pub train: Table,
    pub test: Table,
    pub domain: RecordDomain,
    task: Arc<dyn DifferentiableTask>,
}

impl Problem {
    /// Scales every column, and a real target, to [0, 1] by its least and its largest value. The first 70 %
    /// of the records are for training. The task is a network with a hidden layer of `hidden` rectified
    /// linear units and `outputs` outputs. It learns the target from the training records in `epochs` epochs.
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

    /// Problem with records that are already scaled and split, and a linear classifier as the task.
    pub fn for_classes(
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

    /// Losses of an approach at `epsilon` on the training records and on the test records. Each loss is a
    /// mean over the number of trials in `options`.
    pub fn losses(&self, options: &RunOptions, approach: &Approach, epsilon: f64) -> Result<[f64; 2]> {
        let design = self.designed(options, approach, Budget::pure(epsilon * approach.stretch)?)?;
        let loss =
            |table| expected_loss(design.mechanism(), &*self.task, table, options.trials(), options.seed);
        Ok([loss(&self.train)?, loss(&self.test)?])
    }

    fn designed(&self, options: &RunOptions, approach: &Approach, budget: Budget) -> Result<Design> {
        let mut brief = Brief::new(self.domain.clone(), budget);
        brief.volunteers = Volunteers::Consented(self.train.clone());
        brief.task = Task::Differentiable(self.task.clone());
        Ok(options.registry.get(approach.plugin)?.design(&approach.parameters, &brief)?)
    }

    /// Loss of an approach at `budget` on each test record, a mean over the number of trials in `options`.
    pub fn losses_by_record(
        &self,
        options: &RunOptions,
        approach: &Approach,
        budget: Budget,
    ) -> Result<Vec<f64>> {
        let design = self.designed(options, approach, budget)?;
        let mut sum = Array1::zeros(self.test.len());
        for draw in 0..options.trials() as u64 {
            let mut randomness = Randomness::seeded(options.seed.wrapping_add(draw));
            let released = design.mechanism().release(&self.test, &mut randomness)?.table;
            sum += &self.task.losses(released.records().view(), &self.test)?.0;
        }
        Ok((sum / options.trials() as f64).to_vec())
    }

    /// Losses of the task itself on records in the clear.
    pub fn without_noise(&self) -> Result<[f64; 2]> {
        let loss = |table: &Table| -> Result<f64> {
            Ok(self.task.losses(table.records().view(), table)?.0.mean().unwrap_or(f64::NAN))
        };
        Ok([loss(&self.train)?, loss(&self.test)?])
    }
}

/// Scales values to [0, 1]; all values become zero if they are equal.
fn scaled(values: ArrayView1<f64>) -> Array1<f64> {
    let least = values.fold(f64::INFINITY, |a, b| a.min(*b));
    let width = values.fold(f64::NEG_INFINITY, |a, b| a.max(*b)) - least;
    values.mapv(|x| if width > 0.0 { (x - least) / width } else { 0.0 })
}

/// A plugin with its parameters.
#[derive(Clone)]
pub(super) struct Approach {
    /// Name in the report.
    pub name: &'static str,
    /// Name of the plugin.
    pub plugin: &'static str,
    /// Parameters of the plugin.
    pub parameters: Value,
    /// Factor on the ε of the design: 1, or more if the paper's figure has less noise than its claim needs.
    pub stretch: f64,
}

impl Approach {
    /// Approach under the plugin's own name.
    pub fn new(plugin: &'static str, parameters: Value) -> Self {
        Self { name: plugin, plugin, parameters, stretch: 1.0 }
    }

    /// Algorithm 1 of the paper with `latents` latents, the outputs of its encoder. `eta` is η, the weight of
    /// its regularisation.
    pub fn task_aware(latents: usize, eta: f64, training: Value) -> Self {
        let parameters = json!({ "latent_dim": latents, "eta": eta, "training": training });
        Self { name: "task-aware", ..Self::new("task-aware-gradient", parameters) }
    }

    /// The paper's privacy-agnostic approach, whose encoder is learned without noise, with `latents` latents
    /// (outputs of the encoder).
    pub fn privacy_agnostic(latents: usize, training: Value) -> Self {
        Self::new("privacy-agnostic", json!({ "latent_dim": latents, "training": training }))
    }

    /// The paper's task-agnostic approach, which adds noise to the records themselves, with the sensitivity
    /// that is measured on the records of its volunteers (people whose records help to learn a mechanism).
    pub fn task_agnostic(training: Value) -> Self {
        Self::new("task-agnostic", json!({ "sensitivity": "empirical", "training": training }))
    }

    /// Our approach, with latents (outputs of an encoder) that are bounded by construction.
    pub fn bounded(parameters: Value) -> Self {
        Self { name: "task-aware-bounded (ours)", ..Self::new("task-aware-bounded", parameters) }
    }

    /// The task-aware approach with the noise of the published code. This noise is the noise of an ε that is
    /// √2 times the printed ε (errata T1).
    pub fn with_published_noise(self) -> Self {
        Self { name: "task-aware as published", stretch: SQRT_2, ..self }
    }
}

/// Losses of every approach at every budget, on training and on test records, indexed by budget and then by
/// approach.
pub(super) struct Sweep {
    pub names: Vec<&'static str>,
    pub budgets: Vec<f64>,
    losses: Vec<Vec<[f64; 2]>>,
}

/// Training records or test records.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Train,
    Test,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "training",
            Self::Test => "test",
        }
    }
}

impl Sweep {
    /// Computes all losses that the store does not have, on all cores.
    pub fn run(
        options: &RunOptions,
        store: &Option<Store<Trial<[f64; 2]>>>,
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
                let words = json!({
                    "by": approach.plugin, "parameters": approach.parameters, "epsilon": epsilon,
                    "stretch": approach.stretch, "records": [problem.train.len(), problem.test.len()],
                    "draws": options.trials(), "seed": options.seed,
                });
                let losses = options.once(store, &words, || problem.losses(options, approach, *epsilon));
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

    /// Loss of an approach, by its index, at a budget of the sweep; `NaN` at any other budget.
    pub fn loss(&self, part: Part, approach: usize, epsilon: f64) -> f64 {
        let at = self.budgets.iter().position(|budget| *budget == epsilon);
        at.map_or(f64::NAN, |at| self.losses[at][approach][part as usize])
    }

    /// Loss reduction of approach `ours` against approach `other`, as a share, on the training records.
    /// `ours` and `other` are indices.
    pub fn improved(&self, [ours, other]: [usize; 2], epsilon: f64) -> f64 {
        improvement(self.loss(Part::Train, ours, epsilon), self.loss(Part::Train, other, epsilon))
    }

    fn rows(&self, part: Part) -> Vec<Vec<f64>> {
        self.losses.iter().map(|row| row.iter().map(|losses| losses[part as usize]).collect()).collect()
    }

    pub fn panel(&self, part: Part) -> Panel {
        self.panel_of(part, 0..self.names.len())
    }

    /// Panel of some approaches, by their indices.
    pub fn panel_of(&self, part: Part, approaches: Range<usize>) -> Panel {
        let title = format!("Task loss on {} records", part.name());
        let (across, up) = (Scale::logarithmic("ε"), Scale::linear("task loss"));
        let rows: Vec<_> = self.rows(part).iter().map(|row| row[approaches.clone()].to_vec()).collect();
        curves(title, across, up, &self.names[approaches], &self.budgets, &rows)
    }

    pub fn grid(&self, part: Part) -> Grid {
        let header = std::iter::once("ε").chain(self.names.iter().copied()).map(str::to_owned).collect();
        let row = |(epsilon, losses): (&f64, Vec<f64>)| {
            std::iter::once(four(*epsilon)).chain(losses.into_iter().map(four)).collect()
        };
        let rows = self.budgets.iter().zip(self.rows(part)).map(row).collect();
        Grid { title: format!("Task loss on {} records", part.name()), header, rows }
    }

    /// Finding that compares the improvement of approach `ours` on approach `other` with the improvement that
    /// the paper prints, on the training records. Our networks begin with other weights than the paper's.
    pub fn improvement(&self, [ours, other]: [usize; 2], epsilon: f64, printed: f64, why: String) -> Finding {
        let found = self.improved([ours, other], epsilon);
        Finding {
            what: format!("improvement of {} on {}", self.names[ours], self.names[other]),
            paper: percent(printed),
            ours: percent(found),
            value: Some(found),
            decision: rules::TRAINED_IMPROVEMENT.on(found - printed),
            why,
        }
    }

    /// Finding that compares an approach's loss with the loss of the published code's task-aware approach,
    /// with the noise that ε needs.
    pub fn against_published(&self, part: Part, approach: usize, epsilon: f64, published: f64) -> Finding {
        let found = self.loss(part, approach, epsilon);
        Finding {
            what: format!("{} at ε = {epsilon}, task loss on {} records", self.names[approach], part.name()),
            paper: format!("{} (task-aware, by the published code)", four(published)),
            ours: four(found),
            value: Some(found),
            decision: rules::PUBLISHED_LOSS.on(1.0 - found / published),
            why: "with the noise that this ε needs".into(),
        }
    }
}
